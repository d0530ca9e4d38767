//! Scene files, mesh import, the run driver, result export and the HTML report.
//!
//! This crate has no method of its own: it maps names to registries and states to files.

pub mod export;
pub mod report;
pub mod run;

pub use run::result::RunResult;
