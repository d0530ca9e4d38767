//! Implicit methods against closed-form amplification matrices, discrete states and published values, by case id.
#![cfg(feature = "implicit")]

#[path = "support/cases.rs"]
mod cases;

use cases::{case, march, number, numbers, oscillator, oscillator_state};
use nalgebra::{DMatrix, Matrix3};
use serde_json::{Value, json};
use sim_core::{ModelSystem, Stability, State};
use sim_integrate::{GeneralizedAlpha, GeneralizedAlphaOptions, ThetaMixed};
use sim_verify::{ExactProblem, amplification_matrix, spectral_radius, stability_limit};

fn tight() -> Value {
    json!({ "newton": { "relative_tolerance": 1e-13 } })
}

fn newmark(beta: f64, gamma: f64) -> Value {
    let parameters = json!({ "alpha_m": 0.0, "alpha_f": 0.0, "beta": beta, "gamma": gamma });
    json!({ "parameters": parameters, "newton": { "relative_tolerance": 1e-13 } })
}

fn matrix(m: f64, k: f64, c: f64, id: &str, options: &Value, dt: f64) -> DMatrix<f64> {
    let system = oscillator(m, k, c);
    let mut stepper = sim_integrate::stepper(id, options).unwrap();
    let base = oscillator_state(0.0, 0.0);
    amplification_matrix::<dyn ModelSystem>(&system, &mut *stepper, &base, &[3], (1.0, 1.0), dt)
        .unwrap()
        .matrix
}

#[test]
fn a_sdof() {
    for (name, id, options) in [
        ("implicit_euler", "implicit_euler", tight()),
        ("implicit_euler", "implicit_euler", json!({ "linearized": true })),
        ("implicit_euler", "theta_mixed", json!({ "alpha": 1.0, "beta": 1.0 })),
        ("implicit_euler", "imex", tight()),
        ("explicit_euler", "theta_mixed", json!({ "alpha": 0.0, "beta": 0.0 })),
        ("newmark_average_acceleration", "trapezoidal", tight()),
        ("newmark_average_acceleration", "implicit_midpoint", tight()),
        ("newmark_average_acceleration", "generalized_alpha", newmark(0.25, 0.5)),
        ("newmark_linear_acceleration", "generalized_alpha", newmark(1.0 / 6.0, 0.5)),
        ("newmark_central_difference", "generalized_alpha", newmark(0.0, 0.5)),
        // Damping alone implicit: the velocity of a mass-damped spring treated by imex with explicit springs.
        ("symplectic_euler_v_first_implicit_damping", "imex", json!({ "explicit": ["spring"] })),
    ] {
        for damping in ["undamped", "damped"] {
            let case_id = format!("A-sdof-{name}-{damping}");
            let case = case(&case_id);
            let input = |name: &str| number(&case["inputs"][name]);
            let (m, k, c, dt) = (input("m"), input("k"), input("c"), input("h"));
            let a = matrix(m, k, c, id, &options, dt);
            for r in 0..2 {
                for col in 0..2 {
                    let expected = number(&case["expected"]["A"][r][col]);
                    assert!(
                        (a[(r, col)] - expected).abs() <= 1e-12 * expected.abs().max(1.0),
                        "{case_id} {id}: {a}"
                    );
                }
            }
            let start = oscillator_state(input("x0"), input("v0"));
            let end = march(&oscillator(m, k, c), id, &options, &start, dt, 50);
            for (found, name) in [(end.q[3], "x_after_50_steps"), (end.v[3], "v_after_50_steps")] {
                let expected = number(&case["expected"][name]);
                // Roundings of 50 steps relative to the start.
                assert!(
                    (found - expected).abs() < 1e-11 * expected.abs().max(0.1),
                    "{case_id} {id} {name}: {found}"
                );
            }
        }
    }
}

