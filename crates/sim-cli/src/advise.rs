//! `sim advise`: the method, steps and cost for a scene, with the numbers behind the advice.

mod apply;

use crate::compare::study::{self, Comparison, Limits, Outcome};
use crate::compare::{parse_error, per_cent};
use crate::failure::Failure;
use crate::progress::Stages;
use clap::Args;
use serde::Serialize;
use sim_integrate::{Advice, AdviceRequest, advise};
use sim_io::Model;
use sim_io::run::xpbd;
use sim_io::scene::Scene;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Frames that are always tried.
const FEWEST_FRAMES: f64 = 4.0;
/// Share of the time allowed that the shortest run of the reference may take: it is followed by longer ones.
const FIRST_RUN: f64 = 0.02;

#[derive(Args)]
pub struct AdviseArguments {
    /// Scene file (TOML, or JSON by its extension), or the name of a built-in scene.
    scene: String,
    /// Frames per second, instead of the scene's.
    #[arg(long, value_name = "R")]
    frame_rate: Option<f64>,
    /// Wanted error, as a part of how far the motion goes, or in per cent.
    #[arg(long, value_name = "E", default_value = "1%", value_parser = parse_error)]
    error: f64,
    /// The method itself may neither make nor lose energy.
    #[arg(long)]
    conserve_energy: bool,
    /// Length of the trial runs in s [default: the scene's, or what there is time for].
    #[arg(long, value_name = "T")]
    trial: Option<f64>,
    /// Time that all trial runs together may take, in s.
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    budget: f64,
    /// Change a field of the scene before anything else; may be repeated.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    changes: Vec<String>,
    /// Write the advice into the scene file; a built-in scene is written to NAME.toml.
    #[arg(long)]
    apply: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Recommendation {
    method: &'static str,
    substeps: u64,
    dt: f64,
    /// Relative, measured in the trial.
    error: f64,
    /// Measured in the trial.
    ms_per_frame: f64,
    /// Why it was tried.
    reason: String,
    changes: Vec<String>,
}

#[derive(Serialize)]
struct Verdict {
    method: &'static str,
    reason: String,
}

#[derive(Serialize)]
struct Summary<'a> {
    scene: &'a str,
    facts: &'a sim_integrate::Facts,
    spread: f64,
    wanted_error: f64,
    trial_s: f64,
    recommended: Option<&'a Recommendation>,
    second: Option<&'a Recommendation>,
    /// What theory suggests, the cheapest expected first.
    estimated: &'a [sim_integrate::Suggestion],
    rejected: &'a [Verdict],
    notes: &'a [String],
    applied_to: Option<&'a str>,
}

pub fn execute(arguments: &AdviseArguments) -> Result<ExitCode, Failure> {
    let changes = changes(arguments)?;
    let scene = study::load(&arguments.scene, &changes)?;
    let model = sim_io::run::check(&scene)?;
    let request = AdviceRequest {
        frame: scene.time.frame,
        relative_error: arguments.error,
        conserve_energy: arguments.conserve_energy,
    };
    let advice = advise(&model.system, &model.state, request)
        .map_err(|error| Failure::run("no_advice", error.to_string()))?;
    if !(arguments.budget.is_finite() && arguments.budget > 0.0) {
        return Err(Failure::usage(format!("--budget {}: must be positive and finite", arguments.budget)));
    }
    let methods: Vec<String> =
        (advice.suggestions.iter().map(|suggestion| suggestion.method).chain([xpbd::METHOD.id]))
            .map(str::to_owned)
            .collect();
    let begun = Instant::now();
    let mut stages = Stages::new(arguments.json);
    let trial = trial(arguments, &scene, &mut |text, share| stages.show(text, share));
    let comparison = trial.and_then(|(trial, note)| {
        let limits = Limits {
            until: Some(scene.time.start + trial),
            wanted: arguments.error,
            max_wall: 0.3 * arguments.budget,
            patience: 3.0,
            fewest: 1,
            deadlines: Some([0.4, 1.0].map(|part| begun + Duration::from_secs_f64(part * arguments.budget))),
        };
        let mut tell = |text: &str, share: Option<f64>| stages.show(&format!("trial: {text}"), share);
        let mut comparison =
            study::compare(&scene, &methods, (study::reference_of(&scene), None), limits, &mut tell)?;
        comparison.notes.extend(note);
        Ok(comparison)
    });
    stages.finish();
    let comparison = match comparison {
        Err(failure) if failure.kind() == study::OUT_OF_TIME => {
            return untried(arguments, &scene, &model, &advice);
        }
        comparison => comparison?,
    };

    let frame_change = &changes[arguments.changes.len()..];
    let choices: Vec<Recommendation> = (comparison.ranking().into_iter())
        .map(|(candidate, point)| Recommendation {
            method: candidate.method,
            substeps: point.substeps,
            dt: point.dt,
            error: point.error().unwrap_or(f64::NAN),
            ms_per_frame: 1e3 * point.wall_s / comparison.frames.max(1) as f64,
            reason: reason(&advice, candidate.method),
            changes: [
                format!("method.id={}", candidate.method),
                format!("method.substeps={}", point.substeps),
            ]
            .into_iter()
            .chain(frame_change.iter().cloned())
            .collect(),
        })
        .collect();
    let rejected = rejected(&advice, &comparison, &choices);
    let applied = match choices.first() {
        Some(choice) if arguments.apply => Some(apply::apply(&arguments.scene, &choice.changes)?),
        _ => None,
    };
    if arguments.json {
        let summary = Summary {
            scene: &scene.header.name,
            facts: &advice.facts,
            spread: advice.facts.spread(),
            wanted_error: arguments.error,
            trial_s: comparison.simulated,
            recommended: choices.first(),
            second: choices.get(1),
            estimated: &advice.suggestions,
            rejected: &rejected,
            notes: &comparison.notes,
            applied_to: applied.as_deref(),
        };
        println!("{}", serde_json::to_string(&summary).map_err(|error| Failure::usage(error.to_string()))?);
    } else {
        print_facts(&scene, &model, &advice, arguments.error);
        print_choices(&arguments.scene, &choices, &rejected, &comparison);
        if let Some(file) = &applied {
            println!("written: {file}");
        }
    }
    Ok(ExitCode::from(if choices.is_empty() { crate::failure::EXPECTATION } else { 0 }))
}

