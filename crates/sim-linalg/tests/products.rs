//! Products, conversions and solves on random matrices against dense linear algebra.

mod common;

use common::{Noise, dense, noise_vector, relative_difference, relative_residual};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::matrix_free::LinOp;
use faer::matrix_free::conjugate_gradient::{CgParams, conjugate_gradient, conjugate_gradient_scratch};
use faer::{Mat, Par};
use nalgebra::{DVector, Matrix3};
use proptest::prelude::*;
use sim_linalg::workload::{SheetOptions, sheet};
use sim_linalg::{
    AsFaerOperator, AsFaerPreconditioner, BlockAssembler, BlockPattern, BlockRecorder, BlockSymmetric,
    FaerOperator, LinearOperator, LinearSolver, PreconditionerKind, PreconditionerOptions, SolverChoice,
    SolverOptions,
};
use std::sync::Arc;

/// A diagonally dominant matrix with random blocks; off-diagonal blocks are symmetric only on demand.
fn random_matrix(seed: u64, n: usize, symmetric_blocks: bool) -> BlockSymmetric {
    let mut noise = Noise(seed);
    let mut edges = Vec::new();
    for _ in 0..3 * n {
        edges.push([noise.below(n) as u32, noise.below(n) as u32]);
    }
    let mut a = BlockSymmetric::zeros(Arc::new(BlockPattern::from_edges(n, &edges).unwrap()));
    let pattern = a.pattern().clone();
    for i in 0..n {
        a.add(i, i, &(Matrix3::identity() * 0.1));
        for &j in pattern.row(i) {
            let mut b = Matrix3::from_fn(|_, _| noise.next());
            if symmetric_blocks {
                b += b.transpose();
            }
            a.add(i, j as usize, &b);
            let size = b.iter().map(|v| v.abs()).sum::<f64>();
            a.add(i, i, &(Matrix3::identity() * size));
            a.add(j as usize, j as usize, &(Matrix3::identity() * size));
        }
    }
    a
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn products_match_dense(seed in 0_u64..1_000_000, n in 1_usize..60, symmetric: bool) {
        let a = random_matrix(seed, n, symmetric);
        let full = dense(&a);
        prop_assert!((&full - full.transpose()).amax() == 0.0);
        let x = noise_vector(seed + 1, 3 * n);
        let expected = &full * DVector::from_column_slice(&x);
        let mut y = vec![f64::NAN; 3 * n];
        let dot = a.apply_dot(&x, &mut y);
        prop_assert!(relative_difference(&y, expected.as_slice()) < 1e-13);
        prop_assert!((dot / expected.dot(&DVector::from_column_slice(&x)) - 1.0).abs() < 1e-12);
        let mut z = vec![0.0; 3 * n];
        a.apply(&x, &mut z);
        prop_assert_eq!(&y, &z);
    }

    #[test]
    fn faer_round_trip(seed in 0_u64..1_000_000, n in 1_usize..40) {
        let a = random_matrix(seed, n, false);
        let lower = a.to_faer_lower();
        let full = dense(&a);
        for c in 0..3 * n {
            for (r, v) in lower.as_ref().row_idx_of_col(c).zip(lower.as_ref().val_of_col(c)) {
                prop_assert!(r >= c && full[(r, c)] == *v);
            }
        }
        let back = BlockSymmetric::from_faer_lower(lower.as_ref()).unwrap();
        prop_assert_eq!(dense(&back), full);
    }

    #[test]
    fn every_block_method_matches_dense(seed in 0_u64..1_000_000, n in 2_usize..80, symmetric: bool) {
        let a = random_matrix(seed, n, symmetric);
        let b = noise_vector(seed + 2, 3 * n);
        let expected = common::dense_solve(&a, &b);
        for choice in [
            SolverChoice::TwoLevel, SolverChoice::TwoLevelAdditive, SolverChoice::BlockIncompleteCholesky,
            SolverChoice::BlockJacobi, SolverChoice::Direct,
        ] {
            let mut options = SolverOptions { choice, ..SolverOptions::default() };
            options.preconditioner.patch_size = 8;
            options.preconditioner.fill_level = (seed % 3) as u8;
            let mut solver = LinearSolver::new(options).unwrap();
            solver.prepare(a.pattern(), None).unwrap();
            solver.factor(&a).unwrap();
            let mut x = vec![0.0; 3 * n];
            let report = solver.solve(&a, &b, &mut x, 1e-11).unwrap();
            prop_assert!(report.fallback.is_none());
            prop_assert!(relative_difference(&x, &expected) < 1e-8, "{:?}", choice);
        }
    }

    #[test]
    fn assembly_matches_dense_sums(seed in 0_u64..1_000_000, n in 1_usize..30) {
        let mut noise = Noise(seed);
        let free: Vec<bool> = (0..n).map(|_| noise.next() > -0.6).collect();
        let contributions: Vec<(usize, usize, Matrix3<f64>)> = (0..4 * n)
            .map(|_| {
                let (i, j) = (noise.below(n), noise.below(n));
                let b = Matrix3::from_fn(|_, _| noise.next());
                (i, j, if i == j { b + b.transpose() } else { b })
            })
            .collect();
        let mut recorder = BlockRecorder::new(&free);
        for (i, j, _) in &contributions {
            recorder.add(*i, *j);
        }
        let assembler: BlockAssembler = recorder.finish().unwrap();
        let mut a = BlockSymmetric::zeros(assembler.pattern().clone());
        let mut refill = assembler.refill(&mut a);
        for (i, j, b) in &contributions {
            refill.add(*i, *j, b);
        }
        refill.finish().unwrap();
        let mut full = nalgebra::DMatrix::zeros(3 * n, 3 * n);
        for (i, j, b) in &contributions {
            let mut view = full.fixed_view_mut::<3, 3>(3 * i, 3 * j);
            view += b;
            if i != j {
                let mut view = full.fixed_view_mut::<3, 3>(3 * j, 3 * i);
                view += b.transpose();
            }
        }
        let own = dense(&a);
        for i in 0..n {
            for j in 0..n {
                if let (Some(p), Some(q)) = (assembler.unknown_of(i), assembler.unknown_of(j)) {
                    let expected = full.fixed_view::<3, 3>(3 * i, 3 * j);
                    prop_assert!((own.fixed_view::<3, 3>(3 * p, 3 * q) - expected).amax() < 1e-14);
                }
            }
        }
    }
}

