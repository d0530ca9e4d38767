//! Peak memory of one solve, measured in a process of its own.

use crate::measure::peak_memory_mb;
use crate::row::{Goal, Row};
use crate::{Context, Workload};
use sim_linalg::workload::{SheetOptions, sheet};
use sim_linalg::{LinearSolver, SolverChoice, SolverOptions};
use std::process::Command;

/// Registry entry.
pub const WORKLOAD: Workload = Workload {
    id: "memory",
    summary: "peak memory of one solve of W1 at n = 200 by the automatic choice, each in a process of its own",
    run,
};

/// Vertices per side.
const N: usize = 200;

/// In the process of its own: peak before and after the solve in MB.
///
/// # Panics
/// When the workload cannot be solved.
pub fn probe(direct: bool) -> String {
    let stiff = sheet(&SheetOptions::stiff(N)).expect("the workload is valid");
    let before = peak_memory_mb().unwrap_or(f64::NAN);
    let choice = if direct { SolverChoice::Direct } else { SolverChoice::Auto };
    let mut solver = LinearSolver::new(SolverOptions { choice, ..SolverOptions::default() })
        .expect("default options are valid");
    solver.prepare(stiff.matrix.pattern(), Some(&stiff.rest)).expect("the sheet has a pattern");
    solver.factor(&stiff.matrix).expect("the sheet's matrix is positive definite");
    let mut x = vec![0.0; stiff.rhs.len()];
    solver.solve(&stiff.matrix, &stiff.rhs, &mut x, 1e-6).expect("the sheet is solved");
    format!("{before} {}", peak_memory_mb().unwrap_or(f64::NAN))
}

fn run(_context: &Context, emit: &mut dyn FnMut(Row)) {
    for (word, goal) in [("auto", Some(Goal::AtMost(120.0))), ("direct", None)] {
        let reply = std::env::current_exe()
            .and_then(|program| Command::new(program).args(["--memory-probe", word]).output())
            .ok()
            .and_then(|output| String::from_utf8(output.stdout).ok());
        let numbers: Vec<f64> = reply
            .iter()
            .flat_map(|text| text.split_whitespace())
            .filter_map(|word| word.parse().ok())
            .collect();
        let [before, after] = numbers[..] else {
            eprintln!("warning: no answer from the process that measures memory");
            continue;
        };
        emit(Row {
            workload: "memory".into(),
            case: format!("n={N}, {word}"),
            quantity: "peak memory".into(),
            unit: "MB",
            ours: after,
            goal,
            note: format!("{before:.0} MB of it with the matrix, before the solver"),
            ..Row::default()
        });
    }
}
