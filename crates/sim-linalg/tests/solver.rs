//! The facade: choices, reports, failures, and the same bits for any number of threads.

mod common;

use common::{
    Noise, chain_edges, grid_edges, loop_edges, network, noise_vector, relative_difference, relative_residual,
};
use nalgebra::{Matrix3, Vector3};
use sim_linalg::workload::{Sheet, SheetOptions, sheet};
use sim_linalg::{
    BlockPattern, BlockSymmetric, CgError, FactorError, LinearSolver, PreconditionerError,
    PreconditionerOptions, SolverChoice, SolverError, SolverOptions,
};
use std::sync::Arc;

fn solver(choice: SolverChoice, threads: usize) -> LinearSolver {
    LinearSolver::new(SolverOptions { choice, threads, ..SolverOptions::default() }).unwrap()
}

fn solve_sheet(s: &Sheet, solver: &mut LinearSolver, tolerance: f64) -> (Vec<f64>, sim_linalg::SolveReport) {
    solver.prepare(s.matrix.pattern(), Some(&s.rest)).unwrap();
    solver.factor(&s.matrix).unwrap();
    let mut x = vec![0.0; s.rhs.len()];
    let report = solver.solve(&s.matrix, &s.rhs, &mut x, tolerance).unwrap();
    (x, report)
}

/// Norms of the solution from the workload's reference program, to six digits.
#[test]
fn w1_solutions_and_iterations() {
    let s = sheet(&SheetOptions::stiff(50)).unwrap();
    for (choice, most, least) in [
        (SolverChoice::Direct, 2, 0),
        (SolverChoice::TwoLevel, 30, 5),
        (SolverChoice::TwoLevelAdditive, 45, 5),
        // The reference program needs 163 in natural order.
        (SolverChoice::BlockIncompleteCholesky, 200, 100),
        (SolverChoice::BlockJacobi, 840, 780),
    ] {
        let preconditioner = PreconditionerOptions { fill_level: 0, ..PreconditionerOptions::default() };
        let options = SolverOptions { choice, preconditioner, ..SolverOptions::default() };
        let (x, report) = solve_sheet(&s, &mut LinearSolver::new(options).unwrap(), 1e-6);
        let norm = x.iter().map(|v| v * v).sum::<f64>().sqrt();
        assert!((norm / 5.66273939 - 1.0).abs() < 1e-6, "{choice:?}: {norm}");
        assert!((least..=most).contains(&report.iterations), "{choice:?}: {}", report.iterations);
        assert!(report.relative_residual <= 1e-6 && report.fallback.is_none() && report.shift == 0.0);
        assert!((relative_residual(&s.matrix, &s.rhs, &x) / report.relative_residual - 1.0).abs() < 1e-3);
    }
    let soft = sheet(&SheetOptions::soft(100)).unwrap();
    let (x, report) = solve_sheet(&soft, &mut solver(SolverChoice::Auto, 2), 1e-6);
    let norm = x.iter().map(|v| v * v).sum::<f64>().sqrt();
    assert!((norm / 1.635935 - 1.0).abs() < 1e-6, "{norm}");
    assert!(report.iterations <= 51, "{report:?}");
}

#[test]
fn bits_do_not_depend_on_threads() {
    // Large enough for four chunks and their separators.
    let s = sheet(&SheetOptions::stiff(101)).unwrap();
    for choice in [
        SolverChoice::TwoLevel,
        SolverChoice::TwoLevelAdditive,
        SolverChoice::BlockIncompleteCholesky,
        SolverChoice::BlockJacobi,
    ] {
        let run = |threads: usize, fill_level: u8| {
            let preconditioner = PreconditionerOptions { fill_level, ..PreconditionerOptions::default() };
            let options = SolverOptions {
                choice,
                threads,
                preconditioner,
                record_history: true,
                ..SolverOptions::default()
            };
            let tolerance = if choice == SolverChoice::TwoLevel { 1e-6 } else { 0.1 };
            solve_sheet(&s, &mut LinearSolver::new(options).unwrap(), tolerance)
        };
        for fill in if choice == SolverChoice::TwoLevel { 0..2 } else { 1..2 } {
            let one = run(1, fill);
            for threads in [2, 4] {
                let many = run(threads, fill);
                assert_eq!(one.1, many.1, "{choice:?}, {threads} threads");
                assert!(
                    one.0.iter().zip(&many.0).all(|(a, b)| a.to_bits() == b.to_bits()),
                    "{choice:?}, {threads}"
                );
            }
        }
    }
}

