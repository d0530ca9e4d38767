//! Convex shapes as signed distances, in the frame of their piece.

use crate::constraint::{ValueError, direction};
use crate::constraints::slider::perpendicular;
use crate::contact::closest;
use nalgebra::Vector3;
use std::fmt::Debug;

/// Distance to a surface (negative inside) and the outward normal there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// m.
    pub distance: f64,
    /// Unit vector.
    pub normal: Vector3<f64>,
}

/// A convex shape. Its signed distance is a convex function: segments and fast motion rely on that.
pub trait Shape: Debug + Send + Sync {
    /// Signed distance and outward normal at `p`; defined everywhere, with a fixed normal where there is none.
    fn surface(&self, p: Vector3<f64>) -> Surface;

    /// Corners of the box that holds the shape, unless it is unbounded.
    fn bounds(&self) -> Option<(Vector3<f64>, Vector3<f64>)>;

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`ValueError`] naming the field.
    fn validate(&self) -> Result<(), ValueError>;
}

/// The half space below the plane `normal · p = offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Unit vector out of the solid.
    pub normal: [f64; 3],
    /// Distance of the plane from the origin in m.
    pub offset: f64,
}

impl Shape for Plane {
    fn surface(&self, p: Vector3<f64>) -> Surface {
        let normal = Vector3::from(self.normal);
        Surface { distance: normal.dot(&p) - self.offset, normal }
    }

    fn bounds(&self) -> Option<(Vector3<f64>, Vector3<f64>)> {
        None
    }

    fn validate(&self) -> Result<(), ValueError> {
        ValueError::finite("offset", self.offset)?;
        let value = Vector3::from(self.normal).norm();
        if (value - 1.0).abs() < 1e-9 {
            return Ok(());
        }
        Err(ValueError { field: "normal", value, requirement: "of unit length" })
    }
}

/// A ball around the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// m.
    pub radius: f64,
}

impl Shape for Sphere {
    fn surface(&self, p: Vector3<f64>) -> Surface {
        let (distance, normal) = direction(p);
        Surface { distance: distance - self.radius, normal }
    }

    fn bounds(&self) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let r = Vector3::repeat(self.radius);
        Some((-r, r))
    }

    fn validate(&self) -> Result<(), ValueError> {
        ValueError::positive("radius", self.radius)
    }
}

/// All points within a radius of the segment from `-half_length` to `half_length` on the z axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    /// m.
    pub half_length: f64,
    /// m.
    pub radius: f64,
}

impl Shape for Capsule {
    fn surface(&self, p: Vector3<f64>) -> Surface {
        let on_axis = Vector3::new(0.0, 0.0, p.z.clamp(-self.half_length, self.half_length));
        let (distance, normal) = direction(p - on_axis);
        Surface { distance: distance - self.radius, normal }
    }

    fn bounds(&self) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let corner = Vector3::new(self.radius, self.radius, self.half_length + self.radius);
        Some((-corner, corner))
    }

    fn validate(&self) -> Result<(), ValueError> {
        ValueError::not_negative("half_length", self.half_length)?;
        ValueError::positive("radius", self.radius)
    }
}

/// A box around the origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cuboid {
    /// Half the edge lengths in m.
    pub half_extents: [f64; 3],
}

impl Shape for Cuboid {
    fn surface(&self, p: Vector3<f64>) -> Surface {
        let half = Vector3::from(self.half_extents);
        let beyond = p.abs() - half;
        let sign = p.map(|x| if x < 0.0 { -1.0 } else { 1.0 });
        let outside = beyond.map(|x| x.max(0.0));
        if outside.amax() > 0.0 {
            let (distance, normal) = direction(outside);
            return Surface { distance, normal: normal.component_mul(&sign) };
        }
        let axis = beyond.imax();
        let mut normal = Vector3::zeros();
        normal[axis] = sign[axis];
        Surface { distance: beyond[axis], normal }
    }

    fn bounds(&self) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let half = Vector3::from(self.half_extents);
        Some((-half, half))
    }

    fn validate(&self) -> Result<(), ValueError> {
        self.half_extents.iter().try_for_each(|&x| ValueError::positive("half_extents", x))
    }
}

/// A round disc or drum about the z axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylinder {
    /// m.
    pub radius: f64,
    /// Half the height in m.
    pub half_length: f64,
}

