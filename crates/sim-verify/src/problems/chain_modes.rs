//! Longitudinal modes of a chain of equal masses and springs between two walls.

use super::{ExactProblem, swing};
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ModelSystem, ParticleSystemBuilder, State};
use std::f64::consts::PI;

/// `N` masses between walls, spacing 1 m, pre-stretched springs of rest length 0.5 m, moving along the chain in a sum of modes.
///
/// On the line the springs are exactly linear; the tension keeps the line stable.
#[derive(Clone, Copy, Debug)]
pub struct ChainModes {
    /// Number of moving masses.
    pub masses: usize,
    /// kg each.
    pub mass: f64,
    /// N/m each.
    pub stiffness: f64,
    /// `(mode number from 1, amplitude in m)`; cosine start for odd list places, sine start for even ones.
    pub modes: &'static [(usize, f64)],
}

/// Eight masses, highest frequency 12.5 rad/s.
pub static STANDARD: ChainModes = ChainModes {
    masses: 8,
    mass: 0.25,
    stiffness: 10.0,
    modes: &[(1, 0.05), (2, 0.03), (5, 0.02), (8, 0.01)],
};

impl ChainModes {
    /// Angular frequency in rad/s of mode `j` (from 1).
    pub fn frequency(&self, j: usize) -> f64 {
        let angle = j as f64 * PI / (2.0 * (self.masses as f64 + 1.0));
        2.0 * (self.stiffness / self.mass).sqrt() * angle.sin()
    }
}

impl ExactProblem for ChainModes {
    fn id(&self) -> &'static str {
        "chain_modes"
    }

    fn source(&self) -> &'static str {
        "ω_j = 2 sqrt(k/m) sin(jπ/(2(N+1))), shapes sin(jπi/(N+1))"
    }

    fn t_end(&self) -> f64 {
        1.7
    }

    fn build(&self) -> (Box<dyn ModelSystem>, State) {
        let last = self.masses + 1;
        let springs = Springs::new((0..last as u32).map(|i| Spring {
            ends: [i, i + 1],
            rest_length: 0.5,
            stiffness: self.stiffness,
            damping: 0.0,
        }));
        let system = ParticleSystemBuilder::new(vec![self.mass; last + 1])
            .pin([0, last])
            .force(springs)
            .build()
            .expect("parameters are valid");
        (Box::new(system), self.exact(0.0))
    }

    fn exact(&self, t: f64) -> State {
        let count = self.masses + 2;
        let mut state = State { t, q: vec![0.0; 3 * count], v: vec![0.0; 3 * count], internal: Vec::new() };
        for i in 0..count {
            state.q[3 * i] = i as f64;
        }
        for i in 1..=self.masses {
            for (place, &(j, amplitude)) in self.modes.iter().enumerate() {
                let omega = self.frequency(j);
                let shape = amplitude * (j as f64 * PI * i as f64 / (self.masses as f64 + 1.0)).sin();
                let (u, v) = swing(place, omega, t);
                state.q[3 * i] += shape * u;
                state.v[3 * i] += shape * v;
            }
        }
        state
    }

    fn max_frequency(&self) -> f64 {
        self.frequency(self.masses)
    }

    fn scales(&self) -> (f64, f64) {
        let sum: f64 = self.modes.iter().map(|mode| mode.1).sum();
        let rate: f64 = self.modes.iter().map(|mode| mode.1 * self.frequency(mode.0)).sum();
        (sum, rate)
    }
}
