//! Lanczos' method for A x = θ F x with full reorthogonalisation, F factored.

use super::mechanism::wave;
use crate::factor::Factorization;
use crate::matrix::{SymmetricMatrix, dot, subtract_scaled};

/// Ritz pairs of F⁻¹A in the inner product of B, found by one run.
pub(super) struct Ritz {
    /// Largest first.
    pub(super) theta: Vec<f64>,
    /// Residual bound of each, |F⁻¹A x − θ x|_B.
    pub(super) residual: Vec<f64>,
    /// B-orthonormal vectors.
    pub(super) vectors: Vec<Vec<f64>>,
    /// The whole space was spanned: there are no other eigenvalues but zero.
    pub(super) exhausted: bool,
}

/// What a run works on.
pub(super) struct Pencil<'a> {
    /// Applied after A; F⁻¹A must be self-adjoint in B.
    pub(super) factor: &'a mut Factorization,
    /// Applied first.
    pub(super) a: &'a SymmetricMatrix,
    /// Inner product, positive semidefinite.
    pub(super) b: &'a SymmetricMatrix,
}

/// Vectors already found, and B times each, to be kept out of a run.
#[derive(Default)]
pub(super) struct Locked {
    pub(super) vectors: Vec<Vec<f64>>,
    pub(super) products: Vec<Vec<f64>>,
}

impl Locked {
    /// Removes what `x` shares with the locked vectors.
    fn remove_from(&self, x: &mut [f64]) {
        for (vector, product) in self.vectors.iter().zip(&self.products) {
            subtract_scaled(dot(product, x), vector, x);
        }
    }
}

/// Length of `x` in B; leaves B x in `product`.
fn b_norm(b: &SymmetricMatrix, x: &[f64], product: &mut [f64]) -> f64 {
    product.fill(0.0);
    b.multiply_add(1.0, x, product);
    dot(x, product).max(0.0).sqrt()
}

/// Makes at most `steps` steps from `start` and returns the `wanted` largest Ritz pairs.
///
/// The start is multiplied by F⁻¹A first, so that it has no part in the null space of A, where B measures nothing.
pub(super) fn run(
    pencil: &mut Pencil<'_>,
    locked: &Locked,
    start: &[f64],
    steps: usize,
    wanted: usize,
) -> Ritz {
    let n = start.len();
    let (mut q, mut bq): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    let (mut alpha, mut beta): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut next = vec![0.0; n];
    pencil.a.multiply_add(1.0, start, &mut next);
    pencil.factor.solve(&mut next);
    let mut exhausted = false;
    let mut scale = 0.0_f64;
    for step in 0..=steps {
        // Orthogonalised once where that takes little away, else again: twice is enough (Giraud, Langou & Rozložník 2005).
        let mut product = vec![0.0; n];
        let mut length = b_norm(pencil.b, &next, &mut product);
        let original = length;
        for _ in 0..3 {
            locked.remove_from(&mut next);
            for (vector, product) in q.iter().zip(&bq) {
                subtract_scaled(dot(product, &next), vector, &mut next);
            }
            let before = std::mem::replace(&mut length, b_norm(pencil.b, &next, &mut product));
            if length > 0.7 * before || length == 0.0 {
                break;
            }
        }
        if step > 0 {
            beta.push(length);
        }
        if step == steps && locked.vectors.len() + step < n {
            break;
        }
        // What is left of a start after taking the locked vectors out is rounding when they span all there is.
        let nothing = if step == 0 { 1e-10 * original } else { 1e-14 * scale };
        if length <= nothing || length == 0.0 || locked.vectors.len() + step >= n {
            exhausted = true;
            break;
        }
        crate::matrix::scale(&mut next, 1.0 / length);
        crate::matrix::scale(&mut product, 1.0 / length);
        q.push(next);
        bq.push(product);
        let mut image = vec![0.0; n];
        pencil.a.multiply_add(1.0, &q[step], &mut image);
        pencil.factor.solve(&mut image);
        let diagonal = dot(&bq[step], &image);
        alpha.push(diagonal);
        scale = scale.max(diagonal.abs() + beta.last().copied().unwrap_or(0.0));
        // The three-term recurrence first: what is left is already nearly orthogonal to all the others.
        subtract_scaled(diagonal, &q[step], &mut image);
        if step > 0 {
            subtract_scaled(beta[step - 1], &q[step - 1], &mut image);
        }
        next = image;
    }
    ritz(&q, &alpha, &beta, wanted, exhausted)
}

fn ritz(q: &[Vec<f64>], alpha: &[f64], beta: &[f64], wanted: usize, exhausted: bool) -> Ritz {
    let m = alpha.len();
    if m == 0 {
        // A takes every vector to zero, as far as nothing is locked: there is no pair left.
        return Ritz { theta: Vec::new(), residual: Vec::new(), vectors: Vec::new(), exhausted: true };
    }
    let tridiagonal = nalgebra::DMatrix::from_fn(m, m, |i, j| match i.abs_diff(j) {
        0 => alpha[i],
        1 => beta[i.min(j)],
        _ => 0.0,
    });
    let eigen = tridiagonal.symmetric_eigen();
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|&i, &j| eigen.eigenvalues[j].total_cmp(&eigen.eigenvalues[i]));
    order.truncate(wanted);
    let last = if exhausted { 0.0 } else { beta.get(m.wrapping_sub(1)).copied().unwrap_or(0.0) };
    let n = q.first().map_or(0, Vec::len);
    let vectors = order
        .iter()
        .map(|&k| {
            let mut vector = vec![0.0; n];
            for (i, basis) in q.iter().enumerate() {
                subtract_scaled(-eigen.eigenvectors[(i, k)], basis, &mut vector);
            }
            vector
        })
        .collect();
    Ritz {
        theta: order.iter().map(|&k| eigen.eigenvalues[k]).collect(),
        residual: order.iter().map(|&k| (last * eigen.eigenvectors[(m - 1, k)]).abs()).collect(),
        vectors,
        exhausted,
    }
}

/// A start without pattern; `number` gives different ones.
pub(super) fn fresh_start(n: usize, number: usize) -> Vec<f64> {
    (0..n).map(|i| wave(i + number * 1_000_003)).collect()
}
