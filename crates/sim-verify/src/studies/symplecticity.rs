//! Whether one step keeps the symplectic form `Σ m dq ∧ dv`.

use super::StudyError;
use super::amplification::amplification_matrix;
use nalgebra::DMatrix;
use sim_core::{ExplicitSystem, State, Stepper};

/// Distances from a symplectic map.
#[derive(Clone, Copy, Debug)]
pub struct SymplecticityReport {
    /// |det J - 1|.
    pub determinant_error: f64,
    /// Largest entry of `JᵀΩJ - Ω`, in the units of `delta` and relative to the largest mass.
    pub form_error: f64,
}

/// Measures the derivative `J` of one step with respect to all free coordinates and compares `JᵀΩJ` with `Ω`.
///
/// # Limitations
/// The difference quotient limits the result to about 1e-11; use `delta` of a thousandth of the motion.
///
/// # Errors
/// [`StudyError::Run`].
pub fn symplecticity_study<S: ExplicitSystem + ?Sized>(
    system: &S,
    stepper: &mut dyn Stepper<S>,
    state: &State,
    delta: (f64, f64),
    dt: f64,
) -> Result<SymplecticityReport, StudyError> {
    let free: Vec<usize> = (0..state.q.len()).filter(|&i| system.inverse_mass()[i / 3] > 0.0).collect();
    let step = amplification_matrix(system, stepper, state, &free, delta, dt)?;
    let n = free.len();
    let heaviest = free.iter().map(|&i| system.mass()[i / 3]).fold(0.0, f64::max);
    let mut omega = DMatrix::zeros(2 * n, 2 * n);
    for (k, &i) in free.iter().enumerate() {
        let m = system.mass()[i / 3] / heaviest;
        omega[(k, n + k)] = m;
        omega[(n + k, k)] = -m;
    }
    let scale = |i: usize| if i < n { delta.0 } else { delta.1 };
    let scaled = DMatrix::from_fn(2 * n, 2 * n, |r, c| step.matrix[(r, c)] * scale(c) / scale(r));
    let form = scaled.transpose() * &omega * &scaled - &omega;
    Ok(SymplecticityReport {
        determinant_error: (step.matrix.determinant() - 1.0).abs(),
        form_error: form.amax(),
    })
}
