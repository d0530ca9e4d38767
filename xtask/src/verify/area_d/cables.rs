//! Cables: catenaries, the isolated cable of the literature, a net, and taut strings.

use super::{
    Build, Wrap, angular_frequencies, each, extrapolated_lists, linear, modes, nonlinear, tolerance,
    translations,
};
use crate::verify::cases::{CaseError, Verdict, apart, at_least, at_most, expected, input, relative, worst};
use nalgebra::{DMatrix, Vector3};
use sim_fem::analysis::nonlinear_static::{
    NonlinearStaticOptions, NonlinearStaticReport, Stage, nonlinear_static,
};
use sim_fem::elements::catenary_cable::CatenaryCable;
use sim_fem::elements::nonlinear_truss::{NonlinearTruss, Unstretched};
use sim_fem::elements::tension_cable::TensionCable;
use sim_fem::elements::{Element as _, MassKind};
use sim_fem::load::Direction::{X, Y, Z};
use sim_fem::load::TimeFunction;
use sim_fem::material::{Material, Section};
use sim_fem::matrix::SymmetricMatrix;
use sim_fem::{Load, Structure};
use sim_verify::reference::Case;
use std::collections::HashMap;
use std::f64::consts::TAU;

/// Any acceleration does: only density times gravity counts.
const G: f64 = 9.81;

/// What a level cable shows: end forces, tensions, and points.
struct Hanging {
    horizontal: f64,
    /// Downward pull on the left and right support.
    vertical: [f64; 2],
    /// Position of the lowest point and of the middle of its length, seen from the left support.
    lowest: Vector3<f64>,
    middle: Vector3<f64>,
    /// Axial force that the element reports: the mean along its length.
    reported: f64,
}

impl Hanging {
    fn tension(&self, end: usize) -> f64 {
        self.horizontal.hypot(self.vertical[end])
    }
}

/// The case's cable as one element between its supports, and the same as two elements in equilibrium; y points up.
fn hanging(case: &Case, wrap: Wrap<'_>, length: f64, ea: f64) -> Result<(Hanging, Vector3<f64>), CaseError> {
    let (span, rise, w) = (input(case, "H")?, input(case, "V")?, input(case, "w")?);
    let material = Material::new(ea).with_density(w / G);
    let cable = |length| CatenaryCable::new(&material, &Section::area(1.0), length, [0.0, -G, 0.0]);
    let element = wrap(Box::new(cable(length)?));
    let (x, u) = ([Vector3::zeros(), Vector3::new(span, rise, 0.0)], [0.0; 6]);
    let mut force = [0.0; 6];
    element.internal_force(&x, &u, &mut force);
    let vertical = [force[1], force[4]];
    let found = Hanging {
        horizontal: -force[0],
        vertical,
        lowest: element.point(&x, &u, vertical[0] / (w * length)),
        middle: element.point(&x, &u, 0.5),
        reported: element.member_result(&x, &u).axial_force,
    };
    let mut build = Build::new(wrap);
    build.nodes([[0.0; 3], [0.5 * span, -0.25 * length, 0.0], [span, rise, 0.0]]).planar();
    build.add(cable(0.5 * length)?, &[0, 1]);
    build.add(cable(0.5 * length)?, &[1, 2]);
    build.pin(0).pin(2);
    let options = NonlinearStaticOptions { relative_tolerance: 1e-13, steps: 1, ..Default::default() };
    let (structure, report) = nonlinear(build, &options)?;
    let start = Vector3::from(structure.node(1));
    Ok((found, start + Vector3::from(translations(&structure, &report.end.displacement, 1))))
}

pub(super) fn inextensible(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let (w, length) = (input(case, "w")?, input(case, "L")?);
    let limit = tolerance(case)?;
    // A strain of 1e-13 is as good as none.
    let ea = 1e13 * expected(case, "T_left")?;
    let (found, middle) = hanging(case, wrap, length, ea)?;
    let sag = expected(case, "sag_below_left_at_lowest")?;
    Ok(vec![
        at_most(case, "parameter", "a = H/w, relative distance", limit, {
            relative(found.horizontal / w, expected(case, "a")?)
        }),
        at_most(
            case,
            "tensions",
            "horizontal tension and both end tensions, relative distance",
            limit,
            worst([
                relative(found.horizontal, expected(case, "T_horizontal")?),
                relative(found.tension(0), expected(case, "T_left")?),
                relative(found.tension(1), expected(case, "T_right")?),
            ]),
        ),
        at_most(
            case,
            "lowest",
            "lowest point and middle, relative distance",
            limit,
            worst([
                relative(found.lowest.x, expected(case, "x_lowest")?),
                relative(-found.lowest.y, sag),
                relative(found.middle.y, expected(case, "y_mid_relative_left")?),
            ]),
        ),
        at_most(case, "halves", "middle of two cables of half the length, relative distance", limit, {
            relative(middle.y, expected(case, "y_mid_relative_left")?)
        }),
    ])
}

