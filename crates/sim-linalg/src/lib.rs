//! Sparse symmetric linear algebra with 3×3 blocks: matrices whose pattern is built once and refilled every step,
//! conjugate gradients, incomplete factorisations, coarse spaces, and direct solvers.
//!
//! The crate knows no particle, no force and no time: a block row is just an unknown 3-vector.
//!
//! | to | use |
//! |---|---|
//! | turn a stream of block contributions into a matrix, then refill it without search | [`BlockRecorder`], [`BlockAssembler`] |
//! | hold a symmetric matrix | [`BlockPattern`], [`BlockSymmetric`] |
//! | iterate on any operator | [`LinearOperator`], [`Preconditioner`], [`conjugate_gradients`] |
//! | exchange matrices and operators with faer | [`FaerOperator`], [`AsFaerOperator`], [`BlockSymmetric::to_faer_lower`] |
//!
//! Every reduction sums fixed chunks in a fixed order, so results have the same bits for any number of threads.

mod assembler;
mod block3;
mod cg;
mod faer_bridge;
mod matrix;
mod operator;
mod pattern;
mod reduce;

pub use assembler::{AssemblyError, BlockAssembler, BlockRecorder, BlockRefill};
pub use cg::{CgError, CgOptions, CgReport, CgWorkspace, NonFiniteSource, conjugate_gradients};
pub use faer_bridge::{AsFaerOperator, AsFaerPreconditioner, FaerOperator};
pub use matrix::{BlockSymmetric, MatrixError};
pub use operator::{IdentityPreconditioner, LinearOperator, Preconditioner};
pub use pattern::{BlockPattern, PatternError};

mod options;
pub use options::OptionsError;
