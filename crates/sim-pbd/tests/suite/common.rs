//! Small models for the tests of this folder.

use sim_core::force::gravity::Gravity;
use sim_core::{ParticleSystem, ParticleSystemBuilder, State, Stepper};
use sim_pbd::constraints::distance::Distance;
use sim_pbd::{Bound, Formulation, PbdSystem, SolveReport, Xpbd, XpbdOptions};

pub const G: f64 = 9.81;

pub fn particles(mass: &[f64], pins: &[usize], gravity: [f64; 3]) -> ParticleSystem {
    ParticleSystemBuilder::new(mass.to_vec())
        .pin(pins.iter().copied())
        .force(Gravity::new(gravity))
        .build()
        .expect("a valid particle system")
}

pub fn link(a: usize, b: usize, rest_length: f64, compliance: f64) -> Bound<Distance, 2> {
    Bound::compliant([a as u32, b as u32], Distance { rest_length }, compliance)
}

pub fn options(substeps: u32, iterations: u32) -> XpbdOptions {
    XpbdOptions { substeps, iterations, ..XpbdOptions::default() }
}

pub fn plain(fraction: f64, iterations: u32) -> XpbdOptions {
    XpbdOptions { formulation: Formulation::Pbd { fraction }, ..options(1, iterations) }
}

/// Runs and returns the last report.
pub fn run(
    system: &PbdSystem,
    state: &mut State,
    options: XpbdOptions,
    dt: f64,
    steps: usize,
) -> SolveReport {
    let mut xpbd = Xpbd::new(system, options).expect("valid options");
    for step in 0..steps {
        xpbd.step(system, state, dt).unwrap_or_else(|error| panic!("step {step}: {error}"));
    }
    xpbd.report().clone()
}

pub fn position(state: &State, i: usize) -> [f64; 3] {
    [state.q[3 * i], state.q[3 * i + 1], state.q[3 * i + 2]]
}

pub fn distance(state: &State, i: usize, j: usize) -> f64 {
    let (a, b) = (position(state, i), position(state, j));
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

#[track_caller]
pub fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{what}: found {found}, expected {expected} within {tolerance:e}"
    );
}
