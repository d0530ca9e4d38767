//! Explicit methods against closed-form amplification matrices, discrete states and discrete errors, by case id.

#[path = "support/cases.rs"]
mod cases;

use cases::{case, march, number, numbers, oscillator, oscillator_state};
use serde_json::Value;
use sim_core::ModelSystem;
use sim_verify::{ExactProblem, amplification_matrix, stability_limit};

fn matrix(m: f64, k: f64, c: f64, id: &str, dt: f64) -> nalgebra::DMatrix<f64> {
    let system = oscillator(m, k, c);
    let mut stepper = sim_integrate::stepper(id, &Value::Null).unwrap();
    let base = oscillator_state(0.0, 0.0);
    amplification_matrix::<dyn ModelSystem>(&system, &mut *stepper, &base, &[3], (1.0, 1.0), dt)
        .unwrap()
        .matrix
}

fn radius(m: f64, k: f64, c: f64, id: &str, dt: f64) -> f64 {
    sim_verify::spectral_radius(&matrix(m, k, c, id, dt))
}

#[test]
fn a_sdof() {
    let methods = [
        ("explicit_euler", "explicit_euler"),
        ("symplectic_euler_v_first", "symplectic_euler"),
        ("symplectic_euler_x_first", "symplectic_euler_drift_kick"),
        ("explicit_midpoint", "explicit_midpoint"),
        ("rk4", "runge_kutta4"),
        ("position_verlet_dkd_explicit_damping", "position_verlet"),
    ];
    for (name, id) in methods {
        for damping in ["undamped", "damped"] {
            check_sdof(&format!("A-sdof-{name}-{damping}"), id);
        }
    }
    // Without damping, central difference in Newmark form is velocity Verlet.
    check_sdof("A-sdof-newmark_central_difference-undamped", "leapfrog");
}

fn check_sdof(case_id: &str, id: &str) {
    let case = case(case_id);
    let input = |name: &str| number(&case["inputs"][name]);
    let (m, k, c, dt) = (input("m"), input("k"), input("c"), input("h"));
    let a = matrix(m, k, c, id, dt);
    for r in 0..2 {
        for col in 0..2 {
            let expected = number(&case["expected"]["A"][r][col]);
            assert!((a[(r, col)] - expected).abs() <= 1e-12 * expected.abs().max(0.1), "{case_id}: {a}");
        }
    }
    let rho = sim_verify::spectral_radius(&a);
    assert!((rho - number(&case["expected"]["spectral_radius"])).abs() < 1e-12, "{case_id}: {rho}");
    let start = oscillator_state(input("x0"), input("v0"));
    let end = march(&oscillator(m, k, c), id, &Value::Null, &start, dt, 50);
    for (found, name) in [(end.q[3], "x_after_50_steps"), (end.v[3], "v_after_50_steps")] {
        let expected = number(&case["expected"][name]);
        assert!((found / expected - 1.0).abs() < 1e-11, "{case_id} {name}: {found} for {expected}");
    }
}

#[test]
fn a_convergence_orders_damped() {
    let case = case("A-convergence-orders-damped");
    let input = |name: &str| number(&case["inputs"][name]);
    let system = oscillator(input("m"), input("k"), input("c"));
    let start = oscillator_state(input("x0"), input("v0"));
    let exact = number(&case["expected"]["exact_x(1)"]);
    for (name, id) in [
        ("explicit_euler", "explicit_euler"),
        ("symplectic_euler_v_first", "symplectic_euler"),
        ("symplectic_euler_x_first", "symplectic_euler_drift_kick"),
        ("explicit_midpoint", "explicit_midpoint"),
        ("rk4", "runge_kutta4"),
        ("position_verlet_dkd_explicit_damping", "position_verlet"),
    ] {
        let errors = numbers(&case["expected"][format!("abs_error_x[{name}]")]);
        for (steps, expected) in [50, 100, 200, 400].into_iter().zip(errors) {
            let end = march(&system, id, &Value::Null, &start, 1.0 / steps as f64, steps);
            let error = (end.q[3] - exact).abs();
            // 3e-16 is the rounding of x itself, which the smallest error of runge_kutta4 (2.4e-11) feels.
            assert!(
                (error - expected).abs() < 1e-6 * expected + 3e-16,
                "{name} {steps}: {error} for {expected}"
            );
        }
    }
}

