//! Slender straight beam of small displacements.

use super::{Element, ElementError, ElementInfo, ElementSample, LocalMatrix, MassKind, MemberResult};
use crate::beam::{BeamProperties, Orientation};
use crate::elements::timoshenko_beam::LinearBeam;
use crate::material::{Material, Section, ValueError};
use crate::structure::Magnitudes;
use nalgebra::Vector3;

/// Registry entry.
pub const INFO: ElementInfo = ElementInfo {
    id: "euler_bernoulli_beam",
    summary: "slender straight beam, small displacements, rigid in shear",
    carries_weight: false,
    planar: false,
    grounded: false,
    finite_rotations: false,
    sample,
};

/// A beam whose sections stay normal to its axis. Cubic deflection: exact at the nodes for static nodal loads.
///
/// # Limitations
/// Small displacements and rotations; no shear deformation (errors of order (depth/length)²); no rotary inertia of bending;
/// no coupling of bending and torsion (shear centre = centroid).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EulerBernoulliBeam(LinearBeam);

impl EulerBernoulliBeam {
    /// A beam of `material` with `section`, turned as `orientation` says.
    ///
    /// # Errors
    /// [`ValueError`] naming the field out of range.
    pub fn new(material: &Material, section: &Section, orientation: Orientation) -> Result<Self, ValueError> {
        let properties = BeamProperties::euler_bernoulli(material, section)?;
        Ok(Self(LinearBeam { properties, orientation, rotary: false }))
    }
}

impl Element for EulerBernoulliBeam {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn has_rotations(&self) -> bool {
        true
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn validate(&self, x: &[Vector3<f64>]) -> Result<(), ElementError> {
        self.0.validate(x)
    }

    fn strain_energy(&self, x: &[Vector3<f64>], u: &[f64]) -> f64 {
        self.0.strain_energy(x, u)
    }

    fn internal_force(&self, x: &[Vector3<f64>], u: &[f64], force: &mut [f64]) {
        self.0.internal_force(x, u, force);
    }

    fn tangent(&self, x: &[Vector3<f64>], _u: &[f64], tangent: &mut LocalMatrix) {
        self.0.stiffness(x, tangent);
    }

    fn geometric_stiffness(&self, x: &[Vector3<f64>], u: &[f64], stiffness: &mut LocalMatrix) {
        self.0.geometric_stiffness(x, u, stiffness);
    }

    fn mass_matrix(&self, x: &[Vector3<f64>], kind: MassKind, mass: &mut LocalMatrix) {
        self.0.mass_matrix(x, kind, mass);
    }

    fn total_mass(&self, x: &[Vector3<f64>]) -> f64 {
        self.0.total_mass(x)
    }

    fn magnitudes(&self) -> Option<Magnitudes> {
        Some(self.0.properties.magnitudes())
    }

    fn member_result(&self, x: &[Vector3<f64>], u: &[f64]) -> MemberResult {
        self.0.member_result(x, u)
    }
}

fn sample() -> ElementSample {
    let material = Material::new(2.1e11).with_density(7850.0);
    let section = Section::I { width: 0.1, height: 0.2, flange_thickness: 0.01, web_thickness: 0.006 };
    let area = section.properties().expect("sample values are in range").area;
    let element = EulerBernoulliBeam::new(&material, &section, Orientation::Toward([0.3, 0.1, 1.0]))
        .expect("sample values are in range");
    let x = vec![Vector3::new(0.3, -0.2, 0.1), Vector3::new(2.1, 0.5, 0.9)];
    let mass = 7850.0 * area * (x[1] - x[0]).norm();
    let u = vec![0.01, -0.02, 0.005, 0.004, -0.03, 0.01, 0.02, 0.013, -0.007, 0.02, 0.01, -0.015];
    ElementSample { element: Box::new(element), x, u, mass }
}
