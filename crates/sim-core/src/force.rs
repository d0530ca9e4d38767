//! Forces on particles: one file each below `force/`, one line each in [`FORCES`].

use crate::curve::CurveError;
use crate::energy::{Energy, Work};
use crate::material::MaterialError;
use crate::particles::{ParticleSystem, ParticleSystemBuilder};
use crate::state::State;
use crate::system::{
    BlockSink, Definiteness, Dependence, HistoryError, MatrixRequest, StencilBound, StepStart, scaled,
};
use nalgebra::{Matrix3, Vector3};
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
    /// Where the present step began; its history is that of the force alone. None: the force answers as at the
    /// start of a run.
    pub start: Option<StepStart<'a>>,
}

/// A force on the particles of a [`ParticleSystem`].
///
/// Every method that adds does only that: the driver clears. Implementations hold parameters, never state.
pub trait Force: Debug + Send + Sync {
    /// Id used in reports and scene files.
    fn id(&self) -> &'static str;

    /// What the force depends on besides position.
    fn dependence(&self) -> Dependence;

    /// Whether the force is the same at all times and in all states, so that a system may keep it.
    fn is_constant(&self) -> bool {
        false
    }

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

    /// `request.damping D + request.stiffness K`, see [`crate::ImplicitSystem::weighted_matrix`].
    fn weighted_matrix(&self, at: Kinematics<'_>, request: MatrixRequest<'_>, sink: &mut dyn BlockSink) {
        scaled(request.damping, sink, |sink| self.damping_matrix(at, sink));
        scaled(request.stiffness, sink, |sink| self.stiffness_matrix(at, request.definiteness, sink));
    }

