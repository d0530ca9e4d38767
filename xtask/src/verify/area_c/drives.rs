//! Running belts: tensions, slip, creep, frequencies.

use crate::verify::cases::{CaseError, Verdict, at_least, at_most, expected, input, relative, sweeps, worst};
use sim_core::{State, Stepper};
use sim_pbd::{BeltDrive, BeltModel, BeltReport, Friction, Pulley, PulleyDrive, Xpbd, XpbdOptions};
use sim_verify::reference::{Case, case};
use std::sync::LazyLock;

/// Builds the drive with its belt under `tension` at the start: the belt is a polygon, whose length decides.
fn taut(mut drive: BeltDrive, tension: f64) -> Result<(BeltModel, State), CaseError> {
    let n = drive.particles;
    drive.rest_length = 1.0;
    let (_, laid) = drive.clone().build()?;
    let length: f64 = (0..n)
        .map(|i| {
            let next = (i + 1) % n;
            (0..3).map(|k| (laid.q[3 * next + k] - laid.q[3 * i + k]).powi(2)).sum::<f64>().sqrt()
        })
        .sum();
    drive.rest_length = length / (1.0 + tension / drive.axial_stiffness);
    Ok(drive.build()?)
}

/// Runs for `settle` and then averages for as long as `average`, in turns of the belt.
///
/// In a step a wave passes 1.25 segments: a dozen relaxed sweeps then find the tension to a thousandth.
/// Returns the report and the mean size of the force in N on every pulley.
pub(super) fn run(
    model: &BeltModel,
    state: &mut State,
    (settle, average): (f64, f64),
) -> Result<(BeltReport, Vec<f64>), CaseError> {
    let drive = model.drive();
    let segment = drive.rest_length / drive.particles as f64;
    let dt = 1.25 * segment / (drive.axial_stiffness / drive.mass_per_length).sqrt();
    let turn = (drive.rest_length / (drive.initial_speed * dt)).ceil();
    let mut xpbd = Xpbd::new(model.system(), XpbdOptions { over_relaxation: 1.2, ..sweeps(1, 12) })?;
    let mut report = BeltReport::default();
    let mut loads = vec![0.0; drive.pulleys.len()];
    let (settle, average) = ((settle * turn) as u32, (average * turn) as u32);
    for step in 0..settle + average {
        xpbd.step(model.system(), state, dt)?;
        if step >= settle {
            report.sample(model, &xpbd, state);
            for (mean, (force, _)) in loads.iter_mut().zip(&xpbd.contact_report().on_colliders) {
                *mean += force[0].hypot(force[1]) / f64::from(average);
            }
        }
    }
    Ok((report, loads))
}

pub(super) fn pulley(x: f64, radius: f64, friction: f64, drive: PulleyDrive) -> Pulley {
    Pulley { center: [x, 0.0], radius, drive, friction: Friction::coulomb(friction) }
}

pub(super) const fn speed(angular_velocity: f64) -> PulleyDrive {
    PulleyDrive::Speed { angular_velocity }
}

pub(super) fn centrifugal(case: &Case) -> Verdict {
    let (m, v, friction) = (input(case, "m")?, input(case, "v")?, input(case, "mu")?);
    let (wrap, tight) = (input(case, "theta")?, input(case, "T1")?);
    // The driven pulley has the wrap of the case, and slips as a whole: it is turned a tenth slower than the belt runs.
    let (radius, distance, stiffness) = (0.1, 0.5, 4e4);
    let driver = radius + distance * (0.5 * (std::f64::consts::PI - wrap)).sin();
    let drive = BeltDrive {
        pulleys: vec![
            pulley(0.0, driver, 2.0, speed(v / driver)),
            pulley(distance, radius, friction, speed(0.9 * v / radius)),
        ],
        axial_stiffness: stiffness,
        // The case means the mass of a stretched metre.
        mass_per_length: m * (1.0 + tight / stiffness),
        rest_length: 1.0,
        particles: 120,
        initial_speed: v,
    };
    let (model, mut state) = taut(drive, 0.5 * (tight + expected(case, "T2")?))?;
    let (report, _) = run(&model, &mut state, (2.0, 1.0))?;
    // m v² of the two sides of the driven pulley, and the ratio of what is left of their tensions.
    let lost = [0, 1].map(|i| {
        let span = &report.spans[i];
        model.drive().mass_per_length / (1.0 + span.tension / stiffness) * span.speed * span.speed
    });
    let ratio = (report.spans[1].tension - lost[1]) / (report.spans[0].tension - lost[0]);
    // What follows for the tight tension of the case.
    let slack = lost[1] + (tight - lost[1]) / ratio;
    Ok(vec![
        at_least(case, "slips", "the driven pulley slips as a whole", 1.0, {
            f64::from(u8::from(report.pulleys[1].slips))
        }),
        at_most(case, "lost", "m v² of the tight side, relative distance", 0.01, {
            relative(lost[1], expected(case, "T_c")?)
        }),
        at_most(
            case,
            "slack",
            "slack tension that follows for the given tight one, relative distance",
            0.01,
            relative(slack, expected(case, "T2")?),
        ),
        at_most(case, "power", "power that follows for it, relative distance", 0.01, {
            relative(v * (tight - slack), expected(case, "power")?)
        }),
    ])
}

