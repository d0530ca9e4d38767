//! `sim converge`: runs a scene with finer and finer steps and says how far each probe is from its limit.

use crate::failure::{self, Failure};
use crate::progress::{Bar, Stages};
use crate::run::short;
use clap::Args;
use serde::Serialize;
use sim_io::report::{self, Badge, Chart, ReportPage};
use sim_io::run::result::ProbeValue;
use sim_io::scene::probe::{EnergyEntry, Probe};
use sim_io::scene::{Header, Substeps};
use sim_io::structure::{self, document::AnalysisSpec};
use sim_io::{Document, RunOptions};
use sim_verify::{Convergence, RichardsonReport, richardson};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub struct ConvergeArguments {
    /// Scene file (TOML, or JSON by its extension), or the name of a built-in scene.
    scene: String,
    /// Number of runs, at least 3; each has half the step of the one before.
    #[arg(long, value_name = "N", default_value_t = 4)]
    levels: u32,
    /// Vary this field instead of the step, e.g. part.rope.segments=10,20,40: at least three values that grow by one factor.
    #[arg(long, value_name = "PATH=V1,V2,V3")]
    vary: Option<String>,
    /// Formal order of the error [default: the method's, or 2 with --vary].
    #[arg(long, value_name = "P")]
    order: Option<f64>,
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

/// One run.
#[derive(Serialize)]
struct Level {
    /// What was changed in the scene.
    change: String,
    /// Smallest step in s; absent where there is none.
    dt: Option<f64>,
    steps: u64,
    wall_s: f64,
    #[serde(skip)]
    probes: BTreeMap<String, ProbeValue>,
}

#[derive(Serialize)]
struct ProbeReport {
    unit: &'static str,
    #[serde(flatten)]
    richardson: RichardsonReport,
}

#[derive(Serialize)]
struct Summary<'a> {
    scene: &'a str,
    method: &'static str,
    formal_order: f64,
    ratio: f64,
    levels: &'a [Level],
    probes: &'a BTreeMap<String, ProbeReport>,
    files: Vec<String>,
}

pub fn execute(arguments: &ConvergeArguments) -> Result<ExitCode, Failure> {
    let scene = Document::load(&arguments.scene, &arguments.changes)?;
    let (none, structure) = match &scene {
        Document::Motion(scene) => (scene.probes.is_empty(), false),
        Document::Structure(scene) => (scene.probes.is_empty(), true),
    };
    if none {
        return Err(Failure::usage(format!(
            "scene {}: no probes, so there is nothing whose convergence could be judged",
            scene.header().name
        )));
    }
    if structure && arguments.until.is_some() {
        return Err(Failure::usage("--until: a structure has its time in [analysis]"));
    }
    if let Some(order) = arguments.order.filter(|order| !(order.is_finite() && *order > 0.0)) {
        return Err(Failure::usage(format!("--order {order}: must be a positive finite number")));
    }
    let Runs { levels, ratio, method, order } = match &arguments.vary {
        Some(text) => vary(arguments, text)?,
        None => refine_steps(arguments, &scene)?,
    };
    let formal_order = arguments.order.unwrap_or(f64::from(order));
    let mut probes = BTreeMap::new();
    for (name, value) in &levels[0].probes {
        // A residual is rounding: it has no limit to converge to.
        if let Document::Motion(scene) = &scene
            && (scene.probes.iter()).any(|probe| probe.name() == name && is_residual(probe))
        {
            continue;
        }
        let values: Vec<f64> =
            levels.iter().filter_map(|level| level.probes.get(name)).map(|probe| probe.value).collect();
        if values.len() == levels.len() {
            let richardson = richardson(&values, ratio, formal_order);
            probes.insert(name.clone(), ProbeReport { unit: value.unit, richardson });
        }
    }
    let folder = arguments.out.clone().unwrap_or_else(|| Path::new("out").join(&scene.header().name));
    let path = folder.join("converge.html");
    let write_error =
        |error: &dyn std::fmt::Display| Failure::output(format!("cannot write {}: {error}", path.display()));
    std::fs::create_dir_all(&folder).map_err(|error| write_error(&error))?;
    let page = page(scene.header(), (method, formal_order), ratio, &levels, &probes);
    report::write_page(&page, &path).map_err(|error| write_error(&error))?;

    let converging = probes.values().all(|probe| probe.richardson.convergence.is_converging());
    if arguments.json {
        let files = vec![path.to_string_lossy().into_owned()];
        let summary = Summary {
            scene: &scene.header().name,
            method,
            formal_order,
            ratio,
            levels: &levels,
            probes: &probes,
            files,
        };
        println!("{}", serde_json::to_string(&summary).map_err(|error| Failure::usage(error.to_string()))?);
    } else {
        print(&scene.header().name, method, formal_order, &levels, &probes);
        println!("report: {}", path.display());
    }
    Ok(ExitCode::from(if converging { 0 } else { failure::EXPECTATION }))
}

