//! Independent masses on springs of zero rest length.

use super::ExactProblem;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ModelSystem, ParticleSystemBuilder, State};

/// Masses on springs of rest length 0 to a pinned origin: each coordinate is a harmonic oscillator.
#[derive(Clone, Copy, Debug)]
pub struct HarmonicOscillator {
    /// Mass in kg and stiffness in N/m of each oscillating particle.
    pub particles: &'static [(f64, f64)],
    /// Initial position of the first particle in m; the others start at it scaled by 1/2, 1/3, …
    pub position: [f64; 3],
    /// Initial velocity of the first particle in m/s, scaled likewise.
    pub velocity: [f64; 3],
}

/// Nine unknowns, frequencies 5, 2 and 3 rad/s.
pub static STANDARD: HarmonicOscillator = HarmonicOscillator {
    particles: &[(2.0, 50.0), (3.0, 12.0), (0.5, 4.5)],
    position: [0.1, -0.2, 0.05],
    velocity: [-0.3, 0.4, 0.6],
};

impl ExactProblem for HarmonicOscillator {
    fn id(&self) -> &'static str {
        "harmonic_oscillator"
    }

    fn source(&self) -> &'static str {
        "x = x0 cos ωt + v0/ω sin ωt, ω² = k/m"
    }

    fn t_end(&self) -> f64 {
        2.3
    }

    fn build(&self) -> (Box<dyn ModelSystem>, State) {
        let n = self.particles.len() as u32;
        let mass = std::iter::once(1.0).chain(self.particles.iter().map(|p| p.0)).collect();
        let springs = Springs::new((1..=n).zip(self.particles).map(|(i, p)| Spring {
            ends: [0, i],
            rest_length: 0.0,
            stiffness: p.1,
            damping: 0.0,
        }));
        let system =
            ParticleSystemBuilder::new(mass).pin([0]).force(springs).build().expect("parameters are valid");
        (Box::new(system), self.exact(0.0))
    }

    fn exact(&self, t: f64) -> State {
        let mut state = State { t, q: vec![0.0; 3], v: vec![0.0; 3], internal: Vec::new() };
        for (i, (m, k)) in self.particles.iter().enumerate() {
            let omega = (k / m).sqrt();
            let (sin, cos) = (omega * t).sin_cos();
            let part = 1.0 / (i + 1) as f64;
            for axis in 0..3 {
                let (x0, v0) = (part * self.position[axis], part * self.velocity[axis]);
                state.q.push(x0 * cos + v0 / omega * sin);
                state.v.push(v0 * cos - x0 * omega * sin);
            }
        }
        state
    }

    fn max_frequency(&self) -> f64 {
        self.particles.iter().map(|(m, k)| (k / m).sqrt()).fold(0.0, f64::max)
    }

    fn scales(&self) -> (f64, f64) {
        (0.25, 1.25)
    }
}