/// The drive of the cases on slip arcs and creep under `torque`: averages and creep.
fn power_drive(torque: f64, (settle, average): (f64, f64)) -> Result<(BeltReport, f64), CaseError> {
    let (lengths, tensions, creep) = (
        case("C-belt-length-two-pulley")?,
        case("C-belt-tensions-and-slip-arc")?,
        case("C-belt-elastic-creep")?,
    );
    let (big, small) = (input(lengths, "R")?, input(lengths, "r")?);
    let (v, friction) = (input(creep, "v_driver_surface")?, input(tensions, "mu")?);
    let particles = 96;
    let load = PulleyDrive::Torque { torque: -torque, inertia: 1e-3, drag: 0.0 };
    let drive = BeltDrive {
        pulleys: vec![
            pulley(0.0, big, friction, speed(v / big)),
            pulley(input(lengths, "C")?, small, friction, load),
        ],
        axial_stiffness: input(creep, "EA")?,
        // So light that m v² is below a hundredth of the slack tension.
        mass_per_length: 0.015,
        rest_length: 1.0,
        particles,
        initial_speed: v,
    };
    let (model, mut state) = taut(drive, input(tensions, "T0")?)?;
    let (report, _) = run(&model, &mut state, (settle, average))?;
    let creep = 1.0 - report.pulleys[1].angular_velocity * small / v;
    Ok((report, creep))
}

/// Sum of the tensions of an open belt under torque whose unstretched length is that of the belt taut at T0 without torque.
///
/// On the driver the belt sticks at the tight tension and then gives way to the slack one as `exp(-μ s/R)`, on the driven pulley the
/// other way round; the mean tension over the whole path stays T0. The `T1 + T2 = 2 T0` of the case is the same for a belt that is all
/// spans; here it is 1.1 % more.
fn kept_length(case: &Case) -> Result<f64, CaseError> {
    let lengths = sim_verify::reference::case("C-belt-length-two-pulley")?;
    let (big, small, span) = (input(lengths, "R")?, input(lengths, "r")?, expected(lengths, "free_span")?);
    let (big_wrap, small_wrap) = (expected(lengths, "wrap_large")?, expected(lengths, "wrap_small")?);
    let (pretension, friction) = (input(case, "T0")?, input(case, "mu")?);
    let difference = input(case, "M")? / input(case, "r")?;
    let path = 2.0 * span + big * big_wrap + small * small_wrap;
    let surplus = |slack: f64| {
        let tight = slack + difference;
        let slip = (tight / slack).ln() / friction;
        let driver = big * ((big_wrap - slip) * tight + difference / friction);
        let driven = small * ((small_wrap - slip) * slack + difference / friction);
        span * (tight + slack) + driver + driven - pretension * path
    };
    let (mut low, mut high) = (1e-3 * pretension, pretension);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if surplus(middle) > 0.0 { high = middle } else { low = middle }
    }
    Ok(low + high + difference)
}

/// Both cases are about the same belt: it runs once.
static UNDER_LOAD: LazyLock<Result<(BeltReport, f64), String>> = LazyLock::new(|| {
    let torque =
        case("C-belt-tensions-and-slip-arc").map_err(CaseError::from).and_then(|case| input(case, "M"));
    torque.and_then(|torque| power_drive(torque, (0.6, 0.25))).map_err(|error| error.to_string())
});

