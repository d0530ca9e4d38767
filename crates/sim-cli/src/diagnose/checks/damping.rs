//! Damping that is given per step, or so large that motion creeps.

use super::Check;
use crate::diagnose::finding::{Finding, short};
use crate::diagnose::patient::Patient;
use crate::edit::Change;
use sim_io::scene::force::ForceSpec;
use sim_io::scene::part::Part;

pub(super) const CHECK: Check = Check {
    causes: &[PER_STEP, HONEY],
    summary: "a factor per step stands where a rate belongs, or damping is so strong that parts move as in honey",
    look,
};

const PER_STEP: &str = "damping_per_step";
const HONEY: &str = "overdamped";
/// Factors per step that people write: 0.9 to 0.9999.
const FACTORS: std::ops::Range<f64> = 0.9..1.0;
/// A spring that needs longer than this to follow its load, in s, creeps before one's eyes.
const SLOW: f64 = 0.1;
/// Rate of damping over the rate of falling √(g/L) from which a part drifts rather than falls.
const DRIFTING: f64 = 10.0;

fn look(patient: &Patient) -> Vec<Finding> {
    let mut findings = rates(patient);
    findings.extend(dashpots(patient));
    findings
}

fn rates(patient: &Patient) -> Vec<Finding> {
    let scene = &patient.scene;
    let mut findings = Vec::new();
    for (index, force) in scene.forces.iter().enumerate() {
        let ForceSpec::MassDamping(damping) = force else { continue };
        let (rate, frame) = (damping.rate, scene.time.frame);
        let path = format!("force.{index}.rate");
        if FACTORS.contains(&rate) {
            let meant = -rate.ln() / frame;
            findings.push(
                Finding::fault(
                    PER_STEP,
                    format!("`rate = {rate}` looks like a velocity factor per step; it is a rate in 1/s"),
                )
                .seen(format!(
                    "as a rate it takes {} % of the velocity in a frame; the factor {rate} in every frame of {} s would be the rate {} 1/s",
                    short(100.0 * (1.0 - (-rate * frame).exp())),
                    short(frame),
                    short(meant)
                ))
                .remedy("a factor f per frame is the rate -ln(f)/frame, and does not change with the step")
                .change(Change::set(path, format!("{meant:.4}"))),
            );
            continue;
        }
        let (gravity, size) = (patient.gravity(), patient.size());
        let falling = (gravity / size.max(f64::MIN_POSITIVE)).sqrt();
        if gravity > 0.0 && rate > DRIFTING * falling {
            findings.push(
                Finding::fault(HONEY, format!("`rate = {rate}` brakes everything to a drift"))
                    .seen(format!(
                        "nothing falls faster than g/rate = {} m/s; a swing of this size has ω = {} rad/s and {} times its critical damping",
                        short(gravity / rate),
                        short(falling),
                        short(0.5 * rate / falling)
                    ))
                    .remedy("air takes about 0.1 to 2 per second from cloth and rope")
                    .change(Change::set(path, short(0.2 * falling))),
            );
        }
    }
    findings
}

fn dashpots(patient: &Patient) -> Option<Finding> {
    let springs = &patient.model.layout.springs;
    let slowest = (0..springs.len())
        .map(|k| (springs.get(k), k))
        .filter(|(spring, _)| spring.stiffness > 0.0)
        .map(|(spring, k)| (spring.damping / spring.stiffness, k))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (time, worst) = slowest;
    if time <= SLOW {
        return None;
    }
    let spring = springs.get(worst);
    let (part, _) = patient.model.layout.spring_owner(worst)?;
    let index = patient.scene.parts.iter().position(|p| p.id() == part.id)?;
    let mut finding = Finding::fault(
        HONEY,
        format!(
            "dashpots hold the springs of part {} for {} s: it creeps where it should spring",
            part.id,
            short(time)
        ),
    )
    .seen(format!(
        "{}: {} N·s/m beside {} N/m; a load is followed within c/k = {} s, {} frames",
        patient.spring_name(worst),
        short(spring.damping),
        short(spring.stiffness),
        short(time),
        short(time / patient.scene.time.frame)
    ));
    if let Some(mode) = sim_integrate::Modes::new(&patient.model.system, patient.last_state())
        .ok()
        .and_then(|modes| modes.list().last().copied())
    {
        finding = finding.seen(format!(
            "its fastest swing, {} Hz, has {} times its critical damping",
            short(mode.angular_frequency / std::f64::consts::TAU),
            short(mode.damping_ratio)
        ));
    }
    // A hundredth of a second at most: gone within a frame.
    let factor = 0.002 / time;
    let path = |field: &str| format!("part.{index}.{field}");
    let finding = match &patient.scene.parts[index] {
        Part::Rope(rope) => {
            finding.change(Change::set(path("axial_damping"), short(factor * rope.axial_damping)))
        }
        Part::Belt(belt) => {
            finding.change(Change::set(path("axial_damping"), short(factor * belt.axial_damping)))
        }
        Part::Coil(coil) => finding.change(Change::set(path("damping"), short(factor * coil.damping))),
        Part::Cloth(cloth) => {
            finding.change(Change::set(path("damping_time"), short(factor * cloth.damping_time)))
        }
        Part::Mesh(mesh) => {
            finding.change(Change::set(path("damping_time"), short(factor * mesh.damping_time)))
        }
        Part::Particles(particles) => {
            particles.springs.iter().enumerate().fold(finding, |finding, (k, spring)| {
                match spring.stiffness {
                    Some(stiffness) if spring.damping > SLOW * stiffness => finding
                        .change(Change::set(path(&format!("springs.{k}.damping")), short(0.002 * stiffness))),
                    _ => finding,
                }
            })
        }
    };
    Some(finding.remedy(
        "a dashpot in SI units is not a tenth of the stiffness: the time c/k of cloth and rope is about 0.001 to 0.01 s",
    ))
}
