//! Structures that cannot carry their load.

use super::finding::Finding;
use crate::failure::Failure;
use sim_io::StructureRunError;
use sim_io::structure::{self, StructureScene};

pub const CAUSE: &str = "mechanism";

/// Runs the analysis and names what moves freely.
///
/// # Errors
/// Every failure but a mechanism.
pub fn look(
    scene: &StructureScene,
    tell: &mut (dyn FnMut(&str, Option<f64>) + Send),
) -> Result<Vec<Finding>, Failure> {
    match structure::run(scene, tell) {
        Ok(_) => Ok(Vec::new()),
        Err(StructureRunError::Mechanism { message, .. }) => Ok(vec![
            Finding::fault(CAUSE, "the structure can move without resistance").seen(message).remedy(
                "support the nodes named in the directions named, or brace them with a member; truss members carry no bending, \
                 so that a straight row of them is loose sideways",
            ),
        ]),
        Err(StructureRunError::Scene(error)) => Err(error.into()),
        Err(error) => Err(error.into()),
    }
}
