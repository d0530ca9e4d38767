//! `sim list`.

use crate::failure::Failure;
use clap::Args;
use serde_json::{Value, json};
use sim_io::Document;
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
        let scene = Document::from_toml(entry.name, entry.text, "")?;
        let header = scene.header();
        if arguments.json {
            let (method, duration) = match &scene {
                Document::Motion(scene) => (scene.method.id.as_str(), Some(scene.time.duration)),
                Document::Structure(scene) => (scene.analysis.kind(), None),
            };
            entries.push(json!({
                "name": entry.name,
                "title": header.title,
                "description": header.description,
                "method": method,
                "duration": duration,
                "expectations": scene.expectations().len(),
            }));
        } else {
            println!("{:<20} {}", entry.name, header.title);
        }
    }
    if arguments.json {
        println!("{}", Value::Array(entries));
    }
    Ok(ExitCode::SUCCESS)
}
