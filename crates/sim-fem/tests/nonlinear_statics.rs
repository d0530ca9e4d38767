//! Large displacements against the reference set and against faults met elsewhere.

#[path = "support/reference.rs"]
mod reference;

use reference::{Case, close, close_to};
use sim_fem::analysis::arc_length::{ArcLengthOptions, ArcLengthReport, CriticalKind, PathEnd, arc_length};
use sim_fem::analysis::nonlinear_static::{
    EquilibriumError, NonlinearStaticOptions, NonlinearStaticReport, Stage, nonlinear_static,
};
use sim_fem::beam::Orientation;
use sim_fem::elements::catenary_cable::CatenaryCable;
use sim_fem::elements::corotational_beam::CorotationalBeam;
use sim_fem::elements::nonlinear_truss::{NonlinearTruss, StrainMeasure, Unstretched};
use sim_fem::elements::planar_corotational_beam::PlanarCorotationalBeam;
use sim_fem::elements::tension_cable::TensionCable;
use sim_fem::factor::FactorKind;
use sim_fem::load::Direction::{self, Rz, X, Y, Z};
use sim_fem::load::TimeFunction;
use sim_fem::material::{Material, Section, SectionProperties};
use sim_fem::{Load, Structure, StructureBuilder};

fn solve(structure: &Structure, options: &NonlinearStaticOptions) -> NonlinearStaticReport {
    let report = nonlinear_static(structure, &Stage::new(structure), options).unwrap();
    // Nothing unconverged, whatever the tolerance asked for.
    assert!(
        report.end.relative_residual <= options.relative_tolerance.max(1e-8),
        "{}",
        report.end.relative_residual
    );
    report
}

/// Two bars from (±b, 0) to the apex (0, h).
fn arch(ea: f64, b: f64, h: f64, measure: StrainMeasure) -> StructureBuilder {
    let mut builder = StructureBuilder::new();
    builder.nodes([[-b, 0.0, 0.0], [0.0, h, 0.0], [b, 0.0, 0.0]]).planar();
    let bar = NonlinearTruss::new(&Material::new(ea), &Section::area(1.0)).unwrap().with_measure(measure);
    builder.element(bar, &[0, 1]);
    builder.element(bar, &[1, 2]);
    builder.pin(0).pin(2);
    builder
}

const MEASURES: [(StrainMeasure, &str, &str); 2] = [
    (StrainMeasure::Engineering, "P_engineering", "engineering"),
    (StrainMeasure::GreenLagrange, "P_green_lagrange", "green"),
];

/// The curve by moving the apex: prescribed displacement, load as reaction.
#[test]
fn d_von_mises_truss_under_displacement_control() {
    let case = Case::new("D-von-mises-truss");
    let [ea, b, h] = ["EA", "b", "h"].map(|name| case.number(name));
    for (measure, column, _) in MEASURES {
        for (w, expected) in case.list("w").into_iter().zip(case.list(column)) {
            let mut builder = arch(ea, b, h, measure);
            builder.prescribe(1, Y, -w, TimeFunction::Constant);
            let structure = builder.build().unwrap();
            let report =
                solve(&structure, &NonlinearStaticOptions { require_stable: false, ..Default::default() });
            let load = -structure.value(&report.end.reaction, 1, Y);
            close_to(column, load, expected, 1e-11, expected.abs().max(1.0));
        }
    }
}

fn follow(builder: StructureBuilder, options: &ArcLengthOptions) -> (Structure, ArcLengthReport) {
    let structure = builder.build().unwrap();
    let report = arc_length(&structure, &Stage::new(&structure), options).unwrap();
    (structure, report)
}