fn is_residual(probe: &Probe) -> bool {
    matches!(probe, Probe::Energy(energy) if energy.term == EnergyEntry::MaxRelativeResidual)
}

/// What a run is asked for.
struct Run {
    dt: Option<f64>,
    steps: u64,
    wall_s: f64,
    probes: BTreeMap<String, ProbeValue>,
    /// Method or analysis.
    method: &'static str,
    /// What theory promises of its steps.
    order: u32,
    /// Most steps in a frame.
    substeps: u64,
    /// Whether every frame had so many.
    uniform: bool,
}

/// Runs by step, coarsest first, all of one ratio.
struct Runs {
    levels: Vec<Level>,
    ratio: f64,
    method: &'static str,
    order: u32,
}

/// The scene's own step, then halves of it.
fn refine_steps(arguments: &ConvergeArguments, scene: &Document) -> Result<Runs, Failure> {
    if !(3..=16).contains(&arguments.levels) {
        return Err(Failure::usage(format!(
            "--levels {}: must be at least 3, to see an order, and at most 16",
            arguments.levels
        )));
    }
    let mut levels = Vec::new();
    let changes: Vec<String> = match scene {
        Document::Motion(scene) => {
            let base = match scene.method.substeps {
                Substeps::Fixed(count) => u64::from(count),
                // Automatic substeps are fixed at the most that the first run needed in a frame.
                Substeps::Auto => {
                    let run = run(arguments, None)?;
                    let base = run.substeps;
                    if run.uniform {
                        levels.push((run.method, run.order, level(format!("method.substeps={base}"), run)));
                    }
                    base
                }
            };
            (0..arguments.levels).map(|index| format!("method.substeps={}", base << index)).collect()
        }
        Document::Structure(scene) => {
            let AnalysisSpec::Transient(spec) = &scene.analysis else {
                return Err(Failure::usage(format!(
                    "scene {}: a `{}` analysis has no step to refine; use --vary, e.g. --vary member.ID.divisions=4,8,16",
                    scene.header.name,
                    scene.analysis.kind()
                )));
            };
            (0..arguments.levels)
                .map(|index| format!("analysis.dt={:e}", spec.dt / f64::from(1_u32 << index)))
                .collect()
        }
    };
    for change in changes.into_iter().skip(levels.len()) {
        let run = run(arguments, Some(&change))?;
        levels.push((run.method, run.order, level(change, run)));
    }
    let (method, order, _) = levels[0];
    Ok(Runs { levels: levels.into_iter().map(|(_, _, level)| level).collect(), ratio: 2.0, method, order })
}

