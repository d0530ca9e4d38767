//! The model's own matrices at one state, scaled by mass: block norms, Lanczos estimate, dense eigenvalues.

use super::Condition;
use super::couplings::{Couplings, CouplingsError};
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use sim_core::{Definiteness, ExplicitSystem, ImplicitSystem, State};

/// `W = M^-½ K M^-½` and `C = M^-½ D M^-½` over the free particles, as 3×3 blocks.
#[derive(Clone, Debug)]
pub(super) struct ScaledMatrices {
    /// Particle of each free index.
    particles: Vec<usize>,
    particle_count: usize,
    diagonal: Vec<[Matrix3<f64>; 2]>,
    /// Once per pair of free indices `i < j`, sorted.
    pairs: Vec<(usize, usize, [Matrix3<f64>; 2])>,
}

/// Lanczos steps; thirty give the limit within a thousandth on irregular networks.
const LANCZOS_STEPS: usize = 30;

impl ScaledMatrices {
    pub fn assemble<S: ExplicitSystem + ImplicitSystem + ?Sized>(
        system: &S,
        state: &State,
    ) -> Result<Self, CouplingsError> {
        let w = system.inverse_mass();
        let particles: Vec<usize> = (0..w.len()).filter(|&i| w[i] > 0.0).collect();
        let mut free = vec![usize::MAX; w.len()];
        for (index, &particle) in particles.iter().enumerate() {
            free[particle] = index;
        }
        let mut diagonal = vec![[Matrix3::zeros(); 2]; particles.len()];
        let mut raw: Vec<(usize, usize, usize, Matrix3<f64>)> = Vec::new();
        let mut error = None;
        let mut add = |which: usize, row: usize, col: usize, block: &Matrix3<f64>| {
            if !block.iter().all(|x| x.is_finite()) {
                error.get_or_insert(CouplingsError::Matrix {
                    matrix: ["stiffness", "damping"][which],
                    row,
                    col,
                });
            }
            let (i, j) = (free[row], free[col]);
            if i == usize::MAX || j == usize::MAX {
                return;
            }
            let scaled = block * (w[row] * w[col]).sqrt();
            match i.cmp(&j) {
                std::cmp::Ordering::Equal => diagonal[i][which] += scaled,
                std::cmp::Ordering::Less => raw.push((i, j, which, scaled)),
                std::cmp::Ordering::Greater => raw.push((j, i, which, scaled.transpose())),
            }
        };
        let State { t, q, v, .. } = state;
        system.stiffness_matrix(
            *t,
            q,
            v,
            Definiteness::Exact,
            &mut |r: usize, c: usize, b: &Matrix3<f64>| add(0, r, c, b),
        );
        system.damping_matrix(*t, q, v, &mut |r: usize, c: usize, b: &Matrix3<f64>| add(1, r, c, b));
        if let Some(error) = error {
            return Err(error);
        }
        raw.sort_by_key(|&(i, j, which, _)| (i, j, which));
        let mut pairs: Vec<(usize, usize, [Matrix3<f64>; 2])> = Vec::new();
        for (i, j, which, block) in raw {
            match pairs.last_mut() {
                Some(last) if (last.0, last.1) == (i, j) => last.2[which] += block,
                _ => {
                    let mut blocks = [Matrix3::zeros(); 2];
                    blocks[which] = block;
                    pairs.push((i, j, blocks));
                }
            }
        }
        Ok(Self { particles, particle_count: w.len(), diagonal, pairs })
    }

    pub fn free_count(&self) -> usize {
        self.particles.len()
    }

    /// Particle of each free index.
    pub fn particles(&self) -> &[usize] {
        &self.particles
    }

    pub fn is_damped(&self) -> bool {
        self.diagonal.iter().any(|blocks| blocks[1] != Matrix3::zeros())
    }

    /// Block norms, with the particles' own numbers as indices.
    pub fn norms(&self) -> Couplings {
        let norm = |block: &Matrix3<f64>| {
            if *block == block.transpose() {
                block.symmetric_eigenvalues().amax()
            } else {
                block.singular_values().amax()
            }
        };
        let mut diagonal = vec![[0.0; 2]; self.particle_count];
        for (&particle, blocks) in self.particles.iter().zip(&self.diagonal) {
            diagonal[particle] = [norm(&blocks[0]), norm(&blocks[1])];
        }
        let pairs = self
            .pairs
            .iter()
            .map(|(i, j, blocks)| {
                (self.particles[*i] as u32, self.particles[*j] as u32, [norm(&blocks[0]), norm(&blocks[1])])
            })
            .collect();
        Couplings::from_entries(Vec::new(), diagonal, pairs)
    }

    /// `y = W x` or `y = C x`.
    fn apply(&self, which: usize, x: &[Vector3<f64>], y: &mut [Vector3<f64>]) {
        for ((y, x), blocks) in y.iter_mut().zip(x).zip(&self.diagonal) {
            *y = blocks[which] * x;
        }
        for (i, j, blocks) in &self.pairs {
            y[*i] += blocks[which] * x[*j];
            y[*j] += blocks[which].transpose() * x[*i];
        }
    }

