//! Adaptive steps: errors follow the tolerance, output times are met exactly, symplectic methods are refused.

#[path = "support/cases.rs"]
mod cases;

use cases::{oscillator, oscillator_state};
use serde_json::Value;
use sim_core::{ModelSystem, Stepper};
use sim_integrate::{Adaptive, AdaptiveError, AdaptiveMemory, AdaptiveOptions, RungeKutta4, stepper_info};
use sim_verify::problem;

/// Lends a registry stepper to `Adaptive`.
struct Lent(sim_integrate::BoxedStepper);

impl Stepper<dyn ModelSystem> for Lent {
    fn method(&self) -> &'static sim_core::MethodInfo {
        self.0.method()
    }
    fn step_recorded(
        &mut self,
        system: &(dyn ModelSystem + 'static),
        state: &mut sim_core::State,
        dt: f64,
        record: Option<&mut sim_core::StageRecord>,
    ) -> Result<sim_core::StepStats, sim_core::StepError> {
        self.0.step_recorded(system, state, dt, record)
    }
}

fn adaptive(id: &str, options: AdaptiveOptions) -> Result<Adaptive<Lent>, AdaptiveError> {
    let info = stepper_info(id).unwrap();
    Adaptive::new(Lent((info.build)(&Value::Null).unwrap()), info.method, options)
}

#[test]
fn errors_follow_the_tolerance() {
    let mut methods = vec!["runge_kutta4", "explicit_midpoint"];
    if cfg!(feature = "implicit") {
        methods.extend(["tr_bdf2", "trapezoidal"]);
    }
    for id in methods {
        let kepler = problem("kepler").unwrap();
        let order = f64::from(stepper_info(id).unwrap().method.order);
        let run = |relative_tolerance: f64| {
            let (system, mut state) = kepler.build();
            let options = AdaptiveOptions { relative_tolerance, ..AdaptiveOptions::default() };
            let report = adaptive(id, options).unwrap().advance_to(&*system, &mut state, 6.0).unwrap();
            assert_eq!(state.t, 6.0);
            let exact = kepler.exact(6.0);
            let error = state.q.iter().zip(&exact.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            (error, report)
        };
        let (coarse, few) = run(1e-6);
        let (fine, many) = run(1e-9);
        // Local error to the p + 1, global error per step to the p: error falls as tolerance to the p / (p + 1).
        let slope = (coarse / fine).ln() / 1000.0_f64.ln();
        let expected = order / (order + 1.0);
        assert!(
            (slope - expected).abs() < 0.25,
            "{id}: error {coarse} then {fine}, slope {slope} for {expected}"
        );
        assert!(many.accepted > few.accepted && fine < 3e-3, "{id}: {many:?}");
        // The orbit asks for short steps near the sun.
        assert!(many.longest > 3.0 * many.shortest, "{id}: {many:?}");
    }
}

#[test]
fn output_times_are_met_and_memory_resumes() {
    let pendulum = problem("pendulum").unwrap();
    let (system, start) = pendulum.build();
    let times = [0.1, 0.123, 0.5, 0.500001, 1.7, 2.0];
    let run = |interrupted: bool| {
        let mut state = start.clone();
        let mut driver = adaptive("runge_kutta4", AdaptiveOptions::default()).unwrap();
        for t in times {
            if interrupted {
                let memory = driver.memory;
                driver = adaptive("runge_kutta4", AdaptiveOptions::default()).unwrap();
                driver.memory = memory;
            }
            driver.advance_to(&*system, &mut state, t).unwrap();
            assert_eq!(state.t, t);
            assert!((state.q[0] - pendulum.exact(t).q[0]).abs() < 1e-4, "t = {t}");
        }
        state.hash()
    };
    assert_eq!(run(false), run(true));
}

/// I23 (c): a plain step controller on leapfrog is refused; asked for, it drifts as reported.
#[test]
fn i23_symplectic_methods_are_refused() {
    for info in sim_integrate::STEPPERS {
        let result = adaptive(info.method.id, AdaptiveOptions::default());
        assert_eq!(result.is_err(), info.method.symplectic, "{}", info.method.id);
        if let Err(error) = result {
            assert!(
                error.to_string().contains(info.method.id) && error.to_string().contains("allow_symplectic")
            );
        }
    }
    assert!(
        adaptive("leapfrog", AdaptiveOptions { allow_symplectic: true, ..AdaptiveOptions::default() })
            .is_ok()
    );
    // The drift of a plain varying step, dt = 0.1 + 0.2 |x|/(1 + |x|).
    let system = oscillator(1.0, 1.0, 0.0);
    let mut state = oscillator_state(1.0, 0.0);
    let mut leapfrog = sim_integrate::Leapfrog::default();
    for _ in 0..31_416 {
        let x = state.q[3].abs();
        leapfrog.step(&system, &mut state, 0.1 + 0.2 * x / (1.0 + x)).unwrap();
    }
    let energy = 0.5 * (state.q[3].powi(2) + state.v[3].powi(2));
    assert!((energy - 0.185).abs() < 0.01, "{energy}");
}

#[test]
fn unstable_steps_are_cut_and_failures_are_errors() {
    // ω = 1000: a first step of 1 s is far above the limit of runge_kutta4.
    let system = oscillator(1.0, 1e6, 0.0);
    let mut state = oscillator_state(0.1, 0.0);
    let options = AdaptiveOptions { first_dt: Some(1.0), ..AdaptiveOptions::default() };
    let mut driver =
        Adaptive::new(RungeKutta4::default(), stepper_info("runge_kutta4").unwrap().method, options).unwrap();
    let report = driver.advance_to(&system, &mut state, 0.1).unwrap();
    assert!(report.rejected + report.failed >= 2, "{report:?}");
    assert!((state.q[3] - 0.1 * 100.0_f64.cos()).abs() < 1e-3, "{}", state.q[3]);

    let chain = problem("chain_modes").unwrap();
    let poisoned: Box<dyn ModelSystem> = Box::new(sim_verify::Poisoned::new(chain.build().0, 0.05));
    let mut state = chain.exact(0.0);
    let mut driver = adaptive("runge_kutta4", AdaptiveOptions::default()).unwrap();
    let error = driver.advance_to(&*poisoned, &mut state, 1.0).unwrap_err();
    assert!(matches!(error, AdaptiveError::Step { .. }), "{error}");
    assert!(state.t <= 0.05 && state.t > 0.04 && state.validate(10).is_ok(), "{}", state.t);
    assert!(matches!(driver.advance_to(&*poisoned, &mut state, 0.0), Err(AdaptiveError::Time { .. })));
    assert_eq!(
        adaptive("runge_kutta4", AdaptiveOptions::default()).unwrap().memory,
        AdaptiveMemory::default()
    );
    for bad in [
        AdaptiveOptions { relative_tolerance: 0.0, ..AdaptiveOptions::default() },
        AdaptiveOptions { first_dt: Some(-1.0), ..AdaptiveOptions::default() },
        AdaptiveOptions { safety: 1.5, ..AdaptiveOptions::default() },
        AdaptiveOptions { max_dt: f64::NAN, ..AdaptiveOptions::default() },
    ] {
        assert!(matches!(adaptive("runge_kutta4", bad), Err(AdaptiveError::Options(_))));
    }
}
