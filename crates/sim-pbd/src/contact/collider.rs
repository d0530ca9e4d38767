//! Rigid bodies that parts touch: fixed, moved, turned at a speed, or turned by a torque.

use crate::constraint::ValueError;
use crate::contact::shapes::{Cylinder, Shape, Triangle};
use crate::contact::{Friction, restitution};
use nalgebra::{UnitQuaternion, Vector3};
use sim_core::Motion;

/// A convex shape at a place in the frame of its collider.
#[derive(Debug)]
pub struct Piece {
    /// The shape.
    pub shape: Box<dyn Shape>,
    /// Its origin in the frame of the collider, m.
    pub offset: [f64; 3],
}

/// How a collider turns about an axis through its origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rotation {
    /// Not at all.
    Held,
    /// At a given angular velocity.
    Speed {
        /// Unit vector in space.
        axis: [f64; 3],
        /// rad/s.
        angular_velocity: f64,
    },
    /// Freely under a torque and what the parts do to it; its angular velocity is part of the state.
    Torque {
        /// Unit vector in space.
        axis: [f64; 3],
        /// Moment of inertia about the axis in kg·m².
        inertia: f64,
        /// Constant torque about the axis in N·m.
        torque: f64,
        /// Bearing drag in N·m·s, not negative.
        drag: f64,
    },
}

/// A rigid body with prescribed path of its origin.
#[derive(Debug)]
pub struct Collider {
    /// Convex pieces that make up the body.
    pub pieces: Vec<Piece>,
    /// Path of its origin.
    pub path: Motion,
    /// Orientation at angle 0.
    pub orientation: UnitQuaternion<f64>,
    /// Rotation.
    pub rotation: Rotation,
    /// Friction with parts.
    pub friction: Friction,
    /// Restitution with parts, 0 to 1.
    pub restitution: f64,
}

impl Collider {
    /// A fixed shape at `place` (m), without friction and restitution.
    pub fn fixed(shape: impl Shape + 'static, place: [f64; 3]) -> Self {
        Self {
            pieces: vec![Piece { shape: Box::new(shape), offset: [0.0; 3] }],
            path: Motion::Linear { start: place, velocity: [0.0; 3] },
            orientation: UnitQuaternion::identity(),
            rotation: Rotation::Held,
            friction: Friction::NONE,
            restitution: 0.0,
        }
    }

    /// A drum about the z axis with two flanges.
    pub fn pulley(
        radius: f64,
        half_width: f64,
        flange_radius: f64,
        flange_thickness: f64,
        place: [f64; 3],
    ) -> Self {
        let mut result = Self::fixed(Cylinder { radius, half_length: half_width }, place);
        for side in [-1.0, 1.0] {
            let flange = Cylinder { radius: flange_radius, half_length: 0.5 * flange_thickness };
            let offset = [0.0, 0.0, side * (half_width + 0.5 * flange_thickness)];
            result.pieces.push(Piece { shape: Box::new(flange), offset });
        }
        result
    }

    /// A triangle mesh, solid from both sides.
    pub fn mesh(points: &[[f64; 3]], triangles: &[[u32; 3]], place: [f64; 3]) -> Self {
        let mut result = Self::fixed(Cylinder { radius: 1.0, half_length: 1.0 }, place);
        result.pieces = triangles
            .iter()
            .map(|t| Piece {
                shape: Box::new(Triangle { corners: t.map(|i| points[i as usize]) }),
                offset: [0.0; 3],
            })
            .collect();
        result
    }

    /// The same with friction.
    #[must_use]
    pub fn with_friction(mut self, friction: Friction) -> Self {
        self.friction = friction;
        self
    }

    /// The same with restitution.
    #[must_use]
    pub fn with_restitution(mut self, restitution: f64) -> Self {
        self.restitution = restitution;
        self
    }

    /// The same, turning.
    #[must_use]
    pub fn with_rotation(mut self, rotation: Rotation) -> Self {
        self.rotation = rotation;
        self
    }

    /// Checks shapes, path and ranges.
    ///
    /// # Errors
    /// [`ValueError`] naming the field.
    pub fn validate(&self) -> Result<(), ValueError> {
        self.pieces.iter().try_for_each(|piece| piece.shape.validate())?;
        self.path.validate().map_err(|_| ValueError {
            field: "path",
            value: f64::NAN,
            requirement: "a finite path with increasing times",
        })?;
        self.friction.validate()?;
        restitution(self.restitution)?;
        let unit = |axis: [f64; 3]| {
            let value = Vector3::from(axis).norm();
            if (value - 1.0).abs() < 1e-9 {
                return Ok(());
            }
            Err(ValueError { field: "axis", value, requirement: "of unit length" })
        };
        match self.rotation {
            Rotation::Held => Ok(()),
            Rotation::Speed { axis, angular_velocity } => {
                unit(axis)?;
                ValueError::finite("angular_velocity", angular_velocity)
            }
            Rotation::Torque { axis, inertia, torque, drag } => {
                unit(axis)?;
                ValueError::positive("inertia", inertia)?;
                ValueError::finite("torque", torque)?;
                ValueError::not_negative("drag", drag)
            }
        }
    }

