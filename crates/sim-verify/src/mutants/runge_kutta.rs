//! Explicit Runge-Kutta methods from a table of coefficients: the right ones, and the same with one mistake.

use super::info;
use sim_core::{MethodInfo, ModelSystem, StageRecord, State, StepError, StepStats, Stepper};

/// Coefficients; `a[i][j]` for j < i.
#[derive(Clone, Debug)]
pub(super) struct RungeKutta {
    pub method: &'static MethodInfo,
    pub a: Vec<Vec<f64>>,
    pub b: Vec<f64>,
    pub c: Vec<f64>,
    /// Stage velocities are those of the start of the step.
    pub old_velocity: bool,
    /// Supports stay where they were at the start of the step until its end.
    pub late_supports: bool,
    /// The clock is not advanced.
    pub stopped_clock: bool,
}

impl RungeKutta {
    fn new(id: &'static str, a: &[&[f64]], b: &[f64], c: &[f64]) -> Self {
        Self {
            method: info(id),
            a: a.iter().map(|row| row.to_vec()).collect(),
            b: b.to_vec(),
            c: c.to_vec(),
            old_velocity: false,
            late_supports: false,
            stopped_clock: false,
        }
    }
}

impl Stepper<dyn ModelSystem> for RungeKutta {
    fn method(&self) -> &'static MethodInfo {
        self.method
    }

    fn step_recorded(
        &mut self,
        system: &dyn ModelSystem,
        state: &mut State,
        dt: f64,
        mut record: Option<&mut StageRecord>,
    ) -> Result<StepStats, StepError> {
        super::check(system, state, dt)?;
        let n = state.q.len();
        let w = system.inverse_mass();
        let mut rates: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        if let Some(record) = record.as_deref_mut() {
            record.clear();
        }
        let sum = |weights: &[f64], rates: &[(Vec<f64>, Vec<f64>)]| {
            let (mut q, mut v) = (state.q.clone(), state.v.clone());
            for (weight, (dq, dv)) in weights.iter().zip(rates) {
                for i in (0..n).filter(|i| w[i / 3] > 0.0) {
                    q[i] += weight * dt * dq[i];
                    v[i] += weight * dt * dv[i];
                }
            }
            (q, v)
        };
        for (stage, row) in self.a.iter().enumerate() {
            let (mut q, mut v) = sum(row, &rates);
            let t = state.t + self.c[stage] * dt;
            if self.c[stage] > 0.0 && !self.late_supports {
                system.prescribe(t, &mut q, &mut v);
            }
            if self.old_velocity {
                v.copy_from_slice(&state.v);
            }
            let mut f = vec![0.0; n];
            system.force(t, &q, &v, &mut f);
            if let Some(record) = record.as_deref_mut() {
                record.push(self.b[stage], t, &q, &v);
            }
            (0..n).for_each(|i| f[i] *= w[i / 3]);
            rates.push((v, f));
        }
        let (mut q, mut v) = sum(&self.b, &rates);
        system.prescribe(state.t + dt, &mut q, &mut v);
        super::finite(state, dt, &q, &v)?;
        (state.q, state.v) = (q, v);
        if !self.stopped_clock {
            state.t += dt;
        }
        Ok(StepStats::explicit(rates.len() as u32))
    }
}

pub(super) fn explicit_midpoint() -> RungeKutta {
    RungeKutta::new("explicit_midpoint", &[&[], &[0.5]], &[0.0, 1.0], &[0.0, 0.5])
}

pub(super) fn runge_kutta4() -> RungeKutta {
    RungeKutta::new(
        "runge_kutta4",
        &[&[], &[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0]],
        &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
        &[0.0, 0.5, 0.5, 1.0],
    )
}
