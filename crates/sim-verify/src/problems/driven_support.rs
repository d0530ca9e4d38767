//! A mass on a spring with dashpot whose other end is moved.

use super::ExactProblem;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ModelSystem, Motion, ParticleSystemBuilder, State};

/// `m u'' + c (u' - s') + k (u - s) = 0` with the support moved as `s = a sin νt`, along a spring of rest length 1 m.
///
/// The only problem in the list that notices a support moved to the wrong stage time.
#[derive(Clone, Copy, Debug)]
pub struct DrivenSupport {
    /// kg.
    pub mass: f64,
    /// N/m.
    pub stiffness: f64,
    /// N·s/m.
    pub damping: f64,
    /// Amplitude of the support in m.
    pub amplitude: f64,
    /// Frequency of the support in Hz.
    pub frequency: f64,
    /// Initial stretch in m.
    pub position: f64,
}

/// ω = 4 rad/s, damping ratio 0.1, support at 0.4 Hz.
pub static STANDARD: DrivenSupport =
    DrivenSupport { mass: 0.5, stiffness: 8.0, damping: 0.4, amplitude: 0.2, frequency: 0.4, position: 0.1 };

impl ExactProblem for DrivenSupport {
    fn id(&self) -> &'static str {
        "driven_support"
    }

    fn source(&self) -> &'static str {
        "particular solution Im[U exp(iνt)], U = a (k + icν)/(k - mν² + icν), plus the free damped oscillation"
    }

    fn t_end(&self) -> f64 {
        1.9
    }

    fn build(&self) -> (Box<dyn ModelSystem>, State) {
        let spring =
            Spring { ends: [0, 1], rest_length: 1.0, stiffness: self.stiffness, damping: self.damping };
        let motion = Motion::Sinusoid {
            center: [0.0; 3],
            amplitude: [self.amplitude, 0.0, 0.0],
            frequency: self.frequency,
            phase: 0.0,
        };
        let system = ParticleSystemBuilder::new(vec![1.0, self.mass])
            .drive(0, motion)
            .force(Springs::new([spring]))
            .build()
            .expect("parameters are valid");
        (Box::new(system), self.exact(0.0))
    }

    fn exact(&self, t: f64) -> State {
        let nu = std::f64::consts::TAU * self.frequency;
        let (m, k, c) = (self.mass, self.stiffness, self.damping);
        // U = a (k + i cν) / (p + i cν) with p = k - mν².
        let (p, cn) = (k - m * nu * nu, c * nu);
        let size = p * p + cn * cn;
        let re = self.amplitude * (k * p + cn * cn) / size;
        let im = self.amplitude * (cn * p - k * cn) / size;
        let (s, co) = (nu * t).sin_cos();
        let forced = re * s + im * co;
        let forced_rate = nu * (re * co - im * s);
        let delta = 0.5 * c / m;
        let omega = (k / m - delta * delta).sqrt();
        let u0 = self.position - im;
        let b = (-nu * re + delta * u0) / omega;
        let (sin, cos) = (omega * t).sin_cos();
        let decay = (-delta * t).exp();
        let free = decay * (u0 * cos + b * sin);
        let free_rate = decay * omega * (b * cos - u0 * sin) - delta * free;
        State {
            t,
            q: vec![self.amplitude * s, 0.0, 0.0, 1.0 + forced + free, 0.0, 0.0],
            v: vec![self.amplitude * nu * co, 0.0, 0.0, forced_rate + free_rate, 0.0, 0.0],
            internal: Vec::new(),
        }
    }

    fn max_frequency(&self) -> f64 {
        (self.stiffness / self.mass).sqrt()
    }

    fn scales(&self) -> (f64, f64) {
        (0.4, 1.6)
    }
}
