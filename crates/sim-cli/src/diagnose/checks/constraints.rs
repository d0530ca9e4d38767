//! Constraints that are far from solved.

use super::Check;
use crate::diagnose::finding::{Finding, short};
use crate::diagnose::patient::Patient;
use crate::edit::Change;
use sim_io::run::xpbd::Convergence;
use sim_io::scene::Substeps;
use sim_io::scene::part::Part;
use toml::Value;

pub(super) const CHECK: Check = Check {
    causes: &[SOFT, PLAIN],
    summary: "constraints are far from solved, so that parts act softer than described; plain PBD has no stiffness at all",
    look,
};

const SOFT: &str = "constraints_not_converged";
const PLAIN: &str = "stiffness_not_used";
/// Share of a rest length from which the residual of one constraint shows; less is common where parts hit something.
const VISIBLE: f64 = 0.15;
/// The same for the root mean square of all: nobody overlooks a rope that is three hundredths too long.
const VISIBLE_RMS: f64 = 0.03;
/// Substeps that nobody waits for.
const MOST: u32 = 3_000;

fn look(patient: &Patient) -> Vec<Finding> {
    let Some(found) = patient.result.as_ref().and_then(|result| result.convergence.as_ref()) else {
        return Vec::new();
    };
    let options = &patient.scene.method.options;
    if options.get("formulation").is_some_and(Value::is_table) {
        let finding = Finding::fault(
            PLAIN,
            "plain PBD has no stiffness: how far parts give way follows from substeps and iterations, not from the material",
        )
        .seen(found.sentence.clone())
        .remedy("take the formulation `xpbd`, which uses the stiffness of the parts, with as many substeps as it needs")
        .change(Change::remove("method.options.formulation"));
        return vec![with_remedy(patient, finding)];
    }
    let Some(worst) = found.largest.as_ref().filter(|_| found.not_converged > 0) else { return Vec::new() };
    let finding = if visible(found) {
        Finding::fault(
            SOFT,
            format!(
                "constraints are far from solved: {} was {} % of its length from its law",
                worst.constraint,
                short(100.0 * worst.relative)
            ),
        )
    } else {
        return vec![
            Finding::note(SOFT, found.sentence.clone()).remedy("more substeps bring it down, if it matters"),
        ];
    };
    let mut finding = finding.seen(format!(
        "{} of {} frames did not converge to {}; the root mean square was {} % at worst",
        found.not_converged,
        found.frames,
        found.tolerance,
        short(100.0 * found.largest_rms)
    ));
    if let Some((strain, name)) = patient.largest_stretch(patient.last_state()) {
        finding = finding.seen(format!("at the end {name} is stretched by {} %", short(100.0 * strain)));
    }
    vec![with_remedy(patient, finding)]
}

fn visible(found: &Convergence) -> bool {
    found.largest.as_ref().is_some_and(|worst| worst.relative > VISIBLE) || found.largest_rms > VISIBLE_RMS
}

/// Tries what may help, the cheapest first, and advises what did.
fn with_remedy(patient: &Patient, finding: Finding) -> Finding {
    let lines = patient.scene.parts.iter().any(|part| matches!(part, Part::Rope(_) | Part::Coil(_)));
    let now = patient.result.as_ref().map_or(20, |result| result.substeps).max(5) as u32;
    let mut best = (f64::INFINITY, now, false);
    for substeps in [now, 4 * now, 16 * now, 64 * now] {
        for direct in [true, false] {
            if (direct && !lines) || substeps > MOST {
                continue;
            }
            let tried = patient.variant(|scene| {
                scene.method.substeps = Substeps::Fixed(substeps);
                scene.method.options.remove("formulation");
                scene.method.options.insert("direct".to_owned(), Value::Boolean(direct));
            });
            let Some(found) = tried.and_then(|result| result.convergence) else { continue };
            if found.largest_rms < best.0 {
                best = (found.largest_rms, substeps, direct);
            }
            if !visible(&found) {
                return advised(finding, (found.largest_rms, substeps, direct));
            }
        }
    }
    advised(finding, best)
}

fn advised(finding: Finding, (rms, substeps, direct): (f64, u32, bool)) -> Finding {
    if !rms.is_finite() {
        return finding.remedy("take more substeps");
    }
    let words = if direct { ", lines solved directly," } else { "" };
    let finding = if finding.remedy.is_empty() {
        finding.remedy(if direct {
            "take more substeps and solve lines directly"
        } else {
            "take more substeps; four times as many bring the residual down up to sixteen times"
        })
    } else {
        finding
    };
    let finding = finding
        .seen(format!(
            "tried: with {substeps} substeps{words} the root mean square is {} % at worst",
            short(100.0 * rms)
        ))
        .change(Change::set("method.substeps", substeps));
    if direct { finding.change(Change::set("method.options.direct", "true")) } else { finding }
}
