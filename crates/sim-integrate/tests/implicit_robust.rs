//! Newton's method on hostile input: it converges or says so and leaves the state alone.
#![cfg(feature = "implicit")]

#[path = "support/cases.rs"]
mod cases;
#[path = "support/networks.rs"]
mod networks;

use cases::{march, oscillator_state};
use networks::{Random, Wildness, network};
use serde_json::{Value, json};
use sim_core::force::mass_damping::MassDamping;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ExplicitSystem, ParticleSystem, ParticleSystemBuilder, State, StepError, System};

/// L35: a spring at half its rest length makes the matrix 1090 along and -910 across (times dt² m-scaling).
fn compressed() -> (ParticleSystem, State) {
    let spring = Spring { ends: [0, 1], rest_length: 1.0, stiffness: 1000.0, damping: 0.0 };
    let system =
        ParticleSystemBuilder::new(vec![0.1, 0.1]).pin([0]).force(Springs::new([spring])).build().unwrap();
    (system, oscillator_state(0.5, 0.0))
}

#[test]
fn l35_compressed_spring() {
    let (system, start) = compressed();
    let dt = 1.0 / 30.0;
    let never = json!({ "linearized": true, "newton": { "projection": "never" } });
    let mut stepper = sim_integrate::stepper("implicit_euler", &never).unwrap();
    let mut state = start.clone();
    let error = stepper.step(&system, &mut state, dt).unwrap_err();
    assert!(matches!(error, StepError::LinearSolver { newton_iteration: 0, .. }), "{error}");
    assert!(
        std::error::Error::source(&error).unwrap().to_string().contains("positive definite"),
        "{error:?}"
    );
    assert_eq!(state, start);
    for options in [json!({}), json!({ "linearized": true }), json!({ "newton": { "projection": "always" } })]
    {
        let mut stepper = sim_integrate::stepper("implicit_euler", &options).unwrap();
        let mut state = start.clone();
        let mut energy = system.energy(0.0, &state.q, &state.v).total();
        for _ in 0..30 {
            stepper.step(&system, &mut state, dt).unwrap();
            let now = system.energy(state.t, &state.q, &state.v).total();
            assert!(now <= energy * (1.0 + 1e-9) + 1e-12, "{options}: {now} after {energy}");
            energy = now;
        }
    }
}

/// A random start, shuffled, flattened, inside out or collapsed to a point, with stiffness from 1e-3 to 1e7 N/m.
fn hostile(seed: u64) -> (ParticleSystem, State, f64) {
    let wildness = Wildness {
        particles: 10,
        strain: (-0.5, 0.5),
        stiffness: (1e-3, 1e7),
        damped: seed.is_multiple_of(3),
        pinned: true,
        balanced: false,
        speed: 1.0,
    };
    let (system, mut state) = network(80_000 + seed, wildness);
    match seed % 4 {
        0 => state.q.iter_mut().skip(2).step_by(3).for_each(|z| *z = 0.0),
        1 => state.q.iter_mut().for_each(|x| *x *= -0.01),
        2 => state.q.iter_mut().for_each(|x| *x = 0.0),
        _ => state.q.rotate_left(3),
    }
    for (i, &w) in system.inverse_mass().iter().enumerate() {
        if w == 0.0 {
            state.v[3 * i..3 * i + 3].fill(0.0);
        }
    }
    (system, state, Random(70_000 + seed).spread(1e-4, 1.0))
}