impl Shape for Cylinder {
    fn surface(&self, p: Vector3<f64>) -> Surface {
        let (rho, radial) = direction(Vector3::new(p.x, p.y, 0.0));
        let axial = if p.z < 0.0 { -Vector3::z() } else { Vector3::z() };
        let (dr, dz) = (rho - self.radius, p.z.abs() - self.half_length);
        if dr > 0.0 && dz > 0.0 {
            let distance = dr.hypot(dz);
            return Surface { distance, normal: (radial * dr + axial * dz) / distance };
        }
        if dr > dz {
            Surface { distance: dr, normal: radial }
        } else {
            Surface { distance: dz, normal: axial }
        }
    }

    fn bounds(&self) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let corner = Vector3::new(self.radius, self.radius, self.half_length);
        Some((-corner, corner))
    }

    fn validate(&self) -> Result<(), ValueError> {
        ValueError::positive("radius", self.radius)?;
        ValueError::positive("half_length", self.half_length)
    }
}

/// A triangle without thickness, solid from both sides: what touches it stays on its side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle {
    /// Corners in m.
    pub corners: [[f64; 3]; 3],
}

impl Shape for Triangle {
    fn surface(&self, p: Vector3<f64>) -> Surface {
        let [a, b, c] = self.corners.map(Vector3::from);
        let weights = closest::on_triangle(p, a, b, c);
        let point = a * weights[0] + b * weights[1] + c * weights[2];
        let d = p - point;
        if d.norm_squared() > 0.0 {
            let (distance, normal) = direction(d);
            return Surface { distance, normal };
        }
        let across = (b - a).cross(&(c - a));
        let normal = if across.norm_squared() > 0.0 { across.normalize() } else { perpendicular(b - a) };
        Surface { distance: 0.0, normal }
    }

    fn bounds(&self) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let [a, b, c] = self.corners.map(Vector3::from);
        Some((a.inf(&b).inf(&c), a.sup(&b).sup(&c)))
    }

    fn validate(&self) -> Result<(), ValueError> {
        let [a, b, c] = self.corners.map(Vector3::from);
        ValueError::positive("area of a triangle", (b - a).cross(&(c - a)).norm())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes() -> Vec<Box<dyn Shape>> {
        vec![
            Box::new(Plane { normal: [1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0], offset: 0.2 }),
            Box::new(Sphere { radius: 0.4 }),
            Box::new(Capsule { half_length: 0.5, radius: 0.2 }),
            Box::new(Cuboid { half_extents: [0.3, 0.5, 0.2] }),
            Box::new(Cylinder { radius: 0.4, half_length: 0.3 }),
            Box::new(Triangle { corners: [[0.0, 0.0, 0.0], [1.0, 0.0, 0.1], [0.2, 0.9, 0.0]] }),
        ]
    }

    /// Normal = gradient, |gradient| = 1, and convexity along random chords.
    #[test]
    fn distances_have_unit_gradients_and_are_convex() {
        let mut next = 3_u32;
        let mut random = || {
            next = next.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(next >> 8) / f64::from(1 << 23) - 1.0
        };
        for shape in shapes() {
            shape.validate().unwrap();
            let mut smooth = 0;
            for _ in 0..400 {
                let p = Vector3::new(random(), random(), random());
                let q = Vector3::new(random(), random(), random());
                let at = |p| shape.surface(p);
                let middle = at((p + q) * 0.5).distance;
                assert!(middle <= 0.5 * (at(p).distance + at(q).distance) + 1e-12, "{shape:?} {p} {q}");
                let h = 1e-6;
                let gradient = Vector3::from_fn(|k, _| {
                    let mut step = Vector3::zeros();
                    step[k] = h;
                    (at(p + step).distance - at(p - step).distance) / (2.0 * h)
                });
                assert!((at(p).normal.norm() - 1.0).abs() < 1e-12);
                // Where the gradient is defined (not on an edge of the inside) it is the normal.
                if (gradient.norm() - 1.0).abs() < 1e-6 {
                    smooth += 1;
                    assert!((gradient - at(p).normal).amax() < 1e-4, "{shape:?} at {p}");
                }
            }
            assert!(smooth > 350, "{shape:?}: {smooth}");
        }
    }

    #[test]
    fn centres_have_a_fixed_normal() {
        for shape in shapes() {
            let surface = shape.surface(Vector3::zeros());
            assert!(surface.distance.is_finite() && (surface.normal.norm() - 1.0).abs() < 1e-12, "{shape:?}");
        }
    }
}
