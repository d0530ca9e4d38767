//! Scalar incomplete Cholesky that keeps large entries wherever they appear.

use crate::matrix::{BlockSymmetric, lower_symbolic};
use crate::operator::Preconditioner;
use crate::pattern::BlockPattern;
use crate::preconditioners::{
    ENTRY_SHIFTS, MatrixPreconditioner, PreconditionerError, check_matrix, with_shifts,
};

const NONE: u32 = u32::MAX;

/// A ≈ L Lᵀ by columns: entries below a tolerance are dropped, the largest of the others are kept up to a fill limit.
///
/// Source: Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., SIAM 2003, sections 10.4 and 10.8; Lin, Moré,
/// SIAM J. Sci. Comput. 21 (1999) 24, for the limit per column.
///
/// # Limitations
/// The pattern depends on the values, so each refill builds it anew and allocates as columns grow: fewer iterations for a
/// dearer set-up. For matrices that change every step the block factor without fill is faster.
#[derive(Debug, Clone)]
pub struct ThresholdIncompleteCholesky {
    drop_tolerance: f64,
    fill_limit: f64,
    symbolic: faer::sparse::SymbolicSparseColMat<u32>,
    values: Vec<f64>,
    factor: ColumnFactor,
    shift: f64,
    upper_len: usize,
}

/// Columns of L, diagonal entries apart and inverted.
#[derive(Debug, Clone, Default)]
struct ColumnFactor {
    ptr: Vec<usize>,
    row: Vec<u32>,
    value: Vec<f64>,
    inverse_diagonal: Vec<f64>,
}

impl ThresholdIncompleteCholesky {
    /// For block matrices on `pattern`; see [`crate::PreconditionerOptions`] for the two numbers.
    pub fn new(pattern: &BlockPattern, drop_tolerance: f64, fill_limit: f64) -> Self {
        let symbolic = lower_symbolic(pattern);
        Self {
            drop_tolerance,
            fill_limit,
            values: vec![0.0; symbolic.row_idx().len()],
            symbolic,
            factor: ColumnFactor::default(),
            shift: 0.0,
            upper_len: pattern.upper_len(),
        }
    }

    /// Entries kept below the diagonal.
    pub fn factor_len(&self) -> usize {
        self.factor.row.len()
    }
}

impl ColumnFactor {
    /// Left-looking by columns. `head[j]` chains the columns whose next unused row is j.
    fn compute(
        &mut self,
        a: &faer::sparse::SymbolicSparseColMat<u32>,
        values: &[f64],
        shift: f64,
        drop_tolerance: f64,
        fill_limit: f64,
    ) -> Result<(), usize> {
        let n = a.ncols();
        let (col_ptr, row_idx) = (a.col_ptr(), a.row_idx());
        self.ptr.clear();
        self.ptr.push(0);
        self.row.clear();
        self.value.clear();
        self.inverse_diagonal.clear();
        let (mut head, mut link) = (vec![NONE; n], vec![NONE; n]);
        let mut first = vec![0_usize; n];
        let mut work = vec![0.0; n];
        let mut present = vec![false; n];
        let mut rows: Vec<u32> = Vec::new();
        for j in 0..n {
            let range = col_ptr[j] as usize..col_ptr[j + 1] as usize;
            let diagonal = values[range.start];
            let mut pivot = diagonal * (1.0 + shift);
            rows.clear();
            let mut norm = diagonal.abs();
            for (&r, &v) in row_idx[range.clone()].iter().zip(&values[range.clone()]).skip(1) {
                work[r as usize] = v;
                present[r as usize] = true;
                rows.push(r);
                norm += v.abs();
            }
            let mut k = head[j];
            while k != NONE {
                let following = link[k as usize];
                let at = first[k as usize];
                let end = self.ptr[k as usize + 1];
                let l_jk = self.value[at];
                pivot -= l_jk * l_jk;
                for (&r, &v) in self.row[at + 1..end].iter().zip(&self.value[at + 1..end]) {
                    if !present[r as usize] {
                        present[r as usize] = true;
                        rows.push(r);
                    }
                    work[r as usize] -= v * l_jk;
                }
                if at + 1 < end {
                    first[k as usize] = at + 1;
                    let next = self.row[at + 1] as usize;
                    (link[k as usize], head[next]) = (head[next], k);
                }
                k = following;
            }
            let usable = pivot > 64.0 * f64::EPSILON * diagonal.abs() && pivot.is_finite();
            let limit = (fill_limit * (range.len() - 1) as f64).ceil() as usize;
            if usable {
                rows.retain(|&r| {
                    let keep = work[r as usize].abs() > drop_tolerance * norm;
                    if !keep {
                        work[r as usize] = 0.0;
                        present[r as usize] = false;
                    }
                    keep
                });
                if rows.len() > limit {
                    let by_size = |a: &u32, b: &u32| {
                        work[*b as usize].abs().total_cmp(&work[*a as usize].abs()).then(a.cmp(b))
                    };
                    rows.select_nth_unstable_by(limit, by_size);
                    for &r in &rows[limit..] {
                        work[r as usize] = 0.0;
                        present[r as usize] = false;
                    }
                    rows.truncate(limit);
                }
                rows.sort_unstable();
                let inverse = 1.0 / pivot.sqrt();
                self.inverse_diagonal.push(inverse);
                first[j] = self.row.len();
                for &r in &rows {
                    self.row.push(r);
                    self.value.push(work[r as usize] * inverse);
                }
                if let Some(&r) = rows.first() {
                    (link[j], head[r as usize]) = (head[r as usize], j as u32);
                }
                self.ptr.push(self.row.len());
            }
            for &r in &rows {
                work[r as usize] = 0.0;
                present[r as usize] = false;
            }
            if !usable {
                return Err(j);
            }
        }
        Ok(())
    }
}

impl Preconditioner for ThresholdIncompleteCholesky {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        let f = &self.factor;
        let n = f.inverse_diagonal.len();
        assert_eq!((r.len(), z.len()), (n, n), "slices of {} and {} for {n} unknowns", r.len(), z.len());
        z.copy_from_slice(r);
        for j in 0..n {
            let zj = z[j] * f.inverse_diagonal[j];
            z[j] = zj;
            for k in f.ptr[j]..f.ptr[j + 1] {
                z[f.row[k] as usize] -= f.value[k] * zj;
            }
        }
        for j in (0..n).rev() {
            let mut sum = z[j];
            for k in f.ptr[j]..f.ptr[j + 1] {
                sum -= f.value[k] * z[f.row[k] as usize];
            }
            z[j] = sum * f.inverse_diagonal[j];
        }
    }

    fn shift(&self) -> f64 {
        self.shift
    }

    fn name(&self) -> &'static str {
        "threshold_incomplete_cholesky"
    }
}

impl MatrixPreconditioner for ThresholdIncompleteCholesky {
    fn refill(&mut self, matrix: &BlockSymmetric) -> Result<(), PreconditionerError> {
        check_matrix(matrix, self.upper_len)?;
        matrix.write_faer_lower(&mut self.values);
        let Self { symbolic, values, factor, drop_tolerance, fill_limit, .. } = self;
        self.shift = with_shifts(ENTRY_SHIFTS, |shift| {
            factor.compute(symbolic, values, shift, *drop_tolerance, *fill_limit).map_err(|row| row / 3)
        })?;
        Ok(())
    }
}
