//! The doctor: every broken scene of the corpus has its cause found and is mended by what is advised; healthy scenes raise no alarm.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn sim(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sim")).args(arguments).output().expect("the program starts")
}

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the corpus is there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

/// What `sim diagnose --json` says, and its exit code.
fn diagnose(scene: &Path, more: &[&str]) -> (Value, i32) {
    let name = scene.to_string_lossy();
    let output = sim(&[&["diagnose", &name, "--json", "--budget", "20"], more].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    let value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}: {text}"));
    (value, output.status.code().unwrap_or(-1))
}

fn faults(report: &Value) -> Vec<&Value> {
    let all = report["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter(|finding| finding["severity"] == "fault").collect()
}

/// Causes whose remedy is a decision that no program can make.
const FOR_PEOPLE: &[&str] = &["mechanism"];

#[test]
fn every_broken_scene_is_diagnosed_and_mended() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenes = corpus();
    assert!(scenes.len() >= 30, "{} scenes", scenes.len());
    for scene in &scenes {
        // Meshes lie beside the scenes.
        for entry in std::fs::read_dir(scene.parent().expect("a folder")).expect("the corpus") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "obj") {
                let target = folder.path().join(path.file_name().expect("a name"));
                std::fs::copy(&path, target).expect("copied");
            }
        }
        let text = std::fs::read_to_string(scene).expect("readable");
        let cause = text.lines().next().and_then(|line| line.strip_prefix("# cause: ")).expect("a cause");
        let mended = folder.path().join(scene.file_name().expect("a name"));
        let fix = mended.to_string_lossy();
        let (report, code) = diagnose(scene, &["--fix", &fix]);
        let found = faults(&report);
        let name = scene.display();
        assert_eq!(code, 1, "{name}: {report}");
        assert_eq!(report["healthy"], false, "{name}");
        let first = found.first().unwrap_or_else(|| panic!("{name}: nothing found"));
        assert_eq!(first["cause"], cause, "{name}: {report}");
        let evidence = first["evidence"].as_array().map_or(0, Vec::len);
        assert!(
            evidence > 0 && first["remedy"].as_str().is_some_and(|text| !text.is_empty()),
            "{name}: {first}"
        );
        if FOR_PEOPLE.contains(&cause) {
            assert!(!mended.exists(), "{name}");
            continue;
        }
        let (after, code) = diagnose(&mended, &[]);
        assert_eq!((code, faults(&after).len()), (0, 0), "{name}, mended: {after}");
    }
}

#[test]
fn healthy_scenes_raise_no_alarm() {
    // All of them are diagnosed by `cargo xtask ci`; here those that are done in a second.
    for name in
        ["rope", "coil_surge", "string", "three_links", "hanging_rope", "flag_xpbd", "ten-bar", "von-mises"]
    {
        let (report, code) = diagnose(Path::new(name), &[]);
        assert_eq!((code, faults(&report).len()), (0, 0), "{name}: {report}");
    }
}

#[test]
fn the_folder_of_a_run_is_enough() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_string_lossy().into_owned();
    let run = sim(&["run", "rope", "--set", "method.substeps=1", "--out", &out]);
    assert_eq!(run.status.code(), Some(3));
    let (report, code) = diagnose(folder.path(), &[]);
    assert_eq!(code, 1);
    assert_eq!(faults(&report)[0]["cause"], "step_beyond_limit", "{report}");
    // A folder without a run, and one that is not there.
    let empty = tempfile::tempdir().expect("a folder");
    assert_eq!(diagnose(empty.path(), &[]).1, 2);
    assert_eq!(diagnose(Path::new("no/such/scene.toml"), &[]).1, 2);
}

#[test]
fn a_file_is_never_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("there.toml");
    std::fs::write(&file, "mine").expect("written");
    let scene = &corpus()[0];
    let (report, code) = diagnose(scene, &["--fix", &file.to_string_lossy()]);
    assert_eq!(code, 2, "{report}");
    assert_eq!(std::fs::read_to_string(&file).expect("readable"), "mine");
}
