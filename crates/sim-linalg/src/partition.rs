//! Patches of neighboring nodes for the coarse space.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::pattern::Adjacency;

const ROUNDS: usize = 5;

/// Assigns every node to a patch of about `size` nodes: patches grow breadth-first in the order of `order`, small ones are
/// dropped, then [`ROUNDS`] rounds of Lloyd's iteration by shortest path over edges make them round. Returns the patch
/// of every node and the number of patches. A patch never spans two connected components.
pub(crate) fn graph_patches(
    adjacency: &Adjacency,
    order: &[u32],
    coordinates: Option<&[f64]>,
    size: usize,
) -> (Vec<u32>, usize) {
    let n = adjacency.len();
    let mut patch = vec![u32::MAX; n];
    let mut seeds = grow(adjacency, order, size, &mut patch);
    for _ in 0..ROUNDS {
        assign_nearest(adjacency, coordinates, &seeds, &mut patch);
        if let Some(coordinates) = coordinates {
            recenter(coordinates, &patch, &mut seeds);
        } else {
            break;
        }
    }
    assign_nearest(adjacency, coordinates, &seeds, &mut patch);
    (patch, seeds.len())
}

/// Breadth-first growth; returns one seed per patch that is kept.
fn grow(adjacency: &Adjacency, order: &[u32], size: usize, patch: &mut [u32]) -> Vec<u32> {
    let mut seeds = Vec::new();
    let mut queue: Vec<u32> = Vec::new();
    let mut count = 0;
    for &start in order {
        if patch[start as usize] != u32::MAX {
            continue;
        }
        queue.clear();
        queue.push(start);
        patch[start as usize] = count;
        let (mut next, mut touches_another) = (0, false);
        while next < queue.len() {
            let node = queue[next] as usize;
            next += 1;
            for &m in adjacency.of(node) {
                let owner = patch[m as usize];
                if owner == u32::MAX && queue.len() < size {
                    patch[m as usize] = count;
                    queue.push(m);
                } else if owner != u32::MAX && owner != count {
                    touches_another = true;
                }
            }
        }
        count += 1;
        // A leftover between grown patches is absorbed by them; a small component of its own stays.
        if queue.len() >= size / 3 || !touches_another {
            seeds.push(queue[queue.len() / 2]);
        }
    }
    seeds
}

/// Dijkstra from all seeds at once.
fn assign_nearest(adjacency: &Adjacency, coordinates: Option<&[f64]>, seeds: &[u32], patch: &mut [u32]) {
    let mut distance = vec![f64::INFINITY; adjacency.len()];
    patch.fill(u32::MAX);
    // Non-negative doubles order like their bits.
    let mut heap: BinaryHeap<Reverse<(u64, u32, u32)>> = BinaryHeap::new();
    for (k, &seed) in seeds.iter().enumerate() {
        distance[seed as usize] = 0.0;
        heap.push(Reverse((0, k as u32, seed)));
    }
    let length = |a: u32, b: u32| {
        coordinates.map_or(1.0, |c| {
            let at = |i: u32| &c[3 * i as usize..3 * i as usize + 3];
            at(a).iter().zip(at(b)).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
        })
    };
    while let Some(Reverse((bits, owner, node))) = heap.pop() {
        if patch[node as usize] != u32::MAX {
            continue;
        }
        patch[node as usize] = owner;
        for &m in adjacency.of(node as usize) {
            let d = f64::from_bits(bits) + length(node, m);
            if d < distance[m as usize] {
                distance[m as usize] = d;
                heap.push(Reverse((d.to_bits(), owner, m)));
            }
        }
    }
}

/// Moves each seed to the member nearest to the mean of its patch.
fn recenter(coordinates: &[f64], patch: &[u32], seeds: &mut [u32]) {
    let mut mean = vec![[0.0; 4]; seeds.len()];
    let at = |i: usize| [coordinates[3 * i], coordinates[3 * i + 1], coordinates[3 * i + 2]];
    for (i, &p) in patch.iter().enumerate() {
        let (m, x) = (&mut mean[p as usize], at(i));
        for k in 0..3 {
            m[k] += x[k];
        }
        m[3] += 1.0;
    }
    let mut best = vec![f64::INFINITY; seeds.len()];
    for (i, &p) in patch.iter().enumerate() {
        let (m, x) = (&mean[p as usize], at(i));
        let d: f64 = (0..3).map(|k| (x[k] - m[k] / m[3]).powi(2)).sum();
        if d < best[p as usize] {
            best[p as usize] = d;
            seeds[p as usize] = i as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::BlockPattern;

    #[test]
    fn patches_are_connected_and_of_the_asked_size() {
        let n = 40_u32;
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
        // A second component of three nodes.
        edges.extend([[n * n, n * n + 1], [n * n + 1, n * n + 2]]);
        let total = (n * n + 3) as usize;
        let adjacency = BlockPattern::from_edges(total, &edges).unwrap().adjacency();
        let coordinates: Vec<f64> =
            (0..n * n + 3).flat_map(|v| [f64::from(v % n), f64::from(v / n), 0.0]).collect();
        let order: Vec<u32> = (0..total as u32).collect();
        let (patch, count) = graph_patches(&adjacency, &order, Some(&coordinates), 64);
        let mut sizes = vec![0; count];
        for &p in &patch {
            sizes[p as usize] += 1;
        }
        assert_eq!(sizes.iter().sum::<usize>(), total);
        assert!((20..=31).contains(&count), "{count}");
        assert!(sizes.iter().all(|&s| s == 3 || (20..=110).contains(&s)), "{sizes:?}");
        assert_eq!(patch[total - 1], patch[total - 3]);
        // Connected: flood fill from one member reaches all of the patch.
        for p in 0..count as u32 {
            let members: Vec<u32> = (0..total as u32).filter(|&i| patch[i as usize] == p).collect();
            let mut seen = vec![members[0]];
            let mut next = 0;
            while next < seen.len() {
                let node = seen[next] as usize;
                next += 1;
                for &m in adjacency.of(node) {
                    if patch[m as usize] == p && !seen.contains(&m) {
                        seen.push(m);
                    }
                }
            }
            assert_eq!(seen.len(), members.len());
        }
    }
}
