//! Weights on ropes, chains on rails, blocks on belts.

use crate::verify::cases::{
    CaseError, Verdict, advance, at_least, at_most, expected, input, link, particles, relative, sweeps, worst,
};
use sim_core::{Motion, State, Stepper};
use sim_pbd::constraints::attachment::Attachment;
use sim_pbd::constraints::slider::{Curve, Slider};
use sim_pbd::constraints::slip_ring::SlipRing;
use sim_pbd::contact::shapes::{Cylinder, Plane};
use sim_pbd::{Bound, Collider, Friction, PbdSystem, Rotation, Skin, Xpbd};
use sim_verify::reference::Case;
use std::f64::consts::{FRAC_PI_2, PI};

/// Two weights on a rope over a drum.
struct Hung {
    /// Downward acceleration in m/s² of the first weight, upward one of the second.
    acceleration: [f64; 2],
    /// Tensions in N at the two weights.
    tensions: [f64; 2],
    /// Angular velocity of the drum in rad/s per second.
    spin: f64,
}

/// Weights of `mass` kg over a drum of `radius`: what they do within 0.1 s from rest.
fn over_a_drum(
    mass: [f64; 2],
    radius: f64,
    nodes: usize,
    friction: f64,
    rotation: Rotation,
    g: f64,
    share: f64,
) -> Result<Hung, CaseError> {
    let turn = PI / nodes as f64;
    let chord = 2.0 * radius * (0.5 * turn).sin();
    let hang = nodes / 2;
    let count = nodes + 1 + 2 * hang;
    let mut q = Vec::new();
    (1..=hang).rev().for_each(|k| q.extend([radius, -chord * k as f64, 0.0]));
    for k in 0..=nodes {
        let angle = turn * k as f64;
        q.extend([radius * angle.cos(), radius * angle.sin(), 0.0]);
    }
    (1..=hang).for_each(|k| q.extend([-radius, -chord * k as f64, 0.0]));
    let total = mass[0] + mass[1];
    let mut masses = vec![share * total / count as f64; count];
    (masses[0], masses[count - 1]) = (mass[0], mass[1]);
    let drum = Collider::fixed(Cylinder { radius, half_length: radius }, [0.0; 3])
        .with_friction(Friction::coulomb(friction))
        .with_rotation(rotation);
    let system = PbdSystem::builder(particles(&masses, &[], [0.0, -g, 0.0])?)
        .chain((1..count).map(|i| link(i - 1, i, chord, chord / 1e7)))
        .collider(drum)
        .skin(Skin::balls(0.0, 0..count as u32))
        .build()?;
    let mut state = system.state_at_rest(q);
    let (dt, settle, steps) = (5e-4, 40, 160);
    let mut xpbd = Xpbd::new(&system, sweeps(1, 60))?;
    let speeds = |state: &State| [-state.v[1], state.v[3 * (count - 1) + 1]];
    let spin = |state: &State| state.internal[system.collider_internal(0) + 1];
    (0..settle).try_for_each(|_| xpbd.step(&system, &mut state, dt).map(drop))?;
    let before = (speeds(&state), spin(&state));
    let mut tensions = [0.0; 2];
    for _ in 0..steps {
        xpbd.step(&system, &mut state, dt)?;
        tensions[0] += xpbd.constraint_force(&system, 0, 0) / f64::from(steps);
        tensions[1] += xpbd.constraint_force(&system, 0, count - 2) / f64::from(steps);
    }
    let time = f64::from(steps) * dt;
    let after = speeds(&state);
    Ok(Hung {
        acceleration: [0, 1].map(|i| (after[i] - before.0[i]) / time),
        tensions,
        spin: (spin(&state) - before.1) / time,
    })
}

/// The same for a rope without mass: extrapolated from ropes of a 50th and a 25th of the weights.
fn over_a_drum_without_rope_mass(
    mass: [f64; 2],
    radius: f64,
    friction: f64,
    rotation: Rotation,
    g: f64,
) -> Result<Hung, CaseError> {
    let [light, heavy] =
        [0.02, 0.04].map(|share| over_a_drum(mass, radius, 32, friction, rotation, g, share));
    let (light, heavy) = (light?, heavy?);
    let limit = |a: f64, b: f64| 2.0 * a - b;
    Ok(Hung {
        acceleration: [0, 1].map(|i| limit(light.acceleration[i], heavy.acceleration[i])),
        tensions: [0, 1].map(|i| limit(light.tensions[i], heavy.tensions[i])),
        spin: limit(light.spin, heavy.spin),
    })
}

