//! Forces on parts.

use super::support::Selection;
use super::words::kinds;
use serde::Deserialize;
use sim_core::TimeCurve;

kinds! {
    /// A force of the scene.
    ForceSpec {
        /// Uniform gravity on everything.
        "gravity" => Gravity(GravitySpec),
        /// Damping proportional to mass and velocity, on everything.
        "mass_damping" => MassDamping(MassDampingSpec),
        /// A load on particles.
        "point_load" => PointLoad(PointLoadSpec),
        /// Drag of still air on particles.
        "air_drag" => AirDrag(AirDragSpec),
        /// Drag on the segments of lines.
        "segment_drag" => SegmentDrag(SegmentDragSpec),
        /// Wind on the faces of a part.
        "wind" => Wind(WindSpec),
    }
}

/// Uniform gravity.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GravitySpec {
    /// m/s².
    #[serde(default = "standard_gravity")]
    pub acceleration: [f64; 3],
}

/// Damping `-rate · m · v`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MassDampingSpec {
    /// 1/s, not negative.
    pub rate: f64,
}

/// A load on each of some particles.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointLoadSpec {
    /// Part.
    pub part: String,
    /// Particles of the part.
    pub at: Selection,
    /// Force in N on each of them.
    pub force: [f64; 3],
    /// Factor over time; absent = constant.
    #[serde(default)]
    pub curve: TimeCurve,
}

/// Drag on every particle: `-(linear + quadratic |v|) v`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AirDragSpec {
    /// N·s/m per particle.
    #[serde(default)]
    pub linear: f64,
    /// N·s²/m² per particle.
    #[serde(default)]
    pub quadratic: f64,
    /// Speed in m/s up to which automatic substeps cover the quadratic drag; needed when there is any.
    pub bound_speed: Option<f64>,
}

/// Drag on the segments of ropes, belts and lines of springs, by the velocity of the air relative to each segment.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmentDragSpec {
    /// Part; absent = every part without faces.
    pub part: Option<String>,
    /// Across a segment, ½ · air density · drag coefficient · diameter, in kg/m².
    pub normal: f64,
    /// Along a segment, ½ · air density · friction coefficient · circumference, in kg/m².
    #[serde(default)]
    pub tangential: f64,
    /// Velocity of the air in m/s.
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Added velocity `gust · sin(2π gust_frequency t)` in m/s.
    #[serde(default)]
    pub gust: [f64; 3],
    /// Hz.
    #[serde(default)]
    pub gust_frequency: f64,
    /// Relative speed in m/s up to which automatic substeps cover the drag.
    pub bound_speed: f64,
}

/// Wind on the faces of a cloth or mesh, by the velocity of the air relative to each face.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindSpec {
    /// Part; absent = every part with faces.
    pub part: Option<String>,
    /// Velocity of the air in m/s.
    pub velocity: [f64; 3],
    /// Added velocity `gust · sin(2π gust_frequency t)` in m/s.
    #[serde(default)]
    pub gust: [f64; 3],
    /// Hz.
    #[serde(default)]
    pub gust_frequency: f64,
    /// Density of the air in kg/m³.
    #[serde(default = "air_density")]
    pub air_density: f64,
    /// Drag coefficient across a face, dimensionless.
    #[serde(default = "one")]
    pub normal_coefficient: f64,
    /// Friction coefficient along a face, dimensionless.
    #[serde(default)]
    pub tangential_coefficient: f64,
    /// Relative speed in m/s up to which automatic substeps cover the drag; by default twice the largest speed of the air.
    pub bound_speed: Option<f64>,
}

/// Standard gravity, downwards along y; CGPM 1901.
fn standard_gravity() -> [f64; 3] {
    [0.0, -9.80665, 0.0]
}

/// Dry air at 15 °C and 101325 Pa in the International Standard Atmosphere.
fn air_density() -> f64 {
    1.225
}

fn one() -> f64 {
    1.0
}
