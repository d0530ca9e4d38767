//! Chains, two springs of very different stiffness, and closed loops by direct solvers.

use super::{blocks, dense, in_blocks, incomplete, operator, preconditioned_range, range, solve};
use crate::verify::cases::{CaseError, Verdict, apart, at_most, expected, input, relative, worst};
use nalgebra::DMatrix;
use sim_linalg::{BlockTree, BlockTridiagonal, ClosedLoop, DirectSolver, IdentityPreconditioner, Jacobi};
use sim_linalg::{MatrixPreconditioner, SparseCholesky};
use sim_verify::reference::Case;

/// tridiag(-1, 2, -1); a free end has 1 on the diagonal.
pub(super) fn laplacian(n: usize, free: bool) -> DMatrix<f64> {
    let mut a = DMatrix::zeros(n, n);
    for i in 0..n {
        a[(i, i)] = if free && i + 1 == n { 1.0 } else { 2.0 };
        if i > 0 {
            (a[(i, i - 1)], a[(i - 1, i)]) = (-1.0, -1.0);
        }
    }
    a
}

pub(super) fn chain(case: &'static Case) -> Verdict {
    let n = input(case, "N")? as usize;
    let limit = case.suggested_rtol.ok_or("no tolerance")?;
    let mut claims = Vec::new();
    for (free, prefix, last) in
        [(false, "", "condition_number"), (true, "fixed_free_", "fixed_free_condition")]
    {
        let a = laplacian(n, free);
        let matrix = blocks(&a)?;
        // Each eigenvalue three times, as the operator multiplies.
        let [low, high] = range(&dense(&matrix));
        let spectrum = worst([
            relative(low, expected(case, &format!("{prefix}lambda_min"))?),
            relative(high, expected(case, &format!("{prefix}lambda_max"))?),
            relative(high / low, expected(case, last)?),
        ]);
        // A chain has no fill: the incomplete factor is the factor, and its pivots multiply to the determinant.
        let determinant: f64 = incomplete(&a, |i, j| a[(i, j)] != 0.0)?.pivots().iter().product();
        let exact = if free { 1.0 } else { expected(case, "determinant")? };
        let mut solvers: [(&str, Box<dyn DirectSolver>); 3] = [
            ("block_tridiagonal", Box::new(BlockTridiagonal::default())),
            ("tree", Box::new(BlockTree::new(matrix.pattern())?)),
            ("sparse_cholesky", Box::new(SparseCholesky::new(matrix.pattern())?)),
        ];
        let name = if free { "free" } else { "fixed" };
        claims.extend([
            at_most(
                case,
                &format!("{name}_spectrum"),
                "ends of the spectrum and condition, relative distance",
                limit,
                spectrum,
            ),
            at_most(
                case,
                &format!("{name}_determinant"),
                "product of the pivots, relative distance",
                limit,
                relative(determinant, exact),
            ),
        ]);
        for (solver, direct) in &mut solvers {
            let mut rhs = vec![0.0; n];
            rhs[24] = 1.0;
            let (x, gap) = in_blocks(direct.as_mut(), &matrix, &rhs)?;
            // (A⁻¹)ᵢⱼ = min(i, j) (N + 1 − max(i, j))/(N + 1), or min(i, j) with a free end; j = 25.
            let entry = |i: usize| {
                let (low, high) = (i.min(25) as f64, i.max(25) as f64);
                if free { low } else { low * (n as f64 + 1.0 - high) / (n as f64 + 1.0) }
            };
            let column: Vec<f64> = (1..=n).map(entry).collect();
            let given = if free { 10.0 } else { expected(case, "inverse_10_25")? };
            let distance = worst([apart(&x, &column) / 25.0, relative(x[9], given), gap]);
            let what = "column 25 of the inverse, relative distance";
            claims.push(at_most(case, &format!("{name}_{solver}"), what, limit, distance));
        }
    }
    Ok(claims)
}

