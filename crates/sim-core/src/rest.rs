//! Rest lengths, and the stress a part starts with when they differ from its geometry.

use crate::force::springs::{Spring, Springs};
use crate::summation::compensated_sum;
use crate::topology::Topology;
use serde::{Deserialize, Serialize};

/// Where a rest length comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RestLength {
    /// The distance in the initial geometry: the part starts without stress.
    #[default]
    Geometry,
    /// That distance times a factor, not negative: below 1 is pretension.
    Factor(f64),
    /// A design value in m for every spring, not negative.
    Design(f64),
}

/// How stiff a spring laid along a topology is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpringStiffness {
    /// N/m for every spring, whatever its length.
    PerSpring(f64),
    /// EA in N: each spring gets EA / rest length, so that the part as a whole does not change with the mesh.
    Axial(f64),
}

/// A family of springs along pairs of a topology.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpringOptions {
    /// Stiffness.
    pub stiffness: SpringStiffness,
    /// Dashpot along each spring as a time in s, not negative: damping = time × stiffness.
    #[serde(default)]
    pub damping_time: f64,
    /// Rest length.
    #[serde(default)]
    pub rest_length: RestLength,
}

/// Springs that cannot be laid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RestError {
    /// An option is out of range or not finite.
    #[error("{field} = {value}, must be {requirement}")]
    Value {
        /// Field name.
        field: &'static str,
        /// Value found.
        value: f64,
        /// What it must be.
        requirement: &'static str,
    },
    /// EA needs a rest length to divide by.
    #[error("spring {index} between particles {} and {} has rest length 0, which axial stiffness cannot divide by", ends[0], ends[1])]
    NoLength {
        /// Index of the pair.
        index: usize,
        /// Its particles.
        ends: [u32; 2],
    },
}

impl RestLength {
    /// Rest length in m for a spring whose initial geometry has length `geometric` m.
    ///
    /// # Errors
    /// [`RestError`] when the factor or the design value is negative or not finite.
    pub fn resolve(self, geometric: f64) -> Result<f64, RestError> {
        let (field, value, length) = match self {
            Self::Geometry => return Ok(geometric),
            Self::Factor(factor) => ("rest_length.factor", factor, factor * geometric),
            Self::Design(length) => ("rest_length.design", length, length),
        };
        if value.is_finite() && value >= 0.0 {
            return Ok(length);
        }
        Err(RestError::Value { field, value, requirement: "finite and not negative" })
    }
}

impl SpringOptions {
    /// Lays one spring along each pair (`topology.segments`, `.shear`, or the ends of `.skips`).
    ///
    /// # Errors
    /// [`RestError`] naming the option or the pair.
    ///
    /// # Panics
    /// When a pair is out of range.
    pub fn lay(
        &self,
        topology: &Topology,
        pairs: impl IntoIterator<Item = [u32; 2]>,
    ) -> Result<Vec<Spring>, RestError> {
        let (SpringStiffness::PerSpring(given) | SpringStiffness::Axial(given)) = self.stiffness;
        for (field, value) in [("stiffness", given), ("damping_time", self.damping_time)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(RestError::Value { field, value, requirement: "finite and not negative" });
            }
        }
        let mut springs = Vec::new();
        for (index, ends) in pairs.into_iter().enumerate() {
            let rest_length = self.rest_length.resolve(topology.distance(ends))?;
            let stiffness = match self.stiffness {
                SpringStiffness::PerSpring(stiffness) => stiffness,
                SpringStiffness::Axial(_) if rest_length == 0.0 => {
                    return Err(RestError::NoLength { index, ends });
                }
                SpringStiffness::Axial(axial) => axial / rest_length,
            };
            springs.push(Spring { ends, rest_length, stiffness, damping: self.damping_time * stiffness });
        }
        Ok(springs)
    }
}

/// The stress a part starts with. Legitimate when rest lengths are design values, a surprise when they are meant to come
/// from the geometry: so it is reported and never corrected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct InitialStressReport {
    /// Springs looked at.
    pub springs: usize,
    /// Springs of rest length 0, which have no strain; their tension and energy count.
    pub without_strain: usize,
    /// Largest |l - l0| / l0.
    pub max_strain: f64,
    /// The spring that has it.
    pub max_strain_spring: usize,
    /// Root mean square of the strain.
    pub rms_strain: f64,
    /// Tension of largest size in N, negative when compressed.
    pub max_tension: f64,
    /// The spring that has it.
    pub max_tension_spring: usize,
    /// Elastic energy in J.
    pub energy: f64,
}

