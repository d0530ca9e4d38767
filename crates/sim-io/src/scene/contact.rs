//! Rigid bodies, contact and cables of a scene that is solved by constraints.

use super::support::Selection;
use super::words::kinds;
use serde::de::{Error, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer};
use sim_core::Motion;
use std::fmt;

/// Coulomb friction: one number, or `{ static = …, kinetic = … }`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrictionSpec {
    /// While sticking.
    pub sticking: f64,
    /// While sliding.
    pub sliding: f64,
}

impl<'de> Deserialize<'de> for FrictionSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Both {
            r#static: f64,
            kinetic: f64,
        }
        struct Forms;
        impl<'de> Visitor<'de> for Forms {
            type Value = FrictionSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a coefficient of friction or { static = …, kinetic = … }")
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<FrictionSpec, E> {
                Ok(FrictionSpec { sticking: value, sliding: value })
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<FrictionSpec, E> {
                self.visit_f64(value as f64)
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<FrictionSpec, E> {
                self.visit_f64(value as f64)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FrictionSpec, A::Error> {
                let both = Both::deserialize(MapAccessDeserializer::new(map))?;
                Ok(FrictionSpec { sticking: both.r#static, sliding: both.kinetic })
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

kinds! {
    /// Shape of a collider, in its own frame.
    ShapeSpec {
        /// The half space below a plane through the origin.
        "plane" => Plane(PlaneSpec),
        /// A ball.
        "sphere" => Sphere(SphereSpec),
        /// All points within a radius of a segment.
        "capsule" => Capsule(CapsuleSpec),
        /// A box.
        "box" => Box(BoxSpec),
        /// A round drum, with flanges if wanted.
        "cylinder" => Cylinder(CylinderSpec),
        /// A triangle mesh, solid from both sides.
        "mesh" => Mesh(MeshSpec),
    }
}

/// A half space.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaneSpec {
    /// Out of the solid (any length).
    pub normal: [f64; 3],
}

/// A ball.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SphereSpec {
    /// m.
    pub radius: f64,
}

/// A capsule around the origin.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapsuleSpec {
    /// m.
    pub radius: f64,
    /// Length in m of its straight part.
    pub length: f64,
    /// Direction of its axis (any length).
    #[serde(default = "z_axis")]
    pub axis: [f64; 3],
}

/// A box around the origin, its edges along the axes.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoxSpec {
    /// Lengths of its edges in m.
    pub size: [f64; 3],
}

/// A drum around the origin.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CylinderSpec {
    /// m.
    pub radius: f64,
    /// Length of the drum in m, without flanges.
    pub length: f64,
    /// Direction of its axis (any length).
    #[serde(default = "z_axis")]
    pub axis: [f64; 3],
    /// Flanges at both ends, if any.
    pub flange: Option<FlangeSpec>,
}

/// Two discs at the ends of a drum.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlangeSpec {
    /// m, more than that of the drum.
    pub radius: f64,
    /// Thickness in m.
    pub thickness: f64,
}

/// A mesh file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshSpec {
    /// OBJ file, relative to the scene file.
    pub file: String,
    /// Factor that makes its coordinates m.
    #[serde(default = "one")]
    pub scale: f64,
}

kinds! {
    /// How a collider turns about an axis through its place.
    RotationSpec {
        /// At a given angular velocity.
        "speed" => Speed(SpeedSpec),
        /// Under a torque and what the parts do to it.
        "torque" => Torque(TorqueSpec),
    }
}

/// Spinning at a speed.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpeedSpec {
    /// Axis of rotation (any length).
    #[serde(default = "z_axis")]
    pub axis: [f64; 3],
    /// rad/s.
    pub angular_velocity: f64,
}

/// Turned by a torque.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TorqueSpec {
    /// Axis of rotation (any length).
    #[serde(default = "z_axis")]
    pub axis: [f64; 3],
    /// Constant torque in N·m.
    pub torque: f64,
    /// Moment of inertia in kg·m².
    pub inertia: f64,
    /// Bearing drag in N·m·s.
    #[serde(default)]
    pub drag: f64,
}

/// A rigid body that parts touch.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColliderSpec {
    /// Id.
    pub id: String,
    /// Its shape.
    pub shape: ShapeSpec,
    /// Place of its origin in m; instead of `motion`.
    pub place: Option<[f64; 3]>,
    /// Path of its origin; instead of `place`.
    pub motion: Option<Motion>,
    /// Rotation vector in rad by which it is turned before the start.
    #[serde(default)]
    pub turn: [f64; 3],
    /// How it turns; absent = it does not.
    pub rotation: Option<RotationSpec>,
    /// Friction with parts.
    #[serde(default)]
    pub friction: FrictionSpec,
    /// Restitution with parts, 0 to 1.
    #[serde(default)]
    pub restitution: f64,
}

/// What of a part touches colliders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Features {
    /// Particles, segments and faces.
    #[default]
    All,
    /// Particles alone: a polygon that leans on its corners.
    Particles,
}

/// Contact of parts with each other and themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BetweenParts {
    /// Friction.
    pub friction: FrictionSpec,
    /// Restitution, 0 to 1.
    pub restitution: f64,
}

/// How parts touch.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContactSpec {
    /// Ids of the parts that touch anything; all when absent.
    pub parts: Option<Vec<String>>,
    /// Thickness in m of these parts.
    pub thickness: f64,
    /// What of them touches.
    pub features: Features,
    /// Contact between parts, self-contact included; none when absent.
    pub between_parts: Option<BetweenParts>,
    /// Distance in m from which contacts are prepared; half the thickness when absent.
    pub margin: Option<f64>,
    /// Approach speed in m/s below which nothing bounces.
    pub bounce_speed: Option<f64>,
    /// Largest speed in m/s at which overlapping parts are let out.
    pub depenetration_speed: Option<f64>,
}

/// A particle that a cable passes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CablePoint {
    /// Part.
    pub part: String,
    /// One particle of it.
    pub at: Selection,
}

/// A massless cable that runs without friction through rings and blocks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CableSpec {
    /// Id.
    pub id: String,
    /// The particles that it passes, in order; a block may be passed again.
    pub through: Vec<CablePoint>,
    /// Unloaded length in m; that of the path at the start when absent.
    pub length: Option<f64>,
    /// EA in N.
    pub axial_stiffness: f64,
}

fn z_axis() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}

fn one() -> f64 {
    1.0
}
