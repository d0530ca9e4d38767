//! The step limit of Runge-Kutta methods from the eigenvalues of the whole model.

use super::matrices::ScaledMatrices;
use nalgebra::{Complex, DMatrix, Schur};

/// Why there is no limit to report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NoLimit {
    /// The method amplifies this mode at every step.
    Mode(Complex<f64>),
    /// The eigenvalue iteration did not end.
    Eigenvalues,
}

/// Largest dt for which |R(dt μ)| stays at most 1 from 0 on, over all eigenvalues μ of `M μ² + D μ + K`.
pub(super) fn largest_dt(
    matrices: &ScaledMatrices,
    stability_function: fn(Complex<f64>) -> Complex<f64>,
) -> Result<f64, NoLimit> {
    let eigenvalues = eigenvalues(matrices).ok_or(NoLimit::Eigenvalues)?;
    let largest = eigenvalues.iter().map(|mu| mu.norm()).fold(0.0, f64::max);
    let mut dt = f64::INFINITY;
    for mu in eigenvalues {
        let size = mu.norm();
        // Free motion: a double eigenvalue zero, which rounding spreads to about the square root of epsilon.
        if size <= 1e-7 * largest {
            continue;
        }
        // A mode without damping up to rounding must not grow at a step where growth would show.
        let undamped = mu.re.abs() <= 1e-10 * size;
        let direction = if undamped { Complex::new(0.0, mu.im.signum()) } else { mu / size };
        let growth = |r: f64| stability_function(direction * r).norm() - 1.0;
        let (slack, first) = if undamped { (1e-10, 0.05) } else { (1e-13, 1e-6) };
        if growth(first) > slack {
            return Err(NoLimit::Mode(mu));
        }
        // The first crossing, by small steps in proportion, then halving.
        let mut low = first;
        while growth(1.01 * low) <= slack && low < 100.0 {
            low *= 1.01;
        }
        let mut high = 1.01 * low;
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if growth(middle) <= slack {
                low = middle;
            } else {
                high = middle;
            }
        }
        dt = dt.min(low / size);
    }
    Ok(dt)
}

/// Eigenvalues; none when the iteration for a damped model does not end.
fn eigenvalues(matrices: &ScaledMatrices) -> Option<Vec<Complex<f64>>> {
    let [w, c] = matrices.dense();
    if !matrices.is_damped() {
        let root =
            |k: f64| if k >= 0.0 { Complex::new(0.0, k.sqrt()) } else { Complex::new((-k).sqrt(), 0.0) };
        return Some(w.symmetric_eigenvalues().iter().map(|&k| root(k)).collect());
    }
    let n = w.nrows();
    // Velocities in units of the highest frequency, so that the blocks are alike in size.
    let scale = w.amax().sqrt().max(c.amax());
    let mut companion = DMatrix::zeros(2 * n, 2 * n);
    companion.view_mut((0, n), (n, n)).fill_with_identity();
    companion.view_mut((n, 0), (n, n)).copy_from(&(-&w / (scale * scale)));
    companion.view_mut((n, n), (n, n)).copy_from(&(-&c / scale));
    // Without a cap the iteration may run for ever on defective matrices.
    let schur = Schur::try_new(companion, 1e-15, 500 * n)?;
    Some(schur.complex_eigenvalues().iter().map(|mu| mu * scale).collect())
}
