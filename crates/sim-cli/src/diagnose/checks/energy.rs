//! What nothing else explains.

use super::Check;
use crate::diagnose::finding::{Finding, short};
use crate::diagnose::patient::Patient;
use crate::edit::Change;
use sim_core::Stability;

pub(super) const CHECK: Check = Check {
    causes: &[GROWTH, FAILED],
    summary: "energy grows, or the run fails, and none of the other causes explains it",
    look,
};

const GROWTH: &str = "energy_grows";
const FAILED: &str = "run_failed";
/// Share of the largest kinetic energy that a method may make within its step limit.
const MUCH: f64 = 0.05;
/// The same for methods without limit, whose long steps also book what buckling springs let go between two of them.
const MUCH_IMPLICIT: f64 = 0.5;

fn look(patient: &Patient) -> Vec<Finding> {
    let (made, kinetic) = (patient.made_energy(), patient.largest_kinetic());
    let constrained = patient.stepper().is_none();
    let finer = 4 * patient.result.as_ref().map_or(1, |result| result.substeps).max(1);
    if let Some(text) = patient.failure_text() {
        return vec![
            Finding::fault(FAILED, "the run failed")
                .seen(text)
                .remedy("take more steps per frame")
                .change(Change::set("method.substeps", finer)),
        ];
    }
    let explicit =
        patient.stepper().is_some_and(|info| matches!(info.method.stability, Stability::Conditional { .. }));
    let most = if explicit { MUCH } else { MUCH_IMPLICIT };
    if constrained || kinetic == 0.0 || made <= most * kinetic {
        return Vec::new();
    }
    vec![
        Finding::fault(GROWTH, "the method makes energy")
            .seen(format!("{} J made, the largest kinetic energy is {} J", short(made), short(kinetic)))
            .remedy("take more steps per frame; `leapfrog` makes none below its limit")
            .change(Change::set("method.substeps", finer)),
    ]
}
