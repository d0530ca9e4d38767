//! State, system traits, forces, springs and topology of flexible parts.
//!
//! This crate knows no sparse matrix, no method, no file, no clock and no global: it says what a model *is*. Steppers
//! (`sim-integrate`, `sim-pbd`, `sim-fem`) advance the [`State`] of anything that implements the system traits.
//!
//! Conventions (all SI units): positions and velocities are flat `xyzxyz…` arrays of length `3 * particle_count`;
//! `K = -∂f/∂q`, `D = -∂f/∂v`, so that `M a + D v + K q = f`; tension is positive when pulling.

pub mod air;
pub mod curve;
pub mod energy;
pub mod force;
pub mod ledger;
pub mod mass;
pub mod material;
pub mod motion;
pub mod particles;
pub mod potential;
pub mod rest;
pub mod simulate;
pub mod state;
pub mod stencils;
pub mod stepper;
pub mod summation;
pub mod system;
pub mod topology;

pub use air::AirFlow;
pub use curve::{CurveError, TimeCurve};
pub use energy::{Energy, EnergyTerm, Work, WorkTerm};
pub use force::{FORCES, Force, ForceError, ForceInfo, ForceKind, Kinematics, Units};
pub use ledger::{EnergyLedger, LedgerReport};
pub use mass::{Density, MassError, lumped_masses};
pub use material::{AxialLaw, LAWS, Law, LawInfo, MaterialError};
pub use motion::{Motion, MotionError};
pub use particles::{ParticleError, ParticleSystem, ParticleSystemBuilder};
pub use potential::{BlockHessian, Potential};
pub use rest::{InitialStressReport, RestError, RestLength, SpringOptions, SpringStiffness};
pub use simulate::{SimulateError, SimulateOptions, simulate};
pub use state::{State, StateError};
pub use stepper::{MethodInfo, Observer, Stability, StageRecord, StepError, StepStats, Stepper};
pub use system::{
    BlockSink, Definiteness, Dependence, ExplicitSystem, ForceMask, HistoryError, ImplicitSystem,
    MatrixRequest, ModelSystem, SplitSystem, StencilBound, StepStart, System,
};
pub use topology::{Topology, TopologyError};
