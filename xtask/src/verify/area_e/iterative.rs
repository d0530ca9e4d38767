//! Conjugate gradients and incomplete factors.

use super::{blocks, dense, in_blocks, incomplete, operator, preconditioned_range, range, solve};
use crate::verify::cases::{CaseError, Verdict, apart, at_least, at_most, expected, input, relative, worst};
use nalgebra::{DMatrix, DVector, Matrix3};
use sim_linalg::{
    BlockRecorder, BlockSymmetric, CgError, CgOptions, CgWorkspace, IdentityPreconditioner,
    IncompleteCholesky, Jacobi, LinearOperator, MatrixPreconditioner, Preconditioner, SparseCholesky,
    conjugate_gradients,
};
use sim_verify::reference::{Case, case as reference};
use std::sync::Arc;

pub(super) fn kershaw(case: &'static Case) -> Verdict {
    let a = case.matrix("inputs/A")?;
    let n = a.nrows();
    let pattern = |i: usize, j: usize| a[(i, j)] != 0.0;
    let limit = 1e-12;
    let pivots = case.numbers("expected/pivots_LDLt")?;
    // The factor breaks down in the last row alone. Raised by 10 the last pivot comes out positive; the others do not notice.
    let raised_by = 10.0;
    let mut raised = a.clone();
    raised[(n - 1, n - 1)] += raised_by;
    let factor = incomplete(&raised, pattern)?;
    let mut found = factor.pivots();
    found[n - 1] -= raised_by;
    let unshifted = factor.shift();
    // The smallest share of the diagonal that cures it, by bisection on whether the factorisation has to add one itself.
    let cured = |alpha: f64| -> Result<bool, CaseError> {
        let mut shifted = a.clone();
        (0..n).for_each(|i| shifted[(i, i)] *= 1.0 + alpha);
        Ok(incomplete(&shifted, pattern)?.shift() == 0.0)
    };
    let (mut low, mut high) = (0.0, 1.0);
    while high - low > 1e-13 {
        let middle = 0.5 * (low + high);
        if cured(middle)? { high = middle } else { low = middle }
    }
    let critical = expected(case, "critical_shift_alpha")?;
    let own = incomplete(&a, pattern)?;
    let operator = operator(&a)?;
    let [smallest, largest] = range(&dense(&operator));
    let eigenvalues = case.numbers("expected/eigenvalues")?;
    // On the full pattern nothing is left out: the pivots multiply to the determinant.
    let determinant: f64 = incomplete(&a, |_, _| true)?.pivots().iter().product();
    let exact = case.numbers("expected/exact_solution_b_1234")?;
    let b = [1.0, 2.0, 3.0, 4.0];
    let by_factor = solve(&operator, &own, &b, 1e-13)?.0;
    let plain = solve(&operator, &IdentityPreconditioner, &b, 1e-13)?.0;
    let matrix = blocks(&a)?;
    let direct = in_blocks(&mut SparseCholesky::new(matrix.pattern())?, &matrix, &b)?.0;
    let size = exact.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
    Ok(vec![
        at_most(
            case,
            "pivots",
            "pivots without fill, distance",
            limit,
            worst([apart(&found, &pivots), unshifted]),
        ),
        at_most(
            case,
            "critical",
            "share of the diagonal that cures it, distance",
            1e-12,
            (high - critical).abs(),
        ),
        at_least(
            case,
            "shift",
            "share that the factor adds by itself over that",
            1.0,
            own.shift() / critical,
        ),
        at_most(case, "shift_size", "the same: not more than its growth", 4.0, own.shift() / critical),
        at_most(
            case,
            "spectrum",
            "ends of the spectrum and condition, relative distance",
            limit,
            worst([
                relative(smallest, eigenvalues[0]),
                relative(largest, eigenvalues[n - 1]),
                relative(largest / smallest, expected(case, "condition_number")?),
            ]),
        ),
        at_most(case, "determinant", "product of the pivots with fill, distance", limit, {
            (determinant - expected(case, "determinant")?).abs()
        }),
        at_most(
            case,
            "solution",
            "solution with the shifted factor, without, and directly, distance over the largest",
            limit,
            worst([&by_factor, &plain, &direct].map(|x| apart(x, &exact) / size)),
        ),
    ])
}

/// K of the chain behind the case: ten pairs, stiff inside, each on a soft spring to the one before, the first to a wall.
///
/// The case calls it "the same chain"; this one has λ = k (1 + cos(2π/21)) + 2 K as its largest and about k (1 − cos(π/21)) as
/// its smallest eigenvalue, which are those of the case.
fn pairs(soft: f64, stiff: f64) -> DMatrix<f64> {
    let n = 20;
    let mut k = DMatrix::zeros(n, n);
    for i in 0..n {
        let spring = if i % 2 == 0 { soft } else { stiff };
        k[(i, i)] += spring;
        if i > 0 {
            k[(i - 1, i - 1)] += spring;
            k[(i, i - 1)] -= spring;
            k[(i - 1, i)] -= spring;
        }
    }
    k
}

