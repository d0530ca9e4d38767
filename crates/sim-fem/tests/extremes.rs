//! Numbers at the edge of their range and analyses without an answer: an error that says so, never a result.

use sim_core::{State, StepError, Stepper};
use sim_fem::analysis::arc_length::{ArcLengthOptions, arc_length};
use sim_fem::analysis::buckling::{BucklingError, BucklingOptions, buckling};
use sim_fem::analysis::linear_static::linear_static;
use sim_fem::analysis::nonlinear_static::{
    EquilibriumError, NonlinearStaticOptions, Stage, nonlinear_static,
};
use sim_fem::analysis::transient::{InitialState, TransientError, TransientOptions, transient};
use sim_fem::elements::nonlinear_truss::{NonlinearTruss, Unstretched};
use sim_fem::elements::tension_cable::TensionCable;
use sim_fem::elements::truss::Truss;
use sim_fem::factor::FactorKind;
use sim_fem::form_finding::dynamic_relaxation::{RelaxationError, RelaxationOptions, dynamic_relaxation};
use sim_fem::load::Direction::{X, Y};
use sim_fem::material::{Material, Section};
use sim_fem::newmark::{Newmark, NewmarkOptions};
use sim_fem::structure::StructureBuilder;
use sim_fem::{Structure, StructureError};
use std::ops::ControlFlow;

fn material() -> Material {
    Material::new(1e10).with_density(7850.0)
}

/// Two shallow bars with a load of `force` N at their apex.
fn arch(force: f64) -> Structure {
    let bar = NonlinearTruss::new(&material(), &Section::area(1e-4)).unwrap();
    let mut builder = StructureBuilder::new();
    builder.nodes([[-1.0, 0.0, 0.0], [0.0, 0.2, 0.0], [1.0, 0.0, 0.0]]).planar();
    builder.element(bar, &[0, 1]);
    builder.element(bar, &[1, 2]);
    builder.pin(0).pin(2).force(1, Y, force);
    builder.build().unwrap()
}

/// Norms of such loads overflow; every finite residual is then nothing beside them.
#[test]
fn overflowing_loads_are_not_in_balance() {
    for force in [-1e160, -1e300] {
        let structure = arch(force);
        let stage = Stage::new(&structure);
        let error = nonlinear_static(&structure, &stage, &NonlinearStaticOptions::default()).unwrap_err();
        assert!(
            matches!(error, EquilibriumError::Structure { source: StructureError::Overflow { .. }, .. }),
            "{error:?}"
        );
        let error = dynamic_relaxation(&structure, &stage, &RelaxationOptions::default()).unwrap_err();
        assert!(matches!(error, RelaxationError::Structure(StructureError::Overflow { .. })), "{error:?}");
        let options = TransientOptions { dt: 1e-3, steps: 3, ..Default::default() };
        let start = InitialState::at_rest(&structure);
        let error = transient(&structure, &start, &options, &mut |_| ControlFlow::Continue(())).unwrap_err();
        let told = match &error {
            TransientError::NotConverged { residual, .. } => residual.is_nan(),
            TransientError::Structure { source, .. } => matches!(source, StructureError::NotFinite { .. }),
            _ => false,
        };
        assert!(told, "{error:?}");
        let mut newmark = Newmark::new(NewmarkOptions::default()).unwrap();
        let n = structure.dof_count();
        let mut state = State::at_rest(vec![0.0; n]);
        let before = state.clone();
        let error = newmark.step(&structure, &mut state, 1e-3).unwrap_err();
        assert!(matches!(error, StepError::Diverged { .. }), "{error:?}");
        assert_eq!(state, before, "a failed step leaves the state alone");
    }
}

#[test]
fn overflowing_displacements_are_no_solution() {
    let bar = Truss::new(&Material::new(1e-200), &Section::area(1e-4)).unwrap();
    let mut builder = StructureBuilder::new();
    builder.nodes([[0.0; 3], [1.0, 0.0, 0.0]]).planar();
    builder.element(bar, &[0, 1]);
    builder.pin(0).fix(1, Y).force(1, X, 1e200);
    let error = linear_static(&builder.build().unwrap(), 0.0, FactorKind::Auto).unwrap_err();
    assert!(matches!(error, StructureError::NotFinite { .. } | StructureError::Overflow { .. }), "{error:?}");
}

#[test]
fn a_length_beyond_the_range_of_numbers_is_refused() {
    let mut builder = StructureBuilder::new();
    builder.nodes([[0.0; 3], [1e200, 0.0, 0.0]]);
    builder.element(Truss::new(&material(), &Section::area(1e-4)).unwrap(), &[0, 1]);
    let error = builder.build().unwrap_err();
    assert!(format!("{error:?}").contains("TooLong"), "{error:?}");
}

#[test]
fn a_tolerance_that_accepts_anything_is_refused() {
    let structure = arch(-1000.0);
    let stage = Stage::new(&structure);
    for relative_tolerance in [5.0, 0.02, 0.0, -1.0, f64::NAN] {
        let options = NonlinearStaticOptions { relative_tolerance, ..Default::default() };
        let error = nonlinear_static(&structure, &stage, &options).unwrap_err();
        assert!(matches!(error, EquilibriumError::Options(_)), "{error}");
        let options = ArcLengthOptions { relative_tolerance, ..Default::default() };
        assert!(matches!(arc_length(&structure, &stage, &options), Err(EquilibriumError::Options(_))));
        let options = RelaxationOptions { relative_tolerance, ..Default::default() };
        assert!(matches!(dynamic_relaxation(&structure, &stage, &options), Err(RelaxationError::Options(_))));
        assert!(Newmark::new(NewmarkOptions { relative_tolerance, ..Default::default() }).is_err());
    }
    let options = RelaxationOptions { mass_interval: 0, ..Default::default() };
    assert!(matches!(dynamic_relaxation(&structure, &stage, &options), Err(RelaxationError::Options(_))));
}

