//! The matrix of an implicit step from a particle system, filled through the batches that its forces hand over.

use nalgebra::Matrix3;
use sim_core::{BlockSink, Definiteness, ImplicitSystem, MatrixRequest};
use sim_linalg::{BlockAssembler, BlockRecorder, BlockRefill, BlockSymmetric};

/// `M + h D + h² K` over the free particles, stencils projected.
#[derive(Debug)]
pub struct StepMatrix {
    /// Where blocks go.
    pub assembler: BlockAssembler,
    /// The values.
    pub matrix: BlockSymmetric,
}

struct Recording<'a>(&'a mut BlockRecorder);

impl BlockSink for Recording<'_> {
    fn add(&mut self, row: usize, col: usize, _block: &Matrix3<f64>) {
        self.0.add(row, col);
    }
    fn add_pair(&mut self, a: usize, b: usize, _block: &Matrix3<f64>) {
        self.0.add_edge(a, b);
    }
    fn add_pairs(&mut self, ends: &[[u32; 2]], _blocks: &[[f64; 9]]) {
        self.0.add_edges(ends);
    }
}

struct Filling<'a, 'b>(&'a mut BlockRefill<'b>);

impl BlockSink for Filling<'_, '_> {
    fn add(&mut self, row: usize, col: usize, block: &Matrix3<f64>) {
        self.0.add(row, col, block);
    }
    fn add_pair(&mut self, a: usize, b: usize, block: &Matrix3<f64>) {
        self.0.add_edge(a, b, 1.0, block);
    }
    fn add_pairs(&mut self, ends: &[[u32; 2]], blocks: &[[f64; 9]]) {
        self.0.add_edges(ends, blocks);
    }
}

fn emit(system: &impl ImplicitSystem, q: &[f64], dt: f64, sink: &mut dyn BlockSink) {
    let request = MatrixRequest {
        damping: dt,
        stiffness: dt * dt,
        ..MatrixRequest::stiffness(Definiteness::Projected)
    };
    system.mass_matrix(sink);
    system.weighted_matrix(0.0, q, q, request, sink);
}

impl StepMatrix {
    /// Records the pattern; the values are zero.
    ///
    /// # Panics
    /// When the system names particles that it does not have.
    pub fn new(system: &impl ImplicitSystem, q: &[f64]) -> Self {
        let free: Vec<bool> = (0..system.particle_count()).map(|i| system.is_free(i)).collect();
        let mut recorder = BlockRecorder::new(&free);
        emit(system, q, 1.0, &mut Recording(&mut recorder));
        let assembler = recorder.finish().expect("a built system names only its own particles");
        let matrix = BlockSymmetric::zeros(assembler.pattern().clone());
        Self { assembler, matrix }
    }

    /// Fills in the values at positions `q` for a step of `dt`.
    ///
    /// # Panics
    /// When `system` is another one than was recorded.
    pub fn fill(&mut self, system: &impl ImplicitSystem, q: &[f64], dt: f64) {
        let mut refill = self.assembler.refill(&mut self.matrix);
        emit(system, q, dt, &mut Filling(&mut refill));
        refill.finish().expect("the sequence is the recorded one");
    }
}
