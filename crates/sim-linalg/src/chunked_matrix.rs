//! The matrix renumbered into chunks, with a product that threads share without conflicts.
//!
//! Interior rows touch their own part and the separators only. What a part adds to separator rows goes to a buffer of its
//! own (its halo) and is added in part order afterwards.

mod general;
mod laplacian;
mod spring;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::block3::{self, Block};
use crate::lanes::{Lane64, Lanes, PAD, vectorized};
use crate::matrix::BlockSymmetric;
use crate::ordering::{ChunkedOrder, PermutedPattern, TRANSPOSED};
use crate::pattern::BlockPattern;
use crate::team_kernel::{Partials, Shared};

use self::general::GeneralProduct;
use self::laplacian::{LaplacianProduct, STRIDE, compress};
use self::spring::SpringProduct;

/// Sums over the blocks of a part.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FillSums {
    /// Traces of diagonal blocks.
    pub(crate) diagonal: f64,
    /// Absolute traces of upper blocks.
    pub(crate) upper: f64,
    /// Absolute values of everything: not finite if any value is not.
    pub(crate) absolute: f64,
    /// Whether the blocks suit the format.
    pub(crate) fits: bool,
}

/// How blocks are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// Every upper block is that of a spring: row sums of six numbers, four for a negated upper block, in f64 and in f32.
    Springs,
    /// Every block is symmetric: row sums and negated upper blocks, six numbers each.
    Laplacian,
    /// Diagonal and upper blocks, nine numbers each.
    General,
}

/// Upper blocks from which products wait for memory, so that smaller blocks pay for being found: 60,000 fit a cache of a
/// few MB and gain nothing, 240,000 gain a sixth of the iteration.
const SPRINGS_FROM: usize = 100_000;

#[derive(Debug)]
pub(crate) struct ChunkedMatrix {
    pub(crate) chunked: ChunkedOrder,
    pub(crate) permuted: PermutedPattern,
    format: Format,
    /// Diagonal blocks or row sums.
    diagonal: Shared<f64>,
    upper: Shared<f64>,
    /// The upper blocks of springs in f32, for products that only precondition.
    narrow: Shared<f32>,
    /// First upper entry of each row whose column is a separator of another part.
    split: Vec<u32>,
    /// Upper entries of interior rows that reach each separator row.
    incoming_ptr: Vec<u32>,
    incoming: Vec<u32>,
    /// Rows of the separators that each interior part reaches, counted from the first separator.
    halo_range: Vec<Range<usize>>,
    halo: Vec<Mutex<Vec<Lane64>>>,
}

impl ChunkedMatrix {
    /// Merges the separators of `chunked` if the matrix couples them: a product adds within a part only.
    pub(crate) fn new(chunked: ChunkedOrder, permuted: PermutedPattern) -> Self {
        let large = permuted.pattern.upper_len() >= SPRINGS_FROM;
        Self::with_format(chunked, permuted, if large { Format::Springs } else { Format::Laplacian })
    }

