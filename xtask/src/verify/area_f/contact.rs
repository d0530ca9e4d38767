//! Contact and friction: inclines, a rolling cylinder, bounces, depths and distances.

use crate::verify::cases::{
    CaseError, Verdict, advance, apart, at_least, at_most, expected, input, particles, relative, sweeps,
    worst,
};
use nalgebra::Vector3;
use sim_core::{State, Stepper};
use sim_pbd::contact::closest::on_triangle;
use sim_pbd::contact::shapes::{Cylinder, Plane, Shape as _};
use sim_pbd::{Collider, ContactOptions, Friction, PbdSystem, Rotation, Skin, SkinContact, Xpbd};
use sim_verify::reference::{Case, case};

const FLOOR: Plane = Plane { normal: [0.0, 1.0, 0.0], offset: 0.0 };

/// Gravity tilted by `angle`: the slope itself stays level, so that its own rounding does not count.
fn tilted(g: f64, angle: f64) -> [f64; 3] {
    [g * angle.sin(), -g * angle.cos(), 0.0]
}

fn block(friction: f64, gravity: [f64; 3]) -> Result<(PbdSystem, State), CaseError> {
    let system = PbdSystem::builder(particles(&[1.0], &[], gravity)?)
        .collider(Collider::fixed(FLOOR, [0.0; 3]).with_friction(Friction::coulomb(friction)))
        .skin(Skin::balls(0.0, [0]))
        .build()?;
    let state = system.state_at_rest(vec![0.0; 3]);
    Ok((system, state))
}

pub(super) fn incline(case: &Case) -> Verdict {
    let (angle, friction, g) = (input(case, "theta")?, input(case, "mu")?, input(case, "g")?);
    let (h, steps) = (input(case, "h")?, input(case, "steps")? as usize);
    let run = |parts: usize| -> Result<(State, Xpbd), CaseError> {
        let (system, mut state) = block(friction, tilted(g, angle))?;
        let xpbd = advance(&system, &mut state, sweeps(1, 1), h / parts as f64, steps * parts)?;
        Ok((state, xpbd))
    };
    let ((state, xpbd), (half, _)) = (run(1)?, run(2)?);
    let contact = xpbd.contact_forces().next().ok_or("the block left the slope")?;
    let load = contact.friction[0].hypot(contact.friction[2]);
    let sticks = case.value("expected/sticks")?.as_bool().ok_or("sticks is neither true nor false")?;
    let distance = |found: f64, name: &str| Ok::<_, CaseError>((found - expected(case, name)?).abs());
    // The slope at which sticking ends, between a coefficient that holds and one that does not.
    let edge = |factor: f64| -> Result<f64, CaseError> {
        let (system, mut state) = block(factor * expected(case, "tan_theta")?, tilted(g, angle))?;
        advance(&system, &mut state, sweeps(1, 1), h, steps)?;
        Ok(state.q[0])
    };
    Ok(vec![
        at_most(
            case,
            "way",
            "way and speed after 100 steps, distance in m and m/s",
            1e-12,
            worst([
                distance(state.q[0], "s_symplectic_euler_100_steps")?,
                distance(state.v[0], "v_t1")?,
                distance(state.v[0] / (h * steps as f64), "acceleration")?,
            ]),
        ),
        at_most(case, "limit", "way extrapolated to no step, distance in m", 1e-11, {
            distance(2.0 * half.q[0] - state.q[0], "s_exact_t1")?
        }),
        at_most(
            case,
            "load",
            "friction per mass and correction per step, distance in N/kg and m",
            1e-11,
            worst([
                distance(load, "friction_force_per_mass")?,
                distance(contact.normal_force * h * h, "per_step_normal_correction")?,
            ]),
        ),
        at_most(case, "sticks", "whether it sticks, distance", 0.0, {
            (f64::from(u8::from(contact.sliding)) - f64::from(u8::from(!sticks))).abs()
        }),
        at_most(case, "holds", "way in m with a coefficient 1e-9 above the slope", 1e-12, edge(1.0 + 1e-9)?),
        at_least(case, "slides", "way in m with one 1e-9 below", 1e-10, edge(1.0 - 1e-9)?),
    ])
}