pub(super) fn slip_arc(case: &Case) -> Verdict {
    let (report, _) = UNDER_LOAD.as_ref().map_err(String::clone)?;
    let (slipping, _) = power_drive(1.04 * expected(case, "M_max")?, (0.6, 0.1))?;
    let driven = &report.pulleys[1];
    let (tight, slack) = (expected(case, "T_tight")?, expected(case, "T_slack")?);
    let (found_tight, found_slack) = (report.tight_tension(), report.slack_tension());
    let arc = |found: f64, name: &str| Ok::<_, CaseError>((found - expected(case, name)?).abs());
    Ok(vec![
        at_most(case, "difference", "difference of the tensions, relative distance", 0.01, {
            relative(found_tight - found_slack, tight - slack)
        }),
        at_most(
            case,
            "sum",
            "sum of the tensions, relative distance from that of a belt whose length is kept, arcs included",
            0.005,
            relative(found_tight + found_slack, kept_length(case)?),
        ),
        at_most(case, "arcs", "slip and adhesion arc on the driven pulley, distance in rad", 0.1, {
            worst([arc(driven.slip_arc, "slip_arc")?, arc(driven.wrap - driven.slip_arc, "adhesion_arc")?])
        }),
        at_most(case, "carried", "the torque of the case, 0.956 of the largest, slips as a whole", 0.0, {
            f64::from(u8::from(driven.slips))
        }),
        at_least(case, "slips", "1.04 times the largest slips as a whole", 1.0, {
            f64::from(u8::from(slipping.pulleys[1].slips))
        }),
    ])
}

pub(super) fn creep(case: &Case) -> Verdict {
    let (report, creep) = UNDER_LOAD.as_ref().map_err(String::clone)?;
    let power = |i: usize| report.pulleys[i].belt_torque * report.pulleys[i].angular_velocity;
    Ok(vec![
        at_most(case, "creep", "creep, relative distance", 0.05, relative(*creep, expected(case, "creep")?)),
        at_most(case, "power", "power given off by the driven pulley, relative distance", 0.01, {
            relative(power(1), expected(case, "power_out")?)
        }),
        at_most(case, "efficiency", "loss from the speeds of the pulleys, distance over the power", 5e-4, {
            let (given, taken) = (expected(case, "power_out")?, expected(case, "power_in")?);
            (1.0 - creep - given / taken).abs()
        }),
    ])
}

pub(super) fn moving_string(case: &Case) -> Verdict {
    let (tension, m, span) = (input(case, "T")?, input(case, "m")?, input(case, "L")?);
    let (radius, stiffness) = (0.1, 4e3);
    let speeds = case.numbers("inputs/v")?;
    let wanted = case.numbers("expected/f_1")?;
    let mut distance = 0.0;
    for (v, wanted) in speeds.into_iter().zip(&wanted) {
        let drive = BeltDrive {
            pulleys: [0.0, span].map(|x| pulley(x, radius, 0.3, speed(v / radius))).to_vec(),
            axial_stiffness: stiffness,
            // The case means the mass of a stretched metre.
            mass_per_length: m * (1.0 + tension / stiffness),
            rest_length: 1.0,
            particles: 240,
            initial_speed: v,
        };
        let (model, mut state) = taut(drive, tension)?;
        let mut xpbd = Xpbd::new(model.system(), sweeps(1, 10))?;
        let mut report = BeltReport::default();
        for _ in 0..5 {
            xpbd.step(model.system(), &mut state, 1e-5)?;
            report.sample(&model, &xpbd, &state);
        }
        distance = worst([distance, worst(report.spans.iter().map(|s| (s.frequency - wanted).abs()))]);
    }
    Ok(vec![at_most(
        case,
        "frequency",
        "first frequency of the report at four speeds, distance over that at rest",
        0.01,
        distance / wanted[0],
    )])
}

