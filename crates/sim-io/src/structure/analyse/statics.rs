//! Equilibrium: first order, load steps, paths, critical loads, relaxation.

use super::{Findings, SHOWN, StructureRunError, numbered, read_all, swing};
use crate::structure::build::BuiltStructure;
use crate::structure::document::{LoadSpec, StructureScene};
use crate::structure::measure::{Gauge, Point};
use crate::structure::probe::StructureProbe;
use crate::structure::result::{EndState, Shown};
use sim_fem::Structure;
use sim_fem::analysis::arc_length::{ArcLengthOptions, CriticalKind, arc_length};
use sim_fem::analysis::buckling::{BucklingOptions, buckling};
use sim_fem::analysis::linear_static::StaticReport;
use sim_fem::analysis::nonlinear_static::{NonlinearStaticOptions, Stage, nonlinear_static};
use sim_fem::form_finding::dynamic_relaxation::{RelaxationOptions, dynamic_relaxation};

/// From the state `acts = "before"` loads leave, the stage in which the others grow.
pub(super) fn stage(scene: &StructureScene, structure: &Structure) -> Result<Stage, StructureRunError> {
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
pub(super) fn single(report: StaticReport, built: &BuiltStructure, gauges: &mut [Gauge]) -> Findings {
    read_all(gauges, built, still(&report.displacement));
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

pub(super) fn load_steps(
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
        read_all(gauges, built, still(displacement));
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

pub(super) fn path(
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
        read_all(gauges, built, still(displacement));
        found.places.push(factor);
        let label = format!("load factor {factor:.4}");
        found.shown.push(Shown { label, displacement: displacement.clone() });
    }
    thin(&mut found.shown);
    let last = report.path.last().map_or(&stage.start, |point| &point.displacement);
    found.end = Some(EndState {
        displacement: last.clone(),
        reaction: Vec::new(),
        members: structure.member_results(last),
        strain_energy: structure.strain_energy(last).iter().sum(),
    });
    let negative = report.path.iter().map(|point| point.negative as f64);
    found
        .table
        .push(("negative eigenvalues [1]".into(), std::iter::once(f64::NAN).chain(negative).collect()));
    for (index, point) in report.critical.iter().enumerate() {
        let kind = match point.kind {
            CriticalKind::Limit => "limit point",
            CriticalKind::Bifurcation => "bifurcation",
        };
        let several = match point.multiplicity {
            1 => String::new(),
            count => format!(", {count} modes at once"),
        };
        let text = format!("load factor {:.6}{several}", point.load_factor);
        found.facts.push((format!("{kind} {}", index + 1), text));
    }
    if let Some(start) = report.branch_start {
        let text = format!("from point {} on, {:?} side", start + 1, options.side).to_lowercase();
        found.facts.push(("crossing path".into(), text));
    }
    let critical: Vec<f64> = report.critical.iter().map(|point| point.load_factor).collect();
    numbered(scene, &mut found, &critical, "limit or bifurcation points", |probe| match probe {
        StructureProbe::CriticalFactor(p) => Some((p.number, "1")),
        _ => None,
    })?;
    Ok(found)
}

pub(super) fn critical_loads(
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

pub(super) fn relax(
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

/// Keeps about [`SHOWN`] shapes, the first and the last among them.
fn thin(shown: &mut Vec<Shown>) {
    let (stride, last) = (shown.len().div_ceil(SHOWN).max(1), shown.len().saturating_sub(1));
    let mut index = 0;
    shown.retain(|_| {
        index += 1;
        (index - 1) % stride == 0 || index - 1 == last
    });
}
