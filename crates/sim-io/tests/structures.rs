//! Structures: what they give, and one clear error for each way a file can be wrong.

use sim_io::structure::{self, StructureRunError, StructureScene};
use sim_io::{Document, SceneError};

const GOOD: &str = r#"
[scene]
name = "t"
[structure]
nodes = [[0, 0, 0], [1, 0, 0], [1, 1, 0]]
planar = true
[[node]]
id = "top"
at = [0, 1, 0]
[material.steel]
youngs_modulus = 210e9
poisson_ratio = 0.3
density = 7850
strength = 235e6
[section.rod]
kind = "round"
diameter = 0.02
[section.box]
kind = "rectangle"
width = 0.02
height = 0.03
[[member]]
id = "bars"
kind = "truss"
nodes = [[0, 1], [1, 2], [0, 2], ["top", 2], [0, "top"]]
material = "steel"
section = "rod"
[[member]]
id = "arm"
kind = "euler_bernoulli_beam"
between = [2, "top"]
divisions = 3
material = "steel"
section = "box"
[[support]]
at = [0, 1]
fix = "pin"
[[load]]
kind = "force"
at = "top"
direction = "x"
value = 1000
[[load]]
kind = "uniform"
member = "arm"
force = [0, -10, 0]
[analysis]
kind = "static"
[[probe]]
name = "sway"
kind = "displacement"
at = "top"
direction = "x"
[[probe]]
name = "tie"
kind = "axial_force"
member = "bars"
index = 2
[[expect]]
probe = "sway"
value = 1e-4
tolerance = 1.0
source = "none"
"#;

fn load(text: &str) -> Result<StructureScene, SceneError> {
    match Document::from_toml("t.toml", text, "")? {
        Document::Structure(scene) => Ok(*scene),
        Document::Motion(_) => panic!("the file has an analysis"),
    }
}

fn run(text: &str) -> Result<structure::StructureResult, StructureRunError> {
    structure::run(&load(text).map_err(StructureRunError::Scene)?, &mut |_, _| {})
}

#[test]
fn the_example_is_solved_in_balance() {
    let text = GOOD.to_owned()
        + "[[probe]]\nname = \"x\"\nkind = \"reaction\"\nat = [0, 1]\ndirection = \"x\"\n\
           [[probe]]\nname = \"y\"\nkind = \"reaction\"\nat = [0, 1]\ndirection = \"y\"\n";
    let result = run(&text).unwrap();
    assert!((result.probes["x"].value + 1000.0).abs() < 1e-8);
    assert!((result.probes["y"].value - 10.0).abs() < 1e-9, "10 N/m on 1 m");
    assert!(result.all_met());
    assert_eq!(result.size().nodes, 6);
    assert_eq!(result.built.groups[1].members, 5..8);
}

