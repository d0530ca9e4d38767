//! Degrees of freedom, unknowns, the matrix pattern and the place of every element value in it.

use super::{Member, NONE, StructureError, Support};
use crate::factor::ordering::Graph;
use crate::load::Direction;
use crate::matrix::SymmetricPattern;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Numbering {
    /// Number of blocks of three.
    pub(super) blocks: usize,
    /// Rotation block of each node, or `NONE`.
    rotation_block: Vec<u32>,
    /// Node of each rotation block, in order.
    pub(super) rotation_node: Vec<u32>,
    /// Unknown of each degree of freedom, or `NONE`.
    pub(super) unknown: Vec<u32>,
    /// Degree of freedom of each unknown.
    pub(super) free: Vec<u32>,
    pub(super) pattern: Arc<SymmetricPattern>,
    /// Places in the matrix of the lower triangle of each element, row by row; `NONE` where a support cuts it off.
    pub(super) slots: Vec<u32>,
    /// Where the slots of each element start.
    pub(super) slot_start: Vec<u32>,
}

/// Rotation block number of each node, counted from the number of nodes on; `NONE` for nodes without.
pub(super) fn rotation_blocks(nodes: usize, members: &[Member]) -> Vec<u32> {
    let mut has = vec![false; nodes];
    for member in members.iter().filter(|member| member.has_rotations) {
        member.nodes().for_each(|node| has[node] = true);
    }
    let mut next = nodes as u32;
    has.iter()
        .map(|&has| {
            let block = if has { next } else { NONE };
            next += u32::from(has);
            block
        })
        .collect()
}

impl Numbering {
    pub(super) fn new(
        nodes: usize,
        members: &[Member],
        rotation_block: Vec<u32>,
        supports: &[Support],
    ) -> Result<Self, StructureError> {
        let rotation_node: Vec<u32> =
            (0..nodes as u32).filter(|&node| rotation_block[node as usize] != NONE).collect();
        let blocks = nodes + rotation_node.len();
        let mut numbering = Self {
            blocks,
            rotation_block,
            rotation_node,
            unknown: vec![0; 3 * blocks],
            free: Vec::new(),
            pattern: Arc::new(SymmetricPattern::diagonal(0)),
            slots: Vec::new(),
            slot_start: vec![0],
        };
        for support in supports {
            if let Some(dof) = numbering.dof(support.node, support.direction) {
                numbering.unknown[dof as usize] = NONE;
            }
        }
        let edges: Vec<[u32; 2]> = members.iter().filter(|m| m.count == 2).map(|m| m.nodes).collect();
        let graph = Graph::new(nodes, &edges);
        let place = graph.narrow_order();
        let mut order = vec![0_u32; nodes];
        for (node, &place) in place.iter().enumerate() {
            order[place as usize] = node as u32;
        }
        // Unknowns of a node are consecutive: `range[node]..range_end`.
        let mut range = vec![[0_u32; 2]; nodes];
        for &node in &order {
            let start = numbering.free.len() as u32;
            for direction in Direction::ALL {
                if let Some(dof) = numbering.dof(node as usize, direction)
                    && numbering.unknown[dof as usize] != NONE
                {
                    numbering.unknown[dof as usize] = numbering.free.len() as u32;
                    numbering.free.push(dof);
                }
            }
            range[node as usize] = [start, numbering.free.len() as u32];
        }
        if numbering.free.is_empty() {
            return Err(StructureError::NothingFree);
        }
        let later = LaterNeighbours::new(&graph, &place, &order, &range);
        let entries = later.entries(&order, &range);
        let limit = u32::MAX as usize - 1;
        if entries > limit {
            return Err(StructureError::TooLarge { what: "matrix entries", count: entries, limit });
        }
        numbering.pattern = Arc::new(later.pattern(&order, &range, entries));
        numbering.find_slots(members, &place, &range, &later)?;
        Ok(numbering)
    }

    pub(super) fn dof(&self, node: usize, direction: Direction) -> Option<u32> {
        let k = direction.index() as u32;
        if k < 3 {
            return Some(3 * node as u32 + k);
        }
        let block = self.rotation_block[node];
        (block != NONE).then(|| 3 * block + k - 3)
    }

