//! Plain functions of time for loads and wind.

use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// A dimensionless factor as a function of time in s.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum TimeCurve {
    /// 1 at all times.
    #[default]
    Constant,
    /// `mean + amplitude sin(2π frequency t + phase)`.
    Sinusoid {
        /// Mean.
        #[serde(default)]
        mean: f64,
        /// Amplitude.
        amplitude: f64,
        /// Hz.
        frequency: f64,
        /// rad.
        #[serde(default)]
        phase: f64,
    },
    /// 0 until `start`, then in a straight line to 1 over `duration`, then 1. A duration of 0 is a step.
    Ramp {
        /// s.
        #[serde(default)]
        start: f64,
        /// s, not negative.
        duration: f64,
    },
    /// Straight between points, constant before the first and after the last.
    Table {
        /// Strictly increasing times in s.
        times: Vec<f64>,
        /// One value per time.
        values: Vec<f64>,
    },
}

/// A curve that cannot be followed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CurveError {
    /// A number is out of range or not finite.
    #[error("curve: {field} = {value}, must be {requirement}")]
    Value {
        /// Field.
        field: &'static str,
        /// Value found.
        value: f64,
        /// What it must be.
        requirement: &'static str,
    },
    /// Times and values differ in number, or there are none.
    #[error("curve table has {times} times and {values} values; both must be equal and at least 1")]
    TableLength {
        /// Number of times.
        times: usize,
        /// Number of values.
        values: usize,
    },
    /// Times do not increase.
    #[error("curve table: time {index} ({next} s) is not after time {before} s")]
    TableOrder {
        /// Index of the offending time.
        index: usize,
        /// Time before it.
        before: f64,
        /// Offending time.
        next: f64,
    },
}

impl TimeCurve {
    /// Checks numbers and table order.
    ///
    /// # Errors
    /// [`CurveError`].
    pub fn validate(&self) -> Result<(), CurveError> {
        let finite = |field, values: &[f64]| match values.iter().find(|x| !x.is_finite()) {
            Some(&value) => Err(CurveError::Value { field, value, requirement: "finite" }),
            None => Ok(()),
        };
        match self {
            Self::Constant => Ok(()),
            Self::Sinusoid { mean, amplitude, frequency, phase } => finite("mean", &[*mean])
                .and(finite("amplitude", &[*amplitude]))
                .and(finite("frequency", &[*frequency]))
                .and(finite("phase", &[*phase])),
            Self::Ramp { start, duration } => {
                finite("start", &[*start]).and(finite("duration", &[*duration]))?;
                if *duration < 0.0 {
                    let requirement = "not negative";
                    return Err(CurveError::Value { field: "duration", value: *duration, requirement });
                }
                Ok(())
            }
            Self::Table { times, values } => {
                if times.len() != values.len() || times.is_empty() {
                    return Err(CurveError::TableLength { times: times.len(), values: values.len() });
                }
                finite("times", times).and(finite("values", values))?;
                match times.windows(2).position(|pair| pair[1] <= pair[0]) {
                    Some(before) => Err(CurveError::TableOrder {
                        index: before + 1,
                        before: times[before],
                        next: times[before + 1],
                    }),
                    None => Ok(()),
                }
            }
        }
    }

    /// Whether the factor is 1 at all times.
    pub fn is_constant(&self) -> bool {
        matches!(self, Self::Constant)
    }

    /// The factor at time `t`.
    ///
    /// # Panics
    /// When a table is empty; see [`TimeCurve::validate`].
    pub fn at(&self, t: f64) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Sinusoid { mean, amplitude, frequency, phase } => {
                mean + amplitude * (TAU * frequency * t + phase).sin()
            }
            Self::Ramp { start, duration } => {
                if t < *start {
                    0.0
                } else if t >= start + duration {
                    1.0
                } else {
                    (t - start) / duration
                }
            }
            Self::Table { times, values } => {
                let after = times.partition_point(|&time| time <= t);
                if after == 0 {
                    return values[0];
                }
                if after == times.len() {
                    return values[after - 1];
                }
                let part = (t - times[after - 1]) / (times[after] - times[after - 1]);
                values[after - 1] + part * (values[after] - values[after - 1])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        let sine = TimeCurve::Sinusoid { mean: 1.0, amplitude: 2.0, frequency: 0.25, phase: 0.0 };
        assert!((sine.at(1.0) - 3.0).abs() < 1e-15 && (sine.at(2.0) - 1.0).abs() < 1e-14);
        let ramp = TimeCurve::Ramp { start: 1.0, duration: 2.0 };
        assert_eq!([0.5, 1.0, 1.5, 3.0, 9.0].map(|t| ramp.at(t)), [0.0, 0.0, 0.25, 1.0, 1.0]);
        let step = TimeCurve::Ramp { start: 1.0, duration: 0.0 };
        assert_eq!([0.999, 1.0].map(|t| step.at(t)), [0.0, 1.0]);
        let table = TimeCurve::Table { times: vec![0.0, 1.0, 3.0], values: vec![2.0, 4.0, 0.0] };
        assert_eq!([-1.0, 0.5, 1.0, 2.0, 3.0, 8.0].map(|t| table.at(t)), [2.0, 3.0, 4.0, 2.0, 0.0, 0.0]);
    }

    #[test]
    fn impossible_curves_are_named() {
        let table = |times: &[f64], values: &[f64]| {
            TimeCurve::Table { times: times.to_vec(), values: values.to_vec() }.validate().unwrap_err()
        };
        assert_eq!(table(&[], &[]), CurveError::TableLength { times: 0, values: 0 });
        assert_eq!(
            table(&[0.0, 2.0, 1.0], &[0.0; 3]),
            CurveError::TableOrder { index: 2, before: 2.0, next: 1.0 }
        );
        assert!(matches!(table(&[f64::NAN], &[0.0]), CurveError::Value { field: "times", .. }));
        let ramp = TimeCurve::Ramp { start: 0.0, duration: -1.0 };
        assert!(matches!(ramp.validate(), Err(CurveError::Value { field: "duration", value: -1.0, .. })));
    }
}
