//! Mistakes around a whole model: between the forces and whoever asks for them.

use nalgebra::Matrix3;
use sim_core::{
    BlockSink, Definiteness, Dependence, Energy, ExplicitSystem, ImplicitSystem, ModelSystem, StencilBound,
    System, Work,
};

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tamper {
    None,
    /// Blocks off the diagonal are transposed.
    TransposedBlocks,
    /// The force on the first particle has the wrong sign.
    FlippedGradient,
    /// Forces on the first two particles are exchanged.
    ExchangedParticles,
    /// Damping is evaluated at zero velocity.
    NoDamping,
    /// The last block off the diagonal is lost.
    LostBlock,
    /// Masses are those of the next particle.
    ShiftedMass,
    /// The force of the first call is given for ever.
    StaleForce,
}

/// A model with a mistake around it.
pub(super) struct Tampered {
    pub inner: Box<dyn ModelSystem>,
    pub tamper: Tamper,
    stale: std::sync::OnceLock<Vec<f64>>,
}

impl Tampered {
    pub fn new(inner: Box<dyn ModelSystem>, tamper: Tamper) -> Self {
        Self { inner, tamper, stale: std::sync::OnceLock::new() }
    }
}

impl System for Tampered {
    fn particle_count(&self) -> usize {
        self.inner.particle_count()
    }

    fn dependence(&self) -> Dependence {
        self.inner.dependence()
    }

    fn force(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        let still = vec![0.0; v.len()];
        let v = if self.tamper == Tamper::NoDamping { &still } else { v };
        self.inner.force(t, q, v, f);
        match self.tamper {
            Tamper::FlippedGradient => f[..3].iter_mut().for_each(|f| *f = -*f),
            Tamper::ExchangedParticles => (0..3).for_each(|k| f.swap(k, 3 + k)),
            Tamper::StaleForce => f.copy_from_slice(self.stale.get_or_init(|| f.to_vec())),
            Tamper::ShiftedMass => {
                let m = self.inner.mass();
                for (i, f) in f.chunks_exact_mut(3).enumerate() {
                    let factor = m[(i + 1) % m.len()] / m[i];
                    for f in f {
                        *f *= factor;
                    }
                }
            }
            _ => {}
        }
    }

    fn energy(&self, t: f64, q: &[f64], v: &[f64]) -> Energy {
        self.inner.energy(t, q, v)
    }

    fn power(&self, t: f64, q: &[f64], v: &[f64], velocity: &[f64]) -> Work {
        self.inner.power(t, q, v, velocity)
    }
}

impl ExplicitSystem for Tampered {
    fn mass(&self) -> &[f64] {
        self.inner.mass()
    }

    fn inverse_mass(&self) -> &[f64] {
        self.inner.inverse_mass()
    }

    fn stencil_bounds(&self, q: &[f64], emit: &mut dyn FnMut(StencilBound<'_>)) {
        self.inner.stencil_bounds(q, emit);
    }
}

impl ImplicitSystem for Tampered {
    fn is_free(&self, particle: usize) -> bool {
        self.inner.is_free(particle)
    }

    fn mass_matrix(&self, sink: &mut dyn BlockSink) {
        self.inner.mass_matrix(sink);
    }

    fn damping_matrix(&self, t: f64, q: &[f64], v: &[f64], sink: &mut dyn BlockSink) {
        self.inner.damping_matrix(t, q, v, sink);
    }

    fn stiffness_matrix(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        definiteness: Definiteness,
        sink: &mut dyn BlockSink,
    ) {
        let mut blocks: Vec<(usize, usize, Matrix3<f64>)> = Vec::new();
        self.inner.stiffness_matrix(
            t,
            q,
            v,
            definiteness,
            &mut |row: usize, col: usize, block: &Matrix3<f64>| {
                blocks.push((row, col, *block));
            },
        );
        if self.tamper == Tamper::LostBlock
            && let Some(last) = blocks.iter().rposition(|(row, col, _)| row != col)
        {
            blocks.remove(last);
        }
        for (row, col, block) in blocks {
            let transposed = self.tamper == Tamper::TransposedBlocks && row != col;
            sink.add(row, col, &if transposed { block.transpose() } else { block });
        }
    }

    fn damping_stiffness(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        emit: &mut dyn FnMut(usize, usize, &Matrix3<f64>),
    ) {
        self.inner.damping_stiffness(t, q, v, emit);
    }
}
