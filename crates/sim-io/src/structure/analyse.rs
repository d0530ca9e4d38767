//! Carries out the analysis of a structure's scene.

use super::build::{self, BuiltStructure};
use super::document::{AnalysisSpec, HarmonicSpec, LoadSpec, ModalSpec, StructureScene, TransientSpec};
use super::measure::{self, Gauge, Point};
use super::probe::StructureProbe;
use super::reference::NodeSelection;
use super::result::{EndState, Shown, StructureResult};
use super::{page, spectrum};
use crate::report::Chart;
use crate::run::result::{ExpectationResult, ProbeValue};
use crate::scene::check::At;
use crate::scene::error::SceneError;
use sim_fem::analysis::arc_length::{ArcLengthOptions, CriticalKind, arc_length};
use sim_fem::analysis::buckling::{BucklingError, BucklingOptions, buckling};
use sim_fem::analysis::linear_static::{StaticReport, linear_static};
use sim_fem::analysis::modal::{ModalError, ModalOptions, Mode, modal};
use sim_fem::analysis::modal_response::DampedModes;
use sim_fem::analysis::nonlinear_static::{
    EquilibriumError, NonlinearStaticOptions, Stage, nonlinear_static,
};
use sim_fem::analysis::transient::{InitialState, TransientError, TransientOptions, transient};
use sim_fem::factor::FactorKind;
use sim_fem::form_finding::dynamic_relaxation::{RelaxationError, RelaxationOptions, dynamic_relaxation};
use sim_fem::material::ValueError;
use sim_fem::structure::MechanismReport;
use sim_fem::{Structure, StructureError};
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::ops::ControlFlow;
use std::time::Instant;

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
    let structure = match error {
        StructureRunError::Structure(source)
        | StructureRunError::Equilibrium(EquilibriumError::Structure { source, .. })
        | StructureRunError::Buckling(BucklingError::Structure(source))
        | StructureRunError::Modal(ModalError::Structure(source))
        | StructureRunError::Transient(TransientError::Structure { source, .. })
        | StructureRunError::Relaxation(RelaxationError::Structure(source)) => source,
        _ => return None,
    };
    match structure {
        StructureError::Mechanism(report) => Some(report),
        _ => None,
    }
}

fn free_motions(report: &MechanismReport) -> Findings {
    let mut found = Findings::default();
    for (number, mode) in report.modes.iter().enumerate() {
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
            Ok(single(report, built, gauges))
        }
        AnalysisSpec::NonlinearStatic(options) => load_steps(scene, built, gauges, options),
        AnalysisSpec::ArcLength(options) => path(scene, built, gauges, options),
        AnalysisSpec::Buckling(options) => critical_loads(built, gauges, options),
        AnalysisSpec::Modal(spec) => modes(scene, built, *spec),
        AnalysisSpec::Transient(spec) => march(scene, built, gauges, spec, progress),
        AnalysisSpec::Harmonic(spec) => response(scene, built, spec),
        AnalysisSpec::DynamicRelaxation(options) => relax(built, gauges, options),
    }
}

/// From the state `acts = "before"` loads leave, the stage in which the others grow.
fn stage(scene: &StructureScene, structure: &Structure) -> Result<Stage, StructureRunError> {
    let before = scene.loads.iter().any(|load| match load {
        LoadSpec::Force(load) => load.acts.group() == 1,
        LoadSpec::Uniform(load) => load.acts.group() == 1,
        LoadSpec::Gravity(load) | LoadSpec::BaseAcceleration(load) => load.acts.group() == 1,
    });
    if !before {
        return Ok(Stage::new(structure));
    }
    let mut first = Stage::after(structure, vec![0.0; structure.dof_count()], &[], &[1]);
    first.move_supports = true;
    let report = nonlinear_static(structure, &first, &NonlinearStaticOptions::default())
        .map_err(StructureRunError::Equilibrium)?;
    Ok(Stage::after(structure, report.end.displacement, &[1], &[0]))
}

