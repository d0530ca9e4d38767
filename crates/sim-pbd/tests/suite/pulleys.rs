//! Ropes over drums and pulleys, and a block on a belt: reference area C.

use crate::common::{G, close, link, options, particles, position, run};
use sim_core::Stepper;
use sim_pbd::contact::shapes::{Cylinder, Plane};
use sim_pbd::{Collider, Friction, PbdSystem, Rotation, Skin, Xpbd};

/// A rope over a drum, pulled at one end against a slack force at the other: exact ratio of N contact nodes.
fn drum(friction: f64, wrap: f64, nodes: usize, ratio: f64) -> f64 {
    // The rope is wound so that `nodes` of its particles lie on the drum, turned by wrap / nodes each.
    let (radius, free) = (0.1, 4);
    let turn = wrap / nodes as f64;
    let chord = 2.0 * radius * (0.5 * turn).sin();
    let count = nodes + 2 * free;
    let mut q = Vec::new();
    let place = |k: usize| {
        let angle = (k as f64 + 0.5) * turn;
        [radius * angle.sin(), radius * angle.cos(), 0.0]
    };
    let (first, last) = (place(0), place(nodes - 1));
    let tangent_in = [0.0_f64.cos(), 0.0];
    let tangent_out = [wrap.cos(), -wrap.sin()];
    for k in (1..=free).rev() {
        q.extend([
            first[0] - chord * k as f64 * tangent_in[0],
            first[1] - chord * k as f64 * tangent_in[1],
            0.0,
        ]);
    }
    (0..nodes).for_each(|k| q.extend(place(k)));
    for k in 1..=free {
        q.extend([
            last[0] + chord * k as f64 * tangent_out[0],
            last[1] + chord * k as f64 * tangent_out[1],
            0.0,
        ]);
    }
    let mut pulls = vec![[0.0; 3]; count];
    pulls[0] = [-1.0, 0.0, 0.0];
    pulls[count - 1] = [ratio * tangent_out[0], ratio * tangent_out[1], 0.0];
    let particles =
        sim_core::ParticleSystemBuilder::new(vec![1e-3; count]).force(Pull(pulls)).build().unwrap();
    let links = (0..count - 1).map(|i| link(i, i + 1, chord, chord / 2e3));
    let system = PbdSystem::builder(particles)
        .distances(links)
        .collider(
            Collider::fixed(Cylinder { radius, half_length: 0.1 }, [0.0; 3])
                .with_friction(Friction::coulomb(friction)),
        )
        .skin(Skin { particles: (free as u32..(free + nodes) as u32).collect(), ..Skin::default() })
        .build()
        .unwrap();
    let mut state = system.state_at_rest(q);
    run(&system, &mut state, options(1, 60), 2e-4, 900);
    let before = position(&state, count - 1);
    run(&system, &mut state, options(1, 60), 2e-4, 150);
    let after = position(&state, count - 1);
    (after[0] - before[0]) * tangent_out[0] + (after[1] - before[1]) * tangent_out[1]
}

/// Forces in N, one per particle, that rise slowly enough to excite no vibration and then stay.
#[derive(Debug)]
struct Pull(Vec<[f64; 3]>);

impl sim_core::Force for Pull {
    fn id(&self) -> &'static str {
        "pull"
    }
    fn dependence(&self) -> sim_core::Dependence {
        sim_core::Dependence { time: true, velocity: false }
    }
    fn add_force(&self, at: sim_core::Kinematics<'_>, f: &mut [f64]) {
        let part = (at.t / 0.04).min(1.0);
        f.iter_mut().zip(self.0.iter().flatten()).for_each(|(f, p)| *f += part * p);
    }
    fn add_power(&self, at: sim_core::Kinematics<'_>, velocity: &[f64], power: &mut sim_core::Work) {
        let part = (at.t / 0.04).min(1.0);
        power.external +=
            part * velocity.iter().zip(self.0.iter().flatten()).map(|(v, p)| v * p).sum::<f64>();
    }
    fn validate(&self, _particle_count: usize) -> Result<(), sim_core::force::ForceError> {
        Ok(())
    }
}

#[test]
fn c_capstan_holds_up_to_the_discrete_ratio_and_slips_beyond() {
    for (friction, wrap, nodes) in [(0.3, std::f64::consts::PI, 16), (0.5, 2.0, 8), (0.1, 1.0, 6)] {
        let half = 0.5 * wrap / f64::from(nodes);
        let node = (half.cos() + friction * half.sin()) / (half.cos() - friction * half.sin());
        let ratio = f64::powi(node, nodes);
        let held = drum(friction, wrap, nodes as usize, 0.995 * ratio);
        let slid = drum(friction, wrap, nodes as usize, 1.005 * ratio);
        assert!(held < 1e-6, "held {held}");
        assert!(slid > 1e-4, "slid {slid}, held {held}");
    }
}

