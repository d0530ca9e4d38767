//! The values of a symmetric matrix with 3×3 blocks.

use std::sync::Arc;

use faer::sparse::{SparseColMat, SparseColMatRef, SymbolicSparseColMat};
use nalgebra::Matrix3;

use crate::block3::{self, Block};
use crate::operator::LinearOperator;
use crate::pattern::{BlockPattern, PatternError};

/// What can be wrong with a matrix given from outside.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MatrixError {
    /// Rows and columns differ, or are no multiple of three.
    #[error("a matrix of {rows} x {cols} scalars has no square 3x3 block form")]
    Shape {
        /// Scalar rows.
        rows: usize,
        /// Scalar columns.
        cols: usize,
    },
    /// The pattern could not be built.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

/// A symmetric matrix with 3×3 blocks of which the diagonal and the strict upper triangle are stored.
///
/// Block row i is the unknown 3-vector i of flat vectors `[x0 y0 z0 x1 …]`. Nine numbers per block, row by row; 32-bit
/// indices. Each stored block is read once per product, which is what decides its time.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockSymmetric {
    pattern: Arc<BlockPattern>,
    pub(crate) diagonal: Vec<Block>,
    pub(crate) upper: Vec<Block>,
}

impl BlockSymmetric {
    /// The zero matrix on `pattern`.
    pub fn zeros(pattern: Arc<BlockPattern>) -> Self {
        let diagonal = vec![[0.0; 9]; pattern.block_rows()];
        let upper = vec![[0.0; 9]; pattern.upper_len()];
        Self { pattern, diagonal, upper }
    }

