//! Factors random cloth and net matrices with dt² k / m up to 1e8 by every incomplete Cholesky and counts breakdowns.
//!
//! `cargo run --release -p sim-linalg --example ic_never_breaks -- [count]` (default 10000)
//!
//! Exits with an error if a factorisation fails for good or an application is not positive; prints how many needed a
//! diagonal shift and the largest shift.

use std::process::ExitCode;
use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use sim_linalg::workload::noise;
use sim_linalg::{BlockPattern, BlockSymmetric, PreconditionerKind, PreconditionerOptions};

struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 += 1;
        noise(self.0)
    }

    fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * 0.5 * (self.next() + 1.0)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.range(0.0, n as f64) as usize).min(n - 1)
    }
}

/// A square grid with diagonals (cloth), or a random net on as many nodes.
fn edges(noise: &mut Noise, side: usize, cloth: bool) -> Vec<[u32; 2]> {
    let mut list = Vec::new();
    let nodes = side * side;
    if cloth {
        for v in 0..nodes {
            let (i, j) = (v / side, v % side);
            for (di, dj) in [(0, 1), (1, 0), (1, 1), (0, 2), (2, 0)] {
                if i + di < side && j + dj < side {
                    list.push([v as u32, (v + di * side + dj) as u32]);
                }
            }
            if i + 1 < side && j > 0 {
                list.push([v as u32, (v + side - 1) as u32]);
            }
        }
    } else {
        for _ in 0..nodes * (2 + noise.below(5)) {
            let (a, b) = (noise.below(nodes) as u32, noise.below(nodes) as u32);
            if a != b {
                list.push([a, b]);
            }
        }
    }
    list
}

/// Mass 1 on every node; springs of stiffness up to 1e8 in directions that a flat, folded or crumpled state gives them,
/// stretched ones with a transverse share.
fn random_matrix(seed: u64) -> BlockSymmetric {
    let mut noise = Noise(seed.wrapping_mul(0x1234_5678_9abc_def1));
    let side = 3 + noise.below(10);
    let cloth = noise.next() > -0.3;
    let list = edges(&mut noise, side, cloth);
    let crumple = 10f64.powf(noise.range(-4.0, 0.5));
    let position: Vec<Vector3<f64>> = (0..side * side)
        .map(|v| {
            let flat = Vector3::new((v % side) as f64, (v / side) as f64, 0.0);
            flat + crumple * Vector3::new(noise.next(), noise.next(), noise.next())
        })
        .collect();
    let stiffness = 10f64.powf(noise.range(0.0, 8.0));
    let spread = noise.range(0.0, 5.0);
    let mut a =
        BlockSymmetric::zeros(Arc::new(BlockPattern::from_edges(side * side, &list).expect("valid edges")));
    for i in 0..side * side {
        a.add(i, i, &Matrix3::identity());
    }
    for &[i, j] in &list {
        let e = position[j as usize] - position[i as usize];
        let u = e / e.norm().max(1e-9);
        let k = stiffness * 10f64.powf(-noise.range(0.0, spread));
        let t = noise.range(-1.0, 1.0).max(0.0) * 0.3;
        let s = (u * u.transpose() * (1.0 - t) + Matrix3::identity() * t) * k;
        a.add(i as usize, i as usize, &s);
        a.add(j as usize, j as usize, &s);
        a.add(i as usize, j as usize, &-s);
    }
    a
}

fn main() -> ExitCode {
    let count = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(10_000_u64);
    let kinds = [
        PreconditionerKind::IncompleteCholesky,
        PreconditionerKind::BlockIncompleteCholesky,
        PreconditionerKind::ThresholdIncompleteCholesky,
    ];
    let mut shifted = [0_u64; 3];
    let mut largest = [0.0_f64; 3];
    for seed in 0..count {
        let a = random_matrix(seed);
        for (k, kind) in kinds.into_iter().enumerate() {
            let mut m =
                kind.build(a.pattern(), None, &PreconditionerOptions::default()).expect("valid options");
            if let Err(error) = m.refill(&a) {
                eprintln!("matrix {seed}, {kind:?}: {error}");
                return ExitCode::FAILURE;
            }
            shifted[k] += u64::from(m.shift() > 0.0);
            largest[k] = largest[k].max(m.shift());
            let r: Vec<f64> = (0..3 * a.block_rows() as u64).map(|i| noise(seed + i)).collect();
            let product = m.apply_dot(&r, &mut vec![0.0; r.len()]);
            if !(product > 0.0 && product.is_finite()) {
                eprintln!("matrix {seed}, {kind:?}: r·z = {product}");
                return ExitCode::FAILURE;
            }
        }
    }
    println!("{count} matrices, no breakdown");
    for (k, kind) in kinds.into_iter().enumerate() {
        println!("{kind:?}: {} shifted, largest shift {}", shifted[k], largest[k]);
    }
    ExitCode::SUCCESS
}
