//! What an iterative method needs to know of a matrix and of its approximate inverse.

use crate::reduce;

/// A symmetric linear map on flat vectors.
pub trait LinearOperator {
    /// Number of scalar unknowns.
    fn dim(&self) -> usize;

    /// y = A x.
    ///
    /// # Panics
    /// If a slice has not [`LinearOperator::dim`] entries.
    fn apply(&self, x: &[f64], y: &mut [f64]);

    /// y = A x and returns x · y, in one pass where the operator can.
    ///
    /// # Panics
    /// If a slice has not [`LinearOperator::dim`] entries.
    fn apply_dot(&self, x: &[f64], y: &mut [f64]) -> f64 {
        self.apply(x, y);
        reduce::dot(x, y)
    }
}

/// A symmetric positive definite approximation of the inverse of an operator.
pub trait Preconditioner {
    /// z = M⁻¹ r.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    fn apply(&self, r: &[f64], z: &mut [f64]);

    /// z = M⁻¹ r and returns r · z, in one pass where the preconditioner can.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    fn apply_dot(&self, r: &[f64], z: &mut [f64]) -> f64 {
        self.apply(r, z);
        reduce::dot(r, z)
    }

    /// The relative diagonal shift that the factorisation needed; 0 if none.
    fn shift(&self) -> f64 {
        0.0
    }

    /// The name under which reports mention it.
    fn name(&self) -> &'static str;
}

impl<T: LinearOperator + ?Sized> LinearOperator for &T {
    fn dim(&self) -> usize {
        (**self).dim()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        (**self).apply(x, y);
    }

    fn apply_dot(&self, x: &[f64], y: &mut [f64]) -> f64 {
        (**self).apply_dot(x, y)
    }
}
