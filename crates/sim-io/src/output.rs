//! What a run leaves on disk, and its summary for people and scripts.

use crate::export::vtk::VtkError;
use crate::export::{csv, vtk, write_whole};
use crate::report::{self, ReportError};
use crate::run::result::{ExpectationResult, ProbeValue, RunResult, SceneSource};
use crate::scene::document::OutputOptions;
use serde::Serialize;
use sim_core::LedgerReport;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Results that cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// A file or folder cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// What was to be written.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The VTK files cannot be written.
    #[error("cannot write VTK files to {}", path.display())]
    Vtk {
        /// Folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: VtkError,
    },
    /// The report cannot be written.
    #[error("cannot write {}", path.display())]
    Report {
        /// The page.
        path: PathBuf,
        /// Why.
        #[source]
        source: ReportError,
    },
}

/// A run on one screen, or as one JSON object.
#[derive(Clone, Debug, Serialize)]
pub struct Summary<'a> {
    /// Scene name.
    pub scene: &'a str,
    /// Where the scene came from.
    pub source: &'a SceneSource,
    /// Method id.
    pub method: &'static str,
    /// Smallest step in s.
    pub dt: f64,
    /// Steps taken.
    pub steps: u64,
    /// Most steps in one frame.
    pub substeps: u64,
    /// Wall-clock time of the stepping in s.
    pub wall_s: f64,
    /// Named results.
    pub probes: &'a BTreeMap<String, ProbeValue>,
    /// Expectations and how they came out.
    pub expectations: &'a [ExpectationResult],
    /// The energy account.
    pub energy: &'a LedgerReport,
    /// How far from solved the constraints were; absent for other methods than `xpbd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convergence: Option<&'a crate::run::xpbd::Convergence>,
    /// What a reader should know.
    pub warnings: &'a [String],
    /// Hash of the final state.
    pub state_hash: &'a str,
    /// Hash of the state at every frame, the initial state first.
    pub frame_hashes: &'a [String],
    /// Files written.
    pub files: Vec<String>,
    /// Why the run ended early; absent when it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl<'a> Summary<'a> {
    /// Sums up a result and the files that were written of it.
    pub fn new(result: &'a RunResult, files: &[PathBuf]) -> Self {
        Self {
            scene: &result.scene,
            source: &result.source,
            method: result.method.id,
            dt: result.dt,
            steps: result.steps,
            substeps: result.substeps,
            wall_s: result.wall_s,
            probes: &result.probes,
            expectations: &result.expectations,
            energy: &result.energy,
            convergence: result.convergence.as_ref(),
            warnings: &result.warnings,
            state_hash: &result.state_hash,
            frame_hashes: &result.frame_hashes,
            failure: None,
            files: files.iter().map(|file| file.to_string_lossy().into_owned()).collect(),
        }
    }
}

/// Writes what the scene's `[output]` asks for into `folder`, each file whole or not at all, and `summary.json` last: when it is
/// there, the others are complete.
///
/// `failure` is the reason why the run ended early, for the report.
///
/// # Errors
/// [`OutputError`] naming the file.
pub fn write(
    result: &RunResult,
    failure: Option<String>,
    options: OutputOptions,
    folder: &Path,
) -> Result<Vec<PathBuf>, OutputError> {
    let fail = |path: &Path| {
        let path = path.to_owned();
        |source| OutputError::Write { path, source }
    };
    std::fs::create_dir_all(folder).map_err(fail(folder))?;
    let mut files = Vec::new();
    if options.csv {
        files.push(csv::write_series(result, folder).map_err(fail(&folder.join("series.csv")))?);
    }
    if options.vtk {
        let written = vtk::write_series(result, folder)
            .map_err(|source| OutputError::Vtk { path: folder.to_owned(), source })?;
        files.extend(written);
    }
    if options.report {
        let path = folder.join("report.html");
        report::write_page(&report::page_of(result, failure.clone()), &path)
            .map_err(|source| OutputError::Report { path: path.clone(), source })?;
        files.push(path);
    }
    let path = folder.join("summary.json");
    let text = serde_json::to_vec_pretty(&Summary { failure, ..Summary::new(result, &files) })
        .map_err(|error| OutputError::Write { path: path.clone(), source: error.into() })?;
    write_whole(&path, &text).map_err(fail(&path))?;
    files.push(path);
    Ok(files)
}
