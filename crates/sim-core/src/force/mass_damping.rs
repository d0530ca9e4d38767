//! Damping proportional to mass.

use super::{Force, ForceError, ForceInfo, ForceKind, Kinematics, Units, not_negative, sample};
use crate::energy::{Work, WorkTerm};
use crate::particles::{ParticleSystem, ParticleSystemBuilder};
use crate::state::State;
use crate::system::{BlockSink, Dependence, StencilBound};
use nalgebra::Matrix3;

/// Registry entry.
pub const INFO: ForceInfo = ForceInfo {
    id: "mass_damping",
    summary: "force -rate * m * v on each particle",
    kind: ForceKind::External,
    sample: || scaled(Units::SI),
    scaled,
};

fn scaled(units: Units) -> (ParticleSystem, State) {
    sample(4, units, |b: ParticleSystemBuilder| b.force(MassDamping { rate: 0.7 / units.time }))
}

/// Force `-rate m v`: every free motion decays as exp(-rate t), whatever the step.
///
/// # Limitations
/// It brakes rigid motion too, unlike dashpots; it is a stand-in for losses to the surroundings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassDamping {
    /// Decay rate of velocity in 1/s, not negative.
    pub rate: f64,
}

impl Force for MassDamping {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn dependence(&self) -> Dependence {
        Dependence::VELOCITY
    }

    fn add_force(&self, at: Kinematics<'_>, f: &mut [f64]) {
        for ((f, v), &m) in f.chunks_exact_mut(3).zip(at.v.chunks_exact(3)).zip(at.mass) {
            let c = self.rate * m;
            for k in 0..3 {
                f[k] -= c * v[k];
            }
        }
    }

    fn add_power(&self, at: Kinematics<'_>, velocity: &[f64], power: &mut Work) {
        let dot: f64 = (at.v.chunks_exact(3).zip(velocity.chunks_exact(3)).zip(at.mass))
            .map(|((v, u), &m)| m * (v[0] * u[0] + v[1] * u[1] + v[2] * u[2]))
            .sum();
        power.add_term(WorkTerm::MassDamping, -self.rate * dot);
    }

    fn damping_matrix(&self, at: Kinematics<'_>, sink: &mut dyn BlockSink) {
        for (i, &m) in at.mass.iter().enumerate() {
            sink.add(i, i, &Matrix3::from_diagonal_element(self.rate * m));
        }
    }

    fn stencil_bounds(&self, _q: &[f64], mass: &[f64], emit: &mut dyn FnMut(StencilBound<'_>)) {
        for (index, &m) in mass.iter().enumerate() {
            emit(StencilBound {
                force: INFO.id,
                index,
                particles: &[index],
                weights: &[1.0],
                stiffness: 0.0,
                damping: self.rate * m,
            });
        }
    }

    fn validate(&self, _particle_count: usize) -> Result<(), ForceError> {
        not_negative(INFO.id, 0, "rate", self.rate)
    }
}
