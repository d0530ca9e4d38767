//! Performance workloads: our side, the peers where they are built, and the right answers.
//!
//! A figure means something only as a ratio within one run on one machine; every row that has a peer prints it.

pub mod assembly;
pub mod cloth;
pub mod measure;
pub mod net;
pub mod peers;
pub mod row;
pub mod workloads;

pub use row::{Goal, Row};

/// What a workload may use.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Folder with the built peer programs; without it peers are left out.
    pub peers: Option<std::path::PathBuf>,
    /// Folder with meshes to solve on; without it the workload on garments is left out.
    pub meshes: Option<std::path::PathBuf>,
    /// Smaller sizes and fewer repeats.
    pub quick: bool,
}

/// A workload by name.
#[derive(Clone, Copy)]
pub struct Workload {
    /// `W1`, …
    pub id: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Runs it and calls `emit` for each row as it comes.
    pub run: fn(&Context, &mut dyn FnMut(Row)),
}