/// Our leapfrog predicts the velocity: second order also with damping, unlike the lagged form of the tables.
#[test]
fn leapfrog_is_second_order_with_damping_where_the_lagged_form_is_not() {
    let case = case("A-convergence-orders-damped");
    let lagged = numbers(&case["expected"]["abs_error_x[velocity_verlet_kdk_lagged_damping]"]);
    assert!((lagged[2] / lagged[3]).log2() < 1.1);
    let problem = sim_verify::problems::damped_oscillator::STANDARD;
    let mut stepper = sim_integrate::Leapfrog::default();
    let report = sim_verify::order_study(
        &problem,
        &mut stepper,
        sim_verify::OrderOptions { steps: vec![50, 100, 200, 400], floor: 1e-13 },
    )
    .unwrap();
    assert!(report.agrees(2.0, 0.05), "{report}");
    assert!(report.errors[3] * problem.scales().0 < 0.2 * lagged[3], "{report}");
}

#[test]
fn a_pendulum_discrete_40_steps() {
    let case = case("A-pendulum-discrete-40-steps");
    let pendulum = sim_verify::problems::pendulum::STANDARD;
    assert_eq!((pendulum.gravity, pendulum.length), (9.80665, 1.5));
    let (system, start) = pendulum.build();
    for (name, id) in [
        ("explicit_euler", "explicit_euler"),
        ("symplectic_euler_v_first", "symplectic_euler"),
        ("symplectic_euler_x_first", "symplectic_euler_drift_kick"),
        ("explicit_midpoint", "explicit_midpoint"),
        ("velocity_verlet", "leapfrog"),
        ("position_verlet", "position_verlet"),
        ("rk4", "runge_kutta4"),
    ] {
        let expected = numbers(&case["expected"][format!("state_40_steps[{name}]")]);
        let end = march(&*system, id, &Value::Null, &start, 0.05, 40);
        assert!((end.q[0] - expected[0]).abs() < 1e-11, "{name}: {} for {}", end.q[0], expected[0]);
        assert!((end.v[0] - expected[1]).abs() < 1e-11, "{name}: {} for {}", end.v[0], expected[1]);
    }
}

type Invariant = Box<dyn Fn(f64, f64) -> f64>;

#[test]
fn a_discrete_invariants() {
    let case = case("A-discrete-invariants");
    let input = |name: &str| number(&case["inputs"][name]);
    let (omega, h) = (input("omega"), input("h"));
    let w2 = omega * omega;
    let system = oscillator(1.0, w2, 0.0);
    let cases: [(&str, &str, Invariant); 3] = [
        (
            "I_symplectic_v_first",
            "symplectic_euler",
            Box::new(move |x, v| v * v + w2 * x * x - h * w2 * x * v),
        ),
        (
            "I_symplectic_x_first",
            "symplectic_euler_drift_kick",
            Box::new(move |x, v| v * v + w2 * x * x + h * w2 * x * v),
        ),
        (
            "I_velocity_verlet",
            "leapfrog",
            Box::new(move |x, v| v * v + w2 * x * x * (1.0 - h * h * w2 / 4.0)),
        ),
    ];
    for (name, id, invariant) in cases {
        let expected = number(&case["expected"][name]);
        let mut state = oscillator_state(input("x0"), input("v0"));
        let mut stepper = sim_integrate::stepper(id, &Value::Null).unwrap();
        for _ in 0..100_000 {
            stepper.step(&system, &mut state, h).unwrap();
            let value = invariant(state.q[3], state.v[3]);
            assert!((value / expected - 1.0).abs() < 1e-11, "{name}: {value} for {expected}");
        }
    }
}

