//! Material laws along a line: one file each below `material/`, one line each in the registry [`LAWS`].
//!
//! A law gives the tension of a straight piece as a function of its stretch λ = length / unloaded length. Its numbers are either
//! forces (N: an axial stiffness EA and the like) or nominal stresses (Pa: force per unloaded area); whoever uses the law multiplies by
//! 1 or by the unloaded area. Energy is per unloaded length (J/m) or per volume (J/m³) then.
//!
//! Laws have no history: branches that creep, elements that slip and breakage are added in [`LineMaterial`].

use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// Tension as a function of stretch, with its potential and its derivative: pure functions.
pub trait AxialLaw: Debug + Send + Sync {
    /// Word of the law.
    fn id(&self) -> &'static str;

    /// ∫ tension dλ from 1 to `stretch`: zero at the unloaded length.
    fn energy(&self, stretch: f64) -> f64;

    /// Tension at `stretch` > 0, positive when pulling; zero at 1.
    fn tension(&self, stretch: f64) -> f64;

    /// d tension / d stretch; at a kink the value on the side of the larger stretch.
    fn tangent(&self, stretch: f64) -> f64;

    /// A bound on |tangent| between two stretches.
    fn tangent_bound(&self, low: f64, high: f64) -> f64;

    /// Stretches between which the law is known. Beyond them the functions above go on smoothly, so that an iteration can pass through,
    /// but an accepted state there is an error.
    fn known_range(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    /// Stretches at which the tangent jumps.
    fn kinks(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`MaterialError`] naming the first one out of range.
    fn validate(&self) -> Result<(), MaterialError>;
}

/// A law that no material can follow.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MaterialError {
    /// A number is out of range or not finite.
    #[error("{law}: {field} = {value}, must be {requirement}")]
    Value {
        /// Word of the law.
        law: &'static str,
        /// Field, with its index in lists.
        field: String,
        /// Value found.
        value: f64,
        /// What it must be.
        requirement: &'static str,
    },
    /// Two lists differ in length, or are too short.
    #[error("{law}: {strains} strains and {tensions} tensions; both must be equal and at least 2")]
    TableLength {
        /// Word of the law.
        law: &'static str,
        /// Number of strains.
        strains: usize,
        /// Number of tensions.
        tensions: usize,
    },
    /// Parameters that only together are impossible.
    #[error("{law}: {message}")]
    Together {
        /// Word of the law.
        law: &'static str,
        /// What does not fit, with numbers.
        message: String,
    },
}

fn value_error(
    law: &'static str,
    field: impl Into<String>,
    value: f64,
    requirement: &'static str,
) -> MaterialError {
    MaterialError::Value { law, field: field.into(), value, requirement }
}

fn positive(law: &'static str, field: &str, value: f64) -> Result<(), MaterialError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(value_error(law, field, value, "positive and finite"))
}

fn not_negative(law: &'static str, field: &str, value: f64) -> Result<(), MaterialError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(value_error(law, field, value, "finite and not negative"))
}

fn finite(law: &'static str, field: &str, value: f64) -> Result<(), MaterialError> {
    if value.is_finite() {
        return Ok(());
    }
    Err(value_error(law, field, value, "finite"))
}

/// A registry entry: enough to test the law without knowing it.
#[derive(Clone, Copy, Debug)]
pub struct LawInfo {
    /// Word, equal to [`AxialLaw::id`].
    pub id: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Where it is published.
    pub source: &'static str,
    /// What it does not do well.
    pub limitations: &'static str,
    /// An example whose every parameter acts, in units of the tension given.
    pub sample: fn(f64) -> Law,
}

macro_rules! laws {
    ($($module:ident::$name:ident),+ $(,)?) => {
        /// One of the laws. In files: a table whose `kind` is the word of the law.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        #[allow(missing_docs)] // the struct inside says it
        pub enum Law {
            $($name($module::$name)),+
        }

        impl Law {
            /// The law's functions.
            pub fn axial(&self) -> &dyn AxialLaw {
                match self { $(Self::$name(law) => law),+ }
            }
        }

        impl AxialLaw for Law {
            fn id(&self) -> &'static str {
                self.axial().id()
            }
            fn energy(&self, stretch: f64) -> f64 {
                self.axial().energy(stretch)
            }
            fn tension(&self, stretch: f64) -> f64 {
                self.axial().tension(stretch)
            }
            fn tangent(&self, stretch: f64) -> f64 {
                self.axial().tangent(stretch)
            }
            fn tangent_bound(&self, low: f64, high: f64) -> f64 {
                self.axial().tangent_bound(low, high)
            }
            fn known_range(&self) -> (f64, f64) {
                self.axial().known_range()
            }
            fn kinks(&self) -> Vec<f64> {
                self.axial().kinks()
            }
            fn validate(&self) -> Result<(), MaterialError> {
                self.axial().validate()
            }
        }

        $(impl From<$module::$name> for Law {
            fn from(law: $module::$name) -> Self {
                Self::$name(law)
            }
        })+

        /// Every law.
        pub const LAWS: &[LawInfo] = &[$($module::INFO),+];
    };
}

pub mod cable;
pub mod cubic;
mod line;
pub mod linear;
pub mod mooney_rivlin;
pub mod neo_hooke;
pub mod ogden;
pub mod rope;
pub mod table;

laws! {
    linear::Linear,
    cubic::Cubic,
    table::Table,
    cable::Cable,
    rope::Rope,
    neo_hooke::NeoHooke,
    mooney_rivlin::MooneyRivlin,
    ogden::Ogden,
}

// shared: line
pub use line::{Branch, Break, HistoryStart, LineMaterial, Past, Response, SlipElement};

/// Unloaded length in m of a part of the unloaded length `rest_length` at the reference temperature, `temperature_change` K above it:
/// heat moves the length at which there is no tension and leaves the law as it is.
///
/// # Limitations
/// A linear expansion coefficient in 1/K; moduli do not change with temperature.
pub fn expanded(rest_length: f64, expansion_coefficient: f64, temperature_change: f64) -> f64 {
    rest_length * (1.0 + expansion_coefficient * temperature_change)
}
