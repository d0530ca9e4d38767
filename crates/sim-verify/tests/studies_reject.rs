//! The studies accept a correct leapfrog and reject wrong ones: proof that the checks can fail.

use sim_core::{
    ExplicitSystem, MethodInfo, ModelSystem, Stability, StageRecord, State, StepError, StepStats, Stepper,
};
use sim_verify::studies::order::error_constant;
use sim_verify::{
    OrderOptions, amplification_matrix, energy_study, failed_step_study, momentum_study, order_study,
    problem, restart_study, reversibility_study, stability_limit, symplecticity_study,
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// The coefficients dt and dt²/2 interchanged (case I22).
    Interchanged,
    /// The force of the step before (case I29).
    Lagged,
    /// Full instead of half first kick.
    NoHalf,
    /// The second kick forgotten: first order.
    OneKick,
    /// Velocities shrink by a fixed factor.
    Leaky,
    /// A memory outside the state.
    Memory,
    /// Inverse mass forgotten.
    NoMass,
    /// Writes into the state before it knows whether the step succeeds, and never checks.
    Careless,
}

struct Leapfrog {
    fault: Fault,
    memory: Vec<f64>,
}

static INFO: MethodInfo = MethodInfo {
    id: "test_leapfrog",
    summary: "leapfrog with a fault",
    implicit: false,
    symplectic: true,
    order: 2,
    order_velocity_dependent: 1,
    stability: Stability::Conditional { omega_dt: 2.0 },
    reference: "",
    limitations: "",
};

impl Leapfrog {
    fn new(fault: Fault) -> Self {
        Self { fault, memory: Vec::new() }
    }
}

impl<S: ExplicitSystem + ?Sized> Stepper<S> for Leapfrog {
    fn method(&self) -> &'static MethodInfo {
        &INFO
    }

    fn step_recorded(
        &mut self,
        system: &S,
        state: &mut State,
        dt: f64,
        _record: Option<&mut StageRecord>,
    ) -> Result<StepStats, StepError> {
        if self.fault != Fault::Careless {
            if !(dt.is_finite() && dt > 0.0) {
                return Err(StepError::StepSize { dt });
            }
            state.validate(system.particle_count())?;
        }
        let n = state.q.len();
        let mass = |i: usize| if self.fault == Fault::NoMass { 1.0 } else { system.inverse_mass()[i / 3] };
        let accelerate = |q: &[f64], v: &[f64]| {
            let mut f = vec![0.0; q.len()];
            system.force(state.t, q, v, &mut f);
            (0..n)
                .map(|i| if system.inverse_mass()[i / 3] > 0.0 { f[i] * mass(i) } else { 0.0 })
                .collect::<Vec<_>>()
        };
        let mut v = state.v.clone();
        v.resize(state.q.len(), 0.0);
        let mut a0 = accelerate(&state.q, &v);
        if matches!(self.fault, Fault::Lagged | Fault::Memory) {
            let now = a0.clone();
            if self.memory.len() == n {
                a0 = self
                    .memory
                    .iter()
                    .zip(&a0)
                    .map(|(m, a)| if self.fault == Fault::Lagged { *m } else { 0.9999 * a + 1e-4 * m })
                    .collect();
            }
            self.memory = now;
        }
        let half = 0.5 * dt;
        let (kick, bend) = match self.fault {
            Fault::Interchanged => (dt * half, half * 2.0 / dt * half),
            Fault::NoHalf => (half, dt * dt),
            _ => (half, dt * half),
        };
        let q: Vec<f64> = (0..n).map(|i| state.q[i] + dt * v[i] + bend * a0[i]).collect();
        let a1 = if self.fault == Fault::OneKick { a0.clone() } else { accelerate(&q, &v) };
        for i in 0..n {
            v[i] += kick * (a0[i] + a1[i]);
            if self.fault == Fault::Leaky {
                v[i] *= 0.999;
            }
        }
        if self.fault != Fault::Careless
            && let Some(i) = v.iter().position(|v| !v.is_finite())
        {
            return Err(StepError::Diverged {
                t: state.t,
                dt,
                quantity: "velocity",
                particle: i / 3,
                value: v[i],
            });
        }
        state.q = q;
        state.v = v;
        state.t += dt;
        Ok(StepStats::explicit(2))
    }
}

