//! Structures behind the system traits of sim-core, and Newmark's method on any such system.

use nalgebra::{DMatrix, DVector, Matrix3};
use sim_core::force::springs::{Spring, Springs};
use sim_core::{
    Definiteness, EnergyLedger, ExplicitSystem, ImplicitSystem, ParticleSystemBuilder, StageRecord, State,
    Stepper, System,
};
use sim_fem::analysis::transient::{InitialState, TransientOptions, transient};
use sim_fem::beam::Orientation;
use sim_fem::elements::MassKind;
use sim_fem::elements::corotational_beam::CorotationalBeam;
use sim_fem::elements::dashpot::Dashpot;
use sim_fem::elements::nonlinear_truss::Unstretched;
use sim_fem::elements::tension_cable::TensionCable;
use sim_fem::load::Direction::{Rx, X, Y, Z};
use sim_fem::load::TimeFunction;
use sim_fem::material::{Material, Section};
use sim_fem::newmark::{Newmark, NewmarkOptions};
use sim_fem::{Load, Structure, StructureBuilder};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Beams, cables and a dashpot, supported in part, with both kinds of Rayleigh damping and a timed load.
fn mixed() -> Structure {
    mixed_with(MassKind::Consistent)
}

fn mixed_with(mass: MassKind) -> Structure {
    let mut builder = StructureBuilder::new();
    builder.nodes([[0.0; 3], [1.0, 0.1, 0.2], [2.0, 0.0, 0.0], [1.2, 1.0, 0.3], [0.0, 2.0, 0.0]]);
    builder.mass(mass).rayleigh_damping(0.3, 2e-4);
    let material = Material::new(2e9).with_density(1500.0);
    let section = Section::Rectangle { width: 0.03, height: 0.05 };
    for nodes in [[0, 1], [1, 2], [1, 3]] {
        builder.element(CorotationalBeam::new(&material, &section, Orientation::Upright).unwrap(), &nodes);
    }
    let cable = TensionCable::new(&material, &Section::area(1e-5))
        .unwrap()
        .with_unstretched(Unstretched::Factor(0.99))
        .with_damping(5.0);
    builder.element(cable, &[3, 4]);
    builder.element(Dashpot::new([2.0, 0.0, 1.0, 0.0, 0.0, 0.0]).unwrap(), &[2]);
    builder.clamp(0).pin(4).fix(2, Y).fix(2, Rx);
    builder.force(3, Z, -40.0);
    let gust = Load::Force { node: 2, direction: X, value: 30.0 };
    builder.timed_load(1, gust, TimeFunction::Sine { angular_frequency: 20.0, phase: 0.3 });
    builder.build().unwrap()
}

fn moving_state(structure: &Structure) -> State {
    let n = structure.dof_count();
    let wave = |i: usize, k: f64| ((i as f64 + 1.0) * k).sin();
    let mut state = State::at_rest((0..n).map(|i| 0.02 * wave(i, 1.3)).collect());
    state.v = (0..n).map(|i| 0.3 * wave(i, 0.7)).collect();
    for dof in 0..n {
        if structure.unknown(dof).is_none() {
            (state.q[dof], state.v[dof]) = (0.0, 0.0);
        }
    }
    state.t = 0.1;
    state
}

/// A block matrix, both halves.
fn dense(n: usize, emit: impl FnOnce(&mut dyn sim_core::BlockSink)) -> DMatrix<f64> {
    let mut matrix = DMatrix::zeros(n, n);
    let mut sink = |row: usize, col: usize, block: &Matrix3<f64>| {
        for i in 0..3 {
            for j in 0..3 {
                matrix[(3 * row + i, 3 * col + j)] += block[(i, j)];
                if row != col {
                    matrix[(3 * col + j, 3 * row + i)] += block[(i, j)];
                }
            }
        }
    };
    emit(&mut sink);
    matrix
}

