//! Uniform gravity.

use super::{Force, ForceError, ForceInfo, ForceKind, Kinematics, Units, finite, sample};
use crate::energy::{Energy, EnergyTerm, Work, WorkTerm};
use crate::particles::{ParticleSystem, ParticleSystemBuilder};
use crate::state::State;
use crate::system::Dependence;

/// Registry entry.
pub const INFO: ForceInfo = ForceInfo {
    id: "gravity",
    summary: "uniform acceleration of all particles",
    kind: ForceKind::External,
    sample: || scaled(Units::SI),
    scaled,
};

fn scaled(units: Units) -> (ParticleSystem, State) {
    sample(4, units, |b: ParticleSystemBuilder| {
        b.force(Gravity::new([0.3, -0.2, -9.81].map(|g| g * units.acceleration())))
    })
}

/// Force `m g` on each particle, energy `-m g·x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gravity {
    /// Acceleration in m/s².
    pub acceleration: [f64; 3],
}

impl Gravity {
    /// Uniform acceleration in m/s².
    pub const fn new(acceleration: [f64; 3]) -> Self {
        Self { acceleration }
    }
}

impl Force for Gravity {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn dependence(&self) -> Dependence {
        Dependence::POSITION
    }

    fn is_constant(&self) -> bool {
        true
    }

    fn add_force(&self, at: Kinematics<'_>, f: &mut [f64]) {
        let [gx, gy, gz] = self.acceleration;
        for (f, &m) in f.chunks_exact_mut(3).zip(at.mass) {
            f[0] += m * gx;
            f[1] += m * gy;
            f[2] += m * gz;
        }
    }

    fn add_energy(&self, at: Kinematics<'_>, energy: &mut Energy) {
        energy.add(EnergyTerm::Gravitational, -self.weight_dot(at.mass, at.q));
    }

    fn add_power(&self, at: Kinematics<'_>, velocity: &[f64], power: &mut Work) {
        power.add_term(WorkTerm::Conservative, self.weight_dot(at.mass, velocity));
    }

    fn validate(&self, _particle_count: usize) -> Result<(), ForceError> {
        finite(INFO.id, 0, "acceleration", &self.acceleration)
    }
}

impl Gravity {
    fn weight_dot(&self, mass: &[f64], x: &[f64]) -> f64 {
        let [gx, gy, gz] = self.acceleration;
        x.chunks_exact(3).zip(mass).map(|(x, &m)| m * (gx * x[0] + gy * x[1] + gz * x[2])).sum()
    }
}
