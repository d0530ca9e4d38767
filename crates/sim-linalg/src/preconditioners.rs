//! Approximate inverses of block matrices, refilled in place when the matrix changes.

mod block_incomplete_cholesky;
mod block_jacobi;
mod identity;
mod incomplete_cholesky;
mod jacobi;
mod threshold_incomplete_cholesky;
mod two_level;

pub use block_incomplete_cholesky::BlockIncompleteCholesky;
pub use block_jacobi::BlockJacobi;
pub use identity::IdentityPreconditioner;
pub use incomplete_cholesky::IncompleteCholesky;
pub use jacobi::Jacobi;
pub use threshold_incomplete_cholesky::ThresholdIncompleteCholesky;
pub use two_level::TwoLevel;

use serde::{Deserialize, Serialize};

use crate::direct::FactorError;
use crate::matrix::BlockSymmetric;
use crate::operator::Preconditioner;
use crate::options::OptionsError;
use crate::pattern::BlockPattern;

/// The preconditioners, by the word that options and reports use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PreconditionerKind {
    /// None.
    Identity,
    /// The inverse diagonal.
    Jacobi,
    /// The inverse diagonal blocks.
    BlockJacobi,
    /// Scalar incomplete Cholesky without fill.
    IncompleteCholesky,
    /// Incomplete Cholesky on 3×3 blocks, without fill or with fill by level.
    BlockIncompleteCholesky,
    /// Scalar incomplete Cholesky with drop tolerance and fill limit.
    ThresholdIncompleteCholesky,
    /// Block incomplete Cholesky with a coarse space of affine fields on patches.
    TwoLevel,
}

impl PreconditionerKind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Identity,
        Self::Jacobi,
        Self::BlockJacobi,
        Self::IncompleteCholesky,
        Self::BlockIncompleteCholesky,
        Self::ThresholdIncompleteCholesky,
        Self::TwoLevel,
    ];

    /// Builds the preconditioner for a pattern; values follow with [`MatrixPreconditioner::refill`].
    ///
    /// `rest` are three rest coordinates per block row; only the coarse space uses them, and has constants alone without.
    ///
    /// # Errors
    /// Options out of range, or a symbolic failure.
    ///
    /// # Panics
    /// If `rest` has not three entries per block row.
    pub fn build(
        self,
        pattern: &BlockPattern,
        rest: Option<&[f64]>,
        options: &PreconditionerOptions,
    ) -> Result<Box<dyn MatrixPreconditioner>, PreconditionerError> {
        options.validate()?;
        Ok(match self {
            Self::Identity => Box::new(IdentityPreconditioner),
            Self::Jacobi => Box::new(Jacobi::new(pattern)),
            Self::BlockJacobi => Box::new(BlockJacobi::new(pattern)),
            Self::IncompleteCholesky => Box::new(IncompleteCholesky::new(pattern)),
            Self::BlockIncompleteCholesky => {
                Box::new(BlockIncompleteCholesky::new(pattern, options.fill_level))
            }
            Self::ThresholdIncompleteCholesky => Box::new(ThresholdIncompleteCholesky::new(
                pattern,
                options.drop_tolerance,
                options.fill_limit,
            )),
            Self::TwoLevel => Box::new(TwoLevel::new(pattern, rest, options)?),
        })
    }
}

/// What shapes a preconditioner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PreconditionerOptions {
    /// Fill level of block incomplete Cholesky, 0 to 4; 0 keeps the pattern of the matrix. Level 1 costs 1.7 times the
    /// blocks of a sheet and saves a third of the iterations.
    pub fill_level: u8,
    /// Threshold incomplete Cholesky drops entries below this times the norm of their column, at least 0.
    pub drop_tolerance: f64,
    /// Threshold incomplete Cholesky keeps at most this times the entries of each matrix column, at least 1.
    pub fill_limit: f64,
    /// Nodes per patch of the coarse space, at least 4.
    pub patch_size: usize,
}

impl Default for PreconditionerOptions {
    fn default() -> Self {
        Self { fill_level: 1, drop_tolerance: 1e-3, fill_limit: 2.0, patch_size: 64 }
    }
}

