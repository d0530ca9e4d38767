//! A polynomial of third degree in strain.

use super::{AxialLaw, Law, LawInfo, MaterialError, finite, positive};
use serde::{Deserialize, Serialize};

/// Registry entry.
pub const INFO: LawInfo = LawInfo {
    id: "cubic",
    summary: "polynomial of third degree in strain",
    source: "Taylor series of any law; the cubic term alone makes Duffing's oscillator",
    limitations: "A fit, not a model: far from the strains it was fitted to it can lose its stiffness.",
    sample: |unit| Law::Cubic(Cubic { modulus: 2.0 * unit, quadratic: -0.6 * unit, cubic: 1.5 * unit }),
};

/// `T = modulus e + quadratic e² + cubic e³` with e = λ - 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cubic {
    /// Slope at rest in N or Pa, positive.
    pub modulus: f64,
    /// N or Pa, any sign; default 0.
    #[serde(default)]
    pub quadratic: f64,
    /// N or Pa; default 0.
    #[serde(default)]
    pub cubic: f64,
}

impl AxialLaw for Cubic {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn energy(&self, stretch: f64) -> f64 {
        let e = stretch - 1.0;
        e * e * (0.5 * self.modulus + e * (self.quadratic / 3.0 + 0.25 * self.cubic * e))
    }

    fn tension(&self, stretch: f64) -> f64 {
        let e = stretch - 1.0;
        e * (self.modulus + e * (self.quadratic + self.cubic * e))
    }

    fn tangent(&self, stretch: f64) -> f64 {
        let e = stretch - 1.0;
        self.modulus + e * (2.0 * self.quadratic + 3.0 * self.cubic * e)
    }

    fn tangent_bound(&self, low: f64, high: f64) -> f64 {
        // A parabola is largest at an end or at its vertex.
        let mut bound = self.tangent(low).abs().max(self.tangent(high).abs());
        let vertex = 1.0 - self.quadratic / (3.0 * self.cubic);
        if vertex > low && vertex < high {
            bound = bound.max(self.tangent(vertex).abs());
        }
        bound
    }

    fn validate(&self) -> Result<(), MaterialError> {
        positive(INFO.id, "modulus", self.modulus)?;
        finite(INFO.id, "quadratic", self.quadratic)?;
        finite(INFO.id, "cubic", self.cubic)
    }
}
