//! Beams of large displacements: dead loads, moments and their own weight on a cantilever that cannot stretch.

use super::{Build, Wrap, each, extrapolated_lists, inextensible, nonlinear, stiffness_section};
use crate::verify::cases::{CaseError, Verdict, apart, at_least, at_most, worst};
use sim_fem::analysis::nonlinear_static::{NonlinearStaticOptions, NonlinearStaticReport};
use sim_fem::beam::Orientation;
use sim_fem::elements::corotational_beam::CorotationalBeam;
use sim_fem::elements::planar_corotational_beam::PlanarCorotationalBeam;
use sim_fem::load::Direction::{self, Rz, X, Y, Z};
use sim_fem::material::Material;
use sim_fem::{Load, Structure};
use sim_verify::reference::Case;

/// E = 1 Pa, ν = 0, 1 kg/m.
fn material(axial: f64) -> Material {
    Material::new(1.0).with_poissons_ratio(0.0).with_density(1.0 / axial)
}

/// A clamped cantilever along x of length 1 and bending stiffness 1.
fn cantilever(wrap: Wrap<'_>, n: usize, axial: f64) -> Result<Build<'_>, CaseError> {
    let section = stiffness_section(axial, 1.0, 0.0);
    let mut build = Build::line(wrap, 1.0, n);
    build.planar();
    for i in 0..n {
        build.add(PlanarCorotationalBeam::new(&material(axial), &section)?, &[i, i + 1]);
    }
    build.clamp(0);
    Ok(build)
}

fn options() -> NonlinearStaticOptions {
    NonlinearStaticOptions { relative_tolerance: 1e-10, steps: 8, ..Default::default() }
}

/// Elements of the finest cantilever and of the coarser ones it is extrapolated from.
const FINEST: usize = 64;
const COUNTS: [usize; 3] = [16, 32, FINEST];

/// Results of each number of elements, by `measure`.
fn refined(
    measure: impl Fn(usize, f64) -> Result<Vec<f64>, CaseError>,
) -> Result<(Vec<f64>, Vec<f64>, f64), CaseError> {
    let lists =
        COUNTS.map(|n| inextensible(|axial| measure(n, axial))).into_iter().collect::<Result<Vec<_>, _>>()?;
    let limit = extrapolated_lists(&lists, 2);
    // The error falls with the square of the element length.
    let ratio = (lists[1][0] - limit[0]) / (lists[2][0] - limit[0]);
    let finest = lists.into_iter().next_back().unwrap_or_default();
    Ok((finest, limit, ratio.log2()))
}

pub(super) fn tip_load(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let columns =
        ["w_over_L", "u_over_L", "tip_rotation"].map(|name| case.numbers(&format!("expected/{name}")));
    let columns = columns.into_iter().collect::<Result<Vec<_>, _>>()?;
    let (mut finest_gap, mut limit_gap, mut order) = (0.0, 0.0, f64::INFINITY);
    for (k, load) in case.numbers("inputs/PL2_over_EI")?.into_iter().enumerate() {
        let tip = |n: usize, axial: f64| -> Result<Vec<f64>, CaseError> {
            let mut build = cantilever(wrap, n, axial)?;
            build.force(n, Y, load);
            let (structure, report) = nonlinear(build, &options())?;
            let value = |direction| structure.value(&report.end.displacement, n, direction);
            Ok(vec![value(Y), -value(X), value(Rz)])
        };
        let (finest, limit, found) = refined(tip)?;
        let exact: Vec<f64> = columns.iter().map(|column| column[k]).collect();
        finest_gap = worst([finest_gap, each(&finest, &exact, 1.0)]);
        limit_gap = worst([limit_gap, each(&limit, &exact, 0.0)]);
        order = order.min(found);
    }
    Ok(vec![
        // The case advises 1e-4 for finite elements.
        at_most(
            case,
            "finest",
            "64 elements: tip under four loads, distance over at least 1",
            1e-4,
            finest_gap,
        ),
        at_most(case, "limit", "limit of 16 to 64 elements, relative distance", 1e-7, limit_gap),
        at_least(case, "order", "order in the element length", 1.95, order),
    ])
}

/// Displacement of the last node.
fn tip(structure: &Structure, report: &NonlinearStaticReport, n: usize) -> [f64; 3] {
    [X, Y, Z].map(|direction| structure.value(&report.end.displacement, n, direction))
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|k| a[k] * b[k]).sum()
}

