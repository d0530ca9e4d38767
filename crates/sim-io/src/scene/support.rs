//! Where a part is held, driven, weighted and set in motion.

use super::words::kinds;
use serde::de::{Error, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer};
use sim_core::Motion;
use std::fmt;

/// Which particles of a part.
#[derive(Clone, Debug, PartialEq)]
pub enum Selection {
    /// The first particle.
    Start,
    /// The last particle.
    End,
    /// Every particle.
    All,
    /// The corners of a cloth, in the order (first row: first and last column; last row: first and last column).
    Corners,
    /// The column 0 of a cloth.
    Left,
    /// The last column of a cloth.
    Right,
    /// The row 0 of a cloth.
    Bottom,
    /// The last row of a cloth.
    Top,
    /// One particle, counted within the part from 0.
    Index(usize),
    /// Several particles.
    List(Vec<usize>),
    /// The particle nearest to a point at the start; m.
    Place(PlaceSelection),
}

/// Particles chosen by where they are at the start.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PlaceSelection {
    /// The particle nearest to a point in m; of equals the first.
    Nearest([f64; 3]),
    /// Every particle in an axis-parallel box `[lowest, highest]` in m, borders included.
    Within([[f64; 3]; 2]),
}

impl Selection {
    /// The words that `at` takes.
    pub const WORDS: &'static [&'static str] =
        &["start", "end", "all", "corners", "left", "right", "bottom", "top"];
}

impl<'de> Deserialize<'de> for Selection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl<'de> Visitor<'de> for Forms {
            type Value = Selection;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a word such as \"start\" or \"end\", a particle number, a list of numbers, { nearest = [x, y, z] } or \
                     { within = [[x, y, z], [x, y, z]] }",
                )
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<Selection, E> {
                Ok(match word {
                    "start" => Selection::Start,
                    "end" => Selection::End,
                    "all" => Selection::All,
                    "corners" => Selection::Corners,
                    "left" => Selection::Left,
                    "right" => Selection::Right,
                    "bottom" => Selection::Bottom,
                    "top" => Selection::Top,
                    other => return Err(E::unknown_variant(other, Selection::WORDS)),
                })
            }
            fn visit_u64<E: Error>(self, index: u64) -> Result<Selection, E> {
                Ok(Selection::Index(index as usize))
            }
            fn visit_i64<E: Error>(self, index: i64) -> Result<Selection, E> {
                usize::try_from(index).map(Selection::Index).map_err(|_| {
                    E::invalid_value(serde::de::Unexpected::Signed(index), &"a particle number, 0 or more")
                })
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Selection, A::Error> {
                let mut indices = Vec::new();
                while let Some(index) = list.next_element()? {
                    indices.push(index);
                }
                Ok(Selection::List(indices))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Selection, A::Error> {
                PlaceSelection::deserialize(MapAccessDeserializer::new(map)).map(Selection::Place)
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

/// Particles that stay where they are.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// Part.
    pub part: String,
    /// Particles of the part.
    pub at: Selection,
}

/// What the positions of a drive are measured from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The origin of the scene.
    #[default]
    World,
    /// The place of each particle at the start.
    Initial,
}

/// Particles that move along a path.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drive {
    /// Part.
    pub part: String,
    /// Particles of the part.
    pub at: Selection,
    /// What positions are measured from.
    #[serde(default)]
    pub origin: Origin,
    /// Path over time.
    pub motion: Motion,
}

/// Extra mass on particles.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointMass {
    /// Part.
    pub part: String,
    /// Particles of the part.
    pub at: Selection,
    /// Mass in kg added to each of them.
    pub mass: f64,
}

kinds! {
    /// A departure from rest at the given shape.
    Initial {
        /// The same velocity for all chosen particles.
        "velocity" => Velocity(InitialVelocity),
        /// A shape added to the positions.
        "displacement" => Displacement(InitialDisplacement),
    }
}

/// Velocity at the start.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InitialVelocity {
    /// Part.
    pub part: String,
    /// Particles of the part.
    #[serde(default = "all")]
    pub at: Selection,
    /// m/s.
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Rotation in rad/s about `center`, added to the velocity.
    #[serde(default)]
    pub angular_velocity: [f64; 3],
    /// Center of the rotation in m.
    #[serde(default)]
    pub center: [f64; 3],
}

/// A shape along a rope, belt or coil, as a function of the fraction s of its length from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// `sin(mode π s)`: both ends at rest.
    Sine,
    /// `sin((mode - ½) π s)`: the start at rest, the end free.
    QuarterSine,
    /// `J₀(j₀ₙ sqrt(1 - s)) - J₀(j₀ₙ)…`: swing of a rope that hangs from its start, n = mode (at most 5).
    Hanging,
    /// A triangle with its tip at `s = 1/2`: a plucked string.
    Triangle,
    /// The same everywhere.
    Uniform,
}

/// Displacement at the start, after settling. Held and driven particles are not moved.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InitialDisplacement {
    /// Part.
    pub part: String,
    /// Shape.
    pub shape: Shape,
    /// Number of the mode, from 1.
    #[serde(default = "first")]
    pub mode: u32,
    /// Displacement in m where the shape is 1.
    pub amplitude: f64,
    /// Direction (any length).
    pub direction: [f64; 3],
}

/// Settles the scene statically before the start, by dynamic relaxation.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RelaxOptions {
    /// Largest remaining force on a free particle, relative to the largest force on any particle; above 0, below 1.
    pub relative_tolerance: f64,
    /// Iterations after which it is an error.
    pub max_iterations: u64,
}

impl Default for RelaxOptions {
    fn default() -> Self {
        Self { relative_tolerance: 1e-9, max_iterations: 2_000_000 }
    }
}

fn all() -> Selection {
    Selection::All
}

fn first() -> u32 {
    1
}
