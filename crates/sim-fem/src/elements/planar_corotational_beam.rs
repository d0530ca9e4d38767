//! Beam in a plane of constant z with rotations of any size.

use super::timoshenko_beam::beam_result;
use super::{
    Element, ElementError, ElementInfo, ElementSample, LocalMatrix, MassKind, MemberResult, check_length,
};
use crate::beam::{BeamProperties, global_mass, local_geometric_stiffness, to_global};
use crate::material::{Material, Section, ValueError, positive};
use crate::structure::Magnitudes;
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::PI;

/// Registry entry.
pub const INFO: ElementInfo = ElementInfo {
    id: "planar_corotational_beam",
    summary: "beam in a plane of constant z, displacements and rotations of any size",
    carries_weight: false,
    planar: true,
    grounded: false,
    finite_rotations: true,
    sample,
};

/// A corotational beam (Crisfield, Non-linear Finite Element Analysis 1, ch. 7): a linear beam in a frame that follows
/// the chord. Rotations about z may exceed full turns.
///
/// # Limitations
/// Strains and rotations relative to the chord must be small (use enough elements: 1/10 rad each is ample). It has
/// no stiffness out of its plane: fix z, rx and ry of its nodes. The mass matrix is that of the reference shape.
/// A section with a shear area along local y (in the plane) deforms in shear; one without does not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanarCorotationalBeam {
    properties: BeamProperties,
}

/// The chord, the deformations seen from it and the forces that go with them.
struct Deformed {
    length: f64,
    along: [f64; 2],
    tension: f64,
    moments: [f64; 2],
    energy: f64,
    /// EI factors of own and other end rotation.
    bending: [f64; 2],
    axial: f64,
}

/// Local places of x, y, rz at both ends.
const DOFS: [usize; 6] = [0, 1, 5, 6, 7, 11];

impl PlanarCorotationalBeam {
    /// A beam of `material` with `section`; local y lies in the plane, so that `inertia_z` counts.
    ///
    /// # Errors
    /// [`ValueError`] naming the field out of range.
    pub fn new(material: &Material, section: &Section) -> Result<Self, ValueError> {
        let mut section = section.properties()?;
        positive("inertia_z", section.inertia_z)?;
        // The other axis plays no part; any positive number lets the shared record be built.
        for unused in [&mut section.inertia_y, &mut section.torsion] {
            if *unused == 0.0 {
                *unused = section.inertia_z;
            }
        }
        let mut properties = BeamProperties::timoshenko(material, &Section::Numbers(section))?;
        properties.section.extreme_z = 0.0;
        Ok(Self { properties })
    }

    fn deformed(&self, x: &[Vector3<f64>], u: &[f64]) -> Deformed {
        let d0 = (x[1] - x[0]).xy();
        let du = nalgebra::Vector2::new(u[6] - u[0], u[7] - u[1]);
        let d = d0 + du;
        let (reference, length) = (d0.norm(), d.norm());
        let elongation = (2.0 * d0 + du).dot(&du) / (length + reference);
        // Turn of the chord, taken to the branch nearest the mean rotation of the ends.
        let turn = (d0.x * du.y - d0.y * du.x).atan2(d0.dot(&d));
        let mean = 0.5 * (u[5] + u[11]);
        let chord = turn + 2.0 * PI * ((mean - turn) / (2.0 * PI)).round();
        let (a, b) = (u[5] - chord, u[11] - chord);
        let phi = self.properties.shear_parameters(reference)[0];
        let scale = self.properties.bending_z / (reference * (1.0 + phi));
        let bending = [scale * (4.0 + phi), scale * (2.0 - phi)];
        let axial = self.properties.axial / reference;
        let tension = axial * elongation;
        let moments = [bending[0] * a + bending[1] * b, bending[1] * a + bending[0] * b];
        let energy = 0.5 * (tension * elongation + moments[0] * a + moments[1] * b);
        Deformed { length, along: [d.x / length, d.y / length], tension, moments, energy, bending, axial }
    }
}

/// Length, and local axes as rows: along the member, across it in the plane, z.
fn reference_frame(x: &[Vector3<f64>]) -> (f64, Matrix3<f64>) {
    let length = (x[1] - x[0]).norm();
    let direction = (x[1] - x[0]) / length;
    let aside = Vector3::z().cross(&direction);
    (length, Matrix3::from_rows(&[direction.transpose(), aside.transpose(), Vector3::z().transpose()]))
}

impl Element for PlanarCorotationalBeam {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn has_rotations(&self) -> bool {
        true
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn validate(&self, x: &[Vector3<f64>]) -> Result<(), ElementError> {
        check_length(x)?;
        if (x[0].z - x[1].z).abs() > 1e-9 * (x[1] - x[0]).norm() {
            return Err(ElementError::OutOfPlane { z_first: x[0].z, z_second: x[1].z });
        }
        Ok(())
    }

    fn strain_energy(&self, x: &[Vector3<f64>], u: &[f64]) -> f64 {
        self.deformed(x, u).energy
    }

