//! Bending of ropes at the angle between two segments.

use super::{ForceInfo, ForceKind, Units, sample};
use crate::energy::EnergyTerm;
use crate::potential::{BlockHessian, Potential};
use crate::state::State;
use crate::stencils::{LawError, StencilLaw, Stencils};
use crate::topology::Topology;
use crate::{ParticleSystem, ParticleSystemBuilder};
use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};
use std::f64::consts::FRAC_PI_2;

/// Registry entry.
pub const INFO: ForceInfo = ForceInfo {
    id: "rope_hinge",
    summary: "bending of ropes at the angle between two segments",
    kind: ForceKind::Internal,
    sample: || scaled(Units::SI),
    scaled,
};

fn scaled(units: Units) -> (ParticleSystem, State) {
    let hinge = |k: f64, rest_angle| RopeHinge { stiffness: k * units.energy(), rest_angle };
    let hinges = [
        ([0, 1, 2], hinge(0.8, 0.0)),
        ([1, 2, 3], hinge(1.7, 0.4)),
        ([2, 3, 4], hinge(0.3, 0.0)),
        ([4, 0, 3], hinge(0.6, 1.1)),
    ];
    sample(5, units, |b: ParticleSystemBuilder| b.force(RopeHinges::new(hinges)))
}

/// Hinges along ropes.
pub type RopeHinges = Stencils<RopeHinge, 3>;

/// Energy `½ stiffness (θ - rest_angle)²` of the turning angle θ in [0, π] between the segments `x1 - x0` and `x2 - x1`.
///
/// A rope of bending stiffness EI has `stiffness = EI / l` with l the mean length of the two segments: a curvature κ
/// turns by θ = κ l at each particle, and ½ (EI / l) (κ l)² is the energy ½ EI κ² of the length l.
///
/// A straight rope with `rest_angle = 0` has no bending force, and all derivatives exist there. With `rest_angle > 0` the
/// energy has a cone at θ = 0 (the rope may bend to any side): exactly there the force is zero by symmetry and the
/// second derivative is that of half the stiffness with rest angle 0, the mean over all sides. A segment of length zero has
/// no direction and a rope folded back onto itself exactly has no plane: then force and matrix are zero.
///
/// # Limitations
/// No memory of the side a curved rope bends to, hence no torsion; no damping of its own. The step bound holds while no
/// segment is shorter than 0.9 of its length at the bounded state, |θ - rest angle| is below 90°, and θ lies between half the
/// rest angle and 120° (a state outside that is bounded as far as it is).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RopeHinge {
    /// N·m per rad, not negative.
    pub stiffness: f64,
    /// Angle without moment in rad, from 0 (straight) to below π.
    #[serde(default)]
    pub rest_angle: f64,
}

/// Which shape of a part is free of bending moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RestShape {
    /// Straight ropes and flat cloth.
    #[default]
    Flat,
    /// The shape it is made in.
    Geometry,
}

impl RopeHinge {
    /// Hinges of bending stiffness EI in N·m² at the middle of every skip of `topology`.
    ///
    /// # Panics
    /// When the topology has indices out of range.
    pub fn along(topology: &Topology, bending_stiffness: f64, rest: RestShape) -> RopeHinges {
        Stencils::new(topology.skips.iter().map(|&particles| {
            let [a, b, c] = particles;
            let length = 0.5 * (topology.distance([a, b]) + topology.distance([b, c]));
            let rest_angle = match rest {
                RestShape::Flat => 0.0,
                RestShape::Geometry => {
                    Turn::new(&particles.map(|i| topology.position(i))).map_or(0.0, |turn| turn.angle)
                }
            };
            (particles, Self { stiffness: bending_stiffness / length, rest_angle })
        }))
    }

    /// `dU/dcosθ` and `d²U/dcos²θ`.
    fn slopes(&self, turn: &Turn) -> (f64, f64) {
        let Turn { sin, cos, angle, .. } = *turn;
        let k = self.stiffness;
        if sin == 0.0 {
            return match (cos > 0.0, self.rest_angle == 0.0) {
                (true, true) => (-k, k / 3.0),
                (true, false) => (-0.5 * k, k / 6.0),
                (false, _) => (0.0, 0.0),
            };
        }
        // (sin θ - θ cos θ) / sin³θ loses its digits to cancellation at small angles.
        let straight = if angle < 0.03 {
            let square = angle * angle;
            1.0 / 3.0 + square * (2.0 / 15.0 + square * (2.0 / 63.0))
        } else {
            (sin - angle * cos) / (sin * sin * sin)
        };
        let bent = self.rest_angle * cos / (sin * sin * sin);
        (-k * (angle - self.rest_angle) / sin, k * (straight + bent))
    }
}

/// Two directions and the angle between them.
struct Turn {
    length: [f64; 2],
    unit: [Vector3<f64>; 2],
    sin: f64,
    cos: f64,
    angle: f64,
}

