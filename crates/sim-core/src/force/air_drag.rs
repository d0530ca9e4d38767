//! Drag of still air on particles.

use super::{Force, ForceError, ForceInfo, ForceKind, Kinematics, Units, not_negative, point, sample};
use crate::energy::{Work, WorkTerm};
use crate::particles::{ParticleSystem, ParticleSystemBuilder};
use crate::state::State;
use crate::system::{BlockSink, Dependence, StencilBound};
use nalgebra::Matrix3;
use serde::{Deserialize, Serialize};

/// Registry entry.
pub const INFO: ForceInfo = ForceInfo {
    id: "air_drag",
    summary: "linear and quadratic drag of still air on every particle",
    kind: ForceKind::External,
    sample: || scaled(Units::SI),
    scaled,
};

fn scaled(units: Units) -> (ParticleSystem, State) {
    let drag = AirDrag {
        linear: 0.4 * units.damping(),
        quadratic: 0.9 * units.mass / units.length,
        bound_speed: 3.0 * units.velocity(),
    };
    sample(4, units, |b: ParticleSystemBuilder| b.force(drag))
}

/// Force `-(linear + quadratic |v|) v` on every particle.
///
/// # Limitations
/// The same for every particle and every direction; ropes that feel the cross flow take
/// [`crate::force::segment_drag::SegmentDrag`], cloth takes [`crate::force::wind::Wind`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AirDrag {
    /// N·s/m per particle, not negative (Stokes drag of a sphere: 6 π × viscosity × radius).
    #[serde(default)]
    pub linear: f64,
    /// N·s²/m² per particle, not negative (½ × air density × drag coefficient × area).
    #[serde(default)]
    pub quadratic: f64,
    /// Speed in m/s up to which the bound on the step size covers the quadratic drag, not negative. It changes no force.
    pub bound_speed: f64,
}

impl Force for AirDrag {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn dependence(&self) -> Dependence {
        Dependence::VELOCITY
    }

    fn add_force(&self, at: Kinematics<'_>, f: &mut [f64]) {
        for (f, v) in f.chunks_exact_mut(3).zip(at.v.chunks_exact(3)) {
            let speed = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
            let c = self.linear + self.quadratic * speed;
            for k in 0..3 {
                f[k] -= c * v[k];
            }
        }
    }

    fn add_power(&self, at: Kinematics<'_>, velocity: &[f64], power: &mut Work) {
        let mut sum = 0.0;
        for i in 0..at.mass.len() as u32 {
            let v = point(at.v, i);
            sum -= (self.linear + self.quadratic * v.norm()) * v.dot(&point(velocity, i));
        }
        power.add_term(WorkTerm::Air, sum);
    }

    fn damping_matrix(&self, at: Kinematics<'_>, sink: &mut dyn BlockSink) {
        for i in 0..at.mass.len() as u32 {
            let v = point(at.v, i);
            let speed = v.norm();
            let mut block = Matrix3::from_diagonal_element(self.linear + self.quadratic * speed);
            if speed > 0.0 {
                block += v * v.transpose() * (self.quadratic / speed);
            }
            sink.add(i as usize, i as usize, &block);
        }
    }

    fn stencil_bounds(&self, _q: &[f64], mass: &[f64], emit: &mut dyn FnMut(StencilBound<'_>)) {
        for index in 0..mass.len() {
            emit(StencilBound {
                force: INFO.id,
                index,
                particles: &[index],
                weights: &[1.0],
                stiffness: 0.0,
                damping: self.linear + 2.0 * self.quadratic * self.bound_speed,
            });
        }
    }

    fn validate(&self, _particle_count: usize) -> Result<(), ForceError> {
        not_negative(INFO.id, 0, "linear", self.linear)?;
        not_negative(INFO.id, 0, "quadratic", self.quadratic)?;
        not_negative(INFO.id, 0, "bound_speed", self.bound_speed)
    }
}
