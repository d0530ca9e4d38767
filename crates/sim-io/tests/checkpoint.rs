//! A run that goes on from a checkpoint is the run that never stopped.

use sim_io::checkpoint::{CheckpointError, Every, KeepOptions, Which};
use sim_io::run::methods;
use sim_io::{RunError, RunOptions, RunResult, Scene, run_kept};
use std::ops::ControlFlow;
use std::path::Path;

fn keep(write: Option<&Path>, resume: Option<(&Path, Which)>) -> KeepOptions {
    KeepOptions {
        write: write.map(|folder| (folder.to_owned(), Every::Wall(0.0))),
        resume: resume.map(|(folder, which)| (folder.to_owned(), which)),
    }
}

fn scene(name: &str, changes: &[String]) -> Scene {
    Scene::load(name, changes).unwrap()
}

/// Frames that runs are short enough for a test with, and the one they are stopped at.
const FRAMES: u32 = 8;
const STOP: u32 = 5;

fn until(scene: &Scene, frames: u32) -> f64 {
    scene.time.start + f64::from(frames) * scene.time.frame
}

fn go(scene: &Scene, threads: usize, keep: &KeepOptions, stop: Option<u32>) -> Result<RunResult, RunError> {
    let options = RunOptions { until: Some(until(scene, FRAMES)), threads: Some(threads) };
    let stop = stop.map_or(f64::INFINITY, |frames| until(scene, frames) + 0.5 * scene.time.frame);
    run_kept(scene, options, keep, &mut |progress| {
        if progress.t > stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}

/// Everything of a result but wall-clock time.
fn text(mut result: RunResult) -> String {
    result.wall_s = 0.0;
    serde_json::to_string(&result).unwrap()
}

fn goes_on(what: &str, scene: &Scene) {
    let whole = go(scene, 1, &KeepOptions::default(), None).map(text);
    let Ok(whole) = whole else {
        // Not every method can step every scene; then there is nothing to go on with.
        return assert!(what.starts_with("method"), "{what}: {whole:?}");
    };
    for (which, threads) in [(Which::Latest, 2), (Which::Previous, 4)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let stopped = go(scene, 1, &keep(Some(path), None), Some(STOP));
        assert!(matches!(stopped, Err(RunError::Stopped { .. })), "{what}");
        let resumed = go(scene, threads, &keep(None, Some((path, which))), None).unwrap();
        assert_eq!(resumed.frame_hashes.len(), FRAMES as usize + 1, "{what}");
        assert!(text(resumed) == whole, "{what}, {which:?}: not the bits of a run that never stopped");
    }
}

#[test]
fn every_method_goes_on_with_the_same_bits() {
    for method in methods() {
        let changes = [format!("method.id={:?}", method.id), "method.substeps=40".to_owned()];
        goes_on(&format!("method {}", method.id), &scene("rope", &changes));
    }
}

#[test]
fn contact_friction_drives_and_belts_go_on_with_the_same_bits() {
    for name in ["rope_over_peg", "rope_pile", "cloth_on_sphere", "belt_drive", "knot", "flag", "rope_whip"] {
        goes_on(name, &scene(name, &[]));
    }
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let rope = scene("rope", &[]);
    let _ = go(&rope, 1, &keep(Some(folder.path()), None), Some(STOP));
    let resume = keep(None, Some((folder.path(), Which::Latest)));
    let changed = scene("rope", &["method.safety=0.8".to_owned()]);
    for other in [changed, scene("rope_swing", &[])] {
        let refused = go(&other, 1, &resume, None);
        assert!(matches!(refused, Err(RunError::Resume(CheckpointError::Foreign { .. }))), "{refused:?}");
    }
    let longer = RunOptions { until: Some(until(&rope, FRAMES + 1)), threads: None };
    let refused = run_kept(&rope, longer, &resume, &mut |_| ControlFlow::Continue(()));
    assert!(matches!(
        refused,
        Err(RunError::Resume(CheckpointError::Foreign { what: "number of frames", .. }))
    ));
}

#[test]
fn a_checkpoint_that_cannot_be_written_ends_the_run_with_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file");
    std::fs::write(&file, "").unwrap();
    match go(&scene("rope", &[]), 1, &keep(Some(&file), None), None) {
        Err(RunError::Checkpoint { partial, .. }) => assert_eq!(partial.times.len(), 2),
        other => panic!("{other:?}"),
    }
}
