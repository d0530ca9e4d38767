//! The implicit midpoint rule.

use super::{BoxedStepper, StepperInfo, boxed, parse};
use crate::OptionsError;
use crate::implicit::NewtonOptions;
use crate::implicit::mixed::free_marks;
use crate::implicit::newton::{Known, Stage, StageSolver};
use crate::stability::StepLimit;
use crate::trial::{Trial, drift};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sim_core::{ImplicitSystem, MethodInfo, Stability, StageRecord, State, StepError, StepStats, Stepper};

/// Claims.
pub static METHOD: MethodInfo = MethodInfo {
    id: "implicit_midpoint",
    summary: "rates at the middle of the step; symplectic at any step size",
    implicit: true,
    symplectic: true,
    order: 2,
    order_velocity_dependent: 2,
    stability: Stability::Unconditional,
    reference: "Hairer, Lubich & Wanner, Geometric Numerical Integration (2006), ch. II.1 and VI.4",
    limitations: "Stiff modes ring without decay, and on non-linear motion with steps far above their periods the equations may \
                  have no useful solution.",
};

/// Registry entry.
pub const INFO: StepperInfo = StepperInfo {
    method: &METHOD,
    limit: StepLimit::Unconditional,
    covers: |_| true,
    defaults: || serde_json::to_value(ImplicitMidpointOptions::default()).unwrap_or_default(),
    build,
};

/// Options of [`ImplicitMidpoint`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ImplicitMidpointOptions {
    /// Newton's method and linear solver.
    pub newton: NewtonOptions,
}

fn build(options: &Value) -> Result<BoxedStepper, OptionsError> {
    Ok(boxed(ImplicitMidpoint::new(parse(METHOD.id, options)?)?))
}

/// Implicit Euler over half the step to `(q½, v½)`, then `q1 = q0 + dt v½`, `v1 = 2 v½ - v0`.
///
/// # Limitations
/// See [`METHOD`].
#[derive(Debug, Default)]
pub struct ImplicitMidpoint {
    solver: StageSolver,
    trial: Trial,
    free: Vec<f64>,
}

impl ImplicitMidpoint {
    /// Checks the options.
    ///
    /// # Errors
    /// [`OptionsError`] naming the field.
    pub fn new(options: ImplicitMidpointOptions) -> Result<Self, OptionsError> {
        options.newton.validate()?;
        Ok(Self { solver: StageSolver::new(options.newton), ..Self::default() })
    }
}

impl<S: ImplicitSystem + ?Sized> Stepper<S> for ImplicitMidpoint {
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
        let Self { solver, trial, free } = self;
        trial.begin(system, state, dt)?;
        let mut stats = StepStats { substeps: 1, ..StepStats::default() };
        solver.begin(system, state.t, &state.q, &state.v)?;
        free_marks(system, free);
        let half = 0.5 * dt;
        drift(free, half, &state.v, &state.q, &mut trial.q);
        let stage = Stage {
            t0: state.t,
            dt,
            t: state.t + half,
            position_factor: half,
            force_factor: half,
            linearized: false,
        };
        solver.solve(
            system,
            stage,
            Known { q_base: &trial.q, v_base: &state.v, impulse: &[] },
            &mut stats,
        )?;
        if let Some(record) = record {
            record.clear();
            record.push(1.0, stage.t, &solver.q, &solver.v);
        }
        for (v1, (v0, u)) in trial.v.iter_mut().zip(state.v.iter().zip(&solver.u)) {
            *v1 = v0 + 2.0 * u;
        }
        drift(free, dt, &solver.v, &state.q, &mut trial.q);
        system.prescribe(state.t + dt, &mut trial.q, &mut trial.v);
        trial.commit(state, dt)?;
        Ok(stats)
    }
}
