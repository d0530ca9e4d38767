//! Somebody else's matrix: reads a symmetric positive definite matrix in Matrix Market format, solves A x = b for x = 1 by the
//! automatic choice and by conjugate gradients, and checks both.
//!
//! `cargo run --release -p sim-linalg --example matrix_market [FILE.mtx]`; without a file, a membrane of 30 × 30 nodes in 3-D.

use faer::sparse::{SparseColMat, Triplet};
use nalgebra_sparse::CooMatrix;
use nalgebra_sparse::io::{load_coo_from_matrix_market_file, load_coo_from_matrix_market_str};
use sim_linalg::{BlockSymmetric, LinearOperator, LinearSolver, SolverChoice, SolverOptions};
use std::error::Error;
use std::fmt::Write as _;

/// The five-point matrix of a membrane under tension with a little mass, three equal unknowns per node, as a file has it.
fn membrane(n: usize) -> Result<String, std::fmt::Error> {
    let mut entries = Vec::new();
    for i in 0..n {
        for j in 0..n {
            for c in 0..3 {
                let at = 3 * (i * n + j) + c + 1;
                entries.push((at, at, 4.01));
                if j > 0 {
                    entries.push((at, at - 3, -1.0));
                }
                if i > 0 {
                    entries.push((at, at - 3 * n, -1.0));
                }
            }
        }
    }
    let mut text = String::from("%%MatrixMarket matrix coordinate real symmetric\n");
    writeln!(text, "{0} {0} {1}", 3 * n * n, entries.len())?;
    for (row, column, value) in entries {
        writeln!(text, "{row} {column} {value}")?;
    }
    Ok(text)
}

fn main() -> Result<(), Box<dyn Error>> {
    let read: CooMatrix<f64> = match std::env::args().nth(1) {
        Some(file) => load_coo_from_matrix_market_file(file)?,
        None => load_coo_from_matrix_market_str(&membrane(30)?)?,
    };
    let dim = read.nrows();
    if dim != read.ncols() || !dim.is_multiple_of(3) {
        return Err(format!(
            "{dim} × {}: a square matrix of three unknowns per node is needed",
            read.ncols()
        )
        .into());
    }
    let lower: Vec<Triplet<u32, u32, f64>> = read
        .triplet_iter()
        .filter(|(row, column, _)| row >= column)
        .map(|(row, column, &value)| Triplet::new(row as u32, column as u32, value))
        .collect();
    let lower = SparseColMat::try_new_from_triplets(dim, dim, &lower)?;
    let matrix = BlockSymmetric::from_faer_lower(lower.as_ref())?;
    let ones = vec![1.0; dim];
    let mut rhs = vec![0.0; dim];
    matrix.apply(&ones, &mut rhs);
    for choice in [SolverChoice::Auto, SolverChoice::BlockIncompleteCholesky] {
        let mut solver = LinearSolver::new(SolverOptions { choice, ..SolverOptions::default() })?;
        solver.prepare(matrix.pattern(), None)?;
        solver.factor(&matrix)?;
        let mut x = vec![0.0; dim];
        let report = solver.solve(&matrix, &rhs, &mut x, 1e-10)?;
        let error = x.iter().map(|x| (x - 1.0).abs()).fold(0.0, f64::max);
        println!(
            "{dim} unknowns by {} ({}): {} iterations, relative residual {:.1e}, error {error:.1e}",
            report.method, report.reason, report.iterations, report.relative_residual
        );
        assert!(report.relative_residual <= 1e-10 && error < 1e-6);
    }
    Ok(())
}
