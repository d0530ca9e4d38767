//! Stretch and shear of a rod segment that carries an orientation.

use super::{ConstraintInfo, OrientedEvaluation, Sample};
use crate::constraint::ValueError;
use nalgebra::{Matrix3, UnitQuaternion, Vector3};

/// Registry entry.
pub const INFO: ConstraintInfo = ConstraintInfo {
    id: "rod_stretch_shear",
    summary: "a segment keeps its length and lies along the third axis of its orientation",
    reference: "Kugelstadt, Schömer: Position and Orientation Based Cosserat Rods, 2016",
    limitations: "Solved by sweeps: stiff slender rods need many. Gyroscopic moments of the segments are left out.",
    internal: true,
    sample: || {
        let constraint = RodStretchShear { rest_length: 0.8 };
        Sample::Oriented {
            points: vec![Vector3::new(0.1, 0.2, 0.3), Vector3::new(0.9, -0.4, 0.7)],
            orientations: vec![UnitQuaternion::from_scaled_axis(Vector3::new(0.4, 1.1, -0.3))],
            evaluate: Box::new(move |x, q| constraint.evaluate(&[x[0], x[1]], &q[0])),
        }
    },
};

/// C = Rᵀ(x₁ − x₀) − rest length · e₃ in material axes, in m: two shears and the stretch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RodStretchShear {
    /// m, positive.
    pub rest_length: f64,
}

impl RodStretchShear {
    /// C and its derivatives by the points and by a small turn in material axes.
    pub fn evaluate(&self, x: &[Vector3<f64>; 2], q: &UnitQuaternion<f64>) -> OrientedEvaluation {
        let into = q.to_rotation_matrix().matrix().transpose();
        let along = into * (x[1] - x[0]);
        OrientedEvaluation {
            value: along - Vector3::z() * self.rest_length,
            by_point: vec![-into, into],
            by_turn: vec![along.cross_matrix()],
        }
    }

    /// The same without allocation: C, the rotation into material axes, and ∂C/∂turn.
    pub(crate) fn parts(
        self,
        x: [Vector3<f64>; 2],
        q: &UnitQuaternion<f64>,
    ) -> (Vector3<f64>, Matrix3<f64>, Matrix3<f64>) {
        let into = q.to_rotation_matrix().matrix().transpose();
        let along = into * (x[1] - x[0]);
        (along - Vector3::z() * self.rest_length, into, along.cross_matrix())
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`ValueError`] naming the field.
    pub fn validate(&self) -> Result<(), ValueError> {
        ValueError::positive("rest_length", self.rest_length)
    }
}
