//! Preconditioned conjugate gradients on any operator.

mod error;

use serde::{Deserialize, Serialize};

use crate::operator::{LinearOperator, Preconditioner};
use crate::options::OptionsError;
use crate::reduce;

pub use error::{CgError, NonFiniteSource};

/// Step lengths that differ by more than this factor mean a direction without stiffness: the ratio of extreme step
/// lengths bounds the condition number of the preconditioned operator from below, and beyond 1/ε no digit is left.
pub(crate) const SINGULAR_RATIO: f64 = 1e15;
/// How often the recurrence residual may be found wrong before the solve counts as stagnated.
pub(crate) const MAX_RESTARTS: usize = 4;

/// When conjugate gradients stop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CgOptions {
    /// Stop when ‖b − A x‖ ≤ `relative_tolerance` · ‖b‖, in (0, 1). Independent of the user's units.
    pub relative_tolerance: f64,
    /// Iteration cap, at least 1. Reaching it is an error, never a result.
    pub max_iterations: usize,
    /// Keep the relative residual of every iteration in the report.
    pub record_history: bool,
}

impl Default for CgOptions {
    fn default() -> Self {
        Self { relative_tolerance: 1e-6, max_iterations: 10_000, record_history: false }
    }
}

impl CgOptions {
    /// Checks the ranges.
    ///
    /// # Errors
    /// The first field outside its range.
    pub fn validate(&self) -> Result<(), OptionsError> {
        if !(self.relative_tolerance > 0.0 && self.relative_tolerance < 1.0) {
            return Err(OptionsError::new(
                "relative_tolerance",
                self.relative_tolerance,
                "between 0 and 1, exclusive",
            ));
        }
        if self.max_iterations == 0 {
            return Err(OptionsError::new("max_iterations", 0, "at least 1"));
        }
        Ok(())
    }
}

/// What a converged solve reports.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CgReport {
    /// Iterations, each with one product and one preconditioner application.
    pub iterations: usize,
    /// ‖b − A x‖ / ‖b‖, computed from the final x.
    pub relative_residual: f64,
    /// Times the recurrence claimed convergence that the true residual did not confirm.
    pub restarts: usize,
    /// Whether the initial guess was used. A guess with a residual above that of x = 0 is discarded.
    pub warm_start: bool,
    /// Name of the preconditioner.
    pub preconditioner: &'static str,
    /// Relative diagonal shift inside the preconditioner, 0 if none.
    pub shift: f64,
    /// Relative recurrence residual before the first and after every iteration, if asked for.
    pub history: Vec<f64>,
}

/// The four vectors of a solve, reused between solves.
#[derive(Debug, Clone, Default)]
pub struct CgWorkspace {
    r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
}

impl CgWorkspace {
    fn resize(&mut self, n: usize) {
        for v in [&mut self.r, &mut self.z, &mut self.p, &mut self.q] {
            v.resize(n, 0.0);
        }
    }
}

/// Solves A x = b for a symmetric positive definite A; `x` holds the initial guess and receives the solution.
///
/// The tolerance is met by the true residual: when the recurrence claims convergence the residual is computed from x, and
/// the iteration restarts there if the claim was wrong. On failure `x` holds the last iterate.
///
/// Source: Hestenes, Stiefel, J. Res. Natl. Bur. Stand. 49 (1952) 409.
///
/// # Limitations
/// Rounding limits the reachable relative residual to about ε ‖A‖ ‖x‖ / ‖b‖; asking for less ends in
/// [`CgError::Stagnated`]. A singular system is solved if b lies in the range of A, and an error otherwise.
///
/// # Errors
/// See [`CgError`]; each variant carries the iteration and the relative residual of the failure. A zero right-hand side is
/// [`CgError::ZeroRightHandSide`] (with x set to its solution, zero) because no relative residual exists.
///
/// # Panics
/// If a slice has not `operator.dim()` entries, or if the options are out of range.
pub fn conjugate_gradients<A, M>(
    operator: &A,
    preconditioner: &M,
    rhs: &[f64],
    x: &mut [f64],
    options: &CgOptions,
    workspace: &mut CgWorkspace,
) -> Result<CgReport, CgError>
where
    A: LinearOperator + ?Sized,
    M: Preconditioner + ?Sized,
{
    let n = operator.dim();
    assert_eq!(rhs.len(), n, "a right-hand side of {} entries for {n} unknowns", rhs.len());
    assert_eq!(x.len(), n, "x has {} entries for {n} unknowns", x.len());
    options.validate().unwrap_or_else(|e| panic!("{e}"));
    workspace.resize(n);
    let CgWorkspace { r, z, p, q } = workspace;

    let rhs_norm = reduce::norm(rhs);
    check_inputs(rhs, rhs_norm, x)?;
    let mut report = CgReport {
        iterations: 0,
        relative_residual: 1.0,
        restarts: 0,
        warm_start: true,
        preconditioner: preconditioner.name(),
        shift: preconditioner.shift(),
        history: Vec::new(),
    };
    let mut norm_r = true_residual(operator, rhs, x, r);
    if !norm_r.is_finite() {
        return Err(CgError::NotFinite {
            source_of: NonFiniteSource::Operator,
            iteration: 0,
            relative_residual: 1.0,
        });
    }
    if norm_r >= rhs_norm {
        report.warm_start = false;
        x.fill(0.0);
        r.copy_from_slice(rhs);
        norm_r = rhs_norm;
    }
    let tolerance = options.relative_tolerance;
    let mut relative = norm_r / rhs_norm;
    let mut shortest_step = f64::INFINITY;
    if options.record_history {
        report.history.push(relative);
    }
    if relative <= tolerance {
        report.relative_residual = relative;
        return Ok(report);
    }
    // Residual at the last restart: restarting without progress is stagnation.
    let mut restart_relative = f64::INFINITY;

    'restart: loop {
        let mut rz = preconditioner.apply_dot(r, z);
        check_preconditioned(rz, report.iterations, relative)?;
        p.copy_from_slice(z);
        loop {
            if report.iterations == options.max_iterations {
                let relative_residual = true_residual(operator, rhs, x, r) / rhs_norm;
                let iteration = report.iterations;
                return Err(CgError::NotConverged { iteration, relative_residual, tolerance });
            }
            let curvature = operator.apply_dot(p, q);
            let flat = Flatness { curvature, rz, shortest_step, scale: || reduce::norm(p) * reduce::norm(q) };
            if let Some(kind) = flat.judge() {
                let relative_residual = true_residual(operator, rhs, x, r) / rhs_norm;
                return Err(kind.into_error(report.iterations, relative_residual, curvature));
            }
            let step = rz / curvature;
            shortest_step = shortest_step.min(step);
            let rr = reduce::step_and_dot(step, p, q, x, r);
            report.iterations += 1;
            let new_relative = rr.sqrt() / rhs_norm;
            if !new_relative.is_finite() {
                return Err(FlatDirection::NotFinite.into_error(report.iterations, relative, curvature));
            }
            relative = new_relative;
            if options.record_history {
                report.history.push(relative);
            }
            if relative <= tolerance {
                let recurrence = relative;
                relative = true_residual(operator, rhs, x, r) / rhs_norm;
                report.relative_residual = relative;
                if relative <= tolerance {
                    return Ok(report);
                }
                report.restarts += 1;
                if report.restarts > MAX_RESTARTS || relative > 0.5 * restart_relative {
                    let (iteration, relative_residual) = (report.iterations, relative);
                    let recurrence_residual = recurrence;
                    return Err(CgError::Stagnated {
                        iteration,
                        relative_residual,
                        recurrence_residual,
                        tolerance,
                    });
                }
                restart_relative = relative;
                continue 'restart;
            }
            let new_rz = preconditioner.apply_dot(r, z);
            check_preconditioned(new_rz, report.iterations, relative)?;
            let beta = new_rz / rz;
            rz = new_rz;
            for (p, z) in p.iter_mut().zip(z.iter()) {
                *p = z + beta * *p;
            }
        }
    }
}

