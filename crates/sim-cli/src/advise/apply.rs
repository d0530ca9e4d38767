//! Writing advice into a scene file.

use crate::edit::{self, Change};
use crate::failure::Failure;
use std::path::Path;

/// Changes the file, or writes a built-in scene to a new one; returns its name.
pub fn apply(name: &str, changes: &[String]) -> Result<String, Failure> {
    let scene = edit::text_of(name, "--apply")?;
    let file = if scene.built_in { format!("{name}.toml") } else { name.to_owned() };
    if scene.built_in && Path::new(&file).exists() {
        return Err(Failure::usage(format!(
            "--apply: {file} exists already; run `sim advise {file} --apply` to change it"
        )));
    }
    let parsed: Result<Vec<Change>, String> = changes.iter().map(|change| Change::parse(change)).collect();
    let changed = parsed
        .and_then(|changes| edit::change(&scene.text, &changes))
        .map_err(|why| Failure::output(format!("cannot change {file}: {why}")))?;
    sim_io::export::write_whole(Path::new(&file), changed.as_bytes())
        .map_err(|error| Failure::output(format!("cannot write {file}: {error}")))?;
    Ok(file)
}
