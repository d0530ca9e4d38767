//! Bending of cloth at the angle between two triangles.

use super::rope_hinge::RestShape;
use super::{ForceInfo, ForceKind, Units, sample};
use crate::energy::EnergyTerm;
use crate::potential::{BlockHessian, Potential};
use crate::state::State;
use crate::stencils::{LawError, StencilLaw, Stencils};
use crate::topology::Topology;
use crate::{ParticleSystem, ParticleSystemBuilder};
use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Registry entry.
pub const INFO: ForceInfo = ForceInfo {
    id: "cloth_hinge",
    summary: "bending of cloth at the dihedral angle between two triangles",
    kind: ForceKind::Internal,
    sample: || scaled(Units::SI),
    scaled,
};

fn scaled(units: Units) -> (ParticleSystem, State) {
    let hinge = |k: f64, rest_angle| ClothHinge { stiffness: k * units.energy(), rest_angle };
    let hinges = [
        ([0, 1, 2, 3], hinge(0.7, 0.0)),
        ([1, 2, 3, 0], hinge(1.3, -0.5)),
        ([2, 3, 4, 1], hinge(0.4, 2.0)),
        ([4, 5, 3, 0], hinge(0.9, 0.3)),
    ];
    sample(6, units, |b: ParticleSystemBuilder| b.force(ClothHinges::new(hinges)))
}

/// Hinges of cloth.
pub type ClothHinges = Stencils<ClothHinge, 4>;

/// Energy `½ stiffness (θ - rest_angle)²` of the signed dihedral angle θ in (-π, π] between the triangles
/// `(edge0, edge1, wing0)` and `(edge1, edge0, wing1)`: 0 when flat, and changing sign when the wings are exchanged.
///
/// The difference θ - rest angle is taken the short way around, so that it stays within ±π. A triangle without area has
/// no normal: then energy, force and matrix are zero. Where the cloth is folded through itself exactly (difference ±π) the
/// energy has its largest value and a kink; the force there is that of one of the two sides.
///
/// Plate bending stiffness: see [`ClothHinge::over`].
///
/// Source: gradients as in E. Grinspun et al., "Discrete shells", SCA 2003; the Hessian is derived here.
///
/// # Limitations
/// No damping of its own. The step bound holds for folds up to 90° from the rest angle and triangles whose sides change by less
/// than 5 % from the bounded state (a state folded further is bounded as far as it is).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClothHinge {
    /// N·m per rad, not negative.
    pub stiffness: f64,
    /// Angle without moment in rad, within ±π.
    #[serde(default)]
    pub rest_angle: f64,
}

impl ClothHinge {
    /// Hinges over all of `topology.hinges` for a plate bending stiffness B = E t³ / (12 (1 - ν²)) in N·m:
    /// `stiffness = B e² / (A0 + A1)` with edge length e and areas A of the two triangles, shared equally by hinges on the
    /// same edge (quads have two).
    ///
    /// The energy of cylindrical bending ½ B κ² per area is met exactly by meshes of equilateral triangles in every
    /// direction, and by rectangular grids (of quads or of triangles) along their lines.
    ///
    /// # Limitations
    /// On other meshes the stiffness depends on the direction (a quad grid at 45° has half: it does not resist twist), and
    /// Poisson's ratio is whatever the mesh makes it.
    ///
    /// # Panics
    /// When the topology has indices out of range.
    pub fn over(topology: &Topology, bending_stiffness: f64, rest: RestShape) -> ClothHinges {
        // Hinges of one edge follow each other, as topology generators make them.
        let shared = topology.hinges.chunk_by(|a, b| a[..2] == b[..2]);
        Stencils::new(shared.flat_map(|group| {
            group.iter().map(move |&particles| {
                let x = particles.map(|i| topology.position(i));
                let edge = x[1] - x[0];
                let doubled = edge.cross(&(x[2] - x[0])).norm() + edge.cross(&(x[3] - x[0])).norm();
                let stiffness =
                    bending_stiffness * 2.0 * edge.norm_squared() / (doubled * group.len() as f64);
                let rest_angle = match rest {
                    RestShape::Flat => 0.0,
                    RestShape::Geometry => Fold::new(&x).map_or(0.0, |fold| fold.angle),
                };
                (particles, Self { stiffness, rest_angle })
            })
        }))
    }

