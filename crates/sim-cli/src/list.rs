//! `sim list`.

use crate::failure::Failure;
use clap::Args;
use serde_json::{Value, json};
use sim_io::Scene;
use sim_io::scene::library::BUILT_IN;
use std::process::ExitCode;

#[derive(Args)]
pub struct ListArguments {
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

pub fn execute(arguments: &ListArguments) -> Result<ExitCode, Failure> {
    let mut entries: Vec<Value> = Vec::new();
    for entry in BUILT_IN {
        let scene = Scene::from_toml(entry.name, entry.text, "")?;
        if arguments.json {
            entries.push(json!({
                "name": entry.name,
                "title": scene.header.title,
                "description": scene.header.description,
                "method": scene.method.id,
                "duration": scene.time.duration,
                "expectations": scene.expectations.len(),
            }));
        } else {
            println!("{:<20} {}", entry.name, scene.header.title);
        }
    }
    if arguments.json {
        println!("{}", Value::Array(entries));
    }
    Ok(ExitCode::SUCCESS)
}
