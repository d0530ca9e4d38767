//! The step limit of Runge-Kutta methods from the eigenvalues of the whole model.

use super::matrices::ScaledMatrices;
use nalgebra::{Complex, DMatrix};

/// |R| up to this counts as stable: rounding of eigenvalues on the unit circle.
const UNIT: f64 = 1.0 + 1e-10;

/// Largest dt for which |R(dt μ)| stays at most 1 from 0 on, over all eigenvalues μ of `M μ² + D μ + K`; or the eigenvalue for
/// which there is none.
pub(super) fn largest_dt(
    matrices: &ScaledMatrices,
    stability_function: fn(Complex<f64>) -> Complex<f64>,
) -> Result<f64, Complex<f64>> {
    let [w, c] = matrices.dense();
    let n = w.nrows();
    let mut companion = DMatrix::zeros(2 * n, 2 * n);
    companion.view_mut((0, n), (n, n)).fill_with_identity();
    companion.view_mut((n, 0), (n, n)).copy_from(&-&w);
    companion.view_mut((n, n), (n, n)).copy_from(&-&c);
    let eigenvalues = companion.complex_eigenvalues();
    let largest = eigenvalues.iter().map(|mu| mu.norm()).fold(0.0, f64::max);
    let mut dt = f64::INFINITY;
    for &mu in eigenvalues.iter() {
        let size = mu.norm();
        // Free motion: a double eigenvalue zero, which rounding spreads to about the square root of epsilon.
        if size <= 1e-7 * largest {
            continue;
        }
        let stable = |r: f64| stability_function(mu * (r / size)).norm() <= UNIT;
        let (mut low, mut step) = (1e-3, 1e-3);
        if !stable(low) {
            return Err(mu);
        }
        while stable(low + step) && low < 100.0 {
            low += step;
            step = 0.01;
        }
        let mut high = low + step;
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if stable(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        dt = dt.min(low / size);
    }
    Ok(dt)
}
