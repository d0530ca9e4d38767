//! Springs with dashpots.

mod kernel;
mod layout;
mod matrix;

use self::layout::Layout;
use self::matrix::Blend;
use super::{Force, ForceError, ForceInfo, ForceKind, Kinematics, Units, not_negative, point, sample};
use crate::energy::{Energy, EnergyTerm, Work, WorkTerm};
use crate::particles::{ParticleSystem, ParticleSystemBuilder};
use crate::potential::{BlockHessian, Potential};
use crate::state::State;
use crate::stencils::check_particles;
use crate::system::{BlockSink, Definiteness, Dependence, MatrixRequest, StencilBound};
use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};

/// Registry entry.
pub const INFO: ForceInfo = ForceInfo {
    id: "spring",
    summary: "Hooke springs with a dashpot along the spring",
    kind: ForceKind::Internal,
    sample: || scaled(Units::SI),
    scaled,
};

fn scaled(units: Units) -> (ParticleSystem, State) {
    let spring = |ends, l: f64, k: f64, c: f64| Spring {
        ends,
        rest_length: l * units.length,
        stiffness: k * units.stiffness(),
        damping: c * units.damping(),
    };
    let springs = [
        spring([0, 1], 0.35, 120.0, 0.8),
        spring([1, 2], 0.9, 70.0, 0.3),
        spring([2, 3], 0.0, 40.0, 0.0),
        spring([3, 4], 0.4, 55.0, 0.5),
        spring([4, 0], 1.2, 35.0, 0.1),
    ];
    sample(5, units, |b: ParticleSystemBuilder| b.force(Springs::new(springs)))
}

/// One spring.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spring {
    /// The two particles.
    pub ends: [u32; 2],
    /// Unloaded length in m, not negative; 0 is a spring that pulls its ends together.
    pub rest_length: f64,
    /// N/m, not negative.
    pub stiffness: f64,
    /// Dashpot along the spring in N·s/m, not negative.
    #[serde(default)]
    pub damping: f64,
}

/// The elastic part of one spring, `U = ½ k (l - l0)²`.
///
/// At coincident end points a spring of positive rest length has no direction: its force is zero by symmetry, and its
/// second derivative (which does not exist there) is replaced by `k/3 I`, the mean of `k d dᵀ` over all directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringPotential {
    /// N/m.
    pub stiffness: f64,
    /// m.
    pub rest_length: f64,
}

impl SpringPotential {
    /// The block `B` of the Hessian `[[B, -B], [-B, B]]` for `d = x1 - x0`:
    /// `k [d̂d̂ᵀ + (1 - l0/l)(I - d̂d̂ᵀ)]`; projected, the transverse factor is not below zero.
    pub fn block(&self, d: Vector3<f64>, definiteness: Definiteness) -> Matrix3<f64> {
        let (k, l) = (self.stiffness, d.norm());
        if l == 0.0 {
            return Matrix3::from_diagonal_element(if self.rest_length == 0.0 { k } else { k / 3.0 });
        }
        let across = match definiteness {
            Definiteness::Exact => 1.0 - self.rest_length / l,
            Definiteness::Projected | Definiteness::Reduced => (1.0 - self.rest_length / l).max(0.0),
        } * k;
        let n = d / l;
        n * n.transpose() * (k - across) + Matrix3::from_diagonal_element(across)
    }
}

impl Potential<2> for SpringPotential {
    fn energy(&self, x: &[Vector3<f64>; 2]) -> f64 {
        let stretch = (x[1] - x[0]).norm() - self.rest_length;
        0.5 * self.stiffness * stretch * stretch
    }

    fn gradient(&self, x: &[Vector3<f64>; 2]) -> [Vector3<f64>; 2] {
        let d = x[1] - x[0];
        let g = d * tension_over_length(self.stiffness, self.rest_length, d.norm());
        [-g, g]
    }

    fn hessian(&self, x: &[Vector3<f64>; 2]) -> BlockHessian<2> {
        let b = self.block(x[1] - x[0], Definiteness::Exact);
        BlockHessian { blocks: [[b, -b], [-b, b]] }
    }
}

/// `k (l - l0) / l`, finite for every `l >= 0`.
fn tension_over_length(stiffness: f64, rest_length: f64, l: f64) -> f64 {
    if rest_length == 0.0 {
        stiffness
    } else if l == 0.0 {
        0.0
    } else {
        stiffness * (l - rest_length) / l
    }
}

/// What springs stand for: under which id they run and where their energy is booked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpringRole {
    /// Stretch and shear.
    #[default]
    Stretch,
    /// Bending, between second neighbors; see [`super::skip_springs`].
    Bending,
}

/// A family of springs in separate arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Springs {
    role: SpringRole,
    ends: Vec<[u32; 2]>,
    rest_length: Vec<f64>,
    stiffness: Vec<f64>,
    damping: Vec<f64>,
    layout: Layout,
}

impl Springs {
    /// Lays springs out in arrays, in the order given.
    pub fn new(springs: impl IntoIterator<Item = Spring>) -> Self {
        Self::with_role(SpringRole::Stretch, springs)
    }

    /// As [`Springs::new`], in the given role.
    pub fn with_role(role: SpringRole, springs: impl IntoIterator<Item = Spring>) -> Self {
        let springs: Vec<Spring> = springs.into_iter().collect();
        Self {
            role,
            ends: springs.iter().map(|spring| spring.ends).collect(),
            rest_length: springs.iter().map(|spring| spring.rest_length).collect(),
            stiffness: springs.iter().map(|spring| spring.stiffness).collect(),
            damping: springs.iter().map(|spring| spring.damping).collect(),
            layout: Layout::new(&springs),
        }
    }

