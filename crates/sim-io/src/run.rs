//! Running a scene: frames, substeps, probes and the energy account.

mod error;
mod frequency;
mod gauge;
mod keep;
mod pieces;
mod recorder;
mod reduce;
pub mod result;
mod steps;
pub mod xpbd;

pub use error::RunError;
pub use result::RunResult;

use crate::checkpoint::KeepOptions;
use crate::model::{self, Breakages, Layout, Model};
use crate::scene::check::MAX_FRAMES;
use crate::scene::document::Scene;
use crate::scene::error::SceneError;
use keep::{Keep, Snapshot};
use pieces::{Books, Cuts, make_step};
use recorder::Recorder;
use serde::{Deserialize, Serialize};
use sim_core::{EnergyLedger, LedgerReport, ModelSystem, ParticleSystem, StageRecord, State};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::time::Instant;
use steps::StepPlanner;
pub(crate) use steps::{method, stepper};
pub use steps::{method_info, methods};

/// How often a run reports its progress, in steps and at every frame.
const PROGRESS_STEPS: u64 = 256;

/// What a caller may change about a run without changing the scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunOptions {
    /// Length of the run in s instead of the scene's, rounded up to a whole frame. Expectations are judged only when it is the
    /// scene's own.
    pub until: Option<f64>,
    /// Number of threads; by default rayon's choice. The result does not depend on it.
    pub threads: Option<usize>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Progress {
    /// Time in s.
    pub t: f64,
    /// Time at the start in s.
    pub start: f64,
    /// Time at the end in s.
    pub end: f64,
    /// Steps so far.
    pub steps: u64,
    /// Wall-clock time so far in s.
    pub wall_s: f64,
    /// Energy that the method made or lost so far, relative to the largest kinetic energy so far.
    pub energy_drift: f64,
}

/// What a run is asked for and how far its energy account is: everything that [`Progress`] is made of.
struct Course {
    start: f64,
    end: f64,
    begun: Instant,
    largest_kinetic: f64,
}

impl Course {
    fn new(scene: &Scene, frames: u64, account: &LedgerReport) -> Self {
        let start = scene.time.start;
        let end = start + frames as f64 * scene.time.frame;
        Self { start, end, begun: Instant::now(), largest_kinetic: account.current.kinetic }
    }

    fn progress(&mut self, t: f64, steps: u64, account: &LedgerReport) -> Progress {
        self.largest_kinetic = self.largest_kinetic.max(account.current.kinetic);
        let made = account.numerical + account.residual;
        Progress {
            t,
            start: self.start,
            end: self.end,
            steps,
            wall_s: self.begun.elapsed().as_secs_f64(),
            energy_drift: if self.largest_kinetic > 0.0 { made / self.largest_kinetic } else { 0.0 },
        }
    }

    fn wall_s(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }
}

/// Runs a scene.
///
/// `progress` is called now and then; `Break` ends the run early, which is an error that carries what was reached.
///
/// # Errors
/// [`RunError`]. Errors of a run that had begun carry the [`RunResult`] up to the last complete frame.
pub fn run(
    scene: &Scene,
    options: RunOptions,
    progress: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
) -> Result<RunResult, RunError> {
    run_kept(scene, options, &KeepOptions::default(), progress)
}

/// Runs a scene, or goes on with a run, and makes checkpoints as `keep` says.
///
/// # Errors
/// As [`run`]; [`RunError::Resume`] for a checkpoint that is missing, damaged or of another run, [`RunError::Checkpoint`] with
/// what was reached for one that cannot be written.
pub fn run_kept(
    scene: &Scene,
    options: RunOptions,
    keep: &KeepOptions,
    progress: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
) -> Result<RunResult, RunError> {
    match options.threads {
        None => run_here(scene, options, keep, progress),
        Some(threads) => {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads.max(1))
                .build()
                .map_err(|error| RunError::Threads { threads, message: error.to_string() })?;
            pool.install(|| run_here(scene, options, keep, progress))
        }
    }
}

