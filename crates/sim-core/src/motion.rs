//! Prescribed motion of driven particles as a function of time.

use serde::{Deserialize, Serialize};

/// How a driven particle moves. Positions in m, times in s, angles in rad.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Motion {
    /// `start + velocity t`.
    Linear {
        /// Position at t = 0.
        start: [f64; 3],
        /// m/s.
        velocity: [f64; 3],
    },
    /// `center + amplitude sin(2π frequency t + phase)`.
    Sinusoid {
        /// Mean position.
        center: [f64; 3],
        /// m, per axis.
        amplitude: [f64; 3],
        /// Hz.
        frequency: f64,
        /// rad.
        #[serde(default)]
        phase: f64,
    },
    /// On a circle in the plane of two orthogonal radius vectors:
    /// `center + u cos(angular_velocity t) + w sin(angular_velocity t)`.
    Circle {
        /// Center.
        center: [f64; 3],
        /// Radius vector at t = 0.
        u: [f64; 3],
        /// Radius vector a quarter turn later.
        w: [f64; 3],
        /// rad/s.
        angular_velocity: f64,
    },
    /// Straight between points, at rest before the first and after the last.
    Table {
        /// Strictly increasing times.
        times: Vec<f64>,
        /// One position per time.
        positions: Vec<[f64; 3]>,
    },
}

/// A motion that cannot be followed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MotionError {
    /// A number is NaN or infinite.
    #[error("motion: `{field}` is not finite")]
    NotFinite {
        /// Field.
        field: &'static str,
    },
    /// Times and positions differ in number, or there are none.
    #[error("motion table has {times} times and {positions} positions; both must be equal and at least 1")]
    TableLength {
        /// Number of times.
        times: usize,
        /// Number of positions.
        positions: usize,
    },
    /// Times do not increase.
    #[error("motion table: time {index} ({next} s) is not after time {before} s")]
    TableOrder {
        /// Index of the offending time.
        index: usize,
        /// Time before it.
        before: f64,
        /// Offending time.
        next: f64,
    },
}

impl Motion {
    /// Checks numbers and table order.
    ///
    /// # Errors
    /// [`MotionError`].
    pub fn validate(&self) -> Result<(), MotionError> {
        let finite = |field, values: &[f64]| {
            if values.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(MotionError::NotFinite { field }) }
        };
        match self {
            Self::Linear { start, velocity } => finite("start", start).and(finite("velocity", velocity)),
            Self::Sinusoid { center, amplitude, frequency, phase } => finite("center", center)
                .and(finite("amplitude", amplitude))
                .and(finite("frequency", &[*frequency]))
                .and(finite("phase", &[*phase])),
            Self::Circle { center, u, w, angular_velocity } => finite("center", center)
                .and(finite("u", u))
                .and(finite("w", w))
                .and(finite("angular_velocity", &[*angular_velocity])),
            Self::Table { times, positions } => {
                if times.len() != positions.len() || times.is_empty() {
                    return Err(MotionError::TableLength { times: times.len(), positions: positions.len() });
                }
                finite("times", times)?;
                for position in positions {
                    finite("positions", position)?;
                }
                for (index, pair) in times.windows(2).enumerate() {
                    if pair[1] <= pair[0] {
                        return Err(MotionError::TableOrder {
                            index: index + 1,
                            before: pair[0],
                            next: pair[1],
                        });
                    }
                }
                Ok(())
            }
        }
    }

    /// Position in m and velocity in m/s at time `t`.
    pub fn at(&self, t: f64) -> ([f64; 3], [f64; 3]) {
        match self {
            Self::Linear { start, velocity } => (axes(|k| start[k] + velocity[k] * t), *velocity),
            Self::Sinusoid { center, amplitude, frequency, phase } => {
                let omega = std::f64::consts::TAU * frequency;
                let (sin, cos) = (omega * t + phase).sin_cos();
                (axes(|k| center[k] + amplitude[k] * sin), axes(|k| amplitude[k] * omega * cos))
            }
            Self::Circle { center, u, w, angular_velocity } => {
                let (sin, cos) = (angular_velocity * t).sin_cos();
                (
                    axes(|k| center[k] + u[k] * cos + w[k] * sin),
                    axes(|k| angular_velocity * (w[k] * cos - u[k] * sin)),
                )
            }
            Self::Table { times, positions } => {
                let after = times.partition_point(|&time| time <= t);
                if after == 0 {
                    return (positions[0], [0.0; 3]);
                }
                if after == times.len() {
                    return (positions[after - 1], [0.0; 3]);
                }
                let (t0, t1) = (times[after - 1], times[after]);
                let (p0, p1) = (positions[after - 1], positions[after]);
                let slope = axes(|k| (p1[k] - p0[k]) / (t1 - t0));
                (axes(|k| p0[k] + slope[k] * (t - t0)), slope)
            }
        }
    }
}

fn axes(value: impl Fn(usize) -> f64) -> [f64; 3] {
    [value(0), value(1), value(2)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn velocity_is_the_derivative_of_position() {
        let motions = [
            Motion::Linear { start: [1.0, 2.0, 3.0], velocity: [0.5, -1.0, 2.0] },
            Motion::Sinusoid { center: [0.0; 3], amplitude: [0.1, 0.2, 0.0], frequency: 1.5, phase: 0.3 },
            Motion::Circle {
                center: [1.0; 3],
                u: [0.5, 0.0, 0.0],
                w: [0.0, 0.5, 0.0],
                angular_velocity: 3.0,
            },
            Motion::Table {
                times: vec![0.0, 1.0, 3.0],
                positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [1.0, 4.0, 0.0]],
            },
        ];
        for motion in motions {
            motion.validate().unwrap();
            let (t, h) = (0.4, 1e-5);
            let (_, v) = motion.at(t);
            let (before, after) = (motion.at(t - h).0, motion.at(t + h).0);
            assert!(v.iter().any(|x| x.abs() > 1e-3), "the case must move");
            for k in 0..3 {
                assert!((v[k] - (after[k] - before[k]) / (2.0 * h)).abs() < 1e-7, "{motion:?} axis {k}");
            }
        }
    }

    #[test]
    fn tables_are_checked() {
        let table = |times: &[f64]| Motion::Table { times: times.to_vec(), positions: vec![[0.0; 3]; 2] };
        assert_eq!(
            table(&[0.0, 0.0]).validate(),
            Err(MotionError::TableOrder { index: 1, before: 0.0, next: 0.0 })
        );
        assert_eq!(table(&[0.0]).validate(), Err(MotionError::TableLength { times: 1, positions: 2 }));
    }
}
