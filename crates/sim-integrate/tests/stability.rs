//! Guaranteed steps on random networks: never above the exact limit, never a blow-up, close to the limit, the right culprit.

#[path = "support/networks.rs"]
mod networks;

use nalgebra::{DMatrix, Matrix3};
use networks::{Wildness, network};
use serde_json::Value;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{
    Definiteness, ExplicitSystem, ImplicitSystem, ParticleSystem, ParticleSystemBuilder, State, System,
};
use sim_integrate::{
    StabilityError, SubstepError, SubstepOptions, Substepping, Validity, stable_dt, stencil_stable_dt,
    stepper_info,
};

const WILD: Wildness = Wildness {
    particles: 14,
    strain: (-0.5, 0.5),
    stiffness: (1.0, 1e6),
    damped: false,
    pinned: true,
    balanced: false,
    speed: 0.1,
};

/// Dense `M^-½ K M^-½` and `M^-½ D M^-½` over free coordinates, written here independently of the crate.
fn dense(system: &ParticleSystem, state: &State) -> [DMatrix<f64>; 2] {
    let w = system.inverse_mass();
    let free: Vec<usize> = (0..w.len()).filter(|&i| w[i] > 0.0).collect();
    let n = 3 * w.len();
    let full = |damping: bool| {
        let mut matrix = DMatrix::<f64>::zeros(n, n);
        let mut sink = |r: usize, c: usize, block: &Matrix3<f64>| {
            for i in 0..3 {
                for j in 0..3 {
                    let value = block[(i, j)] * (w[r] * w[c]).sqrt();
                    matrix[(3 * r + i, 3 * c + j)] += value;
                    if r != c {
                        matrix[(3 * c + j, 3 * r + i)] += value;
                    }
                }
            }
        };
        if damping {
            system.damping_matrix(state.t, &state.q, &state.v, &mut sink);
        } else {
            system.stiffness_matrix(state.t, &state.q, &state.v, Definiteness::Exact, &mut sink);
        }
        DMatrix::from_fn(3 * free.len(), 3 * free.len(), |r, c| {
            matrix[(3 * free[r / 3] + r % 3, 3 * free[c / 3] + c % 3)]
        })
    };
    [full(false), full(true)]
}

/// One step of symplectic Euler on `W`, `C`.
fn symplectic_euler_matrix(w: &DMatrix<f64>, c: &DMatrix<f64>, h: f64) -> DMatrix<f64> {
    let n = w.nrows();
    let kick_x = w * -h;
    let kick_v = DMatrix::identity(n, n) - c * h;
    let mut a = DMatrix::zeros(2 * n, 2 * n);
    a.view_mut((n, 0), (n, n)).copy_from(&kick_x);
    a.view_mut((n, n), (n, n)).copy_from(&kick_v);
    a.view_mut((0, 0), (n, n)).copy_from(&(DMatrix::identity(n, n) + kick_x * h));
    a.view_mut((0, n), (n, n)).copy_from(&(kick_v * h));
    a
}

/// T5: on 2,000 networks the bounds are never above the limit from dense eigenvalues, and at least 90 % of it in the median.
#[test]
fn bounds_are_never_above_the_exact_limit() {
    let leapfrog = stepper_info("leapfrog").unwrap();
    let mut sharpness = Vec::new();
    for seed in 0..2000 {
        let (system, state) = network(seed, WILD);
        let [w, _] = dense(&system, &state);
        let omega = w.symmetric_eigenvalues().amax().max(0.0).sqrt();
        let limit = 2.0 / omega;
        let report = stable_dt(&system, &state, leapfrog).unwrap();
        let stencils = stencil_stable_dt(&system, &state, leapfrog).unwrap();
        for dt in [report.dt_bound, stencils.dt_bound, report.dt_element, report.dt_power * (1.0 - 1e-12)] {
            assert!(dt <= limit * (1.0 + 1e-11), "seed {seed}: {dt} above {limit}");
        }
        assert!(
            stencils.dt_bound <= report.dt_bound * (1.0 + 1e-9),
            "seed {seed}: knowing more gave a shorter step"
        );
        // The largest eigenvalue in size may be negative under strong compression; the exact limit is about the largest.
        let largest = w.symmetric_eigenvalues().max();
        let exact = report.dt_exact.unwrap();
        assert!((exact / (2.0 / largest.sqrt()) - 1.0).abs() < 1e-9, "seed {seed}: {exact}");
        assert!(report.dt_estimate.unwrap() >= exact * (1.0 - 1e-11), "seed {seed}");
        assert!(report.dt_estimate.unwrap() <= exact * 1.02, "seed {seed}: {report:?}");
        sharpness.push(report.dt_bound / exact);
    }
    sharpness.sort_by(f64::total_cmp);
    let median = sharpness[sharpness.len() / 2];
    assert!(median >= 0.9, "median {median}, worst {}", sharpness[0]);
}

