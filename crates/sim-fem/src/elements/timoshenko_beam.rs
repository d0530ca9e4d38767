//! Stocky straight beam of small displacements.

use super::{
    Element, ElementError, ElementInfo, ElementSample, LocalMatrix, MassKind, MemberResult, axis,
    check_length,
};
use crate::beam::{
    BeamProperties, Orientation, global_mass, local_geometric_stiffness, local_stiffness, to_global, to_local,
};
use crate::material::{Material, Section, ValueError};
use crate::structure::Magnitudes;
use nalgebra::{Matrix3, Vector3};

/// Registry entry.
pub const INFO: ElementInfo = ElementInfo {
    id: "timoshenko_beam",
    summary: "straight beam with shear deformation and rotary inertia, small displacements",
    carries_weight: false,
    planar: false,
    grounded: false,
    finite_rotations: false,
    sample,
};

/// What both linear beams do; the properties say whether shear counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LinearBeam {
    pub(crate) properties: BeamProperties,
    pub(crate) orientation: Orientation,
    pub(crate) rotary: bool,
}

impl LinearBeam {
    /// Length and local axes as rows. [`LinearBeam::validate`] has refused orientations without a direction.
    fn frame(&self, x: &[Vector3<f64>]) -> (f64, Matrix3<f64>) {
        let (length, direction) = axis(x);
        let axes = self.orientation.axes(&direction).unwrap_or_else(|_| Matrix3::from_element(f64::NAN));
        (length, axes)
    }

    pub(crate) fn validate(&self, x: &[Vector3<f64>]) -> Result<(), ElementError> {
        check_length(x)?;
        self.orientation.axes(&axis(x).1).map(|_| ())
    }

    pub(crate) fn stiffness(&self, x: &[Vector3<f64>], out: &mut LocalMatrix) {
        let (length, axes) = self.frame(x);
        let mut local = LocalMatrix::zeros(12);
        local_stiffness(&self.properties, length, &mut local);
        to_global(&axes, &local, out);
    }

    fn local_forces(&self, x: &[Vector3<f64>], u: &[f64]) -> ([f64; 12], Matrix3<f64>) {
        let (length, axes) = self.frame(x);
        let mut local = LocalMatrix::zeros(12);
        local_stiffness(&self.properties, length, &mut local);
        let mut forces = [0.0; 12];
        local.multiply_add(&to_local(&axes, u), &mut forces);
        (forces, axes)
    }

    pub(crate) fn internal_force(&self, x: &[Vector3<f64>], u: &[f64], force: &mut [f64]) {
        let (local, axes) = self.local_forces(x, u);
        force.copy_from_slice(&to_local(&axes.transpose(), &local));
    }

    pub(crate) fn strain_energy(&self, x: &[Vector3<f64>], u: &[f64]) -> f64 {
        let (forces, axes) = self.local_forces(x, u);
        0.5 * forces.iter().zip(to_local(&axes, u)).map(|(f, u)| f * u).sum::<f64>()
    }

    pub(crate) fn geometric_stiffness(&self, x: &[Vector3<f64>], u: &[f64], out: &mut LocalMatrix) {
        let (length, axes) = self.frame(x);
        let tension = self.local_forces(x, u).0[6];
        let mut local = LocalMatrix::zeros(12);
        local_geometric_stiffness(&self.properties, length, tension, &mut local);
        to_global(&axes, &local, out);
    }

    pub(crate) fn mass_matrix(&self, x: &[Vector3<f64>], kind: MassKind, out: &mut LocalMatrix) {
        let (length, axes) = self.frame(x);
        global_mass(&self.properties, &axes, length, kind, self.rotary, out);
    }

    pub(crate) fn total_mass(&self, x: &[Vector3<f64>]) -> f64 {
        self.properties.line_density * (x[1] - x[0]).norm()
    }

    pub(crate) fn member_result(&self, x: &[Vector3<f64>], u: &[f64]) -> MemberResult {
        let (forces, _) = self.local_forces(x, u);
        beam_result(&self.properties, &forces)
    }
}

/// Axial force, stress of the most strained fibre and end forces from twelve local end forces.
pub(crate) fn beam_result(properties: &BeamProperties, forces: &[f64; 12]) -> MemberResult {
    let section = &properties.section;
    let axial_force = forces[6];
    let mean = axial_force / section.area;
    let bending = [0, 6]
        .map(|end| {
            (forces[end + 4] * section.extreme_z / section.inertia_y).abs()
                + (forces[end + 5] * section.extreme_y / section.inertia_z).abs()
        })
        .into_iter()
        .fold(0.0, f64::max);
    let stress = if mean < 0.0 { mean - bending } else { mean + bending };
    let mut end_forces = [[0.0; 6]; 2];
    end_forces[0].copy_from_slice(&forces[..6]);
    end_forces[1].copy_from_slice(&forces[6..]);
    MemberResult {
        axial_force,
        strain: axial_force / properties.axial,
        stress,
        utilisation: properties.strength.map(|strength| stress.abs() / strength),
        end_forces,
    }
}

/// A beam with shear deformation (Φ = 12 EI/(GκA L²)) and rotary inertia, free of shear locking.
///
/// # Limitations
/// Small displacements and rotations; no coupling of bending and torsion (shear centre = centroid). A section without
/// shear areas is rigid in shear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimoshenkoBeam(LinearBeam);

impl TimoshenkoBeam {
    /// A beam of `material` with `section`, turned as `orientation` says.
    ///
    /// # Errors
    /// [`ValueError`] naming the field out of range.
    pub fn new(material: &Material, section: &Section, orientation: Orientation) -> Result<Self, ValueError> {
        let properties = BeamProperties::timoshenko(material, section)?;
        Ok(Self(LinearBeam { properties, orientation, rotary: true }))
    }
}

impl Element for TimoshenkoBeam {
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
    let section = Section::Rectangle { width: 0.2, height: 0.3 };
    let element =
        TimoshenkoBeam::new(&material, &section, Orientation::Upright).expect("sample values are in range");
    let x = vec![Vector3::new(0.3, -0.2, 0.1), Vector3::new(1.1, 0.5, 0.9)];
    let mass = 7850.0 * 0.06 * (x[1] - x[0]).norm();
    let u = vec![0.01, -0.02, 0.005, 0.004, -0.03, 0.01, 0.02, 0.013, -0.007, 0.02, 0.01, -0.015];
    ElementSample { element: Box::new(element), x, u, mass }
}
