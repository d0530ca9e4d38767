//! Drag of moving air on the segments of ropes.

use super::{
    Force, ForceError, ForceInfo, ForceKind, Kinematics, Units, finite, not_negative, point, sample,
};
use crate::air::AirFlow;
use crate::energy::{Work, WorkTerm};
use crate::particles::{ParticleSystem, ParticleSystemBuilder};
use crate::state::State;
use crate::stencils::check_particles;
use crate::system::{BlockSink, Dependence, StencilBound};
use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};

/// Registry entry.
pub const INFO: ForceInfo = ForceInfo {
    id: "segment_drag",
    summary: "drag of moving air on rope segments, across and along",
    kind: ForceKind::External,
    sample: || scaled(Units::SI),
    scaled,
};

fn scaled(units: Units) -> (ParticleSystem, State) {
    let options = SegmentDragOptions {
        normal: 0.7 * units.mass / units.length / units.length,
        tangential: 0.2 * units.mass / units.length / units.length,
        air: AirFlow {
            velocity: [0.6, -0.3, 0.2].map(|v| v * units.velocity()),
            gust: [0.1, 0.4, -0.2].map(|v| v * units.velocity()),
            gust_frequency: 0.7 / units.time,
            gust_phase: 0.2,
        },
        bound_speed: 4.0 * units.velocity(),
    };
    let segments = [([0, 1], 0.5), ([1, 2], 0.3), ([3, 0], 0.8)].map(|(ends, l)| (ends, l * units.length));
    sample(4, units, |b: ParticleSystemBuilder| b.force(SegmentDrag::new(options, segments)))
}

/// Drag coefficients of a rope and the air it moves in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmentDragOptions {
    /// Across the segment: ½ × air density × drag coefficient × diameter, in kg/m² (N·s²/m² per m), not negative.
    pub normal: f64,
    /// Along the segment: ½ × air density × friction coefficient × circumference, in kg/m², not negative.
    #[serde(default)]
    pub tangential: f64,
    /// The air.
    #[serde(default)]
    pub air: AirFlow,
    /// Relative speed in m/s up to which the bound on the step size covers the drag, not negative. It changes no force.
    pub bound_speed: f64,
}

/// Drag on segments: with w the velocity of the segment's middle relative to the air, split into `s t` along the segment and
/// `w_n` across it, the force is `-length (normal |w_n| w_n + tangential |s| s t)`, half on either end.
///
/// # Limitations
/// The length is the unloaded one given at the start (the air sees the same rope when it stretches). A segment whose ends
/// coincide has no direction: all of w counts as across.
#[derive(Clone, Debug, PartialEq)]
pub struct SegmentDrag {
    options: SegmentDragOptions,
    segments: Vec<[u32; 2]>,
    length: Vec<f64>,
}

/// Force of one segment per length, and what its derivatives are made of.
struct Flow {
    tangent: Vector3<f64>,
    along: f64,
    across: Vector3<f64>,
    across_speed: f64,
}

impl SegmentDrag {
    /// Drag on segments with their lengths in m.
    pub fn new(options: SegmentDragOptions, segments: impl IntoIterator<Item = ([u32; 2], f64)>) -> Self {
        let (segments, length) = segments.into_iter().unzip();
        Self { options, segments, length }
    }

    fn flow(&self, at: Kinematics<'_>, index: usize) -> Flow {
        let [a, b] = self.segments[index];
        let d = point(at.q, b) - point(at.q, a);
        let l = d.norm();
        let tangent = if l > 0.0 { d / l } else { Vector3::zeros() };
        let w = (point(at.v, a) + point(at.v, b)) * 0.5 - self.options.air.at(at.t);
        let along = w.dot(&tangent);
        let across = w - tangent * along;
        Flow { tangent, along, across, across_speed: across.norm() }
    }

    fn force(&self, at: Kinematics<'_>, index: usize) -> Vector3<f64> {
        let flow = self.flow(at, index);
        (flow.across * (self.options.normal * flow.across_speed)
            + flow.tangent * (self.options.tangential * flow.along.abs() * flow.along))
            * -self.length[index]
    }
}

impl Force for SegmentDrag {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn dependence(&self) -> Dependence {
        Dependence { time: self.options.air.varies(), velocity: true }
    }

