//! Swings of models whose frequencies and damping are known.

use sim_core::force::mass_damping::MassDamping;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ParticleSystem, ParticleSystemBuilder, State};
use sim_integrate::{Modes, StabilityError};

/// `n` masses on a line between two pins, springs at rest.
fn chain(n: usize, damping: f64, rate: f64) -> (ParticleSystem, State) {
    let springs =
        (0..=n as u32).map(|i| Spring { ends: [i, i + 1], rest_length: 1.0, stiffness: 50.0, damping });
    let mut q = vec![0.0; 3 * (n + 2)];
    for i in 0..n + 2 {
        q[3 * i] = i as f64;
    }
    let system = ParticleSystemBuilder::new(vec![2.0; n + 2])
        .pin([0, n + 1])
        .force(Springs::new(springs))
        .force(MassDamping { rate })
        .build()
        .unwrap();
    (system, State::at_rest(q))
}

/// Equal masses between walls: `ω_j` = 2 √(k/m) sin(jπ / 2(n+1)); dashpots c in proportion β to springs give β ω/2 of critical, mass
/// damping a gives a / 2ω (Rayleigh).
#[test]
fn a_chain_between_walls() {
    let (n, damping, rate) = (7, 0.3, 0.2);
    let (system, state) = chain(n, damping, rate);
    let modes = Modes::new(&system, &state).unwrap();
    // At rest nothing resists motion across the line: those are no swings.
    assert_eq!(modes.list().len(), n);
    for (j, mode) in modes.list().iter().enumerate() {
        let angle = (j + 1) as f64 * std::f64::consts::PI / (2.0 * (n + 1) as f64);
        let omega = 2.0 * 25.0_f64.sqrt() * angle.sin();
        assert!((mode.angular_frequency - omega).abs() < 1e-12 * omega, "{j}");
        let ratio = 0.5 * (damping / 50.0) * omega + 0.5 * rate / omega;
        assert!((mode.damping_ratio - ratio).abs() < 1e-12, "{j}: {} {ratio}", mode.damping_ratio);
    }
    // The slowest swing is largest in the middle.
    assert_eq!(modes.list()[0].particle, 4);
}

#[test]
fn kinetic_energy_is_shared_out() {
    let n = 7;
    let (system, mut state) = chain(n, 0.0, 0.0);
    for i in 1..=n {
        state.v[3 * i] = (i as f64 * std::f64::consts::PI / (n + 1) as f64 * 2.0).sin();
        // Across the line: belongs to no swing.
        state.v[3 * i + 1] = 0.7;
    }
    let shares = Modes::new(&system, &state).unwrap().kinetic(&state.v);
    let along: f64 = (1..=n).map(|i| 0.5 * 2.0 * state.v[3 * i].powi(2)).sum();
    for (j, share) in shares.iter().enumerate() {
        let expected = if j == 1 { along } else { 0.0 };
        assert!((share - expected).abs() < 1e-12 * along, "{j}: {share}");
    }
}

#[test]
fn large_models_are_refused() {
    let (system, state) = chain(201, 0.0, 0.0);
    let error = Modes::new(&system, &state).unwrap_err();
    assert!(matches!(error, StabilityError::NotCovered { free: 201, limit: 200, .. }), "{error}");
}
