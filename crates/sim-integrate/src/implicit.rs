//! What implicit methods share: one non-linear stage, solved by Newton's method on `M + h D + h c K`.

pub(crate) mod matrix;
pub(crate) mod mixed;
pub(crate) mod newton;
pub(crate) mod part;

use crate::options::OptionsError;
use serde::{Deserialize, Serialize};
use sim_linalg::SolverOptions;

/// When stiffness blocks are projected to the nearest positive semidefinite ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Projection {
    /// Exact blocks first; a growing share of semidefinite ones where the solver finds the matrix indefinite.
    #[default]
    OnDemand,
    /// Always semidefinite: slower convergence near compressed springs, no second factorization.
    Always,
    /// Never: an indefinite matrix is an error.
    Never,
}

/// How the non-linear equations of a step are solved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NewtonOptions {
    /// Stop when the residual acceleration of every particle is below this share of the largest acceleration in the step, in
    /// (0, 1). What rounding leaves of stiff forces is allowed for: 4 roundings of a particle's own position and velocity, and once the
    /// residual has not halved for 5 iterations, 128 of the largest anywhere. The residual that was left is in the step's stats.
    pub relative_tolerance: f64,
    /// Most iterations, at least 1; reaching it is an error. Ten are many on the way to a solution; hundreds are needed where stiff
    /// springs have to turn by right angles in one step.
    pub max_iterations: u32,
    /// Most times one Newton step is cut short.
    pub max_cuts: u32,
    /// What to do about indefinite blocks.
    pub projection: Projection,
    /// Linear solver.
    pub solver: SolverOptions,
}

impl Default for NewtonOptions {
    fn default() -> Self {
        Self {
            relative_tolerance: 1e-11,
            max_iterations: 500,
            max_cuts: 20,
            projection: Projection::OnDemand,
            solver: SolverOptions::default(),
        }
    }
}

impl NewtonOptions {
    /// Checks ranges.
    ///
    /// # Errors
    /// [`OptionsError`] naming the field.
    pub fn validate(&self) -> Result<(), OptionsError> {
        let fail = |field, value, requirement| {
            Err(OptionsError::Value { method: "newton", field, value, requirement })
        };
        if !(self.relative_tolerance > 0.0 && self.relative_tolerance < 1.0) {
            return fail("relative_tolerance", self.relative_tolerance, "above 0 and below 1");
        }
        if self.max_iterations == 0 {
            return fail("max_iterations", 0.0, "at least 1");
        }
        self.solver.validate().map_err(|source| OptionsError::Solver { source })
    }
}
