//! `sim compare`: error against wall time of every method on one scene, and the fastest one within a wanted error.

mod ladders;
mod measure;
mod page;
pub mod study;

use crate::failure::{self, Failure};
use crate::progress::Stages;
use clap::Args;
use serde::Serialize;
use sim_io::report;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use study::{Candidate, Comparison, Limits, Outcome, Point};

#[derive(Args)]
pub struct CompareArguments {
    /// Scene file (TOML, or JSON by its extension), or the name of a built-in scene.
    scene: String,
    /// Methods to compare, e.g. `leapfrog,implicit_midpoint` [default: all that are not always unstable].
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    methods: Vec<String>,
    /// Wanted error, as a part of how far the motion goes, or in per cent.
    #[arg(long, value_name = "E", default_value = "1%", value_parser = parse_error)]
    error: f64,
    /// Judge by the history of this probe instead of by where all particles are.
    #[arg(long, value_name = "PROBE")]
    by: Option<String>,
    /// Method that computes the reference [default: `runge_kutta4`, or `xpbd` where only that can run the scene].
    #[arg(long, value_name = "METHOD")]
    reference: Option<String>,
    /// No run may be expected to take longer than this, in s.
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    max_wall: f64,
    /// Change a field of the scene in all runs; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    changes: Vec<String>,
    /// Run to this time in s instead of the scene's duration.
    #[arg(long, value_name = "T")]
    until: Option<f64>,
    /// Folder for the page [default: out/SCENE].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// `0.01` or `1%`.
pub fn parse_error(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.trim().strip_suffix('%') {
        Some(number) => (number, 0.01),
        None => (text.trim(), 1.0),
    };
    let value: f64 = number.trim().parse().map_err(|_| "needs a number such as 0.01 or 1%".to_owned())?;
    let value = value * unit;
    if value > 0.0 && value <= 1.0 { Ok(value) } else { Err("must be above 0 and at most 100 %".into()) }
}

/// The recommendation, with what it takes to follow it.
#[derive(Serialize)]
struct Advice<'a> {
    method: &'a str,
    substeps: u64,
    dt: f64,
    error: f64,
    wall_s: f64,
    changes: [String; 2],
}

impl<'a> Advice<'a> {
    fn new((candidate, point): (&'a Candidate, &Point)) -> Self {
        Self {
            method: candidate.method,
            substeps: point.substeps,
            dt: point.dt,
            error: point.error().unwrap_or(f64::NAN),
            wall_s: point.wall_s,
            changes: [
                format!("method.id={}", candidate.method),
                format!("method.substeps={}", point.substeps),
            ],
        }
    }
}

#[derive(Serialize)]
struct Summary<'a> {
    scene: &'a str,
    measure: &'a str,
    wanted_error: f64,
    reference: &'a study::Reference,
    methods: &'a [Candidate],
    fastest: Option<Advice<'a>>,
    second: Option<Advice<'a>>,
    notes: &'a [String],
    files: Vec<String>,
}

pub fn execute(arguments: &CompareArguments) -> Result<ExitCode, Failure> {
    if !(arguments.max_wall.is_finite() && arguments.max_wall > 0.0) {
        return Err(Failure::usage(format!(
            "--max-wall {}: must be positive and finite",
            arguments.max_wall
        )));
    }
    let scene = study::load(&arguments.scene, &arguments.changes)?;
    let limits = Limits::of_comparison(arguments.error, arguments.max_wall, arguments.until);
    let mut stages = Stages::new(arguments.json);
    let comparison = study::compare(
        &scene,
        &arguments.methods,
        (arguments.reference.as_deref().unwrap_or(study::reference_of(&scene)), arguments.by.as_deref()),
        limits,
        &mut |text, share| stages.show(text, share),
    );
    stages.finish();
    let comparison = comparison?;

    let folder = arguments.out.clone().unwrap_or_else(|| Path::new("out").join(&scene.header.name));
    let path = folder.join("compare.html");
    let write_error =
        |error: &dyn std::fmt::Display| Failure::output(format!("cannot write {}: {error}", path.display()));
    std::fs::create_dir_all(&folder).map_err(|error| write_error(&error))?;
    report::write_page(&page::page(&scene.header, &comparison), &path)
        .map_err(|error| write_error(&error))?;

    let ranking = comparison.ranking();
    if arguments.json {
        let mut advice = ranking.iter().map(|&choice| Advice::new(choice));
        let summary = Summary {
            scene: &scene.header.name,
            measure: &comparison.measure,
            wanted_error: comparison.wanted,
            reference: &comparison.reference,
            methods: &comparison.candidates,
            fastest: advice.next(),
            second: advice.next(),
            notes: &comparison.notes,
            files: vec![path.to_string_lossy().into_owned()],
        };
        println!("{}", serde_json::to_string(&summary).map_err(|error| Failure::usage(error.to_string()))?);
    } else {
        print(&arguments.scene, &comparison);
        println!("report: {}", path.display());
    }
    Ok(ExitCode::from(if ranking.is_empty() { failure::EXPECTATION } else { 0 }))
}

/// `0.42 %`, or a power of ten when it is small.
pub fn per_cent(error: f64) -> String {
    if error >= 1e-4 { format!("{:.2} %", 100.0 * error) } else { format!("{error:.1e}") }
}

fn print(scene: &str, comparison: &Comparison) {
    let reference = &comparison.reference;
    println!(
        "{scene}: error of {} within {}, against {} with {} (itself known to {})",
        comparison.measure,
        per_cent(comparison.wanted),
        reference.method,
        study::per_frame(reference.substeps),
        per_cent(reference.uncertainty)
    );
    println!("  {:<28} {:>9} {:>11} {:>10} {:>11}", "method", "per frame", "dt in s", "error", "wall in s");
    for candidate in &comparison.candidates {
        for (index, point) in candidate.points.iter().enumerate() {
            let name = if index == 0 { candidate.method } else { "" };
            let error = match &point.outcome {
                Outcome::Done { error } => per_cent(*error),
                Outcome::Failed { .. } => "failed".into(),
            };
            println!(
                "  {name:<28} {:>9} {:>11.3e} {error:>10} {:>11.4}",
                point.substeps, point.dt, point.wall_s
            );
        }
    }
    for note in &comparison.notes {
        println!("note: {note}");
    }
    let mut ranking = comparison.ranking().into_iter();
    match ranking.next() {
        None => println!("no run is within {}", per_cent(comparison.wanted)),
        Some(best) => {
            println!("fastest: {}", comparison.sentence(best));
            if let Some(second) = ranking.next() {
                println!("second:  {}", comparison.sentence(second));
            }
            let [id, substeps] = Advice::new(best).changes;
            println!("use it:  {} run {scene} --set {id} --set {substeps}", crate::program());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wanted_errors_are_parts_or_per_cent() {
        assert_eq!(parse_error("0.02"), Ok(0.02));
        assert_eq!(parse_error(" 2 % "), Ok(0.02));
        for bad in ["", "x", "-1%", "0", "nan", "200%"] {
            assert!(parse_error(bad).is_err(), "{bad}");
        }
    }
}
