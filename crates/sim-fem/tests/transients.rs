//! Response in time against the reference set and against faults met elsewhere.

#[path = "support/oscillator.rs"]
mod oscillator;
#[path = "support/reference.rs"]
mod reference;

use oscillator::{history, oscillator, run};
use reference::{Case, close, close_to};
use sim_fem::analysis::damping::{rayleigh_factors, rayleigh_ratio};
use sim_fem::analysis::transient::{
    InitialState, Instant, StartAcceleration, TransientError, TransientMethod, TransientOptions, stable_step,
    transient,
};
use sim_fem::elements::MassKind;
use sim_fem::elements::ground_spring::GroundSpring;
use sim_fem::elements::nonlinear_truss::NonlinearTruss;
use sim_fem::elements::point_mass::PointMass;
use sim_fem::elements::truss::Truss;
use sim_fem::load::Direction::{X, Y, Z};
use sim_fem::load::TimeFunction;
use sim_fem::material::{Material, Section};
use sim_fem::{Load, StructureBuilder};
use std::f64::consts::PI;
use std::ops::ControlFlow;

const AVERAGE: TransientMethod = TransientMethod::Newmark { beta: 0.25, gamma: 0.5 };
const LINEAR: TransientMethod = TransientMethod::Newmark { beta: 1.0 / 6.0, gamma: 0.5 };
const EXPLICIT: TransientMethod = TransientMethod::Newmark { beta: 0.0, gamma: 0.5 };

#[test]
fn a_sdof_newmark_family() {
    for (method, name) in
        [(AVERAGE, "average_acceleration"), (LINEAR, "linear_acceleration"), (EXPLICIT, "central_difference")]
    {
        for damping in ["undamped", "damped"] {
            let case = Case::new(&format!("A-sdof-newmark_{name}-{damping}"));
            let [m, k, c, h, x0, v0] = ["m", "k", "c", "h", "x0", "v0"].map(|name| case.number(name));
            let structure = oscillator(m, k, c).build().unwrap();
            let options = TransientOptions { method, dt: h, steps: 1, ..Default::default() };
            let columns = [run(&structure, 1.0, 0.0, &options), run(&structure, 0.0, 1.0, &options)];
            let matrix = case.table("A");
            for (column, report) in columns.iter().enumerate() {
                close_to(name, report.displacement[0], matrix[0][column], 1e-12, 1.0);
                close_to(name, report.velocity[0], matrix[1][column], 1e-12, 1.0);
            }
            let end = run(&structure, x0, v0, &TransientOptions { steps: 50, ..options });
            close_to(name, end.displacement[0], case.number("x_after_50_steps"), 1e-11, 0.1);
            close_to(name, end.velocity[0], case.number("v_after_50_steps"), 1e-11, 0.5);
        }
    }
}

/// The 3×3 amplification matrix on (x, h v, h² a), its third column by way of two steps.
#[test]
fn a_hht_and_generalized_alpha() {
    let cases: Vec<(String, TransientMethod)> = [("005", -0.05), ("01", -0.1), ("03", -0.3)]
        .map(|(name, alpha)| (format!("A-hht-alpha-{name}"), TransientMethod::HilberHughesTaylor { alpha }))
        .into_iter()
        .chain([("00", 0.0), ("05", 0.5), ("10", 1.0)].map(|(name, rho_infinity)| {
            (format!("A-generalized-alpha-rho{name}"), TransientMethod::GeneralizedAlpha { rho_infinity })
        }))
        .collect();
    for (id, method) in cases {
        let case = Case::new(&id);
        let coefficients = method.coefficients().unwrap().unwrap();
        close(&id, coefficients.beta, case.number("beta"), 1e-14);
        close(&id, coefficients.gamma, case.number("gamma"), 1e-14);
        let (h, omega, xi) = (0.1, 5.0, 0.02);
        let structure = oscillator(1.0, omega * omega, 2.0 * xi * omega).build().unwrap();
        let a = nalgebra::Matrix3::from_row_iterator(case.table("A_Omega0.5_xi0.02").concat());
        for (x0, v0) in [(1.0, 0.0), (0.0, 1.0 / h), (0.7, -2.0)] {
            for steps in [1, 2, 7] {
                let start = StartAcceleration::Zero;
                let options = TransientOptions { method, dt: h, steps, start, ..Default::default() };
                let report = run(&structure, x0, v0, &options);
                let expected = a.pow(steps as u32) * nalgebra::Vector3::new(x0, h * v0, 0.0);
                close_to(&id, report.displacement[0], expected[0], 1e-10, 1.0);
                close_to(&id, h * report.velocity[0], expected[1], 1e-10, 1.0);
                close_to(&id, h * h * report.acceleration[0], expected[2], 1e-10, 1.0);
            }
        }
    }
    let case = Case::new("A-discrete-hht-alpha--0.1");
    let [m, k, c, h, x0, v0] = ["m", "k", "c", "h", "x0", "v0"].map(|name| case.number(name));
    let structure = oscillator(m, k, c).build().unwrap();
    let method = TransientMethod::HilberHughesTaylor { alpha: -0.1 };
    let end = run(&structure, x0, v0, &TransientOptions { method, dt: h, steps: 50, ..Default::default() });
    close_to("x50", end.displacement[0], case.number("x_50"), 1e-10, 0.1);
    close_to("v50", end.velocity[0], case.number("v_50"), 1e-10, 0.5);
}

