//! Bending against beam and plate theory.

#[path = "support/dense.rs"]
mod dense;

use dense::*;
use nalgebra::{DMatrix, DVector, Vector3};
use sim_core::force::cloth_hinge::ClothHinge;
use sim_core::force::rope_hinge::{RestShape, RopeHinge};
use sim_core::force::skip_springs::{prestressed_rope, skip_springs};
use sim_core::force::springs::{Spring, Springs};
use sim_core::stencils::StencilLaw;
use sim_core::topology::{
    BeltLoopOptions, ClothFaces, ClothOptions, Pulley, RopeOptions, belt_loop, cloth, from_mesh, rope,
};
use sim_core::{
    Definiteness, ParticleSystem, ParticleSystemBuilder, Potential, SpringOptions, SpringStiffness, State,
    System, Topology,
};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

const EI: f64 = 0.037;

/// Tip deflection under a unit tip load of a chain along x with particles 0 and 1 held, from K at the given shape.
fn cantilever(system: &ParticleSystem, q: Vec<f64>, axis: usize) -> f64 {
    let n = q.len() / 3;
    let k = stiffness(system, &State::at_rest(q), Definiteness::Exact).matrix;
    let small = DMatrix::from_fn(n - 2, n - 2, |r, c| k[(3 * (r + 2) + axis, 3 * (c + 2) + axis)]);
    let mut load = DVector::zeros(n - 2);
    load[n - 3] = 1.0;
    small.cholesky().expect("a beam that can carry").solve(&load)[n - 3]
}

fn hinged_rope(n: usize) -> (ParticleSystem, Vec<f64>) {
    let part = rope(&RopeOptions::new([0.0; 3], [2.0, 0.0, 0.0], n)).unwrap();
    let options = SpringOptions {
        stiffness: SpringStiffness::Axial(1e4),
        damping_time: 0.0,
        rest_length: sim_core::RestLength::Geometry,
    };
    let system = ParticleSystemBuilder::new(vec![1.0; n + 1])
        .force(Springs::new(options.lay(&part, part.segments.iter().copied()).unwrap()))
        .force(RopeHinge::along(&part, EI, RestShape::Flat))
        .build()
        .unwrap();
    (system, part.flat_positions())
}

fn prestressed(n: usize) -> (ParticleSystem, Vec<f64>) {
    let h = 2.0 / n as f64;
    let (segments, skips) = prestressed_rope(n as u32, h, 1e4, EI).unwrap();
    let system = ParticleSystemBuilder::new(vec![1.0; n + 1])
        .force(Springs::new(segments))
        .force(skip_springs(skips))
        .build()
        .unwrap();
    let q = (0..3 * n + 3).map(|i| if i % 3 == 0 { h * (i / 3) as f64 } else { 0.0 }).collect();
    (system, q)
}

#[test]
fn cantilevers_deflect_as_beams() {
    for (name, make) in
        [("hinges", hinged_rope as fn(usize) -> (ParticleSystem, Vec<f64>)), ("prestressed", prestressed)]
    {
        let mut errors = Vec::new();
        for n in [10_usize, 20, 40] {
            let (system, q) = make(n);
            let f = force(&system, &State::at_rest(q.clone()));
            let scale = stiffness(&system, &State::at_rest(q.clone()), Definiteness::Exact).matrix.norm();
            assert!(f.norm() < 1e-14 * scale, "{name}: the straight rope is in balance, {}", f.norm());
            let h = 2.0 / n as f64;
            // A chain of rigid links: the hinge at x turns by (L - x) h / EI and lifts the tip by (L - x) times that.
            let discrete: f64 = (1..n).map(|i| (2.0 - h * i as f64).powi(2) * h / EI).sum();
            for axis in [1, 2] {
                let tip = cantilever(&system, q.clone(), axis);
                assert!((tip - discrete).abs() < 1e-8 * discrete, "{name} n = {n}: {tip} {discrete}");
            }
            // Continuum F L³ / (3 EI), clamped at the middle of the held segment.
            let beam = (2.0 - 0.5 * h).powi(3) / (3.0 * EI);
            errors.push((discrete - beam).abs() / beam);
        }
        assert!(
            errors[1] < 0.3 * errors[0] && errors[2] < 0.3 * errors[1],
            "{name}: second order, {errors:?}"
        );
        assert!(errors[2] < 2e-4, "{name}: {errors:?}");
    }
}

/// Particles of a plane chain of segments `h` whose turning angles are given.
fn chain(h: f64, turns: &[f64]) -> Vec<f64> {
    let (mut at, mut angle) = (Vector3::zeros(), 0.0_f64);
    let mut q = vec![0.0; 3];
    for turn in std::iter::once(&0.0).chain(turns) {
        angle += turn;
        at += Vector3::new(angle.cos(), angle.sin(), 0.0) * h;
        q.extend(at.iter());
    }
    q
}

