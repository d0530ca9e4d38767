//! What a user may choose about the solver.

use serde::{Deserialize, Serialize};

/// In which order Gauss-Seidel visits the constraints. It is part of the model, not of the machine: the number of threads
/// never changes it, and the report names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SolveOrder {
    /// The order in which the constraints were added, bit for bit. Constraints that share no particle are visited
    /// together in lanes (levels), which changes nothing. One thread.
    #[default]
    List,
    /// By colours: no two constraints of a colour share a particle, and a colour is split among threads. Its rms error
    /// after a given number of sweeps is 16-46 % larger than with `List` on cloth; it pays from two threads on.
    Colors,
}

/// What the compliance of a constraint means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Formulation {
    /// Compliance and damping are physical and do not depend on step or iterations, once converged.
    #[default]
    Xpbd,
    /// Plain position-based dynamics: every visit removes a fraction of the violation. The stiffness that results
    /// depends on step and iterations and has no unit; compliance and damping are refused.
    Pbd {
        /// Fraction removed by one visit, above 0 and at most 1.
        fraction: f64,
    },
}

impl Formulation {
    /// Plain PBD whose visits together remove `fraction` of the violation of a single constraint in `iterations`
    /// iterations: 1 − (1 − fraction)^(1/iterations) per visit (Müller et al. 2007).
    pub fn pbd_per_step(fraction: f64, iterations: u32) -> Self {
        Self::Pbd { fraction: 1.0 - (1.0 - fraction).powf(1.0 / f64::from(iterations)) }
    }
}

/// Where the direction of a correction is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GradientPoint {
    /// At the current estimate: robust for any step. A spin ω loses angular momentum at the rate ω² dt/2.
    #[default]
    Current,
    /// At the start of the substep, as SHAKE does: distance constraints keep angular momentum to rounding. Needs turns per
    /// substep well below a radian; where the two directions oppose, the current one is taken and counted.
    StepStart,
}

/// Options of the [`crate::Xpbd`] stepper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct XpbdOptions {
    /// Equal parts a step is cut into, at least 1. Many substeps with one iteration converge faster than the reverse.
    pub substeps: u32,
    /// Sweeps over all constraints per substep, at least 1.
    pub iterations: u32,
    /// XPBD or plain PBD.
    pub formulation: Formulation,
    /// Factor on every correction, in (0, 2). Above 1 it speeds up slow modes of stiff meshes; contacts are not relaxed.
    pub over_relaxation: f64,
    /// Where directions are taken.
    pub gradient: GradientPoint,
    /// A step counts as converged when no constraint's residual exceeds this times its scale. Positive.
    pub tolerance: f64,
    /// Threads that share a colour, at least 1. Without effect on the result, and on [`SolveOrder::List`].
    pub threads: usize,
}

impl Default for XpbdOptions {
    fn default() -> Self {
        Self {
            substeps: 10,
            iterations: 1,
            formulation: Formulation::Xpbd,
            over_relaxation: 1.0,
            gradient: GradientPoint::Current,
            tolerance: 1e-3,
            threads: 1,
        }
    }
}

/// An option out of range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// A number is out of range.
    #[error("option `{field}` = {value}, must be {requirement}")]
    Value {
        /// Field name.
        field: &'static str,
        /// Value found.
        value: f64,
        /// What it must be.
        requirement: &'static str,
    },
    /// Plain PBD was asked to solve a constraint with a physical stiffness.
    #[error(
        "plain PBD has no physical stiffness, but {constraint} {index} has compliance {compliance} and damping {damping}"
    )]
    NotPhysical {
        /// Constraint id.
        constraint: &'static str,
        /// Index in its list.
        index: usize,
        /// Compliance found.
        compliance: f64,
        /// Damping found.
        damping: f64,
    },
}

impl XpbdOptions {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`OptionsError`] naming the field.
    pub fn validate(&self) -> Result<(), OptionsError> {
        let check = |field, value: f64, ok: bool, requirement| {
            if ok { Ok(()) } else { Err(OptionsError::Value { field, value, requirement }) }
        };
        check("substeps", f64::from(self.substeps), self.substeps > 0, "at least 1")?;
        check("iterations", f64::from(self.iterations), self.iterations > 0, "at least 1")?;
        check("threads", self.threads as f64, self.threads > 0, "at least 1")?;
        let factor = self.over_relaxation;
        check("over_relaxation", factor, factor > 0.0 && factor < 2.0, "above 0 and below 2")?;
        let tolerance = self.tolerance;
        check("tolerance", tolerance, tolerance.is_finite() && tolerance > 0.0, "finite and positive")?;
        if let Formulation::Pbd { fraction } = self.formulation {
            check("formulation.pbd.fraction", fraction, fraction > 0.0 && fraction <= 1.0, "in (0, 1]")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iteration_independent_fraction() {
        // F-stiffness-iteration-correction
        let expected =
            [0.9, 0.6837722339831621, 0.36904265551980675, 0.2056717652757185, 0.10874906186625447];
        for (iterations, expected) in [1, 2, 5, 10, 20].into_iter().zip(expected) {
            let Formulation::Pbd { fraction } = Formulation::pbd_per_step(0.9, iterations) else {
                panic!("not plain PBD")
            };
            assert!((fraction - expected).abs() < 1e-14, "{iterations}: {fraction}");
        }
    }

    #[test]
    fn options_are_checked_and_unknown_fields_refused() {
        assert!(XpbdOptions::default().validate().is_ok());
        let bad = XpbdOptions { over_relaxation: 2.0, ..XpbdOptions::default() };
        assert!(matches!(bad.validate(), Err(OptionsError::Value { field: "over_relaxation", .. })));
        let bad = XpbdOptions { substeps: 0, ..XpbdOptions::default() };
        assert!(matches!(bad.validate(), Err(OptionsError::Value { field: "substeps", .. })));
        assert!(serde_json::from_str::<XpbdOptions>(r#"{"iterationz": 3}"#).is_err());
        let parsed: XpbdOptions =
            serde_json::from_str(r#"{"formulation": {"pbd": {"fraction": 0.5}}}"#).unwrap();
        assert_eq!(parsed.formulation, Formulation::Pbd { fraction: 0.5 });
    }
}