/// With damping: bounded at 0.999 of the exact limit, unbounded at 1.001, and the guaranteed bound below it.
#[test]
fn exact_limit_separates_bounded_from_unbounded_with_damping() {
    let info = stepper_info("symplectic_euler").unwrap();
    let leapfrog = stepper_info("leapfrog").unwrap();
    for seed in 0..150 {
        let tension = Wildness {
            particles: 8,
            strain: (0.0, 0.5),
            stiffness: (1.0, 1e6),
            damped: true,
            pinned: true,
            balanced: false,
            speed: 0.1,
        };
        let (system, state) = network(10_000 + seed, tension);
        let [w, c] = dense(&system, &state);
        let report = stable_dt(&system, &state, info).unwrap();
        let exact = report.dt_exact.unwrap();
        assert!(report.dt_bound <= exact && report.damped, "seed {seed}");
        assert!(report.dt_bound > 0.5 * exact, "seed {seed}: {report:?}");
        assert!(stencil_stable_dt(&system, &state, info).unwrap().dt_bound <= exact, "seed {seed}");
        let radius = |h: f64| sim_verify::spectral_radius(&symplectic_euler_matrix(&w, &c, h));
        // Free motion is a defective eigenvalue 1, which rounding spreads to its square root.
        assert!(radius(0.999 * exact) < 1.0 + 1e-6, "seed {seed}: {}", radius(0.999 * exact));
        assert!(radius(1.001 * exact) > 1.0 + 1e-5, "seed {seed}: {}", radius(1.001 * exact));
        // The conditions of leapfrog with predicted velocity are sufficient.
        let h = 0.9999 * stable_dt(&system, &state, leapfrog).unwrap().dt_bound;
        assert!(sim_verify::spectral_radius(&leapfrog_matrix(&w, &c, h)) < 1.0 + 1e-6, "seed {seed}");
    }
}

/// One step of leapfrog with predicted velocity on `W`, `C`.
fn leapfrog_matrix(w: &DMatrix<f64>, c: &DMatrix<f64>, h: f64) -> DMatrix<f64> {
    let n = w.nrows();
    let identity = DMatrix::<f64>::identity(n, n);
    let zero = DMatrix::<f64>::zeros(n, n);
    let block = |a: &DMatrix<f64>, b: &DMatrix<f64>, c: &DMatrix<f64>, d: &DMatrix<f64>| {
        let mut m = DMatrix::zeros(2 * n, 2 * n);
        m.view_mut((0, 0), (n, n)).copy_from(a);
        m.view_mut((0, n), (n, n)).copy_from(b);
        m.view_mut((n, 0), (n, n)).copy_from(c);
        m.view_mut((n, n), (n, n)).copy_from(d);
        m
    };
    let kick = -w * (0.5 * h);
    let slow = &identity - c * (0.5 * h);
    let half = block(&identity, &zero, &kick, &slow);
    let drift = block(&identity, &(&identity * h), &zero, &identity);
    let end = block(&identity, &zero, &(&slow * &kick), &(&identity - c * (0.5 * h) * &slow));
    end * drift * half
}

const IDS: [&str; 5] =
    ["leapfrog", "symplectic_euler", "runge_kutta4", "position_verlet", "symplectic_euler_drift_kick"];

/// Largest total energy over 400 substeps in frames of about ten, above `zero`, relative to the start.
fn energy_growth(
    id: &str,
    system: &ParticleSystem,
    mut state: State,
    safety: f64,
    zero: f64,
    name: &str,
) -> f64 {
    let mut stepper = sim_integrate::stepper(id, &Value::Null).unwrap();
    let options = SubstepOptions { safety, ..SubstepOptions::default() };
    let mut substepping = Substepping::new(stepper_info(id).unwrap(), options).unwrap();
    let above = |state: &State| system.energy(state.t, &state.q, &state.v).total() - zero;
    let initial = above(&state);
    let mut largest = 0.0_f64;
    for _ in 0..40 {
        let frame = 10.0 * safety * substepping.plan(system, &state, 1e-9).unwrap().stability.dt_bound;
        substepping
            .advance::<dyn sim_core::ModelSystem>(system, &mut *stepper, &mut state, frame, |_, _| {})
            .unwrap_or_else(|error| panic!("{name} {id}: {error}"));
        largest = largest.max(above(&state));
    }
    largest / initial
}

