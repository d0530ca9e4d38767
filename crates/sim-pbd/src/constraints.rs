//! Constraints: one file each below `constraints/`, one line each in [`CONSTRAINTS`].

use crate::constraint::{Constraint, Sense};
use nalgebra::{DMatrix, UnitQuaternion, Vector3};
use std::fmt::Debug;

pub mod attachment;
pub mod closed_volume;
pub mod distance;
pub mod hinge_bending;
pub mod isometric_bending;
pub mod minimum_bend_radius;
pub mod rod_bend_twist;
pub mod rod_stretch_shear;
pub mod rope_bending;
pub mod slider;
pub mod slip_ring;
pub mod tether;
pub mod tetrahedron_volume;
pub mod triangle_area;
pub mod unilateral_distance;

/// Every constraint.
pub const CONSTRAINTS: &[ConstraintInfo] = &[
    distance::INFO,
    unilateral_distance::INFO,
    attachment::INFO,
    slider::INFO,
    tether::INFO,
    slip_ring::INFO,
    rope_bending::INFO,
    minimum_bend_radius::INFO,
    hinge_bending::INFO,
    isometric_bending::INFO,
    triangle_area::INFO,
    tetrahedron_volume::INFO,
    closed_volume::INFO,
    rod_stretch_shear::INFO,
    rod_bend_twist::INFO,
];

/// A registry entry: enough to test the constraint without knowing it.
#[derive(Clone, Copy)]
pub struct ConstraintInfo {
    /// Id, equal to [`Constraint::id`].
    pub id: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Where it is published.
    pub reference: &'static str,
    /// What it does not do well.
    pub limitations: &'static str,
    /// Moving and turning all points together changes nothing: it keeps momentum.
    pub internal: bool,
    /// A sample that is neither at rest nor symmetric.
    pub sample: fn() -> Sample,
}

/// Values of C and, per value, one gradient per point.
pub type PointEvaluation = (f64, Vec<Vector3<f64>>);

/// C as a function of a slice of points.
pub type PointFunction = Box<dyn Fn(&[Vector3<f64>]) -> PointEvaluation>;

/// Values of a vector constraint with its derivatives by point and by small turn (rotation vector in material axes).
#[derive(Clone, Debug)]
pub struct OrientedEvaluation {
    /// The three values.
    pub value: Vector3<f64>,
    /// Derivative by each point.
    pub by_point: Vec<nalgebra::Matrix3<f64>>,
    /// Derivative by a small turn of each orientation.
    pub by_turn: Vec<nalgebra::Matrix3<f64>>,
}

/// C as a function of points and orientations.
pub type OrientedFunction = Box<dyn Fn(&[Vector3<f64>], &[UnitQuaternion<f64>]) -> OrientedEvaluation>;

/// Something whose derivative can be checked.
pub enum Sample {
    /// A scalar function of points.
    Points {
        /// Where to evaluate.
        points: Vec<Vector3<f64>>,
        /// The function.
        evaluate: PointFunction,
        /// Equality or inequality.
        sense: Sense,
    },
    /// A vector function of points and orientations.
    Oriented {
        /// Where to evaluate.
        points: Vec<Vector3<f64>>,
        /// Orientations to evaluate at.
        orientations: Vec<UnitQuaternion<f64>>,
        /// The function.
        evaluate: OrientedFunction,
    },
}

impl Debug for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Points { points, sense, .. } => write!(f, "Points({points:?}, {sense:?})"),
            Self::Oriented { points, orientations, .. } => {
                write!(f, "Oriented({points:?}, {orientations:?})")
            }
        }
    }
}

impl Sample {
    /// Points in m and orientations at which it is evaluated.
    pub fn place(&self) -> (&[Vector3<f64>], &[UnitQuaternion<f64>]) {
        match self {
            Self::Points { points, .. } => (points, &[]),
            Self::Oriented { points, orientations, .. } => (points, orientations),
        }
    }

    /// C, and its derivative by every point and then by every turn of an orientation, three columns each.
    ///
    /// # Panics
    /// When a sample of a fixed stencil is evaluated at another number of points.
    pub fn value_and_jacobian(
        &self,
        points: &[Vector3<f64>],
        turns: &[UnitQuaternion<f64>],
    ) -> (Vec<f64>, DMatrix<f64>) {
        match self {
            Self::Points { evaluate, .. } => {
                let (value, gradient) = evaluate(points);
                let row: Vec<f64> = gradient.iter().flat_map(|g| g.data.0[0]).collect();
                (vec![value], DMatrix::from_row_slice(1, row.len(), &row))
            }
            Self::Oriented { evaluate, .. } => {
                let found = evaluate(points, turns);
                let blocks: Vec<_> = found.by_point.iter().chain(&found.by_turn).collect();
                let jacobian = DMatrix::from_fn(3, 3 * blocks.len(), |r, c| blocks[c / 3][(r, c % 3)]);
                (found.value.as_slice().to_vec(), jacobian)
            }
        }
    }

    /// A sample of a fixed stencil.
    ///
    /// # Panics
    /// The sample panics when it is evaluated at another number of points.
    pub fn of<C: Constraint<N> + 'static, const N: usize>(constraint: C, points: [[f64; 3]; N]) -> Self {
        let sense = constraint.sense();
        Self::Points {
            points: points.iter().map(|&p| Vector3::from(p)).collect(),
            evaluate: Box::new(move |x| {
                let x: &[Vector3<f64>; N] = x.try_into().expect("a sample is evaluated at its own points");
                let (value, gradient) = constraint.evaluate(0.3, x);
                (value, gradient.to_vec())
            }),
            sense,
        }
    }
}