pub(super) fn elastic(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let limit = tolerance(case)?;
    let (found, middle) = hanging(case, wrap, input(case, "L0")?, input(case, "EA")?)?;
    let exact = case.numbers("expected/position_of_material_midpoint")?;
    Ok(vec![
        at_most(
            case,
            "tensions",
            "horizontal, least and end tensions and the pull on the left support, relative distance",
            limit,
            worst([
                relative(found.horizontal, expected(case, "T_horizontal")?),
                relative(found.horizontal, expected(case, "min_tension")?),
                relative(found.vertical[0], expected(case, "V_left")?),
                relative(found.tension(0), expected(case, "T_left")?),
                relative(found.tension(1), expected(case, "T_right")?),
            ]),
        ),
        // T falls and rises smoothly along the length: Simpson's mean of the ends and the middle is near.
        at_most(
            case,
            "mean",
            "mean tension from Simpson's mean of ends and middle, relative distance",
            0.01,
            {
                let mean = (2.0 * expected(case, "T_left")? + 4.0 * expected(case, "min_tension")?) / 6.0;
                relative(found.reported, mean)
            },
        ),
        at_most(case, "middle", "middle of the length, relative distance", limit, {
            each(&found.middle.as_slice()[..2], &exact, 0.0)
        }),
        at_most(case, "halves", "middle of two cables of half the length, relative distance", limit, {
            each(&middle.as_slice()[..2], &exact, 0.0)
        }),
    ])
}

/// Displacement and reactions of the node under its own weight and then with the load, in two stages.
fn two_stages(
    structure: &Structure,
    start: Vec<f64>,
    steps: usize,
) -> Result<(NonlinearStaticReport, NonlinearStaticReport), CaseError> {
    let options = NonlinearStaticOptions { steps, ..Default::default() };
    let first = nonlinear_static(structure, &Stage::after(structure, start, &[], &[0]), &options)?;
    let stage = Stage::after(structure, first.end.displacement.clone(), &[0], &[1]);
    let second = nonlinear_static(structure, &stage, &options)?;
    Ok((first, second))
}

pub(super) fn isolated(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let (ea, w, span) = (input(case, "EA")?, input(case, "w")?, input(case, "span")?);
    let lengths = [input(case, "L01")?, input(case, "L02")?];
    let limit = tolerance(case)?;
    let material = Material::new(ea).with_density(w / G);
    let section = Section::area(1.0);
    let whole = |length| CatenaryCable::new(&material, &section, length, [0.0, -G, 0.0]);
    // Whole cables, or a polygon of straight ones with `parts` links each.
    let run = |parts: Option<[usize; 2]>| -> Result<_, CaseError> {
        let start = [121.92, -29.276, 0.0];
        let mut build = Build::new(wrap);
        build.nodes([[0.0; 3], start, [span, 0.0, 0.0]]).planar();
        build.pin(0).pin(2);
        for (k, length) in lengths.into_iter().enumerate() {
            let Some(parts) = parts.map(|parts| parts[k]) else {
                build.add(whole(length)?, &[k, k + 1]);
                continue;
            };
            let link = TensionCable::new(&material, &section)?
                .with_unstretched(Unstretched::Length(length / parts as f64));
            let ends = [[0.0; 3], start, [span, 0.0, 0.0]].map(Vector3::from);
            let mut previous = k;
            for i in 1..=parts {
                // Points of the hanging cable, a little lower, so that every link is taut.
                let share = i as f64 / parts as f64;
                let at = whole(length)?.point(&ends[k..k + 2], &[0.0; 6], share);
                let at = [at.x, 1.05 * at.y, 0.0];
                let node = if i == parts { k + 1 } else { build.node(at) };
                build.add(link, &[previous, node]);
                previous = node;
            }
        }
        if parts.is_some() {
            build.load(Load::Gravity { acceleration: [0.0, -G, 0.0] });
        }
        let load = Load::Force { node: 1, direction: Y, value: -input(case, "P")? };
        build.timed_load(1, load, TimeFunction::Constant);
        let structure = build.build()?;
        let rest = vec![0.0; structure.dof_count()];
        let (first, second) = two_stages(&structure, rest, 10)?;
        let at = |report: &NonlinearStaticReport| {
            let u = translations(&structure, &report.end.displacement, 1);
            [start[0] + u[0], start[1] + u[1]]
        };
        let (before, after) = (at(&first), at(&second));
        let pull = |report: &NonlinearStaticReport, k| structure.value(&report.end.reaction, 0, k);
        let reactions = [-pull(&first, X), -pull(&second, X), pull(&second, Y)];
        Ok((before, [after[0] - before[0], after[1] - before[1]], reactions))
    };
    let (before, moved, [h0, h1, v1]) = run(None)?;
    let polygons = [1, 2, 4, 8].map(|k| Ok::<_, CaseError>(run(Some([4 * k, 6 * k]))?.1.to_vec()));
    let polygons = polygons.into_iter().collect::<Result<Vec<_>, _>>()?;
    let pair = |x: &str, y: &str| Ok::<_, CaseError>([expected(case, x)?, expected(case, y)?]);
    Ok(vec![
        at_most(case, "weight", "node under its own weight, relative distance", limit, {
            each(&before, &pair("node_x_selfweight", "node_y_selfweight")?, 0.0)
        }),
        at_most(case, "moved", "displacement under the load, relative distance", limit, {
            each(&moved, &pair("dx", "dy")?, 0.0)
        }),
        at_most(
            case,
            "reactions",
            "horizontal and vertical reactions, relative distance",
            limit,
            worst([
                relative(h0, expected(case, "H_selfweight")?),
                relative(h1, expected(case, "H_final")?),
                relative(v1, expected(case, "V_left_final")?),
            ]),
        ),
        // Published with three decimals.
        at_most(case, "published", "distance from the published catenary solution in m", 2e-3, {
            apart(&moved, &pair("published_dx_catenary", "published_dy_catenary")?)
        }),
        at_most(case, "polygon", "limit of 10 to 80 straight links, relative distance", 1e-6, {
            each(&extrapolated_lists(&polygons, 2), &moved, 0.0)
        }),
        // Straight elements were published without their number. Two, as the case says, cannot be: they sink by 0.7 or, hung at the
        // published node, by 0.95 m. Ten, one per panel of 30.48 m, come within 2 cm.
        at_most(case, "straight", "ten straight links: distance from the published ones in m", 0.02, {
            apart(&polygons[0], &pair("published_dx_straight", "published_dy_straight")?)
        }),
    ])
}

