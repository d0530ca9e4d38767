//! The classical Runge-Kutta method.

use super::{BoxedStepper, StepperInfo, boxed, no_options};
use crate::stability::{Condition, StepLimit};
use crate::trial::{Trial, drift, drift_in_place, kick, kick_in_place};
use serde_json::Value;
use sim_core::{ExplicitSystem, MethodInfo, Stability, StageRecord, State, StepError, StepStats, Stepper};

/// Claims.
pub static METHOD: MethodInfo = MethodInfo {
    id: "runge_kutta4",
    summary: "the classical fourth-order Runge-Kutta method",
    implicit: false,
    symplectic: false,
    order: 4,
    order_velocity_dependent: 4,
    stability: Stability::Conditional { omega_dt: 2.0 * std::f64::consts::SQRT_2 },
    reference: "Kutta, Z. Math. Phys. 46 (1901) 435; Hairer, Nørsett & Wanner, Solving ODEs I (1993), ch. II.1",
    limitations: "Four force evaluations per step; loses energy slowly, by (ω dt)⁶/72 of it per step; not symplectic.",
};

/// Registry entry.
pub const INFO: StepperInfo = StepperInfo {
    method: &METHOD,
    limit: StepLimit::Certified { undamped: &UNDAMPED, damped: &DAMPED, damped_is_sharp: false },
    covers: |_| true,
    defaults: || Value::Null,
    build,
};

const UNDAMPED: [Condition; 1] = [Condition { stiffness: 1.0, damping: 0.0, limit: 8.0 }];

/// Radius of the largest half disk about the origin, left of the imaginary axis, inside the stability region, rounded down
/// (2.61558 at an angle of 122.8 degrees).
const HALF_DISK: f64 = 2.6155;

/// End of the stability region on the negative real axis, rounded down.
const REAL_AXIS: f64 = 2.7852;

/// An eigenvalue μ of `M μ² + D μ + K` with unit eigenvector `u` solves `μ² + cμ + k = 0` with `c = u*Cu ≥ 0`, `k = u*Wu ≥ 0`. A complex
/// pair has |μ|² = k, a real one lies between -c and 0: both stay in the region below.
const DAMPED: [Condition; 2] = [
    Condition { stiffness: 1.0, damping: 0.0, limit: HALF_DISK * HALF_DISK },
    Condition { stiffness: 0.0, damping: 1.0, limit: REAL_AXIS },
];

fn build(options: &Value) -> Result<BoxedStepper, crate::OptionsError> {
    no_options(METHOD.id, options)?;
    Ok(boxed(RungeKutta4::default()))
}

/// Four stages at `t0`, `t0 + dt/2` (twice) and `t0 + dt`, weighted 1, 2, 2, 1.
///
/// # Limitations
/// Dissipates a little at any step; for long conservative runs prefer leapfrog.
#[derive(Clone, Debug, Default)]
pub struct RungeKutta4 {
    trial: Trial,
    q_stage: Vec<f64>,
    v_stage: Vec<f64>,
    v_next: Vec<f64>,
}

impl<S: ExplicitSystem + ?Sized> Stepper<S> for RungeKutta4 {
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
        let Self { trial, q_stage, v_stage, v_next } = self;
        trial.begin(system, state, dt)?;
        for buffer in [&mut *q_stage, &mut *v_stage, &mut *v_next] {
            buffer.resize(state.q.len(), 0.0);
        }
        let w = system.inverse_mass();
        if let Some(record) = record.as_deref_mut() {
            record.clear();
        }
        trial.q.copy_from_slice(&state.q);
        trial.v.copy_from_slice(&state.v);
        q_stage.copy_from_slice(&state.q);
        v_stage.copy_from_slice(&state.v);
        // Weight of the stage in the sum, and how far along the next stage is.
        for (weight, time, next) in
            [(1.0 / 6.0, 0.0, 0.5), (1.0 / 3.0, 0.5, 0.5), (1.0 / 3.0, 0.5, 1.0), (1.0 / 6.0, 1.0, 0.0)]
        {
            let t = state.t + time * dt;
            system.force(t, q_stage, v_stage, &mut trial.f);
            if let Some(record) = record.as_deref_mut() {
                record.push(weight, t, q_stage, v_stage);
            }
            drift_in_place(w, weight * dt, v_stage, &mut trial.q);
            kick_in_place(w, weight * dt, &trial.f, &mut trial.v);
            if next > 0.0 {
                drift(w, next * dt, v_stage, &state.q, q_stage);
                kick(w, next * dt, &trial.f, &state.v, v_next);
                std::mem::swap(v_stage, v_next);
                system.prescribe(state.t + next * dt, q_stage, v_stage);
            }
        }
        system.prescribe(state.t + dt, &mut trial.q, &mut trial.v);
        trial.commit(state, dt)?;
        Ok(StepStats::explicit(4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Complex;

    fn amplification(z: Complex<f64>) -> f64 {
        (Complex::new(1.0, 0.0) + z + z * z / 2.0 + z * z * z / 6.0 + z * z * z * z / 24.0).norm()
    }

    #[test]
    fn half_disk_and_real_axis_are_stable_and_not_much_smaller_than_possible() {
        let polar = |r: f64, angle: f64| Complex::from_polar(r, angle);
        let quarter = std::f64::consts::FRAC_PI_2;
        for i in 0..=2000 {
            let angle = quarter * (1.0 + f64::from(i) / 2000.0);
            for j in 1..=300 {
                let r = HALF_DISK * f64::from(j) / 300.0;
                assert!(amplification(polar(r, angle)) <= 1.0 + 1e-14, "r = {r}, angle = {angle}");
            }
        }
        for j in 1..=1000 {
            assert!(amplification(Complex::new(-REAL_AXIS * f64::from(j) / 1000.0, 0.0)) <= 1.0);
        }
        assert!(amplification(polar(HALF_DISK + 2e-4, 2.1426)) > 1.0);
        assert!(amplification(Complex::new(-REAL_AXIS - 2e-4, 0.0)) > 1.0);
    }
}
