//! Lists of constraints of one kind, as the solver sees them.

use crate::constraint::{Bound, Constraint, Sense, ValueError};
use crate::kernel::Sweep;
use crate::options::{Formulation, GradientPoint};
use nalgebra::Vector3;
use sim_core::EnergyTerm;
use std::fmt::Debug;
use std::ops::Range;

pub(crate) mod chain;
pub(crate) mod distances;
pub(crate) mod rods;
pub(crate) mod volumes;

/// What one unit looks like at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measure {
    /// Index in the user's list.
    pub index: usize,
    /// C (0 for an inequality that holds).
    pub value: f64,
    /// C + α λ/dt² (+ damping): what the solver should have made zero.
    pub residual: f64,
    /// What is large for this constraint.
    pub scale: f64,
    /// Whether it has no compliance.
    pub rigid: bool,
}

/// Parameters of one unit that plain PBD refuses, for the error message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Softness {
    pub index: usize,
    pub compliance: f64,
    pub damping: f64,
}

/// A list of constraints of one kind. A *unit* is what is visited at once: one stencil, or a whole chain.
///
/// Entities are particles `0..particle_count` and, after them, orientations.
pub(crate) trait ConstraintSet: Debug + Send + Sync {
    fn id(&self) -> &'static str;
    fn units(&self) -> usize;
    fn entities(&self, unit: usize, visit: &mut dyn FnMut(u32));
    /// Puts the units into the order of `order` (a permutation of unit numbers).
    fn reorder(&mut self, order: &[u32]);
    /// Values the set needs for itself; the first `multiplier_len` are its multipliers, zeroed at every substep.
    fn work_len(&self) -> usize;
    fn multiplier_len(&self) -> usize;
    /// Called once per substep before the first sweep, with the points still at their start.
    fn begin(&self, sweep: &Sweep<'_>);
    fn sweep(&self, units: Range<usize>, sweep: &Sweep<'_>);
    fn measure(&self, sweep: &Sweep<'_>, visit: &mut dyn FnMut(Measure));
    /// Multiplier of the user's item `index` (component 0), from the set's work values.
    fn multiplier(&self, index: usize, work: &[f64]) -> f64;
    fn len(&self) -> usize;
    fn soft(&self) -> Option<Softness>;
    /// Energy in J of the compliant members.
    fn energy(&self, t: f64, q: &[f64], orientations: &[f64]) -> (EnergyTerm, f64);
    fn validate(&self) -> Result<(), (usize, ValueError)>;
}

/// Stencils of a fixed number of points.
#[derive(Clone, Debug)]
pub(crate) struct Batch<C, const N: usize> {
    items: Vec<Bound<C, N>>,
    /// User's index of every slot, and the reverse.
    index: Vec<u32>,
    slot: Vec<u32>,
    damped: bool,
}

impl<C: Constraint<N>, const N: usize> Batch<C, N> {
    pub(crate) fn new(items: Vec<Bound<C, N>>) -> Self {
        let index: Vec<u32> = (0..items.len() as u32).collect();
        let damped = items.iter().any(|item| item.damping > 0.0);
        Self { items, slot: index.clone(), index, damped }
    }

    fn gather(&self, slot: usize, sweep: &Sweep<'_>) -> [Vector3<f64>; N] {
        self.items[slot].particles.map(|p| sweep.position(p))
    }

    /// C at the start of the substep, when damping needs it.
    fn start_value(&self, slot: usize, sweep: &Sweep<'_>) -> f64 {
        sweep.work(self.items.len() + slot)
    }

    fn residual(&self, slot: usize, value: f64, lambda: f64, sweep: &Sweep<'_>) -> f64 {
        let item = &self.items[slot];
        let dt = sweep.rule.dt;
        let mut residual = value + item.compliance / (dt * dt) * lambda;
        if item.damping > 0.0 {
            let gamma = item.compliance * item.damping / dt;
            residual += gamma * (value - self.start_value(slot, sweep));
        }
        residual
    }
}

impl<C: Constraint<N> + Clone, const N: usize> ConstraintSet for Batch<C, N> {
    fn id(&self) -> &'static str {
        self.items.first().map_or("none", |item| item.constraint.id())
    }

    fn units(&self) -> usize {
        self.items.len()
    }

    fn entities(&self, unit: usize, visit: &mut dyn FnMut(u32)) {
        self.items[unit].particles.iter().for_each(|&p| visit(p));
    }

    fn reorder(&mut self, order: &[u32]) {
        self.items = order.iter().map(|&old| self.items[old as usize].clone()).collect();
        (self.index, self.slot) = permuted(&self.index, order);
    }

    fn work_len(&self) -> usize {
        self.items.len() * if self.damped { 2 } else { 1 }
    }

    fn multiplier_len(&self) -> usize {
        self.items.len()
    }

    fn begin(&self, sweep: &Sweep<'_>) {
        if self.damped {
            for slot in 0..self.items.len() {
                let x = self.gather(slot, sweep);
                let t = sweep.rule.t - sweep.rule.dt;
                sweep.set_work(self.items.len() + slot, self.items[slot].constraint.evaluate(t, &x).0);
            }
        }
    }

    fn sweep(&self, units: Range<usize>, sweep: &Sweep<'_>) {
        let rule = sweep.rule;
        for slot in units {
            let item = &self.items[slot];
            let x = self.gather(slot, sweep);
            let (value, gradient) = item.constraint.evaluate(rule.t, &x);
            let at_most = item.constraint.sense() == Sense::AtMost;
            let lambda = sweep.work(slot);
            if at_most && value <= 0.0 && lambda == 0.0 {
                continue;
            }
            let weights = item.particles.map(|p| sweep.inverse_mass(p));
            let mut along = gradient;
            if rule.gradient == GradientPoint::StepStart {
                let start = item.particles.map(|p| sweep.start_position(p));
                along = item.constraint.evaluate(rule.t - rule.dt, &start).1;
            }
            let product = |along: &[Vector3<f64>; N]| {
                (0..N).map(|i| weights[i] * gradient[i].dot(&along[i])).sum::<f64>()
            };
            let mut mobility = product(&along);
            if rule.gradient == GradientPoint::StepStart {
                // Directions that nearly oppose would shoot the particles away.
                let current = product(&gradient);
                if mobility < 0.2 * current {
                    (along, mobility) = (gradient, current);
                }
            }
            let step = match rule.formulation {
                Formulation::Xpbd => {
                    let softness = item.compliance / (rule.dt * rule.dt);
                    let gamma = item.compliance * item.damping / rule.dt;
                    let denominator = (1.0 + gamma) * mobility + softness;
                    if denominator <= 0.0 {
                        continue;
                    }
                    -self.residual(slot, value, lambda, sweep) / denominator * rule.relaxation
                }
                Formulation::Pbd { fraction } => {
                    if mobility <= 0.0 {
                        continue;
                    }
                    -fraction * value / mobility
                }
            };
            let total = if at_most { (lambda + step).min(0.0) } else { lambda + step };
            let step = total - lambda;
            sweep.set_work(slot, total);
            for i in 0..N {
                if weights[i] > 0.0 {
                    sweep.shift(item.particles[i], along[i] * (weights[i] * step));
                }
            }
        }
    }

    fn measure(&self, sweep: &Sweep<'_>, visit: &mut dyn FnMut(Measure)) {
        for slot in 0..self.items.len() {
            let item = &self.items[slot];
            let x = self.gather(slot, sweep);
            let value = item.constraint.evaluate(sweep.rule.t, &x).0;
            let lambda = sweep.work(slot);
            let slack = item.constraint.sense() == Sense::AtMost && value <= 0.0 && lambda == 0.0;
            let residual = if slack { 0.0 } else { self.residual(slot, value, lambda, sweep) };
            visit(Measure {
                index: self.index[slot] as usize,
                value: if slack { 0.0 } else { value },
                residual,
                scale: item.constraint.scale(),
                rigid: item.compliance == 0.0,
            });
        }
    }

    fn multiplier(&self, index: usize, work: &[f64]) -> f64 {
        work[self.slot[index] as usize]
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn soft(&self) -> Option<Softness> {
        let slot = self.items.iter().position(|item| item.compliance > 0.0 || item.damping > 0.0)?;
        let Bound { compliance, damping, .. } = self.items[slot];
        Some(Softness { index: self.index[slot] as usize, compliance, damping })
    }

    fn energy(&self, t: f64, q: &[f64], _orientations: &[f64]) -> (EnergyTerm, f64) {
        let mut sum = 0.0;
        for item in self.items.iter().filter(|item| item.compliance > 0.0) {
            let x = item.particles.map(|p| point(q, p));
            let value = item.constraint.evaluate(t, &x).0;
            if item.constraint.sense() == Sense::Equal || value > 0.0 {
                sum += 0.5 * value * value / item.compliance;
            }
        }
        (self.items.first().map_or(EnergyTerm::Elastic, |item| item.constraint.energy_term()), sum)
    }

    fn validate(&self) -> Result<(), (usize, ValueError)> {
        for (index, item) in self.items.iter().enumerate() {
            item.constraint
                .validate()
                .and_then(|()| ValueError::not_negative("compliance", item.compliance))
                .and_then(|()| ValueError::not_negative("damping", item.damping))
                .map_err(|error| (index, error))?;
        }
        Ok(())
    }
}

/// The user's indices after `order`, and the slot of every index.
pub(crate) fn permuted(index: &[u32], order: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let index: Vec<u32> = order.iter().map(|&old| index[old as usize]).collect();
    let mut slot = vec![0; index.len()];
    for (place, &user) in (0_u32..).zip(&index) {
        slot[user as usize] = place;
    }
    (index, slot)
}

pub(crate) fn point(q: &[f64], i: u32) -> Vector3<f64> {
    let i = 3 * i as usize;
    Vector3::new(q[i], q[i + 1], q[i + 2])
}
