//! The generalized-α family, with Newmark and HHT as members.

use super::{BoxedStepper, StepperInfo, boxed, parse};
use crate::OptionsError;
use crate::implicit::NewtonOptions;
use crate::implicit::mixed::free_marks;
use crate::implicit::newton::{Known, Stage, StageSolver};
use crate::stability::StepLimit;
use crate::trial::Trial;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sim_core::{
    ImplicitSystem, MethodInfo, Stability, StageRecord, State, StateError, StepError, StepStats, Stepper,
};

/// Claims.
pub static METHOD: MethodInfo = MethodInfo {
    id: "generalized_alpha",
    summary: "second order with a chosen damping of stiff modes; Newmark and HHT are members",
    implicit: true,
    symplectic: false,
    order: 2,
    order_velocity_dependent: 2,
    stability: Stability::Unconditional,
    reference: "Chung & Hulbert, J. Appl. Mech. 60 (1993) 371",
    limitations: "Carries an acceleration per particle in `State::internal`: a state edited between steps must drop it. Its first \
                  steps overshoot in stiff modes.",
};

/// Registry entry.
pub const INFO: StepperInfo = StepperInfo {
    method: &METHOD,
    limit: StepLimit::Unconditional,
    covers,
    defaults: || serde_json::to_value(GeneralizedAlphaOptions::default()).unwrap_or_default(),
    build,
};

/// Options of [`GeneralizedAlpha`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GeneralizedAlphaOptions {
    /// Spectral radius of infinitely stiff modes, in [0, 1]: 1 keeps them, 0 ends them in one step. Sets the four parameters below
    /// (Chung & Hulbert 1993).
    pub rho_infinity: f64,
    /// The four parameters by hand instead.
    pub parameters: Option<AlphaParameters>,
    /// Newton's method and linear solver.
    pub newton: NewtonOptions,
}

impl Default for GeneralizedAlphaOptions {
    fn default() -> Self {
        Self { rho_infinity: 0.8, parameters: None, newton: NewtonOptions::default() }
    }
}

/// Parameters of the family; `alpha_m = alpha_f = 0` is Newmark's method, `alpha_m = 0` is HHT.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlphaParameters {
    /// Weight of the old inertia force, below 1.
    pub alpha_m: f64,
    /// Weight of the old forces, in [0, 1).
    pub alpha_f: f64,
    /// Newmark's β, not negative.
    pub beta: f64,
    /// Newmark's γ, at least ½ + `alpha_f` - `alpha_m`: less of it amplifies every mode.
    pub gamma: f64,
}

impl AlphaParameters {
    /// The optimal ones for a spectral radius of stiff modes.
    pub fn from_rho_infinity(rho: f64) -> Self {
        let (alpha_m, alpha_f) = ((2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0));
        let shift = 1.0 - alpha_m + alpha_f;
        Self { alpha_m, alpha_f, beta: 0.25 * shift * shift, gamma: 0.5 - alpha_m + alpha_f }
    }

    /// HHT-α with `alpha` in [-1/3, 0] (Hilber, Hughes & Taylor, Earthq. Eng. Struct. Dyn. 5 (1977) 283).
    pub fn hht(alpha: f64) -> Self {
        let shift = 1.0 - alpha;
        Self { alpha_m: 0.0, alpha_f: -alpha, beta: 0.25 * shift * shift, gamma: 0.5 - alpha }
    }

    /// Newmark's method.
    pub fn newmark(beta: f64, gamma: f64) -> Self {
        Self { alpha_m: 0.0, alpha_f: 0.0, beta, gamma }
    }
}

/// Chung & Hulbert (1993): unconditionally stable for `α_m ≤ α_f ≤ ½` and `β ≥ ¼ + ½(α_f - α_m)`.
fn covers(options: &Value) -> bool {
    parse(METHOD.id, options).is_ok_and(|GeneralizedAlphaOptions { parameters, .. }| {
        parameters.is_none_or(|p| {
            let margin = 1e-12;
            p.alpha_m <= p.alpha_f + margin
                && p.alpha_f <= 0.5 + margin
                && p.beta >= 0.25 + 0.5 * (p.alpha_f - p.alpha_m) - margin
        })
    })
}

fn build(options: &Value) -> Result<BoxedStepper, OptionsError> {
    Ok(boxed(GeneralizedAlpha::new(parse(METHOD.id, options)?)?))
}

/// `q1 = q0 + dt v0 + dt² ((½-β) a0 + β a1)`, `v1 = v0 + dt ((1-γ) a0 + γ a1)`, where `a1` satisfies
/// `M ((1-α_m) a1 + α_m a0) = f` at the time, position and velocity weighted `(1-α_f)` new and `α_f` old.
///
/// `a` is memory: it follows the model's own history in [`State::internal`], three values per particle. A state without it starts
/// from `M a0 = f(t0, q0, v0)`, the only start that does not ring.
///
/// # Limitations
/// See [`METHOD`].
#[derive(Debug)]
pub struct GeneralizedAlpha {
    parameters: AlphaParameters,
    solver: StageSolver,
    trial: Trial,
    free: Vec<f64>,
    impulse: Vec<f64>,
    a0: Vec<f64>,
    a1: Vec<f64>,
}

