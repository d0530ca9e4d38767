//! Strings, heavy springs, slinkies, bungee cords and falling chains: continua as chains of particles, in motion.

use super::{equilibrium, frequencies, line, spring};
use crate::verify::cases::{CaseError, Verdict, at_most, expected, input, job, relative, worst};
use crate::verify::catalogue::{Job, Scope};
use crate::verify::steppers::make;
use sim_core::force::gravity::Gravity;
use sim_core::force::point_load::{PointLoad, PointLoads};
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ModelSystem, ParticleSystemBuilder, State, TimeCurve};
use sim_verify::reference::Case;
use sim_verify::studies::run;

type Model = Box<dyn ModelSystem>;

pub(in crate::verify) fn jobs(_: Scope) -> Vec<Job> {
    vec![
        job("B-plucked-string", plucked),
        job("B-helical-spring", helical),
        job("B-massive-spring-with-load", heavy_spring),
        job("B-slinky-drop", slinky),
        job("B-bungee-massless", bungee),
        job("B-folded-falling-chain", folded_chain),
    ]
}

fn go(system: &Model, method: &str, state: &State, t: f64, steps: u64) -> Result<State, CaseError> {
    Ok(run(&**system, &mut *make(method), state, t, steps)?)
}

/// Springs of no length keep the transverse stiffness tension / length at any deflection: the string is linear.
fn plucked(case: &Case) -> Verdict {
    let (tension, mu, length, height) =
        (input(case, "T")?, input(case, "mu")?, input(case, "L")?, input(case, "height")?);
    let beads = 100;
    let a = length / (beads + 1) as f64;
    let system: Model = Box::new(
        ParticleSystemBuilder::new(vec![mu * a; beads + 2])
            .pin([0, beads + 1])
            .force(Springs::new((0..=beads).map(|i| spring(i, i + 1, 0.0, tension / a, 0.0))))
            .build()?,
    );
    let mut state = line((0..beads + 2).map(|i| a * i as f64), 0);
    for i in 0..beads + 2 {
        let x = a * i as f64;
        state.q[3 * i + 1] = height * (1.0 - (2.0 * x / length - 1.0).abs());
    }
    let mut distance = 0.0;
    // The name of the value holds a slash, which a path cannot.
    let quantity = case.expected.get("y(L/4,t)").ok_or("no y(L/4,t)")?;
    let wanted: Vec<f64> = serde_json::from_value(quantity.value.clone())?;
    for (t, wanted) in case.numbers("inputs/t")?.into_iter().zip(wanted) {
        let steps = ((t - state.t) * 4e5).round() as u64;
        state = go(&system, "leapfrog", &state, t, steps)?;
        // Straight between the beads on both sides of a quarter of the length.
        let place = 0.25 * length / a;
        let (before, part) = (place.floor() as usize, place.fract());
        let y = (1.0 - part) * state.q[3 * before + 1] + part * state.q[3 * before + 4];
        distance = worst([distance, (y - wanted).abs()]);
    }
    Ok(vec![at_most(
        case,
        "shape",
        "deflection of 100 beads at a quarter of the length at four times, distance over the height",
        0.02,
        distance / height,
    )])
}

/// A spring of stiffness `k` and mass `m` in `n` parts, half masses at its ends, `load` on the last.
fn parts(k: f64, m: f64, n: usize, load: f64, pins: &[usize]) -> Result<(Model, State), CaseError> {
    let mut mass = vec![m / n as f64; n + 1];
    (mass[0], mass[n]) = (0.5 * m / n as f64, 0.5 * m / n as f64 + load);
    let k = k * n as f64;
    let system = ParticleSystemBuilder::new(mass)
        .pin(pins.iter().copied())
        .force(Springs::new((0..n).map(|i| spring(i, i + 1, 1.0, k, 0.0))))
        .build()?;
    Ok((Box::new(system), line((0..=n).map(|i| i as f64), 0)))
}

/// Lowest frequencies in rad/s along the spring, extrapolated: with half masses at the ends the error is of second order in the parts.
fn smooth(k: f64, m: f64, load: f64, ends: [bool; 2], count: usize) -> Result<Vec<f64>, CaseError> {
    let lowest = |n: usize| -> Result<Vec<f64>, CaseError> {
        let pins: Vec<usize> = [(ends[0], 0), (ends[1], n)].iter().filter(|x| x.0).map(|x| x.1).collect();
        let (system, state) = parts(k, m, n, load, &pins)?;
        Ok(frequencies(&*system, &state, &[0])[..count].to_vec())
    };
    let [coarse, fine, finest] = [50, 100, 200].map(lowest);
    let (coarse, fine, finest) = (coarse?, fine?, finest?);
    // Orders two and four cancel.
    Ok((0..count).map(|i| (64.0 * finest[i] - 20.0 * fine[i] + coarse[i]) / 45.0).collect())
}

