//! A system of point masses under a list of forces.

mod view;

use crate::force::{Force, ForceError, Kinematics};
use crate::motion::{Motion, MotionError};
use crate::summation::compensated_sum;
use crate::system::Dependence;

/// A particle system that cannot be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParticleError {
    /// No particles at all.
    #[error("a particle system needs at least one particle")]
    Empty,
    /// A mass is zero, negative or not finite.
    #[error("mass of particle {particle} is {value} kg, must be positive and finite")]
    Mass {
        /// Particle.
        particle: usize,
        /// Value found.
        value: f64,
    },
    /// A pin or drive names a particle that does not exist.
    #[error("{what} names particle {particle}, but there are {count}")]
    NoParticle {
        /// `pin` or `drive`.
        what: &'static str,
        /// Particle asked for.
        particle: usize,
        /// Number of particles.
        count: usize,
    },
    /// A particle has two prescribed motions.
    #[error("particle {particle} is driven twice")]
    DrivenTwice {
        /// Particle.
        particle: usize,
    },
    /// A prescribed motion is impossible.
    #[error("drive of particle {particle}")]
    Motion {
        /// Particle.
        particle: usize,
        /// What is wrong with it.
        #[source]
        source: MotionError,
    },
    /// The undeformed shape has another number of coordinates.
    #[error("{found} rest coordinates, expected {expected} (3 per particle)")]
    RestPositions {
        /// Number found.
        found: usize,
        /// Number needed.
        expected: usize,
    },
    /// A force has impossible parameters.
    #[error(transparent)]
    Force(#[from] ForceError),
}

/// Point masses, pins, drives and forces. Immutable; only the [`crate::State`] changes.
#[derive(Debug)]
pub struct ParticleSystem {
    mass: Vec<f64>,
    inverse_mass: Vec<f64>,
    drives: Vec<(usize, Motion)>,
    forces: Vec<Box<dyn Force>>,
    dependence: Dependence,
    /// Sum of the constant forces: a step starts from it instead of from zero.
    constant_force: Vec<f64>,
    rest_positions: Option<Vec<f64>>,
    /// Where the history of each force begins in `State::internal`, and the end of the last.
    history: Vec<usize>,
}

/// Collects what a [`ParticleSystem`] is made of.
#[derive(Debug)]
pub struct ParticleSystemBuilder {
    mass: Vec<f64>,
    pins: Vec<usize>,
    drives: Vec<(usize, Motion)>,
    forces: Vec<Box<dyn Force>>,
    rest_positions: Option<Vec<f64>>,
}

impl ParticleSystemBuilder {
    /// Starts with one mass in kg per particle.
    pub fn new(mass: Vec<f64>) -> Self {
        Self { mass, pins: Vec::new(), drives: Vec::new(), forces: Vec::new(), rest_positions: None }
    }

    /// States the undeformed shape, flat `xyzxyz…` in m; solvers of large implicit systems are much faster with it.
    #[must_use]
    pub fn rest_positions(mut self, positions: Vec<f64>) -> Self {
        self.rest_positions = Some(positions);
        self
    }

    /// Holds particles where they are.
    #[must_use]
    pub fn pin(mut self, particles: impl IntoIterator<Item = usize>) -> Self {
        self.pins.extend(particles);
        self
    }

    /// Moves a particle along a path.
    #[must_use]
    pub fn drive(mut self, particle: usize, motion: Motion) -> Self {
        self.drives.push((particle, motion));
        self
    }

    /// Adds a force.
    #[must_use]
    pub fn force(self, force: impl Force + 'static) -> Self {
        self.boxed_force(Box::new(force))
    }

    /// Adds a force chosen at run time.
    #[must_use]
    pub fn boxed_force(mut self, force: Box<dyn Force>) -> Self {
        self.forces.push(force);
        self
    }

    /// Checks everything and builds.
    ///
    /// # Errors
    /// [`ParticleError`] naming the first culprit.
    pub fn build(self) -> Result<ParticleSystem, ParticleError> {
        let count = self.mass.len();
        if count == 0 {
            return Err(ParticleError::Empty);
        }
        if let Some(particle) = self.mass.iter().position(|&m| !(m.is_finite() && m > 0.0)) {
            return Err(ParticleError::Mass { particle, value: self.mass[particle] });
        }
        let mut inverse_mass: Vec<f64> = self.mass.iter().map(|m| 1.0 / m).collect();
        for &particle in &self.pins {
            *inverse_mass.get_mut(particle).ok_or(ParticleError::NoParticle {
                what: "pin",
                particle,
                count,
            })? = 0.0;
        }
        let mut driven = vec![false; count];
        for (particle, motion) in &self.drives {
            let particle = *particle;
            if particle >= count {
                return Err(ParticleError::NoParticle { what: "drive", particle, count });
            }
            if std::mem::replace(&mut driven[particle], true) {
                return Err(ParticleError::DrivenTwice { particle });
            }
            motion.validate().map_err(|source| ParticleError::Motion { particle, source })?;
            inverse_mass[particle] = 0.0;
        }
        if let Some(found) = self.rest_positions.as_ref().map(Vec::len).filter(|&found| found != 3 * count) {
            return Err(ParticleError::RestPositions { found, expected: 3 * count });
        }
        let mut dependence = Dependence { time: !self.drives.is_empty(), velocity: false };
        for force in &self.forces {
            force.validate(count)?;
            dependence = dependence.or(force.dependence());
        }
        let nowhere = vec![0.0; 3 * count];
        let mut constant_force = nowhere.clone();
        let at = Kinematics { t: 0.0, q: &nowhere, v: &nowhere, mass: &self.mass, start: None };
        for force in self.forces.iter().filter(|force| force.is_constant()) {
            force.add_force(at, &mut constant_force);
        }
        let mut history = vec![0];
        for force in &self.forces {
            history.push(history[history.len() - 1] + force.internal_count());
        }
        Ok(ParticleSystem {
            history,
            mass: self.mass,
            inverse_mass,
            drives: self.drives,
            forces: self.forces,
            dependence,
            constant_force,
            rest_positions: self.rest_positions,
        })
    }
}

impl ParticleSystem {
    /// The forces, in the order they were added.
    pub fn forces(&self) -> &[Box<dyn Force>] {
        &self.forces
    }

    /// Total mass in kg, pinned particles included.
    pub fn total_mass(&self) -> f64 {
        compensated_sum(self.mass.iter().copied())
    }
}
