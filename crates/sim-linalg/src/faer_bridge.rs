//! Our operators inside faer's iterative methods, and faer's operators inside ours.

use std::cell::RefCell;
use std::fmt;

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::matrix_free::{LinOp, Precond};
use faer::prelude::ReborrowMut;
use faer::{MatMut, MatRef, Par};

use crate::operator::{LinearOperator, Preconditioner};

/// One of our operators seen through faer's `LinOp`.
///
/// # Limitations
/// Strided columns are copied through one buffer per column; contiguous columns are not.
pub struct AsFaerOperator<'a, A: ?Sized>(pub &'a A);

impl<A: ?Sized> fmt::Debug for AsFaerOperator<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AsFaerOperator")
    }
}

/// One of our preconditioners, of size `dim`, seen through faer's `Precond`.
pub struct AsFaerPreconditioner<'a, M: ?Sized> {
    /// The preconditioner.
    pub preconditioner: &'a M,
    /// Number of scalar unknowns.
    pub dim: usize,
}

impl<M: ?Sized> fmt::Debug for AsFaerPreconditioner<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AsFaerPreconditioner({})", self.dim)
    }
}

/// Runs `apply` on every column, copying only columns that are not contiguous.
fn by_columns(mut out: MatMut<'_, f64>, rhs: MatRef<'_, f64>, apply: impl Fn(&[f64], &mut [f64])) {
    for j in 0..rhs.ncols() {
        let copy;
        let x = if let Some(column) = rhs.col(j).try_as_col_major() {
            column.as_slice()
        } else {
            copy = rhs.col(j).iter().copied().collect::<Vec<f64>>();
            &copy
        };
        let mut column = out.rb_mut().col_mut(j);
        if let Some(y) = column.rb_mut().try_as_col_major_mut() {
            apply(x, y.as_slice_mut());
        } else {
            let mut y = vec![0.0; x.len()];
            apply(x, &mut y);
            column.iter_mut().zip(y).for_each(|(target, value)| *target = value);
        }
    }
}

impl<A: LinearOperator + Sync + ?Sized> LinOp<f64> for AsFaerOperator<'_, A> {
    fn apply_scratch(&self, _rhs_ncols: usize, _par: Par) -> StackReq {
        StackReq::EMPTY
    }

    fn nrows(&self) -> usize {
        self.0.dim()
    }

    fn ncols(&self) -> usize {
        self.0.dim()
    }

    fn apply(&self, out: MatMut<'_, f64>, rhs: MatRef<'_, f64>, _par: Par, _stack: &mut MemStack) {
        by_columns(out, rhs, |x, y| self.0.apply(x, y));
    }

    fn conj_apply(&self, out: MatMut<'_, f64>, rhs: MatRef<'_, f64>, par: Par, stack: &mut MemStack) {
        self.apply(out, rhs, par, stack);
    }
}

impl<M: Preconditioner + Sync + ?Sized> LinOp<f64> for AsFaerPreconditioner<'_, M> {
    fn apply_scratch(&self, _rhs_ncols: usize, _par: Par) -> StackReq {
        StackReq::EMPTY
    }

    fn nrows(&self) -> usize {
        self.dim
    }

    fn ncols(&self) -> usize {
        self.dim
    }

    fn apply(&self, out: MatMut<'_, f64>, rhs: MatRef<'_, f64>, _par: Par, _stack: &mut MemStack) {
        by_columns(out, rhs, |r, z| self.preconditioner.apply(r, z));
    }

    fn conj_apply(&self, out: MatMut<'_, f64>, rhs: MatRef<'_, f64>, par: Par, stack: &mut MemStack) {
        self.apply(out, rhs, par, stack);
    }
}

impl<M: Preconditioner + Sync + ?Sized> Precond<f64> for AsFaerPreconditioner<'_, M> {}

/// A square faer operator (a sparse matrix, a dense matrix, any `LinOp`) as our [`LinearOperator`].
///
/// The whole matrix must be stored: faer's sparse products do not mirror a triangle.
pub struct FaerOperator<L> {
    operator: L,
    scratch: RefCell<MemBuffer>,
}

impl<L: LinOp<f64>> FaerOperator<L> {
    /// Takes the operator; its scratch memory is allocated here, once.
    ///
    /// # Panics
    /// If the operator is not square.
    pub fn new(operator: L) -> Self {
        let (rows, cols) = (operator.nrows(), operator.ncols());
        assert_eq!(rows, cols, "an operator of {rows} x {cols} is not square");
        let scratch = RefCell::new(MemBuffer::new(operator.apply_scratch(1, Par::Seq)));
        Self { operator, scratch }
    }
}

impl<L: LinOp<f64>> LinearOperator for FaerOperator<L> {
    fn dim(&self) -> usize {
        self.operator.nrows()
    }

    fn apply(&self, x: &[f64], y: &mut [f64]) {
        let n = self.operator.nrows();
        assert_eq!((x.len(), y.len()), (n, n), "slices of {} and {} for {n} unknowns", x.len(), y.len());
        let out = MatMut::from_column_major_slice_mut(y, n, 1);
        let rhs = MatRef::from_column_major_slice(x, n, 1);
        self.operator.apply(out, rhs, Par::Seq, MemStack::new(&mut self.scratch.borrow_mut()));
    }
}
