//! Natural frequencies and buckling loads against the reference set.

#[path = "support/reference.rs"]
mod reference;

use reference::{Case, close, close_to};
use sim_fem::analysis::buckling::{BucklingError, BucklingOptions, buckling};
use sim_fem::analysis::modal::{ModalError, ModalOptions, ModalReport, modal};
use sim_fem::analysis::nonlinear_static::{NonlinearStaticOptions, Stage, nonlinear_static};
use sim_fem::beam::Orientation;
use sim_fem::elements::MassKind;
use sim_fem::elements::euler_bernoulli_beam::EulerBernoulliBeam;
use sim_fem::elements::nonlinear_truss::{NonlinearTruss, Unstretched};
use sim_fem::elements::point_mass::PointMass;
use sim_fem::elements::timoshenko_beam::TimoshenkoBeam;
use sim_fem::elements::truss::Truss;
use sim_fem::factor::FactorKind;
use sim_fem::load::Direction::{self, Rz, X, Y, Z};
use sim_fem::material::{Material, Section, SectionProperties};
use sim_fem::{Structure, StructureBuilder};
use std::f64::consts::PI;

fn modes(builder: StructureBuilder, count: usize) -> (Structure, ModalReport) {
    let structure = builder.build().unwrap();
    let report = modal(&structure, None, &ModalOptions { modes: count, ..Default::default() }).unwrap();
    assert_eq!(report.modes.len(), count);
    check_orthogonality(&structure, &report);
    (structure, report)
}

/// φᵢᵀ M φⱼ = δᵢⱼ and ascending eigenvalues.
fn check_orthogonality(structure: &Structure, report: &ModalReport) {
    for (i, a) in report.modes.iter().enumerate() {
        let mut product = vec![0.0; structure.dof_count()];
        structure.add_mass_times(1.0, &a.shape, &mut product);
        for (j, b) in report.modes.iter().enumerate() {
            let inner: f64 = product.iter().zip(&b.shape).map(|(p, s)| p * s).sum();
            close_to("orthonormal", inner, f64::from(i == j), 1e-8, 1.0);
        }
        if i > 0 {
            assert!(report.modes[i - 1].eigenvalue <= a.eigenvalue);
        }
    }
}

fn bar(n: usize, length: f64, material: &Material, kind: MassKind) -> StructureBuilder {
    let mut builder = StructureBuilder::new();
    builder.nodes((0..=n).map(|i| [length * i as f64 / n as f64, 0.0, 0.0])).mass(kind);
    for i in 0..n {
        builder.element(Truss::new(material, &Section::area(1e-4)).unwrap(), &[i, i + 1]);
    }
    builder.fix(0, X);
    for i in 0..=n {
        builder.fix(i, Y).fix(i, Z);
    }
    builder
}

#[test]
fn d_bar_axial_frequencies() {
    let case = Case::new("D-bar-axial-frequencies");
    let material = Material::new(case.number("E")).with_density(case.number("rho"));
    for (kind, name) in [(MassKind::Consistent, "omega_consistent"), (MassKind::Lumped, "omega_lumped")] {
        let (_, report) = modes(bar(5, case.number("L"), &material, kind), 5);
        for (mode, expected) in report.modes.iter().zip(case.list(name)) {
            close(name, mode.angular_frequency(), expected, 1e-10);
        }
        // All five modes together carry all the mass that moves.
        let carried: f64 = report.modes.iter().map(|mode| mode.effective_mass()[0]).sum();
        close("effective mass", carried, report.movable_mass[0], 1e-10);
    }
}

#[test]
fn y54_lumped_from_below_consistent_from_above() {
    let material = Material::new(1.0).with_density(1.0);
    for (n, lumped, consistent) in
        [(1, 2.0_f64.sqrt(), 1.73205), (2, 1.53073, 1.61142), (10, 1.56918, 1.57241)]
    {
        for (kind, expected) in [(MassKind::Lumped, lumped), (MassKind::Consistent, consistent)] {
            let (_, report) = modes(bar(n, 1.0, &material, kind), 1);
            close_to("frequency", report.modes[0].angular_frequency(), expected, 5e-6, 1.0);
        }
        assert!(lumped < PI / 2.0 && consistent > PI / 2.0);
    }
}

