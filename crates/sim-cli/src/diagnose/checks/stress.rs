//! Parts that start under a stress that nobody asked for.

use super::Check;
use crate::diagnose::finding::{Finding, short};
use crate::diagnose::patient::Patient;
use crate::edit::Change;
use sim_io::scene::part::Part;

pub(super) const CHECK: Check = Check {
    causes: &[CAUSE],
    summary: "rest lengths differ from the drawn shape, so that a part starts stretched or compressed",
    look,
};

const CAUSE: &str = "initial_stress";
/// Share of the tension that must be free to move something: a strap that holds a length starts stretched, and stays so.
const UNBALANCED: f64 = 0.1;
/// Strain from which a stress at the start is no rounding of a drawing.
const MUCH: f64 = 1e-3;

fn look(patient: &Patient) -> Vec<Finding> {
    let scene = &patient.scene;
    if scene.relax.is_some() {
        return Vec::new();
    }
    let unintended =
        patient.model.initial_stress.iter().filter(|stress| !stress.intended && stress.max_strain > MUCH);
    unintended
        // A coil's `length` beside its `free_length` says how far it is pulled.
        .filter(|stress| !scene.parts.iter().any(|part| part.id() == stress.part && matches!(part, Part::Coil(_))))
        .filter(|stress| stress.tension < 0.0 || largest_force(patient, &stress.part) > UNBALANCED * stress.tension)
        .map(|stress| {
            let index = scene.parts.iter().position(|part| part.id() == stress.part);
            let finding = Finding::fault(
                CAUSE,
                format!(
                    "part {} starts {}: its unloaded lengths are not those of its shape",
                    stress.part,
                    if stress.tension < 0.0 { "compressed" } else { "stretched" }
                ),
            )
            .seen(format!(
                "largest strain {} %, {} N in spring {}, {} J of elastic energy that are let go at once",
                short(100.0 * stress.max_strain),
                short(stress.tension),
                stress.spring,
                short(stress.energy)
            ));
            let lengths: Vec<Change> = match index.map(|index| (index, &scene.parts[index])) {
                Some((index, Part::Rope(rope))) if rope.length.is_some() => {
                    vec![Change::remove(format!("part.{index}.length"))]
                }
                Some((index, Part::Belt(belt))) if belt.length.is_some() => {
                    vec![Change::remove(format!("part.{index}.length"))]
                }
                Some((index, Part::Particles(particles))) => particles
                    .springs
                    .iter()
                    .enumerate()
                    .filter(|(_, spring)| spring.rest_length.is_some())
                    .map(|(spring, _)| Change::remove(format!("part.{index}.springs.{spring}.rest_length")))
                    .collect(),
                _ => Vec::new(),
            };
            lengths
                .into_iter()
                .fold(finding, Finding::change)
                .remedy("take the unloaded lengths from the shape, or let the part settle first with a `[relax]` table; where the stress is meant, give it as `tension`")
        })
        .collect()
}

/// Largest force in N on a particle of a part that is free to follow it, at the start.
fn largest_force(patient: &Patient, part: &str) -> f64 {
    let (system, state) = (&patient.model.system, &patient.model.state);
    let mut force = vec![0.0; state.q.len()];
    sim_core::System::force(system, state.t, &state.q, &state.v, &mut force);
    let inverse_mass = sim_core::ExplicitSystem::inverse_mass(system);
    let own = patient.model.layout.parts.iter().find(|layout| layout.id == part);
    let particles = own.map_or(0..0, |layout| layout.particles.clone());
    particles
        .filter(|&i| inverse_mass[i] > 0.0)
        .map(|i| force[3 * i..3 * i + 3].iter().map(|f| f * f).sum::<f64>().sqrt())
        .fold(0.0, f64::max)
}