/// Every way to be wrong: text to replace, replacement, kind of the error, field, fragment of the message.
const WRONG: &[(&str, &str, &str, &str, &str)] = &[
    ("[0, 1], [1, 2]", "[0, 9], [1, 2]", "reference", "member[0].nodes[0]", "nodes run from 0 to 3"),
    ("[\"top\", 2]", "[\"tpo\", 2]", "reference", "member[0].nodes[3]", "did you mean `top`"),
    ("[0, 1], [1, 2]", "[0, 0], [1, 2]", "model", "member[0]", "element 0"),
    ("[0, 1], [1, 2]", "[0, -1], [1, 2]", "type", "member[0].nodes[0][1]", "node number, 0 or more"),
    ("[0, 1], [1, 2]", "[0, 1.5], [1, 2]", "type", "member[0].nodes[0][1]", "1.5"),
    ("[0, 1], [1, 2]", "[0], [1, 2]", "type", "member[0].nodes[0]", "length 1"),
    ("kind = \"truss\"", "kind = \"trus\"", "unknown_word", "member[0].kind", "did you mean `truss`"),
    ("kind = \"truss\"", "kind = \"solid\"", "unknown_word", "member[0].kind", "corotational_beam"),
    ("kind = \"truss\"\n", "", "missing", "member[0].kind", "missing"),
    (
        "kind = \"truss\"",
        "kind = \"truss\"\nmeasure = \"engineering\"",
        "unknown_field",
        "member[0].measure",
        "truss takes",
    ),
    (
        "kind = \"truss\"",
        "kind = \"truss\"\nstifness = 1",
        "unknown_field",
        "member[0].stifness",
        "stiffness",
    ),
    (
        "material = \"steel\"\nsection = \"rod\"",
        "section = \"rod\"",
        "missing",
        "member[0].material",
        "truss needs it",
    ),
    (
        "material = \"steel\"\nsection = \"rod\"",
        "material = \"steal\"\nsection = \"rod\"",
        "reference",
        "member[0].material",
        "did you mean `steel`",
    ),
    ("section = \"rod\"", "section = \"rood\"", "reference", "member[0].section", "did you mean `rod`"),
    ("divisions = 3", "divisions = 0", "value", "member[1].divisions", "between 1 and"),
    ("divisions = 3", "divisions = 900000000000", "value", "member[1].divisions", "between 1 and"),
    ("divisions = 3", "divisions = 5000000", "value", "member[1]", "in all"),
    ("divisions = 3", "divisions = 3\nnodes = [[0, 1]]", "conflict", "member[1].between", "nodes"),
    ("between = [2, \"top\"]\n", "", "missing", "member[1].nodes", "or `between`"),
    ("between = [2, \"top\"]", "between = [2, 2]", "model", "member[1]", "element"),
    ("id = \"arm\"", "id = \"bars\"", "duplicate", "member[1].id", "member[0]"),
    ("id = \"arm\"", "id = \"a b\"", "value", "member[1].id", "letters"),
    ("id = \"top\"", "id = \"all\"", "value", "node[0].id", "not `all`"),
    ("id = \"top\"", "id = \"7\"", "value", "node[0].id", "a number"),
    ("youngs_modulus = 210e9", "youngs_modulus = -1", "value", "material.steel.youngs_modulus", "positive"),
    ("youngs_modulus = 210e9", "youngs_modulus = nan", "value", "material.steel.youngs_modulus", "finite"),
    (
        "youngs_modulus = 210e9",
        "youngs_modulus = \"stiff\"",
        "type",
        "material.steel.youngs_modulus",
        "stiff",
    ),
    ("youngs_modulus = 210e9\n", "", "missing", "material.steel.youngs_modulus", "missing"),
    ("poisson_ratio = 0.3", "poisson_ratio = 0.6", "value", "material.steel.poisson_ratio", "at most 0.5"),
    ("density = 7850", "density = -7850", "value", "material.steel.density", "zero or positive"),
    ("strength = 235e6", "strength = 0", "value", "material.steel.strength", "positive"),
    ("diameter = 0.02", "diameter = 0", "value", "section.rod.diameter", "positive"),
    ("diameter = 0.02", "radius = 0.02", "unknown_field", "section.rod.radius", "diameter"),
    ("kind = \"round\"", "kind = \"rond\"", "unknown_word", "section.rod.kind", "did you mean `round`"),
    ("height = 0.03", "height = inf", "value", "section.box.height", "finite"),
    ("at = [0, 1]\nfix", "at = [0, 44]\nfix", "reference", "support[0].at[1]", "nodes run from 0 to 5"),
    ("at = [0, 1]\nfix", "at = []\nfix", "value", "support[0].at", "at least one node"),
    ("at = [0, 1]\nfix", "at = \"feet\"\nfix", "reference", "support[0].at", "no node or node set"),
    ("at = [0, 1]\nfix", "at = [0, 0]\nfix", "model", "support", "supported twice"),
    (
        "at = [0, 1]\nfix",
        "at = { within = [[5, 5, 5], [6, 6, 6]] }\nfix",
        "value",
        "support[0].at",
        "none is there",
    ),
    ("at = [0, 1]\nfix", "at = { every = [0, 0] }\nfix", "value", "support[0].at", "step of 1"),
    ("fix = \"pin\"", "fix = \"glue\"", "type", "support[0].fix", "pin"),
    ("fix = \"pin\"", "fix = []", "value", "support[0].fix", "one direction"),
    ("fix = \"pin\"", "fix = [\"w\"]", "type", "support[0].fix", "rx"),
    (
        "at = \"top\"\ndirection = \"x\"\nvalue",
        "at = 0\ndirection = \"rz\"\nvalue",
        "model",
        "load[0]",
        "only beams have rotations",
    ),
    ("direction = \"x\"\nvalue", "direction = \"q\"\nvalue", "unknown_word", "load[0].direction", "rx"),
    ("value = 1000", "value = \"1 kN\"", "type", "load[0].value", "1 kN"),
    (
        "value = 1000",
        "value = 1000\nfunction = { ramp = { duration = 0 } }",
        "value",
        "load[0].function",
        "duration",
    ),
    (
        "value = 1000",
        "value = 1000\nfunction = { table = { times = [0, 2, 1], values = [0, 1, 0] } }",
        "value",
        "load[0].function",
        "ascend",
    ),
    ("member = \"arm\"\nforce", "member = \"leg\"\nforce", "reference", "load[1].member", "bars, arm"),
    ("force = [0, -10, 0]", "force = [0, -10]", "type", "load[1].force", "length 2"),
    ("kind = \"static\"", "kind = \"statics\"", "unknown_word", "analysis.kind", "did you mean `static`"),
    ("kind = \"static\"", "kind = \"modal\"\nmodes = 0", "value", "analysis.modes", "between 1 and"),
    (
        "kind = \"static\"",
        "kind = \"transient\"\nduration = 1\ndt = 0.3",
        "value",
        "analysis.duration",
        "whole number",
    ),
    (
        "kind = \"static\"",
        "kind = \"transient\"\nduration = 1\ndt = -1",
        "value",
        "analysis.dt",
        "greater than 0",
    ),
    ("kind = \"static\"", "kind = \"nonlinear_static\"\nsteps = 0", "value", "analysis.steps", "positive"),
    ("kind = \"static\"", "kind = \"harmonic\"\nband = [5, 2]", "value", "analysis.band", "lowest"),
    (
        "kind = \"static\"",
        "kind = \"arc_length\"\nfirst_load_factor = 0",
        "value",
        "analysis.first_load_factor",
        "positive",
    ),
    ("kind = \"displacement\"", "kind = \"velocity\"", "value", "probe[0].kind", "another analysis"),
    (
        "at = \"top\"\ndirection = \"x\"\n[[probe]]",
        "at = 0\ndirection = \"rz\"\n[[probe]]",
        "value",
        "probe[0].direction",
        "translation",
    ),
    ("index = 2", "index = 5", "value", "probe[1].index", "below 5"),
    (
        "member = \"bars\"\nindex",
        "member = \"barz\"\nindex",
        "reference",
        "probe[1].member",
        "did you mean `bars`",
    ),
    ("name = \"tie\"", "name = \"sway\"", "duplicate", "probe[1].name", "probe[0]"),
    ("probe = \"sway\"", "probe = \"swai\"", "reference", "expect[0].probe", "did you mean `sway`"),
    ("tolerance = 1.0\n", "", "missing", "expect[0].tolerance", "relative_tolerance"),
    ("source = \"none\"", "source = \" \"", "value", "expect[0].source", "where the value comes from"),
    ("planar = true", "planr = true", "unknown_field", "structure.planr", "did you mean `planar`"),
    ("planar = true", "planar = true\nrayleigh = [-1, 0]", "value", "structure.rayleigh[0]", "0 or more"),
    ("planar = true", "planar = true\nmesh = \"none.inp\"", "model", "structure.mesh", "cannot be read"),
    ("[1, 1, 0]]", "[1, 1]]", "type", "structure.nodes[2]", "length 2"),
    (
        "kind = \"static\"",
        "kind = \"arc_length\"\nside = \"left\"",
        "unknown_word",
        "analysis.side",
        "positive, negative",
    ),
    (
        "kind = \"static\"",
        "kind = \"arc_length\"\nmax_displacement = 0.0",
        "value",
        "analysis.max_displacement",
        "positive",
    ),
    (
        "kind = \"static\"",
        "kind = \"nonlinear_static\"\nrelative_tolerance = 5.0",
        "value",
        "analysis.relative_tolerance",
        "at most 0.01",
    ),
    (
        "kind = \"static\"",
        "kind = \"dynamic_relaxation\"\nmass_interval = 0",
        "value",
        "analysis.mass_interval",
        "between 1",
    ),
    (
        "direction = \"x\"\nvalue = 1000",
        "direction = \"x\"\nvalue = 1000\nfunction = { table = { times = [0, 2, 1], values = [0, 1, 1] } }",
        "value",
        "load[0].function",
        "times must ascend",
    ),
];

