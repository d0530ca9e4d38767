//! Methods made of kicks and drifts, as a list of moves: the right ones, and the same with one mistake.

use super::info;
use sim_core::{MethodInfo, ModelSystem, StageRecord, State, StepError, StepStats, Stepper};

/// The velocity at which a kick takes a force that depends on it, or with which a drift moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum At {
    /// The velocity reached so far.
    Present,
    /// The velocity at the start of the step.
    Start,
    /// The velocity that this very kick would lead to.
    Predicted,
    /// Zero: the damping is forgotten.
    Zero,
}

/// One move.
#[derive(Clone, Copy, Debug)]
pub(super) enum Move {
    /// `v += weight dt f(t0 + time dt, q, v)/m`.
    Kick { weight: f64, time: f64, at: At },
    /// `q += weight dt v`.
    Drift { weight: f64, at: At },
}

/// Which mass divides the force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum MassUse {
    Own,
    Forgotten,
    NextParticle,
    Mean,
}

/// When supports are moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Supports {
    /// After every drift, to the time reached by then.
    Followed,
    /// To the time at the start of the step.
    Late,
    Never,
    /// Free and supported particles alike take part in kicks and drifts.
    Freed,
}

/// A mistake in what surrounds the moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Flaw {
    /// Uses the force of the last kick instead of a new one.
    StaleForce,
    /// A step that fails has already overwritten the state.
    Careless,
    /// Neither lengths nor step size nor result are checked.
    Unchecked,
    /// Velocities are limited to 10 m/s in silence.
    Clamps,
}

/// A splitting method; every field but `moves` can be mistaken.
#[derive(Clone, Debug)]
pub(super) struct Splitting {
    pub method: &'static MethodInfo,
    pub moves: Vec<Move>,
    pub mass: MassUse,
    pub supports: Supports,
    pub flaw: Option<Flaw>,
    /// Factor on the step by which the clock advances.
    pub clock: f64,
    /// Component of the force that is left out.
    pub lost_axis: Option<usize>,
    pub memory: Vec<f64>,
}

impl Splitting {
    pub fn new(id: &'static str, moves: &[Move]) -> Self {
        Self {
            method: info(id),
            moves: moves.to_vec(),
            mass: MassUse::Own,
            supports: Supports::Followed,
            flaw: None,
            clock: 1.0,
            lost_axis: None,
            memory: Vec::new(),
        }
    }

    fn acceleration(&mut self, system: &dyn ModelSystem, t: f64, q: &[f64], v: &[f64]) -> Vec<f64> {
        let mut f = vec![0.0; q.len()];
        system.force(t, q, v, &mut f);
        if let Some(axis) = self.lost_axis {
            f.iter_mut().skip(axis).step_by(3).for_each(|f| *f = 0.0);
        }
        if self.flaw == Some(Flaw::StaleForce) {
            let now = f.clone();
            if self.memory.len() == f.len() {
                f.copy_from_slice(&self.memory);
            }
            self.memory = now;
        }
        let (w, count) = (system.inverse_mass(), system.particle_count());
        let mean = w.iter().sum::<f64>() / count as f64;
        (0..f.len())
            .map(|k| {
                let i = k / 3;
                if w[i] == 0.0 && self.supports != Supports::Freed {
                    return 0.0;
                }
                f[k] * match self.mass {
                    MassUse::Own => w[i],
                    MassUse::Forgotten => 1.0,
                    MassUse::NextParticle => w[(i + 1) % count],
                    MassUse::Mean => mean,
                }
            })
            .collect()
    }
}

impl Stepper<dyn ModelSystem> for Splitting {
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
        let checks = self.flaw != Some(Flaw::Unchecked);
        if checks {
            super::check(system, state, dt)?;
        } else {
            state.v.resize(state.q.len(), 0.0);
        }
        let (t0, v0) = (state.t, state.v.clone());
        let (mut q, mut v) = (state.q.clone(), state.v.clone());
        let mut reached = 0.0;
        if let Some(record) = record.as_deref_mut() {
            record.clear();
        }
        let (moves, free) = (self.moves.clone(), |i: usize| system.inverse_mass()[i / 3] > 0.0);
        let freed = self.supports == Supports::Freed;
        for a_move in &moves {
            match *a_move {
                Move::Kick { weight, time, at } => {
                    let t = t0 + time * dt;
                    let used = match at {
                        At::Present => v.clone(),
                        At::Start => v0.clone(),
                        At::Zero => vec![0.0; v.len()],
                        At::Predicted => {
                            let a = self.acceleration(system, t, &q, &v);
                            v.iter().zip(&a).map(|(v, a)| v + weight * dt * a).collect()
                        }
                    };
                    let a = self.acceleration(system, t, &q, &used);
                    if let Some(record) = record.as_deref_mut() {
                        record.push(weight, t, &q, &used);
                    }
                    v.iter_mut().zip(&a).for_each(|(v, a)| *v += weight * dt * a);
                }
                Move::Drift { weight, at } => {
                    let used = if at == At::Start { &v0 } else { &v };
                    for i in (0..q.len()).filter(|&i| free(i) || freed) {
                        q[i] += weight * dt * used[i];
                    }
                    reached += weight;
                    match self.supports {
                        Supports::Followed => system.prescribe(t0 + reached * dt, &mut q, &mut v),
                        Supports::Late => system.prescribe(t0, &mut q, &mut v),
                        Supports::Never | Supports::Freed => {}
                    }
                }
            }
        }
        if self.supports == Supports::Followed {
            system.prescribe(t0 + dt, &mut q, &mut v);
        }
        if self.flaw == Some(Flaw::Clamps) {
            for v in &mut v {
                *v = v.clamp(-10.0, 10.0);
            }
        }
        if self.flaw == Some(Flaw::Careless) {
            state.q.copy_from_slice(&q);
            state.v.copy_from_slice(&v);
        }
        if checks {
            super::finite(state, dt, &q, &v)?;
        }
        (state.q, state.v) = (q, v);
        state.t = t0 + self.clock * dt;
        Ok(StepStats::explicit(moves.len() as u32))
    }
}

pub(super) const fn kick(weight: f64, time: f64, at: At) -> Move {
    Move::Kick { weight, time, at }
}

pub(super) const fn drift(weight: f64) -> Move {
    Move::Drift { weight, at: At::Present }
}

pub(super) fn explicit_euler() -> Splitting {
    Splitting::new(
        "explicit_euler",
        &[kick(1.0, 0.0, At::Present), Move::Drift { weight: 1.0, at: At::Start }],
    )
}

pub(super) fn symplectic_euler() -> Splitting {
    Splitting::new("symplectic_euler", &[kick(1.0, 0.0, At::Present), drift(1.0)])
}

pub(super) fn symplectic_euler_drift_kick() -> Splitting {
    Splitting::new("symplectic_euler_drift_kick", &[drift(1.0), kick(1.0, 1.0, At::Present)])
}

pub(super) fn leapfrog() -> Splitting {
    Splitting::new("leapfrog", &[kick(0.5, 0.0, At::Present), drift(1.0), kick(0.5, 1.0, At::Predicted)])
}

pub(super) fn position_verlet() -> Splitting {
    Splitting::new("position_verlet", &[drift(0.5), kick(1.0, 0.5, At::Present), drift(0.5)])
}