pub(super) fn two_springs(case: &'static Case) -> Verdict {
    let (large, small) = (input(case, "k_large")?, input(case, "k_small")?);
    let limit = case.suggested_rtol.ok_or("no tolerance")?;
    // Condition numbers lose digits in double precision; the case advises 1e-8 for the solution.
    let solution_limit = 1e-8;
    let mut claims = Vec::new();
    for (name, k1, k2) in [("soft_outer", large, small), ("soft_inner", small, large)] {
        let a = DMatrix::from_row_slice(2, 2, &[k1 + k2, -k2, -k2, k2]);
        let matrix = blocks(&a)?;
        let multiplied = dense(&matrix);
        let [low, high] = range(&multiplied);
        let mut jacobi = Jacobi::new(matrix.pattern());
        jacobi.refill(&matrix)?;
        let [scaled_low, scaled_high] = preconditioned_range(&multiplied, &jacobi)?;
        let value = |what: &str| expected(case, &format!("{name}_{what}"));
        let exact = case.numbers(&format!("expected/u_{name}"))?;
        let each = |x: &[f64]| worst(x.iter().zip(&exact).map(|(x, exact)| relative(*x, *exact)));
        let mut rhs = vec![0.0; 6];
        rhs[3] = 1.0;
        let by_jacobi = solve(&matrix, &jacobi, &rhs, 1e-12)?.0;
        let plain = solve(&operator(&a)?, &IdentityPreconditioner, &[0.0, 1.0], 1e-10)?.0;
        let direct = in_blocks(&mut SparseCholesky::new(matrix.pattern())?, &matrix, &[0.0, 1.0])?.0;
        claims.extend([
            at_most(
                case,
                &format!("{name}_spectrum"),
                "ends of the spectrum and condition, relative distance",
                limit,
                worst([
                    relative(low, value("lambda_min")?),
                    relative(high, value("lambda_max")?),
                    relative(high / low, value("condition")?),
                ]),
            ),
            at_most(
                case,
                &format!("{name}_scaled"),
                "condition after Jacobi's scaling, relative distance",
                limit,
                relative(scaled_high / scaled_low, value("scaled_condition")?),
            ),
            at_most(
                case,
                &format!("{name}_solution"),
                "solution by conjugate gradients, with Jacobi's scaling, and directly, relative distance",
                solution_limit,
                worst([each(&plain), each(&[by_jacobi[0], by_jacobi[3]]), each(&direct)]),
            ),
        ]);
    }
    Ok(claims)
}

pub(super) fn cyclic(case: &'static Case) -> Verdict {
    let n = input(case, "N")? as usize;
    let limit = case.suggested_rtol.ok_or("no tolerance")?;
    let a = DMatrix::from_fn(n, n, |i, j| match (i + n - j) % n {
        0 => 3.0,
        1 => -1.0,
        k if k + 1 == n => -1.0,
        _ => 0.0,
    });
    let matrix = blocks(&a)?;
    let [low, high] = range(&dense(&matrix));
    let rhs = case.numbers("inputs/rhs")?;
    let (exact, row) = (case.numbers("expected/x")?, case.numbers("expected/inverse_first_row")?);
    let mut unit = vec![0.0; n];
    unit[0] = 1.0;
    let mut claims = vec![at_most(case, "spectrum", "ends of the spectrum, relative distance", limit, {
        worst([relative(low, expected(case, "lambda_min")?), relative(high, expected(case, "lambda_max")?)])
    })];
    let solvers: [(&str, Box<dyn DirectSolver>); 3] = [
        ("closed_loop", Box::new(ClosedLoop::<1>::new(matrix.pattern())?)),
        ("closed_loop_skip_one", Box::new(ClosedLoop::<2>::new(matrix.pattern())?)),
        ("sparse_cholesky", Box::new(SparseCholesky::new(matrix.pattern())?)),
    ];
    for (name, mut solver) in solvers {
        let run = |solver: &mut dyn DirectSolver, rhs: &[f64], exact: &[f64]| -> Result<f64, CaseError> {
            let (x, gap) = in_blocks(solver, &matrix, rhs)?;
            Ok(worst([apart(&x, exact), gap]))
        };
        let distance = worst([run(solver.as_mut(), &rhs, &exact)?, run(solver.as_mut(), &unit, &row)?]);
        claims.push(at_most(case, name, "solution and first row of the inverse, distance", limit, distance));
    }
    Ok(claims)
}
