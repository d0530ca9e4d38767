//! Changes of a scene's text that leave everything else as it was: comments, order, spacing.

use crate::failure::Failure;
use serde::Serialize;
use sim_io::scene::library;
use std::fmt;
use std::path::Path;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike, Value};

/// One change of a scene.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A field gets a value; tables on the way are made.
    Set {
        /// Dotted, entries of a list by number: `part.0.segments`.
        path: String,
        /// TOML; what is not TOML is a word.
        value: String,
    },
    /// A field goes.
    Remove {
        /// Dotted.
        path: String,
    },
    /// A list of tables gets one more.
    Add {
        /// Name of the list, e.g. `pin`.
        list: String,
        /// Its fields as TOML lines.
        fields: String,
    },
}

impl Change {
    pub fn set(path: impl Into<String>, value: impl fmt::Display) -> Self {
        Self::Set { path: path.into(), value: value.to_string() }
    }

    pub fn remove(path: impl Into<String>) -> Self {
        Self::Remove { path: path.into() }
    }

    pub fn add(list: impl Into<String>, fields: impl Into<String>) -> Self {
        Self::Add { list: list.into(), fields: fields.into() }
    }

    /// `PATH=VALUE`, as `--set` takes it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (path, value) = text.split_once('=').ok_or_else(|| format!("`{text}` has no value"))?;
        Ok(Self::set(path, value))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set { path, value } => write!(f, "{path} = {value}"),
            Self::Remove { path } => write!(f, "remove {path}"),
            Self::Add { list, fields } => write!(f, "add [[{list}]] {}", fields.replace('\n', ", ")),
        }
    }
}

/// A scene's text, and whether it is that of a built-in scene.
pub struct SceneText {
    pub text: String,
    pub built_in: bool,
}

/// The text of a TOML scene, by the name that the command was given.
pub fn text_of(name: &str, option: &str) -> Result<SceneText, Failure> {
    let path = Path::new(name);
    if let Some(scene) = library::BUILT_IN.iter().find(|scene| scene.name == name && !path.exists()) {
        return Ok(SceneText { text: scene.text.to_owned(), built_in: true });
    }
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        return Err(Failure::usage(format!("{option} writes TOML scenes; change the JSON file by hand")));
    }
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::output(format!("cannot read {name}: {error}")))?;
    Ok(SceneText { text, built_in: false })
}

/// The text with all changes; options of another method go when the method changes.
///
/// # Errors
/// What does not fit, with its path.
pub fn change(text: &str, changes: &[Change]) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    for change in changes {
        match change {
            Change::Set { path, value } => set(&mut document, path, value)?,
            Change::Remove { path } => {
                let (parent, field) = path.rsplit_once('.').ok_or_else(|| format!("no table in `{path}`"))?;
                let table = table_at(document.as_table_mut(), parent, false)?;
                table.remove(field).ok_or_else(|| format!("`{path}` is not there"))?;
            }
            Change::Add { list, fields } => {
                let table: DocumentMut =
                    fields.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
                let entry = document.entry(list).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
                let array =
                    entry.as_array_of_tables_mut().ok_or_else(|| format!("`{list}` is no list of tables"))?;
                array.push(table.as_table().clone());
            }
        }
    }
    Ok(document.to_string())
}

fn set(document: &mut DocumentMut, path: &str, value: &str) -> Result<(), String> {
    let (parent, field) = path.rsplit_once('.').ok_or_else(|| format!("no table in `{path}`"))?;
    let value: Value = value.parse().unwrap_or_else(|_| Value::from(value));
    let table = table_at(document.as_table_mut(), parent, true)?;
    if path == "method.id" && table.get("id").and_then(Item::as_str) != value.as_str() {
        table.remove("options");
    }
    match table.get_mut(field).and_then(Item::as_value_mut) {
        // Keeps the comment behind the old value.
        Some(old) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => {
            table.insert(field, Item::Value(value));
        }
    }
    Ok(())
}

/// The table at a dotted path; `make` makes tables that are missing.
fn table_at<'a>(root: &'a mut Table, path: &str, make: bool) -> Result<&'a mut dyn TableLike, String> {
    let wrong = || format!("`{path}` is no table");
    let mut steps = path.split('.').peekable();
    let mut table: &mut dyn TableLike = root;
    while let Some(step) = steps.next() {
        if make && table.get(step).is_none() {
            table.insert(step, Item::Table(Table::new()));
        }
        let item = table.get_mut(step).ok_or_else(wrong)?;
        table = if item.is_array_of_tables() {
            let index: usize = steps.next().and_then(|step| step.parse().ok()).ok_or_else(wrong)?;
            item.as_array_of_tables_mut().and_then(|list| list.get_mut(index)).ok_or_else(wrong)?
        } else if item.is_array() {
            let index: usize = steps.next().and_then(|step| step.parse().ok()).ok_or_else(wrong)?;
            let list = item.as_array_mut().ok_or_else(wrong)?;
            list.get_mut(index).and_then(Value::as_inline_table_mut).ok_or_else(wrong)?
        } else {
            item.as_table_like_mut().ok_or_else(wrong)?
        };
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::{Change, change};

    const SCENE: &str = "# a scene\n[time]\nduration = 1.0 # s\n\n[method]\nid = \"tr_bdf2\" # stiff\n\n[method.options]\ngamma = 0.5\n\n[[part]]\nid = \"rope\"\nlength = 2.0\nsprings = [{ ends = [0, 1], damping = 3.0 }]\n";

    #[test]
    fn only_what_is_advised_changes() {
        let changes = [Change::set("method.id", "leapfrog"), Change::set("method.substeps", 7)];
        let changed = change(SCENE, &changes).unwrap();
        let expected = SCENE.replace(
            "id = \"tr_bdf2\" # stiff\n\n[method.options]\ngamma = 0.5\n",
            "id = \"leapfrog\" # stiff\nsubsteps = 7\n",
        );
        assert_eq!(changed, expected);
        // The same method keeps its options.
        assert!(change(SCENE, &[Change::set("method.id", "tr_bdf2")]).unwrap().contains("gamma"));
        assert!(change("[method", &changes).is_err());
    }

    #[test]
    fn lists_and_inline_tables_are_reached() {
        let changes = [
            Change::set("part.0.springs.0.damping", 0.5),
            Change::remove("part.0.length"),
            Change::add("pin", "part = \"rope\"\nat = \"start\""),
            Change::set("method.options.newton.max_iterations", 40),
        ];
        let changed = change(SCENE, &changes).unwrap();
        assert!(changed.contains("damping = 0.5") && !changed.contains("length"));
        assert!(changed.ends_with("[[pin]]\npart = \"rope\"\nat = \"start\"\n"), "{changed}");
        assert!(changed.contains("[method.options.newton]\nmax_iterations = 40"));
        assert!(change(SCENE, &[Change::set("part.3.id", "x")]).is_err());
        assert!(change(SCENE, &[Change::remove("part.0.section")]).is_err());
    }
}
