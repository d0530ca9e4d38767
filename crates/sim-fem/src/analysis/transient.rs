//! Response in time: M a + C v + `f_int(u)` = `f_ext(t)`, by the generalized-α family and by central differences.

mod explicit;
mod implicit;
mod linear;
mod scheme;

pub use explicit::{StableStep, stable_step};
pub use scheme::{Coefficients, TransientMethod};

use crate::factor::{FactorError, FactorKind, Factorization};
use crate::load::Direction;
use crate::material::{ValueError, positive, tolerance};
use crate::matrix::SymmetricMatrix;
use crate::structure::{Structure, StructureError};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// How to march.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TransientOptions {
    /// Scheme.
    pub method: TransientMethod,
    /// Step in s, > 0.
    pub dt: f64,
    /// Number of steps.
    pub steps: usize,
    /// Start from the equilibrium acceleration M⁻¹(f − C v − `f_int`) rather than from zero.
    pub start: StartAcceleration,
    /// Unbalanced force relative to the forces at work at which Newton's method stops (non-linear structures).
    pub relative_tolerance: f64,
    /// Newton iterations per step.
    pub max_iterations: usize,
    /// Storage of the factor.
    pub factor: FactorKind,
}

/// Acceleration at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartAcceleration {
    /// In equilibrium with the forces of the start (second order from the first step on).
    #[default]
    Equilibrium,
    /// Zero, as some programs do: a sudden load then arrives a step late.
    Zero,
}

impl Default for TransientOptions {
    fn default() -> Self {
        Self {
            method: TransientMethod::default(),
            dt: 1e-3,
            steps: 1000,
            start: StartAcceleration::default(),
            relative_tolerance: 1e-10,
            max_iterations: 20,
            factor: FactorKind::Auto,
        }
    }
}

/// Where the structure starts. Vectors have one value per degree of freedom.
#[derive(Clone, Debug)]
pub struct InitialState {
    /// Time in s.
    pub t: f64,
    /// m and rad.
    pub displacement: Vec<f64>,
    /// m/s and rad/s.
    pub velocity: Vec<f64>,
}

impl InitialState {
    /// At rest in the reference shape at time 0.
    #[must_use]
    pub fn at_rest(structure: &Structure) -> Self {
        let zero = vec![0.0; structure.dof_count()];
        Self { t: 0.0, displacement: zero.clone(), velocity: zero }
    }
}

/// One instant, as an observer sees it.
#[derive(Clone, Copy, Debug)]
pub struct Instant<'a> {
    /// Step, 0 at the start.
    pub step: usize,
    /// Time in s.
    pub t: f64,
    /// Displacement of the unknowns.
    pub displacement: &'a [f64],
    /// Velocity of the unknowns.
    pub velocity: &'a [f64],
    /// Acceleration of the unknowns.
    pub acceleration: &'a [f64],
}

impl Instant<'_> {
    /// Displacement of a node; 0 where supported (prescribed motion is known beforehand).
    #[must_use]
    pub fn value(&self, structure: &Structure, node: usize, direction: Direction) -> f64 {
        let unknown = structure.dof(node, direction).and_then(|dof| structure.unknown(dof));
        unknown.map_or(0.0, |unknown| self.displacement[unknown])
    }
}

/// End of a march. Vectors have one value per degree of freedom.
#[derive(Clone, Debug)]
pub struct TransientReport {
    /// Time reached in s.
    pub t: f64,
    /// Steps made.
    pub steps: usize,
    /// m and rad.
    pub displacement: Vec<f64>,
    /// m/s and rad/s.
    pub velocity: Vec<f64>,
    /// m/s² and rad/s².
    pub acceleration: Vec<f64>,
    /// Newton iterations in all (0 for linear structures).
    pub iterations: usize,
}

/// Why a march stopped.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TransientError {
    /// An option is out of range.
    #[error(transparent)]
    Options(#[from] ValueError),
    /// The scheme grows for every step, or for this one.
    #[error("{reason}")]
    Unstable {
        /// Why, with numbers.
        reason: String,
    },
    /// The structure itself.
    #[error("at t = {t} s")]
    Structure {
        /// Time in s.
        t: f64,
        /// What is wrong.
        #[source]
        source: StructureError,
    },
    /// The mass matrix (or the matrix of the step) cannot be factored.
    #[error("{what} cannot be factored")]
    Factor {
        /// Which matrix.
        what: &'static str,
        /// What the factorization said.
        #[source]
        source: FactorError,
    },
    /// A diagonal mass is zero where an explicit scheme needs it.
    #[error("node {node} has no mass in direction {direction}; an explicit scheme needs mass everywhere")]
    Massless {
        /// Node.
        node: usize,
        /// Direction.
        direction: Direction,
    },
    /// Newton's method did not get there.
    #[error(
        "step to t = {t} s not solved in {iterations} iterations: residual {residual:.3e}, wanted {tolerance:.1e}"
    )]
    NotConverged {
        /// Time in s.
        t: f64,
        /// Iterations made.
        iterations: usize,
        /// Relative residual.
        residual: f64,
        /// Tolerance asked for.
        tolerance: f64,
    },
    /// A value became NaN or infinite.
    #[error("not finite at t = {t} s: node {node}, direction {direction}")]
    NotFinite {
        /// Time in s.
        t: f64,
        /// Node.
        node: usize,
        /// Direction.
        direction: Direction,
    },
}

