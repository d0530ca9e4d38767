//! `sim run`.

mod structure;

use crate::failure::{self, Failure};
use crate::progress::Bar;
use clap::Args;
use sim_io::checkpoint::{self, Every, KeepOptions, Which};
use sim_io::output::{self, Summary};
use sim_io::run::result::ExpectationResult;
use sim_io::{Document, RunOptions, RunResult};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub struct RunArguments {
    /// Scene file (TOML, or JSON by its extension), or the name of a built-in scene.
    scene: String,
    /// Folder for the results [default: out/SCENE].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
    /// Change a field of the scene, e.g. --set part.rope.segments=40; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    changes: Vec<String>,
    /// Run to this time in s instead of the scene's duration; expectations are then not judged.
    #[arg(long, value_name = "T")]
    until: Option<f64>,
    /// Integration method, the same as --set method.id=ID.
    #[arg(long, value_name = "ID")]
    method: Option<String>,
    /// Number of threads; results do not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Keep a checkpoint in the folder of the results, renewed at the end of the frame in which this time has passed since the last:
    /// 30s, 5min or 1h of wall-clock time, 0.1sim for seconds of simulated time. It goes when the results are written.
    #[arg(long, value_name = "TIME")]
    checkpoint_every: Option<Every>,
    /// Go on from the checkpoint in this folder, with the same scene and changes; results are those of a run that never stopped.
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    resume: Option<PathBuf>,
    /// Go on from the checkpoint before the last one.
    #[arg(long, requires = "resume")]
    resume_previous: bool,
}

impl RunArguments {
    /// Where results go, and what is kept on the way.
    fn keep(&self, name: &str) -> Result<(PathBuf, KeepOptions), Failure> {
        let folder = self.resume.clone().or_else(|| self.out.clone());
        let folder = folder.unwrap_or_else(|| Path::new("out").join(name));
        let which = if self.resume_previous { Which::Previous } else { Which::Latest };
        let latest = Which::Latest.path(&folder);
        if self.checkpoint_every.is_some() && self.resume.is_none() && latest.exists() {
            return Err(Failure::usage(format!(
                "{} is there from a run that did not end: go on with it by --resume {}, or remove it",
                latest.display(),
                folder.display()
            )));
        }
        let keep = KeepOptions {
            write: self.checkpoint_every.map(|every| (folder.clone(), every)),
            resume: self.resume.is_some().then(|| (folder.clone(), which)),
        };
        Ok((folder, keep))
    }
}

pub fn execute(arguments: &RunArguments) -> Result<ExitCode, Failure> {
    if let Some(until) = arguments.until.filter(|until| !until.is_finite()) {
        return Err(Failure::usage(format!("--until {until}: must be a finite number of seconds")));
    }
    if arguments.threads == Some(0) {
        return Err(Failure::usage("--threads 0: must be at least 1"));
    }
    let mut changes = arguments.changes.clone();
    changes.extend(arguments.method.as_ref().map(|id| format!("method.id={id:?}")));
    let scene = match Document::load(&arguments.scene, &changes)? {
        Document::Motion(scene) => scene,
        Document::Structure(scene) => return structure::execute(arguments, &scene),
    };
    let (folder, keep) = arguments.keep(&scene.header.name)?;
    let options = RunOptions { until: arguments.until, threads: arguments.threads };
    let mut bar = Bar::new(arguments.json);
    let run = sim_io::run_kept(&scene, options, &keep, &mut |progress| {
        bar.show(progress);
        ControlFlow::Continue(())
    });
    bar.finish();
    match run {
        Ok(result) => {
            let files = output::write(&result, None, scene.output, &folder)?;
            if keep != KeepOptions::default() {
                checkpoint::remove(&folder).map_err(|error| Failure::output(error.to_string()))?;
            }
            if arguments.json {
                let summary = serde_json::to_string(&Summary::new(&result, &files))
                    .map_err(|error| Failure::usage(error.to_string()))?;
                println!("{summary}");
            } else {
                print(&result, &files);
            }
            Ok(ExitCode::from(if result.all_met() { 0 } else { failure::EXPECTATION }))
        }
        Err(error) => {
            let mut files = Vec::new();
            if let Some(partial) = error.partial() {
                files = output::write(partial, Some(error.to_string()), scene.output, &folder)?;
            }
            if !arguments.json {
                for file in without_frames(&files) {
                    eprintln!("written up to the failure: {}", file.display());
                }
            }
            let files: Vec<String> = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
            let begun = error.partial().is_some();
            let failure = Failure::from(error).with("files", files);
            let sets = changes.iter().fold(String::new(), |all, change| all + " --set " + change);
            let hint = format!("find out why:  {} diagnose {}{sets}", crate::program(), arguments.scene);
            Err(if begun { failure.with("hint", hint) } else { failure })
        }
    }
}

