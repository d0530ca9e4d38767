//! Elements: one file each below `elements/`, one line each in [`ELEMENTS`].
//!
//! An element is the mathematics of one member only: reference positions and displacements in, forces and matrices out.
//! It knows no node numbers; gathering and scattering are written once in [`crate::structure`].
//!
//! Local order of degrees of freedom: node by node, `ux uy uz` and, for elements with rotations, `rx ry rz`
//! (rotation vector about the global axes, in rad). Internal force = ∂U/∂u, tangent = ∂²U/∂u².

use crate::material::ValueError;
use crate::structure::Magnitudes;
use nalgebra::{Matrix3, Vector3};
use std::fmt::Debug;

pub mod catenary_cable;
pub mod corotational_beam;
pub mod dashpot;
pub mod euler_bernoulli_beam;
pub mod ground_spring;
pub mod nonlinear_truss;
pub mod planar_corotational_beam;
pub mod point_mass;
pub mod tension_cable;
pub mod timoshenko_beam;
pub mod truss;

/// Every element.
pub const ELEMENTS: &[ElementInfo] = &[
    truss::INFO,
    nonlinear_truss::INFO,
    tension_cable::INFO,
    catenary_cable::INFO,
    euler_bernoulli_beam::INFO,
    timoshenko_beam::INFO,
    corotational_beam::INFO,
    planar_corotational_beam::INFO,
    point_mass::INFO,
    ground_spring::INFO,
    dashpot::INFO,
];

/// Most degrees of freedom an element has: two nodes with six each.
pub const MAX_DOFS: usize = 12;

/// A small square matrix of an element, row by row in the local order of degrees of freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalMatrix {
    size: usize,
    values: [f64; MAX_DOFS * MAX_DOFS],
}

impl LocalMatrix {
    /// The zero matrix of `size` degrees of freedom.
    ///
    /// # Panics
    /// If `size` exceeds [`MAX_DOFS`].
    #[must_use]
    pub fn zeros(size: usize) -> Self {
        assert!(size <= MAX_DOFS, "an element has at most {MAX_DOFS} degrees of freedom, not {size}");
        Self { size, values: [0.0; MAX_DOFS * MAX_DOFS] }
    }

    /// Number of degrees of freedom.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Value at row `i`, column `j`.
    #[inline]
    #[must_use]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.values[i * MAX_DOFS + j]
    }

    /// Adds to row `i`, column `j`.
    #[inline]
    pub fn add(&mut self, i: usize, j: usize, value: f64) {
        self.values[i * MAX_DOFS + j] += value;
    }

    /// Sets everything to zero and the size to `size`.
    ///
    /// # Panics
    /// If `size` exceeds [`MAX_DOFS`].
    pub fn clear(&mut self, size: usize) {
        assert!(size <= MAX_DOFS, "an element has at most {MAX_DOFS} degrees of freedom, not {size}");
        self.size = size;
        // Rows beyond the size are never looked at.
        self.values[..size * MAX_DOFS].fill(0.0);
    }

    /// Adds a 3×3 block at block row `r`, block column `c`.
    #[inline]
    pub fn add_block(&mut self, r: usize, c: usize, block: &Matrix3<f64>) {
        for i in 0..3 {
            for j in 0..3 {
                self.add(3 * r + i, 3 * c + j, block[(i, j)]);
            }
        }
    }

    /// The 3×3 block at block row `r`, block column `c`.
    #[must_use]
    pub fn block(&self, r: usize, c: usize) -> Matrix3<f64> {
        Matrix3::from_fn(|i, j| self.get(3 * r + i, 3 * c + j))
    }

    /// Adds `[[B, -B], [-B, B]]` between the translations of two three-component nodes `p` and `q` (block indices).
    #[inline]
    pub fn add_pair(&mut self, p: usize, q: usize, block: &Matrix3<f64>) {
        self.add_block(p, p, block);
        self.add_block(q, q, block);
        self.add_block(p, q, &-block);
        self.add_block(q, p, &-block);
    }

    /// `y += A x`.
    pub fn multiply_add(&self, x: &[f64], y: &mut [f64]) {
        for (i, y) in y.iter_mut().enumerate().take(self.size) {
            for (j, x) in x.iter().enumerate().take(self.size) {
                *y += self.get(i, j) * x;
            }
        }
    }
}

/// How mass is spread over the degrees of freedom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MassKind {
    /// From the shape functions: frequencies from above.
    #[default]
    Consistent,
    /// Diagonal: half of the member's mass at each end. Rotations of beams get the scaled diagonal of the consistent
    /// matrix (Hinton, Rock & Zienkiewicz, Earthq. Eng. Struct. Dyn. 4, 1976), the same about every axis.
    Lumped,
}

