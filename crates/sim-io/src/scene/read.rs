//! From text to a checked [`Scene`].

use super::check;
use super::document::{Scene, Substeps};
use super::error::{SceneError, nearest};
use super::source::{Source, steps};
use super::{foreseen, library, overrides};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

impl Scene {
    /// Reads a scene file (`.json` is JSON, anything else TOML) or, when there is no such file, the built-in scene of that
    /// name; applies `path=value` overrides and checks everything that can be checked without building it.
    ///
    /// # Errors
    /// [`SceneError`] naming file, field, line and value.
    pub fn load(name: &str, overrides: &[String]) -> Result<Self, SceneError> {
        let (mut source, folder) = locate(name)?;
        overrides.clone_into(&mut source.changes);
        Self::read(&source, overrides, folder)
    }

    /// Reads a scene from TOML text. `folder` is where file names in it start.
    ///
    /// # Errors
    /// As [`Scene::load`].
    pub fn from_toml(file: &str, text: &str, folder: impl Into<PathBuf>) -> Result<Self, SceneError> {
        Self::read(&Source::new(file, text, true), &[], folder.into())
    }

    /// Reads a scene from JSON text. `folder` is where file names in it start.
    ///
    /// # Errors
    /// As [`Scene::load`].
    pub fn from_json(file: &str, text: &str, folder: impl Into<PathBuf>) -> Result<Self, SceneError> {
        Self::read(&Source::new(file, text, false), &[], folder.into())
    }

    fn read(source: &Source, changes: &[String], folder: PathBuf) -> Result<Self, SceneError> {
        Self::of_tree(tree(source, changes)?, source, folder)
    }

    pub(crate) fn of_tree(tree: Table, source: &Source, folder: PathBuf) -> Result<Self, SceneError> {
        foreseen::refuse(&tree, source)?;
        let mut scene: Scene = typed(tree, source)?;
        scene.folder = folder;
        scene.source = source.clone();
        check::scene(&scene)?;
        Ok(scene)
    }

    /// The same scene by another method with so many steps per frame. Options of the method are kept for its own only.
    ///
    /// # Errors
    /// [`SceneError`] when the method cannot run the scene, e.g. has no contact.
    pub fn with_method(&self, id: &str, substeps: Substeps) -> Result<Self, SceneError> {
        let mut scene = self.clone();
        if scene.method.id != id {
            id.clone_into(&mut scene.method.id);
            scene.method.options.clear();
        }
        scene.method.substeps = substeps;
        check::scene(&scene)?;
        Ok(scene)
    }
}

/// The text of a scene file, or of the built-in scene of that name, and the folder where file names in it start.
pub(crate) fn locate(name: &str) -> Result<(Source, PathBuf), SceneError> {
    let path = Path::new(name);
    if path.is_file() || path.extension().is_some() || name.contains(['/', '\\']) {
        let text = std::fs::read_to_string(path).map_err(|source| SceneError::Read {
            place: Box::new(super::error::Place { file: name.to_owned(), ..Default::default() }),
            source,
        })?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let toml = !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        return Ok((Source::new(name, text, toml), folder));
    }
    let local = PathBuf::from("docs/scenes").join(format!("{name}.toml"));
    if local.is_file() {
        return locate(&local.to_string_lossy());
    }
    match library::find(name) {
        Some(entry) => Ok((Source::new(name, entry.text, true), PathBuf::new())),
        None => Err(SceneError::NotFound {
            name: name.to_owned(),
            suggestion: nearest(name, library::names()),
            known: library::names().collect::<Vec<_>>().join(", "),
        }),
    }
}

/// Parses a text, applies `path=value` changes and refuses numbers that are not finite.
pub(crate) fn tree(source: &Source, changes: &[String]) -> Result<Table, SceneError> {
    let mut tree = source.tree()?;
    for text in changes {
        overrides::apply(&mut tree, text)?;
    }
    finite(&tree, source)?;
    Ok(tree)
}

/// Gives a tree its type.
pub(crate) fn typed<T: serde::de::DeserializeOwned>(tree: Table, source: &Source) -> Result<T, SceneError> {
    let tree = kind_first(Value::Table(tree));
    serde_path_to_error::deserialize(tree.clone()).map_err(|error| translate(&error, &tree, source))
}

/// Refuses NaN and infinity, which TOML can write, wherever they stand.
fn finite(tree: &Table, source: &Source) -> Result<(), SceneError> {
    fn walk(value: &Value, path: &str, source: &Source) -> Result<(), SceneError> {
        match value {
            Value::Float(number) if !number.is_finite() => Err(SceneError::Value {
                place: source.place(path),
                value: number.to_string(),
                requirement: "a finite number".into(),
            }),
            Value::Array(list) => list
                .iter()
                .enumerate()
                .try_for_each(|(i, value)| walk(value, &format!("{path}[{i}]"), source)),
            Value::Table(table) => {
                table.iter().try_for_each(|(key, value)| walk(value, &format!("{path}.{key}"), source))
            }
            _ => Ok(()),
        }
    }
    tree.iter().try_for_each(|(key, value)| walk(value, key, source))
}

/// Puts `kind` first in every table, so that readers of `kind` tables need not look ahead.
fn kind_first(value: Value) -> Value {
    match value {
        Value::Table(mut table) => {
            let mut sorted = Table::new();
            if let Some(kind) = table.remove("kind") {
                sorted.insert("kind".into(), kind);
            }
            sorted.extend(table.into_iter().map(|(key, value)| (key, kind_first(value))));
            Value::Table(sorted)
        }
        Value::Array(list) => Value::Array(list.into_iter().map(kind_first).collect()),
        other => other,
    }
}

