//! Every constraint of the registry, judged by the studies of `sim-verify`.

use nalgebra::{UnitQuaternion, Vector3};
use sim_pbd::CONSTRAINTS;
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
        let (points, orientations) = sample.place();
        let place = Place { points: points.to_vec(), orientations: orientations.to_vec() };
        let evaluate = |points: &[Vector3<f64>], turns: &[UnitQuaternion<f64>]| {
            let (value, jacobian) = sample.value_and_jacobian(points, turns);
            ConstraintValue { value, jacobian }
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
