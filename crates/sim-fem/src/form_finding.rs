//! Shapes of cables and nets in equilibrium.

pub mod dynamic_relaxation;
pub mod force_density;
