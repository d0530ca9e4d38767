//! What an analysis hands to the exporters, the report and the command line.

use super::build::BuiltStructure;
use crate::report::Chart;
use crate::run::result::{ExpectationResult, ProbeValue};
use serde::Serialize;
use sim_fem::elements::MemberResult;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Everything an analysis leaves behind.
#[derive(Debug)]
pub struct StructureResult {
    /// Name of the scene, fit for a file name.
    pub scene: String,
    /// Title for people.
    pub title: String,
    /// What the scene shows.
    pub description: String,
    /// Kind of the analysis.
    pub analysis: &'static str,
    /// The structure.
    pub built: BuiltStructure,
    /// Load steps, time steps or points of the path; 1 for a single solution.
    pub steps: u64,
    /// Step of a transient analysis in s.
    pub dt: Option<f64>,
    /// Wall-clock time in s.
    pub wall_s: f64,
    /// Named results.
    pub probes: BTreeMap<String, ProbeValue>,
    /// Expectations and how they came out, in the order of the scene.
    pub expectations: Vec<ExpectationResult>,
    /// What a reader should know.
    pub warnings: Vec<String>,
    /// Label and value pairs for the report.
    pub facts: Vec<(String, String)>,
    /// Curves for the report.
    pub charts: Vec<Chart>,
    /// Columns of the table of the path, time or modes: header and values.
    pub table: Vec<(String, Vec<f64>)>,
    /// Shapes for pictures, in order.
    pub shown: Vec<Shown>,
    /// State at the end; none where an analysis has no end state (modes, harmonic).
    pub end: Option<EndState>,
    /// Hash of the numbers found, 16 hexadecimal digits: equal runs have equal hashes.
    pub state_hash: String,
}

/// A shape for a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// What it is, e.g. `load factor 0.5`.
    pub label: String,
    /// One value per degree of freedom.
    pub displacement: Vec<f64>,
}

/// State at the end. Vectors have one value per degree of freedom.
#[derive(Clone, Debug)]
pub struct EndState {
    /// m and rad.
    pub displacement: Vec<f64>,
    /// Forces of the supports on the structure in N and N·m; empty for a transient analysis.
    pub reaction: Vec<f64>,
    /// What every member carries.
    pub members: Vec<MemberResult>,
    /// J.
    pub strain_energy: f64,
}

impl StructureResult {
    /// Whether every expectation was met.
    pub fn all_met(&self) -> bool {
        self.expectations.iter().all(|expectation| expectation.pass)
    }
}

/// An analysis as one JSON object; the keys are those of a motion's summary.
#[derive(Clone, Debug, Serialize)]
pub struct StructureSummary<'a> {
    /// Scene name.
    pub scene: &'a str,
    /// Kind of the analysis.
    pub method: &'static str,
    /// Step in s; null unless transient.
    pub dt: Option<f64>,
    /// Steps made.
    pub steps: u64,
    /// Always 1.
    pub substeps: u64,
    /// Wall-clock time in s.
    pub wall_s: f64,
    /// Named results.
    pub probes: &'a BTreeMap<String, ProbeValue>,
    /// Expectations and how they came out.
    pub expectations: &'a [ExpectationResult],
    /// Energies in J.
    pub energy: StructureEnergy,
    /// What a reader should know.
    pub warnings: &'a [String],
    /// Hash of the numbers found.
    pub state_hash: &'a str,
    /// Files written.
    pub files: Vec<String>,
    /// Nodes, members and unknowns.
    pub size: StructureSize,
    /// Why there is no result; absent when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// Energies at the end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StructureEnergy {
    /// Stored energy in J; null where there is no end state.
    pub strain: Option<f64>,
}

/// How large a structure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StructureSize {
    /// Nodes.
    pub nodes: usize,
    /// Members.
    pub members: usize,
    /// Unknown displacements and rotations.
    pub unknowns: usize,
}

impl StructureResult {
    /// Counts.
    pub fn size(&self) -> StructureSize {
        let structure = &self.built.structure;
        StructureSize {
            nodes: structure.node_count(),
            members: structure.members().len(),
            unknowns: structure.unknown_count(),
        }
    }
}

impl<'a> StructureSummary<'a> {
    /// Sums up a result and the files that were written of it.
    pub fn new(result: &'a StructureResult, files: &[PathBuf]) -> Self {
        Self {
            scene: &result.scene,
            method: result.analysis,
            dt: result.dt,
            steps: result.steps,
            substeps: 1,
            wall_s: result.wall_s,
            probes: &result.probes,
            expectations: &result.expectations,
            energy: StructureEnergy { strain: result.end.as_ref().map(|end| end.strain_energy) },
            warnings: &result.warnings,
            state_hash: &result.state_hash,
            files: files.iter().map(|file| file.to_string_lossy().into_owned()).collect(),
            size: result.size(),
            failure: None,
        }
    }
}