    /// Difference to the rest angle, the short way around.
    fn bend(&self, angle: f64) -> f64 {
        let difference = angle - self.rest_angle;
        if difference > PI {
            difference - TAU
        } else if difference <= -PI {
            difference + TAU
        } else {
            difference
        }
    }
}

/// The geometry of a fold in the differences `e = x1 - x0`, `a = x2 - x0`, `b = x3 - x0`.
struct Fold {
    e: Vector3<f64>,
    a: Vector3<f64>,
    b: Vector3<f64>,
    /// `|e|`.
    length: f64,
    /// `e × a` and `b × e`, and their squared norms.
    normals: [Vector3<f64>; 2],
    squares: [f64; 2],
    /// Foot of each wing on the edge as a fraction of it.
    feet: [f64; 2],
    angle: f64,
}

impl Fold {
    /// `None` when a triangle has no area.
    fn new(x: &[Vector3<f64>; 4]) -> Option<Self> {
        let (e, a, b) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
        let normals = [e.cross(&a), b.cross(&e)];
        let squares = normals.map(|n| n.norm_squared());
        if squares[0] == 0.0 || squares[1] == 0.0 {
            return None;
        }
        let (length, square) = (e.norm(), e.norm_squared());
        let sin = normals[0].cross(&normals[1]).dot(&e) / length;
        let angle = sin.atan2(normals[0].dot(&normals[1]));
        Some(Self {
            e,
            a,
            b,
            length,
            normals,
            squares,
            feet: [a.dot(&e) / square, b.dot(&e) / square],
            angle,
        })
    }

    /// Derivatives of the angle by `e`, `a`, `b`.
    fn gradient(&self) -> [Vector3<f64>; 3] {
        let [ga, gb] = [0, 1].map(|i| self.normals[i] * (-self.length / self.squares[i]));
        [-(ga * self.feet[0] + gb * self.feet[1]), ga, gb]
    }

    /// Second derivatives of the angle by `e`, `a`, `b`.
    fn hessian(&self) -> [[Matrix3<f64>; 3]; 3] {
        let unit = self.e / self.length;
        let square = self.length * self.length;
        let [_, ga, gb] = self.gradient();
        // d(-|e| n/n²) = -n/n² (ê·de) - |e|/n² (I - 2 n nᵀ/n²) dn.
        let turned = [0, 1].map(|i| {
            let n = self.normals[i];
            (Matrix3::identity() - n * n.transpose() * (2.0 / self.squares[i]))
                * (-self.length / self.squares[i])
        });
        let stretched = [0, 1].map(|i| self.normals[i] * unit.transpose() * (-1.0 / self.squares[i]));
        // dn0 = e × da - a × de, dn1 = b × de - e × db.
        let cross = |v: Vector3<f64>| v.cross_matrix();
        let ga_a = turned[0] * cross(self.e);
        let ga_e = stretched[0] - turned[0] * cross(self.a);
        let gb_b = -turned[1] * cross(self.e);
        let gb_e = stretched[1] + turned[1] * cross(self.b);
        // d(foot) = (e·dw + (w - 2 foot e)·de)/e².
        let foot_e = [self.a, self.b].map(|w| w / square);
        let foot_e = [
            foot_e[0] - self.e * (2.0 * self.feet[0] / square),
            foot_e[1] - self.e * (2.0 * self.feet[1] / square),
        ];
        let ge_e = -(ga * foot_e[0].transpose()
            + gb * foot_e[1].transpose()
            + ga_e * self.feet[0]
            + gb_e * self.feet[1]);
        [
            [ge_e, ga_e.transpose(), gb_e.transpose()],
            [ga_e, ga_a, Matrix3::zeros()],
            [gb_e, Matrix3::zeros(), gb_b],
        ]
    }

    /// Upper bounds of the norms of the blocks of [`Fold::hessian`], and of the gradient.
    fn norms(&self) -> ([f64; 3], [[f64; 3]; 3]) {
        let wing = [self.a, self.b];
        let over_height = [0, 1].map(|i| self.length / self.squares[i].sqrt());
        let cross = [0, 1].map(|i| {
            over_height[i] / self.length + over_height[i] * over_height[i] * wing[i].norm() / self.length
        });
        let mut edge = 0.0;
        let mut edge_gradient = 0.0;
        for i in 0..2 {
            let foot = self.feet[i].abs();
            edge_gradient += foot * over_height[i];
            let foot_slope = (wing[i] - self.e * (2.0 * self.feet[i])).norm() / (self.length * self.length);
            edge += over_height[i] * foot_slope + foot * cross[i];
        }
        let own = over_height.map(|g| g * g);
        (
            [edge_gradient, over_height[0], over_height[1]],
            [[edge, cross[0], cross[1]], [cross[0], own[0], 0.0], [cross[1], 0.0, own[1]]],
        )
    }
}