/// Accelerations of a mass on a drum that turns freely, in m/s² along the rim and in rad/s².
///
/// A mass m pressed with m g cos θ on a drum of moment m R²/2, and pulled along it with m g sin θ, has the equations of a cylinder on
/// an incline: m a = m g sin θ − F and I α = F R, with a = R α as long as F ≤ μ N.
fn on_a_drum(case: &Case, g: f64, friction: f64) -> Result<(f64, f64), CaseError> {
    let (angle, radius) = (input(case, "theta")?, input(case, "R")?);
    let mass = 1.0;
    let inertia = 0.5 * mass * radius * radius;
    let axis = [0.0, 0.0, 1.0];
    let drum = Collider::fixed(Cylinder { radius, half_length: 1.0 }, [0.0; 3])
        .with_friction(Friction::coulomb(friction))
        .with_rotation(Rotation::Torque { axis, inertia, torque: 0.0, drag: 0.0 });
    let system = PbdSystem::builder(particles(&[mass], &[], tilted(g, angle))?)
        .collider(drum)
        .skin(Skin::balls(0.0, [0]))
        .build()?;
    let mut state = system.state_at_rest(vec![0.0, radius, 0.0]);
    let dt = 1e-5;
    advance(&system, &mut state, sweeps(1, 20), dt, 1)?;
    Ok((state.v[0] / dt, -state.internal[system.collider_internal(0) + 1] / dt))
}

pub(super) fn rolling(own: &Case) -> Verdict {
    // The case means the g of the other inclines: a_roll = 2/3 g sin θ.
    let g = input(case("F-incline-friction-mu04")?, "g")?;
    let radius = input(own, "R")?;
    let (a, spin) = on_a_drum(own, g, 1.0)?;
    let (sliding, driven) = on_a_drum(own, g, input(own, "mu_slip")?)?;
    // The least coefficient that rolls: bisection on whether the rim keeps up.
    let (mut low, mut high) = (0.0, 1.0);
    while high - low > 1e-7 {
        let middle = 0.5 * (low + high);
        let (a, spin) = on_a_drum(own, g, middle)?;
        if (a - radius * spin).abs() < 1e-6 { high = middle } else { low = middle }
    }
    Ok(vec![
        at_most(own, "rolls", "acceleration while rolling, and the rim's, relative distance", 1e-6, {
            let wanted = expected(own, "a_roll")?;
            worst([relative(a, wanted), relative(radius * spin, wanted)])
        }),
        at_most(
            own,
            "slides",
            "acceleration and angular acceleration while sliding, relative distance",
            1e-6,
            worst([
                relative(sliding, expected(own, "a_slip")?),
                relative(driven, expected(own, "alpha_slip")?),
            ]),
        ),
        at_most(own, "least", "least coefficient that rolls, distance", 1e-6, {
            (high - expected(own, "mu_min")?).abs()
        }),
    ])
}

pub(super) fn bounce(case: &Case) -> Verdict {
    let (height, restitution, g) = (input(case, "H")?, input(case, "e")?, input(case, "g")?);
    let system = PbdSystem::builder(particles(&[1.0], &[], [0.0, -g, 0.0])?)
        .collider(Collider::fixed(FLOOR, [0.0; 3]).with_restitution(restitution))
        .skin(Skin::balls(0.0, [0]))
        .contact_options(ContactOptions { bounce_speed: 1e-3, ..ContactOptions::default() })
        .build()?;
    let mut state = system.state_at_rest(vec![0.0, height, 0.0]);
    let mut xpbd = Xpbd::new(&system, sweeps(1, 1))?;
    let (mut peaks, mut times, mut peak, mut way) = (Vec::new(), Vec::new(), 0.0_f64, 0.0);
    let mut before = (height, 0.0);
    let dt = 1e-5;
    while state.t < expected(case, "total_time")? + 0.05 {
        xpbd.step(&system, &mut state, dt)?;
        let (y, v) = (state.q[1], state.v[1]);
        if before.1 <= 0.0 && v > 0.0 {
            times.push(state.t);
            peak = 0.0;
        }
        if before.1 > 0.0 && v <= 0.0 {
            peaks.push(peak);
        }
        peak = peak.max(y);
        way += (y - before.0).abs();
        before = (y, v);
    }
    let compare = |found: &[f64], name: &str| -> Result<f64, CaseError> {
        let wanted = case.numbers(&format!("expected/{name}"))?;
        if found.len() < wanted.len() {
            return Err(format!("{} bounces", found.len()).into());
        }
        Ok(worst(found.iter().zip(wanted).map(|(&a, b)| relative(a, b))))
    };
    let last = times.last().copied().unwrap_or(f64::NAN);
    Ok(vec![
        at_most(case, "heights", "five heights with dt = 1e-5 s, relative distance", 2e-3, {
            compare(&peaks, "heights")?
        }),
        at_most(case, "impacts", "five impact times, relative distance", 1e-4, {
            compare(&times, "impact_times")?
        }),
        at_most(case, "total", "whole way and time of the last bounce, relative distance", 2e-3, {
            worst([
                relative(way, expected(case, "total_path")?),
                relative(last, expected(case, "total_time")?),
            ])
        }),
    ])
}

