//! The 3×3 blocks of springs, a strip at a time: formed in lanes over springs, handed over together.
//!
//! With `n` along the spring and `s` its tension over its length, the block of `w_D D + w_K K` is `α I + β n nᵀ`, `α = w_K s` and
//! `β = w_K (k - s) + w_D c`. Only sums, products, square roots and divisions occur: the bits are the same on every processor.
#![allow(clippy::inline_always)] // what is not inlined is compiled without the processor's features

use super::kernel::{Loose, Run, STRIP};
use crate::system::{BlockSink, Definiteness, MatrixRequest};
use std::ops::Range;

/// Which blend of damping and stiffness, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blend<'a> {
    pub q: &'a [f64],
    pub v: &'a [f64],
    pub request: MatrixRequest<'a>,
}

/// Emits the springs of a run; idle places are no springs.
pub(super) fn emit_run(run: &Run, blend: Blend<'_>, sink: &mut dyn BlockSink) {
    let mut blocks = [[0.0; 9]; STRIP];
    let mut ends = [[0; 2]; STRIP];
    let (mut rest_length, mut stiffness, mut damping) = ([0.0; STRIP], [0.0; STRIP], [0.0; STRIP]);
    run.rest_length.fill(&mut rest_length);
    run.stiffness.fill(&mut stiffness);
    run.damping.fill(&mut damping);
    let mut idle = run.idle.iter().map(|&place| place as usize).peekable();
    for start in (0..run.count).step_by(STRIP) {
        let end = run.count.min(start + STRIP);
        let mut count = end - start;
        form(FormBlocks {
            request: blend.request,
            q: run_sides(run, blend.q, start, count),
            prediction: blend.request.before.map(|before| Prediction {
                q: run_sides(run, before, start, count),
                v: run_sides(run, blend.v, start, count),
            }),
            rest_length: run.rest_length.between(start, end, &rest_length),
            stiffness: run.stiffness.between(start, end, &stiffness),
            damping: run.damping.between(start, end, &damping),
            blocks: &mut blocks[..count],
        });
        for (k, ends) in (start as u32..).zip(&mut ends[..count]) {
            *ends = run.ends.map(|first| first + k);
        }
        if idle.peek().is_some_and(|&place| place < end) {
            let mut kept = 0;
            for place in start..end {
                if idle.next_if_eq(&place).is_none() {
                    (blocks[kept], ends[kept]) = (blocks[place - start], ends[place - start]);
                    kept += 1;
                }
            }
            count = kept;
        }
        sink.add_pairs(&ends[..count], &blocks[..count]);
    }
}

/// Both ends of a strip of a run, three numbers each.
fn run_sides<'a>(run: &Run, x: &'a [f64], start: usize, count: usize) -> [&'a [f64]; 2] {
    run.ends.map(|first| {
        let first = 3 * (first as usize + start);
        &x[first..first + 3 * count]
    })
}

type Sides = [[[f64; 3]; STRIP]; 2];

fn gather_sides(ends: &[[u32; 2]], x: &[f64], sides: &mut Sides) {
    let points = x.as_chunks::<3>().0;
    for (k, end) in ends.iter().enumerate() {
        for (side, &particle) in sides.iter_mut().zip(end) {
            side[k] = points[particle as usize];
        }
    }
}

fn flat(sides: &Sides, count: usize) -> [&[f64]; 2] {
    [sides[0][..count].as_flattened(), sides[1][..count].as_flattened()]
}

