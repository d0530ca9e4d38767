//! Implicit methods solved by Newton's method on dense matrices: the right ones, and the same with one mistake.

use super::info;
use crate::studies::derivatives::DenseMatrices;
use nalgebra::{DMatrix, DVector};
use sim_core::{Definiteness, MethodInfo, ModelSystem, StageRecord, State, StepError, StepStats, Stepper};

/// `M (v1 - v0) = dt [old f(t0, q0, v0) + new f(t*, q*, v*)]`, `q1 = q0 + dt [(1 - position) v0 + position v1]`, with `*` the end of the step or
/// its middle.
#[derive(Clone, Debug)]
pub(super) struct Implicit {
    pub method: &'static MethodInfo,
    pub old: f64,
    pub new: f64,
    pub position: f64,
    /// Force at the mean of both states.
    pub middle: bool,
    /// Factors on K and D in the tangent.
    pub tangent: (f64, f64),
    /// Newton iterations allowed.
    pub largest_iterations: u32,
    /// What a residual above the tolerance leads to after the last iteration.
    pub silent: bool,
    /// Factor on the mass in the residual.
    pub mass: f64,
    /// Evaluation time of the new force, as a share of the step.
    pub time: f64,
    /// Velocity of the new force is the old one.
    pub old_velocity: bool,
}

const TOLERANCE: f64 = 1e-14;

impl Implicit {
    fn new(id: &'static str, old: f64, new: f64, position: f64, middle: bool) -> Self {
        Self {
            method: info(id),
            old,
            new,
            position,
            middle,
            tangent: (1.0, 1.0),
            largest_iterations: 60,
            silent: false,
            mass: 1.0,
            time: if middle { 0.5 } else { 1.0 },
            old_velocity: false,
        }
    }

    /// Where the new force is taken when the velocity at the end is `v1`.
    fn target(&self, system: &dyn ModelSystem, state: &State, v1: &[f64], dt: f64) -> State {
        let share = if self.middle { 0.5 } else { 1.0 };
        let mut at = state.clone();
        at.t = state.t + self.time * dt;
        for i in (0..v1.len()).filter(|i| system.inverse_mass()[i / 3] > 0.0) {
            let step = dt * ((1.0 - self.position) * state.v[i] + self.position * v1[i]);
            at.q[i] += share * step;
            at.v[i] += share * (v1[i] - state.v[i]);
        }
        system.prescribe(state.t + share * dt, &mut at.q, &mut at.v);
        if self.old_velocity {
            at.v.copy_from_slice(&state.v);
        }
        at
    }
}

impl Stepper<dyn ModelSystem> for Implicit {
    fn method(&self) -> &'static MethodInfo {
        self.method
    }

    fn step_recorded(
        &mut self,
        system: &dyn ModelSystem,
        state: &mut State,
        dt: f64,
        record: Option<&mut StageRecord>,
    ) -> Result<StepStats, StepError> {
        super::check(system, state, dt)?;
        let n = state.q.len();
        let free: Vec<usize> = (0..n).filter(|i| system.inverse_mass()[i / 3] > 0.0).collect();
        let mut f0 = vec![0.0; n];
        system.force(state.t, &state.q, &state.v, &mut f0);
        let mut v1 = state.v.clone();
        let mut f = vec![0.0; n];
        let (mut iterations, mut last) = (0, f64::INFINITY);
        let residual_at = |v1: &[f64], f: &mut [f64]| -> (State, DVector<f64>, f64) {
            let at = self.target(system, state, v1, dt);
            system.force(at.t, &at.q, &at.v, f);
            let mass = |i: usize| system.mass()[i / 3];
            let mut scale = f64::MIN_POSITIVE;
            let r = DVector::from_iterator(
                free.len(),
                free.iter().map(|&i| {
                    let push = dt * (self.old * f0[i] + self.new * f[i]);
                    scale = scale.max(push.abs()).max(dt * f0[i].abs()).max(mass(i) * v1[i].abs());
                    push - self.mass * mass(i) * (v1[i] - state.v[i])
                }),
            );
            let size = r.amax() / scale;
            (at, r, size)
        };
        let mut at = loop {
            let (at, r, size) = residual_at(&v1, &mut f);
            if !r.iter().all(|x| x.is_finite()) {
                return Err(StepError::Diverged {
                    t: state.t,
                    dt,
                    quantity: "velocity",
                    particle: 0,
                    value: f64::NAN,
                });
            }
            // Rounding sets a floor under the residual: stop when it no longer falls.
            if size <= TOLERANCE || (size < 1e-10 && size >= 0.5 * last) {
                break at;
            }
            if iterations == self.largest_iterations {
                if self.silent {
                    break at;
                }
                return Err(StepError::NotConverged {
                    t: state.t,
                    iterations,
                    residual: size,
                    tolerance: TOLERANCE,
                    particle: 0,
                });
            }
            last = size;
            let m = DenseMatrices::at(system, &at, Definiteness::Exact);
            let share = if self.middle { 0.5 } else { 1.0 };
            let (k, d) = (
                self.tangent.0 * dt * dt * share * self.new * self.position,
                self.tangent.1 * dt * share * self.new,
            );
            let full = m.mass + (m.stiffness + m.damping_stiffness) * k + m.damping * d;
            let reduced = DMatrix::from_fn(free.len(), free.len(), |r, c| full[(free[r], free[c])]);
            let Some(delta) = reduced.lu().solve(&r) else {
                return Err(StepError::Diverged {
                    t: state.t,
                    dt,
                    quantity: "velocity",
                    particle: 0,
                    value: f64::NAN,
                });
            };
            free.iter().zip(delta.iter()).for_each(|(&i, delta)| v1[i] += delta);
            iterations += 1;
        };
        if let Some(record) = record {
            record.clear();
            if self.old > 0.0 {
                record.push(self.old, state.t, &state.q, &state.v);
            }
            record.push(self.new, at.t, &at.q, &at.v);
        }
        let mut q = state.q.clone();
        for &i in &free {
            q[i] += dt * ((1.0 - self.position) * state.v[i] + self.position * v1[i]);
        }
        system.prescribe(state.t + dt, &mut q, &mut v1);
        super::finite(state, dt, &q, &v1)?;
        at.q = q;
        (state.q, state.v) = (at.q, v1);
        state.t += dt;
        Ok(StepStats { newton_iterations: iterations.max(1), ..StepStats::explicit(iterations + 2) })
    }
}

pub(super) fn implicit_euler() -> Implicit {
    Implicit::new("implicit_euler", 0.0, 1.0, 1.0, false)
}

pub(super) fn implicit_midpoint() -> Implicit {
    Implicit::new("implicit_midpoint", 0.0, 1.0, 0.5, true)
}

pub(super) fn trapezoidal() -> Implicit {
    Implicit::new("trapezoidal", 0.5, 0.5, 0.5, false)
}
