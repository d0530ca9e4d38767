//! The mixed scheme with weights α for forces and β for velocities.

use super::{BoxedStepper, StepperInfo, boxed, parse};
use crate::OptionsError;
use crate::implicit::NewtonOptions;
use crate::implicit::mixed::{MixedStep, Weights};
use crate::stability::StepLimit;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sim_core::{ImplicitSystem, MethodInfo, Stability, StageRecord, State, StepError, StepStats, Stepper};

/// Claims, for the default weights ½ and ½; [`ThetaMixed::stability`] tells those of others.
pub static METHOD: MethodInfo = MethodInfo {
    id: "theta_mixed",
    summary: "forces weighted (1-α, α) and velocities (1-β, β) between the ends of the step",
    implicit: true,
    symplectic: false,
    order: 2,
    order_velocity_dependent: 2,
    stability: Stability::Unconditional,
    reference: "two-parameter family; trace and determinant derived at `ThetaMixed::stability`",
    limitations: "Second order only for α = β = ½, which is the trapezoidal rule and not the implicit midpoint rule; unstable \
                  for α + β < 1.",
};

/// Registry entry.
pub const INFO: StepperInfo = StepperInfo {
    method: &METHOD,
    limit: StepLimit::Unconditional,
    covers,
    defaults: || serde_json::to_value(ThetaMixedOptions::default()).unwrap_or_default(),
    build,
};

/// Options of [`ThetaMixed`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ThetaMixedOptions {
    /// Weight of the new force, in [0, 1].
    pub alpha: f64,
    /// Weight of the new velocity, in [0, 1].
    pub beta: f64,
    /// Newton's method and linear solver.
    pub newton: NewtonOptions,
}

impl Default for ThetaMixedOptions {
    fn default() -> Self {
        Self { alpha: 0.5, beta: 0.5, newton: NewtonOptions::default() }
    }
}

/// Equal weights of at least ½ are the θ-method, which is A-stable; of the others [`ThetaMixed::stability`] knows the undamped limit only.
fn covers(options: &Value) -> bool {
    parse(METHOD.id, options).is_ok_and(|ThetaMixedOptions { alpha, beta, .. }| alpha == beta && alpha >= 0.5)
}

fn build(options: &Value) -> Result<BoxedStepper, OptionsError> {
    Ok(boxed(ThetaMixed::new(parse(METHOD.id, options)?)?))
}

/// `q1 = q0 + dt ((1-β) v0 + β v1)`, `M (v1 - v0) = dt ((1-α) f0 + α f1)`.
///
/// (0, 0) is explicit Euler, (0, 1) and (1, 0) are the two forms of symplectic Euler, (½, ½) is the trapezoidal rule and (1, 1)
/// implicit Euler.
///
/// # Limitations
/// See [`METHOD`].
#[derive(Debug)]
pub struct ThetaMixed {
    alpha: f64,
    beta: f64,
    step: MixedStep,
}

impl ThetaMixed {
    /// Checks the options.
    ///
    /// # Errors
    /// [`OptionsError`] naming the field.
    pub fn new(options: ThetaMixedOptions) -> Result<Self, OptionsError> {
        for (field, value) in [("alpha", options.alpha), ("beta", options.beta)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(OptionsError::Value {
                    method: METHOD.id,
                    field,
                    value,
                    requirement: "between 0 and 1",
                });
            }
        }
        options.newton.validate()?;
        Ok(Self { alpha: options.alpha, beta: options.beta, step: MixedStep::new(options.newton) })
    }

    /// Stability on the undamped oscillator for weights α and β.
    ///
    /// With D = 1 + αβΩ² the step matrix has trace (2 + (2αβ-α-β)Ω²)/D and determinant (1 + (1-α)(1-β)Ω²)/D. The determinant is at most
    /// 1 when α + β ≥ 1; the eigenvalue -1 is reached at Ω² = 4/((1-2α)(2β-1)) when that is positive.
    pub fn stability(alpha: f64, beta: f64) -> Stability {
        let product = (1.0 - 2.0 * alpha) * (2.0 * beta - 1.0);
        if alpha + beta < 1.0 {
            Stability::Unstable
        } else if product > 0.0 {
            Stability::Conditional { omega_dt: 2.0 / product.sqrt() }
        } else if alpha == 1.0 && beta == 1.0 {
            Stability::LStable
        } else {
            Stability::Unconditional
        }
    }
}

impl<S: ImplicitSystem + ?Sized> Stepper<S> for ThetaMixed {
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
        let weights = Weights { alpha: self.alpha, beta: self.beta, linearized: false };
        self.step.step(weights, system, state, dt, record)
    }
}
