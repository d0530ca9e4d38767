//! A belt drive with two equal pulleys under three loads: tensions, slip arc and speed by creep theory.

use super::drives::{pulley, run, speed};
use crate::verify::cases::{CaseError, relative, worst};
use crate::verify::catalogue::{Job, Outcome, Scope};
use sim_pbd::{BeltDrive, BeltReport, PulleyDrive};
use sim_verify::Claim;
use std::f64::consts::PI;

const RADIUS: f64 = 0.09995;
const DISTANCE: f64 = 0.1 * PI;
const STIFFNESS: f64 = 8000.0;
const MASS_PER_LENGTH: f64 = 0.8288;
const SPEED: f64 = 12.0;
/// The belt is made shorter than its path by this factor.
const STRETCH: f64 = 1.05;
/// Particles of the belt, and of a coarser one.
const PARTICLES: [usize; 2] = [64, 192];

/// Coefficient of friction, torque in N·m on the driven pulley, and the tensions in N, slip arc in degrees and speed in rad/s stated for it.
const LOADS: [(&str, f64, f64, [f64; 4]); 3] = [
    ("light", 0.5, 15.0, [476.226, 326.151, 43.5, 11.7875]),
    ("heavy", 0.5, 40.0, [615.390, 215.190, 120.8, 11.4426]),
    ("slippery", 0.2, 15.0, [476.998, 326.923, 108.5, 11.7876]),
];

/// What theory says.
#[derive(Clone, Copy)]
struct Creep {
    tight: f64,
    slack: f64,
    /// Slip arc in degrees.
    arc: f64,
    /// Speed of the driven pulley in rad/s.
    driven: f64,
}

/// Creep theory for a belt whose unstretched length is given: it sticks to each pulley at the tension it arrives with and then slips with
/// `dT/ds = μ T/R`; the torque is (T1 - T2) R; the unstretched belt that passes a point is the same everywhere.
fn theory(friction: f64, torque: f64) -> Creep {
    let difference = torque / RADIUS;
    let rest = |tension: f64| 1.0 / (1.0 + tension / STIFFNESS);
    let length = |slack: f64| {
        let tight = slack + difference;
        let slip = (tight / slack).ln() / friction;
        let parts = 1000;
        let slipping: f64 = (0..parts)
            .map(|i| rest(slack * (tight / slack).powf((f64::from(i) + 0.5) / f64::from(parts))))
            .sum::<f64>()
            * RADIUS
            * slip
            / f64::from(parts);
        (DISTANCE + RADIUS * (PI - slip)) * (rest(tight) + rest(slack)) + 2.0 * slipping
    };
    let wanted = path() / STRETCH;
    let (mut low, mut high) = (1.0, 2.0 * STIFFNESS);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        // More tension, less unstretched belt on the path.
        if length(middle) > wanted { low = middle } else { high = middle }
    }
    let (slack, tight) = (low, low + difference);
    Creep {
        tight,
        slack,
        arc: ((tight / slack).ln() / friction).to_degrees(),
        driven: SPEED * (1.0 + slack / STIFFNESS) / (1.0 + tight / STIFFNESS),
    }
}

fn path() -> f64 {
    2.0 * DISTANCE + 2.0 * PI * RADIUS
}

fn drive(friction: f64, torque: f64, particles: usize, turns: (f64, f64)) -> Result<BeltReport, CaseError> {
    let load = PulleyDrive::Torque { torque: -torque, inertia: 1e-3, drag: 0.0 };
    let drive = BeltDrive {
        pulleys: vec![pulley(0.0, RADIUS, friction, speed(SPEED)), pulley(DISTANCE, RADIUS, friction, load)],
        axial_stiffness: STIFFNESS,
        mass_per_length: MASS_PER_LENGTH,
        rest_length: path() / STRETCH,
        particles,
        initial_speed: SPEED * RADIUS,
    };
    let (model, mut state) = drive.build()?;
    Ok(run(&model, &mut state, turns)?.0)
}

