//! Products with symmetric blocks, as all springs have them.
//!
//! With the row sums D_i = A_ii + Σ_j A_ij and W_ij = −A_ij the matrix acts as
//! (A x)_i = D_i x_i + Σ_j W_ij (x_i − x_j): six numbers per block instead of nine, one product per pair instead of two,
//! and differences of neighbors, where stiff terms cancel, are taken before they are multiplied.

use std::ops::Range;

use crate::block3::Block;
use crate::lanes::{Kernel, Lane64, Lanes, Quad};

/// Numbers per symmetric block: the diagonal, then entries 01, 12, 02.
pub(super) const STRIDE: usize = 6;

/// The six numbers of a block, if it is symmetric.
#[inline]
pub(super) fn compress(b: &Block) -> Option<[f64; STRIDE]> {
    let symmetric = b[1] == b[3] && b[2] == b[6] && b[5] == b[7];
    symmetric.then_some([b[0], b[4], b[8], b[1], b[5], b[2]])
}

/// The product on one part.
pub(super) struct LaplacianProduct<'a, T> {
    pub(super) rows: Range<usize>,
    pub(super) row_ptr: &'a [u32],
    pub(super) columns: &'a [u32],
    pub(super) split: &'a [u32],
    pub(super) row_sum: &'a [f64],
    pub(super) weight: &'a [f64],
    pub(super) x: &'a [T],
    /// Rows of the part.
    pub(super) y: &'a mut [Lane64],
    pub(super) halo: &'a mut [Lane64],
    /// Row of the first entry of `halo`.
    pub(super) halo_start: usize,
}

impl<T: Lanes> Kernel for LaplacianProduct<'_, T> {
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
            let mut yi = quad.symmetric_times(row_sum, STRIDE * i, xi);
            dot = quad.add(dot, quad.mul(xi, yi));
            for (k, &j) in (begin..split).zip(&columns[begin..split]) {
                let difference = quad.sub(xi, x[j as usize].load_wide(quad));
                let t = quad.symmetric_times(weight, STRIDE * k, difference);
                let yj = &mut y[j as usize - start];
                *yj = quad.store(quad.sub(quad.load(*yj), t));
                yi = quad.add(yi, t);
                dot = quad.add(dot, quad.mul(difference, t));
            }
            for (k, &j) in (split..end).zip(&columns[split..end]) {
                let difference = quad.sub(xi, x[j as usize].load_wide(quad));
                let t = quad.symmetric_times(weight, STRIDE * k, difference);
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