/// Makes up to `steps` steps from 2,000 hostile starts and returns how many were solved and how many refused. A refused step leaves
/// the state untouched, and its error carries the residual that is left.
fn solved_and_refused(steps: usize, method: impl Fn(u64) -> (&'static str, Value)) -> (u32, u32) {
    let (mut solved, mut refused) = (0, 0);
    for seed in 0..2000 {
        let (system, mut state, dt) = hostile(seed);
        let (id, options) = method(seed);
        let mut stepper = sim_integrate::stepper(id, &options).unwrap();
        for _ in 0..steps {
            let before = state.clone();
            match stepper.step(&system, &mut state, dt) {
                Ok(stats) => {
                    solved += 1;
                    assert!(state.validate(system.particle_count()).is_ok(), "seed {seed} {id}");
                    assert!(
                        stats.newton_iterations <= 10000 && stats.residual.is_finite(),
                        "seed {seed} {id}: {stats:?}"
                    );
                }
                Err(StepError::NotConverged { residual, .. }) => {
                    refused += 1;
                    assert!(residual.is_finite());
                    assert_eq!(state, before, "seed {seed} {id}");
                    break;
                }
                Err(error) => panic!("seed {seed} {id}: {error}: {:?}", std::error::Error::source(&error)),
            }
        }
    }
    println!("{solved} solved, {refused} refused");
    (solved, refused)
}

/// dt up to 1 s: a result or an error with the state untouched.
#[test]
fn hostile_starts() {
    let ids = ["implicit_euler", "tr_bdf2", "trapezoidal", "implicit_midpoint", "generalized_alpha"];
    let (solved, refused) = solved_and_refused(5, |seed| (ids[seed as usize % ids.len()], Value::Null));
    assert!(solved > 99 * refused, "{solved} solved, {refused} refused");
}

/// One solve per step finds a definite matrix everywhere, and refuses nothing.
#[test]
fn hostile_starts_linearized() {
    let (solved, refused) = solved_and_refused(5, |_| ("implicit_euler", json!({ "linearized": true })));
    assert_eq!((solved, refused), (10_000, 0));
}

/// Implicit Euler on the incremental potential converges from every hostile start if it may: the potential has a minimum, and every
/// iteration gets closer. Stiff springs that have to turn far make curved valleys that take many.
#[test]
fn implicit_euler_always_converges_without_damping() {
    for seed in 0..150 {
        let wildness = Wildness {
            particles: 10,
            strain: (-0.5, 0.5),
            stiffness: (1.0, 1e6),
            damped: false,
            pinned: true,
            balanced: false,
            speed: 1.0,
        };
        let (system, mut state) = network(90_000 + seed, wildness);
        let mut stepper =
            sim_integrate::stepper("implicit_euler", &json!({ "newton": { "max_iterations": 10_000 } }))
                .unwrap();
        let dt = Random(seed).spread(1e-3, 1.0);
        for step in 0..5 {
            stepper
                .step(&system, &mut state, dt)
                .unwrap_or_else(|error| panic!("seed {seed} step {step}: {error}"));
        }
    }
}

/// A net at rest in equilibrium stays: nothing but rounding is left of the residual, and that is no failure.
#[test]
fn equilibrium_is_no_failure() {
    let wildness = Wildness {
        particles: 14,
        strain: (0.0, 0.5),
        stiffness: (1.0, 1e6),
        damped: true,
        pinned: true,
        balanced: true,
        speed: 0.0,
    };
    for seed in 0..40 {
        let (system, start) = network(60_000 + seed, wildness);
        for id in ["implicit_euler", "tr_bdf2", "generalized_alpha"] {
            let end = march(&system, id, &Value::Null, &start, 1.0 / 60.0, 20);
            let moved = end.q.iter().zip(&start.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // Rounding of the stiffest force, 1e6 N times 1e-16, on the softest particle.
            assert!(moved < 1e-9, "seed {seed} {id}: {moved}");
        }
    }
}

/// IMEX: springs implicit, mass damping explicit, against the scheme written out for one particle.
#[test]
fn imex_split() {
    let (k, m, rate, dt) = (50.0, 2.0, 0.9, 0.08);
    let spring = Spring { ends: [0, 1], rest_length: 0.0, stiffness: k, damping: 0.0 };
    let system = ParticleSystemBuilder::new(vec![1.0, m])
        .pin([0])
        .force(Springs::new([spring]))
        .force(MassDamping { rate })
        .build()
        .unwrap();
    let options = json!({ "explicit": ["mass_damping"] });
    let (mut x, mut v) = (0.1, -0.3);
    let end = march(&system, "imex", &options, &oscillator_state(x, v), dt, 25);
    for _ in 0..25 {
        v = (v * (1.0 - dt * rate) - dt * k / m * x) / (1.0 + dt * dt * k / m);
        x += dt * v;
    }
    assert!((end.q[3] - x).abs() < 1e-13 && (end.v[3] - v).abs() < 1e-12, "{} {}", end.q[3], end.v[3]);
    let mut stepper = sim_integrate::stepper("imex", &json!({ "explicit": ["spring", "wind"] })).unwrap();
    let error = stepper.step(&system, &mut oscillator_state(0.1, 0.0), dt).unwrap_err();
    assert!(error.to_string().contains("`wind`") && error.to_string().contains("mass_damping"), "{error}");
    // What the split makes or loses is booked as numerical, so that the ledger closes.
    let mut state = oscillator_state(0.1, -0.3);
    let mut stepper = sim_integrate::stepper("imex", &options).unwrap();
    let mut ledger = sim_core::EnergyLedger::new(&system, &state);
    let mut record = sim_core::StageRecord::default();
    for _ in 0..25 {
        stepper.step_recorded(&system, &mut state, dt, Some(&mut record)).unwrap();
        ledger.book(&system, |i| i == 1, &state, dt, &record);
    }
    assert!(ledger.report().max_relative_residual < 1e-9, "{:?}", ledger.report());
    assert!(ledger.report().numerical < 0.0, "implicit Euler loses energy: {:?}", ledger.report());
}
