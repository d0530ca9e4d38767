//! Hooke's law.

use super::{AxialLaw, Law, LawInfo, MaterialError, not_negative};
use serde::{Deserialize, Serialize};

/// Registry entry.
pub const INFO: LawInfo = LawInfo {
    id: "linear",
    summary: "tension proportional to strain, in tension and compression",
    source: "Hooke's law",
    limitations: "Small strains; pushes as it pulls.",
    sample: |unit| Law::Linear(Linear { modulus: 2.0 * unit }),
};

/// `T = modulus (λ - 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Linear {
    /// Axial stiffness EA in N, or Young's modulus in Pa; not negative. With 0 the law adds nothing: a Maxwell material is all branches.
    pub modulus: f64,
}

impl AxialLaw for Linear {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn energy(&self, stretch: f64) -> f64 {
        0.5 * self.modulus * (stretch - 1.0) * (stretch - 1.0)
    }

    fn tension(&self, stretch: f64) -> f64 {
        self.modulus * (stretch - 1.0)
    }

    fn tangent(&self, _stretch: f64) -> f64 {
        self.modulus
    }

    fn tangent_bound(&self, _low: f64, _high: f64) -> f64 {
        self.modulus
    }

    fn validate(&self) -> Result<(), MaterialError> {
        not_negative(INFO.id, "modulus", self.modulus)
    }
}