/// serde knows every word of the enum and lists them when it meets another.
#[test]
fn all_choices_are_listed() {
    let message = serde_json::from_str::<SolverChoice>("\"nothing\"").unwrap_err().to_string();
    let words: Vec<&str> = message.split('`').skip(3).step_by(2).collect();
    let listed: Vec<String> = SolverChoice::ALL
        .iter()
        .map(|choice| serde_json::to_string(choice).unwrap().replace('"', ""))
        .collect();
    assert_eq!(words, listed);
}

#[test]
fn every_choice_solves_what_it_can() {
    let mut noise = Noise(3);
    let a = network(200, &chain_edges(200, 1), 1.0, |_| (noise.unit(), 1e4, 0.1));
    let b = noise_vector(1, 600);
    let mut reference: Option<Vec<f64>> = None;
    for &choice in SolverChoice::ALL {
        let mut solver = solver(choice, 1);
        solver.prepare(a.pattern(), None).unwrap();
        assert!(solver.is_prepared_for(a.pattern()));
        solver.factor(&a).unwrap();
        let mut x = vec![0.0; 600];
        let report = solver.solve(&a, &b, &mut x, 1e-10).unwrap();
        assert!(report.relative_residual <= 1e-10 && report.fallback.is_none(), "{choice:?} {report:?}");
        if let Some(reference) = &reference {
            assert!(relative_difference(&x, reference) < 1e-6, "{choice:?}");
        } else {
            assert_eq!((report.method, report.reason), ("block_tridiagonal", "the graph is a chain"));
            reference = Some(x);
        }
    }
}

