//! Forces on parts.

use super::support::Selection;
use super::words::kinds;
use serde::Deserialize;

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
    /// How it changes with time; absent = constant.
    pub history: Option<History>,
}

kinds! {
    /// A factor over time.
    History {
        /// From 0 to 1, straight, between two times; 1 ever after.
        "ramp" => Ramp(Ramp),
        /// `sin(2π frequency t + phase)`.
        "sinusoid" => Sinusoid(Sinusoid),
        /// Straight between points; constant before the first and after the last.
        "table" => Table(Table),
    }
}

/// A rise from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ramp {
    /// Begin in s.
    #[serde(default)]
    pub from: f64,
    /// End in s, after the begin.
    pub until: f64,
}

/// A sine.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sinusoid {
    /// Hz.
    pub frequency: f64,
    /// rad.
    #[serde(default)]
    pub phase: f64,
}

/// Points of a broken line.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Strictly increasing times in s.
    pub times: Vec<f64>,
    /// One factor per time.
    pub values: Vec<f64>,
}

/// Drag on each particle of a part: `-(linear + quadratic |v|) v`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AirDragSpec {
    /// Part; absent = every part.
    pub part: Option<String>,
    /// N·s/m per particle.
    #[serde(default)]
    pub linear: f64,
    /// N·s²/m² per particle.
    #[serde(default)]
    pub quadratic: f64,
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
    pub density: f64,
    /// Drag coefficient across a face, dimensionless.
    #[serde(default = "one")]
    pub normal: f64,
    /// Drag coefficient along a face, dimensionless.
    #[serde(default)]
    pub tangential: f64,
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
