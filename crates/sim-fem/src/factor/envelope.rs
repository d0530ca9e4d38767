//! `LDLᵀ` in a row envelope.

use super::envelope_kernel::{backward, eliminate, forward};
use super::{FactorError, PivotCount, Pivots};
use crate::matrix::{SymmetricMatrix, SymmetricPattern};

/// Row i holds columns `first[i] .. i` of L, one after the other; the diagonal D is apart.
#[derive(Debug)]
pub(crate) struct Envelope {
    first: Vec<u32>,
    start: Vec<u32>,
    lower: Vec<f64>,
    pivots: Vec<f64>,
    inverse_pivots: Vec<f64>,
    /// Where each value of the matrix goes: into `lower`, or the diagonal when it is the first of its column.
    places: Vec<u32>,
    scratch: Vec<f64>,
}

impl Envelope {
    /// Number of values the envelope would hold.
    pub(crate) fn width(pattern: &SymmetricPattern) -> usize {
        first_columns(pattern).iter().enumerate().map(|(i, &first)| i - first as usize).sum()
    }

    pub(crate) fn new(pattern: &SymmetricPattern) -> Self {
        let n = pattern.dim();
        let mut first = first_columns(pattern);
        // Rows a multiple of four long where they fit: the loops then have no remainder. The zeros cost little.
        for (i, first) in first.iter_mut().enumerate() {
            let excess = (i as u32 - *first) % 4;
            if excess > 0 && *first + excess >= 4 {
                *first -= 4 - excess;
            }
        }
        let mut start = Vec::with_capacity(n + 1);
        let mut total = 0;
        for (i, &first) in first.iter().enumerate() {
            start.push(total);
            total += i as u32 - first;
        }
        start.push(total);
        let mut places = vec![0; pattern.len()];
        for j in 0..n {
            for place in pattern.column(j).skip(1) {
                let i = pattern.row_idx[place] as usize;
                places[place] = start[i] + j as u32 - first[i];
            }
        }
        let widest = (0..n).map(|i| i - first[i] as usize).max().unwrap_or(0);
        Self {
            lower: vec![0.0; total as usize],
            pivots: vec![0.0; n],
            inverse_pivots: vec![0.0; n],
            scratch: vec![0.0; widest],
            first,
            start,
            places,
        }
    }

    pub(crate) fn refactor(&mut self, matrix: &SymmetricMatrix) -> Result<Pivots, FactorError> {
        let pattern = matrix.pattern();
        let n = pattern.dim();
        self.lower.fill(0.0);
        for j in 0..n {
            let column = pattern.column(j);
            self.pivots[j] = matrix.values[column.start];
            for place in column.skip(1) {
                self.lower[self.places[place] as usize] = matrix.values[place];
            }
        }
        eliminate(
            &self.first,
            &self.start,
            &mut self.lower,
            &mut self.pivots,
            &mut self.inverse_pivots,
            &mut self.scratch,
        );
        let mut count = PivotCount::new();
        for j in 0..n {
            count.book(j, self.pivots[j], matrix.values[pattern.column(j).start])?;
        }
        Ok(count.finish())
    }

    pub(crate) fn solve(&self, x: &mut [f64]) {
        forward(&self.first, &self.start, &self.lower, x);
        backward(&self.first, &self.start, &self.lower, &self.inverse_pivots, x);
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
