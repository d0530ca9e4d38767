//! A body that falls from rest against quadratic drag.

use super::ExactProblem;
use crate::point::{PointLaw, PointSystem};
use nalgebra::{Matrix3, Vector3};
use sim_core::{Dependence, ModelSystem, State};

/// `m v' = -m g ẑ - c |v| v` from rest at the origin.
#[derive(Clone, Copy, Debug)]
pub struct FallingWithDrag {
    /// kg.
    pub mass: f64,
    /// m/s².
    pub gravity: f64,
    /// N·s²/m².
    pub drag: f64,
}

/// Terminal speed 4 m/s.
pub static STANDARD: FallingWithDrag = FallingWithDrag { mass: 0.4, gravity: 9.81, drag: 0.24525 };

impl PointLaw for FallingWithDrag {
    fn potential(&self, x: Vector3<f64>) -> f64 {
        self.mass * self.gravity * x[2]
    }

    fn conservative(&self, _x: Vector3<f64>) -> Vector3<f64> {
        Vector3::new(0.0, 0.0, -self.mass * self.gravity)
    }

    fn stiffness(&self, _x: Vector3<f64>) -> Matrix3<f64> {
        Matrix3::zeros()
    }

    fn other(&self, _t: f64, _x: Vector3<f64>, v: Vector3<f64>) -> Vector3<f64> {
        -self.drag * v.norm() * v
    }

    fn damping(&self, _t: f64, _x: Vector3<f64>, v: Vector3<f64>) -> Matrix3<f64> {
        let speed = v.norm();
        if speed == 0.0 {
            return Matrix3::zeros();
        }
        (Matrix3::identity() * speed + v * v.transpose() / speed) * self.drag
    }

    fn dependence(&self) -> Dependence {
        Dependence::VELOCITY
    }
}

impl FallingWithDrag {
    /// Terminal speed in m/s.
    pub fn terminal_speed(&self) -> f64 {
        (self.mass * self.gravity / self.drag).sqrt()
    }
}

impl ExactProblem for FallingWithDrag {
    fn id(&self) -> &'static str {
        "falling_with_drag"
    }

    fn source(&self) -> &'static str {
        "v = -v∞ tanh(gt/v∞), z = -(v∞²/g) ln cosh(gt/v∞)"
    }

    fn t_end(&self) -> f64 {
        0.7
    }

    fn build(&self) -> (Box<dyn ModelSystem>, State) {
        (Box::new(PointSystem::new(self.mass, *self)), self.exact(0.0))
    }

    fn exact(&self, t: f64) -> State {
        let limit = self.terminal_speed();
        let x = self.gravity * t / limit;
        State {
            t,
            q: vec![0.0, 0.0, -limit * limit / self.gravity * x.cosh().ln()],
            v: vec![0.0, 0.0, -limit * x.tanh()],
            internal: Vec::new(),
        }
    }

    fn max_frequency(&self) -> f64 {
        // The decay rate of a small change of the terminal speed, 2 g / v∞.
        2.0 * self.gravity / self.terminal_speed()
    }

    fn scales(&self) -> (f64, f64) {
        let limit = self.terminal_speed();
        (limit * limit / self.gravity, limit)
    }
}
