//! The undamped Duffing oscillator: a spring that stiffens.

use super::ExactProblem;
use crate::elliptic::jacobi;
use crate::point::{PointLaw, PointSystem};
use nalgebra::{Matrix3, Vector3};
use sim_core::{ModelSystem, State};

/// `x'' + α x + β x³ = 0` (unit mass), released at rest.
#[derive(Clone, Copy, Debug)]
pub struct Duffing {
    /// 1/s², with β such that the motion is bounded.
    pub alpha: f64,
    /// 1/(m² s²), not negative.
    pub beta: f64,
    /// m.
    pub amplitude: f64,
}

/// α = β = amplitude = 1.
pub static STANDARD: Duffing = Duffing { alpha: 1.0, beta: 1.0, amplitude: 1.0 };

impl PointLaw for Duffing {
    fn potential(&self, x: Vector3<f64>) -> f64 {
        let x2 = x[0] * x[0];
        0.5 * self.alpha * x2 + 0.25 * self.beta * x2 * x2
    }

    fn conservative(&self, x: Vector3<f64>) -> Vector3<f64> {
        Vector3::new(-(self.alpha + self.beta * x[0] * x[0]) * x[0], 0.0, 0.0)
    }

    fn stiffness(&self, x: Vector3<f64>) -> Matrix3<f64> {
        Matrix3::from_diagonal(&Vector3::new(self.alpha + 3.0 * self.beta * x[0] * x[0], 0.0, 0.0))
    }
}

impl ExactProblem for Duffing {
    fn id(&self) -> &'static str {
        "duffing"
    }

    fn source(&self) -> &'static str {
        "x = A cn(Wt | m), W² = α + βA², m = βA²/(2W²)"
    }

    fn t_end(&self) -> f64 {
        5.0
    }

    fn build(&self) -> (Box<dyn ModelSystem>, State) {
        (Box::new(PointSystem::new(1.0, *self)), self.exact(0.0))
    }

    fn exact(&self, t: f64) -> State {
        let square = self.alpha + self.beta * self.amplitude * self.amplitude;
        let rate = square.sqrt();
        let m = 0.5 * self.beta * self.amplitude * self.amplitude / square;
        let (sn, cn, dn) = jacobi(rate * t, m);
        State {
            t,
            q: vec![self.amplitude * cn, 0.0, 0.0],
            v: vec![-self.amplitude * rate * sn * dn, 0.0, 0.0],
            internal: Vec::new(),
        }
    }

    fn max_frequency(&self) -> f64 {
        (self.alpha + 3.0 * self.beta * self.amplitude * self.amplitude).sqrt()
    }

    fn scales(&self) -> (f64, f64) {
        (self.amplitude, self.amplitude * self.max_frequency())
    }
}