/// What a member carries, for people and for utilisation.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct MemberResult {
    /// Axial force in N, tension positive; the mean over the member where it varies.
    pub axial_force: f64,
    /// Axial strain without unit.
    pub strain: f64,
    /// Stress of largest size over the section, with sign, in Pa.
    pub stress: f64,
    /// Share of the strength in use; none without a strength.
    pub utilisation: Option<f64>,
    /// Forces and moments on both ends in local axes `Fx Fy Fz Mx My Mz` in N and N·m; zero for members without bending.
    pub end_forces: [[f64; 6]; 2],
}

/// One member, spring, dashpot or mass. Displacements `u` and velocities `v` are in the local order of the module docs;
/// `x` holds the reference position of each node. All results overwrite their argument, sized [`Element::dof_count`].
pub trait Element: Debug + Send + Sync {
    /// Id used in reports and scene files.
    fn id(&self) -> &'static str;

    /// 1 or 2.
    fn node_count(&self) -> usize {
        2
    }

    /// Whether the nodes have rotations.
    fn has_rotations(&self) -> bool {
        false
    }

    /// Number of degrees of freedom.
    fn dof_count(&self) -> usize {
        self.node_count() * if self.has_rotations() { 6 } else { 3 }
    }

    /// Whether the internal force is linear in `u` and the tangent constant.
    fn is_linear(&self) -> bool;

    /// Whether [`Element::viscous_force`] is anything but zero.
    fn is_viscous(&self) -> bool {
        false
    }

    /// Checks parameters and geometry.
    ///
    /// # Errors
    /// [`ElementError`] with the culprit's numbers.
    fn validate(&self, x: &[Vector3<f64>]) -> Result<(), ElementError>;

    /// Stored energy in J, zero in the unloaded shape.
    fn strain_energy(&self, x: &[Vector3<f64>], u: &[f64]) -> f64;

    /// ∂U/∂u in N and N·m. Where no equilibrium exists the result is NaN, which the assembly reports by name.
    fn internal_force(&self, x: &[Vector3<f64>], u: &[f64], force: &mut [f64]);

    /// ∂²U/∂u².
    fn tangent(&self, x: &[Vector3<f64>], u: &[f64], tangent: &mut LocalMatrix);

    /// The part of the tangent that the axial force found in state `u` brings, for linear buckling.
    fn geometric_stiffness(&self, _x: &[Vector3<f64>], _u: &[f64], stiffness: &mut LocalMatrix) {
        stiffness.clear(self.dof_count());
    }

    /// Force of dashpots on the motion (positive along `v`), so that `M a + viscous + internal = external`.
    fn viscous_force(&self, _x: &[Vector3<f64>], _u: &[f64], _v: &[f64], force: &mut [f64]) {
        force.fill(0.0);
    }

    /// ∂ `viscous_force` / ∂v.
    fn damping_matrix(&self, _x: &[Vector3<f64>], _u: &[f64], _v: &[f64], damping: &mut LocalMatrix) {
        damping.clear(self.dof_count());
    }

    /// Mass matrix in kg and kg·m², constant. The default is massless.
    fn mass_matrix(&self, _x: &[Vector3<f64>], _kind: MassKind, mass: &mut LocalMatrix) {
        mass.clear(self.dof_count());
    }

    /// Total mass in kg.
    fn total_mass(&self, _x: &[Vector3<f64>]) -> f64 {
        0.0
    }

    /// Whether its own weight is part of its internal force, so that gravity loads must leave it out.
    fn carries_weight(&self) -> bool {
        false
    }

    /// What it is made of, for a check of units.
    fn magnitudes(&self) -> Option<Magnitudes> {
        None
    }

    /// Position in m of a material point at `fraction` (0 to 1) of the length in state `u`. The default is the straight line between
    /// the nodes; an element with one node is where that is.
    fn point(&self, x: &[Vector3<f64>], u: &[f64], fraction: f64) -> Vector3<f64> {
        let per_node = self.dof_count() / x.len();
        let end = |i: usize| x[i] + Vector3::new(u[per_node * i], u[per_node * i + 1], u[per_node * i + 2]);
        let (first, last) = (end(0), end(x.len() - 1));
        first + fraction * (last - first)
    }

    /// Pieces that a picture of it needs: 1 where [`Element::point`] is a straight line.
    fn pieces(&self) -> usize {
        1
    }

