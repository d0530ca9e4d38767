//! A laid or braided rope: slack, then soft while its strands bed in, then taut.

use super::{AxialLaw, Law, LawInfo, MaterialError, not_negative, positive, value_error};
use serde::{Deserialize, Serialize};

/// Registry entry.
pub const INFO: LawInfo = LawInfo {
    id: "rope",
    summary: "slack when pushed, soft over its construction stretch, then linear",
    source: "bilinear idealization of construction stretch with a parabola between, so that the stiffness is continuous",
    limitations: "Elastic: a real rope keeps part of its construction stretch after the first load.",
    sample: |unit| {
        Law::Rope(Rope { modulus: 3.0 * unit, initial_modulus: 0.4 * unit, construction_strain: 0.35 })
    },
};

/// No tension below λ = 1. Above, with e = λ - 1, the stiffness grows in a straight line from `initial_modulus` to `modulus` at
/// e = `construction_strain`, and stays there:
/// `T = E0 e + (E - E0) e²/(2 c)` for e ≤ c, `T = (E + E0) c/2 + E (e - c)` beyond.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rope {
    /// Axial stiffness EA in N (or modulus in Pa) once it is taut; positive.
    pub modulus: f64,
    /// The same at the first load, not negative, at most `modulus`; default 0.
    #[serde(default)]
    pub initial_modulus: f64,
    /// Strain over which its strands bed in; positive.
    pub construction_strain: f64,
}

impl AxialLaw for Rope {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn energy(&self, stretch: f64) -> f64 {
        let (e, c) = ((stretch - 1.0).max(0.0), self.construction_strain);
        let toe = e.min(c);
        let growth = (self.modulus - self.initial_modulus) / (2.0 * c);
        let mut energy = toe * toe * (0.5 * self.initial_modulus + growth * toe / 3.0);
        if e > c {
            let x = e - c;
            energy += 0.5 * (self.modulus + self.initial_modulus) * c * x + 0.5 * self.modulus * x * x;
        }
        energy
    }

    fn tension(&self, stretch: f64) -> f64 {
        let (e, c) = ((stretch - 1.0).max(0.0), self.construction_strain);
        if e > c {
            return 0.5 * (self.modulus + self.initial_modulus) * c + self.modulus * (e - c);
        }
        e * (self.initial_modulus + (self.modulus - self.initial_modulus) * e / (2.0 * c))
    }

    fn tangent(&self, stretch: f64) -> f64 {
        let e = stretch - 1.0;
        if e < 0.0 {
            return 0.0;
        }
        let part = (e / self.construction_strain).min(1.0);
        self.initial_modulus + (self.modulus - self.initial_modulus) * part
    }

    fn tangent_bound(&self, _low: f64, _high: f64) -> f64 {
        self.modulus
    }

    fn kinks(&self) -> Vec<f64> {
        vec![1.0, 1.0 + self.construction_strain]
    }

    fn validate(&self) -> Result<(), MaterialError> {
        positive(INFO.id, "modulus", self.modulus)?;
        not_negative(INFO.id, "initial_modulus", self.initial_modulus)?;
        positive(INFO.id, "construction_strain", self.construction_strain)?;
        if self.initial_modulus > self.modulus {
            let requirement = "at most `modulus`";
            return Err(value_error(INFO.id, "initial_modulus", self.initial_modulus, requirement));
        }
        Ok(())
    }
}