#[test]
fn matrices_are_derivatives_of_the_force() {
    let structure = mixed();
    let state = moving_state(&structure);
    let n = structure.dof_count();
    let free: Vec<usize> = (0..n).filter(|&dof| structure.unknown(dof).is_some()).collect();
    let force = |q: &[f64], v: &[f64]| {
        let mut f = vec![0.0; n];
        structure.force(state.t, q, v, &mut f);
        DVector::from_vec(f)
    };
    // K at rest: what moves with the dashpots' direction is left out by convention.
    let rest = vec![0.0; n];
    let k = dense(n, |sink| structure.stiffness_matrix(state.t, &state.q, &rest, Definiteness::Exact, sink));
    let d = dense(n, |sink| structure.damping_matrix(state.t, &state.q, &state.v, sink));
    for (matrix, of_velocity) in [(&k, false), (&d, true)] {
        assert!((matrix - matrix.transpose()).amax() <= 1e-12 * matrix.amax());
        for &column in &free {
            let at = |step: f64| {
                let (mut q, mut v) =
                    (state.q.clone(), if of_velocity { state.v.clone() } else { rest.clone() });
                if of_velocity {
                    v[column] += step;
                } else {
                    q[column] += step;
                }
                force(&q, &v)
            };
            let h = 1e-4;
            let slope = ((at(h) - at(-h)) * 8.0 - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
            for &row in &free {
                let gap = (matrix[(row, column)] + slope[row]).abs();
                assert!(gap <= 1e-7 * matrix.amax(), "velocity {of_velocity} ({row}, {column}): {gap:e}");
            }
        }
    }
    // Supported components of free blocks: no force, no coupling, and something to divide by.
    let m = dense(n, |sink| structure.mass_matrix(sink));
    let f = force(&state.q, &state.v);
    let partial: Vec<usize> =
        (0..n).filter(|&dof| structure.unknown(dof).is_none() && structure.is_free(dof / 3)).collect();
    assert_eq!(partial.len(), 2);
    for &dof in &partial {
        assert_eq!(f[dof], 0.0);
        assert_eq!((m[(dof, dof)], k[(dof, dof)]), (1.0, 0.0));
        assert_eq!(m.column(dof).abs().sum(), 1.0);
    }
    let projected =
        dense(n, |sink| structure.stiffness_matrix(state.t, &state.q, &rest, Definiteness::Projected, sink));
    assert!(projected.symmetric_eigenvalues().min() >= -1e-9 * k.amax());
}

/// The stepper on the traits and the structure's own march give the same motion.
#[test]
fn newmark_agrees_with_the_structures_own_march() {
    let structure = mixed();
    let mut state = moving_state(&structure);
    let initial = InitialState { t: state.t, displacement: state.q.clone(), velocity: state.v.clone() };
    let (dt, steps) = (1e-3, 60);
    let options = TransientOptions { dt, steps, relative_tolerance: 1e-12, ..Default::default() };
    let own = transient(&structure, &initial, &options, &mut |_| ControlFlow::Continue(())).unwrap();
    let mut newmark =
        Newmark::new(NewmarkOptions { relative_tolerance: 1e-12, ..Default::default() }).unwrap();
    let mut moved = 0.0_f64;
    for _ in 0..steps {
        newmark.step(&structure, &mut state, dt).unwrap();
        moved = moved.max(state.v.iter().fold(0.0, |max, v| max.max(v.abs())));
    }
    assert!(moved > 0.1);
    for (a, b) in own.displacement.iter().zip(&state.q) {
        assert!((a - b).abs() < 1e-8, "{a} {b}");
    }
}

/// The ledger of sim-core closes on a structure: no residual, and energy accounted for term by term.
#[test]
fn the_ledger_closes() {
    let structure = mixed();
    let mut state = moving_state(&structure);
    let mut ledger = EnergyLedger::new(&structure, &state);
    let mut newmark =
        Newmark::new(NewmarkOptions { relative_tolerance: 1e-12, ..Default::default() }).unwrap();
    let mut record = StageRecord::default();
    for _ in 0..100 {
        newmark.step_recorded(&structure, &mut state, 1e-3, Some(&mut record)).unwrap();
        ledger.book(&structure, |block| structure.is_free(block), &state, 1e-3, &record);
    }
    let report = ledger.report();
    let turned = report.initial.kinetic.abs() + report.work.magnitude();
    assert!(report.gap().abs() < 1e-10 * turned, "{report:?}");
    assert!(
        report.work.dashpot < -1e-3 && report.work.mass_damping < -1e-3 && report.work.external.abs() > 1e-3
    );
    // Average acceleration weighs both ends alike: the kinetic balance holds to what Newton left over.
    assert!(report.residual.abs() < 1e-7 * turned, "{report:?}");
}

/// A particle on a spring: the amplitude of the free vibration stays, and the frequency is that of the scheme.
#[test]
fn newmark_runs_particle_systems() {
    let (m, k, h): (f64, f64, f64) = (2.0, 50.0, 0.02);
    let spring = Spring { ends: [0, 1], rest_length: 1.0, stiffness: k, damping: 0.0 };
    let system =
        ParticleSystemBuilder::new(vec![1.0, m]).pin([0]).force(Springs::new([spring])).build().unwrap();
    let mut state = State::at_rest(vec![0.0, 0.0, 0.0, 1.1, 0.0, 0.0]);
    let mut newmark = Newmark::new(NewmarkOptions::default()).unwrap();
    // tan(θ/2) = ωh/2 for average acceleration.
    let theta = 2.0 * ((k / m).sqrt() * h / 2.0).atan();
    for step in 1..=500 {
        let stats = newmark.step(&system, &mut state, h).unwrap();
        assert!(stats.newton_iterations <= 3);
        let expected = 1.0 + 0.1 * (theta * f64::from(step)).cos();
        assert!((state.q[3] - expected).abs() < 1e-9, "{step}: {} {expected}", state.q[3]);
    }
    assert!(newmark.step(&system, &mut state, -1.0).is_err());
    assert!(Newmark::new(NewmarkOptions { gamma: 0.4, ..Default::default() }).is_err());
}

/// Bounds of the step rest on bounds of the matrices: S - K, S + K and S - D must have no negative eigenvalue.
#[test]
fn stencil_bounds_are_bounds() {
    let structure = Arc::new(mixed_with(MassKind::Lumped));
    let system = structure.explicit().unwrap();
    let state = moving_state(&structure);
    let n = structure.dof_count();
    let stiffness = dense(n, |sink| {
        system.stiffness_matrix(state.t, &state.q, &state.v, Definiteness::Exact, sink);
    });
    let damping = dense(n, |sink| system.damping_matrix(state.t, &state.q, &vec![0.0; n], sink));
    let (mut s, mut d) = (DMatrix::<f64>::zeros(n, n), DMatrix::<f64>::zeros(n, n));
    let mut names = std::collections::BTreeSet::new();
    system.stencil_bounds(&state.q, &mut |bound| {
        names.insert(bound.force);
        for (&a, &wa) in bound.particles.iter().zip(bound.weights) {
            for (&b, &wb) in bound.particles.iter().zip(bound.weights) {
                for k in 0..3 {
                    s[(3 * a + k, 3 * b + k)] += bound.stiffness * wa * wb;
                    d[(3 * a + k, 3 * b + k)] += bound.damping * wa * wb;
                }
            }
        }
    });
    assert!(names.contains("corotational_beam") && names.contains("tension_cable"), "{names:?}");
    assert!(stiffness.norm() > 0.0 && damping.norm() > 0.0);
    let free: Vec<usize> = structure.free_dofs().iter().map(|&dof| dof as usize).collect();
    let least = |matrix: DMatrix<f64>| {
        let matrix = matrix.select_rows(&free).select_columns(&free);
        let symmetric = 0.5 * (&matrix + matrix.transpose());
        symmetric.symmetric_eigenvalues().min() / symmetric.norm()
    };
    for (what, matrix) in [("S - K", &s - &stiffness), ("S + K", &s + &stiffness), ("S - D", &d - &damping)] {
        assert!(least(matrix.clone()) > -1e-12, "{what}: {:e}", least(matrix));
    }
}

#[test]
fn a_consistent_mass_is_no_mass_per_node() {
    let error = Arc::new(mixed()).explicit().unwrap_err().to_string();
    assert!(error.contains("lumped") && error.contains("neighbors"), "{error}");
}