#[test]
fn d_von_mises_truss_by_arc_length() {
    let case = Case::new("D-von-mises-truss");
    let [ea, b, h] = ["EA", "b", "h"].map(|name| case.number(name));
    for (measure, _, suffix) in MEASURES {
        let mut builder = arch(ea, b, h, measure);
        builder.force(1, Y, -3000.0);
        let options = ArcLengthOptions { max_displacement: 2.2 * h, ..Default::default() };
        let (structure, report) = follow(builder, &options);
        assert_eq!(report.end, PathEnd::Displacement);
        let l0 = b.hypot(h);
        let exact = |w: f64| {
            let l = b.hypot(h - w);
            match measure {
                StrainMeasure::Engineering => 2.0 * ea * (l0 - l) / l0 * (h - w) / l,
                StrainMeasure::GreenLagrange => ea / l0.powi(3) * (h - w) * (2.0 * h * w - w * w),
            }
        };
        let upper = case.number(&format!("P_limit_{suffix}"));
        for point in &report.path {
            let w = -structure.value(&point.displacement, 1, Y);
            close_to("path", 3000.0 * point.load_factor, exact(w), 1e-8, upper);
        }
        // Loaded first, unloaded past the snap, loaded again: two limit points, antisymmetric about w = h.
        let limits: Vec<_> =
            report.critical.iter().filter(|c| matches!(c.kind, CriticalKind::Limit)).collect();
        assert_eq!(limits.len(), 2);
        let w_limit = case.number(&format!("w_limit_{suffix}"));
        let drop = |k: usize| -structure.value(&limits[k].displacement, 1, Y);
        close(suffix, 3000.0 * limits[0].load_factor, upper, 1e-11);
        close(suffix, drop(0), w_limit, 1e-6);
        close(suffix, 3000.0 * limits[1].load_factor, -upper, 1e-11);
        close(suffix, drop(1), 2.0 * h - w_limit, 1e-6);
    }
}

/// Rise 0.1: limit load 381.1 N at 42.36 mm; quadratic below it, an error that says so above it.
#[test]
fn f43_load_control_converges_below_the_limit_and_refuses_above() {
    let build = |load: f64| {
        let mut builder = arch(1e6, 1.0, 0.1, StrainMeasure::Engineering);
        builder.force(1, Y, -load);
        builder
    };
    let (structure, report) =
        follow(build(1000.0), &ArcLengthOptions { max_displacement: 0.19, ..Default::default() });
    let limit = &report.critical[0];
    close("limit load", 1000.0 * limit.load_factor, 381.1, 2e-4);
    close("limit drop", -structure.value(&limit.displacement, 1, Y), 42.36e-3, 2e-4);

    let below = build(350.0).build().unwrap();
    let report = solve(&below, &NonlinearStaticOptions { steps: 5, ..Default::default() });
    assert!(report.path.iter().all(|point| point.iterations <= 6), "{:?}", report.path.last());
    assert_eq!(report.cuts, 0);

    let above = build(500.0).build().unwrap();
    let options = NonlinearStaticOptions::default();
    let error = nonlinear_static(&above, &Stage::new(&above), &options).unwrap_err();
    match &error {
        EquilibriumError::NotConverged { reached, .. } => close_to("reached", *reached, 0.76, 0.1, 1.0),
        // Newton may also jump to the mirrored branch, which is stable again: then the load is carried.
        other => panic!("{other}"),
    }
    assert!(error.to_string().contains("arc-length"), "{error}");
}

/// 24 bars: apex, ring of six, six supports; cm and N.
fn star_dome(material: &Material, area: f64, measure: StrainMeasure) -> StructureBuilder {
    let mut builder = StructureBuilder::new();
    builder.node([0.0, 0.0, 8.216]);
    let ring = |radius: f64, z: f64, turn: f64| {
        (0..6).map(move |k| {
            let angle = (60.0 * f64::from(k) + turn).to_radians();
            [radius * angle.cos(), radius * angle.sin(), z]
        })
    };
    builder.nodes(ring(25.0, 6.216, 0.0)).nodes(ring(50.0, 0.0, 30.0));
    let bar = NonlinearTruss::new(material, &Section::area(area)).unwrap().with_measure(measure);
    for k in 0..6 {
        builder.element(bar, &[0, 1 + k]);
        builder.element(bar, &[1 + k, 1 + (k + 1) % 6]);
        builder.element(bar, &[1 + k, 7 + k]);
        builder.element(bar, &[1 + (k + 1) % 6, 7 + k]);
        builder.pin(7 + k);
    }
    builder
}

