//! Whether a stated exact solution solves its own equation of motion.

use crate::problems::ExactProblem;
use sim_core::ModelSystem;

/// Largest relative residuals.
#[derive(Clone, Copy, Debug)]
pub struct ResidualReport {
    /// |dq/dt - v| over the largest |v|.
    pub velocity: f64,
    /// |M dv/dt - f| over the largest |f|, free particles only.
    pub force: f64,
    /// |exact(0) - initial state| over the problem's scales.
    pub start: f64,
    /// Largest |f| in N seen, to show that the check was not of nothing.
    pub largest_force: f64,
}

/// Differentiates the exact solution at `samples` times and inserts it into the equation of motion.
///
/// # Limitations
/// Fourth-order differences: residuals of a correct solution are about 1e-9.
pub fn residual_study(problem: &dyn ExactProblem, samples: u32) -> ResidualReport {
    let (system, initial) = problem.build();
    let system: &dyn ModelSystem = &*system;
    let h = 1e-3 / problem.max_frequency();
    let (mut velocity, mut force, mut v_scale, mut f_scale) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
    let mut f = vec![0.0; initial.q.len()];
    for sample in 0..samples {
        let t = problem.t_end() * (f64::from(sample) + 0.5) / f64::from(samples);
        let at = problem.exact(t);
        let [m2, m1, p1, p2] = [-2.0, -1.0, 1.0, 2.0].map(|k| problem.exact(t + k * h));
        system.force(t, &at.q, &at.v, &mut f);
        for (i, &f) in f.iter().enumerate() {
            let slope = |a: f64, b: f64, c: f64, d: f64| (8.0 * (c - b) - (d - a)) / (12.0 * h);
            velocity = velocity.max((slope(m2.q[i], m1.q[i], p1.q[i], p2.q[i]) - at.v[i]).abs());
            v_scale = v_scale.max(at.v[i].abs());
            if system.inverse_mass()[i / 3] > 0.0 {
                let acceleration = slope(m2.v[i], m1.v[i], p1.v[i], p2.v[i]);
                force = force.max((system.mass()[i / 3] * acceleration - f).abs());
                f_scale = f_scale.max(f.abs());
            }
        }
    }
    let start = problem.exact(0.0);
    let (q_scale, rate_scale) = problem.scales();
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    ResidualReport {
        velocity: velocity / v_scale,
        force: force / f_scale,
        start: (distance(&start.q, &initial.q) / q_scale).max(distance(&start.v, &initial.v) / rate_scale),
        largest_force: f_scale,
    }
}
