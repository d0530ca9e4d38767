//! Seeded coding mistakes: proof that the studies can fail.
//!
//! Each method here is written out a second time, so that one formula can be got wrong at a time. The right versions pass every study; of
//! the wrong ones at least 95 % are rejected, and the survivors carry the reason why nobody can tell.

use crate::claim::Claim;
use crate::judge::law::{judge_creep, judge_law};
use crate::judge::links::judge_links;
use crate::judge::model::{judge_model, judge_spring};
use crate::judge::{AnyStepper, Subject, first_failure};
use sim_core::force::springs::Spring;
use sim_core::{
    FORCES, ForceKind, MethodInfo, ModelSystem, ParticleSystemBuilder, Stability, State, StateError,
    StepError,
};

mod catalogue;
mod constraints;
mod implicit;
pub mod inverse;
mod laws;
mod links;
mod models;
mod runge_kutta;
mod splitting;
mod springs;
mod wrapped;

pub use constraints::{CONSTRAINT_SLIPS, ConstraintSlip, rejects};
use laws::{CreepMistake, LawMistake, WrittenLaw, creep};
use links::{LinkMistake, written};
use models::{Tamper, Tampered};
use springs::{Mistake, WrittenSpring};
pub use wrapped::{SLIPS, Slip, Slipped};

/// What a mistake was made in.
#[derive(Clone, Copy)]
enum Patient {
    Stepper(fn() -> AnyStepper),
    Spring(Mistake),
    Links(LinkMistake),
    Law(LawMistake),
    Creep(CreepMistake),
    /// The registry sample of a force.
    Model(&'static str, Tamper),
}

/// One mistake.
#[derive(Clone, Copy)]
pub struct Mutant {
    /// Unique id: what it was made in, and a number or word.
    pub id: &'static str,
    /// What is wrong.
    pub mistake: &'static str,
    /// The study that is expected to reject it first; none when it survives.
    pub killed_by: Option<&'static str>,
    /// Why nobody can tell, for survivors.
    pub reason: &'static str,
    patient: Patient,
}

/// Every mutant.
pub fn mutants() -> &'static [Mutant] {
    catalogue::MUTANTS
}

/// The right versions of everything that mutants are made of: they must pass.
pub fn originals() -> &'static [Mutant] {
    catalogue::ORIGINALS
}

impl Mutant {
    /// The study that rejects it first, and the claim that does not hold; none when it survives.
    pub fn killer(&self) -> Option<(String, Claim)> {
        match self.patient {
            Patient::Stepper(make) => {
                let method = make().method();
                first_failure(&Subject::new(method, &make)).map(|(study, claim)| (study.to_owned(), claim))
            }
            Patient::Spring(mistake) => {
                let make = |spring| Box::new(WrittenSpring { spring, mistake }) as Box<dyn sim_core::Force>;
                let (system, state) = spring_sample(mistake);
                judge_spring("spring", &make)
                    .into_iter()
                    .chain(judge_model("spring", ForceKind::Internal, &*system, &state))
                    .find(|claim| !claim.pass())
                    .map(named)
            }
            Patient::Links(mistake) => judge_links("links", &|model| Some(written(model, mistake)))
                .into_iter()
                .find(|claim| !claim.pass())
                .map(named),
            Patient::Law(mistake) => judge_law("law", &|unit| Box::new(WrittenLaw { unit, mistake }))
                .into_iter()
                .find(|claim| !claim.pass())
                .map(named),
            Patient::Creep(mistake) => judge_creep("creep", &|branch, tension, from, to, dt| {
                creep(mistake, branch, tension, from, to, dt)
            })
            .into_iter()
            .find(|claim| !claim.pass())
            .map(named),
            Patient::Model(force, tamper) => {
                let info = FORCES.iter().find(|info| info.id == force)?;
                let (system, state) = (info.sample)();
                let system = Tampered::new(Box::new(system), tamper);
                judge_model(force, info.kind, &system, &state)
                    .into_iter()
                    .find(|claim| !claim.pass())
                    .map(named)
            }
        }
    }
}