/// One run for each value of a field.
fn vary(arguments: &ConvergeArguments, text: &str) -> Result<Runs, Failure> {
    let refuse = |reason: &str| Failure::usage(format!("--vary {text}: {reason}"));
    let (path, list) = text.split_once('=').ok_or_else(|| refuse("needs the form path=v1,v2,v3"))?;
    let values: Vec<f64> = list
        .split(',')
        .map(|word| word.trim().parse().map_err(|_| refuse(&format!("`{word}` is no number"))))
        .collect::<Result<_, _>>()?;
    if values.len() < 3 {
        return Err(refuse("needs at least three values, to see an order"));
    }
    let ratio = values[1] / values[0];
    let steady = values.windows(2).all(|pair| (pair[1] / pair[0] / ratio - 1.0).abs() < 1e-9);
    if !(steady && ratio.is_finite() && ratio > 0.0 && ratio != 1.0) {
        return Err(refuse("the values must change by one factor, e.g. 10,20,40 or 0.4,0.2,0.1"));
    }
    let mut levels = Vec::new();
    let mut method = "";
    for word in list.split(',') {
        let change = format!("{}={}", path.trim(), word.trim());
        let run = run(arguments, Some(&change))?;
        method = run.method;
        levels.push(level(change, run));
    }
    Ok(Runs { levels, ratio: if ratio > 1.0 { ratio } else { 1.0 / ratio }, method, order: 2 })
}

/// One run with a change.
fn run(arguments: &ConvergeArguments, change: Option<&str>) -> Result<Run, Failure> {
    let mut changes = arguments.changes.clone();
    changes.extend(change.map(str::to_owned));
    let fail = |failure: Failure| match change {
        Some(change) => failure.with("change", change),
        None => failure,
    };
    match Document::load(&arguments.scene, &changes)? {
        Document::Motion(mut scene) => {
            // Pictures are for `sim run`.
            scene.output.every = u64::MAX;
            let mut bar = Bar::new(arguments.json);
            let options = RunOptions { until: arguments.until, threads: None };
            let result = sim_io::run(&scene, options, &mut |progress| {
                bar.show(progress);
                ControlFlow::Continue(())
            });
            bar.finish();
            let result = result.map_err(|error| fail(error.into()))?;
            let frames = result.times.len().saturating_sub(1) as u64;
            let method = result.method;
            Ok(Run {
                dt: Some(result.dt),
                steps: result.steps,
                wall_s: result.wall_s,
                probes: result.probes,
                method: method.id,
                order: method.order.min(method.order_velocity_dependent).max(1),
                substeps: result.substeps,
                uniform: result.steps == frames * result.substeps,
            })
        }
        Document::Structure(scene) => {
            let mut stages = Stages::new(arguments.json);
            let result = structure::run(&scene, &mut |text, share| stages.show(text, share));
            stages.finish();
            let result = result.map_err(|error| fail(error.into()))?;
            Ok(Run {
                dt: result.dt,
                steps: result.steps,
                wall_s: result.wall_s,
                method: result.analysis,
                order: 2,
                probes: result.probes,
                substeps: 1,
                uniform: true,
            })
        }
    }
}

fn level(change: String, run: Run) -> Level {
    Level { change, dt: run.dt, steps: run.steps, wall_s: run.wall_s, probes: run.probes }
}

fn verdict(report: &RichardsonReport) -> String {
    match report.convergence {
        Convergence::Monotone => match report.observed_order {
            Some(order) => format!("order {order:.2}"),
            None => "order not measurable".into(),
        },
        Convergence::Oscillating => "oscillating".into(),
        Convergence::Exact => "does not depend on the step".into(),
        Convergence::NotConverging => "NOT CONVERGING".into(),
    }
}

