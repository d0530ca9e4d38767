//! Direct solvers against dense ones and exact values.

mod common;

use common::{
    Noise, chain_edges, dense_solve, grid_edges, loop_edges, network, noise_vector, relative_difference,
    relative_residual,
};
use nalgebra::{Matrix3, Vector3};
use sim_linalg::{
    BlockPattern, BlockPentadiagonal, BlockSymmetric, BlockTree, BlockTridiagonal, ClosedLoop, DirectSolver,
    FactorError, SparseCholesky,
};
use std::sync::Arc;

fn random_network(seed: u64, nodes: usize, edges: &[[u32; 2]], ratio: f64) -> BlockSymmetric {
    let mut noise = Noise(seed);
    network(nodes, edges, 1.0, |_| (noise.unit(), 10f64.powf(noise.range(0.0, ratio)), 0.1))
}

fn check(direct: &mut dyn DirectSolver, a: &BlockSymmetric, tolerance: f64) {
    let b = noise_vector(7, 3 * a.block_rows());
    direct.factor(a).unwrap();
    let mut x = b.clone();
    direct.solve_in_place(&mut x);
    let difference = relative_difference(&x, &dense_solve(a, &b));
    assert!(difference < tolerance, "{}: {difference:e}", direct.name());
    // A second right-hand side on the same factor, and a refactorisation that must not remember the first.
    let mut twice = b.iter().map(|v| 2.0 * v).collect::<Vec<_>>();
    direct.solve_in_place(&mut twice);
    assert!(twice.iter().zip(&x).all(|(t, x)| *t == 2.0 * x));
    direct.factor(a).unwrap();
    let mut again = b.clone();
    direct.solve_in_place(&mut again);
    assert_eq!(again, x);
}

#[test]
fn every_solver_matches_dense_cholesky() {
    let n = 60;
    let chain = random_network(1, n, &chain_edges(n, 1), 4.0);
    check(&mut BlockTridiagonal::default(), &chain, 1e-11);
    check(&mut BlockTree::new(chain.pattern()).unwrap(), &chain, 1e-11);
    check(&mut SparseCholesky::new(chain.pattern()).unwrap(), &chain, 1e-11);
    let skip = random_network(2, n, &chain_edges(n, 2), 4.0);
    check(&mut BlockPentadiagonal::default(), &skip, 1e-11);
    check(&mut SparseCholesky::new(skip.pattern()).unwrap(), &skip, 1e-11);
    for m in [3, 4, 5, 60] {
        let belt = random_network(3, m, &loop_edges(m, 1), 3.0);
        check(&mut ClosedLoop::<1>::new(belt.pattern()).unwrap(), &belt, 1e-11);
    }
    for m in [5, 6, 7, 60] {
        let belt = random_network(4, m, &loop_edges(m, 2), 3.0);
        check(&mut ClosedLoop::<2>::new(belt.pattern()).unwrap(), &belt, 1e-11);
    }
    let grid = random_network(5, 144, &grid_edges(12), 4.0);
    check(&mut SparseCholesky::new(grid.pattern()).unwrap(), &grid, 1e-11);
}

#[test]
fn random_forests_match_dense_cholesky() {
    for seed in 0..20 {
        let mut noise = Noise(1000 * seed);
        let n = 2 + noise.below(60);
        // Node i hangs on an earlier one, or starts a tree of its own; then the names are shuffled.
        let mut name: Vec<u32> = (0..n as u32).collect();
        for i in (1..n).rev() {
            name.swap(i, noise.below(i + 1));
        }
        let mut edges = Vec::new();
        for i in 1..n {
            if noise.next() > -0.8 {
                edges.push([name[i], name[noise.below(i)]]);
            }
        }
        let a = random_network(seed, n, &edges, 5.0);
        check(&mut BlockTree::new(a.pattern()).unwrap(), &a, 1e-10);
    }
}

