//! Matrices that several test files use.
#![allow(dead_code)]

use std::sync::Arc;

use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use sim_linalg::workload::noise;
use sim_linalg::{BlockPattern, BlockSymmetric, LinearOperator};

/// The next values of the fixed pseudo-random sequence, in [−1, 1).
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> f64 {
        self.0 += 1;
        noise(self.0)
    }

    /// Uniform in [low, high).
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * 0.5 * (self.next() + 1.0)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.range(0.0, n as f64) as usize).min(n - 1)
    }

    pub fn unit(&mut self) -> Vector3<f64> {
        Vector3::new(self.next(), self.next(), self.next() + 1e-3).normalize()
    }
}

/// mass · I on every node plus k u uᵀ (and a share `transverse` of k across u) on every edge.
pub fn network(
    nodes: usize,
    edges: &[[u32; 2]],
    mass: f64,
    mut spring: impl FnMut(usize) -> (Vector3<f64>, f64, f64),
) -> BlockSymmetric {
    let mut a = BlockSymmetric::zeros(Arc::new(BlockPattern::from_edges(nodes, edges).unwrap()));
    for i in 0..nodes {
        a.add(i, i, &(Matrix3::identity() * mass));
    }
    for (k, &[i, j]) in edges.iter().enumerate() {
        let (u, stiffness, transverse) = spring(k);
        let s = (u * u.transpose() * (1.0 - transverse) + Matrix3::identity() * transverse) * stiffness;
        a.add(i as usize, i as usize, &s);
        a.add(j as usize, j as usize, &s);
        a.add(i as usize, j as usize, &-s);
    }
    a
}

pub fn dense(a: &BlockSymmetric) -> DMatrix<f64> {
    let n = a.block_rows();
    let mut full = DMatrix::zeros(3 * n, 3 * n);
    for i in 0..n {
        for j in 0..n {
            if let Some(b) = a.block(i, j) {
                full.fixed_view_mut::<3, 3>(3 * i, 3 * j).copy_from(&b);
            }
        }
    }
    full
}

pub fn dense_solve(a: &BlockSymmetric, b: &[f64]) -> Vec<f64> {
    dense(a).cholesky().expect("positive definite").solve(&DVector::from_column_slice(b)).as_slice().to_vec()
}

pub fn relative_residual(a: &BlockSymmetric, b: &[f64], x: &[f64]) -> f64 {
    let mut y = vec![0.0; b.len()];
    a.apply(x, &mut y);
    let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    y.iter_mut().zip(b).for_each(|(y, b)| *y -= b);
    norm(&y) / norm(b)
}

pub fn relative_difference(x: &[f64], y: &[f64]) -> f64 {
    let d: f64 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
    let n: f64 = y.iter().map(|y| y * y).sum();
    (d / n).sqrt()
}

pub fn noise_vector(seed: u64, n: usize) -> Vec<f64> {
    let mut noise = Noise(seed);
    (0..n).map(|_| noise.next()).collect()
}

pub fn chain_edges(n: usize, reach: usize) -> Vec<[u32; 2]> {
    (1..=reach).flat_map(|r| (0..n - r).map(move |i| [i as u32, (i + r) as u32])).collect()
}

pub fn loop_edges(n: usize, reach: usize) -> Vec<[u32; 2]> {
    (1..=reach).flat_map(|r| (0..n).map(move |i| [i as u32, ((i + r) % n) as u32])).collect()
}

/// A grid of springs with both diagonals.
pub fn grid_edges(n: u32) -> Vec<[u32; 2]> {
    let mut edges = Vec::new();
    for i in 0..n {
        for j in 0..n {
            let v = i * n + j;
            for (di, dj) in [(0, 1), (1, 0), (1, 1)] {
                if i + di < n && j + dj < n {
                    edges.push([v, v + di * n + dj]);
                }
            }
            if i + 1 < n && j > 0 {
                edges.push([v, v + n - 1]);
            }
        }
    }
    edges
}
