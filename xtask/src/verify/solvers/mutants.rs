//! Slips around every preconditioner and direct solver: the studies of inverses must reject them.

use super::{Bench, DirectBench, System, direct_solvers, word};
use crate::verify::cases::CaseError;
use crate::verify::catalogue::{Job, Outcome, Scope};
use rayon::prelude::*;
use sim_linalg::PreconditionerKind;
use sim_verify::Claim;
use sim_verify::judge::inverse::{Apply, Make, Problem};
use sim_verify::mutants::inverse::{INVERSE_SLIPS, InverseSlip, slipped};
use std::collections::BTreeMap;

pub(in crate::verify) fn jobs(_: Scope) -> Vec<Job> {
    vec![Job::new("mutants/inverses", |_| {
        let failed = |error: CaseError| {
            vec![Claim::no_complaint("mutants/inverses", "", vec![], "").because(error)].into()
        };
        inverses().unwrap_or_else(failed)
    })]
}

/// What came of a slip: its name, its text, and who rejects it.
type Found = (String, &'static str, Option<String>);

/// Whether a slip changes a result, on the first matrix, after another one, or on the easy one.
fn suits(make: &Make<'_>, slip: InverseSlip, sizes: [usize; 2]) -> bool {
    let differs = |problem: Problem, factors: &[f64], n: usize| {
        let rhs: Vec<f64> = (0..n).map(|i| (0.9 * i as f64).cos()).collect();
        let twice = |apply: Result<Apply, String>| apply.map(|apply| [apply(&rhs), apply(&rhs)]);
        twice(make(problem, factors)) != twice(slipped(slip, make, problem, factors))
    };
    differs(Problem::Sample, &[1.0, 2.0], sizes[0]) || differs(Problem::Easy, &[1.0], sizes[1])
}

fn around(
    name: &str,
    make: &Make<'_>,
    sizes: [usize; 2],
    judge: &dyn Fn(&Make<'_>) -> Vec<Claim>,
) -> Vec<Found> {
    INVERSE_SLIPS
        .iter()
        .filter(|(slip, _)| suits(make, *slip, sizes))
        .map(|&(slip, text)| {
            let rejected = judge(&|problem, factors| slipped(slip, make, problem, factors))
                .into_iter()
                .find(|claim| !claim.pass())
                .map(|claim| claim.id.split('/').nth(1).unwrap_or_default().to_owned());
            (format!("{name}/{slip:?}"), text, rejected)
        })
        .collect()
}

fn inverses() -> Result<Outcome, CaseError> {
    let preconditioners = PreconditionerKind::ALL.par_iter().map(|&kind| -> Result<Vec<Found>, String> {
        let bench = Bench::new(kind).map_err(|error| error.to_string())?;
        let sizes = [bench.sample.dense.nrows(), bench.easy.dense.nrows()];
        let name = word(kind);
        Ok(around(&name, &|problem, factors| bench.make(problem, factors), sizes, &|make| {
            bench.judge("preconditioner", make)
        }))
    });
    let mut found: Vec<Found> = Vec::new();
    for list in preconditioners.collect::<Vec<_>>() {
        found.extend(list?);
    }
    for (name, edges, make) in direct_solvers() {
        let bench = DirectBench { system: System::net(40, &edges, 1e3)?, make };
        let sizes = [bench.system.dense.nrows(); 2];
        found.extend(around(name, &|_, factors| bench.make(factors), sizes, &|make| {
            bench.judge("direct", make)
        }));
    }
    let survived: Vec<&Found> = found.iter().filter(|(_, _, killer)| killer.is_none()).collect();
    let killed = found.len() - survived.len();
    let used =
        INVERSE_SLIPS.iter().filter(|(_, text)| found.iter().any(|(_, other, _)| other == text)).count();
    let mut by: BTreeMap<&str, usize> = BTreeMap::new();
    found
        .iter()
        .filter_map(|(_, _, killer)| killer.as_deref())
        .for_each(|killer| *by.entry(killer).or_default() += 1);
    let list: Vec<String> = by.iter().map(|(killer, count)| format!("`{killer}` {count}")).collect();
    let note = format!(
        "\n{killed} of {} slips around preconditioners and direct solvers ({used} kinds) are rejected: {}.\n",
        found.len(),
        list.join(", ")
    );
    let source = "the studies can fail";
    let share = 100.0 * killed as f64 / found.len() as f64;
    let complaints: Vec<String> = survived.iter().map(|(name, text, _)| format!("{name} ({text})")).collect();
    let claims = vec![
        Claim::at_least(
            "mutants/inverses/kinds",
            "kinds of slips around inverses",
            12.0,
            used as f64,
            source,
        ),
        Claim::at_least(
            "mutants/inverses/number",
            "slips around inverses",
            100.0,
            found.len() as f64,
            source,
        ),
        Claim::at_least("mutants/inverses/share", "rejected, in per cent", 95.0, share, source),
        Claim::no_complaint("mutants/inverses/survivors", "none survives", complaints, source),
    ];
    Ok(Outcome { claims, notes: vec![note], ..Outcome::default() })
}