pub(super) fn implicit_step(case: &'static Case) -> Verdict {
    let springs = reference("E-stiffness-ratio-two-springs")?;
    let (m, h) = (input(case, "m")?, input(case, "h")?);
    let limit = case.suggested_rtol.ok_or("no tolerance")?;
    let k = pairs(input(springs, "k_small")?, input(springs, "k_large")?);
    let a = DMatrix::identity(k.nrows(), k.nrows()) * m + k * (h * h);
    let matrix = blocks(&a)?;
    let [low, high] = range(&dense(&matrix));
    let condition = high / low;
    let bound = expected(case, "cg_bound_1e-8")?;
    let rhs: Vec<f64> = (0..a.nrows()).map(|i| (1.7 * i as f64).sin()).collect();
    let (_, report) = solve(&operator(&a)?, &IdentityPreconditioner, &rhs, 1e-8)?;
    Ok(vec![
        at_most(
            case,
            "spectrum",
            "ends of the spectrum and condition of M + h²K, relative distance",
            limit,
            worst([
                relative(low, expected(case, "lambda_min")?),
                relative(high, expected(case, "lambda_max")?),
                relative(condition, expected(case, "condition")?),
            ]),
        ),
        at_most(case, "bound", "bound ½ √κ ln(2/1e-8) on the iterations, distance", 0.0, {
            ((0.5 * condition.sqrt() * (2.0_f64 / 1e-8).ln()).ceil() - bound).abs()
        }),
        at_most(case, "iterations", "iterations of conjugate gradients", bound, report.iterations as f64),
    ])
}

pub(super) fn two_by_two(case: &'static Case) -> Verdict {
    let a = case.matrix("inputs/A")?;
    let (b, start) = (case.numbers("inputs/b")?, case.numbers("inputs/x0")?);
    let operator = operator(&a)?;
    let limit = case.suggested_rtol.ok_or("no tolerance")?;
    // The guess is worse than zero and would be discarded: ask for the way from it instead, A d = b − A x₀.
    let mut residual = vec![0.0; 2];
    operator.apply(&start, &mut residual);
    residual.iter_mut().zip(&b).for_each(|(r, b)| *r = b - *r);
    let mut first = vec![0.0; 2];
    let one = CgOptions { relative_tolerance: 1e-13, max_iterations: 1, ..CgOptions::default() };
    let stopped = conjugate_gradients(
        &operator,
        &IdentityPreconditioner,
        &residual,
        &mut first,
        &one,
        &mut CgWorkspace::default(),
    );
    if !matches!(stopped, Err(CgError::NotConverged { iteration: 1, .. })) {
        return Err("one iteration did not end as a failure with its iterate".into());
    }
    let (second, report) = solve(&operator, &IdentityPreconditioner, &residual, 1e-13)?;
    let moved = |d: &[f64]| start.iter().zip(d).map(|(x, d)| x + d).collect::<Vec<_>>();
    // d₁ = α₀ r₀ and d₂ − d₁ = α₁ (r₁ + β₁ r₀), β₁ = |r₁|²/|r₀|².
    let (r0, d1) = (DVector::from_vec(residual), DVector::from_vec(first.clone()));
    let r1 = &r0 - &a * &d1;
    let alpha0 = d1.dot(&r0) / r0.norm_squared();
    let beta = (report.history[1] / report.history[0]).powi(2);
    let direction = &r1 + &r0 * beta;
    let alpha1 = (DVector::from_vec(second.clone()) - d1).dot(&direction) / direction.norm_squared();
    Ok(vec![
        at_most(case, "iterates", "both iterates, distance", limit, {
            worst([
                apart(&moved(&first), &case.numbers("expected/x1")?),
                apart(&moved(&second), &case.numbers("expected/x2")?),
            ])
        }),
        at_most(
            case,
            "coefficients",
            "step lengths and the conjugation, distance",
            limit,
            worst([
                apart(&[alpha0, alpha1], &case.numbers("expected/alpha")?),
                (beta - expected(case, "beta_1")?).abs(),
            ]),
        ),
        at_most(case, "end", "iterations, distance from two", 0.0, (report.iterations as f64 - 2.0).abs()),
    ])
}

