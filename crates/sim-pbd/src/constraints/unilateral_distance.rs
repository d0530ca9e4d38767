//! Two particles not farther apart than a length.

use super::{ConstraintInfo, Sample};
use crate::constraint::{Constraint, Sense, ValueError, direction};
use nalgebra::Vector3;

/// Registry entry.
pub const INFO: ConstraintInfo = ConstraintInfo {
    id: "unilateral_distance",
    summary: "a rope segment: it pulls when taut and does nothing when slack",
    reference: "Müller, Heidelberger, Hennix, Ratcliff: Position Based Dynamics, 2007 (inequality constraints)",
    limitations: "A slack segment has no damping either. Solved by sweeps only, never directly.",
    internal: true,
    sample: || Sample::of(UnilateralDistance { max_length: 0.75 }, [[0.1, 0.2, 0.3], [0.9, -0.4, 0.7]]),
};

/// C = |x₁ − x₀| − maximum length ≤ 0, in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnilateralDistance {
    /// Length in m at which the segment becomes taut, not negative.
    pub max_length: f64,
}

impl Constraint<2> for UnilateralDistance {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn sense(&self) -> Sense {
        Sense::AtMost
    }

    fn scale(&self) -> f64 {
        if self.max_length > 0.0 { self.max_length } else { 1.0 }
    }

    fn evaluate(&self, _t: f64, x: &[Vector3<f64>; 2]) -> (f64, [Vector3<f64>; 2]) {
        let (length, n) = direction(x[1] - x[0]);
        (length - self.max_length, [-n, n])
    }

    fn validate(&self) -> Result<(), ValueError> {
        ValueError::not_negative("max_length", self.max_length)
    }
}