#[test]
fn d_star_dome_24() {
    let case = Case::new("D-star-dome-24");
    let material = Material::new(case.number("E"));
    for (measure, suffix) in
        [(StrainMeasure::Engineering, "engineering"), (StrainMeasure::GreenLagrange, "green")]
    {
        let mut builder = star_dome(&material, case.number("A"), measure);
        builder.force(0, Z, -300.0);
        let options =
            ArcLengthOptions { first_load_factor: 0.2, max_displacement: 1.5, ..Default::default() };
        let (structure, report) = follow(builder, &options);
        let first = &report.critical[0];
        assert!(matches!(first.kind, CriticalKind::Limit), "no bifurcation before the limit point");
        close(suffix, 300.0 * first.load_factor, case.number(&format!("P_limit_{suffix}")), 1e-8);
        let w = -structure.value(&first.displacement, 0, Z);
        close(suffix, w, case.number(&format!("w_limit_{suffix}")), 1e-6);
        if measure == StrainMeasure::Engineering {
            let expected = case.list("ring_radius_height_at_limit_engineering");
            close("radius", 25.0 + structure.value(&first.displacement, 1, X), expected[0], 1e-6);
            close("height", 6.216 + structure.value(&first.displacement, 1, Z), expected[1], 1e-6);
        }
    }
    for (w, expected) in case.list("w_table").into_iter().zip(case.list("P_at_w_table_engineering")) {
        let mut builder = star_dome(&material, case.number("A"), StrainMeasure::Engineering);
        builder.prescribe(0, Z, -w, TimeFunction::Constant);
        let structure = builder.build().unwrap();
        let options = NonlinearStaticOptions { steps: 40, require_stable: false, ..Default::default() };
        let load = -structure.value(&solve(&structure, &options).end.reaction, 0, Z);
        close_to("P(w)", load, expected, 1e-6, 303.0);
    }
}

#[test]
fn d_isolated_cable_jayaraman_knudson() {
    let case = Case::new("D-isolated-cable-jayaraman-knudson");
    let [ea, w, span] = ["EA", "w", "span"].map(|name| case.number(name));
    let lengths = [case.number("L01"), case.number("L02")];
    let material = Material::new(ea).with_density(w / 9.81);
    let mut builder = StructureBuilder::new();
    builder.nodes([[0.0; 3], [121.92, -29.276, 0.0], [span, 0.0, 0.0]]).planar();
    for (k, length) in lengths.into_iter().enumerate() {
        let cable = CatenaryCable::new(&material, &Section::area(1.0), length, [0.0, -9.81, 0.0]).unwrap();
        builder.element(cable, &[k, k + 1]);
    }
    builder.pin(0).pin(2);
    builder.timed_load(
        1,
        Load::Force { node: 1, direction: Y, value: -case.number("P") },
        TimeFunction::Constant,
    );
    let structure = builder.build().unwrap();
    let options = NonlinearStaticOptions::default();
    let rest = vec![0.0; structure.dof_count()];
    let hanging = nonlinear_static(&structure, &Stage::after(&structure, rest, &[], &[0]), &options).unwrap();
    let position = |u: &[f64]| [121.92 + structure.value(u, 1, X), -29.276 + structure.value(u, 1, Y)];
    let before = position(&hanging.end.displacement);
    close("x", before[0], case.number("node_x_selfweight"), 1e-9);
    close("y", before[1], case.number("node_y_selfweight"), 1e-9);
    close("H", -structure.value(&hanging.end.reaction, 0, X), case.number("H_selfweight"), 1e-9);
    let stage = Stage::after(&structure, hanging.end.displacement, &[0], &[1]);
    let loaded = nonlinear_static(&structure, &stage, &options).unwrap();
    let after = position(&loaded.end.displacement);
    close("dx", after[0] - before[0], case.number("dx"), 1e-8);
    close("dy", after[1] - before[1], case.number("dy"), 1e-8);
    close_to("published", after[1] - before[1], case.number("published_dy_catenary"), 2e-3, 1.0);
    close("H", -structure.value(&loaded.end.reaction, 0, X), case.number("H_final"), 1e-9);
    close("V", structure.value(&loaded.end.reaction, 0, Y), case.number("V_left_final"), 1e-9);
}

