//! Preconditioners: published values, breakdowns, symmetry, positive definiteness, iteration counts.

mod common;

use common::{Noise, grid_edges, network, noise_vector, relative_difference, relative_residual};
use faer::sparse::{SparseColMat, Triplet};
use nalgebra::{DMatrix, Matrix3};
use sim_linalg::workload::{SheetOptions, sheet};
use sim_linalg::{
    BlockPattern, BlockSymmetric, CgOptions, CgWorkspace, FaerOperator, IdentityPreconditioner,
    IncompleteCholesky, Preconditioner, PreconditionerError, PreconditionerKind, PreconditionerOptions,
    conjugate_gradients,
};
use std::sync::Arc;

const KERSHAW: [[f64; 4]; 4] =
    [[3.0, -2.0, 0.0, 2.0], [-2.0, 3.0, -2.0, 0.0], [0.0, -2.0, 3.0, -2.0], [2.0, 0.0, -2.0, 3.0]];

fn lower(
    rows: usize,
    entry: impl Fn(usize, usize) -> f64,
) -> (SparseColMat<u32, f64>, SparseColMat<u32, f64>) {
    let (mut half, mut full) = (Vec::new(), Vec::new());
    for j in 0..rows {
        for i in 0..rows {
            let v = entry(i, j);
            if v != 0.0 {
                full.push(Triplet::new(i as u32, j as u32, v));
                if i >= j {
                    half.push(Triplet::new(i as u32, j as u32, v));
                }
            }
        }
    }
    let build = |t: &[Triplet<u32, u32, f64>]| SparseColMat::try_new_from_triplets(rows, rows, t).unwrap();
    (build(&half), build(&full))
}

/// E-kershaw-ic0-breakdown and report L32: pivots 3, 5/3, 3/5, then −5; shift, count it, solve.
#[test]
fn kershaw_is_shifted_and_solved() {
    let (half, full) = lower(4, |i, j| KERSHAW[i][j]);
    let mut ic = IncompleteCholesky::from_lower(half.symbolic());
    ic.refill_values(half.val()).unwrap();
    // The first shift 1e-4 · 4^k above the critical 0.15470053837925152 is 0.4096.
    assert!((ic.shift() - 1e-4 * 4f64.powi(6)).abs() < 1e-15, "{}", ic.shift());
    let pivots = ic.pivots();
    assert!(pivots.iter().all(|&p| p > 0.0) && (pivots[0] - 3.0 * (1.0 + ic.shift())).abs() < 1e-12);
    let operator = FaerOperator::new(full);
    let options = CgOptions { relative_tolerance: 1e-13, ..CgOptions::default() };
    for (b, expected) in [([1.0; 4], [3.0, 7.0, 7.0, 3.0]), ([1.0, 2.0, 3.0, 4.0], [-1.0, 14.0, 21.0, 16.0])]
    {
        let mut x = [0.0; 4];
        let report =
            conjugate_gradients(&operator, &ic, &b, &mut x, &options, &mut CgWorkspace::default()).unwrap();
        assert_eq!(report.shift, ic.shift());
        assert!(x.iter().zip(expected).all(|(x, e)| (x - e).abs() < 1e-10), "{x:?}");
    }
}

/// Kershaw ⊗ I₃: the block factor meets the same breakdown.
#[test]
fn kershaw_in_blocks() {
    let pattern = BlockPattern::from_edges(4, &[[0, 1], [1, 2], [2, 3], [0, 3]]).unwrap();
    let mut a = BlockSymmetric::zeros(Arc::new(pattern));
    for (i, row) in KERSHAW.iter().enumerate() {
        for (j, &v) in row.iter().enumerate().skip(i) {
            if v != 0.0 {
                a.add(i, j, &(v * Matrix3::identity()));
            }
        }
    }
    let b = vec![1.0; 12];
    for kind in PreconditionerKind::ALL {
        let options = PreconditionerOptions {
            fill_level: 0,
            drop_tolerance: 0.0,
            fill_limit: 1.0,
            ..PreconditionerOptions::default()
        };
        let mut m = kind.build(a.pattern(), None, &options).unwrap();
        m.refill(&a).unwrap();
        // With a threshold other entries are kept than the breakdown needs.
        if kind != PreconditionerKind::ThresholdIncompleteCholesky {
            let shifted = matches!(
                kind,
                PreconditionerKind::IncompleteCholesky
                    | PreconditionerKind::BlockIncompleteCholesky
                    | PreconditionerKind::TwoLevel
            );
            assert_eq!(m.shift() > 0.0, shifted, "{kind:?} {}", m.shift());
        }
        let mut x = vec![0.0; 12];
        let cg = CgOptions { relative_tolerance: 1e-12, ..CgOptions::default() };
        conjugate_gradients(&a, m.as_ref(), &b, &mut x, &cg, &mut CgWorkspace::default()).unwrap();
        for (k, x) in x.iter().enumerate() {
            assert!((x - [3.0, 7.0, 7.0, 3.0][k / 3]).abs() < 1e-10, "{kind:?} {x}");
        }
    }
}