fn run_here(
    scene: &Scene,
    options: RunOptions,
    keep: &KeepOptions,
    progress: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
) -> Result<RunResult, RunError> {
    if let Some(until) = options.until {
        let frames = (until - scene.time.start) / scene.time.frame;
        if frames > MAX_FRAMES {
            return Err(RunError::TooManyFrames { until, frames, most: MAX_FRAMES });
        }
    }
    let mut model = model::build(scene)?;
    let gauges = gauge::gauges(scene, &model)?;
    let relaxed = model.start(scene)?;
    let Model { system, constrained, mut state, layout, initial_stress, meshes, mut warnings, .. } = model;
    warnings.extend(meshes.iter().map(|(part, report)| format!("part {part}: {report}")));
    if let Some(report) = relaxed {
        warnings.push(format!("settled in {} iterations to {:.1e}", report.iterations, report.residual));
    }
    let mut recorder = Recorder::new(scene, gauges);
    let (frames, _) = frames_to_run(scene, options.until, &mut Vec::new());
    let mut keep = Keep::new(keep, scene, (&system, &state, &layout), frames, &recorder.follows())?;
    let outcome = if let Some(constrained) = &constrained {
        let run = xpbd::Run { scene, springs: &system, constrained, layout: &layout };
        let made =
            run.make(&mut state, options.until, &mut warnings, (&mut recorder, &mut keep), progress)?;
        Outcome {
            failure: made.failure,
            method: *xpbd::METHOD,
            substeps: made.most_substeps,
            judged: made.judged,
            wall_s: made.wall_s,
            convergence: Some(made.convergence),
            planner: made.planner,
        }
    } else {
        let run = Stepped { scene, system: &system, layout: &layout };
        run.make(&mut state, options.until, &mut warnings, (&mut recorder, &mut keep), progress)?
    };
    warnings.extend(outcome.planner.warnings());
    if let Some(convergence) = &outcome.convergence
        && convergence.not_converged > 0
    {
        warnings.push(convergence.sentence.clone());
    }
    if let Some(convergence) = &outcome.convergence
        && convergence.stopped > 0
    {
        warnings.push(format!(
            "parts were stopped short {} times: constraints would have dragged them through a collider; more substeps make that rarer",
            convergence.stopped
        ));
    }
    let result = RunResult {
        scene: scene.header.name.clone(),
        source: result::SceneSource {
            file: scene.source.file.clone(),
            changes: scene.source.changes.clone(),
        },
        title: scene.header.title.clone(),
        description: scene.header.description.clone(),
        method: outcome.method,
        dt: recorder.smallest_dt(),
        frame: scene.time.frame,
        steps: recorder.steps(),
        substeps: outcome.substeps,
        work_done: recorder.work(),
        wall_s: outcome.wall_s,
        display: layout.display,
        frames: Vec::new(),
        times: Vec::new(),
        series: Vec::new(),
        probes: std::collections::BTreeMap::new(),
        expectations: Vec::new(),
        energy: LedgerReport::default(),
        initial_stress,
        stability: outcome.planner.choice(),
        convergence: outcome.convergence,
        warnings,
        state_hash: String::new(),
        frame_hashes: Vec::new(),
        state: State::default(),
    };
    recorder.finish(result, scene, outcome.failure, outcome.judged)
}

/// How a run went, apart from what the recorder keeps.
struct Outcome {
    failure: Option<steps::Failure>,
    method: sim_core::MethodInfo,
    substeps: u64,
    judged: bool,
    wall_s: f64,
    convergence: Option<xpbd::Convergence>,
    planner: StepPlanner,
}

/// A run of parts as springs, stepped by a method of the registry.
struct Stepped<'a> {
    scene: &'a Scene,
    system: &'a ParticleSystem,
    layout: &'a Layout,
}

