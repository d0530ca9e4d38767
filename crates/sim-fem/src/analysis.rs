//! What can be asked of a structure.

pub mod linear_static;
mod mechanism;
mod stiffness;

pub use stiffness::Stiffness;
