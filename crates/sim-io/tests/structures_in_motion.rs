//! Structures in time: modes, harmonic response, transients, and every method of the registry.

use sim_io::Document;
use sim_io::structure::{self, StructureResult, StructureRunError};

fn run(text: &str) -> Result<StructureResult, StructureRunError> {
    match Document::from_toml("t.toml", text, "").map_err(StructureRunError::Scene)? {
        Document::Structure(scene) => structure::run(&scene, &mut |_, _| {}),
        Document::Motion(_) => panic!("the file has an analysis"),
    }
}

/// Natural frequencies and time: a bar clamped at one end, ten elements, against its own discrete formula.
#[test]
fn modes_and_motion_agree() {
    let text = r#"
[scene]
name = "rod"
[structure]
nodes = [[0, 0, 0], [1, 0, 0]]
mass = "lumped"
[material.m]
youngs_modulus = 1e6
density = 1000
[section.s]
kind = "numbers"
area = 1e-3
[[member]]
id = "rod"
kind = "truss"
between = [0, 1]
divisions = 10
material = "m"
section = "s"
[[support]]
at = "all"
fix = ["y", "z"]
[[support]]
at = 0
fix = ["x"]
[[load]]
kind = "force"
at = 1
direction = "x"
value = 1.0
[analysis]
kind = "modal"
modes = 3
[[probe]]
name = "f1"
kind = "frequency"
number = 1
[[probe]]
name = "share"
kind = "mass_participation"
number = 1
direction = "x"
"#;
    let result = run(text).unwrap();
    // Lumped chain with half a mass at the free end: ω = (2/h) √(E/ρ) sin(π/(4 n)).
    let omega = 20.0 * 1000.0_f64.sqrt() * (std::f64::consts::PI / 40.0).sin();
    let f1 = omega / std::f64::consts::TAU;
    assert!((result.probes["f1"].value / f1 - 1.0).abs() < 1e-9);
    // Its shape is sin(iπ/20); the clamped node's mass cannot move.
    let phi = |i: i32| (f64::from(i) * std::f64::consts::PI / 20.0).sin();
    let mass = |i: i32| if i == 10 { 0.05 } else { 0.1 };
    let moved: f64 = (1..=10).map(|i| mass(i) * phi(i)).sum();
    let modal: f64 = (1..=10).map(|i| mass(i) * phi(i).powi(2)).sum();
    assert!((result.probes["share"].value / (moved * moved / modal / 0.95) - 1.0).abs() < 1e-9);

    let harmonic = text.replace(
        "kind = \"modal\"\nmodes = 3",
        "kind = \"harmonic\"\nband = [0.0, 12.0]\nmodes = 3\ndamping_ratio = 0.02",
    ) + "[[probe]]\nname = \"slow\"\nkind = \"amplitude\"\nat = 1\ndirection = \"x\"\nfrequency = 0.0\n\
           [[probe]]\nname = \"peak\"\nkind = \"amplitude\"\nat = 1\ndirection = \"x\"\n";
    let result = run(&harmonic).unwrap();
    assert!((result.probes["slow"].value / 1e-3 - 1.0).abs() < 1e-9, "F L/(E A)");
    assert!(result.probes["peak"].value > 15.0 * result.probes["slow"].value);

    let transient = text.split("[analysis]").next().unwrap().to_owned()
        + "[analysis]\nkind = \"transient\"\nduration = 1.0\ndt = 5e-4\n[[probe]]\nname = \"tip\"\nkind = \"displacement\"\n\
           at = 1\ndirection = \"x\"\nvalue = \"maximum\"\n";
    let result = run(&transient).unwrap();
    // A step load doubles the static displacement.
    assert!((result.probes["tip"].value / 2e-3 - 1.0).abs() < 0.05, "{}", result.probes["tip"].value);
    assert_eq!(result.steps, 2000);
}

/// Every method of the registry runs a structure: a mass on a bar, against the exact step response.
#[test]
fn every_method_of_the_registry_runs_a_structure() {
    let text = |method: &str| {
        format!(
            r#"
[scene]
name = "mass_on_a_bar"
[structure]
nodes = [[0, 0, 0], [1, 0, 0]]
mass = "lumped"
[material.m]
youngs_modulus = 1e6
[section.s]
kind = "numbers"
area = 1e-4
[[member]]
id = "bar"
kind = "truss"
nodes = [[0, 1]]
material = "m"
section = "s"
[[member]]
id = "mass"
kind = "point_mass"
at = 1
mass = 0.25
[[support]]
at = 0
fix = "pin"
[[support]]
at = 1
fix = ["y", "z"]
[[load]]
kind = "force"
at = 1
direction = "x"
value = 1.0
[analysis]
kind = "stepped"
duration = 0.2
dt = 1e-4
method = "{method}"
[[probe]]
name = "end"
kind = "displacement"
at = 1
direction = "x"
"#
        )
    };
    // ω = √(100/0.25) = 20 rad/s, x = F/k (1 − cos ωt).
    let exact = 0.01 * (1.0 - (20.0_f64 * 0.2).cos());
    for info in sim_integrate::STEPPERS {
        let result = run(&text(info.method.id));
        let result = result.unwrap_or_else(|error| panic!("{}: {error:?}", info.method.id));
        let error = (result.probes["end"].value - exact).abs();
        let bound = if info.method.order == 1 { 1e-4 } else { 1e-6 };
        assert!(error < bound, "{}: {error:e}", info.method.id);
    }
}