pub(super) fn saddle(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let cable = TensionCable::new(&Material::new(input(case, "EA")?), &Section::area(1.0))?
        .with_unstretched(Unstretched::Factor(input(case, "L0_factor")?));
    let limit = tolerance(case)?;
    let mut build = Build::new(wrap);
    let mut node = HashMap::new();
    for j in -2_i32..=2 {
        for i in -2_i32..=2 {
            // Corners carry no segment.
            if i.abs() + j.abs() < 4 {
                let (x, y) = (f64::from(i), f64::from(j));
                node.insert((i, j), build.node([x, y, 0.1 * (x * x - y * y)]));
            }
        }
    }
    for line in -1..=1 {
        for k in -2..2 {
            build.add(cable, &[node[&(k, line)], node[&(k + 1, line)]]);
            build.add(cable, &[node[&(line, k)], node[&(line, k + 1)]]);
        }
    }
    let load = input(case, "load")?;
    for (&(i, j), &node) in &node {
        if i.abs() == 2 || j.abs() == 2 {
            build.pin(node);
        } else {
            let force = Load::Force { node, direction: Z, value: load };
            build.timed_load(1, force, TimeFunction::Constant);
        }
    }
    let structure = build.build()?;
    let rest = vec![0.0; structure.dof_count()];
    let (taut, loaded) = two_stages(&structure, rest, 4)?;
    let position = |report: &NonlinearStaticReport, i: i32, j: i32| {
        let node = node[&(i, j)];
        let start = structure.node(node);
        let u = translations(&structure, &report.end.displacement, node);
        [0, 1, 2].map(|k| start[k] + u[k])
    };
    let places = |report, list: &[(i32, i32, &str)]| -> Result<f64, CaseError> {
        let mut distance = 0.0;
        for &(i, j, name) in list {
            let exact = case.numbers(&format!("expected/{name}"))?;
            distance = worst([distance, apart(&position(report, i, j), &exact)]);
        }
        Ok(distance)
    };
    let tensions = |report: &NonlinearStaticReport, stage: &str| -> Result<f64, CaseError> {
        let range = report.members().iter().fold([f64::INFINITY, 0.0], |[low, high], member| {
            [low.min(member.axial_force), high.max(member.axial_force)]
        });
        let exact = [expected(case, &format!("T_min_{stage}"))?, expected(case, &format!("T_max_{stage}"))?];
        Ok(each(&range, &exact, 0.0))
    };
    let mut matrix = SymmetricMatrix::zeros(structure.pattern().clone());
    structure.tangent(&loaded.end.displacement, &mut matrix)?;
    let n = matrix.dim();
    let mut dense = DMatrix::zeros(n, n);
    for k in 0..n {
        let mut unit = vec![0.0; n];
        unit[k] = 1.0;
        matrix.multiply_add(1.0, &unit, dense.column_mut(k).as_mut_slice());
    }
    let lowest = dense.symmetric_eigenvalues().min();
    Ok(vec![
        at_most(
            case,
            "prestress",
            "nodes of the prestressed net, distance in m",
            limit,
            worst([
                (position(&taut, 0, 0)[2] - expected(case, "z_prestress_center")?).abs(),
                places(&taut, &[(1, 0, "pos_prestress_1_0"), (1, 1, "pos_prestress_1_1")])?,
            ]),
        ),
        at_most(case, "loaded", "nodes of the loaded net, distance in m", limit, {
            let list = [
                (0, 0, "pos_loaded_0_0"),
                (1, 0, "pos_loaded_1_0"),
                (0, 1, "pos_loaded_0_1"),
                (1, 1, "pos_loaded_1_1"),
            ];
            places(&loaded, &list)?
        }),
        at_most(
            case,
            "tensions",
            "least and largest tension in both states, relative distance",
            limit,
            worst([tensions(&taut, "prestress")?, tensions(&loaded, "loaded")?]),
        ),
        at_most(case, "eigenvalue", "lowest eigenvalue of the tangent, relative distance", limit, {
            relative(lowest, expected(case, "lowest_tangent_eigenvalue_loaded")?)
        }),
    ])
}

