//! Numbering of the unknowns: profile reduction, and fixed chunks whose separators come last.

use std::ops::Range;

use crate::pattern::{Adjacency, BlockPattern};

/// A numbering: `order[new] = old`.
pub(crate) fn invert(order: &[u32]) -> Vec<u32> {
    let mut position = vec![0_u32; order.len()];
    for (new, &old) in order.iter().enumerate() {
        position[old as usize] = new as u32;
    }
    position
}

/// Reverse Cuthill-McKee order of every connected component, from a pseudo-peripheral node each.
///
/// Source: Cuthill, McKee, Proc. 24th ACM Conf. (1969) 157; George, Liu, ACM Trans. Math. Softw. 5 (1979) 284.
pub(crate) fn reverse_cuthill_mckee(adjacency: &Adjacency) -> Vec<u32> {
    let n = adjacency.len();
    let mut order = Vec::with_capacity(n);
    let mut placed = vec![false; n];
    let mut level = vec![u32::MAX; n];
    for seed in 0..n {
        if placed[seed] {
            continue;
        }
        let root = pseudo_peripheral(adjacency, seed, &mut level);
        let mut next = order.len();
        placed[root] = true;
        order.push(root as u32);
        while next < order.len() {
            let node = order[next] as usize;
            next += 1;
            let first = order.len();
            for &m in adjacency.of(node) {
                if !placed[m as usize] {
                    placed[m as usize] = true;
                    order.push(m);
                }
            }
            order[first..].sort_by_key(|&m| (adjacency.of(m as usize).len(), m));
        }
    }
    order.reverse();
    order
}

/// The given order unless reverse Cuthill-McKee is clearly better: grids and chains come in a good order, in which the
/// caller's matrix is read in sequence, and imported meshes in a bad one.
pub(crate) fn base_order(pattern: &BlockPattern, adjacency: &Adjacency) -> Vec<u32> {
    const CLEARLY: u64 = 2;
    let reduced = reverse_cuthill_mckee(adjacency);
    let position = invert(&reduced);
    // Σ |i − j| over all blocks: how far apart a row's partners lie in memory.
    let (mut given, mut after) = (0_u64, 0_u64);
    for i in 0..pattern.block_rows() {
        for &j in pattern.row(i) {
            given += u64::from(j) - i as u64;
            after += u64::from(position[i].abs_diff(position[j as usize]));
        }
    }
    if given <= CLEARLY * after { (0..pattern.block_rows() as u32).collect() } else { reduced }
}

/// A node that is (nearly) as far from another as any, found by repeated breadth-first search from `seed`.
fn pseudo_peripheral(adjacency: &Adjacency, seed: usize, level: &mut [u32]) -> usize {
    let (mut root, mut depth) = (seed, 0);
    let mut queue = Vec::new();
    for _ in 0..8 {
        queue.clear();
        queue.push(root as u32);
        level[root] = 0;
        let mut next = 0;
        while next < queue.len() {
            let node = queue[next] as usize;
            next += 1;
            for &m in adjacency.of(node) {
                if level[m as usize] == u32::MAX {
                    level[m as usize] = level[node] + 1;
                    queue.push(m);
                }
            }
        }
        let last = level[queue[queue.len() - 1] as usize];
        let farthest = queue.iter().rev().take_while(|&&m| level[m as usize] == last);
        let candidate = farthest.min_by_key(|&&m| (adjacency.of(m as usize).len(), m)).map(|&m| m as usize);
        for &m in &queue {
            level[m as usize] = u32::MAX;
        }
        if last <= depth {
            break;
        }
        depth = last;
        root = candidate.unwrap_or(root);
    }
    root
}

/// A numbering in chunks that do not touch each other, followed by the separators between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChunkedOrder {
    /// `order[new] = old`.
    pub(crate) order: Vec<u32>,
    /// Boundaries of the parts: interiors first, then one separator group per chunk border.
    pub(crate) bounds: Vec<usize>,
    /// How many parts are interiors.
    pub(crate) interiors: usize,
}

impl ChunkedOrder {
    /// Cuts `base` (new → old) into `chunks` runs. The nodes of a run that touch an earlier run become separators.
    pub(crate) fn new(adjacency: &Adjacency, base: &[u32], chunks: usize) -> Self {
        let n = base.len();
        let chunks = chunks.clamp(1, n.max(1));
        let chunk_range = |c: usize| c * n / chunks..(c + 1) * n / chunks;
        let mut chunk_of = vec![0_u32; n];
        for c in 0..chunks {
            for &node in &base[chunk_range(c)] {
                chunk_of[node as usize] = c as u32;
            }
        }
        let separates = |node: u32| {
            let own = chunk_of[node as usize];
            adjacency.of(node as usize).iter().any(|&m| chunk_of[m as usize] < own)
        };
        let mut order = Vec::with_capacity(n);
        let mut bounds = vec![0];
        for c in 0..chunks {
            order.extend(base[chunk_range(c)].iter().copied().filter(|&node| !separates(node)));
            bounds.push(order.len());
        }
        for c in 1..chunks {
            order.extend(base[chunk_range(c)].iter().copied().filter(|&node| separates(node)));
            bounds.push(order.len());
        }
        Self { order, bounds, interiors: chunks }
    }

