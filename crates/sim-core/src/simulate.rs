//! The plain loop: equal steps, exact times, observers.

use crate::state::{State, StateError};
use crate::stepper::{Observer, StepError, StepStats, Stepper};
use crate::system::System;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Equal steps from the state's time on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulateOptions {
    /// Step in s, positive.
    pub dt: f64,
    /// Number of steps.
    pub steps: u64,
}

/// A run that ended early; the state is the last complete one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulateError {
    /// The initial state does not fit the system.
    #[error("initial state")]
    Initial(#[from] StateError),
    /// A step failed.
    #[error("step {step} failed")]
    Step {
        /// Index of the step, from 0.
        step: u64,
        /// Why.
        #[source]
        source: StepError,
    },
}

/// Advances `state` by `options.steps` equal steps; step i starts at `t0 + i dt`, never at an accumulated time.
///
/// Observers see the initial state and the state after every step; one that breaks ends the run. Returns the number
/// of steps made.
///
/// # Errors
/// [`SimulateError`]; `state` is the last complete one.
pub fn simulate<S: System + ?Sized>(
    system: &S,
    stepper: &mut dyn Stepper<S>,
    state: &mut State,
    options: SimulateOptions,
    observers: &mut [&mut dyn Observer<S>],
) -> Result<u64, SimulateError> {
    state.validate(system.particle_count())?;
    let t0 = state.t;
    if observe(system, state, &StepStats::default(), observers).is_break() {
        return Ok(0);
    }
    for step in 0..options.steps {
        state.t = t0 + step as f64 * options.dt;
        let stats =
            stepper.step(system, state, options.dt).map_err(|source| SimulateError::Step { step, source })?;
        state.t = t0 + (step + 1) as f64 * options.dt;
        if observe(system, state, &stats, observers).is_break() {
            return Ok(step + 1);
        }
    }
    Ok(options.steps)
}

fn observe<S: System + ?Sized>(
    system: &S,
    state: &State,
    stats: &StepStats,
    observers: &mut [&mut dyn Observer<S>],
) -> ControlFlow<()> {
    observers.iter_mut().try_for_each(|observer| observer.observe(system, state, stats))
}
