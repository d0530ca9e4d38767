//! A structure: nodes, elements, supports and loads, checked and numbered once.
//!
//! **Degrees of freedom.** Every node has a block of three translations; nodes that a beam (or a rotational spring or
//! inertia) touches have a second block of three rotations. Blocks are numbered translations first: block `i` is the
//! translation of node `i`, and the rotation blocks follow in the order of their nodes. A displacement vector is flat,
//! three values per block; it is the `q` of a `sim-core` state, whose "particles" are these blocks.
//!
//! Unknowns are the degrees of freedom without support, renumbered for a narrow matrix.

mod assembly;
mod error;
mod loading;
mod numbering;
mod system;
mod units;

pub use error::{MechanismMode, MechanismReport, StructureError};
pub use loading::Load;
pub use units::{Magnitudes, UnitWarning};

use crate::elements::{Element, MassKind};
use crate::load::{Direction, TimeFunction};
use crate::material::finite;
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

/// Collects what a [`Structure`] is made of.
#[derive(Debug, Default)]
pub struct StructureBuilder {
    nodes: Vec<[f64; 3]>,
    members: Vec<(Box<dyn Element>, Vec<usize>)>,
    supports: Vec<Support>,
    loads: Vec<(usize, Load, TimeFunction)>,
    planar: bool,
    mass: MassKind,
    rayleigh: [f64; 2],
}

impl StructureBuilder {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a node at a position in m and returns its number.
    pub fn node(&mut self, position: [f64; 3]) -> usize {
        self.nodes.push(position);
        self.nodes.len() - 1
    }

    /// Adds nodes; they are numbered in order.
    pub fn nodes(&mut self, positions: impl IntoIterator<Item = [f64; 3]>) -> &mut Self {
        self.nodes.extend(positions);
        self
    }

    /// Adds an element between (or at) nodes and returns its number.
    pub fn element(&mut self, element: impl Element + 'static, nodes: &[usize]) -> usize {
        self.boxed_element(Box::new(element), nodes)
    }

    /// Adds an element chosen at run time and returns its number.
    pub fn boxed_element(&mut self, element: Box<dyn Element>, nodes: &[usize]) -> usize {
        self.members.push((element, nodes.to_vec()));
        self.members.len() - 1
    }

    /// Holds one direction of a node.
    pub fn fix(&mut self, node: usize, direction: Direction) -> &mut Self {
        self.prescribe(node, direction, 0.0, TimeFunction::Constant)
    }

    /// Holds the three translations of a node.
    pub fn pin(&mut self, node: usize) -> &mut Self {
        for direction in [Direction::X, Direction::Y, Direction::Z] {
            self.fix(node, direction);
        }
        self
    }

    /// Holds translations and rotations of a node.
    pub fn clamp(&mut self, node: usize) -> &mut Self {
        for direction in Direction::ALL {
            self.fix(node, direction);
        }
        self
    }

    /// Moves one direction of a node to `value` (m or rad) times a function of time.
    pub fn prescribe(
        &mut self,
        node: usize,
        direction: Direction,
        value: f64,
        function: TimeFunction,
    ) -> &mut Self {
        self.supports.push(Support { node, direction, value, function });
        self
    }

    /// Adds a constant load to group 0.
    pub fn load(&mut self, load: Load) -> &mut Self {
        self.timed_load(0, load, TimeFunction::Constant)
    }

    /// Adds a load in a group, times a function of time. Groups let an analysis apply one set of loads after another.
    pub fn timed_load(&mut self, group: usize, load: Load, function: TimeFunction) -> &mut Self {
        self.loads.push((group, load, function));
        self
    }

    /// Adds a constant force in N (or moment in N·m) at a node to group 0.
    pub fn force(&mut self, node: usize, direction: Direction, value: f64) -> &mut Self {
        self.load(Load::Force { node, direction, value })
    }

    /// Keeps everything in its plane of constant z: z, rx and ry of all nodes are held.
    pub fn planar(&mut self) -> &mut Self {
        self.planar = true;
        self
    }

    /// Chooses how mass is spread (consistent by default).
    pub fn mass(&mut self, kind: MassKind) -> &mut Self {
        self.mass = kind;
        self
    }

    /// Adds damping `C = mass_factor M + stiffness_factor K(0)`, factors in 1/s and s.
    pub fn rayleigh_damping(&mut self, mass_factor: f64, stiffness_factor: f64) -> &mut Self {
        self.rayleigh = [mass_factor, stiffness_factor];
        self
    }

