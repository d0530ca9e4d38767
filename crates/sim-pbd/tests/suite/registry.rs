//! Every constraint of the registry: gradients against differences, invariance, momentum.

use nalgebra::{UnitQuaternion, Vector3};
use sim_pbd::constraints::Sample;
use sim_pbd::{CONSTRAINTS, ConstraintInfo};

fn each(check: impl Fn(&ConstraintInfo, Sample)) {
    assert!(CONSTRAINTS.len() >= 15);
    for info in CONSTRAINTS {
        check(info, (info.sample)());
    }
}

#[test]
fn ids_are_unique_and_described() {
    for (i, info) in CONSTRAINTS.iter().enumerate() {
        assert!(CONSTRAINTS[..i].iter().all(|other| other.id != info.id), "{} twice", info.id);
        assert!(
            info.summary.len() > 20 && info.reference.len() > 10 && info.limitations.len() > 10,
            "{}",
            info.id
        );
    }
}

#[test]
fn gradients_equal_differences_and_are_not_zero() {
    let step = 1e-6;
    each(|info, sample| match sample {
        Sample::Points { points, evaluate, .. } => {
            let (_, gradient) = evaluate(&points);
            let size = gradient.iter().map(Vector3::norm).fold(0.0, f64::max);
            assert!(size > 1e-3, "{}: gradient {size}", info.id);
            for (i, gradient) in gradient.iter().enumerate() {
                for k in 0..3 {
                    let moved = |by: f64| {
                        let mut x = points.clone();
                        x[i][k] += by;
                        evaluate(&x).0
                    };
                    let difference = (moved(step) - moved(-step)) / (2.0 * step);
                    let error = (difference - gradient[k]).abs();
                    assert!(
                        error < 1e-7 * size.max(1.0),
                        "{} point {i} axis {k}: {difference} {}",
                        info.id,
                        gradient[k]
                    );
                }
            }
        }
        Sample::Oriented { points, orientations, evaluate } => {
            let here = evaluate(&points, &orientations);
            let largest = here.by_turn.iter().map(nalgebra::Matrix3::amax).fold(0.0, f64::max);
            assert!(largest > 1e-3, "{}: derivative {largest}", info.id);
            for (i, jacobian) in here.by_point.iter().enumerate() {
                for k in 0..3 {
                    let moved = |by: f64| {
                        let mut x = points.clone();
                        x[i][k] += by;
                        evaluate(&x, &orientations).value
                    };
                    let difference = (moved(step) - moved(-step)) / (2.0 * step);
                    assert!(
                        (difference - jacobian.column(k)).amax() < 1e-8,
                        "{} point {i} axis {k}",
                        info.id
                    );
                }
            }
            for (i, jacobian) in here.by_turn.iter().enumerate() {
                for k in 0..3 {
                    let turned = |by: f64| {
                        let mut q = orientations.clone();
                        let mut turn = Vector3::zeros();
                        turn[k] = by;
                        q[i] *= UnitQuaternion::from_scaled_axis(turn);
                        evaluate(&points, &q).value
                    };
                    let difference = (turned(step) - turned(-step)) / (2.0 * step);
                    assert!((difference - jacobian.column(k)).amax() < 1e-8, "{} turn {i} axis {k}", info.id);
                }
            }
        }
    });
}

#[test]
fn internal_constraints_ignore_rigid_motion_and_keep_momentum() {
    let turn = UnitQuaternion::from_scaled_axis(Vector3::new(0.3, -1.2, 0.7));
    let offset = Vector3::new(3.0, -2.0, 5.0);
    each(|info, sample| match sample {
        Sample::Points { points, evaluate, .. } => {
            let (value, gradient) = evaluate(&points);
            let moved: Vec<_> = points.iter().map(|x| turn * x + offset).collect();
            let (elsewhere, turned) = evaluate(&moved);
            let force: Vector3<f64> = gradient.iter().sum();
            let moment: Vector3<f64> = points.iter().zip(&gradient).map(|(x, g)| x.cross(g)).sum();
            if info.internal {
                assert!((value - elsewhere).abs() < 1e-12, "{}: {value} {elsewhere}", info.id);
                assert!(force.amax() < 1e-12 && moment.amax() < 1e-12, "{}: {force} {moment}", info.id);
                for (g, h) in gradient.iter().zip(&turned) {
                    assert!((turn * g - h).amax() < 1e-11, "{}: gradient turns along", info.id);
                }
            } else {
                assert!(force.amax() > 1e-3, "{} claims an outer support", info.id);
            }
        }
        Sample::Oriented { points, orientations, evaluate } => {
            assert!(info.internal);
            let here = evaluate(&points, &orientations);
            let moved: Vec<_> = points.iter().map(|x| turn * x + offset).collect();
            let turned: Vec<_> = orientations.iter().map(|q| turn * q).collect();
            let there = evaluate(&moved, &turned);
            assert!((here.value - there.value).amax() < 1e-12, "{}", info.id);
        }
    });
}

/// Places where formulas divide by zero.
#[test]
fn degenerate_places_give_numbers() {
    each(|info, sample| {
        let Sample::Points { points, evaluate, .. } = sample else { return };
        let n = points.len();
        let line: Vec<Vector3<f64>> = (0..n).map(|i| Vector3::x() * i as f64).collect();
        let folded: Vec<Vector3<f64>> = (0..n).map(|i| Vector3::x() * (i % 2) as f64).collect();
        let tiny: Vec<Vector3<f64>> = points.iter().map(|x| x * 1e-200).collect();
        for place in [vec![Vector3::zeros(); n], line, folded, tiny] {
            let (value, gradient) = evaluate(&place);
            let finite = value.is_finite() && gradient.iter().all(|g| g.iter().all(|x| x.is_finite()));
            assert!(finite, "{} at {place:?}: {value} {gradient:?}", info.id);
        }
    });
}