impl InitialStressReport {
    /// Looks at `springs` with the particles at the flat positions `q` in m.
    ///
    /// # Panics
    /// When `q` is too short for a spring's particle.
    pub fn new(springs: &Springs, q: &[f64]) -> Self {
        let mut report = Self { springs: springs.len(), ..Self::default() };
        for (index, spring) in springs.iter().enumerate() {
            let tension = springs.tension(index, q);
            if tension.abs() > report.max_tension.abs() {
                (report.max_tension, report.max_tension_spring) = (tension, index);
            }
            let strain = strain(springs, &spring, index, q);
            if strain.abs() > report.max_strain {
                (report.max_strain, report.max_strain_spring) = (strain.abs(), index);
            }
            report.without_strain += usize::from(spring.rest_length == 0.0);
        }
        let energies = springs.iter().enumerate().map(|(index, spring)| {
            0.5 * spring.stiffness * (springs.length(index, q) - spring.rest_length).powi(2)
        });
        report.energy = compensated_sum(energies);
        let strained = report.springs - report.without_strain;
        if strained > 0 {
            let squares = springs.iter().enumerate().map(|(index, spring)| {
                let strain = strain(springs, &spring, index, q);
                strain * strain
            });
            report.rms_strain = (compensated_sum(squares) / strained as f64).sqrt();
        }
        report
    }
}

fn strain(springs: &Springs, spring: &Spring, index: usize, q: &[f64]) -> f64 {
    if spring.rest_length == 0.0 {
        return 0.0;
    }
    (springs.length(index, q) - spring.rest_length) / spring.rest_length
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{RopeOptions, rope};

    fn laid(rest_length: RestLength, stiffness: SpringStiffness) -> (Springs, Vec<f64>) {
        let part = rope(&RopeOptions::new([0.0; 3], [2.0, 0.0, 0.0], 4)).unwrap();
        let options = SpringOptions { stiffness, damping_time: 0.01, rest_length };
        let springs = options.lay(&part, part.segments.iter().copied()).unwrap();
        (Springs::new(springs), part.flat_positions())
    }

    #[test]
    fn geometry_has_no_stress_and_the_rope_keeps_its_stiffness() {
        let (springs, q) = laid(RestLength::Geometry, SpringStiffness::Axial(100.0));
        let report = InitialStressReport::new(&springs, &q);
        assert_eq!(
            (report.springs, report.max_strain, report.max_tension, report.energy),
            (4, 0.0, 0.0, 0.0)
        );
        // Four springs in series make EA / L.
        let compliance: f64 = springs.iter().map(|spring| 1.0 / spring.stiffness).sum();
        assert!((compliance - 2.0 / 100.0).abs() < 1e-15);
        assert!((springs.get(0).damping - 2.0).abs() < 1e-15);
    }

    #[test]
    fn pretension_is_reported() {
        let (springs, mut q) = laid(RestLength::Factor(0.8), SpringStiffness::PerSpring(50.0));
        // One spring pulled further: from 0.5 m to 0.7 m at rest length 0.4 m.
        q[12] += 0.2;
        let report = InitialStressReport::new(&springs, &q);
        assert_eq!((report.max_strain_spring, report.max_tension_spring), (3, 3));
        assert!((report.max_strain - 0.75).abs() < 1e-12);
        assert!((report.max_tension - 15.0).abs() < 1e-12);
        assert!((report.rms_strain - ((3.0 * 0.0625 + 0.5625) / 4.0_f64).sqrt()).abs() < 1e-12);
        assert!((report.energy - 25.0 * (3.0 * 0.01 + 0.09)).abs() < 1e-12);
        let (slack, q) = laid(RestLength::Design(0.6), SpringStiffness::PerSpring(50.0));
        let report = InitialStressReport::new(&slack, &q);
        assert!((report.max_tension + 5.0).abs() < 1e-12, "compression is negative");
        let (zero, q) = laid(RestLength::Design(0.0), SpringStiffness::PerSpring(50.0));
        let report = InitialStressReport::new(&zero, &q);
        assert_eq!((report.without_strain, report.max_strain, report.rms_strain), (4, 0.0, 0.0));
        assert!((report.max_tension - 25.0).abs() < 1e-12);
    }

    #[test]
    fn impossible_options_are_named() {
        let part = rope(&RopeOptions::new([0.0; 3], [2.0, 0.0, 0.0], 4)).unwrap();
        let base = SpringOptions {
            stiffness: SpringStiffness::Axial(1.0),
            damping_time: 0.0,
            rest_length: RestLength::Geometry,
        };
        let error = |options: SpringOptions| options.lay(&part, part.segments.iter().copied()).unwrap_err();
        let field = |options| match error(options) {
            RestError::Value { field, .. } => field,
            other @ RestError::NoLength { .. } => panic!("{other}"),
        };
        assert_eq!(
            field(SpringOptions { rest_length: RestLength::Factor(-0.1), ..base }),
            "rest_length.factor"
        );
        assert_eq!(
            field(SpringOptions { rest_length: RestLength::Design(f64::NAN), ..base }),
            "rest_length.design"
        );
        assert_eq!(field(SpringOptions { damping_time: -1.0, ..base }), "damping_time");
        assert_eq!(field(SpringOptions { stiffness: SpringStiffness::PerSpring(-1.0), ..base }), "stiffness");
        assert_eq!(
            error(SpringOptions { rest_length: RestLength::Design(0.0), ..base }),
            RestError::NoLength { index: 0, ends: [0, 1] }
        );
    }
}
