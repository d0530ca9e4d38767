//! Bending of cloth that is flat at rest, as a quadratic energy.

use super::{ConstraintInfo, Sample};
use crate::constraint::{Constraint, ValueError, direction};
use nalgebra::Vector3;
use sim_core::EnergyTerm;

/// Registry entry.
pub const INFO: ConstraintInfo = ConstraintInfo {
    id: "isometric_bending",
    summary: "cotangent bending of a flat sheet: cheap, no angles; compliance 1 / bending stiffness",
    reference: "Bergou, Wardetzky, Harmon, Zorin, Grinspun: A Quadratic Bending Model for Inextensible Surfaces, 2006",
    limitations: "Exact only while the sheet does not stretch; the rest shape is flat.",
    internal: true,
    sample: || {
        let rest = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.4, 0.0], [-0.8, 0.5, 0.0]];
        let constraint = IsometricBending::from_flat(rest).expect("the sample has area");
        Sample::of(constraint, [[0.0, 0.1, 0.0], [0.0, 1.0, 0.1], [1.0, 0.4, 0.2], [-0.8, 0.5, 0.35]])
    },
};

/// `C = |Σ w_i x_i|` with the cotangent weights of the flat rest shape; with compliance α the energy is C²/(2α).
///
/// C is scaled so that 1/α is the bending stiffness of the sheet in N·m: energy = `½ B · 3/(A₂+A₃) |Σ c_i x_i|²`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IsometricBending {
    /// Weights in 1/m (they sum to zero).
    pub weights: [f64; 4],
}

impl IsometricBending {
    /// Weights of the flat rest shape: edge p₀–p₁, wing points p₂ and p₃ (m).
    ///
    /// # Errors
    /// [`ValueError`] when a triangle has no area.
    pub fn from_flat(p: [[f64; 3]; 4]) -> Result<Self, ValueError> {
        let p = p.map(Vector3::from);
        let cotangent = |at: usize, to: usize, other: usize| {
            let (u, v) = (p[to] - p[at], p[other] - p[at]);
            u.dot(&v) / u.cross(&v).norm()
        };
        let area = |wing: usize| 0.5 * (p[1] - p[0]).cross(&(p[wing] - p[0])).norm();
        let (a2, a3) = (area(2), area(3));
        for (field, value) in [("area of the first triangle", a2), ("area of the second triangle", a3)] {
            ValueError::positive(field, value)?;
        }
        let (c02, c03) = (cotangent(0, 1, 2), cotangent(0, 1, 3));
        let (c12, c13) = (cotangent(1, 0, 2), cotangent(1, 0, 3));
        let factor = (3.0 / (a2 + a3)).sqrt();
        let weights = [c12 + c13, c02 + c03, -(c02 + c12), -(c03 + c13)].map(|w| w * factor);
        Ok(Self { weights })
    }
}

impl Constraint<4> for IsometricBending {
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
        // Differences to one point: the weights sum to zero, and so no digits are lost far from the origin.
        let sum = (1..4).fold(Vector3::zeros(), |sum, i| sum + (x[i] - x[0]) * self.weights[i]);
        let (value, n) = direction(sum);
        (value, self.weights.map(|w| n * w))
    }

    fn validate(&self) -> Result<(), ValueError> {
        self.weights.iter().try_for_each(|&value| ValueError::finite("weights", value))
    }
}