fn helical(case: &Case) -> Verdict {
    let (k, m) = (expected(case, "k")?, expected(case, "m_active")?);
    let turn = std::f64::consts::TAU;
    let fixed = smooth(k, m, 0.0, [true, true], 1)?[0] / turn;
    let free = smooth(k, m, 0.0, [true, false], 1)?[0] / turn;
    // Deflection of the spring in parts under its force, from rest.
    let (n, force) = (50, input(case, "F")?);
    let load = PointLoad { particle: n as u32, force: [force, 0.0, 0.0], curve: TimeCurve::Constant };
    let system = ParticleSystemBuilder::new(vec![m / n as f64; n + 1])
        .pin([0])
        .force(Springs::new((0..n).map(|i| spring(i, i + 1, 1e-3, k * n as f64, 0.0))))
        .force(PointLoads::new([load]))
        .build()?;
    let start = line((0..=n).map(|i| 1e-3 * i as f64), 0);
    let deflection = equilibrium(&system, &start)?.q[3 * n] - start.q[3 * n];
    let surge = expected(case, "surge_fixed_fixed_1")?;
    Ok(vec![
        at_most(case, "surge", "first surge frequencies of a spring in parts, relative distance", 1e-9, {
            worst([
                relative(fixed, surge),
                relative(fixed, expected(case, "surge_closed_form_fixed_fixed")?),
                relative(free, expected(case, "surge_fixed_free_1")?),
            ])
        }),
        at_most(
            case,
            "deflection",
            "deflection of a spring in 50 parts, relative distance",
            1e-10,
            relative(deflection, expected(case, "deflection")?),
        ),
    ])
}

fn heavy_spring(case: &Case) -> Verdict {
    let (k, m, load) = (input(case, "k")?, input(case, "m_s")?, input(case, "M")?);
    let wanted = case.numbers("expected/omega")?;
    let found = smooth(k, m, load, [true, false], wanted.len())?;
    let distance = worst(found.iter().zip(&wanted).map(|(&a, &b)| relative(a, b)));
    // Rayleigh's estimate is the spring in one part of mass m / 3 at its end.
    let (one, state) = parts(k, 0.0_f64.max(2.0 / 3.0 * m), 1, load, &[0])?;
    let estimate = frequencies(&*one, &state, &[0])[0];
    Ok(vec![
        at_most(
            case,
            "modes",
            "three lowest frequencies of a spring in parts, relative distance",
            1e-9,
            distance,
        ),
        at_most(
            case,
            "rayleigh",
            "frequency with a third of its mass at the end, relative distance",
            1e-12,
            relative(estimate, expected(case, "rayleigh")?),
        ),
    ])
}

/// Springs of no length between `n + 1` masses hanging in balance, half masses at the ends; z upward from the bottom.
fn hanging(case: &Case, n: usize) -> Result<(Vec<f64>, Vec<Spring>, State), CaseError> {
    let (mass, k, g) = (input(case, "M")?, input(case, "k")?, input(case, "g")?);
    let mut masses = vec![mass / n as f64; n + 1];
    (masses[0], masses[n]) = (0.5 * mass / n as f64, 0.5 * mass / n as f64);
    let springs: Vec<Spring> = (0..n).map(|i| spring(i, i + 1, 0.0, k * n as f64, 0.0)).collect();
    let system = ParticleSystemBuilder::new(masses.clone())
        .pin([n])
        .force(Springs::new(springs.clone()))
        .force(Gravity::new([0.0, 0.0, -g]))
        .build()?;
    let state = equilibrium(&system, &line((0..=n).map(|i| i as f64 / n as f64), 2))?;
    Ok((masses, springs, state))
}

/// What a dropped slinky with coils that stay together does.
struct Drop {
    /// Time in s at which the collapsed part reaches the bottom.
    collapse: f64,
    /// Time, place of the top and its speed when half of the mass has collapsed.
    half: [f64; 3],
    /// Largest way in m that the bottom made before the front came.
    bottom: f64,
}

