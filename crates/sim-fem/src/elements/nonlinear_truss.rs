//! Bar with displacements of any size.

use super::{
    Element, ElementError, ElementInfo, ElementSample, LocalMatrix, MassKind, MemberResult, bar_mass,
    check_length, opposite, relative,
};
use crate::material::{Material, Section, ValueError, finite, positive};
use crate::structure::Magnitudes;
use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};

/// Registry entry.
pub const INFO: ElementInfo = ElementInfo {
    id: "nonlinear_truss",
    summary: "bar with displacements of any size; engineering or Green-Lagrange strain",
    carries_weight: false,
    planar: false,
    grounded: false,
    finite_rotations: true,
    sample,
};

/// What is called strain; l is the current, l₀ the unstretched length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StrainMeasure {
    /// (l − l₀)/l₀, force EA·strain along the bar (the corotational bar).
    #[default]
    Engineering,
    /// (l² − l₀²)/(2 l₀²), second Piola-Kirchhoff stress E·strain.
    GreenLagrange,
}

/// Which length carries no force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Unstretched {
    /// The distance of the nodes in the reference shape.
    #[default]
    Reference,
    /// This length in m.
    Length(f64),
    /// This factor times the reference distance.
    Factor(f64),
    /// The length for which the reference shape carries this axial force in N (engineering strain), above −EA.
    Pretension(f64),
}

impl Unstretched {
    /// Unstretched length in m of a member of reference length `reference` and axial stiffness `axial_stiffness`.
    #[inline]
    #[must_use]
    pub fn length(self, reference: f64, axial_stiffness: f64) -> f64 {
        match self {
            Self::Reference => reference,
            Self::Length(length) => length,
            Self::Factor(factor) => factor * reference,
            Self::Pretension(force) => reference / (1.0 + force / axial_stiffness),
        }
    }

    /// Checks the number.
    ///
    /// # Errors
    /// [`ValueError`] naming it.
    pub fn validate(self, axial_stiffness: f64) -> Result<(), ValueError> {
        match self {
            Self::Reference => Ok(()),
            Self::Length(length) => positive("unstretched length", length),
            Self::Factor(factor) => positive("unstretched length factor", factor),
            Self::Pretension(force) => {
                finite("pretension", force)?;
                positive("1 + pretension/EA", 1.0 + force / axial_stiffness)
            }
        }
    }
}

/// A bar that follows its nodes anywhere.
///
/// # Limitations
/// The cross-section does not shrink as the bar stretches; a bar squeezed to zero length has no direction and gives NaN,
/// which the assembly reports. Green-Lagrange strain softens in deep compression (below l₀/√3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NonlinearTruss {
    axial_stiffness: f64,
    line_density: f64,
    area: f64,
    strength: Option<f64>,
    measure: StrainMeasure,
    unstretched: Unstretched,
}

/// Current vector, unstretched length, and the elongation l − l₀ without cancellation.
#[derive(Clone, Copy)]
pub(crate) struct Stretch {
    pub(crate) d: Vector3<f64>,
    pub(crate) length: f64,
    pub(crate) unstretched: f64,
    pub(crate) elongation: f64,
}

impl Stretch {
    #[inline]
    pub(crate) fn new(x: &[Vector3<f64>], u: &[f64], unstretched: Unstretched, axial_stiffness: f64) -> Self {
        let d0 = x[1] - x[0];
        let du = relative(u);
        let d = d0 + du;
        let (reference, length) = (d0.norm(), d.norm());
        let unstretched_length = unstretched.length(reference, axial_stiffness);
        // l² − L² = (2 D + Δu)·Δu keeps the digits of a small displacement.
        let elongation = (2.0 * d0 + du).dot(&du) / (length + reference) + (reference - unstretched_length);
        Self { d, length, unstretched: unstretched_length, elongation }
    }
}

impl NonlinearTruss {
    /// A bar of `material` with `section`, unstressed in the reference shape, with engineering strain.
    ///
    /// # Errors
    /// [`ValueError`] naming the field out of range.
    pub fn new(material: &Material, section: &Section) -> Result<Self, ValueError> {
        material.validate()?;
        let area = section.properties()?.area;
        Ok(Self {
            axial_stiffness: material.youngs_modulus * area,
            line_density: material.density * area,
            area,
            strength: material.strength,
            measure: StrainMeasure::default(),
            unstretched: Unstretched::default(),
        })
    }

    /// The same with another strain measure.
    #[must_use]
    pub fn with_measure(self, measure: StrainMeasure) -> Self {
        Self { measure, ..self }
    }

    /// The same with another unstretched length.
    #[must_use]
    pub fn with_unstretched(self, unstretched: Unstretched) -> Self {
        Self { unstretched, ..self }
    }

    fn stretch(&self, x: &[Vector3<f64>], u: &[f64]) -> Stretch {
        Stretch::new(x, u, self.unstretched, self.axial_stiffness)
    }

    fn strain(&self, at: &Stretch) -> f64 {
        let engineering = at.elongation / at.unstretched;
        match self.measure {
            StrainMeasure::Engineering => engineering,
            StrainMeasure::GreenLagrange => engineering * (1.0 + 0.5 * engineering),
        }
    }
}