/// Emits springs in no run.
pub(super) fn emit_loose(loose: &Loose, range: Range<usize>, blend: Blend<'_>, sink: &mut dyn BlockSink) {
    let mut blocks = [[0.0; 9]; STRIP];
    let mut sides = [[[0.0; 3]; STRIP]; 2];
    let (mut earlier, mut rates) = (sides, sides);
    for start in range.clone().step_by(STRIP) {
        let strip = start..range.end.min(start + STRIP);
        let ends = &loose.ends[strip.clone()];
        let count = ends.len();
        gather_sides(ends, blend.q, &mut sides);
        if let Some(before) = blend.request.before {
            gather_sides(ends, before, &mut earlier);
            gather_sides(ends, blend.v, &mut rates);
        }
        form(FormBlocks {
            request: blend.request,
            q: flat(&sides, count),
            prediction: blend
                .request
                .before
                .map(|_| Prediction { q: flat(&earlier, count), v: flat(&rates, count) }),
            rest_length: &loose.rest_length[strip.clone()],
            stiffness: &loose.stiffness[strip.clone()],
            damping: &loose.damping[strip],
            blocks: &mut blocks[..count],
        });
        sink.add_pairs(ends, &blocks[..count]);
    }
}

fn form(kernel: FormBlocks<'_>) {
    // Four lanes, not eight: forming 9 numbers from 5 is mostly shuffling, and eight took 15 % longer.
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return simd.vectorize(kernel);
    }
    pulp::NullaryFnOnce::call(kernel);
}

/// The blocks of at most [`STRIP`] springs; every slice is as long as `blocks`, those of `q` three times.
struct FormBlocks<'a> {
    request: MatrixRequest<'a>,
    /// Positions of the first and of the second ends.
    q: [&'a [f64]; 2],
    prediction: Option<Prediction<'a>>,
    rest_length: &'a [f64],
    stiffness: &'a [f64],
    damping: &'a [f64],
    blocks: &'a mut [[f64; 9]],
}

