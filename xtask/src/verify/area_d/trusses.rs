//! Bars and trusses of small displacements: one bar, the trusses of the sizing literature, and their frequencies.

use super::{Build, Wrap, angular_frequencies, each, linear, modes, tolerance, translations};
use crate::verify::cases::{CaseError, Verdict, apart, at_most, expected, input, relative, worst};
use sim_fem::Load;
use sim_fem::elements::MassKind;
use sim_fem::elements::point_mass::PointMass;
use sim_fem::elements::truss::Truss;
use sim_fem::load::Direction::{X, Y, Z};
use sim_fem::material::{Material, Section};
use sim_verify::reference::Case;
use std::f64::consts::TAU;

/// An inch in m, a pound-force in N and a pound in kg, exact by definition.
const INCH: f64 = 0.0254;
const POUND: f64 = 0.453_592_37;
const POUND_FORCE: f64 = POUND * 9.806_65;

/// A bar along x of `n` equal elements, held at node 0 and across everywhere.
fn line<'a>(
    wrap: Wrap<'a>,
    material: &Material,
    area: f64,
    length: f64,
    n: usize,
) -> Result<Build<'a>, CaseError> {
    let mut build = Build::line(wrap, length, n);
    for i in 0..n {
        build.add(Truss::new(material, &Section::area(area))?, &[i, i + 1]);
    }
    build.fix(0, X);
    (0..=n).for_each(|i| _ = build.fix(i, Y).fix(i, Z));
    Ok(build)
}

pub(super) fn bar(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let (e, a, l, f) = (input(case, "E")?, input(case, "A")?, input(case, "L")?, input(case, "F")?);
    let (rho, g) = (input(case, "rho")?, input(case, "g")?);
    let limit = tolerance(case)?;
    let n = 10;
    let mut build = line(wrap, &Material::new(e), a, l, n)?;
    build.force(n, X, f);
    let (structure, report) = linear(build)?;
    let end = relative(structure.value(&report.displacement, n, X), expected(case, "u_end")?);
    let stress = expected(case, "stress")?;
    let stresses = worst(report.members.iter().map(|member| relative(member.stress, stress)));
    let energy = relative(report.strain_energy, expected(case, "strain_energy")?);
    let mut build = line(wrap, &Material::new(e).with_density(rho), a, l, n)?;
    build.load(Load::Gravity { acceleration: [g, 0.0, 0.0] });
    let (structure, heavy) = linear(build)?;
    let value = |node| structure.value(&heavy.displacement, node, X);
    let weight = worst([
        relative(value(n), expected(case, "u_selfweight")?),
        relative(value(n / 2), expected(case, "u_mid_selfweight")?),
        relative(structure.value(&heavy.reaction, 0, X), -rho * g * a * l),
    ]);
    Ok(vec![
        at_most(case, "end", "displacement of the end under a force, relative distance", limit, end),
        at_most(case, "stress", "stress of every element, relative distance", limit, stresses),
        at_most(case, "energy", "strain energy, relative distance", limit, energy),
        at_most(
            case,
            "weight",
            "end, middle and support under its own weight, relative distance",
            limit,
            weight,
        ),
    ])
}

pub(super) fn bar_frequencies(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let material = Material::new(input(case, "E")?).with_density(input(case, "rho")?);
    let n = input(case, "n")? as usize;
    let limit = tolerance(case)?;
    let exact = case.numbers("expected/omega_exact")?;
    let mut claims = Vec::new();
    for (kind, name, side) in
        [(MassKind::Consistent, "consistent", "above"), (MassKind::Lumped, "lumped", "below")]
    {
        let mut build = line(wrap, &material, 1e-4, input(case, "L")?, n)?;
        build.mass(kind);
        let (_, report) = modes(build, n)?;
        let found = angular_frequencies(&report);
        let distance = each(&found, &case.numbers(&format!("expected/omega_{name}"))?, 0.0);
        let wrong = found.iter().zip(&exact).filter(|&(a, b)| (a > b) != (kind == MassKind::Consistent));
        let carried: f64 = report.modes.iter().map(|mode| mode.effective_mass()[0]).sum();
        claims.extend([
            at_most(case, name, &format!("{name} mass: frequencies, relative distance"), limit, distance),
            at_most(
                case,
                &format!("{name}_side"),
                &format!("frequencies that are not {side} those of the bar"),
                0.0,
                wrong.count() as f64,
            ),
            at_most(
                case,
                &format!("{name}_carried"),
                "effective mass of all modes over the mass that moves, distance from 1",
                limit,
                relative(carried, report.movable_mass[0]),
            ),
        ]);
    }
    Ok(claims)
}

