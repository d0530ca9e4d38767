//! Checkpoints: how a long run survives a kill, a power cut or a full disk.
//!
//! A checkpoint is one file, `checkpoint.sim`, in the folder of the results: eight letters, the version of the format, the length
//! and CRC-32 of the rest, then what run it belongs to ([`Identity`]) and all that the run needs to go on. It is written to
//! `checkpoint.part`, synced and renamed; the one before stays as `checkpoint.previous.sim`. Both go when the results are complete.
//!
//! A run continues from a checkpoint with the same bits as if it had never stopped; only wall-clock figures differ.
//!
//! # Limitations
//! Checkpoints are made between frames. Each holds the recorded frames and series so far, so that its size grows with the run.
//! The format is that of one version of this program on one kind of machine; it is no exchange format. CRC-32 finds accidents, not
//! forgeries. Two runs must not share a folder.

mod every;
mod file;

pub use every::{Every, EveryError};
pub(crate) use file::{read, write};

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Version of the file format; it changes with everything that a checkpoint holds.
pub const FORMAT: u32 = 1;

const CURRENT: &str = "checkpoint.sim";
const PREVIOUS: &str = "checkpoint.previous.sim";
const PART: &str = "checkpoint.part";
const LINK: &str = "checkpoint.link";

/// Which of the two checkpoints of a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// The newest.
    #[default]
    Latest,
    /// The one before it.
    Previous,
}

impl Which {
    /// Where it lies in `folder`.
    pub fn path(self, folder: &Path) -> PathBuf {
        folder.join(match self {
            Self::Latest => CURRENT,
            Self::Previous => PREVIOUS,
        })
    }
}

/// Whether a run makes checkpoints, and whether it starts from one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeepOptions {
    /// Folder for checkpoints and how often they are made; absent = none are.
    pub write: Option<(PathBuf, Every)>,
    /// Folder of the checkpoint to go on from, and which; absent = from the start.
    pub resume: Option<(PathBuf, Which)>,
}

/// What a checkpoint must agree on with the run that goes on from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Program, version and kind of machine.
    pub program: String,
    /// Name of the scene.
    pub name: String,
    /// Hash of everything that the scene says, changes from the command line included.
    pub scene: u64,
    /// Hash of the model built of it at its start: it also sees the contents of imported files.
    pub model: u64,
    /// Frames of the whole run.
    pub frames: u64,
}

impl Identity {
    /// The program that runs now.
    pub(crate) fn this_program() -> String {
        format!(
            "{} {} {} {}",
            env!("CARGO_PKG_NAME"),
            env!("CARGO_PKG_VERSION"),
            std::env::consts::ARCH,
            std::env::consts::OS
        )
    }

    /// Says how `self`, of a file, differs from what the run wants.
    fn compare(&self, wanted: &Self) -> Result<(), Foreign> {
        let differs = |what, found: String, wanted: String| Err(Foreign { what, found, wanted });
        if self.program != wanted.program {
            return differs("program", self.program.clone(), wanted.program.clone());
        }
        if self.name != wanted.name {
            return differs("scene", self.name.clone(), wanted.name.clone());
        }
        if self.frames != wanted.frames {
            return differs("number of frames", self.frames.to_string(), wanted.frames.to_string());
        }
        for (what, found, wanted) in [
            ("contents of the scene", self.scene, wanted.scene),
            ("model (an imported file)", self.model, wanted.model),
        ] {
            if found != wanted {
                return differs(what, format!("hash {found:016x}"), format!("hash {wanted:016x}"));
            }
        }
        Ok(())
    }
}

struct Foreign {
    what: &'static str,
    found: String,
    wanted: String,
}

/// A checkpoint that cannot be written, or not be gone on from.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// There is none.
    #[error("no checkpoint {}", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// It cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It cannot be written; the one before is untouched.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It is not a checkpoint, is cut short, or has changed since it was written.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, with numbers.
        reason: String,
    },
    /// Another version of the format.
    #[error("{} has version {found} of the format, this program reads version {FORMAT}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// It belongs to another run.
    #[error("{} belongs to another run: its {what} is {found}, that of this run {wanted}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: &'static str,
        /// In the checkpoint.
        found: String,
        /// In this run.
        wanted: String,
    },
}

/// Removes the checkpoints of a folder, once the results in it are complete.
///
/// # Errors
/// Of the file system, with the file.
pub fn remove(folder: &Path) -> Result<(), CheckpointError> {
    for name in [PART, LINK, PREVIOUS, CURRENT] {
        let path = folder.join(name);
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(CheckpointError::Write { path, source });
            }
            _ => {}
        }
    }
    Ok(())
}

/// FNV-1a over bytes: tells scenes apart, not cryptographic.
pub(crate) fn fingerprint(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
