//! Sparse symmetric linear algebra with 3×3 blocks: matrices whose pattern is built once and refilled every step,
//! conjugate gradients, incomplete factorisations, coarse spaces, and direct solvers.
//!
//! The crate knows no particle, no force and no time: a block row is just an unknown 3-vector.
//!
//! | to | use |
//! |---|---|
//! | turn a stream of block contributions into a matrix, then refill it without search | [`BlockRecorder`], [`BlockAssembler`] |
//! | hold a symmetric matrix | [`BlockPattern`], [`BlockSymmetric`] |
//! | iterate on any operator | [`LinearOperator`], [`Preconditioner`], [`conjugate_gradients`], [`PreconditionerKind`] |
//! | exchange matrices and operators with faer | [`FaerOperator`], [`AsFaerOperator`], [`BlockSymmetric::to_faer_lower`] |
//! | solve the systems of implicit steps without choosing | [`LinearSolver`], [`SolverOptions`] |
//! | factor chains, closed loops, trees, anything | [`BlockTridiagonal`], [`BlockPentadiagonal`], [`ClosedLoop`], [`BlockTree`], [`SparseCholesky`] |
//!
//! Every reduction sums fixed chunks in a fixed order, so results have the same bits for any number of threads.

// Kernels reach the processor at hand by being inlined into the dispatching function; formulas in comments have indices; and
// loops over the three or four components of small arrays read best with the component as index.
#![allow(clippy::inline_always, clippy::doc_markdown, clippy::needless_range_loop)]

mod assembler;
mod block3;
mod block_factor;
mod cg;
mod chunked_matrix;
mod coarse_space;
mod direct;
mod faer_bridge;
mod lanes;
mod matrix;
mod operator;
mod options;
mod ordering;
mod partition;
mod pattern;
mod preconditioners;
mod reduce;
mod solver;
mod team_cg;
mod team_kernel;
#[doc(hidden)]
pub mod workload;

pub use assembler::{AssemblyError, BlockAssembler, BlockRecorder, BlockRefill};
pub use cg::{CgError, CgOptions, CgReport, CgWorkspace, NonFiniteSource, conjugate_gradients};
pub use direct::{
    BlockBanded, BlockPentadiagonal, BlockTree, BlockTridiagonal, ClosedLoop, DirectSolver, FactorError,
    SparseCholesky,
};
pub use faer_bridge::{AsFaerOperator, AsFaerPreconditioner, FaerOperator};
pub use matrix::{BlockSymmetric, MatrixError};
pub use operator::{LinearOperator, Preconditioner};
pub use options::OptionsError;
pub use pattern::{BlockPattern, PatternError};
pub use preconditioners::{
    BlockIncompleteCholesky, BlockJacobi, IdentityPreconditioner, IncompleteCholesky, Jacobi,
    MatrixPreconditioner, PreconditionerError, PreconditionerKind, PreconditionerOptions,
    ThresholdIncompleteCholesky, TwoLevel,
};

pub use solver::{FactorReport, LinearSolver, SolveReport, SolverChoice, SolverError, SolverOptions};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
