//! One elastic stencil: the mathematics only, no indices and no storage.

use nalgebra::{Matrix3, Vector3};

/// Second derivatives of a stencil energy: `blocks[i][j] = ∂²U/∂x_i∂x_j` in N/m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockHessian<const N: usize> {
    /// The blocks; `blocks[j][i]` is the transpose of `blocks[i][j]`.
    pub blocks: [[Matrix3<f64>; N]; N],
}

impl<const N: usize> BlockHessian<N> {
    /// The zero matrix.
    pub fn zeros() -> Self {
        Self { blocks: [[Matrix3::zeros(); N]; N] }
    }

    /// The nearest positive semidefinite matrix in the Frobenius norm: negative eigenvalues set to zero.
    ///
    /// # Limitations
    /// A dense eigenvalue problem of size 3 N: for springs use the closed form instead.
    #[must_use]
    pub fn projected(&self) -> Self {
        let dense = nalgebra::DMatrix::from_fn(3 * N, 3 * N, |r, c| {
            // The mean of both halves: rounding leaves them a little apart.
            0.5 * (self.blocks[r / 3][c / 3][(r % 3, c % 3)] + self.blocks[c / 3][r / 3][(c % 3, r % 3)])
        });
        let mut eigen = dense.symmetric_eigen();
        if eigen.eigenvalues.iter().all(|&value| value >= 0.0) {
            return *self;
        }
        eigen.eigenvalues.apply(|value| *value = value.max(0.0));
        let positive = eigen.recompose();
        let mut result = Self::zeros();
        for (i, row) in result.blocks.iter_mut().enumerate() {
            for (j, block) in row.iter_mut().enumerate() {
                *block = positive.fixed_view::<3, 3>(3 * i, 3 * j).into_owned();
            }
        }
        result
    }
}

/// An energy of `N` points.
pub trait Potential<const N: usize> {
    /// Energy in J.
    fn energy(&self, x: &[Vector3<f64>; N]) -> f64;
    /// Derivatives of the energy by the points in N: the *negative* of the force on each point.
    fn gradient(&self, x: &[Vector3<f64>; N]) -> [Vector3<f64>; N];
    /// Second derivatives in N/m.
    fn hessian(&self, x: &[Vector3<f64>; N]) -> BlockHessian<N>;
}
