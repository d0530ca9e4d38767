//! Block L D Lᵀ of a block band: chains, with or without skip-one couplings.

use crate::block3::{self, Block};
use crate::direct::ldl3::Ldl3;
use crate::direct::{DirectSolver, FactorError};
use crate::matrix::BlockSymmetric;
use crate::pattern::BlockPattern;

/// A chain in which each node is coupled to the one before: a rope under tension.
pub type BlockTridiagonal = BlockBanded<1>;
/// A chain in which each node is coupled to the two before: a rope with bending springs to second neighbors.
pub type BlockPentadiagonal = BlockBanded<2>;

/// Block L D Lᵀ of a matrix whose blocks lie within `B` of the diagonal, in one sweep each way.
///
/// Rows can be pushed one by one with their right-hand side, so that assembly, factorisation and elimination of a chain
/// share one pass over memory: [`BlockBanded::clear`], [`BlockBanded::push`] for every row, [`BlockBanded::finish`].
///
/// Source: Golub, Van Loan, Matrix Computations, 4th ed., sections 4.3 and 4.5. Pivot blocks are factored, never inverted.
///
/// # Limitations
/// Positive definite matrices only; no pivoting.
#[derive(Debug, Clone)]
pub struct BlockBanded<const B: usize> {
    rows: Vec<Row<B>>,
}

#[derive(Debug, Clone, Copy)]
struct Row<const B: usize> {
    pivot: Ldl3,
    /// `lower[b]` is block (i, i − 1 − b) of L.
    lower: [Block; B],
    /// The right-hand side during a sweep.
    y: [f64; 3],
}

impl<const B: usize> Default for BlockBanded<B> {
    fn default() -> Self {
        Self { rows: Vec::new() }
    }
}

impl<const B: usize> BlockBanded<B> {
    /// Makes room for `rows` block rows.
    pub fn with_capacity(rows: usize) -> Self {
        Self { rows: Vec::with_capacity(rows) }
    }

    /// Number of block rows pushed or factored.
    pub fn block_rows(&self) -> usize {
        self.rows.len()
    }

    /// Forgets all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.rows.clear();
    }

    /// Appends row i: its symmetric diagonal block, `couplings[b]` = block (i, i − 1 − b) (ignored where no such column
    /// exists), and its right-hand side. Blocks are nine numbers row by row.
    ///
    /// # Errors
    /// The pivot of this row is not positive.
    #[inline]
    pub fn push(
        &mut self,
        diagonal: &[f64; 9],
        couplings: &[[f64; 9]; B],
        rhs: [f64; 3],
    ) -> Result<(), FactorError> {
        let i = self.rows.len();
        let mut row = self.eliminate(diagonal, couplings)?;
        row.y = rhs;
        for (b, l) in row.lower.iter().enumerate().take(i) {
            let below = block3::times(l, self.rows[i - 1 - b].y);
            for k in 0..3 {
                row.y[k] -= below[k];
            }
        }
        self.rows.push(row);
        Ok(())
    }

    /// Ends a sweep of [`BlockBanded::push`]: writes the solution. The factor stays for further right-hand sides.
    ///
    /// # Panics
    /// If `x` has not three entries per row pushed.
    pub fn finish(&mut self, x: &mut [f64]) {
        let n = self.rows.len();
        assert_eq!(x.len(), 3 * n, "x has {} entries for {} unknowns", x.len(), 3 * n);
        for i in (0..n).rev() {
            let xi = self.back_substitute(self.rows[i].y, i, x);
            x[3 * i..3 * i + 3].copy_from_slice(&xi);
        }
    }

    #[inline(always)]
    fn back_substitute(&self, y: [f64; 3], i: usize, x: &[f64]) -> [f64; 3] {
        let mut xi = self.rows[i].pivot.solve(y);
        for b in 0..B {
            let j = i + 1 + b;
            if let Some(row) = self.rows.get(j) {
                let above = block3::transpose_times(&row.lower[b], block3::get3(x, j));
                for k in 0..3 {
                    xi[k] -= above[k];
                }
            }
        }
        xi
    }

    #[inline(always)]
    fn eliminate(&self, diagonal: &Block, couplings: &[Block; B]) -> Result<Row<B>, FactorError> {
        let i = self.rows.len();
        let mut d = *diagonal;
        let mut u = *couplings;
        let mut lower = [[0.0; 9]; B];
        // From the farthest column to the nearest, as elimination goes.
        for b in (0..B.min(i)).rev() {
            let j = i - 1 - b;
            for c in b + 1..B.min(i) {
                // Column k = i − 1 − c, left of j: U_ij −= U_ik L_jkᵀ, where k = j − 1 − (c − b − 1).
                let (left, right) = (u[c], &self.rows[j].lower[c - b - 1]);
                block3::subtract_product_transpose(&mut u[b], &left, right);
            }
            lower[b] = self.rows[j].pivot.eliminate(&u[b], &mut d);
        }
        let pivot = Ldl3::new(&d, [diagonal[0], diagonal[4], diagonal[8]])
            .map_err(|component| FactorError::NotPositiveDefinite { block_row: i, component })?;
        Ok(Row { pivot, lower, y: [0.0; 3] })
    }

    /// Whether every block of `pattern` lies in the band.
    pub fn fits(pattern: &BlockPattern) -> bool {
        pattern.bandwidth() <= B
    }

    /// Factors the leading `rows` block rows of a matrix; blocks outside of the band are ignored.
    pub(crate) fn factor_leading(&mut self, matrix: &BlockSymmetric, rows: usize) -> Result<(), FactorError> {
        self.clear();
        let pattern = matrix.pattern();
        for i in 0..rows {
            let couplings: [Block; B] = std::array::from_fn(|b| {
                // Bands are short rows: the search is over at most B entries.
                let block = i.checked_sub(b + 1).and_then(|j| pattern.position(j, i));
                block.map_or([0.0; 9], |k| block3::transpose(&matrix.upper()[k]))
            });
            let row = self.eliminate(&matrix.diagonal()[i], &couplings)?;
            self.rows.push(row);
        }
        Ok(())
    }
}

impl<const B: usize> DirectSolver for BlockBanded<B> {
    fn name(&self) -> &'static str {
        if B == 1 { "block_tridiagonal" } else { "block_pentadiagonal" }
    }

    fn factor(&mut self, matrix: &BlockSymmetric) -> Result<(), FactorError> {
        if let Some(block_row) = matrix.first_non_finite() {
            return Err(FactorError::NotFinite { block_row });
        }
        self.factor_leading(matrix, matrix.block_rows())
    }

    fn solve_in_place(&mut self, x: &mut [f64]) {
        let n = self.rows.len();
        assert_eq!(x.len(), 3 * n, "a right-hand side of {} entries for {} unknowns", x.len(), 3 * n);
        for i in 0..n {
            let mut y = block3::get3(x, i);
            for (b, l) in self.rows[i].lower.iter().enumerate().take(i) {
                let below = block3::times(l, block3::get3(x, i - 1 - b));
                for k in 0..3 {
                    y[k] -= below[k];
                }
            }
            x[3 * i..3 * i + 3].copy_from_slice(&y);
        }
        for i in (0..n).rev() {
            let xi = self.back_substitute(block3::get3(x, i), i, x);
            x[3 * i..3 * i + 3].copy_from_slice(&xi);
        }
    }
}
