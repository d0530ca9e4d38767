//! Levers of contacts on bodies that turn: one inelastic blow shares momentum as rigid-body mechanics says.

use crate::common::{close, options, particles};
use sim_core::Stepper;
use sim_pbd::contact::shapes::{Cuboid, Cylinder};
use sim_pbd::{Collider, Friction, PbdSystem, Rotation, Skin, Xpbd};

const MASS: f64 = 0.5;
const INERTIA: f64 = 4e-3;
const SKIN: f64 = 0.03;

/// Speed of a ball in x and y, and angular velocity of the body, after one step of 1e-4 s.
fn blow(body: Collider, gravity: f64, place: [f64; 3], velocity: [f64; 3]) -> ([f64; 2], f64) {
    let rotation = Rotation::Torque { axis: [0.0, 0.0, 1.0], inertia: INERTIA, torque: 0.0, drag: 0.0 };
    let system = PbdSystem::builder(particles(&[MASS], &[], [0.0, -gravity, 0.0]))
        .collider(body.with_rotation(rotation))
        .skin(Skin::balls(SKIN, [0]))
        .build()
        .unwrap();
    let mut state = system.state_at_rest(place.to_vec());
    state.v = velocity.to_vec();
    let mut xpbd = Xpbd::new(&system, options(1, 20)).unwrap();
    xpbd.step(&system, &mut state, 1e-4).unwrap();
    ([state.v[0], state.v[1]], state.internal[system.collider_internal(0) + 1])
}

/// A ball that sticks to a drum takes it along: m v0 = (m + I/R²) v. The lever is the radius of the drum, not that of the ball's center.
#[test]
fn a_sticking_ball_turns_a_drum_by_its_rim() {
    let radius = 0.1;
    let drum = Collider::fixed(Cylinder { radius, half_length: 1.0 }, [0.0; 3])
        .with_friction(Friction::coulomb(5.0));
    let ([v, _], spin) = blow(drum, 1000.0, [0.0, radius + SKIN, 0.0], [0.1, 0.0, 0.0]);
    let expected = 0.1 * MASS / (MASS + INERTIA / (radius * radius));
    close(v, expected, 1e-3 * expected, "speed of the ball");
    close(spin, -expected / radius, 1e-3 * expected / radius, "the drum rolls with it");
}

/// A ball that falls on a seesaw at x: m u x = (m x² + I) ω.
#[test]
fn a_falling_ball_turns_a_seesaw_by_its_distance_from_the_axis() {
    for x in [0.3, -0.2] {
        let beam = Collider::fixed(Cuboid { half_extents: [0.5, 0.05, 0.5] }, [0.0; 3]);
        let ([_, v], spin) = blow(beam, 0.0, [x, 0.05 + SKIN, 0.0], [0.0, -0.1, 0.0]);
        let expected = -0.1 * MASS * x / (MASS * x * x + INERTIA);
        close(spin, expected, 1e-3 * expected.abs(), "angular velocity");
        close(v, expected * x, 1e-3 * (expected * x).abs(), "speed of the ball");
    }
}
