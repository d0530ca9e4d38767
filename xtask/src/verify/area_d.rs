//! Reference area D, trusses, cables and beams, and the cases of area B that structures express best.
//!
//! Every case builds its elements through [`Wrap`], so that the same measurements judge elements with a mistake in them.

use super::cases::{CaseError, Verdict, job};
use super::catalogue::{Job, Scope};
use sim_fem::analysis::linear_static::{StaticReport, linear_static};
use sim_fem::analysis::modal::{ModalOptions, ModalReport, Mode, modal};
use sim_fem::analysis::nonlinear_static::{
    NonlinearStaticOptions, NonlinearStaticReport, Stage, nonlinear_static,
};
use sim_fem::elements::Element;
use sim_fem::factor::FactorKind;
use sim_fem::load::Direction;
use sim_fem::material::{Section, SectionProperties};
use sim_fem::{Structure, StructureBuilder};
use sim_verify::reference::Case;
use std::ops::{Deref, DerefMut};

mod beams;
mod cables;
mod elastica;
mod motion;
mod snap;
mod trusses;

/// What happens to an element before it is built in.
pub(super) type Wrap<'a> = &'a dyn Fn(Box<dyn Element>) -> Box<dyn Element>;

/// Measures a case.
pub(super) type Measure = fn(&'static Case, Wrap<'_>) -> Verdict;

/// Every case with what measures it.
pub(super) const CASES: &[(&str, Measure)] = &[
    ("D-bar-end-load", trusses::bar),
    ("D-bar-axial-frequencies", trusses::bar_frequencies),
    ("D-10bar-truss-static", trusses::ten_bars),
    ("D-25bar-truss-static", trusses::twenty_five_bars),
    ("D-72bar-truss-static", trusses::seventy_two_bars),
    ("D-10bar-frequencies", trusses::ten_bar_frequencies),
    ("D-von-mises-truss", snap::von_mises),
    ("D-von-mises-frequency-under-load", snap::von_mises_frequency),
    ("D-star-dome-24", snap::star_dome),
    ("D-levy-spillers-dome-linear", snap::levy_spillers),
    ("D-isolated-cable-jayaraman-knudson", cables::isolated),
    ("D-saddle-net", cables::saddle),
    ("D-prestressed-two-segment-cable", cables::two_segments),
    ("D-vibrating-string-vm53", cables::string),
    ("D-beam-eigenvalues", beams::eigenvalues),
    ("D-cantilever-fe-frequencies", beams::cantilever_frequencies),
    ("D-beam-static-and-buckling", beams::deflections_and_euler_loads),
    ("D-nafems-double-cross", beams::double_cross),
    ("D-elastica-cantilever-tip-load", elastica::tip_load),
    ("D-cantilever-roll-up", elastica::roll_up),
    ("D-sdof-newmark-chopra", motion::pulse),
    ("D-two-dof-bathe", motion::two_masses),
    ("D-rayleigh-damping", motion::rayleigh),
    ("D-heavy-elastica", elastica::heavy),
    ("D-elastic-ring-diametral", beams::ring),
    ("B-catenary-inextensible-level", cables::inextensible),
    ("B-catenary-inextensible-taut", cables::inextensible),
    ("B-catenary-elastic-level", cables::elastic),
    ("B-catenary-elastic-soft", cables::elastic),
    ("B-bar-step-load-wave", motion::wave),
];

pub(super) fn jobs(_: Scope) -> Vec<Job> {
    CASES.iter().map(|&(id, measure)| job(id, move |case| measure(case, &|element| element))).collect()
}

/// A builder whose elements go through a [`Wrap`].
struct Build<'a> {
    builder: StructureBuilder,
    wrap: Wrap<'a>,
}

impl<'a> Build<'a> {
    fn new(wrap: Wrap<'a>) -> Self {
        Self { builder: StructureBuilder::new(), wrap }
    }

    fn add(&mut self, element: impl Element + 'static, nodes: &[usize]) -> usize {
        let element = (self.wrap)(Box::new(element));
        self.builder.boxed_element(element, nodes)
    }

    /// Nodes 0 to `n`, equally spaced along x.
    fn line(wrap: Wrap<'a>, length: f64, n: usize) -> Self {
        let mut build = Self::new(wrap);
        build.nodes((0..=n).map(|i| [length * i as f64 / n as f64, 0.0, 0.0]));
        build
    }

