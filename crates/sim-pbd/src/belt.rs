//! Belt drives: a closed belt of elastic segments around pulleys, held by contact and friction.
//!
//! The belt is a ring of particles on distance constraints; pulleys are drums that spin at a speed or turn under a torque.
//! Nothing is prescribed about wrap, slip or creep: they come out, and [`BeltReport`] reads them off.

use crate::constraint::{Bound, ValueError};
use crate::constraints::distance::Distance;
use crate::contact::shapes::Cylinder;
use crate::contact::{Collider, ContactOptions, Friction, Rotation, Skin};
use crate::system::{PbdError, PbdSystem};
use crate::xpbd::Xpbd;
use nalgebra::Vector2;
use serde::{Deserialize, Serialize};
use sim_core::{ParticleSystem, ParticleSystemBuilder, State};

mod path;
mod report;

pub use path::{BeltPath, PathError};
pub use report::{BeltReport, PulleyReport, SpanReport};

/// How a pulley turns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PulleyDrive {
    /// At a given angular velocity.
    Speed {
        /// rad/s, positive counter-clockwise.
        angular_velocity: f64,
    },
    /// Under a torque, with inertia.
    Torque {
        /// N·m about the axis, positive counter-clockwise; a load that brakes a counter-clockwise belt is negative.
        torque: f64,
        /// kg·m².
        inertia: f64,
        /// Bearing drag in N·m·s.
        drag: f64,
    },
}

/// One pulley, its axis along z.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pulley {
    /// Center in the plane of the belt, m.
    pub center: [f64; 2],
    /// Radius in m at which the belt runs. The drum behind is a little larger: the belt is a polygon, whose corners lie outside of the
    /// round belt that it stands for.
    pub radius: f64,
    /// How it turns.
    pub drive: PulleyDrive,
    /// Friction with the belt.
    pub friction: Friction,
}

/// A closed belt around pulleys, counter-clockwise, each touched from inside the loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BeltDrive {
    /// Pulleys in the order in which the belt meets them, counter-clockwise; at least two.
    pub pulleys: Vec<Pulley>,
    /// EA in N.
    pub axial_stiffness: f64,
    /// Mass per unloaded length in kg/m.
    pub mass_per_length: f64,
    /// Unloaded length of the belt in m; the pretension is EA (path / length − 1).
    pub rest_length: f64,
    /// Number of belt particles, at least 8.
    pub particles: usize,
    /// Speed in m/s at which the belt and all pulleys start.
    pub initial_speed: f64,
}

/// A belt drive that cannot be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BeltError {
    /// A number is out of range.
    #[error("belt drive")]
    Value(#[from] ValueError),
    /// The belt has no path around the pulleys.
    #[error("belt path")]
    Path(#[from] PathError),
    /// Too few particles for a pulley.
    #[error(
        "segments of {segment} m do not go round pulley {pulley} of radius {radius} m; use more particles"
    )]
    Coarse {
        /// Pulley.
        pulley: usize,
        /// Length of a segment in m.
        segment: f64,
        /// Radius in m.
        radius: f64,
    },
    /// The model could not be built.
    #[error("belt model")]
    Model(#[from] PbdError),
}

/// A belt drive ready to run.
#[derive(Debug)]
pub struct BeltModel {
    drive: BeltDrive,
    path: BeltPath,
    system: PbdSystem,
}

/// Radius of the corners of a polygon of such segments whose arcs between are as long as the segments: 2 sin(s/2R) of the corner
/// radius is a segment.
fn corner_radius(radius: f64, segment: f64) -> f64 {
    0.5 * segment / (0.5 * segment / radius).sin()
}

