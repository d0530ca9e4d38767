//! One stiff part that costs all the steps.

use super::Check;
use crate::diagnose::finding::{Finding, short};
use crate::diagnose::patient::Patient;
use crate::edit::Change;
use sim_core::Stability;
use sim_integrate::{AdviceRequest, advise};
use sim_io::RunError;

pub(super) const CHECK: Check = Check {
    causes: &[CAUSE],
    summary: "one stiff (or light) piece among soft ones sets a tiny step for all",
    look,
};

const CAUSE: &str = "stiffness_spread";
/// Ratio of frequencies from which parts are worlds apart: a million in stiffness.
const SPREAD: f64 = 1e3;
/// Steps per frame that are too many to go on with.
const STEPS: u64 = 1_000;

fn look(patient: &Patient) -> Vec<Finding> {
    let explicit =
        patient.stepper().is_some_and(|info| matches!(info.method.stability, Stability::Conditional { .. }));
    if !explicit || patient.fixed_substeps().is_some() {
        return Vec::new();
    }
    let request =
        AdviceRequest { frame: patient.scene.time.frame, relative_error: 0.01, conserve_energy: false };
    let Ok(advice) = advise(&patient.model.system, &patient.model.state, request) else { return Vec::new() };
    let facts = &advice.facts;
    let too_many = matches!(patient.failure, Some(RunError::Substeps { .. }));
    if !too_many && (facts.spread() < SPREAD || facts.explicit_steps < STEPS) {
        return Vec::new();
    }
    let culprit = patient.stencil_name(facts.culprit).unwrap_or_else(|| "the stiffest part".to_owned());
    vec![
        Finding::fault(
            CAUSE,
            format!("{culprit} makes {} steps per frame necessary for everything", short(facts.explicit_steps as f64)),
        )
        .seen(format!(
            "it swings {} times as fast as the softest part ({} against {} rad/s), a ratio of {} in stiffness over mass",
            short(facts.spread()),
            short(facts.stiffest),
            short(facts.softest),
            short(facts.spread().powi(2))
        ))
        .remedy("an implicit method steps over what is too fast to be seen; or make that piece softer or heavier, if it need not be so stiff")
        .change(Change::set("method.id", "tr_bdf2")),
    ]
}