pub(super) fn atwood(case: &Case) -> Verdict {
    let (radius, inertia, g) = (input(case, "R")?, input(case, "I")?, input(case, "g")?);
    let mass = [input(case, "m1")?, input(case, "m2")?];
    let free = Rotation::Torque { axis: [0.0, 0.0, 1.0], inertia, torque: 0.0, drag: 0.0 };
    let pulley = over_a_drum_without_rope_mass(mass, radius, 2.0, free, g)?;
    let a = expected(case, "a")?;
    let peg_mass = [input(case, "m1_peg")?, input(case, "m2_peg")?];
    let peg = over_a_drum_without_rope_mass(peg_mass, radius, input(case, "mu_peg")?, Rotation::Held, g)?;
    let b = expected(case, "a_peg")?;
    // On the least coefficient without slip the pulley still turns with the rope; a bit below it does not.
    let least = expected(case, "capstan_needed_mu_no_slip")?;
    let held = over_a_drum_without_rope_mass(mass, radius, 1.1 * least, free, g)?;
    let slid = over_a_drum_without_rope_mass(mass, radius, 0.9 * least, free, g)?;
    let slip = |hung: &Hung| hung.acceleration[0] - radius * hung.spin.abs();
    Ok(vec![
        at_most(case, "pulley", "acceleration of the weights and of the rim, relative distance", 0.01, {
            worst(
                [pulley.acceleration[0], pulley.acceleration[1], -radius * pulley.spin]
                    .map(|x| relative(x, a)),
            )
        }),
        at_most(
            case,
            "tensions",
            "tensions at the weights, relative distance",
            0.01,
            worst([
                relative(pulley.tensions[0], expected(case, "T1")?),
                relative(pulley.tensions[1], expected(case, "T2")?),
            ]),
        ),
        at_most(case, "held", "slip with 1.1 times the least coefficient, in m/s²", 0.02, slip(&held).abs()),
        at_least(case, "slid", "slip with 0.9 times it, in m/s²", 0.1, slip(&slid)),
        at_most(case, "peg", "acceleration over a peg, relative distance", 0.01, {
            worst(peg.acceleration.map(|x| relative(x, b)))
        }),
        at_most(
            case,
            "peg_tensions",
            "tensions at the weights, relative distance",
            0.01,
            worst([
                relative(peg.tensions[0], expected(case, "T_peg_tight")?),
                relative(peg.tensions[1], expected(case, "T_peg_slack")?),
            ]),
        ),
    ])
}

/// Pull in N that balances a weight on `falls` falls of a frictionless cable.
pub(super) fn ideal_tackle(falls: usize, weight: f64) -> Result<f64, CaseError> {
    // Particles: 0 hauling end, 1 fixed block, 2 moving block. From the hauling end the cable runs over the fixed block and between
    // the blocks, once per fall, and ends at the fixed block.
    let mut way = vec![0];
    way.extend((0..=falls).map(|i| if i % 2 == 0 { 1 } else { 2 }));
    let length = 1.0 + falls as f64 * 2.0;
    let system = PbdSystem::builder(particles(&[1.0, 1.0, weight], &[0, 1], [0.0, -1.0, 0.0])?)
        .cable(&way, SlipRing { length }, 1e-6)
        .build()?;
    let mut state = system.state_at_rest(vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -2.0, 0.0]);
    let xpbd = advance(&system, &mut state, sweeps(1, 10), 0.02, 3000)?;
    Ok(xpbd.constraint_force(&system, 0, 0))
}

/// A chain of links on a rail along the table, around an edge of `radius`, and down: depth in m of its end over time.
fn along_a_rail(case: &Case, links: usize, radius: f64) -> Result<(f64, f64), CaseError> {
    let (length, start, g) = (input(case, "L")?, input(case, "x0")?, input(case, "g")?);
    let arc = 64;
    let mut rail = vec![[-length - radius - 1.0, 0.0, 0.0]];
    rail.extend((0..=arc).map(|i| {
        let angle = FRAC_PI_2 * f64::from(i) / f64::from(arc);
        [-radius + radius * angle.sin(), -radius + radius * angle.cos(), 0.0]
    }));
    rail.push([0.0, -2.0 * length, 0.0]);
    // Arc length along the rail from the start of the edge to a depth.
    let edge = radius * FRAC_PI_2;
    let front = edge + start - radius;
    let at = |s: f64| {
        if s <= 0.0 {
            [-radius + s, 0.0, 0.0]
        } else if s < edge {
            let angle = s / radius;
            [-radius + radius * angle.sin(), -radius + radius * angle.cos(), 0.0]
        } else {
            [0.0, -radius - (s - edge), 0.0]
        }
    };
    let h = length / links as f64;
    let count = links + 1;
    let mut mass = vec![1.0; count];
    (mass[0], mass[links]) = (0.5, 0.5);
    let q: Vec<f64> = (0..count).flat_map(|i| at(front - h * i as f64)).collect();
    let builder = PbdSystem::builder(particles(&mass, &[], [0.0, -g, 0.0])?);
    let bound = |i: usize| {
        let apart = (0..3).map(|k| (q[3 * i + k] - q[3 * i - 3 + k]).powi(2)).sum::<f64>().sqrt();
        link(i - 1, i, apart, 0.0)
    };
    let system = builder
        .chain((1..count).map(bound))
        .constraints(
            (0..count as u32)
                .map(|i| Bound::rigid([i], Slider { curve: Curve::Polyline { points: rail.clone() } })),
        )
        .build()?;
    let mut state = system.state_at_rest(q);
    let mut xpbd = Xpbd::new(&system, sweeps(1, 4))?;
    let mut before = state.clone();
    // On a rounded edge the depth x of the end, not the way, obeys x'' = g x / L: it has left at x = L.
    while state.q[1] > -length {
        before.clone_from(&state);
        xpbd.step(&system, &mut state, 2.5e-4)?;
        if state.t > 5.0 {
            return Err("the chain stays on the table".into());
        }
    }
    let part = (before.q[1] + length) / (before.q[1] - state.q[1]);
    Ok((before.t + part * (state.t - before.t), -state.v[1]))
}