    /// Degrees of freedom of a member in its local order, and their number.
    #[inline]
    pub(super) fn member_dofs(&self, member: &Member) -> ([u32; 12], usize) {
        let mut dofs = [0; 12];
        let mut n = 0;
        for node in &member.nodes[..usize::from(member.count)] {
            for k in 0..3 {
                dofs[n + k] = 3 * node + k as u32;
            }
            n += 3;
            if member.has_rotations {
                for k in 0..3 {
                    dofs[n + k] = 3 * self.rotation_block[*node as usize] + k as u32;
                }
                n += 3;
            }
        }
        (dofs, n)
    }

    fn find_slots(
        &mut self,
        members: &[Member],
        place: &[u32],
        range: &[[u32; 2]],
        later: &LaterNeighbours,
    ) -> Result<(), StructureError> {
        let total: usize =
            members.iter().map(|m| m.element.dof_count() * (m.element.dof_count() + 1) / 2).sum();
        let limit = u32::MAX as usize - 1;
        if total > limit {
            return Err(StructureError::TooLarge { what: "element matrix entries", count: total, limit });
        }
        self.slots.reserve_exact(total);
        for member in members {
            let (dofs, n) = self.member_dofs(member);
            let per = n / usize::from(member.count);
            // The earlier node's columns hold the later node's rows at this offset behind its own.
            let [mut early, mut late] = member.nodes.map(|node| node as usize);
            if place[early] > place[late] {
                std::mem::swap(&mut early, &mut late);
            }
            let offset = if member.count == 2 { later.offset(early, place[late], place) } else { 0 };
            for i in 0..n {
                for j in 0..=i {
                    let (a, b) = (self.unknown[dofs[i] as usize], self.unknown[dofs[j] as usize]);
                    if a == NONE || b == NONE {
                        self.slots.push(NONE);
                        continue;
                    }
                    let (row, col) = (a.max(b), a.min(b));
                    let start = self.pattern.col_ptr[col as usize];
                    let slot = if i / per == j / per {
                        start + row - col
                    } else {
                        start + (range[early][1] - col) + offset + (row - range[late][0])
                    };
                    debug_assert_eq!(self.pattern.row_idx[slot as usize], row);
                    self.slots.push(slot);
                }
            }
            self.slot_start.push(self.slots.len() as u32);
        }
        Ok(())
    }
}

/// For every node the neighbours that come after it, in order of place, with the running count of their unknowns.
struct LaterNeighbours {
    start: Vec<u32>,
    node: Vec<u32>,
    offset: Vec<u32>,
}

impl LaterNeighbours {
    fn new(graph: &Graph, place: &[u32], order: &[u32], range: &[[u32; 2]]) -> Self {
        let mut result = Self { start: vec![0], node: Vec::new(), offset: Vec::new() };
        let mut places: Vec<u32> = Vec::new();
        for node in 0..graph.vertices() {
            places.clear();
            places.extend(graph.of(node).iter().map(|&w| place[w as usize]).filter(|&p| p > place[node]));
            places.sort_unstable();
            let mut offset = 0;
            for &p in &places {
                let neighbour = order[p as usize];
                result.node.push(neighbour);
                result.offset.push(offset);
                let [from, to] = range[neighbour as usize];
                offset += to - from;
            }
            result.start.push(result.node.len() as u32);
        }
        result
    }

    fn of(&self, node: usize) -> &[u32] {
        &self.node[self.start[node] as usize..self.start[node + 1] as usize]
    }

    fn offset(&self, node: usize, later_place: u32, place: &[u32]) -> u32 {
        let list = self.of(node);
        let at = list.partition_point(|&w| place[w as usize] < later_place);
        self.offset[self.start[node] as usize + at]
    }

    fn entries(&self, order: &[u32], range: &[[u32; 2]]) -> usize {
        let width = |node: usize| (range[node][1] - range[node][0]) as usize;
        order
            .iter()
            .map(|&node| {
                let own = width(node as usize);
                let rest: usize = self.of(node as usize).iter().map(|&w| width(w as usize)).sum();
                own * (own + 1) / 2 + own * rest
            })
            .sum()
    }

    fn pattern(&self, order: &[u32], range: &[[u32; 2]], entries: usize) -> SymmetricPattern {
        let mut col_ptr = vec![0];
        let mut row_idx = Vec::with_capacity(entries);
        for &node in order {
            let [from, to] = range[node as usize];
            for column in from..to {
                row_idx.extend(column..to);
                for &neighbour in self.of(node as usize) {
                    let [from, to] = range[neighbour as usize];
                    row_idx.extend(from..to);
                }
                col_ptr.push(row_idx.len() as u32);
            }
        }
        SymmetricPattern { col_ptr, row_idx }
    }
}