#[test]
fn a_newmark_critical_steps() {
    let case = Case::new("A-newmark-critical-steps");
    let [beta, gamma, xi, limit] = ["beta", "gamma", "xi", "Omega_crit"].map(|name| case.list(name));
    for i in 0..beta.len() {
        let method = TransientMethod::Newmark { beta: beta[i], gamma: gamma[i] };
        let coefficients = method.coefficients().unwrap().unwrap();
        assert!(coefficients.is_conditional());
        close("limit", coefficients.critical_omega_dt(xi[i]), limit[i], 1e-10);
        // A step above the limit is refused; one below runs.
        if xi[i] == 0.0 {
            let structure = oscillator(1.0, 100.0, 0.0).build().unwrap();
            let options = |factor: f64| TransientOptions {
                method,
                dt: factor * limit[i] / 10.0,
                steps: 3,
                ..Default::default()
            };
            let initial = InitialState::at_rest(&structure);
            let mut quiet = |_: &Instant<'_>| ControlFlow::Continue(());
            assert!(transient(&structure, &initial, &options(0.999), &mut quiet).is_ok());
            let error = transient(&structure, &initial, &options(1.001), &mut quiet).unwrap_err();
            assert!(matches!(error, TransientError::Unstable { .. }), "{error}");
        }
    }
    assert!(!AVERAGE.coefficients().unwrap().unwrap().is_conditional());
}

/// Second order in time on a damped oscillator whose solution is known.
#[test]
fn observed_orders() {
    let (m, k, c, x0, v0): (f64, f64, f64, f64, f64) = (2.0, 50.0, 2.0, 0.1, -0.3);
    let (zeta, omega) = (c / (2.0 * (k * m).sqrt()), (k / m).sqrt());
    let damped = omega * (1.0 - zeta * zeta).sqrt();
    let (sine, cosine) = damped.sin_cos();
    let exact = (-zeta * omega).exp() * (x0 * cosine + (v0 + zeta * omega * x0) / damped * sine);
    let structure = oscillator(m, k, c).build().unwrap();
    for (method, order) in [
        (AVERAGE, 2.0),
        (LINEAR, 2.0),
        (TransientMethod::HilberHughesTaylor { alpha: -0.2 }, 2.0),
        (TransientMethod::GeneralizedAlpha { rho_infinity: 0.6 }, 2.0),
        (TransientMethod::Newmark { beta: 0.3025, gamma: 0.6 }, 1.0),
        // The dashpot lags half a step.
        (TransientMethod::CentralDifference, 1.0),
    ] {
        let error = |n: usize| {
            let options = TransientOptions { method, dt: 1.0 / n as f64, steps: n, ..Default::default() };
            (run(&structure, x0, v0, &options).displacement[0] - exact).abs()
        };
        let observed = (error(400) / error(800)).log2();
        assert!((observed - order).abs() < 0.1, "{method:?}: order {observed}");
    }
}