impl PreconditionerOptions {
    /// Checks the ranges.
    ///
    /// # Errors
    /// The first field outside its range.
    pub fn validate(&self) -> Result<(), OptionsError> {
        if self.fill_level > 4 {
            return Err(OptionsError::new("fill_level", self.fill_level, "at most 4"));
        }
        if !(self.drop_tolerance >= 0.0 && self.drop_tolerance < 1.0) {
            return Err(OptionsError::new("drop_tolerance", self.drop_tolerance, "at least 0 and below 1"));
        }
        if !(self.fill_limit >= 1.0 && self.fill_limit.is_finite()) {
            return Err(OptionsError::new("fill_limit", self.fill_limit, "at least 1"));
        }
        if self.patch_size < 4 {
            return Err(OptionsError::new("patch_size", self.patch_size, "at least 4"));
        }
        Ok(())
    }
}

/// Why a preconditioner could not be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PreconditionerError {
    /// NaN or infinity in the matrix.
    #[error("block row {block_row} of the matrix holds a value that is not finite")]
    NotFinite {
        /// First such row.
        block_row: usize,
    },
    /// No diagonal shift up to the bound makes the factorisation work: the matrix is far from positive definite.
    #[error(
        "the incomplete factor breaks down at block row {block_row} even with {shift} of the diagonal added"
    )]
    Breakdown {
        /// Block row of the last failure.
        block_row: usize,
        /// The largest relative shift tried.
        shift: f64,
    },
    /// The matrix has another pattern than the preconditioner was made for.
    #[error("{found} upper blocks where the preconditioner was made for {expected}")]
    PatternChanged {
        /// Upper blocks of the matrix.
        found: usize,
        /// Upper blocks of the pattern.
        expected: usize,
    },
    /// A symbolic failure of the coarse space.
    #[error(transparent)]
    Coarse(#[from] FactorError),
    /// An option out of range.
    #[error(transparent)]
    Options(#[from] OptionsError),
}

/// A preconditioner that follows a matrix.
pub trait MatrixPreconditioner: Preconditioner + Send + Sync {
    /// Takes over new values on the pattern it was built for, shifting the diagonal if the factorisation needs it; see
    /// [`Preconditioner::shift`].
    ///
    /// # Errors
    /// Values that are not finite, a breakdown that no bounded shift cures, or another pattern.
    fn refill(&mut self, matrix: &BlockSymmetric) -> Result<(), PreconditionerError>;
}

/// Relative shifts of the diagonal to try after a breakdown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shifts {
    first: f64,
    growth: f64,
}

/// For diagonal entries. Measured on garments: 1e-5 leaves the factor too wild, 1e-3 too far from the matrix.
pub(crate) const ENTRY_SHIFTS: Shifts = Shifts { first: 1e-4, growth: 4.0 };
/// For whole diagonal blocks. Such a shift leaves weak directions of a block weak, whatever way they point, so that a large one
/// does less harm: garments and hanging sheets took the same iterations with 1e-4 and with 1e-2, folded sheets broke down up
/// to 1e-2, and every failed attempt costs a factorisation. From 1 on entries are shifted, which cures indefinite blocks too.
pub(crate) const BLOCK_SHIFTS: Shifts = Shifts { first: 1e-2, growth: 2.5 };
/// Beyond, the matrix is far from positive definite.
const LARGEST_SHIFT: f64 = 30.0;

/// Factors without shift, then with growing shifts, until `attempt` finds no bad pivot (its error is the block
/// row).
pub(crate) fn with_shifts(
    shifts: Shifts,
    mut attempt: impl FnMut(f64) -> Result<(), usize>,
) -> Result<f64, PreconditionerError> {
    let mut failure = (0, 0.0);
    let growing = std::iter::successors(Some(shifts.first), |shift| Some(shift * shifts.growth));
    for shift in std::iter::once(0.0).chain(growing.take_while(|&shift| shift <= LARGEST_SHIFT)) {
        match attempt(shift) {
            Ok(()) => return Ok(shift),
            Err(block_row) => failure = (block_row, shift),
        }
    }
    Err(PreconditionerError::Breakdown { block_row: failure.0, shift: failure.1 })
}

/// Rejects what no factorisation can work on.
pub(crate) fn check_matrix(matrix: &BlockSymmetric, upper_len: usize) -> Result<(), PreconditionerError> {
    if matrix.upper().len() != upper_len {
        return Err(PreconditionerError::PatternChanged { found: matrix.upper().len(), expected: upper_len });
    }
    matrix.first_non_finite().map_or(Ok(()), |block_row| Err(PreconditionerError::NotFinite { block_row }))
}
