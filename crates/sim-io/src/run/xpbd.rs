//! Running a scene whose parts are held together by constraints.

mod convergence;
mod options;

pub use convergence::Convergence;
pub(crate) use options::MethodOptions;
pub use options::defaults;

use super::keep::{Keep, Snapshot};
use super::pieces::Cuts;
use super::recorder::Recorder;
use super::steps::{Failure, StepPlanner};
use super::{Course, Progress, frames_to_run};
use crate::model::{Body, Constrained, Layout};
use crate::scene::document::{Scene, Substeps};
use crate::scene::error::SceneError;
use convergence::Watch;
use serde::{Deserialize, Serialize};
use sim_core::{EnergyLedger, ImplicitSystem, MethodInfo, ParticleSystem, StageRecord, State, Stepper};
use sim_integrate::stepper_info;
use sim_pbd::{BeltReport, Formulation, Xpbd, XpbdOptions};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// What the method claims.
pub static METHOD: &MethodInfo = &sim_pbd::xpbd::METHOD;

/// Substeps of a frame when the scene leaves their number to the program and no explicit force asks for more.
pub const DEFAULT_SUBSTEPS: u64 = 20;

/// The solver and what it has found, for probes.
pub(crate) struct SolverView<'a> {
    pub constrained: &'a Constrained,
    pub xpbd: &'a Xpbd,
    /// Whether it has made a step of this run.
    pub stepped: bool,
    /// The belt drive at this instant.
    pub belt: Option<BeltReport>,
}

impl<'a> SolverView<'a> {
    fn new(constrained: &'a Constrained, xpbd: &'a Xpbd, state: &State, stepped: bool) -> Self {
        let belt = match &constrained.body {
            Body::Belt(model) if stepped => {
                let mut report = BeltReport::default();
                report.sample(model, xpbd, state);
                Some(report)
            }
            _ => None,
        };
        Self { constrained, xpbd, stepped, belt }
    }

    /// Tension of a spring in N from its multiplier; `None` before the first step.
    pub fn tension(&self, spring: usize) -> Option<f64> {
        let (list, index) = self.constrained.spring(spring)?;
        self.stepped.then(|| self.xpbd.constraint_force(self.constrained.system(), list, index))
    }
}

/// Which pulleys of a belt drive slip as a whole in the second half of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SlipWatch {
    from: u64,
    seen: u64,
    slipping: Vec<u64>,
}

impl SlipWatch {
    fn new(constrained: &Constrained, frames: u64) -> Self {
        let pulleys = match &constrained.body {
            Body::Belt(model) => model.drive().pulleys.len(),
            Body::Parts(_) => 0,
        };
        Self { from: frames / 2, seen: 0, slipping: vec![0; pulleys] }
    }

    fn frame(&mut self, index: u64, belt: Option<&BeltReport>) {
        if let Some(belt) = belt.filter(|_| index >= self.from) {
            self.seen += 1;
            for (count, pulley) in self.slipping.iter_mut().zip(&belt.pulleys) {
                *count += u64::from(pulley.slips);
            }
        }
    }

    fn warnings(&self) -> impl Iterator<Item = String> + '_ {
        let most = self.slipping.iter().enumerate().filter(|(_, count)| 2 * **count > self.seen);
        most.map(|(pulley, count)| {
            format!(
                "the belt slips on the whole arc of pulley {pulley} in {count} of the last {} frames: the drive does not carry \
                 this load",
                self.seen
            )
        })
    }
}

/// What is watched from frame to frame; a checkpoint holds it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ConstraintNotes {
    watch: Watch,
    slip: SlipWatch,
    most_substeps: u64,
}

/// How the run went, apart from what the recorder keeps.
pub(crate) struct Outcome {
    pub failure: Option<Failure>,
    pub convergence: Convergence,
    pub planner: StepPlanner,
    pub most_substeps: u64,
    pub judged: bool,
    pub wall_s: f64,
}

/// Everything that a run of constraints advances.
pub(crate) struct Run<'a> {
    pub scene: &'a Scene,
    /// The same parts with springs.
    pub springs: &'a ParticleSystem,
    pub constrained: &'a Constrained,
    pub layout: &'a Layout,
}

