//! A mass on a spring under a load that varies in time.

use super::ExactProblem;
use sim_core::curve::TimeCurve;
use sim_core::force::point_load::{PointLoad, PointLoads};
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ModelSystem, ParticleSystemBuilder, State};

/// `m u'' + k u = F sin νt` along a spring of rest length 1 m, the other end pinned.
///
/// The only problem in the list that notices a load taken at the wrong stage time.
#[derive(Clone, Copy, Debug)]
pub struct ForcedOscillator {
    /// kg.
    pub mass: f64,
    /// N/m.
    pub stiffness: f64,
    /// Amplitude of the load in N.
    pub load: f64,
    /// Frequency of the load in Hz; not the oscillator's own.
    pub frequency: f64,
    /// Initial stretch in m.
    pub position: f64,
    /// m/s.
    pub velocity: f64,
}

/// ω = 3 rad/s, load at 0.8 Hz.
pub static STANDARD: ForcedOscillator =
    ForcedOscillator { mass: 0.6, stiffness: 5.4, load: 2.0, frequency: 0.8, position: 0.1, velocity: 0.2 };

impl ExactProblem for ForcedOscillator {
    fn id(&self) -> &'static str {
        "forced_oscillator"
    }

    fn source(&self) -> &'static str {
        "u = A sin νt + u0 cos ωt + (v0 - Aν)/ω sin ωt, A = F/(k - mν²)"
    }

    fn t_end(&self) -> f64 {
        1.6
    }

    fn build(&self) -> (Box<dyn ModelSystem>, State) {
        let spring = Spring { ends: [0, 1], rest_length: 1.0, stiffness: self.stiffness, damping: 0.0 };
        let curve = TimeCurve::Sinusoid { mean: 0.0, amplitude: 1.0, frequency: self.frequency, phase: 0.0 };
        let load = PointLoad { particle: 1, force: [self.load, 0.0, 0.0], curve };
        let system = ParticleSystemBuilder::new(vec![1.0, self.mass])
            .pin([0])
            .force(Springs::new([spring]))
            .force(PointLoads::new([load]))
            .build()
            .expect("parameters are valid");
        (Box::new(system), self.exact(0.0))
    }

    fn exact(&self, t: f64) -> State {
        let (nu, omega) = (std::f64::consts::TAU * self.frequency, self.max_frequency());
        let forced = self.load / (self.stiffness - self.mass * nu * nu);
        let b = (self.velocity - forced * nu) / omega;
        let ((s, c), (sin, cos)) = ((nu * t).sin_cos(), (omega * t).sin_cos());
        let u = forced * s + self.position * cos + b * sin;
        let v = forced * nu * c + omega * (b * cos - self.position * sin);
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
        (0.3, 1.0)
    }
}
