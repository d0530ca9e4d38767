//! The tables of a scene file that are neither parts nor probes.

use super::contact::{CableSpec, ColliderSpec, ContactSpec};
use super::force::ForceSpec;
use super::part::{Material, Part};
use super::probe::{Expectation, Probe};
use super::source::Source;
use super::support::{Drive, Initial, Pin, PointMass, RelaxOptions};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// A scene: parts, supports, forces, method, time, output, probes and expectations. SI units throughout.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// What it is called.
    #[serde(rename = "scene")]
    pub header: Header,
    /// How long it runs.
    pub time: TimeOptions,
    /// How it is integrated.
    pub method: MethodOptions,
    /// Materials by name.
    #[serde(default, rename = "material")]
    pub materials: BTreeMap<String, Material>,
    /// Parts.
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
    /// Particles held in place.
    #[serde(default, rename = "pin")]
    pub pins: Vec<Pin>,
    /// Particles moved along a path.
    #[serde(default, rename = "drive")]
    pub drives: Vec<Drive>,
    /// Extra masses.
    #[serde(default, rename = "point_mass")]
    pub point_masses: Vec<PointMass>,
    /// Forces.
    #[serde(default, rename = "force")]
    pub forces: Vec<ForceSpec>,
    /// Rigid bodies that parts touch.
    #[serde(default, rename = "collider")]
    pub colliders: Vec<ColliderSpec>,
    /// How parts touch; absent = all parts, without thickness, if there are colliders.
    pub contact: Option<ContactSpec>,
    /// Cables that run through particles.
    #[serde(default, rename = "cable")]
    pub cables: Vec<CableSpec>,
    /// Static settling before the start; absent = none.
    pub relax: Option<RelaxOptions>,
    /// Velocities and displacements at the start.
    #[serde(default, rename = "initial")]
    pub initial: Vec<Initial>,
    /// What is recorded and written.
    #[serde(default)]
    pub output: OutputOptions,
    /// Named results.
    #[serde(default, rename = "probe")]
    pub probes: Vec<Probe>,
    /// What theory says about them.
    #[serde(default, rename = "expect")]
    pub expectations: Vec<Expectation>,
    /// Folder that file names in the scene are relative to; empty for built-in scenes.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Its text, so that errors found later can still name lines.
    #[serde(skip)]
    pub(crate) source: Source,
}

impl Scene {
    /// A hash of everything that it says, wherever its file lies and however that is laid out.
    pub(crate) fn fingerprint(&self) -> u64 {
        let said = Self { folder: PathBuf::new(), source: Source::default(), ..self.clone() };
        crate::checkpoint::fingerprint(format!("{said:?}").bytes())
    }
}

/// Names.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Lower-case letters, digits, `_` and `-`: names files.
    pub name: String,
    /// One line for people.
    #[serde(default)]
    pub title: String,
    /// What it shows.
    #[serde(default)]
    pub description: String,
}

/// Times in s.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeOptions {
    /// Length of the run in s, a whole number of frames.
    pub duration: f64,
    /// Time between frames in s: probes are sampled and substeps are chosen once per frame.
    #[serde(default = "sixtieth")]
    pub frame: f64,
    /// Time at the start in s.
    #[serde(default)]
    pub start: f64,
}

/// Integration method.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MethodOptions {
    /// Id of the method; `sim describe` lists them.
    pub id: String,
    /// Steps per frame.
    #[serde(default)]
    pub substeps: Substeps,
    /// Fraction of the stability limit that automatic substeps use; above 0, at most 1.
    #[serde(default = "nine_tenths")]
    pub safety: f64,
    /// Options of the method itself; `sim describe ID` lists them.
    #[serde(default)]
    pub options: toml::Table,
}

/// Steps per frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Substeps {
    /// From the stability limit of the system, anew for every frame.
    #[default]
    Auto,
    /// Always so many.
    Fixed(u32),
}

impl<'de> Deserialize<'de> for Substeps {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl Visitor<'_> for Forms {
            type Value = Substeps;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"auto\" or a whole number of steps per frame")
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<Substeps, E> {
                if word == "auto" { Ok(Substeps::Auto) } else { Err(E::unknown_variant(word, &["auto"])) }
            }
            fn visit_i64<E: Error>(self, count: i64) -> Result<Substeps, E> {
                u32::try_from(count).map(Substeps::Fixed).map_err(|_| {
                    E::invalid_value(
                        serde::de::Unexpected::Signed(count),
                        &"between 1 and 1000000 steps per frame",
                    )
                })
            }
            fn visit_u64<E: Error>(self, count: u64) -> Result<Substeps, E> {
                self.visit_i64(i64::try_from(count).unwrap_or(i64::MAX))
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

/// What a run records and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OutputOptions {
    /// Every how many frames positions are recorded for pictures, at least 1.
    pub every: u64,
    /// Write the series as CSV.
    pub csv: bool,
    /// Write frames for `ParaView`.
    pub vtk: bool,
    /// Write the HTML report.
    pub report: bool,
}

impl Default for OutputOptions {
    fn default() -> Self {
        Self { every: 1, csv: true, vtk: true, report: true }
    }
}

fn sixtieth() -> f64 {
    1.0 / 60.0
}

fn nine_tenths() -> f64 {
    0.9
}
