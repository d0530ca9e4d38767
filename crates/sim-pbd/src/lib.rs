//! Position-based dynamics of flexible parts: PBD and XPBD constraints, contact with friction, belts and rods.
//!
//! A [`PbdSystem`] is a particle system (pins, drives, explicit forces) held together by constraints; [`Xpbd`] steps it.
//! This crate knows no global linear solve beyond the system of a chain's own constraints.
//!
//! ```
//! use sim_core::{ParticleSystemBuilder, Stepper, force::gravity::Gravity};
//! use sim_pbd::{Bound, PbdSystem, Xpbd, XpbdOptions, constraints::distance::Distance};
//!
//! // A mass on a spring of 1000 N/m comes to rest 9.81 mm lower, whatever the iterations.
//! let particles = ParticleSystemBuilder::new(vec![1.0, 1.0]).pin([0]).force(Gravity::new([0.0, 0.0, -9.81])).build()?;
//! let spring = Bound::compliant([0, 1], Distance { rest_length: 1.0 }, 1e-3);
//! let system = PbdSystem::builder(particles).distances([spring]).build()?;
//! let mut state = system.state_at_rest(vec![0.0, 0.0, 0.0, 0.0, 0.0, -1.0]);
//! let mut xpbd = Xpbd::new(&system, XpbdOptions { substeps: 1, ..XpbdOptions::default() })?;
//! for _ in 0..600 {
//!     xpbd.step(&system, &mut state, 1.0 / 60.0)?;
//! }
//! assert!((state.q[5] + 1.00981).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod belt;
pub mod constraint;
pub mod constraints;
pub mod contact;
pub mod frame_clock;
mod kernel;
pub mod options;
pub mod report;
pub mod rod;
mod schedule;
mod sets;
pub mod system;
pub mod xpbd;

pub use belt::{BeltDrive, BeltModel, BeltReport, Pulley, PulleyDrive};
pub use constraint::{Bound, Constraint, Sense, ValueError};
pub use constraints::{CONSTRAINTS, ConstraintInfo};
pub use contact::{
    Collider, ContactForce, ContactOptions, ContactReport, Friction, Rotation, Skin, SkinContact,
};
pub use frame_clock::{DueSteps, FrameClock, FrameClockOptions};
pub use options::{Formulation, GradientPoint, OptionsError, SolveOrder, XpbdOptions};
pub use report::{SolveReport, Worst};
pub use rod::Rod;
pub use system::{PbdError, PbdSystem, PbdSystemBuilder};
pub use xpbd::Xpbd;
