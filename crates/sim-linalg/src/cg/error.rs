//! How conjugate gradients fail.

use std::fmt;

/// Where a number that is not finite came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NonFiniteSource {
    /// The right-hand side.
    RightHandSide {
        /// First such entry.
        index: usize,
    },
    /// The initial guess.
    InitialGuess {
        /// First such entry.
        index: usize,
    },
    /// A product with the operator.
    Operator,
    /// An application of the preconditioner.
    Preconditioner,
}

impl fmt::Display for NonFiniteSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RightHandSide { index } => write!(f, "entry {index} of the right-hand side"),
            Self::InitialGuess { index } => write!(f, "entry {index} of the initial guess"),
            Self::Operator => f.write_str("a product with the operator"),
            Self::Preconditioner => f.write_str("the preconditioner"),
        }
    }
}

/// Why conjugate gradients returned no solution.
///
/// `iteration` and `relative_residual` (‖b − A x‖ / ‖b‖) are those of the failure, not of the start.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CgError {
    /// b = 0: the solution is x = 0 (and x is set to it), but no relative residual exists.
    #[error("the right-hand side is zero: the solution is zero and a relative residual does not exist")]
    ZeroRightHandSide {
        /// Always 0.
        iteration: usize,
        /// ‖b − A x‖ of the returned x = 0.
        residual: f64,
    },
    /// NaN or infinity.
    #[error(
        "{source_of} is not finite (iteration {iteration}, relative residual before {relative_residual:e})"
    )]
    NotFinite {
        /// Where it was seen.
        source_of: NonFiniteSource,
        /// Iterations completed.
        iteration: usize,
        /// The last finite relative residual.
        relative_residual: f64,
    },
    /// At the rate seen so far the iteration would take longer than what the caller holds against it.
    #[error(
        "at its present rate the iteration needs about {remaining:.0} more iterations, and {worth} are worth their time \
         (iteration {iteration}, relative residual {relative_residual:e})"
    )]
    TooSlow {
        /// Iterations completed.
        iteration: usize,
        /// Relative residual of the recurrence.
        relative_residual: f64,
        /// Iterations that are left at the rate of the last half; infinite when nothing was gained.
        remaining: f64,
        /// Iterations that would have been worth it.
        worth: usize,
    },
    /// A direction of negative curvature: the operator is not positive definite.
    #[error(
        "the operator is indefinite: p·Ap = {curvature:e} (iteration {iteration}, relative residual {relative_residual:e})"
    )]
    IndefiniteOperator {
        /// Iterations completed.
        iteration: usize,
        /// True relative residual.
        relative_residual: f64,
        /// p · A p of the direction.
        curvature: f64,
    },
    /// r · M⁻¹ r is not positive.
    #[error(
        "the preconditioner is not positive definite: r·z = {product:e} \
         (iteration {iteration}, relative residual {relative_residual:e})"
    )]
    IndefinitePreconditioner {
        /// Iterations completed.
        iteration: usize,
        /// Relative residual.
        relative_residual: f64,
        /// r · M⁻¹ r.
        product: f64,
    },
    /// A direction without curvature is needed: the operator is singular and b is not in its range.
    #[error(
        "the operator is singular and the right-hand side is not in its range: p·Ap = {curvature:e} \
         (iteration {iteration}, relative residual {relative_residual:e})"
    )]
    Singular {
        /// Iterations completed.
        iteration: usize,
        /// True relative residual.
        relative_residual: f64,
        /// p · A p of the direction.
        curvature: f64,
    },
    /// The iteration cap was reached.
    #[error(
        "not converged after {iteration} iterations: relative residual {relative_residual:e}, tolerance {tolerance:e}"
    )]
    NotConverged {
        /// Iterations completed.
        iteration: usize,
        /// True relative residual.
        relative_residual: f64,
        /// The tolerance asked for.
        tolerance: f64,
    },
    /// Rounding keeps the true residual above the tolerance although the recurrence claims convergence.
    #[error(
        "stagnated after {iteration} iterations: true relative residual {relative_residual:e}, recurrence \
         {recurrence_residual:e}, tolerance {tolerance:e}; the tolerance is below what rounding allows"
    )]
    Stagnated {
        /// Iterations completed.
        iteration: usize,
        /// True relative residual.
        relative_residual: f64,
        /// Relative residual of the recurrence.
        recurrence_residual: f64,
        /// The tolerance asked for.
        tolerance: f64,
    },
}

impl CgError {
    /// Iterations completed at the failure.
    pub fn iteration(&self) -> usize {
        match *self {
            Self::ZeroRightHandSide { iteration, .. }
            | Self::NotFinite { iteration, .. }
            | Self::IndefiniteOperator { iteration, .. }
            | Self::IndefinitePreconditioner { iteration, .. }
            | Self::Singular { iteration, .. }
            | Self::NotConverged { iteration, .. }
            | Self::TooSlow { iteration, .. }
            | Self::Stagnated { iteration, .. } => iteration,
        }
    }

    /// Relative residual at the failure; `None` for a zero right-hand side.
    pub fn relative_residual(&self) -> Option<f64> {
        match *self {
            Self::ZeroRightHandSide { .. } => None,
            Self::NotFinite { relative_residual, .. }
            | Self::IndefiniteOperator { relative_residual, .. }
            | Self::IndefinitePreconditioner { relative_residual, .. }
            | Self::Singular { relative_residual, .. }
            | Self::NotConverged { relative_residual, .. }
            | Self::TooSlow { relative_residual, .. }
            | Self::Stagnated { relative_residual, .. } => Some(relative_residual),
        }
    }
}