/// Marches from `initial` and shows every instant, the start included, to `observe`, which may end the run.
///
/// Linear structures with fixed supports are factored once; others are solved by Newton's method in every step. Damping is
/// that of dashpots and the Rayleigh factors of the structure. Moving supports follow their time functions.
///
/// # Limitations
/// Constant step. The generalized-α family interpolates internal forces between the ends of the step.
///
/// # Errors
/// [`TransientError`].
///
/// # Panics
/// If a vector of `initial` has another length than the structure's degrees of freedom.
pub fn transient(
    structure: &Structure,
    initial: &InitialState,
    options: &TransientOptions,
    observe: &mut dyn FnMut(&Instant<'_>) -> ControlFlow<()>,
) -> Result<TransientReport, TransientError> {
    positive("dt", options.dt)?;
    tolerance("relative_tolerance", options.relative_tolerance)?;
    let n = structure.dof_count();
    assert_eq!(
        initial.displacement.len(),
        n,
        "displacement has {} values, needs {n}",
        initial.displacement.len()
    );
    assert_eq!(initial.velocity.len(), n, "velocity has {} values, needs {n}", initial.velocity.len());
    let Some(coefficients) = options.method.coefficients()? else {
        return explicit::march(structure, initial, options, observe);
    };
    if coefficients.is_conditional() {
        explicit::check_step(structure, options, coefficients.critical_omega_dt(0.0))?;
    }
    let fixed = !structure.has_moving_supports();
    if structure.is_linear() && fixed && coefficients.beta > 0.0 {
        linear::march(structure, initial, options, &coefficients, observe)
    } else {
        implicit::march(structure, initial, options, &coefficients, observe)
    }
}

/// Motion of the unknowns.
struct Motion {
    u: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
}

impl Motion {
    fn new(structure: &Structure, initial: &InitialState) -> Self {
        let mut motion = [(); 3].map(|()| vec![0.0; structure.unknown_count()]);
        structure.gather(&initial.displacement, &mut motion[0]);
        structure.gather(&initial.velocity, &mut motion[1]);
        let [u, v, a] = motion;
        Self { u, v, a }
    }

    fn show(
        &self,
        step: usize,
        t: f64,
        observe: &mut dyn FnMut(&Instant<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        observe(&Instant { step, t, displacement: &self.u, velocity: &self.v, acceleration: &self.a })
    }

    fn check(&self, structure: &Structure, t: f64) -> Result<(), TransientError> {
        // A sum is finite when all its terms are, unless they are within a factor of the largest number.
        if self.u.iter().sum::<f64>().is_finite() && self.v.iter().sum::<f64>().is_finite() {
            return Ok(());
        }
        let bad = |values: &[f64]| values.iter().position(|value| !value.is_finite());
        let unknown = bad(&self.u).or(bad(&self.v)).unwrap_or(0);
        let (node, direction) = structure.node_direction(structure.free_dofs()[unknown] as usize);
        Err(TransientError::NotFinite { t, node, direction })
    }

    fn report(self, structure: &Structure, t: f64, steps: usize, iterations: usize) -> TransientReport {
        let n = structure.dof_count();
        let mut full = [(); 3].map(|()| vec![0.0; n]);
        structure.apply_supports(t, 1.0, &mut full[0]);
        for (target, source) in full.iter_mut().zip([&self.u, &self.v, &self.a]) {
            structure.scatter(source, target);
        }
        let [displacement, velocity, acceleration] = full;
        TransientReport { t, steps, displacement, velocity, acceleration, iterations }
    }
}

/// M a = r, by a diagonal or by a factorization; degrees of freedom without mass keep no acceleration.
fn solve_mass(mass: &SymmetricMatrix, kind: FactorKind, r: &mut [f64]) -> Result<(), TransientError> {
    if mass.is_diagonal() {
        for (r, m) in r.iter_mut().zip(mass.diagonal()) {
            *r = if m == 0.0 { 0.0 } else { *r / m };
        }
        return Ok(());
    }
    let failed = |source| TransientError::Factor { what: "the mass matrix", source };
    let mut matrix = mass.clone();
    // Rows without mass are massless in all their entries; a unit diagonal leaves them at zero.
    let pattern = matrix.pattern().clone();
    for (j, r) in r.iter_mut().enumerate() {
        let diagonal = &mut matrix.values[pattern.column(j).start];
        if *diagonal == 0.0 {
            *diagonal = 1.0;
            *r = 0.0;
        }
    }
    let mut factor = Factorization::new(&pattern, kind).map_err(failed)?;
    factor.refactor(&matrix).map_err(failed)?;
    factor.solve(r);
    Ok(())
}
