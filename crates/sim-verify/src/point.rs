//! One particle under a law of force, as a full model: for equations that springs cannot express.

use nalgebra::{Matrix3, Vector3};
use sim_core::{
    BlockSink, Definiteness, Dependence, Energy, ExplicitSystem, ImplicitSystem, StencilBound, System, Work,
    WorkTerm,
};
use std::fmt::Debug;

/// A law of force for one particle. An unused coordinate has zero force and so keeps its value.
///
/// The coordinate need not be a length: a pendulum uses the angle as `x` and a moment of inertia as mass.
pub trait PointLaw: Debug + Send + Sync {
    /// Potential energy in J.
    fn potential(&self, x: Vector3<f64>) -> f64;

    /// Force in N that derives from the potential.
    fn conservative(&self, x: Vector3<f64>) -> Vector3<f64>;

    /// K = -∂(conservative)/∂x in N/m.
    fn stiffness(&self, x: Vector3<f64>) -> Matrix3<f64>;

    /// Force in N without a potential: loads in time, drag. Booked as work of the air.
    fn other(&self, _t: f64, _x: Vector3<f64>, _v: Vector3<f64>) -> Vector3<f64> {
        Vector3::zeros()
    }

    /// D = -∂(other)/∂v in N·s/m.
    fn damping(&self, _t: f64, _x: Vector3<f64>, _v: Vector3<f64>) -> Matrix3<f64> {
        Matrix3::zeros()
    }

    /// What `other` depends on.
    fn dependence(&self) -> Dependence {
        Dependence::POSITION
    }
}

/// One free particle of given mass under a [`PointLaw`].
#[derive(Debug)]
pub struct PointSystem<L> {
    mass: [f64; 1],
    inverse_mass: [f64; 1],
    law: L,
}

impl<L: PointLaw> PointSystem<L> {
    /// A particle of `mass` kg.
    ///
    /// # Panics
    /// When `mass` is not positive and finite.
    pub fn new(mass: f64, law: L) -> Self {
        assert!(mass.is_finite() && mass > 0.0, "mass must be positive and finite, got {mass}");
        Self { mass: [mass], inverse_mass: [1.0 / mass], law }
    }
}

fn vector(x: &[f64]) -> Vector3<f64> {
    assert_eq!(x.len(), 3, "a point system has 3 values, got {}", x.len());
    Vector3::new(x[0], x[1], x[2])
}

impl<L: PointLaw> System for PointSystem<L> {
    fn particle_count(&self) -> usize {
        1
    }

    fn dependence(&self) -> Dependence {
        self.law.dependence()
    }

    fn force(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        let total = self.law.conservative(vector(q)) + self.law.other(t, vector(q), vector(v));
        f.copy_from_slice(total.as_slice());
    }

    fn energy(&self, _t: f64, q: &[f64], v: &[f64]) -> Energy {
        Energy {
            kinetic: 0.5 * self.mass[0] * vector(v).norm_squared(),
            elastic: self.law.potential(vector(q)),
            ..Energy::default()
        }
    }

    fn power(&self, t: f64, q: &[f64], v: &[f64], velocity: &[f64]) -> Work {
        let mut work = Work::default();
        work.add_term(WorkTerm::Conservative, self.law.conservative(vector(q)).dot(&vector(velocity)));
        work.add_term(WorkTerm::Air, self.law.other(t, vector(q), vector(v)).dot(&vector(velocity)));
        work
    }
}

impl<L: PointLaw> ExplicitSystem for PointSystem<L> {
    fn mass(&self) -> &[f64] {
        &self.mass
    }

    fn inverse_mass(&self) -> &[f64] {
        &self.inverse_mass
    }

    /// Holds at `q` only: a law has no bound of its own.
    fn stencil_bounds(&self, q: &[f64], emit: &mut dyn FnMut(StencilBound<'_>)) {
        let norm = |m: Matrix3<f64>| m.symmetric_eigenvalues().amax();
        emit(StencilBound {
            force: "point_law",
            index: 0,
            particles: &[0],
            weights: &[1.0],
            stiffness: norm(self.law.stiffness(vector(q))),
            damping: norm(self.law.damping(0.0, vector(q), Vector3::zeros())),
        });
    }
}

impl<L: PointLaw> ImplicitSystem for PointSystem<L> {
    fn is_free(&self, _particle: usize) -> bool {
        true
    }

    fn mass_matrix(&self, sink: &mut dyn BlockSink) {
        sink.add(0, 0, &Matrix3::from_diagonal_element(self.mass[0]));
    }

    fn damping_matrix(&self, t: f64, q: &[f64], v: &[f64], sink: &mut dyn BlockSink) {
        sink.add(0, 0, &self.law.damping(t, vector(q), vector(v)));
    }

    fn stiffness_matrix(
        &self,
        _t: f64,
        q: &[f64],
        _v: &[f64],
        definiteness: Definiteness,
        sink: &mut dyn BlockSink,
    ) {
        let mut k = self.law.stiffness(vector(q));
        if definiteness != Definiteness::Exact {
            let mut eigen = k.symmetric_eigen();
            if eigen.eigenvalues.min() < 0.0 {
                eigen.eigenvalues.apply(|value| *value = value.max(0.0));
                k = eigen.recompose();
            }
        }
        sink.add(0, 0, &k);
    }

    fn damping_stiffness(
        &self,
        _t: f64,
        _q: &[f64],
        _v: &[f64],
        _emit: &mut dyn FnMut(usize, usize, &Matrix3<f64>),
    ) {
    }
}
