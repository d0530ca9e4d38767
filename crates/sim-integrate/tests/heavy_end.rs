//! A light rope that carries a million times the mass of its particles, at 60 Hz.
#![cfg(feature = "implicit")]

use sim_core::force::gravity::Gravity;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ParticleSystem, ParticleSystemBuilder, State};

const SEGMENTS: usize = 20;
const SEGMENT: f64 = 0.05;
const NODE_MASS: f64 = 0.01;
const END_MASS: f64 = 1e6 * NODE_MASS;
const G: f64 = 9.81;
const DT: f64 = 1.0 / 60.0;

/// A rope along `direction` whose end mass strains it by `strain`, pinned at the origin.
fn rope(strain: f64, direction: [f64; 3]) -> (ParticleSystem, State) {
    let stiffness = END_MASS * G / (strain * SEGMENT);
    let spring =
        |i: usize| Spring { ends: [i as u32, i as u32 + 1], rest_length: SEGMENT, stiffness, damping: 0.0 };
    let mut mass = vec![NODE_MASS; SEGMENTS + 1];
    mass[SEGMENTS] = END_MASS;
    let q = (0..=SEGMENTS).flat_map(|i| direction.map(|d| d * SEGMENT * i as f64)).collect();
    let system = ParticleSystemBuilder::new(mass)
        .pin([0])
        .force(Springs::new((0..SEGMENTS).map(spring)))
        .force(Gravity::new([0.0, 0.0, -G]))
        .build()
        .unwrap();
    (system, State::at_rest(q))
}

fn length(q: &[f64]) -> f64 {
    let points: Vec<&[f64]> = q.chunks_exact(3).collect();
    points.windows(2).map(|w| (0..3).map(|k| (w[1][k] - w[0][k]).powi(2)).sum::<f64>().sqrt()).sum()
}

/// Implicit Euler damps the bounce of the mass within some seconds; what remains is the static stretch: segment i carries the
/// end mass and the particles below it.
#[test]
fn the_static_stretch_is_right_to_a_thousandth() {
    let strain = 0.01;
    let (system, mut state) = rope(strain, [0.0, 0.0, -1.0]);
    let mut stepper = sim_integrate::stepper("implicit_euler", &serde_json::json!({})).unwrap();
    // The bounce has 31 rad/s: 0.52 rad per step.
    for _ in 0..300 {
        stepper.step(&system, &mut state, DT).unwrap();
    }
    let below = |i: usize| END_MASS + (SEGMENTS - 1 - i) as f64 * NODE_MASS;
    let exact: f64 = (0..SEGMENTS).map(|i| strain * SEGMENT * below(i) / END_MASS).sum();
    let stretch = length(&state.q) - SEGMENTS as f64 * SEGMENT;
    assert!((stretch - exact).abs() < 1e-3 * exact, "{stretch} m instead of {exact} m");
}

/// Let go from the horizontal, the mass pulls with three times its weight at the lowest point, so that 0.03 % of static strain
/// become 0.09 %: the rope never shows more than 0.1 %.
#[test]
fn a_swing_never_stretches_the_rope_by_a_thousandth() {
    let (system, mut state) = rope(3e-4, [1.0, 0.0, 0.0]);
    let mut stepper = sim_integrate::stepper("implicit_euler", &serde_json::json!({})).unwrap();
    let whole = SEGMENTS as f64 * SEGMENT;
    let (mut lowest, mut longest) = (0.0_f64, 0.0_f64);
    for _ in 0..120 {
        stepper.step(&system, &mut state, DT).unwrap();
        longest = longest.max(length(&state.q) / whole - 1.0);
        lowest = lowest.min(state.q[3 * SEGMENTS + 2]);
    }
    assert!(longest < 1e-3, "stretched by {longest}");
    assert!(lowest < -0.99 * whole, "the mass fell to {lowest} m only");
}
