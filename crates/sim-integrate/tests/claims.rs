//! Every method of the registry against what it claims: order, symplecticity, restart, failed steps, ledger.

use serde_json::Value;
use sim_core::{EnergyLedger, MethodInfo, ModelSystem, Stability, StageRecord, Stepper};
use sim_integrate::STEPPERS;
use sim_verify::{
    OrderOptions, PROBLEMS, failed_step_study, order_study, problem, restart_study, symplecticity_study,
};

fn make(method: &MethodInfo) -> Box<dyn Stepper<dyn ModelSystem>> {
    // Measuring a derivative of the step needs equations solved to rounding.
    let tight = serde_json::json!({ "newton": { "relative_tolerance": 1e-13 } });
    sim_integrate::stepper(method.id, if method.implicit { &tight } else { &Value::Null }).unwrap()
}

#[test]
fn ids_are_unique_and_entries_tell_the_truth() {
    for info in STEPPERS {
        assert_eq!(STEPPERS.iter().filter(|other| other.method.id == info.method.id).count(), 1);
        let stepper = sim_integrate::stepper(info.method.id, &(info.defaults)()).unwrap();
        assert_eq!(stepper.method(), info.method);
        assert!(
            !info.method.reference.is_empty() && !info.method.limitations.is_empty(),
            "{}",
            info.method.id
        );
    }
}

/// Observed order on every exact problem, within 0.05 on the finest pair.
#[test]
fn orders() {
    for info in STEPPERS {
        let method = info.method;
        for problem in PROBLEMS {
            let velocity = problem.build().0.dependence().velocity;
            let order = if velocity { method.order_velocity_dependent } else { method.order };
            // First-order methods need smaller steps until higher terms fade; fourth-order ones larger to stay above rounding.
            let (omega_dt, levels) = match order {
                1 => (0.02, 6),
                2 => (0.1, 5),
                _ => (0.2, 5),
            };
            let report = order_study(
                *problem,
                &mut *make(method),
                OrderOptions::from_coarsest(*problem, omega_dt, levels),
            )
            .unwrap();
            assert!(report.agrees(order.into(), 0.05), "{} on {}: {report}", method.id, problem.id());
        }
    }
}

#[test]
fn symplecticity() {
    for info in STEPPERS {
        let chain = problem("chain_modes").unwrap();
        let kepler = problem("kepler").unwrap();
        let (system, _) = chain.build();
        let linear =
            symplecticity_study(&*system, &mut *make(info.method), &chain.exact(0.3), (1e-3, 5e-3), 0.05)
                .unwrap();
        let (system, _) = kepler.build();
        let nonlinear =
            symplecticity_study(&*system, &mut *make(info.method), &kepler.exact(0.7), (1e-3, 1e-3), 0.2)
                .unwrap();
        let worst = linear.form_error.max(nonlinear.form_error);
        if info.method.symplectic {
            assert!(worst < 1e-9, "{}: {linear:?} {nonlinear:?}", info.method.id);
            assert!(linear.determinant_error.max(nonlinear.determinant_error) < 1e-9);
        } else {
            assert!(worst > 1e-6, "{} is better than it claims: {linear:?} {nonlinear:?}", info.method.id);
        }
    }
}

#[test]
fn restart_gives_the_same_bits() {
    for info in STEPPERS {
        for problem in PROBLEMS {
            let (system, state) = problem.build();
            let dt = 0.05 / problem.max_frequency();
            let report = restart_study(&*system, &mut || make(info.method), &state, dt, 15).unwrap();
            assert!(report.identical(), "{} on {}", info.method.id, problem.id());
        }
    }
}

#[test]
fn a_failed_step_leaves_the_state_untouched() {
    for info in STEPPERS {
        for problem in PROBLEMS {
            let dt = 0.05 / problem.max_frequency();
            let report = failed_step_study(*problem, &mut || make(info.method), dt);
            assert!(
                report.complaints.is_empty(),
                "{} on {}: {:?}",
                info.method.id,
                problem.id(),
                report.complaints
            );
        }
    }
}

/// Every step's stages account for the change of kinetic energy to rounding, whatever the method.
#[test]
fn ledger_closes_at_every_step() {
    for info in STEPPERS {
        for problem in PROBLEMS {
            let options = if info.method.id == "position_verlet" {
                serde_json::json!({ "velocity_damping": 0.7 })
            } else {
                Value::Null
            };
            let mut stepper = sim_integrate::stepper(info.method.id, &options).unwrap();
            let (system, mut state) = problem.build();
            let mut ledger = EnergyLedger::new(&*system, &state);
            let mut record = StageRecord::default();
            let dt = 0.1 / problem.max_frequency();
            for _ in 0..40 {
                stepper.step_recorded(&*system, &mut state, dt, Some(&mut record)).unwrap();
                assert!((record.stages().iter().map(|s| s.weight).sum::<f64>() - 1.0).abs() < 1e-14);
                ledger.book(&*system, |i| system.is_free(i), &state, dt, &record);
            }
            let report = ledger.report();
            assert!(
                report.max_relative_residual < 1e-9,
                "{} on {}: {}",
                info.method.id,
                problem.id(),
                report.max_relative_residual
            );
            assert!(report.current.kinetic != report.initial.kinetic, "nothing moved on {}", problem.id());
        }
    }
}

