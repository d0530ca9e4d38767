//! Dense matrices of small systems, and finite differences.
#![allow(dead_code)] // every test file takes what it needs

use nalgebra::{DMatrix, DVector, Matrix3};
use sim_core::{BlockSink, Definiteness, ImplicitSystem, State, System};

/// Sink that fills a dense matrix and writes down the sequence of places.
pub struct Dense {
    pub matrix: DMatrix<f64>,
    pub places: Vec<(usize, usize)>,
}

impl Dense {
    pub fn new(particles: usize) -> Self {
        Self { matrix: DMatrix::zeros(3 * particles, 3 * particles), places: Vec::new() }
    }

    fn block(&mut self, row: usize, col: usize, block: &Matrix3<f64>) {
        let mut view = self.matrix.fixed_view_mut::<3, 3>(3 * row, 3 * col);
        view += block;
    }
}

impl BlockSink for Dense {
    fn add(&mut self, row: usize, col: usize, block: &Matrix3<f64>) {
        self.places.push((row, col));
        self.block(row, col, block);
        if row != col {
            self.block(col, row, &block.transpose());
        }
    }
}

pub fn force<S: System>(system: &S, state: &State) -> DVector<f64> {
    let mut f = vec![f64::NAN; state.q.len()];
    system.force(state.t, &state.q, &state.v, &mut f);
    DVector::from_vec(f)
}

pub fn stiffness<S: ImplicitSystem>(system: &S, state: &State, definiteness: Definiteness) -> Dense {
    let mut sink = Dense::new(state.particle_count());
    system.stiffness_matrix(state.t, &state.q, &state.v, definiteness, &mut sink);
    sink
}

pub fn damping<S: ImplicitSystem>(system: &S, state: &State) -> Dense {
    let mut sink = Dense::new(state.particle_count());
    system.damping_matrix(state.t, &state.q, &state.v, &mut sink);
    sink
}

pub fn damping_stiffness<S: ImplicitSystem>(system: &S, state: &State) -> Dense {
    let mut sink = Dense::new(state.particle_count());
    system.damping_stiffness(state.t, &state.q, &state.v, &mut |row, col, block| {
        sink.places.push((row, col));
        sink.block(row, col, block);
    });
    sink
}

/// Five-point derivative of a vector function by each entry of `x`, of fourth order in `step`.
pub fn differences(x: &[f64], step: f64, mut f: impl FnMut(&[f64]) -> DVector<f64>) -> DMatrix<f64> {
    let mut x = x.to_vec();
    let columns: Vec<_> = (0..x.len())
        .map(|j| {
            let middle = x[j];
            let mut at = |offset: f64| {
                x[j] = middle + offset;
                // The step that is really made.
                (f(&x), x[j] - middle)
            };
            let ((p1, a1), (m1, b1)) = (at(step), at(-step));
            let ((p2, a2), (m2, b2)) = (at(2.0 * step), at(-2.0 * step));
            x[j] = middle;
            (p1 - m1) / (a1 - b1) * (4.0 / 3.0) - (p2 - m2) / (a2 - b2) / 3.0
        })
        .collect();
    DMatrix::from_columns(&columns)
}

/// -∂f/∂q by differences.
pub fn minus_force_by_position<S: System>(system: &S, state: &State, step: f64) -> DMatrix<f64> {
    -differences(&state.q, step, |q| {
        let mut f = vec![0.0; q.len()];
        system.force(state.t, q, &state.v, &mut f);
        DVector::from_vec(f)
    })
}

/// -∂f/∂v by differences.
pub fn minus_force_by_velocity<S: System>(system: &S, state: &State, step: f64) -> DMatrix<f64> {
    -differences(&state.v, step, |v| {
        let mut f = vec![0.0; v.len()];
        system.force(state.t, &state.q, v, &mut f);
        DVector::from_vec(f)
    })
}

/// Asserts that two matrices agree to `tolerance` of the larger one's norm, and that they are not zero.
pub fn assert_close(what: &str, found: &DMatrix<f64>, expected: &DMatrix<f64>, tolerance: f64) {
    let scale = found.norm().max(expected.norm());
    assert!(scale > 0.0, "{what}: the derivative must not be zero");
    let error = (found - expected).norm() / scale;
    assert!(error < tolerance, "{what}: relative difference {error:.3e}");
}

pub fn lowest_eigenvalue(matrix: &DMatrix<f64>) -> f64 {
    matrix.clone().symmetric_eigen().eigenvalues.min()
}

/// A value in [-1, 1) for each `k`, the same on every machine.
pub fn noise(k: usize) -> f64 {
    let mut z = (k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    2.0 * ((z >> 11) as f64 / 9_007_199_254_740_992.0) - 1.0
}
