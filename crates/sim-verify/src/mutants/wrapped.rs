//! Mistakes around any stepper, right or not: what a careless caller, clock or copy does to it.

use crate::judge::AnyStepper;
use sim_core::{MethodInfo, ModelSystem, StageRecord, State, StepError, StepStats, Stepper};

/// A mistake outside the method's own formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slip {
    /// The step is a ten-thousandth too long, though the clock is right.
    LongStep,
    /// The clock is advanced twice.
    DoubleClock,
    /// The model is asked for forces one step too late.
    LateForces,
    /// Velocities shrink by a fixed factor per step.
    LeakyVelocity,
    /// Velocities are limited to 10 m/s in silence.
    ClampedVelocity,
    /// Positions pass through single precision.
    SinglePrecision,
    /// y and z of the velocity are exchanged.
    SwappedAxes,
    /// A share of the last step's change of velocity, remembered outside the state, is added again.
    Memory,
    /// A failed step is reported as a good one.
    SwallowedError,
    /// The state is overwritten before the step is known to have succeeded.
    CarelessFailure,
    /// Supported particles are moved with their velocity after the step.
    DraggedSupports,
    /// Velocities turn their sign.
    WrongSign,
}

/// Every slip, with a sentence about it.
pub const SLIPS: [(Slip, &str); 12] = [
    (Slip::LongStep, "step too long by 1e-4 of itself"),
    (Slip::DoubleClock, "clock advanced twice"),
    (Slip::LateForces, "time shifted by one step while forces are evaluated"),
    (Slip::LeakyVelocity, "velocities multiplied by 0.9999 per step"),
    (Slip::ClampedVelocity, "velocities limited to 10 m/s in silence"),
    (Slip::SinglePrecision, "positions rounded to single precision"),
    (Slip::SwappedAxes, "y and z of the velocity exchanged"),
    (Slip::Memory, "memory outside the state"),
    (Slip::SwallowedError, "failed step reported as a good one"),
    (Slip::CarelessFailure, "state overwritten by a failed step"),
    (Slip::DraggedSupports, "supported particles moved along"),
    (Slip::WrongSign, "velocity with the wrong sign"),
];

/// A stepper with a mistake around it.
pub struct Slipped {
    inner: AnyStepper,
    slip: Slip,
    memory: Vec<f64>,
}

impl Slipped {
    /// Puts `slip` around `inner`.
    pub fn new(inner: AnyStepper, slip: Slip) -> Self {
        Self { inner, slip, memory: Vec::new() }
    }
}

impl Stepper<dyn ModelSystem> for Slipped {
    fn method(&self) -> &'static MethodInfo {
        self.inner.method()
    }

    fn step_recorded(
        &mut self,
        system: &(dyn ModelSystem + 'static),
        state: &mut State,
        dt: f64,
        record: Option<&mut StageRecord>,
    ) -> Result<StepStats, StepError> {
        let before = state.clone();
        let result = match self.slip {
            Slip::LongStep => self.inner.step_recorded(system, state, dt * (1.0 + 1e-4), record),
            Slip::LateForces => {
                state.t += dt;
                let result = self.inner.step_recorded(system, state, dt, record);
                if result.is_err() {
                    state.t = before.t;
                }
                result
            }
            _ => self.inner.step_recorded(system, state, dt, record),
        };
        let stats = match result {
            Ok(stats) => stats,
            Err(error) => {
                if self.slip == Slip::CarelessFailure {
                    state.q.iter_mut().for_each(|q| *q += 1e-9);
                }
                return if self.slip == Slip::SwallowedError {
                    Ok(StepStats::explicit(1))
                } else {
                    Err(error)
                };
            }
        };
        let free = |i: usize| system.inverse_mass()[i / 3] > 0.0;
        match self.slip {
            Slip::LongStep | Slip::LateForces => state.t = before.t + dt,
            Slip::DoubleClock => state.t += dt,
            Slip::LeakyVelocity => {
                (0..state.v.len()).filter(|&i| free(i)).for_each(|i| state.v[i] *= 0.9999);
            }
            Slip::ClampedVelocity => state.v.iter_mut().for_each(|v| *v = v.clamp(-10.0, 10.0)),
            Slip::SinglePrecision => state.q.iter_mut().for_each(|q| *q = f64::from(*q as f32)),
            Slip::SwappedAxes => state.v.chunks_exact_mut(3).for_each(|v| v.swap(1, 2)),
            Slip::Memory => {
                let change: Vec<f64> = state.v.iter().zip(&before.v).map(|(a, b)| a - b).collect();
                if self.memory.len() == change.len() {
                    state.v.iter_mut().zip(&self.memory).for_each(|(v, m)| *v += 1e-9 * m);
                }
                self.memory = change;
            }
            Slip::DraggedSupports => {
                for i in (0..state.q.len()).filter(|&i| !free(i)) {
                    state.q[i] += dt * (state.v[i] + 1e-6);
                }
            }
            Slip::WrongSign => state.v.iter_mut().for_each(|v| *v = -*v),
            Slip::SwallowedError | Slip::CarelessFailure => {}
        }
        Ok(stats)
    }
}