    /// Largest step that the condition allows along the top Lanczos vector of its matrix at `dt`. Any trial vector gives an upper
    /// limit of the true step, so this is one whatever the quality of the vector.
    pub fn lanczos_estimate(&self, condition: &Condition, dt: f64) -> f64 {
        let n = self.free_count();
        if n == 0 || !dt.is_finite() {
            return f64::INFINITY;
        }
        let mut trial = vec![Vector3::zeros(); n];
        let mut scratch = vec![Vector3::zeros(); n];
        let (alpha, beta) = self.lanczos(condition, dt, None, &mut trial, &mut scratch);
        let m = alpha.len();
        let tridiagonal = DMatrix::from_fn(m, m, |r, c| match r.abs_diff(c) {
            0 => alpha[r],
            1 => beta[r.min(c)],
            _ => 0.0,
        });
        let eigen = tridiagonal.symmetric_eigen();
        let top = eigen.eigenvalues.imax();
        let coefficients: DVector<f64> = eigen.eigenvectors.column(top).into_owned();
        // The vectors are not kept: a second pass makes them again and sums the Ritz vector.
        self.lanczos(condition, dt, Some(&coefficients), &mut trial, &mut scratch);
        let norm2: f64 = trial.iter().map(Vector3::norm_squared).sum();
        let mut quotient = |which: usize| {
            self.apply(which, &trial, &mut scratch);
            trial.iter().zip(&scratch).map(|(x, y)| x.dot(y)).sum::<f64>() / norm2
        };
        let (k, d) = (quotient(0), quotient(1));
        condition.largest_dt(k, d, 1.0)
    }

    /// Lanczos on `stiffness dt² W + damping dt C` from a fixed start vector. Returns the tridiagonal matrix; with `coefficients`, also
    /// sums the vectors into `sum`.
    fn lanczos(
        &self,
        condition: &Condition,
        dt: f64,
        coefficients: Option<&DVector<f64>>,
        sum: &mut [Vector3<f64>],
        scratch: &mut [Vector3<f64>],
    ) -> (Vec<f64>, Vec<f64>) {
        let n = self.free_count();
        let steps = coefficients.map_or(LANCZOS_STEPS.min(3 * n), DVector::len);
        let (mut alpha, mut beta): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut previous = vec![Vector3::zeros(); n];
        // A fixed irregular start: high frequencies alternate from particle to particle, so signs must too.
        let mut current: Vec<Vector3<f64>> = (0..n)
            .map(|i| {
                let x = i as f64 + 1.0;
                Vector3::new((x * 12.9898).sin(), (x * 78.233).sin(), (x * 37.719).sin())
            })
            .collect();
        let norm = |x: &[Vector3<f64>]| x.iter().map(Vector3::norm_squared).sum::<f64>().sqrt();
        let start = norm(&current);
        for x in &mut current {
            *x /= start;
        }
        sum.fill(Vector3::zeros());
        for step in 0..steps {
            if let Some(coefficients) = coefficients {
                for (s, x) in sum.iter_mut().zip(&current) {
                    *s += x * coefficients[step];
                }
            }
            let mut next = vec![Vector3::zeros(); n];
            self.apply(0, &current, &mut next);
            self.apply(1, &current, scratch);
            for (y, c) in next.iter_mut().zip(scratch.iter()) {
                *y = *y * (condition.stiffness * dt * dt) + *c * (condition.damping * dt);
            }
            let a: f64 = next.iter().zip(&current).map(|(y, x)| y.dot(x)).sum();
            let last = beta.last().copied().unwrap_or(0.0);
            for ((y, x), p) in next.iter_mut().zip(&current).zip(&previous) {
                *y -= x * a + p * last;
            }
            alpha.push(a);
            let b = norm(&next);
            if step + 1 == steps || b <= 1e-14 * condition.limit {
                break;
            }
            beta.push(b);
            for y in &mut next {
                *y /= b;
            }
            previous = std::mem::replace(&mut current, next);
        }
        beta.truncate(alpha.len() - 1);
        (alpha, beta)
    }

    /// Dense `W` and `C`.
    pub fn dense(&self) -> [DMatrix<f64>; 2] {
        [0, 1].map(|which| {
            let n = 3 * self.free_count();
            let mut dense = DMatrix::zeros(n, n);
            for (i, blocks) in self.diagonal.iter().enumerate() {
                dense.fixed_view_mut::<3, 3>(3 * i, 3 * i).copy_from(&blocks[which]);
            }
            for (i, j, blocks) in &self.pairs {
                dense.fixed_view_mut::<3, 3>(3 * i, 3 * j).copy_from(&blocks[which]);
                dense.fixed_view_mut::<3, 3>(3 * j, 3 * i).copy_from(&blocks[which].transpose());
            }
            dense
        })
    }

    /// Largest step for which the condition holds, from dense eigenvalues.
    ///
    /// Starting above the limit, each eigenvector gives a smaller upper limit; the sequence falls to the true one quadratically.
    pub fn exact(&self, condition: &Condition) -> f64 {
        let [w, c] = self.dense();
        if w.is_empty() {
            return f64::INFINITY;
        }
        let mut dt = condition.largest_dt(w.diagonal().amax(), c.diagonal().amax(), 1.0);
        if !dt.is_finite() {
            return dt;
        }
        for _ in 0..60 {
            let eigen =
                (&w * (condition.stiffness * dt * dt) + &c * (condition.damping * dt)).symmetric_eigen();
            let u = eigen.eigenvectors.column(eigen.eigenvalues.imax());
            let next = condition.largest_dt((u.transpose() * &w * u)[0], (u.transpose() * &c * u)[0], 1.0);
            let settled = (next / dt - 1.0).abs() < 1e-14;
            dt = next;
            if settled {
                break;
            }
        }
        dt
    }
}