#[test]
fn d_10bar_frequencies() {
    let case = Case::new("D-10bar-frequencies");
    let material = Material::new(case.number("E")).with_density(case.number("rho"));
    let bars = [(5, 3), (3, 1), (6, 4), (4, 2), (3, 4), (1, 2), (5, 4), (6, 3), (3, 2), (4, 1)];
    let bay = 360.0 * 0.0254;
    let uniform = vec![case.number("area_uniform"); 10];
    for (areas, kind, name) in [
        (case.list("areas_optimised"), MassKind::Consistent, "frequencies_optimised"),
        (uniform.clone(), MassKind::Consistent, "frequencies_uniform_consistent"),
        (uniform, MassKind::Lumped, "frequencies_uniform_lumped"),
    ] {
        let mut builder = StructureBuilder::new();
        builder.mass(kind);
        builder.nodes(
            [(2.0, 1.0), (2.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0)]
                .map(|(x, y)| [bay * x, bay * y, 0.0]),
        );
        for ((a, b), &area) in bars.into_iter().zip(&areas) {
            builder.element(Truss::new(&material, &Section::area(area)).unwrap(), &[a - 1, b - 1]);
        }
        for node in 0..4 {
            builder.element(PointMass::new(454.0).unwrap(), &[node]);
        }
        builder.pin(4).pin(5).planar();
        let (_, report) = modes(builder, 8);
        for (mode, expected) in report.modes.iter().zip(case.list(name)) {
            close(name, mode.frequency(), expected, 1e-8);
        }
    }
}

#[test]
fn d_von_mises_frequency_under_load() {
    let case = Case::new("D-von-mises-frequency-under-load");
    let truss = Case::new("D-von-mises-truss");
    let [ea, b, h] = ["EA", "b", "h"].map(|name| truss.number(name));
    for (fraction, expected) in case.list("load_fraction").into_iter().zip(case.list("omega")) {
        let mut builder = StructureBuilder::new();
        builder.nodes([[-b, 0.0, 0.0], [0.0, h, 0.0], [b, 0.0, 0.0]]).planar();
        let bar = NonlinearTruss::new(&Material::new(ea), &Section::area(1.0)).unwrap();
        builder.element(bar, &[0, 1]);
        builder.element(bar, &[1, 2]);
        builder.element(PointMass::new(case.number("m")).unwrap(), &[1]);
        builder.pin(0).pin(2).force(1, Y, -fraction * truss.number("P_limit_engineering"));
        let structure = builder.build().unwrap();
        let options = NonlinearStaticOptions { relative_tolerance: 1e-13, ..Default::default() };
        let loaded = nonlinear_static(&structure, &Stage::new(&structure), &options).unwrap();
        let options = ModalOptions { modes: 1, ..Default::default() };
        let report = modal(&structure, Some(&loaded.end.displacement), &options).unwrap();
        close("omega", report.modes[0].angular_frequency(), expected, 1e-9);
    }
}

/// A taut string of nonlinear trusses: beaded-string frequencies exactly, continuum ones in the limit.
#[test]
fn d_vibrating_string_vm53_and_b_string_modes() {
    let string = |length: f64, area: f64, density: f64, youngs: f64, tension: f64, n: usize, kind| {
        let material = Material::new(youngs).with_density(density);
        let bar = NonlinearTruss::new(&material, &Section::area(area))
            .unwrap()
            .with_unstretched(Unstretched::Pretension(tension));
        let mut builder = StructureBuilder::new();
        builder.nodes((0..=n).map(|i| [length * i as f64 / n as f64, 0.0, 0.0])).planar().mass(kind);
        for i in 0..n {
            builder.element(bar, &[i, i + 1]);
        }
        builder.pin(0).pin(n);
        builder
    };
    let case = Case::new("D-vibrating-string-vm53");
    let [length, area, rho, tension] = ["L", "A", "rho", "T"].map(|name| case.number(name));
    let (_, report) = modes(string(length, area, rho, 30e6, tension, 200, MassKind::Consistent), 3);
    // The unstretched string is lighter by its strain, 0.54 %; the case counts mass per stretched length.
    let heavier = (1.0 + tension / (30e6 * area)).sqrt().recip();
    for ((mode, exact), published) in report.modes.iter().zip(case.list("f")).zip(case.list("published")) {
        close("string", mode.frequency() * heavier, exact, 2e-4);
        close("published", mode.frequency() * heavier, published, 3e-4);
    }

    let case = Case::new("B-string-modes");
    let [tension, mu, length, ea] = ["T", "mu", "L", "EA"].map(|name| case.number(name));
    let n = case.number("N") as usize + 1;
    let strain = tension / ea;
    let (_, report) = modes(string(length, 1.0, mu * (1.0 + strain), ea, tension, n, MassKind::Lumped), 5);
    for (mode, expected) in report.modes.iter().zip(case.list("omega_beaded")) {
        close("beads", mode.angular_frequency(), expected, 1e-10);
    }
}