fn still(displacement: &[f64]) -> Point<'_> {
    Point { displacement, velocity: None, acceleration: None }
}

fn end_state(report: StaticReport) -> EndState {
    EndState {
        displacement: report.displacement,
        reaction: report.reaction,
        members: report.members,
        strain_energy: report.strain_energy,
    }
}

/// One state: the picture grows to it.
fn single(report: StaticReport, built: &BuiltStructure, gauges: &mut [Gauge]) -> Findings {
    for gauge in gauges {
        gauge.read(built, still(&report.displacement));
    }
    let mut found = Findings { places: vec![1.0], steps: 1, ..Findings::default() };
    for i in 0..=20 {
        let share = f64::from(i) / 20.0;
        let displacement = report.displacement.iter().map(|u| share * u).collect();
        found.shown.push(Shown { label: format!("{:.0} % of the load", 100.0 * share), displacement });
    }
    found.facts.push(("left over of the forces".into(), format!("{:.1e}", report.relative_residual)));
    found.end = Some(end_state(report));
    found
}

fn load_steps(
    scene: &StructureScene,
    built: &BuiltStructure,
    gauges: &mut [Gauge],
    options: &NonlinearStaticOptions,
) -> Result<Findings, StructureRunError> {
    let structure = &built.structure;
    let stage = stage(scene, structure)?;
    let report = nonlinear_static(structure, &stage, options).map_err(StructureRunError::Equilibrium)?;
    let mut found = Findings { steps: report.path.len() as u64, ..Findings::default() };
    let start = (0.0, &stage.start);
    let points = report.path.iter().map(|point| (point.load_factor, &point.displacement));
    for (factor, displacement) in std::iter::once(start).chain(points) {
        gauges.iter_mut().for_each(|gauge| gauge.read(built, still(displacement)));
        found.places.push(factor);
        let label = format!("load factor {factor:.3}");
        found.shown.push(Shown { label, displacement: displacement.clone() });
    }
    thin(&mut found.shown);
    let iterations: usize = report.path.iter().map(|point| point.iterations).sum();
    found.facts.push(("Newton iterations".into(), iterations.to_string()));
    if report.cuts > 0 {
        found.facts.push(("steps halved".into(), report.cuts.to_string()));
    }
    found.facts.push(("left over of the forces".into(), format!("{:.1e}", report.end.relative_residual)));
    found.end = Some(end_state(report.end));
    Ok(found)
}

fn path(
    scene: &StructureScene,
    built: &BuiltStructure,
    gauges: &mut [Gauge],
    options: &ArcLengthOptions,
) -> Result<Findings, StructureRunError> {
    let structure = &built.structure;
    let stage = stage(scene, structure)?;
    let report = arc_length(structure, &stage, options).map_err(StructureRunError::Equilibrium)?;
    let mut found = Findings { steps: report.path.len() as u64, ..Findings::default() };
    let points = report.path.iter().map(|point| (point.load_factor, &point.displacement));
    for (factor, displacement) in std::iter::once((0.0, &stage.start)).chain(points) {
        gauges.iter_mut().for_each(|gauge| gauge.read(built, still(displacement)));
        found.places.push(factor);
        let label = format!("load factor {factor:.4}");
        found.shown.push(Shown { label, displacement: displacement.clone() });
    }
    thin(&mut found.shown);
    let negative = report.path.iter().map(|point| point.negative as f64);
    found
        .table
        .push(("negative eigenvalues [1]".into(), std::iter::once(f64::NAN).chain(negative).collect()));
    for (index, point) in report.critical.iter().enumerate() {
        let kind = match point.kind {
            CriticalKind::Limit => "limit point",
            CriticalKind::Bifurcation => "bifurcation",
        };
        found.facts.push((format!("{kind} {}", index + 1), format!("load factor {:.6}", point.load_factor)));
    }
    let critical: Vec<f64> = report.critical.iter().map(|point| point.load_factor).collect();
    numbered(scene, &mut found, &critical, "limit or bifurcation points", |probe| match probe {
        StructureProbe::CriticalFactor(p) => Some((p.number, "1")),
        _ => None,
    })?;
    Ok(found)
}