    pub(crate) fn parts(&self) -> usize {
        self.bounds.len() - 1
    }

    pub(crate) fn part(&self, part: usize) -> Range<usize> {
        self.bounds[part]..self.bounds[part + 1]
    }

    /// First row of the separators.
    pub(crate) fn separator_start(&self) -> usize {
        self.bounds[self.interiors]
    }

    /// Makes one group of all separators; needed when they are coupled with each other.
    pub(crate) fn merge_separators(&mut self) {
        let n = self.order.len();
        if self.parts() > self.interiors + 1 {
            self.bounds.truncate(self.interiors + 1);
            self.bounds.push(n);
        }
    }

    /// Whether rows of different separator groups are coupled; `row` gives the columns of a row, new numbering.
    pub(crate) fn separators_touch<'a>(&self, mut row: impl FnMut(usize) -> &'a [u32]) -> bool {
        let start = self.separator_start() as u32;
        (self.interiors..self.parts()).any(|part| {
            let range = self.part(part);
            let own = range.start as u32..range.end as u32;
            range.clone().any(|i| row(i).iter().any(|j| *j >= start && !own.contains(j)))
        })
    }
}

/// The pattern after renumbering, with the source of every upper block.
#[derive(Debug, Clone)]
pub(crate) struct PermutedPattern {
    pub(crate) pattern: BlockPattern,
    /// Index of the upper block in the old pattern; the top bit means "transposed".
    pub(crate) source: Vec<u32>,
}

pub(crate) const TRANSPOSED: u32 = 1 << 31;

impl PermutedPattern {
    pub(crate) fn new(old: &BlockPattern, order: &[u32]) -> Self {
        let n = old.block_rows();
        let position = invert(order);
        let mut entries: Vec<(u32, u32, u32)> = Vec::with_capacity(old.upper_len());
        for i in 0..n {
            for k in old.range(i) {
                let (a, b) = (position[i], position[old.columns()[k] as usize]);
                entries.push(if a < b { (a, b, k as u32) } else { (b, a, k as u32 | TRANSPOSED) });
            }
        }
        entries.sort_unstable();
        let mut row_ptr = vec![0_u32; n + 1];
        for e in &entries {
            row_ptr[e.0 as usize + 1] += 1;
        }
        for i in 0..n {
            row_ptr[i + 1] += row_ptr[i];
        }
        let pattern = BlockPattern::from_sorted(row_ptr, entries.iter().map(|e| e.1).collect());
        Self { pattern, source: entries.iter().map(|e| e.2).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(n: u32) -> BlockPattern {
        let mut edges = Vec::new();
        for i in 0..n {
            for j in 0..n {
                if j + 1 < n {
                    edges.push([i * n + j, i * n + j + 1]);
                }
                if i + 1 < n {
                    edges.push([i * n + j, i * n + n + j]);
                }
            }
        }
        BlockPattern::from_edges((n * n) as usize, &edges).unwrap()
    }

    #[test]
    fn reverse_cuthill_mckee_narrows_a_shuffled_chain() {
        let n = 101_u32;
        // Node k of the chain is called 37 k mod 101.
        let edges: Vec<[u32; 2]> = (0..n - 1).map(|k| [37 * k % n, 37 * (k + 1) % n]).collect();
        let pattern = BlockPattern::from_edges(n as usize, &edges).unwrap();
        let order = reverse_cuthill_mckee(&pattern.adjacency());
        assert!(pattern.bandwidth() > 30);
        assert_eq!(PermutedPattern::new(&pattern, &order).pattern.bandwidth(), 1);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..n).collect::<Vec<_>>());
    }

    #[test]
    fn a_good_order_is_kept() {
        let pattern = grid(20);
        assert_eq!(base_order(&pattern, &pattern.adjacency()), (0..400).collect::<Vec<u32>>());
        let shuffled: Vec<[u32; 2]> = (0..400)
            .flat_map(|i| pattern.row(i as usize).iter().map(move |&j| [37 * i % 400, 37 * j % 400]))
            .collect();
        let shuffled = BlockPattern::from_edges(400, &shuffled).unwrap();
        let order = base_order(&shuffled, &shuffled.adjacency());
        assert!(
            PermutedPattern::new(&shuffled, &order).pattern.bandwidth() < 40 && shuffled.bandwidth() > 200
        );
    }

    #[test]
    fn interiors_never_touch() {
        let pattern = grid(20);
        let adjacency = pattern.adjacency();
        let base: Vec<u32> = (0..400).collect();
        let chunked = ChunkedOrder::new(&adjacency, &base, 4);
        assert_eq!((chunked.parts(), chunked.interiors, chunked.separator_start()), (7, 4, 340));
        let position = invert(&chunked.order);
        let part_of =
            |node: u32| (0..7).find(|&p| chunked.part(p).contains(&(position[node as usize] as usize)));
        for node in 0..400 {
            for &m in adjacency.of(node) {
                let (a, b) = (part_of(node as u32).unwrap(), part_of(m).unwrap());
                assert!(a == b || a >= 4 || b >= 4, "{node} {m}");
            }
        }
    }
}
