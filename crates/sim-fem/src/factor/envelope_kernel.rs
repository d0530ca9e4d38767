//! The loops of the envelope factor, compiled for the processor at hand. The order of every sum is fixed, so that the
//! bits do not depend on the instructions chosen.

use super::envelope::ROWS;
use pulp::Arch;
use std::ops::Range;

type Lanes = [f64; ROWS];

/// Values below the diagonal of a block on it.
pub(super) const BELOW: usize = ROWS * (ROWS - 1) / 2;

/// A block on the diagonal: L below the diagonal column by column ([`below`]), then the inverse pivots. Before elimination
/// it holds A in the same places.
pub(super) type Square = [f64; BELOW + ROWS];

/// Place in a [`Square`] of a value below the diagonal.
#[inline]
pub(super) const fn below(row: usize, column: usize) -> usize {
    (2 * ROWS - 1 - column) * column / 2 + row - column - 1
}

/// The factor: panels of four rows left of the diagonal, and square blocks on it.
#[derive(Debug)]
pub(super) struct Panels {
    /// First column of each panel.
    pub(super) first: Vec<u32>,
    /// Where the values of each panel start.
    start: Vec<usize>,
    /// Columns `first .. 4 panel` of each panel, four rows each.
    pub(super) values: Vec<f64>,
    /// Blocks on the diagonal: what a solve reads of them and nothing else, since long solves are bound by memory.
    pub(super) diagonal: Vec<Square>,
    pub(super) pivots: Vec<f64>,
    /// L D of the panel at work.
    scratch: Vec<f64>,
}

impl Panels {
    pub(super) fn new(first: Vec<u32>, start: Vec<usize>) -> Self {
        let count = first.len();
        let widest = start.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        Self {
            values: vec![0.0; start[count]],
            diagonal: vec![[0.0; BELOW + ROWS]; count],
            pivots: vec![0.0; ROWS * count],
            scratch: vec![0.0; widest],
            first,
            start,
        }
    }

    pub(super) fn clear(&mut self) {
        self.values.fill(0.0);
        self.diagonal.fill([0.0; BELOW + ROWS]);
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "only inlined into the dispatched closures is it compiled for their instructions"
    )]
    fn panel(&self, panel: usize) -> &[Lanes] {
        self.values[self.start[panel]..self.start[panel + 1]].as_chunks().0
    }
}

/// Sum over columns of (four values of `left`) × (four values of `right`), column by column of the product.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "only inlined into the dispatched closures is it compiled for their instructions"
)]
fn product(left: &[Lanes], right: &[Lanes]) -> [Lanes; ROWS] {
    let mut sums = [[0.0; ROWS]; ROWS];
    for (l, r) in left.iter().zip(right) {
        for s in 0..ROWS {
            for lane in 0..ROWS {
                sums[s][lane] += r[s] * l[lane];
            }
        }
    }
    sums
}

/// `LDLᵀ` in place. A zero pivot makes what follows not finite; the caller looks at the pivots in order.
pub(super) fn eliminate(panels: &mut Panels) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for panel in 0..panels.first.len() {
                let Panels { first, start, values, diagonal, pivots, scratch } = panels;
                let from = first[panel] as usize;
                let (done, rest) = values.split_at_mut(start[panel]);
                let own: &mut [Lanes] = rest[..start[panel + 1] - start[panel]].as_chunks_mut().0;
                let weighted: &mut [Lanes] = scratch[..ROWS * own.len()].as_chunks_mut().0;
                for other in from / ROWS..panel {
                    let other_from = first[other] as usize;
                    let common = from.max(other_from).min(ROWS * other);
                    let before: &[Lanes] = done[start[other]..start[other + 1]].as_chunks().0;
                    let sums = if common >= from {
                        product(
                            &weighted[common - from..(ROWS * other).max(from) - from],
                            &before[common - other_from..],
                        )
                    } else {
                        [[0.0; ROWS]; ROWS]
                    };
                    // W = (A − sums) L⁻ᵀ of the block under `other`; columns left of the panel are zero.
                    let block = &diagonal[other];
                    for s in from.saturating_sub(ROWS * other)..ROWS {
                        let column = ROWS * other + s - from;
                        let mut value: Lanes = std::array::from_fn(|lane| own[column][lane] - sums[s][lane]);
                        for m in from.saturating_sub(ROWS * other)..s {
                            let l = block[below(s, m)];
                            let w = weighted[column + m - s];
                            for lane in 0..ROWS {
                                value[lane] -= l * w[lane];
                            }
                        }
                        weighted[column] = value;
                    }
                }
                for (k, (l, w)) in own.iter_mut().zip(weighted.iter()).enumerate() {
                    let column = from + k;
                    let inverse = diagonal[column / ROWS][BELOW + column % ROWS];
                    for lane in 0..ROWS {
                        l[lane] = w[lane] * inverse;
                    }
                }
                let sums = product(weighted, own);
                square(&mut diagonal[panel], &sums, &mut pivots[ROWS * panel..]);
            }
        },
    );
}