fn critical_loads(
    built: &BuiltStructure,
    gauges: &mut [Gauge],
    options: &BucklingOptions,
) -> Result<Findings, StructureRunError> {
    let report = buckling(&built.structure, options).map_err(StructureRunError::Buckling)?;
    let mut found = single(report.prebuckling, built, gauges);
    found.shown.clear();
    let mut factors = Vec::new();
    for (number, mode) in report.modes.iter().enumerate() {
        let name = format!("buckling mode {}, factor {:.5}", number + 1, mode.load_factor);
        swing(&mut found.shown, &name, &mode.shape);
        found.facts.push((format!("critical factor {}", number + 1), format!("{:.6}", mode.load_factor)));
        factors.push(mode.load_factor);
    }
    let numbers = (1..=factors.len()).map(|i| i as f64).collect();
    found.table = vec![("mode".into(), numbers), ("load factor [1]".into(), factors)];
    Ok(found)
}

fn lowest_modes(
    structure: &Structure,
    state: Option<&[f64]>,
    count: usize,
) -> Result<(Vec<Mode>, [f64; 3]), StructureRunError> {
    let options = ModalOptions { modes: count, ..ModalOptions::default() };
    let report = modal(structure, state, &options).map_err(StructureRunError::Modal)?;
    Ok((report.modes, report.movable_mass))
}

fn modes(
    scene: &StructureScene,
    built: &BuiltStructure,
    spec: ModalSpec,
) -> Result<Findings, StructureRunError> {
    let structure = &built.structure;
    let mut found = Findings::default();
    let state = if spec.loaded {
        let report = nonlinear_static(structure, &Stage::new(structure), &NonlinearStaticOptions::default())
            .map_err(StructureRunError::Equilibrium)?;
        Some(report.end.displacement)
    } else {
        None
    };
    let (modes, mass) = lowest_modes(structure, state.as_deref(), spec.modes)?;
    mode_results(scene, &mut found, &modes, mass)?;
    for (number, mode) in modes.iter().take(6).enumerate() {
        let name = format!("mode {}, {:.6} Hz", number + 1, mode.frequency());
        swing(&mut found.shown, &name, &mode.shape);
    }
    if modes.len() > 6 {
        found.notes.push("The picture shows the six lowest modes, one after the other.".into());
    }
    Ok(found)
}

