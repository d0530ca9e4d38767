//! The 3×3 blocks of springs, a strip at a time: formed in lanes over springs, handed over together.
//!
//! With `n` along the spring and `t = 1 - l0/l`, the block of `w_D D + w_K K` is `α I + β n nᵀ`, `α = w_K k t` and
//! `β = w_K k (1 - t) + w_D c`. Only sums, products, one square root and one division occur: the bits are the same on every
//! processor.
#![allow(clippy::inline_always)] // what is not inlined is compiled without the processor's features

use super::kernel::{Loose, Run, STRIP};
use crate::system::{BlockSink, Definiteness, MatrixWeights};
use std::ops::Range;

/// Which blend of damping and stiffness, and whether projected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blend {
    pub weights: MatrixWeights,
    pub definiteness: Definiteness,
}

/// Emits the springs of a run; idle places are no springs.
pub(super) fn emit_run(run: &Run, q: &[f64], blend: Blend, sink: &mut dyn BlockSink) {
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
        let side = |first: u32| {
            let first = 3 * (first as usize + start);
            &q[first..first + 3 * count]
        };
        form(FormBlocks {
            blend,
            q: run.ends.map(side),
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

/// Emits springs in no run.
pub(super) fn emit_loose(
    loose: &Loose,
    range: Range<usize>,
    q: &[f64],
    blend: Blend,
    sink: &mut dyn BlockSink,
) {
    let mut blocks = [[0.0; 9]; STRIP];
    let mut sides = [[[0.0; 3]; STRIP]; 2];
    let points = q.as_chunks::<3>().0;
    for start in range.clone().step_by(STRIP) {
        let strip = start..range.end.min(start + STRIP);
        let ends = &loose.ends[strip.clone()];
        let count = ends.len();
        for (k, end) in ends.iter().enumerate() {
            for (side, &particle) in sides.iter_mut().zip(end) {
                side[k] = points[particle as usize];
            }
        }
        form(FormBlocks {
            blend,
            q: [sides[0][..count].as_flattened(), sides[1][..count].as_flattened()],
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
    blend: Blend,
    /// Positions of the first and of the second ends.
    q: [&'a [f64]; 2],
    rest_length: &'a [f64],
    stiffness: &'a [f64],
    damping: &'a [f64],
    blocks: &'a mut [[f64; 9]],
}

impl pulp::NullaryFnOnce for FormBlocks<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { blend, q, rest_length, stiffness, damping, blocks } = self;
        let Blend { weights, definiteness } = blend;
        let lowest = if definiteness == Definiteness::Exact { f64::NEG_INFINITY } else { 0.0 };
        let count = blocks.len();
        let (rest_length, stiffness, damping) =
            (&rest_length[..count], &stiffness[..count], &damping[..count]);
        // Separate short loops, each of which becomes lanes.
        let mut along = [[0.0; 3]; STRIP];
        let along = &mut along[..count];
        for (d, (a, b)) in along.as_flattened_mut().iter_mut().zip(q[0].iter().zip(q[1])) {
            *d = b - a;
        }
        let mut length = [0.0; STRIP];
        let length = &mut length[..count];
        for (length, d) in length.iter_mut().zip(&*along) {
            *length = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        }
        let (mut inverse, mut across, mut extra) = ([0.0; STRIP], [0.0; STRIP], [0.0; STRIP]);
        let (inverse, across, extra) = (&mut inverse[..count], &mut across[..count], &mut extra[..count]);
        for i in 0..count {
            let l = length[i].sqrt();
            let inv = if l > 0.0 { 1.0 / l } else { 0.0 };
            let t = 1.0 - rest_length[i] * inv;
            // Ends that coincide have no direction: a third of the stiffness, the mean over all of them.
            let t = if l == 0.0 && rest_length[i] > 0.0 { 1.0 / 3.0 } else { t };
            let t = if t > lowest { t } else { lowest };
            let k = weights.stiffness * stiffness[i];
            inverse[i] = inv;
            across[i] = k * t;
            extra[i] = k * (1.0 - t) + weights.damping * damping[i];
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
        let at = Kinematics { t: 0.0, q: &q, v: &q, mass: &[] };
        for definiteness in [Definiteness::Exact, Definiteness::Projected] {
            let mut blocks = BTreeMap::new();
            let mut take = |a: usize, b: usize, block: &Matrix3<f64>| {
                if a != b {
                    blocks.insert((a.min(b) as u32, a.max(b) as u32), -block);
                }
            };
            let weights = MatrixWeights { damping: 0.7, stiffness: 0.2 };
            Springs::new(springs.iter().copied()).weighted_matrix(at, weights, definiteness, &mut take);
            assert_eq!(blocks.len(), springs.len());
            for Spring { ends: [a, b], rest_length, stiffness, damping } in &springs {
                let d = point(&q, *b) - point(&q, *a);
                let potential = SpringPotential { stiffness: *stiffness, rest_length: *rest_length };
                let mut expected = potential.block(d, definiteness) * weights.stiffness;
                if d.norm() > 0.0 {
                    expected += d * d.transpose() * (weights.damping * damping / d.norm_squared());
                }
                let found = blocks[&(*a.min(b), *a.max(b))];
                assert!((found - expected).norm() < 1e-13 * expected.norm(), "{a} {b}: {found}{expected}");
            }
        }
    }
}