#[test]
fn a_convergence_orders_damped() {
    let case = case("A-convergence-orders-damped");
    let input = |name: &str| number(&case["inputs"][name]);
    let system = oscillator(input("m"), input("k"), input("c"));
    let start = oscillator_state(input("x0"), input("v0"));
    let exact = number(&case["expected"]["exact_x(1)"]);
    for (name, id, options) in [
        ("implicit_euler", "implicit_euler", tight()),
        ("trapezoidal", "trapezoidal", tight()),
        ("newmark_average_acceleration", "generalized_alpha", newmark(0.25, 0.5)),
        ("newmark_linear_acceleration", "generalized_alpha", newmark(1.0 / 6.0, 0.5)),
        ("newmark_central_difference", "generalized_alpha", newmark(0.0, 0.5)),
        ("newmark_fox_goodwin", "generalized_alpha", newmark(1.0 / 12.0, 0.5)),
    ] {
        let errors = numbers(&case["expected"][format!("abs_error_x[{name}]")]);
        for (steps, expected) in [50, 100, 200, 400].into_iter().zip(errors) {
            let end = march(&system, id, &options, &start, 1.0 / steps as f64, steps);
            let error = (end.q[3] - exact).abs();
            assert!((error - expected).abs() < 1e-6 * expected, "{name} {steps}: {error} for {expected}");
        }
    }
}

#[test]
fn a_pendulum_discrete_40_steps() {
    let case = case("A-pendulum-discrete-40-steps");
    let pendulum = sim_verify::problems::pendulum::STANDARD;
    let (system, start) = pendulum.build();
    for (name, id, options) in [
        ("implicit_euler", "implicit_euler", tight()),
        ("implicit_midpoint", "implicit_midpoint", tight()),
        ("trapezoidal", "trapezoidal", tight()),
        ("newmark_linear_acceleration", "generalized_alpha", newmark(1.0 / 6.0, 0.5)),
    ] {
        let expected = numbers(&case["expected"][format!("state_40_steps[{name}]")]);
        let end = march(&*system, id, &options, &start, 0.05, 40);
        assert!((end.q[0] - expected[0]).abs() < 1e-11, "{name}: {} for {}", end.q[0], expected[0]);
        assert!((end.v[0] - expected[1]).abs() < 1e-11, "{name}: {} for {}", end.v[0], expected[1]);
    }
}

#[test]
fn a_alphabeta_family() {
    let case = case("A-alphabeta-family");
    let column = |group: &str, name: &str| numbers(&case[group][name]);
    let omega = number(&case["inputs"]["Omega"]);
    let limits = column("expected", "Omega_limit(-1=unconditional,0=never)");
    for (i, (alpha, beta)) in column("inputs", "a").into_iter().zip(column("inputs", "b")).enumerate() {
        let options = json!({ "alpha": alpha, "beta": beta });
        let a = |omega_dt: f64| matrix(1.0, 1.0, 0.0, "theta_mixed", &options, omega_dt);
        let at = a(omega);
        assert!((at.trace() - column("expected", "trace")[i]).abs() < 1e-12, "({alpha}, {beta}): {at}");
        assert!((at.determinant() - column("expected", "det")[i]).abs() < 1e-12, "({alpha}, {beta}): {at}");
        assert!((spectral_radius(&at) - column("expected", "spectral_radius")[i]).abs() < 1e-12);
        match ThetaMixed::stability(alpha, beta) {
            Stability::Unstable => {
                assert_eq!(limits[i], 0.0, "({alpha}, {beta})");
                assert!(spectral_radius(&a(0.05)) > 1.0 + 1e-6);
            }
            Stability::Conditional { omega_dt } => {
                assert!((omega_dt - limits[i]).abs() < 1e-12, "({alpha}, {beta}): {omega_dt}");
                let found = stability_limit(1.0, 5.0, 1e-7, |x| spectral_radius(&a(x)) < 1.0 + 1e-8).unwrap();
                assert!((found - omega_dt).abs() < 1e-4, "({alpha}, {beta}): {found}");
            }
            Stability::Unconditional | Stability::LStable => {
                assert_eq!(limits[i], -1.0, "({alpha}, {beta})");
                assert!(spectral_radius(&a(100.0)) <= 1.0 + 1e-9);
            }
        }
    }
}

