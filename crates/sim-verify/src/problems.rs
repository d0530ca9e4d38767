//! Problems with exact solutions: one file each below `problems/`, one line each in [`PROBLEMS`].

use sim_core::{ModelSystem, State};

/// An initial value problem whose solution is known at every time.
///
/// [`crate::residual_study`] checks each against its own equation of motion.
pub trait ExactProblem: Sync {
    /// Id, also the file name.
    fn id(&self) -> &'static str;

    /// Where the solution comes from.
    fn source(&self) -> &'static str;

    /// End of the interval on which studies compare, in s.
    fn t_end(&self) -> f64;

    /// The model and its state at time zero.
    fn build(&self) -> (Box<dyn ModelSystem>, State);

    /// The solution at time `t` s, all particles.
    fn exact(&self, t: f64) -> State;

    /// Highest angular frequency in rad/s that occurs (for non-linear problems: that of the stiffest state visited).
    fn max_frequency(&self) -> f64;

    /// Sizes of position and velocity to which errors are related.
    fn scales(&self) -> (f64, f64);
}

pub mod chain_modes;
pub mod damped_oscillator;
pub mod driven_support;
pub mod duffing;
pub mod falling_with_drag;
pub mod forced_oscillator;
pub mod hanging_bar;
pub mod hanging_chain;
pub mod harmonic_oscillator;
pub mod henon_heiles;
pub mod kepler;
pub mod pendulum;

/// Every exact problem, with its standard parameters.
pub static PROBLEMS: &[&dyn ExactProblem] = &[
    &harmonic_oscillator::STANDARD,
    &damped_oscillator::STANDARD,
    &driven_support::STANDARD,
    &forced_oscillator::STANDARD,
    &chain_modes::STANDARD,
    &hanging_bar::STANDARD,
    &hanging_chain::STANDARD,
    &pendulum::STANDARD,
    &kepler::STANDARD,
    &duffing::STANDARD,
    &henon_heiles::STANDARD,
    &falling_with_drag::STANDARD,
];

/// Deflection and rate at `t` s of a mode of unit amplitude and `omega` rad/s. Modes at odd places of a list start at rest, those at even
/// ones in the middle.
fn swing(place: usize, omega: f64, t: f64) -> (f64, f64) {
    let (sin, cos) = (omega * t).sin_cos();
    if place.is_multiple_of(2) { (cos, -omega * sin) } else { (sin, omega * cos) }
}

/// The problem with this id.
pub fn problem(id: &str) -> Option<&'static dyn ExactProblem> {
    PROBLEMS.iter().copied().find(|problem| problem.id() == id)
}
