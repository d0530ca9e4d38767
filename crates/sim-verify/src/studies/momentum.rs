//! Linear and angular momentum of a free model over a long run.

use super::StudyError;
use nalgebra::Vector3;
use sim_core::{ExplicitSystem, SimulateOptions, State, StepStats, Stepper, simulate};
use std::ops::ControlFlow;

/// Largest changes of momentum.
#[derive(Clone, Copy, Debug)]
pub struct MomentumReport {
    /// |P - P0| relative to the largest `Σ m |v|`.
    pub linear: f64,
    /// |L - L0| about the origin relative to the largest `Σ m |x| |v|`.
    pub angular: f64,
}

fn momenta(mass: &[f64], state: &State) -> (Vector3<f64>, Vector3<f64>, f64, f64) {
    let mut sums = (Vector3::zeros(), Vector3::zeros(), 0.0, 0.0);
    for ((x, v), &m) in state.q.chunks_exact(3).zip(state.v.chunks_exact(3)).zip(mass) {
        let (x, p) = (Vector3::new(x[0], x[1], x[2]), m * Vector3::new(v[0], v[1], v[2]));
        sums.0 += p;
        sums.1 += x.cross(&p);
        sums.2 += p.norm();
        sums.3 += x.norm() * p.norm();
    }
    sums
}

/// Runs `steps` of `dt` from a copy of `state` and watches both momenta at every `every`-th step.
///
/// # Limitations
/// Sums over all particles: the model must be free (nothing pinned) and under internal forces only.
///
/// # Panics
/// When `every` is zero.
///
/// # Errors
/// [`StudyError`] when a particle is pinned or a step fails.
pub fn momentum_study<S: ExplicitSystem + ?Sized>(
    system: &S,
    stepper: &mut dyn Stepper<S>,
    state: &State,
    dt: f64,
    steps: u64,
    every: u64,
) -> Result<MomentumReport, StudyError> {
    if let Some(pinned) = system.inverse_mass().iter().position(|&w| w == 0.0) {
        return Err(StudyError::Setup(format!(
            "momentum needs a free model, but particle {pinned} is pinned"
        )));
    }
    let (p0, l0, mut p_scale, mut l_scale) = momenta(system.mass(), state);
    let (mut linear, mut angular, mut index) = (0.0_f64, 0.0_f64, 0_u64);
    let mut watch = |system: &S, state: &State, _: &StepStats| {
        if index.is_multiple_of(every) {
            let (p, l, ps, ls) = momenta(system.mass(), state);
            linear = linear.max((p - p0).norm());
            angular = angular.max((l - l0).norm());
            p_scale = p_scale.max(ps);
            l_scale = l_scale.max(ls);
        }
        index += 1;
        ControlFlow::Continue(())
    };
    let mut copy = state.clone();
    simulate(system, stepper, &mut copy, SimulateOptions { dt, steps }, &mut [&mut watch])
        .map_err(|source| StudyError::Run { dt, source })?;
    Ok(MomentumReport { linear: linear / p_scale, angular: angular / l_scale })
}
