//! Leapfrog, kick-drift-kick.

use super::{BoxedStepper, StepperInfo, boxed, no_options};
use crate::stability::{Condition, StepLimit};
use crate::trial::{Trial, drift, kick, kick_in_place};
use serde_json::Value;
use sim_core::{ExplicitSystem, MethodInfo, Stability, StageRecord, State, StepError, StepStats, Stepper};

/// Claims.
pub static METHOD: MethodInfo = MethodInfo {
    id: "leapfrog",
    summary: "half kick, drift, half kick; velocity Verlet",
    implicit: false,
    symplectic: true,
    order: 2,
    order_velocity_dependent: 2,
    stability: Stability::Conditional { omega_dt: 2.0 },
    reference: "Hairer, Lubich & Wanner, Acta Numerica 12 (2003) 399; predicted velocity derived at `Leapfrog`",
    limitations: "Two force evaluations per step (three when the force depends on velocity); a step that changes with the state \
                  spoils its long-time energy behavior.",
};

/// Registry entry.
pub const INFO: StepperInfo = StepperInfo {
    method: &METHOD,
    limit: StepLimit::Certified { undamped: &UNDAMPED, damped: &DAMPED, damped_is_sharp: false },
    covers: |_| true,
    defaults: || Value::Null,
    build,
};

const UNDAMPED: [Condition; 1] = [Condition { stiffness: 1.0, damping: 0.0, limit: 4.0 }];

/// With `C = M^-½ D M^-½`, `W` likewise and `A = dt C/2`, the predicted velocity turns the recurrence of positions into
/// `H⁻¹ (q₊ - 2q + q₋) + dt C (q - q₋) + dt² W q = 0` with `H = (I + (I - A)²)/2`: symplectic Euler's with another mass. By the proof
/// given there it is stable exactly when `dt² W < 4 H⁻¹ - 4 A`. The function `1/(1 - a + a²/2) - a` is at least 1 for 0 ≤ a ≤ 1,
/// hence `dt² K < 4 M` together with `dt D ≤ 2 M` suffices.
const DAMPED: [Condition; 2] = [
    Condition { stiffness: 1.0, damping: 0.0, limit: 4.0 },
    Condition { stiffness: 0.0, damping: 1.0, limit: 2.0 },
];

fn build(options: &Value) -> Result<BoxedStepper, crate::OptionsError> {
    no_options(METHOD.id, options)?;
    Ok(boxed(Leapfrog::default()))
}

/// `v½ = v0 + dt/2 a(t0, q0, v0)`, `q1 = q0 + dt v½`, `v1 = v½ + dt/2 a(t1, q1, v*)`.
///
/// When the force depends on velocity, `v* = v½ + dt/2 a(t1, q1, v½)`. The second kick should be taken at `v1` (then the step is
/// its own adjoint and of order 2); `v* - v1 = dt/2 (∂a/∂v)(v½ - v1) + … = O(dt²)`, so using `v*` changes `v1` by O(dt³) only and the
/// order stays 2. Using `v½` itself, as is often done, changes it by O(dt²): order 1.
///
/// The staggered form (velocities at half steps) is this method seen at `v½`: `v½' = v½ + dt a(q1)`.
///
/// # Limitations
/// The energy oscillates with relative amplitude O(ω²dt²) but does not drift while the step is constant. The force at the end of a
/// step is evaluated again at the start of the next, because a state that was edited in between must count.
#[derive(Clone, Debug, Default)]
pub struct Leapfrog {
    trial: Trial,
    predicted: Vec<f64>,
}

impl<S: ExplicitSystem + ?Sized> Stepper<S> for Leapfrog {
    fn method(&self) -> &'static MethodInfo {
        &METHOD
    }

    fn step_recorded(
        &mut self,
        system: &S,
        state: &mut State,
        dt: f64,
        mut record: Option<&mut StageRecord>,
    ) -> Result<StepStats, StepError> {
        let Self { trial, predicted } = self;
        trial.begin(system, state, dt)?;
        let (w, half, t1) = (system.inverse_mass(), 0.5 * dt, state.t + dt);
        system.force(state.t, &state.q, &state.v, &mut trial.f);
        if let Some(record) = record.as_deref_mut() {
            record.clear();
            record.push(0.5, state.t, &state.q, &state.v);
        }
        kick(w, half, &trial.f, &state.v, &mut trial.v);
        drift(w, dt, &trial.v, &state.q, &mut trial.q);
        system.prescribe(t1, &mut trial.q, &mut trial.v);
        system.force(t1, &trial.q, &trial.v, &mut trial.f);
        let mut evaluations = 2;
        let mut at = &trial.v;
        if system.dependence().velocity {
            predicted.resize(state.v.len(), 0.0);
            kick(w, half, &trial.f, &trial.v, predicted);
            system.force(t1, &trial.q, predicted, &mut trial.f);
            evaluations = 3;
            at = predicted;
        }
        if let Some(record) = record {
            record.push(0.5, t1, &trial.q, at);
        }
        kick_in_place(w, half, &trial.f, &mut trial.v);
        trial.commit(state, dt)?;
        Ok(StepStats::explicit(evaluations))
    }
}
