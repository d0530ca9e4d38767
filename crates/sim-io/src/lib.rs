//! Scene files, mesh import, result export and the HTML report.
//!
//! This crate has no method of its own: it maps names to registries and states to files.

pub mod export;
pub mod report;