#[test]
fn d_sdof_newmark_chopra() {
    let case = Case::new("D-sdof-newmark-chopra");
    let [m, k, zeta, dt] = ["m", "k", "zeta", "dt"].map(|name| case.number(name));
    let build = |c: f64, rayleigh: f64| {
        let mut builder = oscillator(m, k, c);
        builder.rayleigh_damping(rayleigh, 0.0);
        let load = Load::Force { node: 0, direction: X, value: 10.0 };
        builder.timed_load(0, load, TimeFunction::HalfSine { duration: 0.6 });
        builder.build().unwrap()
    };
    let c = 2.0 * zeta * (k * m).sqrt();
    // The same damping as a dashpot and as a multiple of the mass.
    for structure in [build(c, 0.0), build(0.0, c / m)] {
        for (method, columns) in [
            (
                AVERAGE,
                ["u_average_acceleration", "v_average_acceleration", "a_average_acceleration"].as_slice(),
            ),
            (LINEAR, &["u_linear_acceleration"]),
        ] {
            let rows = history(&structure, &TransientOptions { method, dt, steps: 10, ..Default::default() });
            for (k, name) in columns.iter().enumerate() {
                for (row, expected) in rows.iter().zip(case.list(name)) {
                    close_to(name, row[k][0], expected, 1e-11, [1.0, 10.0, 50.0][k]);
                }
            }
        }
    }
    // Central differences with damping at mean velocity: the mass-proportional form.
    let options =
        TransientOptions { method: TransientMethod::CentralDifference, dt, steps: 10, ..Default::default() };
    for (row, expected) in history(&build(0.0, c / m), &options).iter().zip(case.list("u_central_difference"))
    {
        close_to("central", row[0][0], expected, 1e-11, 1.0);
    }
}