impl Element for NonlinearTruss {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn validate(&self, x: &[Vector3<f64>]) -> Result<(), ElementError> {
        self.unstretched.validate(self.axial_stiffness)?;
        check_length(x)
    }

    fn strain_energy(&self, x: &[Vector3<f64>], u: &[f64]) -> f64 {
        let at = self.stretch(x, u);
        0.5 * self.axial_stiffness * at.unstretched * self.strain(&at).powi(2)
    }

    fn internal_force(&self, x: &[Vector3<f64>], u: &[f64], force: &mut [f64]) {
        let at = self.stretch(x, u);
        let tension = self.axial_stiffness * self.strain(&at);
        let along = match self.measure {
            StrainMeasure::Engineering => tension / at.length,
            StrainMeasure::GreenLagrange => tension / at.unstretched,
        };
        opposite(&(at.d * along), force);
    }

    fn tangent(&self, x: &[Vector3<f64>], u: &[f64], tangent: &mut LocalMatrix) {
        let at = self.stretch(x, u);
        let tension = self.axial_stiffness * self.strain(&at);
        let block = match self.measure {
            StrainMeasure::Engineering => {
                let n = at.d / at.length;
                let along = n * n.transpose();
                along * (self.axial_stiffness / at.unstretched)
                    + (Matrix3::identity() - along) * (tension / at.length)
            }
            StrainMeasure::GreenLagrange => {
                at.d * at.d.transpose() * (self.axial_stiffness / at.unstretched.powi(3))
                    + Matrix3::from_diagonal_element(tension / at.unstretched)
            }
        };
        tangent.clear(6);
        tangent.add_pair(0, 1, &block);
    }

    fn geometric_stiffness(&self, x: &[Vector3<f64>], u: &[f64], stiffness: &mut LocalMatrix) {
        let at = self.stretch(x, u);
        let n = at.d / at.length;
        let across = Matrix3::identity() - n * n.transpose();
        let tension = self.member_result(x, u).axial_force;
        stiffness.clear(6);
        stiffness.add_pair(0, 1, &(across * (tension / at.length)));
    }

    fn mass_matrix(&self, x: &[Vector3<f64>], kind: MassKind, mass: &mut LocalMatrix) {
        bar_mass(self.total_mass(x), kind, mass);
    }

    fn total_mass(&self, x: &[Vector3<f64>]) -> f64 {
        self.line_density * self.unstretched.length((x[1] - x[0]).norm(), self.axial_stiffness)
    }

    fn magnitudes(&self) -> Option<Magnitudes> {
        let (youngs_modulus, density) = (self.axial_stiffness / self.area, self.line_density / self.area);
        Some(Magnitudes { youngs_modulus, density, area: self.area })
    }

    fn member_result(&self, x: &[Vector3<f64>], u: &[f64]) -> MemberResult {
        let at = self.stretch(x, u);
        let strain = self.strain(&at);
        let axial_force = match self.measure {
            StrainMeasure::Engineering => self.axial_stiffness * strain,
            StrainMeasure::GreenLagrange => self.axial_stiffness * strain * at.length / at.unstretched,
        };
        let stress = axial_force / self.area;
        let utilisation = self.strength.map(|strength| stress.abs() / strength);
        MemberResult { axial_force, strain, stress, utilisation, ..MemberResult::default() }
    }
}

fn sample() -> ElementSample {
    let material = Material::new(3e9).with_density(1100.0);
    let element = NonlinearTruss::new(&material, &Section::area(2e-4))
        .expect("sample values are in range")
        .with_measure(StrainMeasure::GreenLagrange);
    let x = vec![Vector3::new(0.3, -0.2, 0.1), Vector3::new(1.1, 0.5, 0.9)];
    let mass = 1100.0 * 2e-4 * (x[1] - x[0]).norm();
    let u = vec![0.1, -0.2, 0.05, 0.2, 0.13, -0.07];
    ElementSample { element: Box::new(element), x, u, mass }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_elongations_keep_their_digits() {
        let bar = NonlinearTruss::new(&Material::new(1e9), &Section::area(1e-3)).unwrap();
        let x = [Vector3::new(1000.0, 0.0, 0.0), Vector3::new(1001.0, 0.0, 0.0)];
        let strain = bar.member_result(&x, &[0.0, 0.0, 0.0, 1e-12, 0.0, 0.0]).strain;
        assert!((strain - 1e-12).abs() < 1e-26, "{strain}");
    }

    #[test]
    fn pretension_is_the_force_of_the_reference_shape() {
        let bar = NonlinearTruss::new(&Material::new(1e9), &Section::area(1e-3))
            .unwrap()
            .with_unstretched(Unstretched::Pretension(5e4));
        let x = [Vector3::zeros(), Vector3::new(0.0, 2.0, 0.0)];
        assert!((bar.member_result(&x, &[0.0; 6]).axial_force - 5e4).abs() < 1e-8);
        assert!(bar.with_unstretched(Unstretched::Pretension(-2e6)).validate(&x).is_err());
    }
}
