//! Malformed structures: one clear error each, with the culprit's numbers.

use sim_fem::analysis::linear_static::linear_static;
use sim_fem::analysis::transient::{InitialState, TransientMethod, TransientOptions, transient};
use sim_fem::beam::Orientation;
use sim_fem::elements::catenary_cable::CatenaryCable;
use sim_fem::elements::euler_bernoulli_beam::EulerBernoulliBeam;
use sim_fem::elements::ground_spring::GroundSpring;
use sim_fem::elements::nonlinear_truss::{NonlinearTruss, Unstretched};
use sim_fem::elements::planar_corotational_beam::PlanarCorotationalBeam;
use sim_fem::elements::point_mass::PointMass;
use sim_fem::elements::tension_cable::TensionCable;
use sim_fem::elements::truss::Truss;
use sim_fem::factor::FactorKind;
use sim_fem::load::Direction::{self, Rx, Rz, X, Y, Z};
use sim_fem::load::TimeFunction;
use sim_fem::material::{Material, Section, SectionProperties};
use sim_fem::{Load, StructureBuilder};
use std::error::Error;
use std::ops::ControlFlow;

/// A message with those of its sources.
fn whole(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}

fn bar() -> Truss {
    Truss::new(&Material::new(2e11).with_density(7850.0), &Section::area(1e-4)).unwrap()
}

