//! A spring written out formula by formula, with room for one mistake.

use nalgebra::{Matrix3, Vector3};
use sim_core::force::springs::Spring;
use sim_core::{
    BlockSink, Definiteness, Dependence, Energy, EnergyTerm, Force, ForceError, Kinematics, StencilBound,
    Work, WorkTerm,
};

/// A mistake in a spring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    None,
    FlippedForce,
    NoRestLength,
    UnnormalizedDirection,
    OneEndOnly,
    UnprojectedDashpot,
    DashpotOfOneEnd,
    FlippedDashpot,
    DashpotDividedOnce,
    ClampedLength,
    EnergyWithoutHalf,
    EnergyOfLength,
    NoTransverseStiffness,
    FullStiffness,
    TransverseSign,
    TransverseInverted,
    PositiveOffDiagonal,
    HalfStiffness,
    NotProjected,
    DampingUnprojected,
    DampingForgotten,
    NoDampingStiffness,
    TransposedDampingStiffness,
    PowerSign,
    PowerWithoutDashpot,
    LowBound,
    DeniedVelocity,
}

/// One spring with dashpot.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenSpring {
    pub spring: Spring,
    pub mistake: Mistake,
}

impl WrittenSpring {
    fn point(&self, end: usize, x: &[f64]) -> Vector3<f64> {
        Vector3::from_column_slice(&x[3 * self.spring.ends[end] as usize..][..3])
    }

    fn span(&self, x: &[f64]) -> Vector3<f64> {
        self.point(1, x) - self.point(0, x)
    }

    /// Elastic force on the first end.
    fn elastic(&self, q: &[f64]) -> Vector3<f64> {
        let (d, k, rest) = (self.span(q), self.spring.stiffness, self.spring.rest_length);
        let l = if self.mistake == Mistake::ClampedLength { d.norm().max(0.25) } else { d.norm() };
        match self.mistake {
            Mistake::FlippedForce => -d * (k * (l - rest) / l),
            Mistake::NoRestLength => d * k,
            Mistake::UnnormalizedDirection => d * (k * (l - rest)),
            _ => d * (k * (l - rest) / l),
        }
    }

    /// Dashpot force on the first end.
    fn dashpot(&self, q: &[f64], v: &[f64]) -> Vector3<f64> {
        let (d, c) = (self.span(q), self.spring.damping);
        let (w, l) = (self.span(v), d.norm());
        match self.mistake {
            Mistake::UnprojectedDashpot => w * c,
            Mistake::DashpotOfOneEnd => d * (c * -self.point(0, v).dot(&d) / (l * l)),
            Mistake::FlippedDashpot => -d * (c * w.dot(&d) / (l * l)),
            Mistake::DashpotDividedOnce => d * (c * w.dot(&d) / l),
            _ => d * (c * w.dot(&d) / (l * l)),
        }
    }
}

