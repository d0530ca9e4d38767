//! Which method, and how many steps a frame gets.

use super::error::RunError;
use super::result::{RunResult, StepChoice};
use crate::checkpoint::CheckpointError;
use crate::model::Layout;
use crate::scene::check::contact::XPBD;
use crate::scene::check::{At, MAX_SUBSTEPS};
use crate::scene::document::{Scene, Substeps};
use crate::scene::error::{SceneError, nearest};
use serde::{Deserialize, Serialize};
use sim_core::{HistoryError, MethodInfo, ModelSystem, State, StepError};
use sim_integrate::steppers::StepperInfo;
use sim_integrate::{
    BoxedStepper, OptionsError, STEPPERS, StabilityError, StabilityReport, SubstepError, SubstepOptions,
    Substepping, stable_dt, stepper_info,
};

/// Ids that the schema keeps for methods to come.
const FORESEEN: &[&str] = &["newmark", "central_difference"];

/// What every method claims that a scene can name, `xpbd` last.
pub fn methods() -> impl Iterator<Item = &'static MethodInfo> + Clone {
    STEPPERS.iter().map(|info| info.method).chain([super::xpbd::METHOD])
}

/// What the method of this id claims.
///
/// # Errors
/// [`OptionsError::UnknownMethod`], with the ids that come closest.
pub fn method_info(id: &str) -> Result<&'static MethodInfo, OptionsError> {
    match methods().find(|method| method.id == id) {
        Some(method) => Ok(method),
        None => stepper_info(id).map(|info| info.method),
    }
}

/// The registry entry and the stepper of a scene.
///
/// # Errors
/// [`SceneError`] naming the id or the option.
pub(crate) fn method(scene: &Scene) -> Result<(&'static StepperInfo, BoxedStepper), SceneError> {
    let at = At::root(&scene.source).field("method");
    stepper(&scene.method.id, &scene.method.options, (&at.field("id"), &at.field("options")))
}

/// The registry entry and a stepper by id; the places of both are for errors.
///
/// # Errors
/// [`SceneError`] naming the id or the option.
pub(crate) fn stepper(
    id: &str,
    options: &toml::Table,
    (id_at, options_at): (&At<'_>, &At<'_>),
) -> Result<(&'static StepperInfo, BoxedStepper), SceneError> {
    let Ok(info) = stepper_info(id) else {
        if FORESEEN.contains(&id) {
            return Err(SceneError::NotSupported {
                place: id_at.place(),
                value: id.to_owned(),
                note: "`sim describe` lists the methods of this version",
            });
        }
        let known = STEPPERS.iter().map(|info| info.method.id).chain([XPBD]);
        return Err(SceneError::UnknownWord {
            place: id_at.place(),
            value: id.to_owned(),
            suggestion: nearest(id, known.clone()),
            known: known.collect::<Vec<_>>().join(", "),
        });
    };
    let options = serde_json::to_value(options)
        .map_err(|error| SceneError::Type { place: options_at.place(), message: error.to_string() })?;
    let stepper = (info.build)(&options).map_err(|error| option_error(&error, info, options_at))?;
    Ok((info, stepper))
}

fn option_error(error: &OptionsError, info: &StepperInfo, at: &At<'_>) -> SceneError {
    let defaults = (info.defaults)();
    let known: Vec<&str> =
        defaults.as_object().map(|map| map.keys().map(String::as_str).collect()).unwrap_or_default();
    let unknown = |field: &str| SceneError::UnknownField {
        place: at.field(field).place(),
        suggestion: nearest(field, known.iter().copied()),
        known: if known.is_empty() { format!("{} has no options", info.method.id) } else { known.join(", ") },
    };
    match error {
        OptionsError::NoOptions { field, .. } => unknown(field),
        OptionsError::Value { field, value, requirement, .. } => at.field(field).refuse(value, *requirement),
        OptionsError::Parse { source, .. } => {
            let message = source.to_string();
            match message.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next()) {
                Some(field) => unknown(field),
                None => SceneError::Type { place: at.place(), message },
            }
        }
        other => SceneError::Model { place: at.place(), message: other.to_string() },
    }
}

