//! Methods that make energy by themselves.

use super::Check;
use crate::diagnose::finding::{Finding, short};
use crate::diagnose::patient::Patient;
use crate::edit::Change;
use sim_core::Stability;
use sim_integrate::{AdviceRequest, advise};

pub(super) const CHECK: Check = Check {
    causes: &[CAUSE],
    summary: "the method makes every swing grow, at any step (explicit Euler)",
    look,
};

const CAUSE: &str = "method_makes_energy";
/// Share of the largest kinetic energy that a method may make without being found out.
const LITTLE: f64 = 0.01;

fn look(patient: &Patient) -> Vec<Finding> {
    let Some(info) = patient.stepper().filter(|info| info.method.stability == Stability::Unstable) else {
        return Vec::new();
    };
    let (made, kinetic) = (patient.made_energy(), patient.largest_kinetic());
    if patient.failure.is_none() && made <= LITTLE * kinetic {
        return Vec::new();
    }
    let id = info.method.id;
    let mut finding = Finding::fault(
        CAUSE,
        format!(
            "`{id}` feeds energy into every swing: a swing of angular frequency ω grows by √(1 + ω² dt²) per step"
        ),
    );
    let request =
        AdviceRequest { frame: patient.scene.time.frame, relative_error: 0.01, conserve_energy: false };
    if let Ok(advice) = advise(&patient.model.system, &patient.model.state, request) {
        let substeps = patient.fixed_substeps().map_or(advice.facts.explicit_steps, u64::from);
        let dt = patient.scene.time.frame / substeps as f64;
        let growth = 0.5 * (advice.facts.stiffest * dt).powi(2).ln_1p();
        finding = finding.seen(format!(
            "the stiffest part has ω = {} rad/s and a step is {} s: its swing grows e-fold in {} steps",
            short(advice.facts.stiffest),
            short(dt),
            short((1.0 / growth).max(1.0))
        ));
    }
    if kinetic > 0.0 && made > 0.0 {
        finding = finding.seen(format!(
            "the method made {} J, the largest kinetic energy was {} J",
            short(made),
            short(kinetic)
        ));
    }
    if let Some(failure) = patient.failure_text() {
        finding = finding.seen(failure);
    }
    vec![
        finding
            .remedy("take `symplectic_euler`: the same cost, and no growth below its step limit, which `substeps = \"auto\"` keeps")
            .change(Change::set("method.id", "symplectic_euler"))
            .change(Change::set("method.substeps", "\"auto\"")),
    ]
}
