//! Motion that is too fast to be seen as motion.

use super::Check;
use crate::diagnose::finding::{Finding, short};
use crate::diagnose::patient::Patient;
use crate::edit::Change;
use sim_integrate::Modes;
use sim_io::run::result::Frame;
use sim_io::scene::part::Part;
use std::f64::consts::{PI, TAU};

pub(super) const CHECK: Check = Check {
    causes: &[CAUSE],
    summary: "fast swings without damping go on and on: the picture jitters",
    look,
};

const CAUSE: &str = "undamped_jitter";
/// Share of the kinetic energy in swings faster than frames can show.
const SHARE: f64 = 0.5;
/// Damping below which such a swing lasts: a tenth is left after 37 swings.
const LASTING: f64 = 0.01;
/// Share of the true speed that frames show, squared: a particle that swings to and fro between two frames hardly gets anywhere.
const SHOWN: f64 = 0.5;
/// Frames that are looked at.
const LAST: usize = 6;
/// Amplitude over the size of the scene that is seen.
const SEEN: f64 = 1e-4;

fn look(patient: &Patient) -> Vec<Finding> {
    let state = patient.last_state();
    if patient.failure.is_some() || patient.stepper().is_none() || !patient.complete {
        return Vec::new();
    }
    if shown(patient).is_none_or(|shown| shown > SHOWN) {
        return Vec::new();
    }
    let Ok(modes) = Modes::new(&patient.model.system, state) else { return Vec::new() };
    let energies = modes.kinetic(&state.v);
    let total: f64 = patient.last_kinetic();
    let nyquist = PI / patient.scene.time.frame;
    let fast = || modes.list().iter().zip(&energies).filter(|(mode, _)| mode.angular_frequency > nyquist);
    let share = fast().map(|(_, energy)| energy).sum::<f64>() / total;
    let Some((loudest, energy)) = fast().max_by(|a, b| a.1.total_cmp(b.1)) else { return Vec::new() };
    let mass = sim_core::ExplicitSystem::mass(&patient.model.system)[loudest.particle];
    let amplitude = (2.0 * energy / mass).sqrt() / loudest.angular_frequency;
    if share.is_nan()
        || share <= SHARE
        || loudest.damping_ratio > LASTING
        || amplitude < SEEN * patient.size()
    {
        return Vec::new();
    }
    let place =
        patient.model.layout.particle_owner(loudest.particle).map_or_else(String::new, |(part, local)| {
            format!(", largest at particle {local} of part {}", part.id)
        });
    let list = modes.list();
    let (slowest, fastest) = (list[0], list[list.len() - 1]);
    let finding = Finding::fault(
        CAUSE,
        format!(
            "{} % of the motion is faster than frames can show, and nothing damps it",
            short(100.0 * share)
        ),
    )
    .seen(format!(
        "the largest of these swings: {} Hz{place}, with {} of critical damping; frames show up to {} Hz",
        short(loudest.angular_frequency / TAU),
        short(loudest.damping_ratio),
        short(nyquist / TAU)
    ))
    .seen(format!(
        "damping ratios run from {} at {} Hz to {} at {} Hz",
        short(slowest.damping_ratio),
        short(slowest.angular_frequency / TAU),
        short(fastest.damping_ratio),
        short(fastest.angular_frequency / TAU)
    ));
    // A fifth of critical damping of the loudest swing by dashpots in proportion to stiffness.
    let time = 2.0 * 0.2 / loudest.angular_frequency;
    let finding = patient.scene.parts.iter().enumerate().fold(finding, |finding, (index, part)| {
        let path = |field: &str| format!("part.{index}.{field}");
        match part {
            Part::Rope(rope) => match rope.axial_stiffness {
                Some(stiffness) => {
                    finding.change(Change::set(path("axial_damping"), short(time * stiffness)))
                }
                None => finding,
            },
            Part::Cloth(_) | Part::Mesh(_) => finding.change(Change::set(path("damping_time"), short(time))),
            Part::Particles(particles) => {
                particles.springs.iter().enumerate().fold(finding, |finding, (k, spring)| {
                    match spring.stiffness {
                        Some(stiffness) => finding.change(Change::set(
                            path(&format!("springs.{k}.damping")),
                            short(time * stiffness),
                        )),
                        None => finding,
                    }
                })
            }
            Part::Belt(_) | Part::Coil(_) => finding,
        }
    });
    vec![finding.remedy(format!(
        "give springs dashpots of c/k = {} s: a fifth of critical damping for this swing, next to none for slow ones",
        short(time)
    ))]
}

/// Mean square of the speed from frame to frame over that of the true speed, in the last frames.
fn shown(patient: &Patient) -> Option<f64> {
    let frames = &patient.result.as_ref()?.frames;
    let last = &frames[frames.len().checked_sub(LAST)?..];
    let (mut seen, mut there) = (0.0, 0.0);
    for pair in last.windows(2) {
        let dt = pair[1].t - pair[0].t;
        // Frames that were left out would hide slower motion too.
        if dt > 1.5 * patient.scene.time.frame {
            return None;
        }
        for (before, after) in pair[0].positions.iter().zip(&pair[1].positions) {
            seen += (0..3).map(|c| (f64::from(after[c] - before[c]) / dt).powi(2)).sum::<f64>();
        }
        let square = |frame: &Frame| frame.speeds.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>();
        there += 0.5 * (square(&pair[0]) + square(&pair[1]));
    }
    (there > 0.0).then(|| seen / there)
}