    fn build(self) -> Result<Structure, CaseError> {
        Ok(self.builder.build()?)
    }
}

impl Deref for Build<'_> {
    type Target = StructureBuilder;

    fn deref(&self) -> &StructureBuilder {
        &self.builder
    }
}

impl DerefMut for Build<'_> {
    fn deref_mut(&mut self) -> &mut StructureBuilder {
        &mut self.builder
    }
}

/// The tolerance that the case suggests.
fn tolerance(case: &Case) -> Result<f64, CaseError> {
    Ok(case.suggested_rtol.ok_or("the case suggests no tolerance")?)
}

/// Displacement, moved bodies and forces of small displacements.
fn linear(build: Build<'_>) -> Result<(Structure, StaticReport), CaseError> {
    let structure = build.build()?;
    let report = linear_static(&structure, 0.0, FactorKind::Auto)?;
    Ok((structure, report))
}

/// Equilibrium at finite displacements under all loads.
fn nonlinear(
    build: Build<'_>,
    options: &NonlinearStaticOptions,
) -> Result<(Structure, NonlinearStaticReport), CaseError> {
    let structure = build.build()?;
    let report = nonlinear_static(&structure, &Stage::new(&structure), options)?;
    Ok((structure, report))
}

fn modes(build: Build<'_>, count: usize) -> Result<(Structure, ModalReport), CaseError> {
    let structure = build.build()?;
    let report = modal(&structure, None, &ModalOptions { modes: count, ..Default::default() })?;
    Ok((structure, report))
}

fn angular_frequencies(report: &ModalReport) -> Vec<f64> {
    report.modes.iter().map(Mode::angular_frequency).collect()
}

/// Translations of a node.
fn translations(structure: &Structure, displacement: &[f64], node: usize) -> [f64; 3] {
    [Direction::X, Direction::Y, Direction::Z].map(|k| structure.value(displacement, node, k))
}

/// Largest distance of two lists over the size of each expected value, or over `floor` where that is larger; infinite when their
/// lengths differ.
fn each(found: &[f64], expected: &[f64], floor: f64) -> f64 {
    if found.len() != expected.len() {
        return f64::INFINITY;
    }
    super::cases::worst(found.iter().zip(expected).map(|(a, b)| (a - b).abs() / b.abs().max(floor)))
}

/// A section by its stiffness alone, for a material of E = 1 Pa.
fn stiffness_section(axial: f64, bending: f64, shear: f64) -> Section {
    Section::Numbers(SectionProperties {
        area: axial,
        inertia_y: bending,
        inertia_z: bending,
        torsion: 2.0 * bending,
        shear_area_y: shear,
        shear_area_z: shear,
        ..SectionProperties::default()
    })
}

/// Limit of values whose error is a series in even powers of the element length from `power` on, for lengths that halve from one to
/// the next.
fn extrapolated(values: &[f64], power: i32) -> f64 {
    let mut row = values.to_vec();
    let mut factor = 2.0_f64.powi(power);
    while row.len() > 1 {
        row = row.windows(2).map(|pair| pair[1] + (pair[1] - pair[0]) / (factor - 1.0)).collect();
        factor *= 4.0;
    }
    row.first().copied().unwrap_or(f64::NAN)
}

/// Extrapolates lists entry by entry.
fn extrapolated_lists(lists: &[Vec<f64>], power: i32) -> Vec<f64> {
    let count = lists.iter().map(Vec::len).min().unwrap_or(0);
    (0..count).map(|k| extrapolated(&lists.iter().map(|list| list[k]).collect::<Vec<_>>(), power)).collect()
}

/// Values of a beam that cannot stretch, from those of two axial stiffnesses in N: what stretching adds falls with its inverse.
fn inextensible(measure: impl Fn(f64) -> Result<Vec<f64>, CaseError>) -> Result<Vec<f64>, CaseError> {
    let (soft, stiff) = (measure(AXIAL)?, measure(2.0 * AXIAL)?);
    Ok(soft.iter().zip(&stiff).map(|(soft, stiff)| 2.0 * stiff - soft).collect())
}

/// Axial stiffness in N beside forces of 1 to 30 N.
const AXIAL: f64 = 1e6;
