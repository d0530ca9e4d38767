//! Distance constraints, several at a time.
//!
//! Consecutive units of a run share no particle, so that a group of them can be computed side by side in the lanes of the
//! processor. Every lane does the same operations in the same order as a single constraint would: the bits do not
//! depend on the number of lanes.

// The lanes are compiled for the processor at hand only where everything is inlined into the dispatched closure.
#![allow(clippy::inline_always)]

use super::{Batch, ConstraintSet, Measure, Softness};
use crate::constraint::{Bound, ValueError, direction};
use crate::constraints::distance::Distance;
use crate::kernel::Sweep;
use crate::options::{Formulation, GradientPoint};
use pulp::Arch;
use sim_core::EnergyTerm;
use std::ops::Range;

const LANES: usize = 8;
/// Squared lengths outside of this range lose digits or overflow and take the careful path.
const SAFE_SQUARE: Range<f64> = 1e-250..1e250;

#[derive(Clone, Debug)]
pub(crate) struct Distances {
    batch: Batch<Distance, 2>,
    ends: Vec<[u32; 2]>,
    rest_length: Vec<f64>,
    compliance: Vec<f64>,
    rigid: bool,
    damped: bool,
    arch: Arch,
}

impl Distances {
    pub(crate) fn new(items: Vec<Bound<Distance, 2>>) -> Self {
        let mut set = Self {
            batch: Batch::new(items),
            ends: Vec::new(),
            rest_length: Vec::new(),
            compliance: Vec::new(),
            rigid: false,
            damped: false,
            arch: Arch::new(),
        };
        set.split();
        set
    }

    /// Lays the parameters out in separate arrays, in the order of the batch.
    fn split(&mut self) {
        self.ends = self.batch.items.iter().map(|item| item.particles).collect();
        self.rest_length = self.batch.items.iter().map(|item| item.constraint.rest_length).collect();
        self.compliance = self.batch.items.iter().map(|item| item.compliance).collect();
        self.rigid = self.compliance.iter().all(|&c| c == 0.0);
        self.damped = self.batch.items.iter().any(|item| item.damping > 0.0);
    }

    fn in_lanes(&self, units: Range<usize>, sweep: &Sweep<'_>) {
        if self.rigid {
            self.run::<true>(units, sweep);
        } else {
            self.run::<false>(units, sweep);
        }
    }

    #[inline(always)]
    fn run<const RIGID: bool>(&self, units: Range<usize>, sweep: &Sweep<'_>) {
        let mut first = units.start;
        while first + LANES <= units.end {
            self.group::<RIGID, LANES>(first, sweep);
            first += LANES;
        }
        while first < units.end {
            self.group::<RIGID, 1>(first, sweep);
            first += 1;
        }
    }

    #[inline(always)]
    fn group<const RIGID: bool, const W: usize>(&self, first: usize, sweep: &Sweep<'_>) {
        let ends: &[[u32; 2]; W] = self.ends[first..first + W].try_into().expect("a slice of W");
        let rest: &[f64; W] = self.rest_length[first..first + W].try_into().expect("a slice of W");
        let (mut a, mut b) = ([[0.0; W]; 4], [[0.0; W]; 4]);
        for l in 0..W {
            let (p, q) = (sweep.point(ends[l][0]), sweep.point(ends[l][1]));
            for k in 0..4 {
                a[k][l] = p[k];
                b[k][l] = q[k];
            }
        }
        let mut lambda = [0.0; W];
        let mut softness = [0.0; W];
        for l in 0..W {
            lambda[l] = sweep.work(first + l);
            if !RIGID {
                softness[l] = self.compliance[first + l] / (sweep.rule.dt * sweep.rule.dt);
            }
        }
        let mut d = [[0.0; W]; 3];
        let mut square = [0.0; W];
        for l in 0..W {
            for k in 0..3 {
                d[k][l] = b[k][l] - a[k][l];
            }
            square[l] = d[0][l] * d[0][l] + d[1][l] * d[1][l] + d[2][l] * d[2][l];
        }
        if square.iter().any(|s| !SAFE_SQUARE.contains(s)) {
            return self.carefully::<RIGID>(first..first + W, sweep);
        }
        let mut share = [0.0; W];
        for l in 0..W {
            let length = square[l].sqrt();
            let residual = length - rest[l] + softness[l] * lambda[l];
            let denominator = length * (a[3][l] + b[3][l] + softness[l]);
            let quotient = -(sweep.rule.relaxation * residual) / denominator;
            share[l] = if denominator > 0.0 { quotient } else { 0.0 };
            lambda[l] += share[l] * length;
            let (back, forth) = (a[3][l] * share[l], b[3][l] * share[l]);
            for k in 0..3 {
                a[k][l] -= back * d[k][l];
                b[k][l] += forth * d[k][l];
            }
        }
        for l in 0..W {
            sweep.set_point(ends[l][0], [a[0][l], a[1][l], a[2][l], a[3][l]]);
            sweep.set_point(ends[l][1], [b[0][l], b[1][l], b[2][l], b[3][l]]);
            sweep.set_work(first + l, lambda[l]);
        }
    }