/// The ten-bar truss; nodes 1 to 6 of the case are 0 to 5 here.
fn ten_bar<'a>(wrap: Wrap<'a>, bay: f64, material: &Material, areas: &[f64]) -> Result<Build<'a>, CaseError> {
    let mut build = Build::new(wrap);
    build.nodes(
        [(2.0, 1.0), (2.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0)]
            .map(|(x, y)| [bay * x, bay * y, 0.0]),
    );
    let bars = [(5, 3), (3, 1), (6, 4), (4, 2), (3, 4), (1, 2), (5, 4), (6, 3), (3, 2), (4, 1)];
    for ((a, b), &area) in bars.into_iter().zip(areas) {
        build.add(Truss::new(material, &Section::area(area))?, &[a - 1, b - 1]);
    }
    build.pin(4).pin(5).planar();
    Ok(build)
}

pub(super) fn ten_bars(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let areas = case.numbers("inputs/areas")?;
    let (e, p, density) = (input(case, "E")?, input(case, "P")?, input(case, "density")?);
    let limit = tolerance(case)?;
    // Once in inches and pounds, as published, and once in SI units.
    let solve = |inch: f64, force: f64, mass: f64| -> Result<_, CaseError> {
        let material = Material::new(e * force / (inch * inch)).with_density(density * mass / inch.powi(3));
        let areas: Vec<f64> = areas.iter().map(|area| area * inch * inch).collect();
        let mut build = ten_bar(wrap, 360.0 * inch, &material, &areas)?;
        build.force(1, Y, -p * force).force(3, Y, -p * force);
        let (structure, report) = linear(build)?;
        let moved: Vec<f64> = (0..4)
            .flat_map(|node| translations(&structure, &report.displacement, node)[..2].to_vec())
            .collect();
        let forces: Vec<f64> = report.members.iter().map(|member| member.axial_force / force).collect();
        Ok((moved, forces, structure.total_mass() / mass))
    };
    let (moved, forces, weight) = solve(1.0, 1.0, 1.0)?;
    let (metric, metric_forces, metric_weight) = solve(INCH, POUND_FORCE, POUND)?;
    let members = case.numbers("expected/member_forces")?;
    let largest = moved.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    // Bars of the optimum carry down to a thousandth of the loads; the solution is exact relative to what the others carry.
    Ok(vec![
        at_most(case, "displacements", "displacements in inches, relative distance", limit, {
            each(&moved, &case.rows("expected/displacements_nodes_1_to_4")?.concat(), 0.0)
        }),
        at_most(case, "metric", "displacements in m, relative distance", limit, {
            each(&metric, &case.rows("expected/displacements_SI")?.concat(), 0.0)
        }),
        at_most(
            case,
            "forces",
            "member forces in both units, distance over at least a hundredth of the load",
            limit,
            worst([each(&forces, &members, 0.01 * p), each(&metric_forces, &members, 0.01 * p)]),
        ),
        at_most(case, "weight", "weight in both units, relative distance", limit, {
            let exact = expected(case, "weight")?;
            worst([relative(weight, exact), relative(metric_weight, exact)])
        }),
        at_most(case, "largest", "largest displacement, relative distance", limit, {
            relative(largest, expected(case, "max_displacement")?)
        }),
    ])
}

