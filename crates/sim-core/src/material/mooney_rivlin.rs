//! Mooney-Rivlin rubber.

use super::ogden::{Term, power_energy, power_tangent, power_tangent_bound, power_tension};
use super::{AxialLaw, Law, LawInfo, MaterialError, finite, value_error};
use serde::{Deserialize, Serialize};

/// Registry entry.
pub const INFO: LawInfo = LawInfo {
    id: "mooney_rivlin",
    summary: "rubber of two constants, incompressible, pulled or pushed along one axis",
    source: "Mooney, J. Appl. Phys. 11 (1940) 582; Rivlin, Phil. Trans. R. Soc. A 241 (1948) 379",
    limitations: "Good to stretches of about 3. Fitted to pulling alone it can be far off when pushed or pulled along two axes; \
                  with a negative constant it can be unstable.",
    sample: |unit| Law::MooneyRivlin(MooneyRivlin { c10: 0.25 * unit, c01: 0.1 * unit }),
};

/// Nominal stress `2 (λ - λ⁻²)(C10 + C01/λ)`: the Ogden terms (2 C10, 2) and (-2 C01, -2). Slope at rest 6 (C10 + C01).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MooneyRivlin {
    /// C10 in Pa (times the area: N).
    pub c10: f64,
    /// C01 in Pa (times the area: N); the sum with `c10` is positive.
    pub c01: f64,
}

impl MooneyRivlin {
    /// The same law as Ogden terms.
    pub fn terms(&self) -> [Term; 2] {
        [Term { mu: 2.0 * self.c10, alpha: 2.0 }, Term { mu: -2.0 * self.c01, alpha: -2.0 }]
    }
}

impl AxialLaw for MooneyRivlin {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn energy(&self, stretch: f64) -> f64 {
        self.terms().into_iter().map(|term| power_energy(term, stretch)).sum()
    }

    fn tension(&self, stretch: f64) -> f64 {
        self.terms().into_iter().map(|term| power_tension(term, stretch)).sum()
    }

    fn tangent(&self, stretch: f64) -> f64 {
        self.terms().into_iter().map(|term| power_tangent(term, stretch)).sum()
    }

    fn tangent_bound(&self, low: f64, high: f64) -> f64 {
        self.terms().into_iter().map(|term| power_tangent_bound(term, low, high)).sum()
    }

    fn validate(&self) -> Result<(), MaterialError> {
        finite(INFO.id, "c10", self.c10)?;
        finite(INFO.id, "c01", self.c01)?;
        if self.c10 + self.c01 > 0.0 {
            return Ok(());
        }
        let requirement = "such that c10 + c01, a sixth of the stiffness at rest, is positive";
        Err(value_error(INFO.id, "c01", self.c01, requirement))
    }
}
