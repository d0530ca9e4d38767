//! Every scene of `docs/scenes`: built in, run, and as theory says.

use sim_io::scene::library::BUILT_IN;
use sim_io::{Document, RunOptions, RunResult, Scene, run, structure};
use std::ops::ControlFlow;
use std::path::Path;

fn result(name: &str, options: RunOptions) -> RunResult {
    let scene = Scene::load(name, &[]).unwrap();
    run(&scene, options, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn met(name: &str) {
    let result = result(name, RunOptions::default());
    assert!(!result.expectations.is_empty(), "{name} expects nothing");
    for expectation in &result.expectations {
        assert!(expectation.pass, "{name}: {expectation:?}");
    }
    // A scene without external work or damping keeps its account to rounding.
    let scale = result.energy.initial.total().abs().max(result.energy.current.kinetic).max(1e-3);
    assert!(result.energy.gap().abs() < 1e-9 * scale, "{name}: gap {}", result.energy.gap());
}

macro_rules! scenes {
    ($($name:ident),* $(,)?) => {
        /// Run as they are. `cloth` takes minutes, so a coarser one stands for it here; the whole one is run with the other scenes by
        /// `cargo xtask ci`.
        const TESTED: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { met(stringify!($name)); })*
    };
}
scenes!(
    belt_drive,
    block_and_tackle,
    breaking_strap,
    bungee,
    cloth_on_box,
    cloth_on_sphere,
    coil,
    coil_surge,
    falling_sheet,
    flag,
    flag_xpbd,
    hanging_rope,
    hanging_rope_modes,
    knot,
    rope,
    rope_over_peg,
    rope_pile,
    rope_swing,
    rope_whip,
    rubber_strip,
    slinky_drop,
    strap_creep,
    strap_relaxation,
    string,
    three_links,
);

#[test]
fn the_folder_is_built_in_and_tested() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenes");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
        .collect();
    files.sort();
    assert_eq!(files, BUILT_IN.iter().map(|scene| scene.name).collect::<Vec<_>>());
    // The stiff sheet takes minutes; its coarse form is tested.
    let is_tested =
        |name: &String| name != "cloth" && matches!(Document::load(name, &[]).unwrap(), Document::Motion(_));
    assert_eq!(files.into_iter().filter(is_tested).collect::<Vec<_>>(), TESTED);
}

#[test]
fn structures_are_as_theory_says() {
    let mut number = 0;
    for scene in BUILT_IN {
        let Document::Structure(scene) = Document::load(scene.name, &[]).unwrap() else { continue };
        let result = structure::run(&scene, &mut |_, _| {}).unwrap();
        assert!(!result.expectations.is_empty(), "{} expects nothing", result.scene);
        for expectation in &result.expectations {
            assert!(expectation.pass, "{}: {expectation:?}", result.scene);
        }
        number += 1;
    }
    assert!(number >= 7);
}

/// The stiff sheet with an eighth of its rows and columns.
#[test]
fn coarse_cloth() {
    let set = ["part.sheet.columns=12", "part.sheet.rows=12", "pin.0.at=[0, 12]", "probe.load.at=[0, 12]"];
    let scene = Scene::load("cloth", &set.map(str::to_owned)).unwrap();
    let result = run(&scene, RunOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    for expectation in &result.expectations {
        assert!(expectation.pass, "{expectation:?}");
    }
    assert_eq!((result.steps, result.expectations.len()), (600, 7), "{:?}", result.warnings);
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let hash = |threads| {
        let options = RunOptions { until: Some(0.1), threads: Some(threads) };
        result("flag", options).state_hash
    };
    let one = hash(1);
    assert_eq!((hash(2), hash(8)), (one.clone(), one));
}
