//! The tables of a structure's scene file.

pub mod analysis;

pub use analysis::{AnalysisSpec, HarmonicSpec, ModalSpec, StaticSpec, SteppedSpec, TransientSpec};

use super::probe::StructureProbe;
use super::reference::{NodeRef, NodeSelection};
use crate::scene::document::Header;
use crate::scene::error::SceneError;
use crate::scene::probe::Expectation;
use crate::scene::read;
use crate::scene::source::Source;
use crate::scene::words::kinds;
use serde::Deserialize;
use sim_fem::beam::Orientation;
use sim_fem::elements::MassKind;
use sim_fem::elements::nonlinear_truss::{StrainMeasure, Unstretched};
use sim_fem::load::{Direction, TimeFunction};
use sim_fem::material::SectionProperties;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A structure and what is to be found out about it. SI units throughout.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StructureScene {
    /// What it is called.
    #[serde(rename = "scene")]
    pub header: Header,
    /// Nodes and what holds for the whole structure.
    #[serde(default)]
    pub structure: StructureTable,
    /// Materials by name.
    #[serde(default, rename = "material")]
    pub materials: BTreeMap<String, StructureMaterial>,
    /// Cross-sections by name.
    #[serde(default, rename = "section")]
    pub sections: BTreeMap<String, SectionSpec>,
    /// Nodes with names; they are numbered after those of `structure.nodes`.
    #[serde(default, rename = "node")]
    pub named_nodes: Vec<NamedNode>,
    /// Members.
    #[serde(default, rename = "member")]
    pub members: Vec<MemberSpec>,
    /// Regular space trusses.
    #[serde(default, rename = "box_truss")]
    pub box_trusses: Vec<BoxTruss>,
    /// What holds it.
    #[serde(default, rename = "support")]
    pub supports: Vec<SupportSpec>,
    /// What acts on it.
    #[serde(default, rename = "load")]
    pub loads: Vec<LoadSpec>,
    /// What is computed.
    pub analysis: AnalysisSpec,
    /// What is written.
    #[serde(default)]
    pub output: StructureOutput,
    /// Named results.
    #[serde(default, rename = "probe")]
    pub probes: Vec<StructureProbe>,
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

/// Nodes and what holds for the whole structure.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StructureTable {
    /// Positions in m; numbered from 0.
    pub nodes: Vec<[f64; 3]>,
    /// An Abaqus or `CalculiX` input file whose nodes come first; members name its element sets.
    pub mesh: Option<String>,
    /// Everything stays in its plane of constant z: z, rx and ry of all nodes are held.
    pub planar: bool,
    /// `"consistent"` (default) or `"lumped"`.
    pub mass: MassWord,
    /// Damping C = a M + b K: `[a, b]` in 1/s and s.
    pub rayleigh: Option<[f64; 2]>,
}

/// How mass is spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MassWord {
    /// From the shape functions.
    #[default]
    Consistent,
    /// At the nodes.
    Lumped,
}

impl From<MassWord> for MassKind {
    fn from(word: MassWord) -> Self {
        match word {
            MassWord::Consistent => Self::Consistent,
            MassWord::Lumped => Self::Lumped,
        }
    }
}

/// A linear elastic material.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StructureMaterial {
    /// Pa.
    pub youngs_modulus: f64,
    /// Dimensionless, above -1 and at most 0.5.
    #[serde(default = "common_poisson_ratio")]
    pub poisson_ratio: f64,
    /// kg/m³; 0 has no mass.
    #[serde(default)]
    pub density: f64,
    /// Stress in Pa at which a member is used up; without it no utilisation is given.
    pub strength: Option<f64>,
}

fn common_poisson_ratio() -> f64 {
    0.3
}

kinds! {
    /// A cross-section.
    SectionSpec {
        /// Solid circle.
        "round" => Round(RoundSection),
        /// Hollow circle.
        "tube" => Tube(TubeSection),
        /// Solid rectangle.
        "rectangle" => Rectangle(RectangleSection),
        /// Doubly symmetric I.
        "i" => I(ISection),
        /// Given numbers.
        "numbers" => Numbers(SectionProperties),
    }
}

