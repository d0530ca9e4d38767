//! One solver for the systems of implicit steps: chooses a method by structure, size and stiffness, and reuses everything.

mod options;
mod policy;

use std::sync::Arc;

use crate::cg::{CgError, CgOptions, CgReport, CgWorkspace, conjugate_gradients};
use crate::direct::{DirectSolver, FactorError, SparseCholesky};
use crate::matrix::BlockSymmetric;
use crate::operator::LinearOperator;
use crate::options::OptionsError;
use crate::pattern::BlockPattern;
use crate::preconditioners::{MatrixPreconditioner, PreconditionerError};
use crate::reduce;
use crate::team_cg::{Target, TeamCg};

pub use options::{SolverChoice, SolverOptions};

/// A direct solution whose relative residual exceeds this after refinement is no solution: the matrix is singular in
/// doubles.
const DIRECT_LIMIT: f64 = 1e-6;
/// Iterative refinement of direct solutions stops after this many rounds.
const MAX_REFINEMENTS: usize = 2;

/// Why a linear system could not be solved.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolverError {
    /// A call out of order.
    #[error("`{missing}` must be called before `{called}`")]
    OutOfOrder {
        /// The call that is missing.
        missing: &'static str,
        /// The call that was made.
        called: &'static str,
    },
    /// The matrix has another pattern than was prepared.
    #[error(
        "a matrix of {rows} block rows and {upper} upper blocks where {expected_rows} and {expected_upper} were prepared"
    )]
    PatternChanged {
        /// Block rows of the matrix.
        rows: usize,
        /// Upper blocks of the matrix.
        upper: usize,
        /// Block rows prepared.
        expected_rows: usize,
        /// Upper blocks prepared.
        expected_upper: usize,
    },
    /// A direct factorisation failed.
    #[error(transparent)]
    Factor(#[from] FactorError),
    /// A preconditioner could not be made.
    #[error(transparent)]
    Preconditioner(#[from] PreconditionerError),
    /// The iteration failed, and no fallback was allowed or possible.
    #[error(transparent)]
    Iteration(#[from] CgError),
    /// A direct solution does not satisfy the system: the matrix is singular in doubles.
    #[error(
        "the direct solution has relative residual {relative_residual:e}: the matrix is singular to rounding"
    )]
    Inaccurate {
        /// ‖b − A x‖ / ‖b‖ after refinement.
        relative_residual: f64,
    },
    /// The right-hand side holds NaN or infinity.
    #[error("entry {index} of the right-hand side is not finite")]
    RightHandSide {
        /// First such entry.
        index: usize,
    },
    /// An option out of range.
    #[error(transparent)]
    Options(#[from] OptionsError),
}

/// What a factorisation reports.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FactorReport {
    /// The method in use.
    pub method: &'static str,
    /// Relative diagonal shift inside the preconditioner, 0 if none.
    pub shift: f64,
}

/// What a solve reports.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SolveReport {
    /// The method that produced the solution.
    pub method: &'static str,
    /// Why this method: the reason of the automatic choice, or that it was asked for.
    pub reason: &'static str,
    /// Iterations of conjugate gradients; for direct methods, rounds of iterative refinement.
    pub iterations: usize,
    /// ‖b − A x‖ / ‖b‖, computed from the final x; 0 for b = 0.
    pub relative_residual: f64,
    /// Whether rounding kept a direct solution above the tolerance asked for.
    pub limited_by_rounding: bool,
    /// Relative diagonal shift inside the preconditioner, 0 if none.
    pub shift: f64,
    /// The failure of the iteration that made the solver fall back to a direct factorisation.
    pub fallback: Option<CgError>,
    /// Relative recurrence residual per iteration, if asked for.
    pub history: Vec<f64>,
}

/// The method in use, with its memory.
enum Method {
    Direct(Box<dyn DirectSolver>),
    Team(Box<TeamCg>),
    Generic { preconditioner: Box<dyn MatrixPreconditioner>, workspace: CgWorkspace },
}

/// Solves A x = b for a sequence of matrices on one pattern.
///
/// [`LinearSolver::prepare`] once per pattern, [`LinearSolver::factor`] per matrix, [`LinearSolver::solve`] per right-hand
/// side. After the first solve no array of the size of the system is allocated, unless a solve falls back to the direct
/// factorisation or the method is threshold incomplete Cholesky.
///
/// # Limitations
/// Symmetric positive definite matrices. An indefinite matrix is an error, never a wrong solution.
pub struct LinearSolver {
    options: SolverOptions,
    pattern: Option<Arc<BlockPattern>>,
    method: Option<Method>,
    reason: &'static str,
    /// Built when an iteration first fails.
    fallback: Option<SparseCholesky>,
    factored: bool,
    fallback_factored: bool,
    shift: f64,
    scratch: Vec<f64>,
}

impl std::fmt::Debug for LinearSolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LinearSolver")
            .field("options", &self.options)
            .field("method", &self.method_name())
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

