//! Chains, trees and loops that are solved at once: to the end, at frame steps, whatever hangs on them.

use crate::common::{G, distance, link, options, particles, position, run};
use sim_core::State;
use sim_pbd::constraints::distance::Distance;
use sim_pbd::{Bound, PbdSystem, Xpbd, XpbdOptions};

/// The 2 m rope of `n` links of the given total mass with `end` kg at its end, at the angle from the vertical.
fn rope(n: usize, rope_mass: f64, end: f64, angle: f64, compliance: f64) -> (PbdSystem, State) {
    let length = 2.0 / n as f64;
    let mut mass = vec![rope_mass / n as f64; n + 1];
    mass[n] = end;
    let direction = [angle.sin(), 0.0, -angle.cos()];
    let q = (0..=n).flat_map(|i| direction.map(|d| d * length * i as f64)).collect();
    let links = (0..n).map(|i| link(i, i + 1, length, compliance));
    let system = PbdSystem::builder(particles(&mass, &[0], [0.0, 0.0, -G])).chain(links).build().unwrap();
    let state = system.state_at_rest(q);
    (system, state)
}

fn largest_stretch(state: &State, n: usize) -> f64 {
    let length = 2.0 / n as f64;
    (0..n).map(|i| distance(state, i, i + 1) / length - 1.0).fold(0.0, f64::max)
}

/// A heavy end at 60 Hz, one substep, one iteration: the rope does not stretch, energy does not grow, and the bob swings as a pendulum
/// does under implicit Euler. `T h² / (m l)` is 10⁵ here; without what a tension resists turning with, 4 is the limit.
#[test]
fn a_rope_with_a_heavy_end_swings_at_frame_steps() {
    for (n, ratio) in [(20, 1e3), (100, 1e3), (50, 1e6)] {
        let end = 5.0;
        let (system, mut state) = rope(n, end / ratio * n as f64, end, std::f64::consts::FRAC_PI_2, 0.0);
        let start = system.state_energy(&state).total();
        let mut stepper = Xpbd::new(&system, options(1, 1)).unwrap();
        let (mut lowest, mut energy) = (0.0_f64, start);
        for _ in 0..300 {
            sim_core::Stepper::step(&mut stepper, &system, &mut state, 1.0 / 60.0).unwrap();
            assert!(stepper.report().converged, "{n} {ratio}: {:?}", stepper.report());
            assert!(largest_stretch(&state, n) < 1e-6, "{n} {ratio}: {}", largest_stretch(&state, n));
            let now = system.state_energy(&state).total();
            // Implicit Euler never makes energy; rounding of the largest energy aside.
            assert!(now <= energy + 1e-9 * end * G * 2.0, "{n} {ratio}: {energy} -> {now}");
            energy = now;
            lowest = lowest.min(position(&state, n)[2]);
        }
        // It has passed the bottom, taut.
        assert!((lowest + 2.0).abs() < 0.01, "{n} {ratio}: {lowest}");
    }
}

/// The same with steps that are refined: the period goes to that of the point pendulum, 2π √(l/g) / AGM(1, cos 22.5°).
#[test]
fn the_swing_of_a_heavy_end_converges_to_the_pendulum() {
    let period = std::f64::consts::TAU * (2.0_f64 / G).sqrt() / agm(1.0, (std::f64::consts::PI / 8.0).cos());
    let error = |steps: usize| {
        let (system, mut state) = rope(10, 1e-5, 5.0, std::f64::consts::FRAC_PI_4, 0.0);
        let mut stepper = Xpbd::new(&system, options(1, 1)).unwrap();
        let dt = period / steps as f64;
        let mut crossings = Vec::new();
        for step in 0..steps {
            let before = position(&state, 10)[0];
            sim_core::Stepper::step(&mut stepper, &system, &mut state, dt).unwrap();
            let after = position(&state, 10)[0];
            if before * after < 0.0 {
                crossings.push(dt * (step as f64 + before / (before - after)));
            }
        }
        (2.0 * (crossings[1] - crossings[0]) / period - 1.0).abs()
    };
    let (coarse, fine) = (error(500), error(2000));
    assert!(fine < 2e-3 && fine < 0.35 * coarse, "{coarse} {fine}");
}

fn agm(mut a: f64, mut b: f64) -> f64 {
    for _ in 0..20 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    a
}