    /// Checks everything and builds.
    ///
    /// # Errors
    /// [`StructureError`] naming the first culprit.
    pub fn build(self) -> Result<Structure, StructureError> {
        let nodes = self.checked_nodes()?;
        let members = checked_members(self.members, &nodes)?;
        for factor in self.rayleigh {
            finite("rayleigh damping factor", factor).map_err(|source| StructureError::Value {
                what: "structure",
                index: 0,
                node: 0,
                source,
            })?;
        }
        let rotation_block = numbering::rotation_blocks(nodes.len(), &members);
        let mut supports = checked_supports(&self.supports, nodes.len(), &rotation_block)?;
        let own_supports = supports.len();
        if self.planar {
            add_planar_supports(&mut supports, &rotation_block);
        }
        let numbering = Numbering::new(nodes.len(), &members, rotation_block, &supports)?;
        let mut structure = Structure {
            is_linear: members.iter().all(|member| member.element.is_linear()),
            is_viscous: members.iter().any(|member| member.element.is_viscous()),
            nodes,
            members,
            supports,
            own_supports,
            patterns: Vec::new(),
            numbering,
            mass: self.mass,
            rayleigh: self.rayleigh,
            warnings: Vec::new(),
        };
        structure.warnings = units::warnings(&structure);
        structure.patterns = loading::patterns(&structure, &self.loads)?;
        Ok(structure)
    }

    fn checked_nodes(&self) -> Result<Vec<Vector3<f64>>, StructureError> {
        if self.nodes.is_empty() {
            return Err(StructureError::Empty { what: "node" });
        }
        let limit = (u32::MAX / 8) as usize;
        if self.nodes.len() > limit {
            return Err(StructureError::TooLarge { what: "nodes", count: self.nodes.len(), limit });
        }
        for (node, position) in self.nodes.iter().enumerate() {
            if let Some(k) = position.iter().position(|value| !value.is_finite()) {
                return Err(StructureError::Coordinate {
                    node,
                    direction: Direction::ALL[k],
                    value: position[k],
                });
            }
        }
        Ok(self.nodes.iter().map(|&position| position.into()).collect())
    }
}

fn check_node(what: &'static str, index: usize, node: usize, count: usize) -> Result<(), StructureError> {
    if node >= count {
        return Err(StructureError::NoNode { what, index, node, last: count - 1 });
    }
    Ok(())
}

fn checked_members(
    members: Vec<(Box<dyn Element>, Vec<usize>)>,
    positions: &[Vector3<f64>],
) -> Result<Vec<Member>, StructureError> {
    if members.is_empty() {
        return Err(StructureError::Empty { what: "element" });
    }
    let mut used = vec![false; positions.len()];
    let mut checked = Vec::with_capacity(members.len());
    for (index, (element, nodes)) in members.into_iter().enumerate() {
        let id = element.id();
        if nodes.len() != element.node_count() {
            let (expected, found) = (element.node_count(), nodes.len());
            return Err(StructureError::NodeCount { index, id, expected, found });
        }
        let mut x = [Vector3::zeros(); 2];
        let mut numbers = [0; 2];
        for (k, &node) in nodes.iter().enumerate() {
            check_node("element", index, node, positions.len())?;
            used[node] = true;
            x[k] = positions[node];
            numbers[k] = node as u32;
        }
        if let Err(source) = element.validate(&x[..nodes.len()]) {
            return Err(StructureError::Element { index, id, nodes, source });
        }
        checked.push(Member { element, nodes: numbers, count: nodes.len() as u8 });
    }
    if let Some(node) = used.iter().position(|used| !used) {
        return Err(StructureError::UnusedNode { node });
    }
    Ok(checked)
}

fn checked_supports(
    supports: &[Support],
    nodes: usize,
    rotation_block: &[u32],
) -> Result<Vec<Support>, StructureError> {
    let mut checked = Vec::with_capacity(supports.len());
    let mut seen = std::collections::HashSet::with_capacity(supports.len());
    for (index, support) in supports.iter().enumerate() {
        let Support { node, direction, value, .. } = *support;
        check_node("support", index, node, nodes)?;
        finite("value", value).map_err(|source| StructureError::Value {
            what: "support",
            index,
            node,
            source,
        })?;
        let function = support.function.validate();
        function.map_err(|source| StructureError::TimeFunction { what: "support", index, source })?;
        if direction.is_rotation() && rotation_block[node] == NONE {
            // Clamping a node that only bars touch is harmless and common; holding it at an angle is a mistake.
            if value == 0.0 {
                continue;
            }
            return Err(StructureError::NoRotation { what: "support", index, node, direction });
        }
        if !seen.insert((node, direction)) {
            return Err(StructureError::SupportedTwice { node, direction });
        }
        checked.push(support.clone());
    }
    Ok(checked)
}

fn add_planar_supports(supports: &mut Vec<Support>, rotation_block: &[u32]) {
    let held: std::collections::HashSet<_> = supports.iter().map(|s| (s.node, s.direction)).collect();
    for (node, &block) in rotation_block.iter().enumerate() {
        for direction in [Direction::Z, Direction::Rx, Direction::Ry] {
            if held.contains(&(node, direction)) || (direction.is_rotation() && block == NONE) {
                continue;
            }
            supports.push(Support { node, direction, value: 0.0, function: TimeFunction::Constant });
        }
    }
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
