//! W1: one sparse symmetric positive definite system of an implicit cloth step.

use crate::measure::{Clock, Timing, peak_memory_mb, time};
use crate::peers::{agree, expected, number, run as run_peer};
use crate::row::{Goal, Row};
use crate::{Context, Workload};
use serde_json::Value;
use sim_linalg::workload::{Sheet, SheetOptions, sheet};
use sim_linalg::{LinearSolver, SolveReport, SolverChoice, SolverOptions};

/// Registry entry.
pub const WORKLOAD: Workload = Workload {
    id: "W1",
    summary: "one linear system of a stiff (and a soft) cloth, numeric set-up and solve, tolerance 1e-6",
    run,
};

/// Vertices per side, then the wanted ratio to faer's sparse Cholesky on one and on two threads (stiff) and on one (soft).
const SIZES: [(usize, f64, f64, f64); 4] =
    [(50, 0.6, 0.4, 0.4), (100, 0.45, 0.3, 0.25), (200, 0.35, 0.2, 0.25), (300, 0.3, 0.15, 0.2)];

/// Times and outcome of one method on one matrix.
struct Solved {
    setup: Timing,
    total: Timing,
    report: SolveReport,
    norm: f64,
}

fn solve(sheet: &Sheet, choice: SolverChoice, threads: usize, repeats: usize) -> Solved {
    let options = SolverOptions { choice, threads, ..SolverOptions::default() };
    let mut solver = LinearSolver::new(options).expect("default options are valid");
    solver.prepare(sheet.matrix.pattern(), Some(&sheet.rest)).expect("the sheet has a pattern");
    let clock = if threads == 1 { Clock::Cpu } else { Clock::Wall };
    let mut x = vec![0.0; sheet.rhs.len()];
    let mut report = None;
    // The first round allocates what later rounds reuse.
    let mut once = |x: &mut Vec<f64>| {
        solver.factor(&sheet.matrix).expect("the sheet's matrix is positive definite");
        x.fill(0.0);
        report = Some(solver.solve(&sheet.matrix, &sheet.rhs, x, 1e-6).expect("the sheet is solved"));
    };
    once(&mut x);
    let total = time(clock, repeats, || once(&mut x));
    let setup = time(clock, repeats, || {
        solver.factor(&sheet.matrix).expect("the sheet's matrix is positive definite");
    });
    let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    Solved { setup, total, report: report.expect("solved at least once"), norm }
}

/// Milliseconds of faer's sparse Cholesky, numeric factorization and solve, on one thread.
pub(super) fn direct_ms(sheet: &Sheet) -> f64 {
    1e3 * solve(sheet, SolverChoice::Direct, 1, 5).total.median
}

fn run(context: &Context, emit: &mut dyn FnMut(Row)) {
    let expected = expected();
    for (n, one, two, soft) in SIZES {
        if context.quick && n > 100 {
            continue;
        }
        let repeats = if n >= 200 { 3 } else { 7 };
        let stiff = sheet(&SheetOptions::stiff(n)).expect("the workload is valid");
        let right = expected["W1"][format!("n={n},h=1/60")]["x_norm"].as_f64();
        family(context, emit, &stiff, &format!("n={n}"), right, (one, Some(two)), repeats);
        iterations(emit, &stiff, n, repeats);
        peers(context, emit, &stiff, n, repeats);
        let soft_sheet = sheet(&SheetOptions::soft(n)).expect("the workload is valid");
        let right = soft_norm(&expected, n);
        family(context, emit, &soft_sheet, &format!("soft n={n}"), right, (soft, None), repeats);
    }
}

fn soft_norm(expected: &Value, n: usize) -> Option<f64> {
    expected["W1_soft"][format!("n={n},h=1/600,ks=1000,kb=10,kdr=0.0001")]["x_norm"].as_f64()
}

/// The automatic choice against faer's sparse Cholesky.
fn family(
    _context: &Context,
    emit: &mut dyn FnMut(Row),
    sheet: &Sheet,
    case: &str,
    right: Option<f64>,
    (one, two): (f64, Option<f64>),
    repeats: usize,
) {
    let direct = solve(sheet, SolverChoice::Direct, 1, repeats);
    for (threads, goal) in [(1, Some(one)), (2, two)] {
        let Some(goal) = goal else { continue };
        let auto = solve(sheet, SolverChoice::Auto, threads, repeats);
        let share = auto.setup.median / auto.total.median;
        emit(Row {
            workload: "W1".into(),
            case: format!("{case}, {threads} thread{}", if threads == 1 { "" } else { "s" }),
            quantity: "set-up and solve".into(),
            unit: "ms",
            ours: 1e3 * auto.total.median,
            spread: auto.total.spread,
            peer_name: Some("faer Cholesky, 1 thread".into()),
            peer: Some(1e3 * direct.total.median),
            goal: Some(Goal::RatioAtMost(goal)),
            note: format!(
                "{} {} iterations, set-up {:.0} %, peak {:.0} MB",
                auto.report.method,
                auto.report.iterations,
                100.0 * share,
                peak_memory_mb().unwrap_or(f64::NAN)
            ),
            correct: right.map(|right| agree(auto.norm, right, 5) && agree(direct.norm, right, 6)),
        });
    }
}

/// Iteration counts of the two-level forms, which are the same on any machine.
fn iterations(emit: &mut dyn FnMut(Row), sheet: &Sheet, n: usize, repeats: usize) {
    for (choice, name, goal) in
        [(SolverChoice::TwoLevel, "deflated", 30.0), (SolverChoice::TwoLevelAdditive, "additive", 45.0)]
    {
        let solved = solve(sheet, choice, 1, repeats.min(3));
        emit(Row {
            workload: "W1".into(),
            case: format!("n={n}, {name} coarse space"),
            quantity: "iterations".into(),
            unit: "",
            ours: solved.report.iterations as f64,
            goal: Some(Goal::AtMost(goal)),
            note: format!("{:.1} ms", 1e3 * solved.total.median),
            ..Row::default()
        });
    }
}

/// Plain block incomplete Cholesky against the plain C++ one, and the automatic choice against Eigen.
fn peers(context: &Context, emit: &mut dyn FnMut(Row), sheet: &Sheet, n: usize, repeats: usize) {
    if n > 200 {
        return;
    }
    let ours = solve(sheet, SolverChoice::BlockIncompleteCholesky, 1, repeats.min(3));
    let reply = run_peer(context, "w1_cpp", &["own_bic0", &n.to_string(), "60", "3"]);
    let peer = reply.unwrap_or_else(|error| {
        eprintln!("warning: {error}");
        None
    });
    let per_iteration =
        peer.as_ref().and_then(|peer| Some(1e3 * number(peer, "solve_s")? / number(peer, "iters")?));
    emit(Row {
        workload: "W1".into(),
        case: format!("n={n}, block IC(0) alone"),
        quantity: "time per iteration".into(),
        unit: "ms",
        ours: 1e3 * (ours.total.median - ours.setup.median) / ours.report.iterations as f64,
        spread: ours.total.spread,
        peer_name: Some("plain C++ block IC(0)".into()),
        peer: per_iteration,
        goal: Some(Goal::RatioAtMost(0.7)),
        note: format!("{} iterations", ours.report.iterations),
        correct: None,
    });
}