#[test]
fn a_limit_undamped_2() {
    let case = case("A-limit-undamped-2");
    for id in ["symplectic_euler", "symplectic_euler_drift_kick", "leapfrog", "position_verlet"] {
        let limit = stability_limit(1.0, 3.0, 1e-6, |dt| radius(1.0, 1.0, 0.0, id, dt) < 1.0 + 1e-7).unwrap();
        assert!((limit - 2.0).abs() < 1e-3, "{id}: {limit}");
        for (omega_dt, name) in [(2.1, "spectral_radius_at_2.1"), (2.5, "spectral_radius_at_2.5")] {
            let rho = radius(1.0, 1.0, 0.0, id, omega_dt);
            assert!((rho - number(&case["expected"][name])).abs() < 1e-12, "{id}: {rho}");
        }
        // The dynamic form: bounded for 1e5 steps at 1.999, growing at 2.001.
        let system = oscillator(1.0, 1.0, 0.0);
        let largest = |dt: f64, steps: usize| {
            let mut state = oscillator_state(0.1, 0.0);
            let mut stepper = sim_integrate::stepper(id, &Value::Null).unwrap();
            let mut largest = 0.0_f64;
            for _ in 0..steps {
                stepper.step(&system, &mut state, dt).unwrap();
                largest = largest.max(state.q[3].abs());
            }
            largest
        };
        assert!(largest(1.999, 100_000) < 10.0, "{id}");
        assert!(largest(2.001, 1_000) > 1e6, "{id}");
    }
}

#[test]
fn a_limit_damped_table() {
    let case = case("A-limit-damped-table");
    let zetas = numbers(&case["inputs"]["zeta"]);
    let table = |name: &str| numbers(&case["expected"][name]);
    for (id, limits) in [
        ("symplectic_euler", table("limit_symplectic_old_velocity")),
        ("symplectic_euler_drift_kick", table("limit_symplectic_old_velocity")),
        ("position_verlet", table("limit_dkd_explicit")),
    ] {
        for (&zeta, limit) in zetas.iter().zip(limits) {
            // At ζ = 0 the border is a double root, so that rounding is magnified to its square root.
            let slack = if zeta == 0.0 { 1e-7 } else { 1e-12 };
            assert!(radius(1.0, 1.0, 2.0 * zeta, id, 0.9999 * limit) <= 1.0 + slack, "{id} ζ = {zeta}");
            assert!(radius(1.0, 1.0, 2.0 * zeta, id, 1.0001 * limit) > 1.0 + 1e-6, "{id} ζ = {zeta}");
        }
    }
}

/// The limit of leapfrog with predicted velocity, from the determinant and trace of its step matrix: with a = ζΩ,
/// Ω² (1 + (1-a)²) = 4 (1 + (1-a)(1-a+a²)).
#[test]
fn leapfrog_limit_with_damping_follows_its_own_formula() {
    for zeta in [0.05, 0.1, 0.3, 0.5] {
        let residual = |omega: f64| {
            let a = zeta * omega;
            let s = 1.0 - a;
            4.0 * (1.0 + s * (s + a * a)) - omega * omega * (1.0 + s * s)
        };
        let formula = stability_limit(0.5, 4.0, 1e-13, |omega| residual(omega) > 0.0).unwrap();
        assert!(formula >= 2.0 - 1e-12, "damping does not lower it below the undamped limit: {formula}");
        assert!(radius(1.0, 1.0, 2.0 * zeta, "leapfrog", 0.9999 * formula) <= 1.0 + 1e-12, "ζ = {zeta}");
        assert!(radius(1.0, 1.0, 2.0 * zeta, "leapfrog", 1.0001 * formula) > 1.0 + 1e-7, "ζ = {zeta}");
    }
}