/// Steps of one frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FramePlan {
    pub steps: u64,
    pub dt: f64,
}

/// A failure on the way, before the partial result is there to go with it.
#[derive(Debug)]
pub(crate) enum Failure {
    Step { step: u64, source: StepError, diagnosis: String },
    Overflow { t: f64, step: u64, dt: f64, particle: usize, diagnosis: String },
    Stability(StabilityError),
    Substeps(SubstepError),
    Checkpoint(CheckpointError),
    Stopped,
}

impl Failure {
    pub fn with(self, partial: Box<RunResult>) -> RunError {
        match self {
            Self::Step { step, source, diagnosis } => RunError::Step { step, source, diagnosis, partial },
            Self::Overflow { t, step, dt, particle, diagnosis } => {
                RunError::Overflow { t, step, dt, particle, diagnosis, partial }
            }
            Self::Stability(source) => RunError::Stability { source, partial },
            Self::Substeps(source) => RunError::Substeps { source, partial },
            Self::Checkpoint(source) => RunError::Checkpoint { source, partial },
            Self::Stopped => RunError::Stopped { partial },
        }
    }
}

/// What sets the limit, by part where it is a spring.
fn culprit(report: &StabilityReport, layout: &Layout) -> Option<String> {
    let (force, index) = report.culprit?;
    let owner = layout.spring_of_stencil(force, index).and_then(|spring| layout.spring_owner(spring));
    Some(match owner {
        Some((part, local)) => format!("spring {local} of part {}", part.id),
        _ => format!("{force} {index}"),
    })
}

fn owner(layout: &Layout, particle: usize) -> String {
    let owner = layout.particle_owner(particle);
    owner.map(|(part, local)| format!("; that is particle {local} of part {}", part.id)).unwrap_or_default()
}

/// Chooses the steps of every frame and remembers why.
pub(crate) struct StepPlanner {
    info: &'static StepperInfo,
    substepping: Substepping,
    fixed: Option<u32>,
    safety: f64,
    notes: StepNotes,
}

/// What was remembered of the steps; a checkpoint holds it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StepNotes {
    limit: Option<f64>,
    culprit: Option<String>,
    most: u64,
    /// First step above its limit, that limit and what sets it.
    above: Option<(f64, f64, Option<String>)>,
}

impl StepPlanner {
    pub fn new(info: &'static StepperInfo, scene: &Scene) -> Result<Self, SceneError> {
        let at = At::root(&scene.source).field("method");
        let options = SubstepOptions { safety: scene.method.safety, max_substeps: u64::from(MAX_SUBSTEPS) };
        let substepping = Substepping::new(info, options).map_err(|error| option_error(&error, info, &at))?;
        let options = serde_json::to_value(&scene.method.options).unwrap_or_default();
        let fixed = match scene.method.substeps {
            Substeps::Auto if !(info.covers)(&options) => {
                return Err(at.field("substeps").refuse(
                    "auto",
                    format!(
                        "a number: with these options no limit of the step is known for {}, so that none can be chosen",
                        info.method.id
                    ),
                ));
            }
            Substeps::Auto => None,
            Substeps::Fixed(count) => Some(count),
        };
        Ok(Self { info, substepping, fixed, safety: scene.method.safety, notes: StepNotes::default() })
    }

    /// What was remembered so far.
    pub fn notes(&self) -> &StepNotes {
        &self.notes
    }

    /// Goes on from what had been remembered.
    pub fn resume(&mut self, notes: StepNotes) {
        self.notes = notes;
    }