/// Relative distance of the tensions and of the speed loss, and distance of the arc in degrees.
fn distances(report: &BeltReport, creep: Creep) -> [f64; 3] {
    let tensions =
        worst([relative(report.tight_tension(), creep.tight), relative(report.slack_tension(), creep.slack)]);
    let loss = relative(SPEED - report.pulleys[1].angular_velocity, SPEED - creep.driven);
    [tensions, (report.pulleys[1].slip_arc.to_degrees() - creep.arc).abs(), loss]
}

/// Largest torque in N·m that the drive carries: the whole of the wrap slips.
fn largest_torque(friction: f64) -> f64 {
    let (mut low, mut high) = (0.0, 2.0 * STIFFNESS * RADIUS);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if theory(friction, middle).arc < 180.0 { low = middle } else { high = middle }
    }
    low
}

const SOURCE: &str = "creep theory of the elastic belt (e.g. Johnson, Contact Mechanics, 1985, section 8.2)";

fn claim(part: &str, what: &str, limit: f64, measured: f64) -> Claim {
    Claim::at_most(format!("belt_drive/{part}"), what, limit, measured, SOURCE)
}

/// One job for each load, and one for the torque at which the belt slips as a whole.
pub(super) fn jobs() -> Vec<Job> {
    let mut jobs: Vec<Job> = (LOADS.into_iter())
        .map(|(name, friction, torque, published)| {
            Job::new(format!("belt_drive/{name}"), move |_| under_load(name, (friction, torque), published))
        })
        .collect();
    jobs.push(Job::new("belt_drive/gross_slip", gross_slip));
    jobs
}

fn under_load(name: &str, (friction, torque): (f64, f64), published: [f64; 4]) -> Outcome {
    let c = theory(friction, torque);
    let apart = worst([
        relative(c.tight, published[0]),
        relative(c.slack, published[1]),
        relative(c.driven, published[3]),
        0.1 * relative(c.arc, published[2]),
    ]);
    let [coarse, fine] = PARTICLES.map(|particles| {
        drive(friction, torque, particles, (1.0, 0.5)).map_or([f64::NAN; 3], |report| distances(&report, c))
    });
    let closer = worst((0..3).map(|k| fine[k] / coarse[k]));
    vec![
        claim(
            &format!("{name}/theory"),
            "theory here from the values stated for this drive, relative distance",
            5e-4,
            apart,
        ),
        claim(&format!("{name}/tensions"), "tight and slack tension, relative distance", 0.01, fine[0]),
        claim(&format!("{name}/arc"), "slip arc on the driven pulley, distance in degrees", 4.0, fine[1]),
        claim(&format!("{name}/loss"), "loss of speed, relative distance", 0.04, fine[2]),
        claim(
            &format!("{name}/refined"),
            "each of these distances over that with a third of the particles",
            0.7,
            closer,
        ),
    ]
    .into()
}

/// The torque above which the belt slips as a whole, within two per cent.
fn gross_slip(scope: Scope) -> Outcome {
    let mut complaints = Vec::new();
    for &friction in if scope.quick { &[0.5][..] } else { &[0.2, 0.5] } {
        let largest = largest_torque(friction);
        for (factor, slips) in [(0.98, false), (1.02, true)] {
            // A pulley that is not carried is stopped by its load within a turn; one that is loses what creep theory says.
            let creep = SPEED - theory(friction, 0.98 * largest).driven;
            match drive(friction, factor * largest, PARTICLES[1], (1.0, 0.25)) {
                Ok(report) => {
                    let loss = SPEED - report.pulleys[1].angular_velocity;
                    if (loss > 3.0 * creep) != slips {
                        complaints.push(format!(
                            "μ = {friction}: {factor} of {largest:.3} N·m loses {loss:.3} rad/s"
                        ));
                    }
                }
                Err(error) => complaints.push(format!("μ = {friction}: {error}")),
            }
        }
    }
    let what = "carries 0.98 of the largest torque of theory, and is stopped by 1.02 of it, with μ = 0.5 and in the full run with 0.2";
    vec![Claim::no_complaint("belt_drive/gross_slip", what, complaints, SOURCE)].into()
}