fn skip(h: f64, rest_angle: f64, stiffness: f64) -> ParticleSystem {
    let rest_length = 2.0 * h * (0.5 * rest_angle).cos();
    let spring = Spring { ends: [0, 2], rest_length, stiffness, damping: 0.0 };
    ParticleSystemBuilder::new(vec![1.0; 3]).force(skip_springs([spring])).build().unwrap()
}

#[test]
fn straight_skip_springs_have_no_linear_bending_stiffness() {
    let (h, k) = (0.1, 500.0);
    let system = skip(h, 0.0, k);
    for angle in [0.02, 0.1, 0.2] {
        let q = chain(h, &[angle]);
        let bending = system.energy(0.0, &q, &[0.0; 9]).bending;
        let quartic = k * h * h * angle.powi(4) / 32.0;
        assert!((bending / quartic - 1.0).abs() < 0.03 * angle.max(0.02), "{angle}: {bending} {quartic}");
    }
    let at = State::at_rest(chain(h, &[0.0]));
    let matrix = stiffness(&system, &at, Definiteness::Exact).matrix;
    assert!(matrix[(0, 0)] > 0.9 * k && matrix[(1, 1)].abs() < 1e-12 * k);
}

#[test]
fn curved_skip_springs_follow_the_cube_law() {
    let k = 500.0;
    for h in [0.05, 0.1, 0.2] {
        for rest_angle in [0.2, 0.6] {
            let system = skip(h, rest_angle, k);
            let energy = |angle: f64| system.energy(0.0, &chain(h, &[angle]), &[0.0; 9]).bending;
            let step = 1e-3;
            let second = (energy(rest_angle + step) + energy(rest_angle - step) - 2.0 * energy(rest_angle))
                / step.powi(2);
            let bending_stiffness = k * h.powi(3) * (0.5 * rest_angle).sin().powi(2);
            // Energy ½ (EI / h) angle².
            assert!((second * h / bending_stiffness - 1.0).abs() < 1e-4, "{h} {rest_angle}");
        }
    }
}

#[test]
fn a_straight_rope_bent_to_a_circle_has_the_beam_energy() {
    let n = 60;
    let ring = belt_loop(&BeltLoopOptions::new(vec![Pulley { center: [0.0; 3], radius: 0.7 }], n)).unwrap();
    let build = |rest| {
        ParticleSystemBuilder::new(vec![1.0; n]).force(RopeHinge::along(&ring, EI, rest)).build().unwrap()
    };
    let (q, v) = (ring.flat_positions(), vec![0.0; 3 * n]);
    let length = ring.total_length();
    let expected = 0.5 * EI * length * (TAU / length).powi(2);
    let found = build(RestShape::Flat).energy(0.0, &q, &v).bending;
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    assert!(build(RestShape::Geometry).energy(0.0, &q, &v).bending < 1e-20 * expected);
}

/// Rolls a flat point of the xy plane onto a cylinder of the given curvature about y.
fn rolled(x: &[f64; 3], curvature: f64) -> [f64; 3] {
    let angle = x[0] * curvature;
    [angle.sin() / curvature, x[1], (1.0 - angle.cos()) / curvature]
}

fn bending_energy(part: &Topology, flat: &Topology, stiffness: f64) -> f64 {
    let system = ParticleSystemBuilder::new(vec![1.0; part.particle_count()])
        .force(ClothHinge::over(flat, stiffness, RestShape::Flat))
        .build()
        .unwrap();
    let q = part.flat_positions();
    system.energy(0.0, &q, &vec![0.0; q.len()]).bending
}

#[test]
fn grids_bent_along_their_lines_have_the_plate_energy() {
    let (stiffness, curvature) = (0.02, 0.5);
    let (columns, rows) = (20_usize, 6);
    for faces in [ClothFaces::Quads, ClothFaces::Triangles] {
        let flat = cloth(&ClothOptions { faces, ..ClothOptions::new(2.0, 0.9, columns, rows) }).unwrap();
        let mut bent = flat.clone();
        bent.positions.iter_mut().for_each(|x| *x = rolled(x, curvature));
        let found = bending_energy(&bent, &flat, stiffness);
        // The first and last half column have no fold.
        let area = 2.0 * 0.9 * (columns - 1) as f64 / columns as f64;
        let expected = 0.5 * stiffness * curvature * curvature * area;
        assert!((found / expected - 1.0).abs() < 1e-3, "{faces:?}: {found} {expected}");
    }
}

