//! Preconditioners and solvers of sim-linalg: every kind through the studies of inverses.

use super::cases::CaseError;
use super::catalogue::{Job, Scope};
use nalgebra::{DMatrix, Matrix3, Vector3};
use sim_linalg::workload::{SheetOptions, noise, sheet};
use sim_linalg::{
    BlockPattern, BlockPentadiagonal, BlockSymmetric, BlockTree, BlockTridiagonal, CgOptions, CgWorkspace,
    ClosedLoop, DirectSolver, FactorError, LinearOperator, LinearSolver, Preconditioner, PreconditionerKind,
    PreconditionerOptions, SolverChoice, SolverOptions, SparseCholesky, conjugate_gradients,
};
use sim_verify::Claim;
use sim_verify::judge::inverse::{
    Apply, Make, PreconditionerSubject, Problem, SolverSubject, judge_preconditioner, judge_solver,
};
use std::cell::RefCell;
use std::sync::Arc;

pub(super) mod mutants;

fn word(kind: impl serde::Serialize) -> String {
    match serde_json::to_value(kind) {
        Ok(serde_json::Value::String(word)) => word,
        other => format!("{other:?}"),
    }
}

/// A matrix with the coordinates that a coarse space needs.
struct System {
    matrix: BlockSymmetric,
    rest: Vec<f64>,
    dense: DMatrix<f64>,
}

impl System {
    fn new(matrix: BlockSymmetric, rest: Vec<f64>) -> Self {
        let n = matrix.block_rows();
        let mut dense = DMatrix::zeros(3 * n, 3 * n);
        for i in 0..n {
            for j in 0..n {
                if let Some(block) = matrix.block(i, j) {
                    dense.fixed_view_mut::<3, 3>(3 * i, 3 * j).copy_from(&block);
                }
            }
        }
        Self { matrix, rest, dense }
    }

    /// A stiff sheet, bent and noisy, with masses that differ by a factor of up to 30.
    fn sheet() -> Result<Self, CaseError> {
        let mut sheet = sheet(&SheetOptions::stiff(8))?;
        for (i, block) in sheet.matrix.diagonal_mut().iter_mut().enumerate() {
            let mass = 100.0 * (1.5 + 1.4 * noise(i as u64));
            (0..3).for_each(|k| block[4 * k] += mass);
        }
        Ok(Self::new(sheet.matrix, sheet.rest))
    }

    /// The identity plus springs with directions of their own, and a share across them, on the given edges.
    fn net(nodes: usize, edges: &[[u32; 2]], stiffness: f64) -> Result<Self, CaseError> {
        let mut matrix = BlockSymmetric::zeros(Arc::new(BlockPattern::from_edges(nodes, edges)?));
        for i in 0..nodes {
            matrix.add(i, i, &Matrix3::identity());
        }
        for (k, edge) in edges.iter().enumerate() {
            let value = |c: usize| noise((7 * k + c) as u64);
            let u = Vector3::new(value(0), value(1), value(2) + 1e-3).normalize();
            let spring =
                (u * u.transpose() * 0.9 + Matrix3::identity() * 0.1) * stiffness.powf(0.5 + 0.5 * value(3));
            let [i, j] = edge.map(|i| i as usize);
            matrix.add(i, i, &spring);
            matrix.add(j, j, &spring);
            matrix.add(i, j, &-spring);
        }
        let rest = (0..3 * nodes).map(|i| if i % 3 == 0 { i as f64 / 3.0 } else { 0.0 }).collect();
        Ok(Self::new(matrix, rest))
    }

    /// The same matrix times a factor.
    fn times(&self, factor: f64) -> BlockSymmetric {
        let mut matrix = self.matrix.clone();
        let blocks = matrix.diagonal_mut().iter_mut().flatten();
        blocks.for_each(|value| *value *= factor);
        matrix.upper_mut().iter_mut().flatten().for_each(|value| *value *= factor);
        matrix
    }

    /// The same with entries off the diagonal of every block, or couplings between blocks, left out.
    fn without(&self, inside: bool) -> Self {
        let mut matrix = self.matrix.clone();
        matrix.upper_mut().fill([0.0; 9]);
        if inside {
            for block in matrix.diagonal_mut() {
                (0..9).filter(|k| k % 4 != 0).for_each(|k| block[k] = 0.0);
            }
        }
        Self::new(matrix, self.rest.clone())
    }
}