/// Supports the ends of a line of elements, given the number of its last node.
type Ends = fn(&mut StructureBuilder, usize);

fn unit_beam(n: usize) -> StructureBuilder {
    // E = 1 with EA = 1e8, EI = 1, ρA = 1: axial motion far above the bending modes.
    let section = Section::Numbers(SectionProperties {
        area: 1e8,
        inertia_y: 1.0,
        inertia_z: 1.0,
        torsion: 2.0,
        ..SectionProperties::default()
    });
    let material = Material::new(1.0).with_density(1e-8);
    let mut builder = StructureBuilder::new();
    builder.nodes((0..=n).map(|i| [i as f64 / n as f64, 0.0, 0.0])).planar();
    for i in 0..n {
        let beam = EulerBernoulliBeam::new(&material, &section, Orientation::Upright).unwrap();
        builder.element(beam, &[i, i + 1]);
    }
    builder
}

#[test]
fn d_cantilever_fe_frequencies() {
    let case = Case::new("D-cantilever-fe-frequencies");
    for (n, name) in [(1, "n1"), (2, "n2"), (4, "n4"), (8, "n8")] {
        let mut builder = unit_beam(n);
        builder.clamp(0);
        // Held along the axis, so that only bending is left.
        (1..=n).for_each(|i| {
            builder.fix(i, X);
        });
        let expected = case.list(name);
        let (_, report) = modes(builder, expected.len());
        for (mode, expected) in report.modes.iter().zip(expected) {
            close(name, mode.angular_frequency(), expected, 1e-9);
        }
    }
}

/// All four end conditions; free-free is a floating structure with three rigid motions.
#[test]
fn d_beam_eigenvalues() {
    let case = Case::new("D-beam-eigenvalues");
    let n = 40;
    let ends: [(&str, Ends, usize); 5] = [
        ("clamped_free", |b, _| _ = b.clamp(0), 0),
        ("clamped_clamped_and_free_free", |b, n| _ = b.clamp(0).clamp(n), 0),
        ("clamped_clamped_and_free_free", |_, _| {}, 3),
        ("clamped_pinned", |b, n| _ = b.clamp(0).fix(n, Y), 0),
        ("pinned_pinned", |b, n| _ = b.fix(0, X).fix(0, Y).fix(n, Y), 0),
    ];
    for (name, support, rigid) in ends {
        let mut builder = unit_beam(n);
        support(&mut builder, n);
        let (structure, report) = modes(builder, 5 + rigid);
        for mode in &report.modes[..rigid] {
            assert!(mode.eigenvalue.abs() < 1e-4, "{}", mode.eigenvalue);
        }
        for (mode, expected) in report.modes[rigid..].iter().zip(case.list(name)) {
            // Hermite elements: relative error of ω about (βh)⁴/1440.
            let tolerance = (expected / n as f64).powi(4) / 1000.0 + 1e-9;
            close(name, mode.angular_frequency(), expected * expected, tolerance);
        }
        assert_eq!(structure.warnings().len(), 3, "E = 1 Pa, 1e-8 kg/m³ and 1e8 m² are suspicious");
    }
}

