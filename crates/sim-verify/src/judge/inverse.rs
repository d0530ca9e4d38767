//! What approximate and exact inverses of symmetric positive definite matrices must show: preconditioners and direct solvers.

use crate::claim::Claim;
use nalgebra::{DMatrix, DVector};

/// What a preconditioner or solver does to a right-hand side.
pub type Apply = Box<dyn Fn(&[f64]) -> Vec<f64>>;

/// A matrix to work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Generic and stiff.
    Sample,
    /// One on which the result is known.
    Easy,
}

/// Makes an inverse for a problem's matrix times each of the given factors in turn, taking over the values anew for each.
pub type Make<'a> = dyn Fn(Problem, &[f64]) -> Result<Apply, String> + 'a;

/// Iterates on the sample with a preconditioner and gives the solution for a right-hand side.
pub type Iterate<'a> = dyn Fn(Apply, &[f64]) -> Result<Vec<f64>, String> + 'a;

/// A preconditioner to be judged by what it does.
pub struct PreconditionerSubject<'a> {
    /// The sample.
    pub sample: &'a DMatrix<f64>,
    /// The easy matrix.
    pub easy: &'a DMatrix<f64>,
    /// Eigenvalues that M⁻¹ times the easy matrix may have.
    pub easy_range: [f64; 2],
    /// Makes it.
    pub make: &'a Make<'a>,
    /// Iterates with it.
    pub solve: &'a Iterate<'a>,
    /// Relative rounding of one application.
    pub precision: f64,
    /// Whether it changes with the matrix.
    pub follows: bool,
}

/// A direct solver to be judged by what it does.
pub struct SolverSubject<'a> {
    /// The sample.
    pub sample: &'a DMatrix<f64>,
    /// Makes its factor of the sample times each factor in turn; the problem asked for is always [`Problem::Sample`].
    pub make: &'a Make<'a>,
    /// Block row that it names when the given block row of the sample is made indefinite.
    pub culprit: &'a dyn Fn(usize) -> Option<usize>,
    /// Relative distance from the solution that rounding explains.
    pub precision: f64,
}

/// A right-hand side without structure.
fn generic(n: usize, k: f64) -> Vec<f64> {
    (0..n).map(|i| ((i as f64 + 1.0) * k).sin() + 0.3 * ((i as f64 + 1.0) * 7.3 * k).cos()).collect()
}

fn dense(n: usize, apply: &Apply) -> DMatrix<f64> {
    let mut inverse = DMatrix::zeros(n, n);
    let mut unit = vec![0.0; n];
    for k in 0..n {
        unit[k] = 1.0;
        let column = apply(&unit);
        unit[k] = 0.0;
        if column.len() != n {
            return DMatrix::from_element(n, n, f64::NAN);
        }
        inverse.column_mut(k).copy_from_slice(&column);
    }
    inverse
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, |worst, x| if x.is_nan() { f64::INFINITY } else { worst.max(x) })
}

/// Smallest and largest eigenvalue of B A for symmetric B and A; none when B is not positive definite.
fn range(b: &DMatrix<f64>, a: &DMatrix<f64>) -> Option<[f64; 2]> {
    let half = (b + b.transpose()) * 0.5;
    let r = half.cholesky()?.l();
    let eigenvalues = (r.transpose() * a * r).symmetric_eigenvalues();
    Some([eigenvalues.min(), eigenvalues.max()])
}

/// Judges a preconditioner.
pub fn judge_preconditioner(id: &str, subject: &PreconditionerSubject<'_>) -> Vec<Claim> {
    studies(id, subject).unwrap_or_else(|error| {
        vec![Claim::no_complaint(format!("{id}/made"), "it can be made", vec![], "").because(error)]
    })
}

