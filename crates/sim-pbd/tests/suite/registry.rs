//! Every constraint of the registry, judged by the studies of `sim-verify`.

use nalgebra::{DMatrix, UnitQuaternion, Vector3};
use sim_pbd::CONSTRAINTS;
use sim_pbd::constraints::Sample;
use sim_verify::judge::constraint::{ConstraintSubject, ConstraintValue, Place, judge_constraint};

#[test]
fn ids_are_unique_and_described() {
    assert!(CONSTRAINTS.len() >= 15);
    for (i, info) in CONSTRAINTS.iter().enumerate() {
        assert!(CONSTRAINTS[..i].iter().all(|other| other.id != info.id), "{} twice", info.id);
        assert!(
            info.summary.len() > 20 && info.reference.len() > 10 && info.limitations.len() > 10,
            "{}",
            info.id
        );
    }
}

/// Derivatives against differences, invariance, momentum, places where formulas divide by zero. Values known from geometry are claims
/// of `cargo xtask verify`.
#[test]
fn every_constraint_passes_the_studies() {
    for info in CONSTRAINTS {
        let sample = (info.sample)();
        let place = match &sample {
            Sample::Points { points, .. } => Place { points: points.clone(), orientations: Vec::new() },
            Sample::Oriented { points, orientations, .. } => {
                Place { points: points.clone(), orientations: orientations.clone() }
            }
        };
        let evaluate = |points: &[Vector3<f64>], turns: &[UnitQuaternion<f64>]| match &sample {
            Sample::Points { evaluate, .. } => {
                let (value, gradient) = evaluate(points);
                let row: Vec<f64> = gradient.iter().flat_map(|g| g.data.0[0]).collect();
                ConstraintValue { value: vec![value], jacobian: DMatrix::from_row_slice(1, row.len(), &row) }
            }
            Sample::Oriented { evaluate, .. } => {
                let found = evaluate(points, turns);
                let blocks: Vec<_> = found.by_point.iter().chain(&found.by_turn).collect();
                let jacobian = DMatrix::from_fn(3, 3 * blocks.len(), |r, c| blocks[c / 3][(r, c % 3)]);
                ConstraintValue { value: found.value.as_slice().to_vec(), jacobian }
            }
        };
        let subject = ConstraintSubject {
            id: info.id,
            internal: info.internal,
            length_power: None,
            sample: &place,
            known: &[],
            evaluate: &evaluate,
        };
        for claim in judge_constraint(&subject) {
            assert!(claim.pass(), "{claim}");
        }
    }
}