    /// Cuts the frame that starts at `state`. A fixed number of substeps is kept whatever the limit is; the limit is noted.
    pub fn plan(
        &mut self,
        system: &dyn ModelSystem,
        state: &State,
        frame: f64,
        layout: &Layout,
    ) -> Result<FramePlan, Failure> {
        let planned = match self.substepping.plan(system, state, frame) {
            Err(SubstepError::Stability(StabilityError::NeedsMatrices { .. })) => {
                self.plan_by_matrices(system, state, frame)
            }
            Err(error) => Err(Failure::Substeps(error)),
            Ok(plan) => Ok((plan.substeps, plan.stability)),
        };
        let steps = match (self.fixed, planned) {
            (Some(fixed), Ok((_, report))) => {
                let dt = frame / f64::from(fixed);
                if dt > report.dt_bound && self.notes.above.is_none() {
                    self.notes.above = Some((dt, report.dt_bound, culprit(&report, layout)));
                }
                self.note(&report, layout);
                u64::from(fixed)
            }
            // No limit is known: the scene has said how many steps it wants.
            (Some(fixed), Err(_)) => u64::from(fixed),
            (None, Ok((steps, report))) => {
                self.note(&report, layout);
                steps
            }
            (None, Err(failure)) => return Err(failure),
        };
        self.notes.most = self.notes.most.max(steps);
        Ok(FramePlan { steps, dt: frame / steps as f64 })
    }

    fn plan_by_matrices(
        &self,
        system: &dyn ModelSystem,
        state: &State,
        frame: f64,
    ) -> Result<(u64, StabilityReport), Failure> {
        let report = stable_dt(system, state, self.info).map_err(Failure::Stability)?;
        let steps = (frame / (self.safety * report.dt_bound)).ceil().max(1.0);
        if steps > f64::from(MAX_SUBSTEPS) {
            return Err(Failure::Substeps(SubstepError::TooMany {
                frame,
                substeps: steps,
                dt: self.safety * report.dt_bound,
                limit: u64::from(MAX_SUBSTEPS),
                culprit: report.culprit,
            }));
        }
        Ok((steps as u64, report))
    }

    fn note(&mut self, report: &StabilityReport, layout: &Layout) {
        if report.dt_bound.is_finite() && self.notes.limit.is_none_or(|limit| report.dt_bound < limit) {
            self.notes.limit = Some(report.dt_bound);
            self.notes.culprit = culprit(report, layout);
        }
    }

    /// Says what probably went wrong, with the numbers known here.
    pub fn diagnose(&self, source: StepError, step: u64, dt: f64, layout: &Layout) -> Failure {
        if let StepError::History { source: HistoryError::OutOfRange { force, index, .. }, .. } = &source {
            let owner =
                layout.spring_of_stencil(force, *index).and_then(|spring| layout.spring_owner(spring));
            let owner = owner.map(|(part, local)| format!("; that is spring {local} of part {}", part.id));
            return Failure::Step { step, source, diagnosis: owner.unwrap_or_default() };
        }
        let mut diagnosis = self.likely_cause(dt);
        if let StepError::Diverged { particle, .. } = source {
            diagnosis.push_str(&owner(layout, particle));
        }
        Failure::Step { step, source, diagnosis }
    }

    /// Numbers beyond single precision.
    pub fn overflow(&self, t: f64, step: u64, dt: f64, particle: usize, layout: &Layout) -> Failure {
        let diagnosis = self.likely_cause(dt) + &owner(layout, particle);
        Failure::Overflow { t, step, dt, particle, diagnosis }
    }

    fn likely_cause(&self, dt: f64) -> String {
        match (self.warnings(), self.notes.limit) {
            // The limit of the first frame that went beyond it: those of frames that have blown up mean nothing.
            (Some(above), _) => format!("; {above}"),
            (None, Some(limit)) => {
                format!("; dt {dt:.4e} s is within the linear limit {limit:.4e} s: try a smaller `safety`")
            }
            (None, None) => "; no step limit is known for this method and model".to_owned(),
        }
    }

    pub fn most_substeps(&self) -> u64 {
        self.notes.most
    }

    /// Says when the fixed number of substeps is too small.
    pub fn warnings(&self) -> Option<String> {
        let (dt, limit, culprit) = self.notes.above.as_ref()?;
        let culprit = culprit.as_ref().map(|culprit| format!(", set by {culprit}")).unwrap_or_default();
        Some(format!("dt above limit: {dt:.4e} s > {limit:.4e} s{culprit}"))
    }

    pub fn choice(&self) -> Option<StepChoice> {
        (self.notes.limit.is_some() || self.fixed.is_some()).then(|| StepChoice {
            limit: self.notes.limit,
            safety: self.safety,
            fixed: self.fixed.is_some(),
            culprit: self.notes.culprit.clone(),
        })
    }
}