/// serde's messages are fixed texts; what they quote becomes fields of the error.
fn translate(
    error: &serde_path_to_error::Error<toml::de::Error>,
    tree: &Value,
    source: &Source,
) -> SceneError {
    let path = match error.path().to_string() {
        root if root == "." => String::new(),
        // A `?` stands for places that serde buffers; what is before it is known.
        path => path.trim_end_matches('?').trim_end_matches('.').to_owned(),
    };
    let message = error.inner().message();
    let mut quoted = message.split('`').skip(1).step_by(2).map(str::to_owned);
    let first = quoted.next().unwrap_or_default();
    let known: Vec<String> = quoted.collect();
    let suggestion = nearest(&first, known.iter().map(String::as_str));
    let below = |field: &str| match path.as_str() {
        "" => field.to_owned(),
        path if path == field || path.ends_with(&format!(".{field}")) => path.to_owned(),
        path => format!("{path}.{field}"),
    };
    if message.starts_with("unknown field") {
        SceneError::UnknownField { place: source.place(&below(&first)), suggestion, known: known.join(", ") }
    } else if message.starts_with("unknown variant") {
        // The path may end at the table whose `kind` is unknown.
        let kind = steps(&below("kind")).iter().try_fold(tree, |at, step| match step.parse::<usize>() {
            Ok(index) => at.get(index),
            Err(_) => at.get(step.as_str()),
        });
        let field = if kind.and_then(Value::as_str) == Some(&first) { below("kind") } else { path.clone() };
        SceneError::UnknownWord {
            place: source.place(&field),
            value: first,
            suggestion,
            known: known.join(", "),
        }
    } else if message.starts_with("missing field") {
        SceneError::Missing {
            place: source.place(&below(&first)),
            requirement: "every such table needs it".into(),
        }
    } else {
        SceneError::Type { place: source.place(&path), message: message.trim().to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
[scene]
name = "t"
[time]
duration = 1.0
frame = 0.1
[method]
id = "leapfrog"
[[part]]
segments = 4
kind = "rope"
id = "r"
from = [0, 0, 0]
to = [1, 0, 0]
axial_stiffness = 100
linear_density = 1
[[pin]]
part = "r"
at = "start"
[[drive]]
part = "r"
at = 4
motion = { frequency = 1.0, kind = "sinusoid", center = [1, 0, 0], amplitude = [0, 0.1, 0] }
[[probe]]
name = "y"
kind = "position"
part = "r"
at = { nearest = [0.5, 0, 0] }
component = "y"
value = { kind = "at", time = 0.5 }
[[expect]]
probe = "y"
value = 1
tolerance = 10
source = "none"
"#;

    #[test]
    fn toml_and_json_give_the_same_scene() {
        let a = Scene::from_toml("t", GOOD, "").unwrap();
        let tree: Table = GOOD.parse().unwrap();
        let b = Scene::from_json("t", &serde_json::to_string(&tree).unwrap(), "").unwrap();
        assert_eq!(a.parts, b.parts);
        assert_eq!(a.probes, b.probes);
        assert_eq!(a.drives, b.drives);
        assert_eq!(a.parts[0].kind(), "rope");
    }

    fn error(from: &str, to: &str) -> SceneError {
        assert!(GOOD.contains(from), "{from}");
        Scene::from_toml("t.toml", &GOOD.replacen(from, to, 1), "").unwrap_err()
    }

    #[test]
    fn errors_name_field_line_and_suggestion() {
        for (from, to, kind, field, line, fragment) in [
            ("segments", "segmets", "unknown_field", "part[0].segmets", Some(10), "did you mean `segments`"),
            ("\"rope\"", "\"robe\"", "unknown_word", "part[0].kind", Some(11), "did you mean `rope`"),
            ("\"rope\"", "\"beam\"", "not_supported", "part[0].kind", Some(11), "beam"),
            ("duration = 1.0\n", "", "missing", "time.duration", Some(4), "missing"),
            ("duration = 1.0", "duration = \"1 s\"", "type", "time.duration", Some(5), "string \"1 s\""),
            ("[1, 0, 0]\nax", "[1, 0]\nax", "type", "part[0].to", Some(14), "length 2"),
            ("= 100", "= nan", "value", "part[0].axial_stiffness", Some(15), "NaN"),
            ("\"start\"", "\"strat\"", "unknown_word", "pin[0].at", Some(19), "did you mean `start`"),
            ("at = 4", "at = -4", "type", "drive[0].at", Some(22), "-4"),
            (
                "frequency = ",
                "freqency = ",
                "unknown_field",
                "drive[0].motion.freqency",
                Some(23),
                "frequency",
            ),
            ("time = 0.5", "tme = 0.5", "unknown_field", "probe[0].value.tme", Some(30), "time"),
            ("nearest", "nearst", "unknown_word", "probe[0].at.nearst", Some(28), "nearest"),
        ] {
            let error = error(from, to);
            let place = error.place().unwrap();
            let all = (error.kind(), place.field.as_str(), place.line);
            assert_eq!(all, (kind, field, line), "{from} -> {to}: {error}");
            assert!(error.to_string().contains(fragment), "{from} -> {to}: {error}");
        }
    }
}
