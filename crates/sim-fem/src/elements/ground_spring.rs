//! Springs from a node to the ground.

use super::{Element, ElementError, ElementInfo, ElementSample, LocalMatrix};
use crate::material::{ValueError, not_negative};
use nalgebra::Vector3;

/// Registry entry.
pub const INFO: ElementInfo = ElementInfo {
    id: "ground_spring",
    summary: "linear springs from a node to the ground, one per direction",
    carries_weight: false,
    planar: false,
    grounded: true,
    finite_rotations: false,
    sample,
};

/// Independent linear springs along and about the global axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroundSpring {
    stiffness: [f64; 6],
}

impl GroundSpring {
    /// Stiffness `x y z` in N/m and `rx ry rz` in N·m/rad. A rotational value gives the node rotations.
    ///
    /// # Errors
    /// [`ValueError`] for a negative or not finite value.
    pub fn new(stiffness: [f64; 6]) -> Result<Self, ValueError> {
        for value in stiffness {
            not_negative("stiffness", value)?;
        }
        Ok(Self { stiffness })
    }
}

impl Element for GroundSpring {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn node_count(&self) -> usize {
        1
    }

    fn has_rotations(&self) -> bool {
        self.stiffness[3..].iter().any(|&k| k > 0.0)
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn validate(&self, _x: &[Vector3<f64>]) -> Result<(), ElementError> {
        Ok(())
    }

    fn strain_energy(&self, _x: &[Vector3<f64>], u: &[f64]) -> f64 {
        u.iter().zip(&self.stiffness).map(|(u, k)| 0.5 * k * u * u).sum()
    }

    fn internal_force(&self, _x: &[Vector3<f64>], u: &[f64], force: &mut [f64]) {
        for ((f, u), k) in force.iter_mut().zip(u).zip(&self.stiffness) {
            *f = k * u;
        }
    }

    fn tangent(&self, _x: &[Vector3<f64>], _u: &[f64], tangent: &mut LocalMatrix) {
        tangent.clear(self.dof_count());
        for i in 0..self.dof_count() {
            tangent.add(i, i, self.stiffness[i]);
        }
    }
}

fn sample() -> ElementSample {
    let element = GroundSpring::new([100.0, 20.0, 0.0, 3.0, 0.0, 7.0]).expect("sample values are in range");
    let (x, u) = (vec![Vector3::new(0.3, -0.2, 0.1)], vec![0.1, -0.2, 0.05, 0.02, 0.01, -0.03]);
    ElementSample { element: Box::new(element), x, u, mass: 0.0 }
}
