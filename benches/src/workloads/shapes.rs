//! Grids of many sizes and stiffnesses, and garments: iterations of the two-level method and time against faer.

use crate::cloth::{Cloth, ClothStiffness};
use crate::measure::{Clock, time};
use crate::net::{DT, Garment, MASS, Net, Problem};
use crate::row::{Goal, Row};
use crate::{Context, Workload};
use sim_linalg::{LinearOperator, LinearSolver, SolverChoice, SolverOptions};

/// Registry entry.
pub const GRIDS: Workload = Workload {
    id: "grids",
    summary: "grids of 2,500 to 90,000 vertices, dt² k/m from 1e2 to 1e6, and folded ones: iterations, choice against the best",
    run: grids,
};

/// Registry entry.
pub const GARMENTS: Workload = Workload {
    id: "garments",
    summary: "meshes of `--meshes DIR` and their subdivisions, noisy and folded: iterations and time against faer",
    run: garments,
};

const TOLERANCE: f64 = 1e-6;
/// Iterations granted to a method that the automatic choice is compared with: beyond, it is not the best one.
const PATIENCE: usize = 250;

/// Time in s and solution of one method.
struct Solved {
    seconds: f64,
    iterations: usize,
    method: &'static str,
    /// Relative diagonal shift of the incomplete factor.
    shift: f64,
    x: Vec<f64>,
}

fn solve(problem: &Problem, choice: SolverChoice, max_iterations: usize, repeats: usize) -> Option<Solved> {
    let options = SolverOptions {
        choice,
        max_iterations,
        fallback_to_direct: choice == SolverChoice::Auto,
        ..SolverOptions::default()
    };
    let mut solver = LinearSolver::new(options).expect("the options are valid");
    solver.prepare(problem.matrix.pattern(), Some(&problem.rest)).expect("the net has a pattern");
    let mut x = vec![0.0; problem.rhs.len()];
    let mut report = None;
    let mut once = || {
        solver.factor(&problem.matrix).ok()?;
        x.fill(0.0);
        report = Some(solver.solve(&problem.matrix, &problem.rhs, &mut x, TOLERANCE).ok()?);
        Some(())
    };
    // The first round allocates what later rounds reuse.
    once()?;
    let seconds = time(Clock::Cpu, repeats, || {
        once();
    })
    .median;
    let report = report?;
    Some(Solved { seconds, iterations: report.iterations, method: report.method, shift: report.shift, x })
}

fn norm(x: impl Iterator<Item = f64>) -> f64 {
    x.map(|x| x * x).sum::<f64>().sqrt()
}

fn residual(problem: &Problem, x: &[f64]) -> f64 {
    let mut product = vec![0.0; x.len()];
    problem.matrix.apply(x, &mut product);
    norm(product.iter().zip(&problem.rhs).map(|(p, b)| b - p))
}

/// Whether the true residual meets the tolerance and the solution is as near to the direct one as both residuals allow: no
/// eigenvalue of `M + h D + h² K` is below the mass of a vertex.
fn right(problem: &Problem, x: &[f64], direct: Option<&[f64]>) -> bool {
    let own = residual(problem, x);
    let small = own <= 1.001 * TOLERANCE * norm(problem.rhs.iter().copied());
    let near = direct.is_none_or(|direct| {
        let apart = norm(x.iter().zip(direct).map(|(x, y)| x - y));
        apart <= 1.01 * (own + residual(problem, direct)) / problem.vertex_mass
    });
    small && near
}

/// What is wanted of a case.
#[derive(Clone, Copy, Default)]
struct Wanted {
    deflated: Option<f64>,
    additive: Option<f64>,
    /// Automatic choice to faer.
    ratio: Option<f64>,
}

