//! Beams of small displacements: deflections, buckling loads, frequencies, a frame and a ring.

use super::{
    Build, Wrap, angular_frequencies, each, extrapolated, extrapolated_lists, inextensible, linear, modes,
    stiffness_section, tolerance,
};
use crate::verify::cases::{CaseError, Verdict, apart, at_most, expected, input, relative, worst};
use sim_fem::Load;
use sim_fem::analysis::buckling::{BucklingOptions, buckling};
use sim_fem::beam::Orientation;
use sim_fem::elements::corotational_beam::CorotationalBeam;
use sim_fem::elements::euler_bernoulli_beam::EulerBernoulliBeam;
use sim_fem::elements::planar_corotational_beam::PlanarCorotationalBeam;
use sim_fem::elements::timoshenko_beam::TimoshenkoBeam;
use sim_fem::load::Direction::{Rz, X, Y};
use sim_fem::material::{Material, Section};
use sim_verify::reference::Case;
use std::f64::consts::TAU;

/// Axial stiffness in N that puts stretching far above bending.
const STIFF: f64 = 1e8;

/// E = 1 Pa and ν = 0, so that G = 1/2.
fn unit_material() -> Material {
    Material::new(1.0).with_poissons_ratio(0.0)
}

/// A planar line of `n` beams of bending stiffness `ei`, stiff along its axis, with `ga` in N against shear (0: rigid).
fn shear_line(wrap: Wrap<'_>, n: usize, length: f64, ei: f64, ga: f64) -> Result<Build<'_>, CaseError> {
    let section = stiffness_section(1e6, ei, 2.0 * ga);
    let mut build = Build::line(wrap, length, n);
    build.planar();
    for i in 0..n {
        build.add(TimoshenkoBeam::new(&unit_material(), &section, Orientation::Upright)?, &[i, i + 1]);
    }
    Ok(build)
}

/// The same of beams rigid in shear, of `line_density` in kg/m.
fn slender_line(
    wrap: Wrap<'_>,
    n: usize,
    length: f64,
    ei: f64,
    line_density: f64,
) -> Result<Build<'_>, CaseError> {
    let material = unit_material().with_density(line_density / STIFF);
    let section = stiffness_section(STIFF, ei, 0.0);
    let mut build = Build::line(wrap, length, n);
    build.planar();
    for i in 0..n {
        build.add(EulerBernoulliBeam::new(&material, &section, Orientation::Upright)?, &[i, i + 1]);
    }
    Ok(build)
}