#[test]
fn each_mistake_gets_one_clear_error() {
    assert!(WRONG.len() >= 40);
    for (from, to, kind, field, fragment) in WRONG {
        assert!(GOOD.contains(from), "{from}");
        let text = GOOD.replacen(from, to, 1);
        let error = match run(&text) {
            Err(StructureRunError::Scene(error)) => error,
            Err(other) => panic!("{from} -> {to}: {other}"),
            Ok(_) => panic!("{from} -> {to}: accepted"),
        };
        let place = error.place().unwrap();
        assert_eq!((error.kind(), place.field.as_str()), (*kind, *field), "{from} -> {to}: {error}");
        assert!(error.to_string().contains(fragment), "{from} -> {to}: {error}");
    }
}

/// Without its diagonal the frame of bars folds: the free motion is named and drawn.
#[test]
fn a_mechanism_is_named_and_drawn() {
    let text = GOOD
        .replace("[0, 2], [\"top\", 2], ", "[\"top\", 2], ")
        .replace("kind = \"euler_bernoulli_beam\"", "kind = \"truss\"")
        .replace("index = 2", "index = 1");
    let Err(StructureRunError::Mechanism { message, partial }) = run(&text) else {
        panic!("a folding frame has no solution")
    };
    assert!(message.contains("mechanism") && message.contains("node"), "{message}");
    assert!(partial.shown.len() >= 20 && partial.shown[0].label.starts_with("free motion"));
    let folder = tempfile::tempdir().unwrap();
    let scene = load(&text).unwrap();
    let files = structure::output::write(&scene, &partial, Some(message), folder.path()).unwrap();
    assert!(files.iter().any(|file| file.ends_with("report.html")));
}