#[test]
fn d_two_dof_bathe() {
    let case = Case::new("D-two-dof-bathe");
    // K = [[6,-2],[-2,4]] as springs to ground 4 and 2 and a bar of 2 between; M = diag(2, 1).
    let mut builder = StructureBuilder::new();
    builder.nodes([[0.0; 3], [1.0, 0.0, 0.0]]);
    builder.element(Truss::new(&Material::new(2.0), &Section::area(1.0)).unwrap(), &[0, 1]);
    for (node, (k, m)) in [(4.0, 2.0), (2.0, 1.0)].into_iter().enumerate() {
        builder.element(GroundSpring::new([k, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap(), &[node]);
        builder.element(PointMass::new(m).unwrap(), &[node]);
        builder.fix(node, Y).fix(node, Z);
    }
    builder.force(1, X, 10.0);
    let structure = builder.build().unwrap();
    for (method, name) in
        [(AVERAGE, "newmark_average"), (TransientMethod::CentralDifference, "central_difference")]
    {
        let options = TransientOptions { method, dt: case.number("dt"), steps: 12, ..Default::default() };
        let rows = history(&structure, &options);
        for (row, expected) in rows[1..].iter().zip(case.table(name)) {
            for (value, expected) in row[0].iter().zip(expected) {
                close_to(name, *value, expected, 1e-11, 5.0);
            }
        }
    }
}

#[test]
fn d_rayleigh_damping_and_y51() {
    let case = Case::new("D-rayleigh-damping");
    let [w1, w2, z1, z2] = ["omega1", "omega2", "zeta1", "zeta2"].map(|name| case.number(name));
    let unequal = rayleigh_factors([w1, w2], [z1, z2]).unwrap();
    close("a0", unequal[0], case.number("a0"), 1e-13);
    close("a1", unequal[1], case.number("a1"), 1e-13);
    close("at 25", rayleigh_ratio(unequal, 25.0), case.number("zeta_unequal_at_25"), 1e-13);
    let equal = rayleigh_factors([w1, w2], [0.03, 0.03]).unwrap();
    close("a0", equal[0], case.number("a0_equal"), 1e-13);
    close("a1", equal[1], case.number("a1_equal"), 1e-13);
    close("at 25", rayleigh_ratio(equal, 25.0), case.number("zeta_equal_at_25"), 1e-13);
    close("min", rayleigh_ratio(equal, (w1 * w2).sqrt()), case.number("zeta_min_equal"), 1e-13);
    let [alpha, beta] = rayleigh_factors([2.0, 8.0], [0.05, 0.05]).unwrap();
    close("alpha", alpha, 0.16, 1e-13);
    close("beta", beta, 0.01, 1e-13);
    assert!(rayleigh_factors([2.0, 2.0], [0.05, 0.05]).is_err());
    assert!(rayleigh_factors([2.0, 8.0], [0.5, 0.01]).is_err(), "a negative factor would feed energy");
}

/// The bound is never below the true largest frequency, and the step it allows is stable.
#[test]
fn explicit_bound_is_guaranteed() {
    for (n, sharpness) in [(1, 1.0), (30, 0.98)] {
        let bar = bar(n, MassKind::Lumped).build().unwrap();
        let h = 1.0 / n as f64;
        // Fixed-free lumped chain: ω_max = (2c/h) sin((2n−1)π/(4n)).
        let exact = 2.0 / h * ((2 * n - 1) as f64 * PI / (4.0 * n as f64)).sin();
        let bound = stable_step(&bar).unwrap().omega_bound;
        assert!(
            bound >= exact * (1.0 - 1e-12) && exact >= sharpness * bound * (1.0 - 1e-12),
            "{bound} {exact}"
        );
    }
    let consistent = bar(3, MassKind::Consistent).build().unwrap();
    assert!(stable_step(&consistent).unwrap_err().to_string().contains("lumped"));
}

/// Unit bar (E = ρ = A = L = 1), fixed at x = 0.
fn bar(n: usize, kind: MassKind) -> StructureBuilder {
    let material = Material::new(1.0).with_density(1.0);
    let mut builder = StructureBuilder::new();
    builder.nodes((0..=n).map(|i| [i as f64 / n as f64, 0.0, 0.0])).mass(kind);
    for i in 0..n {
        builder.element(Truss::new(&material, &Section::area(1.0)).unwrap(), &[i, i + 1]);
    }
    builder.fix(0, X);
    for i in 0..=n {
        builder.fix(i, Y).fix(i, Z);
    }
    builder
}

/// Case B-bar-step-load-wave: at Courant number 1 central differences carry the wave exactly.
#[test]
fn b_bar_step_load_wave() {
    let case = Case::new("B-bar-step-load-wave");
    let n = 20;
    let mut builder = bar(n, MassKind::Lumped);
    builder.force(n, X, 1.0);
    let structure = builder.build().unwrap();
    let tip = structure.unknown(structure.dof(n, X).unwrap()).unwrap();
    let options = TransientOptions {
        method: TransientMethod::CentralDifference,
        dt: 1.0 / n as f64,
        steps: 5 * n,
        ..Default::default()
    };
    let rows = history(&structure, &options);
    let scale = case.number("static");
    for (time, expected) in case.list("t_over_L_c").into_iter().zip(case.list("u_end")) {
        let step = (time * n as f64).round() as usize;
        close_to("tip", rows[step][0][tip], expected / scale, 1e-11, 1.0);
    }
}

/// Average acceleration keeps the energy of a linear structure; 10⁴ steps.
#[test]
fn average_acceleration_keeps_the_energy() {
    for kind in [MassKind::Lumped, MassKind::Consistent] {
        let n = 8;
        let structure = bar(n, kind).build().unwrap();
        let mut initial = InitialState::at_rest(&structure);
        for i in 1..=n {
            initial.displacement[3 * i] = 0.01 * (i as f64 * 0.9).sin();
            initial.velocity[3 * i] = 0.02 * (i as f64 * 0.5).cos();
        }
        let energy = |u: &[f64], v: &[f64]| {
            let (mut full_u, mut full_v) =
                (vec![0.0; structure.dof_count()], vec![0.0; structure.dof_count()]);
            structure.scatter(u, &mut full_u);
            structure.scatter(v, &mut full_v);
            let mut momentum = vec![0.0; structure.dof_count()];
            structure.add_mass_times(1.0, &full_v, &mut momentum);
            let kinetic: f64 = momentum.iter().zip(&full_v).map(|(p, v)| 0.5 * p * v).sum();
            kinetic + structure.strain_energy(&full_u).iter().sum::<f64>()
        };
        let (mut first, mut worst) = (0.0, 0.0_f64);
        let options = TransientOptions { dt: 0.02, steps: 10_000, ..Default::default() };
        transient(&structure, &initial, &options, &mut |instant| {
            let now = energy(instant.displacement, instant.velocity);
            if instant.step == 0 {
                first = now;
            }
            worst = worst.max((now / first - 1.0).abs());
            ControlFlow::Continue(())
        })
        .unwrap();
        assert!(worst < 1e-12, "{kind:?}: {worst:e}");
    }
}

/// Shaking the support by `u_g(t)` and pushing all masses with −M `ü_g` give the same relative motion (case F41 too:
/// the moved degree of freedom keeps its value to the last bit).
#[test]
fn moving_supports_equal_base_motion() {
    let n = 6;
    let (omega, amplitude) = (2.0, 0.05);
    let sine = |phase: f64| TimeFunction::Sine { angular_frequency: omega, phase };
    for kind in [MassKind::Lumped, MassKind::Consistent] {
        let build = |moving: bool| {
            let material = Material::new(1.0).with_density(1.0);
            let mut builder = StructureBuilder::new();
            builder.nodes((0..=n).map(|i| [i as f64 / n as f64, 0.0, 0.0])).mass(kind);
            for i in 0..n {
                builder.element(Truss::new(&material, &Section::area(1.0)).unwrap(), &[i, i + 1]);
            }
            for i in 0..=n {
                builder.fix(i, Y).fix(i, Z);
            }
            if moving {
                builder.prescribe(0, X, amplitude, sine(0.0));
            } else {
                builder.fix(0, X);
                let acceleration = [-amplitude * omega * omega, 0.0, 0.0];
                builder.timed_load(0, Load::BaseAcceleration { acceleration }, sine(0.0));
            }
            builder.build().unwrap()
        };
        let (moved, shaken) = (build(true), build(false));
        // The two ways differ by the time error of the scheme only.
        let gap = |steps: usize| {
            let options = TransientOptions { dt: 2.0 / steps as f64, steps, ..Default::default() };
            let mut absolute = InitialState::at_rest(&moved);
            // At rest relative to a support that starts with velocity.
            (0..=n).for_each(|i| absolute.velocity[3 * i] = amplitude * omega);
            let quiet = &mut |_: &Instant<'_>| ControlFlow::Continue(());
            let a = transient(&moved, &absolute, &options, quiet).unwrap();
            let b = transient(&shaken, &InitialState::at_rest(&shaken), &options, quiet).unwrap();
            let ground = amplitude * (omega * (steps as f64 * options.dt)).sin();
            assert_eq!(a.displacement[0], ground);
            (1..=n)
                .map(|i| (a.displacement[3 * i] - ground - b.displacement[3 * i]).abs())
                .fold(0.0, f64::max)
        };
        let (coarse, fine) = (gap(1000), gap(2000));
        assert!(fine < 1e-5 * amplitude, "{kind:?}: {fine:e}");
        close_to("order", (coarse / fine).log2(), 2.0, 0.1, 1.0);
    }
}

/// A pendulum of a stiff nonlinear bar swings with its period at large amplitude and keeps its energy to second order.
#[test]
fn nonlinear_steps_converge_with_order_two() {
    let (length, g) = (1.0_f64, 9.81);
    let mut builder = StructureBuilder::new();
    builder.nodes([[0.0; 3], [length, 0.0, 0.0]]).planar();
    builder.element(NonlinearTruss::new(&Material::new(1e5), &Section::area(1.0)).unwrap(), &[0, 1]);
    builder.element(PointMass::new(1.0).unwrap(), &[1]);
    builder.pin(0).force(1, Y, -g);
    let structure = builder.build().unwrap();
    let angle = |dt: f64| {
        let method = TransientMethod::GeneralizedAlpha { rho_infinity: 0.8 };
        let steps = (0.5 / dt).round() as usize;
        let options = TransientOptions { method, dt, steps, ..Default::default() };
        let initial = InitialState::at_rest(&structure);
        let end = transient(&structure, &initial, &options, &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(end.iterations <= 6 * steps);
        (-end.displacement[4]).atan2(length + end.displacement[3])
    };
    let (a, b, c) = (angle(4e-3), angle(2e-3), angle(1e-3));
    let order = ((a - b) / (b - c)).log2();
    assert!((order - 2.0).abs() < 0.2, "order {order}");
    // Rigid pendulum from horizontal, by the energy integral: t(θ) = ∫ dθ/√(2 g sin θ / L) with θ = s².
    let time = |theta: f64| {
        let n = 20_000;
        let top = theta.sqrt();
        let f = |s: f64| 2.0 * s / (2.0 * g / length * (s * s).sin()).sqrt();
        let w = top / f64::from(n);
        (0..n).map(|i| w * f((f64::from(i) + 0.5) * w)).sum::<f64>()
    };
    close_to("time", time(c), 0.5, 2e-4, 1.0);
}

#[test]
fn explicit_needs_mass_everywhere() {
    let mut builder = StructureBuilder::new();
    builder.nodes([[0.0; 3], [1.0, 0.0, 0.0]]);
    builder.element(Truss::new(&Material::new(1.0), &Section::area(1.0)).unwrap(), &[0, 1]);
    builder.pin(0).fix(1, Y).fix(1, Z);
    let error = stable_step(&builder.build().unwrap()).unwrap_err();
    assert!(matches!(error, TransientError::Massless { node: 1, direction: X }), "{error}");
}
