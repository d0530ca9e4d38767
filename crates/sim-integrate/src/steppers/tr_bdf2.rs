//! TR-BDF2: a trapezoidal stage, then the second-order backward difference.

use super::{BoxedStepper, StepperInfo, boxed, parse};
use crate::OptionsError;
use crate::implicit::NewtonOptions;
use crate::implicit::mixed::free_marks;
use crate::implicit::newton::{Known, Stage, StageSolver};
use crate::stability::StepLimit;
use crate::trial::{Trial, drift};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sim_core::{ImplicitSystem, MethodInfo, Stability, StageRecord, State, StepError, StepStats, Stepper};
use std::f64::consts::SQRT_2;

/// Claims.
pub static METHOD: MethodInfo = MethodInfo {
    id: "tr_bdf2",
    summary: "second order and L-stable in one step: little damping of slow modes, strong of stiff ones",
    implicit: true,
    symplectic: false,
    order: 2,
    order_velocity_dependent: 2,
    stability: Stability::LStable,
    reference: "Bank et al., IEEE Trans. Electron Devices 32 (1985) 1992; Hosea & Shampine, Appl. Numer. Math. 20 (1996) 21",
    limitations: "Two non-linear solves per step.",
};

/// Registry entry.
pub const INFO: StepperInfo = StepperInfo {
    method: &METHOD,
    limit: StepLimit::Unconditional,
    covers: |_| true,
    defaults: || serde_json::to_value(TrBdf2Options::default()).unwrap_or_default(),
    build,
};

/// Options of [`TrBdf2`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrBdf2Options {
    /// Newton's method and linear solver.
    pub newton: NewtonOptions,
}

fn build(options: &Value) -> Result<BoxedStepper, OptionsError> {
    Ok(boxed(TrBdf2::new(parse(METHOD.id, options)?)?))
}

/// Part of the step that the trapezoidal stage covers: with this value both stages have the same matrix (Hosea & Shampine 1996).
const GAMMA: f64 = 2.0 - SQRT_2;

/// `y_γ = y0 + γ dt/2 (y0' + y_γ')`, `y1 = a y_γ - b y0 + c dt y1'` with `a = 1/(γ(2-γ))`, `b = (1-γ)²/(γ(2-γ))`, `c = (1-γ)/(2-γ)`.
///
/// # Limitations
/// See [`METHOD`].
#[derive(Debug, Default)]
pub struct TrBdf2 {
    solver: StageSolver,
    trial: Trial,
    free: Vec<f64>,
    impulse: Vec<f64>,
    q_gamma: Vec<f64>,
    v_gamma: Vec<f64>,
}

impl TrBdf2 {
    /// Checks the options.
    ///
    /// # Errors
    /// [`OptionsError`] naming the field.
    pub fn new(options: TrBdf2Options) -> Result<Self, OptionsError> {
        options.newton.validate()?;
        Ok(Self { solver: StageSolver::new(options.newton), ..Self::default() })
    }
}

impl<S: ImplicitSystem + ?Sized> Stepper<S> for TrBdf2 {
    fn method(&self) -> &'static MethodInfo {
        &METHOD
    }

    fn step_recorded(
        &mut self,
        system: &S,
        state: &mut State,
        dt: f64,
        mut record: Option<&mut StageRecord>,
    ) -> Result<StepStats, StepError> {
        let Self { solver, trial, free, impulse, q_gamma, v_gamma } = self;
        trial.begin(system, state, dt)?;
        let mut stats = StepStats { substeps: 1, force_evaluations: 1, ..StepStats::default() };
        solver.begin(system, state.t, &state.q, &state.v)?;
        free_marks(system, free);
        let factor = 0.5 * GAMMA * dt;
        let stage = Stage {
            t0: state.t,
            dt,
            t: state.t + GAMMA * dt,
            position_factor: factor,
            force_factor: factor,
            linearized: false,
        };
        system.force(state.t, &state.q, &state.v, &mut trial.f);
        impulse.clear();
        impulse.extend(trial.f.iter().map(|f| factor * f));
        drift(free, GAMMA * dt, &state.v, &state.q, &mut trial.q);
        solver.solve(system, stage, Known { q_base: &trial.q, v_base: &state.v, impulse }, &mut stats)?;
        q_gamma.clone_from(&solver.q);
        v_gamma.clone_from(&solver.v);

        let scale = 1.0 / (GAMMA * (2.0 - GAMMA));
        let (a, b) = (scale, (1.0 - GAMMA) * (1.0 - GAMMA) * scale);
        let c = (1.0 - GAMMA) / (2.0 - GAMMA);
        if let Some(record) = record.as_deref_mut() {
            record.clear();
            record.push(0.5 * a * GAMMA, state.t, &state.q, &state.v);
            record.push(0.5 * a * GAMMA, stage.t, q_gamma, v_gamma);
        }
        for k in 0..state.q.len() {
            let is_free = free[k / 3] > 0.0;
            // a - b = 1; written as differences so that what does not move stays exactly in place.
            trial.v[k] = state.v[k] + if is_free { a * (v_gamma[k] - state.v[k]) } else { 0.0 };
            trial.q[k] =
                state.q[k] + if is_free { a * (q_gamma[k] - state.q[k]) + c * dt * trial.v[k] } else { 0.0 };
        }
        debug_assert!((a - b - 1.0).abs() < 1e-14);
        let stage = Stage { t: state.t + dt, position_factor: c * dt, force_factor: c * dt, ..stage };
        solver.u.fill(0.0);
        solver.solve(
            system,
            stage,
            Known { q_base: &trial.q, v_base: &trial.v, impulse: &[] },
            &mut stats,
        )?;
        if let Some(record) = record {
            record.push(c, stage.t, &solver.q, &solver.v);
        }
        trial.q.copy_from_slice(&solver.q);
        trial.v.copy_from_slice(&solver.v);
        trial.commit(state, dt)?;
        Ok(stats)
    }
}
