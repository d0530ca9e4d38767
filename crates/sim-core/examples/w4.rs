//! Explicit steps of a cloth of 200 × 200 particles and 238,002 springs: speed, sums and a hash of the end state.
//!
//! `cargo run --release -p sim-core --example w4 [particles per side] [steps] [repeats] [threads]`
//!
//! The spring family, the deformed start and the sums are those of the workload this kernel is tuned on: structural and
//! diagonal springs of 100 N/m, second neighbors of 1 N/m, dashpots of 1e-6 s times the stiffness, symplectic Euler with
//! 2e-5 s, two corners held.

use rayon::prelude::*;
use sim_core::force::gravity::Gravity;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ExplicitSystem, ParticleSystem, ParticleSystemBuilder, State, System};
use std::f64::consts::TAU;
use std::time::Instant;

/// A value in [-1, 1) for each `k`.
fn noise(k: u64) -> f64 {
    let mut z = (k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    2.0 * ((z >> 11) as f64 / 9_007_199_254_740_992.0) - 1.0
}

fn springs(n: u32) -> Vec<Spring> {
    let d = 1.0 / f64::from(n - 1);
    let mut springs = Vec::new();
    let mut family = |rows: u32, columns: u32, from: [u32; 2], to: [u32; 2], stiffness: f64| {
        let size = |a: u32, b: u32| (f64::from(a) - f64::from(b)) * d;
        let rest_length = (size(to[0], from[0]).powi(2) + size(to[1], from[1]).powi(2)).sqrt();
        for i in 0..rows {
            for j in 0..columns {
                springs.push(Spring {
                    ends: [from, to].map(|[di, dj]| (i + di) * n + j + dj),
                    rest_length,
                    stiffness,
                    damping: 1e-6 * stiffness,
                });
            }
        }
    };
    family(n, n - 1, [0, 0], [0, 1], 100.0);
    family(n - 1, n, [0, 0], [1, 0], 100.0);
    family(n - 1, n - 1, [0, 0], [1, 1], 100.0);
    family(n - 1, n - 1, [1, 0], [0, 1], 100.0);
    family(n, n - 2, [0, 0], [0, 2], 1.0);
    family(n - 2, n, [0, 0], [2, 0], 1.0);
    springs
}

fn start(n: u32) -> State {
    let d = 1.0 / f64::from(n - 1);
    let mut q = Vec::new();
    for i in 0..n {
        for j in 0..n {
            let (v, s, t) = (u64::from(i * n + j), f64::from(j) * d, f64::from(i) * d);
            q.push(s + 0.01 * d * noise(3 * v));
            q.push(t + 0.01 * d * noise(3 * v + 1));
            q.push(0.02 * (TAU * s).sin() * (TAU * t).sin() + 0.01 * d * noise(3 * v + 2));
        }
    }
    State::at_rest(q)
}

/// `v += dt f / m`, `x += dt v`; pinned particles have no inverse mass and no velocity.
fn run(system: &ParticleSystem, state: &mut State, f: &mut [f64], steps: usize, dt: f64) {
    /// Particles that one thread moves at a time.
    const CHUNK: usize = 4096;
    for _ in 0..steps {
        system.force(state.t, &state.q, &state.v, f);
        let chunks = (state.q.par_chunks_mut(3 * CHUNK))
            .zip(state.v.par_chunks_mut(3 * CHUNK))
            .zip(f.par_chunks(3 * CHUNK))
            .zip(system.inverse_mass().par_chunks(CHUNK));
        chunks.for_each(|(((q, v), f), w)| {
            let particles = q.as_chunks_mut().0.iter_mut().zip(v.as_chunks_mut().0).zip(f.as_chunks().0);
            for (((q, v), f), &w) in particles.zip(w) {
                let (q, v, f): (&mut [f64; 3], &mut [f64; 3], &[f64; 3]) = (q, v, f);
                let c = dt * w;
                for k in 0..3 {
                    v[k] += c * f[k];
                    q[k] += dt * v[k];
                }
            }
        });
    }
    state.t += steps as f64 * dt;
}

/// CPU seconds of this thread where the system tells; wall time means little on a shared machine.
fn thread_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

fn main() {
    let argument = |index: usize, default: usize| {
        std::env::args().nth(index).map_or(default, |x| x.parse().expect("a whole number"))
    };
    let (n, steps, repeats, threads) = (argument(1, 200), argument(2, 1000), argument(3, 3), argument(4, 1));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
    let springs = springs(n as u32);
    let count = springs.len();
    let system = ParticleSystemBuilder::new(vec![0.2 / (n * n) as f64; n * n])
        .pin([0, n - 1])
        .force(Springs::new(springs))
        .force(Gravity::new([0.0, 0.0, -9.81]))
        .build()
        .expect("a valid cloth");
    let mut f = vec![0.0; 3 * n * n];
    let (mut best, mut best_cpu, mut state) = (f64::INFINITY, f64::INFINITY, State::default());
    for _ in 0..repeats {
        state = start(n as u32);
        let clock = Instant::now();
        let cpu = pool.install(|| {
            let before = thread_seconds();
            run(&system, &mut state, &mut f, steps, 2e-5);
            Some(thread_seconds()? - before?)
        });
        best = best.min(clock.elapsed().as_secs_f64());
        best_cpu = best_cpu.min(cpu.unwrap_or(f64::INFINITY));
    }
    let sum = |axis: usize| state.q.iter().skip(axis).step_by(3).sum::<f64>();
    let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    println!("springs {count}, steps {steps}, threads {threads}, best of {repeats}");
    let rate = |seconds: f64| count as f64 * steps as f64 / seconds / 1e6;
    println!("wall {best:.4} s, {:.1} Mspring/s", rate(best));
    println!("CPU of the driving thread {best_cpu:.4} s, {:.1} Mspring/s", rate(best_cpu));
    println!("position sum {:.10} {:.10} {:.10}", sum(0), sum(1), sum(2));
    println!("position square {:.10}, velocity square {:.10}", square(&state.q), square(&state.v));
    println!("state hash {:016x}", state.hash());
}
