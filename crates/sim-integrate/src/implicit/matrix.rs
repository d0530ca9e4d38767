//! `M + a D + b K` over the free particles, on a pattern that is recorded once.

use nalgebra::Matrix3;
use sim_core::{Definiteness, ImplicitSystem};
use sim_linalg::{AssemblyError, BlockAssembler, BlockRecorder, BlockSymmetric};

/// The matrix of a stage and the mass blocks behind it.
#[derive(Debug)]
pub(crate) struct StageMatrix {
    pub assembler: BlockAssembler,
    pub matrix: BlockSymmetric,
    mass: Vec<(usize, usize, Matrix3<f64>)>,
    is_free: Vec<bool>,
}

impl StageMatrix {
    /// Records the sequence of blocks that `system` emits.
    pub fn record<S: ImplicitSystem + ?Sized>(
        system: &S,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<Self, AssemblyError> {
        let is_free: Vec<bool> = (0..system.particle_count()).map(|i| system.is_free(i)).collect();
        let mut recorder = BlockRecorder::new(&is_free);
        let mut mass = Vec::new();
        system.mass_matrix(&mut |r: usize, c: usize, b: &Matrix3<f64>| {
            recorder.add(r, c);
            if is_free[r] && is_free[c] {
                mass.push((r, c, *b));
            }
        });
        let mut add = |r: usize, c: usize, _: &Matrix3<f64>| recorder.add(r, c);
        system.damping_matrix(t, q, v, &mut add);
        system.stiffness_matrix(t, q, v, Definiteness::Exact, &mut add);
        let assembler = recorder.finish()?;
        let matrix = BlockSymmetric::zeros(assembler.pattern().clone());
        Ok(Self { assembler, matrix, mass, is_free })
    }

    /// Whether the system has the same free particles as the recorded one.
    pub fn fits<S: ImplicitSystem + ?Sized>(&self, system: &S) -> bool {
        self.is_free.len() == system.particle_count()
            && self.is_free.iter().enumerate().all(|(i, &free)| free == system.is_free(i))
    }

    /// Whether particle `i` is an unknown.
    pub fn is_free(&self, i: usize) -> bool {
        self.is_free[i]
    }

    /// Sets the matrix to `M + a D + b K` at time `t`, positions `q`, velocities `v`.
    pub fn fill<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        (a, b): (f64, f64),
        (t, q, v): (f64, &[f64], &[f64]),
        definiteness: Definiteness,
    ) -> Result<(), AssemblyError> {
        let mut refill = self.assembler.refill(&mut self.matrix);
        system.mass_matrix(&mut |r: usize, c: usize, block: &Matrix3<f64>| refill.add(r, c, block));
        system.damping_matrix(t, q, v, &mut |r: usize, c: usize, block: &Matrix3<f64>| {
            refill.add_scaled(r, c, a, block);
        });
        system.stiffness_matrix(t, q, v, definiteness, &mut |r: usize, c: usize, block: &Matrix3<f64>| {
            refill.add_scaled(r, c, b, block);
        });
        refill.finish()
    }

    /// `y = M x` over all particles; rows that are not free are zero.
    pub fn mass_times(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for (r, c, block) in &self.mass {
            add_product(block, &x[3 * c..3 * c + 3], &mut y[3 * r..3 * r + 3]);
            if r != c {
                add_product(&block.transpose(), &x[3 * r..3 * r + 3], &mut y[3 * c..3 * c + 3]);
            }
        }
    }

    /// Mass in kg on the diagonal of each particle (mean over the axes); zero where not free.
    pub fn diagonal_mass(&self, mass: &mut [f64]) {
        mass.fill(0.0);
        for (r, _, block) in self.mass.iter().filter(|(r, c, _)| r == c) {
            mass[*r] += block.trace() / 3.0;
        }
    }
}

fn add_product(block: &Matrix3<f64>, x: &[f64], y: &mut [f64]) {
    for (r, y) in y.iter_mut().enumerate() {
        *y += block[(r, 0)] * x[0] + block[(r, 1)] * x[1] + block[(r, 2)] * x[2];
    }
}
