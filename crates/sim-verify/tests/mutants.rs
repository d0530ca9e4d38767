//! Seeded mistakes against the studies.

use sim_verify::mutants::{mutants, originals};

#[test]
fn the_right_versions_pass_every_study() {
    let rejected: Vec<String> = originals()
        .iter()
        .filter_map(|original| {
            original.killer().map(|(study, claim)| format!("{} is rejected by {study}: {claim}", original.id))
        })
        .collect();
    assert!(rejected.is_empty(), "{}", rejected.join("\n"));
}

/// Each mutant is rejected, and by the study named in the catalogue; those that survive are the ones with a reason.
#[test]
fn mistakes_are_rejected_by_the_study_named() {
    let mutants = mutants();
    assert!(mutants.len() >= 50, "{} mutants", mutants.len());
    let mut wrong = Vec::new();
    let mut killed = 0;
    for mutant in mutants {
        let found = mutant.killer();
        killed += usize::from(found.is_some());
        let name = found.as_ref().map(|(study, _)| study.as_str());
        if name != mutant.killed_by {
            wrong.push(format!("{} ({}): {name:?}, not {:?}", mutant.id, mutant.mistake, mutant.killed_by));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(100 * killed >= 95 * mutants.len(), "{killed} of {} rejected", mutants.len());
    for (index, mutant) in mutants.iter().enumerate() {
        assert!(mutants[..index].iter().all(|other| other.id != mutant.id), "{} twice", mutant.id);
        assert!(mutant.killed_by.is_some() || !mutant.reason.is_empty(), "{} has no reason", mutant.id);
    }
}
