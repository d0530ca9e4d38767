//! Material laws of parts: what the `law` of a part says.

use super::check::At;
use super::error::SceneError;
use super::words::kinds;
use serde::Deserialize;
use sim_core::material::cable::Cable;
use sim_core::material::cubic::Cubic;
use sim_core::material::linear::Linear;
use sim_core::material::mooney_rivlin::MooneyRivlin;
use sim_core::material::neo_hooke::NeoHooke;
use sim_core::material::ogden::Ogden;
use sim_core::material::rope::Rope;
use sim_core::material::table::{Points, Table};
use sim_core::material::{Branch, Break, HistoryStart, LineMaterial, SlipElement};
use sim_core::{Law, MaterialError};

kinds! {
    /// Tension as a function of stretch.
    Elastic {
        /// Proportional to strain.
        "linear" => Linear(Linear),
        /// Polynomial of third degree.
        "cubic" => Cubic(Cubic),
        /// Measured points.
        "table" => Table(Points),
        /// Linear, but it cannot push.
        "cable" => Cable(Cable),
        /// Slack, soft, taut.
        "rope" => Rope(Rope),
        /// Rubber of one constant.
        "neo_hooke" => NeoHooke(NeoHooke),
        /// Rubber of two constants.
        "mooney_rivlin" => MooneyRivlin(MooneyRivlin),
        /// Rubber of several terms.
        "ogden" => Ogden(Ogden),
    }
}

/// What the numbers of a law are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Forces in N.
    #[default]
    Force,
    /// Nominal stresses in Pa; the part's section makes them forces.
    Stress,
}

/// The law of a part.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LawSpec {
    /// The elastic law.
    pub elastic: Elastic,
    /// Unit of all moduli and tensions of the law.
    #[serde(default)]
    pub measure: Measure,
    /// What creeps and relaxes beside it.
    #[serde(default)]
    pub branches: Vec<Branch>,
    /// What slips beside it.
    #[serde(default)]
    pub slips: Vec<SlipElement>,
    /// When it breaks.
    pub breaks: Option<Break>,
    /// What it has been through before the run.
    #[serde(default)]
    pub start: HistoryStart,
    /// Linear thermal expansion in 1/K.
    #[serde(default)]
    pub thermal_expansion: f64,
    /// K above the temperature at which lengths are given.
    #[serde(default)]
    pub temperature_change: f64,
}

impl LawSpec {
    /// The material.
    ///
    /// # Errors
    /// [`MaterialError`] naming the first parameter out of range.
    pub fn material(&self) -> Result<LineMaterial, MaterialError> {
        let law: Law = match self.elastic.clone() {
            Elastic::Linear(law) => law.into(),
            Elastic::Cubic(law) => law.into(),
            Elastic::Table(points) => Table::try_from(points)?.into(),
            Elastic::Cable(law) => law.into(),
            Elastic::Rope(law) => law.into(),
            Elastic::NeoHooke(law) => law.into(),
            Elastic::MooneyRivlin(law) => law.into(),
            Elastic::Ogden(law) => law.into(),
        };
        let (branches, slips) = (self.branches.clone(), self.slips.clone());
        let material = LineMaterial { law, branches, slips, breaks: self.breaks, start: self.start };
        material.validate()?;
        Ok(material)
    }

    /// Unloaded length over that at the reference temperature.
    pub fn expansion(&self) -> f64 {
        sim_core::material::expanded(1.0, self.thermal_expansion, self.temperature_change)
    }

    /// Checks the law at its place; `section` when the part has one.
    pub(crate) fn check(&self, at: &At<'_>, section: bool) -> Result<(), SceneError> {
        let material = self.material().map_err(|error| match error {
            MaterialError::Value { law, field, value, requirement } => {
                let at = match law {
                    "branch" | "slip element" => at.clone(),
                    "break" => at.field("breaks"),
                    _ => at.field("elastic"),
                };
                at.field(field).refuse(value, requirement)
            }
            other => SceneError::Model { place: at.field("elastic").place(), message: other.to_string() },
        })?;
        if material.tangent_bound(1.0, 1.1) <= 0.0 {
            return Err(at
                .field("elastic")
                .field("modulus")
                .refuse(0, "greater than 0, unless there are branches"));
        }
        if self.measure == Measure::Stress && !section {
            return Err(at.field("measure").refuse("stress", "`force`, or the part needs a `section`"));
        }
        if self.expansion() <= 0.0 {
            return Err(at.field("temperature_change").refuse(
                self.temperature_change,
                format!(
                    "such that 1 + thermal_expansion · temperature_change = {} is positive",
                    self.expansion()
                ),
            ));
        }
        Ok(())
    }
}