/// E-poisson-cg-iterations: counts for plain and IC(0) preconditioned iterations, the pivot limit, and the condition number.
#[test]
fn e_poisson_iterations() {
    let expected =
        [(10, 15, 12, 33, 14), (20, 36, 20, 64, 23), (40, 74, 35, 121, 41), (60, 112, 49, 182, 63)];
    for (n, plain_ones, ic_ones, plain_lcg, ic_lcg) in expected {
        let mut triplets = (Vec::new(), Vec::new());
        for v in 0..n * n {
            let mut push = |u: usize, value: f64| {
                triplets.1.push(Triplet::new(u as u32, v as u32, value));
                if u >= v {
                    triplets.0.push(Triplet::new(u as u32, v as u32, value));
                }
            };
            push(v, 4.0);
            if v % n > 0 {
                push(v - 1, -1.0);
            }
            if v % n + 1 < n {
                push(v + 1, -1.0);
            }
            if v >= n {
                push(v - n, -1.0);
            }
            if v + n < n * n {
                push(v + n, -1.0);
            }
        }
        let half = SparseColMat::<u32, f64>::try_new_from_triplets(n * n, n * n, &triplets.0).unwrap();
        let full = SparseColMat::<u32, f64>::try_new_from_triplets(n * n, n * n, &triplets.1).unwrap();
        let mut ic = IncompleteCholesky::from_lower(half.symbolic());
        ic.refill_values(half.val()).unwrap();
        assert_eq!(ic.shift(), 0.0);
        let operator = FaerOperator::new(full);
        let mut state = 12345_u64;
        let lcg: Vec<f64> = (0..n * n)
            .map(|_| {
                state = (1664525 * state + 1013904223) % (1 << 32);
                state as f64 / 4294967296.0 - 0.5
            })
            .collect();
        let options = CgOptions { relative_tolerance: 1e-8, ..CgOptions::default() };
        let count = |m: &dyn Preconditioner, b: &[f64]| {
            let mut x = vec![0.0; b.len()];
            let report =
                conjugate_gradients(&operator, m, b, &mut x, &options, &mut CgWorkspace::default()).unwrap();
            report.iterations
        };
        let ones = vec![1.0; n * n];
        for (count, expected) in [
            (count(&IdentityPreconditioner, &ones), plain_ones),
            (count(&ic, &ones), ic_ones),
            (count(&IdentityPreconditioner, &lcg), plain_lcg),
            (count(&ic, &lcg), ic_lcg),
        ] {
            assert!(count.abs_diff(expected) <= 1, "n = {n}: {count} iterations, {expected} expected");
        }
        if n == 60 {
            let last = ic.pivots()[n * n - 1];
            assert!((last / 3.414213562373095 - 1.0).abs() < 1e-3, "{last}");
        }
        if n == 10 {
            let condition = preconditioned_condition(&half, &ic);
            assert!((condition / 5.119747083502975 - 1.0).abs() < 1e-8, "{condition}");
        }
    }
}

/// The condition number of M⁻¹ A by dense eigenvalues, through applications of M⁻¹ alone.
fn preconditioned_condition(half: &SparseColMat<u32, f64>, m: &dyn Preconditioner) -> f64 {
    let n = half.nrows();
    let mut a = DMatrix::zeros(n, n);
    for j in 0..n {
        for (i, v) in half.row_idx_of_col(j).zip(half.val_of_col(j)) {
            (a[(i, j)], a[(j, i)]) = (*v, *v);
        }
    }
    let mut inverse = DMatrix::zeros(n, n);
    let mut e = vec![0.0; n];
    for j in 0..n {
        e[j] = 1.0;
        m.apply(&e, inverse.column_mut(j).as_mut_slice());
        e[j] = 0.0;
    }
    // Similar to Rᵀ A R with R Rᵀ = M⁻¹.
    let r = inverse.cholesky().unwrap().l();
    let eigenvalues = (r.transpose() * a * r).symmetric_eigenvalues();
    eigenvalues.max() / eigenvalues.min()
}

