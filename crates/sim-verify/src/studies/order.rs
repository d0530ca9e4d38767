//! Observed order of convergence, with sign, and the leading error constant.

use super::{StudyError, run};
use crate::problems::ExactProblem;
use sim_core::{ModelSystem, State, Stepper};
use std::fmt;

/// Which step counts to compare.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderOptions {
    /// Numbers of steps over the problem's interval, increasing; they need not double.
    pub steps: Vec<u64>,
    /// Errors below this (relative to the problem's scales) are taken for rounding, not for the scheme.
    pub floor: f64,
}

impl OrderOptions {
    /// Floor of relative errors: about 10³ roundings.
    pub const DEFAULT_FLOOR: f64 = 1000.0 * f64::EPSILON;

    /// Five doublings from ω dt = 0.1 on.
    pub fn for_problem(problem: &dyn ExactProblem) -> Self {
        Self::from_coarsest(problem, 0.1, 5)
    }

    /// `levels` doublings, the coarsest with about this ω dt.
    pub fn from_coarsest(problem: &dyn ExactProblem, omega_dt: f64, levels: u32) -> Self {
        let coarsest = (problem.t_end() * problem.max_frequency() / omega_dt).ceil().max(2.0) as u64;
        Self { steps: (0..levels).map(|level| coarsest << level).collect(), floor: Self::DEFAULT_FLOOR }
    }
}

/// Errors against step sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderReport {
    /// Step sizes in s, decreasing.
    pub dt: Vec<f64>,
    /// Error at each step size.
    pub errors: Vec<f64>,
    /// Which errors are rounding rather than truncation; they take no part in the slopes.
    pub floor: Vec<bool>,
}

impl OrderReport {
    /// Judges errors that were measured elsewhere; `dt` must decrease.
    ///
    /// An error is marked as floor when it is not above `floor`, or when it follows one that is.
    ///
    /// # Panics
    /// When the lists differ in length or `dt` does not decrease.
    pub fn from_errors(dt: &[f64], errors: &[f64], floor: f64) -> Self {
        assert_eq!(dt.len(), errors.len(), "{} step sizes but {} errors", dt.len(), errors.len());
        assert!(dt.windows(2).all(|pair| pair[1] < pair[0]), "step sizes must decrease: {dt:?}");
        let mut reached = false;
        let floor = errors
            .iter()
            .map(|&error| {
                reached |= error <= floor;
                reached
            })
            .collect();
        Self { dt: dt.to_vec(), errors: errors.to_vec(), floor }
    }

    fn usable(&self) -> Vec<(f64, f64)> {
        let usable = self.floor.iter().take_while(|&&floor| !floor).count();
        self.dt[..usable].iter().copied().zip(self.errors[..usable].iter().copied()).collect()
    }

    /// Slopes of successive pairs above the floor, `ln(e1/e2) / ln(dt1/dt2)`: negative when errors grow.
    pub fn slopes(&self) -> Vec<f64> {
        self.usable().windows(2).map(|w| (w[0].1 / w[1].1).ln() / (w[0].0 / w[1].0).ln()).collect()
    }

    /// Slope of the finest pair above the floor; none when fewer than two errors are.
    pub fn observed(&self) -> Option<f64> {
        self.slopes().last().copied()
    }

    /// Slope extrapolated to dt = 0 from the two finest pairs, when the slope is off by a term of first order in dt.
    pub fn extrapolated(&self) -> Option<f64> {
        let (slopes, points) = (self.slopes(), self.usable());
        let [.., s1, s2] = slopes[..] else { return None };
        let n = points.len();
        let (h1, h2) =
            ((points[n - 3].0 * points[n - 2].0).sqrt(), (points[n - 2].0 * points[n - 1].0).sqrt());
        Some(s2 + (s2 - s1) * h2 / (h1 - h2))
    }

    /// Whether the finest pair shows `order` within `tolerance` and the smallest error above the floor is finite.
    pub fn agrees(&self, order: f64, tolerance: f64) -> bool {
        self.observed().is_some_and(|observed| (observed - order).abs() <= tolerance)
    }
}

impl fmt::Display for OrderReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((dt, error), floor) in self.dt.iter().zip(&self.errors).zip(&self.floor) {
            writeln!(f, "dt {dt:.4e} error {error:.4e}{}", if *floor { " (floor)" } else { "" })?;
        }
        write!(f, "slopes {:.4?}", self.slopes())
    }
}