    /// Where the blocks are.
    pub fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }

    /// Number of block rows.
    pub fn block_rows(&self) -> usize {
        self.diagonal.len()
    }

    /// The diagonal blocks, row by row, one per block row.
    pub fn diagonal(&self) -> &[[f64; 9]] {
        &self.diagonal
    }

    /// The diagonal blocks for writing; each must stay symmetric.
    pub fn diagonal_mut(&mut self) -> &mut [[f64; 9]] {
        &mut self.diagonal
    }

    /// The blocks above the diagonal in the order of the pattern.
    pub fn upper(&self) -> &[[f64; 9]] {
        &self.upper
    }

    /// The blocks above the diagonal for writing.
    pub fn upper_mut(&mut self) -> &mut [[f64; 9]] {
        &mut self.upper
    }

    /// Block (`row`, `col`) of the full matrix, if the pattern has it.
    pub fn block(&self, row: usize, col: usize) -> Option<Matrix3<f64>> {
        if row == col {
            return self.diagonal.get(row).map(block3::to_matrix);
        }
        let k = self.pattern.position(row.min(col), row.max(col))?;
        let block = block3::to_matrix(&self.upper[k]);
        Some(if row < col { block } else { block.transpose() })
    }

    /// Adds `block` to (`row`, `col`) of the full matrix by search. Steppers refill with [`crate::BlockAssembler`] instead.
    ///
    /// An off-diagonal pair is added once: the block at (`col`, `row`) is its transpose by construction.
    ///
    /// # Panics
    /// If the pattern has no such block.
    pub fn add(&mut self, row: usize, col: usize, block: &Matrix3<f64>) {
        let target = if row == col {
            assert!(row < self.diagonal.len(), "block row {row} of {}", self.diagonal.len());
            &mut self.diagonal[row]
        } else {
            let k = self.pattern.position(row.min(col), row.max(col));
            let k = k.unwrap_or_else(|| panic!("the pattern has no block ({row}, {col})"));
            &mut self.upper[k]
        };
        let values = block3::from_matrix(&if row <= col { *block } else { block.transpose() });
        for (t, v) in target.iter_mut().zip(values) {
            *t += v;
        }
    }

    /// Sets every value to zero and keeps the pattern.
    pub fn fill_zero(&mut self) {
        self.diagonal.fill([0.0; 9]);
        self.upper.fill([0.0; 9]);
    }

    /// The first block row that holds a value that is not finite.
    pub fn first_non_finite(&self) -> Option<usize> {
        // A sum of absolute values is finite exactly when each is (or overflows, which no solver survives either).
        let bad = |b: &Block| !b.iter().map(|v| v.abs()).sum::<f64>().is_finite();
        (0..self.block_rows())
            .find(|&i| bad(&self.diagonal[i]) || self.upper[self.pattern.range(i)].iter().any(bad))
    }

    /// The lower triangle as faer's sparse type, scalar entries, sorted.
    ///
    /// # Panics
    /// Never for a valid matrix; faer checks the ordering.
    pub fn to_faer_lower(&self) -> SparseColMat<u32, f64> {
        let symbolic = lower_symbolic(&self.pattern);
        let mut values = vec![0.0; symbolic.row_idx().len()];
        self.write_faer_lower(&mut values);
        SparseColMat::new(symbolic, values)
    }

    /// Writes the values of [`BlockSymmetric::to_faer_lower`] in its order: a refill without any search.
    ///
    /// # Panics
    /// If `values` has not one place per scalar of the lower triangle.
    pub fn write_faer_lower(&self, values: &mut [f64]) {
        let expected = 6 * self.diagonal.len() + 9 * self.upper.len();
        assert_eq!(
            values.len(),
            expected,
            "{} places for {expected} scalars of the lower triangle",
            values.len()
        );
        let mut rest = values;
        for (i, d) in self.diagonal.iter().enumerate() {
            let row = &self.upper[self.pattern.range(i)];
            // Column 3i + c of the lower triangle is row c of the upper blocks of block row i.
            for c in 0..3 {
                let (head, tail) = rest.split_at_mut(3 - c + 3 * row.len());
                for (k, v) in head[..3 - c].iter_mut().enumerate() {
                    *v = d[3 * c + c + k];
                }
                for (block, v) in row.iter().zip(head[3 - c..].chunks_exact_mut(3)) {
                    v.copy_from_slice(&block[3 * c..3 * c + 3]);
                }
                rest = tail;
            }
        }
    }

    /// Reads a symmetric matrix from faer's sparse type; entries above the diagonal are ignored.
    ///
    /// # Errors
    /// A shape that is not square or no multiple of three.
    pub fn from_faer_lower(matrix: SparseColMatRef<'_, u32, f64>) -> Result<Self, MatrixError> {
        let (rows, cols) = (matrix.nrows(), matrix.ncols());
        if rows != cols || rows % 3 != 0 {
            return Err(MatrixError::Shape { rows, cols });
        }
        let mut edges = Vec::new();
        for c in 0..cols {
            for r in matrix.row_idx_of_col(c) {
                if r / 3 > c / 3 && edges.last() != Some(&[(c / 3) as u32, (r / 3) as u32]) {
                    edges.push([(c / 3) as u32, (r / 3) as u32]);
                }
            }
        }
        let mut result = Self::zeros(Arc::new(BlockPattern::from_edges(rows / 3, &edges)?));
        for c in 0..cols {
            for (r, &v) in matrix.row_idx_of_col(c).zip(matrix.val_of_col(c)) {
                let (i, j) = (c / 3, r / 3);
                if i == j && r >= c {
                    result.diagonal[i][3 * (c % 3) + r % 3] += v;
                    if r > c {
                        result.diagonal[i][3 * (r % 3) + c % 3] += v;
                    }
                } else if j > i
                    && let Some(k) = result.pattern.position(i, j)
                {
                    result.upper[k][3 * (c % 3) + r % 3] += v;
                }
            }
        }
        Ok(result)
    }

    /// y = A x and returns x · y.
    fn product(&self, x: &[f64], y: &mut [f64]) -> f64 {
        const ROWS_PER_CHUNK: usize = 1024;
        let n = self.block_rows();
        assert_eq!(x.len(), 3 * n, "x has {} entries for {} scalar columns", x.len(), 3 * n);
        assert_eq!(y.len(), 3 * n, "y has {} entries for {} scalar rows", y.len(), 3 * n);
        for (i, d) in self.diagonal.iter().enumerate() {
            y[3 * i..3 * i + 3].copy_from_slice(&block3::times(d, block3::get3(x, i)));
        }
        let (mut total, mut partial) = (0.0, 0.0);
        for i in 0..n {
            let xi = block3::get3(x, i);
            let mut acc = [0.0; 3];
            let range = self.pattern.range(i);
            for (block, &j) in self.upper[range.clone()].iter().zip(&self.pattern.columns()[range]) {
                let j = j as usize;
                let gathered = block3::times(block, block3::get3(x, j));
                let scattered = block3::transpose_times(block, xi);
                for k in 0..3 {
                    acc[k] += gathered[k];
                    y[3 * j + k] += scattered[k];
                }
            }
            let own = block3::times(&self.diagonal[i], xi);
            // x·Ax counts every off-diagonal block twice and needs no finished y.
            partial +=
                block3::dot3(xi, [own[0] + 2.0 * acc[0], own[1] + 2.0 * acc[1], own[2] + 2.0 * acc[2]]);
            for k in 0..3 {
                y[3 * i + k] += acc[k];
            }
            if (i + 1) % ROWS_PER_CHUNK == 0 {
                total += partial;
                partial = 0.0;
            }
        }
        total + partial
    }
}

impl LinearOperator for BlockSymmetric {
    fn dim(&self) -> usize {
        3 * self.block_rows()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        self.product(x, y);
    }

    fn apply_dot(&self, x: &[f64], y: &mut [f64]) -> f64 {
        self.product(x, y)
    }
}

/// The scalar pattern of the lower triangle, column by column.
pub(crate) fn lower_symbolic(pattern: &BlockPattern) -> SymbolicSparseColMat<u32> {
    let n = pattern.block_rows();
    let mut col_ptr = Vec::with_capacity(3 * n + 1);
    let mut row_idx = Vec::with_capacity(6 * n + 9 * pattern.upper_len());
    col_ptr.push(0);
    for i in 0..n {
        for c in 0..3 {
            row_idx.extend((c..3).map(|r| (3 * i + r) as u32));
            for &j in pattern.row(i) {
                row_idx.extend([3 * j, 3 * j + 1, 3 * j + 2]);
            }
            col_ptr.push(row_idx.len() as u32);
        }
    }
    SymbolicSparseColMat::new_checked(3 * n, 3 * n, col_ptr, None, row_idx)
}
