//! Neo-Hookean rubber.

use super::ogden::{Term, power_energy, power_tangent, power_tangent_bound, power_tension};
use super::{AxialLaw, Law, LawInfo, MaterialError, positive};
use serde::{Deserialize, Serialize};

/// Registry entry.
pub const INFO: LawInfo = LawInfo {
    id: "neo_hooke",
    summary: "rubber of one constant, incompressible, pulled or pushed along one axis",
    source: "Treloar, The Physics of Rubber Elasticity, 3rd ed. (1975), ch. 5",
    limitations: "Good to stretches of about 1.5; rubber stiffens again beyond 3, which it does not know.",
    sample: |unit| Law::NeoHooke(NeoHooke { shear_modulus: 0.7 * unit }),
};

/// Nominal stress `μ (λ - λ⁻²)`, energy `μ/2 (λ² + 2/λ - 3)`: the Ogden term with exponent 2. Slope at rest 3 μ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeoHooke {
    /// Shear modulus μ in Pa (times the area: N), positive.
    pub shear_modulus: f64,
}

impl NeoHooke {
    fn term(self) -> Term {
        Term { mu: self.shear_modulus, alpha: 2.0 }
    }
}

impl AxialLaw for NeoHooke {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn energy(&self, stretch: f64) -> f64 {
        power_energy(self.term(), stretch)
    }

    fn tension(&self, stretch: f64) -> f64 {
        power_tension(self.term(), stretch)
    }

    fn tangent(&self, stretch: f64) -> f64 {
        power_tangent(self.term(), stretch)
    }

    fn tangent_bound(&self, low: f64, high: f64) -> f64 {
        power_tangent_bound(self.term(), low, high)
    }

    fn validate(&self) -> Result<(), MaterialError> {
        positive(INFO.id, "shear_modulus", self.shear_modulus)
    }
}
