//! The batch driver of elastic stencils: a law is only its mathematics, everything else is written here once.

use crate::energy::{Energy, EnergyTerm, Work, WorkTerm};
use crate::force::{Force, ForceError, Kinematics};
use crate::potential::Potential;
use crate::system::{BlockSink, Definiteness, Dependence, StencilBound};
use nalgebra::Vector3;
use std::fmt::Debug;

/// A parameter that a law refuses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LawError {
    /// Field name.
    pub field: &'static str,
    /// Value found.
    pub value: f64,
    /// What it must be.
    pub requirement: &'static str,
}

/// An elastic stencil of `N` particles: an energy with its derivatives, and what the driver must know about it.
pub trait StencilLaw<const N: usize>: Potential<N> + Copy + Debug + Send + Sync {
    /// Id used in reports and scene files.
    const ID: &'static str;
    /// Where its energy is booked.
    const TERM: EnergyTerm;

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`LawError`] naming the first bad one.
    fn check(&self) -> Result<(), LawError>;

    /// Emits weights and stiffness in N/m such that the sum of `stiffness * w wᵀ ⊗ I₃` bounds the Hessian from above, and
    /// its negative from below, in the states that the law documents.
    fn bounds(&self, x: &[Vector3<f64>; N], emit: &mut dyn FnMut(&[f64; N], f64));
}

/// Stencils of one law, each with its own parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Stencils<L, const N: usize> {
    particles: Vec<[u32; N]>,
    laws: Vec<L>,
}

impl<L: StencilLaw<N>, const N: usize> Stencils<L, N> {
    /// Stencils in the order given.
    pub fn new(stencils: impl IntoIterator<Item = ([u32; N], L)>) -> Self {
        let (particles, laws) = stencils.into_iter().unzip();
        Self { particles, laws }
    }

    /// Number of stencils.
    pub fn len(&self) -> usize {
        self.particles.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.particles.is_empty()
    }

    /// Particles and law of every stencil, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u32; N], &L)> + '_ {
        self.particles.iter().zip(&self.laws)
    }

    /// Energy in J of stencil `index` at positions `q`.
    ///
    /// # Panics
    /// When `index` is out of range.
    pub fn energy_of(&self, index: usize, q: &[f64]) -> f64 {
        self.laws[index].energy(&gather(q, &self.particles[index]))
    }
}

fn gather<const N: usize>(x: &[f64], particles: &[u32; N]) -> [Vector3<f64>; N] {
    particles.map(|i| {
        let i = 3 * i as usize;
        Vector3::new(x[i], x[i + 1], x[i + 2])
    })
}

impl<L: StencilLaw<N> + 'static, const N: usize> Force for Stencils<L, N> {
    fn id(&self) -> &'static str {
        L::ID
    }

    fn dependence(&self) -> Dependence {
        Dependence::POSITION
    }

    fn add_force(&self, at: Kinematics<'_>, f: &mut [f64]) {
        for (particles, law) in self.iter() {
            let gradient = law.gradient(&gather(at.q, particles));
            for (&particle, g) in particles.iter().zip(&gradient) {
                for k in 0..3 {
                    f[3 * particle as usize + k] -= g[k];
                }
            }
        }
    }

    fn add_energy(&self, at: Kinematics<'_>, energy: &mut Energy) {
        let sum = self.iter().map(|(particles, law)| law.energy(&gather(at.q, particles))).sum();
        energy.add(L::TERM, sum);
    }

    fn add_power(&self, at: Kinematics<'_>, velocity: &[f64], power: &mut Work) {
        let mut sum = 0.0;
        for (particles, law) in self.iter() {
            let gradient = law.gradient(&gather(at.q, particles));
            let velocities = gather(velocity, particles);
            sum -= gradient.iter().zip(&velocities).map(|(g, v)| g.dot(v)).sum::<f64>();
        }
        power.add_term(WorkTerm::Conservative, sum);
    }

    fn stiffness_matrix(&self, at: Kinematics<'_>, definiteness: Definiteness, sink: &mut dyn BlockSink) {
        for (particles, law) in self.iter() {
            let x = gather(at.q, particles);
            let h = match definiteness {
                Definiteness::Exact => law.hessian(&x),
                Definiteness::Projected => law.hessian(&x).projected(),
                Definiteness::Reduced => law.reduced_hessian(&x),
            };
            for (i, &row) in particles.iter().enumerate() {
                for (j, &col) in particles.iter().enumerate().skip(i) {
                    sink.add(row as usize, col as usize, &h.blocks[i][j]);
                }
            }
        }
    }

    fn stencil_bounds(&self, q: &[f64], _mass: &[f64], emit: &mut dyn FnMut(StencilBound<'_>)) {
        for (index, (particles, law)) in self.iter().enumerate() {
            let places = particles.map(|particle| particle as usize);
            law.bounds(&gather(q, particles), &mut |weights, stiffness| {
                emit(StencilBound {
                    force: L::ID,
                    index,
                    particles: &places,
                    weights,
                    stiffness,
                    damping: 0.0,
                });
            });
        }
    }

    fn validate(&self, particle_count: usize) -> Result<(), ForceError> {
        for (index, (particles, law)) in self.iter().enumerate() {
            check_particles(L::ID, index, particles, particle_count)?;
            law.check().map_err(|LawError { field, value, requirement }| ForceError::Value {
                force: L::ID,
                index,
                field,
                value,
                requirement,
            })?;
        }
        Ok(())
    }
}

/// Checks that the particles of a stencil exist and differ.
pub(crate) fn check_particles<const N: usize>(
    force: &'static str,
    index: usize,
    particles: &[u32; N],
    count: usize,
) -> Result<(), ForceError> {
    for (place, &particle) in particles.iter().enumerate() {
        let repeated = particles[..place].contains(&particle);
        let particle = particle as usize;
        if particle >= count {
            return Err(ForceError::NoParticle { force, index, particle, count });
        }
        if repeated {
            return Err(ForceError::SameParticle { force, index, particle });
        }
    }
    Ok(())
}
