//! Values that are possible but look like a mistake of units.

use super::Structure;

/// A suspicious value. SI units are assumed; other consistent units also trigger these and do no harm.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitWarning {
    /// First element it was found in.
    pub element: usize,
    /// How many elements share it.
    pub count: usize,
    /// What was found and what it is likely to mean.
    pub message: String,
}

impl std::fmt::Display for UnitWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "element {} ({} in all): {}", self.element, self.count, self.message)
    }
}

/// What an element is made of, as far as it knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Magnitudes {
    /// Pa.
    pub youngs_modulus: f64,
    /// kg/m³.
    pub density: f64,
    /// m².
    pub area: f64,
}

type Check = fn(&Magnitudes, f64) -> Option<String>;

const CHECKS: [Check; 5] = [
    |m, _| {
        (m.youngs_modulus < 1e3).then(|| {
            format!(
                "Young's modulus {:e} Pa is below that of any solid; given in GPa or MPa?",
                m.youngs_modulus
            )
        })
    },
    |m, _| {
        // Foams, gels and rubber are light; what is as heavy as stone or metal is stiffer than 1e8 Pa.
        (m.youngs_modulus >= 1e3 && m.youngs_modulus < 1e8 && m.density > 2000.0).then(|| {
            format!(
                "Young's modulus {:e} Pa is far too low for a density of {:e} kg/m³; given in MPa?",
                m.youngs_modulus, m.density
            )
        })
    },
    |m, _| {
        (m.youngs_modulus > 2e12)
            .then(|| format!("Young's modulus {:e} Pa is above that of diamond (1.2e12)", m.youngs_modulus))
    },
    |m, _| {
        (m.density > 2.3e4 || (m.density > 0.0 && m.density < 0.1)).then(|| {
            format!("density {:e} kg/m³ is outside 0.1 to 23000; given in t/mm³ or g/cm³?", m.density)
        })
    },
    |m, length| {
        (m.area > length * length * 10.0).then(|| {
            format!("area {:e} m² is large for a member of {length:e} m; given in mm² or cm²?", m.area)
        })
    },
];

/// Checks every element; the same finding is reported once with its count.
pub(super) fn warnings(structure: &Structure) -> Vec<UnitWarning> {
    let mut found: [Option<UnitWarning>; CHECKS.len()] = std::array::from_fn(|_| None);
    for (element, member) in structure.members.iter().enumerate() {
        let Some(magnitudes) = member.element.magnitudes() else { continue };
        let [a, b] = structure.positions(member).0;
        for (check, slot) in CHECKS.iter().zip(&mut found) {
            match (slot.as_mut(), check(&magnitudes, (b - a).norm())) {
                (Some(warning), Some(_)) => warning.count += 1,
                (None, Some(message)) => *slot = Some(UnitWarning { element, count: 1, message }),
                (_, None) => {}
            }
        }
    }
    found.into_iter().flatten().collect()
}