fn print(scene: &str, method: &str, order: f64, levels: &[Level], probes: &BTreeMap<String, ProbeReport>) {
    println!("{scene}: {} runs with {method}, formal order {order}", levels.len());
    for level in levels {
        println!("  {:<32} {}, {:.2} s", level.change, steps(level), level.wall_s);
    }
    let width = probes.keys().map(String::len).max().unwrap_or(0);
    for (name, probe) in probes {
        let report = &probe.richardson;
        let finest = report.values.last().copied().unwrap_or(f64::NAN);
        let bar = report.error_bar.map_or_else(|| "?".to_owned(), |bar| format!("{bar:.1e}"));
        let limit = report.extrapolated.map_or_else(String::new, |value| format!(", limit {}", short(value)));
        let unit = if probe.unit == "1" { "" } else { probe.unit };
        println!("  {name:<width$} = {} ± {bar} {unit} ({}){limit}", short(finest), verdict(report));
    }
}

fn steps(level: &Level) -> String {
    match level.dt {
        Some(dt) => format!("{} steps of {dt:.3e} s", level.steps),
        None => format!("{} steps", level.steps),
    }
}

fn page(
    header: &Header,
    (method, order): (&str, f64),
    ratio: f64,
    levels: &[Level],
    probes: &BTreeMap<String, ProbeReport>,
) -> ReportPage {
    let title = if header.title.is_empty() { &header.name } else { &header.title };
    let mut warnings: Vec<String> = (probes.iter())
        .filter(|(_, probe)| !probe.richardson.convergence.is_converging())
        .map(|(name, _)| {
            format!("{name} does not converge: its differences from run to run do not shrink, so no error bar can be given")
        })
        .collect();
    let failed = warnings.len();
    warnings.extend((probes.iter()).filter_map(|(name, probe)| {
        let observed = probe.richardson.observed_order?;
        (observed < 0.5 * order).then(|| {
            format!("{name} converges with order {observed:.2} instead of {order}: the steps may still be too long, or the motion not smooth")
        })
    }));
    let series = (probes.iter())
        .filter(|(_, probe)| probe.richardson.convergence != Convergence::Exact)
        .filter_map(|(name, probe)| {
            let values = &probe.richardson.values;
            let points: Vec<(f64, f64)> = values
                .windows(2)
                .zip(0..)
                .map(|(pair, index)| (ratio.powi(-index), (pair[1] - pair[0]).abs()))
                .filter(|point| point.1 > 0.0)
                .collect();
            let name = format!("{name} ({})", verdict(&probe.richardson));
            (!points.is_empty()).then(|| {
                let (x, y) = points.into_iter().unzip();
                (name, x, y)
            })
        })
        .collect();
    ReportPage {
        title: format!("Convergence: {title}"),
        subtitle: "Each probe of the scene, computed with finer and finer steps. The error bar is an estimate of the distance from the limit, with a safety factor (grid convergence index)."
            .into(),
        warnings,
        badge: Some(Badge {
            text: if failed == 0 { "every probe converges".into() } else { format!("{failed} of {} probes do not converge", probes.len()) },
            good: failed == 0,
        }),
        facts: (levels.iter())
            .map(|level| (level.change.clone(), format!("{}, {:.2} s", steps(level), level.wall_s)))
            .chain([("method".to_owned(), format!("{method}, formal order {order}"))])
            .collect(),
        probes: (probes.iter())
            .map(|(name, probe)| {
                let report = &probe.richardson;
                let finest = report.values.last().copied().unwrap_or(f64::NAN);
                let bar = report.error_bar.map_or_else(|| "?".to_owned(), |bar| format!("{bar:.1e}"));
                let unit = if probe.unit == "1" { "" } else { probe.unit };
                let unit = if unit.is_empty() { verdict(report) } else { format!("{unit}, {}", verdict(report)) };
                (name.clone(), format!("{} ± {bar}", short(finest)), unit)
            })
            .collect(),
        charts: vec![Chart {
            title: "Change from one run to the next".into(),
            x_label: "step of the coarser run, relative to the first".into(),
            y_label: "|difference| in the probe's unit".into(),
            log: true,
            series,
            ..Chart::default()
        }],
        ..ReportPage::default()
    }
}