#[test]
fn a_sweep_of_pushes_equals_factor_and_solve() {
    let n = 50;
    let a = random_network(9, n, &chain_edges(n, 2), 6.0);
    let b = noise_vector(3, 3 * n);
    let mut pushed = BlockPentadiagonal::with_capacity(n);
    let row_major = |m: Matrix3<f64>| -> [f64; 9] { m.transpose().as_slice().try_into().unwrap() };
    for round in 0..2 {
        pushed.clear();
        for i in 0..n {
            let coupling =
                |back: usize| i.checked_sub(back).and_then(|j| a.block(i, j)).map_or([0.0; 9], row_major);
            let rhs = [b[3 * i], b[3 * i + 1], b[3 * i + 2]];
            pushed.push(&a.diagonal()[i], &[coupling(1), coupling(2)], rhs).unwrap();
        }
        let mut x = vec![0.0; 3 * n];
        pushed.finish(&mut x);
        let mut factored = BlockPentadiagonal::default();
        factored.factor(&a).unwrap();
        let mut y = b.clone();
        factored.solve_in_place(&mut y);
        assert_eq!(x, y, "round {round}");
    }
}

/// E-chain-laplacian-spectrum, N = 50: entries of the inverse and the determinant's consequence, through a chain of blocks.
#[test]
fn e_chain_laplacian_inverse_entries() {
    let n = 50_usize;
    let mut a = BlockSymmetric::zeros(Arc::new(BlockPattern::from_edges(n, &chain_edges(n, 1)).unwrap()));
    for i in 0..n {
        a.add(i, i, &(2.0 * Matrix3::identity()));
        if i + 1 < n {
            a.add(i, i + 1, &-Matrix3::identity());
        }
    }
    let inverse = |i: usize, j: usize| (i.min(j) * (n + 1 - i.max(j))) as f64 / (n + 1) as f64;
    for solver in [
        &mut BlockTridiagonal::default() as &mut dyn DirectSolver,
        &mut SparseCholesky::new(a.pattern()).unwrap(),
    ] {
        solver.factor(&a).unwrap();
        let mut x = vec![0.0; 3 * n];
        x[3 * 24 + 1] = 1.0;
        solver.solve_in_place(&mut x);
        assert!((x[3 * 9 + 1] - 5.098039215686274).abs() < 1e-11 * 5.1);
        for i in 0..n {
            assert!((x[3 * i + 1] - inverse(i + 1, 25)).abs() < 1e-10 && x[3 * i] == 0.0);
        }
    }
}

/// E-cyclic-tridiagonal: circulant(3, −1, …, −1), N = 12.
#[test]
fn e_cyclic_tridiagonal() {
    let n = 12;
    let mut a = BlockSymmetric::zeros(Arc::new(BlockPattern::from_edges(n, &loop_edges(n, 1)).unwrap()));
    for i in 0..n {
        a.add(i, i, &(3.0 * Matrix3::identity()));
        a.add(i, (i + 1) % n, &-Matrix3::identity());
    }
    let rhs = [
        2.4166666666666665,
        0.16666666666666666,
        0.25,
        0.21666666666666667,
        0.18333333333333332,
        0.15714285714285714,
        0.13690476190476192,
        0.12103174603174603,
        0.10833333333333334,
        0.09797979797979799,
        0.0893939393939394,
        -0.8409090909090909,
    ];
    let first_row = [
        0.44722222222222224,
        0.17083333333333334,
        0.06527777777777778,
        0.025,
        0.009722222222222222,
        0.004166666666666667,
        0.002777777777777778,
    ];
    let mut direct = ClosedLoop::<1>::new(a.pattern()).unwrap();
    direct.factor(&a).unwrap();
    let mut x = vec![0.0; 3 * n];
    for (i, v) in rhs.iter().enumerate() {
        x[3 * i + 2] = *v;
    }
    direct.solve_in_place(&mut x);
    for i in 0..n {
        assert!((x[3 * i + 2] - 1.0 / (i + 1) as f64).abs() < 1e-12);
    }
    let mut x = vec![0.0; 3 * n];
    x[0] = 1.0;
    direct.solve_in_place(&mut x);
    for i in 0..n {
        assert!((x[3 * i] - first_row[i.min(n - i)]).abs() < 1e-12);
    }
}

