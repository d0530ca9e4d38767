//! Faults that people met in comparable systems, by case id.

#[path = "support/cases.rs"]
mod cases;

use cases::{march, oscillator, oscillator_state};
use serde_json::Value;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ParticleSystemBuilder, State, StepError, Stepper};
use sim_integrate::{Leapfrog, PositionVerlet, stable_dt, stencil_stable_dt, stepper_info};

fn amplitude(state: &State, omega: f64) -> f64 {
    state.q[3].hypot(state.v[3] / omega)
}

/// I18, explicit side: Verlet keeps the amplitude of an undamped spring.
#[test]
fn i18_undamped_spring_keeps_its_amplitude() {
    for id in ["leapfrog", "position_verlet"] {
        let end =
            march(&oscillator(1.0, 100.0, 0.0), id, &Value::Null, &oscillator_state(0.1, 0.0), 0.01, 1000);
        // The invariant of the scheme differs from the energy by a factor 1 - (ω dt)²/4 on positions: 0.13 % in amplitude.
        assert!((amplitude(&end, 10.0) / 0.1 - 1.0).abs() < 1.3e-3, "{id}: {}", amplitude(&end, 10.0));
    }
}

/// I22: constant acceleration is integrated exactly by velocity Verlet.
#[test]
fn i22_verlet_coefficients() {
    let system = ParticleSystemBuilder::new(vec![3.0])
        .force(sim_core::force::gravity::Gravity::new([2.0, 0.0, 0.0]))
        .build()
        .unwrap();
    for id in ["leapfrog", "position_verlet"] {
        let start = State { t: 0.0, q: vec![0.0; 3], v: vec![1.0, 0.0, 0.0], internal: Vec::new() };
        let end = march(&system, id, &Value::Null, &start, 0.5, 1);
        assert_eq!((end.q[0], end.v[0]), (0.75, 2.0), "{id}");
    }
}

/// I23 (a) and (b): constant and alternating steps keep the energy of leapfrog; (c) is refused by the step controller.
#[test]
fn i23_leapfrog_energy_with_constant_and_alternating_steps() {
    let system = oscillator(1.0, 1.0, 0.0);
    for (steps, low, high) in [([0.2, 0.2], 0.495, 0.500), ([0.1, 0.3], 0.491, 0.5001)] {
        let mut state = oscillator_state(1.0, 0.0);
        let mut stepper = Leapfrog::default();
        let (mut least, mut most) = (f64::MAX, f64::MIN);
        for i in 0..31_416 {
            stepper.step(&system, &mut state, steps[i % 2]).unwrap();
            let energy = 0.5 * (state.q[3].powi(2) + state.v[3].powi(2));
            (least, most) = (least.min(energy), most.max(energy));
        }
        assert!(least >= low - 1e-12 && most <= high + 1e-12, "{steps:?}: {least} to {most}");
    }
}

/// I29: the force is evaluated at the right time, so that a stiff spring at 60 Hz keeps its amplitude.
#[test]
fn i29_force_is_not_lagged() {
    let (omega, dt) = (1000.0_f64.sqrt(), 1.0 / 60.0);
    let end =
        march(&oscillator(1.0, 1000.0, 0.0), "leapfrog", &Value::Null, &oscillator_state(0.1, 0.0), dt, 120);
    // Position follows 0.1 cos(ω_h t) exactly, with cos(ω_h dt) = 1 - ω²dt²/2.
    let exact = 0.1 * (120.0 * (1.0 - 0.5 * omega * omega * dt * dt).acos()).cos();
    assert!((end.q[3] - exact).abs() < 1e-12, "{} for {exact}", end.q[3]);
    let mut state = oscillator_state(0.1, 0.0);
    let mut stepper = Leapfrog::default();
    let mut largest = 0.0_f64;
    for _ in 0..120 {
        stepper.step(&oscillator(1.0, 1000.0, 0.0), &mut state, dt).unwrap();
        largest = largest.max(state.q[3].abs());
    }
    assert!((largest / 0.1 - 1.0).abs() < 0.01, "{largest}");
}