#[test]
fn equilateral_meshes_have_the_plate_energy_in_every_direction() {
    let (stiffness, curvature, side) = (0.02, 0.5, 0.05);
    for turn in [0.0, 0.2, 0.5, 1.0, 1.4] {
        // One triangle and its three neighbors.
        let radius = side / 3.0_f64.sqrt();
        let corner = |i: usize, r: f64| {
            let angle = turn + TAU * i as f64 / 6.0;
            [r * angle.cos(), r * angle.sin(), 0.0]
        };
        let x: Vec<[f64; 3]> =
            (0..6).map(|i| corner(i, if i % 2 == 0 { radius } else { 2.0 * radius })).collect();
        let flat = from_mesh(&x, &[[0, 2, 4], [0, 1, 2], [2, 3, 4], [4, 5, 0]], &[]).unwrap();
        assert_eq!(flat.hinges.len(), 3);
        let mut bent = flat.clone();
        bent.positions.iter_mut().for_each(|x| *x = rolled(x, curvature));
        // Each hinge is shared with the neighbor.
        let found = 0.5 * bending_energy(&bent, &flat, stiffness);
        let area = 3.0_f64.sqrt() / 4.0 * side * side;
        let expected = 0.5 * stiffness * curvature * curvature * area;
        assert!((found / expected - 1.0).abs() < 1e-3, "turned {turn}: {}", found / expected);
    }
}

#[test]
fn flat_cloth_has_no_bending_force_but_resists_folding() {
    let flat = cloth(&ClothOptions::new(1.0, 0.7, 5, 4)).unwrap();
    let system = ParticleSystemBuilder::new(vec![1.0; flat.particle_count()])
        .force(ClothHinge::over(&flat, 0.02, RestShape::Flat))
        .build()
        .unwrap();
    let state = State::at_rest(flat.flat_positions());
    assert_eq!(force(&system, &state).norm(), 0.0);
    let k = stiffness(&system, &state, Definiteness::Exact).matrix;
    assert!(lowest_eigenvalue(&k) > -1e-12 * k.norm() && k.norm() > 0.0);
    let projected = stiffness(&system, &state, Definiteness::Projected).matrix;
    assert!((projected - &k).norm() < 1e-12 * k.norm());
}

#[test]
fn fold_angle_has_its_sign_and_wraps_the_short_way() {
    let points = |angle: f64| {
        let wing = Vector3::new(0.4, -0.8 * angle.cos(), -0.8 * angle.sin());
        [Vector3::zeros(), Vector3::new(1.0, 0.0, 0.0), Vector3::new(0.5, 0.9, 0.0), wing]
    };
    let flat = ClothHinge { stiffness: 2.0, rest_angle: 0.0 };
    for angle in [0.3_f64, 1.0, 2.5, 3.1] {
        for signed in [angle, -angle] {
            assert!((flat.energy(&points(signed)) - angle * angle).abs() < 1e-12 * angle);
            let exactly = [angle, -angle]
                .map(|rest_angle| ClothHinge { stiffness: 2.0, rest_angle }.energy(&points(signed)).min(1.0));
            assert!(exactly.iter().any(|e| *e < 1e-20) && exactly.iter().any(|e| *e > 1e-4), "{exactly:?}");
        }
    }
    // From 3.0 to -3.0 rad the short way is 0.28 rad.
    let through = ClothHinge { stiffness: 2.0, rest_angle: 3.0 };
    let energies = [3.0, -3.0].map(|angle| through.energy(&points(angle)));
    let short = (TAU - 6.0_f64).powi(2);
    assert!(energies.iter().any(|e| e.abs() < 1e-20) && energies.iter().any(|e| (e - short).abs() < 1e-12));
}

fn bound_of<L: StencilLaw<N>, const N: usize>(law: &L, x: &[Vector3<f64>; N]) -> DMatrix<f64> {
    let mut bound = DMatrix::zeros(3 * N, 3 * N);
    law.bounds(x, &mut |weights, stiffness| {
        for i in 0..3 * N {
            for j in 0..3 * N {
                if i % 3 == j % 3 {
                    bound[(i, j)] += stiffness * weights[i / 3] * weights[j / 3];
                }
            }
        }
    });
    bound
}

fn hessian_of<L: Potential<N>, const N: usize>(law: &L, x: &[Vector3<f64>; N]) -> DMatrix<f64> {
    let h = law.hessian(x);
    DMatrix::from_fn(3 * N, 3 * N, |r, c| h.blocks[r / 3][c / 3][(r % 3, c % 3)])
}