/// A soft link: one step of the direct solve is one step of implicit Euler, which obeys M (x − x̃) = h² f(x) with the end positions.
#[test]
fn a_step_is_one_of_implicit_euler() {
    let (n, stiffness, h) = (8, 400.0, 1.0 / 60.0);
    let (system, mut state) = rope(n, 0.8, 0.7, 1.1, 1.0 / stiffness);
    // Something to turn: every particle has a velocity of its own.
    for (i, v) in state.v.iter_mut().enumerate().skip(3) {
        *v = 3.0 * (1.7 * i as f64).sin();
    }
    let before = state.clone();
    run(&system, &mut state, options(1, 1), h, 1);
    let (w, l) = (sim_core::ExplicitSystem::inverse_mass(&system), 2.0 / n as f64);
    for i in 1..=n {
        let mut force = [0.0, 0.0, -G / w[i]];
        for j in [i - 1, i + 1] {
            if j > n {
                continue;
            }
            let (a, b) = (position(&state, i), position(&state, j));
            let length = distance(&state, i, j);
            for c in 0..3 {
                force[c] += stiffness * (length - l) * (b[c] - a[c]) / length;
            }
        }
        for c in 0..3 {
            let free = before.q[3 * i + c] + h * before.v[3 * i + c];
            let way = state.q[3 * i + c] - free;
            let expected = h * h * w[i] * force[c];
            assert!((way - expected).abs() < 1e-10, "particle {i}, {c}: {way} {expected}");
        }
    }
}

/// A name, links and pins.
type Case<'a> = (&'a str, Vec<[u32; 2]>, &'a [usize]);

/// Trees, pins inside and at the ends, redundant links, loops: every solve ends balanced.
#[test]
fn trees_and_loops_converge() {
    let d = |a: u32, b: u32, length: f64, compliance: f64| Bound {
        compliance,
        ..Bound::rigid([a, b], Distance { rest_length: length })
    };
    let grid = |i: u32| [f64::from(i % 4), 0.3 * f64::from(i * i % 5), -f64::from(i / 4)];
    let q: Vec<f64> = (0..12).flat_map(grid).collect();
    let between = |a: u32, b: u32| {
        let (x, y) = (grid(a), grid(b));
        (0..3).map(|c| (x[c] - y[c]).powi(2)).sum::<f64>().sqrt()
    };
    let star: &[[u32; 2]] =
        &[[0, 1], [0, 4], [4, 8], [4, 5], [5, 9], [1, 2], [2, 3], [2, 6], [6, 10], [6, 7], [10, 11]];
    let cases: [Case<'_>; 5] = [
        ("tree", star.to_vec(), &[0]),
        ("free tree", star.to_vec(), &[]),
        ("pins at leaves and inside", star.to_vec(), &[3, 4, 9, 11]),
        (
            "ring",
            vec![[0, 1], [1, 2], [2, 3], [3, 7], [7, 11], [11, 10], [10, 9], [9, 8], [8, 4], [4, 0]],
            &[0],
        ),
        ("two rings", vec![[0, 1], [1, 5], [5, 4], [4, 0], [5, 6], [6, 10], [10, 9], [9, 5]], &[0, 10]),
    ];
    for (name, links, pins) in cases {
        for compliance in [0.0, 1e-4] {
            let mass: Vec<f64> = (0..12).map(|i| 0.1 + 0.3 * f64::from(i % 3)).collect();
            let items = links.iter().map(|&[a, b]| d(a, b, between(a, b), compliance));
            let system =
                PbdSystem::builder(particles(&mass, pins, [0.0, 0.0, -G])).chain(items).build().unwrap();
            let mut state = system.state_at_rest(q.clone());
            for (i, v) in state.v.iter_mut().enumerate() {
                if !pins.contains(&(i / 3)) {
                    *v = 2.0 * (0.9 * i as f64).cos();
                }
            }
            let mut stepper = Xpbd::new(&system, XpbdOptions { tolerance: 1e-8, ..options(1, 1) }).unwrap();
            for step in 0..60 {
                sim_core::Stepper::step(&mut stepper, &system, &mut state, 1.0 / 60.0).unwrap();
                assert!(
                    stepper.report().converged,
                    "{name} {compliance} step {step}: {:?}",
                    stepper.report().worst
                );
            }
        }
    }
}

/// A straight rigid chain between two pins is redundant: nothing moves, nothing breaks.
#[test]
fn a_redundant_chain_stays_finite() {
    let n = 5;
    let q: Vec<f64> = (0..=n).flat_map(|i| [0.2 * i as f64, 0.0, 0.0]).collect();
    let links = (0..n).map(|i| link(i, i + 1, 0.2, 0.0));
    let system = PbdSystem::builder(particles(&vec![0.1; n + 1], &[0, n], [0.0, 0.0, -G]))
        .chain(links)
        .build()
        .unwrap();
    let mut state = system.state_at_rest(q);
    run(&system, &mut state, options(1, 1), 1.0 / 60.0, 120);
    assert!(state.q.iter().chain(&state.v).all(|x| x.is_finite()));
    assert!((1..n).all(|i| position(&state, i)[2].abs() < 0.05), "{:?}", state.q);
}
