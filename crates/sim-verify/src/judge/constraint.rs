//! What a constraint must show: gradients that are those of its value, invariance, momentum, values known from geometry.

use crate::claim::Claim;
use nalgebra::{DMatrix, Matrix3, UnitQuaternion, Vector3};

/// Values of a constraint at a place, with their derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstraintValue {
    /// One or several values, in the unit of the constraint.
    pub value: Vec<f64>,
    /// One row per value; three columns per point, then three per orientation (by a small turn in material axes, rad).
    pub jacobian: DMatrix<f64>,
}

/// A constraint as a function of points (m) and orientations.
pub type ConstraintFunction<'a> = dyn Fn(&[Vector3<f64>], &[UnitQuaternion<f64>]) -> ConstraintValue + 'a;

/// Points and orientations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// Points in m.
    pub points: Vec<Vector3<f64>>,
    /// Orientations of material axes.
    pub orientations: Vec<UnitQuaternion<f64>>,
}

impl Place {
    /// Points without orientations.
    pub fn of_points(points: &[[f64; 3]]) -> Self {
        Self { points: points.iter().map(|&p| p.into()).collect(), orientations: Vec::new() }
    }
}

/// A constraint to be judged.
#[derive(Clone, Copy)]
pub struct ConstraintSubject<'a> {
    /// First part of the ids of its claims.
    pub id: &'a str,
    /// Whether moving and turning everything together changes nothing.
    pub internal: bool,
    /// The power of length with which C grows, up to a constant; none when it holds something at a fixed place.
    pub length_power: Option<i32>,
    /// A place that is neither at rest nor symmetric.
    pub sample: &'a Place,
    /// Places where the values are known; with none a wrong rest value goes unnoticed.
    pub known: &'a [(Place, Vec<f64>)],
    /// The constraint.
    pub evaluate: &'a ConstraintFunction<'a>,
}

/// Differences of the values by every coordinate, of fourth order in `step`.
fn differences(evaluate: &ConstraintFunction<'_>, place: &Place, step: f64) -> DMatrix<f64> {
    let (points, turns) = (place.points.len(), place.orientations.len());
    let rows = evaluate(&place.points, &place.orientations).value.len();
    let mut result = DMatrix::zeros(rows, 3 * (points + turns));
    for column in 0..3 * (points + turns) {
        let (item, axis) = (column / 3, column % 3);
        let mut along = Vector3::zeros();
        along[axis] = step;
        let moved = |by: Vector3<f64>| {
            let mut place = place.clone();
            if item < points {
                place.points[item] += by;
            } else {
                place.orientations[item - points] *= UnitQuaternion::from_scaled_axis(by);
            }
            evaluate(&place.points, &place.orientations).value
        };
        let at = |factor: f64| moved(along * factor);
        let (near, far) = ((at(1.0), at(-1.0)), (at(2.0), at(-2.0)));
        for row in 0..rows {
            let (near, far) = (near.0[row] - near.1[row], far.0[row] - far.1[row]);
            result[(row, column)] = (8.0 * near - far) / (12.0 * step);
        }
    }
    result
}

/// Rows times a rigid turn about an axis: what a small turn of everything changes.
fn moments(place: &Place, jacobian: &DMatrix<f64>) -> DMatrix<f64> {
    let rows = jacobian.nrows();
    let mut sum = DMatrix::zeros(rows, 3);
    for (i, x) in place.points.iter().enumerate() {
        // δx = ω × x = -[x]× ω.
        sum -= jacobian.columns(3 * i, 3) * x.cross_matrix();
    }
    for (i, q) in place.orientations.iter().enumerate() {
        let into: Matrix3<f64> = q.to_rotation_matrix().matrix().transpose();
        sum += jacobian.columns(3 * (place.points.len() + i), 3) * into;
    }
    sum
}

fn forces(place: &Place, jacobian: &DMatrix<f64>) -> DMatrix<f64> {
    (0..place.points.len())
        .map(|i| jacobian.columns(3 * i, 3).into_owned())
        .fold(DMatrix::zeros(jacobian.nrows(), 3), |sum, block| sum + block)
}

/// Largest entry; a NaN counts as infinite, which `amax` alone would hide.
fn largest(matrix: &DMatrix<f64>) -> f64 {
    if matrix.iter().any(|x| x.is_nan()) { f64::INFINITY } else { matrix.amax() }
}

fn apart(found: &[f64], expected: &[f64]) -> f64 {
    if found.len() != expected.len() {
        return f64::INFINITY;
    }
    found
        .iter()
        .zip(expected)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, |a, b| if b.is_nan() { f64::INFINITY } else { a.max(b) })
}

