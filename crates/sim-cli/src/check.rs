//! `sim check`.

use crate::failure::Failure;
use clap::Args;
use serde_json::json;
use sim_core::System;
use sim_io::Document;
use sim_io::structure::{self, StructureScene};
use std::process::ExitCode;

#[derive(Args)]
pub struct CheckArguments {
    /// Scene file, or the name of a built-in scene.
    scene: String,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
    /// Change a field of the scene first; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    changes: Vec<String>,
}

pub fn execute(arguments: &CheckArguments) -> Result<ExitCode, Failure> {
    let scene = match Document::load(&arguments.scene, &arguments.changes)? {
        Document::Motion(scene) => scene,
        Document::Structure(scene) => return check_structure(arguments, &scene),
    };
    let model = sim_io::run::check(&scene)?;
    let (particles, springs) = (model.system.particle_count(), model.layout.springs.len());
    if arguments.json {
        let meshes: serde_json::Map<_, _> =
            model.meshes.iter().map(|(part, report)| (part.clone(), json!(report))).collect();
        println!(
            "{}",
            json!({
                "scene": scene.header.name,
                "particles": particles,
                "springs": springs,
                "mass": model.system.total_mass(),
                "initial_stress": model.initial_stress,
                "meshes": meshes,
                "warnings": model.warnings,
            })
        );
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "{}: {particles} particles, {springs} springs, {} kg",
        scene.header.name,
        model.system.total_mass()
    );
    for (part, report) in &model.meshes {
        println!("part {part}: {report}");
    }
    for warning in &model.warnings {
        println!("note: {warning}");
    }
    println!("result: the scene can be run");
    Ok(ExitCode::SUCCESS)
}

fn check_structure(arguments: &CheckArguments, scene: &StructureScene) -> Result<ExitCode, Failure> {
    let built = structure::build(scene)?;
    let structure = &built.structure;
    let (nodes, members, unknowns) =
        (structure.node_count(), structure.members().len(), structure.unknown_count());
    if arguments.json {
        println!(
            "{}",
            json!({
                "scene": scene.header.name,
                "nodes": nodes,
                "members": members,
                "unknowns": unknowns,
                "mass": structure.total_mass(),
                "warnings": built.warnings,
            })
        );
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "{}: {nodes} nodes, {members} members, {unknowns} unknowns, {} kg",
        scene.header.name,
        structure.total_mass()
    );
    for warning in &built.warnings {
        println!("note: {warning}");
    }
    println!("result: the structure can be analysed");
    Ok(ExitCode::SUCCESS)
}
