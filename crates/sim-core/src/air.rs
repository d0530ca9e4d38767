//! Moving air.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// Velocity of the air, the same everywhere: a constant part and a gust.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AirFlow {
    /// Constant part in m/s.
    pub velocity: [f64; 3],
    /// Amplitude of the gust in m/s.
    pub gust: [f64; 3],
    /// Frequency of the gust in Hz.
    pub gust_frequency: f64,
    /// Phase of the gust in rad.
    pub gust_phase: f64,
}

impl AirFlow {
    /// `velocity + gust sin(2π gust_frequency t + gust_phase)` in m/s at time `t`.
    pub fn at(&self, t: f64) -> Vector3<f64> {
        let swing = (TAU * self.gust_frequency * t + self.gust_phase).sin();
        Vector3::from(self.velocity) + Vector3::from(self.gust) * swing
    }

    /// Whether the velocity changes with time.
    pub fn varies(&self) -> bool {
        self.gust != [0.0; 3]
    }

    /// Upper bound on the speed in m/s.
    pub fn max_speed(&self) -> f64 {
        Vector3::from(self.velocity).norm() + Vector3::from(self.gust).norm()
    }

    /// All numbers, for checks.
    pub(crate) fn values(&self) -> [f64; 8] {
        let ([a, b, c], [d, e, f]) = (self.velocity, self.gust);
        [a, b, c, d, e, f, self.gust_frequency, self.gust_phase]
    }
}