pub(super) fn twenty_five_bars(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let nodes = [
        [-37.5, 0.0, 200.0],
        [37.5, 0.0, 200.0],
        [-37.5, 37.5, 100.0],
        [37.5, 37.5, 100.0],
        [37.5, -37.5, 100.0],
        [-37.5, -37.5, 100.0],
        [-100.0, 100.0, 0.0],
        [100.0, 100.0, 0.0],
        [100.0, -100.0, 0.0],
        [-100.0, -100.0, 0.0],
    ];
    let groups: [&[(usize, usize)]; 8] = [
        &[(1, 2)],
        &[(1, 4), (2, 3), (1, 5), (2, 6)],
        &[(2, 5), (2, 4), (1, 3), (1, 6)],
        &[(3, 6), (4, 5)],
        &[(3, 4), (5, 6)],
        &[(3, 10), (6, 7), (4, 9), (5, 8)],
        &[(3, 8), (4, 7), (6, 9), (5, 10)],
        &[(3, 7), (4, 8), (5, 9), (6, 10)],
    ];
    let loads =
        [(0, [1000.0, -1e4, -1e4]), (1, [0.0, -1e4, -1e4]), (2, [500.0, 0.0, 0.0]), (5, [600.0, 0.0, 0.0])];
    let material = Material::new(input(case, "E")?).with_density(input(case, "density")?);
    let limit = tolerance(case)?;
    let mut build = Build::new(wrap);
    build.nodes(nodes);
    for (bars, area) in groups.iter().zip(case.numbers("inputs/group_areas")?) {
        for &(a, b) in *bars {
            build.add(Truss::new(&material, &Section::area(area))?, &[a - 1, b - 1]);
        }
    }
    (6..10).for_each(|node| _ = build.pin(node));
    for (node, force) in loads {
        for (direction, value) in [X, Y, Z].into_iter().zip(force) {
            build.force(node, direction, value);
        }
    }
    let (structure, report) = linear(build)?;
    let moved: Vec<f64> =
        (0..6).flat_map(|node| translations(&structure, &report.displacement, node)).collect();
    let forces: Vec<f64> = report.members.iter().map(|member| member.axial_force).collect();
    let largest = moved.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    Ok(vec![
        at_most(case, "displacements", "displacements of six nodes, relative distance", limit, {
            each(&moved, &case.rows("expected/displacements_nodes_1_to_6")?.concat(), 0.0)
        }),
        at_most(case, "forces", "forces of all members, relative distance", limit, {
            each(&forces, &case.numbers("expected/member_forces_in_listed_order")?, 0.0)
        }),
        at_most(case, "weight", "weight, relative distance", limit, {
            relative(structure.total_mass(), expected(case, "weight")?)
        }),
        at_most(case, "largest", "largest displacement, relative distance", limit, {
            relative(largest, expected(case, "max_displacement")?)
        }),
    ])
}

fn tower<'a>(wrap: Wrap<'a>, material: &Material, areas: &[f64]) -> Result<Build<'a>, CaseError> {
    let mut build = Build::new(wrap);
    for level in 0..5 {
        let z = 60.0 * f64::from(level);
        build.nodes([[0.0, 0.0, z], [120.0, 0.0, z], [120.0, 120.0, z], [0.0, 120.0, z]]);
    }
    for storey in 0..4 {
        let (low, high) = (4 * storey, 4 * storey + 4);
        let mut add = |group: usize, a: usize, b: usize| -> Result<(), CaseError> {
            build.add(Truss::new(material, &Section::area(areas[4 * storey + group]))?, &[a, b]);
            Ok(())
        };
        for c in 0..4 {
            let d = (c + 1) % 4;
            add(0, low + c, high + c)?;
            add(1, low + c, high + d)?;
            add(1, low + d, high + c)?;
            add(2, high + c, high + d)?;
        }
        add(3, high, high + 2)?;
        add(3, high + 1, high + 3)?;
    }
    (0..4).for_each(|node| _ = build.pin(node));
    Ok(build)
}

