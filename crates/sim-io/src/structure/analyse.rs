//! Carries out the analysis of a structure's scene.

mod motions;
mod statics;
mod stepped;

use super::build::{self, BuiltStructure};
use super::document::{AnalysisSpec, StructureScene};
use super::measure::{self, Gauge, Point};
use super::page;
use super::probe::StructureProbe;
use super::result::{EndState, Shown, StructureResult};
use crate::report::Chart;
use crate::run::result::{ExpectationResult, ProbeValue};
use crate::scene::check::At;
use crate::scene::error::SceneError;
use sim_core::StepError;
use sim_fem::StructureError;
use sim_fem::analysis::buckling::BucklingError;
use sim_fem::analysis::linear_static::linear_static;
use sim_fem::analysis::modal::ModalError;
use sim_fem::analysis::nonlinear_static::EquilibriumError;
use sim_fem::analysis::transient::TransientError;
use sim_fem::factor::FactorKind;
use sim_fem::form_finding::dynamic_relaxation::RelaxationError;
use sim_fem::material::ValueError;
use sim_fem::structure::MechanismReport;
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::time::Instant;

/// Frames of one period of a mode.
pub(super) const SWING: usize = 20;

/// Most free motions that are drawn: as many as the message describes.
const DRAWN: usize = 6;
/// Shapes kept for pictures.
const SHOWN: usize = 120;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StructureRunError {
    /// The scene cannot be built.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The structure can move freely; the result shows how.
    #[error("{message}")]
    Mechanism {
        /// Nodes and directions.
        message: String,
        /// The structure with its free motions as shapes.
        partial: Box<StructureResult>,
    },
    /// The structure itself.
    #[error(transparent)]
    Structure(StructureError),
    /// No equilibrium was found.
    #[error(transparent)]
    Equilibrium(EquilibriumError),
    /// No critical load was found.
    #[error(transparent)]
    Buckling(BucklingError),
    /// No modes were found.
    #[error(transparent)]
    Modal(ModalError),
    /// The march stopped.
    #[error(transparent)]
    Transient(TransientError),
    /// A step failed.
    #[error("step {step} of {method}")]
    Step {
        /// Steps made before it.
        step: u64,
        /// Id of the method.
        method: &'static str,
        /// Why.
        #[source]
        source: StepError,
    },
    /// It did not settle.
    #[error(transparent)]
    Relaxation(RelaxationError),
    /// An option is out of range.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// A probe has no value.
    #[error("probe `{probe}` has no value: {reason}")]
    Probe {
        /// Its name.
        probe: String,
        /// Why.
        reason: String,
    },
}

impl StructureRunError {
    /// One word for scripts.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Scene(error) => error.kind(),
            Self::Mechanism { .. } => "mechanism",
            Self::Structure(_) => "structure",
            Self::Equilibrium(_) => "equilibrium",
            Self::Buckling(_) => "buckling",
            Self::Modal(_) => "modal",
            Self::Transient(_) => "transient",
            Self::Step { .. } => "step",
            Self::Relaxation(_) => "relaxation",
            Self::Value(_) => "value",
            Self::Probe { .. } => "probe",
        }
    }
}

/// What an analysis found, before it is judged.
#[derive(Default)]
pub(super) struct Findings {
    /// Load factors or times of the gauges' values.
    pub places: Vec<f64>,
    pub steps: u64,
    pub dt: Option<f64>,
    pub shown: Vec<Shown>,
    pub end: Option<EndState>,
    pub probes: BTreeMap<String, ProbeValue>,
    pub facts: Vec<(String, String)>,
    pub charts: Vec<Chart>,
    pub table: Vec<(String, Vec<f64>)>,
    pub notes: Vec<String>,
}