/// `LDLᵀ` of a block on the diagonal, after taking away `sums`.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "only inlined into the dispatched closures is it compiled for their instructions"
)]
#[expect(clippy::needless_range_loop, reason = "rows and columns index four arrays at once")]
fn square(block: &mut Square, sums: &[Lanes; ROWS], pivots: &mut [f64]) {
    for column in 0..ROWS {
        for row in column..ROWS {
            let place = if row == column { BELOW + column } else { below(row, column) };
            let mut value = block[place] - sums[column][row];
            for m in 0..column {
                let other = if row == column { below(column, m) } else { below(row, m) };
                value -= block[other] * block[below(column, m)] * pivots[m];
            }
            if row == column {
                pivots[column] = value;
                block[place] = 1.0 / value;
            } else {
                block[place] = value * block[BELOW + column];
            }
        }
    }
}

/// The panels `range` of x ← L⁻¹ x; those before are done.
pub(super) fn forward(panels: &Panels, range: Range<usize>, x: &mut [f64]) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for panel in range {
                let (before, at) = x.split_at_mut(ROWS * panel);
                let known = &before[panels.first[panel] as usize..];
                // Two sums, so that additions need not wait for each other.
                let mut sums = [[0.0; ROWS]; 2];
                let columns = panels.panel(panel);
                let (pairs, last) = columns.as_chunks::<2>();
                let (known_pairs, known_last) = known.as_chunks::<2>();
                for (l, v) in pairs.iter().zip(known_pairs) {
                    for half in 0..2 {
                        for lane in 0..ROWS {
                            sums[half][lane] += l[half][lane] * v[half];
                        }
                    }
                }
                for (l, v) in last.iter().zip(known_last) {
                    for lane in 0..ROWS {
                        sums[0][lane] += l[lane] * v;
                    }
                }
                let mut value = load(at);
                for lane in 0..ROWS {
                    value[lane] -= sums[0][lane] + sums[1][lane];
                }
                let block = &panels.diagonal[panel];
                for m in 0..ROWS - 1 {
                    for row in m + 1..ROWS {
                        value[row] -= block[below(row, m)] * value[m];
                    }
                }
                store(at, &value);
            }
        },
    );
}

/// The panels `range` of x ← L⁻ᵀ D⁻¹ x, last to first; those behind are done. `divided` is the first panel already divided
/// by D: panels are divided just before they are first needed, while they and their pivots are at hand.
pub(super) fn backward(panels: &Panels, range: Range<usize>, divided: &mut usize, x: &mut [f64]) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for panel in range.rev() {
                let first = panels.first[panel] as usize;
                while *divided > first / ROWS {
                    *divided -= 1;
                    let inverse = &panels.diagonal[*divided][BELOW..];
                    for (value, inverse) in x[ROWS * *divided..].iter_mut().zip(inverse) {
                        *value *= inverse;
                    }
                }
                let (before, at) = x.split_at_mut(ROWS * panel);
                let mut value = load(at);
                let block = &panels.diagonal[panel];
                for m in (0..ROWS - 1).rev() {
                    for row in m + 1..ROWS {
                        value[m] -= block[below(row, m)] * value[row];
                    }
                }
                store(at, &value);
                for (x, l) in before[first..].iter_mut().zip(panels.panel(panel)) {
                    *x -= (l[0] * value[0] + l[1] * value[1]) + (l[2] * value[2] + l[3] * value[3]);
                }
            }
        },
    );
}

/// Four values, or as many as there are and zeros.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "only inlined into the dispatched closures is it compiled for their instructions"
)]
fn load(x: &[f64]) -> Lanes {
    if let Some(full) = x.first_chunk() {
        return *full;
    }
    std::array::from_fn(|lane| x.get(lane).copied().unwrap_or(0.0))
}

#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "only inlined into the dispatched closures is it compiled for their instructions"
)]
fn store(x: &mut [f64], value: &Lanes) {
    if let Some(full) = x.first_chunk_mut() {
        *full = *value;
    } else {
        for (x, value) in x.iter_mut().zip(value) {
            *x = *value;
        }
    }
}