    /// The same for lengths that are zero or extreme.
    #[cold]
    #[inline(never)]
    fn carefully<const RIGID: bool>(&self, units: Range<usize>, sweep: &Sweep<'_>) {
        for unit in units {
            let [i, j] = self.ends[unit];
            let (length, n) = direction(sweep.position(j) - sweep.position(i));
            let softness = if RIGID { 0.0 } else { self.compliance[unit] / (sweep.rule.dt * sweep.rule.dt) };
            let (wi, wj, lambda) = (sweep.inverse_mass(i), sweep.inverse_mass(j), sweep.work(unit));
            let denominator = wi + wj + softness;
            if denominator > 0.0 {
                let residual = length - self.rest_length[unit] + softness * lambda;
                let step = -(sweep.rule.relaxation * residual) / denominator;
                sweep.set_work(unit, lambda + step);
                sweep.shift(i, n * (-wi * step));
                sweep.shift(j, n * (wj * step));
            }
        }
    }
}

impl ConstraintSet for Distances {
    fn id(&self) -> &'static str {
        self.batch.id()
    }
    fn units(&self) -> usize {
        self.batch.units()
    }
    fn entities(&self, unit: usize, visit: &mut dyn FnMut(u32)) {
        self.batch.entities(unit, visit);
    }
    fn reorder(&mut self, order: &[u32]) {
        self.batch.reorder(order);
        self.split();
    }
    fn work_len(&self) -> usize {
        self.batch.work_len()
    }
    fn multiplier_len(&self) -> usize {
        self.batch.multiplier_len()
    }
    fn begin(&self, sweep: &Sweep<'_>) {
        self.batch.begin(sweep);
    }
    fn sweep(&self, units: Range<usize>, sweep: &Sweep<'_>) {
        let plain = sweep.rule.formulation == Formulation::Xpbd
            && sweep.rule.gradient == GradientPoint::Current
            && !self.damped;
        if plain {
            self.arch.dispatch(
                #[inline(always)]
                || self.in_lanes(units, sweep),
            );
        } else {
            self.batch.sweep(units, sweep);
        }
    }
    fn measure(&self, sweep: &Sweep<'_>, visit: &mut dyn FnMut(Measure)) {
        self.batch.measure(sweep, visit);
    }
    fn multiplier(&self, index: usize, work: &[f64]) -> f64 {
        self.batch.multiplier(index, work)
    }
    fn len(&self) -> usize {
        self.batch.len()
    }
    fn soft(&self) -> Option<Softness> {
        self.batch.soft()
    }
    fn energy(&self, t: f64, q: &[f64], orientations: &[f64]) -> (EnergyTerm, f64) {
        self.batch.energy(t, q, orientations)
    }
    fn validate(&self) -> Result<(), (usize, ValueError)> {
        self.batch.validate()
    }
}
