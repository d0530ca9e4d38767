//! Loads and how they change with time.

use crate::material::{ValueError, finite, positive};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Direction of a degree of freedom of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Translation along x (force in N).
    X,
    /// Translation along y.
    Y,
    /// Translation along z.
    Z,
    /// Rotation about x (moment in N·m).
    Rx,
    /// Rotation about y.
    Ry,
    /// Rotation about z.
    Rz,
}

impl Direction {
    /// All six, in order.
    pub const ALL: [Self; 6] = [Self::X, Self::Y, Self::Z, Self::Rx, Self::Ry, Self::Rz];

    /// 0 to 5.
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// Whether it is a rotation.
    #[must_use]
    pub fn is_rotation(self) -> bool {
        self.index() >= 3
    }

    /// `x`, `y`, `z`, `rx`, `ry` or `rz`.
    #[must_use]
    pub fn name(self) -> &'static str {
        ["x", "y", "z", "rx", "ry", "rz"][self.index()]
    }
}

impl std::fmt::Display for Direction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A factor that changes with time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TimeFunction {
    /// Always 1.
    #[default]
    Constant,
    /// 0 before `start`, 1 from then on.
    Step {
        /// Time in s.
        start: f64,
    },
    /// Grows from 0 at time 0 to 1 at `duration`, then stays.
    Ramp {
        /// Time in s, > 0.
        duration: f64,
    },
    /// sin(ω t + phase).
    Sine {
        /// Angular frequency in rad/s.
        angular_frequency: f64,
        /// Phase in rad.
        phase: f64,
    },
    /// sin(π t/duration) until `duration`, 0 afterwards.
    HalfSine {
        /// Time in s, > 0.
        duration: f64,
    },
    /// Straight lines between points; the end values hold outside.
    Table {
        /// Strictly ascending times in s.
        times: Vec<f64>,
        /// One factor per time.
        values: Vec<f64>,
    },
}

/// A time function that cannot be evaluated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TimeFunctionError {
    /// A number is out of range.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// Times and values differ in number, or there are none.
    #[error("table has {times} times and {values} values; it needs as many of both, at least one")]
    TableLength {
        /// Number of times.
        times: usize,
        /// Number of values.
        values: usize,
    },
    /// Times do not ascend.
    #[error("table time {index} is {next} s, after {before} s; times must ascend")]
    TableOrder {
        /// Index of the later point.
        index: usize,
        /// Time before it.
        before: f64,
        /// Its time.
        next: f64,
    },
}

impl TimeFunction {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`TimeFunctionError`] naming the first one that is wrong.
    pub fn validate(&self) -> Result<(), TimeFunctionError> {
        match self {
            Self::Constant => Ok(()),
            Self::Step { start } => Ok(finite("start", *start)?),
            Self::Ramp { duration } | Self::HalfSine { duration } => Ok(positive("duration", *duration)?),
            Self::Sine { angular_frequency, phase } => {
                finite("angular_frequency", *angular_frequency)?;
                Ok(finite("phase", *phase)?)
            }
            Self::Table { times, values } => {
                if times.len() != values.len() || times.is_empty() {
                    return Err(TimeFunctionError::TableLength { times: times.len(), values: values.len() });
                }
                for value in times.iter().chain(values) {
                    finite("table", *value)?;
                }
                match times.windows(2).position(|pair| pair[1] <= pair[0]) {
                    Some(at) => Err(TimeFunctionError::TableOrder {
                        index: at + 1,
                        before: times[at],
                        next: times[at + 1],
                    }),
                    None => Ok(()),
                }
            }
        }
    }

    /// Whether it never changes.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        matches!(self, Self::Constant)
    }

    /// Value at time `t` in s.
    #[must_use]
    pub fn value(&self, t: f64) -> f64 {
        self.value_and_rate(t).0
    }

    /// Value at time `t`, and how fast it changes in 1/s (from the right at corners).
    #[must_use]
    pub fn value_and_rate(&self, t: f64) -> (f64, f64) {
        match self {
            Self::Constant => (1.0, 0.0),
            Self::Step { start } => (f64::from(t >= *start), 0.0),
            Self::Ramp { duration } if t < 0.0 || t >= *duration => (f64::from(t > 0.0), 0.0),
            Self::Ramp { duration } => (t / duration, 1.0 / duration),
            Self::Sine { angular_frequency, phase } => {
                let (sine, cosine) = (angular_frequency * t + phase).sin_cos();
                (sine, angular_frequency * cosine)
            }
            Self::HalfSine { duration } if t < 0.0 || t > *duration => (0.0, 0.0),
            Self::HalfSine { duration } => {
                let (sine, cosine) = (PI * t / duration).sin_cos();
                (sine, PI / duration * cosine)
            }
            Self::Table { times, values } => {
                let next = times.partition_point(|&time| time <= t);
                if next == 0 || next == times.len() {
                    return (values[next.saturating_sub(1)], 0.0);
                }
                let (t0, t1, y0, y1) = (times[next - 1], times[next], values[next - 1], values[next]);
                let rate = (y1 - y0) / (t1 - t0);
                (y0 + rate * (t - t0), rate)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_interpolate_and_hold_their_ends() {
        let table = TimeFunction::Table { times: vec![1.0, 2.0, 4.0], values: vec![0.0, 3.0, 1.0] };
        table.validate().unwrap();
        let samples = [(0.0, 0.0), (1.0, 0.0), (1.5, 1.5), (2.0, 3.0), (3.0, 2.0), (4.0, 1.0), (9.0, 1.0)];
        for (t, expected) in samples {
            assert_eq!(table.value(t), expected, "at {t}");
        }
        let bad = TimeFunction::Table { times: vec![1.0, 1.0], values: vec![0.0, 3.0] };
        assert!(matches!(bad.validate(), Err(TimeFunctionError::TableOrder { index: 1, .. })));
        let short = TimeFunction::Table { times: vec![1.0], values: vec![] };
        assert!(matches!(short.validate(), Err(TimeFunctionError::TableLength { times: 1, values: 0 })));
    }

    #[test]
    fn rates_are_derivatives() {
        let functions = [
            TimeFunction::Ramp { duration: 2.0 },
            TimeFunction::Sine { angular_frequency: 3.0, phase: 0.4 },
            TimeFunction::HalfSine { duration: 2.0 },
            TimeFunction::Table { times: vec![0.0, 2.0], values: vec![1.0, -3.0] },
        ];
        for function in functions {
            let (t, h) = (0.7, 1e-6);
            let slope = (function.value(t + h) - function.value(t - h)) / (2.0 * h);
            assert!((function.value_and_rate(t).1 - slope).abs() < 1e-8 && slope.abs() > 0.1, "{function:?}");
        }
        assert_eq!(TimeFunction::Step { start: 1.0 }.value(1.0), 1.0);
        assert_eq!(TimeFunction::Step { start: 1.0 }.value(0.999), 0.0);
    }
}
