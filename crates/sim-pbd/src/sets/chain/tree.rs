//! Who hangs on whom, and where the numbers of a Newton step are.

/// Loops up to which bordering is worth while.
pub(super) const MOST_LOOPS: usize = 4;

/// Who hangs on whom. Links are named by slot: those of the trees first, leaves before roots, then those that close loops.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    /// Particle of every node.
    pub(super) particles: Vec<u32>,
    /// Child and parent of every link of a tree; the two ends of every other link.
    pub(super) ends: Vec<[u32; 2]>,
    /// How many links belong to trees.
    pub(super) hanging: usize,
    /// Nodes without parent.
    pub(super) roots: Vec<u32>,
    /// Links to the children of every node: `below[first_below[node]..first_below[node + 1]]`.
    first_below: Vec<u32>,
    below: Vec<u32>,
}

impl Tree {
    pub(super) fn new(particles: Vec<u32>, ends: Vec<[u32; 2]>, hanging: usize, roots: Vec<u32>) -> Self {
        let mut below: Vec<u32> = (0..hanging as u32).collect();
        below.sort_by_key(|&slot| ends[slot as usize][1]);
        let first_below = (0..=particles.len() as u32)
            .map(|node| below.partition_point(|&slot| ends[slot as usize][1] < node) as u32)
            .collect();
        Self { particles, ends, hanging, roots, first_below, below }
    }

    pub(super) fn below(&self, node: usize) -> &[u32] {
        &self.below[self.first_below[node] as usize..self.first_below[node + 1] as usize]
    }
}

/// Where things are among the work values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// First value, number of nodes, number of links.
    start: usize,
    nodes: usize,
    links: usize,
    loops: usize,
}

impl Layout {
    pub(super) fn new(start: usize, tree: &Tree) -> Self {
        let links = tree.ends.len();
        Self { start, nodes: tree.particles.len(), links, loops: links - tree.hanging }
    }

    pub(super) fn end(&self) -> usize {
        // One border per loop, and one for the solution without loops.
        self.border(if (1..=MOST_LOOPS).contains(&self.loops) { self.loops + 1 } else { 0 })
    }

    /// Way that the links moved a node.
    pub(super) fn way(&self, node: usize) -> usize {
        self.start + 3 * node
    }

    pub(super) fn right(&self, node: usize) -> usize {
        self.start + 3 * (self.nodes + node)
    }

    pub(super) fn step(&self, node: usize) -> usize {
        self.start + 3 * (2 * self.nodes + node)
    }

    /// Matrix of a node, later its inverse: xx yy zz xy yz xz.
    pub(super) fn matrix(&self, node: usize) -> usize {
        self.start + 9 * self.nodes + 6 * node
    }

    /// Step of a node that its links to pinned children ask for.
    pub(super) fn asked(&self, node: usize) -> usize {
        self.start + 15 * self.nodes + 3 * node
    }

    fn link(&self, field: usize, slot: usize) -> usize {
        self.start + 18 * self.nodes + field * self.links + slot
    }

    /// Stiffness against turning: −λ over the distance of the ends.
    pub(super) fn turning(&self, slot: usize) -> usize {
        self.link(0, slot)
    }

    pub(super) fn pivot(&self, slot: usize) -> usize {
        self.link(1, slot)
    }

    /// s.
    pub(super) fn softness(&self, slot: usize) -> usize {
        self.link(2, slot)
    }

    /// r.
    pub(super) fn residual(&self, slot: usize) -> usize {
        self.link(3, slot)
    }

    /// dλ.
    pub(super) fn multiplier_step(&self, slot: usize) -> usize {
        self.link(4, slot)
    }

    pub(super) fn inverse_times_direction(&self, slot: usize) -> usize {
        self.link(5, 3 * slot)
    }

    pub(super) fn carried(&self, slot: usize) -> usize {
        self.link(8, 3 * slot)
    }

    /// Direction from parent to child.
    pub(super) fn direction(&self, slot: usize) -> usize {
        self.link(11, 3 * slot)
    }

    /// Steps of nodes, then of links, for a unit multiplier of loop `k`.
    pub(super) fn border(&self, k: usize) -> usize {
        self.link(14, 0) + k * (3 * self.nodes + self.links)
    }
}
