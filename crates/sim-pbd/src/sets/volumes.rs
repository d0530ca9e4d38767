//! Constraints on any number of points: enclosed volumes and reeved cables.

use super::{ConstraintSet, Measure, Softness, permuted, point};
use crate::constraint::{Sense, ValueError};
use crate::kernel::Sweep;
use crate::options::Formulation;
use nalgebra::Vector3;
use sim_core::EnergyTerm;
use std::fmt::Debug;
use std::ops::Range;

/// A scalar function of any number of points.
pub(crate) trait ManyPoints: Debug + Send + Sync {
    fn id(&self) -> &'static str;
    fn sense(&self) -> Sense;
    fn scale(&self) -> f64;
    /// C; adds the gradients piece by piece.
    fn evaluate(&self, x: &dyn Fn(usize) -> Vector3<f64>, add: &mut dyn FnMut(usize, Vector3<f64>)) -> f64;
    fn validate(&self) -> Result<(), ValueError>;
}

/// One such constraint with its particles.
#[derive(Debug)]
pub(crate) struct Wide {
    pub particles: Vec<u32>,
    pub constraint: Box<dyn ManyPoints>,
    pub compliance: f64,
}

/// A list of them. Work values: multipliers, then one gradient per particle of every constraint.
#[derive(Debug)]
pub(crate) struct WideSet {
    items: Vec<Wide>,
    gradient_start: Vec<usize>,
    index: Vec<u32>,
    slot: Vec<u32>,
}

impl WideSet {
    pub(crate) fn new(items: Vec<Wide>) -> Self {
        let index: Vec<u32> = (0..items.len() as u32).collect();
        let mut set = Self { items, gradient_start: Vec::new(), slot: index.clone(), index };
        set.place();
        set
    }

    fn place(&mut self) {
        let mut next = self.items.len();
        self.gradient_start.clear();
        for item in &self.items {
            self.gradient_start.push(next);
            next += 3 * item.particles.len();
        }
        self.gradient_start.push(next);
    }

    fn residual(&self, slot: usize, value: f64, sweep: &Sweep<'_>) -> f64 {
        value + self.items[slot].compliance / (sweep.rule.dt * sweep.rule.dt) * sweep.work(slot)
    }
}

impl ConstraintSet for WideSet {
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
        let mut old: Vec<Option<Wide>> = self.items.drain(..).map(Some).collect();
        self.items =
            order.iter().map(|&i| old[i as usize].take().expect("a permutation visits each once")).collect();
        (self.index, self.slot) = permuted(&self.index, order);
        self.place();
    }

    fn work_len(&self) -> usize {
        self.gradient_start[self.items.len()]
    }

    fn multiplier_len(&self) -> usize {
        self.items.len()
    }

    fn begin(&self, _sweep: &Sweep<'_>) {}

    fn sweep(&self, units: Range<usize>, sweep: &Sweep<'_>) {
        for slot in units {
            let item = &self.items[slot];
            let first = self.gradient_start[slot];
            for k in first..self.gradient_start[slot + 1] {
                sweep.set_work(k, 0.0);
            }
            let value = item.constraint.evaluate(&|i| sweep.position(item.particles[i]), &mut |i, g| {
                for k in 0..3 {
                    let at = first + 3 * i + k;
                    sweep.set_work(at, sweep.work(at) + g[k]);
                }
            });
            let lambda = sweep.work(slot);
            let at_most = item.constraint.sense() == Sense::AtMost;
            if at_most && value <= 0.0 && lambda == 0.0 {
                continue;
            }
            let gradient = |i: usize| {
                let at = first + 3 * i;
                Vector3::new(sweep.work(at), sweep.work(at + 1), sweep.work(at + 2))
            };
            let mobility: f64 = (item.particles.iter().enumerate())
                .map(|(i, &p)| sweep.inverse_mass(p) * gradient(i).norm_squared())
                .sum();
            let softness = item.compliance / (sweep.rule.dt * sweep.rule.dt);
            let step = match sweep.rule.formulation {
                _ if mobility + softness <= 0.0 => continue,
                Formulation::Xpbd => {
                    -self.residual(slot, value, sweep) / (mobility + softness) * sweep.rule.relaxation
                }
                Formulation::Pbd { fraction } => -fraction * value / mobility,
            };
            let total = if at_most { (lambda + step).min(0.0) } else { lambda + step };
            sweep.set_work(slot, total);
            for (i, &p) in item.particles.iter().enumerate() {
                let weight = sweep.inverse_mass(p);
                if weight > 0.0 {
                    sweep.shift(p, gradient(i) * (weight * (total - lambda)));
                }
            }
        }
    }

    fn measure(&self, sweep: &Sweep<'_>, visit: &mut dyn FnMut(Measure)) {
        for (slot, item) in self.items.iter().enumerate() {
            let value = item.constraint.evaluate(&|i| sweep.position(item.particles[i]), &mut |_, _| {});
            let slack = item.constraint.sense() == Sense::AtMost && value <= 0.0 && sweep.work(slot) == 0.0;
            visit(Measure {
                index: self.index[slot] as usize,
                value: if slack { 0.0 } else { value },
                residual: if slack { 0.0 } else { self.residual(slot, value, sweep) },
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
        let slot = self.items.iter().position(|item| item.compliance > 0.0)?;
        let index = self.index[slot] as usize;
        Some(Softness { index, compliance: self.items[slot].compliance, damping: 0.0 })
    }

    fn energy(&self, _t: f64, q: &[f64], _orientations: &[f64]) -> (EnergyTerm, f64) {
        let sum = (self.items.iter().filter(|item| item.compliance > 0.0))
            .map(|item| {
                let value = item.constraint.evaluate(&|i| point(q, item.particles[i]), &mut |_, _| {});
                let value = if item.constraint.sense() == Sense::AtMost { value.max(0.0) } else { value };
                0.5 * value * value / item.compliance
            })
            .sum();
        (EnergyTerm::Elastic, sum)
    }

    fn validate(&self) -> Result<(), (usize, ValueError)> {
        for (index, item) in self.items.iter().enumerate() {
            (item.constraint.validate())
                .and_then(|()| ValueError::not_negative("compliance", item.compliance))
                .map_err(|error| (index, error))?;
        }
        Ok(())
    }
}
