//! Reference area E: matrices with known spectra, conjugate gradients, incomplete factors, direct solvers.

use super::cases::{CaseError, job, worst};
use super::catalogue::{Job, Scope};
use faer::sparse::{SparseColMat, Triplet};
use nalgebra::{DMatrix, Matrix3};
use sim_linalg::{
    BlockPattern, BlockSymmetric, CgOptions, CgReport, CgWorkspace, DirectSolver, FaerOperator,
    IncompleteCholesky, LinearOperator, Preconditioner, conjugate_gradients,
};
use std::sync::Arc;

mod direct;
mod iterative;
mod rates;

pub(super) fn jobs(_: Scope) -> Vec<Job> {
    vec![
        job("E-kershaw-ic0-breakdown", iterative::kershaw),
        job("E-chain-laplacian-spectrum", direct::chain),
        job("E-stiffness-ratio-two-springs", direct::two_springs),
        job("E-implicit-euler-matrix-conditioning", iterative::implicit_step),
        job("E-cg-2x2-rational", iterative::two_by_two),
        job("E-cg-distinct-eigenvalues", iterative::distinct_eigenvalues),
        job("E-poisson-cg-iterations", iterative::poisson),
        job("E-stationary-iteration-rates", rates::stationary),
        job("E-cyclic-tridiagonal", direct::cyclic),
        job("E-filtered-cg", iterative::filtered),
    ]
}

/// A scalar matrix in blocks: every entry times the 3×3 identity, on the pattern of its nonzero entries.
fn blocks(a: &DMatrix<f64>) -> Result<BlockSymmetric, CaseError> {
    let n = a.nrows();
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let edges: Vec<[u32; 2]> =
        pairs.filter(|&(i, j)| a[(i, j)] != 0.0).map(|(i, j)| [i as u32, j as u32]).collect();
    let mut matrix = BlockSymmetric::zeros(Arc::new(BlockPattern::from_edges(n, &edges)?));
    for i in 0..n {
        matrix.add(i, i, &(Matrix3::identity() * a[(i, i)]));
    }
    for [i, j] in edges.into_iter().map(|edge| edge.map(|i| i as usize)) {
        matrix.add(i, j, &(Matrix3::identity() * a[(i, j)]));
    }
    Ok(matrix)
}

/// A scalar matrix, both halves or the lower one, as the sparse type of faer; `keep` chooses entries below the diagonal.
fn sparse(
    a: &DMatrix<f64>,
    lower: bool,
    keep: impl Fn(usize, usize) -> bool,
) -> Result<SparseColMat<u32, f64>, CaseError> {
    let n = a.nrows();
    let mut entries = Vec::new();
    for j in 0..n {
        for i in if lower { j } else { 0 }..n {
            if i == j || keep(i.max(j), i.min(j)) {
                entries.push(Triplet::new(i as u32, j as u32, a[(i, j)]));
            }
        }
    }
    SparseColMat::try_new_from_triplets(n, n, &entries).map_err(|error| format!("{error:?}").into())
}

/// Sparse operator of a scalar matrix.
fn operator(a: &DMatrix<f64>) -> Result<FaerOperator<SparseColMat<u32, f64>>, CaseError> {
    Ok(FaerOperator::new(sparse(a, false, |i, j| a[(i, j)] != 0.0)?))
}

/// Incomplete Cholesky factor of a scalar matrix on the entries below the diagonal that `keep` chooses.
fn incomplete(
    a: &DMatrix<f64>,
    keep: impl Fn(usize, usize) -> bool,
) -> Result<IncompleteCholesky, CaseError> {
    let lower = sparse(a, true, keep)?;
    let mut factor = IncompleteCholesky::from_lower(lower.symbolic());
    factor.refill_values(lower.val())?;
    Ok(factor)
}

/// What a map on vectors does to the unit vectors.
fn dense_of(n: usize, mut apply: impl FnMut(&[f64], &mut [f64])) -> DMatrix<f64> {
    let mut dense = DMatrix::zeros(n, n);
    let mut unit = vec![0.0; n];
    for k in 0..n {
        unit[k] = 1.0;
        apply(&unit, dense.column_mut(k).as_mut_slice());
        unit[k] = 0.0;
    }
    dense
}

/// The matrix that an operator multiplies by.
fn dense(operator: &dyn LinearOperator) -> DMatrix<f64> {
    dense_of(operator.dim(), |x, y| operator.apply(x, y))
}

/// Smallest and largest eigenvalue of M⁻¹ A, both symmetric positive definite.
fn preconditioned_range(
    a: &DMatrix<f64>,
    preconditioner: &dyn Preconditioner,
) -> Result<[f64; 2], CaseError> {
    let inverse = dense_of(a.nrows(), |r, z| preconditioner.apply(r, z));
    // Similar to Rᵀ A R with R Rᵀ = M⁻¹.
    let r = inverse.cholesky().ok_or("the preconditioner is not positive definite")?.l();
    Ok(range(&(r.transpose() * a * r)))
}

/// Smallest and largest eigenvalue.
fn range(a: &DMatrix<f64>) -> [f64; 2] {
    let eigenvalues = a.clone().symmetric_eigenvalues();
    [eigenvalues.min(), eigenvalues.max()]
}

/// Conjugate gradients from zero.
fn solve(
    operator: &dyn LinearOperator,
    preconditioner: &dyn Preconditioner,
    rhs: &[f64],
    relative_tolerance: f64,
) -> Result<(Vec<f64>, CgReport), CaseError> {
    let mut x = vec![0.0; rhs.len()];
    let options = CgOptions { relative_tolerance, record_history: true, ..CgOptions::default() };
    let report =
        conjugate_gradients(operator, preconditioner, rhs, &mut x, &options, &mut CgWorkspace::default())?;
    Ok((x, report))
}

/// Solution of a scalar system in each of the three components of a block system; the largest distance between them is the second.
fn in_blocks(
    solver: &mut dyn DirectSolver,
    matrix: &BlockSymmetric,
    rhs: &[f64],
) -> Result<(Vec<f64>, f64), CaseError> {
    solver.factor(matrix)?;
    let mut x: Vec<f64> = rhs.iter().flat_map(|&b| [b, -b, 2.0 * b]).collect();
    solver.solve_in_place(&mut x);
    let first: Vec<f64> = x.chunks_exact(3).map(|x| x[0]).collect();
    let gap = x.chunks_exact(3).map(|x| (x[1] + x[0]).abs().max((x[2] - 2.0 * x[0]).abs()));
    Ok((first, worst(gap)))
}
