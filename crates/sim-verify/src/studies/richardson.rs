//! Solution verification: how far a result is from the limit of fine steps when no exact solution is known.
//!
//! A quantity is computed with steps `h, h/r, h/r², …`. Where the differences shrink by a steady factor, Richardson's extrapolation
//! gives the limit, and the grid convergence index of Roache (J. Fluids Eng. 116 (1994) 405) an error bar for the finest value.
//! The choice of the safety factor follows Oberkampf & Roy, *Verification and Validation in Scientific Computing* (2010), section
//! 8.7: 1.25 when the observed order is within a tenth of the formal one, else 3 with the order held between a half and the formal one.

use serde::Serialize;

/// How a sequence of refined values behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Convergence {
    /// Differences shrink and keep their sign: the extrapolated value means something.
    Monotone,
    /// Differences shrink and change their sign: bounded by the last difference, no order can be read.
    Oscillating,
    /// Differences are rounding: the value does not depend on the step.
    Exact,
    /// Differences do not shrink: no statement about the limit is possible.
    NotConverging,
}

impl Convergence {
    /// Whether there is an error bar.
    pub fn is_converging(self) -> bool {
        self != Self::NotConverging
    }
}

/// What refined values say about their limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RichardsonReport {
    /// Values, coarsest first.
    pub values: Vec<f64>,
    /// How the three finest behave.
    pub convergence: Convergence,
    /// Order from the three finest values; only for monotone convergence.
    pub observed_order: Option<f64>,
    /// Estimate of the limit; only for monotone convergence.
    pub extrapolated: Option<f64>,
    /// Likely distance of the finest value from the limit, an estimate with a safety factor, not a bound. Absent when not converging.
    pub error_bar: Option<f64>,
}

/// Differences below this share of the largest value are taken for rounding.
const ROUNDING: f64 = 1e3 * f64::EPSILON;

/// Judges `values` computed with steps that shrink by `ratio` from one to the next; `formal_order` is what theory promises.
///
/// # Limitations
/// Three values cannot tell slow convergence from none, nor notice two errors that cancel. The error bar is about the step alone:
/// modelling errors and other discretisations are not in it.
///
/// # Panics
/// With fewer than three values, or when `ratio` is not above 1 or `formal_order` not positive.
pub fn richardson(values: &[f64], ratio: f64, formal_order: f64) -> RichardsonReport {
    assert!(values.len() >= 3, "three values are needed to see an order, got {}", values.len());
    assert!(
        ratio > 1.0 && formal_order > 0.0,
        "ratio {ratio} must exceed 1, order {formal_order} must exceed 0"
    );
    let [.., coarse, middle, fine] = *values else { unreachable!("length is checked above") };
    let scale = values.iter().fold(0.0, |max: f64, value| max.max(value.abs()));
    let (first, second) = (middle - coarse, fine - middle);
    let mut report = RichardsonReport {
        values: values.to_vec(),
        convergence: Convergence::NotConverging,
        observed_order: None,
        extrapolated: None,
        error_bar: None,
    };
    if !(first.is_finite() && second.is_finite()) {
        return report;
    }
    if first.abs().max(second.abs()) <= ROUNDING * scale {
        report.convergence = Convergence::Exact;
        report.error_bar = Some(first.abs().max(second.abs()).max(f64::EPSILON * scale));
    } else if second.abs() < first.abs() && (first * second >= 0.0) {
        let observed = if second == 0.0 { f64::INFINITY } else { (first / second).ln() / ratio.ln() };
        let trusted = (observed - formal_order).abs() <= 0.1 * formal_order;
        let (factor, order) =
            if trusted { (1.25, observed) } else { (3.0, observed.clamp(0.5, formal_order)) };
        report.convergence = Convergence::Monotone;
        report.observed_order = observed.is_finite().then_some(observed);
        report.extrapolated = Some(fine + second / (ratio.powf(observed) - 1.0));
        report.error_bar =
            Some((factor * second.abs() / (ratio.powf(order) - 1.0)).max(f64::EPSILON * scale));
    } else if second.abs() < first.abs() {
        report.convergence = Convergence::Oscillating;
        report.error_bar = Some(3.0 * second.abs());
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pure_power_is_extrapolated_to_its_limit() {
        let values = [0.4_f64, 0.2, 0.1, 0.05].map(|h| 3.0 - 0.7 * h * h);
        let report = richardson(&values, 2.0, 2.0);
        assert_eq!(report.convergence, Convergence::Monotone);
        assert!((report.observed_order.unwrap() - 2.0).abs() < 1e-9);
        assert!((report.extrapolated.unwrap() - 3.0).abs() < 1e-12);
        let true_error = 0.7 * 0.05 * 0.05;
        assert!((report.error_bar.unwrap() / true_error - 1.25).abs() < 1e-6);
    }

    /// The bar covers the true error although the order is not yet the formal one.
    #[test]
    fn the_bar_covers_an_error_of_mixed_orders() {
        for c in [-3.0, -0.5, 0.8, 4.0] {
            let values = [0.2_f64, 0.1, 0.05].map(|h| 1.0 + 0.3 * h + c * h * h);
            let report = richardson(&values, 2.0, 1.0);
            let error = (values[2] - 1.0).abs();
            if let Some(bar) = report.error_bar {
                assert!(bar >= error, "c = {c}: bar {bar}, error {error}");
            }
        }
    }

    #[test]
    fn growth_alternation_and_rounding_are_told_apart() {
        let of = |values: &[f64]| richardson(values, 2.0, 2.0);
        assert_eq!(of(&[1.0, 1.1, 1.3]).convergence, Convergence::NotConverging);
        assert_eq!(of(&[1.0, 1.1, 1.3]).error_bar, None);
        assert_eq!(of(&[1.0, f64::NAN, 1.3]).convergence, Convergence::NotConverging);
        let alternating = of(&[1.0, 1.1, 1.06]);
        assert_eq!(alternating.convergence, Convergence::Oscillating);
        assert!((alternating.error_bar.unwrap() - 0.12).abs() < 1e-12);
        assert_eq!(of(&[1.0, 1.0 + 1e-15, 1.0]).convergence, Convergence::Exact);
        assert_eq!(of(&[0.0, 0.0, 0.0]).convergence, Convergence::Exact);
    }

    /// Only the three finest count: the coarse ones may be far from the asymptotic range.
    #[test]
    fn coarse_values_do_not_spoil_the_order() {
        let report = richardson(&[17.0, -4.0, 1.16, 1.04, 1.01], 2.0, 2.0);
        assert!((report.observed_order.unwrap() - 2.0).abs() < 1e-9);
        assert!((report.extrapolated.unwrap() - 1.0).abs() < 1e-12);
    }
}
