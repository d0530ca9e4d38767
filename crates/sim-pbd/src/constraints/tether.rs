//! Long-range attachment: no particle farther from its anchor than the rope in between allows.

use super::{ConstraintInfo, Sample};
use crate::constraint::{Bound, Constraint, Sense, ValueError, direction};
use nalgebra::Vector3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Registry entry.
pub const INFO: ConstraintInfo = ConstraintInfo {
    id: "tether",
    summary: "keeps a particle within the path length to its nearest pinned particle",
    reference: "Kim, Chentanez, Müller: Long Range Attachments, 2012",
    limitations: "It is redundant with the links in between and takes load from them: tensions read off the links \
                  are then too small. A chain solved directly needs no tethers.",
    internal: true,
    sample: || Sample::of(Tether { max_length: 1.5 }, [[0.0, 0.1, 0.2], [1.4, -0.8, 0.5]]),
};

/// C = |x₁ − x₀| − path length ≤ 0, in m; x₀ is the anchor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tether {
    /// Length of the shortest path of links between both, m.
    pub max_length: f64,
}

impl Constraint<2> for Tether {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn sense(&self) -> Sense {
        Sense::AtMost
    }

    fn scale(&self) -> f64 {
        self.max_length
    }

    fn evaluate(&self, _t: f64, x: &[Vector3<f64>; 2]) -> (f64, [Vector3<f64>; 2]) {
        let (length, n) = direction(x[1] - x[0]);
        (length - self.max_length, [-n, n])
    }

    fn validate(&self) -> Result<(), ValueError> {
        ValueError::positive("max_length", self.max_length)
    }
}

/// One rigid tether per particle that can reach an anchor through `links` (ends and rest length in m).
///
/// Shortest paths from all anchors at once; ties go to the lower particle. Anchors themselves get none, nor do
/// particles that already hang on an anchor by a link of the same length.
///
/// # Panics
/// When a link or an anchor names a particle beyond `particle_count`, or a rest length is negative or NaN.
pub fn tethers(
    particle_count: usize,
    links: &[([u32; 2], f64)],
    anchors: impl IntoIterator<Item = u32>,
) -> Vec<Bound<Tether, 2>> {
    let mut neighbors = vec![Vec::new(); particle_count];
    for &([a, b], length) in links {
        assert!(length >= 0.0, "link {a}-{b} has rest length {length}");
        neighbors[a as usize].push((b, length));
        neighbors[b as usize].push((a, length));
    }
    let mut best: Vec<Option<(f64, u32)>> = vec![None; particle_count];
    // Lengths are not negative, and the bits of such numbers are ordered as the numbers are.
    let mut queue: BinaryHeap<Reverse<(u64, u32, u32)>> =
        anchors.into_iter().map(|anchor| Reverse((0, anchor, anchor))).collect();
    while let Some(Reverse((bits, particle, anchor))) = queue.pop() {
        if best[particle as usize].is_some() {
            continue;
        }
        let length = f64::from_bits(bits);
        best[particle as usize] = Some((length, anchor));
        for &(next, step) in &neighbors[particle as usize] {
            if best[next as usize].is_none() {
                queue.push(Reverse(((length + step).to_bits(), next, anchor)));
            }
        }
    }
    let direct = |a: u32, b: u32, length: f64| {
        neighbors[a as usize].iter().any(|&(other, step)| other == b && step <= length)
    };
    (0_u32..)
        .zip(&best)
        .filter_map(|(particle, found)| found.map(|(length, anchor)| (particle, length, anchor)))
        .filter(|&(particle, length, anchor)| length > 0.0 && !direct(particle, anchor, length))
        .map(|(particle, max_length, anchor)| Bound::rigid([anchor, particle], Tether { max_length }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tethers_follow_the_shortest_path_to_the_nearest_anchor() {
        // 0 - 1 - 2 - 3 - 4, anchors 0 and 4, unequal links.
        let links = [([0, 1], 1.0), ([1, 2], 2.0), ([2, 3], 0.5), ([3, 4], 0.25)];
        let found = tethers(6, &links, [0, 4]);
        let expected = [([4, 2], 0.75)];
        assert_eq!(found.len(), expected.len(), "1 and 3 hang on their anchors already, 5 reaches none");
        for (tether, (particles, length)) in found.iter().zip(expected) {
            assert_eq!(tether.particles, particles);
            assert_eq!(tether.constraint.max_length, length);
        }
    }
}
