//! The cloth of workloads W1, W2 and W4.

use nalgebra::Vector3;
use sim_core::force::gravity::Gravity;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ParticleSystem, ParticleSystemBuilder};
use std::f64::consts::TAU;

/// An n × n grid of 1 m and 0.2 kg with structural, shear and skip-one springs; vertices 0 and n − 1 are pinned.
#[derive(Clone, Debug)]
pub struct Cloth {
    /// Vertices along one side.
    pub n: usize,
    /// Springs in the order of the workload's definition.
    pub springs: Vec<Spring>,
}

/// Stiffness of the families.
#[derive(Clone, Copy, Debug)]
pub struct ClothStiffness {
    /// Structural and shear springs in N/m.
    pub stretch: f64,
    /// Skip-one springs in N/m.
    pub bending: f64,
    /// Dashpot coefficient per stiffness in s.
    pub damping_time: f64,
}

impl ClothStiffness {
    /// W1 and W2.
    pub const STIFF: Self = Self { stretch: 1e5, bending: 1e3, damping_time: 0.01 };
    /// W1 soft.
    pub const SOFT: Self = Self { stretch: 1e3, bending: 10.0, damping_time: 1e-4 };
    /// W4.
    pub const EXPLICIT: Self = Self { stretch: 100.0, bending: 1.0, damping_time: 1e-6 };
}

impl Cloth {
    /// The grid with `n` vertices along a side.
    pub fn new(n: usize, stiffness: ClothStiffness) -> Self {
        let d = 1.0 / (n - 1) as f64;
        let mut springs = Vec::new();
        // One family: every pair (i, j) − (i + di, j + dj) that lies in the grid, starting `skew` rows down.
        let mut family = |rows: usize, columns: usize, from: (usize, usize), to: (usize, usize), k: f64| {
            for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                let (a, b) = ((i + from.0, j + from.1), (i + to.0, j + to.1));
                let (dx, dy) = ((b.1 as f64 - a.1 as f64) * d, (b.0 as f64 - a.0 as f64) * d);
                springs.push(Spring {
                    ends: [(a.0 * n + a.1) as u32, (b.0 * n + b.1) as u32],
                    rest_length: (dx * dx + dy * dy).sqrt(),
                    stiffness: k,
                    damping: stiffness.damping_time * k,
                });
            }
        };
        let (s, b) = (stiffness.stretch, stiffness.bending);
        family(n, n - 1, (0, 0), (0, 1), s);
        family(n - 1, n, (0, 0), (1, 0), s);
        family(n - 1, n - 1, (0, 0), (1, 1), s);
        family(n - 1, n - 1, (1, 0), (0, 1), s);
        family(n, n - 2, (0, 0), (0, 2), b);
        family(n - 2, n, (0, 0), (2, 0), b);
        Self { n, springs }
    }

    /// Mass of each vertex in kg.
    pub fn vertex_mass(&self) -> f64 {
        0.2 / (self.n * self.n) as f64
    }

    /// Flat rest positions in m.
    pub fn rest(&self) -> Vec<f64> {
        let d = 1.0 / (self.n - 1) as f64;
        (0..self.n * self.n).flat_map(|v| [(v % self.n) as f64 * d, (v / self.n) as f64 * d, 0.0]).collect()
    }

    /// The wavy, noisy state of the definition.
    pub fn deformed(&self) -> Vec<f64> {
        let d = 1.0 / (self.n - 1) as f64;
        (0..self.n * self.n)
            .flat_map(|v| {
                let (s, t) = ((v % self.n) as f64 * d, (v / self.n) as f64 * d);
                let noise = |k: u64| 0.01 * d * hash(3 * v as u64 + k);
                let wave = 0.02 * (TAU * s).sin() * (TAU * t).sin();
                [s + noise(0), t + noise(1), wave + noise(2)]
            })
            .collect()
    }

    /// Unknown index per vertex, `None` for the two pinned corners.
    pub fn unknowns(&self) -> Vec<Option<u32>> {
        let mut next = 0..;
        (0..self.n * self.n).map(|v| if v == 0 || v == self.n - 1 { None } else { next.next() }).collect()
    }

    /// Right-hand side of W1 for step `h`.
    pub fn right_hand_side(&self, h: f64) -> Vec<f64> {
        let count = (self.n * self.n) as u64;
        let m = self.vertex_mass();
        (self.unknowns().iter().enumerate().filter(|(_, unknown)| unknown.is_some()))
            .flat_map(|(v, _)| {
                (0..3).map(move |c| {
                    let g = if c == 2 { -9.81 } else { 0.0 };
                    h * m * (g + 5.0 * hash(3 * count + 3 * v as u64 + c))
                })
            })
            .collect()
    }

    /// The cloth as a particle system under gravity.
    ///
    /// # Panics
    /// Never for `n >= 3`.
    pub fn system(&self) -> ParticleSystem {
        ParticleSystemBuilder::new(vec![self.vertex_mass(); self.n * self.n])
            .rest_positions(self.rest())
            .pin([0, self.n - 1])
            .force(Springs::new(self.springs.iter().copied()))
            .force(Gravity::new([0.0, 0.0, -9.81]))
            .build()
            .expect("the workload's cloth is valid")
    }
}

/// The workload's pseudo-random number in [-1, 1).
pub fn hash(k: u64) -> f64 {
    let mut z = (k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    2.0 * ((z >> 11) as f64 / 9_007_199_254_740_992.0) - 1.0
}

/// Sum of the positions per axis in m and sum of their squares in m².
pub fn sums(x: &[f64]) -> ([f64; 3], f64) {
    let mut sum = [0.0; 3];
    let mut squares = 0.0;
    for point in x.chunks_exact(3) {
        for k in 0..3 {
            sum[k] += point[k];
        }
        squares += Vector3::from_row_slice(point).norm_squared();
    }
    (sum, squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_and_counts_follow_the_definition() {
        // The definition's own table of r(k).
        let table = [
            (0, 0.7666216164272852),
            (1, -0.13694400590298006),
            (2, -0.9471324568148045),
            (3, 0.941763956307657),
            (1000, -0.6486149862133519),
        ];
        for (k, value) in table {
            assert_eq!(hash(k), value);
        }
        assert_eq!(Cloth::new(200, ClothStiffness::EXPLICIT).springs.len(), 238_002);
        let cloth = Cloth::new(50, ClothStiffness::STIFF);
        assert_eq!(cloth.springs.len(), 14_502);
        let norm = cloth.right_hand_side(1.0 / 60.0).iter().map(|b| b * b).sum::<f64>().sqrt();
        let expected = crate::peers::expected()["W1"]["n=50,h=1/60"]["b_norm"].as_f64().unwrap();
        assert!(crate::peers::agree(norm, expected, 12), "{norm} against {expected}");
    }
}
