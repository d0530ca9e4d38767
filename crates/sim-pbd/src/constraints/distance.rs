//! Two particles at a fixed distance.

use super::{ConstraintInfo, Sample};
use crate::constraint::{Constraint, ValueError, direction};
use nalgebra::Vector3;

/// Registry entry.
pub const INFO: ConstraintInfo = ConstraintInfo {
    id: "distance",
    summary: "two particles at a fixed distance; with compliance 1/k, a spring",
    reference: "Müller, Heidelberger, Hennix, Ratcliff: Position Based Dynamics, 2007",
    limitations: "Coincident particles part along +x. Gauss-Seidel needs about N² sweeps on a chain of N links: lay \
                  long ropes out as a chain, which is solved directly.",
    internal: true,
    sample: || Sample::of(Distance { rest_length: 0.75 }, [[0.1, 0.2, 0.3], [0.9, -0.4, 0.7]]),
};

/// C = |x₁ − x₀| − rest length, in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// Unloaded length in m, not negative.
    pub rest_length: f64,
}

impl Constraint<2> for Distance {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn scale(&self) -> f64 {
        if self.rest_length > 0.0 { self.rest_length } else { 1.0 }
    }

    fn evaluate(&self, _t: f64, x: &[Vector3<f64>; 2]) -> (f64, [Vector3<f64>; 2]) {
        let (length, n) = direction(x[1] - x[0]);
        (length - self.rest_length, [-n, n])
    }

    fn validate(&self) -> Result<(), ValueError> {
        ValueError::not_negative("rest_length", self.rest_length)
    }
}
