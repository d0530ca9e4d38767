//! Collects, checks and builds.

use super::{Load, Member, NONE, Structure, StructureError, Support, check_node, loading, numbering, units};
use crate::elements::{Element, MassKind};
use crate::load::{Direction, TimeFunction};
use crate::material::finite;
use nalgebra::Vector3;
use numbering::Numbering;

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
        let has_rotations = element.has_rotations();
        checked.push(Member { element, nodes: numbers, count: nodes.len() as u8, has_rotations });
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
