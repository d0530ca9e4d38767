//! Mass and rotary inertia at a node.

use super::{Element, ElementError, ElementInfo, ElementSample, LocalMatrix, MassKind};
use crate::material::{ValueError, not_negative};
use nalgebra::Vector3;

/// Registry entry.
pub const INFO: ElementInfo = ElementInfo {
    id: "point_mass",
    summary: "mass (and rotary inertia) at a node",
    carries_weight: false,
    planar: false,
    grounded: false,
    finite_rotations: true,
    sample,
};

/// A mass at a node, the same in all directions, with the same rotary inertia about all axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointMass {
    mass: f64,
    rotary_inertia: f64,
}

impl PointMass {
    /// A mass in kg.
    ///
    /// # Errors
    /// [`ValueError`] for a negative or not finite mass.
    pub fn new(mass: f64) -> Result<Self, ValueError> {
        Self::with_rotary_inertia(mass, 0.0)
    }

    /// A mass in kg with a rotary inertia in kg·m²; when that is positive the node has rotations.
    ///
    /// # Errors
    /// [`ValueError`] naming the field out of range.
    pub fn with_rotary_inertia(mass: f64, rotary_inertia: f64) -> Result<Self, ValueError> {
        not_negative("mass", mass)?;
        not_negative("rotary_inertia", rotary_inertia)?;
        Ok(Self { mass, rotary_inertia })
    }
}

impl Element for PointMass {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn node_count(&self) -> usize {
        1
    }

    fn has_rotations(&self) -> bool {
        self.rotary_inertia > 0.0
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn validate(&self, _x: &[Vector3<f64>]) -> Result<(), ElementError> {
        Ok(())
    }

    fn strain_energy(&self, _x: &[Vector3<f64>], _u: &[f64]) -> f64 {
        0.0
    }

    fn internal_force(&self, _x: &[Vector3<f64>], _u: &[f64], force: &mut [f64]) {
        force.fill(0.0);
    }

    fn tangent(&self, _x: &[Vector3<f64>], _u: &[f64], tangent: &mut LocalMatrix) {
        tangent.clear(self.dof_count());
    }

    fn mass_matrix(&self, _x: &[Vector3<f64>], _kind: MassKind, mass: &mut LocalMatrix) {
        mass.clear(self.dof_count());
        for i in 0..self.dof_count() {
            mass.add(i, i, if i < 3 { self.mass } else { self.rotary_inertia });
        }
    }

    fn total_mass(&self, _x: &[Vector3<f64>]) -> f64 {
        self.mass
    }
}

fn sample() -> ElementSample {
    let element = PointMass::with_rotary_inertia(3.5, 0.2).expect("sample values are in range");
    let (x, u) = (vec![Vector3::new(0.3, -0.2, 0.1)], vec![0.1, -0.2, 0.05, 0.02, 0.01, -0.03]);
    ElementSample { element: Box::new(element), x, u, mass: 3.5 }
}
