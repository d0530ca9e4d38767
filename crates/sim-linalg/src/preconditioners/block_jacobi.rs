//! The inverse diagonal blocks.

use crate::block3::{self, Block};
use crate::matrix::BlockSymmetric;
use crate::operator::Preconditioner;
use crate::pattern::BlockPattern;
use crate::preconditioners::{
    ENTRY_SHIFTS, MatrixPreconditioner, PreconditionerError, check_matrix, with_shifts,
};

/// z = blockdiag(A)⁻¹ r.
///
/// # Limitations
/// Right for soft systems that need few iterations anyway; on stiff sheets iterations grow like their side length.
#[derive(Debug, Clone)]
pub struct BlockJacobi {
    inverse: Vec<Block>,
    upper_len: usize,
    shift: f64,
}

impl BlockJacobi {
    /// For matrices on `pattern`.
    pub fn new(pattern: &BlockPattern) -> Self {
        Self { inverse: vec![[0.0; 9]; pattern.block_rows()], upper_len: pattern.upper_len(), shift: 0.0 }
    }
}

impl Preconditioner for BlockJacobi {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        let n = 3 * self.inverse.len();
        assert_eq!((r.len(), z.len()), (n, n), "slices of {} and {} for {n} unknowns", r.len(), z.len());
        for (i, (z, d)) in z.chunks_exact_mut(3).zip(&self.inverse).enumerate() {
            z.copy_from_slice(&block3::times(d, block3::get3(r, i)));
        }
    }

    fn shift(&self) -> f64 {
        self.shift
    }

    fn name(&self) -> &'static str {
        "block_jacobi"
    }
}

impl MatrixPreconditioner for BlockJacobi {
    fn refill(&mut self, matrix: &BlockSymmetric) -> Result<(), PreconditionerError> {
        check_matrix(matrix, self.upper_len)?;
        self.shift = with_shifts(ENTRY_SHIFTS, |shift| {
            for (row, (inverse, d)) in self.inverse.iter_mut().zip(matrix.diagonal()).enumerate() {
                let mut d = *d;
                for k in [0, 4, 8] {
                    d[k] *= 1.0 + shift;
                }
                *inverse = block3::inverse_positive_definite(&d).ok_or(row)?;
            }
            Ok(())
        })?;
        Ok(())
    }
}