/// Solid circle.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundSection {
    /// m.
    pub diameter: f64,
}

/// Hollow circle.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TubeSection {
    /// m.
    pub outer_diameter: f64,
    /// Wall in m.
    pub thickness: f64,
}

/// Solid rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RectangleSection {
    /// Along local y in m.
    pub width: f64,
    /// Along local z in m.
    pub height: f64,
}

/// Doubly symmetric I.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ISection {
    /// Flanges along local y in m.
    pub width: f64,
    /// Overall along local z in m.
    pub height: f64,
    /// m.
    pub flange_thickness: f64,
    /// m.
    pub web_thickness: f64,
}

/// A node with a name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedNode {
    /// Name.
    pub id: String,
    /// m.
    pub at: [f64; 3],
}

/// Members of one kind. Which fields belong to which kind is said in `docs/scene-format.md`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemberSpec {
    /// Name of the group.
    pub id: String,
    /// Id of the element.
    pub kind: String,
    /// Material.
    pub material: Option<String>,
    /// Cross-section.
    pub section: Option<String>,
    /// Pairs of nodes, one member each.
    pub nodes: Option<Vec<[NodeRef; 2]>>,
    /// Two nodes joined by `divisions` members in a straight line; the nodes between are numbered after all others.
    pub between: Option<[NodeRef; 2]>,
    /// Nodes joined one after the other, each pair by `divisions` members.
    pub path: Option<Vec<NodeRef>>,
    /// How many members of equal length between two nodes; default 1.
    pub divisions: Option<usize>,
    /// Element set of two-node elements in the mesh.
    pub mesh_group: Option<String>,
    /// Nodes of `point_mass`, `ground_spring` and `dashpot`.
    pub at: Option<NodeSelection>,
    /// What is called strain.
    pub measure: Option<StrainMeasure>,
    /// Which length carries no force.
    pub unstretched: Option<UnstretchedSpec>,
    /// Turning of the section.
    pub orientation: Option<Orientation>,
    /// Dashpot of a `tension_cable` along its axis in N·s/m.
    pub axial_damping: Option<f64>,
    /// Gravity that a `catenary_cable` hangs under in m/s².
    pub gravity: Option<[f64; 3]>,
    /// kg.
    pub mass: Option<f64>,
    /// kg·m².
    pub rotary_inertia: Option<f64>,
    /// x y z in N/m, rx ry rz in N·m.
    pub stiffness: Option<[f64; 6]>,
    /// x y z in N·s/m, rx ry rz in N·m·s.
    pub damping: Option<[f64; 6]>,
}

/// Which length carries no force.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum UnstretchedSpec {
    /// Length in m of each member.
    Length(f64),
    /// Length in m of each line of members (`between`, or each leg of a `path`), shared evenly.
    TotalLength(f64),
    /// Times the distance of the nodes.
    Factor(f64),
    /// Such that the given shape carries this axial force in N.
    Pretension(f64),
}

impl UnstretchedSpec {
    /// For one of `divisions` members of a line.
    pub(super) fn of_one(self, divisions: usize) -> Unstretched {
        match self {
            Self::Length(length) => Unstretched::Length(length),
            Self::TotalLength(length) => Unstretched::Length(length / divisions as f64),
            Self::Factor(factor) => Unstretched::Factor(factor),
            Self::Pretension(force) => Unstretched::Pretension(force),
        }
    }
}

/// A long space truss of square cross-section along x: four longerons, in every bay a frame with a diagonal, and a diagonal in each face.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoxTruss {
    /// Name of the group of members.
    pub id: String,
    /// Number of bays.
    pub bays: usize,
    /// Length of a bay, width and height in m.
    pub bay: [f64; 3],
    /// Where node 0 is; default the origin.
    #[serde(default)]
    pub origin: [f64; 3],
    /// Material.
    pub material: String,
    /// Cross-section.
    pub section: String,
}