/// The same cantilever from a `CalculiX` file: supports and loads come with it.
#[test]
fn an_input_file_is_a_structure() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("beam.inp"),
        "*NODE, NSET=ALL\n1, 0, 0, 0\n2, 0.5, 0, 0\n3, 1, 0, 0\n*ELEMENT, TYPE=B31, ELSET=BEAM\n1, 1, 2\n2, 2, 3\n\
         *BOUNDARY\n1, 1, 6\n*MATERIAL, NAME=STEEL\n*ELASTIC\n210e9, 0.3\n*STEP\n*STATIC\n*CLOAD\n3, 3, -100\n*END STEP\n",
    )
    .unwrap();
    let text = r#"
[scene]
name = "beam"
[structure]
mesh = "beam.inp"
[material.steel]
youngs_modulus = 210e9
[section.square]
kind = "rectangle"
width = 0.02
height = 0.02
[[member]]
id = "beam"
kind = "euler_bernoulli_beam"
mesh_group = "beam"
material = "steel"
section = "square"
[analysis]
kind = "static"
[[probe]]
name = "tip"
kind = "displacement"
at = { nearest = [1, 0, 0] }
direction = "z"
"#;
    let scene = StructureScene::from_toml("beam.toml", text, folder.path()).unwrap();
    let result = structure::run(&scene, &mut |_, _| {}).unwrap();
    let inertia = 0.02_f64.powi(4) / 12.0;
    let theory = -100.0 / (3.0 * 210e9 * inertia);
    assert!((result.probes["tip"].value / theory - 1.0).abs() < 1e-10);
    assert!(result.warnings.iter().any(|note| note.contains("*MATERIAL (line 10)")), "{:?}", result.warnings);
    let error = StructureScene::from_toml(
        "beam.toml",
        &text.replace("\"beam\"\nmaterial", "\"beem\"\nmaterial"),
        folder.path(),
    )
    .map(|scene| structure::run(&scene, &mut |_, _| {}))
    .unwrap()
    .unwrap_err();
    assert!(error.to_string().contains("BEAM"), "{error}");
}

/// Tables and the file for `ParaView` hold what was computed.
#[test]
fn tables_and_vtk_hold_the_result() {
    let scene = load(GOOD).unwrap();
    let result = run(GOOD).unwrap();
    let folder = tempfile::tempdir().unwrap();
    structure::output::write(&scene, &result, None, folder.path()).unwrap();
    let mut members = csv::Reader::from_path(folder.path().join("t_members.csv")).unwrap();
    let rows: Vec<csv::StringRecord> = members.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 8);
    assert_eq!((&rows[2][0], &rows[2][1]), ("bars[2]", "truss"));
    assert!((rows[2][4].parse::<f64>().unwrap() - result.probes["tie"].value).abs() < 1e-9);
    let vtkio::model::DataSet::UnstructuredGrid { pieces, .. } =
        vtkio::Vtk::import(folder.path().join("t.vtu")).unwrap().data
    else {
        panic!("wrong kind of data set")
    };
    let piece = pieces.into_iter().next().unwrap().into_loaded_piece_data(None).unwrap();
    assert_eq!(piece.cells.types.len(), 8);
    assert_eq!(piece.data.point.len(), 2, "displacement and reaction");
}
