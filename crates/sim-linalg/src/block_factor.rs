//! Incomplete block factor A ≈ L D Lᵀ on a fixed pattern, in parts that threads factor and solve at the same time.
//!
//! L has unit diagonal blocks; D is block diagonal and stored inverted. The factor is computed in f64 and kept in f32: as
//! a preconditioner it loses nothing (the rounded L D Lᵀ is positive definite whenever D is), and the solve is bound by
//! the bytes it reads.

mod numeric;
mod solve;
mod symbolic;

pub(crate) use numeric::{BlockFactor, Breakdown, Tuning};
pub(crate) use solve::{DiagonalSolve, backward, forward};
pub(crate) use symbolic::FactorPattern;
