//! Rods with orientations against beam theory on the same polygon.

use crate::common::{close, options, particles, position};
use sim_core::force::{gravity::Gravity, mass_damping::MassDamping};
use sim_core::{ParticleSystemBuilder, Stepper};
use sim_pbd::{PbdSystem, Rod, Xpbd};

fn straight(n: usize) -> Rod {
    let rest = (0..=n).map(|i| [i as f64 / n as f64, 0.0, 0.0]).collect();
    Rod::round((0..=n as u32).collect(), rest, 0.02, 1e7, 0.3, 1000.0)
}

/// Tip deflection = Σ over joints of (h/EI) M (L − x) + Σ over segments of h V / GA: exact for a polygon of n segments
/// whose first one is clamped.
#[test]
fn cantilever_under_its_weight() {
    let n = 10;
    let h = 1.0 / n as f64;
    let mut rod = straight(n);
    rod.clamped_segments = vec![0];
    let (bending, shear) = (rod.bending_stiffness[0], rod.shear_stiffness);
    // Its own mass per segment, and little gravity so that the deflection stays small.
    let (mass, gravity) = (1000.0 * std::f64::consts::PI * 4e-4 * h, 0.005);
    let mut expected = 0.0;
    for j in 1..n {
        let moment: f64 = (j + 1..=n).map(|i| mass * gravity * (i - j) as f64 * h).sum();
        expected += h / bending * moment * (n - j) as f64 * h;
    }
    for segment in 0..n {
        expected += h / shear * mass * gravity * (n - segment) as f64;
    }
    let q: Vec<f64> = rod.rest_positions.concat();
    // Damped near critically, so that it comes to rest.
    let weights = ParticleSystemBuilder::new(vec![mass; n + 1])
        .pin([0])
        .force(Gravity::new([0.0, 0.0, -gravity]))
        .force(MassDamping { rate: 7.0 })
        .build()
        .unwrap();
    let system = PbdSystem::builder(weights).rod(rod).build().unwrap();
    let mut state = system.state_at_rest(q);
    let mut xpbd = Xpbd::new(&system, options(1, 40)).unwrap();
    for _ in 0..4000 {
        xpbd.step(&system, &mut state, 1e-3).unwrap();
    }
    let tip = -position(&state, n)[2];
    close(tip, expected, 1e-3 * expected, "deflection");
    assert!(xpbd.report().converged, "{:?}", xpbd.report());
    // Beam theory without the polygon: q L⁴ / 8EI, for comparison of size.
    let continuous = mass * n as f64 * gravity / (8.0 * bending);
    close(tip, continuous, 0.2 * continuous, "deflection of the continuous beam");
}

/// A rod twisted by its clamped ends shares the twist evenly and carries GJ θ / length.
#[test]
fn twist_is_shared() {
    let n = 8;
    let mut rod = straight(n);
    rod.clamped_segments = vec![0, n - 1];
    let stiffness = rod.torsional_stiffness;
    let q: Vec<f64> = rod.rest_positions.concat();
    let system =
        PbdSystem::builder(particles(&vec![0.01; n + 1], &[0, n], [0.0; 3])).rod(rod).build().unwrap();
    let mut state = system.state_at_rest(q);
    let angle = 1.4;
    let frame = &mut state.internal[4 * (n - 1)..4 * n];
    let q = nalgebra::UnitQuaternion::new_unchecked(nalgebra::Quaternion::new(
        frame[3], frame[0], frame[1], frame[2],
    )) * nalgebra::UnitQuaternion::from_scaled_axis(nalgebra::Vector3::z() * angle);
    frame.copy_from_slice(&[q.i, q.j, q.k, q.w]);
    let mut xpbd = Xpbd::new(&system, options(1, 30)).unwrap();
    for _ in 0..1000 {
        xpbd.step(&system, &mut state, 2e-3).unwrap();
    }
    let h = 1.0 / n as f64;
    let moment = stiffness * angle / ((n - 1) as f64 * h);
    for joint in 0..n - 1 {
        close(xpbd.constraint_force(&system, 1, joint).abs(), moment, 1e-3 * moment, "twisting moment");
    }
    for i in 0..=n {
        close(position(&state, i)[1].hypot(position(&state, i)[2]), 0.0, 1e-6, "the axis stays straight");
    }
}
