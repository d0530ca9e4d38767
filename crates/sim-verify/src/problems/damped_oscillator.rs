//! A mass on a spring with dashpot, on a line.

use super::ExactProblem;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ModelSystem, ParticleSystemBuilder, State};

/// `m u'' + c u' + k u = 0` with `u` the stretch of a spring of rest length 1 m along x, the other end pinned.
///
/// On the line the spring is exactly linear, and the dashpot acts along it. Under-damped only.
#[derive(Clone, Copy, Debug)]
pub struct DampedOscillator {
    /// kg.
    pub mass: f64,
    /// N/m.
    pub stiffness: f64,
    /// N·s/m.
    pub damping: f64,
    /// Initial stretch in m.
    pub position: f64,
    /// m/s.
    pub velocity: f64,
    /// s.
    pub t_end: f64,
}

/// The oscillator of the published tables: ω = 5 rad/s, damping ratio 0.1.
pub static STANDARD: DampedOscillator =
    DampedOscillator { mass: 2.0, stiffness: 50.0, damping: 2.0, position: 0.1, velocity: -0.3, t_end: 1.0 };

impl ExactProblem for DampedOscillator {
    fn id(&self) -> &'static str {
        "damped_oscillator"
    }

    fn source(&self) -> &'static str {
        "u = exp(-δt) [u0 cos ω_d t + (v0 + δ u0)/ω_d sin ω_d t], δ = c/2m, ω_d² = k/m - δ²"
    }

    fn t_end(&self) -> f64 {
        self.t_end
    }

    fn build(&self) -> (Box<dyn ModelSystem>, State) {
        let spring =
            Spring { ends: [0, 1], rest_length: 1.0, stiffness: self.stiffness, damping: self.damping };
        let system = ParticleSystemBuilder::new(vec![1.0, self.mass])
            .pin([0])
            .force(Springs::new([spring]))
            .build()
            .expect("parameters are valid");
        (Box::new(system), self.exact(0.0))
    }

    fn exact(&self, t: f64) -> State {
        let delta = 0.5 * self.damping / self.mass;
        let omega = (self.stiffness / self.mass - delta * delta).sqrt();
        let (sin, cos) = (omega * t).sin_cos();
        let decay = (-delta * t).exp();
        let b = (self.velocity + delta * self.position) / omega;
        let u = decay * (self.position * cos + b * sin);
        let v = decay * (omega * (b * cos - self.position * sin)) - delta * u;
        State {
            t,
            q: vec![0.0, 0.0, 0.0, 1.0 + u, 0.0, 0.0],
            v: vec![0.0, 0.0, 0.0, v, 0.0, 0.0],
            internal: Vec::new(),
        }
    }

    fn max_frequency(&self) -> f64 {
        (self.stiffness / self.mass).sqrt()
    }

    fn scales(&self) -> (f64, f64) {
        (self.position.abs(), self.position.abs() * self.max_frequency())
    }
}