    /// The part of -∂f/∂q that comes from dissipative forces; both halves are emitted.
    fn damping_stiffness(&self, _at: Kinematics<'_>, _emit: &mut dyn FnMut(usize, usize, &Matrix3<f64>)) {}

    /// Bounds on stencil matrices near `q`; see [`StencilBound`].
    fn stencil_bounds(&self, _q: &[f64], _mass: &[f64], _emit: &mut dyn FnMut(StencilBound<'_>)) {}

    /// Number of history values; see [`crate::System::internal_count`].
    fn internal_count(&self) -> usize {
        0
    }

    /// Whether states must be kept or checked from step to step; see [`crate::System::remembers`].
    fn remembers(&self) -> bool {
        self.internal_count() > 0
    }

    /// History at the start of a run with parts at `q`.
    fn begin_history(&self, _q: &[f64], internal: &mut [f64]) {
        internal.fill(0.0);
    }

    /// History at the end of the accepted step from `at.start` to `at`; writes all of `internal`.
    ///
    /// # Errors
    /// [`HistoryError`] naming the stencil whose law does not know the new state.
    fn advance_internal(&self, _at: Kinematics<'_>, _internal: &mut [f64]) -> Result<(), HistoryError> {
        Ok(())
    }

    /// Energy in J that materials have lost inside on the way from `at.start` to `at`, not negative. [`Force::add_power`] counts it as
    /// conservative.
    fn inelastic_loss(&self, _at: Kinematics<'_>) -> f64 {
        0.0
    }

    /// Reports the index of every stencil that its history says is broken.
    fn broken(&self, _internal: &[f64], _report: &mut dyn FnMut(usize)) {}

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
    /// A curve over time is impossible.
    #[error("{force} {index}")]
    Curve {
        /// Force id.
        force: &'static str,
        /// Stencil index.
        index: usize,
        /// What is wrong with it.
        #[source]
        source: CurveError,
    },
    /// A material is impossible.
    #[error("{force}, material {index}")]
    Material {
        /// Force id.
        force: &'static str,
        /// Index of the material.
        index: usize,
        /// What is wrong with it.
        #[source]
        source: MaterialError,
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
    /// What holds for every force of this entry.
    pub kind: ForceKind,
    /// A small system with only this force, and a state that is neither at rest nor symmetric, for derivative,
    /// invariance and energy tests.
    pub sample: fn() -> (ParticleSystem, State),
    /// The same sample measured in other units: every length, mass and time of it is the SI sample's times the unit.
    pub scaled: fn(Units) -> (ParticleSystem, State),
}

/// What a force depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForceKind {
    /// Only on distances and relative motion of the particles: moving and turning everything turns the forces along, and
    /// their sum and their moment vanish.
    Internal,
    /// On the surroundings too.
    External,
}

/// Units of length, mass and time in which a sample is expressed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Units {
    /// m.
    pub length: f64,
    /// kg.
    pub mass: f64,
    /// s.
    pub time: f64,
}

impl Units {
    /// Meter, kilogram, second.
    pub const SI: Self = Self { length: 1.0, mass: 1.0, time: 1.0 };

    /// Unit of velocity in m/s.
    pub fn velocity(self) -> f64 {
        self.length / self.time
    }

    /// Unit of acceleration in m/s².
    pub fn acceleration(self) -> f64 {
        self.velocity() / self.time
    }

    /// Unit of force in N.
    pub fn force(self) -> f64 {
        self.mass * self.acceleration()
    }

    /// Unit of energy in J.
    pub fn energy(self) -> f64 {
        self.force() * self.length
    }

    /// Unit of stiffness in N/m.
    pub fn stiffness(self) -> f64 {
        self.force() / self.length
    }

    /// Unit of damping in N·s/m.
    pub fn damping(self) -> f64 {
        self.force() / self.velocity()
    }
}

pub mod air_drag;
pub mod cloth_hinge;
pub mod gravity;
pub mod law_springs;
pub mod mass_damping;
pub mod point_load;
pub mod rope_hinge;
pub mod segment_drag;
pub mod skip_springs;
pub mod springs;
pub mod wind;

/// Every force.
pub const FORCES: &[ForceInfo] = &[
    springs::INFO,
    law_springs::INFO,
    skip_springs::INFO,
    rope_hinge::INFO,
    cloth_hinge::INFO,
    gravity::INFO,
    mass_damping::INFO,
    air_drag::INFO,
    segment_drag::INFO,
    wind::INFO,
    point_load::INFO,
];

/// Checks that a parameter is finite and not negative.
fn not_negative(
    force: &'static str,
    index: usize,
    field: &'static str,
    value: f64,
) -> Result<(), ForceError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(ForceError::Value { force, index, field, value, requirement: "finite and not negative" })
}

/// Checks that parameters are finite.
fn finite(force: &'static str, index: usize, field: &'static str, values: &[f64]) -> Result<(), ForceError> {
    match values.iter().find(|x| !x.is_finite()) {
        Some(&value) => Err(ForceError::Value { force, index, field, value, requirement: "finite" }),
        None => Ok(()),
    }
}

/// Three numbers of a flat `xyzxyz…` array.
fn point(x: &[f64], i: u32) -> Vector3<f64> {
    let i = 3 * i as usize;
    Vector3::new(x[i], x[i + 1], x[i + 2])
}

/// Builds a registry sample: a skewed cluster of `n` particles in motion with `add` applied to the builder.
fn sample(
    n: usize,
    units: Units,
    add: impl FnOnce(ParticleSystemBuilder) -> ParticleSystemBuilder,
) -> (ParticleSystem, State) {
    let wave = |i: usize, k: f64| ((i as f64 + 1.0) * k).sin();
    let q = (0..n)
        .flat_map(|i| {
            [0.4 * i as f64 + 0.1 * wave(i, 1.7), 0.3 * wave(i, 2.3), 0.2 * wave(i, 3.1) + 0.1 * i as f64]
        })
        .map(|x| x * units.length)
        .collect();
    let v = (0..3 * n).map(|i| 0.5 * wave(i, 0.9) * units.velocity()).collect();
    let mass = (0..n).map(|i| (0.1 + 0.05 * i as f64) * units.mass).collect();
    let system = add(ParticleSystemBuilder::new(mass)).build().expect("registry samples are valid");
    (system, State { t: 0.25 * units.time, q, v, internal: Vec::new() })
}
