//! Whether a run that is interrupted and taken up by a new stepper gives the same bits.

use super::{StudyError, stepped};
use sim_core::{State, Stepper, System};

/// Hashes of the two final states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestartReport {
    /// Of the run in one go.
    pub straight: u64,
    /// Of the interrupted run.
    pub restarted: u64,
}

impl RestartReport {
    /// Whether both runs ended in the same bits.
    pub fn identical(&self) -> bool {
        self.straight == self.restarted
    }
}

/// Steps `2 steps` times with one stepper, and again with a new stepper from the middle on.
///
/// # Errors
/// [`StudyError::Run`].
pub fn restart_study<S: System + ?Sized>(
    system: &S,
    make: &mut dyn FnMut() -> Box<dyn Stepper<S>>,
    state: &State,
    dt: f64,
    steps: u64,
) -> Result<RestartReport, StudyError> {
    let mut first = make();
    let mut straight = state.clone();
    let mut restarted = None;
    for step in 0..2 * steps {
        if step == steps {
            restarted = Some(straight.clone());
        }
        straight = stepped(system, &mut *first, &straight, dt)?;
    }
    let mut second = make();
    let mut restarted =
        restarted.ok_or_else(|| StudyError::Setup("restart needs at least one step".into()))?;
    for _ in 0..steps {
        restarted = stepped(system, &mut *second, &restarted, dt)?;
    }
    Ok(RestartReport { straight: straight.hash(), restarted: restarted.hash() })
}
