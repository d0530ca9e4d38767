//! No preconditioning.

use crate::matrix::BlockSymmetric;
use crate::operator::Preconditioner;
use crate::preconditioners::{MatrixPreconditioner, PreconditionerError};

/// No preconditioning: z = r.
///
/// # Limitations
/// Iterations grow with the square root of the condition number; a baseline for comparisons.
#[derive(Debug, Clone, Copy, Default)]
pub struct IdentityPreconditioner;

impl Preconditioner for IdentityPreconditioner {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        z.copy_from_slice(r);
    }

    fn name(&self) -> &'static str {
        "identity"
    }
}

impl MatrixPreconditioner for IdentityPreconditioner {
    fn refill(&mut self, _matrix: &BlockSymmetric) -> Result<(), PreconditionerError> {
        Ok(())
    }
}
