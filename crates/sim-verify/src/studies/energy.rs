//! Drift and oscillation of the energy over a long run.

use super::StudyError;
use sim_core::{SimulateError, SimulateOptions, State, StepStats, Stepper, System, simulate};
use std::ops::ControlFlow;

/// What the energy did.
#[derive(Clone, Copy, Debug)]
pub struct EnergyReport {
    /// Total energy at the start in J.
    pub initial: f64,
    /// Total energy at the end in J.
    pub last: f64,
    /// Largest minus smallest total energy, relative to the largest kinetic energy seen.
    pub energy_oscillation: f64,
    /// Slope of a straight line fitted to the total energy, times the duration, relative to the largest kinetic energy.
    pub energy_drift: f64,
    /// Largest kinetic energy seen in J, the scale of the two above.
    pub largest_kinetic: f64,
}

/// Runs `steps` of `dt` from a copy of `state` and watches the total energy at every `every`-th step.
///
/// # Panics
/// When `every` is zero.
///
/// # Errors
/// [`StudyError::Run`].
pub fn energy_study<S: System + ?Sized>(
    system: &S,
    stepper: &mut dyn Stepper<S>,
    state: &State,
    dt: f64,
    steps: u64,
    every: u64,
) -> Result<EnergyReport, StudyError> {
    let initial = system.energy(state.t, &state.q, &state.v).total();
    let (mut lowest, mut highest, mut last, mut largest_kinetic) = (initial, initial, initial, 0.0_f64);
    // Sums for the fitted line, with time from -1 to 1 so that they stay well conditioned.
    let (mut n, mut sx, mut sy, mut sxx, mut sxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    let mut index = 0;
    let mut watch = |system: &S, state: &State, _: &StepStats| {
        if index % every == 0 {
            let energy = system.energy(state.t, &state.q, &state.v);
            largest_kinetic = largest_kinetic.max(energy.kinetic);
            last = energy.total();
            lowest = lowest.min(last);
            highest = highest.max(last);
            let (x, y) = (2.0 * index as f64 / steps as f64 - 1.0, last - initial);
            (n, sx, sy, sxx, sxy) = (n + 1.0, sx + x, sy + y, sxx + x * x, sxy + x * y);
        }
        index += 1;
        ControlFlow::Continue(())
    };
    let mut copy = state.clone();
    simulate(system, stepper, &mut copy, SimulateOptions { dt, steps }, &mut [&mut watch])
        .map_err(|source: SimulateError| StudyError::Run { dt, source })?;
    let slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    Ok(EnergyReport {
        initial,
        last,
        energy_oscillation: (highest - lowest) / largest_kinetic,
        energy_drift: 2.0 * slope / largest_kinetic,
        largest_kinetic,
    })
}
