//! Springs give the same bits for any number of threads, and the same forces as one spring at a time.

use nalgebra::Vector3;
use sim_core::force::skip_springs::skip_springs;
use sim_core::force::springs::{Spring, SpringPotential, Springs};
use sim_core::topology::{BeltLoopOptions, ClothOptions, Pulley, belt_loop, cloth};
use sim_core::{ParticleSystem, ParticleSystemBuilder, Potential, State, System};

#[path = "../examples/w4/cloth.rs"]
mod cloth_steps;
#[path = "support/dense.rs"]
mod dense;
use dense::noise;

fn spring(ends: [u32; 2], seed: usize) -> Spring {
    Spring {
        ends,
        rest_length: if seed.is_multiple_of(97) { 0.0 } else { 0.1 * (1.5 + noise(seed)) },
        stiffness: 100.0 * (1.5 + noise(seed + 1_000_000)),
        damping: if seed.is_multiple_of(3) { 0.0 } else { 0.1 * (1.0 + noise(seed + 2_000_000)) },
    }
}

/// Cases: name, particle count, springs.
fn cases() -> Vec<(&'static str, usize, Vec<Spring>)> {
    let cloth = cloth(&ClothOptions::new(1.0, 1.0, 119, 109)).unwrap();
    let mut pairs = cloth.segments.clone();
    pairs.extend(&cloth.shear);
    pairs.extend(cloth.skips.iter().map(|&[a, _, b]| [a, b]));
    let along = |pairs: &[[u32; 2]]| pairs.iter().enumerate().map(|(i, &ends)| spring(ends, i)).collect();
    let equal = |pairs: &[[u32; 2]]| pairs.iter().map(|&ends| spring(ends, 5)).collect();
    let belt =
        belt_loop(&BeltLoopOptions::new(vec![Pulley { center: [0.0; 3], radius: 1.0 }], 60_000)).unwrap();
    let n = 3000;
    let random: Vec<[u32; 2]> = (0..30_000)
        .map(|k| {
            let [a, b] = [k, k + 500_000].map(|k| ((noise(k) + 1.0) * 0.5 * f64::from(n)) as u32 % n);
            if a == b { [a, (b + 1) % n] } else { [a, b] }
        })
        .collect();
    // Second ends far away, and runs that go through the same particles from both sides.
    let wide: Vec<[u32; 2]> =
        (0..30_000).map(|i| [i, i + 20_000]).chain((1..30_000).map(|i| [i, i - 1])).collect();
    vec![
        ("cloth, springs all different", cloth.positions.len(), along(&pairs)),
        ("cloth, springs all equal", cloth.positions.len(), equal(&pairs)),
        ("closed belt", belt.positions.len(), along(&belt.segments)),
        ("random network", n as usize, along(&random)),
        ("far ends", 50_000, along(&wide)),
    ]
}

fn state(count: usize) -> State {
    let spread = |seed: usize| (0..3 * count).map(|i| noise(i + seed)).collect();
    State { t: 0.0, q: spread(7_000_000), v: spread(8_000_000), internal: Vec::new() }
}

fn force_in_pool(system: &ParticleSystem, state: &State, threads: usize) -> Vec<f64> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut f = vec![f64::NAN; state.q.len()];
    pool.install(|| system.force(state.t, &state.q, &state.v, &mut f));
    f
}

#[test]
fn one_two_and_eight_threads_give_the_same_bits() {
    for (name, count, springs) in cases() {
        assert!(springs.len() > 20_000, "{name}: large enough to be worked off in parallel");
        let system =
            ParticleSystemBuilder::new(vec![1.0; count]).force(Springs::new(springs)).build().unwrap();
        let state = state(count);
        let expected = force_in_pool(&system, &state, 1);
        assert!(expected.iter().any(|&f| f != 0.0));
        for threads in [2, 3, 8] {
            let found = force_in_pool(&system, &state, threads);
            let same = found.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits());
            assert!(same, "{name}: {threads} threads");
        }
    }
}

#[test]
fn every_spring_acts_once() {
    for (name, count, springs) in cases() {
        let state = state(count);
        let at = |x: &[f64], i: u32| Vector3::from_column_slice(&x[3 * i as usize..3 * i as usize + 3]);
        let mut expected = vec![0.0; 3 * count];
        for spring in &springs {
            let [a, b] = spring.ends;
            let x = [at(&state.q, a), at(&state.q, b)];
            let law = SpringPotential { stiffness: spring.stiffness, rest_length: spring.rest_length };
            let along = (x[1] - x[0]).normalize();
            let dashpot = along * (spring.damping * along.dot(&(at(&state.v, b) - at(&state.v, a))));
            let pull = dashpot - law.gradient(&x)[0];
            for k in 0..3 {
                expected[3 * a as usize + k] += pull[k];
                expected[3 * b as usize + k] -= pull[k];
            }
        }
        let system =
            ParticleSystemBuilder::new(vec![1.0; count]).force(skip_springs(springs)).build().unwrap();
        let found = force_in_pool(&system, &state, 2);
        let scale = expected.iter().fold(0.0_f64, |scale, f| scale.max(f.abs()));
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!((found - expected).abs() < 1e-13 * scale, "{name}: particle {}", i / 3);
        }
    }
}

#[test]
fn a_hundred_steps_of_a_large_cloth_end_where_other_programs_end() {
    let (steps, expected) = cloth_steps::EXPECTED[0];
    let system = cloth_steps::system(200);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut state = cloth_steps::start(200);
        let mut f = vec![0.0; state.q.len()];
        pool.install(|| cloth_steps::run(&system, &mut state, &mut f, steps, 2e-5));
        state
    };
    let state = run(1);
    for (found, expected) in cloth_steps::position_sum(&state).iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12 * 20_000.0, "{found} {expected}");
    }
    assert_eq!(run(2).hash(), state.hash());
    assert_eq!(cloth_steps::springs(200).len(), 238_002);
}