/// Collapse of `n` parts from the top: parts that meet go on as one, with the momentum of both.
fn collapse(case: &Case, n: usize) -> Result<Drop, CaseError> {
    let g = input(case, "g")?;
    let (masses, springs, mut state) = hanging(case, n)?;
    let start = state.clone();
    let mut drop = Drop { collapse: f64::NAN, half: [f64::NAN; 3], bottom: 0.0 };
    // The lump is particle `top`; those above have become part of it.
    let (mut top, mut lump) = (n, masses[n]);
    let bottom = start.q[2];
    while top > 0 {
        let mut mass = masses[..=top].to_vec();
        mass[top] = lump;
        let system: Model = Box::new(
            ParticleSystemBuilder::new(mass)
                .force(Springs::new(springs[..top].iter().copied()))
                .force(Gravity::new([0.0, 0.0, -g]))
                .build()?,
        );
        let mut now = State {
            t: state.t,
            q: state.q[..3 * (top + 1)].to_vec(),
            v: state.v[..3 * (top + 1)].to_vec(),
            internal: Vec::new(),
        };
        let gap = |state: &State| state.q[3 * top + 2] - state.q[3 * top - 1];
        let dt = 1e-4;
        let mut stepper = make("leapfrog");
        let mut before = now.clone();
        while gap(&now) > 0.0 {
            before.clone_from(&now);
            stepper.step(&*system, &mut now, dt)?;
            if top > 1 {
                drop.bottom = drop.bottom.max((now.q[2] - bottom).abs());
            }
        }
        // The moment they meet, on a straight way within the step.
        let part = gap(&before) / (gap(&before) - gap(&now));
        let mut met = before;
        stepper.step(&*system, &mut met, part.max(1e-9) * dt)?;
        let joined = lump + masses[top - 1];
        let v = (lump * met.v[3 * top + 2] + masses[top - 1] * met.v[3 * top - 1]) / joined;
        met.v[3 * top - 1] = v;
        (lump, top) = (joined, top - 1);
        state = met;
        if 2 * top == n {
            drop.half = [state.t, state.q[3 * top + 2] - bottom, -v];
        }
    }
    drop.collapse = state.t;
    Ok(drop)
}

fn slinky(case: &Case) -> Verdict {
    let (masses, _, state) = hanging(case, 50)?;
    let above = |i: usize| state.q[3 * i + 2] - state.q[2];
    let total: f64 = masses.iter().sum();
    let center = masses.iter().enumerate().map(|(i, m)| m * above(i)).sum::<f64>() / total;
    let length = expected(case, "hanging_length")?;
    let dropped = collapse(case, 50)?;
    // Without contact: the bottom moves when the signal comes. Half of its first speed marks it.
    let n = 150;
    let (masses, springs, state) = hanging(case, n)?;
    let g = input(case, "g")?;
    let system: Model = Box::new(
        ParticleSystemBuilder::new(masses)
            .force(Springs::new(springs))
            .force(Gravity::new([0.0, 0.0, -g]))
            .build()?,
    );
    let signal = expected(case, "t_elastic_signal")?;
    // The support's force M g, gone, runs down as a wave with the speed of sound and gives the free end 2 M g over its
    // impedance, 2 g sqrt(M/k).
    let mut now = state;
    let mut stepper = make("leapfrog");
    while now.v[2] > -g * signal && now.t < 2.0 * signal {
        stepper.step(&*system, &mut now, 1e-4)?;
    }
    let [time, top, speed] = dropped.half;
    Ok(vec![
        at_most(case, "length", "length when hanging, relative distance", 1e-10, relative(above(50), length)),
        at_most(
            case,
            "center",
            "height of the center of mass, relative distance",
            1e-3,
            relative(center, expected(case, "cm_height")?),
        ),
        at_most(
            case,
            "bottom",
            "way of the bottom before the front reaches it, over the length",
            1e-6,
            dropped.bottom / length,
        ),
        at_most(
            case,
            "collapse",
            "time of the whole collapse, relative distance",
            0.02,
            relative(dropped.collapse, expected(case, "t_collapse")?),
        ),
        at_most(
            case,
            "half",
            "time, place and speed of the top when half has collapsed, relative distance",
            0.02,
            worst([
                relative(time, expected(case, "t_front_at_half")?),
                relative(top, expected(case, "y_top_at_half")?),
                relative(speed, expected(case, "velocity_top_at_half")?),
            ]),
        ),
        at_most(
            case,
            "signal",
            "time of the signal without contact, relative distance",
            0.02,
            relative(now.t, signal),
        ),
    ])
}

