//! A planet on an ellipse.

use super::ExactProblem;
use crate::point::{PointLaw, PointSystem};
use nalgebra::{Matrix3, Vector3};
use sim_core::{ModelSystem, State};

/// `q'' = -q/|q|³` from perihelion on an orbit of semi-major axis 1, period 2π.
#[derive(Clone, Copy, Debug)]
pub struct Kepler {
    /// Eccentricity in [0, 1).
    pub eccentricity: f64,
}

/// Eccentricity 0.6.
pub static STANDARD: Kepler = Kepler { eccentricity: 0.6 };

#[derive(Debug)]
struct Law;

impl PointLaw for Law {
    fn potential(&self, x: Vector3<f64>) -> f64 {
        -1.0 / x.norm()
    }

    fn conservative(&self, x: Vector3<f64>) -> Vector3<f64> {
        -x / x.norm().powi(3)
    }

    fn stiffness(&self, x: Vector3<f64>) -> Matrix3<f64> {
        let r = x.norm();
        (Matrix3::identity() - 3.0 * x * x.transpose() / (r * r)) / r.powi(3)
    }
}

impl ExactProblem for Kepler {
    fn id(&self) -> &'static str {
        "kepler"
    }

    fn source(&self) -> &'static str {
        "Kepler's equation E - e sin E = t; q = (cos E - e, sqrt(1-e²) sin E)"
    }

    fn t_end(&self) -> f64 {
        5.0
    }

    fn build(&self) -> (Box<dyn ModelSystem>, State) {
        (Box::new(PointSystem::new(1.0, Law)), self.exact(0.0))
    }

    fn exact(&self, t: f64) -> State {
        let e = self.eccentricity;
        // E - e sin E is convex or concave on each half turn: Newton from π converges from one side.
        let turns = (t / std::f64::consts::TAU).floor();
        let mean = t - turns * std::f64::consts::TAU;
        let mut anomaly = std::f64::consts::PI;
        for _ in 0..60 {
            let step = (anomaly - e * anomaly.sin() - mean) / (1.0 - e * anomaly.cos());
            anomaly -= step;
            if step.abs() < 1e-16 {
                break;
            }
        }
        let (sin, cos) = anomaly.sin_cos();
        let minor = (1.0 - e * e).sqrt();
        let rate = 1.0 / (1.0 - e * cos);
        State {
            t,
            q: vec![cos - e, minor * sin, 0.0],
            v: vec![-sin * rate, minor * cos * rate, 0.0],
            internal: Vec::new(),
        }
    }

    fn max_frequency(&self) -> f64 {
        // The stiffness at perihelion is 2/r³.
        (2.0 / (1.0 - self.eccentricity).powi(3)).sqrt()
    }

    fn scales(&self) -> (f64, f64) {
        (1.0, 1.0)
    }
}
