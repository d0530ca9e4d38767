//! Conjugate gradients against published and exact reference values; case ids of the reference set in the names.

use faer::sparse::{SparseColMat, Triplet};
use nalgebra::{DMatrix, DVector};
use sim_linalg::{
    CgError, CgOptions, CgWorkspace, FaerOperator, IdentityPreconditioner, LinearOperator, NonFiniteSource,
    Preconditioner, conjugate_gradients,
};

fn sparse(rows: &[&[f64]]) -> SparseColMat<u32, f64> {
    let mut triplets = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        triplets.extend(
            row.iter()
                .enumerate()
                .filter(|(_, v)| **v != 0.0)
                .map(|(j, &v)| Triplet::new(i as u32, j as u32, v)),
        );
    }
    SparseColMat::try_new_from_triplets(rows.len(), rows.len(), &triplets).unwrap()
}

fn solve(
    rows: &[&[f64]],
    b: &[f64],
    x: &mut [f64],
    options: &CgOptions,
) -> Result<sim_linalg::CgReport, CgError> {
    let operator = FaerOperator::new(sparse(rows));
    conjugate_gradients(&operator, &IdentityPreconditioner, b, x, options, &mut CgWorkspace::default())
}

const KERSHAW: [&[f64]; 4] =
    [&[3.0, -2.0, 0.0, 2.0], &[-2.0, 3.0, -2.0, 0.0], &[0.0, -2.0, 3.0, -2.0], &[2.0, 0.0, -2.0, 3.0]];

#[test]
fn e_cg_2x2_rational_iterates() {
    let rows: [&[f64]; 2] = [&[4.0, 1.0], &[1.0, 3.0]];
    let mut x = [2.0, 1.0];
    let one = CgOptions { relative_tolerance: 1e-12, max_iterations: 1, ..CgOptions::default() };
    let error = solve(&rows, &[1.0, 2.0], &mut x, &one).unwrap_err();
    // The guess (2, 1) is worse than zero; the published iterates start there all the same, so ask for them via r = b − A x.
    assert!(matches!(error, CgError::NotConverged { iteration: 1, .. }));
    let shifted = [1.0 - 9.0, 2.0 - 5.0];
    let mut d = [0.0; 2];
    let _ = solve(&rows, &shifted, &mut d, &one).unwrap_err();
    for (value, expected) in [2.0 + d[0], 1.0 + d[1]].iter().zip([0.23564954682779457, 0.338368580060423]) {
        assert!((value - expected).abs() < 1e-14, "{value} {expected}");
    }
    let mut x = [2.0, 1.0];
    let two = CgOptions { relative_tolerance: 1e-12, ..CgOptions::default() };
    let report = solve(&rows, &[1.0, 2.0], &mut x, &two).unwrap();
    assert_eq!(report.iterations, 2);
    assert!((x[0] - 1.0 / 11.0).abs() < 1e-14 && (x[1] - 7.0 / 11.0).abs() < 1e-14, "{x:?}");
}

#[test]
fn e_cg_distinct_eigenvalues() {
    let options = CgOptions { relative_tolerance: 1e-12, ..CgOptions::default() };
    for b in [[1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0], [0.3, -2.0, 0.0, 7.0]] {
        let report = solve(&KERSHAW, &b, &mut [0.0; 4], &options).unwrap();
        assert!(report.iterations <= 2, "{}", report.iterations);
    }
    let identity: [&[f64]; 3] = [&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0]];
    assert_eq!(solve(&identity, &[1.0, -2.0, 5.0], &mut [0.0; 3], &options).unwrap().iterations, 1);
}

#[test]
fn e_kershaw_exact_solution_b_1234() {
    let mut x = [0.0; 4];
    solve(
        &KERSHAW,
        &[1.0, 2.0, 3.0, 4.0],
        &mut x,
        &CgOptions { relative_tolerance: 1e-14, ..CgOptions::default() },
    )
    .unwrap();
    for (value, expected) in x.iter().zip([-1.0, 14.0, 21.0, 16.0]) {
        assert!((value - expected).abs() < 1e-11, "{x:?}");
    }
}

struct Dense(DMatrix<f64>);
impl LinearOperator for Dense {
    fn dim(&self) -> usize {
        self.0.nrows()
    }
    fn apply(&self, x: &[f64], y: &mut [f64]) {
        y.copy_from_slice((&self.0 * DVector::from_column_slice(x)).as_slice());
    }
}

/// E-filtered-cg: the second of three components is prescribed, leaves the system and moves to the right-hand side.
#[test]
fn e_filtered_cg_by_elimination() {
    let prescribed = 0.5;
    let reduced: [&[f64]; 2] = [&[4.0, 0.0], &[0.0, 5.0]];
    let mut x = [0.0; 2];
    let options = CgOptions { relative_tolerance: 1e-14, ..CgOptions::default() };
    solve(&reduced, &[1.0 - prescribed, 3.0 - prescribed], &mut x, &options).unwrap();
    assert!((x[0] - 0.125).abs() < 1e-13 && (x[1] - 0.5).abs() < 1e-13, "{x:?}");
    let constraint_residual = (x[0] + 3.0 * prescribed + x[1]) - 2.0;
    assert!((constraint_residual - 0.125).abs() < 1e-13);
}