impl Force for WrittenSpring {
    fn id(&self) -> &'static str {
        "written_spring"
    }

    fn dependence(&self) -> Dependence {
        let velocity = self.spring.damping > 0.0 && self.mistake != Mistake::DeniedVelocity;
        Dependence { time: false, velocity }
    }

    fn add_force(&self, at: Kinematics<'_>, f: &mut [f64]) {
        let force = self.elastic(at.q) + self.dashpot(at.q, at.v);
        let [a, b] = self.spring.ends.map(|end| 3 * end as usize);
        for k in 0..3 {
            f[a + k] += force[k];
            if self.mistake != Mistake::OneEndOnly {
                f[b + k] -= force[k];
            }
        }
    }

    fn add_energy(&self, at: Kinematics<'_>, energy: &mut Energy) {
        let stretch = self.span(at.q).norm() - self.spring.rest_length;
        let value = match self.mistake {
            Mistake::EnergyWithoutHalf => self.spring.stiffness * stretch * stretch,
            Mistake::EnergyOfLength => 0.5 * self.spring.stiffness * self.span(at.q).norm_squared(),
            _ => 0.5 * self.spring.stiffness * stretch * stretch,
        };
        energy.add(EnergyTerm::Elastic, value);
    }

    fn add_power(&self, at: Kinematics<'_>, velocity: &[f64], power: &mut Work) {
        let closing = -self.span(velocity);
        let sign = if self.mistake == Mistake::PowerSign { -1.0 } else { 1.0 };
        power.add_term(WorkTerm::Conservative, sign * self.elastic(at.q).dot(&closing));
        if self.mistake != Mistake::PowerWithoutDashpot {
            power.add_term(WorkTerm::Dashpot, self.dashpot(at.q, at.v).dot(&closing));
        }
    }

    fn stiffness_matrix(&self, at: Kinematics<'_>, definiteness: Definiteness, sink: &mut dyn BlockSink) {
        let (d, k) = (self.span(at.q), self.spring.stiffness);
        let l = d.norm();
        let ratio = self.spring.rest_length / l;
        let mut transverse = match self.mistake {
            Mistake::NoTransverseStiffness => 0.0,
            Mistake::FullStiffness => 1.0,
            Mistake::TransverseSign => 1.0 + ratio,
            Mistake::TransverseInverted => 1.0 - 1.0 / ratio,
            _ => 1.0 - ratio,
        };
        if definiteness != Definiteness::Exact && self.mistake != Mistake::NotProjected {
            transverse = transverse.max(0.0);
        }
        let along = d * d.transpose() / (l * l);
        let factor = if self.mistake == Mistake::HalfStiffness { 0.5 * k } else { k };
        let block = (along + (Matrix3::identity() - along) * transverse) * factor;
        let [a, b] = self.spring.ends.map(|end| end as usize);
        sink.add(a, a, &block);
        sink.add(b, b, &block);
        sink.add(a, b, &if self.mistake == Mistake::PositiveOffDiagonal { block } else { -block });
    }

    fn damping_matrix(&self, at: Kinematics<'_>, sink: &mut dyn BlockSink) {
        let d = self.span(at.q);
        let block = match self.mistake {
            Mistake::DampingUnprojected => Matrix3::identity() * self.spring.damping,
            Mistake::DampingForgotten => Matrix3::zeros(),
            _ => d * d.transpose() * (self.spring.damping / d.norm_squared()),
        };
        let [a, b] = self.spring.ends.map(|end| end as usize);
        sink.add_pair(a, b, &block);
    }

    fn damping_stiffness(&self, at: Kinematics<'_>, emit: &mut dyn FnMut(usize, usize, &Matrix3<f64>)) {
        let (d, w) = (self.span(at.q), self.span(at.v));
        let (l, n) = (d.norm(), d / d.norm());
        let across = Matrix3::identity() - n * n.transpose();
        let block = (across * n.dot(&w) + n * (across * w).transpose()) * (self.spring.damping / l);
        let block = match self.mistake {
            Mistake::NoDampingStiffness => Matrix3::zeros(),
            Mistake::TransposedDampingStiffness => block.transpose(),
            _ => block,
        };
        let [a, b] = self.spring.ends.map(|end| end as usize);
        for (row, col, sign) in [(a, a, 1.0), (b, b, 1.0), (a, b, -1.0), (b, a, -1.0)] {
            emit(row, col, &(block * sign));
        }
    }

    fn stencil_bounds(&self, q: &[f64], _mass: &[f64], emit: &mut dyn FnMut(StencilBound<'_>)) {
        let factor = (self.spring.rest_length / self.span(q).norm() - 1.0).max(1.0);
        let factor = if self.mistake == Mistake::LowBound { 0.5 * factor } else { factor };
        emit(StencilBound {
            force: self.id(),
            index: 0,
            particles: &self.spring.ends.map(|end| end as usize),
            weights: &[1.0, -1.0],
            stiffness: self.spring.stiffness * factor,
            damping: self.spring.damping,
        });
    }

    fn validate(&self, _particle_count: usize) -> Result<(), ForceError> {
        Ok(())
    }
}