/// The advice of theory alone, for scenes that are too slow to be tried.
fn untried(
    arguments: &AdviseArguments,
    scene: &Scene,
    model: &Model,
    advice: &Advice,
) -> Result<ExitCode, Failure> {
    let note = format!(
        "not tried: no reference could be computed in {} s, so this rests on estimates of cost; allow more time with --budget",
        arguments.budget
    );
    if arguments.apply {
        return Err(Failure::run("not_tried", format!("--apply: {note}")));
    }
    if arguments.json {
        let verdict = |r: &sim_integrate::Rejection| Verdict { method: r.method, reason: r.reason.clone() };
        let rejected: Vec<Verdict> = advice.rejections.iter().map(verdict).collect();
        let summary = Summary {
            scene: &scene.header.name,
            facts: &advice.facts,
            spread: advice.facts.spread(),
            wanted_error: arguments.error,
            trial_s: 0.0,
            recommended: None,
            second: None,
            estimated: &advice.suggestions,
            rejected: &rejected,
            notes: &[note],
            applied_to: None,
        };
        println!("{}", serde_json::to_string(&summary).map_err(|error| Failure::usage(error.to_string()))?);
    } else {
        print_facts(scene, model, advice, arguments.error);
        println!("note: {note}");
        for suggestion in &advice.suggestions {
            println!(
                "try {} with {}, about {:.0} force evaluations per frame: {}",
                suggestion.method,
                study::per_frame(suggestion.substeps),
                suggestion.force_evaluations,
                suggestion.reason
            );
        }
        for rejection in &advice.rejections {
            println!("  not {}: {}", rejection.method, rejection.reason);
        }
    }
    Ok(ExitCode::from(crate::failure::EXPECTATION))
}

/// What the command line changes: its own `--set`s, then those that follow from the frame rate.
fn changes(arguments: &AdviseArguments) -> Result<Vec<String>, Failure> {
    let mut changes = arguments.changes.clone();
    if let Some(rate) = arguments.frame_rate {
        if !(rate.is_finite() && rate > 0.0) {
            return Err(Failure::usage(format!("--frame-rate {rate}: must be positive and finite")));
        }
        let scene = study::load(&arguments.scene, &changes)?;
        // A run is a whole number of frames.
        let frames = (scene.time.duration * rate - 1e-9).ceil().max(1.0);
        changes.push(format!("time.frame={:?}", 1.0 / rate));
        changes.push(format!("time.duration={:?}", frames / rate));
    }
    Ok(changes)
}

