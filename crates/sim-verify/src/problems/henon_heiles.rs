//! The Hénon-Heiles system: two oscillators coupled by a cubic potential.

use super::ExactProblem;
use crate::point::{PointLaw, PointSystem};
use nalgebra::{Matrix3, Vector3};
use sim_core::{ModelSystem, State};

/// `U = (x² + y²)/2 + x² y - y³/3`, unit mass: Hénon & Heiles, Astron. J. 69 (1964) 73.
///
/// No closed form exists. The solution is the Taylor series of the motion, summed to rounding over intervals well within its radius of
/// convergence: the potential is a polynomial, so that the coefficients follow from one another.
///
/// # Limitations
/// Rounding grows with the motion's sensitivity: a few times 1e-13 at t = 50 on the standard orbit.
#[derive(Clone, Copy, Debug)]
pub struct HenonHeiles {
    /// x and y at time zero, in m.
    pub position: [f64; 2],
    /// Their rates in m/s.
    pub velocity: [f64; 2],
}

/// Energy 1/12, an orbit that is regular.
pub static STANDARD: HenonHeiles = HenonHeiles { position: [0.0, 0.1], velocity: [0.38384024454626087, 0.1] };

/// Terms of the series.
const TERMS: usize = 32;
/// Longest interval of one series in s; its radius of convergence exceeds one.
const INTERVAL: f64 = 0.125;

impl PointLaw for HenonHeiles {
    fn potential(&self, x: Vector3<f64>) -> f64 {
        0.5 * (x[0] * x[0] + x[1] * x[1]) + x[0] * x[0] * x[1] - x[1].powi(3) / 3.0
    }

    fn conservative(&self, x: Vector3<f64>) -> Vector3<f64> {
        Vector3::new(-x[0] - 2.0 * x[0] * x[1], -x[1] - x[0] * x[0] + x[1] * x[1], 0.0)
    }

    fn stiffness(&self, x: Vector3<f64>) -> Matrix3<f64> {
        Matrix3::new(1.0 + 2.0 * x[1], 2.0 * x[0], 0.0, 2.0 * x[0], 1.0 - 2.0 * x[1], 0.0, 0.0, 0.0, 0.0)
    }
}

/// Position and velocity `h` s later.
fn advance(position: [f64; 2], velocity: [f64; 2], h: f64) -> ([f64; 2], [f64; 2]) {
    let (mut x, mut y) = ([0.0; TERMS + 1], [0.0; TERMS + 1]);
    (x[0], y[0], x[1], y[1]) = (position[0], position[1], velocity[0], velocity[1]);
    for n in 0..=TERMS - 2 {
        let product = |a: &[f64], b: &[f64]| (0..=n).map(|k| a[k] * b[n - k]).sum::<f64>();
        let both = ((n + 1) * (n + 2)) as f64;
        let (xx, xy, yy) = (product(&x, &x), product(&x, &y), product(&y, &y));
        x[n + 2] = (-x[n] - 2.0 * xy) / both;
        y[n + 2] = (-y[n] - xx + yy) / both;
    }
    let value = |a: &[f64]| a.iter().rev().fold(0.0, |sum, c| sum * h + c);
    let slope = |a: &[f64]| (1..=TERMS).rev().fold(0.0, |sum, n| sum * h + n as f64 * a[n]);
    ([value(&x), value(&y)], [slope(&x), slope(&y)])
}

impl ExactProblem for HenonHeiles {
    fn id(&self) -> &'static str {
        "henon_heiles"
    }

    fn source(&self) -> &'static str {
        "Hénon & Heiles (1964), Taylor series summed to rounding"
    }

    fn t_end(&self) -> f64 {
        5.0
    }

    fn build(&self) -> (Box<dyn ModelSystem>, State) {
        (Box::new(PointSystem::new(1.0, *self)), self.exact(0.0))
    }

    fn exact(&self, t: f64) -> State {
        let pieces = (t.abs() / INTERVAL).ceil();
        let (mut q, mut v) = (self.position, self.velocity);
        for _ in 0..pieces as u64 {
            (q, v) = advance(q, v, t / pieces);
        }
        State { t, q: vec![q[0], q[1], 0.0], v: vec![v[0], v[1], 0.0], internal: Vec::new() }
    }

    fn max_frequency(&self) -> f64 {
        // The larger eigenvalue of the stiffness is 1 + 2r, and r stays below the corner of the energy's contour.
        2.0_f64.sqrt()
    }

    fn scales(&self) -> (f64, f64) {
        (0.5, 0.5)
    }
}
