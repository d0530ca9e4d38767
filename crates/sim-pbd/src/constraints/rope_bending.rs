//! Elastic bending of a rope at one of its particles.

use super::{ConstraintInfo, Sample};
use crate::constraint::{Constraint, ValueError};
use crate::constraints::slider::perpendicular;
use nalgebra::Vector3;
use sim_core::EnergyTerm;

/// Registry entry.
pub const INFO: ConstraintInfo = ConstraintInfo {
    id: "rope_bending",
    summary: "turning angle of a rope at a particle, kept at zero; compliance segment length / EI",
    reference: "Bergou, Wardetzky, Robinson, Audoly, Grinspun: Discrete Elastic Rods, 2008 (turning angle)",
    limitations: "No twist. Rest shape is straight: use a rod for a curved or twisted rest shape. A rope folded back on \
                  itself unfolds in a fixed plane.",
    internal: true,
    sample: || Sample::of(RopeBending, [[0.0, 0.1, 0.0], [1.0, 0.0, 0.2], [1.5, 0.9, -0.3]]),
};

/// C = φ, the angle between the segments x₁ − x₀ and x₂ − x₁, in rad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RopeBending;

impl Constraint<3> for RopeBending {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn scale(&self) -> f64 {
        1.0
    }

    fn energy_term(&self) -> EnergyTerm {
        EnergyTerm::Bending
    }

    fn evaluate(&self, _t: f64, x: &[Vector3<f64>; 3]) -> (f64, [Vector3<f64>; 3]) {
        turning_angle(x)
    }

    fn validate(&self) -> Result<(), ValueError> {
        Ok(())
    }
}

/// Angle between two consecutive segments and its gradients.
///
/// A straight rope has angle 0 and no direction, one folded back has π: both take a fixed plane. A segment of length
/// zero has no angle: value 0, gradients 0.
pub(crate) fn turning_angle(x: &[Vector3<f64>; 3]) -> (f64, [Vector3<f64>; 3]) {
    let (u, v) = (x[1] - x[0], x[2] - x[1]);
    let (uu, vv) = (u.norm_squared(), v.norm_squared());
    if uu == 0.0 || vv == 0.0 {
        return (0.0, [Vector3::zeros(); 3]);
    }
    let cross = u.cross(&v);
    let sine = cross.norm();
    let angle = sine.atan2(u.dot(&v));
    let axis = if sine > 0.0 { cross / sine } else { perpendicular(u.normalize()) };
    let by_u = u.cross(&axis) / uu;
    let by_v = axis.cross(&v) / vv;
    (angle, [-by_u, by_u - by_v, by_v])
}
