//! Reported faults of comparable systems (ids in the names), as far as they need no contact.

use crate::common::{G, close, distance, link, options, particles, position, run};
use sim_core::{StepError, Stepper};
use sim_pbd::constraints::distance::Distance;
use sim_pbd::constraints::slip_ring::SlipRing;
use sim_pbd::constraints::unilateral_distance::UnilateralDistance;
use sim_pbd::{Bound, GradientPoint, PbdError, PbdSystem, SolveOrder, Xpbd, XpbdOptions};

#[test]
fn s08_stiffness_does_not_depend_on_iterations() {
    for iterations in [1, 2, 5, 10, 50] {
        let system = PbdSystem::builder(particles(&[1.0, 1.0], &[0], [0.0, 0.0, -G]))
            .distances([link(0, 1, 1.0, 1e-3)])
            .build()
            .unwrap();
        let mut state = system.state_at_rest(vec![0.0, 0.0, 0.0, 0.0, 0.0, -1.0]);
        run(&system, &mut state, options(1, iterations), 1.0 / 60.0, 1200);
        close(-1.0 - state.q[5], 9.81e-3, 1e-6, "stretch");
    }
}

#[test]
fn s09_a_free_net_falls_without_deforming() {
    for order in [SolveOrder::List, SolveOrder::Colors] {
        let n = 21;
        let system = PbdSystem::builder(particles(&vec![0.005; n], &[], [0.0, -G, 0.0]))
            .distances((0..n - 1).map(|i| link(i, i + 1, 0.05, 1.0 / 40000.0)))
            .order(order)
            .build()
            .unwrap();
        let q = (0..n).flat_map(|i| [0.05 * i as f64, 0.0, 0.0]).collect();
        let mut state = system.state_at_rest(q);
        run(&system, &mut state, options(1, 10), 1.0 / 60.0, 60);
        for i in 0..n - 1 {
            assert!((distance(&state, i, i + 1) / 0.05 - 1.0).abs() < 1e-6);
        }
        for i in 0..n {
            close(position(&state, i)[1], -4.98675, 1e-9, "height of symplectic Euler");
        }
    }
}

#[test]
fn s10_a_light_rope_holds_a_heavy_weight() {
    let n = 21;
    let mut mass = vec![0.01; n];
    mass[n - 1] = 1.0;
    let links = || (0..n - 1).map(|i| link(i, i + 1, 0.05, 1.0 / 40000.0));
    let q: Vec<f64> = (0..n).flat_map(|i| [0.0, 0.0, -0.05 * i as f64]).collect();
    let builder = || PbdSystem::builder(particles(&mass, &[0], [0.0, 0.0, -G]));
    let direct = builder().chain(links()).build().unwrap();
    let mut state = direct.state_at_rest(q.clone());
    let report = run(&direct, &mut state, XpbdOptions::default(), 1.0 / 60.0, 1200);
    close(-1.0 - position(&state, n - 1)[2], 5.371e-3, 0.05 * 5.371e-3, "stretch");
    assert!(report.converged, "{report:?}");
    // Sweeps of default quality do not get there, and say so.
    let swept = builder().distances(links()).build().unwrap();
    let mut state = swept.state_at_rest(q);
    let report = run(&swept, &mut state, XpbdOptions::default(), 1.0 / 60.0, 1200);
    let stretch = -1.0 - position(&state, n - 1)[2];
    assert!((stretch - 5.371e-3).abs() < 0.05 * 5.371e-3 || !report.converged, "{stretch} {report:?}");
}

#[test]
fn s11_uneven_segments_share_the_stretch() {
    let (axial_stiffness, force) = (1000.0, 10.0);
    let even = |n: usize| vec![1.0 / n as f64; n];
    for lengths in [vec![0.1, 0.2, 0.7], even(1), even(10), even(100)] {
        let n = lengths.len();
        // Massless but for the load: all other weights together are 1e-6 of it.
        let mut mass = vec![1e-6 / n as f64; n + 1];
        mass[n] = force / G;
        let mut q = vec![0.0; 3];
        for length in &lengths {
            q.extend([0.0, 0.0, q[q.len() - 1] - length]);
        }
        let links = lengths.iter().enumerate().map(|(i, &l)| link(i, i + 1, l, l / axial_stiffness));
        let system = PbdSystem::builder(particles(&mass, &[0], [0.0, 0.0, -G])).chain(links).build().unwrap();
        let mut state = system.state_at_rest(q);
        run(&system, &mut state, options(1, 3), 1.0 / 60.0, 600);
        for (i, length) in lengths.iter().enumerate() {
            let stretch = distance(&state, i, i + 1) - length;
            close(stretch, length * force / axial_stiffness, 1e-7 * length, "stretch of a segment");
        }
        close(-1.0 - state.q[3 * n + 2], 10e-3, 1e-7, "total");
    }
}

