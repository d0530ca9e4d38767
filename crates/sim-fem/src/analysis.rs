//! What can be asked of a structure.

pub mod arc_length;
pub mod linear_static;
mod mechanism;
pub mod nonlinear_static;
mod stiffness;

pub use stiffness::Stiffness;