/// Every preconditioner is symmetric and positive definite on a stiff, bent sheet, and solves it.
#[test]
fn symmetric_positive_definite_and_correct() {
    let mut s = sheet(&SheetOptions::stiff(12)).unwrap();
    let n = s.rhs.len();
    let mut reference = vec![0.0; n];
    for kind in PreconditionerKind::ALL {
        let mut m = kind.build(s.matrix.pattern(), Some(&s.rest), &PreconditionerOptions::default()).unwrap();
        m.refill(&s.matrix).unwrap();
        let (u, v) = (noise_vector(1, n), noise_vector(2, n));
        let (mut mu, mut mv) = (vec![0.0; n], vec![0.0; n]);
        let uu = m.apply_dot(&u, &mut mu);
        let vv = m.apply_dot(&v, &mut mv);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let asymmetry = (dot(&u, &mv) - dot(&v, &mu)).abs() / (uu * vv).sqrt();
        assert!(uu > 0.0 && vv > 0.0 && asymmetry < 1e-5, "{kind:?}: {asymmetry:e}");
        assert!((uu - dot(&u, &mu)).abs() < 1e-12 * uu);
        let mut x = vec![0.0; n];
        let options = CgOptions { relative_tolerance: 1e-10, ..CgOptions::default() };
        let report =
            conjugate_gradients(&s.matrix, m.as_ref(), &s.rhs, &mut x, &options, &mut CgWorkspace::default())
                .unwrap();
        assert!(relative_residual(&s.matrix, &s.rhs, &x) <= 1e-10 * 1.001);
        assert_eq!(report.preconditioner, m.name());
        if kind == PreconditionerKind::Identity {
            reference = x;
        } else {
            assert!(relative_difference(&x, &reference) < 1e-5, "{kind:?}");
        }
    }
    // NaN and another pattern are refused.
    let other = sheet(&SheetOptions::stiff(11)).unwrap();
    s.matrix.upper_mut()[40][3] = f64::NAN;
    for kind in PreconditionerKind::ALL.into_iter().skip(1) {
        let mut m = kind.build(s.matrix.pattern(), Some(&s.rest), &PreconditionerOptions::default()).unwrap();
        assert!(matches!(m.refill(&s.matrix), Err(PreconditionerError::NotFinite { .. })), "{kind:?}");
        assert!(
            matches!(m.refill(&other.matrix), Err(PreconditionerError::PatternChanged { .. })),
            "{kind:?}"
        );
    }
}

/// Iterations of the incomplete factors fall with fill, and threshold with limit.
#[test]
fn fill_buys_iterations() {
    let s = sheet(&SheetOptions::stiff(30)).unwrap();
    let count = |kind: PreconditionerKind, options: &PreconditionerOptions| {
        let mut m = kind.build(s.matrix.pattern(), Some(&s.rest), options).unwrap();
        m.refill(&s.matrix).unwrap();
        let mut x = vec![0.0; s.rhs.len()];
        let cg = CgOptions::default();
        conjugate_gradients(&s.matrix, m.as_ref(), &s.rhs, &mut x, &cg, &mut CgWorkspace::default())
            .unwrap()
            .iterations
    };
    let level = |fill_level| PreconditionerOptions { fill_level, ..PreconditionerOptions::default() };
    let block = |k| count(PreconditionerKind::BlockIncompleteCholesky, &level(k));
    let (zero, one, two) = (block(0), block(1), block(2));
    assert!(zero > one && one > two, "{zero} {one} {two}");
    let scalar = count(PreconditionerKind::IncompleteCholesky, &level(0));
    assert!(scalar.abs_diff(zero) <= zero / 4, "scalar {scalar}, block {zero}");
    let threshold =
        PreconditionerOptions { drop_tolerance: 1e-4, fill_limit: 3.0, ..PreconditionerOptions::default() };
    let threshold = count(PreconditionerKind::ThresholdIncompleteCholesky, &threshold);
    assert!(threshold < zero, "threshold {threshold}, zero fill {zero}");
    let jacobi = count(PreconditionerKind::BlockJacobi, &level(0));
    let two_level = count(PreconditionerKind::TwoLevel, &level(0));
    assert!(jacobi > zero && two_level < zero, "{jacobi} {zero} {two_level}");
}

/// Incomplete factors never break for good on random sheets and nets with dt² k / m up to 1e8. The full count of 10⁴ is run
/// by the example `ic_never_breaks`.
#[test]
fn incomplete_factors_never_break_on_random_nets() {
    for seed in 0..60 {
        let mut noise = Noise(7919 * seed);
        let n = 4 + noise.below(8) as u32;
        let mut edges = grid_edges(n);
        let total = (n * n) as usize;
        for _ in 0..noise.below(2 * total) {
            let (a, b) = (noise.below(total) as u32, noise.below(total) as u32);
            if a != b {
                edges.push([a, b]);
            }
        }
        let stiffness = 10f64.powf(noise.range(0.0, 8.0));
        let spread = noise.range(0.0, 4.0);
        let a = network(total, &edges, 1.0, |_| {
            let transverse = noise.next().max(0.0) * 0.1;
            (noise.unit(), stiffness * 10f64.powf(-noise.range(0.0, spread)), transverse)
        });
        for kind in [
            PreconditionerKind::IncompleteCholesky,
            PreconditionerKind::BlockIncompleteCholesky,
            PreconditionerKind::ThresholdIncompleteCholesky,
        ] {
            let mut m = kind.build(a.pattern(), None, &PreconditionerOptions::default()).unwrap();
            m.refill(&a).unwrap_or_else(|e| panic!("seed {seed}, {kind:?}: {e}"));
            assert!(m.shift() < 0.5, "seed {seed}, {kind:?}: shift {}", m.shift());
            let r = noise_vector(seed, 3 * total);
            let mut z = vec![0.0; 3 * total];
            assert!(m.apply_dot(&r, &mut z) > 0.0);
        }
    }
}
