//! Products with blocks of springs, a I + b bᵀ.
//!
//! As [`super::laplacian`], with four numbers per block instead of six: every spring and dashpot has such a block, b along
//! its direction. A copy in f32 keeps b bᵀ positive semidefinite, which six rounded numbers do not: of a stiffness 10⁷ times
//! the mass their rounding takes away as much as the mass resists with.

use std::ops::Range;

use crate::chunked_matrix::laplacian::STRIDE as ROW_SUM_STRIDE;
use crate::lanes::{Kernel, Lane64, Lanes, Quad, Weight, vectorized};

/// Numbers per block: b, then a.
pub(super) const STRIDE: usize = 4;

/// Blocks beyond this or below its inverse have no copy in f32.
const RANGE: f64 = 1e30;
/// Rounding of what an assembler sums up and of the decomposition, relative to the block.
const TOLERANCE: f64 = 64.0 * f64::EPSILON;

/// Blocks that are split at a time: as many as there are lanes.
pub(super) const BATCH: usize = 4;

/// Number by number, those of up to [`BATCH`] blocks.
type Lanewise<const N: usize> = [[f64; BATCH]; N];

/// b and a of symmetric blocks (diagonal, then entries 01, 12, 02), if all of them are a I + b bᵀ to rounding. Lanes that
/// hold no block are zero.
pub(super) fn split(six: &Lanewise<ROW_SUM_STRIDE>) -> Option<Lanewise<STRIDE>> {
    let mut springs = [[0.0; BATCH]; STRIDE];
    vectorized(Split { six, springs: &mut springs }).then_some(springs)
}

struct Split<'a> {
    six: &'a Lanewise<ROW_SUM_STRIDE>,
    springs: &'a mut Lanewise<STRIDE>,
}

impl Kernel for Split<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<Q: Quad>(self, q: Q) -> bool {
        let [xx, yy, zz, xy, yz, xz] = self.six.map(|lanes| q.load(lanes));
        let (zero, third) = (q.splat(0.0), q.splat(1.0 / 3.0));
        let square = |v| q.mul(v, v);
        let trace = q.add(q.add(xx, yy), zz);
        let mean = q.mul(trace, third);
        let on = [xx, yy, zz].map(|v| square(q.sub(v, mean)));
        let off = [xy, yz, xz].map(square);
        let (on, off) = (q.add(q.add(on[0], on[1]), on[2]), q.add(q.add(off[0], off[1]), off[2]));
        // The deviator of a I + b bᵀ has the norm √(2/3) |b|².
        let along = q.sqrt(q.mul(q.splat(1.5), q.add(on, q.add(off, off))));
        let a = q.mul(q.sub(trace, along), third);
        let (bxx, byy, bzz) = (q.sub(xx, a), q.sub(yy, a), q.sub(zz, a));
        // The column through the largest diagonal entry is the longest.
        let mut column = [byy, xy, byy, yz];
        for (c, x) in column.iter_mut().zip([bxx, bxx, xy, xz]) {
            *c = q.choose(bxx, byy, x, *c);
        }
        let pivot = column[0];
        for (c, z) in column.iter_mut().zip([bzz, xz, yz, bzz]) {
            *c = q.choose(bzz, pivot, z, *c);
        }
        let pivot = column[0];
        let scale = q.div(q.splat(1.0), q.sqrt(q.choose(pivot, zero, pivot, q.splat(1.0))));
        let b = [column[1], column[2], column[3]].map(|c| q.mul(c, scale));
        let mut wrong = zero;
        for (entry, i, j) in [(bxx, 0, 0), (byy, 1, 1), (bzz, 2, 2), (xy, 0, 1), (yz, 1, 2), (xz, 0, 2)] {
            wrong = q.add(wrong, q.abs(q.sub(entry, q.mul(b[i], b[j]))));
        }
        let (wrong, size) = (q.store(wrong), q.store(q.add(along, q.abs(mean))));
        *self.springs = [b[0], b[1], b[2], a].map(|v| q.store(v));
        let fits = |(wrong, size): (&f64, &f64)| {
            *size == 0.0 || (*wrong <= TOLERANCE * size && *size > 1.0 / RANGE && *size < RANGE)
        };
        wrong.iter().zip(&size).all(fits)
    }
}

/// The product on one part.
pub(super) struct SpringProduct<'a, X, W> {
    pub(super) rows: Range<usize>,
    pub(super) row_ptr: &'a [u32],
    pub(super) columns: &'a [u32],
    pub(super) split: &'a [u32],
    pub(super) row_sum: &'a [f64],
    pub(super) weight: &'a [W],
    pub(super) x: &'a [X],
    /// Rows of the part.
    pub(super) y: &'a mut [Lane64],
    pub(super) halo: &'a mut [Lane64],
    /// Row of the first entry of `halo`.
    pub(super) halo_start: usize,
}

impl<X: Lanes, W: Weight> Kernel for SpringProduct<'_, X, W> {
    type Output = f64;

    /// Writes the rows of y and returns their share of x · A x.
    #[inline(always)]
    fn run<Q: Quad>(self, quad: Q) -> f64 {
        let Self { rows, row_ptr, columns, split, row_sum, weight, x, y, halo, halo_start } = self;
        halo.fill([0.0; 4]);
        y.fill([0.0; 4]);
        let start = rows.start;
        let mut dot = quad.splat(0.0);
        for i in rows {
            let xi = x[i].load_wide(quad);
            let (begin, split, end) = (row_ptr[i] as usize, split[i] as usize, row_ptr[i + 1] as usize);
            let mut yi = quad.symmetric_times(row_sum, ROW_SUM_STRIDE * i, xi);
            dot = quad.add(dot, quad.mul(xi, yi));
            for (k, &j) in (begin..split).zip(&columns[begin..split]) {
                let difference = quad.sub(xi, x[j as usize].load_wide(quad));
                let t = quad.spring_times(W::load_four(quad, weight, STRIDE * k), difference);
                let yj = &mut y[j as usize - start];
                *yj = quad.store(quad.sub(quad.load(*yj), t));
                yi = quad.add(yi, t);
                dot = quad.add(dot, quad.mul(difference, t));
            }
            for (k, &j) in (split..end).zip(&columns[split..end]) {
                let difference = quad.sub(xi, x[j as usize].load_wide(quad));
                let t = quad.spring_times(W::load_four(quad, weight, STRIDE * k), difference);
                let yj = &mut halo[j as usize - halo_start];
                *yj = quad.store(quad.sub(quad.load(*yj), t));
                yi = quad.add(yi, t);
                dot = quad.add(dot, quad.mul(difference, t));
            }
            let own = &mut y[i - start];
            *own = quad.store(quad.add(quad.load(*own), yi));
        }
        let dot = quad.store(dot);
        (dot[0] + dot[1]) + dot[2]
    }
}
