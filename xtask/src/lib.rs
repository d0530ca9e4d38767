//! The repository's own checks, as a library so that they run as ordinary tests too.

pub mod bench;
pub mod ci;
pub mod tidy;
pub mod verify;

use std::path::{Path, PathBuf};

/// The workspace root.
///
/// # Panics
/// When this crate does not lie one folder below the root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies below the root").to_owned()
}
