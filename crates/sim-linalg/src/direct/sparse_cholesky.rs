//! Sparse Cholesky by faer: ordering and symbolic factor once per pattern, buffers reused.

use std::fmt;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltError, LltRegularization};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, Par, Side};

use crate::direct::{DirectSolver, FactorError};
use crate::matrix::{BlockSymmetric, lower_symbolic};
use crate::pattern::BlockPattern;

/// A = L Lᵀ with approximate-minimum-degree ordering and supernodes, one thread.
///
/// # Limitations
/// Positive definite matrices only. Memory grows faster than the matrix: about 2 kB per unknown on sheets of 40 000 nodes.
/// A nearly singular matrix may pass; check the residual of the solution.
pub struct SparseCholesky {
    symbolic: SymbolicCholesky<u32>,
    lower: SymbolicSparseColMat<u32>,
    lower_values: Vec<f64>,
    values: Vec<f64>,
    buffer: MemBuffer,
}

impl fmt::Debug for SparseCholesky {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparseCholesky")
            .field("dim", &self.symbolic.nrows())
            .field("factor_len", &self.values.len())
            .finish_non_exhaustive()
    }
}

impl SparseCholesky {
    /// Orders and analyses the pattern, and allocates everything that later calls use.
    ///
    /// # Errors
    /// [`FactorError::Symbolic`] if indices overflow or memory ends.
    pub fn new(pattern: &BlockPattern) -> Result<Self, FactorError> {
        let lower = lower_symbolic(pattern);
        let symbolic = factorize_symbolic_cholesky(
            lower.as_ref(),
            Side::Lower,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        )
        .map_err(|e| FactorError::Symbolic { dim: pattern.dim(), reason: format!("{e:?}") })?;
        let scratch = symbolic
            .factorize_numeric_llt_scratch::<f64>(Par::Seq, faer::Spec::default())
            .or(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq));
        Ok(Self {
            lower_values: vec![0.0; lower.row_idx().len()],
            values: vec![0.0; symbolic.len_val()],
            buffer: MemBuffer::new(scratch),
            lower,
            symbolic,
        })
    }

    /// Number of scalar unknowns.
    pub fn dim(&self) -> usize {
        self.symbolic.nrows()
    }

    /// Numbers stored in the factor; eight bytes each.
    pub fn factor_len(&self) -> usize {
        self.values.len()
    }
}

impl DirectSolver for SparseCholesky {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn factor(&mut self, matrix: &BlockSymmetric) -> Result<(), FactorError> {
        if let Some(block_row) = matrix.first_non_finite() {
            return Err(FactorError::NotFinite { block_row });
        }
        matrix.write_faer_lower(&mut self.lower_values);
        let a = SparseColMatRef::new(self.lower.as_ref(), &self.lower_values);
        let stack = MemStack::new(&mut self.buffer);
        let result = self.symbolic.factorize_numeric_llt(
            &mut self.values,
            a,
            Side::Lower,
            LltRegularization::default(),
            Par::Seq,
            stack,
            faer::Spec::default(),
        );
        match result {
            Ok(_) => Ok(()),
            Err(LltError::NonPositivePivot { index }) => {
                // faer counts from one in the simplicial and from zero in the supernodal factorisation.
                let simplicial = matches!(self.symbolic.raw(), SymbolicCholeskyRaw::Simplicial(_));
                let index = index - usize::from(simplicial);
                let row = self.symbolic.perm().map_or(index, |p| p.arrays().0[index] as usize);
                Err(FactorError::NotPositiveDefinite { block_row: row / 3, component: row % 3 })
            }
        }
    }

    fn solve_in_place(&mut self, x: &mut [f64]) {
        let n = self.dim();
        assert_eq!(x.len(), n, "a right-hand side of {} entries for {n} unknowns", x.len());
        let factor = LltRef::<u32, f64>::new(&self.symbolic, &self.values);
        let rhs = MatMut::from_column_major_slice_mut(x, n, 1);
        factor.solve_in_place_with_conj(Conj::No, rhs, Par::Seq, MemStack::new(&mut self.buffer));
    }
}
