//! `LDLᵀ` by faer's sparse Cholesky, low level: buffers are made once, one thread.

use super::{FactorError, PivotCount, Pivots};
use crate::matrix::{SymmetricMatrix, SymmetricPattern};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::mat::MatMut;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LdltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky, simplicial::SimplicialLdltRef, supernodal::SupernodalLdltRef,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, Par, Side, Spec};

pub(crate) struct Supernodal {
    symbolic: SymbolicCholesky<u32>,
    values: Vec<f64>,
    factor_memory: MemBuffer,
    solve_memory: MemBuffer,
}

impl std::fmt::Debug for Supernodal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Supernodal {{ dim: {}, values: {} }}", self.symbolic.nrows(), self.values.len())
    }
}

fn structure(pattern: &SymmetricPattern) -> SymbolicSparseColMatRef<'_, u32> {
    let n = pattern.dim();
    SymbolicSparseColMatRef::new_checked(n, n, &pattern.col_ptr, None, &pattern.row_idx)
}

impl Supernodal {
    pub(crate) fn new(pattern: &SymmetricPattern) -> Result<Self, FactorError> {
        let failed = |message: String| FactorError::Pattern { dim: pattern.dim(), message };
        let symbolic = factorize_symbolic_cholesky(
            structure(pattern),
            Side::Lower,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        )
        .map_err(|error| failed(format!("{error:?}")))?;
        let factor_memory =
            MemBuffer::try_new(symbolic.factorize_numeric_ldlt_scratch::<f64>(Par::Seq, Spec::default()))
                .map_err(|error| failed(format!("{error:?}")))?;
        let solve_memory = MemBuffer::try_new(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq))
            .map_err(|error| failed(format!("{error:?}")))?;
        let values = vec![0.0; symbolic.len_val()];
        Ok(Self { symbolic, values, factor_memory, solve_memory })
    }

    pub(crate) fn refactor(&mut self, matrix: &SymmetricMatrix) -> Result<Pivots, FactorError> {
        let a = SparseColMatRef::new(structure(matrix.pattern()), &matrix.values);
        let diagonal = |i: usize| matrix.values[matrix.pattern().column(i).start];
        let original = |i: usize| self.symbolic.perm().map_or(i, |perm| perm.arrays().0[i] as usize);
        let result = self.symbolic.factorize_numeric_ldlt(
            &mut self.values,
            a,
            Side::Lower,
            faer::linalg::cholesky::ldlt::factor::LdltRegularization::default(),
            Par::Seq,
            MemStack::new(&mut self.factor_memory),
            Spec::default(),
        );
        // The place faer reports counts from zero or one depending on the path taken, so it is not passed on.
        if result.is_err() {
            return Err(FactorError::Singular { dim: matrix.dim() });
        }
        let mut count = PivotCount::new();
        match self.symbolic.raw() {
            SymbolicCholeskyRaw::Simplicial(symbolic) => {
                let factor = SimplicialLdltRef::new(symbolic, &self.values);
                for j in 0..symbolic.ncols() {
                    let pivot = factor.values()[symbolic.col_ptr()[j] as usize];
                    count.book(original(j), pivot, diagonal(original(j)))?;
                }
            }
            SymbolicCholeskyRaw::Supernodal(symbolic) => {
                let factor = SupernodalLdltRef::new(symbolic, &self.values);
                for s in 0..symbolic.n_supernodes() {
                    let supernode = factor.supernode(s);
                    for k in 0..supernode.val().ncols() {
                        let unknown = original(supernode.start() + k);
                        count.book(unknown, supernode.val()[(k, k)], diagonal(unknown))?;
                    }
                }
            }
        }
        Ok(count.finish())
    }

    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        let n = x.len();
        LdltRef::<'_, u32, f64>::new(&self.symbolic, &self.values).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(x, n, 1),
            Par::Seq,
            MemStack::new(&mut self.solve_memory),
        );
    }
}
