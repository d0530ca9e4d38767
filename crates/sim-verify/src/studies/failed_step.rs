//! Whether a failed step leaves the state as it was and the stepper fit for use.

use crate::problems::ExactProblem;
use nalgebra::Matrix3;
use sim_core::{
    BlockSink, Definiteness, Dependence, Energy, ExplicitSystem, ImplicitSystem, ModelSystem, StencilBound,
    Stepper, System, Work,
};

/// A model whose forces become NaN after a certain time.
pub struct Poisoned {
    inner: Box<dyn ModelSystem>,
    /// Time in s from which on (exclusive) the force on the first free particle is NaN.
    after: f64,
}

impl Poisoned {
    /// Wraps `inner`; forces at times later than `after` are NaN.
    pub fn new(inner: Box<dyn ModelSystem>, after: f64) -> Self {
        Self { inner, after }
    }
}

impl System for Poisoned {
    fn particle_count(&self) -> usize {
        self.inner.particle_count()
    }
    fn dependence(&self) -> Dependence {
        Dependence { time: true, ..self.inner.dependence() }
    }
    fn force(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        self.inner.force(t, q, v, f);
        if t > self.after
            && let Some(free) = self.inner.inverse_mass().iter().position(|&w| w > 0.0)
        {
            f[3 * free] = f64::NAN;
        }
    }
    fn energy(&self, t: f64, q: &[f64], v: &[f64]) -> Energy {
        self.inner.energy(t, q, v)
    }
    fn power(&self, t: f64, q: &[f64], v: &[f64], velocity: &[f64]) -> Work {
        self.inner.power(t, q, v, velocity)
    }
    fn prescribe(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        self.inner.prescribe(t, q, v);
    }
}

impl ExplicitSystem for Poisoned {
    fn mass(&self) -> &[f64] {
        self.inner.mass()
    }
    fn inverse_mass(&self) -> &[f64] {
        self.inner.inverse_mass()
    }
    fn stencil_bounds(&self, q: &[f64], emit: &mut dyn FnMut(StencilBound<'_>)) {
        self.inner.stencil_bounds(q, emit);
    }
}

impl ImplicitSystem for Poisoned {
    fn is_free(&self, particle: usize) -> bool {
        self.inner.is_free(particle)
    }
    fn mass_matrix(&self, sink: &mut dyn BlockSink) {
        self.inner.mass_matrix(sink);
    }
    fn damping_matrix(&self, t: f64, q: &[f64], v: &[f64], sink: &mut dyn BlockSink) {
        self.inner.damping_matrix(t, q, v, sink);
    }
    fn stiffness_matrix(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        definiteness: Definiteness,
        sink: &mut dyn BlockSink,
    ) {
        self.inner.stiffness_matrix(t, q, v, definiteness, sink);
    }
    fn damping_stiffness(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        emit: &mut dyn FnMut(usize, usize, &Matrix3<f64>),
    ) {
        self.inner.damping_stiffness(t, q, v, emit);
    }
}

/// What went wrong, one line each; empty when all is well.
#[derive(Clone, Debug, Default)]
pub struct FailedStepReport {
    /// Complaints.
    pub complaints: Vec<String>,
}

/// Provokes failures (impossible step sizes, a state of the wrong length, a force that turns NaN within the second step) and
/// checks that each is an error, leaves every bit of the state, and does not spoil the next good step.
pub fn failed_step_study(
    problem: &dyn ExactProblem,
    make: &mut dyn FnMut() -> Box<dyn Stepper<dyn ModelSystem>>,
    dt: f64,
) -> FailedStepReport {
    let mut report = FailedStepReport::default();
    let (system, start) = problem.build();
    let mut good = start.clone();
    let mut fresh = make();
    if let Err(error) = fresh.step(&*system, &mut good, dt) {
        report.complaints.push(format!("a good step failed: {error}"));
        return report;
    }
    let poisoned: Box<dyn ModelSystem> = Box::new(Poisoned::new(problem.build().0, start.t - dt));
    let mut short = start.clone();
    short.v.pop();
    let cases = [
        ("dt = 0", &*system, start.clone(), 0.0),
        ("dt < 0", &*system, start.clone(), -dt),
        ("dt = NaN", &*system, start.clone(), f64::NAN),
        ("dt = inf", &*system, start.clone(), f64::INFINITY),
        ("short v", &*system, short, dt),
        ("NaN force", &*poisoned, start.clone(), dt),
    ];
    for (what, model, state, dt_case) in cases {
        let mut stepper = make();
        let mut tried = state.clone();
        if stepper.step(model, &mut tried, dt_case).is_ok() {
            report.complaints.push(format!("{what}: no error"));
        }
        if tried.hash() != state.hash() {
            report.complaints.push(format!("{what}: the state was changed"));
        }
        let mut again = start.clone();
        match stepper.step(&*system, &mut again, dt) {
            Ok(_) if again.hash() == good.hash() => {}
            Ok(_) => report.complaints.push(format!("{what}: the next good step differs")),
            Err(error) => report.complaints.push(format!("{what}: the next good step fails: {error}")),
        }
    }
    report
}