/// Y52: damping ratio 0.2 at ω = 100 rad/s lowers the limit from 0.02 s to 0.016396 s.
#[test]
fn y52_damping_lowers_the_step() {
    let state = oscillator_state(0.1, 0.0);
    let limit = |c: f64, id: &str| {
        let system = oscillator(2.0, 2.0e4, c);
        let info = stepper_info(id).unwrap();
        let report = stable_dt(&system, &state, info).unwrap();
        let stencils = stencil_stable_dt(&system, &state, info).unwrap();
        assert!((stencils.dt_bound / report.dt_bound - 1.0).abs() < 1e-9, "both are exact for one mode");
        (report.dt_bound, report.dt_exact)
    };
    let damping = 2.0 * 0.2 * 100.0 * 2.0;
    let (bound, exact) = limit(damping, "symplectic_euler");
    let formula = 0.02 * ((1.0_f64 + 0.04).sqrt() - 0.2);
    assert!((formula - 0.016396).abs() < 5e-7);
    assert!((bound - formula).abs() < 1e-10 && (exact.unwrap() - formula).abs() < 1e-10, "{bound}");
    assert!((limit(0.0, "symplectic_euler").0 - 0.02).abs() < 1e-10);
    assert!(
        (limit(damping, "leapfrog").0 - 0.02).abs() < 1e-10,
        "the predicted velocity keeps the undamped limit"
    );
}

/// R93: a chain far above its limit diverges with an error that names step, time and node, and the last state is kept.
#[test]
fn r93_divergence_is_an_error() {
    let n = 20;
    let springs = Springs::new((0..n).map(|i| Spring {
        ends: [i, i + 1],
        rest_length: 0.05,
        stiffness: 40_000.0,
        damping: 0.0,
    }));
    let count = n as usize + 1;
    let system = ParticleSystemBuilder::new(vec![0.01; count]).pin([0]).force(springs).build().unwrap();
    let q: Vec<f64> = (0..count).flat_map(|i| [0.0505 * i as f64, 0.0, 0.0]).collect();
    for info in sim_integrate::STEPPERS.iter().filter(|info| !info.method.implicit) {
        let mut state = State::at_rest(q.clone());
        let mut stepper = sim_integrate::stepper(info.method.id, &Value::Null).unwrap();
        let mut before = state.clone();
        let error = loop {
            before.clone_from(&state);
            if let Err(error) = stepper.step(&system, &mut state, 2e-3) {
                break error;
            }
            assert!(state.t < 20.0, "{} did not diverge", info.method.id);
        };
        let StepError::Diverged { t, dt, particle, value, .. } = error else { panic!("{error}") };
        assert!(t == before.t && dt == 2e-3 && particle > 0 && particle < count && !value.is_finite());
        assert_eq!(state.hash(), before.hash());
        assert!(error.to_string().contains("stability limit"));
    }
    // The advisor knew: below 5e-4 s.
    let report = stable_dt(&system, &State::at_rest(q), stepper_info("leapfrog").unwrap()).unwrap();
    assert!(report.dt_bound < 5.1e-4 && report.dt_bound > 4.9e-4, "{report:?}");
}

