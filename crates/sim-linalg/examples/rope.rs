//! Times the chain solvers per node, assembly of the spring blocks included, and shows that they are linear and accurate.
//!
//! `cargo run --release -p sim-linalg --example rope`
//!
//! One Newton solve of an implicit step of a hanging rope at 60 Hz: spring blocks are formed, pushed, factored and eliminated
//! in one sweep, then substituted back. Nanoseconds of processor time per node, the best of several rounds.

use rustix::time::{ClockId, clock_gettime};
use sim_linalg::workload::noise;
use sim_linalg::{BlockBanded, BlockPentadiagonal, BlockTridiagonal};

const STEP: f64 = 1.0 / 60.0;
const STIFFNESS: f64 = 1e5;
const BENDING: f64 = 1e3;
const MASS: f64 = 1e-3;

fn processor_ns() -> f64 {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    1e9 * t.tv_sec as f64 + t.tv_nsec as f64
}

/// dt² K of a spring between two positions, stretched part only, and the force on the first.
#[inline]
fn spring(a: [f64; 3], b: [f64; 3], rest: f64, k: f64) -> ([f64; 9], [f64; 3]) {
    let e = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
    let inverse = 1.0 / (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]).sqrt();
    let u = e.map(|v| v * inverse);
    let t = (1.0 - rest * inverse).max(0.0);
    let (axial, across) = (STEP * STEP * k * (1.0 - t), STEP * STEP * k * t);
    let mut s = [0.0; 9];
    for r in 0..3 {
        for c in 0..3 {
            s[3 * r + c] = axial * u[r] * u[c];
        }
        s[4 * r] += across;
    }
    let tension = k * (1.0 / inverse - rest);
    (s, u.map(|v| v * tension))
}

fn add(a: &mut [f64; 9], b: &[f64; 9]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += b;
    }
}

/// One assembled solve; the rope hangs from a wall before node 0.
fn solve<const B: usize>(x: &[[f64; 3]], chain: &mut BlockBanded<B>, dv: &mut [f64]) {
    let n = x.len();
    let rest = 0.01;
    chain.clear();
    // Springs to node i from the next ones are met before their own rows: keep what they add to later diagonals.
    let mut pending = [[0.0; 9]; 3];
    let mut force = [[0.0; 3]; 3];
    let mut couplings = [[[0.0; 9]; B]; 3];
    let wall = [x[0][0], x[0][1], x[0][2] + rest * 1.001];
    let (s, f) = spring(x[0], wall, rest, STIFFNESS);
    (pending[0], force[0]) = (s, f);
    for i in 0..n {
        let mut diagonal = std::mem::replace(&mut pending[i % 3], [0.0; 9]);
        let mut rhs = std::mem::replace(&mut force[i % 3], [0.0; 3]);
        for b in 1..=B {
            if i + b < n {
                let k = if b == 1 { STIFFNESS } else { BENDING };
                let (s, f) = spring(x[i], x[i + b], rest * b as f64, k);
                add(&mut diagonal, &s);
                add(&mut pending[(i + b) % 3], &s);
                couplings[(i + b) % 3][b - 1] = s.map(|v| -v);
                for c in 0..3 {
                    rhs[c] += f[c];
                    force[(i + b) % 3][c] -= f[c];
                }
            }
        }
        for c in 0..3 {
            diagonal[4 * c] += MASS;
        }
        rhs[2] -= 9.81 * MASS;
        let rhs = rhs.map(|v| STEP * v);
        chain.push(&diagonal, &couplings[i % 3], rhs).expect("a stretched rope is positive definite");
    }
    chain.finish(dv);
}

/// ‖b − A dv‖ / ‖b‖ with the matrix applied spring by spring.
fn residual(x: &[[f64; 3]], reach: usize, dv: &[f64]) -> f64 {
    let n = x.len();
    let mut r = vec![[0.0, 0.0, -9.81 * MASS * STEP]; n];
    let at = |i: usize| [dv[3 * i], dv[3 * i + 1], dv[3 * i + 2]];
    let mut b = r.clone();
    let mut apply = |i: usize, j: Option<usize>, s: &[f64; 9], f: [f64; 3]| {
        let (vi, vj) = (at(i), j.map_or([0.0; 3], at));
        for c in 0..3 {
            let t: f64 = (0..3).map(|k| s[3 * c + k] * (vi[k] - vj[k])).sum();
            r[i][c] += STEP * f[c] - t;
            b[i][c] += STEP * f[c];
            if let Some(j) = j {
                r[j][c] -= STEP * f[c] - t;
                b[j][c] -= STEP * f[c];
            }
        }
    };
    let wall = [x[0][0], x[0][1], x[0][2] + 0.01 * 1.001];
    let (s, f) = spring(x[0], wall, 0.01, STIFFNESS);
    apply(0, None, &s, f);
    for reach in 1..=reach {
        for i in 0..n - reach {
            let k = if reach == 1 { STIFFNESS } else { BENDING };
            let (s, f) = spring(x[i], x[i + reach], 0.01 * reach as f64, k);
            apply(i, Some(i + reach), &s, f);
        }
    }
    for i in 0..n {
        for c in 0..3 {
            r[i][c] -= MASS * dv[3 * i + c];
        }
    }
    let norm = |v: &[[f64; 3]]| v.iter().flatten().map(|v| v * v).sum::<f64>().sqrt();
    norm(&r) / norm(&b)
}

fn run<const B: usize>(name: &str, mut chain: BlockBanded<B>, sizes: &[usize]) {
    for &n in sizes {
        let x: Vec<[f64; 3]> = (0..n as u64)
            .map(|i| {
                let r = |k: u64| 1e-4 * noise(3 * i + k);
                [r(0), r(1), -0.01001 * i as f64 + r(2)]
            })
            .collect();
        let mut dv = vec![0.0; 3 * n];
        let rounds = (3_000_000 / n).clamp(5, 500);
        let mut best = f64::INFINITY;
        for _ in 0..rounds {
            let start = processor_ns();
            solve(&x, &mut chain, &mut dv);
            best = best.min((processor_ns() - start) / n as f64);
        }
        let residual = residual(&x, B, &dv);
        println!("{name:<20} {n:>8} nodes {best:>7.1} ns per node, relative residual {residual:.1e}");
        assert!(residual < 1e-8, "the rope lost its digits");
    }
}

fn main() {
    let sizes = [1_000, 10_000, 100_000, 1_000_000];
    run("block tridiagonal", BlockTridiagonal::default(), &sizes);
    run("block pentadiagonal", BlockPentadiagonal::default(), &sizes);
}