/// The step matrix on (x, dt v, dt² a) of a unit-mass oscillator, with dt = 1.
fn memory_matrix(omega: f64, xi: f64, options: &Value) -> Matrix3<f64> {
    let system = oscillator(1.0, omega * omega, 2.0 * xi * omega);
    let mut stepper = sim_integrate::stepper("generalized_alpha", options).unwrap();
    let mut result = Matrix3::zeros();
    for column in 0..3 {
        let unit = |row: usize| f64::from(u8::from(row == column));
        let mut state = oscillator_state(unit(0), unit(1));
        state.internal = vec![0.0, 0.0, 0.0, unit(2), 0.0, 0.0];
        stepper.step(&system, &mut state, 1.0).unwrap();
        result.set_column(column, &[state.q[3], state.v[3], state.internal[3]].into());
    }
    result
}

#[test]
fn a_hht_and_generalized_alpha() {
    let hht = |alpha: f64| {
        let p = sim_integrate::AlphaParameters::hht(alpha);
        json!({ "parameters": p, "newton": { "relative_tolerance": 1e-13 } })
    };
    let rho = |rho: f64| json!({ "rho_infinity": rho, "newton": { "relative_tolerance": 1e-13 } });
    for (case_id, options) in [
        ("A-hht-alpha-005", hht(-0.05)),
        ("A-hht-alpha-01", hht(-0.1)),
        ("A-hht-alpha-03", hht(-0.3)),
        ("A-generalized-alpha-rho00", rho(0.0)),
        ("A-generalized-alpha-rho05", rho(0.5)),
        ("A-generalized-alpha-rho10", rho(1.0)),
    ] {
        let case = case(case_id);
        let a = memory_matrix(0.5, 0.02, &options);
        for r in 0..3 {
            for c in 0..3 {
                let expected = number(&case["expected"]["A_Omega0.5_xi0.02"][r][c]);
                assert!((a[(r, c)] - expected).abs() < 1e-10, "{case_id}: {a}");
            }
        }
        let omegas = numbers(&case["inputs"]["Omega"]);
        for (omega, expected) in omegas.into_iter().zip(numbers(&case["expected"]["spectral_radius"])) {
            let dense = DMatrix::from_iterator(3, 3, memory_matrix(omega, 0.0, &options).iter().copied());
            assert!((spectral_radius(&dense) - expected).abs() < 1e-10, "{case_id} Ω = {omega}");
        }
    }
    // Y56: at ω dt = 100 generalized-α with rho 0.5 damps to 0.537 per step, Newmark not at all.
    let radius = |options: &Value, omega: f64| {
        spectral_radius(&DMatrix::from_iterator(3, 3, memory_matrix(omega, 0.0, options).iter().copied()))
    };
    assert!((radius(&rho(0.5), 100.0) - 0.537).abs() < 5e-4, "{}", radius(&rho(0.5), 100.0));
    assert!((radius(&newmark(0.25, 0.5), 100.0) - 1.0).abs() < 1e-9);
    assert!((radius(&rho(0.5), 0.1) - 0.999998).abs() < 5e-7);
}

#[test]
fn a_newmark_critical_steps() {
    let case = case("A-newmark-critical-steps");
    let list = |group: &str, name: &str| numbers(&case[group][name]);
    let expected = list("expected", "Omega_crit");
    for (i, ((beta, gamma), xi)) in
        list("inputs", "beta").into_iter().zip(list("inputs", "gamma")).zip(list("inputs", "xi")).enumerate()
    {
        // The step matrix of (x, v); Newmark's acceleration is in equilibrium at every step.
        let radius = |omega: f64| {
            spectral_radius(&matrix(1.0, 1.0, 2.0 * xi, "generalized_alpha", &newmark(beta, gamma), omega))
        };
        let limit = expected[i];
        assert!(radius(0.9999 * limit) <= 1.0 + 1e-9, "β = {beta}, γ = {gamma}, ξ = {xi}");
        assert!(radius(1.0001 * limit) > 1.0 + 1e-6, "β = {beta}, γ = {gamma}, ξ = {xi}");
    }
}