/// T4: 2,000 networks, pre-stressed to 50 % and balanced by loads, disturbed a little: the motion stays bounded.
#[test]
fn automatic_substeps_never_blow_up() {
    for seed in 0..2000 {
        let wildness =
            Wildness { damped: seed % 2 == 0, strain: (0.0, 0.5), balanced: true, speed: 1e-3, ..WILD };
        let (system, state) = network(20_000 + seed, wildness);
        let still = system.energy(0.0, &state.q, &vec![0.0; state.v.len()]).total();
        let growth =
            energy_growth(IDS[seed as usize % 5], &system, state, 0.9, still, &format!("seed {seed}"));
        // At 0.9 of its limit a mode's energy, seen between kicks, swings by up to (1 + 0.9)/(1 - 0.9) = 19 (see the invariants of
        // symplectic Euler); exponential growth would pass that within some hundred steps.
        assert!(growth < 19.0, "seed {seed}: energy grew {growth} times");
    }
}

/// 2,000 damped networks let go under ±50 % strain: springs turn over and pass through zero length, which no linear bound
/// covers. Leapfrog with half the bound, as the documentation of `Substepping` asks for such motion, gains no energy.
#[test]
fn violent_motion_with_half_the_bound_gains_no_energy() {
    for seed in 0..2000 {
        let (system, state) = network(20_000 + seed, Wildness { damped: true, ..WILD });
        let id = ["leapfrog", "runge_kutta4"][seed as usize % 2];
        let growth = energy_growth(id, &system, state, 0.5, 0.0, &format!("seed {seed}"));
        // At ω dt = 1 the energy of leapfrog swings by 1/(1 - ω²dt²/4) even when nothing is gained.
        assert!(growth < 4.0 / 3.0, "seed {seed}: energy grew {growth} times");
    }
}

/// T4, other side: 1.05 × the exact limit of the linear network diverges.
#[test]
fn five_per_cent_above_the_exact_limit_diverges() {
    let zero_rest =
        |seed: u64| network(40_000 + seed, Wildness { strain: (1.0, 1.0), pinned: false, ..WILD });
    for seed in 0..50 {
        for (id, factor, diverges) in
            [("leapfrog", 1.05, true), ("leapfrog", 0.999, false), ("symplectic_euler", 1.05, true)]
        {
            // Strain 1 is rest length 0: the network is exactly linear.
            let (system, mut state) = zero_rest(seed);
            let dt =
                factor * stable_dt(&system, &state, stepper_info(id).unwrap()).unwrap().dt_exact.unwrap();
            let initial = system.energy(0.0, &state.q, &state.v).total();
            let mut stepper = sim_integrate::stepper(id, &Value::Null).unwrap();
            let mut failed = false;
            for _ in 0..1500 {
                failed |= stepper.step(&system, &mut state, dt).is_err();
            }
            let grown = failed || system.energy(state.t, &state.q, &state.v).total() > 1e6 * initial;
            assert_eq!(grown, diverges, "seed {seed} {id} at {factor}");
        }
    }
}

#[test]
fn the_stiffest_spring_is_named() {
    let n = 30;
    let springs = Springs::new((0..n).map(|i| Spring {
        ends: [i, i + 1],
        rest_length: 1.0,
        stiffness: if i == 17 { 900.0 } else { 10.0 },
        damping: 0.0,
    }));
    let count = n as usize + 1;
    let system = ParticleSystemBuilder::new(vec![0.1; count]).pin([0]).force(springs).build().unwrap();
    let state = State::at_rest((0..count).flat_map(|i| [i as f64, 0.0, 0.0]).collect());
    for id in ["leapfrog", "symplectic_euler", "runge_kutta4"] {
        let info = stepper_info(id).unwrap();
        let report = stencil_stable_dt(&system, &state, info).unwrap();
        assert_eq!(report.culprit, Some(("spring", 17)), "{id}");
        assert_eq!(report.validity, Validity::StencilBounds);
        let report = stable_dt(&system, &state, info).unwrap();
        assert_eq!(report.culprit, Some(("spring", 17)), "{id}");
        assert!(report.gap().unwrap() < 0.02, "{report:?}");
    }
}

