//! Loads on single particles.

use super::{Force, ForceError, ForceInfo, ForceKind, Kinematics, Units, finite, sample};
use crate::curve::TimeCurve;
use crate::energy::{Energy, EnergyTerm, Work, WorkTerm};
use crate::particles::{ParticleSystem, ParticleSystemBuilder};
use crate::state::State;
use crate::stencils::check_particles;
use crate::system::Dependence;
use serde::{Deserialize, Serialize};

/// Registry entry.
pub const INFO: ForceInfo = ForceInfo {
    id: "point_load",
    summary: "constant and time-varying loads on particles",
    kind: ForceKind::External,
    sample: || scaled(Units::SI),
    scaled,
};

fn scaled(units: Units) -> (ParticleSystem, State) {
    let load = |particle, force: [f64; 3], curve| PointLoad {
        particle,
        force: force.map(|f| f * units.force()),
        curve,
    };
    let swing = TimeCurve::Sinusoid { mean: 0.2, amplitude: 1.5, frequency: 0.8 / units.time, phase: 0.4 };
    sample(4, units, |b: ParticleSystemBuilder| {
        b.force(PointLoads::new([
            load(0, [0.3, -0.2, 1.1], TimeCurve::Constant),
            load(2, [-0.7, 0.4, 0.5], swing),
            load(2, [0.1, 0.9, -0.6], TimeCurve::Constant),
        ]))
    })
}

/// A load on one particle: `force` times `curve(t)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointLoad {
    /// Particle.
    pub particle: u32,
    /// N.
    pub force: [f64; 3],
    /// Factor over time.
    #[serde(default)]
    pub curve: TimeCurve,
}

/// Loads on particles. Constant ones are conservative with the energy `-F·x`; the others do external work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointLoads {
    loads: Vec<PointLoad>,
}

impl PointLoads {
    /// Loads in the order given; several may act on one particle.
    pub fn new(loads: impl IntoIterator<Item = PointLoad>) -> Self {
        Self { loads: loads.into_iter().collect() }
    }

    /// The loads.
    pub fn loads(&self) -> &[PointLoad] {
        &self.loads
    }

    /// `Σ factor(load) F·x` over the loads that `which` picks.
    fn dot(&self, t: f64, x: &[f64], constant: bool) -> f64 {
        (self.loads.iter().filter(|load| load.curve.is_constant() == constant))
            .map(|load| {
                let x = &x[3 * load.particle as usize..][..3];
                let [fx, fy, fz] = load.force;
                load.curve.at(t) * (fx * x[0] + fy * x[1] + fz * x[2])
            })
            .sum()
    }
}

impl Force for PointLoads {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn dependence(&self) -> Dependence {
        Dependence { time: self.loads.iter().any(|load| !load.curve.is_constant()), velocity: false }
    }

    fn is_constant(&self) -> bool {
        self.loads.iter().all(|load| load.curve.is_constant())
    }

    fn add_force(&self, at: Kinematics<'_>, f: &mut [f64]) {
        for load in &self.loads {
            let factor = load.curve.at(at.t);
            for k in 0..3 {
                f[3 * load.particle as usize + k] += factor * load.force[k];
            }
        }
    }

    fn add_energy(&self, at: Kinematics<'_>, energy: &mut Energy) {
        energy.add(EnergyTerm::Load, -self.dot(at.t, at.q, true));
    }

    fn add_power(&self, at: Kinematics<'_>, velocity: &[f64], power: &mut Work) {
        power.add_term(WorkTerm::Conservative, self.dot(at.t, velocity, true));
        power.add_term(WorkTerm::External, self.dot(at.t, velocity, false));
    }

    fn validate(&self, particle_count: usize) -> Result<(), ForceError> {
        for (index, load) in self.loads.iter().enumerate() {
            check_particles(INFO.id, index, &[load.particle], particle_count)?;
            finite(INFO.id, index, "force", &load.force)?;
            load.curve.validate().map_err(|source| ForceError::Curve { force: INFO.id, index, source })?;
        }
        Ok(())
    }
}
