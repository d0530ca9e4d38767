//! Some of a system's forces, as a system.

use nalgebra::Matrix3;
use sim_core::{
    BlockSink, Definiteness, Dependence, Energy, ForceMask, ImplicitSystem, MatrixRequest, SplitSystem,
    System, Work,
};

/// The masked forces of `whole`, with all of its masses, pins and drives.
pub(crate) struct Part<'a> {
    pub whole: &'a dyn SplitSystem,
    pub mask: ForceMask,
}

impl System for Part<'_> {
    fn particle_count(&self) -> usize {
        self.whole.particle_count()
    }
    fn dependence(&self) -> Dependence {
        self.whole.part_dependence(self.mask)
    }
    fn force(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        self.whole.part_force(self.mask, t, q, v, f);
    }
    /// Of the whole system: a part has no energy of its own.
    fn energy(&self, t: f64, q: &[f64], v: &[f64]) -> Energy {
        self.whole.energy(t, q, v)
    }
    /// Of the whole system, as above.
    fn power(&self, t: f64, q: &[f64], v: &[f64], velocity: &[f64]) -> Work {
        self.whole.power(t, q, v, velocity)
    }
    fn internal_count(&self) -> usize {
        self.whole.internal_count()
    }
    fn remembers(&self) -> bool {
        self.whole.remembers()
    }
    fn prescribe(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        self.whole.prescribe(t, q, v);
    }
}

impl ImplicitSystem for Part<'_> {
    fn is_free(&self, particle: usize) -> bool {
        self.whole.is_free(particle)
    }
    fn rest_positions(&self) -> Option<&[f64]> {
        self.whole.rest_positions()
    }
    fn mass_matrix(&self, sink: &mut dyn BlockSink) {
        self.whole.mass_matrix(sink);
    }
    fn damping_matrix(&self, t: f64, q: &[f64], v: &[f64], sink: &mut dyn BlockSink) {
        self.whole.part_damping_matrix(self.mask, t, q, v, sink);
    }
    fn stiffness_matrix(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        definiteness: Definiteness,
        sink: &mut dyn BlockSink,
    ) {
        self.whole.part_stiffness_matrix(self.mask, t, q, v, definiteness, sink);
    }
    fn weighted_matrix(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        request: MatrixRequest<'_>,
        sink: &mut dyn BlockSink,
    ) {
        self.whole.part_weighted_matrix(self.mask, t, q, v, request, sink);
    }
    fn damping_stiffness(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        emit: &mut dyn FnMut(usize, usize, &Matrix3<f64>),
    ) {
        self.whole.damping_stiffness(t, q, v, emit);
    }
}