fn studies(id: &str, subject: &PreconditionerSubject<'_>) -> Result<Vec<Claim>, String> {
    let n = subject.sample.nrows();
    let make = subject.make;
    let apply = make(Problem::Sample, &[1.0])?;
    let inverse = dense(n, &apply);
    let size = inverse.amax();
    let mut claims = Vec::new();
    let mut at_most = |study: &str, what: &str, limit: f64, measured: f64, source: &str| {
        claims.push(Claim::at_most(format!("{id}/{study}"), what, limit, measured, source));
    };
    let repeat = apart(dense(n, &apply).as_slice(), inverse.as_slice());
    at_most("repeat", "change of the result when applied again", 0.0, repeat, "it has no memory");
    let (u, zero) = (generic(n, 0.7), vec![0.0; n]);
    let by_columns = &inverse * DVector::from_column_slice(&u);
    let linear = apart(&apply(&u), by_columns.as_slice()) / by_columns.amax();
    let offset = apart(&apply(&zero), &zero);
    // A sum over all unknowns: their number times the rounding of one.
    let rounding = subject.precision * (n as f64).sqrt();
    let source = "it stands for a symmetric positive definite matrix";
    at_most(
        "linear",
        "relative distance from the sum of what it does to unit vectors",
        rounding,
        linear,
        source,
    );
    at_most("zero", "what it makes of zero", 0.0, offset, source);
    let unsymmetric = (&inverse - inverse.transpose()).amax() / size;
    at_most("symmetry", "relative asymmetry", subject.precision, unsymmetric, source);
    let refilled = apart(dense(n, &make(Problem::Sample, &[3.0, 1.0])?).as_slice(), inverse.as_slice());
    at_most("refill", "trace of an earlier matrix", 0.0, refilled, "it belongs to the matrix given last");
    let scaled = dense(n, &make(Problem::Sample, &[1.0, 2.0])?);
    let followed = if subject.follows { 0.5 } else { 1.0 };
    let gap = (scaled - &inverse * followed).amax() / size;
    at_most(
        "scaling",
        "relative distance from M⁻¹/2 for twice the matrix",
        subject.precision,
        gap,
        "M stands for A",
    );
    let spread = range(&inverse, subject.sample).map_or(f64::INFINITY, |[low, high]| high / low);
    let eigenvalues = subject.sample.clone().symmetric_eigenvalues();
    let own = eigenvalues.max() / eigenvalues.min();
    at_most(
        "condition",
        "condition number with it over that without",
        1.0 + 1e-9,
        spread / own,
        "its purpose",
    );
    let easy = dense(subject.easy.nrows(), &make(Problem::Easy, &[1.0])?);
    let [from, to] = subject.easy_range;
    let slack = 100.0 * subject.precision;
    let outside = range(&easy, subject.easy).map_or(2, |[low, high]| {
        usize::from(low.is_nan() || low < from - slack) + usize::from(high.is_nan() || high > to + slack)
    });
    let what =
        format!("easy matrix: ends of the spectrum of M⁻¹A outside of {from} to {to}, by more than rounding");
    at_most("easy", &what, 0.0, outside as f64, "no fill, no neighbors or no couplings");
    let rhs = generic(n, 1.3);
    let exact = subject.sample.clone().cholesky().ok_or("the sample is not positive definite")?;
    let exact = exact.solve(&DVector::from_column_slice(&rhs));
    let found = (subject.solve)(make(Problem::Sample, &[1.0])?, &rhs);
    let distance = found.map_or(f64::INFINITY, |x| apart(&x, exact.as_slice()) / exact.amax());
    at_most("solution", "iterated solution, relative distance from the dense one", 1e-6, distance, "A x = b");
    Ok(claims)
}

/// Judges a direct solver.
pub fn judge_solver(id: &str, subject: &SolverSubject<'_>) -> Vec<Claim> {
    direct(id, subject).unwrap_or_else(|error| {
        vec![Claim::no_complaint(format!("{id}/made"), "it can be made", vec![], "").because(error)]
    })
}

fn direct(id: &str, subject: &SolverSubject<'_>) -> Result<Vec<Claim>, String> {
    let n = subject.sample.nrows();
    let exact = subject.sample.clone().cholesky().ok_or("the sample is not positive definite")?;
    let solve = (subject.make)(Problem::Sample, &[1.0])?;
    let (b, c) = (generic(n, 0.7), generic(n, 1.9));
    let (x, y) = (solve(&b), solve(&c));
    let distance = [(&b, &x), (&c, &y)].into_iter().fold(0.0_f64, |worst, (rhs, found)| {
        let exact = exact.solve(&DVector::from_column_slice(rhs));
        let distance = apart(found, exact.as_slice()) / exact.amax();
        if distance.is_nan() { f64::INFINITY } else { worst.max(distance) }
    });
    let doubled: Vec<f64> = b.iter().map(|b| 2.0 * b).collect();
    let twice: Vec<f64> = x.iter().map(|x| 2.0 * x).collect();
    let again = (subject.make)(Problem::Sample, &[5.0, 1.0])?;
    let half = (subject.make)(Problem::Sample, &[1.0, 2.0])?;
    let halved: Vec<f64> = x.iter().map(|x| 0.5 * x).collect();
    let blocks = n / 3;
    let misnamed =
        [0, blocks / 2, blocks - 1].into_iter().filter(|&row| (subject.culprit)(row) != Some(row)).count();
    let mut claims = Vec::new();
    let mut at_most = |study: &str, what: &str, limit: f64, measured: f64, source: &str| {
        claims.push(Claim::at_most(format!("{id}/{study}"), what, limit, measured, source));
    };
    at_most(
        "solution",
        "relative distance from the dense solution, two sides",
        subject.precision,
        distance,
        "A x = b",
    );
    at_most(
        "linear",
        "twice the side: distance from twice the solution",
        0.0,
        apart(&solve(&doubled), &twice),
        "powers of two are exact",
    );
    at_most(
        "refill",
        "trace of an earlier matrix",
        0.0,
        apart(&again(&b), &x),
        "it belongs to the matrix given last",
    );
    at_most(
        "scaling",
        "twice the matrix: relative distance from half the solution",
        subject.precision,
        apart(&half(&b), &halved) / halved.iter().fold(0.0_f64, |a, x| a.max(x.abs())),
        "A x = b",
    );
    at_most(
        "culprit",
        "indefinite block rows that it does not name",
        0.0,
        misnamed as f64,
        "errors name the culprit",
    );
    Ok(claims)
}