/// Rejects what no iteration can work on.
pub(crate) fn check_inputs(rhs: &[f64], rhs_norm: f64, x: &mut [f64]) -> Result<(), CgError> {
    let fail = |source_of| Err(CgError::NotFinite { source_of, iteration: 0, relative_residual: 1.0 });
    if !rhs_norm.is_finite() {
        let index = rhs.iter().position(|v| !v.is_finite()).unwrap_or(0);
        return fail(NonFiniteSource::RightHandSide { index });
    }
    if let Some(index) = x.iter().position(|v| !v.is_finite()) {
        return fail(NonFiniteSource::InitialGuess { index });
    }
    if rhs_norm == 0.0 {
        x.fill(0.0);
        return Err(CgError::ZeroRightHandSide { iteration: 0, residual: 0.0 });
    }
    Ok(())
}

/// r = b − A x; returns its norm.
fn true_residual<A: LinearOperator + ?Sized>(operator: &A, rhs: &[f64], x: &[f64], r: &mut [f64]) -> f64 {
    if x.iter().all(|&v| v == 0.0) {
        r.copy_from_slice(rhs);
        return reduce::norm(r);
    }
    operator.apply(x, r);
    for (r, b) in r.iter_mut().zip(rhs) {
        *r = b - *r;
    }
    reduce::norm(r)
}

pub(crate) fn check_preconditioned(rz: f64, iteration: usize, relative_residual: f64) -> Result<(), CgError> {
    if !rz.is_finite() {
        let source_of = NonFiniteSource::Preconditioner;
        return Err(CgError::NotFinite { source_of, iteration, relative_residual });
    }
    if rz <= 0.0 {
        return Err(CgError::IndefinitePreconditioner { iteration, relative_residual, product: rz });
    }
    Ok(())
}

/// What a direction without usable curvature says about the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlatDirection {
    Indefinite,
    Singular,
    NotFinite,
}

impl FlatDirection {
    pub(crate) fn into_error(self, iteration: usize, relative_residual: f64, curvature: f64) -> CgError {
        match self {
            Self::Indefinite => CgError::IndefiniteOperator { iteration, relative_residual, curvature },
            Self::Singular => CgError::Singular { iteration, relative_residual, curvature },
            Self::NotFinite => {
                let source_of = NonFiniteSource::Operator;
                CgError::NotFinite { source_of, iteration, relative_residual }
            }
        }
    }
}

/// The judgement on p · A p.
pub(crate) struct Flatness<F: FnOnce() -> f64> {
    pub(crate) curvature: f64,
    pub(crate) rz: f64,
    pub(crate) shortest_step: f64,
    /// ‖p‖ ‖A p‖, needed only when the curvature is suspicious.
    pub(crate) scale: F,
}

impl<F: FnOnce() -> f64> Flatness<F> {
    pub(crate) fn judge(self) -> Option<FlatDirection> {
        let Self { curvature, rz, shortest_step, scale } = self;
        if !curvature.is_finite() {
            return Some(FlatDirection::NotFinite);
        }
        let step = rz / curvature.abs();
        let flat = step > SINGULAR_RATIO * shortest_step;
        if curvature > 0.0 {
            return (flat || !step.is_finite()).then_some(FlatDirection::Singular);
        }
        let rounding = 16.0 * f64::EPSILON * scale();
        Some(if flat || curvature >= -rounding { FlatDirection::Singular } else { FlatDirection::Indefinite })
    }
}
