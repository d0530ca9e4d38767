//! One particle on a curve.

use super::{ConstraintInfo, Sample};
use crate::constraint::{Constraint, ValueError, direction};
use nalgebra::Vector3;

/// Registry entry.
pub const INFO: ConstraintInfo = ConstraintInfo {
    id: "slider",
    summary: "a particle that slides without friction along a polyline or a circle",
    reference: "closest-point constraint; see Müller et al. 2007 for the projection",
    limitations: "At a corner of a polyline, and on the axis of a circle, the closest point jumps. It holds the \
                  particle on the curve, which ends where the polyline ends.",
    internal: false,
    sample: || {
        let curve = Curve::Polyline { points: vec![[0.0; 3], [1.0, 0.0, 0.0], [2.0, 1.0, 0.5]] };
        Sample::of(Slider { curve }, [[1.4, 0.7, -0.2]])
    },
};

/// A curve in space, lengths in m.
#[derive(Clone, Debug, PartialEq)]
pub enum Curve {
    /// Straight pieces through at least two points.
    Polyline {
        /// The points.
        points: Vec<[f64; 3]>,
    },
    /// A circle.
    Circle {
        /// Center.
        center: [f64; 3],
        /// Normal of its plane, unit length.
        normal: [f64; 3],
        /// Radius.
        radius: f64,
    },
}

impl Curve {
    /// The point of the curve closest to `x`. On the axis of a circle it is a fixed point of the circle.
    pub fn closest(&self, x: Vector3<f64>) -> Vector3<f64> {
        match self {
            Self::Polyline { points } => {
                let mut best = (f64::INFINITY, x);
                for pair in points.windows(2) {
                    let (a, b) = (Vector3::from(pair[0]), Vector3::from(pair[1]));
                    let e = b - a;
                    let length_squared = e.norm_squared();
                    let s = if length_squared > 0.0 { (x - a).dot(&e) / length_squared } else { 0.0 };
                    let point = a + e * s.clamp(0.0, 1.0);
                    let distance = (x - point).norm_squared();
                    if distance < best.0 {
                        best = (distance, point);
                    }
                }
                best.1
            }
            Self::Circle { center, normal, radius } => {
                let (center, normal) = (Vector3::from(*center), Vector3::from(*normal));
                let d = x - center;
                let flat = d - normal * normal.dot(&d);
                let radial = if flat.norm_squared() > 0.0 { flat.normalize() } else { perpendicular(normal) };
                center + radial * *radius
            }
        }
    }
}

/// A fixed unit vector at right angles to `n`.
pub(crate) fn perpendicular(n: Vector3<f64>) -> Vector3<f64> {
    let axis = if n.x.abs() <= n.y.abs() && n.x.abs() <= n.z.abs() {
        Vector3::x()
    } else if n.y.abs() <= n.z.abs() {
        Vector3::y()
    } else {
        Vector3::z()
    };
    let across = n.cross(&axis);
    if across.norm_squared() > 0.0 { across.normalize() } else { Vector3::x() }
}

/// C = distance to the curve, in m.
#[derive(Clone, Debug, PartialEq)]
pub struct Slider {
    /// The curve.
    pub curve: Curve,
}

impl Constraint<1> for Slider {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn scale(&self) -> f64 {
        match &self.curve {
            Curve::Circle { radius, .. } => *radius,
            Curve::Polyline { points } => {
                points.windows(2).map(|p| (Vector3::from(p[1]) - Vector3::from(p[0])).norm()).sum()
            }
        }
    }

    fn evaluate(&self, _t: f64, x: &[Vector3<f64>; 1]) -> (f64, [Vector3<f64>; 1]) {
        let (distance, n) = direction(x[0] - self.curve.closest(x[0]));
        (distance, [n])
    }

    fn validate(&self) -> Result<(), ValueError> {
        match &self.curve {
            Curve::Polyline { points } => {
                if points.len() < 2 {
                    let value = points.len() as f64;
                    return Err(ValueError { field: "points", value, requirement: "at least 2 points" });
                }
                points.iter().flatten().try_for_each(|&value| ValueError::finite("points", value))?;
                ValueError::positive("length", self.scale())
            }
            Curve::Circle { center, normal, radius } => {
                center.iter().try_for_each(|&value| ValueError::finite("center", value))?;
                let norm = Vector3::from(*normal).norm();
                if (norm - 1.0).abs() > 1e-9 || norm.is_nan() {
                    return Err(ValueError { field: "normal", value: norm, requirement: "of unit length" });
                }
                ValueError::positive("radius", *radius)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(normal: [f64; 3]) -> Slider {
        Slider { curve: Curve::Circle { center: [0.3, -0.2, 0.5], normal, radius: 1.5 } }
    }

    /// The distance from a circle is √((ρ - r)² + z²) in cylinder coordinates, and its gradient has length 1.
    #[test]
    fn distance_from_a_circle() {
        let normal = Vector3::new(2.0, -1.0, 2.0) / 3.0;
        let slider = ring(normal.into());
        let across = perpendicular(normal);
        let sideways = normal.cross(&across);
        for (rho, angle, z) in
            [(2.0_f64, 0.4_f64, 0.3_f64), (0.7, 2.5, -1.2), (1.5, -1.0, 0.2), (0.05, 0.1, 0.9)]
        {
            let x = Vector3::new(0.3, -0.2, 0.5)
                + (across * angle.cos() + sideways * angle.sin()) * rho
                + normal * z;
            let (value, [gradient]) = slider.evaluate(0.0, &[x]);
            assert!((value - (rho - 1.5).hypot(z)).abs() < 1e-14, "{rho} {angle} {z}: {value}");
            for k in 0..3 {
                let step = Vector3::ith(k, 1e-6);
                let slope =
                    (slider.evaluate(0.0, &[x + step]).0 - slider.evaluate(0.0, &[x - step]).0) / 2e-6;
                assert!(
                    (slope - gradient[k]).abs() < 1e-8,
                    "{rho} {angle} {z}, {k}: {slope} {}",
                    gradient[k]
                );
            }
        }
        // On the axis every point of the circle is as near.
        let (value, _) = slider.evaluate(0.0, &[Vector3::new(0.3, -0.2, 0.5)]);
        assert!((value - 1.5).abs() < 1e-14);
    }

    #[test]
    fn circles_are_checked() {
        assert!(ring([0.0, 0.6, -0.8]).validate().is_ok());
        for normal in [[0.0, 0.0, 1.1], [0.0; 3], [f64::NAN, 0.0, 1.0]] {
            assert_eq!(ring(normal).validate().unwrap_err().field, "normal", "{normal:?}");
        }
        let flat = Slider { curve: Curve::Circle { center: [0.0; 3], normal: [0.0, 0.0, 1.0], radius: 0.0 } };
        assert_eq!(flat.validate().unwrap_err().field, "radius");
    }
}