#[test]
fn d_saddle_net() {
    let case = Case::new("D-saddle-net");
    let material = Material::new(case.number("EA"));
    let cable = TensionCable::new(&material, &Section::area(1.0))
        .unwrap()
        .with_unstretched(Unstretched::Factor(case.number("L0_factor")));
    let mut builder = StructureBuilder::new();
    let node = |i: i32, j: i32| ((j + 2) * 5 + i + 2) as usize;
    for j in -2..=2 {
        for i in -2..=2 {
            let (x, y) = (f64::from(i), f64::from(j));
            // Corners carry no segment; a node there would belong to no element.
            builder.node([x, y, 0.1 * (x * x - y * y)]);
        }
    }
    for line in -1..=1 {
        for k in -2..2 {
            builder.element(cable, &[node(k, line), node(k + 1, line)]);
            builder.element(cable, &[node(line, k), node(line, k + 1)]);
        }
    }
    for j in -2_i32..=2 {
        for i in -2_i32..=2 {
            if i.abs() == 2 && j.abs() == 2 {
                let mass = sim_fem::elements::point_mass::PointMass::new(1.0).unwrap();
                builder.element(mass, &[node(i, j)]);
            }
            if i.abs() == 2 || j.abs() == 2 {
                builder.pin(node(i, j));
            } else {
                let force = Load::Force { node: node(i, j), direction: Z, value: case.number("load") };
                builder.timed_load(1, force, TimeFunction::Constant);
            }
        }
    }
    let structure = builder.build().unwrap();
    let options = NonlinearStaticOptions { steps: 1, ..Default::default() };
    let rest = vec![0.0; structure.dof_count()];
    let prestressed =
        nonlinear_static(&structure, &Stage::after(&structure, rest, &[], &[0]), &options).unwrap();
    let position = |u: &[f64], i: i32, j: i32| {
        let reference = structure.node(node(i, j));
        [0, 1, 2].map(|k| reference[k] + structure.value(u, node(i, j), Direction::ALL[k]))
    };
    let check = |u: &[f64], i: i32, j: i32, name: &str| {
        for (value, expected) in position(u, i, j).into_iter().zip(case.list(name)) {
            close_to(name, value, expected, 1e-8, 1.0);
        }
    };
    let tensions = |report: &NonlinearStaticReport| {
        let t: Vec<f64> = report.members().iter().take(24).map(|m| m.axial_force).collect();
        (t.iter().copied().fold(f64::INFINITY, f64::min), t.iter().copied().fold(0.0, f64::max))
    };
    let u = prestressed.end.displacement.clone();
    check(&u, 1, 0, "pos_prestress_1_0");
    check(&u, 1, 1, "pos_prestress_1_1");
    let (low, high) = tensions(&prestressed);
    close("T", low, case.number("T_min_prestress"), 1e-8);
    close("T", high, case.number("T_max_prestress"), 1e-8);
    let options = NonlinearStaticOptions { steps: 4, ..Default::default() };
    let loaded = nonlinear_static(&structure, &Stage::after(&structure, u, &[0], &[1]), &options).unwrap();
    let u = &loaded.end.displacement;
    check(u, 0, 0, "pos_loaded_0_0");
    check(u, 1, 0, "pos_loaded_1_0");
    check(u, 0, 1, "pos_loaded_0_1");
    check(u, 1, 1, "pos_loaded_1_1");
    let (low, high) = tensions(&loaded);
    close("T", low, case.number("T_min_loaded"), 1e-7);
    close("T", high, case.number("T_max_loaded"), 1e-7);
}

