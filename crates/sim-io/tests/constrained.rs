//! Scenes that constraints hold together: the same physical parts, rigid bodies of every shape, and what a run says of itself.

use sim_io::report::page_of;
use sim_io::run::result::Frame;
use sim_io::{RunOptions, RunResult, Scene, run};
use std::ops::ControlFlow;

fn result(text: &str, threads: Option<usize>) -> RunResult {
    let scene = Scene::from_toml("test.toml", text, "").unwrap();
    run(&scene, RunOptions { until: None, threads }, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn head(method: &str, duration: f64) -> String {
    format!("[scene]\nname = \"t\"\n[time]\nduration = {duration}\nframe = 0.01\n[method]\n{method}\n")
}

const GRAVITY: &str = "[[force]]\nkind = \"gravity\"\nacceleration = [0.0, -9.80665, 0.0]\n";

/// A cord between two pins sags and carries the same whatever solves it: weight w = 0.2 N/m over a span L stretches the cord by
/// its tension over EA.
#[test]
fn the_same_part_by_springs_and_by_constraints() {
    let cord = "[[part]]\nid = \"cord\"\nkind = \"rope\"\nfrom = [0.0, 0.0, 0.0]\nto = [1.0, 0.0, 0.0]\nsegments = 20\n\
        axial_stiffness = 50.0\nlinear_density = 0.1\naxial_damping = 0.05\nbending_stiffness = 1e-3\n\
        [[pin]]\npart = \"cord\"\nat = [0, 20]\n[[force]]\nkind = \"mass_damping\"\nrate = 4.0\n\
        [[probe]]\nname = \"sag\"\nkind = \"position\"\npart = \"cord\"\nat = 10\ncomponent = \"y\"\n\
        [[probe]]\nname = \"pull\"\nkind = \"tension\"\npart = \"cord\"\nsegment = \"first\"\n\
        [[probe]]\nname = \"load\"\nkind = \"force\"\npart = \"cord\"\nat = 0\ncomponent = \"norm\"\n";
    let values = |method: &str| {
        let found = result(&format!("{}{cord}{GRAVITY}", head(method, 6.0)), None);
        ["sag", "pull", "load"].map(|name| found.probes[name].value)
    };
    let springs = values("id = \"leapfrog\"");
    assert!(springs[0] < -0.05 && springs[1] > 0.5, "{springs:?}");
    for options in
        ["{ iterations = 4 }", "{ direct = true, iterations = 4 }", "{ order = \"colors\", iterations = 4 }"]
    {
        let constraints = values(&format!("id = \"xpbd\"\nsubsteps = 40\noptions = {options}"));
        for (a, b) in springs.iter().zip(constraints) {
            assert!((a - b).abs() < 2e-3 * a.abs(), "{options}: {springs:?} and {constraints:?}");
        }
    }
}

#[test]
fn the_order_is_named_and_threads_change_no_bit() {
    let sheet = "[[part]]\nid = \"sheet\"\nkind = \"cloth\"\nmodel = \"xpbd\"\nwidth = 1.0\nheight = 1.0\ncolumns = 12\nrows = 12\n\
        membrane_stiffness = 500.0\nshear_stiffness = 50.0\nareal_density = 0.2\n[[pin]]\npart = \"sheet\"\nat = \"top\"\n";
    let made = |order: &str, threads| {
        let method = format!("id = \"xpbd\"\nsubsteps = 10\noptions = {{ order = \"{order}\" }}");
        result(&format!("{}{sheet}{GRAVITY}", head(&method, 0.2)), Some(threads))
    };
    let one = made("colors", 1);
    assert_eq!(one.state_hash, made("colors", 2).state_hash);
    assert_eq!(one.state_hash, made("colors", 4).state_hash);
    let list = made("list", 1);
    assert_eq!(list.state_hash, made("list", 3).state_hash);
    assert_ne!(one.state_hash, list.state_hash, "the order is part of the method");
    let named = |result: &RunResult| serde_json::to_value(&result.convergence).unwrap()["order"].clone();
    assert_eq!((named(&one), named(&list)), ("colors".into(), "list".into()));
    let convergence = list.convergence.as_ref().unwrap();
    let largest = convergence.largest.as_ref().unwrap();
    assert!(
        largest.constraint.starts_with("spring ") && largest.constraint.ends_with(" of part sheet"),
        "{largest:?}"
    );
    assert!(
        convergence.not_converged > 0 && list.warnings.contains(&convergence.sentence),
        "{convergence:?}"
    );
    let page = page_of(&list, None);
    assert!(page.drawing_note.unwrap().contains("not converged in"));
}

/// A ball of 2 cm comes to rest on top of every shape, 0.3 m above its middle, and presses on it with its weight.
#[test]
fn every_shape_carries_a_ball() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("roof.obj"),
        "v -1 0.3 -1\nv 1 0.3 -1\nv 1 0.3 1\nv -1 0.3 1\nf 1 3 2\nf 1 4 3\n",
    )
    .unwrap();
    for (shape, place) in [
        ("{ kind = \"plane\", normal = [0.0, 2.0, 0.0] }", 0.3),
        ("{ kind = \"sphere\", radius = 0.3 }", 0.0),
        ("{ kind = \"capsule\", radius = 0.1, length = 0.4, axis = [0.0, 1.0, 0.0] }", 0.0),
        ("{ kind = \"box\", size = [1.0, 0.6, 0.2] }", 0.0),
        ("{ kind = \"cylinder\", radius = 0.3, length = 0.5 }", 0.0),
        (
            "{ kind = \"cylinder\", radius = 0.3, length = 0.5, flange = { radius = 0.4, thickness = 0.02 } }",
            0.0,
        ),
        ("{ kind = \"mesh\", file = \"roof.obj\" }", 0.0),
    ] {
        let text = format!(
            "{}[[part]]\nid = \"ball\"\nkind = \"particles\"\nparticles = [{{ position = [0.0, 0.35, 0.0], mass = 0.5 }}]\n\
             [contact]\nthickness = 0.02\n[[collider]]\nid = \"body\"\nshape = {shape}\nplace = [0.0, {place}, 0.0]\nfriction = 0.5\n\
             [[probe]]\nname = \"height\"\nkind = \"position\"\npart = \"ball\"\nat = 0\ncomponent = \"y\"\n\
             [[probe]]\nname = \"load\"\nkind = \"collider\"\ncollider = \"body\"\nquantity = \"force_y\"\n\
             [[probe]]\nname = \"normal\"\nkind = \"collider\"\ncollider = \"body\"\nquantity = \"normal_force\"\n{GRAVITY}",
            head("id = \"xpbd\"\nsubsteps = 10", 0.5)
        );
        let scene = Scene::from_toml("test.toml", &text, folder.path()).unwrap();
        let found = run(&scene, RunOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap();
        let weight = 0.5 * 9.80665;
        for (name, expected, tolerance) in
            [("height", 0.31, 1e-6), ("load", -weight, 1e-6), ("normal", weight, 1e-6)]
        {
            let value = found.probes[name].value;
            assert!((value - expected).abs() < tolerance, "{shape}: {name} = {value}");
        }
        assert!(!found.display.solids.is_empty(), "{shape} is drawn");
        let top = found.frames[0].positions[1..].iter().map(|x| x[1]).fold(f32::MIN, f32::max);
        let highest = if shape.contains("flange") { 0.4 } else { 0.3 };
        assert!((top - highest).abs() < 0.005, "{shape} is drawn up to {top}");
    }
}

/// A torque of 0.6 N·m turns 0.2 kg·m² at 3 rad/s²; a drawn rim turns with it.
#[test]
fn a_torque_turns_a_drum_and_its_picture() {
    let text = format!(
        "{}[[part]]\nid = \"far\"\nkind = \"particles\"\nparticles = [{{ position = [9.0, 0.0, 0.0], mass = 1.0 }}]\n\
         [[collider]]\nid = \"drum\"\nshape = {{ kind = \"cylinder\", radius = 0.3, length = 0.5 }}\nplace = [0.0, 0.0, 0.0]\n\
         rotation = {{ kind = \"torque\", torque = 0.6, inertia = 0.2 }}\n\
         [[probe]]\nname = \"speed\"\nkind = \"collider\"\ncollider = \"drum\"\nquantity = \"angular_velocity\"\n\
         [[probe]]\nname = \"angle\"\nkind = \"collider\"\ncollider = \"drum\"\nquantity = \"angle\"\n",
        head("id = \"xpbd\"\nsubsteps = 50", 0.5)
    );
    let found = result(&text, None);
    let angle = found.probes["angle"].value;
    assert!((found.probes["speed"].value - 1.5).abs() < 1e-9, "{:?}", found.probes);
    assert!((angle - 0.375).abs() < 1e-3, "{angle}");
    // A point of the rim: after the far particle and the 48 points of the lower middle.
    let rim = 1 + 48;
    let (first, last) = (found.frames[0].positions[rim], found.frames.last().unwrap().positions[rim]);
    let turned =
        f64::from(last[1]).atan2(f64::from(last[0])) - f64::from(first[1]).atan2(f64::from(first[0]));
    assert!((turned - angle).abs() < 1e-5, "{turned} {angle}");
}

#[test]
fn plain_pbd_says_that_its_stiffness_is_not_physical() {
    let cord = "[[part]]\nid = \"cord\"\nkind = \"rope\"\nfrom = [0.0, 0.0, 0.0]\nto = [1.0, 0.0, 0.0]\nsegments = 8\n\
        axial_stiffness = 50.0\nlinear_density = 0.1\n[[pin]]\npart = \"cord\"\nat = 0\n\
        [[probe]]\nname = \"strain\"\nkind = \"max_strain\"\npart = \"cord\"\nvalue = \"maximum\"\n";
    let strain = |fraction: f64| {
        let options = format!("{{ iterations = 5, formulation = {{ pbd = {{ fraction = {fraction} }} }} }}");
        let found = result(
            &format!(
                "{}{cord}{GRAVITY}",
                head(&format!("id = \"xpbd\"\nsubsteps = 10\noptions = {options}"), 0.5)
            ),
            None,
        );
        assert!(
            found.warnings.iter().any(|warning| warning.starts_with("plain PBD")),
            "{:?}",
            found.warnings
        );
        found.probes["strain"].value
    };
    let (soft, stiff) = (strain(0.2), strain(0.9));
    assert!(stiff < 0.5 * soft && stiff > 0.0, "{soft} {stiff}");
}

/// Two pulleys of 0.1 m, 0.3 m apart, on a belt of 100 N: at most 2 T R (e^{μπ} - 1)/(e^{μπ} + 1) = 6.1 N·m at μ = 0.2.
#[test]
fn a_belt_turns_its_pulleys_and_an_overloaded_one_says_that_it_slips() {
    let made = |torque: f64| {
        let text = format!(
            "{}[[part]]\nid = \"belt\"\nkind = \"belt\"\nsegments = 96\ntension = 100.0\naxial_stiffness = 2000.0\n\
             linear_density = 0.2\ninitial_speed = 0.5\npulleys = [\n\
             {{ center = [0.0, 0.0, 0.0], radius = 0.1, friction = 0.2, drive = {{ kind = \"speed\", angular_velocity = 5.0 }} }},\n\
             {{ center = [0.3, 0.0, 0.0], radius = 0.1, friction = 0.2, drive = {{ kind = \"torque\", torque = {torque}, inertia = 0.01 }} }},\n]\n\
             [[probe]]\nname = \"speed\"\nkind = \"belt\"\npart = \"belt\"\nquantity = \"angular_velocity\"\npulley = 1\nvalue = {{ kind = \"mean\", from = 0.2 }}\n\
             [[probe]]\nname = \"tight\"\nkind = \"belt\"\npart = \"belt\"\nquantity = \"tight_tension\"\nvalue = \"mean\"\n\
             [[probe]]\nname = \"slack\"\nkind = \"belt\"\npart = \"belt\"\nquantity = \"slack_tension\"\nvalue = \"mean\"\n",
            head("id = \"xpbd\"\nsubsteps = 50\noptions = { iterations = 14 }", 0.4)
        );
        result(&text, None)
    };
    let carried = made(-2.0);
    assert!((carried.probes["speed"].value - 5.0).abs() < 0.15, "{:?}", carried.probes);
    let mean = 0.5 * (carried.probes["tight"].value + carried.probes["slack"].value);
    assert!((mean - 100.0).abs() < 2.0, "{:?}", carried.probes);
    assert!(!carried.warnings.iter().any(|warning| warning.contains("slips")), "{:?}", carried.warnings);
    let overloaded = made(-9.0);
    let warned =
        overloaded.warnings.iter().any(|warning| warning.contains("slips on the whole arc of pulley 1"));
    assert!(warned, "{:?}", overloaded.warnings);
    // The driver has turned by 5 rad/s × 0.4 s in the picture as well.
    let at = |frame: &Frame| {
        let point = frame.positions[96];
        f64::from(point[1]).atan2(f64::from(point[0]))
    };
    let turned = at(carried.frames.last().unwrap()) - at(&carried.frames[0]);
    assert!((turned - 2.0).abs() < 1e-4, "{turned}");
    let page = page_of(&carried, None);
    assert!(page.charts.iter().any(|chart| chart.title.starts_with("Tension along the belt")));
    assert_eq!(page.drawing.unwrap().color.unwrap().label, "tension [N]");
}
