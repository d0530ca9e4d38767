//! Closed chains (belts, rings) by bordering.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use crate::block3;
use crate::direct::block_banded::BlockBanded;
use crate::direct::{DirectSolver, FactorError};
use crate::matrix::BlockSymmetric;
use crate::pattern::BlockPattern;

/// A block band whose ends are coupled: the last `B` nodes are the border of an open chain, eliminated last.
///
/// Source: Golub, Van Loan, Matrix Computations, 4th ed., section 4.3.8 (bordering by block elimination).
///
/// # Limitations
/// Positive definite matrices only; nodes must be numbered around the loop. Stores 9 `B` numbers per node beyond the band.
#[derive(Debug, Clone)]
pub struct ClosedLoop<const B: usize> {
    chain: BlockBanded<B>,
    /// T⁻¹ C, one column per border unknown.
    columns: Vec<Vec<f64>>,
    /// Entries of Cᵀ: (interior block row, border node, block as border row by interior column).
    couplings: Vec<(usize, usize, block3::Block)>,
    schur: Option<Cholesky<f64, Dyn>>,
    interior: usize,
}

impl<const B: usize> ClosedLoop<B> {
    /// For matrices on `pattern`.
    ///
    /// # Errors
    /// The first block that lies outside of the band around the loop, or a loop too short to have a band.
    pub fn new(pattern: &BlockPattern) -> Result<Self, FactorError> {
        let n = pattern.block_rows();
        let wrong = |row, col| FactorError::Structure { expected: "a band around a closed loop", row, col };
        if n < 2 * B + 1 {
            return Err(wrong(0, n.saturating_sub(1)));
        }
        for i in 0..n {
            if let Some(&j) = pattern.row(i).iter().find(|&&j| {
                let distance = j as usize - i;
                distance.min(n - distance) > B
            }) {
                return Err(wrong(i, j as usize));
            }
        }
        Ok(Self {
            chain: BlockBanded::with_capacity(n - B),
            columns: vec![vec![0.0; 3 * (n - B)]; 3 * B],
            couplings: Vec::new(),
            schur: None,
            interior: n - B,
        })
    }
}

impl<const B: usize> DirectSolver for ClosedLoop<B> {
    fn name(&self) -> &'static str {
        "closed_loop"
    }

    fn factor(&mut self, matrix: &BlockSymmetric) -> Result<(), FactorError> {
        if let Some(block_row) = matrix.first_non_finite() {
            return Err(FactorError::NotFinite { block_row });
        }
        let m = self.interior;
        self.chain.factor_leading(matrix, m)?;
        self.couplings.clear();
        let pattern = matrix.pattern();
        let mut schur = DMatrix::zeros(3 * B, 3 * B);
        for i in 0..matrix.block_rows() {
            for k in pattern.range(i) {
                let j = pattern.columns()[k] as usize;
                if i < m && j >= m {
                    self.couplings.push((i, j - m, block3::transpose(&matrix.upper()[k])));
                } else if i >= m {
                    let block = block3::to_matrix(&matrix.upper()[k]);
                    schur.fixed_view_mut::<3, 3>(3 * (i - m), 3 * (j - m)).copy_from(&block);
                    schur.fixed_view_mut::<3, 3>(3 * (j - m), 3 * (i - m)).copy_from(&block.transpose());
                }
            }
            if i >= m {
                let block = block3::to_matrix(&matrix.diagonal()[i]);
                schur.fixed_view_mut::<3, 3>(3 * (i - m), 3 * (i - m)).copy_from(&block);
            }
        }
        for (c, column) in self.columns.iter_mut().enumerate() {
            column.fill(0.0);
            for (i, border, block) in self.couplings.iter().filter(|(_, border, _)| *border == c / 3) {
                let row = c - 3 * border;
                for k in 0..3 {
                    column[3 * i + k] += block[3 * row + k];
                }
            }
            self.chain.solve_in_place(column);
        }
        for (i, border, block) in &self.couplings {
            for (c, column) in self.columns.iter().enumerate() {
                let product = block3::times(block, block3::get3(column, *i));
                for k in 0..3 {
                    schur[(3 * border + k, c)] -= product[k];
                }
            }
        }
        self.schur = Cholesky::new(schur.clone());
        if self.schur.is_some() {
            return Ok(());
        }
        // The first leading minor that is not positive definite ends in the bad pivot.
        let minor = |k: usize| Cholesky::new(schur.view((0, 0), (k, k)).into_owned());
        let bad = (1..3 * B).find(|&k| minor(k).is_none()).unwrap_or(3 * B) - 1;
        Err(FactorError::NotPositiveDefinite { block_row: m + bad / 3, component: bad % 3 })
    }

    fn solve_in_place(&mut self, x: &mut [f64]) {
        let m = self.interior;
        let n = 3 * (m + B);
        assert_eq!(x.len(), n, "a right-hand side of {} entries for {n} unknowns", x.len());
        let Some(schur) = &self.schur else { panic!("solve before a successful factorisation") };
        let (inner, border) = x.split_at_mut(3 * m);
        self.chain.solve_in_place(inner);
        for (i, at, block) in &self.couplings {
            let product = block3::times(block, block3::get3(inner, *i));
            for k in 0..3 {
                border[3 * at + k] -= product[k];
            }
        }
        let solved = schur.solve(&DVector::from_column_slice(border));
        border.copy_from_slice(solved.as_slice());
        for (column, &b) in self.columns.iter().zip(border.iter()) {
            inner.iter_mut().zip(column).for_each(|(x, c)| *x -= c * b);
        }
    }
}
