//! Times the solvers on the sheet matrices against faer's sparse Cholesky called at its low level, all in one run.
//!
//! `cargo run --release -p sim-linalg --example w1 -- [n …] [patch=SIZE]`
//!
//! Per size and stiffness: milliseconds of processor time of one thread (numeric set-up and solve, the best of several
//! rounds in which the methods take turns), iterations, and the ratio to faer. Two threads are timed by the clock on the
//! wall, next to one thread by the same clock. Every solution is checked.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use sim_linalg::workload::{Sheet, SheetOptions, sheet};
use sim_linalg::{
    DirectSolver, LinearSolver, PreconditionerOptions, SolverChoice, SolverOptions, SparseCholesky,
};

fn processor_ms() -> f64 {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    1e3 * t.tv_sec as f64 + 1e-6 * t.tv_nsec as f64
}

/// Best times of one method.
struct Timing {
    name: String,
    setup: f64,
    total: f64,
    wall: f64,
    iterations: usize,
    check: f64,
}

/// One round of one method: set-up and solve, then the checked relative residual.
trait Contender {
    fn name(&self) -> String;
    fn round(&mut self, s: &Sheet, x: &mut [f64]) -> (f64, usize);
}

struct Faer(SparseCholesky);

impl Contender for Faer {
    fn name(&self) -> String {
        "faer LLT, low level".into()
    }

    fn round(&mut self, s: &Sheet, x: &mut [f64]) -> (f64, usize) {
        self.0.factor(&s.matrix).expect("the sheet is positive definite");
        let set_up = processor_ms();
        x.copy_from_slice(&s.rhs);
        self.0.solve_in_place(x);
        (set_up, 0)
    }
}

struct Ours(LinearSolver);

impl Contender for Ours {
    fn name(&self) -> String {
        let o = self.0.options();
        let level = o.preconditioner.fill_level;
        format!("{} (fill {level}), {} thread(s)", self.0.method().0, o.threads)
    }

    fn round(&mut self, s: &Sheet, x: &mut [f64]) -> (f64, usize) {
        self.0.factor(&s.matrix).expect("the sheet is positive definite");
        let set_up = processor_ms();
        x.fill(0.0);
        let report = self.0.solve(&s.matrix, &s.rhs, x, 1e-6).expect("the sheet converges");
        assert!(report.fallback.is_none(), "{report:?}");
        (set_up, report.iterations)
    }
}

fn measure(s: &Sheet, contenders: &mut [Box<dyn Contender>], rounds: usize) -> Vec<Timing> {
    let blank = || Timing {
        name: String::new(),
        setup: f64::INFINITY,
        total: f64::INFINITY,
        wall: f64::INFINITY,
        iterations: 0,
        check: 0.0,
    };
    let mut timings: Vec<Timing> = contenders.iter().map(|_| blank()).collect();
    let mut x = vec![0.0; s.rhs.len()];
    for round in 0..rounds {
        for (contender, timing) in contenders.iter_mut().zip(&mut timings) {
            let (wall, start) = (Instant::now(), processor_ms());
            let (set_up, iterations) = contender.round(s, &mut x);
            let end = processor_ms();
            timing.wall = timing.wall.min(1e3 * wall.elapsed().as_secs_f64());
            if end - start < timing.total {
                (timing.total, timing.setup) = (end - start, set_up - start);
            }
            timing.iterations = iterations;
            if round == 0 {
                timing.name = contender.name();
            }
            timing.check = x.iter().map(|v| v * v).sum::<f64>().sqrt();
        }
    }
    timings
}

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let patch_size = std::env::args()
        .find_map(|a| a.strip_prefix("patch=").and_then(|size| size.parse().ok()))
        .unwrap_or(PreconditionerOptions::default().patch_size);
    let sizes = if sizes.is_empty() { vec![50, 100, 200] } else { sizes };
    for n in sizes {
        for (kind, options) in [("stiff", SheetOptions::stiff(n)), ("soft", SheetOptions::soft(n))] {
            let s = sheet(&options).expect("a sheet");
            let prepared = |choice, threads, fill_level| -> Box<dyn Contender> {
                let preconditioner =
                    PreconditionerOptions { fill_level, patch_size, ..PreconditionerOptions::default() };
                let options = SolverOptions { choice, threads, preconditioner, ..SolverOptions::default() };
                let mut solver = LinearSolver::new(options).expect("valid options");
                solver.prepare(s.matrix.pattern(), Some(&s.rest)).expect("a valid pattern");
                Box::new(Ours(solver))
            };
            let mut contenders: Vec<Box<dyn Contender>> = vec![
                Box::new(Faer(SparseCholesky::new(s.matrix.pattern()).expect("a valid pattern"))),
                prepared(SolverChoice::Auto, 1, PreconditionerOptions::default().fill_level),
                prepared(SolverChoice::TwoLevel, 1, 0),
                prepared(SolverChoice::TwoLevel, 1, 1),
                prepared(SolverChoice::TwoLevelAdditive, 1, 1),
                prepared(SolverChoice::TwoLevel, 2, 1),
            ];
            if n <= 100 {
                contenders.push(prepared(SolverChoice::BlockIncompleteCholesky, 1, 0));
                contenders.push(prepared(SolverChoice::BlockIncompleteCholesky, 1, 1));
                contenders.push(prepared(SolverChoice::BlockJacobi, 1, 0));
            }
            let timings = measure(&s, &mut contenders, if n <= 100 { 7 } else { 3 });
            println!("\n{kind} sheet, n = {n}, {} unknowns", s.rhs.len());
            println!(
                "{:<44} {:>9} {:>9} {:>8} {:>6} {:>9} {:>8}",
                "method", "set-up", "total", "ratio", "its", "wall", "ratio"
            );
            let (faer, exact) = (timings[0].total, timings[0].check);
            for t in &timings {
                let (wall, ratio, wall_ratio) = (t.wall, t.total / faer, t.wall / timings[0].wall);
                println!(
                    "{:<44} {:>9.2} {:>9.2} {ratio:>8.3} {:>6} {wall:>9.2} {wall_ratio:>8.3}",
                    t.name, t.setup, t.total, t.iterations
                );
                let error = (t.check / exact - 1.0).abs();
                assert!(error < 1e-6, "{}: norm {} instead of {exact}", t.name, t.check);
            }
        }
    }
}