#[test]
fn s13_damping_of_a_constraint_does_not_brake_its_rotation() {
    let (k, mass, spin, length) = (1e5_f64, 1.0, 10.0, 1.0005002501250625);
    let reduced = 0.5 * mass;
    let mut spring = link(0, 1, 1.0, 1.0 / k);
    spring.damping = 2.0 * (k * reduced).sqrt();
    let system =
        PbdSystem::builder(particles(&[mass, mass], &[], [0.0; 3])).distances([spring]).build().unwrap();
    let mut state = system.state_at_rest(vec![-0.5 * length, 0.0, 0.0, 0.5 * length, 0.0, 0.0]);
    state.v[1] = -0.5 * spin * length;
    state.v[4] = 0.5 * spin * length;
    let mut options = options(10, 2);
    options.gradient = GradientPoint::StepStart;
    run(&system, &mut state, options, 1.0 / 240.0, 2400);
    let momentum = mass
        * (0..2)
            .map(|i| state.q[3 * i] * state.v[3 * i + 1] - state.q[3 * i + 1] * state.v[3 * i])
            .sum::<f64>();
    close(momentum, 5.0050, 5e-3, "angular momentum");
    let now = distance(&state, 0, 1);
    close(momentum / (reduced * now * now), spin, 0.01, "spin");
}

#[test]
fn s16_a_fine_cloth_settles_or_says_that_it_is_not_converged() {
    for n in [25, 50] {
        let d = 2.0 / (n as f64 - 1.0);
        let mass = vec![0.2 * 4.0 / (n * n) as f64; n * n];
        let at = |i: usize, j: usize| i * n + j;
        let mut links = Vec::new();
        for i in 0..n {
            for j in 0..n {
                let mut add = |k: usize, l: usize| {
                    if k < n && l < n {
                        let length = d * ((k as f64 - i as f64).hypot(l as f64 - j as f64));
                        links.push(link(at(i, j), at(k, l), length, 0.0));
                    }
                };
                add(i, j + 1);
                add(i + 1, j);
                add(i + 1, j + 1);
            }
        }
        let system = PbdSystem::builder(particles(&mass, &[at(0, 0), at(0, n - 1)], [0.0, 0.0, -G]))
            .distances(links)
            .build()
            .unwrap();
        let q = (0..n * n).flat_map(|v| [d * (v % n) as f64, d * (v / n) as f64, 0.0]).collect();
        let mut state = system.state_at_rest(q);
        let report = run(&system, &mut state, options(1, 5), 1.0 / 60.0, 600);
        let kinetic = system.state_energy(&state).kinetic;
        assert!(kinetic < 1e-4 || !report.converged, "{n}: {kinetic} J, {report:?}");
        assert!(report.worst.is_some_and(|worst| worst.relative > 0.0), "the residual is told");
    }
}

#[test]
fn coincident_particles_part_along_x() {
    for direct in [false, true] {
        let builder = PbdSystem::builder(particles(&[1.0, 1.0], &[], [0.0; 3]));
        let links = [link(0, 1, 0.5, 0.0)];
        let system = if direct { builder.chain(links) } else { builder.distances(links) }.build().unwrap();
        let mut state = system.state_at_rest(vec![0.3; 6]);
        run(&system, &mut state, options(1, 1), 0.01, 1);
        assert_eq!([state.q[0], state.q[3]], [0.3 - 0.25, 0.3 + 0.25]);
    }
}