/// Errors of position and velocity at the end of the problem's interval, each relative to its scale, signed, in the
/// order of the state's arrays.
///
/// # Errors
/// [`StudyError::Run`].
pub fn error_at_end(
    problem: &dyn ExactProblem,
    stepper: &mut dyn Stepper<dyn ModelSystem>,
    steps: u64,
) -> Result<Vec<f64>, StudyError> {
    let (system, start) = problem.build();
    let end = run(&*system, stepper, &start, problem.t_end(), steps)?;
    let exact = problem.exact(problem.t_end());
    let (position, velocity) = problem.scales();
    let scaled =
        |x: &[f64], y: &[f64], scale: f64| x.iter().zip(y).map(|(x, y)| (x - y) / scale).collect::<Vec<_>>();
    let State { q, v, .. } = &end;
    Ok([scaled(q, &exact.q, position), scaled(v, &exact.v, velocity)].concat())
}

/// Measures the order of a stepper on a problem: largest relative error of position and velocity at the end.
///
/// Position alone is not enough: a scheme can be second order in position and first order in velocity.
///
/// # Errors
/// [`StudyError::Run`].
pub fn order_study(
    problem: &dyn ExactProblem,
    stepper: &mut dyn Stepper<dyn ModelSystem>,
    options: OrderOptions,
) -> Result<OrderReport, StudyError> {
    let mut dt = Vec::new();
    let mut errors = Vec::new();
    for steps in options.steps {
        let error = error_at_end(problem, stepper, steps)?;
        dt.push(problem.t_end() / steps as f64);
        errors.push(error.iter().fold(0.0, |max: f64, e| if e.is_nan() { *e } else { max.max(e.abs()) }));
    }
    Ok(OrderReport::from_errors(&dt, &errors, options.floor))
}

/// Leading error constant `C` of `error = C dt^order + …` at the end of the interval, one per coordinate, extrapolated to
/// dt = 0 from `steps` and `2 steps`. `gap` is the distance to the next power: 2 for symmetric schemes, else 1.
///
/// # Errors
/// [`StudyError::Run`].
pub fn error_constant(
    problem: &dyn ExactProblem,
    stepper: &mut dyn Stepper<dyn ModelSystem>,
    steps: u64,
    order: u32,
    gap: u32,
) -> Result<Vec<f64>, StudyError> {
    let dt = problem.t_end() / steps as f64;
    let coarse = error_at_end(problem, stepper, steps)?;
    let fine = error_at_end(problem, stepper, 2 * steps)?;
    let (power, halving, next) =
        (dt.powf(order.into()), 2.0_f64.powf(order.into()), 2.0_f64.powf(gap.into()));
    Ok(coarse.iter().zip(&fine).map(|(c, f)| (next * f * halving - c) / (power * (next - 1.0))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case I27 (a): growing errors are order -1, not +1.
    #[test]
    fn i27_growing_errors_have_negative_order() {
        let report = OrderReport::from_errors(&[0.1, 0.05, 0.025], &[1e-2, 2e-2, 4e-2], 1e-13);
        assert!((report.observed().unwrap() + 1.0).abs() < 1e-12);
        assert!(!report.agrees(1.0, 0.05));
    }

    /// Case I27 (b): two errors at the floor do not spoil the order of the first three.
    #[test]
    fn i27_floor_is_set_aside() {
        let report = OrderReport::from_errors(
            &[0.1, 0.05, 0.025, 0.0125, 0.00625],
            &[1e-3, 6.25e-5, 3.9e-6, 1.0e-13, 1.1e-13],
            OrderOptions::DEFAULT_FLOOR,
        );
        assert_eq!(report.floor, [false, false, false, true, true]);
        assert!(report.agrees(4.0, 0.01), "{report}");
    }

    /// Case I27: uneven ratios of the step size.
    #[test]
    fn i27_uneven_ratios() {
        let dt = [0.3, 0.17, 0.05, 0.041];
        let report = OrderReport::from_errors(&dt, &dt.map(|h| 7.0 * h * h * h), 1e-15);
        assert!(report.slopes().iter().all(|slope| (slope - 3.0).abs() < 1e-12), "{report}");
    }

    #[test]
    fn all_errors_at_the_floor_give_no_order() {
        let report = OrderReport::from_errors(&[0.1, 0.05], &[0.0, 0.0], 1e-15);
        assert_eq!(report.observed(), None);
        assert!(!report.agrees(2.0, 10.0));
    }
}