#[test]
fn a_path_without_a_load_is_refused() {
    let structure = arch(0.0);
    let error = arc_length(&structure, &Stage::new(&structure), &ArcLengthOptions::default()).unwrap_err();
    assert_eq!(error, EquilibriumError::NoLoad);
}

/// Two cables twice as long as the distance between their ends.
#[test]
fn slack_cables_are_named_as_the_reason() {
    let cable = TensionCable::new(&material(), &Section::area(1e-4))
        .unwrap()
        .with_unstretched(Unstretched::Factor(2.0));
    let mut builder = StructureBuilder::new();
    builder.nodes([[-1.0, 0.0, 0.0], [0.0; 3], [1.0, 0.0, 0.0]]).planar();
    builder.element(cable, &[0, 1]);
    builder.element(cable, &[1, 2]);
    builder.pin(0).pin(2).force(1, Y, -10.0);
    let structure = builder.build().unwrap();
    let options = NonlinearStaticOptions::default();
    let error = nonlinear_static(&structure, &Stage::new(&structure), &options).unwrap_err();
    assert!(
        matches!(error, EquilibriumError::Structure { source: StructureError::NoStiffness, .. }),
        "{error:?}"
    );
}

/// Pulled bars have no critical load; of two unknowns at most two are critical, however many are asked for.
#[test]
fn critical_loads_that_do_not_exist_are_counted_right() {
    let arch = |force: f64| {
        let bar = Truss::new(&material(), &Section::area(1e-4)).unwrap();
        let mut builder = StructureBuilder::new();
        builder.nodes([[-1.0, 0.0, 0.0], [0.0, 0.2, 0.0], [1.0, 0.0, 0.0]]).planar();
        builder.element(bar, &[0, 1]);
        builder.element(bar, &[1, 2]);
        builder.pin(0).pin(2).force(1, Y, force);
        builder.build().unwrap()
    };
    let few = |force, modes| match buckling(&arch(force), &BucklingOptions { modes, ..Default::default() }) {
        Err(BucklingError::TooFew { wanted, found }) if wanted == modes => found,
        other => panic!("{other:?}"),
    };
    assert_eq!(few(1000.0, 1), 0);
    assert_eq!(few(-1000.0, 9), 2);
    // A long chain, so that no run of Lanczos' method spans everything.
    let bar = NonlinearTruss::new(&material(), &Section::area(1e-4)).unwrap();
    let mut builder = StructureBuilder::new();
    let n = 200;
    builder.nodes((0..=n).flat_map(|i| [[f64::from(i), 0.0, 0.0], [f64::from(i), -1.0, 0.0]])).planar();
    for i in 0..n as usize {
        builder.element(bar, &[2 * i, 2 * i + 2]);
    }
    for i in 0..=n as usize {
        builder.element(bar, &[2 * i, 2 * i + 1]);
        builder.pin(2 * i + 1);
    }
    builder.fix(0, X).force(2 * n as usize, X, 1000.0);
    let error = buckling(&builder.build().unwrap(), &BucklingOptions::default()).unwrap_err();
    assert!(matches!(error, BucklingError::TooFew { found: 0, .. }), "{error:?}");
}

/// A chain of 3000 bars in line can move sideways at every node.
#[test]
fn many_mechanisms_are_not_counted_to_the_end() {
    let mut builder = StructureBuilder::new();
    let n = 3000;
    builder.nodes((0..=n).map(|i| [f64::from(i), 0.0, 0.0])).planar();
    for i in 0..n as usize {
        builder.element(Truss::new(&material(), &Section::area(1e-4)).unwrap(), &[i, i + 1]);
    }
    builder.pin(0);
    let error = linear_static(&builder.build().unwrap(), 0.0, FactorKind::Auto).unwrap_err();
    let StructureError::Mechanism(report) = &error else { panic!("{error:?}") };
    assert!(!report.complete && report.modes.len() == 32, "{}", report.modes.len());
    assert!(error.to_string().starts_with("at least 32 mechanisms"), "{error}");
}

#[test]
fn metal_given_in_mpa_is_noticed() {
    let build = |youngs_modulus: f64, density: f64| {
        let mut builder = StructureBuilder::new();
        builder.nodes([[0.0; 3], [1.0, 0.0, 0.0]]);
        let material = Material::new(youngs_modulus).with_density(density);
        builder.element(Truss::new(&material, &Section::area(1e-4)).unwrap(), &[0, 1]);
        builder.build().unwrap()
    };
    let steel = build(210e3, 7850.0);
    assert!(steel.warnings()[0].message.contains("MPa"), "{:?}", steel.warnings());
    for (name, youngs_modulus, density) in
        [("steel", 210e9, 7850.0), ("lead", 16e9, 11_340.0), ("rubber", 1e6, 1100.0), ("gel", 1e4, 1000.0)]
    {
        assert!(build(youngs_modulus, density).warnings().is_empty(), "{name}");
    }
}
