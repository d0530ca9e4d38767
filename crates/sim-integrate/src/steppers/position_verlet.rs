//! Position Verlet, drift-kick-drift.

use super::symplectic_euler::KICK_DRIFT;
use super::{BoxedStepper, StepperInfo, boxed, parse};
use crate::OptionsError;
use crate::stability::StepLimit;
use crate::trial::{Trial, drift, drift_in_place, kick_in_place};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sim_core::{ExplicitSystem, MethodInfo, Stability, StageRecord, State, StepError, StepStats, Stepper};

/// Claims.
pub static METHOD: MethodInfo = MethodInfo {
    id: "position_verlet",
    summary: "half drift, kick at the middle, half drift",
    implicit: false,
    symplectic: true,
    order: 2,
    order_velocity_dependent: 1,
    stability: Stability::Conditional { omega_dt: 2.0 },
    reference: "Tuckerman, Berne & Martyna, J. Chem. Phys. 97 (1992) 1990",
    limitations: "A force that depends on velocity is taken at the old velocity: first order then (use leapfrog, or the option \
                  velocity_damping, which is exact).",
};

/// Registry entry. With `q½` in place of `q` the recurrence is that of `symplectic_euler`; `velocity_damping` replaces `M` by
/// `M cosh(γ dt/2)`, which can only raise the limit.
pub const INFO: StepperInfo = StepperInfo {
    method: &METHOD,
    limit: StepLimit::Certified { undamped: &KICK_DRIFT, damped: &KICK_DRIFT, damped_is_sharp: true },
    covers: |_| true,
    defaults: || serde_json::to_value(PositionVerletOptions::default()).unwrap_or_default(),
    build,
};

/// Options of [`PositionVerlet`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PositionVerletOptions {
    /// Decay rate of all velocities in 1/s, not negative. It is a rate: its effect does not depend on the step.
    pub velocity_damping: f64,
}

fn build(options: &Value) -> Result<BoxedStepper, OptionsError> {
    Ok(boxed(PositionVerlet::new(parse(METHOD.id, options)?)?))
}

/// `q½ = q0 + dt/2 v0`, `v1 = v0 + dt a(t½, q½, v0)`, `q1 = q½ + dt/2 v1`.
///
/// Positions in the middle of steps obey Störmer's recurrence `q½' - 2q½ + q½'' = dt² a(q½)`; carrying velocities makes the start
/// correct and lets the step change. With `velocity_damping` γ the velocity is multiplied by `exp(-γ dt/2)` before and after
/// the kick: the symmetric splitting keeps order 2.
///
/// # Limitations
/// First order when the force itself depends on velocity.
#[derive(Clone, Debug, Default)]
pub struct PositionVerlet {
    options: PositionVerletOptions,
    trial: Trial,
}

impl PositionVerlet {
    /// Checks the options.
    ///
    /// # Errors
    /// [`OptionsError::Value`] when the damping rate is negative or not finite.
    pub fn new(options: PositionVerletOptions) -> Result<Self, OptionsError> {
        let rate = options.velocity_damping;
        if !(rate.is_finite() && rate >= 0.0) {
            return Err(OptionsError::Value {
                method: METHOD.id,
                field: "velocity_damping",
                value: rate,
                requirement: "finite and not negative (1/s)",
            });
        }
        Ok(Self { options, trial: Trial::default() })
    }
}

impl<S: ExplicitSystem + ?Sized> Stepper<S> for PositionVerlet {
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
        let trial = &mut self.trial;
        trial.begin(system, state, dt)?;
        let (w, half) = (system.inverse_mass(), 0.5 * dt);
        let t_half = state.t + half;
        drift(w, half, &state.v, &state.q, &mut trial.q);
        trial.v.copy_from_slice(&state.v);
        let decay = (-self.options.velocity_damping * half).exp();
        let damped = self.options.velocity_damping > 0.0;
        if damped {
            scale_free(w, decay, &mut trial.v);
        }
        system.prescribe(t_half, &mut trial.q, &mut trial.v);
        system.force(t_half, &trial.q, &trial.v, &mut trial.f);
        if let Some(record) = record.as_deref_mut() {
            record.clear();
            record.push(1.0, t_half, &trial.q, &trial.v);
        }
        kick_in_place(w, dt, &trial.f, &mut trial.v);
        if damped {
            scale_free(w, decay, &mut trial.v);
            if let Some(record) = record {
                record.set_damping_impulse((0..trial.v.len()).map(|i| {
                    let m = system.mass()[i / 3];
                    if w[i / 3] > 0.0 { m * (trial.v[i] - state.v[i]) - dt * trial.f[i] } else { 0.0 }
                }));
            }
        }
        drift_in_place(w, half, &trial.v, &mut trial.q);
        system.prescribe(state.t + dt, &mut trial.q, &mut trial.v);
        trial.commit(state, dt)?;
        Ok(StepStats::explicit(1))
    }
}

fn scale_free(inverse_mass: &[f64], factor: f64, v: &mut [f64]) {
    for (v, &w) in v.chunks_exact_mut(3).zip(inverse_mass) {
        if w > 0.0 {
            for v in v {
                *v *= factor;
            }
        }
    }
}
