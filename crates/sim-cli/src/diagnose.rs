//! `sim diagnose`: what is wrong with a scene, with evidence, and the scene put right.

pub mod checks;
pub mod finding;
mod mesh;
mod patient;
mod structure;

use crate::edit;
use crate::failure::Failure;
use crate::progress::{Bar, Stages};
use clap::Args;
use finding::{Finding, Severity};
use patient::Patient;
use serde::Serialize;
use sim_io::{Document, SceneError};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

#[derive(Args)]
pub struct DiagnoseArguments {
    /// Scene file, name of a built-in scene, or folder of a run.
    #[arg(required_unless_present = "list")]
    scene: Option<String>,
    /// Change a field of the scene first; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    changes: Vec<String>,
    /// Longest time in s that the scene is run for.
    #[arg(long, value_name = "S", default_value_t = 30.0)]
    budget: f64,
    /// Write the scene with all remedies into a new file.
    #[arg(long, value_name = "FILE")]
    fix: Option<PathBuf>,
    /// List what is looked for.
    #[arg(long)]
    list: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Summary<'a> {
    scene: &'a str,
    healthy: bool,
    /// Whether the run came to the end of the scene within the budget.
    complete: bool,
    findings: &'a [Finding],
    fixed: Option<&'a Path>,
}

pub fn execute(arguments: &DiagnoseArguments) -> Result<ExitCode, Failure> {
    if arguments.list {
        for (causes, summary) in checks::catalogue() {
            println!("{causes}: {summary}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    if !(arguments.budget.is_finite() && arguments.budget > 0.0) {
        return Err(Failure::usage(format!("--budget {}: must be positive and finite", arguments.budget)));
    }
    let (name, changes) = scene_of(arguments)?;
    let (findings, complete) = findings(arguments, &name, &changes)?;
    let healthy = findings.iter().all(|finding| finding.severity != Severity::Fault);
    let fixed = match &arguments.fix {
        Some(file) => fix(file, &name, &changes, &findings)?,
        None => None,
    };
    if arguments.json {
        let summary = Summary { scene: &name, healthy, complete, findings: &findings, fixed };
        println!("{}", serde_json::to_string(&summary).map_err(|error| Failure::usage(error.to_string()))?);
    } else {
        print(&name, &findings, complete);
        match fixed {
            Some(file) => {
                println!(
                    "written: {}; run it with `{} run {}`",
                    file.display(),
                    crate::program(),
                    file.display()
                );
            }
            None if arguments.fix.is_some() => {
                println!("nothing to write: no remedy is a change of the file");
            }
            None if findings.iter().any(|f| f.severity == Severity::Fault && !f.changes.is_empty()) => {
                let sets =
                    arguments.changes.iter().fold(String::new(), |all, change| all + " --set " + change);
                let asked = arguments.scene.as_deref().unwrap_or(&name);
                println!(
                    "write the scene with these changes:  {} diagnose {asked}{sets} --fix FILE.toml",
                    crate::program()
                );
            }
            None => {}
        }
    }
    Ok(ExitCode::from(if healthy { 0 } else { crate::failure::EXPECTATION }))
}

/// The scene that the command is about: that of a run if a folder is named.
fn scene_of(arguments: &DiagnoseArguments) -> Result<(String, Vec<String>), Failure> {
    let name = arguments.scene.clone().unwrap_or_default();
    let folder = Path::new(&name);
    if !folder.is_dir() {
        return Ok((name, arguments.changes.clone()));
    }
    let path = folder.join("summary.json");
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Failure::usage(format!("{name} is no folder of a run: {}: {error}", path.display()))
    })?;
    let summary: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    let source = &summary["source"];
    let file = source["file"].as_str().ok_or_else(|| {
        Failure::usage(format!("{} does not say which scene it is of; name the scene", path.display()))
    })?;
    let mut changes: Vec<String> = source["changes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|change| change.as_str().map(str::to_owned))
        .collect();
    changes.extend(arguments.changes.iter().cloned());
    Ok((file.to_owned(), changes))
}

fn findings(
    arguments: &DiagnoseArguments,
    name: &str,
    changes: &[String],
) -> Result<(Vec<Finding>, bool), Failure> {
    let refused = |error: SceneError| match mesh::look(name, changes, &error) {
        Some(finding) => Ok((vec![finding], false)),
        None => Err(Failure::from(error)),
    };
    let scene = match Document::load(name, changes) {
        Err(error) => return refused(error),
        Ok(Document::Structure(scene)) => {
            let mut stages = Stages::new(arguments.json);
            let found = structure::look(&scene, &mut |text, share| stages.show(text, share));
            stages.finish();
            return Ok((found?, true));
        }
        Ok(Document::Motion(scene)) => scene,
    };
    if let Err(error) = sim_io::run::check(&scene) {
        return refused(error);
    }
    let mut bar = Bar::new(arguments.json);
    let budget = Duration::from_secs_f64(arguments.budget);
    let patient = Patient::examine(*scene, budget, &mut |progress| bar.show(progress));
    bar.finish();
    let patient = patient?;
    Ok((checks::all(&patient), patient.complete))
}

/// Writes the scene with the remedies of all faults; `None` if none is a change.
fn fix<'a>(
    file: &'a Path,
    name: &str,
    changes: &[String],
    findings: &[Finding],
) -> Result<Option<&'a Path>, Failure> {
    let faults = findings.iter().filter(|finding| finding.severity == Severity::Fault);
    let mut wanted: Vec<edit::Change> = Vec::new();
    for change in faults.flat_map(|finding| &finding.changes) {
        // Two causes may have the same remedy; of two values for one field the first cause has its way.
        let taken = wanted.iter().any(|other| match (other, change) {
            (edit::Change::Set { path: a, .. }, edit::Change::Set { path: b, .. }) => a == b,
            (a, b) => a == b,
        });
        if !taken {
            wanted.push(change.clone());
        }
    }
    if wanted.is_empty() {
        return Ok(None);
    }
    if file.exists() {
        return Err(Failure::usage(format!("--fix: {} exists already", file.display())));
    }
    let scene = edit::text_of(name, "--fix")?;
    let own: Result<Vec<edit::Change>, String> =
        changes.iter().map(|change| edit::Change::parse(change)).collect();
    let text = own
        .and_then(|own| edit::change(&scene.text, &own))
        .and_then(|text| edit::change(&text, &wanted))
        .map_err(|why| Failure::output(format!("cannot change {name}: {why}")))?;
    sim_io::export::write_whole(file, text.as_bytes())
        .map_err(|error| Failure::output(format!("cannot write {}: {error}", file.display())))?;
    Ok(Some(file))
}

fn print(name: &str, findings: &[Finding], complete: bool) {
    for finding in findings {
        let word = if finding.severity == Severity::Fault { "FAULT" } else { "note" };
        println!("{word} {}: {}", finding.cause, finding.what);
        for evidence in &finding.evidence {
            println!("  seen: {evidence}");
        }
        if !finding.remedy.is_empty() {
            println!("  do:   {}", finding.remedy);
        }
        for change in &finding.changes {
            println!("        {change}");
        }
    }
    let faults = findings.iter().filter(|finding| finding.severity == Severity::Fault).count();
    let extent = if complete { "" } else { " (not run to its end)" };
    match faults {
        0 => println!("result: {name} shows no fault{extent}"),
        1 => println!("result: 1 fault in {name}{extent}"),
        _ => println!("result: {faults} faults in {name}{extent}"),
    }
}
