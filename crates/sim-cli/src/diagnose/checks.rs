//! Everything the doctor looks for, in the order in which it looks: causes before their consequences.

mod constraints;
mod damping;
mod energy;
mod holding;
mod jitter;
mod method;
mod newton;
mod passing;
mod step;
mod stiffness;
mod stress;
mod units;

use super::finding::{Finding, Severity};
use super::patient::Patient;

/// One thing to look for in a motion.
pub struct Check {
    /// Words of the causes it finds.
    pub causes: &'static [&'static str],
    /// What they mean.
    pub summary: &'static str,
    look: fn(&Patient) -> Vec<Finding>,
}

/// All checks of motions.
pub const CHECKS: &[Check] = &[
    units::CHECK,
    method::CHECK,
    step::CHECK,
    stiffness::CHECK,
    newton::CHECK,
    constraints::CHECK,
    stress::CHECK,
    damping::CHECK,
    holding::CHECK,
    passing::CHECK,
    jitter::CHECK,
];

/// What is looked for in files before there is a model, and in structures.
pub const OTHERS: &[(&str, &str)] = &[
    (super::mesh::CAUSE, "a mesh has duplicate, degenerate, unreferenced, branching or badly wound parts"),
    (super::structure::CAUSE, "a structure can move without resistance"),
];

/// Looks for everything; faults first. A fault that nothing explains is reported as such.
pub fn all(patient: &Patient) -> Vec<Finding> {
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| (check.look)(patient)).collect();
    if !findings.iter().any(|finding| finding.severity == Severity::Fault) {
        findings.extend((energy::CHECK.look)(patient));
    }
    findings.sort_by_key(|finding| finding.severity != Severity::Fault);
    findings
}

/// Every cause with its meaning, for people.
pub fn catalogue() -> impl Iterator<Item = (String, &'static str)> {
    let motions = CHECKS.iter().chain([&energy::CHECK]);
    motions
        .map(|check| (check.causes.join(", "), check.summary))
        .chain(OTHERS.iter().map(|(cause, summary)| ((*cause).to_owned(), *summary)))
}