fn chain(nodes: usize, reach: usize) -> Vec<[u32; 2]> {
    (1..=reach).flat_map(|r| (0..nodes - r).map(move |i| [i as u32, (i + r) as u32])).collect()
}

fn closed(nodes: usize, reach: usize) -> Vec<[u32; 2]> {
    (1..=reach).flat_map(|r| (0..nodes).map(move |i| [i as u32, ((i + r) % nodes) as u32])).collect()
}

/// A function as a preconditioner, to iterate with.
struct Applied(Apply);

impl Preconditioner for Applied {
    fn apply(&self, r: &[f64], z: &mut [f64]) {
        z.copy_from_slice(&(self.0)(r));
    }

    fn name(&self) -> &'static str {
        "judged"
    }
}

/// Block factors are kept in single precision.
fn single(kind: PreconditionerKind) -> bool {
    matches!(kind, PreconditionerKind::BlockIncompleteCholesky | PreconditionerKind::TwoLevel)
}

/// What is judged of a kind: sample, easy matrix and what is promised on it.
struct Bench {
    kind: PreconditionerKind,
    sample: System,
    easy: System,
    easy_range: [f64; 2],
    precision: f64,
}

impl Bench {
    fn new(kind: PreconditionerKind) -> Result<Self, CaseError> {
        let sample = System::sheet()?;
        let line = System::net(40, &chain(40, 1), 1e3)?;
        let (easy, easy_range) = match kind {
            PreconditionerKind::Identity => {
                let mut unit = System::net(10, &[], 1.0)?;
                unit.dense.fill_with_identity();
                (unit, [1.0, 1.0])
            }
            PreconditionerKind::Jacobi => (line.without(true), [1.0, 1.0]),
            PreconditionerKind::BlockJacobi => (line.without(false), [1.0, 1.0]),
            // The exact inverse plus a projection.
            PreconditionerKind::TwoLevel => (line, [1.0, 2.0]),
            _ => (line, [1.0, 1.0]),
        };
        Ok(Self { kind, sample, easy, easy_range, precision: if single(kind) { 1e-5 } else { 1e-12 } })
    }

    fn make(&self, problem: Problem, factors: &[f64]) -> Result<Apply, String> {
        let easy = problem == Problem::Easy;
        let system = if easy { &self.easy } else { &self.sample };
        let mut options = PreconditionerOptions { patch_size: 16, ..PreconditionerOptions::default() };
        if easy {
            options.drop_tolerance = 0.0;
        }
        let built = self.kind.build(system.matrix.pattern(), Some(&system.rest), &options);
        let mut made = built.map_err(|error| error.to_string())?;
        for &factor in factors {
            made.refill(&system.times(factor)).map_err(|error| error.to_string())?;
        }
        Ok(Box::new(move |r| {
            let mut z = vec![0.0; r.len()];
            made.apply(r, &mut z);
            z
        }))
    }

    fn solve(&self, apply: Apply, rhs: &[f64]) -> Result<Vec<f64>, String> {
        let options = CgOptions { relative_tolerance: 1e-11, ..CgOptions::default() };
        let mut x = vec![0.0; rhs.len()];
        let workspace = &mut CgWorkspace::default();
        conjugate_gradients(&self.sample.matrix, &Applied(apply), rhs, &mut x, &options, workspace)
            .map_err(|error| error.to_string())?;
        Ok(x)
    }

    fn judge(&self, id: &str, make: &Make<'_>) -> Vec<Claim> {
        let subject = PreconditionerSubject {
            sample: &self.sample.dense,
            easy: &self.easy.dense,
            easy_range: self.easy_range,
            make,
            solve: &|apply, rhs| self.solve(apply, rhs),
            precision: self.precision,
            follows: self.kind != PreconditionerKind::Identity,
        };
        judge_preconditioner(id, &subject)
    }
}

