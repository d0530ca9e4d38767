//! Static stretch, implicit Euler, convergence of sweeps, the pendulum of three rigid links.

use crate::verify::cases::{
    CaseError, Verdict, advance, apart, at_most, expected, input, link, particles, plain, relative, sweeps,
    worst,
};
use nalgebra::Vector3;
use sim_core::{State, Stepper};
use sim_pbd::constraints::attachment::Attachment;
use sim_pbd::{Bound, PbdSystem, Xpbd};
use sim_verify::Claim;
use sim_verify::reference::Case;

/// A rope of `masses` on links of `rest_length` below a pinned particle.
fn hung(
    masses: &[f64],
    rest_length: f64,
    compliance: f64,
    g: f64,
    direct: bool,
) -> Result<(PbdSystem, State), CaseError> {
    let mass: Vec<f64> = [1.0].iter().chain(masses).copied().collect();
    let links: Vec<_> = (1..mass.len()).map(|i| link(i - 1, i, rest_length, compliance)).collect();
    let builder = PbdSystem::builder(particles(&mass, &[0], [0.0, 0.0, -g])?);
    let system = if direct { builder.chain(links) } else { builder.distances(links) }.build()?;
    let q = (0..mass.len()).flat_map(|i| [0.0, 0.0, -(i as f64) * rest_length]).collect();
    let state = system.state_at_rest(q);
    Ok((system, state))
}

fn stretch_of(state: &State, i: usize, rest_length: f64) -> f64 {
    state.q[3 * i + 2] - state.q[3 * i + 5] - rest_length
}

pub(super) fn stretch_of_plain(case: &Case) -> Verdict {
    let (h, fraction, g) = (input(case, "h")?, input(case, "k")?, input(case, "g")?);
    let count = input(case, "n")? as u32;
    let mut distance = 0.0;
    // A short link: the stretch is a small part of it, and 1e-12 of the stretch must be above its rounding.
    let rest_length = 1e-3;
    for (name, dt, iterations) in
        [("stretch", h, count), ("stretch_h_1_120", 0.5 * h, count), ("stretch_n5", h, count / 2)]
    {
        for mass in [0.1, 3.0] {
            let (system, mut state) = hung(&[mass], rest_length, 0.0, g, false)?;
            advance(&system, &mut state, plain(fraction, iterations), dt, 300)?;
            let found = stretch_of(&state, 0, rest_length);
            distance = worst([distance, relative(found, expected(case, name)?)]);
        }
    }
    let text = "stretch of plain PBD for two steps, two iteration counts and two masses, relative distance";
    Ok(vec![at_most(case, "stretch", text, 1e-12, distance)])
}

pub(super) fn stretch(case: &Case) -> Verdict {
    let (mass, compliance, g) = (input(case, "m")?, input(case, "alpha")?, input(case, "g")?);
    let (mut lengths, mut forces, rest_length) = (0.0, 0.0, 0.2);
    for (h, iterations, steps) in
        [(1.0 / 60.0, 1, 1000), (1.0 / 60.0, 5, 1000), (1.0 / 240.0, 1, 8000), (1.0 / 240.0, 50, 8000)]
    {
        let (system, mut state) = hung(&[mass], rest_length, compliance, g, false)?;
        let xpbd = advance(&system, &mut state, sweeps(1, iterations), h, steps)?;
        let found = stretch_of(&state, 0, rest_length);
        lengths = worst([lengths, relative(found, expected(case, "stretch")?)]);
        let force = xpbd.constraint_force(&system, 0, 0);
        forces = worst([forces, relative(force, expected(case, "force_from_lambda")?)]);
    }
    let links = case.numbers("expected/chain3_link_stretches")?;
    let mut chain = 0.0;
    for direct in [false, true] {
        let (system, mut state) = hung(&[mass; 3], rest_length, compliance, g, direct)?;
        advance(&system, &mut state, sweeps(1, 30), 1.0 / 60.0, 3000)?;
        let found: Vec<f64> = (0..3).map(|i| stretch_of(&state, i, rest_length)).collect();
        let total = found.iter().sum::<f64>() - expected(case, "chain3_total")?;
        chain = worst([chain, apart(&found, &links), total.abs()]);
    }
    Ok(vec![
        at_most(
            case,
            "one",
            "stretch for two steps and four iteration counts, relative distance",
            1e-9,
            lengths,
        ),
        at_most(case, "force", "force from the multiplier, relative distance", 1e-9, forces),
        at_most(
            case,
            "chain",
            "three links in a row, by sweeps and directly, distance in m",
            1e-9 * links[2],
            chain,
        ),
    ])
}