#[test]
fn d_prestressed_two_segment_cable() {
    let case = Case::new("D-prestressed-two-segment-cable");
    let [ea, half, t0, q] = ["EA", "Lh", "T0", "Q"].map(|name| case.number(name));
    let mut builder = StructureBuilder::new();
    builder.nodes([[0.0; 3], [half, 0.0, 0.0], [2.0 * half, 0.0, 0.0]]).planar();
    let cable = TensionCable::new(&Material::new(ea), &Section::area(1.0))
        .unwrap()
        .with_unstretched(Unstretched::Pretension(t0));
    builder.element(cable, &[0, 1]);
    builder.element(cable, &[1, 2]);
    builder.pin(0).pin(2).force(1, Y, q);
    let structure = builder.build().unwrap();
    let report =
        solve(&structure, &NonlinearStaticOptions { relative_tolerance: 1e-13, ..Default::default() });
    close("d", structure.value(&report.end.displacement, 1, Y), case.number("d"), 1e-12);
    close("T", report.members()[0].axial_force, case.number("T"), 1e-12);
    let linear = sim_fem::analysis::linear_static::linear_static(&structure, 0.0, FactorKind::Auto).unwrap();
    close("linear", structure.value(&linear.displacement, 1, Y), case.number("d_linearised"), 1e-12);
}

