//! Explicit Euler.

use super::{BoxedStepper, StepperInfo, boxed, no_options};
use crate::stability::StepLimit;
use crate::trial::{Trial, drift, kick};
use nalgebra::Complex;
use serde_json::Value;
use sim_core::{ExplicitSystem, MethodInfo, Stability, StageRecord, State, StepError, StepStats, Stepper};

/// Claims.
pub static METHOD: MethodInfo = MethodInfo {
    id: "explicit_euler",
    summary: "positions and velocities by their present rates",
    implicit: false,
    symplectic: false,
    order: 1,
    order_velocity_dependent: 1,
    stability: Stability::Unstable,
    reference: "Hairer, Nørsett & Wanner, Solving ODEs I (1993), ch. I.7",
    limitations: "Pumps energy into every undamped mode at any step; for teaching and for heavily damped motion.",
};

/// Registry entry.
pub const INFO: StepperInfo = StepperInfo {
    method: &METHOD,
    limit: StepLimit::Spectral { stability_function: |z| Complex::new(1.0, 0.0) + z },
    covers: |_| true,
    defaults: || Value::Null,
    build,
};

fn build(options: &Value) -> Result<BoxedStepper, crate::OptionsError> {
    no_options(METHOD.id, options)?;
    Ok(boxed(ExplicitEuler::default()))
}

/// `q1 = q0 + dt v0`, `v1 = v0 + dt a(t0, q0, v0)`.
///
/// # Limitations
/// Undamped oscillations grow by sqrt(1 + ω²dt²) per step. With damping ratio ζ a mode is stable for ω dt < 2ζ.
#[derive(Clone, Debug, Default)]
pub struct ExplicitEuler {
    trial: Trial,
}

impl<S: ExplicitSystem + ?Sized> Stepper<S> for ExplicitEuler {
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
        drift(w, dt, &state.v, &state.q, &mut trial.q);
        kick(w, dt, &trial.f, &state.v, &mut trial.v);
        system.prescribe(state.t + dt, &mut trial.q, &mut trial.v);
        trial.commit(state, dt)?;
        Ok(StepStats::explicit(1))
    }
}
