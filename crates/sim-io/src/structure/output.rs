//! What an analysis leaves on disk.

use super::document::StructureScene;
use super::result::{StructureResult, StructureSummary};
use super::{export, page};
use crate::export::write_whole;
use crate::output::OutputError;
use crate::report;
use std::path::{Path, PathBuf};

/// Writes what the scene's `[output]` asks for into `folder`, each file whole or not at all, and `summary.json` last: when it is
/// there, the others are complete. `failure` says why there is no result.
///
/// # Errors
/// [`OutputError`] naming the file.
pub fn write(
    scene: &StructureScene,
    result: &StructureResult,
    failure: Option<String>,
    folder: &Path,
) -> Result<Vec<PathBuf>, OutputError> {
    let fail = |path: &Path| {
        let path = path.to_owned();
        |source| OutputError::Write { path, source }
    };
    std::fs::create_dir_all(folder).map_err(fail(folder))?;
    let mut files = Vec::new();
    if scene.output.csv && failure.is_none() {
        let written = export::write_tables(result, folder);
        files.extend(written.map_err(fail(&folder.join(format!("{}.csv", result.scene))))?);
    }
    if scene.output.vtk {
        let written = export::write_vtk(result, folder);
        files.push(written.map_err(|source| OutputError::Vtk { path: folder.to_owned(), source })?);
    }
    if scene.output.report {
        let path = folder.join("report.html");
        report::write_page(&page::page(scene, result, failure.clone()), &path)
            .map_err(|source| OutputError::Report { path: path.clone(), source })?;
        files.push(path);
    }
    let path = folder.join("summary.json");
    let text =
        serde_json::to_vec_pretty(&StructureSummary { failure, ..StructureSummary::new(result, &files) })
            .map_err(|error| OutputError::Write { path: path.clone(), source: error.into() })?;
    write_whole(&path, &text).map_err(fail(&path))?;
    files.push(path);
    Ok(files)
}
