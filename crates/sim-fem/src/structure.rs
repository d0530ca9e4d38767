//! A structure: nodes, elements, supports and loads, checked and numbered once.
//!
//! **Degrees of freedom.** Every node has a block of three translations; nodes that a beam (or a rotational spring or
//! inertia) touches have a second block of three rotations. Blocks are numbered translations first: block `i` is the
//! translation of node `i`, and the rotation blocks follow in the order of their nodes. A displacement vector is flat,
//! three values per block; it is the `q` of a `sim-core` state, whose "particles" are these blocks.
//!
//! Unknowns are the degrees of freedom without support, renumbered for a narrow matrix.

mod assembly;
mod builder;
mod error;
mod explicit;
mod loading;
mod numbering;
mod system;
mod units;

pub use builder::StructureBuilder;
pub use error::{MechanismMode, MechanismReport, StructureError};
pub use explicit::ExplicitStructure;
pub use loading::Load;
pub use units::{Magnitudes, UnitWarning};

use crate::elements::{Element, MassKind};
use crate::load::{Direction, TimeFunction};
use crate::matrix::SymmetricPattern;
use loading::LoadPattern;
use nalgebra::Vector3;
use numbering::Numbering;
use std::sync::Arc;

pub(crate) const NONE: u32 = u32::MAX;

/// One element in its place.
#[derive(Debug)]
pub struct Member {
    element: Box<dyn Element>,
    nodes: [u32; 2],
    count: u8,
    /// What the element says, kept because every gathering asks.
    has_rotations: bool,
}

impl Member {
    /// The element.
    #[must_use]
    pub fn element(&self) -> &dyn Element {
        self.element.as_ref()
    }

    /// Its one or two nodes.
    pub fn nodes(&self) -> impl Iterator<Item = usize> + '_ {
        self.nodes[..usize::from(self.count)].iter().map(|&node| node as usize)
    }
}

/// A supported degree of freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct Support {
    /// Node.
    pub node: usize,
    /// Direction held.
    pub direction: Direction,
    /// Displacement in m (or rad) it is held at, times the time function.
    pub value: f64,
    /// How the displacement changes with time.
    pub function: TimeFunction,
}

fn check_node(what: &'static str, index: usize, node: usize, count: usize) -> Result<(), StructureError> {
    if node >= count {
        return Err(StructureError::NoNode { what, index, node, last: count - 1 });
    }
    Ok(())
}

/// A structure, ready for analysis. Immutable.
#[derive(Debug)]
pub struct Structure {
    nodes: Vec<Vector3<f64>>,
    members: Vec<Member>,
    supports: Vec<Support>,
    /// How many of the supports were asked for one by one; the others hold a planar structure in its plane.
    own_supports: usize,
    patterns: Vec<LoadPattern>,
    numbering: Numbering,
    mass: MassKind,
    rayleigh: [f64; 2],
    is_linear: bool,
    is_viscous: bool,
    warnings: Vec<UnitWarning>,
}

impl Structure {
    /// Number of nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Reference position of a node in m.
    #[must_use]
    pub fn node(&self, node: usize) -> [f64; 3] {
        self.nodes[node].into()
    }

    /// Diagonal of the box around the nodes in m.
    #[must_use]
    pub fn extent(&self) -> f64 {
        let first = self.nodes[0];
        let (low, high) = self.nodes.iter().fold((first, first), |(low, high), x| (low.inf(x), high.sup(x)));
        (high - low).norm()
    }

    /// The elements in their places.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The supports, those of a planar structure included.
    #[must_use]
    pub fn supports(&self) -> &[Support] {
        &self.supports
    }

    /// The supports asked for one by one, without those that hold a planar structure in its plane.
    #[must_use]
    pub fn own_supports(&self) -> &[Support] {
        &self.supports[..self.own_supports]
    }

    /// Values that look like a mistake of units.
    #[must_use]
    pub fn warnings(&self) -> &[UnitWarning] {
        &self.warnings
    }

    /// Length of a displacement vector: three per block.
    #[must_use]
    pub fn dof_count(&self) -> usize {
        3 * self.numbering.blocks
    }

    /// Number of unknowns.
    #[must_use]
    pub fn unknown_count(&self) -> usize {
        self.numbering.free.len()
    }

    /// Place of a degree of freedom in a displacement vector; none for rotations that no element gives the node.
    #[must_use]
    pub fn dof(&self, node: usize, direction: Direction) -> Option<usize> {
        self.numbering.dof(node, direction).map(|dof| dof as usize)
    }

    /// Node and direction of a place in a displacement vector.
    #[must_use]
    pub fn node_direction(&self, dof: usize) -> (usize, Direction) {
        let (block, k) = (dof / 3, dof % 3);
        if block < self.nodes.len() {
            (block, Direction::ALL[k])
        } else {
            (self.numbering.rotation_node[block - self.nodes.len()] as usize, Direction::ALL[3 + k])
        }
    }

