//! Whether a method retraces its path when velocities are turned round.

use super::{StudyError, run};
use sim_core::{State, Stepper, System};

/// Runs `steps` of `dt`, negates velocities, runs as many again, negates, and returns the largest distance from the start:
/// the larger of position error over `scales.0` and velocity error over `scales.1`.
///
/// # Limitations
/// The model must not depend on time or velocity.
///
/// # Errors
/// [`StudyError`] when the model depends on time or velocity, or a step fails.
pub fn reversibility_study<S: System + ?Sized>(
    system: &S,
    stepper: &mut dyn Stepper<S>,
    state: &State,
    dt: f64,
    steps: u64,
    scales: (f64, f64),
) -> Result<f64, StudyError> {
    let depends = system.dependence();
    if depends.time || depends.velocity {
        return Err(StudyError::Setup(format!(
            "reversibility needs forces of position alone, got {depends:?}"
        )));
    }
    let mut turned = state.clone();
    for _ in 0..2 {
        let end = turned.t + dt * steps as f64;
        turned = run(system, stepper, &turned, end, steps)?;
        turned.v.iter_mut().for_each(|v| *v = -*v);
    }
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    Ok((distance(&turned.q, &state.q) / scales.0).max(distance(&turned.v, &state.v) / scales.1))
}