/// Our operator and preconditioner inside faer's own iteration, and faer's matrix inside ours.
#[test]
fn operators_travel_both_ways() {
    let s = sheet(&SheetOptions::soft(12)).unwrap();
    let n = s.rhs.len();
    let mut m = PreconditionerKind::BlockIncompleteCholesky
        .build(s.matrix.pattern(), None, &PreconditionerOptions::default())
        .unwrap();
    m.refill(&s.matrix).unwrap();
    let operator = AsFaerOperator(&s.matrix);
    let preconditioner = AsFaerPreconditioner { preconditioner: m.as_ref(), dim: n };
    let rhs = Mat::from_fn(n, 1, |i, _| s.rhs[i]);
    let mut out = Mat::<f64>::zeros(n, 1);
    let mut memory = MemBuffer::new(conjugate_gradient_scratch(&preconditioner, &operator, 1, Par::Seq));
    let params = CgParams { rel_tolerance: 1e-10, max_iters: 500, ..CgParams::default() };
    let info = conjugate_gradient(
        out.as_mut(),
        &preconditioner,
        &operator,
        rhs.as_ref(),
        params,
        |_| {},
        Par::Seq,
        MemStack::new(&mut memory),
    )
    .unwrap();
    let x: Vec<f64> = (0..n).map(|i| out[(i, 0)]).collect();
    assert!(info.iter_count < 100 && relative_residual(&s.matrix, &s.rhs, &x) < 1e-9);

    // Several columns, of which none is contiguous in a row-major view.
    let wide = Mat::from_fn(2, n, |r, c| (r + 1) as f64 * s.rhs[c]);
    let mut result = Mat::<f64>::zeros(2, n);
    let mut none = MemBuffer::new(operator.apply_scratch(2, Par::Seq));
    operator.apply(
        result.as_mut().transpose_mut(),
        wide.as_ref().transpose(),
        Par::Seq,
        MemStack::new(&mut none),
    );
    let mut y = vec![0.0; n];
    s.matrix.apply(&s.rhs, &mut y);
    assert!(
        (0..n).all(|c| result[(0, c)] == y[c] && (result[(1, c)] - 2.0 * y[c]).abs() <= 1e-15 * y[c].abs())
    );

    let full = dense(&s.matrix);
    let dense_faer = Mat::from_fn(n, n, |i, j| full[(i, j)]);
    let ours = FaerOperator::new(dense_faer);
    let mut z = vec![0.0; n];
    ours.apply(&s.rhs, &mut z);
    assert!(relative_difference(&z, &y) < 1e-14);
}
