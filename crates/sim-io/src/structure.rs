//! Structures: trusses, cables and beams described in a file, analysed, judged and drawn.
//!
//! The scene file has the same frame as that of a motion ([`crate::scene`]): a heading, materials, probes and expectations. In between
//! stand nodes and members instead of parts, and an analysis instead of a method. `docs/scene-format.md` describes both.

mod analyse;
mod build;
mod check;
mod display;
pub mod document;
mod export;
mod inp;
mod measure;
pub mod output;
mod page;
pub mod probe;
pub mod reference;
mod result;
mod spectrum;

pub use analyse::{StructureRunError, run};
pub use build::{BuiltStructure, build};
pub use document::StructureScene;
pub use result::{StructureResult, StructureSummary};