/// What tensions are predicted from: positions before, and velocities, of the first and of the second ends.
#[derive(Clone, Copy)]
struct Prediction<'a> {
    q: [&'a [f64]; 2],
    v: [&'a [f64]; 2],
}

/// Differences of the ends.
#[inline(always)]
fn between(sides: [&[f64]; 2], differences: &mut [[f64; 3]]) {
    for (d, (a, b)) in differences.as_flattened_mut().iter_mut().zip(sides[0].iter().zip(sides[1])) {
        *d = b - a;
    }
}

#[inline(always)]
fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl pulp::NullaryFnOnce for FormBlocks<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { request, q, prediction, rest_length, stiffness, damping, blocks } = self;
        let lowest = if request.definiteness == Definiteness::Exact { f64::NEG_INFINITY } else { 0.0 };
        let count = blocks.len();
        let (rest_length, stiffness, damping) =
            (&rest_length[..count], &stiffness[..count], &damping[..count]);
        // Separate short loops, each of which becomes lanes.
        let mut along = [[0.0; 3]; STRIP];
        let along = &mut along[..count];
        between(q, along);
        let mut length = [0.0; STRIP];
        let length = &mut length[..count];
        for (length, d) in length.iter_mut().zip(&*along) {
            *length = dot(*d, *d);
        }
        let (mut inverse, mut across, mut extra) = ([0.0; STRIP], [0.0; STRIP], [0.0; STRIP]);
        let (inverse, across, extra) = (&mut inverse[..count], &mut across[..count], &mut extra[..count]);
        // Tension over length.
        for i in 0..count {
            let l = length[i].sqrt();
            let inv = if l > 0.0 { 1.0 / l } else { 0.0 };
            let t = 1.0 - rest_length[i] * inv;
            // Ends that coincide have no direction: a third of the stiffness, the mean over all of them.
            let t = if l == 0.0 && rest_length[i] > 0.0 { 1.0 / 3.0 } else { t };
            inverse[i] = inv;
            across[i] = stiffness[i] * t;
        }
        if let Some(Prediction { q, v }) = prediction {
            let (mut before, mut rate) = ([[0.0; 3]; STRIP], [[0.0; 3]; STRIP]);
            let (before, rate) = (&mut before[..count], &mut rate[..count]);
            between(q, before);
            between(v, rate);
            for i in 0..count {
                let l = dot(before[i], before[i]).sqrt();
                let inv = if l > 0.0 { 1.0 / l } else { 0.0 };
                let n = before[i].map(|x| x * inv);
                let (w_along, d_along) = (dot(n, rate[i]), dot(n, along[i]));
                // The rate n·w, and how it changes as n turns from `before` to `along`.
                let turned = w_along + (dot(rate[i], along[i]) - w_along * d_along) * inv;
                let tension = stiffness[i] * (d_along - rest_length[i]) + damping[i] * turned;
                across[i] = if l > 0.0 && inverse[i] > 0.0 { tension * inverse[i] } else { across[i] };
            }
        }
        for i in 0..count {
            let s = if across[i] > lowest { across[i] } else { lowest };
            across[i] = request.stiffness * s;
            extra[i] = request.stiffness * (stiffness[i] - s) + request.damping * damping[i];
        }
        for (i, block) in blocks.iter_mut().enumerate() {
            let (alpha, beta) = (across[i], extra[i]);
            let n = [along[i][0] * inverse[i], along[i][1] * inverse[i], along[i][2] * inverse[i]];
            let m = [n[0] * beta, n[1] * beta, n[2] * beta];
            let (xy, xz, yz) = (m[0] * n[1], m[0] * n[2], m[1] * n[2]);
            *block = [m[0] * n[0] + alpha, xy, xz, xy, m[1] * n[1] + alpha, yz, xz, yz, m[2] * n[2] + alpha];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Spring, SpringPotential, Springs};
    use super::*;
    use crate::force::{Force, Kinematics, point};
    use nalgebra::Matrix3;
    use std::collections::BTreeMap;

    /// Runs with gaps, springs in no run, reversed ends, ends that coincide: every block is that of the potential.
    #[test]
    fn blocks_are_those_of_the_potential() {
        let count = 300_u32;
        let mut springs = Vec::new();
        for i in (0..count - 2).filter(|i| i % 37 != 5) {
            let ends = if i % 4 == 0 { [i + 1, i] } else { [i, i + 1] };
            springs.push((ends, 0.5 + 0.01 * f64::from(i % 7), 100.0, 0.3));
        }
        springs.extend([([7, 90], 0.0, 40.0, 0.0), ([299, 3], 2.0, 10.0, 1.0), ([150, 20], 0.4, 5.0, 0.2)]);
        let springs: Vec<Spring> = (springs.into_iter())
            .map(|(ends, rest_length, stiffness, damping)| Spring { ends, rest_length, stiffness, damping })
            .collect();
        let mut q: Vec<f64> =
            (0..3 * count).map(|k| 0.2 * f64::from(k) + (f64::from(k) * 1.3).sin()).collect();
        let twin: Vec<f64> = q[60..63].to_vec();
        q[450..453].copy_from_slice(&twin);
        let at = Kinematics { t: 0.0, q: &q, v: &q, mass: &[], start: None };
        for definiteness in [Definiteness::Exact, Definiteness::Projected] {
            let mut blocks = BTreeMap::new();
            let mut take = |a: usize, b: usize, block: &Matrix3<f64>| {
                if a != b {
                    blocks.insert((a.min(b) as u32, a.max(b) as u32), -block);
                }
            };
            let request = MatrixRequest { damping: 0.7, stiffness: 0.2, definiteness, before: None };
            Springs::new(springs.iter().copied()).weighted_matrix(at, request, &mut take);
            assert_eq!(blocks.len(), springs.len());
            for Spring { ends: [a, b], rest_length, stiffness, damping } in &springs {
                let d = point(&q, *b) - point(&q, *a);
                let potential = SpringPotential { stiffness: *stiffness, rest_length: *rest_length };
                let mut expected = potential.block(d, definiteness) * request.stiffness;
                if d.norm() > 0.0 {
                    expected += d * d.transpose() * (request.damping * damping / d.norm_squared());
                }
                let found = blocks[&(*a.min(b), *a.max(b))];
                assert!((found - expected).norm() < 1e-13 * expected.norm(), "{a} {b}: {found}{expected}");
            }
        }
    }
}
