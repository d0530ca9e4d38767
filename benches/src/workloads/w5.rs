//! W5: a long space truss: statics, Newmark steps and the ten lowest modes.

use crate::measure::{Clock, Timing, summarize, time};
use crate::peers::{agree, expected, number, run_all};
use crate::row::{Goal, Row};
use crate::{Context, Workload};
use serde_json::Value;
use sim_fem::Structure;
use sim_fem::analysis::Stiffness;
use sim_fem::analysis::linear_static::linear_static_with;
use sim_fem::analysis::modal::{ModalOptions, modal};
use sim_fem::analysis::transient::{InitialState, TransientOptions, TransientReport, transient};
use sim_fem::factor::FactorKind;
use sim_fem::workload::box_truss;
use std::ops::ControlFlow;

/// Registry entry.
pub const WORKLOAD: Workload =
    Workload { id: "W5", summary: "space truss of up to 117,006 unknowns: static, Newmark, ten modes", run };

/// Bays, steps timed per run, and the wanted Newmark / Eigen, static / `OpenSees` and modes / best peer.
const SIZES: [(usize, usize, [f64; 3]); 3] =
    [(100, 20_000, [0.5, 0.15, 0.6]), (1000, 2000, [0.5, 0.15, 0.5]), (10_000, 200, [0.6, 0.15, 0.4])];

/// The steps after which the expected norms were taken.
const CHECKED_STEPS: usize = 1000;

fn run(context: &Context, emit: &mut dyn FnMut(Row)) {
    let (sizes, repeats) = if context.quick { (&SIZES[..2], 3) } else { (&SIZES[..], 7) };
    for &(bays, steps, goals) in sizes {
        let structure = box_truss(bays);
        let case = Case {
            context,
            bays,
            repeats,
            label: format!("{} unknowns", structure.unknown_count()),
            right: expected()["W5"][format!("N={bays}")].clone(),
            structure,
        };
        case.newmark(steps, goals[0], emit);
        // Its two solvers for narrow matrices; the faster one counts in each row.
        let opensees: Vec<Value> = ["ProfileSPD", "BandSPD"]
            .iter()
            .flat_map(|solver| case.peer("w5_opensees", &[&bays.to_string(), solver, "1"]))
            .collect();
        case.statics(&opensees, goals[1], emit);
        case.modes(&opensees, goals[2], emit);
    }
}

struct Case<'a> {
    context: &'a Context,
    bays: usize,
    repeats: usize,
    label: String,
    right: Value,
    structure: Structure,
}

