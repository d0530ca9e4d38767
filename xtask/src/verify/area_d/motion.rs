//! Response in time: an oscillator, two masses, damping factors, and a wave in a bar.

use super::{Build, Wrap, each, extrapolated_lists, tolerance};
use crate::verify::cases::{CaseError, Verdict, apart, at_most, expected, input, relative, worst};
use sim_fem::analysis::damping::{rayleigh_factors, rayleigh_ratio};
use sim_fem::analysis::modal::{ModalOptions, modal};
use sim_fem::analysis::modal_response::DampedModes;
use sim_fem::analysis::transient::{InitialState, Instant, TransientMethod, TransientOptions, transient};
use sim_fem::elements::MassKind;
use sim_fem::elements::dashpot::Dashpot;
use sim_fem::elements::ground_spring::GroundSpring;
use sim_fem::elements::point_mass::PointMass;
use sim_fem::elements::truss::Truss;
use sim_fem::load::Direction::{X, Y, Z};
use sim_fem::load::TimeFunction;
use sim_fem::material::{Material, Section};
use sim_fem::{Load, Structure};
use sim_verify::reference::Case;
use std::ops::ControlFlow;

const AVERAGE: TransientMethod = TransientMethod::Newmark { beta: 0.25, gamma: 0.5 };
const LINEAR: TransientMethod = TransientMethod::Newmark { beta: 1.0 / 6.0, gamma: 0.5 };

/// Displacement, velocity and acceleration of the unknowns at every instant, from rest.
fn history(structure: &Structure, options: &TransientOptions) -> Result<Vec<[Vec<f64>; 3]>, CaseError> {
    let mut rows = Vec::new();
    let mut keep = |instant: &Instant<'_>| {
        rows.push([instant.displacement.to_vec(), instant.velocity.to_vec(), instant.acceleration.to_vec()]);
        ControlFlow::Continue(())
    };
    transient(structure, &InitialState::at_rest(structure), options, &mut keep)?;
    Ok(rows)
}

pub(super) fn pulse(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let (m, k, zeta, dt) = (input(case, "m")?, input(case, "k")?, input(case, "zeta")?, input(case, "dt")?);
    let limit = tolerance(case)?;
    let c = 2.0 * zeta * (k * m).sqrt();
    // Amplitude and duration of the pulse stand in the description.
    let (amplitude, duration) = (10.0, 0.6);
    let oscillator = |dashpot: bool| -> Result<Structure, CaseError> {
        let mut build = Build::new(wrap);
        build.node([0.0; 3]);
        build.add(PointMass::new(m)?, &[0]);
        build.add(GroundSpring::new([k, 0.0, 0.0, 0.0, 0.0, 0.0])?, &[0]);
        if dashpot {
            build.add(Dashpot::new([c, 0.0, 0.0, 0.0, 0.0, 0.0])?, &[0]);
        } else {
            build.rayleigh_damping(c / m, 0.0);
        }
        build.fix(0, Y).fix(0, Z);
        let load = Load::Force { node: 0, direction: X, value: amplitude };
        build.timed_load(0, load, TimeFunction::HalfSine { duration });
        build.build()
    };
    let dashpot = oscillator(true)?;
    let proportional = oscillator(false)?;
    let column = |structure, method, which: usize, name: &str| -> Result<f64, CaseError> {
        let exact = case.numbers(&format!("expected/{name}"))?;
        let options = TransientOptions { method, dt, steps: exact.len() - 1, ..Default::default() };
        let found: Vec<f64> = history(structure, &options)?.iter().map(|row| row[which][0]).collect();
        let scale = exact.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        Ok(apart(&found, &exact) / scale)
    };
    let mut average = 0.0;
    let mut linear = 0.0;
    for structure in [&dashpot, &proportional] {
        for (which, name) in ["u", "v", "a"].into_iter().enumerate() {
            average =
                worst([average, column(structure, AVERAGE, which, &format!("{name}_average_acceleration"))?]);
        }
        linear = worst([linear, column(structure, LINEAR, 0, "u_linear_acceleration")?]);
    }
    // Central differences take damping at the mean velocity in the mass-proportional form.
    let central = column(&proportional, TransientMethod::CentralDifference, 0, "u_central_difference")?;
    // Duhamel's integral of a pulse that is a straight line in each step; its limit is that of the pulse.
    let exact = case.numbers("expected/u_exact")?;
    let report = modal(&dashpot, None, &ModalOptions { modes: 1, ..Default::default() })?;
    let responses = DampedModes::new(&report.modes, vec![zeta])?;
    let fine = |parts: usize| -> Result<Vec<f64>, CaseError> {
        let mut rows = Vec::new();
        let mut keep = |_: f64, u: &[f64]| {
            rows.push(u[0]);
            ControlFlow::Continue(())
        };
        responses.transient(&dashpot, dt / parts as f64, (exact.len() - 1) * parts, &mut keep)?;
        Ok(rows.into_iter().step_by(parts).collect())
    };
    let lists = [4, 8, 16, 32].map(fine).into_iter().collect::<Result<Vec<_>, _>>()?;
    let distance = apart(&extrapolated_lists(&lists, 2), &exact);
    Ok(vec![
        at_most(
            case,
            "average",
            "average acceleration, damping as dashpot and by mass: u, v, a, distance over the largest",
            limit,
            average,
        ),
        at_most(case, "linear", "linear acceleration, distance over the largest", limit, linear),
        at_most(case, "central", "central differences, distance over the largest", limit, central),
        at_most(case, "exact", "from the mode, limit of fine steps, distance in in", limit, distance),
    ])
}

