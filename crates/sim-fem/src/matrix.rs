//! Symmetric sparse matrices of the free degrees of freedom: lower triangle, column by column.

use pulp::Arch;
use std::sync::Arc;

/// Where a symmetric matrix may hold values: the lower triangle by columns, the diagonal first in each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymmetricPattern {
    pub(crate) col_ptr: Vec<u32>,
    pub(crate) row_idx: Vec<u32>,
}

impl SymmetricPattern {
    /// From the rows (ascending, starting with the diagonal) of every column.
    ///
    /// # Panics
    /// If a column does not start with its diagonal or is not ascending.
    pub fn from_columns(columns: impl IntoIterator<Item = Vec<u32>>) -> Self {
        let (mut col_ptr, mut row_idx) = (vec![0], Vec::new());
        for (j, rows) in columns.into_iter().enumerate() {
            assert_eq!(rows.first().copied(), Some(j as u32), "column {j} does not start with its diagonal");
            assert!(rows.windows(2).all(|pair| pair[0] < pair[1]), "rows of column {j} are not ascending");
            row_idx.extend(rows);
            col_ptr.push(row_idx.len() as u32);
        }
        Self { col_ptr, row_idx }
    }

    /// The pattern of a diagonal matrix.
    #[must_use]
    pub fn diagonal(dim: usize) -> Self {
        Self { col_ptr: (0..=dim as u32).collect(), row_idx: (0..dim as u32).collect() }
    }

    /// Number of rows.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.col_ptr.len() - 1
    }

    /// Number of stored values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.row_idx.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.dim() == 0
    }

    /// Places of the values of column `j`.
    #[inline]
    #[must_use]
    pub fn column(&self, j: usize) -> std::ops::Range<usize> {
        self.col_ptr[j] as usize..self.col_ptr[j + 1] as usize
    }

    /// Place of the value at (`row`, `col`) with `row >= col`, if stored.
    #[must_use]
    pub fn position(&self, row: usize, col: usize) -> Option<usize> {
        let range = self.column(col);
        self.row_idx[range.clone()].binary_search(&(row as u32)).ok().map(|k| range.start + k)
    }
}

/// Values in a [`SymmetricPattern`].
#[derive(Clone, Debug)]
pub struct SymmetricMatrix {
    pattern: Arc<SymmetricPattern>,
    /// One value per place of the pattern.
    pub values: Vec<f64>,
}

impl SymmetricMatrix {
    /// All zeros.
    #[must_use]
    pub fn zeros(pattern: Arc<SymmetricPattern>) -> Self {
        let values = vec![0.0; pattern.len()];
        Self { pattern, values }
    }

    /// The pattern.
    #[must_use]
    pub fn pattern(&self) -> &Arc<SymmetricPattern> {
        &self.pattern
    }

    /// Number of rows.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.pattern.dim()
    }

    /// `y += factor A x`.
    ///
    /// # Panics
    /// If a length differs from the dimension.
    pub fn multiply_add(&self, factor: f64, x: &[f64], y: &mut [f64]) {
        let n = self.dim();
        assert!(x.len() == n && y.len() == n, "vectors of {} and {} for a matrix of {n}", x.len(), y.len());
        for j in 0..n {
            let range = self.pattern.column(j);
            let xj = factor * x[j];
            let mut sum = self.values[range.start] * xj;
            for (&i, &a) in self.pattern.row_idx[range.clone()].iter().zip(&self.values[range]).skip(1) {
                y[i as usize] += a * xj;
                sum += factor * a * x[i as usize];
            }
            y[j] += sum;
        }
    }

    /// The diagonal.
    #[must_use]
    pub fn diagonal(&self) -> Vec<f64> {
        (0..self.dim()).map(|j| self.values[self.pattern.col_ptr[j] as usize]).collect()
    }

    /// Whether everything off the diagonal is zero.
    #[must_use]
    pub fn is_diagonal(&self) -> bool {
        (0..self.dim()).all(|j| self.values[self.pattern.column(j)].iter().skip(1).all(|&a| a == 0.0))
    }

    /// Overwrites with `a A + b B` of matrices with the same pattern.
    ///
    /// # Panics
    /// If the patterns differ in size.
    pub fn set_combination(&mut self, a: f64, first: &Self, b: f64, second: &Self) {
        assert!(self.values.len() == first.values.len() && first.values.len() == second.values.len());
        for ((value, x), y) in self.values.iter_mut().zip(&first.values).zip(&second.values) {
            *value = a * x + b * y;
        }
    }

    /// Adds `factor B`.
    ///
    /// # Panics
    /// If the patterns differ in size.
    pub fn add_scaled(&mut self, factor: f64, other: &Self) {
        assert_eq!(self.values.len(), other.values.len(), "matrices of different pattern");
        for (value, x) in self.values.iter_mut().zip(&other.values) {
            *value += factor * x;
        }
    }

    /// First value that is not finite, as (row, column).
    #[must_use]
    pub fn first_not_finite(&self) -> Option<(usize, usize)> {
        let place = self.values.iter().position(|value| !value.is_finite())?;
        let col = self.pattern.col_ptr.partition_point(|&start| start as usize <= place) - 1;
        Some((self.pattern.row_idx[place] as usize, col))
    }
}

/// Sum of products in a fixed order: eight running sums, added pairwise at the end. Compiled for the processor at hand;
/// the bits do not depend on it.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let mut sums = [0.0; 8];
            let (xs, ys) = (x.chunks_exact(8), y.chunks_exact(8));
            let mut tail = 0.0;
            for (a, b) in xs.remainder().iter().zip(ys.remainder()) {
                tail += a * b;
            }
            for (a, b) in xs.zip(ys) {
                for k in 0..8 {
                    sums[k] += a[k] * b[k];
                }
            }
            ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) + tail
        },
    )
}

/// `y -= factor x`.
pub(crate) fn subtract_scaled(factor: f64, x: &[f64], y: &mut [f64]) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for (y, x) in y.iter_mut().zip(x) {
                *y -= factor * x;
            }
        },
    );
}

pub(crate) fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// Multiplies every value by `factor`.
pub(crate) fn scale(x: &mut [f64], factor: f64) {
    for value in x {
        *value *= factor;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_use_both_triangles() {
        let pattern = Arc::new(SymmetricPattern::from_columns([vec![0, 2], vec![1], vec![2]]));
        let mut a = SymmetricMatrix::zeros(pattern);
        a.values.copy_from_slice(&[2.0, 3.0, 5.0, 7.0]);
        let mut y = vec![1.0, 0.0, 0.0];
        a.multiply_add(2.0, &[1.0, 10.0, 100.0], &mut y);
        assert_eq!(y, [1.0 + 4.0 + 600.0, 100.0, 6.0 + 1400.0]);
        a.values[3] = f64::NAN;
        assert_eq!(a.first_not_finite(), Some((2, 2)));
        a.values[1] = f64::INFINITY;
        assert_eq!(a.first_not_finite(), Some((2, 0)));
    }

    #[test]
    fn dot_equals_the_plain_sum() {
        let x: Vec<f64> = (0..37).map(f64::from).collect();
        assert_eq!(dot(&x, &x), 36.0 * 37.0 * 73.0 / 6.0);
    }
}