pub(super) fn distinct_eigenvalues(case: &'static Case) -> Verdict {
    let a = reference("E-kershaw-ic0-breakdown")?.matrix("inputs/A")?;
    let limit = case.suggested_rtol.ok_or("no tolerance")?;
    let count = |a: &DMatrix<f64>, b: &[f64]| -> Result<f64, CaseError> {
        Ok(solve(&operator(a)?, &IdentityPreconditioner, b, limit)?.1.iterations as f64)
    };
    let wanted = expected(case, "kershaw_iterations")?;
    let mut kershaw = 0.0;
    for b in [[1.0, 2.0, 3.0, 4.0], [0.3, -2.0, 0.0, 7.0], [1.0, 0.0, 0.0, 0.0], [-5.0, 1.0, 1.0, 0.1]] {
        kershaw = worst([kershaw, (count(&a, &b)? - wanted).abs()]);
    }
    let identity = count(&DMatrix::identity(5, 5), &[1.0, -2.0, 5.0, 0.5, 3.0])?;
    // Equal springs between separate pairs: m and m + 2 h²k.
    let n = 12;
    let pairs = DMatrix::from_fn(n, n, |i, j| match (i / 2 == j / 2, i == j) {
        (_, true) => 1.0 + 7.0,
        (true, false) => -7.0,
        (false, false) => 0.0,
    });
    let rhs: Vec<f64> = (0..n).map(|i| (1.3 * i as f64).cos()).collect();
    let springs = count(&pairs, &rhs)?;
    let two = 2.0;
    Ok(vec![
        at_most(case, "kershaw", "Kershaw's matrix: iterations, distance", 0.0, kershaw),
        at_most(case, "identity", "identity: iterations, distance", 0.0, {
            (identity - expected(case, "identity_iterations")?).abs()
        }),
        at_most(case, "pairs", "M + h²K of separate springs: iterations, distance from two", 0.0, {
            (springs - two).abs()
        }),
    ])
}

/// The five-point grid as blocks times the identity, and its lower half for the scalar factor.
fn grid(n: usize) -> Result<BlockSymmetric, CaseError> {
    let mut edges = Vec::new();
    for v in 0..n * n {
        if v % n + 1 < n {
            edges.push([v as u32, v as u32 + 1]);
        }
        if v + n < n * n {
            edges.push([v as u32, (v + n) as u32]);
        }
    }
    let mut matrix = BlockSymmetric::zeros(Arc::new(sim_linalg::BlockPattern::from_edges(n * n, &edges)?));
    (0..n * n).for_each(|v| matrix.add(v, v, &(4.0 * Matrix3::identity())));
    for &[i, j] in &edges {
        matrix.add(i as usize, j as usize, &-Matrix3::identity());
    }
    Ok(matrix)
}