/// Trap 4: two free masses have ω² = k (1/m1 + 1/m2), a long chain almost 4 k/m; trap 6: the limit is 2/ω.
#[test]
fn known_networks() {
    let spring = |a, b| Spring { ends: [a, b], rest_length: 1.0, stiffness: 300.0, damping: 0.0 };
    let pair =
        ParticleSystemBuilder::new(vec![2.0, 3.0]).force(Springs::new([spring(0, 1)])).build().unwrap();
    let state = State::at_rest(vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let info = stepper_info("leapfrog").unwrap();
    let limit = 2.0 / (300.0 * (1.0 / 2.0 + 1.0 / 3.0_f64)).sqrt();
    for report in [stable_dt(&pair, &state, info).unwrap(), stencil_stable_dt(&pair, &state, info).unwrap()] {
        assert!((report.dt_bound / limit - 1.0).abs() < 1e-10, "{report:?}");
    }
    let chain = ParticleSystemBuilder::new(vec![0.5; 52])
        .pin([0, 51])
        .force(Springs::new((0..51).map(|i| spring(i, i + 1))))
        .build()
        .unwrap();
    let state = State::at_rest((0..52).flat_map(|i| [f64::from(i), 0.0, 0.0]).collect());
    let report = stable_dt(&chain, &state, info).unwrap();
    let omega = 2.0 * (300.0_f64 / 0.5).sqrt() * (50.0 * std::f64::consts::PI / 102.0).sin();
    assert!((report.dt_exact.unwrap() * omega / 2.0 - 1.0).abs() < 1e-10, "{report:?}");
    assert!(report.gap().unwrap() < 0.005, "{report:?}");
}

#[test]
fn explicit_euler_needs_damping() {
    let spring = |damping| {
        let spring = Spring { ends: [0, 1], rest_length: 1.0, stiffness: 100.0, damping };
        ParticleSystemBuilder::new(vec![1.0, 1.0]).pin([0]).force(Springs::new([spring])).build().unwrap()
    };
    let state = State::at_rest(vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    for id in ["explicit_euler", "explicit_midpoint"] {
        let info = stepper_info(id).unwrap();
        let error = stable_dt(&spring(0.0), &state, info).unwrap_err();
        assert!(
            matches!(error, StabilityError::NoStableStep { im, .. } if (im.abs() - 10.0).abs() < 1e-6),
            "{error}"
        );
        let mut substepping = Substepping::new(info, SubstepOptions::default()).unwrap();
        let error = substepping.plan(&spring(1.0), &state, 0.1).unwrap_err();
        assert!(matches!(error, SubstepError::Stability(StabilityError::NeedsMatrices { .. })), "{error}");
    }
    // ζ = 0.3: the limit is 2ζ/ω; the rest-length spring has no stiffness across, so nothing else limits it.
    let report = stable_dt(&spring(6.0), &state, stepper_info("explicit_euler").unwrap()).unwrap();
    assert!((report.dt_exact.unwrap() - 0.06).abs() < 1e-8, "{report:?}");
}

#[test]
fn a_network_without_springs_has_no_limit() {
    let system = ParticleSystemBuilder::new(vec![1.0; 3]).build().unwrap();
    let state = State::at_rest(vec![0.0; 9]);
    let mut substepping =
        Substepping::new(stepper_info("leapfrog").unwrap(), SubstepOptions::default()).unwrap();
    let plan = substepping.plan(&system, &state, 0.5).unwrap();
    assert_eq!((plan.substeps, plan.dt, plan.stability.dt_bound), (1, 0.5, f64::INFINITY));
    let report = stable_dt(&system, &state, stepper_info("symplectic_euler").unwrap()).unwrap();
    assert_eq!(report.dt_bound, f64::INFINITY);
    for (safety, max_substeps) in [(0.0, 10), (1.1, 10), (f64::NAN, 10), (0.9, 0)] {
        let options = SubstepOptions { safety, max_substeps };
        assert!(Substepping::new(stepper_info("leapfrog").unwrap(), options).is_err());
    }
}

#[test]
fn too_many_substeps_is_an_error_and_a_failed_frame_changes_nothing() {
    let spring = Spring { ends: [0, 1], rest_length: 1.0, stiffness: 1e10, damping: 0.0 };
    let system =
        ParticleSystemBuilder::new(vec![1.0, 1.0]).pin([0]).force(Springs::new([spring])).build().unwrap();
    let mut state = State::at_rest(vec![0.0, 0.0, 0.0, 1.1, 0.0, 0.0]);
    let before = state.clone();
    let options = SubstepOptions { max_substeps: 100, ..SubstepOptions::default() };
    let mut substepping = Substepping::new(stepper_info("leapfrog").unwrap(), options).unwrap();
    let mut stepper = sim_integrate::Leapfrog::default();
    let error = substepping.advance(&system, &mut stepper, &mut state, 0.1, |_, _| {}).unwrap_err();
    assert!(error.to_string().contains("spring 0"), "{error}");
    for frame in [0.0, -1.0, f64::NAN] {
        assert!(matches!(substepping.plan(&system, &state, frame), Err(SubstepError::Frame { .. })));
    }
    assert_eq!(state, before);
}
