//! How long a step may be: guaranteed bounds from the model's matrices, with the stencil that sets them.
//!
//! A method states what it needs as [`Condition`]s on `M`, `D`, `K`; this module finds the largest step that keeps them.
//!
//! # Limitations
//! The theory is linear. A non-linear model can gain energy by resonance below the limit: keep a margin (see
//! [`crate::Substepping`]) and watch the energy ledger. A model that is unstable by itself (a compressed chain that buckles) stays so.

use crate::steppers::StepperInfo;
use nalgebra::Complex;
use serde::Serialize;
use sim_core::{ExplicitSystem, ImplicitSystem, State};

pub(crate) mod couplings;
mod matrices;
mod modes;
mod spectral;

pub use modes::{MODES_LIMIT, Mode, Modes};

use couplings::{Couplings, CouplingsError};
use matrices::ScaledMatrices;
use spectral::NoLimit;

/// `stiffness · dt² K + damping · dt D ⪯ limit · M`, as symmetric matrices over the free particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// Factor of `dt² K`.
    pub stiffness: f64,
    /// Factor of `dt D`.
    pub damping: f64,
    /// Factor of `M`.
    pub limit: f64,
}

impl Condition {
    /// Largest dt with `stiffness dt² k + damping dt d <= limit m`, for numbers `k`, `d` not negative.
    fn largest_dt(&self, k: f64, d: f64, m: f64) -> f64 {
        let (a, b, c) = (self.stiffness * k.max(0.0), self.damping * d.max(0.0), self.limit * m);
        // Written so that nothing cancels; infinite when both coefficients vanish.
        2.0 * c / (b + (b * b + 4.0 * a * c).sqrt())
    }
}

/// What is known about the largest stable step of a method.
#[derive(Clone, Copy, Debug)]
pub enum StepLimit {
    /// Every step is stable.
    Unconditional,
    /// Stable while all conditions hold, proved for any symmetric positive semidefinite K and D.
    Certified {
        /// Conditions when D = 0; necessary too.
        undamped: &'static [Condition],
        /// Conditions when D is not zero.
        damped: &'static [Condition],
        /// Whether the conditions with damping are necessary too.
        damped_is_sharp: bool,
    },
    /// No useful condition is known: the eigenvalues of the whole model are computed and put into the method's stability
    /// function, which only small models allow.
    Spectral {
        /// R(z): the factor by which a step multiplies a solution of `y' = (z/dt) y`.
        stability_function: fn(Complex<f64>) -> Complex<f64>,
    },
}

/// For which states a bound holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Validity {
    /// For the matrices at the state given.
    ThisState,
    /// In every state the model's stencil bounds cover (springs: while none is shorter than half its rest length, or than now).
    StencilBounds,
}

/// A bound on the step and what is behind it. Times in s.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StabilityReport {
    /// Method id.
    pub method: &'static str,
    /// Steps up to this are guaranteed stable (linear theory); infinite when nothing limits the step.
    pub dt_bound: f64,
    /// For which states.
    pub validity: Validity,
    /// Bound from single stencils with the mass of each particle split among its stencils in proportion to their stiffness.
    pub dt_element: f64,
    /// Bound from block norms and non-negative power steps.
    pub dt_power: f64,
    /// Force id and index of the stencil that sets the bound.
    pub culprit: Option<(&'static str, usize)>,
    /// Particle that sets the bound.
    pub particle: Option<usize>,
    /// Whether the model is damped.
    pub damped: bool,
    /// A step that some motion makes unstable, from a Lanczos vector; the true limit lies in `dt_bound..=dt_estimate` when the
    /// method's conditions are necessary.
    pub dt_estimate: Option<f64>,
    /// The true limit of the conditions, for small models.
    pub dt_exact: Option<f64>,
}

impl StabilityReport {
    /// How much longer the step could be at most, `1 - dt_bound / dt_estimate` (0 = the bound is sharp).
    pub fn gap(&self) -> Option<f64> {
        self.dt_exact.or(self.dt_estimate).map(|dt| 1.0 - self.dt_bound / dt)
    }
}

/// No bound can be given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StabilityError {
    /// The method grows some motion of this model at every step.
    #[error(
        "{method} has no stable step on this model: it amplifies the mode with eigenvalue {re:.4e} {im:+.4e} i (1/s) at every \
         dt; add damping or choose another method (leapfrog, symplectic_euler)"
    )]
    NoStableStep {
        /// Method id.
        method: &'static str,
        /// Real part of the eigenvalue.
        re: f64,
        /// Imaginary part.
        im: f64,
    },
    /// There is no proved condition for the method and the model is too large for its eigenvalues.
    #[error(
        "no step bound is known for {method} on models of more than {limit} free particles (this one has {free}); \
         choose the step by hand or another method (leapfrog, symplectic_euler)"
    )]
    NotCovered {
        /// Method id.
        method: &'static str,
        /// Free particles of the model.
        free: usize,
        /// Largest number that is covered.
        limit: usize,
    },
    /// The eigenvalues of a damped model could not be computed.
    #[error("the eigenvalue iteration behind the step limit of {method} did not end ({free} free particles)")]
    Eigenvalues {
        /// Method id.
        method: &'static str,
        /// Free particles of the model.
        free: usize,
    },
    /// The method's bound needs the matrices of the model, which were not asked for.
    #[error("{method} has no bound from stencils alone; ask `stable_dt`, which uses the model's matrices")]
    NeedsMatrices {
        /// Method id.
        method: &'static str,
    },
    /// A stencil or matrix is not finite, or a weight list does not match its particles.
    #[error(transparent)]
    Model(#[from] CouplingsError),
}