fn order(fault: Fault) -> Option<f64> {
    let problem = problem("harmonic_oscillator").unwrap();
    order_study(problem, &mut Leapfrog::new(fault), OrderOptions::for_problem(problem)).ok()?.observed()
}

#[test]
fn order_study_rejects() {
    let right = order(Fault::None).unwrap();
    assert!((right - 2.0).abs() < 0.01, "{right}");
    for fault in [Fault::Interchanged, Fault::NoHalf, Fault::OneKick, Fault::Leaky, Fault::NoMass] {
        let wrong = order(fault);
        assert!(wrong.is_none_or(|p| (p - 2.0).abs() > 0.05), "{fault:?}: {wrong:?}");
    }
    // A lagged force needs smaller steps until its first order shows.
    let problem = problem("harmonic_oscillator").unwrap();
    let lagged = order_study(
        problem,
        &mut Leapfrog::new(Fault::Lagged),
        OrderOptions::from_coarsest(problem, 0.05, 7),
    )
    .unwrap();
    assert!(!lagged.agrees(2.0, 0.05), "{lagged}");
}

/// The amplification matrix of velocity Verlet at ω = 5, m = 2, dt = 0.1: [1 - Ω²/2, dt; -ω²dt(1 - Ω²/4), 1 - Ω²/2].
#[test]
fn amplification_and_limit() {
    let problem = problem("damped_oscillator").unwrap();
    let undamped = sim_verify::problems::damped_oscillator::DampedOscillator {
        damping: 0.0,
        ..sim_verify::problems::damped_oscillator::STANDARD
    };
    let (system, _) = sim_verify::ExactProblem::build(&undamped);
    let mut base = problem.exact(0.0);
    base.q[3] = 1.0;
    base.v[3] = 0.0;
    let matrix = |fault, dt| {
        amplification_matrix(&*system, &mut Leapfrog::new(fault), &base, &[3], (0.1, 0.5), dt).unwrap()
    };
    let a = matrix(Fault::None, 0.1);
    let expected = [0.875, 0.1, -2.5 * (1.0 - 0.0625), 0.875];
    for (k, expected) in expected.into_iter().enumerate() {
        assert!((a.matrix[(k / 2, k % 2)] - expected).abs() < 1e-13, "{}", a.matrix);
    }
    let wrong = matrix(Fault::NoHalf, 0.1);
    assert!(
        (wrong.matrix[(0, 0)] - 0.75).abs() < 1e-13 && (wrong.determinant() - 0.875).abs() < 1e-13,
        "{}",
        wrong.matrix
    );
    let limit =
        |fault| stability_limit(0.1, 1.0, 1e-6, |dt| matrix(fault, dt).spectral_radius() < 1.0 + 1e-7);
    assert!((5.0 * limit(Fault::None).unwrap() - 2.0).abs() < 1e-3);
    // Trace 2 - 3Ω²/2 and determinant 1 - Ω²/2: the wrong kick halves Ω² at the limit.
    assert!((5.0 * limit(Fault::NoHalf).unwrap() - 2.0_f64.sqrt()).abs() < 1e-3);
}