#[test]
fn rope_hinge_bound_holds_in_its_documented_region() {
    let mut sharpest = 0.0_f64;
    for rest_angle in [0.0, 0.3, 1.2] {
        let law = RopeHinge { stiffness: 1.0, rest_angle };
        for (trial, lengths) in [[1.0, 1.0], [1.0, 0.2], [0.3, 1.1]].into_iter().enumerate() {
            let shape = |angle: f64, shrink: f64| {
                let [a, b] = lengths.map(|l| l * shrink);
                [
                    Vector3::new(-a, 0.0, 0.0),
                    Vector3::zeros(),
                    Vector3::new(b * angle.cos(), b * angle.sin(), 0.0),
                ]
            };
            let bound = bound_of(&law, &shape(rest_angle, 1.0));
            for step in 0..=40 {
                let (low, high) = (0.5 * rest_angle, (rest_angle + FRAC_PI_2).min(PI * 2.0 / 3.0));
                let angle = (low + (high - low) * f64::from(step) / 40.0).max(1e-9);
                let k = hessian_of(&law, &shape(angle, 0.9));
                for gap in [&bound - &k, &bound + &k] {
                    let lowest = lowest_eigenvalue(&gap);
                    assert!(lowest > -1e-9 * bound.norm(), "{rest_angle} {trial} {angle}: {lowest}");
                }
                sharpest = sharpest.max(k.norm() / bound.norm());
            }
        }
    }
    assert!(sharpest > 0.5, "the bound is far above: {sharpest}");
}

#[test]
fn cloth_hinge_bound_holds_in_its_documented_region() {
    let mut sharpest = 0.0_f64;
    for (trial, &rest_angle) in [0.0, 0.0, 0.4, -1.0, 2.0, 0.0].iter().enumerate() {
        let law = ClothHinge { stiffness: 1.0, rest_angle };
        let foot = [0.5, 0.1, 1.3, 0.5, -0.4, 0.9][trial];
        let height = [0.87, 0.5, 0.6, 0.2, 1.0, 1.4][trial];
        let shape = |angle: f64, seed: usize, amount: f64| {
            let mut x = [
                Vector3::zeros(),
                Vector3::new(1.0, 0.0, 0.0),
                Vector3::new(foot, height, 0.0),
                Vector3::new(0.4, -0.8 * angle.cos(), 0.8 * angle.sin()),
            ];
            let shortest = height.min(0.8);
            for (i, x) in x.iter_mut().enumerate() {
                for axis in 0..3 {
                    x[axis] += amount * shortest * noise(100 * seed + 3 * i + axis);
                }
            }
            x
        };
        let bound = bound_of(&law, &shape(rest_angle, 0, 0.0));
        for seed in 0..200 {
            let angle = rest_angle + 0.97 * FRAC_PI_2 * noise(7000 + seed);
            let k = hessian_of(&law, &shape(angle, seed, 0.02));
            for gap in [&bound - &k, &bound + &k] {
                let lowest = lowest_eigenvalue(&gap);
                assert!(lowest > -1e-9 * bound.norm(), "{trial} {angle}: {lowest} of {}", bound.norm());
            }
            sharpest = sharpest.max(k.norm() / bound.norm());
        }
    }
    assert!(sharpest > 0.15, "the bound is far above: {sharpest}");
}

#[test]
fn rope_hinge_is_exact_near_straight() {
    let law = RopeHinge { stiffness: 3.0, rest_angle: 0.0 };
    for angle in [1e-9, 1e-5, 0.01, 0.029, 0.031, 0.3, 3.0] {
        let x = [
            Vector3::new(-0.6, 0.0, 0.0),
            Vector3::zeros(),
            Vector3::new(0.9 * f64::cos(angle), 0.0, 0.9 * f64::sin(angle)),
        ];
        let moment = 3.0 * angle;
        assert!((law.energy(&x) - 0.5 * moment * angle).abs() < 1e-12 * moment * angle);
        // The lever arms: force k θ / l across each segment.
        let gradient = law.gradient(&x);
        assert!((gradient[2].norm() - moment / 0.9).abs() < 1e-10 * moment, "{angle}");
        assert!((gradient[0].norm() - moment / 0.6).abs() < 1e-10 * moment, "{angle}");
    }
    let straight = [Vector3::new(-0.6, 0.0, 0.0), Vector3::zeros(), Vector3::new(0.9, 0.0, 0.0)];
    assert!(law.gradient(&straight).iter().all(|g| g.norm() == 0.0));
    // K = k w wᵀ across, w = (1/a, -1/a - 1/b, 1/b).
    let h = law.hessian(&straight);
    let w = [1.0 / 0.6, -1.0 / 0.6 - 1.0 / 0.9, 1.0 / 0.9];
    for i in 0..3 {
        for j in 0..3 {
            assert!((h.blocks[i][j][(2, 2)] - 3.0 * w[i] * w[j]).abs() < 1e-12);
            assert!(h.blocks[i][j][(0, 0)].abs() < 1e-12);
        }
    }
}