    /// What the member carries in state `u`.
    fn member_result(&self, _x: &[Vector3<f64>], _u: &[f64]) -> MemberResult {
        MemberResult::default()
    }
}

/// An element that cannot be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ElementError {
    /// The length overflows.
    #[error("length exceeds the range of numbers: from {from:?} to {to:?}")]
    TooLong {
        /// Position of one end in m.
        from: [f64; 3],
        /// Position of the other in m.
        to: [f64; 3],
    },
    /// Both ends lie on the same spot.
    #[error("length is zero: both ends are at ({}, {}, {})", .at[0], .at[1], .at[2])]
    ZeroLength {
        /// Position of both ends in m.
        at: [f64; 3],
    },
    /// A parameter is out of range.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The member does not lie in the plane it works in.
    #[error("ends differ in z ({z_first} and {z_second}); a planar member lies in a plane of constant z")]
    OutOfPlane {
        /// z of the first end in m.
        z_first: f64,
        /// z of the second end in m.
        z_second: f64,
    },
    /// The orientation vector of a beam gives no direction.
    #[error("orientation vector ({}, {}, {}) is zero or along the member", .vector[0], .vector[1], .vector[2])]
    Orientation {
        /// Vector given.
        vector: [f64; 3],
    },
    /// A hanging cable whose ends are above one another.
    #[error("catenary with ends above one another (horizontal span {span} m); use tension_cable segments")]
    VerticalCatenary {
        /// Horizontal span in m.
        span: f64,
    },
}

/// A registry entry: enough to test the element without knowing it.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each of which a test asks for")]
pub struct ElementInfo {
    /// Id, equal to [`Element::id`].
    pub id: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Loads other than its own deformation are part of it (weight of a catenary): rigid motions change its energy.
    pub carries_weight: bool,
    /// Works in planes of constant z only.
    pub planar: bool,
    /// Connects to the ground: rigid motions strain it.
    pub grounded: bool,
    /// Rigid rotations of any size, not only small ones, leave it without strain.
    pub finite_rotations: bool,
    /// A sample with the reference positions of its nodes and a displacement that is neither zero nor symmetric.
    pub sample: fn() -> ElementSample,
}

/// An element in a generic place and state, for registry-driven tests.
#[derive(Debug)]
pub struct ElementSample {
    /// The element.
    pub element: Box<dyn Element>,
    /// Reference positions in m.
    pub x: Vec<Vector3<f64>>,
    /// Displacements.
    pub u: Vec<f64>,
    /// Mass in kg it must have.
    pub mass: f64,
}

/// Length and direction from `x[0]` to `x[1]`.
#[inline]
pub(crate) fn axis(x: &[Vector3<f64>]) -> (f64, Vector3<f64>) {
    let d = x[1] - x[0];
    let length = d.norm();
    (length, d / length)
}

/// Relative displacement of the second end of a two-node element without rotations.
#[inline]
pub(crate) fn relative(u: &[f64]) -> Vector3<f64> {
    Vector3::new(u[3] - u[0], u[4] - u[1], u[5] - u[2])
}

/// Writes `-f` to the first and `f` to the second end of a two-node element without rotations.
#[inline]
pub(crate) fn opposite(f: &Vector3<f64>, force: &mut [f64]) {
    for k in 0..3 {
        force[k] = -f[k];
        force[3 + k] = f[k];
    }
}

pub(crate) fn check_length(x: &[Vector3<f64>]) -> Result<(), ElementError> {
    // Ends that cannot be told apart in the digits of their own coordinates have no direction.
    let scale = x[0].amax().max(x[1].amax());
    if !(x[1] - x[0]).norm().is_finite() {
        return Err(ElementError::TooLong { from: x[0].into(), to: x[1].into() });
    }
    if (x[1] - x[0]).norm() <= 8.0 * f64::EPSILON * scale || x[0] == x[1] {
        return Err(ElementError::ZeroLength { at: x[1].into() });
    }
    Ok(())
}

/// Mass matrix of a straight two-node bar: m/6 [2 1; 1 2] or m/2 at each end, in all three directions.
pub(crate) fn bar_mass(mass: f64, kind: MassKind, matrix: &mut LocalMatrix) {
    matrix.clear(6);
    let (own, other) = match kind {
        MassKind::Consistent => (mass / 3.0, mass / 6.0),
        MassKind::Lumped => (mass / 2.0, 0.0),
    };
    for i in 0..6 {
        matrix.add(i, i, own);
        matrix.add(i, (i + 3) % 6, other);
    }
}