/// Carries out the analysis; `progress` hears what is being done and, where that is known, which share of it is done.
///
/// # Errors
/// [`StructureRunError`].
pub fn run(
    scene: &StructureScene,
    progress: &mut (dyn FnMut(&str, Option<f64>) + Send),
) -> Result<StructureResult, StructureRunError> {
    let begun = Instant::now();
    progress("building the structure", None);
    let built = build::build(scene)?;
    let mut gauges = measure::gauges(scene, &built)?;
    end_probes_exist(scene, &built)?;
    let unknowns = built.structure.unknown_count();
    progress(&format!("{}: {unknowns} unknowns", scene.analysis.kind()), None);
    let found = analyse(scene, &built, &mut gauges, progress);
    let (mut found, mechanism) = match found {
        Ok(found) => (found, None),
        Err(error) => match mechanism_of(&error) {
            Some(report) => (free_motions(report), Some(error.to_string())),
            None => return Err(error),
        },
    };
    let mut result = StructureResult {
        scene: scene.header.name.clone(),
        title: scene.header.title.clone(),
        description: scene.header.description.clone(),
        analysis: scene.analysis.kind(),
        steps: found.steps.max(1),
        dt: found.dt,
        wall_s: 0.0,
        probes: BTreeMap::new(),
        expectations: Vec::new(),
        warnings: built.warnings.iter().cloned().chain(std::mem::take(&mut found.notes)).collect(),
        facts: std::mem::take(&mut found.facts),
        charts: Vec::new(),
        table: std::mem::take(&mut found.table),
        shown: std::mem::take(&mut found.shown),
        state_hash: String::new(),
        end: None,
        built,
    };
    if let Some(text) = mechanism {
        let message = crate::model::with_sources(&MechanismText(text));
        return Err(StructureRunError::Mechanism { message, partial: Box::new(result) });
    }
    for gauge in &gauges {
        let value = gauge.reduce(&found.places).ok_or_else(|| StructureRunError::Probe {
            probe: gauge.name.clone(),
            reason: "the path has no finite value there".into(),
        })?;
        found.probes.insert(gauge.name.clone(), value);
    }
    end_probes(scene, &result.built, &mut found)?;
    result.charts = page::charts(&result.built, &gauges, &found);
    result.table.splice(0..0, path_table(&gauges, &found));
    result.end = found.end;
    result.probes = found.probes;
    result.expectations = judge(scene, &result.probes);
    result.state_hash = hash(&result);
    result.wall_s = begun.elapsed().as_secs_f64();
    Ok(result)
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct MechanismText(String);

fn mechanism_of(error: &StructureRunError) -> Option<&MechanismReport> {
    let (StructureRunError::Structure(source)
    | StructureRunError::Equilibrium(EquilibriumError::Structure { source, .. })
    | StructureRunError::Buckling(BucklingError::Structure(source))
    | StructureRunError::Modal(ModalError::Structure(source))
    | StructureRunError::Transient(TransientError::Structure { source, .. })
    | StructureRunError::Relaxation(RelaxationError::Structure(source))) = error
    else {
        return None;
    };
    match source {
        StructureError::Mechanism(report) => Some(report),
        _ => None,
    }
}

fn free_motions(report: &MechanismReport) -> Findings {
    let mut found = Findings::default();
    for (number, mode) in report.modes.iter().enumerate().take(DRAWN) {
        swing(&mut found.shown, &format!("free motion {}", number + 1), &mode.shape);
    }
    found
}

fn analyse(
    scene: &StructureScene,
    built: &BuiltStructure,
    gauges: &mut [Gauge],
    progress: &mut (dyn FnMut(&str, Option<f64>) + Send),
) -> Result<Findings, StructureRunError> {
    let structure = &built.structure;
    match &scene.analysis {
        AnalysisSpec::Static(spec) => {
            let report = linear_static(structure, spec.time, FactorKind::Auto)
                .map_err(StructureRunError::Structure)?;
            Ok(statics::single(report, built, gauges))
        }
        AnalysisSpec::NonlinearStatic(options) => statics::load_steps(scene, built, gauges, options),
        AnalysisSpec::ArcLength(options) => statics::path(scene, built, gauges, options),
        AnalysisSpec::Buckling(options) => statics::critical_loads(built, gauges, options),
        AnalysisSpec::Modal(spec) => motions::modes(scene, built, *spec),
        AnalysisSpec::Transient(spec) => motions::march(scene, built, gauges, spec, progress),
        AnalysisSpec::Stepped(spec) => stepped::march(scene, built, gauges, spec, progress),
        AnalysisSpec::Harmonic(spec) => motions::response(scene, built, spec),
        AnalysisSpec::DynamicRelaxation(options) => statics::relax(built, gauges, options),
    }
}

/// Fills probes that name one of a numbered list.
fn numbered(
    scene: &StructureScene,
    found: &mut Findings,
    values: &[f64],
    what: &str,
    wanted: impl Fn(&StructureProbe) -> Option<(usize, &'static str)>,
) -> Result<(), StructureRunError> {
    for probe in &scene.probes {
        let Some((number, unit)) = wanted(probe) else { continue };
        let value = *values.get(number - 1).ok_or_else(|| StructureRunError::Probe {
            probe: probe.name().to_owned(),
            reason: format!("number {number} was asked for, {} {what} were found", values.len()),
        })?;
        found.probes.insert(probe.name().to_owned(), ProbeValue { value, unit });
    }
    Ok(())
}

/// One period of a motion with this shape.
fn swing(shown: &mut Vec<Shown>, name: &str, shape: &[f64]) {
    for i in 0..SWING {
        let share = (TAU * i as f64 / SWING as f64).sin();
        let displacement = shape.iter().map(|u| share * u).collect();
        shown.push(Shown { label: name.to_owned(), displacement });
    }
}

fn read_all(gauges: &mut [Gauge], built: &BuiltStructure, point: Point<'_>) {
    for gauge in gauges {
        gauge.read(built, point);
    }
}

/// Refuses end probes whose nodes or directions do not exist, before anything is computed.
fn end_probes_exist(scene: &StructureScene, built: &BuiltStructure) -> Result<(), SceneError> {
    let root = At::root(&scene.source);
    for (index, probe) in scene.probes.iter().enumerate() {
        let at = root.field("probe").index(index);
        match probe {
            StructureProbe::Reaction(p) => {
                for node in built.nodes(&p.at, &at.field("at"))? {
                    measure::dof(built, node, p.direction, &at)?;
                }
            }
            StructureProbe::Amplitude(p) => {
                let node = built.node(&p.at, &at.field("at"))?;
                measure::dof(built, node, p.direction, &at)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Probes of the end state and of the whole structure.
fn end_probes(
    scene: &StructureScene,
    built: &BuiltStructure,
    found: &mut Findings,
) -> Result<(), StructureRunError> {
    let root = At::root(&scene.source);
    for (index, probe) in scene.probes.iter().enumerate() {
        let missing = |reason: &str| StructureRunError::Probe {
            probe: probe.name().to_owned(),
            reason: reason.to_owned(),
        };
        let end = found.end.as_ref().ok_or_else(|| missing("this analysis has no end state"));
        let (value, unit) = match probe {
            StructureProbe::Reaction(p) => {
                let end = end?;
                let nodes = built.nodes(&p.at, &root.field("probe").index(index).field("at"))?;
                let dofs = nodes.iter().filter_map(|&node| built.structure.dof(node, p.direction));
                let unit = if p.direction.is_rotation() { "N·m" } else { "N" };
                (dofs.map(|dof| end.reaction[dof]).sum(), unit)
            }
            StructureProbe::Utilisation(p) => {
                let range =
                    p.member.as_ref().map_or(0..built.structure.members().len(), |id| built.group(id));
                let shares = end?.members[range].iter().filter_map(|member| member.utilisation);
                let most =
                    shares.fold(None, |most: Option<f64>, share| Some(most.map_or(share, |m| m.max(share))));
                (most.ok_or_else(|| missing("none of the members' materials has a `strength`"))?, "1")
            }
            StructureProbe::MaxDisplacement(_) => {
                let displacement = &end?.displacement;
                let sizes = (0..built.structure.node_count())
                    .map(|node| super::display::translation(&built.structure, node, displacement).norm());
                (sizes.fold(0.0, f64::max), "m")
            }
            StructureProbe::StrainEnergy(_) => (end?.strain_energy, "J"),
            StructureProbe::TotalMass(_) => (built.structure.total_mass(), "kg"),
            StructureProbe::BucklingFactor(p) => {
                let factors = found.table.get(1).map_or(&[][..], |(_, values)| values);
                let value = factors.get(p.number - 1).copied();
                (value.ok_or_else(|| missing("there are fewer critical loads: raise `modes`"))?, "1")
            }
            _ => continue,
        };
        found.probes.insert(probe.name().to_owned(), ProbeValue { value, unit });
    }
    Ok(())
}

fn path_table(gauges: &[Gauge], found: &Findings) -> Vec<(String, Vec<f64>)> {
    if found.places.len() < 2 {
        return Vec::new();
    }
    let place = if found.dt.is_some() { "t [s]" } else { "load factor [1]" };
    std::iter::once((place.to_owned(), found.places.clone()))
        .chain(gauges.iter().map(|gauge| (format!("{} [{}]", gauge.name, gauge.unit), gauge.values.clone())))
        .collect()
}

fn judge(scene: &StructureScene, probes: &BTreeMap<String, ProbeValue>) -> Vec<ExpectationResult> {
    scene.expectations.iter().map(|expectation| ExpectationResult::of(expectation, probes)).collect()
}

fn hash(result: &StructureResult) -> String {
    let mut numbers: Vec<f64> = result.end.iter().flat_map(|end| end.displacement.iter().copied()).collect();
    numbers.extend(result.table.iter().flat_map(|(_, values)| values.iter().copied()));
    let state = sim_core::State { t: 0.0, q: numbers, v: Vec::new(), internal: Vec::new() };
    format!("{:016x}", state.hash())
}
