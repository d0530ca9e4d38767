//! Implicit for some forces, explicit for the others.

use super::{BoxedStepper, StepperInfo, boxed, parse};
use crate::OptionsError;
use crate::implicit::NewtonOptions;
use crate::implicit::mixed::free_marks;
use crate::implicit::newton::{Known, Stage, StageSolver};
use crate::implicit::part::Part;
use crate::stability::StepLimit;
use crate::trial::{Trial, drift};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sim_core::{
    ForceMask, ImplicitSystem, MethodInfo, SplitSystem, Stability, StageRecord, State, StepError, StepStats,
    Stepper,
};

/// Claims, with every force implicit (the default).
pub static METHOD: MethodInfo = MethodInfo {
    id: "imex",
    summary: "stiff forces at the end of the step, the others at its start",
    implicit: true,
    symplectic: false,
    order: 1,
    order_velocity_dependent: 1,
    stability: Stability::LStable,
    reference: "Ascher, Ruuth & Spiteri, Appl. Numer. Math. 25 (1997) 151 (first-order member)",
    limitations: "The explicit forces keep a step limit of their own; numerical damping as in implicit_euler.",
};

/// Registry entry; unconditional only while no force is explicit.
pub const INFO: StepperInfo = StepperInfo {
    method: &METHOD,
    limit: StepLimit::Unconditional,
    covers,
    defaults: || serde_json::to_value(ImexOptions::default()).unwrap_or_default(),
    build,
};

/// Options of [`Imex`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ImexOptions {
    /// Ids of the forces to treat explicitly; all others are implicit.
    pub explicit: Vec<String>,
    /// Newton's method and linear solver.
    pub newton: NewtonOptions,
}

/// What explicit forces do to the limit depends on the others.
fn covers(options: &Value) -> bool {
    parse(METHOD.id, options).is_ok_and(|ImexOptions { explicit, .. }| explicit.is_empty())
}

fn build(options: &Value) -> Result<BoxedStepper, OptionsError> {
    Ok(boxed(Imex::new(parse(METHOD.id, options)?)?))
}

/// `M (v1 - v0) = dt (f_implicit(t1, q1, v1) + f_explicit(t0, q0, v0))`, `q1 = q0 + dt v1`.
///
/// # Limitations
/// See [`METHOD`]. Needs a model that can be split ([`ImplicitSystem::as_split`]) as soon as a force is explicit.
#[derive(Debug, Default)]
pub struct Imex {
    explicit: Vec<String>,
    solver: StageSolver,
    trial: Trial,
    free: Vec<f64>,
    impulse: Vec<f64>,
}

impl Imex {
    /// Checks the options.
    ///
    /// # Errors
    /// [`OptionsError`] naming the field.
    pub fn new(options: ImexOptions) -> Result<Self, OptionsError> {
        options.newton.validate()?;
        Ok(Self { explicit: options.explicit, solver: StageSolver::new(options.newton), ..Self::default() })
    }

    /// Which forces are explicit.
    fn mask(&self, ids: &[&'static str]) -> Result<ForceMask, StepError> {
        let mut mask = 0;
        for id in &self.explicit {
            let before = mask;
            for (i, _) in ids.iter().enumerate().filter(|(_, known)| *known == id) {
                mask |= 1 << i;
            }
            if mask == before {
                return Err(StepError::Unsupported {
                    method: METHOD.id,
                    reason: format!("the model has no force `{id}`, only {}", ids.join(", ")),
                });
            }
        }
        Ok(ForceMask(mask))
    }
}

impl<S: ImplicitSystem + ?Sized> Stepper<S> for Imex {
    fn method(&self) -> &'static MethodInfo {
        &METHOD
    }

    fn step_recorded(
        &mut self,
        system: &S,
        state: &mut State,
        dt: f64,
        record: Option<&mut StageRecord>,
    ) -> Result<StepStats, StepError> {
        if self.explicit.is_empty() {
            return self.advance(system, None, state, dt, record);
        }
        let unsupported = |reason: String| StepError::Unsupported { method: METHOD.id, reason };
        let whole = system
            .as_split()
            .ok_or_else(|| unsupported("the model cannot evaluate its forces apart".to_owned()))?;
        let ids = whole.force_ids();
        if ids.len() > 64 {
            return Err(unsupported(format!("at most 64 forces can be split, the model has {}", ids.len())));
        }
        let explicit = self.mask(&ids)?;
        let implicit = Part { whole, mask: ForceMask(!explicit.0) };
        self.advance(&implicit, Some((whole, explicit)), state, dt, record)
    }
}

impl Imex {
    fn advance<S: ImplicitSystem + ?Sized>(
        &mut self,
        implicit: &S,
        explicit: Option<(&dyn SplitSystem, ForceMask)>,
        state: &mut State,
        dt: f64,
        record: Option<&mut StageRecord>,
    ) -> Result<StepStats, StepError> {
        let Self { solver, trial, free, impulse, .. } = self;
        trial.begin(implicit, state, dt)?;
        let mut stats = StepStats { substeps: 1, ..StepStats::default() };
        solver.begin(implicit, state.t, &state.q, &state.v)?;
        free_marks(implicit, free);
        impulse.clear();
        if let Some((whole, mask)) = explicit {
            whole.part_force(mask, state.t, &state.q, &state.v, &mut trial.f);
            stats.force_evaluations += 1;
            impulse.extend(trial.f.iter().map(|f| dt * f));
        }
        drift(free, dt, &state.v, &state.q, &mut trial.q);
        let stage = Stage {
            t0: state.t,
            dt,
            t: state.t + dt,
            position_factor: dt,
            force_factor: dt,
            linearized: false,
        };
        solver.solve(implicit, stage, Known { q_base: &trial.q, v_base: &state.v, impulse }, &mut stats)?;
        if let Some(record) = record {
            record.clear();
            record.push(1.0, stage.t, &solver.q, &solver.v);
            if let Some((whole, _)) = explicit {
                // What the explicit forces would have been at the end of the step is not what they were.
                whole.force(stage.t, &solver.q, &solver.v, &mut trial.f);
                solver.mass_times(&solver.u, &mut trial.v);
                let pairs = trial.v.iter().zip(&trial.f).enumerate();
                record.set_numerical_impulse(
                    pairs.map(|(k, (mu, f))| if free[k / 3] > 0.0 { mu - dt * f } else { 0.0 }),
                );
            }
        }
        trial.q.copy_from_slice(&solver.q);
        trial.v.copy_from_slice(&solver.v);
        trial.commit(state, dt)?;
        Ok(stats)
    }
}
