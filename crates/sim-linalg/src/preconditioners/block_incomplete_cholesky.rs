//! Incomplete Cholesky on 3×3 blocks.

use crate::matrix::BlockSymmetric;
use crate::operator::Preconditioner;
use crate::pattern::BlockPattern;
use crate::preconditioners::{MatrixPreconditioner, PreconditionerError, check_matrix};
use crate::team_cg::TeamCg;

/// A ≈ L D Lᵀ with 3×3 blocks on the pattern of A, or with fill by level, in the given order or, if that
/// scatters rows, in reverse Cuthill-McKee order.
///
/// The factor is computed in f64 and applied in f32: half the bytes, the same iterations.
///
/// Source: Meijerink, van der Vorst, Math. Comp. 31 (1977) 148; Kershaw, J. Comput. Phys. 26 (1978) 43; Manteuffel,
/// Math. Comp. 34 (1980) 473, for the shift.
///
/// # Limitations
/// Iterations grow like the side length of a sheet; [`crate::TwoLevel`] keeps them flat. The application rounds to f32, so
/// that tolerances below about 1e-12 may need a restart of the iteration.
#[derive(Debug)]
pub struct BlockIncompleteCholesky {
    inner: TeamCg,
    shift: f64,
}

impl BlockIncompleteCholesky {
    /// For matrices on `pattern`; `fill_level` 0 keeps the pattern of the matrix.
    pub fn new(pattern: &BlockPattern, fill_level: u8) -> Self {
        Self { inner: TeamCg::on_pattern(pattern, Some(fill_level), 1), shift: 0.0 }
    }
}

impl Preconditioner for BlockIncompleteCholesky {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        self.inner.apply_preconditioner(r, z);
    }

    fn shift(&self) -> f64 {
        self.shift
    }

    fn name(&self) -> &'static str {
        "block_incomplete_cholesky"
    }
}

impl MatrixPreconditioner for BlockIncompleteCholesky {
    fn refill(&mut self, matrix: &BlockSymmetric) -> Result<(), PreconditionerError> {
        check_matrix(matrix, self.inner.matrix.pattern().upper_len())?;
        self.shift = self.inner.refill(matrix, 0.0)?.shift;
        Ok(())
    }
}
