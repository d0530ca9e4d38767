//! Paths that cross: found, named and followed, against closed forms.

use sim_fem::analysis::arc_length::{
    ArcLengthOptions, ArcLengthReport, CriticalKind, PathEnd, Side, arc_length,
};
use sim_fem::analysis::nonlinear_static::{EquilibriumError, Stage};
use sim_fem::elements::ground_spring::GroundSpring;
use sim_fem::elements::nonlinear_truss::NonlinearTruss;
use sim_fem::elements::planar_corotational_beam::PlanarCorotationalBeam;
use sim_fem::load::Direction::{X, Y, Z};
use sim_fem::material::{Material, Section, SectionProperties};
use sim_fem::{Structure, StructureBuilder};

const EA: f64 = 1000.0;
const LENGTH: f64 = 2.0;

/// A column of one bar, its head held sideways by a spring and pushed down by 1 N.
fn propped_column(spring: f64) -> StructureBuilder {
    let mut builder = StructureBuilder::new();
    builder.nodes([[0.0, 0.0, 0.0], [0.0, LENGTH, 0.0]]).planar();
    builder.element(NonlinearTruss::new(&Material::new(EA), &Section::area(1.0)).unwrap(), &[0, 1]);
    builder.element(GroundSpring::new([spring, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap(), &[1]);
    builder.pin(0).force(1, Y, -1.0);
    builder
}

fn follow(structure: &Structure, options: &ArcLengthOptions) -> Result<ArcLengthReport, EquilibriumError> {
    arc_length(structure, &Stage::new(structure), options)
}

/// With the bar's compression C = EA (1 − ℓ/L): sideways C sin θ = k ℓ sin θ, along the load P = C cos θ. Upright, θ = 0;
/// aside, C = k ℓ fixes ℓ = EA/(EA/L + k) for good, and P = k ℓ cos θ.
#[test]
fn the_aside_path_of_a_propped_column_is_a_circle() {
    for spring in [10.0, 100.0] {
        let structure = propped_column(spring).build().unwrap();
        let length = EA / (EA / LENGTH + spring);
        let critical = spring * length;
        for (side, sign) in [(Side::Positive, 1.0), (Side::Negative, -1.0)] {
            let options = ArcLengthOptions {
                first_load_factor: 0.2 * critical,
                branch: 1,
                side,
                max_growth: 20.0,
                max_displacement: 0.9 * LENGTH,
                ..Default::default()
            };
            let report = follow(&structure, &options).unwrap();
            assert_eq!(report.end, PathEnd::Displacement);
            let start = report.branch_start.expect("it was followed");
            let point = &report.critical[0];
            assert_eq!((point.kind, point.multiplicity), (CriticalKind::Bifurcation, 1));
            assert!((point.load_factor - critical).abs() < 1e-9 * critical, "{}", point.load_factor);
            assert_eq!(structure.value(&point.mode, 1, X), 1.0);
            assert!(structure.value(&point.mode, 1, Y).abs() < 1e-9);
            for step in &report.path[..start] {
                assert_eq!(structure.value(&step.displacement, 1, X), 0.0, "upright before");
            }
            assert!(report.path.len() > start + 5, "{} points", report.path.len());
            for step in &report.path[start..] {
                let aside = structure.value(&step.displacement, 1, X);
                let height = LENGTH + structure.value(&step.displacement, 1, Y);
                assert!(sign * aside > 0.0);
                assert!((aside.hypot(height) - length).abs() < 1e-8, "{}", aside.hypot(height));
                assert!((step.load_factor - critical * height / length).abs() < 1e-8 * critical);
                assert_eq!(step.negative, 1, "the path falls: it is unstable under a load");
            }
        }
    }
}

/// Complete elliptic integral of the first kind of modulus `k`, by the arithmetic-geometric mean.
fn elliptic_k(k: f64) -> f64 {
    let (mut a, mut b) = (1.0_f64, (1.0 - k * k).sqrt());
    while (a - b).abs() > 1e-15 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    std::f64::consts::FRAC_PI_2 / a
}

/// Clamped column of `elements` beams under its critical load, with EI = 1, L = 1.
fn elastica(elements: usize) -> (Structure, ArcLengthReport) {
    // EA = 1e6: the column shortens by P/EA = 2.5e-6 of its length.
    let section = SectionProperties {
        area: 1.0,
        inertia_y: 1e-6,
        inertia_z: 1e-6,
        torsion: 1e-6,
        ..SectionProperties::default()
    };
    let beam = PlanarCorotationalBeam::new(&Material::new(1e6), &Section::Numbers(section)).unwrap();
    let mut builder = StructureBuilder::new();
    builder.nodes((0..=elements).map(|i| [0.0, i as f64 / elements as f64, 0.0])).planar();
    for i in 0..elements {
        builder.element(beam, &[i, i + 1]);
    }
    builder.clamp(0).force(elements, Y, -1.0);
    let structure = builder.build().unwrap();
    let options = ArcLengthOptions {
        first_load_factor: 0.5,
        branch: 1,
        max_growth: 100.0,
        max_steps: 60,
        max_displacement: 1.3,
        ..Default::default()
    };
    let report = follow(&structure, &options).unwrap();
    (structure, report)
}

/// A cantilever whose head has turned by α carries P = (2 K(sin α/2)/π)² times its critical load (Timoshenko & Gere, Theory
/// of Elastic Stability, 2.7).
#[test]
fn a_buckled_column_follows_the_elastica() {
    let mut errors = Vec::new();
    for elements in [8, 16] {
        let (structure, report) = elastica(elements);
        let euler = std::f64::consts::PI.powi(2) / 4.0;
        let critical = report.critical[0].load_factor;
        assert_eq!(report.critical.len(), 1, "no turn on the way aside");
        assert!((critical / euler - 1.0).abs() < 0.3 / (elements as f64).powi(2), "{critical}");
        let start = report.branch_start.unwrap();
        let mut largest = (0.0_f64, 0.0_f64);
        for step in &report.path[start..] {
            let turned = structure.value(&step.displacement, elements, sim_fem::load::Direction::Rz).abs();
            if turned > 1.5 {
                continue;
            }
            let expected = (2.0 * elliptic_k((0.5 * turned).sin()) / std::f64::consts::PI).powi(2);
            largest.0 = largest.0.max((step.load_factor / euler - expected).abs());
            largest.1 = largest.1.max(turned);
            assert_eq!(step.negative, 0, "the buckled column is stable");
        }
        assert!(largest.1 > 1.0, "turned by {} rad only", largest.1);
        errors.push(largest.0);
    }
    assert!(errors[1] < 2e-3, "{errors:?}");
    assert!((3.0..5.5).contains(&(errors[0] / errors[1])), "order 2: {errors:?}");
}

#[test]
fn what_cannot_be_followed_is_said() {
    let structure = propped_column(10.0).build().unwrap();
    let options = ArcLengthOptions { first_load_factor: 2.0, max_steps: 3, branch: 1, ..Default::default() };
    let error = follow(&structure, &options).unwrap_err();
    assert!(
        matches!(error, EquilibriumError::BranchNotReached { wanted: 1, found: 0, load_factor } if load_factor > 0.0),
        "{error}"
    );
    // The same spring in both directions across the bar: both modes are critical at once.
    let mut builder = StructureBuilder::new();
    builder.nodes([[0.0; 3], [0.0, LENGTH, 0.0]]);
    builder.element(NonlinearTruss::new(&Material::new(EA), &Section::area(1.0)).unwrap(), &[0, 1]);
    builder.element(GroundSpring::new([10.0, 0.0, 10.0, 0.0, 0.0, 0.0]).unwrap(), &[1]);
    builder.pin(0).force(1, Y, -1.0);
    let structure = builder.build().unwrap();
    let options = ArcLengthOptions { first_load_factor: 4.0, branch: 1, ..Default::default() };
    let error = follow(&structure, &options).unwrap_err();
    let EquilibriumError::MultipleBifurcation { load_factor, multiplicity: 2 } = error else {
        panic!("{error}");
    };
    assert!((load_factor - 10.0 * EA / (EA / LENGTH + 10.0)).abs() < 1e-8);
}

/// Springs of 10 and 11 N/m: two bifurcations inside one arc are told apart, and the second can be followed.
#[test]
fn two_bifurcations_in_one_step_are_told_apart() {
    let mut builder = StructureBuilder::new();
    builder.nodes([[0.0; 3], [0.0, LENGTH, 0.0]]);
    builder.element(NonlinearTruss::new(&Material::new(EA), &Section::area(1.0)).unwrap(), &[0, 1]);
    builder.element(GroundSpring::new([10.0, 0.0, 11.0, 0.0, 0.0, 0.0]).unwrap(), &[1]);
    builder.pin(0).force(1, Y, -1.0);
    let structure = builder.build().unwrap();
    let expected = [10.0, 11.0].map(|k| k * EA / (EA / LENGTH + k));
    let options = ArcLengthOptions { first_load_factor: 15.0, max_steps: 2, ..Default::default() };
    let report = follow(&structure, &options).unwrap();
    assert_eq!(report.critical.len(), 2);
    for (point, expected) in report.critical.iter().zip(expected) {
        assert_eq!((point.kind, point.after), (CriticalKind::Bifurcation, 1));
        assert!((point.load_factor - expected).abs() < 1e-8, "{}", point.load_factor);
    }
    let options = ArcLengthOptions { branch: 2, side: Side::Negative, ..options };
    let report = follow(&structure, &options).unwrap();
    let end = &report.path[report.branch_start.unwrap()].displacement;
    assert!(structure.value(end, 1, Z) < -0.01, "{}", structure.value(end, 1, Z));
    assert!(structure.value(end, 1, X).abs() < 1e-12);
}
