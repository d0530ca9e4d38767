//! The simple pendulum in its angle.

use super::ExactProblem;
use crate::elliptic::{complete_k, jacobi};
use crate::point::{PointLaw, PointSystem};
use nalgebra::{Matrix3, Vector3};
use sim_core::{ModelSystem, State};

/// `θ'' = -(g/L) sin θ`, released at rest; the angle in rad is the x coordinate, per unit moment of inertia.
#[derive(Clone, Copy, Debug)]
pub struct Pendulum {
    /// m/s².
    pub gravity: f64,
    /// m.
    pub length: f64,
    /// Angle of release in rad, below π.
    pub amplitude: f64,
}

/// 1.5 m, released from the horizontal.
pub static STANDARD: Pendulum =
    Pendulum { gravity: 9.80665, length: 1.5, amplitude: std::f64::consts::FRAC_PI_2 };

#[derive(Debug)]
struct Law {
    rate: f64,
}

impl PointLaw for Law {
    fn potential(&self, x: Vector3<f64>) -> f64 {
        self.rate * (1.0 - x[0].cos())
    }

    fn conservative(&self, x: Vector3<f64>) -> Vector3<f64> {
        Vector3::new(-self.rate * x[0].sin(), 0.0, 0.0)
    }

    fn stiffness(&self, x: Vector3<f64>) -> Matrix3<f64> {
        Matrix3::from_diagonal(&Vector3::new(self.rate * x[0].cos(), 0.0, 0.0))
    }
}

impl Pendulum {
    /// Period of oscillation in s.
    pub fn period(&self) -> f64 {
        4.0 * complete_k((0.5 * self.amplitude).sin().powi(2)) / self.max_frequency()
    }
}

impl ExactProblem for Pendulum {
    fn id(&self) -> &'static str {
        "pendulum"
    }

    fn source(&self) -> &'static str {
        "sin(θ/2) = k sn(K - ω0 t | k²), k = sin(θ0/2), ω0² = g/L"
    }

    fn t_end(&self) -> f64 {
        2.0
    }

    fn build(&self) -> (Box<dyn ModelSystem>, State) {
        (Box::new(PointSystem::new(1.0, Law { rate: self.gravity / self.length })), self.exact(0.0))
    }

    fn exact(&self, t: f64) -> State {
        let k = (0.5 * self.amplitude).sin();
        let omega = self.max_frequency();
        let (sn, cn, _) = jacobi(complete_k(k * k) - omega * t, k * k);
        State {
            t,
            q: vec![2.0 * (k * sn).asin(), 0.0, 0.0],
            v: vec![-2.0 * k * omega * cn, 0.0, 0.0],
            internal: Vec::new(),
        }
    }

    fn max_frequency(&self) -> f64 {
        (self.gravity / self.length).sqrt()
    }

    fn scales(&self) -> (f64, f64) {
        (self.amplitude, 2.0 * (0.5 * self.amplitude).sin() * self.max_frequency())
    }
}