impl Run<'_> {
    /// Advances `state` to the end, one call of the solver per frame.
    ///
    /// # Errors
    /// [`SceneError`] for options that the constraints refuse.
    pub fn make(
        &self,
        state: &mut State,
        until: Option<f64>,
        warnings: &mut Vec<String>,
        (recorder, keep): (&mut Recorder, &mut Keep),
        progress: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
    ) -> Result<Outcome, SceneError> {
        let (scene, system) = (self.scene, self.constrained.system());
        let (frame, start) = (scene.time.frame, scene.time.start);
        let (frames, judged) = frames_to_run(scene, until, warnings);
        warnings.extend(self.plain());
        // Constraints have no step limit; the explicit forces have that of the symplectic Euler method they are stepped by.
        let info = stepper_info("symplectic_euler").expect("the registry has it");
        let mut planner = StepPlanner::new(info, scene)?;
        let mut options = self.options(DEFAULT_SUBSTEPS as u32);
        let mut xpbd = options::solver(scene, system, options.clone())?;
        let mut ledger = EnergyLedger::new(system, state);
        let mut record = StageRecord::default();
        let mut notes = ConstraintNotes {
            watch: Watch::default(),
            slip: SlipWatch::new(self.constrained, frames),
            most_substeps: 0,
        };
        let mut course = Course::new(scene, frames, ledger.report());
        let mut begin = 0;
        let mut failure = None;
        if let Some(snapshot) = keep.resumed() {
            begin = snapshot.frames;
            *state = snapshot.state.into_owned();
            ledger = EnergyLedger::resume(state, snapshot.ledger);
            recorder.resume(snapshot.history.into_owned(), state, &snapshot.ledger);
            planner.resume(snapshot.steps.into_owned());
            course.largest_kinetic = snapshot.largest_kinetic;
            if let Some(kept) = snapshot.constraints {
                notes = kept.into_owned();
            }
        } else {
            let view = SolverView::new(self.constrained, &xpbd, state, false);
            let first = recorder.frame(0, self.springs, self.layout, state, ledger.report(), Some(&view));
            failure = first.err().map(|particle| planner.overflow(start, 0, 0.0, particle, self.layout));
        }
        for index in begin..if failure.is_some() { begin } else { frames } {
            let substeps = match planner.plan(system.particles(), state, frame, self.layout) {
                Ok(plan) if scene.method.substeps == Substeps::Auto => plan.steps.max(DEFAULT_SUBSTEPS),
                Ok(plan) => plan.steps,
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            };
            notes.most_substeps = notes.most_substeps.max(substeps);
            if u64::from(options.substeps) != substeps {
                options = self.options(substeps as u32);
                xpbd = options::solver(scene, system, options.clone())?;
            }
            state.t = start + index as f64 * frame;
            record.clear();
            let h = frame / substeps as f64;
            match xpbd.step_recorded(system, state, frame, Some(&mut record)) {
                Ok(stats) => {
                    recorder.count(&stats, h);
                    state.t = start + (index + 1) as f64 * frame;
                    let free = |i: usize| self.springs.is_free(i);
                    ledger.book(system, free, state, frame, &record);
                }
                Err(source) => {
                    failure = Some(planner.diagnose(source, recorder.steps(), h, self.layout));
                    break;
                }
            }
            notes.watch.frame(state.t, xpbd.report(), xpbd.contact_report());
            let account = ledger.report();
            let view = SolverView::new(self.constrained, &xpbd, state, true);
            notes.slip.frame(index, view.belt.as_ref());
            if let Err(particle) =
                recorder.frame(index + 1, self.springs, self.layout, state, account, Some(&view))
            {
                failure = Some(planner.overflow(state.t, recorder.steps(), h, particle, self.layout));
                break;
            }
            let now = course.progress(state.t, recorder.steps(), account);
            if progress(&now).is_break() {
                failure = Some(Failure::Stopped);
                break;
            }
            let kept = keep.offer(index + 1, state.t, || Snapshot {
                frames: index + 1,
                largest_kinetic: course.largest_kinetic,
                state: Cow::Borrowed(&*state),
                ledger: *ledger.report(),
                history: Cow::Borrowed(recorder.history()),
                steps: Cow::Borrowed(planner.notes()),
                cuts: Cuts::default(),
                breakages: Cow::Owned(crate::model::Breakages::default()),
                constraints: Some(Cow::Borrowed(&notes)),
            });
            if let Err(error) = kept {
                failure = Some(Failure::Checkpoint(error));
                break;
            }
        }
        warnings.extend(notes.slip.warnings());
        let most_substeps = notes.most_substeps;
        let convergence = notes.watch.finish(self.constrained, &options, xpbd.report());
        Ok(Outcome { failure, convergence, planner, most_substeps, judged, wall_s: course.wall_s() })
    }

    /// What is to be said of plain PBD.
    fn plain(&self) -> Option<String> {
        (self.constrained.options.formulation != Formulation::Xpbd).then(|| {
            "plain PBD: stiffness and damping of the parts have no part in the motion; its stiffness depends on substeps \
             and iterations"
                .to_owned()
        })
    }

    fn options(&self, substeps: u32) -> XpbdOptions {
        XpbdOptions { substeps, threads: rayon::current_num_threads(), ..self.constrained.options.clone() }
    }
}
