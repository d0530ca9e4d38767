//! Block L D Lᵀ of a tree: no fill when leaves are eliminated first.

use crate::block3::{self, Block};
use crate::direct::ldl3::Ldl3;
use crate::direct::{DirectSolver, FactorError};
use crate::matrix::BlockSymmetric;
use crate::pattern::BlockPattern;

/// Block L D Lᵀ of a matrix whose graph is a forest (branching ropes, chains in any numbering), in linear time.
///
/// Source: Parter, SIAM Rev. 3 (1961) 119: a tree has an elimination order without fill.
///
/// # Limitations
/// Positive definite matrices only; no cycle.
#[derive(Debug, Clone)]
pub struct BlockTree {
    /// Children before parents: (node, parent, index of the coupling block, whether it is (parent, node)).
    order: Vec<Visit>,
    pivots: Vec<Ldl3>,
    /// Block (parent, node) of L, by place in `order`.
    lower: Vec<Block>,
    /// Diagonal blocks during elimination.
    work: Vec<Block>,
}

#[derive(Debug, Clone, Copy)]
struct Visit {
    node: u32,
    parent: u32,
    entry: u32,
    parent_first: bool,
}

const NONE: u32 = u32::MAX;

impl BlockTree {
    /// For matrices on `pattern`.
    ///
    /// # Errors
    /// A block that closes a cycle.
    pub fn new(pattern: &BlockPattern) -> Result<Self, FactorError> {
        let n = pattern.block_rows();
        let adjacency = pattern.adjacency();
        let mut order: Vec<Visit> = Vec::with_capacity(n);
        let mut seen = vec![false; n];
        for root in 0..n {
            if seen[root] {
                continue;
            }
            seen[root] = true;
            order.push(Visit { node: root as u32, parent: NONE, entry: 0, parent_first: false });
            let mut next = order.len() - 1;
            while next < order.len() {
                let Visit { node, parent, .. } = order[next];
                next += 1;
                for &m in adjacency.of(node as usize) {
                    if m == parent {
                        continue;
                    }
                    if seen[m as usize] {
                        let (row, col) = (node.min(m) as usize, node.max(m) as usize);
                        return Err(FactorError::Structure { expected: "a tree", row, col });
                    }
                    seen[m as usize] = true;
                    let entry =
                        pattern.position(node.min(m) as usize, node.max(m) as usize).unwrap_or_default();
                    order.push(Visit { node: m, parent: node, entry: entry as u32, parent_first: node < m });
                }
            }
        }
        order.reverse();
        Ok(Self {
            pivots: vec![Ldl3::default(); n],
            lower: vec![[0.0; 9]; n],
            work: vec![[0.0; 9]; n],
            order,
        })
    }
}

impl DirectSolver for BlockTree {
    fn name(&self) -> &'static str {
        "tree"
    }

    fn factor(&mut self, matrix: &BlockSymmetric) -> Result<(), FactorError> {
        if let Some(block_row) = matrix.first_non_finite() {
            return Err(FactorError::NotFinite { block_row });
        }
        self.work.copy_from_slice(matrix.diagonal());
        for (k, visit) in self.order.iter().enumerate() {
            let node = visit.node as usize;
            let original = &matrix.diagonal()[node];
            let pivot = Ldl3::new(&self.work[node], [original[0], original[4], original[8]])
                .map_err(|component| FactorError::NotPositiveDefinite { block_row: node, component })?;
            self.pivots[node] = pivot;
            if visit.parent != NONE {
                let stored = &matrix.upper()[visit.entry as usize];
                let u = if visit.parent_first { *stored } else { block3::transpose(stored) };
                self.lower[k] = pivot.eliminate(&u, &mut self.work[visit.parent as usize]);
            }
        }
        Ok(())
    }

    fn solve_in_place(&mut self, x: &mut [f64]) {
        let n = 3 * self.pivots.len();
        assert_eq!(x.len(), n, "a right-hand side of {} entries for {n} unknowns", x.len());
        for (visit, l) in self.order.iter().zip(&self.lower) {
            if visit.parent != NONE {
                let product = block3::times(l, block3::get3(x, visit.node as usize));
                for k in 0..3 {
                    x[3 * visit.parent as usize + k] -= product[k];
                }
            }
        }
        for (visit, l) in self.order.iter().zip(&self.lower).rev() {
            let node = visit.node as usize;
            let mut xi = self.pivots[node].solve(block3::get3(x, node));
            if visit.parent != NONE {
                let product = block3::transpose_times(l, block3::get3(x, visit.parent as usize));
                for k in 0..3 {
                    xi[k] -= product[k];
                }
            }
            x[3 * node..3 * node + 3].copy_from_slice(&xi);
        }
    }
}
