//! Straight two-node bar of small displacements.

use super::{
    Element, ElementError, ElementInfo, ElementSample, LocalMatrix, MassKind, MemberResult, axis, bar_mass,
    check_length, opposite, relative,
};
use crate::material::{Material, Section, ValueError};
use crate::structure::Magnitudes;
use nalgebra::Vector3;

/// Registry entry.
pub const INFO: ElementInfo = ElementInfo {
    id: "truss",
    summary: "straight bar, small displacements",
    carries_weight: false,
    planar: false,
    grounded: false,
    finite_rotations: false,
    sample,
};

/// A bar that only pulls or pushes along its axis: N = EA d̂·(u₂ − u₁)/L.
///
/// # Limitations
/// Small displacements: its direction never changes, so that a sideways load on collinear bars has no answer.
/// Use [`super::nonlinear_truss::NonlinearTruss`] there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truss {
    axial_stiffness: f64,
    line_density: f64,
    area: f64,
    strength: Option<f64>,
}

impl Truss {
    /// A bar of `material` with `section`.
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
        })
    }
}

impl Element for Truss {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn validate(&self, x: &[Vector3<f64>]) -> Result<(), ElementError> {
        check_length(x)
    }

    fn strain_energy(&self, x: &[Vector3<f64>], u: &[f64]) -> f64 {
        let (length, direction) = axis(x);
        0.5 * self.axial_stiffness / length * direction.dot(&relative(u)).powi(2)
    }

    #[inline]
    fn internal_force(&self, x: &[Vector3<f64>], u: &[f64], force: &mut [f64]) {
        let (length, direction) = axis(x);
        let tension = self.axial_stiffness / length * direction.dot(&relative(u));
        opposite(&(direction * tension), force);
    }

    #[inline]
    fn tangent(&self, x: &[Vector3<f64>], _u: &[f64], tangent: &mut LocalMatrix) {
        let (length, direction) = axis(x);
        tangent.clear(6);
        tangent.add_pair(0, 1, &(direction * direction.transpose() * (self.axial_stiffness / length)));
    }

    fn geometric_stiffness(&self, x: &[Vector3<f64>], u: &[f64], stiffness: &mut LocalMatrix) {
        let (length, direction) = axis(x);
        let tension = self.axial_stiffness / length * direction.dot(&relative(u));
        let across = nalgebra::Matrix3::identity() - direction * direction.transpose();
        stiffness.clear(6);
        stiffness.add_pair(0, 1, &(across * (tension / length)));
    }

    fn mass_matrix(&self, x: &[Vector3<f64>], kind: MassKind, mass: &mut LocalMatrix) {
        bar_mass(self.total_mass(x), kind, mass);
    }

    fn total_mass(&self, x: &[Vector3<f64>]) -> f64 {
        self.line_density * (x[1] - x[0]).norm()
    }

    fn magnitudes(&self) -> Option<Magnitudes> {
        let (youngs_modulus, density) = (self.axial_stiffness / self.area, self.line_density / self.area);
        Some(Magnitudes { youngs_modulus, density, area: self.area })
    }

    fn member_result(&self, x: &[Vector3<f64>], u: &[f64]) -> MemberResult {
        let (length, direction) = axis(x);
        let strain = direction.dot(&relative(u)) / length;
        let axial_force = self.axial_stiffness * strain;
        let stress = axial_force / self.area;
        let utilisation = self.strength.map(|strength| stress.abs() / strength);
        MemberResult { axial_force, strain, stress, utilisation, ..MemberResult::default() }
    }
}

fn sample() -> ElementSample {
    let material = Material::new(2.1e11).with_density(7850.0);
    let element = Truss::new(&material, &Section::area(1e-4)).expect("sample values are in range");
    let x = vec![Vector3::new(0.3, -0.2, 0.1), Vector3::new(1.1, 0.5, 0.9)];
    let mass = 7850.0 * 1e-4 * (x[1] - x[0]).norm();
    let u = vec![0.01, -0.02, 0.005, 0.02, 0.013, -0.007];
    ElementSample { element: Box::new(element), x, u, mass }
}
