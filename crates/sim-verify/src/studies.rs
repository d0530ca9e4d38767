//! Studies: one file each. They measure and report; what is good enough is for the caller to say.

use sim_core::{SimulateError, SimulateOptions, State, Stepper, System, simulate};

pub mod amplification;
pub mod derivatives;
pub mod energy;
pub mod equation_of_motion;
pub mod failed_step;
pub mod momentum;
pub mod order;
pub mod restart;
pub mod reversibility;
pub mod richardson;
pub mod stability_limit;
pub mod symplecticity;

/// A study that could not be carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The stepper failed.
    #[error("run with dt = {dt} s")]
    Run {
        /// Step size in s.
        dt: f64,
        /// Why.
        #[source]
        source: SimulateError,
    },
    /// A study was asked for something it cannot do.
    #[error("{0}")]
    Setup(String),
}

/// Advances a copy of `state` by `steps` equal steps to `t_end`.
///
/// # Errors
/// [`StudyError::Run`] with the step size.
pub fn run<S: System + ?Sized>(
    system: &S,
    stepper: &mut dyn Stepper<S>,
    state: &State,
    t_end: f64,
    steps: u64,
) -> Result<State, StudyError> {
    let dt = (t_end - state.t) / steps as f64;
    let mut state = state.clone();
    simulate(system, stepper, &mut state, SimulateOptions { dt, steps }, &mut [])
        .map_err(|source| StudyError::Run { dt, source })?;
    Ok(state)
}

/// One step on a copy of `state`.
fn stepped<S: System + ?Sized>(
    system: &S,
    stepper: &mut dyn Stepper<S>,
    state: &State,
    dt: f64,
) -> Result<State, StudyError> {
    let mut state = state.clone();
    stepper
        .step(system, &mut state, dt)
        .map_err(|source| StudyError::Run { dt, source: SimulateError::Step { step: 0, source } })?;
    Ok(state)
}