    fn with_format(mut chunked: ChunkedOrder, permuted: PermutedPattern, format: Format) -> Self {
        let pattern = &permuted.pattern;
        if chunked.separators_touch(|i| pattern.row(i)) {
            chunked.merge_separators();
        }
        let start = chunked.separator_start();
        let mut split = Vec::with_capacity(pattern.block_rows());
        let mut halo_range = Vec::new();
        let mut incoming: Vec<(u32, u32)> = Vec::new();
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
                for (k, &j) in row.iter().enumerate().skip(own) {
                    low = low.min(j as usize - start);
                    high = high.max(j as usize - start + 1);
                    incoming.push((j, (range.start + k) as u32));
                }
            }
            if part < chunked.interiors {
                halo_range.push(low.min(high)..high);
            }
        }
        incoming.sort_unstable();
        let first_of = |row: usize| incoming.partition_point(|e| (e.0 as usize) < row) as u32;
        let incoming_ptr = (start..=pattern.block_rows()).map(first_of).collect();
        let halo = halo_range.iter().map(|r| Mutex::new(vec![[0.0; 4]; r.len()])).collect();
        let incoming = incoming.iter().map(|e| e.1).collect();
        let (diagonal, upper, narrow) = format.storage(&chunked, pattern);
        Self {
            chunked,
            permuted,
            format,
            diagonal,
            upper,
            narrow,
            split,
            incoming_ptr,
            incoming,
            halo_range,
            halo,
        }
    }

    /// Switches to the next storage, of more general blocks, for good: a system that has them once keeps them. Returns
    /// whether there is one.
    pub(crate) fn generalize(&mut self) -> bool {
        self.format = match self.format {
            Format::Springs => Format::Laplacian,
            Format::Laplacian => Format::General,
            Format::General => return false,
        };
        (self.diagonal, self.upper, self.narrow) = self.format.storage(&self.chunked, &self.permuted.pattern);
        true
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
        let mut sums = FillSums { fits: true, ..FillSums::default() };
        let mut diagonal = self.diagonal.write(part..part + 1);
        let mut upper = self.upper.write(part..part + 1);
        let mut narrow = self.narrow.write(part..part + 1);
        let rows = self.chunked.part(part);
        let entries = self.entries(&rows);
        match self.format {
            Format::General => {
                for (target, i) in diagonal.chunks_exact_mut(9).zip(rows) {
                    let block = &matrix.diagonal[self.chunked.order[i] as usize];
                    sums.note_diagonal(block);
                    target.copy_from_slice(block);
                }
                for (target, &source) in upper.chunks_exact_mut(9).zip(&self.permuted.source[entries]) {
                    let block = &matrix.upper[(source & !TRANSPOSED) as usize];
                    sums.note_upper(block);
                    let transposed = source & TRANSPOSED != 0;
                    target.copy_from_slice(&if transposed { block3::transpose(block) } else { *block });
                }
            }
            Format::Springs | Format::Laplacian => {
                self.fill_laplacian(matrix, part, &mut diagonal, &mut upper, &mut narrow, &mut sums);
            }
        }
        sums
    }

    /// Upper entries of consecutive rows.
    fn entries(&self, rows: &Range<usize>) -> Range<usize> {
        let row_ptr = self.pattern().row_ptr();
        row_ptr[rows.start] as usize..row_ptr[rows.end] as usize
    }

    fn fill_laplacian(
        &self,
        matrix: &BlockSymmetric,
        part: usize,
        row_sum: &mut [f64],
        weight: &mut [f64],
        narrow: &mut [f32],
        sums: &mut FillSums,
    ) {
        let rows = self.chunked.part(part);
        let first_entry = self.entries(&rows).start;
        let source = |k: usize| &matrix.upper[(self.permuted.source[k] & !TRANSPOSED) as usize];
        for (target, i) in row_sum.chunks_exact_mut(STRIDE).zip(rows.clone()) {
            let block = &matrix.diagonal[self.chunked.order[i] as usize];
            sums.note_diagonal(block);
            // Diagonal blocks are symmetric by contract; entries below the diagonal are not read.
            target.copy_from_slice(&[block[0], block[4], block[8], block[1], block[5], block[2]]);
        }
        let pattern = self.pattern();
        for i in rows.clone() {
            let split = self.split[i] as usize;
            let own = STRIDE * (i - rows.start);
            let mut left = pattern.range(i);
            while !left.is_empty() {
                let batch = left.start..left.end.min(left.start + spring::BATCH);
                left.start = batch.end;
                let mut lanes = [[0.0; spring::BATCH]; STRIDE];
                for (lane, k) in batch.clone().enumerate() {
                    let block = source(k);
                    sums.note_upper(block);
                    let Some(six) = compress(block) else {
                        // NaN equals nothing: it must not pass for a general block.
                        sums.fits = !sums.absolute.is_finite();
                        return;
                    };
                    for (c, v) in six.iter().enumerate() {
                        lanes[c][lane] = -v;
                        row_sum[own + c] += v;
                    }
                    if k < split {
                        let other = STRIDE * (pattern.columns()[k] as usize - rows.start);
                        for (c, v) in six.iter().enumerate() {
                            row_sum[other + c] += v;
                        }
                    }
                }
                let batch = batch.start - first_entry..batch.end - first_entry;
                if self.format == Format::Laplacian {
                    spread(&lanes, &mut weight[STRIDE * batch.start..STRIDE * batch.end], |v| v);
                } else {
                    let Some(springs) = spring::split(&lanes) else {
                        sums.fits = !sums.absolute.is_finite();
                        return;
                    };
                    let place = spring::STRIDE * batch.start..spring::STRIDE * batch.end;
                    spread(&springs, &mut weight[place.clone()], |v| v);
                    spread(&springs, &mut narrow[place], |v| v as f32);
                }
            }
        }
        if part >= self.chunked.interiors {
            let start = self.chunked.separator_start();
            for i in rows.clone() {
                let range = self.incoming_ptr[i - start] as usize..self.incoming_ptr[i - start + 1] as usize;
                for &k in &self.incoming[range] {
                    // The interior that owns the block has judged it.
                    let Some(six) = compress(source(k as usize)) else { return };
                    for (c, v) in six.iter().enumerate() {
                        row_sum[STRIDE * (i - rows.start) + c] += v;
                    }
                }
            }
        }
    }

    /// The rows of one part of y = A x, halos aside; `dots` receives the part of x · A x.
    ///
    /// With x in f32, as preconditioners have it, blocks may be read in f32 too.
    pub(crate) fn product_part<T: Lanes>(&self, x: &[T], y: &mut [Lane64], part: usize, dots: &Partials) {
        let (diagonal, upper, narrow) =
            (self.diagonal.read_all(), self.upper.read_all(), self.narrow.read_all());
        let first_separator = self.chunked.separator_start();
        let interior = part < self.chunked.interiors;
        let mut none = [];
        let mut guard = interior.then(|| self.halo[part].lock().unwrap_or_else(PoisonError::into_inner));
        let halo: &mut [Lane64] = guard.as_mut().map_or(&mut none, |h| h.as_mut_slice());
        let halo_start = if interior { first_separator + self.halo_range[part].start } else { 0 };
        let (rows, split) = (self.chunked.part(part), &*self.split);
        let (row_ptr, columns) = (self.pattern().row_ptr(), self.pattern().columns());
        let (diagonal, upper) = (&*diagonal, &*upper);
        let dot = match self.format {
            Format::Springs if T::NARROW => vectorized(SpringProduct {
                rows,
                row_ptr,
                columns,
                split,
                row_sum: diagonal,
                weight: &narrow,
                x,
                y,
                halo,
                halo_start,
            }),
            Format::Springs => vectorized(SpringProduct {
                rows,
                row_ptr,
                columns,
                split,
                row_sum: diagonal,
                weight: upper,
                x,
                y,
                halo,
                halo_start,
            }),
            Format::General => vectorized(GeneralProduct {
                rows,
                row_ptr,
                columns,
                split,
                diagonal,
                upper,
                x,
                y,
                halo,
                halo_start,
            }),
            Format::Laplacian => {
                let (row_sum, weight) = (diagonal, upper);
                vectorized(LaplacianProduct {
                    rows,
                    row_ptr,
                    columns,
                    split,
                    row_sum,
                    weight,
                    x,
                    y,
                    halo,
                    halo_start,
                })
            }
        };
        dots.set(part, dot);
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

/// Writes the numbers of a batch block by block.
#[inline]
fn spread<T, const N: usize>(
    lanes: &[[f64; spring::BATCH]; N],
    target: &mut [T],
    convert: impl Fn(f64) -> T,
) {
    for (lane, block) in target.chunks_exact_mut(N).enumerate() {
        for (c, t) in block.iter_mut().enumerate() {
            *t = convert(lanes[c][lane]);
        }
    }
}

impl FillSums {
    fn note_diagonal(&mut self, block: &Block) {
        self.diagonal += block[0] + block[4] + block[8];
        self.absolute += block.iter().map(|v| v.abs()).sum::<f64>();
    }

    fn note_upper(&mut self, block: &Block) {
        self.upper += (block[0] + block[4] + block[8]).abs();
        self.absolute += block.iter().map(|v| v.abs()).sum::<f64>();
    }
}

impl Format {
    /// Arrays in parts: for diagonal blocks or row sums, for upper blocks, and for those in f32.
    fn storage(
        self,
        chunked: &ChunkedOrder,
        pattern: &BlockPattern,
    ) -> (Shared<f64>, Shared<f64>, Shared<f32>) {
        let (diagonal, upper, narrow) = match self {
            Self::Springs => (STRIDE, spring::STRIDE, spring::STRIDE),
            Self::Laplacian => (STRIDE, STRIDE, 0),
            Self::General => (9, 9, 0),
        };
        let row_ptr = pattern.row_ptr();
        let bounds = |stride: usize, blocks: &dyn Fn(usize) -> usize| {
            let mut bounds: Vec<usize> = chunked.bounds.iter().map(|&b| stride * blocks(b)).collect();
            if let Some(last) = bounds.last_mut() {
                *last += PAD;
            }
            bounds
        };
        let entries = |b: usize| row_ptr[b] as usize;
        (
            Shared::new(0.0, &bounds(diagonal, &|b| b)),
            Shared::new(0.0, &bounds(upper, &entries)),
            Shared::new(0.0, &bounds(narrow, &entries)),
        )
    }
}
