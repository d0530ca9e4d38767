//! Writing advice into a scene file, everything else as it was.

use crate::failure::Failure;
use sim_io::scene::Scene;
use sim_io::scene::library;
use std::path::Path;
use toml_edit::{DocumentMut, Item, Table, Value};

/// Changes the file, or writes a built-in scene to a new one; returns its name.
pub fn apply(name: &str, changes: &[String], scene: &Scene) -> Result<String, Failure> {
    let path = Path::new(name);
    let built_in = library::BUILT_IN.iter().find(|scene| scene.name == name && !path.exists());
    let (file, text) = match built_in {
        Some(scene) => {
            let file = format!("{name}.toml");
            if Path::new(&file).exists() {
                return Err(Failure::usage(format!(
                    "--apply: {file} exists already; run `sim advise {file} --apply` to change it"
                )));
            }
            (file, scene.text.to_owned())
        }
        None if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) => {
            return Err(Failure::usage(
                "--apply writes TOML scenes; change the JSON file by hand as `use it` says",
            ));
        }
        None => {
            let text = std::fs::read_to_string(path)
                .map_err(|error| Failure::output(format!("cannot read {name}: {error}")))?;
            (name.to_owned(), text)
        }
    };
    let changed = change(&text, changes, &scene.method.id)
        .map_err(|why| Failure::output(format!("cannot change {file}: {why}")))?;
    sim_io::export::write_whole(Path::new(&file), changed.as_bytes())
        .map_err(|error| Failure::output(format!("cannot write {file}: {error}")))?;
    Ok(file)
}

/// The text with `table.field=value` changes; options of another method go.
fn change(text: &str, changes: &[String], method: &str) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    for change in changes {
        let (path, value) = change.split_once('=').ok_or("no value")?;
        let (table, field) = path.split_once('.').ok_or("no field")?;
        let value: Value = value.parse().unwrap_or_else(|_| Value::from(value));
        if path == "method.id"
            && value.as_str() != Some(method)
            && let Some(options) = document.get_mut("method").and_then(Item::as_table_like_mut)
        {
            options.remove("options");
        }
        let table = document.entry(table).or_insert(Item::Table(Table::new()));
        let table = table.as_table_like_mut().ok_or_else(|| format!("`{path}` is not in a table"))?;
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
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::change;

    #[test]
    fn only_what_is_advised_changes() {
        let text = "# a scene\n[time]\nduration = 1.0 # s\n\n[method]\nid = \"tr_bdf2\" # stiff\n\n[method.options]\ngamma = 0.5\n\n[[part]]\nid = \"rope\"\n";
        let changes = ["method.id=leapfrog".to_owned(), "method.substeps=7".to_owned()];
        let changed = change(text, &changes, "tr_bdf2").unwrap();
        assert_eq!(
            changed,
            "# a scene\n[time]\nduration = 1.0 # s\n\n[method]\nid = \"leapfrog\" # stiff\nsubsteps = 7\n\n[[part]]\nid = \"rope\"\n"
        );
        // The same method keeps its options.
        assert!(change(text, &["method.id=tr_bdf2".to_owned()], "tr_bdf2").unwrap().contains("gamma"));
        assert!(change("[method", &changes, "x").is_err());
    }
}