    pub(crate) fn axis(&self) -> Vector3<f64> {
        match self.rotation {
            Rotation::Held => Vector3::z(),
            Rotation::Speed { axis, .. } | Rotation::Torque { axis, .. } => Vector3::from(axis),
        }
    }

    /// 1/(kg·m²), 0 unless a torque drives it.
    pub(crate) fn inverse_inertia(&self) -> f64 {
        if let Rotation::Torque { inertia, .. } = self.rotation { 1.0 / inertia } else { 0.0 }
    }

    pub(crate) fn pose(&self, t: f64, angle: f64) -> Pose {
        let turn = UnitQuaternion::from_scaled_axis(self.axis() * angle);
        Pose { origin: Vector3::from(self.path.at(t).0), orientation: turn * self.orientation }
    }
}

/// A place and an orientation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pose {
    pub origin: Vector3<f64>,
    pub orientation: UnitQuaternion<f64>,
}

impl Pose {
    pub(crate) fn into_local(self, p: Vector3<f64>) -> Vector3<f64> {
        self.orientation.inverse_transform_vector(&(p - self.origin))
    }
}

/// A collider within a substep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColliderState {
    /// Angle and angular velocity about the axis: the part in `State::internal`.
    pub angle: f64,
    pub angular_velocity: f64,
    pub angle_start: f64,
    pub start: Pose,
    pub end: Pose,
    pub axis: Vector3<f64>,
    pub inverse_inertia: f64,
}

impl ColliderState {
    pub(crate) fn new(collider: &Collider, t: f64) -> Self {
        let angular_velocity = match collider.rotation {
            Rotation::Speed { angular_velocity, .. } => angular_velocity,
            _ => 0.0,
        };
        let pose = collider.pose(t, 0.0);
        Self {
            angle: 0.0,
            angular_velocity,
            angle_start: 0.0,
            start: pose,
            end: pose,
            axis: collider.axis(),
            inverse_inertia: collider.inverse_inertia(),
        }
    }

    /// Free motion to the end of the substep.
    pub(crate) fn predict(&mut self, collider: &Collider, t0: f64, t1: f64) {
        let dt = t1 - t0;
        self.angle_start = self.angle;
        self.start = collider.pose(t0, self.angle);
        match collider.rotation {
            Rotation::Held => {}
            Rotation::Speed { angular_velocity, .. } => self.angular_velocity = angular_velocity,
            Rotation::Torque { inertia, torque, drag, .. } => {
                // Drag implicitly: it can only slow down.
                self.angular_velocity =
                    (self.angular_velocity + dt * torque / inertia) / (1.0 + dt * drag / inertia);
            }
        }
        self.angle += dt * self.angular_velocity;
        self.end = collider.pose(t1, self.angle);
    }

    /// Angular velocity from the way that was made.
    pub(crate) fn finish(&mut self, dt: f64) {
        if self.inverse_inertia > 0.0 {
            self.angular_velocity = (self.angle - self.angle_start) / dt;
        }
    }

    /// How the material point now at `p` moved since the start of the substep.
    pub(crate) fn displacement(&self, p: Vector3<f64>) -> Vector3<f64> {
        let r = p - self.end.origin;
        let turned = self.angle - self.angle_start;
        let moved = self.end.origin - self.start.origin;
        if turned == 0.0 {
            return moved;
        }
        // Rodrigues' formula backwards; the part along the axis does not move.
        let across = self.axis.cross(&r);
        let (sin, cos) = turned.sin_cos();
        let inward = self.axis.cross(&across);
        moved + across * sin + inward * (cos - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displacement_is_that_of_the_material_point() {
        let axis = Vector3::new(1.0, 2.0, 2.0) / 3.0;
        let collider = Collider::fixed(Cylinder { radius: 1.0, half_length: 1.0 }, [0.3, 0.1, 0.2])
            .with_rotation(Rotation::Speed { axis: axis.into(), angular_velocity: 7.0 });
        let mut state = ColliderState::new(&collider, 0.0);
        state.predict(&collider, 0.0, 0.1);
        let local = Vector3::new(0.5, -0.2, 0.9);
        let before = state.start.origin + state.start.orientation * local;
        let after = state.end.origin + state.end.orientation * local;
        assert!((after - before).norm() > 0.3);
        assert!((state.displacement(after) - (after - before)).amax() < 1e-14);
        assert!((state.end.into_local(after) - local).amax() < 1e-14);
    }
}