/// A particle on a spring of no length to the origin.
fn on_a_spring(case: &Case, g: f64) -> Result<(PbdSystem, State), CaseError> {
    let (mass, compliance) = (input(case, "m")?, input(case, "alpha")?);
    let system = PbdSystem::builder(particles(&[mass], &[], [g, 0.0, 0.0])?)
        .constraints([Bound::compliant([0], Attachment::fixed([0.0; 3]), compliance)])
        .build()?;
    let mut state = system.state_at_rest(vec![input(case, "x0")?, 0.0, 0.0]);
    state.v[0] = input(case, "v0")?;
    Ok((system, state))
}

pub(super) fn implicit_euler(case: &Case) -> Verdict {
    let (mass, compliance, h) = (input(case, "m")?, input(case, "alpha")?, input(case, "h")?);
    let (system, mut state) = on_a_spring(case, input(case, "g_along_x")?)?;
    let mut xpbd = Xpbd::new(&system, sweeps(1, 1))?;
    let (mut done, mut distance) = (0, 0.0);
    for (steps, row) in [1, 10, 60].into_iter().zip(case.rows("expected/states_1_10_60")?) {
        while done < steps {
            xpbd.step(&system, &mut state, h)?;
            done += 1;
        }
        distance = worst([distance, relative(state.q[0], row[0]), relative(state.v[0], row[1])]);
    }
    // Amplitude of the free vibration.
    let (system, mut state) = on_a_spring(case, 0.0)?;
    let norm = |state: &State| (state.q[0].powi(2) / compliance + mass * state.v[0].powi(2)).sqrt();
    let before = norm(&state);
    advance(&system, &mut state, sweeps(1, 1), h, 40)?;
    let radius = (norm(&state) / before).powf(1.0 / 40.0);
    Ok(vec![
        at_most(case, "state", "state after 1, 10 and 60 steps, relative distance", 1e-12, distance),
        at_most(case, "radius", "spectral radius and damping per step, distance", 1e-12, {
            let damping = 1.0 - radius - expected(case, "numerical_damping_per_step")?;
            worst([(radius - expected(case, "spectral_radius")?).abs(), damping.abs()])
        }),
    ])
}

/// Factor per sweep by which sweeps reduce the error of a straight chain, measured between `sweeps` and twice as many.
fn rate(links: usize, pinned: bool, count: u32) -> Result<f64, CaseError> {
    let pins: &[usize] = if pinned { &[0] } else { &[] };
    let system = PbdSystem::builder(particles(&vec![1.0; links + 1], pins, [0.0; 3])?)
        .distances((0..links).map(|i| link(i, i + 1, 1.0, 0.0)))
        .build()?;
    let error = |count: u32| -> Result<f64, CaseError> {
        let q = (0..=links).flat_map(|i| [i as f64 + 1e-3 * (i as f64 * 0.7).sin(), 0.0, 0.0]).collect();
        let mut state = system.state_at_rest(q);
        Ok(advance(&system, &mut state, sweeps(1, count), 0.01, 1)?.report().rms)
    };
    Ok((error(2 * count)? / error(count)?).powf(1.0 / f64::from(count)))
}

pub(super) fn chain_rate(case: &Case) -> Verdict {
    let links = input(case, "N")? as usize;
    let mut claims = Vec::new();
    for (part, name, per_digit, links, pinned, sweeps) in [
        ("free", Some("rho_free"), "sweeps_per_digit_free", links, false, 100),
        ("pinned", Some("rho_pinned"), "sweeps_per_digit_pinned", links, true, 200),
        ("long", None, "sweeps_per_digit_pinned_100", 100, true, 4000),
    ] {
        let rate = rate(links, pinned, sweeps)?;
        let mut distance = relative(-1.0 / rate.log10(), expected(case, per_digit)?);
        if let Some(name) = name {
            distance = worst([distance, relative(rate, expected(case, name)?)]);
        }
        let what = format!("rate and sweeps per digit of a {part} chain of {links} links, relative distance");
        claims.push(at_most(case, part, &what, 0.01, distance));
    }
    Ok(claims)
}

