//! Scalar incomplete Cholesky without fill.

use faer::sparse::SymbolicSparseColMatRef;

use crate::matrix::{BlockSymmetric, lower_symbolic};
use crate::operator::Preconditioner;
use crate::pattern::BlockPattern;
use crate::preconditioners::{
    ENTRY_SHIFTS, MatrixPreconditioner, PreconditionerError, check_matrix, with_shifts,
};

/// A ≈ L D Lᵀ with L on the scalar pattern of A, in the given order.
///
/// Source: Meijerink, van der Vorst, Math. Comp. 31 (1977) 148; Manteuffel, Math. Comp. 34 (1980) 473, for the shift.
///
/// # Limitations
/// Twice the time of [`crate::BlockIncompleteCholesky`] at the same number of iterations on block matrices; it is here
/// for matrices without blocks and for comparisons. Iterations grow like the square root of the number of unknowns of a
/// sheet.
#[derive(Debug, Clone)]
pub struct IncompleteCholesky {
    ptr: Vec<u32>,
    col: Vec<u32>,
    /// Position of each entry in the values of the lower triangle, column by column.
    source: Vec<u32>,
    diagonal_source: Vec<u32>,
    lower: Vec<f64>,
    inverse_pivot: Vec<f64>,
    shift: f64,
    /// Values of the lower triangle of a block matrix.
    values: Vec<f64>,
    upper_len: usize,
}

impl IncompleteCholesky {
    /// For block matrices on `pattern`.
    pub fn new(pattern: &BlockPattern) -> Self {
        let symbolic = lower_symbolic(pattern);
        Self { upper_len: pattern.upper_len(), ..Self::from_lower(symbolic.as_ref()) }
    }

    /// For scalar matrices of which `lower` is the lower triangle, diagonal included, with sorted columns.
    ///
    /// # Panics
    /// If a column does not begin with its diagonal entry.
    pub fn from_lower(lower: SymbolicSparseColMatRef<'_, u32>) -> Self {
        let n = lower.ncols();
        let (col_ptr, row_idx) = (lower.col_ptr(), lower.row_idx());
        let mut ptr = vec![0_u32; n + 1];
        for c in 0..n {
            let rows = &row_idx[col_ptr[c] as usize..col_ptr[c + 1] as usize];
            assert_eq!(rows.first(), Some(&(c as u32)), "column {c} does not begin with its diagonal entry");
            for &r in &rows[1..] {
                ptr[r as usize + 1] += 1;
            }
        }
        for r in 0..n {
            ptr[r + 1] += ptr[r];
        }
        let mut next = ptr.clone();
        let (mut col, mut source) = (vec![0; ptr[n] as usize], vec![0; ptr[n] as usize]);
        for c in 0..n {
            for k in col_ptr[c] + 1..col_ptr[c + 1] {
                let slot = &mut next[row_idx[k as usize] as usize];
                (col[*slot as usize], source[*slot as usize]) = (c as u32, k);
                *slot += 1;
            }
        }
        Self {
            lower: vec![0.0; col.len()],
            inverse_pivot: vec![1.0; n],
            shift: 0.0,
            values: vec![0.0; row_idx.len()],
            upper_len: 0,
            diagonal_source: col_ptr[..n].to_vec(),
            ptr,
            col,
            source,
        }
    }

    /// Factors the scalar values of the lower triangle, in the order of its columns.
    ///
    /// # Errors
    /// A breakdown that no bounded shift cures.
    ///
    /// # Panics
    /// If `values` has another length than the pattern.
    pub fn refill_values(&mut self, values: &[f64]) -> Result<(), PreconditionerError> {
        let expected = self.values.len();
        assert_eq!(values.len(), expected, "{} values for {expected} entries", values.len());
        let shift = with_shifts(ENTRY_SHIFTS, |shift| self.factor(values, shift).map_err(|row| row / 3))?;
        self.shift = shift;
        Ok(())
    }

    /// The pivots D of the last factorisation.
    pub fn pivots(&self) -> Vec<f64> {
        self.inverse_pivot.iter().map(|p| 1.0 / p).collect()
    }

    fn factor(&mut self, values: &[f64], shift: f64) -> Result<(), usize> {
        for i in 0..self.inverse_pivot.len() {
            let (begin, end) = (self.ptr[i] as usize, self.ptr[i + 1] as usize);
            let diagonal = values[self.diagonal_source[i] as usize];
            let mut pivot = diagonal * (1.0 + shift);
            // Entries of this row hold U = L D until the row is done.
            for p in begin..end {
                let j = self.col[p] as usize;
                let mut u = values[self.source[p] as usize];
                let (mut x, mut y, y_end) = (begin, self.ptr[j] as usize, self.ptr[j + 1] as usize);
                while x < p && y < y_end {
                    match self.col[x].cmp(&self.col[y]) {
                        std::cmp::Ordering::Less => x += 1,
                        std::cmp::Ordering::Greater => y += 1,
                        std::cmp::Ordering::Equal => {
                            u -= self.lower[x] * self.lower[y];
                            x += 1;
                            y += 1;
                        }
                    }
                }
                self.lower[p] = u;
            }
            for p in begin..end {
                let u = self.lower[p];
                let l = u * self.inverse_pivot[self.col[p] as usize];
                pivot -= u * l;
                self.lower[p] = l;
            }
            // A pivot that is rounding residue of its diagonal counts as zero.
            if pivot > 64.0 * f64::EPSILON * diagonal.abs() && pivot.is_finite() {
                self.inverse_pivot[i] = 1.0 / pivot;
            } else {
                return Err(i);
            }
        }
        Ok(())
    }
}

impl Preconditioner for IncompleteCholesky {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        let n = self.inverse_pivot.len();
        assert_eq!((r.len(), z.len()), (n, n), "slices of {} and {} for {n} unknowns", r.len(), z.len());
        for i in 0..n {
            let range = self.ptr[i] as usize..self.ptr[i + 1] as usize;
            let mut sum = r[i];
            for (l, &j) in self.lower[range.clone()].iter().zip(&self.col[range]) {
                sum -= l * z[j as usize];
            }
            z[i] = sum;
        }
        for (z, d) in z.iter_mut().zip(&self.inverse_pivot) {
            *z *= d;
        }
        for i in (0..n).rev() {
            let range = self.ptr[i] as usize..self.ptr[i + 1] as usize;
            let zi = z[i];
            for (l, &j) in self.lower[range.clone()].iter().zip(&self.col[range]) {
                z[j as usize] -= l * zi;
            }
        }
    }

    fn shift(&self) -> f64 {
        self.shift
    }

    fn name(&self) -> &'static str {
        "incomplete_cholesky"
    }
}

impl MatrixPreconditioner for IncompleteCholesky {
    fn refill(&mut self, matrix: &BlockSymmetric) -> Result<(), PreconditionerError> {
        check_matrix(matrix, self.upper_len)?;
        let mut values = std::mem::take(&mut self.values);
        matrix.write_faer_lower(&mut values);
        let result = with_shifts(ENTRY_SHIFTS, |shift| self.factor(&values, shift).map_err(|row| row / 3));
        self.values = values;
        self.shift = result?;
        Ok(())
    }
}
