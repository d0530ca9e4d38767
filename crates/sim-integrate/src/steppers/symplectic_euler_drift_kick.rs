//! Symplectic Euler, drift then kick.

use super::symplectic_euler::KICK_DRIFT;
use super::{BoxedStepper, StepperInfo, boxed, no_options};
use crate::stability::StepLimit;
use crate::trial::{Trial, drift, kick_in_place};
use serde_json::Value;
use sim_core::{ExplicitSystem, MethodInfo, Stability, StageRecord, State, StepError, StepStats, Stepper};

/// Claims.
pub static METHOD: MethodInfo = MethodInfo {
    id: "symplectic_euler_drift_kick",
    summary: "drift with the present velocity, then kick with the force at the new position",
    implicit: false,
    symplectic: true,
    order: 1,
    order_velocity_dependent: 1,
    stability: Stability::Conditional { omega_dt: 2.0 },
    reference: "Hairer, Lubich & Wanner, Geometric Numerical Integration (2006), ch. I.1",
    limitations: "First order; a force that depends on velocity is taken at the new position and the old velocity, which keeps \
                  the step explicit and lowers the stable step as in symplectic_euler.",
};

/// Registry entry. The recurrence of positions is the one of `symplectic_euler`, and so is the limit.
pub const INFO: StepperInfo = StepperInfo {
    method: &METHOD,
    limit: StepLimit::Certified { undamped: &KICK_DRIFT, damped: &KICK_DRIFT, damped_is_sharp: true },
    covers: |_| true,
    defaults: || Value::Null,
    build,
};

fn build(options: &Value) -> Result<BoxedStepper, crate::OptionsError> {
    no_options(METHOD.id, options)?;
    Ok(boxed(SymplecticEulerDriftKick::default()))
}

/// `q1 = q0 + dt v0`, `v1 = v0 + dt a(t1, q1, v0)`.
///
/// # Limitations
/// First order. Driven particles are at their new place and velocity when the force is taken.
#[derive(Clone, Debug, Default)]
pub struct SymplecticEulerDriftKick {
    trial: Trial,
}

impl<S: ExplicitSystem + ?Sized> Stepper<S> for SymplecticEulerDriftKick {
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
        let trial = &mut self.trial;
        trial.begin(system, state, dt)?;
        let (w, t1) = (system.inverse_mass(), state.t + dt);
        drift(w, dt, &state.v, &state.q, &mut trial.q);
        trial.v.copy_from_slice(&state.v);
        system.prescribe(t1, &mut trial.q, &mut trial.v);
        system.force(t1, &trial.q, &trial.v, &mut trial.f);
        if let Some(record) = record {
            record.clear();
            record.push(1.0, t1, &trial.q, &trial.v);
        }
        kick_in_place(w, dt, &trial.f, &mut trial.v);
        trial.commit(state, dt)?;
        Ok(StepStats::explicit(1))
    }
}