/// The sample moved and turned as a whole: change of the values, and of the derivatives turned along.
fn rigid_motion(subject: &ConstraintSubject<'_>, here: &ConstraintValue) -> (f64, f64) {
    let turn = UnitQuaternion::from_scaled_axis(Vector3::new(0.3, -1.2, 0.7));
    let offset = Vector3::new(3.0, -2.0, 5.0);
    let Place { points, orientations } = subject.sample;
    let moved = Place {
        points: points.iter().map(|x| turn * x + offset).collect(),
        orientations: orientations.iter().map(|q| turn * q).collect(),
    };
    let there = (subject.evaluate)(&moved.points, &moved.orientations);
    let mut along = here.jacobian.clone();
    let back = turn.to_rotation_matrix().matrix().transpose();
    for i in 0..points.len() {
        let turned = along.columns(3 * i, 3) * back;
        along.columns_mut(3 * i, 3).copy_from(&turned);
    }
    (apart(&there.value, &here.value), largest(&(there.jacobian - along)))
}

/// Places where formulas divide by zero.
fn degenerate(points: &[Vector3<f64>]) -> [Vec<Vector3<f64>>; 4] {
    let n = points.len();
    [
        vec![Vector3::zeros(); n],
        (0..n).map(|i| Vector3::x() * i as f64).collect(),
        (0..n).map(|i| Vector3::x() * (i % 2) as f64).collect(),
        points.iter().map(|x| x * 1e-200).collect(),
    ]
}

/// Carries out every study on a constraint.
pub fn judge_constraint(subject: &ConstraintSubject<'_>) -> Vec<Claim> {
    let Place { points, orientations } = subject.sample;
    let here = (subject.evaluate)(points, orientations);
    let size = largest(&here.jacobian).max(1.0);
    let mut claims = Vec::new();
    let mut push = |study: &str, what: &str, limit: f64, measured: f64, source: &str| {
        claims.push(Claim::at_most(format!("{}/{study}", subject.id), what, limit, measured, source));
    };
    if !subject.known.is_empty() {
        let known = subject.known.iter().map(|(place, values)| {
            apart(&(subject.evaluate)(&place.points, &place.orientations).value, values)
        });
        let what = "values at places known from geometry, distance";
        push("values", what, 1e-12, known.fold(0.0, f64::max), "elementary geometry");
    }
    // At the sample and beside it: a direction must follow the points.
    let beside = Place {
        points: points.iter().map(|x| x * 1.3 + Vector3::new(0.05, -0.03, 0.02)).collect(),
        orientations: orientations
            .iter()
            .enumerate()
            .map(|(i, q)| {
                q * UnitQuaternion::from_scaled_axis(Vector3::new(0.2, -0.1, 0.3) * (i as f64 + 1.0))
            })
            .collect(),
    };
    let gradient = [subject.sample, &beside].into_iter().map(|place| {
        let stated = (subject.evaluate)(&place.points, &place.orientations).jacobian;
        largest(&(differences(subject.evaluate, place, 1e-3) - stated)) / size
    });
    let gradient = gradient.fold(0.0, f64::max);
    push(
        "gradient",
        "relative distance of the derivatives from differences at two places",
        1e-8,
        gradient,
        "five points",
    );
    if subject.internal {
        let third = "it depends on relative places";
        push(
            "balance",
            "sum of the derivatives by points over their size",
            1e-13,
            largest(&forces(subject.sample, &here.jacobian)) / size,
            third,
        );
        push(
            "moment",
            "sum of their moments over their size",
            1e-12,
            largest(&moments(subject.sample, &here.jacobian)) / size,
            third,
        );
        let (value, derivative) = rigid_motion(subject, &here);
        push("rigid_motion", "change of the values, moved and turned", 1e-12, value, third);
        push("rigid_gradient", "change of the derivatives, turned along", 1e-11, derivative / size, third);
    }
    if let Some(power) = subject.length_power {
        let columns = 3 * points.len();
        let worst = [1.7_f64, 0.4].into_iter().map(|factor| {
            let scaled: Vec<Vector3<f64>> = points.iter().map(|x| x * factor).collect();
            let there = (subject.evaluate)(&scaled, orientations).jacobian;
            let expected = here.jacobian.columns(0, columns) * factor.powi(power - 1);
            largest(&(there.columns(0, columns) - expected)) / size
        });
        push(
            "scaling",
            "relative distance of the derivatives from the power of length they should grow with",
            1e-11,
            worst.fold(0.0, f64::max),
            "dimension of C",
        );
    }
    if orientations.is_empty() {
        let places = degenerate(points);
        let bad = places.iter().filter(|points| {
            let found = (subject.evaluate)(points, &[]);
            !(found.value.iter().all(|x| x.is_finite()) && found.jacobian.iter().all(|x| x.is_finite()))
        });
        push(
            "degenerate",
            "of four places without directions, those without a number",
            0.0,
            bad.count() as f64,
            "never NaN",
        );
    }
    let mut least = here.jacobian.amax();
    let mut what = "largest derivative: the checks are not of nothing";
    if !subject.internal {
        least = forces(subject.sample, &here.jacobian).amax();
        what = "force on the outside: it holds something at a place";
    }
    claims.push(Claim::at_least(format!("{}/acts", subject.id), what, 1e-3, least, ""));
    claims
}