/// E-stiffness-ratio-two-springs: 1e7 : 1e2, both ways round.
#[test]
fn e_stiffness_ratio_two_springs() {
    let options = CgOptions { relative_tolerance: 1e-13, ..CgOptions::default() };
    for (k1, k2, expected) in [(1e2, 1e7, [0.01, 0.0100001]), (1e7, 1e2, [1e-7, 0.0100001])] {
        let operator = Dense(DMatrix::from_row_slice(2, 2, &[k1 + k2, -k2, -k2, k2]));
        let mut x = [0.0; 2];
        let mut workspace = CgWorkspace::default();
        let solved = conjugate_gradients(
            &operator,
            &IdentityPreconditioner,
            &[0.0, 1.0],
            &mut x,
            &options,
            &mut workspace,
        );
        // Rounding allows about eps * condition = 1e-10 here: a tolerance below may stagnate but never lies.
        if let Err(error) = solved {
            assert!(matches!(error, CgError::Stagnated { .. }), "{error}");
        }
        for (value, expected) in x.iter().zip(expected) {
            assert!((value / expected - 1.0).abs() < 1e-8, "{x:?}");
        }
    }
}

#[test]
fn l30_iteration_cap_is_an_error_with_the_true_residual() {
    let n = 100;
    let mut k = DMatrix::zeros(n, n);
    for spring in 0..=n {
        let stiffness = if spring == 30 { 1e8 } else { 1.0 };
        // Spring s joins unknowns s − 1 and s; both ends are walls.
        for (i, sign) in [(spring.wrapping_sub(1), 1.0), (spring, 1.0)] {
            if i < n {
                k[(i, i)] += sign * stiffness;
            }
        }
        if spring > 0 && spring < n {
            k[(spring - 1, spring)] -= stiffness;
            k[(spring, spring - 1)] -= stiffness;
        }
    }
    let operator = Dense(k.clone());
    let (b, mut x) = (vec![1.0; n], vec![0.0; n]);
    let options = CgOptions { relative_tolerance: 1e-8, max_iterations: 20, ..CgOptions::default() };
    let error = conjugate_gradients(
        &operator,
        &IdentityPreconditioner,
        &b,
        &mut x,
        &options,
        &mut CgWorkspace::default(),
    )
    .unwrap_err();
    let CgError::NotConverged { iteration, relative_residual, .. } = error else { panic!("{error}") };
    let truth = (DVector::from_element(n, 1.0) - &k * DVector::from_column_slice(&x)).norm() / 10.0;
    assert_eq!(iteration, 20);
    assert!((relative_residual / truth - 1.0).abs() < 1e-12);
    assert!((relative_residual - 4.3).abs() < 0.1, "{relative_residual}");
}

#[test]
fn l33_units_do_not_change_the_iterations() {
    // Chain of two masses m with springs k: M + h²K in SI and in mm-g-ms (k: N/m = g/ms²·1e-3·1e3…, m: kg = 1e3 g).
    let run = |mass: f64, stiffness: f64, h: f64, force: f64| {
        let (m, s) = (mass, h * h * stiffness);
        let operator = Dense(DMatrix::from_row_slice(2, 2, &[m + 2.0 * s, -s, -s, m + s]));
        let mut x = [0.0; 2];
        let options = CgOptions { relative_tolerance: 1e-10, ..CgOptions::default() };
        let b = [h * force, 2.0 * h * force];
        let mut workspace = CgWorkspace::default();
        let report =
            conjugate_gradients(&operator, &IdentityPreconditioner, &b, &mut x, &options, &mut workspace)
                .unwrap();
        (report.iterations, x)
    };
    let (si_iterations, si) = run(1e-6, 1.0, 1e-3, 1e-6);
    // kg → 1e3 g; N/m = kg/s² → 1e3 g / (1e3 ms)² = 1e-3; s → 1e3 ms; N → 1e3 g · 1e3 mm / 1e6 ms² = 1; m/s → mm/ms = 1.
    let (iterations, x) = run(1e-3, 1e-3, 1.0, 1e-6);
    assert_eq!(iterations, si_iterations);
    for k in 0..2 {
        assert!((x[k] / si[k] - 1.0).abs() < 1e-8, "{si:?} {x:?}");
    }
}

struct Negative;
impl Preconditioner for Negative {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        z.iter_mut().zip(r).for_each(|(z, r)| *z = -r);
    }
    fn name(&self) -> &'static str {
        "negative"
    }
}