/// The study's name is the second part of a claim's id.
fn named(claim: Claim) -> (String, Claim) {
    (claim.id.split('/').nth(1).unwrap_or_default().to_owned(), claim)
}

/// Four particles, five springs with dashpots, stretched and compressed, in motion.
fn spring_sample(mistake: Mistake) -> (Box<dyn ModelSystem>, State) {
    let springs = [
        ([0, 1], 0.45, 120.0, 0.8),
        ([1, 2], 0.7, 70.0, 0.3),
        ([2, 3], 0.3, 40.0, 0.2),
        ([3, 0], 1.1, 55.0, 0.5),
        ([0, 2], 0.9, 35.0, 0.1),
    ];
    let mut builder = ParticleSystemBuilder::new(vec![0.1, 0.2, 0.15, 0.3]);
    for (ends, rest_length, stiffness, damping) in springs {
        let spring = Spring { ends, rest_length, stiffness, damping };
        builder = builder.force(WrittenSpring { spring, mistake });
    }
    let wave = |i: usize, k: f64| ((i as f64 + 1.0) * k).sin();
    let q = (0..4_usize)
        .flat_map(|i| [0.4 * i as f64 + 0.1 * wave(i, 1.7), 0.3 * wave(i, 2.3), 0.25 * wave(i, 3.1)])
        .collect();
    let v = (0..12).map(|i| 0.5 * wave(i, 0.9)).collect();
    let system = builder.build().expect("parameters are in range");
    (Box::new(system), State { t: 0.2, q, v, internal: Vec::new() })
}

const fn claims(id: &'static str, symplectic: bool, orders: (u32, u32), stability: Stability) -> MethodInfo {
    MethodInfo {
        id,
        summary: "written out for mutation",
        implicit: matches!(stability, Stability::Unconditional | Stability::LStable),
        symplectic,
        order: orders.0,
        order_velocity_dependent: orders.1,
        stability,
        reference: "",
        limitations: "",
    }
}

const TWO: Stability = Stability::Conditional { omega_dt: 2.0 };

static CLAIMS: [MethodInfo; 10] = [
    claims("explicit_euler", false, (1, 1), Stability::Unstable),
    claims("symplectic_euler", true, (1, 1), TWO),
    claims("symplectic_euler_drift_kick", true, (1, 1), TWO),
    claims("leapfrog", true, (2, 2), TWO),
    claims("position_verlet", true, (2, 1), TWO),
    claims("explicit_midpoint", false, (2, 2), Stability::Unstable),
    claims(
        "runge_kutta4",
        false,
        (4, 4),
        Stability::Conditional { omega_dt: 2.0 * std::f64::consts::SQRT_2 },
    ),
    claims("implicit_euler", false, (1, 1), Stability::LStable),
    claims("implicit_midpoint", true, (2, 2), Stability::Unconditional),
    claims("trapezoidal", false, (2, 2), Stability::Unconditional),
];

fn info(id: &str) -> &'static MethodInfo {
    CLAIMS.iter().find(|info| info.id == id).unwrap_or_else(|| panic!("no claims for {id}"))
}

/// Step size and lengths, as the contract of a stepper asks.
fn check(system: &dyn ModelSystem, state: &State, dt: f64) -> Result<(), StepError> {
    if !(dt.is_finite() && dt > 0.0) {
        return Err(StepError::StepSize { dt });
    }
    let expected = 3 * system.particle_count();
    for (field, found) in [("q", state.q.len()), ("v", state.v.len())] {
        if found != expected {
            return Err(StateError::Length { field, expected, found }.into());
        }
    }
    Ok(())
}

/// Refuses a new state that is not finite.
fn finite(state: &State, dt: f64, q: &[f64], v: &[f64]) -> Result<(), StepError> {
    for (quantity, values) in [("position", q), ("velocity", v)] {
        if let Some(i) = values.iter().position(|x| !x.is_finite()) {
            return Err(StepError::Diverged { t: state.t, dt, quantity, particle: i / 3, value: values[i] });
        }
    }
    Ok(())
}