impl Stepped<'_> {
    fn make(
        &self,
        state: &mut State,
        until: Option<f64>,
        warnings: &mut Vec<String>,
        (recorder, keep): (&mut Recorder, &mut Keep),
        progress: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
    ) -> Result<Outcome, RunError> {
        let Self { scene, system, layout } = *self;
        let (info, mut stepper) = method(scene)?;
        let (frame, start) = (scene.time.frame, scene.time.start);
        let (frames, judged) = frames_to_run(scene, until, warnings);

        let model_system: &dyn ModelSystem = system;
        let mut planner = StepPlanner::new(info, scene)?;
        let mut ledger = EnergyLedger::new(system, state);
        let mut record = StageRecord::default();
        let mut course = Course::new(scene, frames, ledger.report());
        let mut cuts = Cuts::default();
        let mut breakages = Breakages::default();
        let mut begin = 0;
        let mut failure = None;
        if let Some(snapshot) = keep.resumed() {
            begin = snapshot.frames;
            *state = snapshot.state.into_owned();
            ledger = EnergyLedger::resume(state, snapshot.ledger);
            recorder.resume(snapshot.history.into_owned(), state, &snapshot.ledger);
            planner.resume(snapshot.steps.into_owned());
            course.largest_kinetic = snapshot.largest_kinetic;
            cuts = snapshot.cuts;
            breakages = snapshot.breakages.into_owned();
        } else {
            let first = recorder.frame(0, system, layout, state, ledger.report(), None);
            failure = first.err().map(|particle| planner.overflow(start, 0, 0.0, particle, layout));
        }

        'run: for index in begin..if failure.is_some() { begin } else { frames } {
            let t0 = start + index as f64 * frame;
            let plan = match planner.plan(model_system, state, frame, layout) {
                Ok(plan) => plan,
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            };
            for step in 0..plan.steps {
                let when = (t0 + step as f64 * plan.dt, plan.dt);
                let mut books = Books {
                    ledger: &mut ledger,
                    recorder: &mut *recorder,
                    record: &mut record,
                    cuts: &mut cuts,
                };
                if let Err((source, dt)) = make_step(system, &mut stepper, state, when, &mut books) {
                    failure = Some(planner.diagnose(source, recorder.steps(), dt, layout));
                    break 'run;
                }
                state.t = t0 + (step + 1) as f64 * plan.dt;
                breakages.look(system, layout, state);
                let now = course.progress(state.t, recorder.steps(), ledger.report());
                if (recorder.steps().is_multiple_of(PROGRESS_STEPS) || step + 1 == plan.steps)
                    && progress(&now).is_break()
                {
                    failure = Some(steps::Failure::Stopped);
                    break 'run;
                }
            }
            state.t = start + (index + 1) as f64 * frame;
            if let Err(particle) = recorder.frame(index + 1, system, layout, state, ledger.report(), None) {
                failure = Some(planner.overflow(state.t, recorder.steps(), plan.dt, particle, layout));
                break;
            }
            let kept = keep.offer(index + 1, state.t, || Snapshot {
                frames: index + 1,
                largest_kinetic: course.largest_kinetic,
                state: Cow::Borrowed(&*state),
                ledger: *ledger.report(),
                history: Cow::Borrowed(recorder.history()),
                steps: Cow::Borrowed(planner.notes()),
                cuts,
                breakages: Cow::Borrowed(&breakages),
                constraints: None,
            });
            if let Err(error) = kept {
                failure = Some(steps::Failure::Checkpoint(error));
                break;
            }
        }
        warnings.extend(cuts.warning());
        warnings.extend(breakages.sentences());
        Ok(Outcome {
            failure,
            method: *info.method,
            substeps: planner.most_substeps(),
            judged,
            wall_s: course.wall_s(),
            convergence: None,
            planner,
        })
    }
}

/// Number of frames, and whether it is the scene's own, so that its expectations are about it.
fn frames_to_run(scene: &Scene, until: Option<f64>, warnings: &mut Vec<String>) -> (u64, bool) {
    let (frame, start) = (scene.time.frame, scene.time.start);
    let whole = (scene.time.duration / frame).round();
    let frames = until.map_or(whole, |until| ((until - start) / frame - 1e-9).ceil().max(0.0));
    if frames != whole {
        warnings.push(format!(
            "run to {} s instead of {} s: expectations are not judged",
            start + frames * frame,
            start + whole * frame
        ));
    }
    (frames as u64, frames == whole)
}

/// Builds a scene and looks up its probes and its method, without running it.
///
/// # Errors
/// [`SceneError`], the same that [`run`] would give before its first step.
pub fn check(scene: &Scene) -> Result<Model, SceneError> {
    let model = model::build(scene)?;
    gauge::gauges(scene, &model)?;
    if model.constrained.is_none() {
        let (info, _) = method(scene)?;
        StepPlanner::new(info, scene)?;
    }
    Ok(model)
}

impl From<SceneError> for RunError {
    fn from(error: SceneError) -> Self {
        Self::Scene(error)
    }
}