impl LinearSolver {
    /// Takes the options.
    ///
    /// # Errors
    /// An option out of range.
    pub fn new(options: SolverOptions) -> Result<Self, OptionsError> {
        options.validate()?;
        Ok(Self {
            options,
            pattern: None,
            method: None,
            reason: "",
            fallback: None,
            factored: false,
            fallback_factored: false,
            shift: 0.0,
            scratch: Vec::new(),
        })
    }

    /// The options.
    pub fn options(&self) -> &SolverOptions {
        &self.options
    }

    /// Whether [`LinearSolver::prepare`] has seen exactly this pattern.
    pub fn is_prepared_for(&self, pattern: &Arc<BlockPattern>) -> bool {
        self.method.is_some()
            && self.pattern.as_ref().is_some_and(|p| Arc::ptr_eq(p, pattern) || p == pattern)
    }

    /// The word for the method in use, and why it was chosen; empty before [`LinearSolver::prepare`].
    pub fn method(&self) -> (&'static str, &'static str) {
        (self.method_name(), self.reason)
    }

    fn method_name(&self) -> &'static str {
        match &self.method {
            None => "",
            Some(Method::Direct(direct)) => direct.name(),
            Some(Method::Team(team)) => team.name(),
            Some(Method::Generic { preconditioner, .. }) => preconditioner.name(),
        }
    }

    /// Chooses the method for a pattern and does all symbolic work. `rest` are three rest coordinates per block row; the
    /// coarse space of the two-level method is much weaker without.
    ///
    /// # Errors
    /// A pattern that the method asked for cannot treat, or a symbolic failure.
    ///
    /// # Panics
    /// If `rest` has not three entries per block row.
    pub fn prepare(&mut self, pattern: &Arc<BlockPattern>, rest: Option<&[f64]>) -> Result<(), SolverError> {
        if let Some(rest) = rest {
            assert_eq!(
                rest.len(),
                pattern.dim(),
                "{} rest coordinates for {} unknowns",
                rest.len(),
                pattern.dim()
            );
        }
        (self.factored, self.fallback_factored, self.fallback) = (false, false, None);
        let (method, reason) = policy::choose(&self.options, pattern, rest)?;
        self.method = Some(method);
        self.reason = reason;
        self.pattern = Some(pattern.clone());
        Ok(())
    }

    /// Takes over a new matrix on the prepared pattern.
    ///
    /// # Errors
    /// A matrix that is not finite or not positive definite, as far as the factorisation sees it.
    pub fn factor(&mut self, matrix: &BlockSymmetric) -> Result<FactorReport, SolverError> {
        self.check_pattern(matrix, "factor")?;
        (self.factored, self.fallback_factored) = (false, false);
        self.shift = match self.method.as_mut() {
            None => return Err(SolverError::OutOfOrder { missing: "prepare", called: "factor" }),
            Some(Method::Direct(direct)) => {
                direct.factor(matrix)?;
                0.0
            }
            Some(Method::Team(team)) => {
                let soft_limit = if self.options.choice == SolverChoice::Auto { policy::SOFT } else { 0.0 };
                let report = team.refill(matrix, soft_limit)?;
                if self.options.choice == SolverChoice::Auto {
                    self.reason = policy::reason_for_large(report.coarse_usable);
                }
                report.shift
            }
            Some(Method::Generic { preconditioner, .. }) => {
                preconditioner.refill(matrix)?;
                preconditioner.shift()
            }
        };
        self.factored = true;
        Ok(FactorReport { method: self.method_name(), shift: self.shift })
    }

    /// Solves with the matrix last given to [`LinearSolver::factor`], which must be given again: the residual of the
    /// solution is computed from it. `x` holds a guess for iterative methods and receives the solution; on failure it
    /// holds the last iterate.
    ///
    /// A zero right-hand side has the solution zero and is no error here.
    ///
    /// # Errors
    /// See [`SolverError`]; a solution that misses `relative_tolerance` is never returned as one, except a direct one
    /// that rounding keeps above it, which the report says.
    ///
    /// # Panics
    /// If a slice has the wrong length or the tolerance is not between 0 and 1.
    pub fn solve(
        &mut self,
        matrix: &BlockSymmetric,
        rhs: &[f64],
        x: &mut [f64],
        relative_tolerance: f64,
    ) -> Result<SolveReport, SolverError> {
        self.check_pattern(matrix, "solve")?;
        if !self.factored {
            return Err(SolverError::OutOfOrder { missing: "factor", called: "solve" });
        }
        let n = matrix.dim();
        assert_eq!(rhs.len(), n, "a right-hand side of {} entries for {n} unknowns", rhs.len());
        assert_eq!(x.len(), n, "x has {} entries for {n} unknowns", x.len());
        let options = CgOptions {
            relative_tolerance,
            max_iterations: self.options.max_iterations,
            record_history: self.options.record_history,
        };
        options.validate().unwrap_or_else(|e| panic!("{e}"));
        let mut report = SolveReport {
            method: self.method_name(),
            reason: self.reason,
            iterations: 0,
            relative_residual: 0.0,
            limited_by_rounding: false,
            shift: self.shift,
            fallback: None,
            history: Vec::new(),
        };
        let norm = reduce::norm(rhs);
        if !norm.is_finite() {
            let index = rhs.iter().position(|v| !v.is_finite()).unwrap_or(0);
            return Err(SolverError::RightHandSide { index });
        }
        if norm == 0.0 {
            x.fill(0.0);
            return Ok(report);
        }
        let iterated = match self.method.as_mut() {
            None => return Err(SolverError::OutOfOrder { missing: "prepare", called: "solve" }),
            Some(Method::Direct(direct)) => {
                solve_directly(
                    direct.as_mut(),
                    matrix,
                    rhs,
                    x,
                    relative_tolerance,
                    &mut self.scratch,
                    &mut report,
                )?;
                return Ok(report);
            }
            Some(Method::Team(team)) => {
                let replaceable = self.options.choice == SolverChoice::Auto
                    && self.options.fallback_to_direct
                    && n <= policy::LARGEST_DIRECT;
                let target = Target {
                    tolerance: relative_tolerance,
                    max_iterations: options.max_iterations,
                    record_history: options.record_history,
                    worth: replaceable.then(|| policy::worth(matrix.block_rows())),
                };
                team.solve(rhs, x, target)
            }
            Some(Method::Generic { preconditioner, workspace }) => {
                conjugate_gradients(matrix, preconditioner.as_ref(), rhs, x, &options, workspace)
            }
        };
        match iterated {
            Ok(cg) => {
                let CgReport { iterations, relative_residual, history, .. } = cg;
                Ok(SolveReport { iterations, relative_residual, history, ..report })
            }
            Err(error) if self.falls_back(&error, n) => {
                report.reason = match error {
                    CgError::TooSlow { .. } => "iterating would have taken longer",
                    _ => "the iteration failed",
                };
                self.solve_by_fallback(matrix, rhs, x, relative_tolerance, &mut report)?;
                Ok(SolveReport { fallback: Some(error), ..report })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A direct factorisation cures slow or inaccurate iterations, not a matrix that is no positive definite one.
    fn falls_back(&self, error: &CgError, dim: usize) -> bool {
        let curable = matches!(
            error,
            CgError::NotConverged { .. }
                | CgError::TooSlow { .. }
                | CgError::Stagnated { .. }
                | CgError::IndefinitePreconditioner { .. }
        );
        curable && self.options.fallback_to_direct && dim <= policy::LARGEST_DIRECT
    }

    fn solve_by_fallback(
        &mut self,
        matrix: &BlockSymmetric,
        rhs: &[f64],
        x: &mut [f64],
        tolerance: f64,
        report: &mut SolveReport,
    ) -> Result<(), SolverError> {
        let mut direct = match self.fallback.take() {
            Some(direct) => direct,
            None => SparseCholesky::new(matrix.pattern())?,
        };
        if !self.fallback_factored {
            direct.factor(matrix)?;
            self.fallback_factored = true;
        }
        report.method = direct.name();
        let solved = solve_directly(&mut direct, matrix, rhs, x, tolerance, &mut self.scratch, report);
        self.fallback = Some(direct);
        solved
    }

    fn check_pattern(&self, matrix: &BlockSymmetric, called: &'static str) -> Result<(), SolverError> {
        let Some(pattern) = &self.pattern else {
            return Err(SolverError::OutOfOrder { missing: "prepare", called });
        };
        let (rows, upper) = (matrix.block_rows(), matrix.upper().len());
        if (rows, upper) != (pattern.block_rows(), pattern.upper_len()) {
            let (expected_rows, expected_upper) = (pattern.block_rows(), pattern.upper_len());
            return Err(SolverError::PatternChanged { rows, upper, expected_rows, expected_upper });
        }
        Ok(())
    }
}

/// Solves, checks the residual, and refines while that helps.
fn solve_directly(
    direct: &mut dyn DirectSolver,
    matrix: &BlockSymmetric,
    rhs: &[f64],
    x: &mut [f64],
    tolerance: f64,
    scratch: &mut Vec<f64>,
    report: &mut SolveReport,
) -> Result<(), SolverError> {
    let norm = reduce::norm(rhs);
    scratch.resize(rhs.len(), 0.0);
    x.copy_from_slice(rhs);
    direct.solve_in_place(x);
    let residual = |x: &[f64], r: &mut [f64]| {
        matrix.apply(x, r);
        r.iter_mut().zip(rhs).for_each(|(r, b)| *r = b - *r);
        reduce::norm(r) / norm
    };
    let mut relative = residual(x, scratch);
    while relative > tolerance && report.iterations < MAX_REFINEMENTS {
        direct.solve_in_place(scratch);
        x.iter_mut().zip(scratch.iter()).for_each(|(x, c)| *x += c);
        report.iterations += 1;
        let refined = residual(x, scratch);
        if refined >= relative {
            relative = refined;
            break;
        }
        relative = refined;
    }
    report.relative_residual = relative;
    report.limited_by_rounding = relative > tolerance;
    // Written so that NaN is rejected too.
    if relative <= tolerance.max(DIRECT_LIMIT) {
        Ok(())
    } else {
        Err(SolverError::Inaccurate { relative_residual: relative })
    }
}
