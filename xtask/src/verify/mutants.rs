//! Seeded mistakes: those of sim-verify's own methods and forces, and slips around every method of the registry.

use super::catalogue::{Job, Outcome, Scope};
use super::steppers::make;
use rayon::prelude::*;
use sim_integrate::STEPPERS;
use sim_verify::Claim;
use sim_verify::judge::{Subject, first_failure};
use sim_verify::mutants::{SLIPS, Slipped, mutants, originals};

pub(super) fn jobs(_: Scope) -> Vec<Job> {
    let mut jobs = vec![Job::new("mutants/seeded", |_| seeded())];
    for info in STEPPERS {
        jobs.push(Job::new(format!("mutants/{}", info.method.id), |_| {
            let missed: Vec<String> = SLIPS
                .iter()
                .filter(|(slip, _)| {
                    let make = || Box::new(Slipped::new(make(info.method.id), *slip)) as _;
                    first_failure(&Subject::new(info.method, &make)).is_none()
                })
                .map(|(slip, text)| format!("{slip:?}: {text}"))
                .collect();
            let id = format!("mutants/{}", info.method.id);
            let what = format!("each of {} slips around {} is rejected", SLIPS.len(), info.method.id);
            vec![Claim::no_complaint(id, what, missed, "the studies can fail")].into()
        }));
    }
    jobs
}

fn seeded() -> Outcome {
    let source = "the studies can fail, and pass what is right";
    let rejected: Vec<String> = originals()
        .par_iter()
        .filter_map(|original| Some(format!("{}: {}", original.id, original.killer()?.1)))
        .collect();
    let found: Vec<Option<String>> =
        mutants().par_iter().map(|mutant| mutant.killer().map(|(study, _)| study)).collect();
    let killed = found.iter().flatten().count();
    let unnamed: Vec<String> = mutants()
        .iter()
        .zip(&found)
        .filter(|(mutant, found)| found.as_deref() != mutant.killed_by)
        .map(|(mutant, found)| format!("{}: {found:?}, not {:?}", mutant.id, mutant.killed_by))
        .collect();
    let share = 100.0 * killed as f64 / mutants().len() as f64;
    let mut notes =
        vec![format!("{killed} of {} seeded mistakes are rejected. Survivors:\n", mutants().len())];
    for mutant in mutants().iter().filter(|mutant| mutant.killed_by.is_none()) {
        notes.push(format!("- `{}` ({}): {}.", mutant.id, mutant.mistake, mutant.reason));
    }
    let claims = vec![
        Claim::no_complaint("mutants/originals", "the right versions pass every study", rejected, source),
        Claim::at_least("mutants/number", "seeded mistakes", 50.0, mutants().len() as f64, source),
        Claim::at_least("mutants/share", "rejected, in per cent", 95.0, share, source),
        Claim::no_complaint("mutants/killers", "each is rejected by the study named for it", unnamed, source),
    ];
    Outcome { claims, notes, ..Outcome::default() }
}
