//! The matrix renumbered into chunks, with a product that threads share without conflicts.
//!
//! Interior rows touch their own part and the separators only. What a part adds to separator rows goes to a buffer of its
//! own (its halo) and is added in part order afterwards.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::block3::{self, Block};
use crate::lanes::{Kernel, Lane64, Lanes, PAD, Quad, block12, sum3, vectorized};
use crate::matrix::BlockSymmetric;
use crate::ordering::{ChunkedOrder, PermutedPattern, TRANSPOSED};
use crate::pattern::BlockPattern;
use crate::team::{Partials, Shared};

/// Sums over the blocks of a part.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FillSums {
    /// Traces of diagonal blocks.
    pub(crate) diagonal: f64,
    /// Absolute traces of upper blocks.
    pub(crate) upper: f64,
    /// Absolute values of everything: not finite if any value is not.
    pub(crate) absolute: f64,
}

#[derive(Debug)]
pub(crate) struct ChunkedMatrix {
    pub(crate) chunked: ChunkedOrder,
    pub(crate) permuted: PermutedPattern,
    /// Nine numbers per block row.
    pub(crate) diagonal: Shared<f64>,
    /// Nine numbers per upper block.
    pub(crate) upper: Shared<f64>,
    /// First upper entry of each row whose column is a separator of another part.
    split: Vec<u32>,
    /// Rows of the separators that each interior part reaches, counted from the first separator.
    halo_range: Vec<Range<usize>>,
    halo: Vec<Mutex<Vec<Lane64>>>,
}

impl ChunkedMatrix {
    pub(crate) fn new(chunked: ChunkedOrder, permuted: PermutedPattern) -> Self {
        let pattern = &permuted.pattern;
        let start = chunked.separator_start();
        let mut split = Vec::with_capacity(pattern.block_rows());
        let mut halo_range = Vec::new();
        for part in 0..chunked.parts() {
            let (mut low, mut high) = (usize::MAX, 0);
            for i in chunked.part(part) {
                let range = pattern.range(i);
                let row = &pattern.columns()[range.clone()];
                let own = if part < chunked.interiors {
                    row.partition_point(|&j| (j as usize) < start)
                } else {
                    row.len()
                };
                split.push((range.start + own) as u32);
                for &j in &row[own..] {
                    low = low.min(j as usize - start);
                    high = high.max(j as usize - start + 1);
                }
            }
            if part < chunked.interiors {
                halo_range.push(low.min(high)..high);
            }
        }
        let halo = halo_range.iter().map(|r| Mutex::new(vec![[0.0; 4]; r.len()])).collect();
        let scale = |bounds: Vec<usize>| {
            let mut bounds: Vec<usize> = bounds.iter().map(|b| 9 * b).collect();
            *bounds.last_mut().unwrap_or(&mut 0) += PAD;
            bounds
        };
        let row_start = |b: usize| if b == 0 { 0 } else { pattern.range(b - 1).end };
        let diagonal = Shared::new(0.0, &scale(chunked.bounds.clone()));
        let upper = Shared::new(0.0, &scale(chunked.bounds.iter().map(|&b| row_start(b)).collect()));
        Self { chunked, permuted, diagonal, upper, split, halo_range, halo }
    }

    pub(crate) fn pattern(&self) -> &BlockPattern {
        &self.permuted.pattern
    }

    pub(crate) fn rows(&self) -> usize {
        self.permuted.pattern.block_rows()
    }

    pub(crate) fn parts(&self) -> usize {
        self.chunked.parts()
    }

    /// Copies one part of `matrix` into the new numbering, and sums what the set-up wants to know of it.
    pub(crate) fn fill_part(&self, matrix: &BlockSymmetric, part: usize) -> FillSums {
        let mut sums = FillSums::default();
        let rows = self.chunked.part(part);
        let trace = |block: &Block| block[0] + block[4] + block[8];
        let mut diagonal = self.diagonal.write(part..part + 1);
        for (target, i) in diagonal.chunks_exact_mut(9).zip(rows.clone()) {
            let block = &matrix.diagonal[self.chunked.order[i] as usize];
            target.copy_from_slice(block);
            sums.diagonal += trace(block);
            sums.absolute += block.iter().map(|v| v.abs()).sum::<f64>();
        }
        let pattern = self.pattern();
        if rows.is_empty() {
            return sums;
        }
        let entries = pattern.range(rows.start).start..pattern.range(rows.end - 1).end;
        let mut upper = self.upper.write(part..part + 1);
        for (target, &source) in upper.chunks_exact_mut(9).zip(&self.permuted.source[entries]) {
            let block: &Block = &matrix.upper[(source & !TRANSPOSED) as usize];
            sums.upper += trace(block).abs();
            sums.absolute += block.iter().map(|v| v.abs()).sum::<f64>();
            if source & TRANSPOSED == 0 {
                target.copy_from_slice(block);
            } else {
                target.copy_from_slice(&block3::transpose(block));
            }
        }
        sums
    }

    /// The rows of one part of y = A x, halos aside; `dots` receives the part of x · A x.
    pub(crate) fn product_part<T: Lanes>(&self, x: &[T], y: &mut [Lane64], part: usize, dots: &Partials) {
        let (diagonal, upper) = (self.diagonal.read_all(), self.upper.read_all());
        let first_separator = self.chunked.separator_start();
        let interior = part < self.chunked.interiors;
        let mut none = [];
        let mut guard = interior.then(|| self.halo[part].lock().unwrap_or_else(PoisonError::into_inner));
        let halo: &mut [Lane64] = guard.as_mut().map_or(&mut none, |h| h.as_mut_slice());
        let halo_start = if interior { first_separator + self.halo_range[part].start } else { 0 };
        let work = PartProduct {
            rows: self.chunked.part(part),
            row_ptr: self.pattern().row_ptr(),
            columns: self.pattern().columns(),
            split: &self.split,
            diagonal: &diagonal,
            upper: &upper,
            x,
            y,
            halo,
            halo_start,
        };
        dots.set(part, vectorized(work));
    }

    /// Adds to the separator rows of `part` what the interiors sent there.
    pub(crate) fn add_halos(&self, y: &mut [Lane64], part: usize) {
        if part < self.chunked.interiors {
            return;
        }
        let first = self.chunked.separator_start();
        let rows = self.chunked.part(part);
        let (low, high) = (rows.start - first, rows.end - first);
        for (range, halo) in self.halo_range.iter().zip(&self.halo) {
            let common = range.start.max(low)..range.end.min(high);
            if common.is_empty() {
                continue;
            }
            let halo = halo.lock().unwrap_or_else(PoisonError::into_inner);
            for at in common {
                let h = &halo[at - range.start];
                for r in 0..3 {
                    y[at - low][r] += h[r];
                }
            }
        }
    }
}

/// The product on one part.
struct PartProduct<'a, T> {
    rows: Range<usize>,
    row_ptr: &'a [u32],
    columns: &'a [u32],
    split: &'a [u32],
    diagonal: &'a [f64],
    upper: &'a [f64],
    x: &'a [T],
    /// Rows of the part.
    y: &'a mut [Lane64],
    halo: &'a mut [Lane64],
    /// Row of the first entry of `halo`.
    halo_start: usize,
}

impl<T: Lanes> Kernel for PartProduct<'_, T> {
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
