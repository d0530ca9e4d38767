//! Block incomplete Cholesky with a coarse space.

use crate::matrix::BlockSymmetric;
use crate::operator::Preconditioner;
use crate::pattern::BlockPattern;
use crate::preconditioners::{
    MatrixPreconditioner, PreconditionerError, PreconditionerOptions, check_matrix,
};
use crate::team_cg::{Combination, TeamCg};

/// M⁻¹ = (L D Lᵀ)⁻¹ + P (Pᵀ A P)⁻¹ Pᵀ: block incomplete Cholesky plus a coarse solve for affine displacement fields on
/// patches of about 64 nodes. Iterations stay nearly flat in the size and stiffness of a sheet.
///
/// This is the additive form, which is positive definite by itself. [`crate::LinearSolver`] uses the deflated form, a third
/// fewer iterations, which needs the right start and therefore is no stand-alone preconditioner.
///
/// Source: Nicolaides, SIAM J. Numer. Anal. 24 (1987) 355, for the coarse space; Tang, Nabben, Vuik, Erlangga, J. Sci.
/// Comput. 39 (2009) 340, for the forms.
///
/// # Limitations
/// Without rest coordinates the coarse space holds translations only and helps less. If the coarse matrix is not positive
/// definite (then A is not either) the coarse part is left out until the next refill.
#[derive(Debug)]
pub struct TwoLevel {
    inner: TeamCg,
    shift: f64,
}

impl TwoLevel {
    /// For matrices on `pattern`, with three rest coordinates per block row.
    ///
    /// # Errors
    /// A failure of the symbolic coarse factorisation.
    ///
    /// # Panics
    /// If `rest` has not three entries per block row.
    pub fn new(
        pattern: &BlockPattern,
        rest: Option<&[f64]>,
        options: &PreconditionerOptions,
    ) -> Result<Self, PreconditionerError> {
        let inner = TeamCg::on_pattern(pattern, Some(options.fill_level), 1);
        let inner = inner.with_patches(pattern, rest, options.patch_size, Combination::Additive)?;
        Ok(Self { inner, shift: 0.0 })
    }

    /// Number of coarse unknowns.
    pub fn coarse_dim(&self) -> usize {
        self.inner.coarse_dim()
    }
}

impl Preconditioner for TwoLevel {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        self.inner.apply_preconditioner(r, z);
    }

    fn shift(&self) -> f64 {
        self.shift
    }

    fn name(&self) -> &'static str {
        "two_level"
    }
}

impl MatrixPreconditioner for TwoLevel {
    fn refill(&mut self, matrix: &BlockSymmetric) -> Result<(), PreconditionerError> {
        check_matrix(matrix, self.inner.matrix.pattern().upper_len())?;
        self.shift = self.inner.refill(matrix, 0.0)?.shift;
        Ok(())
    }
}
