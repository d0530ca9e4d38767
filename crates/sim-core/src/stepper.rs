//! The contract between a model and a method.

use crate::state::State;
use serde::Serialize;
use std::ops::ControlFlow;

/// Linear stability on the undamped oscillator `q'' = -ω² q`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stability {
    /// Grows for every step size.
    Unstable,
    /// Bounded for `ω dt` below the limit.
    Conditional {
        /// Limit of `ω dt`.
        omega_dt: f64,
    },
    /// Bounded for every step size.
    Unconditional,
    /// Unconditional, and damps infinitely stiff modes to zero in one step.
    LStable,
}

/// Claims about a method, as data: `cargo xtask verify` judges them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MethodInfo {
    /// Id used in code and scene files, e.g. `leapfrog`.
    pub id: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Needs the matrices of [`crate::ImplicitSystem`].
    pub implicit: bool,
    /// Its map keeps the symplectic form when the force depends on position alone.
    pub symplectic: bool,
    /// Global order when the force depends on position alone.
    pub order: u32,
    /// Global order when the force depends on velocity too.
    pub order_velocity_dependent: u32,
    /// Stability on the undamped oscillator.
    pub stability: Stability,
    /// Where it is published.
    pub reference: &'static str,
    /// What it does not do well, in one or two sentences.
    pub limitations: &'static str,
}

/// Work done by one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StepStats {
    /// Evaluations of the force on all particles.
    pub force_evaluations: u32,
    /// Newton iterations (0 for explicit methods).
    pub newton_iterations: u32,
    /// Iterations of the linear solver, summed over the Newton iterations (0 for direct solves).
    pub linear_iterations: u32,
    /// Last relative residual of the non-linear system (0 for explicit methods).
    pub residual: f64,
    /// Inner steps the step was cut into, at least 1.
    pub substeps: u32,
}

impl StepStats {
    /// Stats of an explicit step with `force_evaluations` evaluations.
    pub const fn explicit(force_evaluations: u32) -> Self {
        Self { force_evaluations, newton_iterations: 0, linear_iterations: 0, residual: 0.0, substeps: 1 }
    }
}

/// Why a step was refused. The state is as it was before the step.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// The step size is zero, negative or not finite.
    #[error("step size must be a positive finite number of seconds, got {dt}")]
    StepSize {
        /// Offending value in s.
        dt: f64,
    },
    /// A value became NaN or infinite.
    #[error(
        "diverged at t = {t} s with dt = {dt} s: {quantity} of particle {particle} is {value}; \
         the step is probably above the stability limit"
    )]
    Diverged {
        /// Time at the start of the step in s.
        t: f64,
        /// Step size in s.
        dt: f64,
        /// `position` or `velocity`.
        quantity: &'static str,
        /// First offending particle.
        particle: usize,
        /// Offending value.
        value: f64,
    },
    /// Newton's method did not reach its tolerance.
    #[error(
        "Newton stopped at t = {t} s after {iterations} iterations with relative residual {residual:.3e} \
         (tolerance {tolerance:.3e}), largest at particle {particle}"
    )]
    NotConverged {
        /// Time at the start of the step in s.
        t: f64,
        /// Iterations made.
        iterations: u32,
        /// Residual at the end.
        residual: f64,
        /// Tolerance asked for.
        tolerance: f64,
        /// Particle with the largest residual.
        particle: usize,
    },
    /// The linear solver failed; its own error is the source.
    #[error("linear solve failed at t = {t} s in Newton iteration {newton_iteration}")]
    LinearSolver {
        /// Time at the start of the step in s.
        t: f64,
        /// Newton iteration, from 0.
        newton_iteration: u32,
        /// What the solver said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The method cannot step this system.
    #[error("{method} cannot step this model: {reason}")]
    Unsupported {
        /// Method id.
        method: &'static str,
        /// Why.
        reason: String,
    },
    /// A material does not know the state that the step led to.
    #[error("step to t = {t} s refused")]
    History {
        /// Time at the end of the step in s.
        t: f64,
        /// Which stencil, and where.
        #[source]
        source: crate::system::HistoryError,
    },
    /// The state does not fit the system.
    #[error(transparent)]
    State(#[from] crate::state::StateError),
}

/// The points at which a step evaluated its forces: `M (v1 - v0) = dt Σ weight_s f(t_s, q_s, v_s) + impulse`.
///
/// Filled only when asked for, so that a ledger can say what work each force did in the discrete step.
#[derive(Clone, Debug, Default)]
pub struct StageRecord {
    stages: Vec<Stage>,
    used: usize,
    damping_impulse: Vec<f64>,
    numerical_impulse: Vec<f64>,
}

/// One evaluation point.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// Weight; the weights of a step sum to 1.
    pub weight: f64,
    /// Time in s.
    pub t: f64,
    /// Positions in m.
    pub q: Vec<f64>,
    /// Velocities in m/s.
    pub v: Vec<f64>,
}

