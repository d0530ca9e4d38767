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
use sim_core::EnergyTerm;
use std::ops::Range;

const LANES: usize = 4;
/// Squared lengths outside of this range lose digits or overflow and take the careful path.
const SAFE_SQUARE: Range<f64> = 1e-250..1e250;

/// Comparison predicates of the processor: ordered, quiet.
#[cfg(target_arch = "x86_64")]
const GREATER: i32 = std::arch::x86_64::_CMP_GT_OQ;
#[cfg(target_arch = "x86_64")]
const LESS: i32 = std::arch::x86_64::_CMP_LT_OQ;

/// What the processor offers, found at run time.
#[derive(Clone, Copy, Debug)]
enum Lanes {
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
    Portable,
}

impl Lanes {
    fn of_this_processor() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = pulp::x86::V3::try_new() {
            return Self::Avx2(simd);
        }
        Self::Portable
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Distances {
    batch: Batch<Distance, 2>,
    ends: Vec<[u32; 2]>,
    rest_length: Vec<f64>,
    compliance: Vec<f64>,
    rigid: bool,
    damped: bool,
    lanes: Lanes,
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
            lanes: Lanes::of_this_processor(),
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

    fn plain(&self, units: Range<usize>, sweep: &Sweep<'_>) {
        match (self.lanes, self.rigid) {
            #[cfg(target_arch = "x86_64")]
            (Lanes::Avx2(simd), true) => simd.vectorize(
                #[inline(always)]
                || self.fours::<true>(simd, units, sweep),
            ),
            #[cfg(target_arch = "x86_64")]
            (Lanes::Avx2(simd), false) => simd.vectorize(
                #[inline(always)]
                || self.fours::<false>(simd, units, sweep),
            ),
            (Lanes::Portable, true) => self.groups::<true>(units, sweep),
            (Lanes::Portable, false) => self.groups::<false>(units, sweep),
        }
    }

    fn groups<const RIGID: bool>(&self, units: Range<usize>, sweep: &Sweep<'_>) {
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

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn fours<const RIGID: bool>(&self, simd: pulp::x86::V3, units: Range<usize>, sweep: &Sweep<'_>) {
        let mut first = units.start;
        while first + LANES <= units.end {
            self.four::<RIGID>(simd, first, sweep);
            first += LANES;
        }
        while first < units.end {
            self.group::<RIGID, 1>(first, sweep);
            first += 1;
        }
    }

    /// Four constraints with a particle per register, so that nothing is transposed but the four squared lengths.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn four<const RIGID: bool>(&self, simd: pulp::x86::V3, first: usize, sweep: &Sweep<'_>) {
        use std::arch::x86_64::__m256d;
        let avx = simd.avx;
        let ends: &[[u32; 2]; 4] = self.ends[first..first + 4].try_into().expect("a slice of 4");
        let of = |slice: &[f64]| -> __m256d {
            let four: [f64; 4] = slice[first..first + 4].try_into().expect("a slice of 4");
            pulp::cast(four)
        };
        let all = |value: f64| avx._mm256_set1_pd(value);
        let a: [__m256d; 4] = std::array::from_fn(
            #[inline(always)]
            |i| pulp::cast(sweep.point(ends[i][0])),
        );
        let b: [__m256d; 4] = std::array::from_fn(
            #[inline(always)]
            |i| pulp::cast(sweep.point(ends[i][1])),
        );
        // The fourth lane holds inverse masses; it takes no part in differences.
        let keep: __m256d = pulp::cast([u64::MAX, u64::MAX, u64::MAX, 0]);
        let d: [__m256d; 4] = std::array::from_fn(
            #[inline(always)]
            |i| avx._mm256_and_pd(avx._mm256_sub_pd(b[i], a[i]), keep),
        );
        let dd: [__m256d; 4] = std::array::from_fn(
            #[inline(always)]
            |i| avx._mm256_mul_pd(d[i], d[i]),
        );
        let (first_two, last_two) = (avx._mm256_hadd_pd(dd[0], dd[1]), avx._mm256_hadd_pd(dd[2], dd[3]));
        let square = avx._mm256_add_pd(
            avx._mm256_permute2f128_pd::<0x20>(first_two, last_two),
            avx._mm256_permute2f128_pd::<0x31>(first_two, last_two),
        );
        let above = avx._mm256_cmp_pd::<{ GREATER }>(square, all(SAFE_SQUARE.start));
        let below = avx._mm256_cmp_pd::<{ LESS }>(square, all(SAFE_SQUARE.end));
        if avx._mm256_movemask_pd(avx._mm256_and_pd(above, below)) != 0b1111 {
            return self.carefully::<RIGID>(first..first + 4, sweep);
        }
        let weights = |p: &[__m256d; 4]| {
            let (first_two, last_two) =
                (avx._mm256_unpackhi_pd(p[0], p[1]), avx._mm256_unpackhi_pd(p[2], p[3]));
            avx._mm256_permute2f128_pd::<0x31>(first_two, last_two)
        };
        let (wa, wb) = (weights(&a), weights(&b));
        let lambda: __m256d = pulp::cast(sweep.work4(first));
        let length = avx._mm256_sqrt_pd(square);
        let mut residual = avx._mm256_sub_pd(length, of(&self.rest_length));
        let mut mobility = avx._mm256_add_pd(wa, wb);
        if !RIGID {
            let softness = avx._mm256_div_pd(of(&self.compliance), all(sweep.rule.dt * sweep.rule.dt));
            residual = avx._mm256_add_pd(residual, avx._mm256_mul_pd(softness, lambda));
            mobility = avx._mm256_add_pd(mobility, softness);
        }
        let denominator = avx._mm256_mul_pd(length, mobility);
        let step = avx._mm256_xor_pd(avx._mm256_mul_pd(all(sweep.rule.relaxation), residual), all(-0.0));
        let movable = avx._mm256_cmp_pd::<{ GREATER }>(denominator, all(0.0));
        let share = avx._mm256_and_pd(avx._mm256_div_pd(step, denominator), movable);
        sweep.set_work4(first, pulp::cast(avx._mm256_add_pd(lambda, avx._mm256_mul_pd(share, length))));
        let (back, forth) = (avx._mm256_mul_pd(wa, share), avx._mm256_mul_pd(wb, share));
        macro_rules! write {
            ($($i:literal $lane:literal),*) => {$(
                let one = simd.avx2._mm256_permute4x64_pd::<$lane>(back);
                let other = simd.avx2._mm256_permute4x64_pd::<$lane>(forth);
                sweep.set_point(ends[$i][0], pulp::cast(avx._mm256_sub_pd(a[$i], avx._mm256_mul_pd(one, d[$i]))));
                sweep.set_point(ends[$i][1], pulp::cast(avx._mm256_add_pd(b[$i], avx._mm256_mul_pd(other, d[$i]))));
            )*};
        }
        write!(0 0b00_00_00_00, 1 0b01_01_01_01, 2 0b10_10_10_10, 3 0b11_11_11_11);
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
        let mut safe = true;
        for s in &square {
            safe = safe && *s > SAFE_SQUARE.start && *s < SAFE_SQUARE.end;
        }
        if !safe {
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
            self.plain(units, sweep);
        } else {
            self.batch.sweep(units, sweep);
        }
    }
    fn measure(&self, sweep: &Sweep<'_>, visit: &mut dyn FnMut(Measure)) {
        if self.damped {
            return self.batch.measure(sweep, visit);
        }
        for (slot, &[i, j]) in self.ends.iter().enumerate() {
            let d = sweep.position(j) - sweep.position(i);
            let square = d.norm_squared();
            let length = if SAFE_SQUARE.contains(&square) { square.sqrt() } else { direction(d).0 };
            let value = length - self.rest_length[slot];
            let softness = self.compliance[slot] / (sweep.rule.dt * sweep.rule.dt);
            visit(Measure {
                index: self.batch.index[slot] as usize,
                value,
                residual: value + softness * sweep.work(slot),
                scale: if self.rest_length[slot] > 0.0 { self.rest_length[slot] } else { 1.0 },
                rigid: self.compliance[slot] == 0.0,
            });
        }
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
