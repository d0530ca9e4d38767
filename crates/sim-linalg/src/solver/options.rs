//! The options of the solver.

use serde::{Deserialize, Serialize};

use crate::options::OptionsError;
use crate::preconditioners::PreconditionerOptions;

/// How to solve, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SolverChoice {
    /// By structure, size and stiffness.
    #[default]
    Auto,
    /// Sparse Cholesky.
    Direct,
    /// Block L D Lᵀ of a chain.
    BlockTridiagonal,
    /// Block L D Lᵀ of a chain with skip-one couplings.
    BlockPentadiagonal,
    /// A closed chain, with or without skip-one couplings, numbered around the loop.
    ClosedLoop,
    /// Block L D Lᵀ of a tree.
    Tree,
    /// Conjugate gradients with block incomplete Cholesky and a deflated coarse space.
    TwoLevel,
    /// The same with the coarse space added.
    TwoLevelAdditive,
    /// Conjugate gradients with block incomplete Cholesky.
    BlockIncompleteCholesky,
    /// Conjugate gradients with scalar incomplete Cholesky.
    IncompleteCholesky,
    /// Conjugate gradients with scalar incomplete Cholesky with drop tolerance.
    ThresholdIncompleteCholesky,
    /// Conjugate gradients with the inverse diagonal blocks.
    BlockJacobi,
    /// Conjugate gradients with the inverse diagonal.
    Jacobi,
    /// Plain conjugate gradients.
    Identity,
}

impl SolverChoice {
    /// Every choice.
    pub const ALL: &'static [Self] = &[
        Self::Auto,
        Self::Direct,
        Self::BlockTridiagonal,
        Self::BlockPentadiagonal,
        Self::ClosedLoop,
        Self::Tree,
        Self::TwoLevel,
        Self::TwoLevelAdditive,
        Self::BlockIncompleteCholesky,
        Self::IncompleteCholesky,
        Self::ThresholdIncompleteCholesky,
        Self::BlockJacobi,
        Self::Jacobi,
        Self::Identity,
    ];
}

/// The options of [`crate::LinearSolver`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SolverOptions {
    /// How to solve.
    pub choice: SolverChoice,
    /// Threads of the block methods, 1 to 64; the bits of the result do not depend on it.
    pub threads: usize,
    /// Iteration cap, at least 1; reaching it is a failure.
    pub max_iterations: usize,
    /// Whether a failed iteration is repeated by sparse Cholesky; the report says so.
    pub fallback_to_direct: bool,
    /// Keep the residual of every iteration.
    pub record_history: bool,
    /// The shape of preconditioners.
    pub preconditioner: PreconditionerOptions,
}

impl Default for SolverOptions {
    fn default() -> Self {
        Self {
            choice: SolverChoice::Auto,
            threads: 1,
            max_iterations: 5000,
            fallback_to_direct: true,
            record_history: false,
            preconditioner: PreconditionerOptions::default(),
        }
    }
}

impl SolverOptions {
    /// Checks the ranges.
    ///
    /// # Errors
    /// The first field outside its range.
    pub fn validate(&self) -> Result<(), OptionsError> {
        if !(1..=64).contains(&self.threads) {
            return Err(OptionsError::new("threads", self.threads, "between 1 and 64"));
        }
        if self.max_iterations == 0 {
            return Err(OptionsError::new("max_iterations", 0, "at least 1"));
        }
        self.preconditioner.validate()
    }
}