    fn internal_force(&self, x: &[Vector3<f64>], u: &[f64], force: &mut [f64]) {
        let at = self.deformed(x, u);
        let [c, s] = at.along;
        let shear = (at.moments[0] + at.moments[1]) / at.length;
        let (fx, fy) = (at.tension * c + shear * s, at.tension * s - shear * c);
        force.fill(0.0);
        for (place, value) in DOFS.into_iter().zip([-fx, -fy, at.moments[0], fx, fy, at.moments[1]]) {
            force[place] = value;
        }
    }

    fn tangent(&self, x: &[Vector3<f64>], u: &[f64], tangent: &mut LocalMatrix) {
        let at = self.deformed(x, u);
        let [c, s] = at.along;
        // Derivatives of elongation and of the turn of the chord times its length.
        let r = [-c, -s, 0.0, c, s, 0.0];
        let z = [s, -c, 0.0, -s, c, 0.0];
        let end = |k: usize| {
            let mut b = z.map(|z| -z / at.length);
            b[k] += 1.0;
            b
        };
        let (b1, b2) = (end(2), end(5));
        let shear = (at.moments[0] + at.moments[1]) / (at.length * at.length);
        tangent.clear(12);
        for i in 0..6 {
            for j in 0..6 {
                let value = at.axial * r[i] * r[j]
                    + at.bending[0] * (b1[i] * b1[j] + b2[i] * b2[j])
                    + at.bending[1] * (b1[i] * b2[j] + b2[i] * b1[j])
                    + at.tension / at.length * z[i] * z[j]
                    + shear * (r[i] * z[j] + z[i] * r[j]);
                tangent.add(DOFS[i], DOFS[j], value);
            }
        }
    }

    fn geometric_stiffness(&self, x: &[Vector3<f64>], u: &[f64], stiffness: &mut LocalMatrix) {
        // In small displacements the beam is the linear one; of its two planes of bending only this one belongs to it.
        let (length, axes) = reference_frame(x);
        let stretch = axes.row(0).transpose().dot(&Vector3::new(u[6] - u[0], u[7] - u[1], 0.0));
        let tension = self.properties.axial / length * stretch;
        let (mut local, mut both) = (LocalMatrix::zeros(12), LocalMatrix::zeros(12));
        local_geometric_stiffness(&self.properties, length, tension, &mut local);
        to_global(&axes, &local, &mut both);
        stiffness.clear(12);
        for i in DOFS {
            for j in DOFS {
                stiffness.add(i, j, both.get(i, j));
            }
        }
    }

    fn mass_matrix(&self, x: &[Vector3<f64>], kind: MassKind, mass: &mut LocalMatrix) {
        let (length, axes) = reference_frame(x);
        global_mass(&self.properties, &axes, length, kind, false, mass);
    }

    fn total_mass(&self, x: &[Vector3<f64>]) -> f64 {
        self.properties.line_density * (x[1] - x[0]).norm()
    }

    fn magnitudes(&self) -> Option<Magnitudes> {
        Some(self.properties.magnitudes())
    }

    fn member_result(&self, x: &[Vector3<f64>], u: &[f64]) -> MemberResult {
        let at = self.deformed(x, u);
        let shear = (at.moments[0] + at.moments[1]) / at.length;
        let mut forces = [0.0; 12];
        (forces[0], forces[1], forces[5]) = (-at.tension, shear, at.moments[0]);
        (forces[6], forces[7], forces[11]) = (at.tension, -shear, at.moments[1]);
        beam_result(&self.properties, &forces)
    }
}

fn sample() -> ElementSample {
    let material = Material::new(2.1e9).with_density(7850.0);
    let section = Section::Rectangle { width: 0.05, height: 0.02 };
    let element = PlanarCorotationalBeam::new(&material, &section).expect("sample values are in range");
    let x = vec![Vector3::new(0.3, -0.2, 0.1), Vector3::new(1.1, 0.5, 0.1)];
    let mass = 7850.0 * 0.001 * (x[1] - x[0]).norm();
    let u = vec![0.3, -0.2, 0.0, 0.0, 0.0, 2.9, -1.5, -0.9, 0.0, 0.0, 0.0, 3.2];
    ElementSample { element: Box::new(element), x, u, mass }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turning by three full turns strains nothing and keeps the branch of the chord angle.
    #[test]
    fn many_turns_do_not_strain() {
        let sample = sample();
        let d = sample.x[1] - sample.x[0];
        for turn in [0.1, 3.0, 3.3, 6.2, -9.0, 19.0_f64] {
            let turned = nalgebra::Rotation3::from_axis_angle(&Vector3::z_axis(), turn) * d - d;
            let mut u = [0.0; 12];
            (u[5], u[11], u[6], u[7]) = (turn, turn, turned.x, turned.y);
            let energy = sample.element.strain_energy(&sample.x, &u);
            assert!(energy < 1e-18 * 2.1e9, "{turn}: {energy}");
        }
    }
}