#[test]
fn d_nafems_double_cross() {
    let case = Case::new("D-nafems-double-cross");
    let material = Material::new(case.number("E")).with_density(case.number("rho"));
    let side = case.number("a");
    let section = Section::Rectangle { width: side, height: side };
    for (per_arm, name) in [(4, "FE_4_elements"), (12, "FE_12_elements")] {
        let mut builder = StructureBuilder::new();
        builder.node([0.0; 3]);
        builder.planar();
        for arm in 0..8 {
            let angle = PI / 4.0 * f64::from(arm);
            let mut previous = 0;
            for k in 1..=per_arm {
                let radius = case.number("L_arm") * f64::from(k) / f64::from(per_arm);
                let node = builder.node([radius * angle.cos(), radius * angle.sin(), 0.0]);
                let beam = EulerBernoulliBeam::new(&material, &section, Orientation::Upright).unwrap();
                builder.element(beam, &[previous, node]);
                previous = node;
            }
            builder.pin(previous);
        }
        let (_, report) = modes(builder, 16);
        for (mode, expected) in report.modes.iter().zip(case.list(name)) {
            close(name, mode.frequency(), expected, 1e-7);
        }
        for (index, expected) in [(0, 11.336), (3, 17.709), (8, 45.345), (11, 57.39)] {
            close("published", report.modes[index].frequency(), expected, 7e-3);
        }
    }
}

#[test]
fn d_elastic_ring_frequencies() {
    let case = Case::new("D-elastic-ring-diametral");
    let [r, ei, rho_a] = ["R", "EI", "rhoA"].map(|name| case.number(name));
    let n = 200;
    let section = Section::Numbers(SectionProperties {
        area: 1e7,
        inertia_y: ei,
        inertia_z: ei,
        torsion: ei,
        ..SectionProperties::default()
    });
    let material = Material::new(1.0).with_density(rho_a / 1e7);
    let mut builder = StructureBuilder::new();
    builder.planar().nodes((0..n).map(|i| {
        let angle = 2.0 * PI * f64::from(i) / f64::from(n);
        [r * angle.cos(), r * angle.sin(), 0.0]
    }));
    for i in 0..n as usize {
        let beam = EulerBernoulliBeam::new(&material, &section, Orientation::Upright).unwrap();
        builder.element(beam, &[i, (i + 1) % n as usize]);
    }
    // Free: three rigid motions, then each frequency twice.
    let (_, report) = modes(builder, 9);
    for (pair, expected) in report.modes[3..].chunks_exact(2).zip(case.list("omega_n_2_3_4")) {
        for mode in pair {
            close("ring", mode.angular_frequency(), expected, 2e-3);
        }
    }
}

/// Timoshenko's beam: pinned-pinned frequencies against the closed form of his theory.
#[test]
fn timoshenko_frequencies() {
    let length = 1.0;
    let material = Material::new(2.1e11).with_density(7850.0);
    let section = Section::Rectangle { width: 0.05, height: 0.15 };
    let p = section.properties().unwrap();
    let frequencies = |n: usize| {
        let mut builder = StructureBuilder::new();
        builder.nodes((0..=n).map(|i| [0.0, length * i as f64 / n as f64, 0.0]));
        for i in 0..n {
            let beam = TimoshenkoBeam::new(&material, &section, Orientation::Upright).unwrap();
            builder.element(beam, &[i, i + 1]);
        }
        for i in 0..=n {
            // Bending in the y-z plane only.
            builder.fix(i, X).fix(i, Direction::Ry).fix(i, Rz).fix(i, Y);
        }
        builder.fix(0, Z).fix(n, Z);
        modes(builder, 3)
            .1
            .modes
            .iter()
            .map(sim_fem::analysis::modal::Mode::angular_frequency)
            .collect::<Vec<_>>()
    };
    let (coarse, fine) = (frequencies(40), frequencies(80));
    for k in 0..3 {
        // ρI·ρA/(GκA) ω⁴ − (ρA + ρI k² + ρA EI k²/(GκA)) ω² + EI k⁴ = 0.
        let wave = (k + 1) as f64 * PI / length;
        let (ei, ga) = (2.1e11 * p.inertia_y, material.shear_modulus() * p.shear_area_z);
        let (ra, ri) = (7850.0 * p.area, 7850.0 * p.inertia_y);
        let a = ri * ra / ga;
        let b = ra + ri * wave * wave + ra * ei * wave * wave / ga;
        let c = ei * wave.powi(4);
        let exact = ((b - (b * b - 4.0 * a * c).sqrt()) / (2.0 * a)).sqrt();
        assert!(exact < (c / ra).sqrt() * 0.98, "shear must matter");
        // Elements much shorter than the beam is deep interpolate rotations linearly: order 2.
        let order = ((coarse[k] - exact) / (fine[k] - exact)).log2();
        close_to("order", order, 2.0, 0.05, 1.0);
        close("timoshenko", fine[k], exact, 2e-4);
    }
}

