//! Implicit Euler.

use super::{BoxedStepper, StepperInfo, boxed, parse};
use crate::OptionsError;
use crate::implicit::NewtonOptions;
use crate::implicit::mixed::{MixedStep, Weights};
use crate::stability::StepLimit;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sim_core::{ImplicitSystem, MethodInfo, Stability, StageRecord, State, StepError, StepStats, Stepper};

/// Claims.
pub static METHOD: MethodInfo = MethodInfo {
    id: "implicit_euler",
    summary: "rates at the end of the step; the work horse for stiff parts at frame-sized steps",
    implicit: true,
    symplectic: false,
    order: 1,
    order_velocity_dependent: 1,
    stability: Stability::LStable,
    reference: "Hairer & Wanner, Solving ODEs II (1996), ch. IV.3; Baraff & Witkin, SIGGRAPH 98 (linearized form)",
    limitations: "Strong numerical damping, about ω dt/2 of critical: an undamped spring at ω dt = 0.1 loses 99 % of its amplitude in \
                  a thousand steps. With `linearized` the step is not solved and can fail on strongly non-linear motion.",
};

/// Registry entry.
pub const INFO: StepperInfo = StepperInfo {
    method: &METHOD,
    limit: StepLimit::Unconditional,
    covers: |_| true,
    defaults: || serde_json::to_value(ImplicitEulerOptions::default()).unwrap_or_default(),
    build,
};

/// Options of [`ImplicitEuler`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ImplicitEulerOptions {
    /// One linear solve from the old velocity instead of Newton's method to convergence.
    pub linearized: bool,
    /// Newton's method and linear solver.
    pub newton: NewtonOptions,
}

fn build(options: &Value) -> Result<BoxedStepper, OptionsError> {
    Ok(boxed(ImplicitEuler::new(parse(METHOD.id, options)?)?))
}

/// `v1 = v0 + dt a(t1, q1, v1)`, `q1 = q0 + dt v1`.
///
/// # Limitations
/// First order and heavily damped; see [`METHOD`].
#[derive(Debug, Default)]
pub struct ImplicitEuler {
    linearized: bool,
    step: MixedStep,
}

impl ImplicitEuler {
    /// Checks the options.
    ///
    /// # Errors
    /// [`OptionsError`] naming the field.
    pub fn new(options: ImplicitEulerOptions) -> Result<Self, OptionsError> {
        options.newton.validate()?;
        Ok(Self { linearized: options.linearized, step: MixedStep::new(options.newton) })
    }
}

impl<S: ImplicitSystem + ?Sized> Stepper<S> for ImplicitEuler {
    fn method(&self) -> &'static MethodInfo {
        &METHOD
    }

    fn step_recorded(
        &mut self,
        system: &S,
        state: &mut State,
        dt: f64,
        record: Option<&mut StageRecord>,
    ) -> Result<StepStats, StepError> {
        let weights = Weights { alpha: 1.0, beta: 1.0, linearized: self.linearized };
        self.step.step(weights, system, state, dt, record)
    }
}
