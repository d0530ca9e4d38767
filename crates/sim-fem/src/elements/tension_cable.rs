//! Straight cable segment that pulls but never pushes.

use super::nonlinear_truss::{Stretch, Unstretched};
use super::{
    Element, ElementError, ElementInfo, ElementSample, LocalMatrix, MassKind, MemberResult, bar_mass,
    check_length, opposite, relative,
};
use crate::material::{Material, Section, ValueError, not_negative};
use crate::structure::Magnitudes;
use nalgebra::{Matrix3, Vector3};

/// Registry entry.
pub const INFO: ElementInfo = ElementInfo {
    id: "tension_cable",
    summary: "cable segment: pulls, never pushes; optional dashpot along it",
    carries_weight: false,
    planar: false,
    grounded: false,
    finite_rotations: true,
    sample,
};

/// A straight segment with tension max(0, EA (l − l₀)/l₀ + c dl/dt) while longer than l₀, and none otherwise.
///
/// # Limitations
/// A slack segment has no stiffness, so that a net of slack segments is a mechanism. With a dashpot the force jumps by
/// c dl/dt at the moment a slack segment becomes taut (the price of no force while slack).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TensionCable {
    axial_stiffness: f64,
    line_density: f64,
    area: f64,
    strength: Option<f64>,
    unstretched: Unstretched,
    damping: f64,
}

impl TensionCable {
    /// A segment of `material` with `section`, unstressed in the reference shape.
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
            unstretched: Unstretched::default(),
            damping: 0.0,
        })
    }

    /// The same with another unstretched length.
    #[must_use]
    pub fn with_unstretched(self, unstretched: Unstretched) -> Self {
        Self { unstretched, ..self }
    }

    /// The same with a dashpot of `damping` N·s/m along the segment, active only while it is taut.
    #[must_use]
    pub fn with_damping(self, damping: f64) -> Self {
        Self { damping, ..self }
    }

    fn stretch(&self, x: &[Vector3<f64>], u: &[f64]) -> Stretch {
        Stretch::new(x, u, self.unstretched, self.axial_stiffness)
    }

    fn tension(&self, at: &Stretch) -> f64 {
        (self.axial_stiffness * at.elongation / at.unstretched).max(0.0)
    }

    /// Direction and dashpot force of a taut segment; none when the dashpot does nothing.
    /// The flag says whether the total tension is still positive, so that the force depends on the rate.
    fn dashpot(&self, at: &Stretch, v: &[f64]) -> Option<(Vector3<f64>, f64, bool)> {
        if at.elongation <= 0.0 || self.damping == 0.0 {
            return None;
        }
        let direction = at.d / at.length;
        let wanted = self.damping * direction.dot(&relative(v));
        let tension = self.tension(at);
        Some((direction, wanted.max(-tension), wanted > -tension))
    }
}

impl Element for TensionCable {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn is_viscous(&self) -> bool {
        self.damping > 0.0
    }

    fn validate(&self, x: &[Vector3<f64>]) -> Result<(), ElementError> {
        self.unstretched.validate(self.axial_stiffness)?;
        not_negative("damping", self.damping)?;
        check_length(x)
    }

    fn strain_energy(&self, x: &[Vector3<f64>], u: &[f64]) -> f64 {
        let at = self.stretch(x, u);
        0.5 * self.tension(&at) * at.elongation.max(0.0)
    }

    fn internal_force(&self, x: &[Vector3<f64>], u: &[f64], force: &mut [f64]) {
        let at = self.stretch(x, u);
        let tension = self.tension(&at);
        if tension == 0.0 {
            return force.fill(0.0);
        }
        opposite(&(at.d * (tension / at.length)), force);
    }

    fn tangent(&self, x: &[Vector3<f64>], u: &[f64], tangent: &mut LocalMatrix) {
        let at = self.stretch(x, u);
        tangent.clear(6);
        // Exactly at its unstretched length a segment is taken as taut: the one-sided derivative that has an answer.
        if at.elongation < 0.0 {
            return;
        }
        let n = at.d / at.length;
        let along = n * n.transpose();
        let block = along * (self.axial_stiffness / at.unstretched)
            + (Matrix3::identity() - along) * (self.tension(&at) / at.length);
        tangent.add_pair(0, 1, &block);
    }

    fn geometric_stiffness(&self, x: &[Vector3<f64>], u: &[f64], stiffness: &mut LocalMatrix) {
        let at = self.stretch(x, u);
        stiffness.clear(6);
        let tension = self.tension(&at);
        if tension > 0.0 {
            let n = at.d / at.length;
            stiffness.add_pair(0, 1, &((Matrix3::identity() - n * n.transpose()) * (tension / at.length)));
        }
    }

    fn viscous_force(&self, x: &[Vector3<f64>], u: &[f64], v: &[f64], force: &mut [f64]) {
        match self.dashpot(&self.stretch(x, u), v) {
            Some((direction, damping_force, _)) => opposite(&(direction * damping_force), force),
            None => force.fill(0.0),
        }
    }

    fn damping_matrix(&self, x: &[Vector3<f64>], u: &[f64], v: &[f64], damping: &mut LocalMatrix) {
        damping.clear(6);
        if let Some((n, _, true)) = self.dashpot(&self.stretch(x, u), v) {
            damping.add_pair(0, 1, &(n * n.transpose() * self.damping));
        }
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
        let axial_force = self.tension(&at);
        let stress = axial_force / self.area;
        let utilisation = self.strength.map(|strength| stress / strength);
        let strain = at.elongation / at.unstretched;
        MemberResult { axial_force, strain, stress, utilisation, ..MemberResult::default() }
    }
}

fn sample() -> ElementSample {
    let material = Material::new(3e9).with_density(1100.0);
    let element = TensionCable::new(&material, &Section::area(2e-4))
        .expect("sample values are in range")
        .with_unstretched(Unstretched::Factor(0.9))
        .with_damping(40.0);
    let x = vec![Vector3::new(0.3, -0.2, 0.1), Vector3::new(1.1, 0.5, 0.9)];
    let mass = 1100.0 * 2e-4 * 0.9 * (x[1] - x[0]).norm();
    let u = vec![0.1, -0.2, 0.05, 0.2, 0.13, 0.07];
    ElementSample { element: Box::new(element), x, u, mass }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case F46: k = 1000 N/m, c = 50 N·s/m, unstretched 1 m.
    #[test]
    fn slack_lines_carry_nothing() {
        let line = TensionCable::new(&Material::new(1000.0), &Section::area(1.0))
            .unwrap()
            .with_unstretched(Unstretched::Length(1.0))
            .with_damping(50.0);
        let tension = |length: f64, rate: f64| {
            let x = [Vector3::zeros(), Vector3::new(length, 0.0, 0.0)];
            let (mut elastic, mut viscous) = ([0.0; 6], [0.0; 6]);
            line.internal_force(&x, &[0.0; 6], &mut elastic);
            line.viscous_force(&x, &[0.0; 6], &[0.0, 0.0, 0.0, rate, 0.0, 0.0], &mut viscous);
            elastic[3] + viscous[3]
        };
        assert_eq!(tension(0.9, -1.0), 0.0);
        assert!((tension(1.001, 1.0) - 51.0).abs() < 1e-9);
        assert_eq!(tension(1.001, -1.0), 0.0);
        // Continuous in the rate where the tension reaches zero.
        let zero_rate = -1.0 / 50.0;
        assert!(tension(1.001, zero_rate * (1.0 - 1e-9)).abs() < 1e-8);
    }
}