/// Disc pulley with inertia that takes the reaction of a rope that does not slip.
#[test]
fn c_atwood_and_b72_pulley_with_inertia() {
    for (m1, m2, inertia, radius, expected) in
        [(5.0, 3.0, 0.04, 0.2, 2.18), (2.0, 1.0, 0.5 * 1.0 * 0.2 * 0.2, 0.2, 2.8029)]
    {
        let nodes = 40;
        let chord = 2.0 * radius * (0.5 * std::f64::consts::PI / f64::from(nodes)).sin();
        let hang = 30;
        let count = (nodes + 1 + 2 * hang) as usize;
        let mut q = Vec::new();
        for k in (1..=hang).rev() {
            q.extend([-radius, -chord * f64::from(k), 0.0]);
        }
        for k in 0..=nodes {
            let angle = std::f64::consts::PI * (1.0 - f64::from(k) / f64::from(nodes));
            q.extend([radius * angle.cos(), radius * angle.sin(), 0.0]);
        }
        for k in 1..=hang {
            q.extend([radius, -chord * f64::from(k), 0.0]);
        }
        let mut mass = vec![3e-4; count];
        (mass[0], mass[count - 1]) = (m2, m1);
        let pulley = Collider::fixed(Cylinder { radius, half_length: 0.1 }, [0.0; 3])
            .with_friction(Friction::coulomb(2.0))
            .with_rotation(Rotation::Torque { axis: [0.0, 0.0, 1.0], inertia, torque: 0.0, drag: 0.0 });
        let system = PbdSystem::builder(particles(&mass, &[], [0.0, -G, 0.0]))
            .chain((0..count - 1).map(|i| link(i, i + 1, chord, chord / 1e6)))
            .collider(pulley)
            .skin(Skin::balls(0.0, 0..count as u32))
            .build()
            .unwrap();
        let mut state = system.state_at_rest(q);
        run(&system, &mut state, options(1, 100), 1e-3, 200);
        // The rope itself has mass: (m1 + m2 + m_rope + I/R²) a = (m1 - m2) g, up to the rope's own imbalance.
        let rope = 3e-4 * (count - 2) as f64;
        let with_rope = (m1 - m2) * G / (m1 + m2 + rope + inertia / (radius * radius));
        close(with_rope, expected, 0.02 * expected, "the rope is light");
        close(
            -state.v[3 * (count - 1) + 1] / 0.2,
            with_rope,
            0.02 * with_rope,
            "acceleration of the heavy side",
        );
        close(state.v[1] / 0.2, with_rope, 0.02 * with_rope, "acceleration of the light side");
        let spin = state.internal[system.collider_internal(0) + 1];
        close(-spin * radius / 0.2, with_rope, 0.02 * with_rope, "rim of the pulley");
    }
}

#[test]
fn c_stick_slip_block_on_belt() {
    let (k, speed) = (100.0, 0.2);
    let friction = Friction { static_coefficient: 0.5, kinetic_coefficient: 0.3 };
    let floor = Plane { normal: [0.0, 1.0, 0.0], offset: 0.0 };
    let mut belt = Collider::fixed(floor, [0.0; 3]).with_friction(friction);
    belt.path = sim_core::Motion::Linear { start: [0.0; 3], velocity: [speed, 0.0, 0.0] };
    let spring = sim_pbd::Bound::compliant(
        [0],
        sim_pbd::constraints::attachment::Attachment::fixed([0.0; 3]),
        1.0 / k,
    );
    let system = PbdSystem::builder(particles(&[1.0], &[], [0.0, -G, 0.0]))
        .constraints([spring])
        .collider(belt)
        .skin(Skin::balls(0.0, [0]))
        .build()
        .unwrap();
    let mut state = system.state_at_rest(vec![0.00981, 0.0, 0.0]);
    state.v[0] = speed;
    let mut xpbd = Xpbd::new(&system, options(1, 12)).unwrap();
    let (mut highest, mut lowest, mut starts, mut sticking) = (f64::MIN, f64::MAX, Vec::new(), true);
    for step in 0..30_000 {
        xpbd.step(&system, &mut state, 1e-4).unwrap();
        let slides = xpbd.contact_report().sliding > 0;
        if sticking && slides {
            starts.push(1e-4 * f64::from(step));
        }
        sticking = !slides;
        if step > 8000 {
            highest = highest.max(state.q[0]);
            lowest = lowest.min(state.q[0]);
        }
    }
    let periods: Vec<f64> = starts.windows(2).map(|w| w[1] - w[0]).collect();
    assert!(periods.len() >= 3, "{starts:?}");
    for period in &periods[1..] {
        close(*period, 0.6693570623425575, 0.0067, "period");
    }
    close(highest, 0.05744685921012561, 0.0006, "highest");
    close(lowest, 0.001413140789874394, 0.0006, "lowest");
}