/// A hanging rope at 60 Hz: dt² k / m up to 1e7. Explicit inverses lose all digits here at 1e5 nodes.
#[test]
fn a_stiff_rope_of_1e5_nodes_keeps_its_digits() {
    let n = 100_000;
    let mut noise = Noise(5);
    let a = network(n, &chain_edges(n, 1), 1.0, |_| {
        (Vector3::new(noise.next(), noise.next(), 3.0).normalize(), 1e7, 1e-3)
    });
    // The right-hand side of a step: forces of the size of the stiffness times small strains, and gravity.
    let b: Vec<f64> = noise_vector(11, 3 * n);
    let mut direct = BlockTridiagonal::with_capacity(n);
    direct.factor(&a).unwrap();
    let mut x = b.clone();
    direct.solve_in_place(&mut x);
    let residual = relative_residual(&a, &b, &x);
    assert!(residual < 1e-8, "{residual:e}");
}

#[test]
fn the_bad_pivot_is_named() {
    let n = 30;
    for bad in [0, 13, n - 1] {
        let mut a = random_network(1, n, &chain_edges(n, 1), 1.0);
        a.diagonal_mut()[bad][4] = -1.0;
        let expected = FactorError::NotPositiveDefinite { block_row: bad, component: 1 };
        assert_eq!(BlockTridiagonal::default().factor(&a), Err(expected.clone()));
        assert_eq!(SparseCholesky::new(a.pattern()).unwrap().factor(&a), Err(expected));
        assert!(matches!(
            BlockTree::new(a.pattern()).unwrap().factor(&a),
            Err(FactorError::NotPositiveDefinite { block_row, .. }) if block_row == bad
        ));
    }
    let mut belt = random_network(1, n, &loop_edges(n, 2), 1.0);
    for bad in [0, 13, n - 2, n - 1] {
        let good = belt.diagonal()[bad];
        belt.diagonal_mut()[bad][4] = -1.0;
        let expected = FactorError::NotPositiveDefinite { block_row: bad, component: 1 };
        assert_eq!(ClosedLoop::<2>::new(belt.pattern()).unwrap().factor(&belt), Err(expected));
        belt.diagonal_mut()[bad] = good;
    }
    // The same through the supernodal factorisation, which counts differently.
    let mut a = random_network(1, 1600, &grid_edges(40), 1.0);
    a.diagonal_mut()[777][8] = -1.0;
    let expected = FactorError::NotPositiveDefinite { block_row: 777, component: 2 };
    assert_eq!(SparseCholesky::new(a.pattern()).unwrap().factor(&a), Err(expected));
    a.diagonal_mut()[777][8] = f64::NAN;
    let expected = FactorError::NotFinite { block_row: 777 };
    assert_eq!(SparseCholesky::new(a.pattern()).unwrap().factor(&a), Err(expected));
}

#[test]
fn a_free_chain_without_mass_is_singular() {
    let mut a = random_network(1, 10, &chain_edges(10, 1), 1.0);
    for i in 0..10 {
        a.add(i, i, &-Matrix3::identity());
    }
    let error = BlockTridiagonal::default().factor(&a).unwrap_err();
    assert!(matches!(error, FactorError::NotPositiveDefinite { block_row: 9, .. }), "{error}");
}

#[test]
fn wrong_structures_are_refused() {
    let square = BlockPattern::from_edges(4, &loop_edges(4, 1)).unwrap();
    assert!(matches!(BlockTree::new(&square), Err(FactorError::Structure { expected: "a tree", .. })));
    let grid = BlockPattern::from_edges(25, &grid_edges(5)).unwrap();
    assert!(matches!(ClosedLoop::<2>::new(&grid), Err(FactorError::Structure { row: 0, col: 5, .. })));
    let pair = BlockPattern::from_edges(2, &[[0, 1]]).unwrap();
    assert!(ClosedLoop::<1>::new(&pair).is_err());
}