fn print(result: &RunResult, files: &[PathBuf]) {
    let title = if result.title.is_empty() { &result.description } else { &result.title };
    println!("{}: {title}", result.scene);
    if let Some(found) = &result.convergence {
        println!(
            "{}, {} frames of {:.4e} s, up to {} substeps in a frame, {} sweeps each, order {}, {:.2} s wall time",
            result.method.id,
            result.steps,
            result.frame,
            result.substeps,
            found.iterations,
            json_word(&found.order),
            result.wall_s
        );
        println!("convergence: {}", found.sentence);
        let energy = &result.energy;
        println!(
            "energy: {:.6e} J at first, {:.6e} J at last, work {:+.6e} J, gained or lost to colliders, friction and the method {:+.2e} J",
            energy.initial.total(),
            energy.current.total(),
            energy.work.not_conservative(),
            energy.numerical + energy.residual
        );
        return print_results(result, files);
    }
    println!(
        "{}, {} steps of {:.4e} s or more, up to {} in a frame of {:.4e} s, {:.2} s wall time",
        result.method.id, result.steps, result.dt, result.substeps, result.frame, result.wall_s
    );
    if let Some(choice) = &result.stability
        && let Some(limit) = choice.limit
    {
        let culprit =
            choice.culprit.as_ref().map(|culprit| format!(", set by {culprit}")).unwrap_or_default();
        println!("largest step that is surely stable: {limit:.4e} s{culprit}");
    }
    let energy = &result.energy;
    println!(
        "energy: {:.6e} J at first, {:.6e} J at last, work {:+.6e} J, made by the method {:+.2e} J, largest residual of a step {:.1e}",
        energy.initial.total(),
        energy.current.total(),
        energy.work.not_conservative(),
        energy.numerical,
        energy.max_relative_residual
    );
    print_results(result, files);
}

/// A word of a scene, as the scene writes it.
fn json_word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn print_results(result: &RunResult, files: &[PathBuf]) {
    for (name, probe) in &result.probes {
        println!("  {name} = {} {}", short(probe.value), probe.unit);
    }
    for warning in &result.warnings {
        println!("note: {warning}");
    }
    expectations(&result.expectations);
    list_files(files, &result.expectations, &result.state_hash);
}

fn expectations(expectations: &[ExpectationResult]) {
    for expectation in expectations {
        let measured = expectation.measured.map_or("no value".to_owned(), short);
        println!(
            "{} {} = {measured}, expected {} ± {:.2e}",
            if expectation.pass { "  met " } else { "NOT MET" },
            expectation.probe,
            short(expectation.expected),
            expectation.tolerance
        );
        if !expectation.pass {
            println!("         source: {}", expectation.source);
        }
    }
}

/// The files that people are told of: not the many of single frames.
fn without_frames(files: &[PathBuf]) -> impl Iterator<Item = &PathBuf> {
    files.iter().filter(|file| file.extension().is_none_or(|extension| extension != "vtu"))
}

/// The last lines of a run: what it left, how it came out, and the page.
fn list_files(files: &[PathBuf], expectations: &[ExpectationResult], state_hash: &str) {
    println!(
        "files: {}",
        without_frames(files).map(|file| file.to_string_lossy()).collect::<Vec<_>>().join(", ")
    );
    let met = expectations.iter().filter(|expectation| expectation.pass).count();
    println!("result: {met} of {} expectations met, state {state_hash}", expectations.len());
    if let Some(page) =
        files.iter().find(|file| file.extension().is_some_and(|extension| extension == "html"))
    {
        println!("report: {}", page.display());
    }
}

/// Nine digits, in whichever notation is shorter to read.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-3..1e7).contains(&size) { format!("{value:.9}") } else { format!("{value:.8e}") }
}
