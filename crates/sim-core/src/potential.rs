//! One elastic stencil: the mathematics only, no indices and no storage.

use nalgebra::{Matrix3, Vector3};

/// Second derivatives of a stencil energy: `blocks[i][j] = ∂²U/∂x_i∂x_j` in N/m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockHessian<const N: usize> {
    /// The blocks; `blocks[j][i]` is the transpose of `blocks[i][j]`.
    pub blocks: [[Matrix3<f64>; N]; N],
}

/// Largest stencil that [`BlockHessian::projected`] can take.
const MAX_POINTS: usize = 4;
const MAX_SIZE: usize = 3 * MAX_POINTS;

impl<const N: usize> BlockHessian<N> {
    /// The zero matrix.
    pub fn zeros() -> Self {
        Self { blocks: [[Matrix3::zeros(); N]; N] }
    }

    /// The Hessian by points of an energy given by differences `d_m = Σ signs[m][i] x_i`: `Sᵀ H S`.
    pub fn from_differences<const M: usize>(signs: &[[f64; N]; M], h: &[[Matrix3<f64>; M]; M]) -> Self {
        let mut result = Self::zeros();
        for (i, row) in result.blocks.iter_mut().enumerate() {
            for (j, block) in row.iter_mut().enumerate() {
                for m in 0..M {
                    for n in 0..M {
                        let sign = signs[m][i] * signs[n][j];
                        if sign != 0.0 {
                            *block += h[m][n] * sign;
                        }
                    }
                }
            }
        }
        result
    }

    /// The nearest positive semidefinite matrix in the Frobenius norm: negative eigenvalues set to zero.
    ///
    /// # Limitations
    /// A dense eigenvalue problem of size 3 N (cyclic Jacobi, on the stack): for springs use the closed form instead.
    ///
    /// # Panics
    /// When N is above 4.
    #[must_use]
    #[allow(clippy::needless_range_loop)] // rows and columns are read as in the formula
    pub fn projected(&self) -> Self {
        assert!(
            N <= MAX_POINTS,
            "a stencil of {N} points is larger than the {MAX_POINTS} that fit on the stack"
        );
        let size = 3 * N;
        let mut a = [[0.0; MAX_SIZE]; MAX_SIZE];
        for r in 0..size {
            for c in 0..size {
                // The mean of both halves: rounding leaves them a little apart.
                a[r][c] = 0.5
                    * (self.blocks[r / 3][c / 3][(r % 3, c % 3)] + self.blocks[c / 3][r / 3][(c % 3, r % 3)]);
            }
        }
        let vectors = diagonalize(&mut a, size);
        if (0..size).all(|i| a[i][i] >= 0.0) {
            return *self;
        }
        let mut result = Self::zeros();
        for r in 0..size {
            for c in 0..size {
                let mut sum = 0.0;
                for i in 0..size {
                    sum += vectors[r][i] * a[i][i].max(0.0) * vectors[c][i];
                }
                result.blocks[r / 3][c / 3][(r % 3, c % 3)] = sum;
            }
        }
        result
    }
}

/// Cyclic Jacobi: leaves the eigenvalues on the diagonal of `a` and returns the eigenvectors as columns.
///
/// Source: G. H. Golub, C. F. Van Loan, "Matrix Computations", 4th ed., section 8.5.
#[allow(clippy::needless_range_loop)] // rows and columns are read as in the formula
fn diagonalize(a: &mut [[f64; MAX_SIZE]; MAX_SIZE], size: usize) -> [[f64; MAX_SIZE]; MAX_SIZE] {
    let mut v = [[0.0; MAX_SIZE]; MAX_SIZE];
    for (i, row) in v.iter_mut().enumerate() {
        row[i] = 1.0;
    }
    let norm = a.as_flattened().iter().map(|x| x * x).sum::<f64>().sqrt();
    // Converges quadratically after the first few sweeps; 30 is never reached by finite input.
    for _ in 0..30 {
        let mut rotated = false;
        for p in 0..size {
            for q in p + 1..size {
                // Below rounding of the matrix the entry does not matter for the nearest matrix in its norm.
                if a[p][q].abs() <= 0.01 * f64::EPSILON * norm {
                    continue;
                }
                rotated = true;
                let tau = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = tau.signum() / (tau.abs() + tau.hypot(1.0));
                let (cos, sin) = (1.0 / t.hypot(1.0), t / t.hypot(1.0));
                for k in 0..size {
                    let (x, y) = (a[k][p], a[k][q]);
                    (a[k][p], a[k][q]) = (cos * x - sin * y, sin * x + cos * y);
                }
                for k in 0..size {
                    let (x, y) = (a[p][k], a[q][k]);
                    (a[p][k], a[q][k]) = (cos * x - sin * y, sin * x + cos * y);
                }
                for row in v.iter_mut().take(size) {
                    let (x, y) = (row[p], row[q]);
                    (row[p], row[q]) = (cos * x - sin * y, sin * x + cos * y);
                }
            }
        }
        if !rotated {
            break;
        }
    }
    v
}

/// An energy of `N` points.
pub trait Potential<const N: usize> {
    /// Energy in J.
    fn energy(&self, x: &[Vector3<f64>; N]) -> f64;
    /// Derivatives of the energy by the points in N: the *negative* of the force on each point.
    fn gradient(&self, x: &[Vector3<f64>; N]) -> [Vector3<f64>; N];
    /// Second derivatives in N/m.
    fn hessian(&self, x: &[Vector3<f64>; N]) -> BlockHessian<N>;
    /// A positive semidefinite matrix in place of [`Potential::hessian`], see [`crate::Definiteness::Reduced`]: the nearest one, unless
    /// a law knows a cheaper one.
    fn reduced_hessian(&self, x: &[Vector3<f64>; N]) -> BlockHessian<N> {
        self.hessian(x).projected()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense<const N: usize>(h: &BlockHessian<N>) -> nalgebra::DMatrix<f64> {
        nalgebra::DMatrix::from_fn(3 * N, 3 * N, |r, c| h.blocks[r / 3][c / 3][(r % 3, c % 3)])
    }

    #[test]
    fn projection_agrees_with_an_independent_eigensolver() {
        let mut h = BlockHessian::<4>::zeros();
        for r in 0..12 {
            for c in 0..12 {
                let value =
                    ((r * c) as f64 + (r + c) as f64 * 1.7).sin() * if r + c > 14 { 1e-3 } else { 1.0 };
                h.blocks[r / 3][c / 3][(r % 3, c % 3)] = value;
            }
        }
        let mut eigen = dense(&h).symmetric_eigen();
        let negative = eigen.eigenvalues.iter().filter(|&&x| x < 0.0).count();
        assert!((1..12).contains(&negative), "the case must be indefinite");
        eigen.eigenvalues.apply(|x| *x = x.max(0.0));
        let expected = eigen.recompose();
        assert!((dense(&h.projected()) - &expected).norm() < 1e-13 * expected.norm());
        let twice = h.projected().projected();
        assert!((dense(&twice) - expected).norm() < 1e-13 * dense(&twice).norm());
    }

    #[test]
    fn positive_matrices_are_returned_as_they_are() {
        let mut h = BlockHessian::<2>::zeros();
        for i in 0..2 {
            h.blocks[i][i] = Matrix3::new(2.0, 0.3, 0.1, 0.3, 1.0, 0.0, 0.1, 0.0, 3.0);
        }
        assert_eq!(h.projected(), h);
        assert_eq!(BlockHessian::<3>::zeros().projected(), BlockHessian::zeros());
    }
}
