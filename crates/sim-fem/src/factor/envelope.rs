//! `LDLᵀ` in an envelope of panels of four rows.
//!
//! The rows of a panel share their first column; its values are stored column by column, four rows side by side, so that a
//! solve works on four rows at once and never waits for a sum across lanes.

use super::envelope_kernel::{BELOW, Panels, backward, below, eliminate, forward};
use super::{AroundSolve, FactorError, PivotCount, Pivots};
use crate::matrix::{SymmetricMatrix, SymmetricPattern};
use std::ops::Range;

/// Rows per panel.
pub(super) const ROWS: usize = 4;

/// Panels solved between two looks at the vectors around them: few enough to stay near the processor.
const RUN: usize = 64;

/// Places at or above this are in the square blocks on the diagonal.
const DIAGONAL: u32 = 1 << 31;

#[derive(Debug)]
pub(crate) struct Envelope {
    dim: usize,
    panels: Panels,
    /// Where each value of the matrix goes.
    places: Vec<u32>,
}

impl Envelope {
    /// Number of values the envelope would hold, row by row.
    pub(crate) fn width(pattern: &SymmetricPattern) -> usize {
        first_columns(pattern).iter().enumerate().map(|(i, &first)| i - first as usize).sum()
    }

    pub(crate) fn new(pattern: &SymmetricPattern) -> Self {
        let dim = pattern.dim();
        let row_first = first_columns(pattern);
        let count = dim.div_ceil(ROWS);
        let (mut first, mut start) = (Vec::with_capacity(count), Vec::with_capacity(count + 1));
        let mut total = 0;
        for (panel, rows) in row_first.chunks(ROWS).enumerate() {
            let lowest = rows.iter().copied().fold((ROWS * panel) as u32, u32::min);
            first.push(lowest);
            start.push(total);
            total += ROWS * (ROWS * panel - lowest as usize);
        }
        start.push(total);
        let mut places = vec![0; pattern.len()];
        for j in 0..dim {
            for place in pattern.column(j) {
                let i = pattern.row_idx[place] as usize;
                let (panel, lane) = (i / ROWS, i % ROWS);
                places[place] = if j >= ROWS * panel {
                    let within = if i == j { BELOW + lane } else { below(lane, j % ROWS) };
                    DIAGONAL + ((BELOW + ROWS) * panel + within) as u32
                } else {
                    (start[panel] + ROWS * (j - first[panel] as usize) + lane) as u32
                };
            }
        }
        Self { dim, panels: Panels::new(first, start), places }
    }

    pub(crate) fn refactor(&mut self, matrix: &SymmetricMatrix) -> Result<Pivots, FactorError> {
        self.panels.clear();
        let diagonal = self.panels.diagonal.as_flattened_mut();
        for (&place, &value) in self.places.iter().zip(&matrix.values) {
            if place >= DIAGONAL {
                diagonal[(place - DIAGONAL) as usize] = value;
            } else {
                self.panels.values[place as usize] = value;
            }
        }
        // Rows that fill the last panel up are those of the unit matrix.
        for i in self.dim..ROWS * self.panels.first.len() {
            self.panels.diagonal[i / ROWS][BELOW + i % ROWS] = 1.0;
        }
        eliminate(&mut self.panels);
        let mut count = PivotCount::new();
        let pattern = matrix.pattern();
        for j in 0..self.dim {
            count.book(j, self.panels.pivots[j], matrix.values[pattern.column(j).start])?;
        }
        Ok(count.finish())
    }

    pub(crate) fn solve(&self, x: &mut [f64], around: &mut impl AroundSolve) {
        let count = self.panels.first.len();
        let rows = |panels: &Range<usize>| ROWS * panels.start..(ROWS * panels.end).min(self.dim);
        let runs = || (0..count).step_by(RUN).map(|start| start..(start + RUN).min(count));
        for run in runs() {
            let rows = rows(&run);
            around.before(rows.clone(), &mut x[rows]);
            forward(&self.panels, run, x);
        }
        let mut divided = count;
        for run in runs().rev() {
            let rows = rows(&run);
            backward(&self.panels, run, &mut divided, x);
            around.after(rows.clone(), &x[rows]);
        }
    }
}

/// First column of every row of the lower triangle.
fn first_columns(pattern: &SymmetricPattern) -> Vec<u32> {
    let n = pattern.dim();
    let mut first: Vec<u32> = (0..n as u32).collect();
    for j in (0..n).rev() {
        for &i in &pattern.row_idx[pattern.column(j)] {
            first[i as usize] = j as u32;
        }
    }
    first
}
