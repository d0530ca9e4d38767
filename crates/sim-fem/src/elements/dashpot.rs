//! Dashpots from a node to the ground.

use super::{Element, ElementError, ElementInfo, ElementSample, LocalMatrix};
use crate::material::{ValueError, not_negative};
use nalgebra::Vector3;

/// Registry entry.
pub const INFO: ElementInfo = ElementInfo {
    id: "dashpot",
    summary: "linear dashpots from a node to the ground, one per direction",
    carries_weight: false,
    planar: false,
    grounded: true,
    finite_rotations: false,
    sample,
};

/// Independent linear dashpots along and about the global axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dashpot {
    damping: [f64; 6],
}

impl Dashpot {
    /// Damping `x y z` in N·s/m and `rx ry rz` in N·m·s/rad. A rotational value gives the node rotations.
    ///
    /// # Errors
    /// [`ValueError`] for a negative or not finite value.
    pub fn new(damping: [f64; 6]) -> Result<Self, ValueError> {
        for value in damping {
            not_negative("damping", value)?;
        }
        Ok(Self { damping })
    }
}

impl Element for Dashpot {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn node_count(&self) -> usize {
        1
    }

    fn has_rotations(&self) -> bool {
        self.damping[3..].iter().any(|&c| c > 0.0)
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn is_viscous(&self) -> bool {
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

    fn viscous_force(&self, _x: &[Vector3<f64>], _u: &[f64], v: &[f64], force: &mut [f64]) {
        for ((f, v), c) in force.iter_mut().zip(v).zip(&self.damping) {
            *f = c * v;
        }
    }

    fn damping_matrix(&self, _x: &[Vector3<f64>], _u: &[f64], _v: &[f64], damping: &mut LocalMatrix) {
        damping.clear(self.dof_count());
        for i in 0..self.dof_count() {
            damping.add(i, i, self.damping[i]);
        }
    }
}

fn sample() -> ElementSample {
    let element = Dashpot::new([100.0, 20.0, 0.0, 3.0, 0.0, 7.0]).expect("sample values are in range");
    let (x, u) = (vec![Vector3::new(0.3, -0.2, 0.1)], vec![0.1, -0.2, 0.05, 0.02, 0.01, -0.03]);
    ElementSample { element: Box::new(element), x, u, mass: 0.0 }
}
