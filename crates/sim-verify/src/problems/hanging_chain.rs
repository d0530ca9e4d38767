//! Swings of a chain that hangs from one end.

use super::{ExactProblem, swing};
use nalgebra::DMatrix;
use sim_core::force::gravity::Gravity;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ModelSystem, ParticleSystemBuilder, State};

/// `N` equal masses below a support, equally spaced, swinging in a sum of the chain's modes.
///
/// The links are springs of no rest length whose stiffness is the weight below over the spacing. Their forces are linear in all
/// directions, gravity holds them at the spacing, and across the chain they pull as taut links do at small angles: the equation of
/// the hanging chain, exact at any amplitude.
#[derive(Clone, Copy, Debug)]
pub struct HangingChain {
    /// Number of moving masses.
    pub masses: usize,
    /// kg each.
    pub mass: f64,
    /// Length in m: that of `masses` links.
    pub length: f64,
    /// m/s².
    pub gravity: f64,
    /// `(mode number from 1, amplitude in m at the free end)`: odd list places swing in x and start at rest, even ones swing in y and
    /// start in the middle.
    pub modes: &'static [(usize, f64)],
}

/// Six masses on 2 m, frequencies from 2.6 to 21.6 rad/s.
pub static STANDARD: HangingChain = HangingChain {
    masses: 6,
    mass: 0.2,
    length: 2.0,
    gravity: 9.81,
    modes: &[(1, 0.3), (2, 0.2), (3, 0.1), (6, 0.002)],
};

impl HangingChain {
    /// Zeros of the Laguerre polynomial of degree `masses`, ascending: eigenvalues of its Jacobi matrix.
    fn zeros(&self) -> Vec<f64> {
        let n = self.masses;
        let jacobi = DMatrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
            0 => (2 * i + 1) as f64,
            1 => i.max(j) as f64,
            _ => 0.0,
        });
        let mut zeros: Vec<f64> = jacobi.symmetric_eigenvalues().iter().copied().collect();
        zeros.sort_by(f64::total_cmp);
        zeros
    }

    /// Angular frequency in rad/s of mode `j` (from 1).
    pub fn frequency(&self, j: usize) -> f64 {
        (self.gravity * self.masses as f64 / self.length * self.zeros()[j - 1]).sqrt()
    }

    /// Laguerre polynomials of degrees 0 to `masses` at `x`: the shape of a mode from the free end to the support.
    fn shape(&self, x: f64) -> Vec<f64> {
        let mut values = vec![1.0, 1.0 - x];
        for k in 1..self.masses {
            let k1 = (k + 1) as f64;
            values.push(((2.0 * k as f64 + 1.0 - x) * values[k] - k as f64 * values[k - 1]) / k1);
        }
        values
    }
}

impl ExactProblem for HangingChain {
    fn id(&self) -> &'static str {
        "hanging_chain"
    }

    fn source(&self) -> &'static str {
        "ω² = (g/a) times the zeros of the Laguerre polynomial L_N, shapes L_k from the free end (D. Bernoulli's chain of N masses)"
    }

    fn t_end(&self) -> f64 {
        1.7
    }

    fn build(&self) -> (Box<dyn ModelSystem>, State) {
        let n = self.masses;
        let spacing = self.length / n as f64;
        let springs = Springs::new((0..n).map(|i| Spring {
            ends: [i as u32, i as u32 + 1],
            rest_length: 0.0,
            stiffness: (n - i) as f64 * self.mass * self.gravity / spacing,
            damping: 0.0,
        }));
        let system = ParticleSystemBuilder::new(vec![self.mass; n + 1])
            .pin([0])
            .force(springs)
            .force(Gravity::new([0.0, 0.0, -self.gravity]))
            .build()
            .expect("parameters are valid");
        (Box::new(system), self.exact(0.0))
    }

    fn exact(&self, t: f64) -> State {
        let n = self.masses;
        let mut state =
            State { t, q: vec![0.0; 3 * (n + 1)], v: vec![0.0; 3 * (n + 1)], internal: Vec::new() };
        for i in 0..=n {
            state.q[3 * i + 2] = -self.length * i as f64 / n as f64;
        }
        let zeros = self.zeros();
        for (place, &(j, amplitude)) in self.modes.iter().enumerate() {
            let omega = (self.gravity * n as f64 / self.length * zeros[j - 1]).sqrt();
            let (axis, (u, v)) = (place % 2, swing(place, omega, t));
            for (from_end, shape) in self.shape(zeros[j - 1])[..n].iter().enumerate() {
                let at = 3 * (n - from_end) + axis;
                state.q[at] += amplitude * shape * u;
                state.v[at] += amplitude * shape * v;
            }
        }
        state
    }

    fn max_frequency(&self) -> f64 {
        // Along the chain the same springs swing the masses with the same frequencies.
        self.frequency(self.masses)
    }

    fn scales(&self) -> (f64, f64) {
        let zeros = self.zeros();
        let size = |&(j, amplitude): &(usize, f64)| {
            amplitude * self.shape(zeros[j - 1]).iter().fold(0.0_f64, |largest, s| largest.max(s.abs()))
        };
        (
            self.modes.iter().map(size).sum(),
            self.modes.iter().map(|mode| size(mode) * self.frequency(mode.0)).sum(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::case;

    /// B-hanging-chain-modes: five frequencies of chains of 5, 10 and 20 masses.
    #[test]
    fn frequencies_are_the_published_ones() {
        let case = case("B-hanging-chain-modes").unwrap();
        let input = |name: &str| case.number(&format!("inputs/{name}")).unwrap();
        for masses in [5, 10, 20] {
            let chain = HangingChain { masses, length: input("L"), gravity: input("g"), ..STANDARD };
            let expected = case.numbers(&format!("expected/omega_discrete_N{masses}")).unwrap();
            assert_eq!(expected.len(), 5);
            for (j, omega) in expected.iter().enumerate() {
                assert!(
                    (chain.frequency(j + 1) / omega - 1.0).abs() < 1e-9,
                    "{masses} masses, mode {}",
                    j + 1
                );
            }
        }
    }
}