/// Separate blocks that are not positive definite: what is factored, shifted as it says, is exact for them.
fn shifted(id: &str, kind: PreconditionerKind) -> Result<Claim, CaseError> {
    let mut system = System::net(4, &[], 1.0)?;
    for (i, block) in system.matrix.diagonal_mut().iter_mut().enumerate() {
        let coupling = 0.4 + 0.3 * i as f64;
        *block = [1.0, coupling, 0.1, coupling, 1.0, -0.2, 0.1, -0.2, 2.0];
    }
    let system = System::new(system.matrix, system.rest);
    let mut made =
        kind.build(system.matrix.pattern(), Some(&system.rest), &PreconditionerOptions::default())?;
    made.refill(&system.matrix)?;
    // Without a factor there is nothing to break down; the coarse space adds to what the factor does.
    let (exact, factored) = match kind {
        PreconditionerKind::Identity => (DMatrix::identity(12, 12), false),
        PreconditionerKind::Jacobi => (DMatrix::from_diagonal(&system.dense.diagonal()), false),
        _ => {
            let diagonal = DMatrix::from_diagonal(&system.dense.diagonal());
            (&system.dense + diagonal * made.shift(), true)
        }
    };
    let mut product = DMatrix::zeros(12, 12);
    let mut z = vec![0.0; 12];
    for k in 0..12 {
        made.apply(exact.column(k).into_owned().as_slice(), &mut z);
        product.column_mut(k).copy_from_slice(&z);
    }
    let gap = if kind == PreconditionerKind::TwoLevel {
        // The coarse part is left out, because its matrix is not definite, or adds a positive part.
        let low = (&product + product.transpose()).symmetric_eigenvalues().min() / 2.0;
        (1.0 - low).max(0.0)
    } else {
        (product - DMatrix::identity(12, 12)).amax()
    };
    let precision = if single(kind) { 1e-4 } else { 1e-12 };
    let wrong = [gap > precision || gap.is_nan(), factored != (made.shift() > 0.0)];
    Ok(Claim::at_most(
        format!("{id}/shift"),
        "indefinite blocks: whether M⁻¹ times the matrix, shifted as reported, is more than rounding from the identity",
        0.0,
        wrong.into_iter().filter(|&wrong| wrong).count() as f64,
        "Manteuffel's shift of the diagonal",
    ))
}

type MakeSolver = fn(&BlockPattern) -> Result<Box<dyn DirectSolver>, FactorError>;

/// Direct solvers, each with edges on 40 nodes that it is made for.
fn direct_solvers() -> Vec<(&'static str, Vec<[u32; 2]>, MakeSolver)> {
    let n = 40;
    let tree = (1..n as u32).map(|i| [i, (i * i + 3) % i]).collect();
    let grid = chain(n, 1).into_iter().chain((0..n as u32 - 7).map(|i| [i, i + 7])).collect();
    vec![
        ("block_tridiagonal", chain(n, 1), |_| Ok(Box::new(BlockTridiagonal::default()))),
        ("block_pentadiagonal", chain(n, 2), |_| Ok(Box::new(BlockPentadiagonal::default()))),
        ("closed_loop", closed(n, 1), |pattern| Ok(Box::new(ClosedLoop::<1>::new(pattern)?))),
        ("closed_loop_skip_one", closed(n, 2), |pattern| Ok(Box::new(ClosedLoop::<2>::new(pattern)?))),
        ("tree", tree, |pattern| Ok(Box::new(BlockTree::new(pattern)?))),
        ("sparse_cholesky", grid, |pattern| Ok(Box::new(SparseCholesky::new(pattern)?))),
    ]
}

struct DirectBench {
    system: System,
    make: MakeSolver,
}

impl DirectBench {
    fn make(&self, factors: &[f64]) -> Result<Apply, String> {
        let made = (self.make)(self.system.matrix.pattern()).map_err(|error| error.to_string())?;
        let made = RefCell::new(made);
        for &factor in factors {
            let matrix = self.system.times(factor);
            made.borrow_mut().factor(&matrix).map_err(|error| error.to_string())?;
        }
        Ok(Box::new(move |rhs| {
            let mut x = rhs.to_vec();
            made.borrow_mut().solve_in_place(&mut x);
            x
        }))
    }

    /// Block row that is named when the given one is indefinite.
    fn culprit(&self, row: usize) -> Option<usize> {
        let mut matrix = self.system.matrix.clone();
        matrix.diagonal_mut()[row][4] = -1.0;
        match (self.make)(matrix.pattern()).ok()?.factor(&matrix) {
            Err(FactorError::NotPositiveDefinite { block_row, .. }) => Some(block_row),
            _ => None,
        }
    }

    fn judge(&self, id: &str, make: &Make<'_>) -> Vec<Claim> {
        let subject = SolverSubject {
            sample: &self.system.dense,
            make,
            culprit: &|row| self.culprit(row),
            precision: 1e-11,
        };
        judge_solver(id, &subject)
    }
}