/// Undamped stability as claimed, on a unit oscillator: bounded below the limit and growing above, or growing always.
#[test]
fn stability_claims() {
    for info in STEPPERS {
        // Rest length zero: linear however far a long step reaches.
        let oscillator = sim_verify::problems::harmonic_oscillator::HarmonicOscillator {
            particles: &[(1.0, 1.0)],
            position: [0.1, 0.0, 0.0],
            velocity: [0.0; 3],
        };
        let (system, state) = sim_verify::ExactProblem::build(&oscillator);
        let mut base = state.clone();
        base.q[3] = 0.0;
        let radius = |omega_dt: f64| {
            let mut stepper = make(info.method);
            sim_verify::amplification_matrix(&*system, &mut *stepper, &base, &[3], (1.0, 1.0), omega_dt)
                .unwrap()
                .spectral_radius()
        };
        let id = info.method.id;
        match info.method.stability {
            Stability::Unstable => {
                for omega_dt in [0.1, 0.5, 1.0, 2.0] {
                    assert!(radius(omega_dt) > 1.0 + 1e-6, "{id} at {omega_dt}");
                }
            }
            Stability::Conditional { omega_dt } => {
                assert!(radius(0.999 * omega_dt) <= 1.0 + 1e-9, "{id}");
                assert!(radius(1.001 * omega_dt) > 1.0 + 1e-6, "{id}");
            }
            Stability::Unconditional => {
                // By marching: a method with memory is more than one step's map of position and velocity.
                for omega_dt in [0.1, 1.0, 10.0, 1e3] {
                    let mut stepper = make(info.method);
                    let mut state = state.clone();
                    let mut late = 0.0_f64;
                    for step in 0..600 {
                        stepper.step(&*system, &mut state, omega_dt).unwrap();
                        if step >= 300 {
                            late = late.max(state.q[3].abs());
                        }
                    }
                    assert!(late <= 0.1 * (1.0 + 1e-6), "{id} at {omega_dt}: {late}");
                }
            }
            Stability::LStable => {
                assert!(radius(1.0) <= 1.0 + 1e-9, "{id}");
                assert!(radius(1e4) < 1e-3, "{id}: {}", radius(1e4));
            }
        }
    }
}

/// Leading error constants within 2 % of theory on `y' = A y`: a method whose step matrix has the logarithm `hA + c (hA)^(p+1) + …`
/// is off by `c t h^p A^(p+1) y` at time t.
#[test]
fn leading_error_constants() {
    let oscillator = sim_verify::problems::harmonic_oscillator::HarmonicOscillator {
        particles: &[(2.0, 50.0)],
        position: [0.1, 0.0, 0.0],
        velocity: [-0.3, 0.0, 0.0],
    };
    let t = sim_verify::ExactProblem::t_end(&oscillator);
    let scales = sim_verify::ExactProblem::scales(&oscillator);
    let end = sim_verify::ExactProblem::exact(&oscillator, t);
    let omega2: f64 = 25.0;
    let mut judged = 0;
    for (id, order, gap, constant) in [
        ("explicit_euler", 1_u32, 1, -1.0 / 2.0),
        ("explicit_midpoint", 2, 1, -1.0 / 6.0),
        ("runge_kutta4", 4, 1, -1.0 / 120.0),
        ("implicit_euler", 1, 1, 1.0 / 2.0),
        ("trapezoidal", 2, 2, 1.0 / 12.0),
        ("implicit_midpoint", 2, 2, 1.0 / 12.0),
    ] {
        // The implicit ones are there with their feature only.
        let Some(info) = STEPPERS.iter().find(|info| info.method.id == id) else {
            continue;
        };
        judged += 1;
        let (mut x, mut v) = (end.q[3], end.v[3]);
        for _ in 0..=order {
            (x, v) = (v, -omega2 * x);
        }
        let measured = sim_verify::error_constant(
            &oscillator,
            &mut *make(info.method),
            if order == 4 { 120 } else { 1500 },
            order,
            gap,
        )
        .unwrap();
        let (mx, mv) = (measured[3] * scales.0, measured[9] * scales.1);
        let (ex, ev) = (constant * t * x, constant * t * v);
        assert!((mx - ex).abs() < 0.02 * ex.abs().max(ev.abs() / 5.0), "{id}: {mx} for {ex}");
        assert!((mv - ev).abs() < 0.02 * ev.abs().max(5.0 * ex.abs()), "{id}: {mv} for {ev}");
    }
    assert_eq!(judged, if cfg!(feature = "implicit") { 6 } else { 3 });
}

/// One stepper on two models with as many particles but other springs and masses.
#[test]
fn a_stepper_may_change_models() {
    use sim_core::force::springs::{Spring, Springs};
    let model = |mass: f64, ends: &[[u32; 2]]| {
        let spring = |&ends| Spring { ends, rest_length: 0.8, stiffness: 30.0, damping: 0.1 };
        sim_core::ParticleSystemBuilder::new(vec![mass; 4])
            .pin([0])
            .force(Springs::new(ends.iter().map(spring)))
            .build()
            .unwrap()
    };
    let (chain, star) =
        (model(0.5, &[[0, 1], [1, 2], [2, 3]]), model(0.7, &[[0, 1], [0, 2], [0, 3], [1, 3]]));
    let start =
        sim_core::State::at_rest((0..12).map(|i| (f64::from(i) * 0.7).sin() + f64::from(i / 3)).collect());
    for info in STEPPERS {
        let step = |stepper: &mut dyn Stepper<dyn ModelSystem>, system: &sim_core::ParticleSystem| {
            let mut state = start.clone();
            stepper.step(system, &mut state, 0.05).unwrap();
            state.hash()
        };
        let mut shared = make(info.method);
        for system in [&chain, &star, &chain] {
            let fresh = step(&mut *make(info.method), system);
            assert_eq!(step(&mut *shared, system), fresh, "{}", info.method.id);
        }
    }
}