pub(super) fn two_masses(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let dt = input(case, "dt")?;
    let limit = tolerance(case)?;
    // K = [[6,-2],[-2,4]] as springs to ground 4 and 2 and a bar of 2 between; M = diag(2, 1); load (0, 10).
    let mut build = Build::line(wrap, 1.0, 1);
    build.add(Truss::new(&Material::new(2.0), &Section::area(1.0))?, &[0, 1]);
    for (node, (k, m)) in [(4.0, 2.0), (2.0, 1.0)].into_iter().enumerate() {
        build.add(GroundSpring::new([k, 0.0, 0.0, 0.0, 0.0, 0.0])?, &[node]);
        build.add(PointMass::new(m)?, &[node]);
        build.fix(node, Y).fix(node, Z);
    }
    build.force(1, X, 10.0);
    let structure = build.build()?;
    let mut claims = Vec::new();
    for (method, name) in
        [(AVERAGE, "newmark_average"), (TransientMethod::CentralDifference, "central_difference")]
    {
        let exact = case.rows(&format!("expected/{name}"))?;
        let options = TransientOptions { method, dt, steps: exact.len(), ..Default::default() };
        let rows = history(&structure, &options)?;
        let unknown = |node| structure.dof(node, X).and_then(|dof| structure.unknown(dof));
        let places = [unknown(0), unknown(1)].into_iter().flatten().collect::<Vec<_>>();
        let found: Vec<f64> = rows[1..].iter().flat_map(|row| places.iter().map(|&k| row[0][k])).collect();
        let what = "both displacements at twelve times, distance over the largest";
        claims.push(at_most(case, name, what, limit, over_largest(&found, &exact.concat())));
    }
    let report = modal(&structure, None, &ModalOptions { modes: 2, ..Default::default() })?;
    let squares: Vec<f64> = report.modes.iter().map(|mode| mode.eigenvalue).collect();
    let exact = case.rows("expected/exact")?;
    let responses = DampedModes::new(&report.modes, vec![0.0; 2])?;
    let mut found = Vec::new();
    let mut keep = |_: f64, u: &[f64]| {
        found.extend([structure.value(u, 0, X), structure.value(u, 1, X)]);
        ControlFlow::Continue(())
    };
    responses.transient(&structure, dt, exact.len(), &mut keep)?;
    claims.extend([
        // ω² = 2 and 5 by the characteristic polynomial, which the case names.
        at_most(
            case,
            "modes",
            "squares of the frequencies, relative distance",
            limit,
            each(&squares, &[2.0, 5.0], 0.0),
        ),
        at_most(case, "exact", "from the modes, distance over the largest", limit, {
            over_largest(&found[2..], &exact.concat())
        }),
    ]);
    Ok(claims)
}

fn over_largest(found: &[f64], exact: &[f64]) -> f64 {
    apart(found, exact) / exact.iter().fold(0.0_f64, |a, b| a.max(b.abs()))
}