/// All rows of one system; returns the iterations of the deflated form.
fn case(workload: &str, name: &str, problem: &Problem, wanted: Wanted, emit: &mut dyn FnMut(Row)) -> usize {
    let unknowns = problem.rhs.len();
    let repeats = if unknowns > 100_000 { 1 } else { 3 };
    let direct = solve(problem, SolverChoice::Direct, 1, repeats);
    let reference = direct.as_ref().map(|direct| direct.x.as_slice());
    let mut own: Vec<(&str, f64)> = direct.iter().map(|direct| ("direct", direct.seconds)).collect();
    let mut deflated = 0;
    for (choice, word, goal) in [
        (SolverChoice::TwoLevel, "deflated", wanted.deflated),
        (SolverChoice::TwoLevelAdditive, "additive", wanted.additive),
    ] {
        let Some(solved) = solve(problem, choice, 5000, repeats) else {
            emit(Row {
                workload: workload.into(),
                case: name.into(),
                quantity: format!("{word} iterations"),
                ours: f64::INFINITY,
                goal: goal.map(Goal::AtMost),
                note: "not solved".into(),
                ..Row::default()
            });
            continue;
        };
        if choice == SolverChoice::TwoLevel {
            deflated = solved.iterations;
        }
        own.push((word, solved.seconds));
        emit(Row {
            workload: workload.into(),
            case: name.into(),
            quantity: format!("{word} iterations"),
            ours: solved.iterations as f64,
            goal: goal.map(Goal::AtMost),
            note: format!("{:.1} ms, shift {:.0e}", 1e3 * solved.seconds, solved.shift),
            correct: Some(right(problem, &solved.x, reference)),
            ..Row::default()
        });
    }
    for (choice, word) in [
        (SolverChoice::BlockIncompleteCholesky, "incomplete Cholesky"),
        (SolverChoice::BlockJacobi, "block Jacobi"),
    ] {
        if let Some(solved) = solve(problem, choice, PATIENCE, repeats) {
            own.push((word, solved.seconds));
        }
    }
    let Some(auto) = solve(problem, SolverChoice::Auto, 5000, repeats) else {
        emit(Row {
            workload: workload.into(),
            case: name.into(),
            quantity: "automatic choice".into(),
            note: "not solved".into(),
            correct: Some(false),
            ..Row::default()
        });
        return deflated;
    };
    let row = |peer: &str, seconds: f64, goal: Option<f64>| Row {
        workload: workload.into(),
        case: name.into(),
        quantity: "automatic choice".into(),
        unit: "ms",
        ours: 1e3 * auto.seconds,
        peer_name: Some(peer.into()),
        peer: Some(1e3 * seconds),
        goal: goal.map(Goal::RatioAtMost),
        note: format!("{}, {} iterations, {unknowns} unknowns", auto.method, auto.iterations),
        correct: Some(right(problem, &auto.x, reference)),
        ..Row::default()
    };
    if let Some(direct) = &direct {
        emit(row("faer Cholesky", direct.seconds, wanted.ratio));
    }
    if let Some((word, seconds)) = own.iter().min_by(|a, b| a.1.total_cmp(&b.1)) {
        emit(row(&format!("best: {word}"), *seconds, Some(1.2)));
    }
    deflated
}

fn grids(context: &Context, emit: &mut dyn FnMut(Row)) {
    for n in [50, 100, 200, 300] {
        if context.quick && n > 100 {
            continue;
        }
        let vertex_mass = MASS / (n * n) as f64;
        for exponent in 2..=6 {
            let stretch = 10f64.powi(exponent) * vertex_mass / (DT * DT);
            let stiffness = ClothStiffness { stretch, bending: 0.01 * stretch, damping_time: 0.01 };
            let cloth = Cloth::new(n, stiffness);
            let problem = net(&cloth).problem(&cloth.deformed());
            let wanted = Wanted { deflated: Some(30.0), additive: Some(45.0), ratio: None };
            case("grids", &format!("n={n}, dt² k/m = 1e{exponent}"), &problem, wanted, emit);
        }
        for slope in [1.0, 4.0] {
            let net = net(&Cloth::new(n, ClothStiffness::STIFF));
            let problem = net.problem(&net.bent(slope, 4.0));
            let wanted = Wanted { deflated: Some(30.0), additive: Some(45.0), ratio: None };
            case("grids", &format!("n={n}, folds of {slope} rad"), &problem, wanted, emit);
        }
    }
}

fn net(cloth: &Cloth) -> Net {
    let rest = cloth.rest().as_chunks::<3>().0.to_vec();
    Net { rest, springs: cloth.springs.clone(), pins: vec![0, cloth.n - 1] }
}

fn garments(context: &Context, emit: &mut dyn FnMut(Row)) {
    let Some(folder) = &context.meshes else {
        println!("     left out: no folder of meshes given by `--meshes`");
        return;
    };
    let largest = if context.quick { 10_000 } else { 150_000 };
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("obj")))
        .collect();
    files.sort();
    for file in files {
        let name = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let mut garment = match Garment::read(&file) {
            Ok(garment) => garment,
            Err(error) => {
                eprintln!("warning: {error}");
                continue;
            }
        };
        let mut before: [Option<usize>; 2] = [None; 2];
        while garment.vertices.len() <= largest {
            let vertices = garment.vertices.len();
            let net = garment.net();
            for (k, slope) in [0.0, 1.0].into_iter().enumerate() {
                if vertices < 5000 {
                    continue;
                }
                let state = if slope == 0.0 { "" } else { ", folded" };
                let wanted = Wanted {
                    // Stated for about 30,000 vertices.
                    deflated: (vertices > 20_000 && vertices < 50_000).then_some(90.0),
                    additive: None,
                    ratio: Some(if vertices < 15_000 { 0.95 } else { 0.65 }),
                };
                let case_name = format!("{name} {vertices}{state}");
                let iterations =
                    case("garments", &case_name, &net.problem(&net.bent(slope, 1.0)), wanted, emit);
                if let Some(coarser) = before[k].replace(iterations) {
                    emit(Row {
                        workload: "garments".into(),
                        case: case_name,
                        quantity: "iterations per 4x unknowns".into(),
                        ours: iterations as f64 / coarser as f64,
                        goal: Some(Goal::AtMost(1.5)),
                        ..Row::default()
                    });
                }
            }
            garment = garment.subdivided();
        }
    }
}
