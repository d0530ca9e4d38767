//! The runs of a comparison: a reference refined until it is known well enough, then every method with more and more steps.

use super::ladders::{self, Exact};
use super::measure::{self, Measure};
use crate::failure::Failure;
use serde::Serialize;
use sim_core::{MethodInfo, Stability};
use sim_io::run::{RunResult, method_info, xpbd};
use sim_io::scene::{MAX_SUBSTEPS, Scene, Substeps};
use sim_io::{Document, RunError, RunOptions};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Part of the wanted error to which the reference is to be known.
const REFERENCE_ERROR: f64 = 0.1;
/// Methods whose default member is in the list under its own name.
const FAMILIES: &[&str] = &["theta_mixed", "imex"];
/// Finer runs of the reference after the first.
const REFERENCE_LEVELS: u32 = 4;

/// Tells what is being done and how far it is.
pub type Tell<'a> = &'a mut (dyn FnMut(&str, Option<f64>) + Send);

/// What ends a study.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Wanted relative error.
    pub wanted: f64,
    /// Longest run in s.
    pub max_wall: f64,
    /// End of the runs in s, where it is not the scene's.
    pub until: Option<f64>,
    /// A method is given up once a run is expected to take so many times as long as the fastest one within the wanted error.
    pub patience: f64,
    /// Runs of each method that are made all the same, unless one takes longer than a second.
    pub fewest: usize,
    /// When no further run may begin that is not expected to end by then: of the reference, and of any method.
    pub deadlines: Option<[Instant; 2]>,
}

impl Limits {
    /// As a comparison needs them: several runs of every method.
    pub fn of_comparison(wanted: f64, max_wall: f64, until: Option<f64>) -> Self {
        Self { wanted, max_wall, until, patience: 8.0, fewest: 4, deadlines: None }
    }

    pub fn is_late(&self, expected: f64) -> bool {
        self.deadlines.is_some_and(|[_, last]| Instant::now() + Duration::from_secs_f64(expected) > last)
    }
}

/// How a run came out.
#[derive(Clone, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// To the end.
    Done {
        /// Distance from the reference, relative.
        error: f64,
    },
    /// Not to the end.
    Failed {
        /// Why.
        reason: String,
    },
}

/// One run of a method.
#[derive(Clone, Serialize)]
pub struct Point {
    pub substeps: u64,
    pub dt: f64,
    pub wall_s: f64,
    pub force_evaluations: u64,
    pub linear_iterations: u64,
    pub outcome: Outcome,
}

impl Point {
    /// The error of a run that came to its end.
    pub fn error(&self) -> Option<f64> {
        match self.outcome {
            Outcome::Done { error } => Some(error),
            Outcome::Failed { .. } => None,
        }
    }
}

/// A method and its runs, coarsest first.
#[derive(Clone, Serialize)]
pub struct Candidate {
    pub method: &'static str,
    pub points: Vec<Point>,
    /// Why no finer run was made.
    pub ended: String,
}

/// What errors are measured from.
#[derive(Clone, Serialize)]
pub struct Reference {
    pub method: &'static str,
    pub substeps: u64,
    pub dt: f64,
    pub wall_s: f64,
    /// Change from the run with half as many steps, measured as errors are.
    pub uncertainty: f64,
}

/// Everything a comparison found.
pub struct Comparison {
    pub measure: String,
    pub wanted: f64,
    /// Time that was simulated, in s.
    pub simulated: f64,
    /// Number of frames in it.
    pub frames: usize,
    pub reference: Reference,
    pub candidates: Vec<Candidate>,
    pub notes: Vec<String>,
}

