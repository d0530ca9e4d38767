//! Symplectic Euler, kick then drift.

use super::{BoxedStepper, StepperInfo, boxed, no_options};
use crate::stability::{Condition, StepLimit};
use crate::trial::{Trial, drift, kick};
use serde_json::Value;
use sim_core::{ExplicitSystem, MethodInfo, Stability, StageRecord, State, StepError, StepStats, Stepper};

/// Claims.
pub static METHOD: MethodInfo = MethodInfo {
    id: "symplectic_euler",
    summary: "kick with the present force, then drift with the new velocity",
    implicit: false,
    symplectic: true,
    order: 1,
    order_velocity_dependent: 1,
    stability: Stability::Conditional { omega_dt: 2.0 },
    reference: "Hairer, Lubich & Wanner, Geometric Numerical Integration (2006), ch. I.1",
    limitations: "First order; the damping force is taken at the old velocity, which lowers the stable step to \
                  ω dt < 2 (sqrt(1 + ζ²) - ζ).",
};

/// Registry entry.
pub const INFO: StepperInfo = StepperInfo {
    method: &METHOD,
    limit: StepLimit::Certified { undamped: &KICK_DRIFT, damped: &KICK_DRIFT, damped_is_sharp: true },
    covers: |_| true,
    defaults: || Value::Null,
    build,
};

/// `dt² K + 2 dt D < 4 M`, for any K and D that are positive semidefinite.
///
/// Eliminating velocities leaves `M (q₊ - 2q + q₋) + dt D (q - q₋) + dt² K q = 0`. With `A = M - dt D/2` and `δ = q₊ - q`,
/// `q̄ = (q₊ + q)/2`, the energy `½ δᵀ(A - dt² K/4)δ + ½ dt² q̄ᵀK q̄` never grows, so that `A - dt² K/4 > 0` suffices. It is also
/// necessary: at λ = -1 the characteristic matrix is `-(A - dt² K/4)` times 4, at λ → -∞ it is positive, so an indefinite one
/// has a root below -1.
pub(crate) const KICK_DRIFT: [Condition; 1] = [Condition { stiffness: 1.0, damping: 2.0, limit: 4.0 }];

fn build(options: &Value) -> Result<BoxedStepper, crate::OptionsError> {
    no_options(METHOD.id, options)?;
    Ok(boxed(SymplecticEuler::default()))
}

/// `v1 = v0 + dt a(t0, q0, v0)`, `q1 = q0 + dt v1`.
///
/// # Limitations
/// First order. The energy oscillates with relative amplitude O(ω dt) but does not drift.
#[derive(Clone, Debug, Default)]
pub struct SymplecticEuler {
    trial: Trial,
}

impl<S: ExplicitSystem + ?Sized> Stepper<S> for SymplecticEuler {
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
        let w = system.inverse_mass();
        system.force(state.t, &state.q, &state.v, &mut trial.f);
        if let Some(record) = record {
            record.clear();
            record.push(1.0, state.t, &state.q, &state.v);
        }
        kick(w, dt, &trial.f, &state.v, &mut trial.v);
        drift(w, dt, &trial.v, &state.q, &mut trial.q);
        system.prescribe(state.t + dt, &mut trial.q, &mut trial.v);
        trial.commit(state, dt)?;
        Ok(StepStats::explicit(1))
    }
}