    /// Number of springs.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Spring `index`.
    ///
    /// # Panics
    /// When `index` is out of range.
    pub fn get(&self, index: usize) -> Spring {
        Spring {
            ends: self.ends[index],
            rest_length: self.rest_length[index],
            stiffness: self.stiffness[index],
            damping: self.damping[index],
        }
    }

    /// All springs in order.
    pub fn iter(&self) -> impl Iterator<Item = Spring> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }

    /// Length in m of spring `index` at positions `q`.
    pub fn length(&self, index: usize, q: &[f64]) -> f64 {
        let [a, b] = self.ends[index];
        (point(q, b) - point(q, a)).norm()
    }

    /// Elastic tension in N of spring `index` at positions `q`, negative when compressed.
    pub fn tension(&self, index: usize, q: &[f64]) -> f64 {
        self.stiffness[index] * (self.length(index, q) - self.rest_length[index])
    }
}

impl Force for Springs {
    fn id(&self) -> &'static str {
        match self.role {
            SpringRole::Stretch => INFO.id,
            SpringRole::Bending => super::skip_springs::INFO.id,
        }
    }

    fn dependence(&self) -> Dependence {
        Dependence { time: false, velocity: self.damping.iter().any(|&c| c > 0.0) }
    }

    fn add_force(&self, at: Kinematics<'_>, f: &mut [f64]) {
        self.layout.add_forces(at.q, at.v, f);
    }

    fn add_energy(&self, at: Kinematics<'_>, energy: &mut Energy) {
        let mut sum = 0.0;
        for index in 0..self.len() {
            let stretch = self.length(index, at.q) - self.rest_length[index];
            sum += 0.5 * self.stiffness[index] * stretch * stretch;
        }
        let term = match self.role {
            SpringRole::Stretch => EnergyTerm::Elastic,
            SpringRole::Bending => EnergyTerm::Bending,
        };
        energy.add(term, sum);
    }

    fn add_power(&self, at: Kinematics<'_>, velocity: &[f64], power: &mut Work) {
        let (mut elastic, mut dashpot) = (0.0, 0.0);
        for (index, &[a, b]) in self.ends.iter().enumerate() {
            let d = point(at.q, b) - point(at.q, a);
            let l = d.norm();
            let closing = -(point(velocity, b) - point(velocity, a)).dot(&d);
            elastic += tension_over_length(self.stiffness[index], self.rest_length[index], l) * closing;
            if l > 0.0 {
                let rate = (point(at.v, b) - point(at.v, a)).dot(&d);
                dashpot += self.damping[index] * rate * closing / (l * l);
            }
        }
        power.add_term(WorkTerm::Conservative, elastic);
        power.add_term(WorkTerm::Dashpot, dashpot);
    }

    fn stiffness_matrix(&self, at: Kinematics<'_>, definiteness: Definiteness, sink: &mut dyn BlockSink) {
        self.weighted_matrix(at, MatrixRequest::stiffness(definiteness), sink);
    }

    fn damping_matrix(&self, at: Kinematics<'_>, sink: &mut dyn BlockSink) {
        self.weighted_matrix(at, MatrixRequest::damping(), sink);
    }

    fn weighted_matrix(&self, at: Kinematics<'_>, request: MatrixRequest<'_>, sink: &mut dyn BlockSink) {
        self.layout.emit_blocks(Blend { q: at.q, v: at.v, request }, sink);
    }

    fn damping_stiffness(&self, at: Kinematics<'_>, emit: &mut dyn FnMut(usize, usize, &Matrix3<f64>)) {
        for (index, &[a, b]) in self.ends.iter().enumerate() {
            let d = point(at.q, b) - point(at.q, a);
            let l = d.norm();
            let c = self.damping[index];
            let block = if l > 0.0 && c > 0.0 {
                let n = d / l;
                let w = point(at.v, b) - point(at.v, a);
                let across = Matrix3::identity() - n * n.transpose();
                (across * n.dot(&w) + n * (across * w).transpose()) * (c / l)
            } else {
                Matrix3::zeros()
            };
            let (a, b) = (a as usize, b as usize);
            emit(a, a, &block);
            emit(b, b, &block);
            emit(a, b, &-block);
            emit(b, a, &-block);
        }
    }

    fn stencil_bounds(&self, q: &[f64], _mass: &[f64], emit: &mut dyn FnMut(StencilBound<'_>)) {
        for (index, &[a, b]) in self.ends.iter().enumerate() {
            let l = self.length(index, q);
            // The transverse factor |1 - l0/l| exceeds 1 only below half the rest length.
            let factor = if l > 0.0 { (self.rest_length[index] / l - 1.0).max(1.0) } else { 1.0 };
            emit(StencilBound {
                force: self.id(),
                index,
                particles: &[a as usize, b as usize],
                weights: &[1.0, -1.0],
                stiffness: self.stiffness[index] * factor,
                damping: self.damping[index],
            });
        }
    }

    fn validate(&self, particle_count: usize) -> Result<(), ForceError> {
        let force = self.id();
        for (index, spring) in self.iter().enumerate() {
            check_particles(force, index, &spring.ends, particle_count)?;
            not_negative(force, index, "rest_length", spring.rest_length)?;
            not_negative(force, index, "stiffness", spring.stiffness)?;
            not_negative(force, index, "damping", spring.damping)?;
        }
        Ok(())
    }
}