/// The solver that steppers use, by every word that chooses a method.
fn chosen(choice: SolverChoice) -> Result<Vec<Claim>, CaseError> {
    let id = format!("solver/{}", word(choice));
    let n = 40;
    let system = match choice {
        SolverChoice::BlockTridiagonal | SolverChoice::Tree => System::net(n, &chain(n, 1), 1e3)?,
        SolverChoice::BlockPentadiagonal => System::net(n, &chain(n, 2), 1e3)?,
        SolverChoice::ClosedLoop => System::net(n, &closed(n, 2), 1e3)?,
        _ => System::sheet()?,
    };
    let matrix = &system.matrix;
    let rhs: Vec<f64> = (0..matrix.dim()).map(|i| noise(i as u64 + 99)).collect();
    let tolerance = 1e-10;
    let run = |threads: usize| -> Result<_, CaseError> {
        let mut options = SolverOptions { choice, threads, fallback_to_direct: false, ..Default::default() };
        options.preconditioner.patch_size = 16;
        let mut solver = LinearSolver::new(options)?;
        solver.prepare(matrix.pattern(), Some(&system.rest))?;
        // Values of another step first: nothing of them may be left.
        solver.factor(&system.times(4.0))?;
        solver.factor(matrix)?;
        let mut x = vec![0.0; rhs.len()];
        let report = solver.solve(matrix, &rhs, &mut x, tolerance)?;
        Ok((x, report.relative_residual))
    };
    let ((one, residual), (two, _)) = (run(1)?, run(2)?);
    let mut product = vec![0.0; rhs.len()];
    matrix.apply(&one, &mut product);
    let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
    let truth = norm(&mut product.iter().zip(&rhs).map(|(p, b)| p - b)) / norm(&mut rhs.iter().copied());
    let exact = system.dense.clone().cholesky().ok_or("the sample is not positive definite")?;
    let exact = exact.solve(&nalgebra::DVector::from_column_slice(&rhs));
    let distance = super::cases::apart(&one, exact.as_slice()) / exact.amax();
    let bits = one.iter().zip(&two).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
    Ok(vec![
        Claim::at_most(
            format!("{id}/residual"),
            "true relative residual",
            tolerance,
            truth,
            "tolerance asked for",
        ),
        // Rounding of two residuals near the tolerance.
        Claim::at_most(
            format!("{id}/report"),
            "reported residual, distance from the true one over the tolerance",
            1e-3,
            (residual - truth).abs() / tolerance,
            "definition",
        ),
        Claim::at_most(
            format!("{id}/solution"),
            "relative distance from the dense solution",
            1e-6,
            distance,
            "A x = b",
        ),
        Claim::at_most(
            format!("{id}/threads"),
            "values that two threads change",
            0.0,
            bits as f64,
            "same bits",
        ),
    ])
}

/// A job whose failure to be set up is a claim that does not hold.
fn guarded(id: String, run: impl Fn(&str) -> Result<Vec<Claim>, CaseError> + Send + Sync + 'static) -> Job {
    Job::new(id.clone(), move |_| {
        run(&id)
            .unwrap_or_else(|error| {
                vec![Claim::no_complaint(id.clone(), "it can be judged", vec![], "").because(error)]
            })
            .into()
    })
}

pub(super) fn jobs(_: Scope) -> Vec<Job> {
    let preconditioners = PreconditionerKind::ALL.map(|kind| {
        guarded(format!("preconditioner/{}", word(kind)), move |id| {
            let bench = Bench::new(kind)?;
            let mut claims = bench.judge(id, &|problem, factors| bench.make(problem, factors));
            claims.push(shifted(id, kind)?);
            Ok(claims)
        })
    });
    let direct = direct_solvers().into_iter().map(|(name, edges, make)| {
        guarded(format!("direct/{name}"), move |id| {
            let bench = DirectBench { system: System::net(40, &edges, 1e3)?, make };
            Ok(bench.judge(id, &|_, factors| bench.make(factors)))
        })
    });
    let chosen = SolverChoice::ALL
        .iter()
        .map(|&choice| guarded(format!("solver/{}", word(choice)), move |_| chosen(choice)));
    preconditioners.into_iter().chain(direct).chain(chosen).collect()
}