impl Comparison {
    /// The fastest run within the wanted error of each method that has one, fastest first.
    ///
    /// A run whose finer neighbor is worse by more than the reference is uncertain is within the error by chance; it does not count.
    pub fn ranking(&self) -> Vec<(&Candidate, &Point)> {
        let slack = self.reference.uncertainty;
        let mut choices: Vec<(&Candidate, &Point)> = (self.candidates.iter())
            .filter_map(|candidate| {
                let points = &candidate.points;
                let sound = |index: usize| {
                    let error = points[index].error()?;
                    let finer = points.get(index + 1).map_or(Some(0.0), Point::error)?;
                    (error <= self.wanted && finer <= self.wanted.max(error + slack))
                        .then_some(&points[index])
                };
                let within = (0..points.len()).filter_map(sound);
                let best = within.min_by(|a, b| a.wall_s.total_cmp(&b.wall_s))?;
                Some((candidate, best))
            })
            .collect();
        choices.sort_by(|a, b| a.1.wall_s.total_cmp(&b.1.wall_s));
        choices
    }

    /// A run in words.
    pub fn sentence(&self, (candidate, point): (&Candidate, &Point)) -> String {
        format!(
            "{} with {} (dt {:.3e} s): error {}, {:.3} ms per frame, {}",
            candidate.method,
            per_frame(point.substeps),
            point.dt,
            super::per_cent(point.error().unwrap_or(f64::NAN)),
            1e3 * point.wall_s / self.frames.max(1) as f64,
            pace(self.simulated / point.wall_s)
        )
    }
}

/// Simulated over wall-clock time in words.
fn pace(ratio: f64) -> String {
    let (times, word) = if ratio >= 1.0 { (ratio, "faster") } else { (1.0 / ratio, "slower") };
    let digits = if times >= 100.0 {
        0
    } else if times >= 10.0 {
        1
    } else {
        2
    };
    format!("{times:.digits$} times {word} than real time")
}

/// `1 step per frame`, `2 steps per frame`.
pub fn per_frame(substeps: u64) -> String {
    format!("{substeps} step{} per frame", if substeps == 1 { "" } else { "s" })
}

/// A scene whose runs can be compared.
///
/// # Errors
/// [`Failure`] for anything but a motion.
pub fn load(path: &str, changes: &[String]) -> Result<Scene, Failure> {
    match Document::load(path, changes)? {
        Document::Motion(mut scene) => {
            scene.output.every = 1;
            Ok(*scene)
        }
        Document::Structure(scene) => Err(Failure::usage(format!(
            "scene {}: a structure has one method per analysis; `sim converge` says how good its answer is",
            scene.header.name
        ))),
    }
}

pub fn run(scene: &Scene, limits: Limits, tell: Tell<'_>) -> Result<RunResult, RunError> {
    let steps = match scene.method.substeps {
        Substeps::Auto => "automatic steps".to_owned(),
        Substeps::Fixed(count) => per_frame(count.into()),
    };
    let text = format!("{}, {steps}", scene.method.id);
    sim_io::run(scene, RunOptions { until: limits.until, threads: None }, &mut |progress| {
        tell(&text, Some((progress.t - progress.start) / (progress.end - progress.start)));
        // Twice what was expected of it at most.
        if progress.wall_s > 2.0 * limits.max_wall || limits.is_late(0.0) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })
}

