//! Files that other programs read.

pub mod csv;
pub mod vtk;

use std::io::Write as _;
use std::path::Path;

/// Writes a file whole or not at all: into a temporary file in the same folder, then renamed.
///
/// # Errors
/// Any I/O error; an existing file is then untouched.
pub fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    // Temporary files are private by default; results are for everyone the umask allows.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}