#[test]
fn failures_carry_iteration_and_residual() {
    let options = CgOptions::default();
    let spd: [&[f64]; 2] = [&[2.0, 1.0], &[1.0, 2.0]];

    let mut x = [5.0, 5.0];
    let error = solve(&spd, &[0.0, 0.0], &mut x, &options).unwrap_err();
    assert_eq!(error, CgError::ZeroRightHandSide { iteration: 0, residual: 0.0 });
    assert_eq!(x, [0.0, 0.0]);

    let error = solve(&spd, &[0.0, f64::NAN], &mut [0.0; 2], &options).unwrap_err();
    assert!(matches!(
        error,
        CgError::NotFinite { source_of: NonFiniteSource::RightHandSide { index: 1 }, iteration: 0, .. }
    ));
    let error = solve(&spd, &[0.0, 1.0], &mut [f64::INFINITY, 0.0], &options).unwrap_err();
    assert!(matches!(
        error,
        CgError::NotFinite { source_of: NonFiniteSource::InitialGuess { index: 0 }, .. }
    ));
    let error =
        solve(&[&[2.0, f64::NAN], &[f64::NAN, 2.0]], &[1.0, 1.0], &mut [0.0; 2], &options).unwrap_err();
    assert!(
        matches!(error, CgError::NotFinite { source_of: NonFiniteSource::Operator, iteration: 0, .. }),
        "{error}"
    );

    // Indefinite (L35's axial and transverse values): the first direction still has positive curvature.
    let error = solve(&[&[1090.0, 0.0], &[0.0, -910.0]], &[10.0, 1.0], &mut [0.0; 2], &options).unwrap_err();
    let CgError::IndefiniteOperator { iteration, relative_residual, curvature } = error else {
        panic!("{error}")
    };
    assert!(iteration == 1 && curvature < 0.0 && relative_residual.is_finite());

    // Singular: solvable in its range, an error outside of it.
    let free: [&[f64]; 3] = [&[1.0, -1.0, 0.0], &[-1.0, 2.0, -1.0], &[0.0, -1.0, 1.0]];
    let mut x = [0.0; 3];
    assert!(solve(&free, &[1.0, 0.0, -1.0], &mut x, &options).is_ok());
    let error = solve(&free, &[1.0, 0.0, 0.5], &mut [0.0; 3], &options).unwrap_err();
    assert!(matches!(error, CgError::Singular { iteration: 1.., .. }), "{error}");
    assert!(error.relative_residual().unwrap() > 1e-3);
    let error = solve(&[&[0.0, 0.0], &[0.0, 0.0]], &[1.0, 0.0], &mut [0.0; 2], &options).unwrap_err();
    assert!(matches!(error, CgError::Singular { iteration: 0, .. }), "{error}");

    let operator = FaerOperator::new(sparse(&spd));
    let mut workspace = CgWorkspace::default();
    let error =
        conjugate_gradients(&operator, &Negative, &[1.0, 0.0], &mut [0.0; 2], &options, &mut workspace)
            .unwrap_err();
    assert!(matches!(error, CgError::IndefinitePreconditioner { iteration: 0, .. }), "{error}");
}

/// A recurrence that claims convergence below what rounding allows is found out.
#[test]
fn the_true_residual_decides() {
    let n = 40;
    let mut rows = DMatrix::zeros(n, n);
    for i in 0..n {
        for j in 0..n {
            rows[(i, j)] = 1.0 / (i + j + 1) as f64; // Hilbert: condition beyond 1e18
        }
    }
    let operator = Dense(rows);
    let b: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let mut x = vec![0.0; n];
    let options = CgOptions { relative_tolerance: 1e-10, max_iterations: 20_000, ..CgOptions::default() };
    let result = conjugate_gradients(
        &operator,
        &IdentityPreconditioner,
        &b,
        &mut x,
        &options,
        &mut CgWorkspace::default(),
    );
    let mut y = vec![0.0; n];
    operator.apply(&x, &mut y);
    let truth = y.iter().zip(&b).map(|(y, b)| (b - y) * (b - y)).sum::<f64>().sqrt() / (n as f64).sqrt();
    match result {
        Ok(report) => assert!(truth <= 1e-10 * (1.0 + 1e-6) && report.relative_residual <= 1e-10),
        Err(error) => {
            let reported = error.relative_residual().unwrap();
            assert!((reported / truth - 1.0).abs() < 1e-6, "{error}: true residual {truth}");
        }
    }
}

#[test]
fn warm_start_and_history() {
    let rows: [&[f64]; 2] = [&[4.0, 1.0], &[1.0, 3.0]];
    let options = CgOptions { record_history: true, ..CgOptions::default() };
    let mut x = [1.0 / 11.0, 7.0 / 11.0];
    let report = solve(&rows, &[1.0, 2.0], &mut x, &options).unwrap();
    assert!(report.warm_start && report.iterations == 0 && report.relative_residual < 1e-15);
    let mut x = [1e9, -1e9];
    let report = solve(&rows, &[1.0, 2.0], &mut x, &options).unwrap();
    assert!(!report.warm_start);
    assert_eq!(report.history.len(), report.iterations + 1);
    assert_eq!(report.history[0], 1.0);
}
