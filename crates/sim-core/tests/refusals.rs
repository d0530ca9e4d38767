//! Impossible forces are refused by name.

use sim_core::force::{
    air_drag::AirDrag,
    cloth_hinge::{ClothHinge, ClothHinges},
    point_load::{PointLoad, PointLoads},
    rope_hinge::{RopeHinge, RopeHinges},
    segment_drag::{SegmentDrag, SegmentDragOptions},
    skip_springs::{prestressed_rope, skip_springs},
    springs::{Spring, Springs},
    wind::{Wind, WindOptions},
};
use sim_core::{AirFlow, Force, ForceError, ParticleError, ParticleSystemBuilder, RestError, TimeCurve};

fn refused(force: impl Force + 'static) -> ForceError {
    match ParticleSystemBuilder::new(vec![1.0; 4]).force(force).build() {
        Err(ParticleError::Force(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn field(force: impl Force + 'static) -> (&'static str, usize, &'static str) {
    match refused(force) {
        ForceError::Value { force, index, field, .. } => (force, index, field),
        other => panic!("{other}"),
    }
}

#[test]
fn springs() {
    let good = Spring { ends: [0, 1], rest_length: 1.0, stiffness: 1.0, damping: 0.0 };
    let with = |bad: Spring| Springs::new([good, bad]);
    assert_eq!(field(with(Spring { stiffness: -1.0, ..good })), ("spring", 1, "stiffness"));
    assert_eq!(field(with(Spring { rest_length: f64::NAN, ..good })), ("spring", 1, "rest_length"));
    assert_eq!(field(with(Spring { damping: f64::INFINITY, ..good })), ("spring", 1, "damping"));
    assert_eq!(
        refused(with(Spring { ends: [0, 4], ..good })),
        ForceError::NoParticle { force: "spring", index: 1, particle: 4, count: 4 }
    );
    assert_eq!(
        refused(skip_springs([Spring { ends: [2, 2], ..good }])),
        ForceError::SameParticle { force: "skip_spring", index: 0, particle: 2 }
    );
}

#[test]
fn hinges() {
    let rope = |stiffness, rest_angle| RopeHinges::new([([0, 1, 2], RopeHinge { stiffness, rest_angle })]);
    assert_eq!(field(rope(-1.0, 0.0)), ("rope_hinge", 0, "stiffness"));
    assert_eq!(field(rope(1.0, -0.1)), ("rope_hinge", 0, "rest_angle"));
    assert_eq!(field(rope(1.0, 3.2)), ("rope_hinge", 0, "rest_angle"));
    let cloth =
        |particles, rest_angle| ClothHinges::new([(particles, ClothHinge { stiffness: 1.0, rest_angle })]);
    assert_eq!(field(cloth([0, 1, 2, 3], f64::NAN)), ("cloth_hinge", 0, "rest_angle"));
    assert!(matches!(refused(cloth([0, 1, 2, 0], 0.0)), ForceError::SameParticle { particle: 0, .. }));
    assert!(matches!(refused(cloth([0, 1, 2, 9], 0.0)), ForceError::NoParticle { particle: 9, .. }));
}

#[test]
fn air_and_loads() {
    assert_eq!(field(AirDrag { linear: -1.0, quadratic: 0.0, bound_speed: 1.0 }), ("air_drag", 0, "linear"));
    assert_eq!(
        field(AirDrag { linear: 0.0, quadratic: 0.0, bound_speed: f64::NAN }),
        ("air_drag", 0, "bound_speed")
    );
    let air = AirFlow { velocity: [0.0, f64::NAN, 0.0], ..AirFlow::default() };
    let options = SegmentDragOptions { normal: 1.0, tangential: 0.0, air, bound_speed: 1.0 };
    assert_eq!(field(SegmentDrag::new(options, [([0, 1], 1.0)])), ("segment_drag", 0, "air"));
    let still = SegmentDragOptions { air: AirFlow::default(), ..options };
    assert_eq!(field(SegmentDrag::new(still, [([0, 1], -1.0)])), ("segment_drag", 0, "length"));
    let options = WindOptions {
        air_density: 1.2,
        normal_coefficient: -1.0,
        tangential_coefficient: 0.0,
        air: AirFlow::default(),
        bound_speed: 1.0,
    };
    assert_eq!(field(Wind::new(options, [[0, 1, 2]])), ("wind", 0, "normal_coefficient"));
    let plate = WindOptions { normal_coefficient: 1.0, ..options };
    assert!(matches!(refused(Wind::new(plate, [[0, 1, 1]])), ForceError::SameParticle { particle: 1, .. }));
    let load = |force, curve| PointLoads::new([PointLoad { particle: 1, force, curve }]);
    assert_eq!(field(load([f64::NAN, 0.0, 0.0], TimeCurve::Constant)), ("point_load", 0, "force"));
    let empty = TimeCurve::Table { times: vec![], values: vec![] };
    assert!(matches!(refused(load([0.0; 3], empty)), ForceError::Curve { index: 0, .. }));
}

#[test]
fn prestressed_ropes() {
    let field = |segments, bending| match prestressed_rope(segments, 0.1, 100.0, bending).unwrap_err() {
        RestError::Value { field, .. } => field,
        other => panic!("{other}"),
    };
    assert_eq!(field(1, 1e-3), "segments");
    assert_eq!(field(10, 0.0), "bending_stiffness");
    assert_eq!(field(10, 0.07), "bending_stiffness");
    assert!(prestressed_rope(10, 0.1, 100.0, 0.06).is_ok());
}
