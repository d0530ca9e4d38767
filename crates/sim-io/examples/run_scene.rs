//! Run a scene from code and read its results. `cargo run --release -p sim-io --example run_scene`

use sim_io::Scene;
use sim_io::run::{RunOptions, run};
use std::ops::ControlFlow;

const SCENE: &str = r#"
[scene]
name = "drop"
title = "A mass on a spring, let go"

[time]
duration = 2.0
frame = 0.01

[method]
id = "leapfrog"

[[part]]
id = "pair"
kind = "particles"
particles = [{ position = [0.0, 0.0, 0.0], mass = 1.0 }, { position = [0.0, 0.0, -1.0], mass = 0.5 }]
springs = [{ ends = [0, 1], stiffness = 200.0 }]

[[pin]]
part = "pair"
at = [0]

[[force]]
kind = "gravity"
acceleration = [0.0, 0.0, -9.81]

[[probe]]
name = "lowest"
kind = "position"
part = "pair"
at = 1
component = "z"
value = "minimum"
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scene = Scene::from_toml("drop.toml", SCENE, "")?;
    let result = run(&scene, RunOptions::default(), &mut |_| ControlFlow::Continue(()))?;
    let lowest = result.probes["lowest"].value;
    println!("{} steps of {:.2e} s, lowest point {lowest:.5} m", result.steps, result.dt);
    // Let go at rest length, it falls by twice the static stretch m g / k.
    assert!((lowest - (-1.0 - 2.0 * 0.5 * 9.81 / 200.0)).abs() < 1e-4);
    Ok(())
}
