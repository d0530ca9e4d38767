//! Numbering of a graph for a narrow envelope: reverse Cuthill-McKee.

/// A graph without loops; both directions of every edge are stored.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) start: Vec<u32>,
    pub(crate) neighbours: Vec<u32>,
}

impl Graph {
    /// From pairs in any order; repeated pairs and loops are dropped. Neighbours come out ascending.
    pub(crate) fn new(vertices: usize, edges: &[[u32; 2]]) -> Self {
        let mut start = vec![0_u32; vertices + 1];
        for &[a, b] in edges {
            if a != b {
                start[a as usize + 1] += 1;
                start[b as usize + 1] += 1;
            }
        }
        for i in 0..vertices {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut neighbours = vec![0; start[vertices] as usize];
        for &[a, b] in edges {
            if a != b {
                for (from, to) in [(a, b), (b, a)] {
                    neighbours[next[from as usize] as usize] = to;
                    next[from as usize] += 1;
                }
            }
        }
        let mut kept = 0;
        let mut compact_start = vec![0_u32];
        for i in 0..vertices {
            let range = start[i] as usize..start[i + 1] as usize;
            neighbours[range.clone()].sort_unstable();
            let begin = kept;
            for k in range {
                let value = neighbours[k];
                if kept == begin || neighbours[kept - 1] != value {
                    neighbours[kept] = value;
                    kept += 1;
                }
            }
            compact_start.push(kept as u32);
        }
        neighbours.truncate(kept);
        Self { start: compact_start, neighbours }
    }

    pub(crate) fn vertices(&self) -> usize {
        self.start.len() - 1
    }

    pub(crate) fn of(&self, i: usize) -> &[u32] {
        &self.neighbours[self.start[i] as usize..self.start[i + 1] as usize]
    }

    /// Sum over the vertices of the distance to the furthest earlier neighbour in `order` (place of each vertex).
    pub(crate) fn profile(&self, place: &[u32]) -> u64 {
        (0..self.vertices())
            .map(|i| {
                let own = place[i];
                let lowest = self.of(i).iter().map(|&j| place[j as usize]).min().unwrap_or(own);
                u64::from(own.saturating_sub(lowest))
            })
            .sum()
    }

    /// A vertex at one end of the component of `from`: repeated breadth-first sweeps while the depth grows.
    fn peripheral(&self, from: u32, level: &mut [u32], queue: &mut Vec<u32>) -> u32 {
        let (mut root, mut depth) = (from, 0);
        for _ in 0..8 {
            self.sweep(root, level, queue);
            let last = queue[queue.len() - 1];
            let deepest = level[last as usize];
            let far = queue.iter().rev().take_while(|&&v| level[v as usize] == deepest);
            let candidate = far.copied().min_by_key(|&v| (self.of(v as usize).len(), v)).unwrap_or(last);
            for &v in queue.iter() {
                level[v as usize] = u32::MAX;
            }
            if deepest <= depth {
                break;
            }
            depth = deepest;
            root = candidate;
        }
        root
    }

    fn sweep(&self, root: u32, level: &mut [u32], queue: &mut Vec<u32>) {
        queue.clear();
        queue.push(root);
        level[root as usize] = 0;
        let mut head = 0;
        while head < queue.len() {
            let v = queue[head] as usize;
            head += 1;
            for &w in self.of(v) {
                if level[w as usize] == u32::MAX {
                    level[w as usize] = level[v] + 1;
                    queue.push(w);
                }
            }
        }
    }

    /// Place of every vertex: reverse Cuthill-McKee, or the given numbering where that is no worse.
    pub(crate) fn narrow_order(&self) -> Vec<u32> {
        let n = self.vertices();
        let natural: Vec<u32> = (0..n as u32).collect();
        let mut order: Vec<u32> = Vec::with_capacity(n);
        let mut level = vec![u32::MAX; n];
        let mut queue = Vec::new();
        let mut seen = vec![false; n];
        let mut fresh: Vec<u32> = Vec::new();
        for vertex in 0..n as u32 {
            if seen[vertex as usize] {
                continue;
            }
            let root = self.peripheral(vertex, &mut level, &mut queue);
            let mut head = order.len();
            order.push(root);
            seen[root as usize] = true;
            while head < order.len() {
                let v = order[head] as usize;
                head += 1;
                fresh.clear();
                fresh.extend(self.of(v).iter().copied().filter(|&w| !seen[w as usize]));
                fresh.sort_by_key(|&w| (self.of(w as usize).len(), w));
                for &w in &fresh {
                    seen[w as usize] = true;
                    order.push(w);
                }
            }
        }
        let mut place = vec![0; n];
        for (position, &vertex) in order.iter().rev().enumerate() {
            place[vertex as usize] = position as u32;
        }
        if self.profile(&natural) <= self.profile(&place) { natural } else { place }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffled_path_becomes_a_band_of_one() {
        let n = 101_u32;
        let name = |i: u32| (i * 37) % n;
        let edges: Vec<[u32; 2]> = (0..n - 1).map(|i| [name(i), name(i + 1)]).collect();
        let graph = Graph::new(n as usize, &edges);
        let place = graph.narrow_order();
        assert_eq!(graph.profile(&place), u64::from(n) - 1);
        let mut sorted = place;
        sorted.sort_unstable();
        assert!(sorted.iter().enumerate().all(|(i, &p)| i as u32 == p));
    }

    #[test]
    fn repeated_edges_count_once() {
        let graph = Graph::new(3, &[[0, 1], [1, 0], [2, 2], [1, 2]]);
        assert_eq!((graph.of(0), graph.of(1), graph.of(2)), (&[1][..], &[0, 2][..], &[1][..]));
    }
}
