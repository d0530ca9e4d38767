//! Scene files: one schema for TOML and JSON, described in `docs/scene-format.md`.

pub(crate) mod check;
pub mod contact;
pub mod document;
pub mod error;
pub mod force;
mod foreseen;
pub mod law;
pub mod library;
mod overrides;
pub mod part;
pub mod probe;
pub(crate) mod read;
pub(crate) mod source;
pub mod support;
pub(crate) mod words;

pub use check::MAX_SUBSTEPS;
pub use document::{Header, MethodOptions, OutputOptions, Scene, Substeps, TimeOptions};
pub use error::{Place, SceneError};