pub(super) fn poisson(case: &'static Case) -> Verdict {
    let sizes = case.numbers("inputs/n")?;
    let columns = ["cg_iterations_ones", "ic0_iterations_ones", "cg_iterations_lcg", "ic0_iterations_lcg"];
    let columns = columns.map(|name| case.numbers(&format!("expected/{name}")));
    let columns = columns.into_iter().collect::<Result<Vec<_>, _>>()?;
    let kappa = case.numbers("expected/kappa_A")?;
    let (mut counts, mut scaling, mut conditions) = (0.0, 0.0, 0.0);
    let mut claims = Vec::new();
    for (k, n) in sizes.into_iter().map(|n| n as usize).enumerate() {
        let matrix = grid(n)?;
        let size = n * n;
        let mut factor = IncompleteCholesky::new(matrix.pattern());
        factor.refill(&matrix)?;
        let mut jacobi = Jacobi::new(matrix.pattern());
        jacobi.refill(&matrix)?;
        // The three components of a block repeat the scalar problem and stop with it.
        let spread = |b: Vec<f64>| b.into_iter().flat_map(|b| [b; 3]).collect::<Vec<f64>>();
        let mut state = 12345_u64;
        let random = (0..size).map(|_| {
            state = (1_664_525 * state + 1_013_904_223) % (1 << 32);
            state as f64 / 4_294_967_296.0 - 0.5
        });
        let (random, ones) = (spread(random.collect()), spread(vec![1.0; size]));
        let count = |m: &dyn Preconditioner, b: &[f64]| -> Result<f64, CaseError> {
            Ok(solve(&matrix, m, b, 1e-8)?.1.iterations as f64)
        };
        let plain = [count(&IdentityPreconditioner, &ones)?, count(&IdentityPreconditioner, &random)?];
        let found = [plain[0], count(&factor, &ones)?, plain[1], count(&factor, &random)?];
        let exact: Vec<f64> = columns.iter().map(|column| column[k]).collect();
        counts = worst([counts, apart(&found, &exact)]);
        scaling = worst([scaling, apart(&[count(&jacobi, &ones)?, count(&jacobi, &random)?], &plain)]);
        // The products of sines are the eigenvectors: the ends of the spectrum from two products with the matrix.
        let quotient = |mode: usize| {
            let wave =
                |i: usize| ((i + 1) as f64 * mode as f64 * std::f64::consts::PI / (n + 1) as f64).sin();
            let v = spread((0..size).map(|v| wave(v / n) * wave(v % n)).collect());
            let mut product = vec![0.0; v.len()];
            let dot = matrix.apply_dot(&v, &mut product);
            let lambda = dot / v.iter().map(|v| v * v).sum::<f64>();
            let rest = worst(product.iter().zip(&v).map(|(p, v)| (p - lambda * v).abs()));
            (lambda, rest)
        };
        let ((low, low_rest), (high, high_rest)) = (quotient(1), quotient(n));
        conditions = worst([conditions, relative(high / low, kappa[k]), low_rest, high_rest]);
        if n <= 20 {
            let scalar = DMatrix::from_fn(size, size, |i, j| matrix.block(i, j).map_or(0.0, |b| b[(0, 0)]));
            let scalar_factor = incomplete(&scalar, |i, j| scalar[(i, j)] != 0.0)?;
            let [low, high] = preconditioned_range(&scalar, &scalar_factor)?;
            claims.push(at_most(
                case,
                &format!("kappa_ic0_{n}"),
                "condition with the incomplete factor, relative distance",
                1e-8,
                relative(high / low, expected(case, &format!("kappa_IC0_n{n}"))?),
            ));
        }
        if n == 60 {
            let last = factor.pivots().last().copied().unwrap_or(f64::NAN);
            let distance = relative(last, expected(case, "ic0_pivot_limit")?);
            claims.push(at_most(
                case,
                "pivot",
                "last pivot of the largest grid, relative distance",
                1e-3,
                distance,
            ));
        }
    }
    claims.extend([
        at_most(case, "counts", "iterations, plain and with the factor, largest distance", 1.0, counts),
        at_most(case, "jacobi", "iterations with Jacobi's scaling, distance from plain ones", 0.0, scaling),
        at_most(case, "kappa", "condition of the grids, relative distance", 1e-11, conditions),
    ]);
    Ok(claims)
}

pub(super) fn filtered(case: &'static Case) -> Verdict {
    let a = case.matrix("inputs/A")?;
    let b = case.numbers("inputs/b")?;
    let prescribed = input(case, "x2")?;
    let limit = case.suggested_rtol.ok_or("no tolerance")?;
    let n = a.nrows();
    let held = 1;
    // The prescribed unknown gets no row; what it adds moves to the right-hand side.
    let free: Vec<bool> = (0..n).map(|i| i != held).collect();
    let pairs: Vec<(usize, usize)> = (0..n).flat_map(|i| (i..n).map(move |j| (i, j))).collect();
    let mut recorder = BlockRecorder::new(&free);
    for &(i, j) in &pairs {
        recorder.add(i, j);
    }
    let assembler = recorder.finish()?;
    let mut reduced = BlockSymmetric::zeros(assembler.pattern().clone());
    let mut pass = assembler.refill(&mut reduced);
    for &(i, j) in &pairs {
        pass.add(i, j, &(Matrix3::identity() * a[(i, j)]));
    }
    pass.finish()?;
    let full = blocks(&a)?;
    let mut x = vec![0.0; 3 * n];
    x[3 * held..3 * held + 3].fill(prescribed);
    let mut rest = vec![0.0; 3 * n];
    full.apply(&x, &mut rest);
    rest.iter_mut().zip(b.iter().flat_map(|b| [*b; 3])).for_each(|(r, b)| *r = b - *r);
    let mut rhs = vec![0.0; reduced.dim()];
    assembler.gather(&rest, &mut rhs);
    let (unknowns, _) = solve(&reduced, &IdentityPreconditioner, &rhs, 1e-14)?;
    assembler.scatter(&unknowns, &mut x);
    x[3 * held..3 * held + 3].fill(prescribed);
    let mut product = vec![0.0; 3 * n];
    full.apply(&x, &mut product);
    let found: Vec<f64> = x.chunks_exact(3).map(|x| x[0]).collect();
    Ok(vec![
        at_most(case, "solution", "solution, distance", limit, apart(&found, &case.numbers("expected/x")?)),
        at_most(case, "residual", "force that holds the prescribed unknown, distance", limit, {
            (product[3 * held] - b[held] - expected(case, "constraint_residual_row2")?).abs()
        }),
    ])
}