/// A cube of eight equal, uncoupled springs: every frequency 24-fold. One vector cannot see that; the count can.
#[test]
fn multiple_frequencies_are_all_found() {
    for kind in [FactorKind::Envelope, FactorKind::Supernodal] {
        let mut builder = StructureBuilder::new();
        for k in 0..8 {
            let node = builder.node([f64::from(k & 1), f64::from((k >> 1) & 1), f64::from(k >> 2)]);
            let spring =
                sim_fem::elements::ground_spring::GroundSpring::new([100.0, 100.0, 100.0, 0.0, 0.0, 0.0]);
            builder.element(spring.unwrap(), &[node]);
            builder.element(PointMass::new(4.0).unwrap(), &[node]);
        }
        let structure = builder.build().unwrap();
        let options = ModalOptions { modes: 6, factor: kind, ..Default::default() };
        let report = modal(&structure, None, &options).unwrap();
        check_orthogonality(&structure, &report);
        for mode in &report.modes {
            close("five rad/s", mode.angular_frequency(), 5.0, 1e-10);
        }
    }
}

#[test]
fn too_many_modes_are_refused() {
    let structure = bar(3, 1.0, &Material::new(1.0).with_density(1.0), MassKind::Lumped).build().unwrap();
    let error = modal(&structure, None, &ModalOptions { modes: 4, ..Default::default() }).unwrap_err();
    assert_eq!(error, ModalError::TooFew { wanted: 4, found: 3 });
    let massless = bar(3, 1.0, &Material::new(1.0), MassKind::Lumped).build().unwrap();
    let error = modal(&massless, None, &ModalOptions { modes: 1, ..Default::default() }).unwrap_err();
    assert_eq!(error, ModalError::TooFew { wanted: 1, found: 0 });
}

#[test]
fn d_euler_loads() {
    let case = Case::new("D-beam-static-and-buckling");
    let [ei, length] = ["EI", "L"].map(|name| case.number(name));
    let n = 24;
    let expected: [(f64, Ends); 4] = [
        (548.3113556160755, |b, _| {
            b.clamp(0);
        }),
        (2193.245422464302, |b, n| {
            b.fix(0, X).fix(0, Y).fix(n, Y);
        }),
        (4486.8285680948065, |b, n| {
            b.clamp(0).fix(n, Y);
        }),
        (8772.981689857208, |b, n| {
            b.clamp(0).fix(n, Y).fix(n, Rz);
        }),
    ];
    for (load, support) in expected {
        let section = Section::Numbers(SectionProperties {
            area: 1e7,
            inertia_y: ei,
            inertia_z: ei,
            torsion: ei,
            ..SectionProperties::default()
        });
        let mut builder = StructureBuilder::new();
        builder.nodes((0..=n).map(|i| [length * i as f64 / n as f64, 0.0, 0.0])).planar();
        for i in 0..n {
            let beam = EulerBernoulliBeam::new(&Material::new(1.0), &section, Orientation::Upright).unwrap();
            builder.element(beam, &[i, i + 1]);
        }
        support(&mut builder, n);
        builder.force(n, X, -1.0);
        let structure = builder.build().unwrap();
        let report = buckling(&structure, &BucklingOptions::default()).unwrap();
        // Hermite elements: relative error (kh)⁴/720 with k² = P/EI.
        let tolerance = 1.1 * (load / ei).powi(2) * (length / n as f64).powi(4) / 720.0 + 1e-9;
        close("Euler", report.modes[0].load_factor, load, tolerance);
    }
    // Pulled, a column does not buckle.
    let mut builder = unit_beam(4);
    builder.clamp(0).force(4, X, 1.0);
    let error = buckling(&builder.build().unwrap(), &BucklingOptions::default()).unwrap_err();
    assert!(matches!(error, BucklingError::TooFew { wanted: 1, found: 0 }), "{error}");
    // Nor does a beam without any axial force, nor one without any load.
    for load in [0.0, 1.0] {
        let mut builder = unit_beam(4);
        builder.clamp(0).force(4, Y, load);
        let error = buckling(&builder.build().unwrap(), &BucklingOptions::default()).unwrap_err();
        assert!(matches!(error, BucklingError::TooFew { wanted: 1, found: 0 }), "{error}");
    }
}
