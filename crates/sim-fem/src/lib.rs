//! Trusses, cables and beams as structures: static, buckling, modal, transient and form-finding analyses.
//!
//! The crate knows finite elements on nodes with three translations and, where beams meet, three rotations. The state is
//! *displacement* from the reference shape, never position: small strains keep their digits. It has no stepper but its
//! own; a [`Structure`] implements the system traits of `sim-core`, so that other steppers run it.
//!
//! Conventions (SI units, angles in rad): internal force = ∂U/∂u; tension is positive when pulling; equation of motion
//! `M a + C v + f_int(u) = f_ext(t)`.

pub mod analysis;
pub mod beam;
pub mod elements;
mod jet;

pub mod factor;
pub mod form_finding;
pub mod load;
pub mod material;
pub mod matrix;
pub mod newmark;
pub mod structure;
#[doc(hidden)]
pub mod workload;

pub use structure::{Load, Structure, StructureBuilder, StructureError};
