//! Direct solvers: sparse Cholesky for anything, and linear-time factorisations for chains, closed loops and trees.

mod block_banded;
mod block_tree;
mod closed_loop;
mod ldl3;
mod sparse_cholesky;

pub use block_banded::{BlockBanded, BlockPentadiagonal, BlockTridiagonal};
pub use block_tree::BlockTree;
pub use closed_loop::ClosedLoop;
pub use sparse_cholesky::SparseCholesky;

use crate::matrix::BlockSymmetric;

/// A factorisation that is analysed once, refactored per matrix, and solves any number of right-hand sides.
pub trait DirectSolver: Send {
    /// The word for it in options and reports.
    fn name(&self) -> &'static str;

    /// Factors a matrix on the pattern that the solver was made for.
    ///
    /// # Errors
    /// A pivot that is not positive or a value that is not finite, with its block row; the factor is then unusable.
    fn factor(&mut self, matrix: &BlockSymmetric) -> Result<(), FactorError>;

    /// Replaces the right-hand side in `x` by the solution.
    ///
    /// # Panics
    /// If `x` has the wrong length.
    fn solve_in_place(&mut self, x: &mut [f64]);
}

/// Why a factorisation failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FactorError {
    /// A pivot is not positive: the matrix is indefinite or singular.
    #[error(
        "the matrix is not positive definite: pivot {component} of block row {block_row} is not positive"
    )]
    NotPositiveDefinite {
        /// Block row of the pivot.
        block_row: usize,
        /// Component 0, 1 or 2 of the pivot.
        component: usize,
    },
    /// NaN or infinity in the matrix.
    #[error("block row {block_row} of the matrix holds a value that is not finite")]
    NotFinite {
        /// First such row.
        block_row: usize,
    },
    /// The symbolic analysis or its memory failed.
    #[error("the symbolic factorisation of {dim} unknowns failed: {reason}")]
    Symbolic {
        /// Scalar unknowns.
        dim: usize,
        /// What the factorisation said.
        reason: String,
    },
    /// The pattern does not have the structure that the solver is made for.
    #[error("the pattern is not {expected}: block ({row}, {col}) does not belong")]
    Structure {
        /// The structure.
        expected: &'static str,
        /// Row of the offending block.
        row: usize,
        /// Column of the offending block.
        col: usize,
    },
}
