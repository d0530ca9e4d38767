//! Parts: what is simulated, described once in physical terms.

use super::contact::FrictionSpec;
use super::law::LawSpec;
use super::words::kinds;
use crate::mesh::Mending;
use serde::Deserialize;

kinds! {
    /// A flexible part.
    Part {
        /// A line of particles.
        "rope" => Rope(Rope),
        /// A closed line of particles, round a circle or round pulleys.
        "belt" => Belt(Belt),
        /// A helical spring, as its axial motion.
        "coil" => Coil(Coil),
        /// A rectangle of fabric.
        "cloth" => Cloth(Cloth),
        /// Fabric in the shape of a mesh file.
        "mesh" => Mesh(MeshPart),
        /// Particles and springs one by one.
        "particles" => Particles(Particles),
    }
}

impl Part {
    /// Id by which pins, forces and probes name the part.
    pub fn id(&self) -> &str {
        match self {
            Self::Rope(part) => &part.id,
            Self::Belt(part) => &part.id,
            Self::Coil(part) => &part.id,
            Self::Cloth(part) => &part.id,
            Self::Mesh(part) => &part.id,
            Self::Particles(part) => &part.id,
        }
    }

    /// The model that it asks for.
    pub fn model(&self) -> Option<Model> {
        match self {
            Self::Rope(part) => part.model,
            Self::Belt(part) => part.model,
            Self::Coil(part) => part.model,
            Self::Cloth(part) => part.model,
            Self::Mesh(part) => part.model,
            Self::Particles(part) => part.model,
        }
    }

    /// Name of the material it is made of, if it names one.
    pub fn material(&self) -> Option<&str> {
        match self {
            Self::Rope(part) => part.material.as_deref(),
            Self::Belt(part) => part.material.as_deref(),
            Self::Coil(part) => part.material.as_deref(),
            Self::Cloth(part) => part.material.as_deref(),
            Self::Mesh(part) => part.material.as_deref(),
            Self::Particles(_) => None,
        }
    }
}

/// How the physical description becomes unknowns. The scene says it once per part; the description stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// Point masses and springs.
    MassSpring,
    /// Point masses and constraints with the compliance of these springs; needs the method `xpbd`.
    Xpbd,
}

/// Shape of a rope before the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RopeShape {
    /// On the straight line between its ends.
    #[default]
    Straight,
    /// Along the hanging chain of its `length` between its ends, sagging along `down`.
    Hanging,
}

/// Cross-section of a rope or belt.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Section {
    /// A full circle; diameter in m.
    Diameter(f64),
    /// Area in m²; its shape, and so its bending stiffness, is not said.
    Area(f64),
    /// A rectangle `[width, height]` in m that bends over its height.
    Rectangle([f64; 2]),
}

impl Section {
    /// Area in m².
    pub fn area(&self) -> f64 {
        match *self {
            Self::Diameter(d) => 0.25 * std::f64::consts::PI * d * d,
            Self::Area(area) => area,
            Self::Rectangle([width, height]) => width * height,
        }
    }
}

/// A rope, cord, cable or string.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rope {
    /// Id.
    pub id: String,
    /// How it is laid out; that of the method when absent.
    pub model: Option<Model>,
    /// Name of an entry of `[material]` that gives `youngs_modulus` and `density`.
    pub material: Option<String>,
    /// First end in m.
    pub from: [f64; 3],
    /// Last end in m.
    pub to: [f64; 3],
    /// Number of segments, at least 1; it has one particle more.
    pub segments: usize,
    /// Shape before the start.
    #[serde(default)]
    pub shape: RopeShape,
    /// Where a hanging shape sags to (any length).
    #[serde(default = "downwards")]
    pub down: [f64; 3],
    /// Unloaded length in m; by default the length of the shape.
    pub length: Option<f64>,
    /// Tension in N in the given shape; the unloaded length follows. Instead of `length`.
    pub tension: Option<f64>,
    /// Axial stiffness EA in N. Instead of `youngs_modulus` and `section`.
    pub axial_stiffness: Option<f64>,
    /// Young's modulus in Pa.
    pub youngs_modulus: Option<f64>,
    /// Cross-section.
    pub section: Option<Section>,
    /// Mass per unloaded length in kg/m. Instead of `density` and `section`.
    pub linear_density: Option<f64>,
    /// Density in kg/m³.
    pub density: Option<f64>,
    /// Viscous axial damping in N·s: tension per strain rate. A segment of length h gets the dashpot `axial_damping / h`.
    #[serde(default)]
    pub axial_damping: f64,
    /// Bending stiffness EI in N·m².
    #[serde(default)]
    pub bending_stiffness: f64,
    /// Material law, instead of `axial_stiffness`.
    pub law: Option<LawSpec>,
}

/// A pulley that a belt lies on before the start.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pulley {
    /// Center in m.
    pub center: [f64; 3],
    /// Radius of the belt line in m.
    pub radius: f64,
    /// How it turns; all pulleys of a belt or none. With it the belt is a drive: held by contact and friction alone.
    pub drive: Option<PulleyDrive>,
    /// Friction with the belt; a drive needs it.
    pub friction: Option<FrictionSpec>,
}

