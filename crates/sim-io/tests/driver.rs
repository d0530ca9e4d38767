//! The run driver: similar scenes move alike, failures say why and keep what was reached.

use sim_io::output;
use sim_io::scene::OutputOptions;
use sim_io::{RunError, RunOptions, RunResult, Scene, run};
use std::ops::ControlFlow;

fn scene(text: &str) -> Scene {
    Scene::from_toml("test.toml", text, "").unwrap()
}

fn run_all(scene: &Scene) -> Result<RunResult, RunError> {
    run(scene, RunOptions::default(), &mut |_| ControlFlow::Continue(()))
}

/// A hanging net of side `size` m, every time and stiffness scaled so that the motion is similar.
fn net(size: f64) -> Scene {
    let time = size.sqrt();
    scene(&format!(
        r#"
[scene]
name = "net"
[time]
duration = {duration}
frame = {frame}
[method]
id = "leapfrog"
substeps = 20
[[part]]
id = "net"
kind = "cloth"
width = {size}
height = {size}
columns = 6
rows = 6
membrane_stiffness = {stiffness}
shear_stiffness = {shear}
areal_density = 0.3
damping_time = {damping}
[[pin]]
part = "net"
at = "top"
[[force]]
kind = "gravity"
[[force]]
kind = "point_load"
part = "net"
at = 3
force = [0.0, 0.0, {load}]
[[probe]]
name = "x"
kind = "position"
part = "net"
at = 0
component = "z"
[[probe]]
name = "y"
kind = "position"
part = "net"
at = 4
component = "y"
"#,
        duration = 5.0 * time,
        frame = 0.05 * time,
        // Stiffness per mass goes with 1/time² = 1/size, mass with size².
        stiffness = 100.0 * size,
        shear = 30.0 * size,
        damping = 1e-3 * time,
        load = 0.05 * size * size,
    ))
}

#[test]
fn u84_a_net_ten_times_smaller_moves_alike() {
    let (large, small) = (run_all(&net(1.0)).unwrap(), run_all(&net(0.1)).unwrap());
    for name in ["x", "y"] {
        let series = |result: &RunResult| result.series(name).unwrap().values.clone();
        let moved = series(&large).iter().fold(0.0_f64, |most, x| most.max((x - series(&large)[0]).abs()));
        assert!(moved > 1e-2, "{name} must move, {moved}");
        for (large, small) in series(&large).iter().zip(series(&small)) {
            assert!((large - small / 0.1).abs() < 1e-6, "{name}: {large} {small}");
        }
    }
}

/// A chain of ten links swinging a little, with its frequency.
fn chain(link: f64, mass: f64) -> Scene {
    let time = link.sqrt();
    let particles: Vec<String> = (0..=10)
        .map(|i| format!("{{ position = [0.0, {:e}, 0.0], mass = {mass:e} }}", -link * f64::from(i)))
        .collect();
    let springs: Vec<String> = (0..10)
        .map(|i| format!("{{ ends = [{i}, {}], stiffness = {:e} }}", i + 1, 1e4 * mass * 9.80665 / link))
        .collect();
    scene(&format!(
        r#"
[scene]
name = "chain"
[time]
duration = {duration:e}
frame = {frame:e}
[method]
id = "leapfrog"
[relax]
[[part]]
id = "chain"
kind = "particles"
particles = [{particles}]
springs = [{springs}]
[[pin]]
part = "chain"
at = "start"
[[force]]
kind = "gravity"
[[initial]]
kind = "displacement"
part = "chain"
shape = "hanging"
amplitude = {amplitude:e}
direction = [1, 0, 0]
[[probe]]
name = "f"
kind = "position"
part = "chain"
at = "end"
component = "x"
value = {{ kind = "peak_frequency", band = [{low:e}, {high:e}] }}
"#,
        duration = 200.0 * time,
        frame = 0.5 * time,
        particles = particles.join(", "),
        springs = springs.join(", "),
        amplitude = 1e-3 * link,
        low = 0.1 / time,
        high = 0.3 / time,
    ))
}

