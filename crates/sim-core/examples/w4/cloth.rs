//! The cloth of the explicit-step workload: springs, start and steps.

use rayon::prelude::*;
use sim_core::force::gravity::Gravity;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ExplicitSystem, ParticleSystem, ParticleSystemBuilder, State, System};
use std::f64::consts::TAU;

/// A value in [-1, 1) for each `k`.
fn noise(k: u64) -> f64 {
    let mut z = (k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    2.0 * ((z >> 11) as f64 / 9_007_199_254_740_992.0) - 1.0
}

/// Structural, diagonal and second-neighbor springs of `n` × `n` particles, family by family.
pub fn springs(n: u32) -> Vec<Spring> {
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

/// The deformed start, at rest.
pub fn start(n: u32) -> State {
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
pub fn run(system: &ParticleSystem, state: &mut State, f: &mut [f64], steps: usize, dt: f64) {
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

/// The cloth on its two held corners.
pub fn system(n: u32) -> ParticleSystem {
    let count = (n * n) as usize;
    ParticleSystemBuilder::new(vec![0.2 / count as f64; count])
        .pin([0, n as usize - 1])
        .force(Springs::new(springs(n)))
        .force(Gravity::new([0.0, 0.0, -9.81]))
        .build()
        .expect("a valid cloth")
}

/// Sum of the positions along each axis in m.
pub fn position_sum(state: &State) -> [f64; 3] {
    [0, 1, 2].map(|axis| state.q.iter().skip(axis).step_by(3).sum())
}

/// Position sums that three independent programs agree on, for 200 × 200 particles after so many steps of 2e-5 s.
pub const EXPECTED: [(usize, [f64; 3]); 2] = [
    (100, [20000.00520919099, 19999.99829819905, -0.7909755997548729]),
    (1000, [20000.06263, 19998.52502, -78.48206706]),
];
