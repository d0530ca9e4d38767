//! Springs with dashpots.

use super::{Force, ForceError, ForceInfo, Kinematics, sample};
use crate::energy::{Energy, EnergyTerm, Work, WorkTerm};
use crate::potential::{BlockHessian, Potential};
use crate::system::{BlockSink, Definiteness, Dependence, StencilBound};
use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};

/// Registry entry.
pub const INFO: ForceInfo = ForceInfo {
    id: "spring",
    summary: "Hooke springs with a dashpot along the spring",
    sample: || {
        sample(5, |b| {
            b.force(Springs::new(vec![
                Spring { ends: [0, 1], rest_length: 0.35, stiffness: 120.0, damping: 0.8 },
                Spring { ends: [1, 2], rest_length: 0.9, stiffness: 70.0, damping: 0.3 },
                Spring { ends: [2, 3], rest_length: 0.0, stiffness: 40.0, damping: 0.0 },
                Spring { ends: [3, 4], rest_length: 0.4, stiffness: 55.0, damping: 0.5 },
                Spring { ends: [4, 0], rest_length: 1.2, stiffness: 35.0, damping: 0.1 },
            ]))
        })
    },
};

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
        let k = self.stiffness;
        if self.rest_length == 0.0 {
            return Matrix3::from_diagonal_element(k);
        }
        let l = d.norm();
        if l == 0.0 {
            return Matrix3::from_diagonal_element(k / 3.0);
        }
        let transverse = match definiteness {
            Definiteness::Exact => 1.0 - self.rest_length / l,
            Definiteness::Projected => (1.0 - self.rest_length / l).max(0.0),
        };
        let n = d / l;
        n * n.transpose() * (k * (1.0 - transverse)) + Matrix3::from_diagonal_element(k * transverse)
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

/// A family of springs in separate arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Springs {
    ends: Vec<[u32; 2]>,
    rest_length: Vec<f64>,
    stiffness: Vec<f64>,
    damping: Vec<f64>,
}

impl Springs {
    /// Lays springs out in arrays, in the order given.
    pub fn new(springs: impl IntoIterator<Item = Spring>) -> Self {
        let mut result = Self::default();
        for spring in springs {
            result.ends.push(spring.ends);
            result.rest_length.push(spring.rest_length);
            result.stiffness.push(spring.stiffness);
            result.damping.push(spring.damping);
        }
        result
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

fn point(x: &[f64], i: u32) -> Vector3<f64> {
    let i = 3 * i as usize;
    Vector3::new(x[i], x[i + 1], x[i + 2])
}

impl Force for Springs {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn dependence(&self) -> Dependence {
        Dependence { time: false, velocity: self.damping.iter().any(|&c| c > 0.0) }
    }

    fn add_force(&self, at: Kinematics<'_>, f: &mut [f64]) {
        for (index, &[a, b]) in self.ends.iter().enumerate() {
            let d = point(at.q, b) - point(at.q, a);
            let l = d.norm();
            let mut c = tension_over_length(self.stiffness[index], self.rest_length[index], l);
            if self.damping[index] > 0.0 && l > 0.0 {
                c += self.damping[index] * (point(at.v, b) - point(at.v, a)).dot(&d) / (l * l);
            }
            for k in 0..3 {
                f[3 * a as usize + k] += c * d[k];
                f[3 * b as usize + k] -= c * d[k];
            }
        }
    }

    fn add_energy(&self, at: Kinematics<'_>, energy: &mut Energy) {
        let mut sum = 0.0;
        for index in 0..self.len() {
            let stretch = self.length(index, at.q) - self.rest_length[index];
            sum += 0.5 * self.stiffness[index] * stretch * stretch;
        }
        energy.add(EnergyTerm::Elastic, sum);
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
        for (index, &[a, b]) in self.ends.iter().enumerate() {
            let spring =
                SpringPotential { stiffness: self.stiffness[index], rest_length: self.rest_length[index] };
            let block = spring.block(point(at.q, b) - point(at.q, a), definiteness);
            sink.add_pair(a as usize, b as usize, &block);
        }
    }

    fn damping_matrix(&self, at: Kinematics<'_>, sink: &mut dyn BlockSink) {
        for (index, &[a, b]) in self.ends.iter().enumerate() {
            let d = point(at.q, b) - point(at.q, a);
            let l2 = d.norm_squared();
            // A place is emitted even when its block is zero: the sequence of places may not change.
            let scale = if l2 > 0.0 { self.damping[index] / l2 } else { 0.0 };
            sink.add_pair(a as usize, b as usize, &(d * d.transpose() * scale));
        }
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
                force: INFO.id,
                index,
                particles: &[a as usize, b as usize],
                weights: &[1.0, -1.0],
                stiffness: self.stiffness[index] * factor,
                damping: self.damping[index],
            });
        }
    }

    fn validate(&self, particle_count: usize) -> Result<(), ForceError> {
        for (index, spring) in self.iter().enumerate() {
            for particle in spring.ends.map(|end| end as usize) {
                if particle >= particle_count {
                    return Err(ForceError::NoParticle {
                        force: INFO.id,
                        index,
                        particle,
                        count: particle_count,
                    });
                }
            }
            if spring.ends[0] == spring.ends[1] {
                return Err(ForceError::SameParticle {
                    force: INFO.id,
                    index,
                    particle: spring.ends[0] as usize,
                });
            }
            for (field, value) in [
                ("rest_length", spring.rest_length),
                ("stiffness", spring.stiffness),
                ("damping", spring.damping),
            ] {
                if !value.is_finite() || value < 0.0 {
                    return Err(ForceError::Value {
                        force: INFO.id,
                        index,
                        field,
                        value,
                        requirement: "finite and not negative",
                    });
                }
            }
        }
        Ok(())
    }
}
