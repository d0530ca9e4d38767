//! A cable: pulls, never pushes.

use super::{AxialLaw, Law, LawInfo, MaterialError, positive};
use serde::{Deserialize, Serialize};

/// Registry entry.
pub const INFO: LawInfo = LawInfo {
    id: "cable",
    summary: "tension proportional to strain, none when slack",
    source: "definition; limit of a bar that buckles at once",
    limitations: "Its stiffness jumps where it becomes taut: methods of higher order are of first order across that moment.",
    sample: |unit| Law::Cable(Cable { modulus: 2.0 * unit }),
};

/// `T = modulus max(λ - 1, 0)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cable {
    /// Axial stiffness EA in N, or Young's modulus in Pa; positive.
    pub modulus: f64,
}

impl AxialLaw for Cable {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn energy(&self, stretch: f64) -> f64 {
        let strain = (stretch - 1.0).max(0.0);
        0.5 * self.modulus * strain * strain
    }

    fn tension(&self, stretch: f64) -> f64 {
        self.modulus * (stretch - 1.0).max(0.0)
    }

    fn tangent(&self, stretch: f64) -> f64 {
        if stretch >= 1.0 { self.modulus } else { 0.0 }
    }

    fn tangent_bound(&self, _low: f64, _high: f64) -> f64 {
        self.modulus
    }

    fn kinks(&self) -> Vec<f64> {
        vec![1.0]
    }

    fn validate(&self) -> Result<(), MaterialError> {
        positive(INFO.id, "modulus", self.modulus)
    }
}