fn bungee(case: &Case) -> Verdict {
    let (m, k, rest, g) = (input(case, "m")?, input(case, "k")?, input(case, "l0")?, input(case, "g")?);
    let build = |k: f64| -> Result<Model, CaseError> {
        Ok(Box::new(
            ParticleSystemBuilder::new(vec![1.0, m])
                .pin([0])
                .force(Springs::new([spring(0, 1, rest, k, 0.0)]))
                .force(Gravity::new([0.0, 0.0, -g]))
                .build()?,
        ))
    };
    // A slack cord does nothing, a taut one is a spring: two models, changed where the length is that of the cord.
    let (slack, taut) = (build(0.0)?, build(k)?);
    let start = State::at_rest(vec![0.0; 6]);
    let (t_taut, t_lowest) = (expected(case, "t_taut")?, expected(case, "t_lowest")?);
    let caught = go(&slack, "runge_kutta4", &start, t_taut, 10)?;
    let lowest = go(&taut, "runge_kutta4", &caught, t_lowest, 4000)?;
    let springs = Springs::new([spring(0, 1, rest, k, 0.0)]);
    // The speed is largest where the cord carries the weight.
    let mut fastest = caught.clone();
    let mut stepper = make("runge_kutta4");
    while springs.tension(0, &fastest.q) < m * g {
        stepper.step(&*taut, &mut fastest, 1e-4)?;
    }
    Ok(vec![
        at_most(
            case,
            "caught",
            "length at the time at which the cord becomes taut, relative distance",
            1e-11,
            relative(springs.length(0, &caught.q), rest),
        ),
        at_most(
            case,
            "lowest",
            "place, tension and rest at the lowest point, relative distance",
            1e-10,
            worst([
                relative(-lowest.q[5], expected(case, "x_max")?),
                relative(springs.tension(0, &lowest.q), expected(case, "T_max")?),
                lowest.v[5].abs() / expected(case, "v_max")?,
            ]),
        ),
        at_most(
            case,
            "speed",
            "largest speed, relative distance",
            1e-7,
            relative(-fastest.v[5], expected(case, "v_max")?),
        ),
    ])
}

/// Time in s and speed in m/s of the tip of a folded chain of `n` links (odd: the fold is one link wide) at given depths.
fn fall_of_the_tip(case: &Case, n: usize) -> Result<Vec<[f64; 2]>, CaseError> {
    let (length, mass, g) = (input(case, "L")?, input(case, "M")?, input(case, "g")?);
    let h = length / n as f64;
    let mut masses = vec![mass / n as f64; n + 1];
    (masses[0], masses[n]) = (0.5 * mass / n as f64, 0.5 * mass / n as f64);
    // Stiff links stand for rigid ones: ten times softer ones change the times by less than 1e-3.
    let springs = (0..n).map(|i| spring(i, i + 1, h, 1e6, 0.0));
    let system: Model = Box::new(
        ParticleSystemBuilder::new(masses)
            .pin([0])
            .force(Springs::new(springs))
            .force(Gravity::new([0.0, 0.0, -g]))
            .build()?,
    );
    let q = (0..=n).flat_map(|i| {
        let (side, down) = if 2 * i < n { (0.0, i) } else { (h, n - i) };
        [side, 0.0, -h * down as f64]
    });
    let mut state = State::at_rest(q.collect());
    let mut stepper = make("leapfrog");
    let mut rows = Vec::new();
    for part in case.numbers("inputs/x_over_L")? {
        while -state.q[3 * n + 2] < part * length {
            if state.t > 1.0 {
                return Err("the tip does not fall".into());
            }
            stepper.step(&*system, &mut state, 2e-6)?;
        }
        rows.push([state.t, -state.v[3 * n + 2]]);
    }
    Ok(rows)
}

fn folded_chain(case: &Case) -> Verdict {
    let (times, speeds) = (case.numbers("expected/t_at_x")?, case.numbers("expected/v")?);
    let compare = |rows: &[[f64; 2]], which: usize, wanted: &[f64]| {
        worst(rows.iter().zip(wanted).map(|(row, &wanted)| relative(row[which], wanted)))
    };
    let (coarse, fine) = (fall_of_the_tip(case, 51)?, fall_of_the_tip(case, 101)?);
    Ok(vec![
        at_most(
            case,
            "times",
            "times of four depths, 51 links, relative distance",
            0.02,
            compare(&coarse, 0, &times),
        ),
        at_most(case, "finer", "times and speeds at four depths, 101 links, relative distance", 0.02, {
            worst([compare(&fine, 0, &times), compare(&fine, 1, &speeds)])
        }),
    ])
}
