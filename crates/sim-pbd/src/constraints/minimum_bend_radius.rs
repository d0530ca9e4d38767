//! A rope that cannot be bent more sharply than a radius.

use super::{ConstraintInfo, Sample};
use crate::constraint::{Constraint, Sense, ValueError};
use crate::constraints::rope_bending::turning_angle;
use nalgebra::Vector3;
use sim_core::EnergyTerm;

/// Registry entry.
pub const INFO: ConstraintInfo = ConstraintInfo {
    id: "minimum_bend_radius",
    summary: "limits the turning angle of a rope so that its bend radius stays above a minimum",
    reference: "turning angle 2 atan(h / 2R) of a polygon of segment length h around a circle of radius R",
    limitations: "Between the particles the polygon has corners: use segments much shorter than the radius.",
    internal: true,
    sample: || {
        let constraint = MinimumBendRadius { radius: 1.5, segment_length: 1.0 };
        Sample::of(constraint, [[0.0, 0.1, 0.0], [1.0, 0.0, 0.2], [1.5, 0.9, -0.3]])
    },
};

/// C = φ − 2 atan(h/(2R)) ≤ 0, in rad: the sides of a polygon with turning angle φ touch a circle of radius R when
/// tan(φ/2) = h/(2R).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MinimumBendRadius {
    /// Smallest radius in m.
    pub radius: f64,
    /// Mean rest length of the two segments in m.
    pub segment_length: f64,
}

impl MinimumBendRadius {
    /// Largest turning angle in rad.
    pub fn max_angle(&self) -> f64 {
        2.0 * (0.5 * self.segment_length / self.radius).atan()
    }
}

impl Constraint<3> for MinimumBendRadius {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn sense(&self) -> Sense {
        Sense::AtMost
    }

    fn scale(&self) -> f64 {
        self.max_angle()
    }

    fn energy_term(&self) -> EnergyTerm {
        EnergyTerm::Bending
    }

    fn evaluate(&self, _t: f64, x: &[Vector3<f64>; 3]) -> (f64, [Vector3<f64>; 3]) {
        let (angle, gradient) = turning_angle(x);
        (angle - self.max_angle(), gradient)
    }

    fn validate(&self) -> Result<(), ValueError> {
        ValueError::positive("radius", self.radius)?;
        ValueError::positive("segment_length", self.segment_length)
    }
}
