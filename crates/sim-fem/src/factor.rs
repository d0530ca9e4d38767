//! Sparse `LDLᵀ` without pivoting: analysed once per pattern, refilled per matrix.
//!
//! Two storages behind one face. A narrow envelope (long trusses, chains, frames numbered along their length) is factored
//! row by row; anything else goes to faer's sparse Cholesky with its own ordering. Both give the signs of the pivots, which
//! count the eigenvalues below zero (Sylvester).

use crate::matrix::{SymmetricMatrix, SymmetricPattern};
use envelope::Envelope;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;
use supernodal::Supernodal;

pub(crate) mod envelope;
mod envelope_kernel;
pub(crate) mod ordering;
mod supernodal;

/// Which storage holds the factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactorKind {
    /// Envelope when its rows are 48 wide or less on average, else supernodal.
    #[default]
    Auto,
    /// Row envelope in the given order.
    Envelope,
    /// faer's sparse Cholesky with approximate minimum degree ordering.
    Supernodal,
}

/// Mean row width up to which the envelope is chosen: above it fill outside the true pattern costs more than it saves.
const ENVELOPE_WIDTH: usize = 48;

/// A factorization that broke down.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FactorError {
    /// A pivot is zero or not finite.
    #[error("pivot of unknown {unknown} is {value} (diagonal {diagonal})")]
    Pivot {
        /// Unknown, in the numbering of the matrix.
        unknown: usize,
        /// Value of the pivot.
        value: f64,
        /// Its diagonal before elimination.
        diagonal: f64,
    },
    /// A pivot is exactly zero; the storage does not tell where.
    #[error("matrix of {dim} unknowns has an exactly zero pivot")]
    Singular {
        /// Number of unknowns.
        dim: usize,
    },
    /// The pattern could not be analysed.
    #[error("pattern of {dim} unknowns could not be analysed: {message}")]
    Pattern {
        /// Number of unknowns.
        dim: usize,
        /// What the analysis said.
        message: String,
    },
}

/// `LDLᵀ` of a symmetric matrix; reusable for any matrix of the same pattern.
#[derive(Debug)]
pub struct Factorization {
    pattern: Arc<SymmetricPattern>,
    storage: Storage,
}

#[derive(Debug)]
enum Storage {
    Envelope(Envelope),
    Supernodal(Box<Supernodal>),
}

/// What the pivots say about the matrix last factored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pivots {
    /// Number of negative pivots = number of negative eigenvalues.
    pub negative: usize,
    /// Smallest |pivot| / |its diagonal before elimination|.
    pub smallest_ratio: f64,
    /// Unknown of that pivot.
    pub smallest_at: usize,
}

impl Factorization {
    /// Analyses a pattern.
    ///
    /// # Errors
    /// [`FactorError::Pattern`] when the storage would exceed memory or 32-bit indices.
    pub fn new(pattern: &Arc<SymmetricPattern>, kind: FactorKind) -> Result<Self, FactorError> {
        let narrow = || Envelope::width(pattern) <= ENVELOPE_WIDTH * pattern.dim();
        let storage = if kind == FactorKind::Envelope || (kind == FactorKind::Auto && narrow()) {
            Storage::Envelope(Envelope::new(pattern))
        } else {
            Storage::Supernodal(Box::new(Supernodal::new(pattern)?))
        };
        Ok(Self { pattern: Arc::clone(pattern), storage })
    }

    /// The storage in use, never `Auto`.
    #[must_use]
    pub fn kind(&self) -> FactorKind {
        match self.storage {
            Storage::Envelope(_) => FactorKind::Envelope,
            Storage::Supernodal(_) => FactorKind::Supernodal,
        }
    }

    /// Factors `matrix`.
    ///
    /// # Errors
    /// [`FactorError::Pivot`] for a pivot that is zero or not finite.
    ///
    /// # Panics
    /// If the matrix has another number of values than the pattern analysed.
    pub fn refactor(&mut self, matrix: &SymmetricMatrix) -> Result<Pivots, FactorError> {
        assert_eq!(matrix.values.len(), self.pattern.len(), "matrix and factorization differ in pattern");
        match &mut self.storage {
            Storage::Envelope(envelope) => envelope.refactor(matrix),
            Storage::Supernodal(supernodal) => supernodal.refactor(matrix),
        }
    }

    /// Overwrites `x` with the solution of A x = b, given b in it.
    ///
    /// # Panics
    /// If the length differs from the dimension.
    pub fn solve(&mut self, x: &mut [f64]) {
        self.solve_within(x, &mut Alone);
    }

    /// As [`Factorization::solve`], with the vector work around it done range by range while the values are near the
    /// processor, which costs less memory traffic than passes of its own.
    ///
    /// # Panics
    /// If the length differs from the dimension.
    pub(crate) fn solve_within(&mut self, x: &mut [f64], around: &mut impl AroundSolve) {
        let n = self.pattern.dim();
        assert_eq!(x.len(), n, "right-hand side has {} values, the matrix {n} rows", x.len());
        match &mut self.storage {
            Storage::Envelope(envelope) => envelope.solve(x, around),
            Storage::Supernodal(supernodal) => {
                around.before(0..n, x);
                supernodal.solve(x);
                around.after(0..n, x);
            }
        }
    }
}