impl StageRecord {
    /// Forgets the last step but keeps the storage.
    pub fn clear(&mut self) {
        self.used = 0;
        self.damping_impulse.clear();
        self.numerical_impulse.clear();
    }

    /// States the impulse in N·s by which the method itself, not a force of the system, braked each coordinate
    /// (an option such as a velocity decay rate). It is mass-proportional damping and booked as such.
    pub fn set_damping_impulse(&mut self, impulse: impl IntoIterator<Item = f64>) {
        self.damping_impulse.clear();
        self.damping_impulse.extend(impulse);
    }

    /// Impulse of the method's own damping; empty when it has none.
    pub fn damping_impulse(&self) -> &[f64] {
        &self.damping_impulse
    }

    /// States the impulse in N·s by which the step's velocity change differs, by construction and not by an unsolved
    /// equation, from what the recorded forces give (a method that carries accelerations, or linearizes). Booked as numerical.
    pub fn set_numerical_impulse(&mut self, impulse: impl IntoIterator<Item = f64>) {
        self.numerical_impulse.clear();
        self.numerical_impulse.extend(impulse);
    }

    /// Impulse without a force; empty when there is none.
    pub fn numerical_impulse(&self) -> &[f64] {
        &self.numerical_impulse
    }

    /// Adds one evaluation point.
    pub fn push(&mut self, weight: f64, t: f64, q: &[f64], v: &[f64]) {
        if self.used == self.stages.len() {
            self.stages.push(Stage::default());
        }
        let stage = &mut self.stages[self.used];
        stage.weight = weight;
        stage.t = t;
        stage.q.clear();
        stage.q.extend_from_slice(q);
        stage.v.clear();
        stage.v.extend_from_slice(v);
        self.used += 1;
    }

    /// The points of the last step.
    pub fn stages(&self) -> &[Stage] {
        &self.stages[..self.used]
    }
}

/// A one-step method.
pub trait Stepper<S: ?Sized> {
    /// What the method claims.
    fn method(&self) -> &'static MethodInfo;

    /// Advances `state` by `dt` s.
    ///
    /// # Errors
    /// [`StepError`]; `state` is then unchanged, so that a caller may retry with a smaller step.
    fn step(&mut self, system: &S, state: &mut State, dt: f64) -> Result<StepStats, StepError> {
        self.step_recorded(system, state, dt, None)
    }

    /// As [`Stepper::step`], and tells `record` at which points the forces were evaluated.
    ///
    /// # Errors
    /// As [`Stepper::step`].
    fn step_recorded(
        &mut self,
        system: &S,
        state: &mut State,
        dt: f64,
        record: Option<&mut StageRecord>,
    ) -> Result<StepStats, StepError>;
}

/// Watches a run.
pub trait Observer<S: ?Sized> {
    /// Called with the initial state (default stats) and after every step; `Break` ends the run.
    fn observe(&mut self, system: &S, state: &State, stats: &StepStats) -> ControlFlow<()>;
}

impl<S: ?Sized, F: FnMut(&S, &State, &StepStats) -> ControlFlow<()>> Observer<S> for F {
    fn observe(&mut self, system: &S, state: &State, stats: &StepStats) -> ControlFlow<()> {
        self(system, state, stats)
    }
}