#[test]
fn a_stability_function_tr_bdf2() {
    let case = case("A-stability-function-tr-bdf2");
    for (i, omega) in numbers(&case["inputs"]["Omega"]).into_iter().enumerate() {
        let a = matrix(1.0, omega * omega, 0.0, "tr_bdf2", &tight(), 1.0);
        let expected = &case["expected"]["R"][i];
        let (re, im) = (number(&expected["re"]), number(&expected["im"]));
        for (found, expected) in
            [(a[(0, 0)], re), (a[(1, 1)], re), (a[(0, 1)] * omega, im), (-a[(1, 0)] / omega, im)]
        {
            assert!((found - expected).abs() < 1e-11, "Ω = {omega}: {a}");
        }
    }
}

/// A-stiff-decay-Lstability: mass damping alone, `v' = -λ v`.
#[test]
fn a_stiff_decay() {
    let case = case("A-stiff-decay-Lstability");
    let (rate, dt) = (number(&case["inputs"]["lambda"]), number(&case["inputs"]["h"]));
    for (id, name) in [
        ("trapezoidal", "R_trapezoidal"),
        ("implicit_midpoint", "R_trapezoidal"),
        ("implicit_euler", "R_implicit_euler"),
        ("tr_bdf2", "R_tr_bdf2"),
    ] {
        let end = march(&oscillator(1.0, 0.0, rate), id, &tight(), &oscillator_state(0.0, 1.0), dt, 1);
        let expected = number(&case["expected"][name]);
        assert!((end.v[3] - expected).abs() < 1e-10, "{id}: {} for {expected}", end.v[3]);
    }
}

#[test]
fn a_discrete_states() {
    let hht = json!({ "parameters": sim_integrate::AlphaParameters::hht(-0.1), "newton": { "relative_tolerance": 1e-13 } });
    for (case_id, id, options) in
        [("A-discrete-tr-bdf2", "tr_bdf2", tight()), ("A-discrete-hht-alpha--0.1", "generalized_alpha", hht)]
    {
        let case = case(case_id);
        let input = |name: &str| number(&case["inputs"][name]);
        let system = oscillator(input("m"), input("k"), input("c"));
        let start = oscillator_state(input("x0"), input("v0"));
        let end = march(&system, id, &options, &start, input("h"), 50);
        assert!((end.q[3] - number(&case["expected"]["x_50"])).abs() < 1e-10, "{case_id}: {}", end.q[3]);
        assert!((end.v[3] - number(&case["expected"]["v_50"])).abs() < 1e-10, "{case_id}: {}", end.v[3]);
        let exact = number(&case["expected"]["exact_x(1)"]);
        for (steps, expected) in
            [50, 100, 200, 400].into_iter().zip(numbers(&case["expected"]["abs_error_x"]))
        {
            let error = (march(&system, id, &options, &start, 1.0 / steps as f64, steps).q[3] - exact).abs();
            assert!((error - expected).abs() < 1e-6 * expected, "{case_id} {steps}: {error} for {expected}");
        }
    }
}

/// I18: implicit Euler damps an undamped spring as theory says; the others keep it.
#[test]
fn i18_numerical_damping() {
    let system = oscillator(1.0, 100.0, 0.0);
    let amplitude = |state: &State| state.q[3].hypot(state.v[3] / 10.0);
    let end = march(&system, "implicit_euler", &tight(), &oscillator_state(0.1, 0.0), 0.01, 1000);
    let expected = 1.01_f64.powi(-500);
    assert!((expected - 0.00691).abs() < 1e-5);
    assert!((amplitude(&end) / 0.1 / expected - 1.0).abs() < 1e-9, "{}", amplitude(&end));
    for (id, options) in
        [("implicit_midpoint", tight()), ("trapezoidal", tight()), ("generalized_alpha", newmark(0.25, 0.5))]
    {
        let end = march(&system, id, &options, &oscillator_state(0.1, 0.0), 0.01, 1000);
        assert!((amplitude(&end) / 0.1 - 1.0).abs() < 1e-9, "{id}: {}", amplitude(&end));
    }
}

