//! Forces on particles: one file each below `force/`, one line each in [`FORCES`].

use crate::energy::{Energy, Work};
use crate::particles::{ParticleSystem, ParticleSystemBuilder};
use crate::state::State;
use crate::system::{BlockSink, Definiteness, Dependence, StencilBound};
use nalgebra::Matrix3;
use std::fmt::Debug;

/// Where the particles are and how they move, as a force sees it. Slices are flat `xyzxyz…`.
#[derive(Clone, Copy, Debug)]
pub struct Kinematics<'a> {
    /// Time in s.
    pub t: f64,
    /// Positions in m.
    pub q: &'a [f64],
    /// Velocities in m/s.
    pub v: &'a [f64],
    /// Mass in kg per particle, pinned ones included.
    pub mass: &'a [f64],
}

/// A force on the particles of a [`ParticleSystem`].
///
/// Every method that adds does only that: the driver clears. Implementations hold parameters, never state.
pub trait Force: Debug + Send + Sync {
    /// Id used in reports and scene files.
    fn id(&self) -> &'static str;

    /// What the force depends on besides position.
    fn dependence(&self) -> Dependence;

    /// Adds the force in N to `f`.
    fn add_force(&self, at: Kinematics<'_>, f: &mut [f64]);

    /// Adds stored energy in J (none for dissipative forces).
    fn add_energy(&self, _at: Kinematics<'_>, _energy: &mut Energy) {}

    /// Adds the power in W of this force along `velocity`, split into its terms.
    fn add_power(&self, at: Kinematics<'_>, velocity: &[f64], power: &mut Work);

    /// K = -∂f/∂q of the conservative part.
    fn stiffness_matrix(&self, _at: Kinematics<'_>, _definiteness: Definiteness, _sink: &mut dyn BlockSink) {}

    /// D = -∂f/∂v.
    fn damping_matrix(&self, _at: Kinematics<'_>, _sink: &mut dyn BlockSink) {}

    /// The part of -∂f/∂q that comes from dissipative forces; both halves are emitted.
    fn damping_stiffness(&self, _at: Kinematics<'_>, _emit: &mut dyn FnMut(usize, usize, &Matrix3<f64>)) {}

    /// Bounds on stencil matrices near `q`; see [`StencilBound`].
    fn stencil_bounds(&self, _q: &[f64], _mass: &[f64], _emit: &mut dyn FnMut(StencilBound<'_>)) {}

    /// Checks indices and parameters against the number of particles.
    ///
    /// # Errors
    /// [`ForceError`] naming the stencil and the value.
    fn validate(&self, particle_count: usize) -> Result<(), ForceError>;
}

/// A force with impossible parameters.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ForceError {
    /// A stencil names a particle that does not exist.
    #[error("{force} {index}: particle {particle} does not exist (there are {count})")]
    NoParticle {
        /// Force id.
        force: &'static str,
        /// Stencil index.
        index: usize,
        /// Particle asked for.
        particle: usize,
        /// Number of particles.
        count: usize,
    },
    /// A stencil names the same particle twice.
    #[error("{force} {index}: particle {particle} is used twice")]
    SameParticle {
        /// Force id.
        force: &'static str,
        /// Stencil index.
        index: usize,
        /// Particle used twice.
        particle: usize,
    },
    /// A parameter is out of range or not finite.
    #[error("{force} {index}: {field} = {value}, must be {requirement}")]
    Value {
        /// Force id.
        force: &'static str,
        /// Stencil index.
        index: usize,
        /// Field name.
        field: &'static str,
        /// Value found.
        value: f64,
        /// What it must be.
        requirement: &'static str,
    },
}

/// A registry entry: enough to test the force without knowing it.
#[derive(Clone, Copy)]
pub struct ForceInfo {
    /// Id, equal to [`Force::id`].
    pub id: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// A small system with only this force, and a state that is neither at rest nor symmetric, for derivative,
    /// invariance and energy tests.
    pub sample: fn() -> (ParticleSystem, State),
}

pub mod gravity;
pub mod mass_damping;
pub mod springs;

/// Every force.
pub const FORCES: &[ForceInfo] = &[springs::INFO, gravity::INFO, mass_damping::INFO];

/// Builds a registry sample: a skewed cluster of `n` particles in motion with `add` applied to the builder.
pub(crate) fn sample(
    n: usize,
    add: impl FnOnce(ParticleSystemBuilder) -> ParticleSystemBuilder,
) -> (ParticleSystem, State) {
    let wave = |i: usize, k: f64| ((i as f64 + 1.0) * k).sin();
    let q = (0..n)
        .flat_map(|i| {
            [0.4 * i as f64 + 0.1 * wave(i, 1.7), 0.3 * wave(i, 2.3), 0.2 * wave(i, 3.1) + 0.1 * i as f64]
        })
        .collect();
    let v = (0..3 * n).map(|i| 0.5 * wave(i, 0.9)).collect();
    let mass = (0..n).map(|i| 0.1 + 0.05 * i as f64).collect();
    let system = add(ParticleSystemBuilder::new(mass)).build().expect("registry samples are valid");
    (system, State { t: 0.25, q, v, internal: Vec::new() })
}