pub(super) fn rayleigh(case: &'static Case, _: Wrap<'_>) -> Verdict {
    let omega = [input(case, "omega1")?, input(case, "omega2")?];
    let limit = tolerance(case)?;
    let unequal = rayleigh_factors(omega, [input(case, "zeta1")?, input(case, "zeta2")?])?;
    // The equal ratio stands in the description.
    let equal = rayleigh_factors(omega, [0.03, 0.03])?;
    Ok(vec![
        at_most(
            case,
            "factors",
            "factors for unequal and equal ratios, relative distance",
            limit,
            worst([
                each(&unequal, &[expected(case, "a0")?, expected(case, "a1")?], 0.0),
                each(&equal, &[expected(case, "a0_equal")?, expected(case, "a1_equal")?], 0.0),
            ]),
        ),
        at_most(
            case,
            "ratios",
            "ratios between the frequencies and the least one, relative distance",
            limit,
            worst([
                relative(rayleigh_ratio(unequal, 25.0), expected(case, "zeta_unequal_at_25")?),
                relative(rayleigh_ratio(equal, 25.0), expected(case, "zeta_equal_at_25")?),
                relative(
                    rayleigh_ratio(equal, (omega[0] * omega[1]).sqrt()),
                    expected(case, "zeta_min_equal")?,
                ),
            ]),
        ),
    ])
}

pub(super) fn wave(case: &'static Case, wrap: Wrap<'_>) -> Verdict {
    let (l, e, rho) = (input(case, "L")?, input(case, "E")?, input(case, "rho")?);
    let (area, f) = (input(case, "A")?, input(case, "F")?);
    let limit = tolerance(case)?;
    let n = 40;
    let material = Material::new(e).with_density(rho);
    let mut build = Build::line(wrap, l, n);
    build.mass(MassKind::Lumped);
    for i in 0..n {
        build.add(Truss::new(&material, &Section::area(area))?, &[i, i + 1]);
    }
    build.fix(0, X).force(n, X, f);
    (0..=n).for_each(|i| _ = build.fix(i, Y).fix(i, Z));
    let structure = build.build()?;
    // At Courant number 1 central differences carry the wave exactly.
    let crossing = l / expected(case, "c")?;
    let dt = crossing / n as f64;
    let times = case.numbers("inputs/t_over_L_c")?;
    let steps = 5 * n;
    let options =
        TransientOptions { method: TransientMethod::CentralDifference, dt, steps, ..Default::default() };
    let mut end = Vec::new();
    let mut root = Vec::new();
    let mut keep = |instant: &Instant<'_>| {
        end.push(instant.value(&structure, n, X));
        let mut u = vec![0.0; structure.dof_count()];
        structure.scatter(instant.displacement, &mut u);
        root.push(structure.member_result(0, &u).stress);
        ControlFlow::Continue(())
    };
    transient(&structure, &InitialState::at_rest(&structure), &options, &mut keep)?;
    let at = |time: f64| (time * n as f64).round() as usize;
    let found: Vec<f64> = times.iter().filter_map(|&time| end.get(at(time)).copied()).collect();
    let reflected = expected(case, "fixed_end_stress_after_reflection")?;
    // Stress at the fixed end between the arrivals of the front: none, twice F/A, none.
    let windows = [(0.0, 0.95, 0.0), (1.05, 2.95, reflected), (3.05, 4.95, 0.0)];
    let stress = worst(windows.iter().flat_map(|&(from, to, stress)| {
        root[at(from)..=at(to)].iter().map(move |found| (found - stress).abs() / reflected)
    }));
    let mut still = Build::line(wrap, l, 1);
    still.add(Truss::new(&material, &Section::area(area))?, &[0, 1]);
    still.pin(0).fix(1, Y).fix(1, Z).force(1, X, f);
    let (structure, report) = super::linear(still)?;
    Ok(vec![
        // Four hundred additions leave a few digits less than the formula has.
        at_most(
            case,
            "end",
            "displacement of the end at six times, distance over the static one",
            10.0 * limit,
            apart(&found, &case.numbers("expected/u_end")?) / expected(case, "static")?,
        ),
        at_most(
            case,
            "stress",
            "stress at the fixed end, distance over that of the reflection",
            10.0 * limit,
            stress,
        ),
        at_most(case, "static", "static displacement, relative distance", limit, {
            relative(structure.value(&report.displacement, 1, X), expected(case, "static")?)
        }),
    ])
}