    fn add_force(&self, at: Kinematics<'_>, f: &mut [f64]) {
        for (index, ends) in self.segments.iter().enumerate() {
            let half = self.force(at, index) * 0.5;
            for &end in ends {
                for k in 0..3 {
                    f[3 * end as usize + k] += half[k];
                }
            }
        }
    }

    fn add_power(&self, at: Kinematics<'_>, velocity: &[f64], power: &mut Work) {
        let mut sum = 0.0;
        for (index, &[a, b]) in self.segments.iter().enumerate() {
            sum += self.force(at, index).dot(&(point(velocity, a) + point(velocity, b))) * 0.5;
        }
        power.add_term(WorkTerm::Air, sum);
    }

    fn damping_matrix(&self, at: Kinematics<'_>, sink: &mut dyn BlockSink) {
        for (index, &[a, b]) in self.segments.iter().enumerate() {
            let Flow { tangent, along, across, across_speed } = self.flow(at, index);
            let tt = tangent * tangent.transpose();
            let mut block = (Matrix3::identity() - tt) * across_speed;
            if across_speed > 0.0 {
                block += across * across.transpose() / across_speed;
            }
            block *= self.options.normal;
            block += tt * (2.0 * self.options.tangential * along.abs());
            // Half the force to either end from half of either velocity.
            block *= 0.25 * self.length[index];
            let (a, b) = (a as usize, b as usize);
            sink.add(a, a, &block);
            sink.add(b, b, &block);
            sink.add(a, b, &block);
        }
    }

    fn damping_stiffness(&self, at: Kinematics<'_>, emit: &mut dyn FnMut(usize, usize, &Matrix3<f64>)) {
        for (index, &[a, b]) in self.segments.iter().enumerate() {
            let Flow { tangent, along, across, across_speed } = self.flow(at, index);
            let l = (point(at.q, b) - point(at.q, a)).norm();
            let mut block = Matrix3::zeros();
            if l > 0.0 {
                // By the tangent: d(w_n) = -(s dt + t w·dt), d|w_n| = -s w_n·dt / |w_n|, ds = w·dt with dt across t.
                let swing = Matrix3::identity() * along + tangent * across.transpose();
                let mut normal = -swing * across_speed;
                if across_speed > 0.0 {
                    normal -= across * across.transpose() * (along / across_speed);
                }
                let tangential = tangent * across.transpose() * (2.0 * along.abs())
                    + Matrix3::from_diagonal_element(along.abs() * along);
                let by_tangent = normal * self.options.normal + tangential * self.options.tangential;
                let turn = (Matrix3::identity() - tangent * tangent.transpose()) / l;
                block = by_tangent * turn * (0.5 * self.length[index]);
            }
            // f = -length(...): -∂f/∂x_b = +block on both rows.
            let (a, b) = (a as usize, b as usize);
            emit(a, a, &-block);
            emit(b, b, &block);
            emit(a, b, &block);
            emit(b, a, &-block);
        }
    }

    fn stencil_bounds(&self, _q: &[f64], _mass: &[f64], emit: &mut dyn FnMut(StencilBound<'_>)) {
        let coefficient = self.options.normal.max(self.options.tangential);
        for (index, &[a, b]) in self.segments.iter().enumerate() {
            emit(StencilBound {
                force: INFO.id,
                index,
                particles: &[a as usize, b as usize],
                weights: &[0.5, 0.5],
                stiffness: 0.0,
                damping: 2.0 * coefficient * self.length[index] * self.options.bound_speed,
            });
        }
    }

    fn validate(&self, particle_count: usize) -> Result<(), ForceError> {
        not_negative(INFO.id, 0, "normal", self.options.normal)?;
        not_negative(INFO.id, 0, "tangential", self.options.tangential)?;
        not_negative(INFO.id, 0, "bound_speed", self.options.bound_speed)?;
        finite(INFO.id, 0, "air", &self.options.air.values())?;
        for (index, (ends, &length)) in self.segments.iter().zip(&self.length).enumerate() {
            check_particles(INFO.id, index, ends, particle_count)?;
            not_negative(INFO.id, index, "length", length)?;
        }
        Ok(())
    }
}