pub(super) fn capsule(case: &Case) -> Verdict {
    let (a, b) = (case.vector("inputs/a")?, case.vector("inputs/b")?);
    let (radius, offset) = (input(case, "r")?, input(case, "c")?);
    let plane = Plane { normal: case.vector("inputs/n")?, offset };
    let above = |p: [f64; 3]| plane.surface(p.into()).distance - radius;
    let options = ContactOptions { depenetration_speed: None, ..ContactOptions::default() };
    let system = PbdSystem::builder(particles(&[1.0; 2], &[], [0.0; 3])?)
        .collider(Collider::fixed(plane, [0.0; 3]))
        .skin(Skin::rope(radius, &[0, 1]))
        .contact_options(options)
        .build()?;
    let mut state = system.state_at_rest([a, b].concat());
    advance(&system, &mut state, sweeps(1, 1), 0.01, 1)?;
    let wanted = [case.numbers("expected/a_corrected")?, b.to_vec()].concat();
    Ok(vec![
        at_most(
            case,
            "distances",
            "signed distances and depth, distance in m",
            1e-14,
            worst([
                (above(a) - expected(case, "d_a")?).abs(),
                (above(b) - expected(case, "d_b")?).abs(),
                (-above(a) - expected(case, "depth")?).abs(),
            ]),
        ),
        at_most(case, "correction", "both ends after one projection, distance in m", 1e-14, {
            apart(&state.q, &wanted)
        }),
    ])
}

pub(super) fn triangle(case: &Case) -> Verdict {
    let [a, b, c]: [[f64; 3]; 3] = super::corners(case, "inputs/triangle")?;
    let [a, b, c] = [a, b, c].map(Vector3::from);
    let (mut places, mut distances, mut weights) = (0.0, 0.0, 0.0);
    for region in ["face", "edge", "vertex"] {
        let p = Vector3::from(case.vector(&format!("inputs/{region}"))?);
        let found = on_triangle(p, a, b, c);
        let place = a * found[0] + b * found[1] + c * found[2];
        places =
            worst([places, apart(place.as_slice(), &case.numbers(&format!("expected/closest_{region}"))?)]);
        let distance = (p - place).norm() - expected(case, &format!("distance_{region}"))?;
        distances = worst([distances, distance.abs()]);
        let wanted = case.numbers(&format!("expected/barycentric_{region}"))?;
        // The first printed weight of the face, 0.3954795355361026, leaves 2e-10: the three do not sum to 1, and do not give the
        // printed closest point. The other two and the sum decide.
        weights = worst([
            weights,
            apart(&found[1..], &wanted[1..]),
            (found.iter().sum::<f64>() - 1.0).abs(),
            if region == "face" { 0.0 } else { (found[0] - wanted[0]).abs() },
        ]);
    }
    Ok(vec![
        at_most(case, "place", "closest point of a face, an edge and a corner, distance in m", 1e-13, places),
        at_most(case, "distance", "distances to them, distance in m", 1e-13, distances),
        at_most(
            case,
            "weights",
            "barycentric weights (the printed first one of the face is wrong in its tenth digit), distance",
            1e-13,
            weights,
        ),
    ])
}

pub(super) fn impact(case: &Case) -> Verdict {
    let mass = [input(case, "m1")?, input(case, "m2")?];
    let between = SkinContact { friction: Friction::NONE, restitution: input(case, "e")? };
    let system = PbdSystem::builder(particles(&mass, &[], [0.0; 3])?)
        .skin(Skin::balls(0.1, [0, 1]))
        .contact_options(ContactOptions { between_skins: Some(between), ..ContactOptions::default() })
        .build()?;
    let mut state = system.state_at_rest(vec![0.0, 0.0, 0.0, 0.5, 0.0, 0.0]);
    (state.v[0], state.v[3]) = (input(case, "v1")?, input(case, "v2")?);
    let energy = |state: &State| system.state_energy(state).kinetic;
    let before = (state.v[0], energy(&state));
    advance(&system, &mut state, sweeps(1, 1), 0.003, 40)?;
    Ok(vec![
        at_most(
            case,
            "speeds",
            "speeds after the impact, distance in m/s",
            1e-13,
            worst([(state.v[0] - expected(case, "u1")?).abs(), (state.v[3] - expected(case, "u2")?).abs()]),
        ),
        at_most(
            case,
            "impulse",
            "impulse and loss of energy, relative distance",
            1e-13,
            worst([
                relative(mass[0] * (before.0 - state.v[0]), expected(case, "impulse")?),
                relative(before.1 - energy(&state), expected(case, "energy_loss")?),
            ]),
        ),
    ])
}
