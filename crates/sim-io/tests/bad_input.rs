//! Malformed scenes and meshes: one clear error each, naming file, field and value; never a panic.

use sim_io::{Scene, SceneError, run};
use std::path::{Path, PathBuf};

#[derive(serde::Deserialize)]
struct Case {
    file: String,
    kind: String,
    field: String,
    fragment: String,
}

#[derive(serde::Deserialize)]
struct Manifest {
    case: Vec<Case>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad")
}

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(folder().join("expected.toml")).unwrap();
    toml::from_str::<Manifest>(&text).unwrap().case
}

fn has_extension(file: &str, extension: &str) -> bool {
    Path::new(file).extension().is_some_and(|found| found == extension)
}

fn refusal(path: &Path) -> Result<(), SceneError> {
    let scene = Scene::load(&path.to_string_lossy(), &[])?;
    run::check(&scene).map(|_| ())
}

#[test]
fn every_malformed_input_is_refused_by_name() {
    let cases = cases();
    assert!(cases.len() >= 40, "{} cases", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let path = folder().join(&case.file);
        let Err(error) = refusal(&path) else {
            wrong.push(format!("{}: accepted", case.file));
            continue;
        };
        let message = error.to_string();
        let place = error.place().cloned().unwrap_or_default();
        let named = place.file == path.to_string_lossy();
        if error.kind() != case.kind
            || place.field != case.field
            || !message.contains(&case.fragment)
            || !named
        {
            wrong.push(format!("{}: {} at `{}`: {message}", case.file, error.kind(), place.field));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn errors_of_toml_fields_name_their_line() {
    for case in cases() {
        if !has_extension(&case.file, "toml") || ["missing", "not_found"].contains(&case.kind.as_str()) {
            continue;
        }
        let error = refusal(&folder().join(&case.file)).unwrap_err();
        let line = error.place().and_then(|place| place.line);
        assert!(line.is_some_and(|line| line >= 1), "{}: {error}", case.file);
    }
}

#[test]
fn the_manifest_is_the_whole_folder() {
    let mut listed: Vec<String> = cases().into_iter().map(|case| case.file).collect();
    listed.push("expected.toml".into());
    for entry in std::fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let scene = has_extension(&name, "toml") || has_extension(&name, "json");
        assert!(!scene || listed.contains(&name), "{name} is not in expected.toml");
    }
}

#[test]
fn names_that_are_no_scene_are_refused_with_a_suggestion() {
    let error = Scene::load("hanging_rop", &[]).unwrap_err();
    assert_eq!(error.kind(), "not_found");
    assert!(error.to_string().contains("did you mean `hanging_rope`"), "{error}");
    let error = Scene::load("no/such/file.toml", &[]).unwrap_err();
    assert_eq!((error.kind(), error.place().unwrap().file.as_str()), ("read", "no/such/file.toml"));
}