/// Straight, unstressed, loaded sideways: 46.44 mm and 107.8 N, from a tangent that is singular at the start.
#[test]
fn f39_straight_cable_carries_by_bending_its_path() {
    let mut builder = StructureBuilder::new();
    builder.nodes([[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]).planar();
    let bar = NonlinearTruss::new(&Material::new(1e9), &Section::area(1e-4)).unwrap();
    builder.element(bar, &[0, 1]);
    builder.element(bar, &[1, 2]);
    builder.pin(0).pin(2).force(1, Y, 10.0);
    let structure = builder.build().unwrap();
    let report = solve(&structure, &NonlinearStaticOptions::default());
    close("sag", structure.value(&report.end.displacement, 1, Y), 46.44e-3, 2e-4);
    close("tension", report.members()[0].axial_force, 107.8, 5e-4);
}

/// A section with EA = 1e6 (nearly inextensible: strains of 1e-5) and EI = 1; E = 1 and ν = 0.
fn strip() -> (Material, Section) {
    let section = Section::Numbers(SectionProperties {
        area: 1e6,
        inertia_y: 1.0,
        inertia_z: 1.0,
        torsion: 2.0,
        ..SectionProperties::default()
    });
    (Material::new(1.0).with_poissons_ratio(0.0).with_density(1e-6), section)
}

fn planar_cantilever(n: usize) -> StructureBuilder {
    let (material, section) = strip();
    let mut builder = StructureBuilder::new();
    builder.nodes((0..=n).map(|i| [i as f64 / n as f64, 0.0, 0.0])).planar();
    for i in 0..n {
        builder.element(PlanarCorotationalBeam::new(&material, &section).unwrap(), &[i, i + 1]);
    }
    builder.clamp(0);
    builder
}

/// Dead tip load: within 1e-4 with 64 elements, and the error falls with the square of the element length.
#[test]
fn d_elastica_cantilever_tip_load() {
    let case = Case::new("D-elastica-cantilever-tip-load");
    let loads = case.list("PL2_over_EI");
    let solve_with = |n: usize, load: f64| {
        let mut builder = planar_cantilever(n);
        builder.force(n, Y, load);
        let structure = builder.build().unwrap();
        let report =
            solve(&structure, &NonlinearStaticOptions { relative_tolerance: 1e-9, ..Default::default() });
        [Y, X, Rz].map(|direction| structure.value(&report.end.displacement, n, direction))
    };
    for (k, &load) in loads.iter().enumerate() {
        let [w, u, turn] = solve_with(64, load);
        close("w/L", w, case.list("w_over_L")[k], 1e-4);
        close("u/L", -u, case.list("u_over_L")[k], 2e-4);
        close("turn", turn, case.list("tip_rotation")[k], 1e-4);
    }
    let error = |n| (solve_with(n, 10.0)[0] - case.list("w_over_L")[3]).abs();
    let order = (error(8) / error(16)).log2();
    assert!((order - 2.0).abs() < 0.1, "order {order}");
}

/// A cantilever rolled into a circle, in the plane by more than a full turn and in space by three quarters of one.
#[test]
fn d_cantilever_roll_up() {
    let case = Case::new("D-cantilever-roll-up");
    let n = 40;
    for (k, phi) in case.list("phi").into_iter().enumerate() {
        let mut builder = planar_cantilever(n);
        builder.force(n, Rz, phi);
        let structure = builder.build().unwrap();
        let options = NonlinearStaticOptions { steps: 8, relative_tolerance: 1e-9, ..Default::default() };
        let report = solve(&structure, &options);
        let value = |direction| structure.value(&report.end.displacement, n, direction);
        // A polygon inscribed in the circle: exact up to (φ/n)²/24.
        close_to("x", 1.0 + value(X), case.list("x")[k], (phi / n as f64).powi(2) / 12.0, 1.0);
        close_to("y", value(Y), case.list("y")[k], (phi / n as f64).powi(2) / 12.0, 1.0);
        close("turn", value(Rz), phi, 1e-9);
    }
    let (material, section) = strip();
    let axis = [0.36, 0.48, 0.8];
    // The beam starts across the axis it is turned about.
    let along = [0.8, -0.6, 0.0];
    let phi = case.list("phi")[2];
    let mut builder = StructureBuilder::new();
    builder.nodes((0..=n).map(|i| along.map(|a| a * i as f64 / n as f64)));
    for i in 0..n {
        let beam = CorotationalBeam::new(&material, &section, Orientation::Toward(axis)).unwrap();
        builder.element(beam, &[i, i + 1]);
    }
    builder.clamp(0);
    for (k, a) in axis.into_iter().enumerate() {
        builder.force(n, Direction::ALL[3 + k], phi * a);
    }
    let structure = builder.build().unwrap();
    let options = NonlinearStaticOptions { steps: 8, relative_tolerance: 1e-8, ..Default::default() };
    let report = solve(&structure, &options);
    let tip = [X, Y, Z].map(|direction| structure.value(&report.end.displacement, n, direction));
    let inward = [0, 1, 2].map(|k| {
        let (a, b) = ((k + 1) % 3, (k + 2) % 3);
        axis[a] * along[b] - axis[b] * along[a]
    });
    let dot = |a: [f64; 3], b: [f64; 3]| (0..3).map(|k| a[k] * b[k]).sum::<f64>();
    let tolerance = (phi / n as f64).powi(2) / 12.0;
    close_to("x", 1.0 + dot(tip, along), case.list("x")[2], tolerance, 1.0);
    close_to("y", dot(tip, inward), case.list("y")[2], tolerance, 1.0);
    close_to("out of plane", dot(tip, axis), 0.0, 1e-9, 1.0);
}

#[test]
fn d_heavy_elastica() {
    let case = Case::new("D-heavy-elastica");
    let n = 64;
    for (k, gamma) in case.list("gamma").into_iter().enumerate() {
        let mut builder = planar_cantilever(n);
        builder.load(Load::Gravity { acceleration: [0.0, -gamma, 0.0] });
        let structure = builder.build().unwrap();
        let report =
            solve(&structure, &NonlinearStaticOptions { relative_tolerance: 1e-9, ..Default::default() });
        let value = |direction| structure.value(&report.end.displacement, n, direction);
        close_to("x", 1.0 + value(X), case.list("x_over_L")[k], 1e-3, 1.0);
        close_to("drop", -value(Y), case.list("drop_over_L")[k], 1e-3, 1.0);
        close_to("tip angle", -value(Rz), case.list("tip_angle")[k], 1e-3, 1.0);
    }
}