#[test]
fn symplecticity_and_reversibility() {
    let pendulum = problem("pendulum").unwrap();
    let (system, state) = pendulum.build();
    let check =
        |fault| symplecticity_study(&*system, &mut Leapfrog::new(fault), &state, (1e-3, 3e-3), 0.1).unwrap();
    let right = check(Fault::None);
    assert!(right.determinant_error < 1e-11 && right.form_error < 1e-10, "{right:?}");
    for fault in [Fault::Leaky, Fault::OneKick, Fault::NoHalf] {
        let mut turned = state.clone();
        turned.q[0] = 0.7;
        turned.v[0] = 1.0;
        let wrong =
            symplecticity_study(&*system, &mut Leapfrog::new(fault), &turned, (1e-3, 3e-3), 0.1).unwrap();
        assert!(wrong.form_error > 1e-4, "{fault:?}: {wrong:?}");
    }
    let back = |fault| {
        reversibility_study(&*system, &mut Leapfrog::new(fault), &state, 0.05, 100, pendulum.scales())
            .unwrap()
    };
    assert!(back(Fault::None) < 1e-12);
    assert!(back(Fault::Leaky) > 1e-3 && back(Fault::OneKick) > 1e-3);
    let damped = problem("damped_oscillator").unwrap().build();
    assert!(
        reversibility_study(&*damped.0, &mut Leapfrog::new(Fault::None), &damped.1, 0.05, 10, (1.0, 1.0))
            .is_err()
    );
}

#[test]
fn energy_and_momentum() {
    let chain = problem("chain_modes").unwrap();
    let (system, state) = chain.build();
    let watch = |fault| energy_study(&*system, &mut Leapfrog::new(fault), &state, 0.02, 4000, 1).unwrap();
    let right = watch(Fault::None);
    assert!(right.energy_drift.abs() < 1e-4 && right.energy_oscillation > 1e-6, "{right:?}");
    assert!(watch(Fault::Leaky).energy_drift < -0.1);
    assert!(watch(Fault::OneKick).energy_drift.abs() > 0.01);

    let sample = sim_core::FORCES.iter().find(|force| force.id == "spring").unwrap().sample;
    let (free, state) = sample();
    let watch = |fault| momentum_study(&free, &mut Leapfrog::new(fault), &state, 1e-3, 500, 1).unwrap();
    let right = watch(Fault::None);
    assert!(right.linear < 1e-13, "{right:?}");
    assert!(watch(Fault::NoMass).linear > 1e-3);
    assert!(
        momentum_study(&*system, &mut Leapfrog::new(Fault::None), &chain.exact(0.0), 1e-3, 5, 1).is_err()
    );
}

#[test]
fn restart_and_failed_steps() {
    let pendulum = problem("pendulum").unwrap();
    let (system, state) = pendulum.build();
    let restart = |fault| {
        let mut make = || Box::new(Leapfrog::new(fault)) as Box<dyn Stepper<dyn ModelSystem>>;
        restart_study(&*system, &mut make, &state, 0.03, 40).unwrap()
    };
    assert!(restart(Fault::None).identical());
    assert!(!restart(Fault::Memory).identical());

    let failed = |fault| {
        let mut make = || Box::new(Leapfrog::new(fault)) as Box<dyn Stepper<dyn ModelSystem>>;
        failed_step_study(pendulum, &mut make, 0.01).complaints
    };
    assert_eq!(failed(Fault::None), Vec::<String>::new());
    assert!(failed(Fault::Careless).len() >= 3);
}

/// Velocity Verlet runs fast by the factor 1 + Ω²/24, so from rest the error tends to -x0 sin(ωt) t ω³/24 dt².
#[test]
fn leading_error_constant() {
    let oscillator = sim_verify::problems::damped_oscillator::DampedOscillator {
        damping: 0.0,
        velocity: 0.0,
        ..sim_verify::problems::damped_oscillator::STANDARD
    };
    let constant = error_constant(&oscillator, &mut Leapfrog::new(Fault::None), 200, 2, 2).unwrap();
    // With v0 = 0 the discrete solution is exactly x0 cos(ω_h t).
    let (x0, omega, t) = (0.1_f64, 5.0_f64, 1.0_f64);
    let expected = -x0 * (omega * t).sin() * t * omega.powi(3) / 24.0 / x0;
    assert!((constant[3] / expected - 1.0).abs() < 1e-4, "{} for {expected}", constant[3]);
}