/// Simulated seconds per second of wall-clock time with the fewest steps that `method` may take, from a run of up to `wall` s.
///
/// # Errors
/// [`Failure`] when the run fails.
pub fn pace_of(scene: &Scene, method: &str, wall: f64, tell: Tell<'_>) -> Result<f64, Failure> {
    let info = method_info(method).map_err(|error| Failure::usage(error.to_string()))?;
    let first = bare(scene).with_method(method, first_of_reference(info))?;
    let mut pace = 0.0;
    let trial = sim_io::run(&first, RunOptions::default(), &mut |progress| {
        tell(&format!("{method}, to see how long it takes"), Some(progress.wall_s / wall));
        pace = (progress.t - progress.start) / progress.wall_s.max(1e-9);
        if progress.wall_s > wall { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match trial {
        Ok(_) | Err(RunError::Stopped { .. }) => Ok(pace),
        Err(error) => Err(error.into()),
    }
}

/// Halves the reference's steps until it is known to a tenth of the wanted error; else shortens the time that is compared to what is
/// known so well.
fn reference(
    scene: &Scene,
    (method, by): (&str, Option<&str>),
    limits: &mut Limits,
    notes: &mut Vec<String>,
    tell: Tell<'_>,
) -> Result<(RunResult, Measure, Reference), Failure> {
    let info = method_info(method).map_err(|error| Failure::usage(format!("--reference: {error}")))?;
    let with = |substeps| scene.with_method(method, substeps);
    let mut last = run(&with(first_of_reference(info))?, *limits, tell).map_err(out_of_time)?;
    let measure = Measure::new(by, &last)?;
    let wanted = (REFERENCE_ERROR * limits.wanted).max(measure.floor());
    let (mut uncertainty, mut known) = (f64::INFINITY, 0);
    let own = Limits { deadlines: limits.deadlines.map(|[first, _]| [first; 2]), ..*limits };
    for _ in 0..REFERENCE_LEVELS {
        if 2.0 * last.wall_s > limits.max_wall || own.is_late(2.0 * last.wall_s) {
            break;
        }
        let Some(count) = twice(last.substeps) else { break };
        let finer = run(&with(Substeps::Fixed(count))?, *limits, tell).map_err(out_of_time)?;
        uncertainty = measure.distance(&finer, &last);
        known = measure.agreement(&finer, &last, wanted);
        last = finer;
        if uncertainty <= wanted {
            break;
        }
    }
    if uncertainty.is_infinite() {
        return Err(Failure::run(
            OUT_OF_TIME,
            format!(
                "a run of {} with {} took {:.1} s, so that there was no time to see how far it is from the limit: choose a shorter time or \
                 allow longer runs",
                info.id,
                per_frame(last.substeps),
                last.wall_s
            ),
        ));
    }
    let frames = last.times.len() - 1;
    if uncertainty > wanted && known > frames / 10 {
        let until = last.times[known - 1];
        notes.push(format!(
            "compared until {until:.4} s: after that two runs of the reference part, as the motion multiplies the smallest difference"
        ));
        limits.until = Some(until);
        // Both were run before, so that the numbers fit.
        let [fine, coarse] = [last.substeps, last.substeps / 2].map(|count| Substeps::Fixed(count as u32));
        last = run(&with(fine)?, *limits, tell).map_err(out_of_time)?;
        uncertainty = measure.distance(&last, &run(&with(coarse)?, *limits, tell).map_err(out_of_time)?);
    } else if uncertainty > wanted {
        notes.push(format!(
            "the reference is known to {} only, and differences below that mean nothing: choose a shorter time (--until), a probe (--by) or a \
             longer --max-wall",
            super::per_cent(uncertainty)
        ));
    }
    let about =
        Reference { method: info.id, substeps: last.substeps, dt: last.dt, wall_s: last.wall_s, uncertainty };
    Ok((last, measure, about))
}

/// The scene without probes.
fn bare(scene: &Scene) -> Scene {
    let mut scene = scene.clone();
    scene.probes.clear();
    scene.expectations.clear();
    scene
}

/// The scene as it is run, and the probe that is judged, if one is.
///
/// Where all particles are is judged, the scene's own probes are left out: they may ask for what only some methods have, or for a longer
/// run. Where the motion is too small for recorded positions, the first probe with a history is judged.
fn judged(
    scene: &Scene,
    (method, by): (&str, Option<&str>),
    limits: Limits,
    notes: &mut Vec<String>,
    tell: Tell<'_>,
) -> Result<(Scene, Option<String>), Failure> {
    if let Some(by) = by {
        return Ok((scene.clone(), Some(by.to_owned())));
    }
    let bare = bare(scene);
    let info = method_info(method).map_err(|error| Failure::usage(format!("--reference: {error}")))?;
    let first = |scene: &Scene, tell: Tell<'_>| {
        let scene = scene.with_method(method, first_of_reference(info))?;
        run(&scene, limits, tell).map_err(out_of_time)
    };
    let floor = Measure::new(None, &first(&bare, tell)?)?.floor();
    if floor <= REFERENCE_ERROR * limits.wanted {
        return Ok((bare, None));
    }
    let coarse = format!(
        "positions are recorded to {} of how far this motion goes, too coarse for an error of {}",
        super::per_cent(floor),
        super::per_cent(limits.wanted)
    );
    let name = measure::first_history(&first(scene, tell)?)
        .ok_or_else(|| Failure::usage(format!("{coarse}, and no probe has a history to judge by")))?;
    notes.push(format!("{coarse}: probe {name} is judged instead"));
    Ok((scene.clone(), Some(name)))
}

/// Kind of the failure of a reference that would take too long.
pub const OUT_OF_TIME: &str = "out_of_time";

fn out_of_time(error: RunError) -> Failure {
    match error {
        RunError::Stopped { .. } => Failure::run(
            OUT_OF_TIME,
            "the reference takes too long: choose a shorter time or allow longer runs",
        ),
        error => error.into(),
    }
}

/// Conditionally stable methods start from the step that is stable, the others from one per frame.
pub fn first_steps(method: &MethodInfo) -> Substeps {
    if matches!(method.stability, Stability::Conditional { .. }) {
        Substeps::Auto
    } else {
        Substeps::Fixed(1)
    }
}

/// Substeps of constraints grow from what the run driver takes by itself: with fewer they are soft.
fn first_of_reference(method: &MethodInfo) -> Substeps {
    if method.id == xpbd::METHOD.id { Substeps::Auto } else { first_steps(method) }
}

/// The method that computes the reference unless another is named: `xpbd` for scenes that no other method can run.
pub fn reference_of(scene: &Scene) -> &'static str {
    const SMOOTH: &str = "runge_kutta4";
    if bare(scene).with_method(SMOOTH, Substeps::Auto).is_ok() { SMOOTH } else { xpbd::METHOD.id }
}

/// Twice as many steps per frame, if a scene may have them.
pub fn twice(substeps: u64) -> Option<u32> {
    u32::try_from(2 * substeps.max(1)).ok().filter(|&count| count <= MAX_SUBSTEPS)
}

/// Compares methods on a scene.
///
/// # Errors
/// [`Failure`] when a name is unknown or the reference itself cannot be computed; a candidate that fails is a finding.
pub fn compare(
    scene: &Scene,
    methods: &[String],
    (reference_method, by): (&str, Option<&str>),
    mut limits: Limits,
    tell: Tell<'_>,
) -> Result<Comparison, Failure> {
    let mut candidates: Vec<&'static MethodInfo> = Vec::new();
    for id in methods {
        let info = method_info(id.trim()).map_err(|error| Failure::usage(format!("--methods: {error}")))?;
        candidates.push(info);
    }
    if methods.is_empty() {
        let worthwhile = |info: &&MethodInfo| {
            info.id == scene.method.id
                || info.stability != Stability::Unstable && !FAMILIES.contains(&info.id)
        };
        candidates = sim_io::run::methods().filter(worthwhile).collect();
    }
    let mut notes = Vec::new();
    let (scene, by) = &judged(scene, (reference_method, by), limits, &mut notes, tell)?;
    let (exact, measure, reference) =
        reference(scene, (reference_method, by.as_deref()), &mut limits, &mut notes, tell)?;
    let against = Exact { run: &exact, measure: &measure, uncertainty: reference.uncertainty };
    let found = ladders::climb(scene, candidates, against, limits, tell);
    let refused: Vec<&Candidate> = found.iter().filter(|candidate| candidate.points.is_empty()).collect();
    if let Some(first) = refused.first() {
        let names: Vec<&str> = refused.iter().map(|candidate| candidate.method).collect();
        notes.push(format!("not run: {} ({})", names.join(", "), first.ended));
    }
    for candidate in &found {
        for point in &candidate.points {
            if let Outcome::Failed { reason } = &point.outcome {
                notes.push(format!("{} with {}: {reason}", candidate.method, per_frame(point.substeps)));
            }
        }
    }
    let begin = exact.times.first().copied().unwrap_or(0.0);
    Ok(Comparison {
        measure: measure.words(),
        wanted: limits.wanted,
        simulated: exact.times.last().copied().unwrap_or(0.0) - begin,
        frames: exact.times.len().saturating_sub(1),
        reference,
        candidates: found,
        notes,
    })
}