pub(super) fn torsional_mode(case: &Case) -> Verdict {
    let (j1, j2) = (input(case, "J1")?, input(case, "J2")?);
    let (r1, r2) = (input(case, "R1")?, input(case, "R2")?);
    let span = input(case, "L_span")?;
    let mode = expected(case, "mode_theta2_over_theta1")?;
    let free = |inertia| PulleyDrive::Torque { torque: 0.0, inertia, drag: 0.0 };
    let drive = BeltDrive {
        pulleys: vec![
            pulley(0.0, r1, 5.0, free(j1)),
            pulley((span * span + (r2 - r1) * (r2 - r1)).sqrt(), r2, 5.0, free(j2)),
        ],
        axial_stiffness: input(case, "EA")?,
        mass_per_length: 0.005,
        rest_length: 1.0,
        // With this number particles lie where the belt leaves the pulleys, up to a 20th of a segment: 12 and 38 segments on the
        // pulleys, 34 on each span.
        particles: 118,
        initial_speed: 0.0,
    };
    let (model, mut state) = taut(drive, 400.0)?;
    let places = [0, 1].map(|i| model.system().collider_internal(i) + 1);
    // Slow enough for tensions to stay positive, started in its mode.
    let spin = 2.0;
    (state.internal[places[0]], state.internal[places[1]]) = (spin, mode * spin);
    let mut xpbd = Xpbd::new(model.system(), sweeps(1, 20))?;
    let (mut crossings, mut least, mut before) = (Vec::new(), [0.0_f64; 2], spin);
    let dt = 7e-6;
    while crossings.len() < 2 && state.t < 0.1 {
        xpbd.step(model.system(), &mut state, dt)?;
        let now = state.internal[places[0]];
        if before * now < 0.0 {
            crossings.push(state.t - dt * now / (now - before));
        }
        if now < least[0] {
            least = places.map(|i| state.internal[i]);
        }
        before = now;
    }
    let &[first, second] = crossings.as_slice() else { return Err("no vibration".into()) };
    let omega = std::f64::consts::PI / (second - first);
    Ok(vec![
        at_most(case, "omega", "angular frequency, relative distance", 0.01, {
            relative(omega, expected(case, "omega")?)
        }),
        at_most(
            case,
            "mode",
            "speeds of the pulleys half a period later, relative distance of their ratio",
            0.01,
            relative(least[1] / least[0], mode),
        ),
    ])
}

pub(super) fn running_belt(case: &Case) -> Verdict {
    let (stiffness, length) = (input(case, "EA")?, input(case, "L")?);
    let tension = expected(case, "T")?;
    let radius = 0.15;
    let distance = 0.5 * length - std::f64::consts::PI * radius;
    let lift = expected(case, "v_liftoff")?;
    let (mut tensions, mut masses, mut forces) = (0.0, 0.0, Vec::new());
    for part in [0.3, 0.6, 0.9] {
        let v = part * lift;
        let drive = BeltDrive {
            pulleys: [0.0, distance].map(|x| pulley(x, radius, 0.3, speed(v / radius))).to_vec(),
            axial_stiffness: stiffness,
            mass_per_length: input(case, "m_reference")?,
            rest_length: 1.0,
            particles: 100,
            initial_speed: v,
        };
        let (model, mut state) = taut(drive, tension)?;
        let (report, loads) = run(&model, &mut state, (1.0, 0.5))?;
        for (span, load) in report.spans.iter().zip(&loads) {
            tensions = worst([tensions, relative(span.tension, tension)]);
            forces.push((span.speed * span.speed, *load));
        }
        let current = model.drive().mass_per_length * model.drive().rest_length / length;
        masses = worst([masses, relative(current, expected(case, "m_current")?)]);
    }
    // Both sides pull with T - m v²: the force on a pulley falls in a straight line with v² and ends at lift-off.
    let (first, last) = (forces[0], forces[forces.len() - 1]);
    let vanishes = (first.0 + first.1 * (last.0 - first.0) / (first.1 - last.1)).sqrt();
    let between = worst(forces.iter().map(|&(square, load)| {
        (load - 2.0 * tension * (1.0 - square / (lift * lift))).abs() / (2.0 * tension)
    }));
    Ok(vec![
        at_most(
            case,
            "tension",
            "tension at 0.3 to 0.9 of the speed of lift-off, relative distance",
            0.01,
            tensions,
        ),
        at_most(case, "mass", "mass of a metre on the pulleys, relative distance", 0.01, masses),
        at_most(case, "force", "force on a pulley, distance over that at rest", 0.01, between),
        at_most(case, "lift", "speed at which that force vanishes, relative distance", 0.01, {
            relative(vanishes, lift)
        }),
    ])
}