impl Case<'_> {
    /// The objects a peer prints; none, with a warning, when it fails.
    fn peer(&self, program: &str, arguments: &[&str]) -> Vec<Value> {
        run_all(self.context, program, arguments).unwrap_or_else(|error| {
            eprintln!("warning: {error}");
            Vec::new()
        })
    }

    fn row(&self, quantity: &str, unit: &'static str, timing: Timing, scale: f64) -> Row {
        Row {
            workload: "W5".into(),
            case: self.label.clone(),
            quantity: quantity.into(),
            unit,
            ours: scale * timing.median,
            spread: timing.spread,
            ..Row::default()
        }
    }

    fn expect(&self, field: &str) -> f64 {
        self.right[field].as_f64().unwrap_or(f64::NAN)
    }

    fn march(&self, steps: usize) -> TransientReport {
        let options = TransientOptions { dt: 1e-3, steps, ..TransientOptions::default() };
        let start = InitialState::at_rest(&self.structure);
        transient(&self.structure, &start, &options, &mut |_| ControlFlow::Continue(()))
            .expect("average acceleration is stable")
    }

    /// Time per step: the difference of a long and a short run, on both sides, in turns.
    fn newmark(&self, steps: usize, goal: f64, emit: &mut dyn FnMut(Row)) {
        let short = steps / 10;
        let per_step = 1.0 / (steps - short) as f64;
        let (mut ours, mut eigen) = (Vec::new(), Vec::new());
        for _ in 0..self.repeats {
            let seconds = |steps: usize| {
                time(Clock::Cpu, 1, || {
                    self.march(steps);
                })
                .median
            };
            ours.push((seconds(steps) - seconds(short)) * per_step);
            // Both orderings of Eigen; the faster one counts.
            let runs = [steps, short]
                .map(|steps| self.peer("w5_eigen", &[&self.bays.to_string(), &steps.to_string()]));
            let [long, short] = runs.map(|objects| {
                let eigen =
                    objects.iter().filter(|o| o["peer"].as_str().is_some_and(|p| p.starts_with("eigen")));
                eigen.map(|o| number(o, "newmark_s").unwrap_or(f64::NAN)).collect::<Vec<f64>>()
            });
            let times = long.iter().zip(&short).map(|(long, short)| (long - short) * per_step);
            eigen.extend(times.reduce(f64::min));
        }
        let end = self.march(CHECKED_STEPS);
        let wanted = |field: &str| self.right["newmark_1000_steps"][field].as_f64().unwrap_or(f64::NAN);
        let correct = agree(norm(&end.displacement), wanted("x_norm"), 8)
            && agree(norm(&end.velocity), wanted("v_norm"), 6);
        emit(Row {
            peer_name: Some("Eigen LDLT".into()),
            peer: (!eigen.is_empty()).then(|| 1e6 * summarize(eigen).median),
            goal: Some(Goal::RatioAtMost(goal)),
            note: format!("{steps} steps"),
            correct: Some(correct),
            ..self.row("Newmark step", "µs", summarize(ours), 1e6)
        });
    }

    fn statics(&self, opensees: &[Value], goal: f64, emit: &mut dyn FnMut(Row)) {
        let new = || Stiffness::new(&self.structure, FactorKind::Auto).expect("the pattern is small");
        let analysis = time(Clock::Cpu, self.repeats, || {
            new();
        });
        let mut stiffness = new();
        let mut solve =
            || linear_static_with(&self.structure, 0.0, &mut stiffness).expect("the truss is held and stiff");
        let timing = time(Clock::Cpu, 3 * self.repeats, || {
            solve();
        });
        let displacement = solve().displacement;
        let lowest = displacement.iter().copied().fold(0.0, f64::min);
        let correct = agree(norm(&displacement), self.expect("static_u_norm"), 9)
            && agree(lowest, self.expect("static_u_min"), 9);
        emit(Row {
            peer_name: Some("OpenSees".into()),
            peer: fastest(opensees, "static_s").map(|s| 1e3 * s),
            goal: Some(Goal::RatioAtMost(goal)),
            note: format!("analysis of the pattern apart: {:.2} ms", 1e3 * analysis.median),
            correct: Some(correct),
            ..self.row("static with assembly", "ms", timing, 1e3)
        });
    }

    fn modes(&self, opensees: &[Value], goal: f64, emit: &mut dyn FnMut(Row)) {
        let find = || modal(&self.structure, None, &ModalOptions::default()).expect("ten modes exist");
        let timing = time(Clock::Cpu, self.repeats, || {
            find();
        });
        let report = find();
        let wanted = self.right["lowest_10_freq_hz"].as_array().map_or(&[][..], Vec::as_slice);
        let correct = wanted.len() == report.modes.len()
            && wanted.iter().zip(&report.modes).all(|(wanted, mode)| {
                wanted.as_f64().is_some_and(|wanted| agree(mode.frequency(), wanted, 9))
            });
        let scipy = self.peer("w5_scipy", &[&self.bays.to_string(), "1"]);
        let times = [("OpenSees", opensees, "eigen_s"), ("SciPy", &scipy, "eigsh_s")]
            .map(|(name, objects, field)| (name, fastest(objects, field)));
        let best = times.into_iter().filter_map(|(name, time)| Some((name, time?)));
        let best = best.min_by(|a, b| a.1.total_cmp(&b.1));
        emit(Row {
            peer_name: best.map(|(name, _)| name.into()),
            peer: best.map(|(_, seconds)| 1e3 * seconds),
            goal: Some(Goal::RatioAtMost(goal)),
            note: format!("{} factorizations, {} solves", report.factorizations, report.solves),
            correct: Some(correct),
            ..self.row("ten lowest modes", "ms", timing, 1e3)
        });
    }
}

fn fastest(objects: &[Value], field: &str) -> Option<f64> {
    objects.iter().filter_map(|object| number(object, field)).reduce(f64::min)
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}
