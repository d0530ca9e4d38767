//! Bending of cloth about an edge.

use super::{ConstraintInfo, Sample};
use crate::constraint::{Constraint, ValueError};
use nalgebra::Vector3;
use sim_core::EnergyTerm;

/// Registry entry.
pub const INFO: ConstraintInfo = ConstraintInfo {
    id: "hinge_bending",
    summary: "signed angle between two triangles that share an edge",
    reference: "Grinspun, Hirani, Desbrun, Schröder: Discrete Shells, 2003; Müller et al. 2007",
    limitations: "A triangle without area has no normal: the hinge then does nothing. The angle wraps at a full fold.",
    internal: true,
    sample: || {
        let points = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.4, 0.2], [-0.8, 0.5, 0.35]];
        Sample::of(HingeBending { rest_angle: 0.174532925199433 }, points)
    },
};

/// C = θ − rest angle, in rad, for the edge x₀–x₁ with wing points x₂ and x₃.
///
/// θ is zero when flat and lies in (−π, π]; it is negative when the wings point to the side of (x₁−x₀)×(x₂−x₀).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HingeBending {
    /// Angle of the unloaded hinge in rad.
    pub rest_angle: f64,
}

impl HingeBending {
    /// The signed angle θ of four points in rad; 0 where a triangle has no area.
    pub fn angle(x: &[Vector3<f64>; 4]) -> f64 {
        Self { rest_angle: 0.0 }.evaluate(0.0, x).0
    }
}

impl Constraint<4> for HingeBending {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn scale(&self) -> f64 {
        1.0
    }

    fn energy_term(&self) -> EnergyTerm {
        EnergyTerm::Bending
    }

    fn evaluate(&self, _t: f64, x: &[Vector3<f64>; 4]) -> (f64, [Vector3<f64>; 4]) {
        let e = x[1] - x[0];
        let ee = e.norm_squared();
        let (n2, n3) = (e.cross(&(x[2] - x[0])), (x[3] - x[0]).cross(&e));
        let (a2, a3) = (n2.norm_squared(), n3.norm_squared());
        if ee == 0.0 || a2 == 0.0 || a3 == 0.0 {
            return (0.0, [Vector3::zeros(); 4]);
        }
        let length = ee.sqrt();
        let angle = (n2.cross(&n3).dot(&e) / length).atan2(n2.dot(&n3));
        // Heights of the wings turn about the edge; the edge points take the opposite share by their barycentric
        // places, so that the sum is zero and no moment is left.
        let (g2, g3) = (n2 * (-length / a2), n3 * (-length / a3));
        let (s2, s3) = ((x[2] - x[0]).dot(&e) / ee, (x[3] - x[0]).dot(&e) / ee);
        let g0 = -(g2 * (1.0 - s2) + g3 * (1.0 - s3));
        let g1 = -(g2 * s2 + g3 * s3);
        let turn = std::f64::consts::TAU;
        let difference = angle - self.rest_angle;
        (difference - turn * (difference / turn).round(), [g0, g1, g2, g3])
    }

    fn validate(&self) -> Result<(), ValueError> {
        if self.rest_angle.abs() <= std::f64::consts::PI {
            return Ok(());
        }
        Err(ValueError { field: "rest_angle", value: self.rest_angle, requirement: "within -π and π" })
    }
}
