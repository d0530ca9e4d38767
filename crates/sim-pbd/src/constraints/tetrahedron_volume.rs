//! A tetrahedron that keeps its volume.

use super::{ConstraintInfo, Sample};
use crate::constraint::{Constraint, ValueError};
use nalgebra::Vector3;

/// Registry entry.
pub const INFO: ConstraintInfo = ConstraintInfo {
    id: "tetrahedron_volume",
    summary: "a tetrahedron keeps its signed volume",
    reference: "Müller, Heidelberger, Hennix, Ratcliff: Position Based Dynamics, 2007",
    limitations: "Cubic in the points: one projection is one Newton step, not the solution.",
    internal: true,
    sample: || {
        let points = [[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 0.9, 0.1], [0.1, 0.2, 1.1]];
        Sample::of(TetrahedronVolume { rest_volume: 0.1 }, points)
    },
};

/// C = (x₁−x₀)×(x₂−x₀)·(x₃−x₀)/6 − rest volume, in m³.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TetrahedronVolume {
    /// Signed volume in m³, not zero.
    pub rest_volume: f64,
}

impl Constraint<4> for TetrahedronVolume {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn scale(&self) -> f64 {
        self.rest_volume.abs()
    }

    fn evaluate(&self, _t: f64, x: &[Vector3<f64>; 4]) -> (f64, [Vector3<f64>; 4]) {
        let (a, b, c) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
        let (g1, g2, g3) = (b.cross(&c) / 6.0, c.cross(&a) / 6.0, a.cross(&b) / 6.0);
        (g3.dot(&c) - self.rest_volume, [-(g1 + g2 + g3), g1, g2, g3])
    }

    fn validate(&self) -> Result<(), ValueError> {
        ValueError::finite("rest_volume", self.rest_volume)?;
        ValueError::positive("|rest_volume|", self.rest_volume.abs())
    }
}
