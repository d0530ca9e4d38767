//! The step `q1 = q0 + dt ((1-β) v0 + β v1)`, `M (v1 - v0) = dt ((1-α) f0 + α f1)` behind several methods.

use super::NewtonOptions;
use super::newton::{Known, Stage, StageSolver};
use crate::trial::{Trial, drift};
use sim_core::{ImplicitSystem, StageRecord, State, StepError, StepStats};

/// Solver and buffers of a mixed step.
#[derive(Debug, Default)]
pub(crate) struct MixedStep {
    solver: StageSolver,
    trial: Trial,
    impulse: Vec<f64>,
    free: Vec<f64>,
}

/// Weights of the new force and the new velocity, and whether to stop after one linear solve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights {
    pub alpha: f64,
    pub beta: f64,
    pub linearized: bool,
}

impl MixedStep {
    pub fn new(options: NewtonOptions) -> Self {
        Self { solver: StageSolver::new(options), ..Self::default() }
    }

    pub fn step<S: ImplicitSystem + ?Sized>(
        &mut self,
        weights: Weights,
        system: &S,
        state: &mut State,
        dt: f64,
        record: Option<&mut StageRecord>,
    ) -> Result<StepStats, StepError> {
        let Self { solver, trial, impulse, free } = self;
        trial.begin(system, state, dt)?;
        let Weights { alpha, beta, linearized } = weights;
        let mut stats = StepStats { substeps: 1, ..StepStats::default() };
        solver.begin(system, state.t, &state.q, &state.v)?;
        free_marks(system, free);
        impulse.clear();
        if alpha < 1.0 {
            system.force(state.t, &state.q, &state.v, &mut trial.f);
            stats.force_evaluations += 1;
            impulse.extend(trial.f.iter().map(|f| dt * (1.0 - alpha) * f));
        }
        drift(free, dt, &state.v, &state.q, &mut trial.q);
        let stage = Stage {
            t0: state.t,
            dt,
            t: state.t + dt,
            position_factor: dt * beta,
            force_factor: dt * alpha,
            linearized,
        };
        let known = Known { q_base: &trial.q, v_base: &state.v, impulse };
        solver.solve(system, stage, known, &mut stats)?;
        if let Some(record) = record {
            record.clear();
            if alpha < 1.0 {
                record.push(1.0 - alpha, state.t, &state.q, &state.v);
            }
            if alpha > 0.0 {
                record.push(alpha, stage.t, &solver.q, &solver.v);
            }
            if linearized {
                solver.mass_times(&solver.u, &mut trial.v);
                let forces = trial.v.iter().zip(&solver.f).enumerate();
                record.set_numerical_impulse(forces.map(|(k, (mu, f))| {
                    let known = impulse.get(k).copied().unwrap_or(0.0);
                    if free[k / 3] > 0.0 { mu - dt * alpha * f - known } else { 0.0 }
                }));
            }
        }
        trial.q.copy_from_slice(&solver.q);
        trial.v.copy_from_slice(&solver.v);
        trial.commit(state, dt)?;
        Ok(stats)
    }
}

/// 1 for free particles, 0 for others: in place of inverse masses where only freedom counts.
pub(crate) fn free_marks<S: ImplicitSystem + ?Sized>(system: &S, marks: &mut Vec<f64>) {
    marks.clear();
    marks.extend((0..system.particle_count()).map(|i| f64::from(u8::from(system.is_free(i)))));
}