pub(super) fn triple_pendulum(case: &Case) -> Verdict {
    let (length, mass, g) = (input(case, "L")?, input(case, "m")?, input(case, "g")?);
    let angles = case.numbers("inputs/theta0")?;
    let system = PbdSystem::builder(particles(&[1.0, mass, mass, mass], &[0], [0.0, 0.0, -g])?)
        .chain((0..3).map(|i| link(i, i + 1, length, 0.0)))
        .build()?;
    let mut q = vec![0.0; 12];
    for (i, angle) in angles.iter().enumerate() {
        q[3 * i + 3] = q[3 * i] + length * angle.sin();
        q[3 * i + 5] = q[3 * i + 2] - length * angle.cos();
    }
    let start = system.state_at_rest(q);
    let energy = relative(system.state_energy(&start).total(), expected(case, "energy")?);
    // Positions (x, z) of the masses at the times of the case.
    let times = case.numbers("inputs/t")?;
    let run = |per_second: u32| -> Result<Vec<Vec<f64>>, CaseError> {
        let mut state = start.clone();
        let mut rows = Vec::new();
        for &t in &times {
            let span = t - state.t;
            let substeps = (span * f64::from(per_second)).round() as u32;
            advance(&system, &mut state, sweeps(substeps, 3), span, 1)?;
            rows.push((1..4).flat_map(|i| [state.q[3 * i], state.q[3 * i + 2]]).collect());
        }
        Ok(rows)
    };
    let [coarse, middle, fine] = [4000, 8000, 16_000].map(run);
    let (coarse, middle, fine) = (coarse?, middle?, fine?);
    let mut claims: Vec<Claim> = Vec::new();
    let (mut extrapolated, mut orders) = (0.0, 0.0);
    for (i, &t) in times.iter().enumerate() {
        let exact = case.rows(&format!("expected/positions/{i}"))?.concat();
        let [e1, e2, e3] = [&coarse[i], &middle[i], &fine[i]].map(|row| apart(row, &exact));
        orders = worst([orders, ((e1 / e2).log2() - 1.0).abs(), ((e2 / e3).log2() - 1.0).abs()]);
        // The error is a series in the substep: two terms cancel.
        let limit: Vec<f64> =
            (0..exact.len()).map(|k| (8.0 * fine[i][k] - 6.0 * middle[i][k] + coarse[i][k]) / 3.0).collect();
        extrapolated = worst([extrapolated, apart(&limit, &exact)]);
        if i == 0 {
            let text = format!("largest error at t = {t} s with 16,000 substeps per second, in m");
            claims.push(at_most(case, "error", &text, 1e-3, e3));
        }
    }
    claims.push(at_most(
        case,
        "order",
        "order less 1, with 4000 to 16,000 substeps per second",
        0.05,
        orders,
    ));
    claims.push(at_most(
        case,
        "limit",
        "positions extrapolated to no substep at three times, distance in m",
        1e-5,
        extrapolated,
    ));
    // From rest the velocity after a short step is the acceleration.
    let mut state = start;
    let dt = 1e-5;
    advance(&system, &mut state, sweeps(1, 5), dt, 1)?;
    let accelerations: Vec<f64> = (0..3)
        .map(|i| {
            let v = |j: usize| Vector3::from_column_slice(&state.v[3 * j..3 * j + 3]);
            let across = Vector3::new(angles[i].cos(), 0.0, angles[i].sin());
            (v(i + 1) - v(i)).dot(&across) / (length * dt)
        })
        .collect();
    let wanted = case.numbers("expected/initial_angular_accelerations")?;
    claims.push(at_most(case, "energy", "energy at the start, relative distance", 1e-11, energy));
    claims.push(at_most(
        case,
        "start",
        "angular accelerations at the start, distance in rad/s²",
        1e-5,
        apart(&accelerations, &wanted),
    ));
    Ok(claims)
}