/// I20: the trapezoidal rule keeps the amplitude at ω dt = 0.5 over 200 steps.
#[test]
fn i20_trapezoidal_amplitude() {
    let system = oscillator(1.0, 100.0, 0.0);
    let end = march(&system, "trapezoidal", &tight(), &oscillator_state(1.0, 0.0), 0.05, 200);
    assert!((end.q[3].hypot(end.v[3] / 10.0) - 1.0).abs() < 1e-10);
}

/// Y47: Newmark with γ below ½ is refused with a reason.
#[test]
fn y47_amplifying_newmark_is_refused() {
    let error = sim_integrate::stepper("generalized_alpha", &newmark(0.25, 0.4)).err().unwrap();
    assert!(error.to_string().contains("gamma") && error.to_string().contains("amplify"), "{error}");
    for (field, value) in [("rho_infinity", 1.5), ("rho_infinity", -0.1)] {
        assert!(sim_integrate::stepper("generalized_alpha", &json!({ field: value })).is_err());
    }
    assert!(sim_integrate::stepper("theta_mixed", &json!({ "alpha": 1.5 })).is_err());
    assert!(
        sim_integrate::stepper("implicit_euler", &json!({ "newton": { "relative_tolerance": 0.0 } }))
            .is_err()
    );
    assert!(
        sim_integrate::stepper("implicit_euler", &json!({ "newton": { "solver": { "threads": 0 } } }))
            .is_err()
    );
    assert!(sim_integrate::stepper("implicit_euler", &json!({ "newtn": {} })).is_err());
}

/// Y49: from equilibrium nothing moves; from rest the first acceleration is F/m.
#[test]
fn y49_consistent_start() {
    let system = |force: f64| {
        let spring = sim_core::force::springs::Spring {
            ends: [0, 1],
            rest_length: 0.0,
            stiffness: 100.0,
            damping: 0.0,
        };
        sim_core::ParticleSystemBuilder::new(vec![1.0, 1.0])
            .pin([0])
            .force(sim_core::force::springs::Springs::new([spring]))
            .force(sim_core::force::gravity::Gravity::new([force, 0.0, 0.0]))
            .build()
            .unwrap()
    };
    let options = newmark(0.25, 0.5);
    let still = march(&system(10.0), "generalized_alpha", &options, &oscillator_state(0.1, 0.0), 0.01, 500);
    assert!((still.q[3] - 0.1).abs() < 1e-12, "{}", still.q[3]);
    let first = march(&system(10.0), "generalized_alpha", &options, &oscillator_state(0.0, 0.0), 0.01, 1);
    assert!((first.q[3] - 4.988e-4).abs() < 5e-8, "{}", first.q[3]);
    let mut state = oscillator_state(0.0, 0.0);
    let mut stepper = GeneralizedAlpha::new(GeneralizedAlphaOptions {
        parameters: Some(sim_integrate::AlphaParameters::newmark(0.25, 0.5)),
        ..GeneralizedAlphaOptions::default()
    })
    .unwrap();
    let mut peak = (0.0, 0.0);
    for _ in 0..50 {
        sim_core::Stepper::step(&mut stepper, &system(10.0), &mut state, 0.01).unwrap();
        if state.q[3] > peak.1 {
            peak = (state.t, state.q[3]);
        }
    }
    assert!((peak.1 - 0.2).abs() < 1e-4 && (peak.0 - 0.314).abs() < 0.006, "{peak:?}");
}