/// Trap 9: Störmer's recurrence with x₋₁ = x0 - h v0 + h²/2 a0 is leapfrog's position; started with x₋₁ = x0 it loses an order.
#[test]
fn stoermer_start() {
    let (omega2, x0, v0) = (25.0, 0.1, -0.3);
    let stoermer = |start: &dyn Fn(f64) -> f64, steps: i32| {
        let h = 1.0 / f64::from(steps);
        let (mut before, mut x) = (start(h), x0);
        for _ in 0..steps {
            (before, x) = (x, 2.0 * x - before - h * h * omega2 * x);
        }
        x
    };
    let right = |h: f64| x0 - h * v0 - 0.5 * h * h * omega2 * x0;
    let exact = x0 * 5.0_f64.cos() + v0 / 5.0 * 5.0_f64.sin();
    for steps in [50_u16, 100, 200] {
        let end = march(
            &oscillator(1.0, omega2, 0.0),
            "leapfrog",
            &Value::Null,
            &oscillator_state(x0, v0),
            1.0 / f64::from(steps),
            steps.into(),
        );
        assert!((end.q[3] - stoermer(&right, steps.into())).abs() < 1e-12);
    }
    let order = |start: &dyn Fn(f64) -> f64| {
        let error = |steps| (stoermer(start, steps) - exact).abs();
        (error(800) / error(1600)).log2()
    };
    assert!((order(&right) - 2.0).abs() < 0.02, "{}", order(&right));
    assert!((order(&|h| x0 - h * v0) - 1.0).abs() < 0.05, "without a0: {}", order(&|h| x0 - h * v0));
    assert!(order(&|_| x0).abs() < 0.05, "without v0 it does not even converge: {}", order(&|_| x0));
}

/// The middle positions of position Verlet obey Störmer's recurrence.
#[test]
fn position_verlet_is_stoermer_at_half_steps() {
    let (omega2, h) = (25.0, 0.07);
    let system = oscillator(1.0, omega2, 0.0);
    let mut state = oscillator_state(0.1, -0.3);
    let mut stepper = PositionVerlet::default();
    let mut middles = Vec::new();
    for _ in 0..30 {
        middles.push(state.q[3] + 0.5 * h * state.v[3]);
        stepper.step(&system, &mut state, h).unwrap();
    }
    for w in middles.windows(3) {
        assert!((w[2] - 2.0 * w[1] + w[0] + h * h * omega2 * w[1]).abs() < 1e-15);
    }
}

/// The staggered form: velocities at half steps jump by whole kicks.
#[test]
fn leapfrog_seen_at_half_steps_is_staggered() {
    let (omega2, h) = (25.0, 0.07);
    let system = oscillator(1.0, omega2, 0.0);
    let mut state = oscillator_state(0.1, -0.3);
    let mut stepper = Leapfrog::default();
    // Staggered start: half a kick.
    let mut x = state.q[3];
    let mut v_half = state.v[3] - 0.5 * h * omega2 * x;
    for _ in 0..50 {
        stepper.step(&system, &mut state, h).unwrap();
        x += h * v_half;
        assert!((state.q[3] - x).abs() < 1e-14);
        let before = v_half;
        v_half -= h * omega2 * x;
        assert!((state.v[3] - 0.5 * (before + v_half)).abs() < 1e-13);
    }
}

/// Trap 10: the damping option is a rate, not a factor per step.
#[test]
fn velocity_damping_does_not_depend_on_the_step() {
    let free = ParticleSystemBuilder::new(vec![1.0]).build().unwrap();
    let start = State { t: 0.0, q: vec![0.0; 3], v: vec![2.0, 0.0, 0.0], internal: Vec::new() };
    for steps in [1, 10, 1000] {
        let options = serde_json::json!({ "velocity_damping": 0.8 });
        let end = march(&free, "position_verlet", &options, &start, 1.0 / f64::from(steps), steps as usize);
        assert!((end.v[0] - 2.0 * (-0.8_f64).exp()).abs() < 1e-12, "{steps} steps: {}", end.v[0]);
    }
    let error = sim_integrate::stepper("position_verlet", &serde_json::json!({ "velocity_damping": -1.0 }))
        .err()
        .unwrap();
    assert!(error.to_string().contains("velocity_damping") && error.to_string().contains("-1"), "{error}");
    let error = sim_integrate::stepper("position_verlet", &serde_json::json!({ "velocity_dampin": 1.0 }))
        .err()
        .unwrap();
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("velocity_dampin"));
    assert!(sim_integrate::stepper("leapfrog", &serde_json::json!({ "alpha": 1.0 })).is_err());
}
