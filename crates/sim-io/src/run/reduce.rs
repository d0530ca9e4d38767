//! From a series to one number.

use super::frequency;
use crate::scene::probe::{Reduction, ReductionForm};

/// Time average by the trapezoidal rule.
pub(crate) fn mean(t: &[f64], y: &[f64]) -> f64 {
    if t.len() == 1 {
        return y[0];
    }
    let area: f64 = (1..t.len()).map(|i| 0.5 * (t[i] - t[i - 1]) * (y[i] + y[i - 1])).sum();
    area / (t[t.len() - 1] - t[0])
}

/// Reduces a series; `t` increases and is as long as `y`, at least 1.
///
/// # Errors
/// A text saying why the number is not defined.
pub(crate) fn reduce(reduction: &Reduction, t: &[f64], y: &[f64]) -> Result<f64, String> {
    let window = |from: Option<f64>, until: Option<f64>| {
        // Frame times are rounded; half a frame of slack would take in a neighbor, a millionth does not.
        let slack = if t.len() > 1 { 1e-6 * (t[1] - t[0]) } else { 0.0 };
        let first = from.map_or(0, |from| t.partition_point(|&t| t < from - slack));
        let last = until.map_or(t.len(), |until| t.partition_point(|&t| t <= until + slack));
        if first < last {
            Ok((&t[first..last], &y[first..last]))
        } else {
            Err("no frame lies in its window of time".to_owned())
        }
    };
    let extreme = |y: &[f64], better: fn(f64, f64) -> f64| y.iter().copied().fold(y[0], better);
    match reduction {
        Reduction::Final => Ok(y[y.len() - 1]),
        Reduction::First => Ok(y[0]),
        Reduction::Form(form) => match form {
            ReductionForm::At(instant) => interpolate(t, y, instant.time),
            ReductionForm::Minimum(w) => Ok(extreme(window(w.from, w.until)?.1, f64::min)),
            ReductionForm::Maximum(w) => Ok(extreme(window(w.from, w.until)?.1, f64::max)),
            ReductionForm::MaxAbs(w) => {
                Ok(window(w.from, w.until)?.1.iter().fold(0.0, |most, y| f64::max(most, y.abs())))
            }
            ReductionForm::Mean(w) => window(w.from, w.until).map(|(t, y)| mean(t, y)),
            ReductionForm::Range(w) => {
                let (_, y) = window(w.from, w.until)?;
                Ok(extreme(y, f64::max) - extreme(y, f64::min))
            }
            ReductionForm::Frequency(w) => {
                let (t, y) = window(w.from, w.until)?;
                frequency::by_crossings(t, y)
            }
            ReductionForm::PeakFrequency(b) => {
                let (t, y) = window(b.from, b.until)?;
                if t.len() < 16 {
                    return Err(format!("a spectrum needs at least 16 frames, its window has {}", t.len()));
                }
                frequency::by_peak(t, y, b.band)
            }
        },
    }
}

fn interpolate(t: &[f64], y: &[f64], time: f64) -> Result<f64, String> {
    let last = t.len() - 1;
    let slack = 1e-9 * (t[last] - t[0]);
    if time < t[0] - slack || time > t[last] + slack {
        return Err(format!("{time} s is outside the run, {} to {} s", t[0], t[last]));
    }
    let after = t.partition_point(|&t| t < time).clamp(1, last.max(1));
    if last == 0 {
        return Ok(y[0]);
    }
    let share = ((time - t[after - 1]) / (t[after] - t[after - 1])).clamp(0.0, 1.0);
    Ok(y[after - 1] + share * (y[after] - y[after - 1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::probe::{Instant, Window};

    #[test]
    fn every_form_on_a_broken_line() {
        let (t, y) = ([0.0, 1.0, 2.0, 3.0], [1.0, -3.0, 5.0, 2.0]);
        let form = |form| reduce(&Reduction::Form(form), &t, &y).unwrap();
        let all = Window::default();
        assert_eq!(reduce(&Reduction::Final, &t, &y), Ok(2.0));
        assert_eq!(reduce(&Reduction::First, &t, &y), Ok(1.0));
        assert_eq!(form(ReductionForm::At(Instant { time: 1.25 })), -1.0);
        assert_eq!(form(ReductionForm::At(Instant { time: 3.0 })), 2.0);
        assert_eq!(form(ReductionForm::Minimum(all)), -3.0);
        assert_eq!(form(ReductionForm::Maximum(all)), 5.0);
        assert_eq!(form(ReductionForm::MaxAbs(Window { until: Some(1.0), from: None })), 3.0);
        assert_eq!(form(ReductionForm::Range(all)), 8.0);
        assert_eq!(form(ReductionForm::Mean(all)), (-1.0 + 1.0 + 3.5) / 3.0);
        assert_eq!(form(ReductionForm::Maximum(Window { from: Some(2.5), until: None })), 2.0);
        assert!(reduce(&Reduction::Form(ReductionForm::At(Instant { time: 4.0 })), &t, &y).is_err());
        let between = Window { from: Some(1.2), until: Some(1.8) };
        assert!(reduce(&Reduction::Form(ReductionForm::Mean(between)), &t, &y).is_err());
    }
}