/// Vector work before and after a solve. The ranges given to each function cover all rows once.
pub(crate) trait AroundSolve {
    /// Writes (or changes) the right-hand side of these rows, just before it is needed.
    fn before(&mut self, rows: Range<usize>, rhs: &mut [f64]);
    /// Sees the solution of these rows as soon as it is final; by then every right-hand side has been written.
    fn after(&mut self, rows: Range<usize>, solution: &[f64]);
}

/// Nothing around the solve.
struct Alone;

impl AroundSolve for Alone {
    fn before(&mut self, _: Range<usize>, _: &mut [f64]) {}
    fn after(&mut self, _: Range<usize>, _: &[f64]) {}
}

/// Collects [`Pivots`] one by one.
#[derive(Debug)]
pub(crate) struct PivotCount(Pivots);

impl PivotCount {
    pub(crate) fn new() -> Self {
        Self(Pivots { negative: 0, smallest_ratio: f64::INFINITY, smallest_at: 0 })
    }

    /// Books the pivot of `unknown`.
    pub(crate) fn book(&mut self, unknown: usize, value: f64, diagonal: f64) -> Result<(), FactorError> {
        if value == 0.0 || !value.is_finite() {
            return Err(FactorError::Pivot { unknown, value, diagonal });
        }
        self.0.negative += usize::from(value < 0.0);
        let ratio = (value / diagonal).abs();
        if ratio < self.0.smallest_ratio {
            self.0.smallest_ratio = ratio;
            self.0.smallest_at = unknown;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Pivots {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DMatrix;

    /// A banded, indefinite matrix with a wide row now and then.
    fn sample(n: usize, shift: f64) -> SymmetricMatrix {
        let columns = (0..n).map(|j| {
            let mut rows: Vec<u32> = (j..(j + 7).min(n)).map(|i| i as u32).collect();
            if j % 9 == 0 && j + 20 < n {
                rows.push(j as u32 + 20);
            }
            rows
        });
        let mut matrix = SymmetricMatrix::zeros(Arc::new(SymmetricPattern::from_columns(columns)));
        let mut k = 0;
        for j in 0..n {
            for place in matrix.pattern().clone().column(j) {
                k += 1;
                let value = (f64::from(k) * 0.37).sin();
                let diagonal = matrix.pattern().row_idx[place] as usize == j;
                matrix.values[place] = if diagonal { 9.0 + value - shift } else { value };
            }
        }
        matrix
    }

    fn dense(matrix: &SymmetricMatrix) -> DMatrix<f64> {
        let n = matrix.dim();
        let mut dense = DMatrix::zeros(n, n);
        for j in 0..n {
            for place in matrix.pattern().column(j) {
                let i = matrix.pattern().row_idx[place] as usize;
                dense[(i, j)] = matrix.values[place];
                dense[(j, i)] = matrix.values[place];
            }
        }
        dense
    }

    #[test]
    fn both_storages_solve_and_count_negative_eigenvalues() {
        for shift in [0.0, 9.3] {
            let matrix = sample(150, shift);
            let dense = dense(&matrix);
            let negative = dense.clone().symmetric_eigenvalues().iter().filter(|&&e| e < 0.0).count();
            assert_eq!(negative > 0, shift > 0.0);
            for kind in [FactorKind::Envelope, FactorKind::Supernodal] {
                let mut factor = Factorization::new(matrix.pattern(), kind).unwrap();
                assert_eq!(factor.kind(), kind);
                for _ in 0..2 {
                    let pivots = factor.refactor(&matrix).unwrap();
                    assert_eq!(pivots.negative, negative, "{kind:?}");
                    let b: Vec<f64> = (0..150).map(|i| f64::from(i % 7) - 2.0).collect();
                    let mut x = b.clone();
                    factor.solve(&mut x);
                    let residual = &dense * nalgebra::DVector::from_vec(x) - nalgebra::DVector::from_vec(b);
                    assert!(residual.amax() < 1e-9, "{kind:?}: {}", residual.amax());
                }
            }
        }
    }

    #[test]
    fn zero_pivots_are_named() {
        let mut matrix = SymmetricMatrix::zeros(Arc::new(SymmetricPattern::from_columns([
            vec![0, 1],
            vec![1, 2],
            vec![2],
        ])));
        // The first two rows are those of a free spring.
        matrix.values.copy_from_slice(&[2.0, -2.0, 2.0, 0.0, 1.0]);
        let mut factor = Factorization::new(matrix.pattern(), FactorKind::Envelope).unwrap();
        assert!(matches!(factor.refactor(&matrix), Err(FactorError::Pivot { unknown: 1, .. })));
        let mut factor = Factorization::new(matrix.pattern(), FactorKind::Supernodal).unwrap();
        assert!(factor.refactor(&matrix).is_err());
    }
}
