//! Solves with the factor in f32 lanes, part by part.

use crate::block_factor::numeric::BlockFactor;
use crate::block_factor::symbolic::FactorPattern;
use crate::lanes::{Kernel, Lane32, PAD, Quad, block12, sum3, vectorized};
use crate::ordering::ChunkedOrder;
use crate::team_kernel::Shared;

/// y = L⁻¹ y on one part. `before` holds the interiors when the part is a separator group, else nothing.
struct LowerSolve<'a> {
    pattern: &'a FactorPattern,
    lower: &'a [f32],
    start: usize,
    before: &'a [Lane32],
    y: &'a mut [Lane32],
}

impl Kernel for LowerSolve<'_> {
    type Output = ();

    #[inline(always)]
    fn run<Q: Quad>(self, quad: Q) {
        let Self { pattern, lower, start, before, y } = self;
        let first_entry = pattern.ptr[start] as usize;
        for local in 0..y.len() {
            let i = start + local;
            let (begin, own, end) =
                (pattern.ptr[i] as usize, pattern.own[i] as usize, pattern.ptr[i + 1] as usize);
            let mut acc = [quad.splat32(0.0); 3];
            for (k, &j) in (begin..own).zip(&pattern.col[begin..own]) {
                quad.accumulate32(
                    &mut acc,
                    block12(lower, 9 * (k - first_entry)),
                    quad.load32(before[j as usize]),
                );
            }
            for (k, &j) in (own..end).zip(&pattern.col[own..end]) {
                let x = quad.load32(y[j as usize - start]);
                quad.accumulate32(&mut acc, block12(lower, 9 * (k - first_entry)), x);
            }
            let known = quad.sums32(acc);
            y[local] = quad.store32(quad.sub32(quad.load32(y[local]), known));
        }
    }
}

/// y = D⁻¹ y, with the inverse blocks as the factor stores them; gives y · D⁻¹ y.
pub(crate) struct DiagonalSolve<'a> {
    pub(crate) inverse: &'a [[f32; 12]],
    pub(crate) y: &'a mut [Lane32],
}

impl Kernel for DiagonalSolve<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<Q: Quad>(self, quad: Q) -> f64 {
        let mut dot = quad.splat(0.0);
        for (d, y) in self.inverse.iter().zip(self.y) {
            // D⁻¹ is symmetric: its rows are its columns.
            let x = [quad.splat32(y[0]), quad.splat32(y[1]), quad.splat32(y[2])];
            let before = quad.widen(quad.load32(*y));
            let after = quad.transposed32(d, x);
            dot = quad.add(dot, quad.mul(before, quad.widen(after)));
            *y = quad.store32(after);
        }
        sum3(quad.store(dot))
    }
}

/// y = L⁻ᵀ y on one part, whose couplings to later parts are already subtracted.
struct UpperSolve<'a> {
    pattern: &'a FactorPattern,
    lower: &'a [f32],
    start: usize,
    y: &'a mut [Lane32],
}

impl Kernel for UpperSolve<'_> {
    type Output = ();

    #[inline(always)]
    fn run<Q: Quad>(self, quad: Q) {
        let Self { pattern, lower, start, y } = self;
        let first_entry = pattern.ptr[start] as usize;
        for local in (0..y.len()).rev() {
            let i = start + local;
            let (own, end) = (pattern.own[i] as usize, pattern.ptr[i + 1] as usize);
            // Final now, so its last lane can be cleared.
            y[local][3] = 0.0;
            let yi = [quad.splat32(y[local][0]), quad.splat32(y[local][1]), quad.splat32(y[local][2])];
            for (k, &j) in (own..end).zip(&pattern.col[own..end]) {
                let x = &mut y[j as usize - start];
                let update = quad.transposed32(block12(lower, 9 * (k - first_entry)), yi);
                *x = quad.store32(quad.sub32(quad.load32(*x), update));
            }
        }
    }
}

/// First half of a solve, on one interior part: y = L⁻¹ y. Separators follow in [`backward`].
pub(crate) fn forward(
    factor: &BlockFactor,
    pattern: &FactorPattern,
    chunked: &ChunkedOrder,
    y: &Shared<Lane32>,
    part: usize,
) {
    let lower = factor.lower.read(part..part + 1);
    let separators = part >= chunked.interiors;
    let before = y.read(if separators { 0..chunked.interiors } else { 0..0 });
    let mut own = y.write(part..part + 1);
    let work =
        LowerSolve { pattern, lower: &lower, start: chunked.bounds[part], before: &before, y: &mut own };
    vectorized(work);
}

/// Second half of a solve, on one part: y = L⁻ᵀ D⁻¹ y; separators first. Gives the part's share of y · D⁻¹ y.
pub(crate) fn backward(
    factor: &BlockFactor,
    pattern: &FactorPattern,
    chunked: &ChunkedOrder,
    y: &Shared<Lane32>,
    part: usize,
) -> f64 {
    let lower = factor.lower.read(part..part + 1);
    let inverse = factor.inverse.read(part..part + 1);
    let mut own = y.write(part..part + 1);
    let start = chunked.bounds[part];
    let smoothed = vectorized(DiagonalSolve { inverse: &inverse, y: &mut own });
    if part < chunked.interiors && chunked.parts() > chunked.interiors {
        let (parts, first) = (chunked.interiors..chunked.parts(), chunked.separator_start());
        let later = y.read(parts.clone());
        let later_lower = factor.lower.read(parts.clone());
        let base = pattern.ptr[first] as usize;
        for &[j, i, k] in pattern.bridges_of(part) {
            let group = parts.clone().skip(1).take_while(|&p| chunked.bounds[p] <= i as usize).count();
            let yi = later[i as usize - first];
            let at = 9 * (k as usize - base) + PAD * group;
            let block = block12(&later_lower, at);
            for (l, x) in own[j as usize - start].iter_mut().enumerate().take(3) {
                *x -= (block[l] * yi[0] + block[3 + l] * yi[1]) + block[6 + l] * yi[2];
            }
        }
    }
    vectorized(UpperSolve { pattern, lower: &lower, start, y: &mut own });
    smoothed
}