kinds! {
    /// How a pulley of a belt drive turns about the belt's normal.
    PulleyDrive {
        /// At a given angular velocity.
        "speed" => Speed(PulleySpeed),
        /// Under a torque and the belt.
        "torque" => Torque(PulleyTorque),
    }
}

/// A pulley that turns at a speed.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PulleySpeed {
    /// rad/s, counterclockwise about the normal.
    pub angular_velocity: f64,
}

/// A pulley with inertia.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PulleyTorque {
    /// N·m, counterclockwise: a load that brakes a counterclockwise belt is negative.
    pub torque: f64,
    /// kg·m².
    pub inertia: f64,
    /// Bearing drag in N·m·s.
    #[serde(default)]
    pub drag: f64,
}

/// A belt: a closed line along the outer tangents of its pulleys; a circle when there is one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Belt {
    /// Id.
    pub id: String,
    /// How it is laid out; that of the method when absent.
    pub model: Option<Model>,
    /// Name of an entry of `[material]` that gives `youngs_modulus` and `density`.
    pub material: Option<String>,
    /// Pulleys in the order in which the belt passes them.
    pub pulleys: Vec<Pulley>,
    /// Normal of the plane of the belt.
    #[serde(default = "z_axis")]
    pub normal: [f64; 3],
    /// Speed in m/s at which a belt drive starts, its pulleys that torques turn included.
    #[serde(default)]
    pub initial_speed: f64,
    /// Number of segments, at least 3; as many particles.
    pub segments: usize,
    /// Unloaded length in m; by default that of the shape.
    pub length: Option<f64>,
    /// Tension in N in the given shape; the unloaded length follows. Instead of `length`.
    pub tension: Option<f64>,
    /// Axial stiffness EA in N. Instead of `youngs_modulus` and `section`.
    pub axial_stiffness: Option<f64>,
    /// Young's modulus in Pa.
    pub youngs_modulus: Option<f64>,
    /// Cross-section.
    pub section: Option<Section>,
    /// Mass per unloaded length in kg/m. Instead of `density` and `section`.
    pub linear_density: Option<f64>,
    /// Density in kg/m³.
    pub density: Option<f64>,
    /// Viscous axial damping in N·s, as for a rope.
    #[serde(default)]
    pub axial_damping: f64,
    /// Bending stiffness EI in N·m².
    #[serde(default)]
    pub bending_stiffness: f64,
}

impl Belt {
    /// Whether its pulleys turn and hold it.
    pub fn is_drive(&self) -> bool {
        self.pulleys.iter().any(|pulley| pulley.drive.is_some())
    }
}

/// A close-coiled helical spring of round wire.
///
/// # Limitations
/// Its axial motion only: a chain of particles on the axis with the rate `k = G d⁴ / (8 D³ n)` and the wire's mass spread evenly.
/// It has no shear and no bending stiffness of its own, and its turns may pass through each other. The helix is drawn, not simulated.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coil {
    /// Id.
    pub id: String,
    /// How it is laid out; that of the method when absent.
    pub model: Option<Model>,
    /// Name of an entry of `[material]` that gives `shear_modulus` and `density`.
    pub material: Option<String>,
    /// First end of the axis in m.
    pub from: [f64; 3],
    /// Direction of the axis from there (any length).
    pub axis: [f64; 3],
    /// Unloaded length of the active turns in m.
    pub free_length: f64,
    /// Mean coil diameter D in m.
    pub coil_diameter: f64,
    /// Wire diameter d in m.
    pub wire_diameter: f64,
    /// Active turns n.
    pub turns: f64,
    /// Shear modulus G in Pa.
    pub shear_modulus: Option<f64>,
    /// Density of the wire in kg/m³.
    pub density: Option<f64>,
    /// Number of axial segments, at least 1.
    pub segments: usize,
    /// Length in m before the start, evenly stretched; by default `free_length`.
    pub length: Option<f64>,
    /// Viscous damping of the whole spring in N·s/m.
    #[serde(default)]
    pub damping: f64,
}

/// Pattern of a cloth grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Faces {
    /// Quads with both diagonals as shear springs.
    #[default]
    Quads,
    /// Two triangles per cell.
    Triangles,
}

