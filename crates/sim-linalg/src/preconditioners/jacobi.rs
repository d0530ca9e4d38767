//! The inverse diagonal.

use crate::matrix::BlockSymmetric;
use crate::operator::Preconditioner;
use crate::pattern::BlockPattern;
use crate::preconditioners::{MatrixPreconditioner, PreconditionerError, check_matrix};

/// z = diag(A)⁻¹ r.
///
/// # Limitations
/// Cures only what a change of units per unknown cures; iterations grow like those without preconditioner. A diagonal
/// entry that is not positive is an error: no shift makes such a matrix positive definite.
#[derive(Debug, Clone)]
pub struct Jacobi {
    inverse: Vec<f64>,
    upper_len: usize,
}

impl Jacobi {
    /// For matrices on `pattern`.
    pub fn new(pattern: &BlockPattern) -> Self {
        Self { inverse: vec![1.0; pattern.dim()], upper_len: pattern.upper_len() }
    }
}

impl Preconditioner for Jacobi {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        assert_eq!(r.len(), self.inverse.len(), "r has {} entries for {}", r.len(), self.inverse.len());
        for ((z, r), d) in z.iter_mut().zip(r).zip(&self.inverse) {
            *z = r * d;
        }
    }

    fn name(&self) -> &'static str {
        "jacobi"
    }
}

impl MatrixPreconditioner for Jacobi {
    fn refill(&mut self, matrix: &BlockSymmetric) -> Result<(), PreconditionerError> {
        check_matrix(matrix, self.upper_len)?;
        for (block_row, (inverse, d)) in self.inverse.chunks_exact_mut(3).zip(matrix.diagonal()).enumerate() {
            for (inverse, &d) in inverse.iter_mut().zip([d[0], d[4], d[8]].iter()) {
                if d <= 0.0 {
                    return Err(PreconditionerError::Breakdown { block_row, shift: 0.0 });
                }
                *inverse = 1.0 / d;
            }
        }
        Ok(())
    }
}