impl BeltDrive {
    /// Lays the belt along its path and builds the model; the state runs at the initial speed.
    ///
    /// # Errors
    /// [`BeltError`].
    pub fn build(self) -> Result<(BeltModel, State), BeltError> {
        ValueError::positive("axial_stiffness", self.axial_stiffness)?;
        ValueError::positive("mass_per_length", self.mass_per_length)?;
        ValueError::positive("rest_length", self.rest_length)?;
        ValueError::finite("initial_speed", self.initial_speed)?;
        if self.particles < 8 {
            let value = self.particles as f64;
            return Err(ValueError { field: "particles", value, requirement: "at least 8" }.into());
        }
        let circles: Vec<(Vector2<f64>, f64)> =
            self.pulleys.iter().map(|p| (Vector2::from(p.center), p.radius)).collect();
        let path = BeltPath::around(&circles)?;
        let n = self.particles;
        let segment = path.length() / n as f64;
        for (index, pulley) in self.pulleys.iter().enumerate() {
            // A segment that spans a right angle makes no round pulley.
            if segment > std::f64::consts::FRAC_PI_2 * pulley.radius {
                return Err(BeltError::Coarse { pulley: index, segment, radius: pulley.radius });
            }
        }
        let corners: Vec<(Vector2<f64>, f64)> =
            circles.iter().map(|&(center, radius)| (center, corner_radius(radius, segment))).collect();
        let laid = BeltPath::around(&corners)?;
        let mass = self.mass_per_length * self.rest_length / n as f64;
        let particles: ParticleSystem = ParticleSystemBuilder::new(vec![mass; n])
            .build()
            .map_err(|_| ValueError { field: "particle mass", value: mass, requirement: "positive" })?;
        let rest_length = self.rest_length / n as f64;
        let compliance = rest_length / self.axial_stiffness;
        let links = (0..n as u32)
            .map(|i| Bound::compliant([i, (i + 1) % n as u32], Distance { rest_length }, compliance));
        // A wide drum: the belt runs in its plane.
        let half_length = path.length();
        let mut builder = PbdSystem::builder(particles).distances(links);
        for pulley in &self.pulleys {
            let axis = [0.0, 0.0, 1.0];
            let rotation = match pulley.drive {
                PulleyDrive::Speed { angular_velocity } => Rotation::Speed { axis, angular_velocity },
                PulleyDrive::Torque { torque, inertia, drag } => {
                    Rotation::Torque { axis, inertia, torque, drag }
                }
            };
            let [x, y] = pulley.center;
            let drum = Cylinder { radius: corner_radius(pulley.radius, segment), half_length };
            builder = builder.collider(
                Collider::fixed(drum, [x, y, 0.0]).with_friction(pulley.friction).with_rotation(rotation),
            );
        }
        let margin = Some(0.1 * path.length() / n as f64);
        let system = builder
            .skin(Skin::balls(0.0, 0..n as u32))
            .contact_options(ContactOptions { margin, ..ContactOptions::default() })
            .build()?;
        let mut q = Vec::with_capacity(3 * n);
        let mut v = Vec::with_capacity(3 * n);
        for i in 0..n {
            let (place, tangent) = laid.at(laid.length() * i as f64 / n as f64);
            q.extend([place.x, place.y, 0.0]);
            v.extend([tangent.x * self.initial_speed, tangent.y * self.initial_speed, 0.0]);
        }
        let mut state = system.state_at_rest(q);
        state.v = v;
        for (i, pulley) in self.pulleys.iter().enumerate() {
            if let PulleyDrive::Torque { .. } = pulley.drive {
                state.internal[system.collider_internal(i) + 1] = self.initial_speed / pulley.radius;
            }
        }
        Ok((BeltModel { drive: self, path, system }, state))
    }
}

impl BeltModel {
    /// The model to step.
    pub fn system(&self) -> &PbdSystem {
        &self.system
    }

    /// The unloaded geometry.
    pub fn path(&self) -> &BeltPath {
        &self.path
    }

    /// What it was built from.
    pub fn drive(&self) -> &BeltDrive {
        &self.drive
    }

    /// Angular velocity in rad/s of a pulley.
    pub fn angular_velocity(&self, state: &State, pulley: usize) -> f64 {
        state.internal[self.system.collider_internal(pulley) + 1]
    }

    /// Tension in N of every segment after the last step (segment i lies between particles i and i + 1).
    pub fn tensions(&self, xpbd: &Xpbd) -> Vec<f64> {
        (0..self.drive.particles).map(|i| xpbd.constraint_force(&self.system, 0, i)).collect()
    }
}
