//! Defects of mesh files.

use super::finding::Finding;
use crate::edit::Change;
use sim_io::mesh::MeshError;
use sim_io::{Document, SceneError, build};

pub const CAUSE: &str = "mesh_defects";
/// Kinds of defects that there are.
const KINDS: usize = 8;

/// What the mesh of a part that was refused needs; none if the scene was refused for another reason.
pub fn look(name: &str, changes: &[String], refused: &SceneError) -> Option<Finding> {
    let SceneError::Mesh { place, source: MeshError::Defect { .. } } = refused else { return None };
    let index: usize = place.field.strip_prefix("part[")?.split(']').next()?.parse().ok()?;
    let (mut words, mut evidence) = (Vec::new(), Vec::new());
    let mut error = refused.to_string();
    // One kind after the other comes to light.
    for _ in 0..KINDS {
        let mut changes = changes.to_vec();
        if !words.is_empty() {
            changes.push(format!("part.{index}.mend={}", list(&words)));
        }
        let Ok(Document::Motion(scene)) = Document::load(name, &changes) else { break };
        match build(&scene) {
            Ok(_) => break,
            Err(SceneError::Mesh {
                source: MeshError::Defect { mending: Some(mending), count, defect, .. },
                ..
            }) => {
                evidence.push(format!("{count} × {} (first: {defect})", mending.word()));
                words.push(mending.word());
            }
            Err(other) => {
                error = other.to_string();
                break;
            }
        }
    }
    if evidence.is_empty() {
        evidence.push(error);
    }
    let mut finding = Finding::fault(CAUSE, format!("the mesh of `part[{index}]` has defects"));
    finding.evidence = evidence;
    Some(
        finding
            .remedy("mend the file, or allow the import to do it with `mend`; look at the picture afterwards")
            .change(Change::set(format!("part.{index}.mend"), list(&words))),
    )
}

fn list(words: &[&str]) -> String {
    format!("[{}]", words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", "))
}