/// Length of the trial runs, and a note when it is not the whole scene.
fn trial(
    arguments: &AdviseArguments,
    scene: &Scene,
    tell: study::Tell<'_>,
) -> Result<(f64, Option<String>), Failure> {
    let whole = scene.time.duration;
    if let Some(trial) = arguments.trial {
        return if trial.is_finite() && trial > 0.0 {
            Ok((trial.min(whole), None))
        } else {
            Err(Failure::usage(format!("--trial {trial}: must be positive and finite")))
        };
    }
    let fewest = (FEWEST_FRAMES * scene.time.frame).min(whole);
    let wall = FIRST_RUN * arguments.budget;
    let affordable = wall * study::pace_of(scene, study::reference_of(scene), wall, tell)?;
    if affordable >= whole {
        return Ok((whole, None));
    }
    let trial = affordable.max(fewest);
    let note = format!(
        "tried on the first {trial:.3} s of {whole} s only: what moves faster later needs more steps; allow more time with --budget"
    );
    Ok((trial, Some(note)))
}

fn reason(advice: &Advice, method: &str) -> String {
    let found = advice.suggestions.iter().find(|suggestion| suggestion.method == method);
    match found {
        Some(suggestion) => suggestion.reason.clone(),
        None => "parts solved as constraints, with contact and friction: stable at any step, soft until it has converged".into(),
    }
}

/// Why every method but the recommended one is not.
fn rejected(advice: &Advice, comparison: &Comparison, choices: &[Recommendation]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for candidate in &comparison.candidates {
        let choice = choices.iter().position(|choice| choice.method == candidate.method);
        let reason = match (choice, choices.first()) {
            (Some(0), _) => continue,
            (Some(index), Some(best)) => {
                let choice = &choices[index];
                format!(
                    "takes {:.2} times as long within the wanted error ({}, {})",
                    choice.ms_per_frame / best.ms_per_frame,
                    study::per_frame(choice.substeps),
                    per_cent(choice.error)
                )
            }
            _ => match candidate.points.last() {
                Some(last) => match &last.outcome {
                    Outcome::Done { error } => format!(
                        "error {} with {}; not tried further: {}",
                        per_cent(*error),
                        study::per_frame(last.substeps),
                        candidate.ended
                    ),
                    Outcome::Failed { reason } => {
                        format!("failed with {}: {reason}", study::per_frame(last.substeps))
                    }
                },
                None => candidate.ended.clone(),
            },
        };
        verdicts.push(Verdict { method: candidate.method, reason });
    }
    verdicts
        .extend((advice.rejections.iter()).map(|r| Verdict { method: r.method, reason: r.reason.clone() }));
    verdicts
}

fn print_facts(scene: &Scene, model: &Model, advice: &Advice, error: f64) {
    let facts = &advice.facts;
    let frame = scene.time.frame;
    println!(
        "{}: {} particles move, a frame is {:.4} ms, wanted error {}",
        scene.header.name,
        facts.free,
        1e3 * frame,
        per_cent(error)
    );
    if facts.stable_dt.is_finite() {
        let culprit = facts.culprit.map_or_else(String::new, |(force, index)| {
            let owner = model.layout.spring_owner(index).filter(|_| force == "spring");
            let place = owner.map_or_else(
                || format!("{force} {index}"),
                |(part, local)| format!("spring {local} of part {}", part.id),
            );
            format!(", set by {place}")
        });
        println!(
            "  longest explicit step that is surely stable: {:.3e} s, {} per frame{culprit}",
            facts.stable_dt, facts.explicit_steps
        );
    }
    println!(
        "  the stiffest part swings {:.2} times in a frame, {:.1} times as fast as the softest; its damping is {} of critical",
        facts.stiffest * frame / std::f64::consts::TAU,
        facts.spread(),
        per_cent(facts.damping_ratio)
    );
}

fn print_choices(scene: &str, choices: &[Recommendation], rejected: &[Verdict], comparison: &Comparison) {
    for note in &comparison.notes {
        println!("note: {note}");
    }
    let Some(best) = choices.first() else {
        println!(
            "no method came within the wanted error in the trial: allow more time (--budget) or a larger error (--error)"
        );
        print_rejected(rejected);
        return;
    };
    println!("recommended: {} with {} (dt {:.3e} s)", best.method, study::per_frame(best.substeps), best.dt);
    println!(
        "  measured in {:.3} s of the scene: error {}, {:.3} ms per frame",
        comparison.simulated,
        per_cent(best.error),
        best.ms_per_frame
    );
    println!("  because it is {}", best.reason);
    print_rejected(rejected);
    let changes: Vec<String> = best.changes.iter().map(|change| format!("--set {change}")).collect();
    println!("use it:  {} run {scene} {}", crate::program(), changes.join(" "));
    println!("or write it into the scene with --apply");
}

fn print_rejected(rejected: &[Verdict]) {
    for verdict in rejected {
        println!("  not {}: {}", verdict.method, verdict.reason);
    }
}