/// A rectangle of fabric.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cloth {
    /// Id.
    pub id: String,
    /// How it is laid out; that of the method when absent.
    pub model: Option<Model>,
    /// Name of an entry of `[material]` that gives `youngs_modulus` and `density`.
    pub material: Option<String>,
    /// Corner of column 0 and row 0 in m.
    #[serde(default)]
    pub origin: [f64; 3],
    /// Direction of its width (any length).
    #[serde(default = "x_axis")]
    pub width_direction: [f64; 3],
    /// Direction of its height (any length), at right angles to the width.
    #[serde(default = "y_axis")]
    pub height_direction: [f64; 3],
    /// Width in m.
    pub width: f64,
    /// Height in m.
    pub height: f64,
    /// Cells along the width, at least 1; there is one particle more.
    pub columns: usize,
    /// Cells along the height, at least 1; there is one particle more.
    pub rows: usize,
    /// Pattern.
    #[serde(default)]
    pub faces: Faces,
    /// Tension per width and strain, E·thickness, in N/m. Instead of `youngs_modulus` and `thickness`.
    pub membrane_stiffness: Option<f64>,
    /// Young's modulus in Pa.
    pub youngs_modulus: Option<f64>,
    /// Thickness in m.
    pub thickness: Option<f64>,
    /// Shear force per width and angle, G·thickness, in N/m (quads only).
    #[serde(default)]
    pub shear_stiffness: f64,
    /// Bending moment per width and curvature in N·m.
    #[serde(default)]
    pub bending_stiffness: f64,
    /// Mass per area in kg/m². Instead of `density` and `thickness`.
    pub areal_density: Option<f64>,
    /// Density in kg/m³.
    pub density: Option<f64>,
    /// Viscous damping in s: every spring of stiffness k gets the dashpot `k · damping_time`.
    #[serde(default)]
    pub damping_time: f64,
}

/// Fabric in the shape of a mesh file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshPart {
    /// Id.
    pub id: String,
    /// How it is laid out; that of the method when absent.
    pub model: Option<Model>,
    /// Name of an entry of `[material]` that gives `youngs_modulus` and `density`.
    pub material: Option<String>,
    /// OBJ file, relative to the scene file.
    pub file: String,
    /// Defects to mend; all others are refused.
    #[serde(default)]
    pub mend: Vec<Mending>,
    /// Factor on the file's coordinates that makes them m.
    #[serde(default = "one")]
    pub scale: f64,
    /// Shift in m, after scaling.
    #[serde(default)]
    pub translate: [f64; 3],
    /// Tension per width and strain, E·thickness, in N/m. Instead of `youngs_modulus` and `thickness`.
    pub membrane_stiffness: Option<f64>,
    /// Young's modulus in Pa.
    pub youngs_modulus: Option<f64>,
    /// Thickness in m.
    pub thickness: Option<f64>,
    /// Shear force per width and angle, G·thickness, in N/m (quads only).
    #[serde(default)]
    pub shear_stiffness: f64,
    /// Bending moment per width and curvature in N·m.
    #[serde(default)]
    pub bending_stiffness: f64,
    /// Mass per area in kg/m². Instead of `density` and `thickness`.
    pub areal_density: Option<f64>,
    /// Density in kg/m³.
    pub density: Option<f64>,
    /// Viscous damping in s: every spring of stiffness k gets the dashpot `k · damping_time`.
    #[serde(default)]
    pub damping_time: f64,
}

/// One particle.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Particle {
    /// Position in m.
    pub position: [f64; 3],
    /// Mass in kg.
    pub mass: f64,
    /// Velocity in m/s.
    #[serde(default)]
    pub velocity: [f64; 3],
}

/// One spring between two particles of the same part.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpringSpec {
    /// Its two particles, counted within the part from 0.
    pub ends: [usize; 2],
    /// N/m; or `law`.
    pub stiffness: Option<f64>,
    /// Material law, whose moduli are forces per strain.
    pub law: Option<LawSpec>,
    /// Unloaded length in m; by default the distance of the ends.
    pub rest_length: Option<f64>,
    /// Dashpot in N·s/m.
    #[serde(default)]
    pub damping: f64,
}

/// Particles and springs one by one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Particles {
    /// Id.
    pub id: String,
    /// How it is laid out; that of the method when absent.
    pub model: Option<Model>,
    /// The particles.
    pub particles: Vec<Particle>,
    /// The springs.
    #[serde(default)]
    pub springs: Vec<SpringSpec>,
}

/// Elastic constants that parts share by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Material {
    /// Pa.
    pub youngs_modulus: Option<f64>,
    /// Pa; by default from Young's modulus and Poisson's ratio when both are given.
    pub shear_modulus: Option<f64>,
    /// Dimensionless, above -1 and at most 0.5.
    pub poisson_ratio: Option<f64>,
    /// kg/m³.
    pub density: Option<f64>,
}

impl Material {
    /// Shear modulus in Pa: given, or `E / (2 (1 + ν))`.
    pub fn shear(&self) -> Option<f64> {
        self.shear_modulus.or_else(|| Some(self.youngs_modulus? / (2.0 * (1.0 + self.poisson_ratio?))))
    }
}

fn downwards() -> [f64; 3] {
    [0.0, -1.0, 0.0]
}

fn one() -> f64 {
    1.0
}

fn x_axis() -> [f64; 3] {
    [1.0, 0.0, 0.0]
}

fn y_axis() -> [f64; 3] {
    [0.0, 1.0, 0.0]
}

fn z_axis() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}