pub(super) fn two_segments(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let (ea, half, q) = (input(case, "EA")?, input(case, "Lh")?, input(case, "Q")?);
    let limit = tolerance(case)?;
    let cable = TensionCable::new(&Material::new(ea), &Section::area(1.0))?
        .with_unstretched(Unstretched::Pretension(input(case, "T0")?));
    let taut = || {
        let mut build = Build::line(wrap, 2.0 * half, 2);
        build.planar();
        build.add(cable, &[0, 1]);
        build.add(cable, &[1, 2]);
        build.pin(0).pin(2).force(1, Y, q);
        build
    };
    let options = NonlinearStaticOptions { relative_tolerance: 1e-13, ..Default::default() };
    let (structure, report) = nonlinear(taut(), &options)?;
    let (_, small) = linear(taut())?;
    Ok(vec![
        at_most(case, "deflection", "deflection, relative distance", limit, {
            relative(structure.value(&report.end.displacement, 1, Y), expected(case, "d")?)
        }),
        at_most(case, "tension", "tension, relative distance", limit, {
            relative(report.members()[0].axial_force, expected(case, "T")?)
        }),
        at_most(case, "linear", "linearised deflection, relative distance", limit, {
            relative(structure.value(&small.displacement, 1, Y), expected(case, "d_linearised")?)
        }),
    ])
}

pub(super) fn string(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let (length, area, tension) = (input(case, "L")?, input(case, "A")?, input(case, "T")?);
    let limit = tolerance(case)?;
    // Young's modulus stands in the description; it decides nothing but the unstretched length. The case counts mass per stretched
    // length, the material per unstretched one.
    let youngs_modulus = 30e6;
    let strain = tension / (youngs_modulus * area);
    let material = Material::new(youngs_modulus).with_density(input(case, "rho")? * (1.0 + strain));
    let bar = NonlinearTruss::new(&material, &Section::area(area))?
        .with_unstretched(Unstretched::Pretension(tension));
    let exact = case.numbers("expected/f")?;
    let frequencies = |n: usize, kind: MassKind| -> Result<Vec<f64>, CaseError> {
        let mut build = Build::line(wrap, length, n);
        build.planar().mass(kind);
        for i in 0..n {
            build.add(bar, &[i, i + 1]);
        }
        build.pin(0).pin(n);
        let (_, report) = modes(build, exact.len())?;
        Ok(angular_frequencies(&report).iter().map(|omega| omega / TAU).collect())
    };
    let mut claims = Vec::new();
    for (kind, name) in [(MassKind::Consistent, "consistent"), (MassKind::Lumped, "lumped")] {
        let lists = [16, 32, 64, 128].map(|n| frequencies(n, kind));
        let lists = lists.into_iter().collect::<Result<Vec<_>, _>>()?;
        let order = ((lists[2][0] - exact[0]) / (lists[3][0] - exact[0])).log2();
        claims.extend([
            at_most(
                case,
                name,
                &format!("{name} mass, limit of 16 to 128 elements: frequencies, relative distance"),
                limit,
                each(&extrapolated_lists(&lists, 2), &exact, 0.0),
            ),
            at_least(case, &format!("{name}_order"), "order in the element length", 1.95, order),
        ]);
        if kind == MassKind::Consistent {
            let published = case.numbers("expected/published")?;
            let distance = each(&extrapolated_lists(&lists, 2), &published, 0.0);
            // As the case advises for the published values.
            claims.push(at_most(case, "published", "published, relative distance", 1e-4, distance));
        }
    }
    Ok(claims)
}
