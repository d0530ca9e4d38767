//! Bending and twist between two neighbouring segments of a rod.

use super::{ConstraintInfo, OrientedEvaluation, Sample};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};

/// Registry entry.
pub const INFO: ConstraintInfo = ConstraintInfo {
    id: "rod_bend_twist",
    summary: "the turn from one segment to the next stays at its rest value",
    reference: "Kugelstadt, Schömer: Position and Orientation Based Cosserat Rods, 2016; rotation vectors instead of \
                quaternion parts, so that moment is proportional to angle",
    limitations: "The turn between two segments must stay below π. Solved by sweeps.",
    internal: true,
    sample: || {
        let constraint = RodBendTwist { rest_turn: Vector3::new(0.1, -0.05, 0.2) };
        Sample::Oriented {
            points: Vec::new(),
            orientations: vec![
                UnitQuaternion::from_scaled_axis(Vector3::new(0.4, 1.1, -0.3)),
                UnitQuaternion::from_scaled_axis(Vector3::new(0.1, 1.6, 0.5)),
            ],
            evaluate: Box::new(move |_, q| {
                let (value, by_first, by_second) = constraint.evaluate(&q[0], &q[1]);
                OrientedEvaluation { value, by_point: Vec::new(), by_turn: vec![by_first, by_second] }
            }),
        }
    },
};

/// C = rotation vector of q₀⁻¹q₁ − rest turn, in rad: two bending angles and the twist.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RodBendTwist {
    /// Rotation vector from the first segment to the second in the unloaded rod, rad.
    pub rest_turn: Vector3<f64>,
}

impl RodBendTwist {
    /// C and its derivatives by small turns of both orientations in material axes.
    pub fn evaluate(
        &self,
        q0: &UnitQuaternion<f64>,
        q1: &UnitQuaternion<f64>,
    ) -> (Vector3<f64>, Matrix3<f64>, Matrix3<f64>) {
        let turn = (q0.inverse() * q1).scaled_axis();
        let by_second = inverse_right_jacobian(&turn);
        // A turn of the first acts from the left, with the opposite sign.
        let by_first = -by_second.transpose();
        (turn - self.rest_turn, by_first, by_second)
    }
}

/// Derivative of log(exp(φ) exp(δ)) by δ at 0: I + φ×/2 + (1/θ² − cot(θ/2)/(2θ)) φ×².
fn inverse_right_jacobian(turn: &Vector3<f64>) -> Matrix3<f64> {
    let angle_squared = turn.norm_squared();
    let cross = turn.cross_matrix();
    let factor = if angle_squared < 1e-4 {
        // Series: 1/12 + θ²/720 + θ⁴/30240, exact to rounding here.
        1.0 / 12.0 + angle_squared / 720.0 + angle_squared * angle_squared / 30240.0
    } else {
        let angle = angle_squared.sqrt();
        1.0 / angle_squared - 0.5 / (angle * (0.5 * angle).tan())
    };
    Matrix3::identity() + cross * 0.5 + cross * cross * factor
}