#[test]
fn a_slack_rope_segment_pushes_nothing_and_a_taut_one_holds() {
    let rope = UnilateralDistance { max_length: 1.0 };
    let system = PbdSystem::builder(particles(&[1.0, 1.0], &[0], [0.0, 0.0, -G]))
        .constraints([Bound::rigid([0, 1], rope)])
        .build()
        .unwrap();
    let mut state = system.state_at_rest(vec![0.0, 0.0, 0.0, 0.0, 0.0, -0.5]);
    let mut xpbd = Xpbd::new(&system, options(10, 1)).unwrap();
    xpbd.step(&system, &mut state, 0.1).unwrap();
    close(state.v[5], -0.981, 1e-12, "free fall while slack");
    assert_eq!(xpbd.constraint_force(&system, 0, 0), 0.0);
    for _ in 0..50 {
        xpbd.step(&system, &mut state, 0.1).unwrap();
    }
    close(state.q[5], -1.0, 1e-9, "hangs at its length");
    close(xpbd.constraint_force(&system, 0, 0), G, 1e-9, "and carries the weight");
}

/// Four falls carry the load: the cable's tension is a quarter of the weight, statically for any geometry near vertical.
#[test]
fn c_block_and_tackle_without_friction() {
    let weight = 1000.0;
    // 0-2 pinned overhead in one point each, 3 is the moving block; the cable runs 0-3-1-3-2 and up over 2 to mass 4.
    let mass = [1.0, 1.0, 1.0, weight / G, 0.25 * weight / G];
    let system = PbdSystem::builder(particles(&mass, &[0, 1, 2], [0.0, 0.0, -G]))
        .cable(&[0, 3, 1, 3, 2, 4], SlipRing { length: 5.0 }, 1e-8)
        .build()
        .unwrap();
    let mut state = system
        .state_at_rest(vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, -1.0]);
    let mut xpbd = Xpbd::new(&system, options(4, 4)).unwrap();
    for _ in 0..60 {
        xpbd.step(&system, &mut state, 1.0 / 60.0).unwrap();
    }
    close(xpbd.constraint_force(&system, 0, 0), 250.0, 1e-6, "tension");
    close(state.q[11], -1.0, 1e-5, "the load stays");
    close(state.q[14], -1.0, 4e-5, "the pulling weight balances it");
}

#[test]
fn impossible_models_are_refused_by_name() {
    let builder = || PbdSystem::builder(particles(&[1.0; 3], &[], [0.0; 3]));
    let error = builder().distances([link(0, 1, 1.0, 0.0), link(1, 7, 1.0, 0.0)]).build().unwrap_err();
    assert!(matches!(error, PbdError::NoParticle { index: 1, particle: 7, count: 3, .. }), "{error}");
    let error = builder().distances([link(2, 2, 1.0, 0.0)]).build().unwrap_err();
    assert!(matches!(error, PbdError::SameParticle { particle: 2, .. }), "{error}");
    let error = builder().chain([link(0, 1, 1.0, 0.0), link(2, 2, 1.0, 0.0)]).build().unwrap_err();
    assert!(matches!(error, PbdError::SameParticle { index: 1, particle: 2, .. }), "{error}");
    let error = builder().distances([link(0, 1, f64::NAN, 0.0)]).build().unwrap_err();
    assert!(matches!(error, PbdError::Constraint { index: 0, .. }), "{error}");
    let error =
        builder().constraints([Bound::compliant([0, 1], Distance { rest_length: 1.0 }, -1.0)]).build();
    assert!(error.is_err());
    let soft = builder().distances([link(0, 1, 1.0, 0.0), link(1, 2, 1.0, 1e-3)]).build().unwrap();
    let error = Xpbd::new(&soft, crate::common::plain(0.5, 1)).unwrap_err();
    assert!(error.to_string().contains("distance 1 has compliance 0.001"), "{error}");
}

#[test]
fn a_failed_step_leaves_the_state() {
    let system = PbdSystem::builder(particles(&[1.0, 1.0], &[], [0.0; 3]))
        .distances([Bound::rigid([0, 1], Distance { rest_length: 1.0 })])
        .build()
        .unwrap();
    let mut state = system.state_at_rest(vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    state.v[0] = 1e308;
    let before = state.clone();
    let mut xpbd = Xpbd::new(&system, options(1, 1)).unwrap();
    let error = xpbd.step(&system, &mut state, 1e3).unwrap_err();
    assert!(matches!(error, StepError::Diverged { .. }), "{error}");
    assert_eq!(state, before);
    assert!(matches!(xpbd.step(&system, &mut state, 0.0), Err(StepError::StepSize { .. })));
}