/// Margin for rounding in the sums behind a bound.
const ROUNDING: f64 = 1.0 - 1e-12;

/// Largest number of free particles for which `dt_exact` is computed.
pub const EXACT_LIMIT: usize = 60;

/// Guaranteed bound from the stencils' own bounds, without matrices: O(stencils), and valid while no spring is
/// shorter than half its rest length (or than it is now).
///
/// # Errors
/// [`StabilityError`].
pub fn stencil_stable_dt<S: ExplicitSystem + ?Sized>(
    system: &S,
    state: &State,
    info: &StepperInfo,
) -> Result<StabilityReport, StabilityError> {
    let mut couplings = Couplings::default();
    couplings.gather(system, &state.q)?;
    report_from_stencils(&mut couplings, info)
}

/// As [`stencil_stable_dt`] with couplings that have been gathered.
pub(crate) fn report_from_stencils(
    couplings: &mut Couplings,
    info: &StepperInfo,
) -> Result<StabilityReport, StabilityError> {
    let damped = couplings.is_damped();
    let mut report = StabilityReport::unlimited(info, Validity::StencilBounds, damped);
    let conditions = match info.limit {
        StepLimit::Unconditional => return Ok(report),
        StepLimit::Spectral { .. } => return Err(StabilityError::NeedsMatrices { method: info.method.id }),
        StepLimit::Certified { undamped, damped: conditions, .. } => {
            if damped {
                conditions
            } else {
                undamped
            }
        }
    };
    for condition in conditions {
        let element = couplings.element_bound(condition);
        let power = couplings.power_bound(condition);
        report.dt_element = report.dt_element.min(element.dt);
        report.dt_power = report.dt_power.min(power.dt);
        let best = if element.dt >= power.dt { element } else { power };
        if best.dt * ROUNDING < report.dt_bound {
            report.dt_bound = best.dt * ROUNDING;
            report.particle = best.particle;
            report.culprit = best
                .stencil
                .or_else(|| best.particle.and_then(|p| couplings.stiffest_stencil(condition, best.dt, p)));
        }
    }
    Ok(report)
}

/// Guaranteed bound from the matrices at `state`, with a Lanczos estimate of how sharp it is, and the exact limit for models of up to
/// [`EXACT_LIMIT`] free particles.
///
/// # Errors
/// [`StabilityError`].
pub fn stable_dt<S: ExplicitSystem + ImplicitSystem + ?Sized>(
    system: &S,
    state: &State,
    info: &StepperInfo,
) -> Result<StabilityReport, StabilityError> {
    let matrices = ScaledMatrices::assemble(system, state)?;
    let damped = matrices.is_damped();
    let mut report = StabilityReport::unlimited(info, Validity::ThisState, damped);
    let (conditions, sharp) = match info.limit {
        StepLimit::Unconditional => return Ok(report),
        StepLimit::Spectral { stability_function } => {
            let free = matrices.free_count();
            if free > EXACT_LIMIT {
                return Err(StabilityError::NotCovered { method: info.method.id, free, limit: EXACT_LIMIT });
            }
            let dt = spectral::largest_dt(&matrices, stability_function).map_err(|error| match error {
                NoLimit::Mode(mode) => {
                    StabilityError::NoStableStep { method: info.method.id, re: mode.re, im: mode.im }
                }
                NoLimit::Eigenvalues => {
                    StabilityError::Eigenvalues { method: info.method.id, free: matrices.free_count() }
                }
            })?;
            report.dt_bound = dt * ROUNDING;
            report.dt_exact = Some(dt);
            return Ok(report);
        }
        StepLimit::Certified { undamped, damped: conditions, damped_is_sharp } => {
            if damped {
                (conditions, damped_is_sharp)
            } else {
                (undamped, true)
            }
        }
    };
    let mut stencils = Couplings::default();
    stencils.gather(system, &state.q)?;
    let mut norms = matrices.norms();
    let small = matrices.free_count() <= EXACT_LIMIT;
    for condition in conditions {
        let power = norms.power_bound(condition);
        let element = stencils.element_bound(condition);
        report.dt_element = report.dt_element.min(element.dt);
        report.dt_power = report.dt_power.min(power.dt);
        let best = if power.dt >= element.dt { power } else { element };
        if best.dt * ROUNDING < report.dt_bound {
            report.dt_bound = best.dt * ROUNDING;
            report.particle = best.particle;
            report.culprit = best
                .stencil
                .or_else(|| best.particle.and_then(|p| stencils.stiffest_stencil(condition, best.dt, p)));
        }
        let lower = |old: Option<f64>, new: f64| Some(old.map_or(new, |old: f64| old.min(new)));
        report.dt_estimate = lower(report.dt_estimate, matrices.lanczos_estimate(condition, best.dt));
        if small && sharp {
            report.dt_exact = lower(report.dt_exact, matrices.exact(condition));
        }
    }
    Ok(report)
}

impl StabilityReport {
    fn unlimited(info: &StepperInfo, validity: Validity, damped: bool) -> Self {
        Self {
            method: info.method.id,
            dt_bound: f64::INFINITY,
            validity,
            dt_element: f64::INFINITY,
            dt_power: f64::INFINITY,
            culprit: None,
            particle: None,
            damped,
            dt_estimate: None,
            dt_exact: None,
        }
    }
}