/// Three nodes in a triangle, held at two; sound until `spoil` touches it.
fn triangle(spoil: impl FnOnce(&mut StructureBuilder)) -> StructureBuilder {
    let mut builder = StructureBuilder::new();
    builder.nodes([[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]).planar();
    for nodes in [[0, 1], [1, 2], [0, 2]] {
        builder.element(bar(), &nodes);
    }
    builder.pin(0).pin(1).force(2, X, 1.0);
    spoil(&mut builder);
    builder
}

#[test]
fn the_triangle_itself_is_sound() {
    let structure = triangle(|_| {}).build().unwrap();
    assert!(linear_static(&structure, 0.0, FactorKind::Auto).is_ok());
    assert!(structure.warnings().is_empty());
}

type Spoil = fn(&mut StructureBuilder);

/// Builds a spoilt triangle and looks for the message.
#[track_caller]
fn refused(spoil: impl FnOnce(&mut StructureBuilder), expected: &str) {
    let error = triangle(spoil).build().expect_err(expected);
    let text = whole(&error);
    assert!(text.contains(expected), "{text}\n  lacks: {expected}");
}

#[test]
fn nodes_supports_and_loads() {
    let cases: Vec<(Spoil, &str)> = vec![
        (|b| _ = b.element(bar(), &[2, 3]), "element 3 names node 3, but nodes run from 0 to 2"),
        (
            |b| _ = b.element(bar(), &[1, 1]),
            "element 3 (truss, nodes [1, 1]): length is zero: both ends are at (1, 0, 0)",
        ),
        (|b| _ = b.element(bar(), &[1]), "element 3 (truss) needs 2 nodes, got 1"),
        (|b| _ = b.element(bar(), &[0, 1, 2]), "element 3 (truss) needs 2 nodes, got 3"),
        (
            |b| _ = b.element(PointMass::new(1.0).unwrap(), &[0, 1]),
            "element 3 (point_mass) needs 1 nodes, got 2",
        ),
        (
            |b| {
                let node = b.node([1.0, 0.0, 0.0]);
                b.element(bar(), &[1, node]);
            },
            "length is zero: both ends are at (1, 0, 0)",
        ),
        (
            |b| {
                let node = b.node([1e9, 0.0, 0.0]);
                let other = b.node([1e9 + 1e-7, 0.0, 0.0]);
                b.element(bar(), &[node, other]);
            },
            "length is zero",
        ),
        (|b| _ = b.node([5.0, 0.0, 0.0]), "node 3 belongs to no element"),
        (|b| _ = b.node([f64::NAN, 0.0, 0.0]), "coordinate x of node 3 is NaN"),
        (|b| _ = b.node([0.0, f64::INFINITY, 0.0]), "coordinate y of node 3 is inf"),
        (|b| _ = b.fix(7, X), "support 6 names node 7, but nodes run from 0 to 2"),
        (|b| _ = b.fix(0, X), "direction x of node 0 is supported twice"),
        (
            |b| _ = b.prescribe(2, Y, f64::NAN, TimeFunction::Constant),
            "support 6 at node 2: value = NaN, must be finite",
        ),
        (|b| _ = b.prescribe(2, Rz, 0.1, TimeFunction::Constant), "support 6 acts on rotation rz of node 2"),
        (|b| _ = b.force(9, X, 1.0), "load 1 names node 9, but nodes run from 0 to 2"),
        (|b| _ = b.force(2, Rx, 1.0), "load 1 acts on rotation rx of node 2, which no element turns"),
        (|b| _ = b.force(2, Y, f64::NEG_INFINITY), "load 1 at node 2: value = -inf, must be finite"),
        (
            |b| _ = b.load(Load::Uniform { element: 3, force: [0.0; 3] }),
            "load 1 names element 3, but elements run from 0 to 2",
        ),
        (|b| _ = b.load(Load::Gravity { acceleration: [0.0, f64::NAN, 0.0] }), "value = NaN, must be finite"),
        (|b| _ = b.rayleigh_damping(f64::NAN, 0.0), "rayleigh damping factor = NaN, must be finite"),
        (|b| _ = b.fix(2, X).fix(2, Y), "every degree of freedom is supported"),
    ];
    for (spoil, expected) in cases {
        refused(spoil, expected);
    }
    let empty = StructureBuilder::new().build().unwrap_err();
    assert_eq!(empty.to_string(), "a structure needs at least one node");
    let mut bare = StructureBuilder::new();
    bare.node([0.0; 3]);
    assert_eq!(bare.build().unwrap_err().to_string(), "a structure needs at least one element");
}

#[test]
fn members() {
    let cases: Vec<(Spoil, &str)> = vec![
        (
            |b| {
                let strange = EulerBernoulliBeam::new(
                    &Material::new(2e11),
                    &Section::Round { diameter: 0.01 },
                    Orientation::Toward([1.0, 0.0, 0.0]),
                );
                b.element(strange.unwrap(), &[0, 1]);
            },
            "orientation vector (1, 0, 0) is zero or along the member",
        ),
        (
            |b| {
                let node = b.node([0.0, 0.0, 1.0]);
                let strip =
                    Section::Numbers(SectionProperties { area: 1.0, inertia_z: 1.0, ..Default::default() });
                b.element(PlanarCorotationalBeam::new(&Material::new(1e6), &strip).unwrap(), &[0, node]);
            },
            "ends differ in z (0 and 1)",
        ),
        (
            |b| {
                let material = Material::new(1e9).with_density(1000.0);
                let cable = CatenaryCable::new(&material, &Section::area(1e-4), 2.0, [0.0, -9.81, 0.0]);
                b.element(cable.unwrap(), &[0, 2]);
            },
            "catenary with ends above one another",
        ),
        (
            |b| {
                let bar = NonlinearTruss::new(&Material::new(1e9), &Section::area(1e-4)).unwrap();
                b.element(bar.with_unstretched(Unstretched::Length(-1.0)), &[0, 2]);
            },
            "unstretched length = -1, must be positive and finite",
        ),
        (
            |b| {
                let cable = TensionCable::new(&Material::new(1e9), &Section::area(1e-4)).unwrap();
                b.element(cable.with_unstretched(Unstretched::Pretension(-2e5)), &[0, 2]);
            },
            "1 + pretension/EA = -1",
        ),
        (
            |b| {
                let cable = TensionCable::new(&Material::new(1e9), &Section::area(1e-4)).unwrap();
                b.element(cable.with_damping(f64::NAN), &[0, 2]);
            },
            "damping = NaN",
        ),
    ];
    for (spoil, expected) in cases {
        refused(spoil, expected);
    }
}

#[test]
fn time_functions() {
    let table =
        |times: &[f64], values: &[f64]| TimeFunction::Table { times: times.into(), values: values.into() };
    for (function, expected) in [
        (table(&[0.0, 1.0], &[1.0]), "time function of load 1: table has 2 times and 1 values"),
        (table(&[], &[]), "table has 0 times and 0 values"),
        (table(&[0.0, 0.0], &[1.0, 2.0]), "table time 1 is 0 s, after 0 s"),
        (table(&[0.0, 1.0], &[1.0, f64::NAN]), "table = NaN"),
        (TimeFunction::Ramp { duration: 0.0 }, "duration = 0, must be positive"),
        (TimeFunction::Sine { angular_frequency: f64::INFINITY, phase: 0.0 }, "angular_frequency = inf"),
    ] {
        let load = Load::Force { node: 2, direction: X, value: 1.0 };
        refused(|b| _ = b.timed_load(0, load, function), expected);
    }
}

/// What came of building something.
type Attempt = Result<(), Box<dyn Error>>;

#[test]
fn materials_and_parameters() {
    let steel = Material::new(2e11);
    let cases: Vec<(Attempt, &str)> = vec![
        (
            Truss::new(&Material::new(0.0), &Section::area(1.0)).map(drop).map_err(Into::into),
            "youngs_modulus = 0",
        ),
        (
            Truss::new(&Material::new(f64::NAN), &Section::area(1.0)).map(drop).map_err(Into::into),
            "youngs_modulus = NaN",
        ),
        (
            Truss::new(&steel.with_density(-1.0), &Section::area(1.0)).map(drop).map_err(Into::into),
            "density = -1",
        ),
        (
            Truss::new(&steel.with_strength(0.0), &Section::area(1.0)).map(drop).map_err(Into::into),
            "strength = 0",
        ),
        (Truss::new(&steel, &Section::area(-1e-4)).map(drop).map_err(Into::into), "area = -0.0001"),
        (
            Truss::new(&steel.with_poissons_ratio(0.6), &Section::area(1.0)).map(drop).map_err(Into::into),
            "poissons_ratio = 0.6",
        ),
        (Truss::new(&steel, &Section::Round { diameter: 0.0 }).map(drop).map_err(Into::into), "diameter = 0"),
        (
            Truss::new(
                &steel,
                &Section::I { width: 0.1, height: 0.02, flange_thickness: 0.01, web_thickness: 0.01 },
            )
            .map(drop)
            .map_err(Into::into),
            "web height",
        ),
        (
            EulerBernoulliBeam::new(&steel, &Section::area(1e-3), Orientation::Upright)
                .map(drop)
                .map_err(Into::into),
            "inertia_y = 0",
        ),
        (PointMass::new(-1.0).map(drop).map_err(Into::into), "mass = -1"),
        (
            GroundSpring::new([1.0, f64::NAN, 0.0, 0.0, 0.0, 0.0]).map(drop).map_err(Into::into),
            "stiffness = NaN",
        ),
        (
            CatenaryCable::new(&steel, &Section::area(1e-4), 1.0, [0.0, 0.0, -9.81])
                .map(drop)
                .map_err(Into::into),
            "weight per length",
        ),
    ];
    for (result, expected) in cases {
        let text = result.expect_err(expected).to_string();
        assert!(text.contains(expected), "{text}\n  lacks: {expected}");
    }
}

#[test]
fn analyses() {
    let structure = triangle(|_| {}).build().unwrap();
    let run = |options: TransientOptions| {
        let initial = InitialState::at_rest(&structure);
        transient(&structure, &initial, &options, &mut |_| ControlFlow::Continue(())).unwrap_err().to_string()
    };
    let method = |method| TransientOptions { method, ..Default::default() };
    for (text, expected) in [
        (run(TransientOptions { dt: 0.0, ..Default::default() }), "dt = 0"),
        (run(TransientOptions { dt: f64::NAN, ..Default::default() }), "dt = NaN"),
        (run(method(TransientMethod::Newmark { beta: -0.1, gamma: 0.5 })), "beta = -0.1"),
        (run(method(TransientMethod::HilberHughesTaylor { alpha: 0.1 })), "alpha = 0.1"),
        (run(method(TransientMethod::GeneralizedAlpha { rho_infinity: 1.5 })), "rho_infinity = 1.5"),
        (run(method(TransientMethod::CentralDifference)), "above the certain limit"),
    ] {
        assert!(text.contains(expected), "{text}\n  lacks: {expected}");
    }
}

#[test]
fn suspicious_units_are_named() {
    // Steel in MPa and mm² by mistake.
    let bar = Truss::new(&Material::new(210.0).with_density(7.85e-9), &Section::area(100.0)).unwrap();
    let structure = triangle(|b| _ = b.element(bar, &[0, 1])).build().unwrap();
    let texts: Vec<String> = structure.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(texts[0].contains("element 3") && texts[0].contains("GPa or MPa"), "{texts:?}");
    assert!(texts[1].contains("density") && texts[2].contains("mm²"), "{texts:?}");
}

/// Case F44: a cable's mass does not depend on which end comes first, and its parts sum to the whole.
#[test]
fn f44_cable_mass_is_symmetric() {
    let length = 100.0;
    let material = Material::new(1e9).with_density(110.0 / length);
    for flipped in [false, true] {
        let mut builder = StructureBuilder::new();
        builder.nodes([[0.0; 3], [80.0, 60.0, 0.0]]);
        let cable = CatenaryCable::new(&material, &Section::area(1.0), length, [0.0, -9.81, 0.0]).unwrap();
        builder.element(cable, if flipped { &[1, 0] } else { &[0, 1] });
        builder.pin(0);
        let structure = builder.build().unwrap();
        assert!((structure.total_mass() - 110.0).abs() < 1e-12);
        let mut inertia = vec![0.0; 6];
        structure.add_mass_times(1.0, &[1.0, 0.0, 0.0, 1.0, 0.0, 0.0], &mut inertia);
        assert!((inertia[0] + inertia[3] - 110.0).abs() < 1e-12 && (inertia[0] - 55.0).abs() < 1e-12);
        assert_eq!(Direction::ALL[0], X);
        assert_eq!((inertia[1], structure.value(&inertia, 1, Z)), (0.0, 0.0));
    }
}