/// What holds nodes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SupportSpec {
    /// Nodes.
    pub at: NodeSelection,
    /// Directions.
    pub fix: FixSpec,
    /// Displacement in m or rad that the support imposes; default 0.
    #[serde(default)]
    pub value: f64,
    /// How the displacement changes with time.
    #[serde(default)]
    pub function: TimeFunction,
}

/// Directions of a support.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "\"pin\", \"clamp\" or a list of x, y, z, rx, ry, rz")]
pub enum FixSpec {
    /// `"pin"` holds x, y and z; `"clamp"` the rotations too.
    Word(FixWord),
    /// Named directions.
    List(Vec<Direction>),
}

/// Common supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FixWord {
    /// All translations.
    Pin,
    /// All translations and rotations.
    Clamp,
}

kinds! {
    /// A load.
    LoadSpec {
        /// Force or moment on each of some nodes.
        "force" => Force(ForceLoad),
        /// Force per length along members.
        "uniform" => Uniform(UniformLoad),
        /// Weight of everything that has mass.
        "gravity" => Gravity(AccelerationLoad),
        /// The supports accelerate; displacements are then relative to them.
        "base_acceleration" => BaseAcceleration(AccelerationLoad),
    }
}

/// Force or moment on each of some nodes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForceLoad {
    /// Nodes.
    pub at: NodeSelection,
    /// Direction.
    pub direction: Direction,
    /// N or N·m.
    pub value: f64,
    /// How it changes with time.
    #[serde(default)]
    pub function: TimeFunction,
    /// `"stage"` grows with the load factor (default); `"before"` acts in full from the start.
    #[serde(default)]
    pub acts: Acts,
}

/// Force per length along members.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UniformLoad {
    /// Group of members.
    pub member: String,
    /// N/m of undeformed length, in global axes.
    pub force: [f64; 3],
    /// How it changes with time.
    #[serde(default)]
    pub function: TimeFunction,
    /// As for a force.
    #[serde(default)]
    pub acts: Acts,
}

/// An acceleration of everything.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccelerationLoad {
    /// m/s².
    pub acceleration: [f64; 3],
    /// How it changes with time.
    #[serde(default)]
    pub function: TimeFunction,
    /// As for a force.
    #[serde(default)]
    pub acts: Acts,
}

/// When a load acts in a non-linear static analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Acts {
    /// It grows with the load factor.
    #[default]
    Stage,
    /// It is applied before, in full.
    Before,
}

impl Acts {
    /// Load group of the structure.
    pub(super) fn group(self) -> usize {
        match self {
            Self::Stage => 0,
            Self::Before => 1,
        }
    }
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StructureOutput {
    /// Write tables as CSV.
    pub csv: bool,
    /// Write a file for `ParaView`.
    pub vtk: bool,
    /// Write the HTML report.
    pub report: bool,
    /// How many times larger than they are displacements are drawn; default such that they can be seen.
    pub magnification: Option<f64>,
}

impl Default for StructureOutput {
    fn default() -> Self {
        Self { csv: true, vtk: true, report: true, magnification: None }
    }
}

impl StructureScene {
    pub(crate) fn of_tree(tree: toml::Table, source: &Source, folder: PathBuf) -> Result<Self, SceneError> {
        let mut scene: Self = read::typed(tree, source)?;
        scene.folder = folder;
        scene.source = source.clone();
        super::check::scene(&scene)?;
        Ok(scene)
    }

    /// Reads a structure from TOML text. `folder` is where file names in it start.
    ///
    /// # Errors
    /// [`SceneError`] naming file, field, line and value.
    pub fn from_toml(file: &str, text: &str, folder: impl Into<PathBuf>) -> Result<Self, SceneError> {
        let source = Source::new(file, text, true);
        Self::of_tree(read::tree(&source, &[])?, &source, folder.into())
    }
}