/// Facts, table and probes of modes.
fn mode_results(
    scene: &StructureScene,
    found: &mut Findings,
    modes: &[Mode],
    movable_mass: [f64; 3],
) -> Result<(), StructureRunError> {
    let frequencies: Vec<f64> = modes.iter().map(Mode::frequency).collect();
    let numbers: Vec<f64> = (1..=modes.len()).map(|i| i as f64).collect();
    found.table = vec![("mode".into(), numbers.clone()), ("frequency [Hz]".into(), frequencies.clone())];
    let mut shares = Vec::new();
    for (k, axis) in ["x", "y", "z"].into_iter().enumerate() {
        let share = |mode: &Mode| {
            if movable_mass[k] > 0.0 { mode.effective_mass()[k] / movable_mass[k] } else { 0.0 }
        };
        let column: Vec<f64> = modes.iter().map(share).collect();
        found.table.push((format!("share of mass in {axis} [1]"), column.clone()));
        shares.push(column);
    }
    found.charts.push(Chart {
        title: "Natural frequencies".into(),
        x_label: "mode".into(),
        y_label: "Hz".into(),
        log: false,
        series: vec![("frequency".into(), numbers, frequencies.clone())],
    });
    for (number, frequency) in frequencies.iter().take(6).enumerate() {
        found.facts.push((format!("frequency {}", number + 1), format!("{frequency:.6} Hz")));
    }
    numbered(scene, found, &frequencies, "modes", |probe| match probe {
        StructureProbe::Frequency(p) => Some((p.number, "Hz")),
        _ => None,
    })?;
    for (k, share) in shares.iter().enumerate() {
        numbered(scene, found, share, "modes", |probe| match probe {
            StructureProbe::MassParticipation(p) if p.direction.index() == k => Some((p.number, "1")),
            _ => None,
        })?;
    }
    Ok(())
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

fn march(
    scene: &StructureScene,
    built: &BuiltStructure,
    gauges: &mut [Gauge],
    spec: &TransientSpec,
    progress: &mut (dyn FnMut(&str, Option<f64>) + Send),
) -> Result<Findings, StructureRunError> {
    let structure = &built.structure;
    let mut initial = InitialState::at_rest(structure);
    if spec.from_equilibrium {
        initial.displacement = stage(scene, structure)?.start;
    }
    let steps = (spec.duration / spec.dt).round() as usize;
    let options = TransientOptions {
        method: spec.method,
        dt: spec.duration / steps as f64,
        steps,
        start: spec.start,
        ..TransientOptions::default()
    };
    let every = steps.div_ceil(SHOWN).max(1);
    let n = structure.dof_count();
    let (mut u, mut v, mut a) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let mut found = Findings { steps: steps as u64, dt: Some(options.dt), ..Findings::default() };
    let report = transient(structure, &initial, &options, &mut |instant| {
        structure.apply_supports(instant.t, 1.0, &mut u);
        structure.apply_support_velocities(instant.t, &mut v);
        structure.scatter(instant.displacement, &mut u);
        structure.scatter(instant.velocity, &mut v);
        structure.scatter(instant.acceleration, &mut a);
        let point = Point { displacement: &u, velocity: Some(&v), acceleration: Some(&a) };
        gauges.iter_mut().for_each(|gauge| gauge.read(built, point));
        found.places.push(instant.t);
        if instant.step % every == 0 || instant.step == steps {
            let label = format!("t = {:.4} s", instant.t);
            found.shown.push(Shown { label, displacement: u.clone() });
            progress(
                &format!("t = {:.4} of {} s", instant.t, spec.duration),
                Some(instant.t / spec.duration),
            );
        }
        ControlFlow::Continue(())
    })
    .map_err(StructureRunError::Transient)?;
    if report.iterations > 0 {
        found.facts.push(("Newton iterations".into(), report.iterations.to_string()));
    }
    for gauge in gauges.iter().filter(|gauge| gauge.is_displacement()) {
        let (frequencies, amplitudes) = spectrum::amplitudes(&gauge.values, options.dt);
        if amplitudes.iter().any(|&a| a > 0.0) {
            found.charts.push(Chart {
                title: format!("Spectrum of {}", gauge.name),
                x_label: "f [Hz]".into(),
                y_label: format!("amplitude [{}]", gauge.unit),
                log: false,
                series: vec![(gauge.name.clone(), frequencies, amplitudes)],
            });
        }
    }
    let members = structure.member_results(&report.displacement);
    let strain_energy = structure.strain_energy(&report.displacement).iter().sum();
    found.end =
        Some(EndState { displacement: report.displacement, reaction: Vec::new(), members, strain_energy });
    Ok(found)
}

fn response(
    scene: &StructureScene,
    built: &BuiltStructure,
    spec: &HarmonicSpec,
) -> Result<Findings, StructureRunError> {
    let structure = &built.structure;
    let at_rest = linear_static(structure, 0.0, FactorKind::Auto).map_err(StructureRunError::Structure)?;
    let (modes, mass) = lowest_modes(structure, None, spec.modes)?;
    let mut found = Findings { steps: spec.points as u64, ..Findings::default() };
    mode_results(scene, &mut found, &modes, mass)?;
    let damped = match spec.damping_ratio {
        Some(ratio) => DampedModes::new(&modes, vec![ratio; modes.len()])?,
        None => DampedModes::rayleigh(structure, &modes)?,
    };
    let mut force = vec![0.0; structure.dof_count()];
    structure.external_force(0.0, &mut force);
    let [low, high] = spec.band;
    let frequencies: Vec<f64> =
        (0..spec.points).map(|i| low + (high - low) * i as f64 / (spec.points - 1) as f64).collect();
    let respond = |frequency: f64| damped.harmonic(TAU * frequency, &force, Some(&at_rest.displacement));
    let root = At::root(&scene.source);
    let mut wanted = Vec::new();
    for (index, probe) in scene.probes.iter().enumerate() {
        if let StructureProbe::Amplitude(p) = probe {
            let at = root.field("probe").index(index);
            let node = built.node(&p.at, &at.field("at"))?;
            let dof = measure::dof(built, node, p.direction, &at)?;
            wanted.push((p, dof, Vec::with_capacity(spec.points)));
        }
    }
    for &frequency in &frequencies {
        let all = respond(frequency);
        wanted.iter_mut().for_each(|(_, dof, curve)| curve.push(all[*dof].norm()));
    }
    found.table = vec![("f [Hz]".into(), frequencies.clone())];
    let mut series = Vec::new();
    for (probe, dof, curve) in wanted {
        let value = match probe.frequency {
            Some(frequency) => respond(frequency)[dof].norm(),
            None => curve.iter().copied().fold(0.0, f64::max),
        };
        if !value.is_finite() {
            return Err(StructureRunError::Probe {
                probe: probe.name.clone(),
                reason: "an undamped mode is driven at its own frequency: give a damping_ratio".into(),
            });
        }
        let unit = if probe.direction.is_rotation() { "rad" } else { "m" };
        found.probes.insert(probe.name.clone(), ProbeValue { value, unit });
        found.table.push((format!("{} [{unit}]", probe.name), curve.clone()));
        let shown = frequencies.iter().zip(&curve).filter(|(f, a)| **f > 0.0 && a.is_finite());
        let (x, y) = shown.map(|(f, a)| (*f, *a)).unzip();
        series.push((probe.name.clone(), x, y));
    }
    if !series.is_empty() {
        found.charts.insert(
            0,
            Chart {
                title: "Amplitude of the steady response".into(),
                x_label: "f [Hz]".into(),
                y_label: "amplitude".into(),
                log: true,
                series,
            },
        );
    }
    for (number, mode) in modes.iter().take(6).enumerate() {
        let name = format!("mode {}, {:.6} Hz", number + 1, mode.frequency());
        swing(&mut found.shown, &name, &mode.shape);
    }
    Ok(found)
}

fn relax(
    built: &BuiltStructure,
    gauges: &mut [Gauge],
    options: &RelaxationOptions,
) -> Result<Findings, StructureRunError> {
    let report = dynamic_relaxation(&built.structure, &Stage::new(&built.structure), options)
        .map_err(StructureRunError::Relaxation)?;
    let (steps, peaks) = (report.steps, report.peaks);
    let mut found = single(report.equilibrium, built, gauges);
    found.steps = steps as u64;
    found
        .facts
        .push(("relaxation steps".into(), format!("{steps}, stopped at {peaks} peaks of kinetic energy")));
    Ok(found)
}

/// One period of a motion with this shape.
fn swing(shown: &mut Vec<Shown>, name: &str, shape: &[f64]) {
    for i in 0..20 {
        let share = (TAU * f64::from(i) / 20.0).sin();
        let displacement = shape.iter().map(|u| share * u).collect();
        shown.push(Shown { label: name.to_owned(), displacement });
    }
}

/// Keeps about [`SHOWN`] shapes, the first and the last among them.
fn thin(shown: &mut Vec<Shown>) {
    let (stride, last) = (shown.len().div_ceil(SHOWN).max(1), shown.len().saturating_sub(1));
    let mut index = 0;
    shown.retain(|_| {
        index += 1;
        (index - 1) % stride == 0 || index - 1 == last
    });
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
                let at: &NodeSelection = &p.at;
                let nodes = built.nodes(at, &root.field("probe").index(index).field("at"))?;
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
