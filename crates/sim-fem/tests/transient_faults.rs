//! Faults that people met in time integration elsewhere.

#[path = "support/oscillator.rs"]
mod oscillator;
#[path = "support/reference.rs"]
mod reference;

use oscillator::{history, oscillator, run};
use reference::{close, close_to};
use sim_fem::Structure;
use sim_fem::analysis::transient::{
    InitialState, StartAcceleration, TransientMethod, TransientOptions, stable_step, transient,
};
use sim_fem::load::Direction::X;
use std::ops::ControlFlow;

const AVERAGE: TransientMethod = TransientMethod::Newmark { beta: 0.25, gamma: 0.5 };

#[test]
fn y47_negative_numerical_damping_is_refused() {
    let structure = oscillator(1.0, 100.0, 0.0).build().unwrap();
    let method = TransientMethod::Newmark { beta: 0.25, gamma: 0.4 };
    let error = method.coefficients().unwrap_err();
    assert!(error.to_string().contains("0.4 is below 1/2"), "{error}");
    // Per step the amplitude grows by √det A = √(1 + (1/2 − γ) Ω²/(1 + β Ω²)): 1.646 after 1000 steps.
    let growth = (1.0_f64 + 0.1 * 0.01 / (1.0 + 0.25 * 0.01)).powi(500);
    for (gamma, expected) in [(0.4, growth), (0.5, 1.0)] {
        let method = TransientMethod::NewmarkUnchecked { beta: 0.25, gamma };
        let end = run(
            &structure,
            1.0,
            0.0,
            &TransientOptions { method, dt: 0.01, steps: 1000, ..Default::default() },
        );
        let amplitude = end.displacement[0].hypot(end.velocity[0] / 10.0);
        close_to("amplitude", amplitude, expected, 0.005, 1.0);
    }
}

#[test]
fn y49_starts_without_ringing() {
    let build = || {
        let mut builder = oscillator(1.0, 100.0, 0.0);
        builder.force(0, X, 10.0);
        builder.build().unwrap()
    };
    let structure = build();
    let options = TransientOptions { dt: 0.01, steps: 1000, ..Default::default() };
    // (a) From the static position nothing moves.
    let initial = InitialState { t: 0.0, displacement: vec![0.1, 0.0, 0.0], velocity: vec![0.0; 3] };
    let mut worst = 0.0_f64;
    transient(&structure, &initial, &options, &mut |instant| {
        worst = worst.max((instant.displacement[0] - 0.1).abs());
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(worst < 1e-12, "{worst}");
    // (b) From rest.
    let rows = history(&structure, &options);
    close("a0", rows[0][2][0], 10.0, 1e-14);
    close("u1", rows[1][0][0], 4.988e-4, 2e-4);
    let (peak, at) = rows[..60]
        .iter()
        .enumerate()
        .map(|(i, r)| (r[0][0], i))
        .fold((0.0, 0), |best, x| if x.0 > best.0 { x } else { best });
    close_to("peak", peak, 0.2, 1e-4, 1.0);
    close_to("time of peak", at as f64 * 0.01, 0.314, 0.006, 1.0);
    // Zero start acceleration halves the first displacement.
    let zero = TransientOptions { start: StartAcceleration::Zero, ..options };
    close("u1", history(&structure, &zero)[1][0][0], 2.494e-4, 2e-4);
}

#[test]
fn y52_damping_lowers_the_explicit_limit() {
    // ω = 100 rad/s, ζ = 0.2 by stiffness-proportional damping: a₁ = 2ζ/ω.
    let mut builder = oscillator(1.0, 1e4, 0.0);
    builder.rayleigh_damping(0.0, 0.004);
    let structure = builder.build().unwrap();
    let stable = stable_step(&structure).unwrap();
    close("undamped", stable.undamped, 0.02, 1e-12);
    close("damped", stable.damped, 0.016396, 1e-4);
    let initial = InitialState { t: 0.0, displacement: vec![1.0, 0.0, 0.0], velocity: vec![0.0; 3] };
    let march = |factor: f64| {
        let method = TransientMethod::CentralDifference;
        let options =
            TransientOptions { method, dt: factor * stable.damped, steps: 4000, ..Default::default() };
        transient(&structure, &initial, &options, &mut |_| ControlFlow::Continue(()))
    };
    assert!(march(0.9999).unwrap().displacement[0].abs() <= 2.0);
    let text = march(1.0001).unwrap_err().to_string();
    assert!(text.contains("damping ratio 0.200"), "{text}");
}

/// Case Y56: ω dt = 0.1 and 100 together; spectral radius and decay of the stiff mode.
#[test]
fn y56_generalized_alpha_damps_what_it_cannot_resolve() {
    let stiff = oscillator(1.0, 1e4, 0.0).build().unwrap();
    let soft = oscillator(1.0, 1e-2, 0.0).build().unwrap();
    // Amplification matrix on (u, v, a) with dt = 1: two columns by one step, the third by way of two.
    let radius = |structure: &Structure, method| {
        let start = StartAcceleration::Zero;
        let after = |x0: f64, v0: f64, steps: usize| {
            let end = run(
                structure,
                x0,
                v0,
                &TransientOptions { method, dt: 1.0, steps, start, ..Default::default() },
            );
            nalgebra::Vector3::new(end.displacement[0], end.velocity[0], end.acceleration[0])
        };
        let (c1, c2) = (after(1.0, 0.0, 1), after(0.0, 1.0, 1));
        let c3 = (after(1.0, 0.0, 2) - c1 * c1[0] - c2 * c1[1]) / c1[2];
        let matrix = nalgebra::Matrix3::from_columns(&[c1, c2, c3]);
        matrix.complex_eigenvalues().iter().map(|e| e.norm()).fold(0.0, f64::max)
    };
    let half = TransientMethod::GeneralizedAlpha { rho_infinity: 0.5 };
    let end =
        run(&stiff, 1.0, 0.0, &TransientOptions { method: half, dt: 1.0, steps: 40, ..Default::default() });
    assert!(end.displacement[0].abs() < 1e-6, "{}", end.displacement[0]);
    close_to("stiff", radius(&stiff, half), 0.537, 5e-4, 1.0);
    close_to("soft", radius(&soft, half), 0.999998, 5e-7, 1.0);
    close_to("stiff", radius(&stiff, AVERAGE), 1.0, 1e-9, 1.0);
    let keep = run(&stiff, 1.0, 0.0, &TransientOptions { dt: 1.0, steps: 40, ..Default::default() });
    close_to("kept", keep.displacement[0].hypot(keep.velocity[0] / 100.0), 1.0, 1e-9, 1.0);
    let end =
        run(&soft, 1.0, 0.0, &TransientOptions { method: half, dt: 1.0, steps: 1000, ..Default::default() });
    let amplitude = end.displacement[0].hypot(end.velocity[0] / 0.1);
    close_to("soft", amplitude, 0.999998_f64.powi(1000), 1e-3, 1.0);
}