impl Turn {
    /// `None` when a segment has no length.
    fn new(x: &[Vector3<f64>; 3]) -> Option<Self> {
        let edge = [x[1] - x[0], x[2] - x[1]];
        let length = edge.map(|e| e.norm());
        if length[0] == 0.0 || length[1] == 0.0 {
            return None;
        }
        let unit = [edge[0] / length[0], edge[1] / length[1]];
        let (sin, cos) = (unit[0].cross(&unit[1]).norm(), unit[0].dot(&unit[1]));
        Some(Self { length, unit, sin, cos, angle: sin.atan2(cos) })
    }

    /// Derivatives of cos θ by the two edges.
    fn cos_gradient(&self) -> [Vector3<f64>; 2] {
        let [t0, t1] = self.unit;
        [(t1 - t0 * self.cos) / self.length[0], (t0 - t1 * self.cos) / self.length[1]]
    }
}

/// Edges by points.
const SIGNS: [[f64; 3]; 2] = [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]];

impl Potential<3> for RopeHinge {
    fn energy(&self, x: &[Vector3<f64>; 3]) -> f64 {
        Turn::new(x).map_or(0.0, |turn| {
            let bend = turn.angle - self.rest_angle;
            0.5 * self.stiffness * bend * bend
        })
    }

    fn gradient(&self, x: &[Vector3<f64>; 3]) -> [Vector3<f64>; 3] {
        let Some(turn) = Turn::new(x) else { return [Vector3::zeros(); 3] };
        let (mut first, _) = self.slopes(&turn);
        if turn.sin == 0.0 && self.rest_angle != 0.0 {
            first = 0.0;
        }
        let [a, b] = turn.cos_gradient().map(|g| g * first);
        [-a, a - b, b]
    }

    fn hessian(&self, x: &[Vector3<f64>; 3]) -> BlockHessian<3> {
        let Some(turn) = Turn::new(x) else { return BlockHessian::zeros() };
        let (first, second) = self.slopes(&turn);
        let [a, b] = turn.cos_gradient();
        let ([t0, t1], [l0, l1], cos) = (turn.unit, turn.length, turn.cos);
        let across = |t: Vector3<f64>| Matrix3::identity() - t * t.transpose();
        let own = |t: Vector3<f64>, g: Vector3<f64>, l: f64| {
            -(t * g.transpose() + g * t.transpose()) / l - across(t) * (cos / (l * l))
        };
        let mixed = (across(t1) / l1 - t0 * b.transpose()) / l0;
        let h00 = a * a.transpose() * second + own(t0, a, l0) * first;
        let h11 = b * b.transpose() * second + own(t1, b, l1) * first;
        let h01 = a * b.transpose() * second + mixed * first;
        BlockHessian::from_differences(&SIGNS, &[[h00, h01], [h01.transpose(), h11]])
    }
}

impl StencilLaw<3> for RopeHinge {
    const ID: &'static str = INFO.id;
    const TERM: EnergyTerm = EnergyTerm::Bending;

    fn check(&self) -> Result<(), LawError> {
        let Self { stiffness, rest_angle } = *self;
        if !(stiffness.is_finite() && stiffness >= 0.0) {
            let requirement = "finite and not negative (N·m)";
            return Err(LawError { field: "stiffness", value: stiffness, requirement });
        }
        if !(0.0..std::f64::consts::PI).contains(&rest_angle) {
            let requirement = "from 0 to below π (rad)";
            return Err(LawError { field: "rest_angle", value: rest_angle, requirement });
        }
        Ok(())
    }

    /// With edges scaled by their lengths the Hessian over the stiffness has the norm `1 + sqrt(1 + Δ²)` in the plane of the
    /// angle and the larger of `Δ cot(θ/2)` and `Δ tan(θ/2)` out of it, with Δ = |θ - rest angle|. In the documented region
    /// the last two stay below the first at Δ = 90°: the one below 2 (θ above half the rest angle), the other below 2.73.
    fn bounds(&self, x: &[Vector3<f64>; 3], emit: &mut dyn FnMut(&[f64; 3], f64)) {
        // A segment of length zero carries no bending; it emits its place with nothing.
        let (lengths, norm) = Turn::new(x).map_or(([f64::INFINITY; 2], 0.0), |turn| {
            let bend = (turn.angle - self.rest_angle).abs();
            let in_plane = 1.0 + bend.max(FRAC_PI_2).hypot(1.0);
            let out_of_plane = if turn.sin == 0.0 { 2.0 } else { bend * (1.0 + turn.cos.abs()) / turn.sin };
            (turn.length.map(|l| 0.9 * l), in_plane.max(out_of_plane))
        });
        for (weights, length) in SIGNS.iter().zip(lengths) {
            emit(weights, self.stiffness * norm / (length * length));
        }
    }
}