pub(super) fn roll_up(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let (x, y) = (case.numbers("expected/x")?, case.numbers("expected/y")?);
    let angles = case.numbers("inputs/phi")?;
    let (mut limit_gap, mut turn_gap, mut polygon_gap) = (0.0, 0.0, 0.0);
    for (k, &phi) in angles.iter().enumerate() {
        let roll = |n: usize, axial: f64| -> Result<Vec<f64>, CaseError> {
            let mut build = cantilever(wrap, n, axial)?;
            build.force(n, Rz, phi);
            let (structure, report) = nonlinear(build, &options())?;
            let [u, v, _] = tip(&structure, &report, n);
            Ok(vec![1.0 + u, v, structure.value(&report.end.displacement, n, Rz)])
        };
        let (finest, limit, _) = refined(roll)?;
        // A regular polygon of sides 1/n inscribed in an arc of angle φ, turned by φ/2n at the clamp: chord sin(φ/2)/(n sin(φ/2n)).
        let n = FINEST as f64;
        let chord = (0.5 * phi).sin() / (n * (0.5 * phi / n).sin());
        let polygon = [chord * (0.5 * phi).cos(), chord * (0.5 * phi).sin()];
        polygon_gap = worst([polygon_gap, apart(&finest[..2], &polygon)]);
        limit_gap = worst([limit_gap, apart(&limit[..2], &[x[k], y[k]])]);
        turn_gap = worst([turn_gap, (finest[2] - phi).abs()]);
    }
    // The same in space by three quarters of a turn, about an axis across the beam.
    let (axis, along, phi) = ([0.36, 0.48, 0.8], [0.8, -0.6, 0.0], angles[2]);
    let space = |n: usize, axial: f64| -> Result<Vec<f64>, CaseError> {
        // Nothing pulls along the beam; Newton's method wants far more steps for a stiff one.
        let axial = 1e-3 * axial;
        let section = stiffness_section(axial, 1.0, 0.0);
        let mut build = Build::new(wrap);
        build.nodes((0..=n).map(|i| along.map(|a| a * i as f64 / n as f64)));
        for i in 0..n {
            let beam = CorotationalBeam::new(&material(axial), &section, Orientation::Toward(axis))?;
            build.add(beam, &[i, i + 1]);
        }
        build.clamp(0);
        for (k, a) in axis.into_iter().enumerate() {
            build.force(n, Direction::ALL[3 + k], phi * a);
        }
        let (structure, report) = nonlinear(build, &options())?;
        let u = tip(&structure, &report, n);
        let inward = [0, 1, 2].map(|k| {
            let (a, b) = ((k + 1) % 3, (k + 2) % 3);
            axis[a] * along[b] - axis[b] * along[a]
        });
        Ok(vec![1.0 + dot(u, along), dot(u, inward), dot(u, axis)])
    };
    let (_, limit, _) = refined(space)?;
    Ok(vec![
        at_most(
            case,
            "turn",
            "64 elements: rotation of the tip for four moments, distance in rad",
            1e-8,
            turn_gap,
        ),
        at_most(
            case,
            "polygon",
            "64 elements: distance from the inscribed polygon over the length",
            1e-8,
            polygon_gap,
        ),
        at_most(case, "limit", "limit of 16 to 64 elements: tip, distance over the length", 1e-7, limit_gap),
        at_most(case, "space", "the same in space by three quarters of a turn", 1e-7, {
            apart(&limit, &[x[2], y[2], 0.0])
        }),
    ])
}

pub(super) fn heavy(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let names = ["x_over_L", "drop_over_L", "tip_angle", "root_curvature_times_L"];
    let columns = names.map(|name| case.numbers(&format!("expected/{name}")));
    let columns = columns.into_iter().collect::<Result<Vec<_>, _>>()?;
    let (mut finest_gap, mut limit_gap, mut order) = (0.0, 0.0, f64::INFINITY);
    for (k, gamma) in case.numbers("inputs/gamma")?.into_iter().enumerate() {
        let hang = |n: usize, axial: f64| -> Result<Vec<f64>, CaseError> {
            let mut build = cantilever(wrap, n, axial)?;
            build.load(Load::Gravity { acceleration: [0.0, -gamma, 0.0] });
            let (structure, report) = nonlinear(build, &options())?;
            let value = |direction| structure.value(&report.end.displacement, n, direction);
            // EI = 1: the moment at the clamp is the curvature there.
            let root = structure.value(&report.end.reaction, 0, Rz);
            Ok(vec![1.0 + value(X), -value(Y), -value(Rz), root])
        };
        let (finest, limit, found) = refined(hang)?;
        let exact: Vec<f64> = columns.iter().map(|column| column[k]).collect();
        finest_gap = worst([finest_gap, each(&finest, &exact, 1.0)]);
        limit_gap = worst([limit_gap, each(&limit, &exact, 0.0)]);
        order = order.min(found);
    }
    Ok(vec![
        at_most(
            case,
            "finest",
            "64 elements: tip, its angle and the curvature at the clamp, distance over at least 1",
            1e-3,
            finest_gap,
        ),
        at_most(case, "limit", "limit of 16 to 64 elements, relative distance", 1e-6, limit_gap),
        at_least(case, "order", "order in the element length", 1.95, order),
    ])
}
