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
            "frame_hashes",
            "method",
            "probes",
            "scene",
            "source",
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
fn methods_are_compared_with_a_reference_that_is_known_well_enough() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["compare", "three_links", "--until", "0.5", "--error", "0.1%", "--json"];
    let output =
        sim(folder.path(), &[&arguments[..], &["--methods", "leapfrog,tr_bdf2,explicit_euler"]].concat());
    let object = json(&output);
    assert_eq!(output.status.code(), Some(0), "{object}");
    assert!(object["reference"]["uncertainty"].as_f64().unwrap() <= 1e-4, "{object}");
    let methods = object["methods"].as_array().unwrap();
    assert_eq!(
        methods.iter().map(|m| m["method"].as_str().unwrap()).collect::<Vec<_>>(),
        ["leapfrog", "tr_bdf2", "explicit_euler"]
    );
    // Second-order methods: twice the steps, a quarter of the error, where the runs are fine enough.
    let errors: Vec<f64> = (methods[1]["points"].as_array().unwrap().iter())
        .map(|point| point["outcome"]["done"]["error"].as_f64().unwrap())
        .collect();
    let [.., before, last] = errors[..] else { panic!("{object}") };
    assert!((before / last - 4.0).abs() < 1.0, "{errors:?}");
    let fastest = &object["fastest"];
    assert!(fastest["error"].as_f64().unwrap() <= 1e-3, "{object}");
    assert_ne!(fastest["method"], "explicit_euler");
    // The advice can be followed as it stands.
    let changes: Vec<&str> =
        fastest["changes"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
    let run = sim(
        folder.path(),
        &["run", "three_links", "--until", "0.5", "--json", "--set", changes[0], "--set", changes[1]],
    );
    assert_eq!(json(&run)["substeps"], fastest["substeps"]);
    let page = object["files"][0].as_str().unwrap();
    assert!(std::fs::read_to_string(folder.path().join(page)).unwrap().contains("Methods compared"));
}

/// Methods without contact must not run a scene with colliders as if there were none.
#[test]
fn only_methods_that_can_run_a_scene_are_compared_or_advised() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--until", "0.1", "--error", "5%", "--max-wall", "5", "--json"];
    let object = json(&sim(folder.path(), &[&["compare", "cloth_on_sphere"], &arguments[..]].concat()));
    assert_eq!(object["reference"]["method"], "xpbd", "{object}");
    for method in object["methods"].as_array().unwrap() {
        let runs = method["points"].as_array().unwrap().len();
        assert_eq!(runs > 0, method["method"] == "xpbd", "{method}");
    }
    assert!(object["notes"].to_string().contains("knows no contact"), "{object}");
    // Without contact every method runs, constraints among them.
    let arguments = ["compare", "three_links", "--methods", "xpbd,leapfrog", "--until", "0.2", "--json"];
    let object = json(&sim(folder.path(), &arguments));
    assert_eq!(object["reference"]["method"], "runge_kutta4", "{object}");
    let within = |method: &Value| {
        let points = method["points"].as_array().unwrap();
        points.iter().any(|point| point["outcome"]["done"]["error"].as_f64().is_some_and(|e| e < 0.01))
    };
    assert!(object["methods"].as_array().unwrap().iter().all(within), "{object}");
}

#[test]
fn comparisons_that_make_no_sense_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, word) in [
        (&["three_links", "--methods", "leapfrgo"][..], "leapfrog"),
        (&["three_links", "--reference", "euler"], "euler"),
        (&["three_links", "--by", "nothing"], "tip_x"),
        (&["three_links", "--error", "0"], "above 0"),
        (&["three_links", "--max-wall", "nan"], "max-wall"),
        (&["bar"], "converge"),
        (&["hanging_rope"], "--by"),
    ] {
        let output = sim(folder.path(), &[&["compare", "--json"], arguments].concat());
        let message = json(&output)["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(word), "{arguments:?}: {message}");
    }
}

/// Options outside what a step limit is proved for: automatic substeps would be a guess.
#[test]
fn automatic_substeps_need_a_limit_that_covers_the_options() {
    let folder = tempfile::tempdir().unwrap();
    let family = ["--set", "method.id=theta_mixed", "--set", "method.options={alpha=0.0,beta=1.0}"];
    let auto = [&["run", "three_links", "--json", "--set", "method.substeps=auto"], &family[..]].concat();
    let output = sim(folder.path(), &auto);
    let error = json(&output)["error"].clone();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert_eq!(error["field"], "method.substeps", "{error}");
    let fixed =
        [&["run", "three_links", "--until", "0.1", "--json"], &family[..], &["--set", "method.substeps=50"]]
            .concat();
    assert_eq!(sim(folder.path(), &fixed).status.code(), Some(0));
}

#[test]
fn advice_is_measured_and_can_be_applied() {
    let folder = tempfile::tempdir().unwrap();
    let text = sim_io_scene("three_links");
    std::fs::write(folder.path().join("mine.toml"), &text).unwrap();
    let output = sim(folder.path(), &["advise", "mine.toml", "--error", "0.5%", "--apply", "--json"]);
    let object = json(&output);
    assert_eq!(output.status.code(), Some(0), "{object}");
    assert_eq!(object["facts"]["free"], 3);
    let best = &object["recommended"];
    assert!(best["error"].as_f64().unwrap() <= 0.005, "{object}");
    assert_eq!(object["applied_to"], "mine.toml");
    // Every method is recommended or has a reason why not.
    let named = object["rejected"].as_array().unwrap().len() + 1;
    assert_eq!(named, json(&sim(folder.path(), &["describe", "--json"])).as_array().unwrap().len());
    assert!(object["rejected"].as_array().unwrap().iter().all(|r| !r["reason"].as_str().unwrap().is_empty()));
    // The scene now says what was advised, its comments and everything else are as they were.
    let changed = std::fs::read_to_string(folder.path().join("mine.toml")).unwrap();
    let run = json(&sim(folder.path(), &["run", "mine.toml", "--json"]));
    assert_eq!((&run["method"], &run["substeps"]), (&best["method"], &best["substeps"]));
    let kept = |text: &str| {
        text.lines().filter(|line| !line.starts_with("id = ") && !line.starts_with("substeps")).count()
    };
    assert_eq!(kept(&changed), kept(&text));
    // A built-in scene is written beside, once.
    assert_eq!(sim(folder.path(), &["advise", "three_links", "--apply"]).status.code(), Some(0));
    let again = sim(folder.path(), &["advise", "three_links", "--apply", "--json"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(json(&again)["error"]["message"].as_str().unwrap().contains("exists already"));
}

#[test]
fn advice_follows_the_frame_rate_and_refuses_nonsense() {
    let folder = tempfile::tempdir().unwrap();
    let steps = |rate: &str| {
        let object = json(&sim(folder.path(), &["advise", "three_links", "--frame-rate", rate, "--json"]));
        object["facts"]["explicit_steps"].as_u64().unwrap()
    };
    assert!(steps("5") >= 4 * steps("50"), "{} {}", steps("5"), steps("50"));
    for arguments in [["--frame-rate", "0"], ["--budget", "-1"], ["--trial", "nan"], ["--error", "300%"]] {
        let output = sim(folder.path(), &[&["advise", "three_links", "--json"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

/// Text of a scene of `docs/scenes`.
fn sim_io_scene(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/scenes/{name}.toml"));
    std::fs::read_to_string(path).unwrap()
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
