//! Wind and drag on triangles.

use super::{
    Force, ForceError, ForceInfo, ForceKind, Kinematics, Units, finite, not_negative, point, sample,
};
use crate::air::AirFlow;
use crate::energy::{Work, WorkTerm};
use crate::particles::{ParticleSystem, ParticleSystemBuilder};
use crate::state::State;
use crate::stencils::check_particles;
use crate::system::{BlockSink, Dependence, StencilBound};
use crate::topology::Topology;
use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};

/// Registry entry.
pub const INFO: ForceInfo = ForceInfo {
    id: "wind",
    summary: "wind and drag on triangles, across and along",
    kind: ForceKind::External,
    sample: || scaled(Units::SI),
    scaled,
};

fn scaled(units: Units) -> (ParticleSystem, State) {
    let options = WindOptions {
        air_density: 1.2 * units.mass / units.length.powi(3),
        normal_coefficient: 1.1,
        tangential_coefficient: 0.15,
        air: AirFlow {
            velocity: [2.0, 0.5, -0.3].map(|v| v * units.velocity()),
            gust: [0.7, 0.0, 0.4].map(|v| v * units.velocity()),
            gust_frequency: 0.5 / units.time,
            gust_phase: 0.1,
        },
        bound_speed: 6.0 * units.velocity(),
    };
    sample(5, units, |b: ParticleSystemBuilder| {
        b.force(Wind::new(options, [[0, 1, 2], [2, 1, 3], [4, 0, 3]]))
    })
}

/// The air and how triangles catch it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindOptions {
    /// kg/m³, not negative (1.2 at sea level).
    pub air_density: f64,
    /// Drag coefficient of the flow across the triangle, not negative (1.1 to 1.3 for a flat plate).
    pub normal_coefficient: f64,
    /// Friction coefficient of the flow along it, both sides together, not negative.
    #[serde(default)]
    pub tangential_coefficient: f64,
    /// The air.
    pub air: AirFlow,
    /// Relative speed in m/s up to which the bound on the step size covers the drag, not negative. It changes no force.
    pub bound_speed: f64,
}

/// Wind on triangles: with w the mean velocity of the corners relative to the air, split into `s n` across the triangle and
/// `w_t` along it, the force is `-½ air_density area (normal_coefficient |s| s n + tangential_coefficient |w_t| w_t)`, a
/// third on every corner. The side of the triangle does not matter.
///
/// # Limitations
/// Every triangle sees the undisturbed air: no lee, no pressure difference of a closed bag, no lift beyond the flat plate's.
/// A triangle without area feels nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Wind {
    options: WindOptions,
    triangles: Vec<[u32; 3]>,
}

struct Flow {
    /// Edges from the first corner.
    edges: [Vector3<f64>; 2],
    area: f64,
    normal: Vector3<f64>,
    through: f64,
    along: Vector3<f64>,
    along_speed: f64,
}

impl Wind {
    /// Wind on triangles.
    pub fn new(options: WindOptions, triangles: impl IntoIterator<Item = [u32; 3]>) -> Self {
        Self { options, triangles: triangles.into_iter().collect() }
    }

    /// Wind on all faces of a part; each quad is cut along its first diagonal.
    pub fn over(options: WindOptions, topology: &Topology) -> Self {
        let halves = topology.quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
        Self::new(options, topology.triangles.iter().copied().chain(halves))
    }

    fn flow(&self, at: Kinematics<'_>, index: usize) -> Option<Flow> {
        let [a, b, c] = self.triangles[index];
        let x = point(at.q, a);
        let edges = [point(at.q, b) - x, point(at.q, c) - x];
        let doubled = edges[0].cross(&edges[1]);
        let size = doubled.norm();
        if size == 0.0 {
            return None;
        }
        let normal = doubled / size;
        let w = (point(at.v, a) + point(at.v, b) + point(at.v, c)) / 3.0 - self.options.air.at(at.t);
        let through = w.dot(&normal);
        let along = w - normal * through;
        Some(Flow { edges, area: 0.5 * size, normal, through, along, along_speed: along.norm() })
    }

    /// Dynamic pressure coefficients `½ ρ C`.
    fn pressures(&self) -> [f64; 2] {
        let half = 0.5 * self.options.air_density;
        [half * self.options.normal_coefficient, half * self.options.tangential_coefficient]
    }

    fn force(&self, at: Kinematics<'_>, index: usize) -> Vector3<f64> {
        let [across, along] = self.pressures();
        self.flow(at, index).map_or_else(Vector3::zeros, |flow| {
            (flow.normal * (across * flow.through.abs() * flow.through)
                + flow.along * (along * flow.along_speed))
                * -flow.area
        })
    }
}

impl Force for Wind {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn dependence(&self) -> Dependence {
        Dependence { time: self.options.air.varies(), velocity: true }
    }