#[test]
fn a_limit_runge_kutta() {
    let case = case("A-limit-runge-kutta");
    let expected = |name: &str| number(&case["expected"][name]);
    let rho = |id, dt| radius(1.0, 1.0, 0.0, id, dt);
    assert!((rho("explicit_euler", 0.5) - expected("explicit_euler_rho_at_0.5")).abs() < 1e-12);
    assert!((rho("explicit_midpoint", 0.5) - expected("rk2_rho_at_0.5")).abs() < 1e-12);
    let limit = |id, c, low, high| {
        stability_limit(low, high, 1e-13, |dt| radius(1.0, 1.0, c, id, dt) < 1.0 + 1e-13).unwrap()
    };
    assert!((limit("runge_kutta4", 0.0, 2.0, 3.0) - expected("rk4_undamped_limit")).abs() < 1e-10);
    for (i, zeta) in numbers(&case["inputs"]["zeta"]).into_iter().enumerate() {
        for (id, name, low, high) in [
            ("explicit_euler", "explicit_euler_damped_limit", 0.001, 2.0),
            ("explicit_midpoint", "rk2_damped_limit", 0.1, 3.0),
            ("runge_kutta4", "rk4_damped_limit", 2.0, 3.2),
        ] {
            let expected = number(&case["expected"][name][i]);
            let found = limit(id, 2.0 * zeta, low, high);
            assert!((found - expected).abs() < 1e-10, "{id} ζ = {zeta}: {found} for {expected}");
        }
    }
    // The negative real axis, by a particle with mass damping alone: z = -rate dt.
    for (id, name, value) in
        [("runge_kutta4", "rk4_negative_real_axis", None), ("explicit_euler", "", Some(2.0))]
    {
        let expected = value.unwrap_or_else(|| number(&case["expected"][name]));
        let found = stability_limit(1.0, 4.0, 1e-13, |dt| {
            let end = march(&oscillator(1.0, 0.0, 1.0), id, &Value::Null, &oscillator_state(0.0, 1.0), dt, 1);
            end.v[3].abs() <= 1.0
        })
        .unwrap();
        assert!((found - expected).abs() < 1e-10, "{id}: {found} for {expected}");
    }
}

/// A-henon-heiles-E1_12 and A-elastic-pendulum: reference states reached by a fourth-order method.
#[test]
fn reference_states_of_nonlinear_motion() {
    let reference = case("A-henon-heiles-E1_12");
    let input = |name: &str, i: usize| number(&reference["inputs"][name][i]);
    let problem = sim_verify::problems::henon_heiles::HenonHeiles {
        position: [input("q0", 0), input("q0", 1)],
        velocity: [input("p0", 0), input("p0", 1)],
    };
    let (system, start) = problem.build();
    for (i, (t, steps)) in [(10.0, 4000), (50.0, 20_000), (100.0, 40_000)].into_iter().enumerate() {
        let end = march(&*system, "runge_kutta4", &Value::Null, &start, t / steps as f64, steps);
        let expected = numbers(&reference["expected"]["state"][i]);
        for (found, expected) in [end.q[0], end.q[1], end.v[0], end.v[1]].into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-10, "t = {t}: {found} for {expected}");
        }
    }

    let reference = case("A-elastic-pendulum");
    let spring =
        sim_core::force::springs::Spring { ends: [0, 1], rest_length: 1.0, stiffness: 40.0, damping: 0.0 };
    let system = sim_core::ParticleSystemBuilder::new(vec![1.0, 0.5])
        .pin([0])
        .force(sim_core::force::springs::Springs::new([spring]))
        .force(sim_core::force::gravity::Gravity::new([0.0, 0.0, -9.81]))
        .build()
        .unwrap();
    for (i, (t, steps)) in [(1.0, 4000), (5.0, 20_000), (10.0, 40_000)].into_iter().enumerate() {
        let end = march(
            &system,
            "runge_kutta4",
            &Value::Null,
            &oscillator_state(1.1, 0.0),
            t / steps as f64,
            steps,
        );
        let expected = numbers(&reference["expected"]["state"][i]);
        for (found, expected) in [end.q[3], end.q[5], end.v[3], end.v[5]].into_iter().zip(expected) {
            assert!((found - expected).abs() < 2e-10, "t = {t}: {found} for {expected}");
        }
    }
}