/// Holds the ends of a line, given the number of its last node.
type Ends = fn(&mut Build<'_>, usize);

/// Largest relative distances: cantilever, cantilever under a uniform load, cantilever with shear, simply supported beam.
fn deflections(case: &Case, wrap: Wrap<'_>) -> Result<[f64; 4], CaseError> {
    let (ei, l, p, q) = (input(case, "EI")?, input(case, "L")?, input(case, "P")?, input(case, "q")?);
    let ga = input(case, "kappaGA")?;
    let mut worsts = [0.0_f64; 4];
    for n in [1, 2, 4] {
        // Deflection and slope at a node under a force in the middle or at the end, or under a uniform load.
        let solve = |ga: f64, ends: Ends, force: Option<usize>, at: usize| -> Result<[f64; 3], CaseError> {
            let mut build = shear_line(wrap, n, l, ei, ga)?;
            ends(&mut build, n);
            match force {
                Some(node) => _ = build.force(node, Y, p),
                None => (0..n).for_each(|element| {
                    build.load(Load::Uniform { element, force: [0.0, q, 0.0] });
                }),
            }
            let (structure, report) = linear(build)?;
            let value = |node, direction| structure.value(&report.displacement, node, direction);
            Ok([value(at, Y), value(at, Rz), structure.value(&report.reaction, 0, Rz)])
        };
        let clamped: Ends = |build, _| _ = build.clamp(0);
        let simple: Ends = |build, n| _ = build.pin(0).fix(n, Y);
        let [tip, slope, moment] = solve(0.0, clamped, Some(n), n)?;
        let [uniform, ..] = solve(0.0, clamped, None, n)?;
        let [sheared, ..] = solve(ga, clamped, Some(n), n)?;
        let mut found = [
            worst([
                relative(tip, expected(case, "cantilever_tip")?),
                relative(slope, expected(case, "cantilever_slope")?),
                relative(moment, -p * l),
            ]),
            relative(uniform, expected(case, "cantilever_uniform_tip")?),
            relative(sheared, expected(case, "cantilever_tip_timoshenko")?),
            0.0,
        ];
        if n > 1 {
            let [center, ..] = solve(0.0, simple, Some(n / 2), n / 2)?;
            let [uniform, ..] = solve(0.0, simple, None, n / 2)?;
            found[3] = worst([
                relative(center, expected(case, "ss_center")?),
                relative(uniform, expected(case, "ss_uniform")?),
            ]);
        }
        worsts.iter_mut().zip(found).for_each(|(all, found)| *all = worst([*all, found]));
    }
    Ok(worsts)
}

/// Four Euler loads: relative distance of the limit of many elements, and of the error of 16 from its theory.
fn euler_loads(case: &Case, wrap: Wrap<'_>) -> Result<[f64; 2], CaseError> {
    let (ei, l) = (input(case, "EI")?, input(case, "L")?);
    let ends: [(&str, Ends); 4] = [
        ("cantilever", |build, _| _ = build.clamp(0)),
        ("pinned_pinned", |build, n| _ = build.fix(0, X).fix(0, Y).fix(n, Y)),
        ("clamped_pinned", |build, n| _ = build.clamp(0).fix(n, Y)),
        ("clamped_clamped", |build, n| _ = build.clamp(0).fix(n, Y).fix(n, Rz)),
    ];
    let mut limits = Vec::new();
    let mut theory: f64 = 0.0;
    for (name, support) in ends {
        let exact = expected(case, &format!("P_euler/{name}"))?;
        let load = |n: usize| -> Result<f64, CaseError> {
            let mut build = slender_line(wrap, n, l, ei, 0.0)?;
            support(&mut build, n);
            build.force(n, X, -1.0);
            Ok(buckling(&build.build()?, &BucklingOptions::default())?.modes[0].load_factor)
        };
        let values = [8, 16, 32].map(load).into_iter().collect::<Result<Vec<_>, _>>()?;
        limits.push(relative(extrapolated(&values, 4), exact));
        // Hermite elements: relative error (kh)⁴/720 with k² = P/EI.
        let predicted = (exact / ei).powi(2) * (l / 16.0).powi(4) / 720.0;
        theory = worst([theory, relative((values[1] / exact - 1.0) / predicted, 1.0)]);
    }
    Ok([worst(limits), theory])
}

/// Other beams in the place of the one above: relative distance of the cantilever of 16 from theory.
fn other_beams(case: &Case, wrap: Wrap<'_>) -> Result<f64, CaseError> {
    let (ei, l) = (input(case, "EI")?, input(case, "L")?);
    let exact = expected(case, "P_euler/cantilever")?;
    let mut others = 0.0;
    for kind in ["planar_corotational_beam", "corotational_beam", "timoshenko_beam"] {
        let section = stiffness_section(STIFF, ei, 0.0);
        let mut build = Build::line(wrap, l, 16);
        build.planar();
        for i in 0..16 {
            let nodes = [i, i + 1];
            let upright = Orientation::Upright;
            match kind {
                "timoshenko_beam" => {
                    build.add(TimoshenkoBeam::new(&unit_material(), &section, upright)?, &nodes)
                }
                "corotational_beam" => {
                    build.add(CorotationalBeam::new(&unit_material(), &section, upright)?, &nodes)
                }
                _ => build.add(PlanarCorotationalBeam::new(&unit_material(), &section)?, &nodes),
            };
        }
        build.clamp(0).force(16, X, -1.0);
        let found = buckling(&build.build()?, &BucklingOptions::default())?.modes[0].load_factor;
        let predicted = exact * (1.0 + (exact / ei).powi(2) * (l / 16.0).powi(4) / 720.0);
        others = worst([others, relative(found, predicted)]);
    }
    Ok(others)
}

pub(super) fn deflections_and_euler_loads(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let limit = tolerance(case)?;
    let [tip, uniform, sheared, simple] = deflections(case, wrap)?;
    let [euler, theory] = euler_loads(case, wrap)?;
    let others = other_beams(case, wrap)?;
    Ok(vec![
        at_most(
            case,
            "euler_others",
            "16 corotational and Timoshenko beams: cantilever, relative distance from theory",
            1e-7,
            others,
        ),
        at_most(
            case,
            "tip",
            "cantilever of 1 to 4 elements: deflection, slope, moment, relative distance",
            limit,
            tip,
        ),
        at_most(case, "uniform", "cantilever under a uniform load, relative distance", limit, uniform),
        at_most(case, "shear", "cantilever with shear, relative distance", limit, sheared),
        at_most(case, "simple", "simply supported beam, relative distance", limit, simple),
        at_most(case, "euler", "four Euler loads, limit of 8 to 32 elements, relative distance", 1e-9, euler),
        at_most(
            case,
            "euler_error",
            "error of 16 elements over its theory, (kh)⁴/720, distance from 1",
            0.05,
            theory,
        ),
    ])
}

pub(super) fn eigenvalues(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let ends: [(&str, &str, Ends, usize); 5] = [
        ("clamped_free", "clamped_free", |build, _| _ = build.clamp(0), 0),
        ("clamped_clamped", "clamped_clamped_and_free_free", |build, n| _ = build.clamp(0).clamp(n), 0),
        ("free_free", "clamped_clamped_and_free_free", |_, _| {}, 3),
        ("clamped_pinned", "clamped_pinned", |build, n| _ = build.clamp(0).fix(n, Y), 0),
        ("pinned_pinned", "pinned_pinned", |build, n| _ = build.fix(0, X).fix(0, Y).fix(n, Y), 0),
    ];
    let count = case.numbers("inputs/modes")?.len();
    let mut claims = Vec::new();
    for (name, column, support, rigid) in ends {
        let exact = case.numbers(&format!("expected/{column}"))?;
        let find = |n: usize| -> Result<Vec<f64>, CaseError> {
            let mut build = slender_line(wrap, n, 1.0, 1.0, 1.0)?;
            support(&mut build, n);
            let (_, report) = modes(build, count + rigid)?;
            Ok(angular_frequencies(&report)[rigid..].iter().map(|omega| omega.sqrt()).collect())
        };
        let lists = [10, 20, 40].map(find).into_iter().collect::<Result<Vec<_>, _>>()?;
        // Hermite elements: relative error (βh)⁴/2880 of β, from above.
        let theory =
            worst(
                lists[1].iter().zip(&exact).skip(2).map(|(found, beta)| {
                    relative((found / beta - 1.0) / ((beta / 20.0).powi(4) / 2880.0), 1.0)
                }),
            );
        claims.extend([
            at_most(
                case,
                name,
                "limit of 10 to 40 elements: five eigenvalues, relative distance",
                1e-7,
                each(&extrapolated_lists(&lists, 4), &exact, 0.0),
            ),
            at_most(
                case,
                &format!("{name}_error"),
                "error of 20 elements over its theory, (βh)⁴/2880, distance from 1",
                0.2,
                theory,
            ),
        ]);
    }
    Ok(claims)
}

pub(super) fn cantilever_frequencies(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let limit = tolerance(case)?;
    let mut claims = Vec::new();
    for n in [1, 2, 4, 8] {
        let exact = case.numbers(&format!("expected/n{n}"))?;
        let mut build = slender_line(wrap, n, 1.0, 1.0, 1.0)?;
        build.clamp(0);
        // Held along the axis, so that only bending is left.
        (1..=n).for_each(|i| _ = build.fix(i, X));
        let (_, report) = modes(build, exact.len())?;
        let distance = each(&angular_frequencies(&report), &exact, 0.0);
        let what = format!("{n} elements: frequencies, relative distance");
        claims.push(at_most(case, &format!("n{n}"), &what, limit, distance));
    }
    Ok(claims)
}

pub(super) fn double_cross(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let material = Material::new(input(case, "E")?).with_density(input(case, "rho")?);
    let side = input(case, "a")?;
    let section = Section::Rectangle { width: side, height: side };
    let length = input(case, "L_arm")?;
    let limit = tolerance(case)?;
    let frequencies = |arms: u32, per_arm: u32, count: usize| -> Result<Vec<f64>, CaseError> {
        let mut build = Build::new(wrap);
        build.planar();
        build.node([0.0; 3]);
        for arm in 0..arms {
            let angle = TAU / f64::from(arms) * f64::from(arm);
            let mut previous = 0;
            for k in 1..=per_arm {
                let radius = length * f64::from(k) / f64::from(per_arm);
                let node = build.node([radius * angle.cos(), radius * angle.sin(), 0.0]);
                build.add(
                    EulerBernoulliBeam::new(&material, &section, Orientation::Upright)?,
                    &[previous, node],
                );
                previous = node;
            }
            build.pin(previous);
        }
        let (_, report) = modes(build, count)?;
        Ok(angular_frequencies(&report).iter().map(|omega| omega / TAU).collect())
    };
    // The case advises 1e-7 for the columns of finite elements.
    let column = 1e-7;
    let mut claims = Vec::new();
    for (arms, per_arm, name) in
        [(8, 4, "FE_4_elements"), (8, 12, "FE_12_elements"), (4, 12, "single_cross_4_arms_FE_12")]
    {
        let exact = case.numbers(&format!("expected/{name}"))?;
        let distance = each(&frequencies(arms, per_arm, exact.len())?, &exact, 0.0);
        claims.push(at_most(case, name, "frequencies, relative distance", column, distance));
    }
    let lists = [6, 12, 24, 48].map(|per_arm| frequencies(8, per_arm, 16));
    let lists = lists.into_iter().collect::<Result<Vec<_>, _>>()?;
    let found = extrapolated_lists(&lists, 2);
    let mut exact = Vec::new();
    for (name, times) in [
        ("f1_exact", 1),
        ("f2_f3_exact_with_axial", 2),
        ("f4_to_f8_exact", 5),
        ("f9_exact", 1),
        ("f10_f11_exact_with_axial", 2),
        ("f12_to_f16_exact", 5),
    ] {
        exact.extend(std::iter::repeat_n(expected(case, name)?, times));
    }
    let published = case.numbers("expected/published")?;
    // The published list counts the modes that move the hub among those that do not.
    let picked: Vec<f64> = [0, 3, 4, 8, 11, 12].iter().filter_map(|&k| found.get(k).copied()).collect();
    claims.extend([
        at_most(
            case,
            "exact",
            "limit of 6 to 48 elements per arm, relative distance",
            limit,
            each(&found, &exact, 0.0),
        ),
        at_most(
            case,
            "published",
            "published with three decimals, distance in Hz",
            5e-4,
            apart(&picked, &published),
        ),
    ]);
    Ok(claims)
}

pub(super) fn ring(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let (p, r, ei) = (input(case, "P")?, input(case, "R")?, input(case, "EI")?);
    let line_density = input(case, "rhoA")?;
    let circle = |n: usize, area: f64| -> Result<Build<'_>, CaseError> {
        let material = unit_material().with_density(line_density / area);
        let section = stiffness_section(area, ei, 0.0);
        let mut build = Build::new(wrap);
        build.planar().nodes((0..n).map(|i| {
            let angle = TAU * i as f64 / n as f64;
            [r * angle.cos(), r * angle.sin(), 0.0]
        }));
        for i in 0..n {
            build.add(EulerBernoulliBeam::new(&material, &section, Orientation::Upright)?, &[i, (i + 1) % n]);
        }
        Ok(build)
    };
    let squeeze = |n: usize, axial: f64| -> Result<Vec<f64>, CaseError> {
        let mut build = circle(n, axial)?;
        let (right, top, left, bottom) = (0, n / 4, n / 2, 3 * n / 4);
        build.force(right, X, -p).force(left, X, p);
        // Symmetry holds the ring in place without touching its shape.
        build.fix(top, X).fix(bottom, X).fix(right, Y);
        let (structure, report) = linear(build)?;
        let u = |node, direction| structure.value(&report.displacement, node, direction);
        let moment = report.members[0].end_forces[0][5].abs();
        Ok(vec![u(left, X) - u(right, X), u(top, Y) - u(bottom, Y), moment])
    };
    let exact =
        [expected(case, "shortening")?, expected(case, "widening")?, expected(case, "moment_at_load")?];
    let lists = [40, 80, 160]
        .map(|n| inextensible(|axial| squeeze(n, axial)))
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    let omega = case.numbers("expected/omega_n_2_3_4")?;
    // Free: three rigid motions, then each frequency twice.
    let (_, report) = modes(circle(200, STIFF)?, 3 + 2 * omega.len())?;
    let pairs: Vec<f64> = omega.iter().flat_map(|&omega| [omega, omega]).collect();
    Ok(vec![
        // As the case advises for 200 elements.
        at_most(
            case,
            "polygon",
            "200 elements: shortening, widening, moment under the load, relative distance",
            2e-3,
            each(&squeeze(200, STIFF)?, &exact, 0.0),
        ),
        at_most(
            case,
            "circle",
            "limit of 40 to 160 elements, relative distance",
            1e-8,
            each(&extrapolated_lists(&lists, 2), &exact, 0.0),
        ),
        at_most(
            case,
            "frequencies",
            "200 elements: three pairs of frequencies, relative distance",
            2e-3,
            each(&angular_frequencies(&report)[3..], &pairs, 0.0),
        ),
    ])
}
