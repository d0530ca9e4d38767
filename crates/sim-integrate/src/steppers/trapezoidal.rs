//! The trapezoidal rule.

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
    id: "trapezoidal",
    summary: "mean of the rates at both ends of the step",
    implicit: true,
    symplectic: false,
    order: 2,
    order_velocity_dependent: 2,
    stability: Stability::Unconditional,
    reference: "Hairer & Wanner, Solving ODEs II (1996), ch. IV.3",
    limitations: "Very stiff modes ring without decay (their amplification tends to -1); not symplectic on non-linear motion, though \
                  conjugate to the implicit midpoint rule.",
};

/// Registry entry.
pub const INFO: StepperInfo = StepperInfo {
    method: &METHOD,
    limit: StepLimit::Unconditional,
    covers: |_| true,
    defaults: || serde_json::to_value(TrapezoidalOptions::default()).unwrap_or_default(),
    build,
};

/// Options of [`Trapezoidal`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrapezoidalOptions {
    /// Newton's method and linear solver.
    pub newton: NewtonOptions,
}

fn build(options: &Value) -> Result<BoxedStepper, OptionsError> {
    Ok(boxed(Trapezoidal::new(parse(METHOD.id, options)?)?))
}

/// `q1 = q0 + dt/2 (v0 + v1)`, `M (v1 - v0) = dt/2 (f0 + f1)`.
///
/// # Limitations
/// See [`METHOD`].
#[derive(Debug, Default)]
pub struct Trapezoidal {
    step: MixedStep,
}

impl Trapezoidal {
    /// Checks the options.
    ///
    /// # Errors
    /// [`OptionsError`] naming the field.
    pub fn new(options: TrapezoidalOptions) -> Result<Self, OptionsError> {
        options.newton.validate()?;
        Ok(Self { step: MixedStep::new(options.newton) })
    }
}

impl<S: ImplicitSystem + ?Sized> Stepper<S> for Trapezoidal {
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
        let weights = Weights { alpha: 0.5, beta: 0.5, linearized: false };
        self.step.step(weights, system, state, dt, record)
    }
}