    fn add_force(&self, at: Kinematics<'_>, f: &mut [f64]) {
        for (index, corners) in self.triangles.iter().enumerate() {
            let third = self.force(at, index) / 3.0;
            for &corner in corners {
                for k in 0..3 {
                    f[3 * corner as usize + k] += third[k];
                }
            }
        }
    }

    fn add_power(&self, at: Kinematics<'_>, velocity: &[f64], power: &mut Work) {
        let mut sum = 0.0;
        for (index, &[a, b, c]) in self.triangles.iter().enumerate() {
            let mean = (point(velocity, a) + point(velocity, b) + point(velocity, c)) / 3.0;
            sum += self.force(at, index).dot(&mean);
        }
        power.add_term(WorkTerm::Air, sum);
    }

    fn damping_matrix(&self, at: Kinematics<'_>, sink: &mut dyn BlockSink) {
        let [across, along] = self.pressures();
        for (index, corners) in self.triangles.iter().enumerate() {
            let block = self.flow(at, index).map_or_else(Matrix3::zeros, |flow| {
                let nn = flow.normal * flow.normal.transpose();
                let mut friction = (Matrix3::identity() - nn) * flow.along_speed;
                if flow.along_speed > 0.0 {
                    friction += flow.along * flow.along.transpose() / flow.along_speed;
                }
                // A third of the force to every corner from a third of every velocity.
                (nn * (2.0 * across * flow.through.abs()) + friction * along) * (flow.area / 9.0)
            });
            for (i, &row) in corners.iter().enumerate() {
                for &col in &corners[i..] {
                    sink.add(row as usize, col as usize, &block);
                }
            }
        }
    }

    fn damping_stiffness(&self, at: Kinematics<'_>, emit: &mut dyn FnMut(usize, usize, &Matrix3<f64>)) {
        let [across, along] = self.pressures();
        for (index, corners) in self.triangles.iter().enumerate() {
            let mut by_corner = [Matrix3::zeros(); 3];
            if let Some(Flow { edges, area, normal, through, along: w, along_speed }) = self.flow(at, index) {
                // By the normal: ds = w·dn, dw_t = -(n w·dn + s dn), d|w_t| = -s w_t·dn / |w_t|, dn across n.
                let swing = normal * w.transpose();
                let pressure =
                    swing * (2.0 * through.abs()) + Matrix3::from_diagonal_element(through.abs() * through);
                let mut friction = -(swing + Matrix3::identity() * through) * along_speed;
                if along_speed > 0.0 {
                    friction -= w * w.transpose() * (through / along_speed);
                }
                let by_normal = pressure * across + friction * along;
                let per_area = normal * (across * through.abs() * through) + w * (along * along_speed);
                // By the area vector N = area n: dn = (I - n nᵀ) dN / area, d(area) = n·dN; a third to every corner.
                let turn = Matrix3::identity() - normal * normal.transpose();
                let by_area = (by_normal * turn + per_area * normal.transpose()) / 3.0;
                debug_assert!(area > 0.0);
                // dN = ½ (de0 × e1 + e0 × de1).
                by_corner[1] = -by_area * edges[1].cross_matrix() * 0.5;
                by_corner[2] = by_area * edges[0].cross_matrix() * 0.5;
                by_corner[0] = -(by_corner[1] + by_corner[2]);
            }
            for &row in corners {
                for (&col, block) in corners.iter().zip(&by_corner) {
                    emit(row as usize, col as usize, block);
                }
            }
        }
    }

    fn stencil_bounds(&self, q: &[f64], _mass: &[f64], emit: &mut dyn FnMut(StencilBound<'_>)) {
        let [across, along] = self.pressures();
        for (index, &[a, b, c]) in self.triangles.iter().enumerate() {
            let x = point(q, a);
            let area = 0.5 * (point(q, b) - x).cross(&(point(q, c) - x)).norm();
            emit(StencilBound {
                force: INFO.id,
                index,
                particles: &[a as usize, b as usize, c as usize],
                weights: &[1.0 / 3.0; 3],
                stiffness: 0.0,
                damping: 2.0 * across.max(along) * area * AREA_ROOM * self.options.bound_speed,
            });
        }
    }

    fn validate(&self, particle_count: usize) -> Result<(), ForceError> {
        let options = &self.options;
        not_negative(INFO.id, 0, "air_density", options.air_density)?;
        not_negative(INFO.id, 0, "normal_coefficient", options.normal_coefficient)?;
        not_negative(INFO.id, 0, "tangential_coefficient", options.tangential_coefficient)?;
        not_negative(INFO.id, 0, "bound_speed", options.bound_speed)?;
        finite(INFO.id, 0, "air", &options.air.values())?;
        for (index, corners) in self.triangles.iter().enumerate() {
            check_particles(INFO.id, index, corners, particle_count)?;
        }
        Ok(())
    }
}

/// The damping bound holds while no triangle grows beyond this factor of its area at the bounded state.
const AREA_ROOM: f64 = 1.5;