#[test]
fn structure_and_size_decide() {
    let choose = |nodes: usize, edges: &[[u32; 2]]| {
        let pattern = Arc::new(BlockPattern::from_edges(nodes, edges).unwrap());
        let mut solver = solver(SolverChoice::Auto, 1);
        solver.prepare(&pattern, None).unwrap();
        solver.method().0
    };
    assert_eq!(choose(50, &chain_edges(50, 1)), "block_tridiagonal");
    assert_eq!(choose(50, &chain_edges(50, 2)), "block_pentadiagonal");
    assert_eq!(choose(50, &loop_edges(50, 1)), "closed_loop");
    assert_eq!(choose(50, &loop_edges(50, 2)), "closed_loop");
    assert_eq!(choose(7, &[[0, 3], [0, 5], [5, 1], [5, 6], [2, 4]]), "tree");
    assert_eq!(choose(100, &grid_edges(10)), "direct");
    let large = sheet(&SheetOptions::stiff(60)).unwrap();
    let (_, report) = solve_sheet(&large, &mut solver(SolverChoice::Auto, 1), 1e-6);
    assert_eq!(report.method, "two_level");
    // One word is enough to override, in a file too.
    let options: SolverOptions = serde_json::from_str(r#"{ "choice": "block_jacobi" }"#).unwrap();
    assert_eq!(options.choice, SolverChoice::BlockJacobi);
    assert!(serde_json::from_str::<SolverOptions>(r#"{ "choise": "direct" }"#).is_err());
}

#[test]
fn a_choice_that_does_not_fit_is_refused() {
    let pattern = Arc::new(BlockPattern::from_edges(25, &grid_edges(5)).unwrap());
    for choice in [
        SolverChoice::BlockTridiagonal,
        SolverChoice::BlockPentadiagonal,
        SolverChoice::ClosedLoop,
        SolverChoice::Tree,
    ] {
        let error = solver(choice, 1).prepare(&pattern, None).unwrap_err();
        assert!(matches!(error, SolverError::Factor(FactorError::Structure { .. })), "{choice:?}: {error}");
    }
    assert!(LinearSolver::new(SolverOptions { threads: 0, ..SolverOptions::default() }).is_err());
    assert!(LinearSolver::new(SolverOptions { max_iterations: 0, ..SolverOptions::default() }).is_err());
}

#[test]
fn a_failed_iteration_falls_back_and_says_so() {
    // Two chunks, so that two threads really share the solve that fails.
    let s = sheet(&SheetOptions::stiff(52)).unwrap();
    for threads in [1, 2] {
        let options = SolverOptions {
            choice: SolverChoice::BlockJacobi,
            max_iterations: 20,
            threads,
            ..SolverOptions::default()
        };
        let (x, report) = solve_sheet(&s, &mut LinearSolver::new(options.clone()).unwrap(), 1e-8);
        assert_eq!((report.method, report.reason), ("direct", "the iteration failed"));
        assert!(matches!(report.fallback, Some(CgError::NotConverged { iteration: 20, .. })));
        assert!(relative_residual(&s.matrix, &s.rhs, &x) < 1e-8);

        let mut strict = LinearSolver::new(SolverOptions { fallback_to_direct: false, ..options }).unwrap();
        strict.prepare(s.matrix.pattern(), None).unwrap();
        strict.factor(&s.matrix).unwrap();
        let mut x = vec![0.0; s.rhs.len()];
        let error = strict.solve(&s.matrix, &s.rhs, &mut x, 1e-8).unwrap_err();
        let SolverError::Iteration(CgError::NotConverged { iteration, relative_residual: reported, .. }) =
            error
        else {
            panic!("{error}")
        };
        assert_eq!(iteration, 20);
        assert!((relative_residual(&s.matrix, &s.rhs, &x) / reported - 1.0).abs() < 1e-6);
    }
}

/// One node in the middle is pulled apart by its surroundings: the factor needs a shift, and the iteration finds out.
#[test]
fn an_indefinite_sheet_is_found_out_by_any_number_of_threads() {
    let mut s = sheet(&SheetOptions::soft(52)).unwrap();
    let middle = s.matrix.block_rows() / 2;
    s.matrix.add(middle, middle, &(Matrix3::identity() * -0.2));
    let lowest = s.matrix.block(middle, middle).unwrap().symmetric_eigenvalues().min();
    assert!(lowest < 0.0, "{lowest}");
    for choice in [SolverChoice::TwoLevel, SolverChoice::BlockIncompleteCholesky, SolverChoice::Auto] {
        let outcome = |threads| {
            let mut solver = solver(choice, threads);
            solver.prepare(s.matrix.pattern(), Some(&s.rest)).unwrap();
            let mut x = vec![0.0; s.rhs.len()];
            solver.factor(&s.matrix).and_then(|_| solver.solve(&s.matrix, &s.rhs, &mut x, 1e-8)).unwrap_err()
        };
        let one = outcome(1);
        assert!(
            matches!(
                one,
                SolverError::Iteration(CgError::IndefiniteOperator { .. })
                    | SolverError::Preconditioner(PreconditionerError::Breakdown { .. })
            ),
            "{choice:?}: {one}"
        );
        assert_eq!(outcome(2), one);
    }
}

/// Report L35: 1090 along the spring, −910 across it.
#[test]
fn l35_indefinite_is_an_error_never_nan() {
    let (mass, h, k) = (0.1, 1.0_f64 / 30.0, 1000.0);
    // Pinned at one end: M + h² K of a spring compressed to half, unprojected: transverse k (1 − rest / length) = −k.
    let (axial, transverse) = (mass + h * h * k, mass - h * h * k);
    let scale = 1.0 / (h * h);
    assert!((axial * scale - 1090.0).abs() < 1e-9 && (transverse * scale + 910.0).abs() < 1e-9);
    let one = |transverse: f64| {
        let pattern = Arc::new(BlockPattern::from_edges(1, &[]).unwrap());
        let mut a = BlockSymmetric::zeros(pattern);
        a.add(0, 0, &Matrix3::from_diagonal(&Vector3::new(axial, transverse, transverse)));
        a
    };
    let (b, indefinite, projected) = ([1.0, 0.5, -0.25], one(transverse), one(mass));
    for choice in [
        SolverChoice::Auto,
        SolverChoice::Direct,
        SolverChoice::Identity,
        SolverChoice::BlockJacobi,
        SolverChoice::TwoLevel,
    ] {
        let mut solver = solver(choice, 1);
        solver.prepare(indefinite.pattern(), None).unwrap();
        let mut x = [0.0; 3];
        let error = match solver.factor(&indefinite) {
            Err(error) => error,
            Ok(_) => solver.solve(&indefinite, &b, &mut x, 1e-8).unwrap_err(),
        };
        assert!(
            matches!(
                error,
                SolverError::Factor(FactorError::NotPositiveDefinite { block_row: 0, .. })
                    | SolverError::Iteration(CgError::IndefiniteOperator { .. })
                    | SolverError::Preconditioner(PreconditionerError::Breakdown { block_row: 0, .. })
            ),
            "{choice:?}: {error}"
        );
        assert!(x.iter().all(|v| v.is_finite()));
        solver.factor(&projected).unwrap();
        solver.solve(&projected, &b, &mut x, 1e-8).unwrap();
        assert!((x[0] - 1.0 / axial).abs() < 1e-7 / axial && (x[2] + 0.25 / mass).abs() < 1e-6);
    }
}

/// A stiffness ratio of 1e7 : 1e2 in one net, both ways round, by every method that Auto may pick and by incomplete Cholesky.
#[test]
fn stiffness_ratio_1e7_to_1e2_converges() {
    let n = 30_u32;
    let edges = grid_edges(n);
    for (soft_outside, limit) in [(true, 1200), (false, 1200)] {
        let mut noise = Noise(21);
        let center = f64::from(n) / 2.0;
        let a = network((n * n) as usize, &edges, 1e-4, |k| {
            let v = edges[k][0];
            let inside = (f64::from(v % n) - center).abs() < 8.0 && (f64::from(v / n) - center).abs() < 8.0;
            (noise.unit(), (if inside == soft_outside { 1e7 } else { 1e2 }) / 3600.0, 0.01)
        });
        let b = noise_vector(2, 3 * (n * n) as usize);
        let rest: Vec<f64> = (0..n * n).flat_map(|v| [f64::from(v % n), f64::from(v / n), 0.0]).collect();
        let mut solutions = Vec::new();
        for choice in [
            SolverChoice::Auto,
            SolverChoice::Direct,
            SolverChoice::TwoLevel,
            SolverChoice::BlockIncompleteCholesky,
        ] {
            let mut solver = solver(choice, 1);
            solver.prepare(a.pattern(), Some(&rest)).unwrap();
            solver.factor(&a).unwrap();
            let mut x = vec![0.0; b.len()];
            let report = solver.solve(&a, &b, &mut x, 1e-8).unwrap();
            assert!(report.fallback.is_none() && report.iterations < limit, "{choice:?} {report:?}");
            assert!(relative_residual(&a, &b, &x) < 1.01e-8);
            solutions.push(x);
        }
        for x in &solutions {
            assert!(relative_difference(x, &solutions[1]) < 1e-4);
        }
    }
}

#[test]
fn singular_and_non_finite_systems_are_errors() {
    // A free net without mass: every translation is in the null space.
    let mut noise = Noise(4);
    let edges = grid_edges(12);
    let mut a = network(144, &edges, 0.0, |_| (noise.unit(), 1.0, 0.5));
    let b = noise_vector(3, 432);
    for choice in [
        SolverChoice::Auto,
        SolverChoice::TwoLevel,
        SolverChoice::BlockIncompleteCholesky,
        SolverChoice::Jacobi,
    ] {
        let mut solver = solver(choice, 1);
        solver.prepare(a.pattern(), None).unwrap();
        let mut x = vec![0.0; 432];
        let solved = solver.factor(&a).and_then(|_| solver.solve(&a, &b, &mut x, 1e-8));
        assert!(solved.is_err(), "{choice:?}: {solved:?}");
    }
    let mut rhs = b.clone();
    rhs[17] = f64::NAN;
    for i in 0..144 {
        a.add(i, i, &Matrix3::identity());
    }
    for choice in [SolverChoice::Auto, SolverChoice::TwoLevel, SolverChoice::Jacobi] {
        let mut solver = solver(choice, 1);
        solver.prepare(a.pattern(), None).unwrap();
        let mut x = vec![0.0; 432];
        let error = solver.solve(&a, &b, &mut x, 1e-8).unwrap_err();
        assert!(matches!(error, SolverError::OutOfOrder { missing: "factor", .. }));
        solver.factor(&a).unwrap();
        let error = solver.solve(&a, &rhs, &mut x, 1e-8).unwrap_err();
        assert_eq!(error, SolverError::RightHandSide { index: 17 });
        x.fill(3.0);
        let report = solver.solve(&a, &vec![0.0; 432], &mut x, 1e-8).unwrap();
        assert!(x.iter().all(|&v| v == 0.0) && report.iterations == 0 && report.relative_residual == 0.0);
        // A failure leaves nothing behind that spoils the next solve.
        solver.solve(&a, &b, &mut x, 1e-8).unwrap();
        assert!(relative_residual(&a, &b, &x) < 1.01e-8);
        let mut broken = a.clone();
        broken.upper_mut()[100][4] = f64::INFINITY;
        assert!(solver.factor(&broken).is_err(), "{choice:?}");
        assert!(matches!(solver.solve(&broken, &b, &mut x, 1e-8), Err(SolverError::OutOfOrder { .. })));
    }
}

#[test]
fn warm_starts_save_iterations() {
    let s = sheet(&SheetOptions::stiff(40)).unwrap();
    let mut solver = solver(SolverChoice::TwoLevel, 1);
    let (x, cold) = solve_sheet(&s, &mut solver, 1e-6);
    let mut warm: Vec<f64> =
        x.iter().zip(noise_vector(8, x.len())).map(|(x, r)| x * (1.0 + 1e-4 * r)).collect();
    let report = solver.solve(&s.matrix, &s.rhs, &mut warm, 1e-6).unwrap();
    assert!(report.iterations <= cold.iterations, "{} {}", report.iterations, cold.iterations);
    let mut exact = x;
    assert_eq!(solver.solve(&s.matrix, &s.rhs, &mut exact, 1e-5).unwrap().iterations, 0);
}

/// Tolerances far below what f32 alone could give: the preconditioner rounds to f32, the solution does not.
#[test]
fn tight_tolerances_are_reached() {
    let s = sheet(&SheetOptions::soft(40)).unwrap();
    for choice in [SolverChoice::TwoLevel, SolverChoice::BlockIncompleteCholesky] {
        let (x, report) = solve_sheet(&s, &mut solver(choice, 1), 1e-12);
        assert!(report.fallback.is_none() && report.relative_residual <= 1e-12, "{choice:?} {report:?}");
        assert!(relative_residual(&s.matrix, &s.rhs, &x) < 1.1e-12);
    }
}

/// A sheet in which half of the springs are slack, in directions of their own: nothing that a coarse space of stretched patches knows.
fn slack_sheet(n: u32) -> (BlockSymmetric, Vec<f64>, Vec<f64>) {
    let mut noise = Noise(5);
    let edges = grid_edges(n);
    let matrix = network((n * n) as usize, &edges, 3e-3, |_| {
        let stiffness = if noise.next() > 0.0 { 30.0 } else { 0.0 };
        (noise.unit(), stiffness, 0.0)
    });
    let rest = (0..n * n).flat_map(|v| [f64::from(v % n), f64::from(v / n), 0.0]).collect();
    let rhs = noise_vector(9, 3 * matrix.block_rows());
    (matrix, rest, rhs)
}

#[test]
fn slow_iterations_give_way_to_the_factorisation_by_what_the_residual_shows() {
    let (matrix, rest, rhs) = slack_sheet(40);
    let solve = |options: SolverOptions| {
        let mut solver = LinearSolver::new(options).unwrap();
        solver.prepare(matrix.pattern(), Some(&rest)).unwrap();
        let mut runs = Vec::new();
        for _ in 0..2 {
            solver.factor(&matrix).unwrap();
            let mut x = vec![0.0; rhs.len()];
            let report = solver.solve(&matrix, &rhs, &mut x, 1e-8).unwrap();
            assert!(relative_residual(&matrix, &rhs, &x) <= 1.0001e-8);
            runs.push((x, report));
        }
        runs
    };
    let options = |choice, threads| SolverOptions { choice, threads, ..SolverOptions::default() };
    let automatic = solve(options(SolverChoice::Auto, 1));
    for (_, report) in &automatic {
        let Some(CgError::TooSlow { iteration, remaining, worth, .. }) = report.fallback else {
            panic!("{report:?}")
        };
        assert_eq!((report.method, report.reason), ("direct", "iterating would have taken longer"));
        // Seen early, and rightly: the iteration that was asked for does take longer than that.
        assert!(iteration <= 12 && remaining > worth as f64, "{report:?}");
        let asked = &solve(options(SolverChoice::TwoLevel, 1))[0].1;
        assert!(asked.iterations > worth && asked.fallback.is_none(), "{asked:?}");
    }
    // The choice is made anew for every matrix, so that a second solve, or one after a restart, has the same bits; and by any number of
    // threads.
    assert_eq!(automatic[0].0, automatic[1].0);
    for threads in [2, 4] {
        assert_eq!(solve(options(SolverChoice::Auto, threads))[0].0, automatic[0].0, "{threads} threads");
    }
    let patient = SolverOptions { fallback_to_direct: false, ..options(SolverChoice::Auto, 1) };
    assert_eq!(solve(patient)[0].1.method, "two_level");
}

/// In a net without geometry most nodes border several chunks, and these border each other.
#[test]
fn a_tangle_is_solved_by_every_iteration() {
    let nodes = 6_000_u32;
    let mut noise = Noise(71);
    let edges: Vec<[u32; 2]> = (0..3 * nodes)
        .filter_map(|k| {
            let (i, j) = (k % nodes, noise.below(nodes as usize) as u32);
            (i != j).then_some([i, j])
        })
        .collect();
    let matrix = network(nodes as usize, &edges, 1.0, |_| (noise.unit(), 1e3, 0.1));
    let rhs = noise_vector(5, 3 * nodes as usize);
    for choice in
        [SolverChoice::BlockJacobi, SolverChoice::BlockIncompleteCholesky, SolverChoice::TwoLevelAdditive]
    {
        let bits = [1, 2].map(|threads| {
            let mut solver = solver(choice, threads);
            solver.prepare(matrix.pattern(), None).unwrap();
            solver.factor(&matrix).unwrap();
            let mut x = vec![0.0; rhs.len()];
            solver.solve(&matrix, &rhs, &mut x, 1e-8).unwrap();
            assert!(relative_residual(&matrix, &rhs, &x) < 1.1e-8, "{choice:?}");
            x
        });
        assert_eq!(bits[0], bits[1], "{choice:?}");
    }
}