#[test]
fn u86_a_chain_of_millimetres_and_micrograms_swings_faster_by_the_root_of_a_thousand() {
    let frequency = |scene: &Scene| run_all(scene).unwrap().probes["f"].value;
    let (large, small) = (frequency(&chain(1.0, 1.0)), frequency(&chain(1e-3, 1e-9)));
    let ratio = small / large;
    assert!((ratio / 1000.0_f64.sqrt() - 1.0).abs() < 1e-6, "{ratio}");
    // First zero of the Laguerre polynomial of ten equal masses: ω = 2.599763398852125 rad/s at L = 2 m, g = 9.81 m/s².
    let exact = 2.599763398852125 * (2.0 / 10.0 * 9.80665 / 9.81_f64).sqrt() / std::f64::consts::TAU;
    assert!((large / exact - 1.0).abs() < 5e-4, "{large} {exact}: links stretch by up to 1e-3");
}

#[test]
fn u85_the_step_bound_of_a_light_rod_is_printed_and_its_density_noticed() {
    let rod = |density: f64| {
        scene(&format!(
            r#"
[scene]
name = "rod"
[time]
duration = 1e-4
frame = 1e-5
[method]
id = "leapfrog"
[[part]]
id = "rod"
kind = "rope"
from = [0, 0, 0]
to = [0.1, 0, 0]
segments = 50
youngs_modulus = 750e6
density = {density}
section = {{ diameter = 4e-4 }}
[[pin]]
part = "rod"
at = "start"
"#
        ))
    };
    for (density, limit, noticed) in [(3.0, 1.26e-7, true), (1330.0, 2.66e-6, false)] {
        let result = run_all(&rod(density)).unwrap();
        let found = result.stability.unwrap().limit.unwrap();
        assert!((found / limit - 1.0).abs() < 0.01, "{found}");
        assert_eq!(
            result.warnings.iter().any(|w| w.contains("density 3 kg/m³")),
            noticed,
            "{:?}",
            result.warnings
        );
    }
}

const STIFF: &str = r#"
[scene]
name = "stiff"
[time]
duration = 2.0
frame = 2e-3
[method]
id = "symplectic_euler"
substeps = 1
[[part]]
id = "chain"
kind = "particles"
particles = [
    { position = [0.0, 0.0, 0.0], mass = 0.01 },
    { position = [0.1, 0.0, 0.0], mass = 0.01 },
    { position = [0.2, 0.0, 0.0], mass = 0.01 },
    { position = [0.3, 0.0, 0.0], mass = 0.01 },
    { position = [0.4, 0.0, 0.0], mass = 0.01 },
    { position = [0.5, 0.0, 0.0], mass = 0.01 },
]
springs = [
    { ends = [0, 1], stiffness = 40000.0 },
    { ends = [1, 2], stiffness = 40000.0 },
    { ends = [2, 3], stiffness = 40000.0 },
    { ends = [3, 4], stiffness = 40000.0 },
    { ends = [4, 5], stiffness = 40000.0 },
]
[[pin]]
part = "chain"
at = "start"
[[force]]
kind = "gravity"
[[probe]]
name = "tip"
kind = "position"
part = "chain"
at = "end"
component = "y"
[[expect]]
probe = "tip"
value = 0.0
tolerance = 100.0
source = "any"
"#;

#[test]
fn r93_a_step_above_the_limit_is_an_error_that_keeps_what_came_before() {
    let error = run_all(&scene(STIFF)).unwrap_err();
    assert_eq!(error.kind(), "diverged");
    let message = error.to_string();
    // 2 / ω with ω below 2 sqrt(k/m) = 4000 1/s: 5e-4 s, a little more with a pinned end.
    assert!(message.contains("dt above limit: 2.0000e-3 s > 5."), "{message}");
    assert!(
        message.contains("particle") && message.contains("of part chain") && message.contains("step"),
        "{message}"
    );
    let partial = error.partial().unwrap();
    assert!(partial.times.len() >= 2 && partial.times.len() < 1001);
    assert_eq!(partial.frames.len(), partial.times.len());
    assert!(partial.frames.iter().flat_map(|f| &f.positions).flatten().all(|x| x.is_finite()));
    assert!(partial.state.q.iter().all(|x| x.is_finite()));
    assert_eq!(partial.state.t, *partial.times.last().unwrap());
    assert!(!partial.all_met(), "a run that failed meets nothing");
    assert_eq!(partial.expectations[0].measured, None);

    let folder = tempfile::tempdir().unwrap();
    let files =
        output::write(partial, Some(message.clone()), OutputOptions::default(), folder.path()).unwrap();
    assert!(files.iter().all(|file| file.is_file()));
    let summary: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["failure"], serde_json::Value::String(message));
}

