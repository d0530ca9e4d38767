//! What can be asked of a structure.

pub mod arc_length;
pub mod buckling;
pub mod damping;
mod lanczos;
pub mod linear_static;
mod mechanism;
pub mod modal;
pub mod modal_response;
pub mod nonlinear_static;
mod stiffness;
pub mod transient;

pub use stiffness::Stiffness;