pub(super) fn off_the_table(case: &Case) -> Verdict {
    let (t, v) = along_a_rail(case, 40, 0.1)?;
    Ok(vec![
        at_most(
            case,
            "time",
            "time until the chain has left the table without friction, relative distance",
            0.01,
            relative(t, expected(case, "t_leave_frictionless")?),
        ),
        at_most(case, "speed", "its speed then, relative distance", 0.01, {
            relative(v, expected(case, "v_leave_frictionless")?)
        }),
    ])
}

pub(super) fn stick_slip(case: &Case) -> Verdict {
    let (mass, k, speed) = (input(case, "m")?, input(case, "k")?, input(case, "v")?);
    let friction =
        Friction { static_coefficient: input(case, "mu_s")?, kinetic_coefficient: input(case, "mu_k")? };
    let mut belt =
        Collider::fixed(Plane { normal: [0.0, 1.0, 0.0], offset: 0.0 }, [0.0; 3]).with_friction(friction);
    belt.path = Motion::Linear { start: [0.0; 3], velocity: [speed, 0.0, 0.0] };
    let system = PbdSystem::builder(particles(&[mass], &[], [0.0, -input(case, "N")? / mass, 0.0])?)
        .constraints([Bound::compliant([0], Attachment::fixed([0.0; 3]), 1.0 / k)])
        .collider(belt)
        .skin(Skin::balls(0.0, [0]))
        .build()?;
    let mut state = system.state_at_rest(vec![expected(case, "x_stick_start")?, 0.0, 0.0]);
    state.v[0] = speed;
    let mut xpbd = Xpbd::new(&system, sweeps(1, 12))?;
    let (mut highest, mut lowest, mut sticking) = (f64::MIN, f64::MAX, true);
    // Times and places at which it begins to slide and to stick.
    let (mut slides, mut sticks) = (Vec::new(), Vec::new());
    let dt = 1e-4;
    while state.t < 3.0 {
        xpbd.step(&system, &mut state, dt)?;
        let slid = xpbd.contact_report().sliding > 0;
        if sticking == slid {
            if slid { &mut slides } else { &mut sticks }.push((state.t, state.q[0]));
        }
        sticking = !slid;
        if state.t > 1.0 {
            highest = highest.max(state.q[0]);
            lowest = lowest.min(state.q[0]);
        }
    }
    // The second cycle: the first starts from given values.
    let (Some(&[first, second, third]), Some(&[_, stick, again])) = (slides.get(..3), sticks.get(..3)) else {
        return Err(format!("{} and {} changes", slides.len(), sticks.len()).into());
    };
    let amplitude = expected(case, "x_max")?;
    let place =
        |found: f64, name: &str| Ok::<_, CaseError>((found - expected(case, name)?).abs() / amplitude);
    let _ = first;
    Ok(vec![
        at_most(
            case,
            "times",
            "times of slip, of stick and of both, relative distance",
            0.01,
            worst([
                relative(stick.0 - second.0, expected(case, "t_slip")?),
                relative(third.0 - stick.0, expected(case, "t_stick")?),
                relative(third.0 - second.0, expected(case, "period")?),
            ]),
        ),
        at_most(
            case,
            "places",
            "largest and least place, start and end of sticking, distance over the largest",
            0.01,
            worst([
                place(highest, "x_max")?,
                place(lowest, "x_min")?,
                place(again.1, "x_stick_start")?,
                place(third.1, "x_stick_end")?,
            ]),
        ),
    ])
}
