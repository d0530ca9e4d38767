//! Constraints of sim-pbd: every entry of the registry at its sample, and where geometry gives the value.

use super::catalogue::{Job, Outcome, Scope};
use nalgebra::{UnitQuaternion, Vector3};
use sim_pbd::{CONSTRAINTS, ConstraintInfo};
use sim_verify::Claim;
use sim_verify::judge::constraint::{ConstraintSubject, ConstraintValue, Place, judge_constraint};
use sim_verify::mutants::{CONSTRAINT_SLIPS, rejects};
use std::f64::consts::{FRAC_PI_2, PI};

/// What geometry says about the sample of a registry entry.
struct Known {
    id: &'static str,
    /// Power of length with which C grows; none when a part of it stands still.
    length_power: Option<i32>,
    /// Places and values.
    values: Vec<(Place, Vec<f64>)>,
}

fn at(points: &[[f64; 3]], value: f64) -> (Place, Vec<f64>) {
    (Place::of_points(points), vec![value])
}

/// The parameters are those of the samples: lengths 0.75, 1.5 and 2 m, an area of 0.3 m², a volume of 0.1 m³ and so on.
fn known() -> Vec<Known> {
    const O: [f64; 3] = [0.0; 3];
    // 3, 4, 5; and a short one.
    let (far, near) = ([3.0, 4.0, 0.0], [0.0, 0.3, 0.4]);
    let pair = |rest: f64| vec![at(&[O, far], 5.0 - rest), at(&[O, near], 0.5 - rest)];
    let right_angle = [O, [1.0, 0.0, 0.0], [1.0, 2.0, 0.0]];
    let corner = [O, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let small = corner.map(|x| x.map(|x| 0.5 * x));
    let volumes = || vec![at(&corner, 1.0 / 6.0 - 0.1), at(&small, 1.0 / 48.0 - 0.1)];
    let turned = |turn: [f64; 3]| UnitQuaternion::from_scaled_axis(turn.into());
    let entry = |id, length_power, values| Known { id, length_power, values };
    // The flat sheet of the sample, one wing lifted: only its weight 1/m counts.
    let lifted = [O, [0.0, 1.0, 0.0], [1.0, 0.4, 0.1], [-0.8, 0.5, 0.0]];
    // Wings at a right angle, to both sides.
    let fold = |z: f64| [O, [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, z]];
    let rest_angle = PI / 18.0;
    vec![
        entry("distance", Some(1), pair(0.75)),
        entry("unilateral_distance", Some(1), pair(0.75)),
        // At 0.3 s the target is at (0.8, 0.1, -0.05).
        entry(
            "attachment",
            None,
            vec![at(&[[0.8, 3.1, 3.95]], 5.0 - 0.2), at(&[[0.8, 0.1, 0.05]], 0.1 - 0.2)],
        ),
        entry("slider", None, vec![at(&[[0.5, -3.0, -4.0]], 5.0), at(&[[-3.0, 4.0, 0.0]], 5.0)]),
        entry("tether", Some(1), pair(1.5)),
        entry(
            "slip_ring",
            Some(1),
            vec![
                at(&[O, far, [3.0, 4.0, 2.0], [3.0, 0.0, 2.0]], 5.0 + 2.0 + 4.0 - 2.0),
                at(&[O, near, O, near], 1.5 - 2.0),
            ],
        ),
        entry("rope_bending", Some(0), vec![at(&right_angle, FRAC_PI_2)]),
        entry(
            "minimum_bend_radius",
            Some(0),
            vec![
                at(&right_angle, FRAC_PI_2 - 2.0 * (1.0_f64 / 3.0).atan()),
                at(&[O, [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]], -2.0 * (1.0_f64 / 3.0).atan()),
            ],
        ),
        entry(
            "hinge_bending",
            Some(0),
            vec![at(&fold(1.0), FRAC_PI_2 - rest_angle), at(&fold(-1.0), -FRAC_PI_2 - rest_angle)],
        ),
        entry("isometric_bending", Some(1), vec![at(&lifted, 0.1 * (3.0_f64 / 0.9).sqrt())]),
        entry(
            "triangle_area",
            Some(2),
            vec![
                at(&[O, [3.0, 0.0, 0.0], [0.0, 4.0, 0.0]], 6.0 - 0.3),
                at(&[O, [0.3, 0.0, 0.0], [0.0, 0.4, 0.0]], 0.06 - 0.3),
            ],
        ),
        entry("tetrahedron_volume", Some(3), volumes()),
        entry("closed_volume", Some(3), volumes()),
        entry(
            "rod_stretch_shear",
            Some(1),
            vec![
                (
                    Place {
                        points: vec![Vector3::zeros(), Vector3::new(0.1, 0.2, 0.5)],
                        orientations: vec![UnitQuaternion::identity()],
                    },
                    vec![0.1, 0.2, 0.5 - 0.8],
                ),
                // The third axis turned to x.
                (
                    Place {
                        points: vec![Vector3::zeros(), Vector3::x()],
                        orientations: vec![turned([0.0, FRAC_PI_2, 0.0])],
                    },
                    vec![0.0, 0.0, 1.0 - 0.8],
                ),
            ],
        ),
        entry(
            "rod_bend_twist",
            None,
            vec![(
                Place {
                    points: Vec::new(),
                    orientations: vec![
                        turned([0.0, 0.0, 1.0]),
                        turned([0.0, 0.0, 1.0]) * turned([0.3, 0.0, 0.0]),
                    ],
                },
                vec![0.3 - 0.1, 0.05, -0.2],
            )],
        ),
    ]
}

/// The sample of a registry entry as one function of points and orientations.
fn with_subject<T>(info: &ConstraintInfo, id: &str, f: impl FnOnce(&ConstraintSubject<'_>) -> T) -> T {
    let sample = (info.sample)();
    let known = known().into_iter().find(|known| known.id == info.id);
    let (length_power, values) = known.map_or((None, Vec::new()), |known| (known.length_power, known.values));
    let (points, orientations) = sample.place();
    let place = Place { points: points.to_vec(), orientations: orientations.to_vec() };
    let evaluate = |points: &[Vector3<f64>], turns: &[UnitQuaternion<f64>]| {
        let (value, jacobian) = sample.value_and_jacobian(points, turns);
        ConstraintValue { value, jacobian }
    };
    f(&ConstraintSubject {
        id,
        internal: info.internal,
        length_power,
        sample: &place,
        known: &values,
        evaluate: &evaluate,
    })
}

pub(super) fn jobs(_: Scope) -> Vec<Job> {
    let mut jobs: Vec<Job> = CONSTRAINTS
        .iter()
        .map(|info| {
            let id = format!("constraint/{}", info.id);
            Job::new(id.clone(), move |_| with_subject(info, &id, judge_constraint).into())
        })
        .collect();
    jobs.push(Job::new("constraint/registry", |_| registry()));
    jobs
}

fn registry() -> Outcome {
    let known = known();
    let mut complaints = Vec::new();
    for info in CONSTRAINTS {
        if CONSTRAINTS.iter().filter(|other| other.id == info.id).count() != 1 {
            complaints.push(format!("{} is listed twice", info.id));
        }
        if [info.summary, info.reference, info.limitations].iter().any(|text| text.is_empty()) {
            complaints.push(format!("{} names no source or no limitation", info.id));
        }
        if known.iter().all(|known| known.id != info.id) {
            complaints.push(format!("no value of {} is known from geometry", info.id));
        }
    }
    let what = "ids are unique, entries complete, values known for each";
    vec![Claim::no_complaint("constraint/registry", what, complaints, "")].into()
}

/// Slips around every constraint.
pub(super) fn mutants(_: Scope) -> Vec<Job> {
    CONSTRAINTS
        .iter()
        .map(|info| {
            Job::new(format!("mutants/constraint/{}", info.id), |_| {
                let id = format!("mutants/constraint/{}", info.id);
                let (mut missed, mut count) = (Vec::new(), 0);
                with_subject(info, info.id, |subject| {
                    for (slip, text) in CONSTRAINT_SLIPS {
                        if slip.suits(subject).is_err() {
                            continue;
                        }
                        count += 1;
                        if rejects(subject, *slip).is_none() {
                            missed.push(format!("{slip:?}: {text}"));
                        }
                    }
                });
                let what = format!("each of {count} slips around {} is rejected", info.id);
                vec![Claim::no_complaint(id, what, missed, "the studies can fail")].into()
            })
        })
        .collect()
}
