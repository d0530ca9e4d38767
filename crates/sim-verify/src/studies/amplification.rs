//! The matrix by which one step multiplies a small change of the state.

use super::{StudyError, stepped};
use nalgebra::DMatrix;
use sim_core::{State, Stepper, System};

/// The derivative of one step with respect to some coordinates.
#[derive(Clone, Debug)]
pub struct StepMatrix {
    /// Indices into `q` and `v`.
    pub coordinates: Vec<usize>,
    /// Size `2 n`: positions of the coordinates first, then their velocities.
    pub matrix: DMatrix<f64>,
    /// Sizes by which positions and velocities were varied, in m and m/s.
    pub delta: (f64, f64),
}

/// Measures the derivative of one step at `base` by stepping changed states (fourth-order central differences).
///
/// On a linear model this is the amplification matrix, exact up to rounding for any `delta` that stays in the linear range.
/// On a non-linear one the error is of fourth order in `delta`.
///
/// # Errors
/// [`StudyError::Run`].
pub fn amplification_matrix<S: System + ?Sized>(
    system: &S,
    stepper: &mut dyn Stepper<S>,
    base: &State,
    coordinates: &[usize],
    delta: (f64, f64),
    dt: f64,
) -> Result<StepMatrix, StudyError> {
    let n = coordinates.len();
    let mut matrix = DMatrix::zeros(2 * n, 2 * n);
    let read = |state: &State| -> Vec<f64> {
        coordinates.iter().map(|&i| state.q[i]).chain(coordinates.iter().map(|&i| state.v[i])).collect()
    };
    for column in 0..2 * n {
        let size = if column < n { delta.0 } else { delta.1 };
        let mut shifted = |by: f64| {
            let mut state = base.clone();
            let array = if column < n { &mut state.q } else { &mut state.v };
            array[coordinates[column % n]] += by * size;
            stepped(system, stepper, &state, dt).map(|state| read(&state))
        };
        let (m2, m1, p1, p2) = (shifted(-2.0)?, shifted(-1.0)?, shifted(1.0)?, shifted(2.0)?);
        for row in 0..2 * n {
            matrix[(row, column)] = (8.0 * (p1[row] - m1[row]) - (p2[row] - m2[row])) / (12.0 * size);
        }
    }
    Ok(StepMatrix { coordinates: coordinates.to_vec(), matrix, delta })
}

/// Largest absolute value of the eigenvalues, as the limit of `‖A^N‖^(1/N)` by repeated squaring up to N = 2⁵⁰.
///
/// Unlike an eigenvalue iteration it always ends, and a defective eigenvalue (free motion, or a mode right at its
/// stability limit) does not cost half the digits. Zero for a nilpotent or empty matrix.
pub fn spectral_radius(matrix: &DMatrix<f64>) -> f64 {
    let mut power = matrix.clone();
    let (mut log, mut share) = (0.0, 1.0);
    for _ in 0..=50 {
        let norm = power.norm();
        if norm == 0.0 || !norm.is_finite() {
            return if norm == 0.0 { 0.0 } else { norm };
        }
        log += share * norm.ln();
        power /= norm;
        power = &power * &power;
        share *= 0.5;
    }
    log.exp()
}

impl StepMatrix {
    /// Largest absolute value of the eigenvalues.
    pub fn spectral_radius(&self) -> f64 {
        spectral_radius(&self.matrix)
    }

    /// Determinant: the factor by which one step changes volumes of phase space.
    pub fn determinant(&self) -> f64 {
        self.matrix.determinant()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spectral_radius_of_known_matrices() {
        let radius = |entries: &[f64; 4]| spectral_radius(&DMatrix::from_row_slice(2, 2, entries));
        // Rotation, defective, nilpotent, complex pair with determinant 1/4, real and badly scaled.
        assert!((radius(&[0.6, -0.8, 0.8, 0.6]) - 1.0).abs() < 1e-14);
        assert!((radius(&[1.0, 1e3, 0.0, 1.0]) - 1.0).abs() < 1e-12);
        assert_eq!(radius(&[0.0, 1.0, 0.0, 0.0]), 0.0);
        assert!((radius(&[0.0, -0.25, 1.0, 0.5]) - 0.5).abs() < 1e-14);
        assert!((radius(&[3.0, 1e9, 0.0, -4.0]) - 4.0).abs() < 1e-13);
        assert!(radius(&[f64::NAN, 0.0, 0.0, 1.0]).is_nan());
    }
}