/// Differences by points.
const SIGNS: [[f64; 4]; 3] = [[-1.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 1.0, 0.0], [-1.0, 0.0, 0.0, 1.0]];

impl Potential<4> for ClothHinge {
    fn energy(&self, x: &[Vector3<f64>; 4]) -> f64 {
        Fold::new(x).map_or(0.0, |fold| {
            let bend = self.bend(fold.angle);
            0.5 * self.stiffness * bend * bend
        })
    }

    fn gradient(&self, x: &[Vector3<f64>; 4]) -> [Vector3<f64>; 4] {
        let Some(fold) = Fold::new(x) else { return [Vector3::zeros(); 4] };
        let moment = self.stiffness * self.bend(fold.angle);
        let [ge, ga, gb] = fold.gradient().map(|g| g * moment);
        [-(ge + ga + gb), ge, ga, gb]
    }

    fn hessian(&self, x: &[Vector3<f64>; 4]) -> BlockHessian<4> {
        let Some(fold) = Fold::new(x) else { return BlockHessian::zeros() };
        let moment = self.stiffness * self.bend(fold.angle);
        let g = fold.gradient();
        let mut h = fold.hessian();
        for (i, row) in h.iter_mut().enumerate() {
            for (j, block) in row.iter_mut().enumerate() {
                *block = *block * moment + g[i] * g[j].transpose() * self.stiffness;
            }
        }
        BlockHessian::from_differences(&SIGNS, &h)
    }

    /// The Gauss-Newton part `k ∇θ ∇θᵀ`.
    fn reduced_hessian(&self, x: &[Vector3<f64>; 4]) -> BlockHessian<4> {
        let Some(fold) = Fold::new(x) else { return BlockHessian::zeros() };
        let [ge, ga, gb] = fold.gradient();
        let g = [-(ge + ga + gb), ge, ga, gb];
        BlockHessian { blocks: g.map(|gi| g.map(|gj| gi * gj.transpose() * self.stiffness)) }
    }
}

impl StencilLaw<4> for ClothHinge {
    const ID: &'static str = INFO.id;
    const TERM: EnergyTerm = EnergyTerm::Bending;

    fn check(&self) -> Result<(), LawError> {
        let Self { stiffness, rest_angle } = *self;
        if !(stiffness.is_finite() && stiffness >= 0.0) {
            let requirement = "finite and not negative (N·m)";
            return Err(LawError { field: "stiffness", value: stiffness, requirement });
        }
        if !(rest_angle.is_finite() && rest_angle.abs() <= PI) {
            return Err(LawError {
                field: "rest_angle", value: rest_angle, requirement: "within ±π (rad)"
            });
        }
        Ok(())
    }

    /// Weighted row sums of block norms: with any positive scale s, `±H ⪯ diag(λ)`, `λ_i = Σ_j N_ij s_j / s_i`.
    fn bounds(&self, x: &[Vector3<f64>; 4], emit: &mut dyn FnMut(&[f64; 4], f64)) {
        // Room for sides that change by 5 %: norms go with the inverse square of lengths, feet move a little more.
        const ROOM: f64 = 1.35;
        let mut stiffness = [0.0; 3];
        if let Some(fold) = Fold::new(x) {
            let bend = self.bend(fold.angle).abs().max(FRAC_PI_2);
            let (gradient, second) = fold.norms();
            let norm = |i: usize, j: usize| gradient[i] * gradient[j] + bend * second[i][j];
            let scale = [0, 1, 2].map(|i| 1.0 / norm(i, i).sqrt());
            for (i, value) in stiffness.iter_mut().enumerate() {
                let row: f64 = (0..3).map(|j| norm(i, j) * scale[j]).sum();
                *value = ROOM * self.stiffness * row / scale[i];
            }
        }
        for (weights, stiffness) in SIGNS.iter().zip(stiffness) {
            emit(weights, stiffness);
        }
    }
}
