//! Products with blocks of any kind.

use std::ops::Range;

use crate::lanes::{Kernel, Lane64, Lanes, Quad, block12, sum3};

/// The product on one part.
pub(super) struct GeneralProduct<'a, T> {
    pub(super) rows: Range<usize>,
    pub(super) row_ptr: &'a [u32],
    pub(super) columns: &'a [u32],
    pub(super) split: &'a [u32],
    pub(super) diagonal: &'a [f64],
    pub(super) upper: &'a [f64],
    pub(super) x: &'a [T],
    /// Rows of the part.
    pub(super) y: &'a mut [Lane64],
    pub(super) halo: &'a mut [Lane64],
    /// Row of the first entry of `halo`.
    pub(super) halo_start: usize,
}

impl<T: Lanes> Kernel for GeneralProduct<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn run<Q: Quad>(self, quad: Q) -> f64 {
        let Self { rows, row_ptr, columns, split, diagonal, upper, x, y, halo, halo_start } = self;
        halo.fill([0.0; 4]);
        y.fill([0.0; 4]);
        let start = rows.start;
        let mut dot = 0.0;
        for i in rows {
            let xi = x[i].splats(quad);
            let (begin, split, end) = (row_ptr[i] as usize, split[i] as usize, row_ptr[i + 1] as usize);
            let mut acc = [quad.splat(0.0); 3];
            for (k, &j) in (begin..split).zip(&columns[begin..split]) {
                let block = block12(upper, 9 * k);
                quad.accumulate(&mut acc, block, x[j as usize].load_wide(quad));
                let yj = &mut y[j as usize - start];
                *yj = quad.store(quad.add(quad.load(*yj), quad.transposed(block, xi)));
            }
            for (k, &j) in (split..end).zip(&columns[split..end]) {
                let block = block12(upper, 9 * k);
                quad.accumulate(&mut acc, block, x[j as usize].load_wide(quad));
                let yj = &mut halo[j as usize - halo_start];
                *yj = quad.store(quad.add(quad.load(*yj), quad.transposed(block, xi)));
            }
            let off = acc.map(|a| sum3(quad.store(a)));
            let own = quad.store(quad.transposed(block12(diagonal, 9 * i), xi));
            let (yi, xi) = (&mut y[i - start], x[i].first3());
            for r in 0..3 {
                yi[r] += own[r] + off[r];
                dot += xi[r] * (own[r] + 2.0 * off[r]);
            }
            yi[3] = 0.0;
        }
        dot
    }
}
