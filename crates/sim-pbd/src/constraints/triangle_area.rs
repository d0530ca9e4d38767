//! A triangle that keeps its area.

use super::{ConstraintInfo, Sample};
use crate::constraint::{Constraint, ValueError};
use nalgebra::Vector3;

/// Registry entry.
pub const INFO: ConstraintInfo = ConstraintInfo {
    id: "triangle_area",
    summary: "a triangle keeps its area",
    reference: "Bender, Müller, Macklin: A Survey on Position Based Dynamics, 2017",
    limitations: "A triangle squeezed to a line has no normal and stays one; it does not resist shear at equal area.",
    internal: true,
    sample: || {
        Sample::of(TriangleArea { rest_area: 0.3 }, [[0.0, 0.0, 0.1], [1.0, 0.1, 0.0], [0.2, 0.9, 0.3]])
    },
};

/// C = area − rest area, in m².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleArea {
    /// m², positive.
    pub rest_area: f64,
}

impl Constraint<3> for TriangleArea {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn scale(&self) -> f64 {
        self.rest_area
    }

    fn evaluate(&self, _t: f64, x: &[Vector3<f64>; 3]) -> (f64, [Vector3<f64>; 3]) {
        let normal = (x[1] - x[0]).cross(&(x[2] - x[0]));
        let twice = normal.norm();
        if twice == 0.0 {
            return (-self.rest_area, [Vector3::zeros(); 3]);
        }
        let n = normal * (0.5 / twice);
        let gradient = [n.cross(&(x[2] - x[1])), n.cross(&(x[0] - x[2])), n.cross(&(x[1] - x[0]))];
        (0.5 * twice - self.rest_area, gradient)
    }

    fn validate(&self) -> Result<(), ValueError> {
        ValueError::positive("rest_area", self.rest_area)
    }
}
