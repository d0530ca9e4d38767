//! Scene files, mesh import, the run driver, result export and the HTML report.
//!
//! This crate has no method of its own: it maps names to registries and states to files.

pub mod checkpoint;
pub mod document;
pub mod export;
pub mod fit;
pub mod mesh;
pub mod model;
pub mod output;
pub mod report;
pub mod run;
pub mod scene;
pub mod structure;

pub use checkpoint::{CheckpointError, KeepOptions};
pub use document::Document;
pub use mesh::{Mesh, MeshError, MeshReport};
pub use model::{Model, build};
pub use run::{Progress, RunError, RunOptions, RunResult, run, run_kept};
pub use scene::{Scene, SceneError};
pub use structure::{StructureResult, StructureRunError, StructureScene};
