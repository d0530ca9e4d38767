//! The command as a script sees it: exit codes, JSON, files.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn sim(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sim")).args(arguments).current_dir(folder).output().unwrap()
}

fn json(output: &Output) -> Value {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    assert_eq!(text.trim_end().lines().count(), 1, "one object on one line: {text}");
    serde_json::from_str(text).unwrap()
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn a_run_prints_one_object_and_its_files_exist() {
    let folder = tempfile::tempdir().unwrap();
    let output = sim(folder.path(), &["run", "three_links", "--json", "--out", "results"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "quiet with --json");
    let object = json(&output);
    let mut keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(
        keys,
        [
            "dt",
            "energy",
            "expectations",
            "files",
            "method",
            "probes",
            "scene",
            "state_hash",
            "steps",
            "substeps",
            "wall_s",
            "warnings"
        ]
    );
    assert_eq!((&object["scene"], &object["method"]), (&"three_links".into(), &"leapfrog".into()));
    assert_eq!(object["steps"], 20_000);
    assert_eq!(object["probes"]["tip_x"]["unit"], "m");
    let first = &object["expectations"][0];
    for key in ["probe", "expected", "measured", "tolerance", "pass", "source"] {
        assert!(!first[key].is_null(), "{key}");
    }
    let files = object["files"].as_array().unwrap();
    assert!(files.iter().any(|file| file.as_str().unwrap().ends_with("report.html")));
    for file in files {
        assert!(folder.path().join(file.as_str().unwrap()).is_file(), "{file}");
    }
}

#[test]
fn people_get_the_result_and_the_report_last() {
    let folder = tempfile::tempdir().unwrap();
    let output = sim(folder.path(), &["run", "three_links", "--set", "output.vtk=false"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    let last: Vec<&str> = text.lines().rev().take(2).collect();
    assert!(last[1].starts_with("result: 6 of 6 expectations met"), "{text}");
    let page = last[0].strip_prefix("report: ").unwrap();
    assert!(folder.path().join(page).is_file(), "{page}");
}

#[test]
fn a_missed_expectation_exits_with_1_and_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let change = ["--set", "expect.tip_x.value=1.0", "--set", "output.vtk=false"];
    let output = sim(folder.path(), &[&["run", "three_links"], &change[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().any(|line| line.starts_with("NOT MET tip_x = -0.65216")), "{text}");
    let output = sim(folder.path(), &[&["run", "three_links", "--json"], &change[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    let object = json(&output);
    let failed: Vec<&Value> =
        object["expectations"].as_array().unwrap().iter().filter(|e| e["pass"] == false).collect();
    assert_eq!((failed.len(), &failed[0]["probe"]), (1, &"tip_x".into()));
}

#[test]
fn bad_input_exits_with_2_names_the_place_and_leaves_nothing() {
    for (arguments, kind, field) in [
        (vec!["run", "rop"], "not_found", None),
        (vec!["run", "rope", "--set", "part.rope.segmnts=4"], "unknown_field", Some("part[0].segmnts")),
        (vec!["run", "rope", "--set", "part.rope.segments=0"], "value", Some("part[0].segments")),
        (vec!["run", "rope", "--set", "nonsense"], "override", None),
        (vec!["run", "rope", "--method", "leapfrg"], "unknown_word", Some("method.id")),
        (vec!["run", "rope", "--method", "newmark"], "not_supported", Some("method.id")),
        (vec!["run", "rope", "--threads", "0"], "usage", None),
        (vec!["run", "rope", "--until", "nan"], "usage", None),
        (vec!["run", "rope", "--no-such-flag"], "usage", None),
        (vec!["run", "no_such_folder/x.toml"], "read", None),
        (vec!["check", "rope", "--set", "pin.0.at=99"], "reference", Some("pin[0].at")),
        (vec!["describe", "leapfrg"], "usage", None),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let output = sim(folder.path(), &[&arguments[..], &["--json"]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let error = &json(&output)["error"];
        assert_eq!(error["kind"], kind, "{arguments:?}: {error}");
        assert!(!error["message"].as_str().unwrap().is_empty());
        if let Some(field) = field {
            assert_eq!(error["field"], field, "{arguments:?}");
            assert!(error["file"].as_str().is_some_and(|file| !file.is_empty()));
        }
        assert!(is_empty(folder.path()), "{arguments:?} left something behind");
        let output = sim(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_run_that_diverges_exits_with_3_and_keeps_whole_frames() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["run", "rope", "--set", "method.substeps=2", "--out", "x", "--json"];
    let output = sim(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(3));
    let error = &json(&output)["error"];
    assert_eq!(error["kind"], "diverged");
    assert!(error["message"].as_str().unwrap().contains("dt above limit"), "{error}");
    assert!(error["step_limit"].as_f64().unwrap() < error["dt"].as_f64().unwrap());
    let files = error["files"].as_array().unwrap();
    assert!(!files.is_empty());
    for file in files {
        assert!(folder.path().join(file.as_str().unwrap()).is_file());
    }
    let csv = std::fs::read_to_string(folder.path().join("x/rope.csv")).unwrap();
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert!(columns.len() >= 2 && columns.iter().all(|&n| n == columns[0]), "only whole rows");
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("taken"), "a file").unwrap();
    let output =
        sim(folder.path(), &["run", "three_links", "--until", "0.1", "--out", "taken/here", "--json"]);
    assert_eq!(output.status.code(), Some(3));
    let error = &json(&output)["error"];
    assert_eq!(error["kind"], "output");
    assert!(error["message"].as_str().unwrap().contains("taken"), "{error}");
}

#[test]
fn scenes_and_methods_are_listed_and_described() {
    let folder = tempfile::tempdir().unwrap();
    let scenes = json(&sim(folder.path(), &["list", "--json"]));
    let names: Vec<&str> = scenes.as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"rope") && names.contains(&"flag") && names.len() >= 9, "{names:?}");
    let method = json(&sim(folder.path(), &["describe", "leapfrog", "--json"]));
    assert_eq!(
        (&method["id"], &method["order"], &method["symplectic"]),
        (&"leapfrog".into(), &2.into(), &true.into())
    );
    let all = String::from_utf8(sim(folder.path(), &["describe"]).stdout).unwrap();
    assert!(all.lines().any(|line| line.starts_with("symplectic_euler ")), "{all}");
    let checked = json(&sim(folder.path(), &["check", "flag", "--json"]));
    assert_eq!(checked["meshes"]["flag"]["quads"], 280);
    assert_eq!(checked["particles"], 315);
    let help = String::from_utf8(sim(folder.path(), &["run", "--help"]).stdout).unwrap();
    assert!(help.contains("Exit codes") && help.contains("--set"), "{help}");
    assert!(is_empty(folder.path()));
}

/// Leapfrog is of second order: the probes of a smooth motion must say so, and the error bar must cover the next refinement.
#[test]
fn converge_measures_the_order_and_writes_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let output = sim(
        folder.path(),
        &["converge", "three_links", "--levels", "3", "--until", "0.5", "--json", "--out", "c"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let object = json(&output);
    let tip = &object["probes"]["tip_x"];
    assert_eq!(tip["convergence"], "monotone");
    assert!((tip["observed_order"].as_f64().unwrap() - 2.0).abs() < 0.05, "{tip}");
    let page = folder.path().join(object["files"][0].as_str().unwrap());
    assert!(std::fs::read_to_string(page).unwrap().contains("Convergence: "));

    let finer = sim(
        folder.path(),
        &["run", "three_links", "--until", "0.5", "--json", "--out", "r", "--set", "method.substeps=3200"],
    );
    let finer = json(&finer)["probes"]["tip_x"]["value"].as_f64().unwrap();
    let finest = tip["values"][2].as_f64().unwrap();
    assert!((finer - finest).abs() <= tip["error_bar"].as_f64().unwrap());
    assert!((finer - tip["extrapolated"].as_f64().unwrap()).abs() < 0.1 * (finer - finest).abs());
}

#[test]
fn converge_varies_a_field_by_one_factor() {
    let folder = tempfile::tempdir().unwrap();
    let vary = |values: &str| {
        let change = format!("method.substeps={values}");
        let arguments = [
            "converge",
            "three_links",
            "--until",
            "0.1",
            "--vary",
            &change,
            "--order",
            "2",
            "--json",
            "--out",
            "c",
        ];
        sim(folder.path(), &arguments)
    };
    let output = vary("100,300,900");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    let object = json(&output);
    assert_eq!(object["ratio"], 3.0);
    assert!((object["probes"]["tip_x"]["observed_order"].as_f64().unwrap() - 2.0).abs() < 0.05);
    for wrong in ["100,200", "100,200,300", "100,x,400", "0,0,0", "100,100,100"] {
        let output = vary(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(json(&output)["error"]["message"].as_str().unwrap().contains("--vary"), "{wrong}");
    }
}

#[test]
fn constraints_are_described_and_say_how_far_from_converged_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let output = sim(folder.path(), &["run", "block_and_tackle", "--json", "--out", "results"]);
    assert_eq!(output.status.code(), Some(0));
    let object = json(&output);
    let convergence = &object["convergence"];
    assert_eq!((&object["method"], &convergence["order"]), (&"xpbd".into(), &"list".into()));
    assert_eq!(convergence["not_converged"], 0, "{convergence}");
    assert!(convergence["sentence"].as_str().unwrap().starts_with("converged: "), "{convergence}");
    let text = sim(folder.path(), &["run", "block_and_tackle"]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("\nconvergence: converged: "));
    let described = json(&sim(folder.path(), &["describe", "xpbd", "--json"]));
    assert_eq!((&described["options"]["iterations"], &described["id"]), (&1.into(), &"xpbd".into()));
}
