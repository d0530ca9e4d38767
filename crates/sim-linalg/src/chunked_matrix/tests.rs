//! Every storage gives the product of the matrix it was filled from.

use std::sync::Arc;

use super::*;
use crate::lanes::Lane32;
use crate::operator::LinearOperator;

/// A grid of springs in random directions, from rods (a = 0) to isotropic ones (b = 0), with masses.
fn net(side: usize, stiffness: f64, bend: bool) -> BlockSymmetric {
    let index = |r: usize, c: usize| (r * side + c) as u32;
    let mut edges = Vec::new();
    for r in 0..side {
        for c in 0..side {
            for (i, j) in [(r, c + 1), (r + 1, c), (r + 1, c + 1), (r, c + 2)] {
                if i < side && j < side {
                    edges.push([index(r, c), index(i, j)]);
                }
            }
        }
    }
    let pattern = Arc::new(BlockPattern::from_edges(side * side, &edges).expect("a grid"));
    let mut matrix = BlockSymmetric::zeros(pattern.clone());
    for d in &mut matrix.diagonal {
        *d = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    }
    for i in 0..pattern.block_rows() {
        for k in pattern.range(i) {
            let j = pattern.columns()[k] as usize;
            let angle = 0.7 * k as f64;
            let u = [angle.cos(), 0.8 * angle.sin(), 0.6 * angle.sin()];
            let u = if k % 11 == 0 { [0.0, 0.0, 1.0] } else { u };
            let along = if k % 7 == 0 { 0.0 } else { stiffness };
            let across = if k % 3 == 0 { 0.0 } else { 0.3 * stiffness };
            let mut block = [0.0; 9];
            for r in 0..3 {
                for c in 0..3 {
                    block[3 * r + c] = along * (u[r] * u[c]) + if r == c { across } else { 0.0 };
                }
            }
            if bend && k % 5 == 0 {
                // Symmetric, but with three different eigenvalues.
                block[0] += 0.2 * stiffness;
            }
            for (e, b) in block.iter().enumerate() {
                matrix.diagonal[i][e] += b;
                matrix.diagonal[j][e] += b;
                matrix.upper[k][e] = -b;
            }
        }
    }
    matrix
}

fn chunked(matrix: &BlockSymmetric, format: Format) -> ChunkedMatrix {
    let pattern = matrix.pattern();
    let order: Vec<u32> = (0..pattern.block_rows() as u32).rev().collect();
    let chunked = ChunkedOrder::new(&pattern.adjacency(), &order, 3);
    let permuted = PermutedPattern::new(pattern, &chunked.order);
    ChunkedMatrix::with_format(chunked, permuted, format)
}

/// Whether the blocks suit the storage, and A x from it in the numbering of `matrix`, with x · A x.
fn product<T: Lanes>(
    matrix: &BlockSymmetric,
    stored: &ChunkedMatrix,
    x: &[T],
    lane: impl Fn(&T) -> Lane64,
) -> Option<(Vec<f64>, f64)> {
    let fits = (0..stored.parts()).all(|part| stored.fill_part(matrix, part).fits);
    let order = &stored.chunked.order;
    let renumbered: Vec<T> = order.iter().map(|&old| x[old as usize]).collect();
    let mut y = vec![[0.0; 4]; x.len()];
    let dots = Partials::new(stored.parts());
    for part in 0..stored.parts() {
        stored.product_part(&renumbered, &mut y[stored.chunked.part(part)], part, &dots);
    }
    for part in 0..stored.parts() {
        stored.add_halos(&mut y[stored.chunked.part(part)], part);
    }
    let mut result = vec![0.0; 3 * x.len()];
    for (lanes, &old) in y.iter().zip(order) {
        assert_eq!(lanes[3], 0.0);
        result[3 * old as usize..3 * old as usize + 3].copy_from_slice(&lanes[..3]);
    }
    assert!(renumbered.iter().all(|x| lane(x)[3] == 0.0));
    fits.then_some((result, dots.sum()))
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn every_storage_multiplies_alike() {
    let matrix = net(13, 1e5, false);
    let n = matrix.block_rows();
    let x: Vec<f64> = (0..3 * n).map(|k| (1.3 * k as f64).sin()).collect();
    let lanes: Vec<Lane64> = x.chunks_exact(3).map(|c| [c[0], c[1], c[2], 0.0]).collect();
    let mut right = vec![0.0; 3 * n];
    matrix.apply(&x, &mut right);
    let energy: f64 = x.iter().zip(&right).map(|(x, y)| x * y).sum();
    for format in [Format::Springs, Format::Laplacian, Format::General] {
        let (y, dot) = product(&matrix, &chunked(&matrix, format), &lanes, |x| *x)
            .unwrap_or_else(|| panic!("springs suit {format:?}"));
        assert!(distance(&y, &right) < 1e-14 * 1e6, "{format:?}: {:e}", distance(&y, &right));
        assert!((dot - energy).abs() < 1e-12 * energy, "{format:?}");
    }
}

#[test]
fn f32_blocks_of_springs_keep_what_a_motion_across_them_feels() {
    // 10⁹ times the mass along each spring: six rounded numbers per block would resist a motion across it with up to 60
    // times the mass, or with minus as much.
    let matrix = net(9, 1e9, false);
    let stored = chunked(&matrix, Format::Springs);
    let x: Vec<Lane32> = (0..81).map(|k| [(k as f32).cos(), (2.0 * k as f32).sin(), 0.5, 0.0]).collect();
    let wide: Vec<Lane64> = x.iter().map(|x| x.map(f64::from)).collect();
    let widen = |x: &Lane32| x.map(f64::from);
    let narrow = product(&matrix, &stored, &x, widen).expect("springs");
    let exact = product(&matrix, &stored, &wide, |x| *x).expect("springs");
    assert!(distance(&narrow.0, &exact.0) < 1e-6 * 1e9);
    // Rigid motion: only masses resist, in f32 as in f64.
    let rigid = vec![[0.25_f32, -1.0, 0.5, 0.0]; 81];
    let (y, _) = product(&matrix, &stored, &rigid, widen).expect("springs");
    for y in y.chunks_exact(3) {
        // Ten blocks of 10⁹ cancel in the row sums.
        assert!(distance(y, &[0.25, -1.0, 0.5]) < 1e10 * f64::EPSILON, "{y:?}");
    }
}

#[test]
fn blocks_of_other_kinds_ask_for_other_storage() {
    let bent = net(6, 10.0, true);
    let x = vec![[1.0, 0.0, -1.0, 0.0]; 36];
    assert!(product(&bent, &chunked(&bent, Format::Springs), &x, |x| *x).is_none());
    assert!(product(&bent, &chunked(&bent, Format::Laplacian), &x, |x| *x).is_some());
    // Springs so soft or stiff that f32 cannot hold them.
    for stiffness in [1e-35, 1e35] {
        let extreme = net(4, stiffness, false);
        let x = vec![[1.0, 0.0, -1.0, 0.0]; 16];
        assert!(product(&extreme, &chunked(&extreme, Format::Springs), &x, |x| *x).is_none());
    }
    let mut stored = chunked(&bent, Format::Springs);
    assert!(stored.generalize() && stored.generalize() && !stored.generalize());
    assert!(product(&bent, &stored, &[[1.0, 0.0, -1.0, 0.0]; 36], |x| *x).is_some());
}