#[test]
fn automatic_substeps_run_the_same_chain() {
    let mut text = STIFF.replace("substeps = 1", "substeps = \"auto\"");
    text = text.replace("duration = 2.0", "duration = 0.5");
    let result = run_all(&scene(&text)).unwrap();
    assert!(result.all_met());
    assert!(result.substeps >= 4 && result.substeps <= 5, "{}", result.substeps);
    assert!(result.dt * result.substeps as f64 <= 2.0000001e-3);
}

#[test]
fn explicit_euler_without_damping_has_no_step_to_offer() {
    let text =
        STIFF.replace("substeps = 1", "substeps = \"auto\"").replace("symplectic_euler", "explicit_euler");
    let error = run_all(&scene(&text)).unwrap_err();
    assert_eq!(error.kind(), "no_stable_step");
    assert!(error.to_string().contains("no stable step"), "{error}");
}

#[test]
fn settling_that_cannot_succeed_is_an_error() {
    // Nothing holds the chain: it falls for ever.
    let text = STIFF
        .replace("[[pin]]\npart = \"chain\"\nat = \"start\"\n", "")
        .replace("[[force]]", "[relax]\nmax_iterations = 500\n[[force]]");
    let error = run_all(&scene(&text)).unwrap_err();
    assert_eq!(error.kind(), "not_settled");
    assert!(error.to_string().contains("500 iterations"), "{error}");
}

#[test]
fn a_probe_without_a_value_is_an_error() {
    let text = STIFF
        .replace("substeps = 1", "substeps = \"auto\"")
        .replace("duration = 2.0", "duration = 0.02")
        .replace("component = \"y\"", "component = \"y\"\nvalue = \"frequency\"");
    let error = run_all(&scene(&text)).unwrap_err();
    assert_eq!(error.kind(), "probe");
    assert!(error.to_string().contains("`tip` is not defined"), "{error}");
    assert!(error.partial().unwrap().series("tip").is_some(), "its series is kept");
}

#[test]
fn a_shorter_run_judges_nothing_and_a_stopped_one_says_so() {
    let text = STIFF.replace("substeps = 1", "substeps = \"auto\"");
    let options = RunOptions { until: Some(0.0101), threads: None };
    let result = run(&scene(&text), options, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(result.times.len(), 7, "rounded up to a whole frame");
    assert!(result.expectations.is_empty());
    assert!(result.warnings.iter().any(|w| w.contains("not judged")));
    let stopped = run(&scene(&text), RunOptions::default(), &mut |progress| {
        if progress.t > 0.1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match stopped.unwrap_err() {
        RunError::Stopped { partial } => assert!(partial.times.len() >= 49),
        other => panic!("{other}"),
    }
}

/// A step that Newton's method cannot make is made in halves, which is said, and the account stays closed.
#[test]
fn steps_that_do_not_converge_are_cut() {
    let text = r#"
[scene]
name = "swing"
[time]
duration = 0.5
frame = 0.1
[method]
id = "implicit_euler"
options = { newton = { max_iterations = ITERATIONS } }
[[part]]
id = "rope"
kind = "rope"
from = [0.0, 0.0, 0.0]
to = [1.0, 0.0, 0.0]
segments = 5
axial_stiffness = 1e4
linear_density = 0.1
[[pin]]
part = "rope"
at = "start"
[[force]]
kind = "gravity"
[[probe]]
name = "tip"
kind = "position"
part = "rope"
at = "end"
component = "norm"
[[probe]]
name = "residual"
kind = "energy"
term = "max_relative_residual"
"#;
    let with = |iterations: &str| run_all(&scene(&text.replace("ITERATIONS", iterations)));
    let whole = with("100").unwrap();
    assert!(whole.steps == 5 && whole.warnings.is_empty(), "{} {:?}", whole.steps, whole.warnings);
    let cut = with("5").unwrap();
    assert!(cut.steps > 5, "{}", cut.steps);
    assert!(cut.warnings.iter().any(|warning| warning.contains("halved")), "{:?}", cut.warnings);
    assert!((cut.probes["tip"].value - 1.0).abs() < 0.01, "{}", cut.probes["tip"].value);
    assert!(cut.probes["residual"].value < 1e-9, "{}", cut.probes["residual"].value);
    assert!(cut.state.t == whole.state.t);
    // One iteration is not enough for any piece.
    assert!(matches!(with("1").unwrap_err(), RunError::Step { .. }));
}