    /// Displacement (m or rad) of a node in a direction; 0 for rotations that no element gives the node.
    #[must_use]
    pub fn value(&self, displacement: &[f64], node: usize, direction: Direction) -> f64 {
        self.dof(node, direction).map_or(0.0, |dof| displacement[dof])
    }

    /// The unknown at a place in a displacement vector; none when supported.
    #[must_use]
    pub fn unknown(&self, dof: usize) -> Option<usize> {
        let unknown = self.numbering.unknown[dof];
        (unknown != NONE).then_some(unknown as usize)
    }

    /// Place in a displacement vector of every unknown.
    #[must_use]
    pub fn free_dofs(&self) -> &[u32] {
        &self.numbering.free
    }

    /// Pattern of every matrix of the structure.
    #[must_use]
    pub fn pattern(&self) -> &Arc<SymmetricPattern> {
        &self.numbering.pattern
    }

    /// Whether internal forces are linear in the displacement.
    #[must_use]
    pub fn is_linear(&self) -> bool {
        self.is_linear
    }

    /// How mass is spread.
    #[must_use]
    pub fn mass_kind(&self) -> MassKind {
        self.mass
    }

    /// Factors of M and K(0) in the damping matrix, in 1/s and s.
    #[must_use]
    pub fn rayleigh(&self) -> [f64; 2] {
        self.rayleigh
    }

    /// Total mass in kg.
    #[must_use]
    pub fn total_mass(&self) -> f64 {
        self.members
            .iter()
            .map(|member| member.element.total_mass(self.positions(member).as_slice(member)))
            .sum()
    }

    /// Copies the unknowns out of a displacement vector.
    ///
    /// # Panics
    /// If a length does not fit.
    pub fn gather(&self, displacement: &[f64], unknowns: &mut [f64]) {
        assert_eq!(displacement.len(), self.dof_count(), "displacements of another structure");
        assert_eq!(unknowns.len(), self.unknown_count(), "unknowns of another structure");
        for (value, &dof) in unknowns.iter_mut().zip(&self.numbering.free) {
            *value = displacement[dof as usize];
        }
    }

    /// Copies unknowns into a displacement vector and leaves supported places alone.
    ///
    /// # Panics
    /// If a length does not fit.
    pub fn scatter(&self, unknowns: &[f64], displacement: &mut [f64]) {
        assert_eq!(displacement.len(), self.dof_count(), "displacements of another structure");
        assert_eq!(unknowns.len(), self.unknown_count(), "unknowns of another structure");
        for (value, &dof) in unknowns.iter().zip(&self.numbering.free) {
            displacement[dof as usize] = *value;
        }
    }

    /// Whether a support moves with time.
    #[must_use]
    pub fn has_moving_supports(&self) -> bool {
        self.supports.iter().any(|support| !support.function.is_constant() && support.value != 0.0)
    }

    /// Writes prescribed displacements at time `t`, times `factor`, into a displacement vector.
    pub fn apply_supports(&self, t: f64, factor: f64, displacement: &mut [f64]) {
        for support in &self.supports {
            if let Some(dof) = self.dof(support.node, support.direction) {
                displacement[dof] = factor * support.value * support.function.value(t);
            }
        }
    }

    /// Writes the velocities of moving supports at time `t` into a velocity vector.
    pub fn apply_support_velocities(&self, t: f64, velocity: &mut [f64]) {
        for support in &self.supports {
            if let Some(dof) = self.dof(support.node, support.direction) {
                velocity[dof] = support.value * support.function.value_and_rate(t).1;
            }
        }
    }

    /// Mean accelerations of moving supports from `t0` to `t1` into a vector that is zero elsewhere.
    pub(crate) fn support_accelerations(&self, t0: f64, t1: f64, acceleration: &mut [f64]) {
        for support in self.supports.iter().filter(|support| !support.function.is_constant()) {
            if let Some(dof) = self.dof(support.node, support.direction) {
                let rate = |t| support.function.value_and_rate(t).1;
                acceleration[dof] = support.value * (rate(t1) - rate(t0)) / (t1 - t0);
            }
        }
    }

    fn positions(&self, member: &Member) -> Ends {
        Ends([self.nodes[member.nodes[0] as usize], self.nodes[member.nodes[1] as usize]])
    }
}

/// Reference positions of a member's nodes; a single node stands twice.
struct Ends([Vector3<f64>; 2]);

impl Ends {
    #[inline]
    fn as_slice(&self, member: &Member) -> &[Vector3<f64>] {
        &self.0[..usize::from(member.count)]
    }
}