pub(super) fn seventy_two_bars(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let areas = case.numbers("inputs/group_areas_bottom_to_top")?;
    let material = Material::new(input(case, "E")?).with_density(input(case, "density")?);
    let limit = tolerance(case)?;
    let kip = 1000.0;
    let mut corner = tower(wrap, &material, &areas)?;
    corner.force(16, X, 5.0 * kip).force(16, Y, 5.0 * kip).force(16, Z, -5.0 * kip);
    let mut top = tower(wrap, &material, &areas)?;
    (16..20).for_each(|node| _ = top.force(node, Z, -5.0 * kip));
    let (structure, first) = linear(corner)?;
    let (_, second) = linear(top)?;
    let moved = |u: &[f64]| (16..20).flat_map(|node| translations(&structure, u, node)).collect::<Vec<f64>>();
    let [one, two] = [moved(&first.displacement), moved(&second.displacement)];
    let horizontal = one.chunks_exact(3).flat_map(|u| &u[..2]).fold(0.0_f64, |a, b| a.max(b.abs()));
    let stress = second.members.iter().fold(0.0_f64, |a, member| a.max(member.stress.abs()));
    // 18 members a storey; the columns stand at every fourth place of the first sixteen.
    let columns: Vec<f64> = (0..4).map(|c| second.members[54 + 4 * c].axial_force).collect();
    Ok(vec![
        at_most(
            case,
            "displacements",
            "displacements of the top in both load cases, relative distance",
            limit,
            worst([
                each(&one, &case.rows("expected/disp_case1_nodes_17_20")?.concat(), 0.0),
                each(&two, &case.rows("expected/disp_case2_nodes_17_20")?.concat(), 0.0),
            ]),
        ),
        at_most(case, "largest", "largest horizontal displacement of the top, relative distance", limit, {
            relative(horizontal, expected(case, "max_top_horizontal_case1")?)
        }),
        at_most(case, "stress", "largest stress of the second load case, relative distance", limit, {
            relative(stress, expected(case, "max_stress_case2")?)
        }),
        at_most(case, "columns", "forces of the top columns, relative distance", limit, {
            each(&columns, &case.numbers("expected/column_forces_case2_top_storey")?, 0.0)
        }),
        at_most(case, "weight", "weight, relative distance", limit, {
            relative(structure.total_mass(), expected(case, "weight")?)
        }),
    ])
}

pub(super) fn ten_bar_frequencies(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let material = Material::new(input(case, "E")?).with_density(input(case, "rho")?);
    let optimised = case.numbers("inputs/areas_optimised")?;
    let uniform = vec![input(case, "area_uniform")?; optimised.len()];
    let limit = tolerance(case)?;
    let mut claims = Vec::new();
    for (areas, kind, name) in [
        (&optimised, MassKind::Consistent, "optimised"),
        (&uniform, MassKind::Consistent, "uniform_consistent"),
        (&uniform, MassKind::Lumped, "uniform_lumped"),
    ] {
        let mut build = ten_bar(wrap, 360.0 * INCH, &material, areas)?;
        // The mass at the free nodes stands in the description of the case.
        for node in 0..4 {
            build.add(PointMass::new(454.0)?, &[node]);
        }
        build.mass(kind);
        let (structure, report) = modes(build, 8)?;
        let found: Vec<f64> = angular_frequencies(&report).iter().map(|omega| omega / TAU).collect();
        let distance = each(&found, &case.numbers(&format!("expected/frequencies_{name}"))?, 0.0);
        claims.push(at_most(case, name, "eight frequencies, relative distance", limit, distance));
        if name == "optimised" {
            let bars = structure.total_mass() - 4.0 * 454.0;
            let mass = apart(&[bars], &[expected(case, "mass_optimised")?]) / bars;
            claims.push(at_most(case, "mass", "mass of the bars, relative distance", limit, mass));
        }
    }
    Ok(claims)
}