impl GeneralizedAlpha {
    /// Checks the options.
    ///
    /// # Errors
    /// [`OptionsError`] naming the field; a γ that amplifies is refused.
    pub fn new(options: GeneralizedAlphaOptions) -> Result<Self, OptionsError> {
        let fail = |field, value, requirement| {
            Err(OptionsError::Value { method: METHOD.id, field, value, requirement })
        };
        if !(0.0..=1.0).contains(&options.rho_infinity) {
            return fail("rho_infinity", options.rho_infinity, "between 0 and 1");
        }
        let p =
            options.parameters.unwrap_or_else(|| AlphaParameters::from_rho_infinity(options.rho_infinity));
        if !(p.alpha_m.is_finite() && p.alpha_m < 1.0) {
            return fail("alpha_m", p.alpha_m, "below 1");
        }
        if !(0.0..1.0).contains(&p.alpha_f) {
            return fail("alpha_f", p.alpha_f, "at least 0 and below 1");
        }
        if !(p.beta.is_finite() && p.beta >= 0.0) {
            return fail("beta", p.beta, "finite and not negative");
        }
        // The determinant of the step matrix exceeds 1 for every step otherwise; the margin is for rounding of the sum.
        if !(p.gamma.is_finite() && p.gamma >= 0.5 + p.alpha_f - p.alpha_m - 1e-12) {
            return fail(
                "gamma",
                p.gamma,
                "at least 1/2 + alpha_f - alpha_m; smaller values amplify every mode",
            );
        }
        options.newton.validate()?;
        Ok(Self {
            parameters: p,
            solver: StageSolver::new(options.newton),
            trial: Trial::default(),
            free: Vec::new(),
            impulse: Vec::new(),
            a0: Vec::new(),
            a1: Vec::new(),
        })
    }
}

impl Default for GeneralizedAlpha {
    fn default() -> Self {
        Self::new(GeneralizedAlphaOptions::default()).expect("the defaults are in range")
    }
}

impl<S: ImplicitSystem + ?Sized> Stepper<S> for GeneralizedAlpha {
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
        let Self { parameters, solver, trial, free, impulse, a0, a1 } = self;
        let AlphaParameters { alpha_m, alpha_f, beta, gamma } = *parameters;
        trial.begin(system, state, dt)?;
        let mut stats = StepStats { substeps: 1, ..StepStats::default() };
        solver.begin(system, state.t, &state.q, &state.v)?;
        free_marks(system, free);
        let (n, history) = (state.q.len(), system.internal_count());
        a0.resize(n, 0.0);
        a1.resize(n, 0.0);
        if state.internal.len() == history + n {
            a0.copy_from_slice(&state.internal[history..]);
        } else if state.internal.len() == history {
            system.force(state.t, &state.q, &state.v, &mut trial.f);
            stats.force_evaluations += 1;
            solver.accelerations(system, (state.t, &state.q, &state.v), &trial.f, a0)?;
        } else {
            let found = state.internal.len();
            return Err(StateError::Length { field: "internal", expected: history + n, found }.into());
        }
        let new = 1.0 - alpha_f;
        // u = new dt γ a1, so that the stage velocity is v_base + u.
        let velocity_factor = new * dt * gamma;
        let force_factor = velocity_factor / (1.0 - alpha_m);
        for k in 0..n {
            let is_free = if free[k / 3] > 0.0 { 1.0 } else { 0.0 };
            trial.v[k] = state.v[k] + is_free * new * dt * (1.0 - gamma) * a0[k];
            trial.q[k] = state.q[k] + is_free * new * (dt * state.v[k] + dt * dt * (0.5 - beta) * a0[k]);
            solver.u[k] = is_free * velocity_factor * a0[k];
        }
        impulse.resize(n, 0.0);
        solver.mass_times(a0, impulse);
        for r in impulse.iter_mut() {
            *r *= -force_factor * alpha_m;
        }
        let stage = Stage {
            t0: state.t,
            dt,
            t: state.t + new * dt,
            position_factor: dt * beta / gamma,
            force_factor,
            linearized: false,
        };
        solver.solve(system, stage, Known { q_base: &trial.q, v_base: &trial.v, impulse }, &mut stats)?;
        for k in 0..n {
            a1[k] = solver.u[k] / velocity_factor;
            let is_free = if free[k / 3] > 0.0 { 1.0 } else { 0.0 };
            let (a0, a1) = (is_free * a0[k], is_free * a1[k]);
            trial.v[k] = state.v[k] + dt * ((1.0 - gamma) * a0 + gamma * a1);
            trial.q[k] = state.q[k] + is_free * dt * state.v[k] + dt * dt * ((0.5 - beta) * a0 + beta * a1);
        }
        system.prescribe(state.t + dt, &mut trial.q, &mut trial.v);
        if let Some(record) = record {
            record.clear();
            record.push(1.0, stage.t, &solver.q, &solver.v);
            // The old acceleration is no force of this step.
            for k in 0..n {
                a0[k] = if free[k / 3] > 0.0 { trial.v[k] - state.v[k] } else { 0.0 };
            }
            solver.mass_times(a0, impulse);
            let forces = impulse.iter().zip(&solver.f).enumerate();
            record.set_numerical_impulse(
                forces.map(|(k, (mv, f))| if free[k / 3] > 0.0 { mv - dt * f } else { 0.0 }),
            );
        }
        trial.commit(state, dt)?;
        state.internal.truncate(history);
        state.internal.extend_from_slice(a1);
        Ok(stats)
    }
}
