//! The explicit midpoint rule.

use super::{BoxedStepper, StepperInfo, boxed, no_options};
use crate::stability::StepLimit;
use crate::trial::{Trial, drift, kick};
use nalgebra::Complex;
use serde_json::Value;
use sim_core::{ExplicitSystem, MethodInfo, Stability, StageRecord, State, StepError, StepStats, Stepper};

/// Claims.
pub static METHOD: MethodInfo = MethodInfo {
    id: "explicit_midpoint",
    summary: "second-order Runge-Kutta with one stage at half the step",
    implicit: false,
    symplectic: false,
    order: 2,
    order_velocity_dependent: 2,
    stability: Stability::Unstable,
    reference: "Hairer, Nørsett & Wanner, Solving ODEs I (1993), ch. II.1",
    limitations: "Undamped modes grow by about (ω dt)⁴/8 per step: slowly, but without end.",
};

/// Registry entry.
pub const INFO: StepperInfo = StepperInfo {
    method: &METHOD,
    limit: StepLimit::Spectral { stability_function: |z| Complex::new(1.0, 0.0) + z + z * z * 0.5 },
    covers: |_| true,
    defaults: || Value::Null,
    build,
};

fn build(options: &Value) -> Result<BoxedStepper, crate::OptionsError> {
    no_options(METHOD.id, options)?;
    Ok(boxed(ExplicitMidpoint::default()))
}

/// Half an Euler step to `t0 + dt/2`, then a whole step with the rates found there.
///
/// # Limitations
/// Not stable on an undamped oscillation for any step, though the growth is of fourth order.
#[derive(Clone, Debug, Default)]
pub struct ExplicitMidpoint {
    trial: Trial,
    q_half: Vec<f64>,
    v_half: Vec<f64>,
}

impl<S: ExplicitSystem + ?Sized> Stepper<S> for ExplicitMidpoint {
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
        let Self { trial, q_half, v_half } = self;
        trial.begin(system, state, dt)?;
        q_half.resize(state.q.len(), 0.0);
        v_half.resize(state.q.len(), 0.0);
        let (w, half) = (system.inverse_mass(), 0.5 * dt);
        system.force(state.t, &state.q, &state.v, &mut trial.f);
        drift(w, half, &state.v, &state.q, q_half);
        kick(w, half, &trial.f, &state.v, v_half);
        system.prescribe(state.t + half, q_half, v_half);
        system.force(state.t + half, q_half, v_half, &mut trial.f);
        if let Some(record) = record {
            record.clear();
            record.push(1.0, state.t + half, q_half, v_half);
        }
        drift(w, dt, v_half, &state.q, &mut trial.q);
        kick(w, dt, &trial.f, &state.v, &mut trial.v);
        system.prescribe(state.t + dt, &mut trial.q, &mut trial.v);
        trial.commit(state, dt)?;
        Ok(StepStats::explicit(2))
    }
}
