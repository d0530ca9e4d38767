//! `sim run` for structures.

use super::{RunArguments, expectations, list_files, short};
use crate::failure::{self, Failure};
use crate::progress::Stages;
use sim_io::structure::{self, StructureResult, StructureRunError, StructureScene, StructureSummary, output};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub fn execute(arguments: &RunArguments, scene: &StructureScene) -> Result<ExitCode, Failure> {
    for (given, flag) in [(arguments.until.is_some(), "--until"), (arguments.method.is_some(), "--method")] {
        if given {
            return Err(Failure::usage(format!(
                "{flag}: {} is a structure; change its [analysis] with --set analysis.FIELD=VALUE",
                scene.header.name
            )));
        }
    }
    for (given, flag) in [
        (arguments.checkpoint_every.is_some(), "--checkpoint-every"),
        (arguments.resume.is_some(), "--resume"),
    ] {
        if given {
            return Err(Failure::usage(format!(
                "{flag}: {} is a structure; only runs in time have checkpoints",
                scene.header.name
            )));
        }
    }
    let folder = arguments.out.clone().unwrap_or_else(|| Path::new("out").join(&scene.header.name));
    let mut stages = Stages::new(arguments.json);
    let run = structure::run(scene, &mut |text, share| stages.show(text, share));
    stages.finish();
    let (result, failure) = match run {
        Ok(result) => (result, None),
        Err(StructureRunError::Mechanism { message, partial }) => (*partial, Some(message)),
        Err(error) => return Err(error.into()),
    };
    let files = output::write(scene, &result, failure.clone(), &folder)?;
    if let Some(message) = failure {
        let names: Vec<String> = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
        if !arguments.json {
            eprintln!("the free motions are drawn in {}", folder.join("report.html").display());
        }
        return Err(Failure::run("mechanism", message).with("files", names));
    }
    if arguments.json {
        let summary = serde_json::to_string(&StructureSummary::new(&result, &files))
            .map_err(|error| Failure::usage(error.to_string()))?;
        println!("{summary}");
    } else {
        print(&result, &files);
    }
    Ok(ExitCode::from(if result.all_met() { 0 } else { failure::EXPECTATION }))
}

fn print(result: &StructureResult, files: &[PathBuf]) {
    let title = if result.title.is_empty() { &result.description } else { &result.title };
    println!("{}: {title}", result.scene);
    let size = result.size();
    let steps = if result.steps > 1 { format!("{} steps, ", result.steps) } else { String::new() };
    println!(
        "{}: {} nodes, {} members, {} unknowns, {steps}{:.2} s wall time",
        result.analysis, size.nodes, size.members, size.unknowns, result.wall_s
    );
    for (label, value) in &result.facts {
        println!("{label}: {value}");
    }
    for (name, probe) in &result.probes {
        println!("  {name} = {} {}", short(probe.value), probe.unit);
    }
    for warning in &result.warnings {
        println!("note: {warning}");
    }
    expectations(&result.expectations);
    list_files(files, &result.expectations, &result.state_hash);
}
