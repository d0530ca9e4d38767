//! Pairs of boxes that may overlap, by a uniform grid in hashed cells.

use nalgebra::Vector3;

/// An axis-aligned box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub low: Vector3<f64>,
    pub high: Vector3<f64>,
}

impl Bounds {
    pub(crate) const EMPTY: Self = Self {
        low: Vector3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY),
        high: Vector3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
    };

    pub(crate) fn add(&mut self, p: Vector3<f64>) {
        self.low = self.low.inf(&p);
        self.high = self.high.sup(&p);
    }

    pub(crate) fn grown(self, by: f64) -> Self {
        Self { low: self.low.add_scalar(-by), high: self.high.add_scalar(by) }
    }

    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        (0..3).all(|k| self.low[k] <= other.high[k] && other.low[k] <= self.high[k])
    }
}

/// A grid over boxes. Boxes much larger than a cell go to a list that everything is tested against.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grid {
    cell: f64,
    /// (cell hash, box), sorted.
    entries: Vec<(u64, u32)>,
    large: Vec<u32>,
}

const MOST_CELLS: f64 = 64.0;

impl Grid {
    /// Puts boxes into cells about as large as the median box.
    pub(crate) fn fill(&mut self, boxes: &[Bounds]) {
        self.entries.clear();
        self.large.clear();
        let size = |b: &Bounds| (b.high - b.low).amax();
        let mean = boxes.iter().map(size).sum::<f64>() / boxes.len().max(1) as f64;
        self.cell = if mean > 0.0 { mean } else { 1.0 };
        for (i, b) in (0_u32..).zip(boxes) {
            let cells: f64 = (0..3).map(|k| ((b.high[k] - b.low[k]) / self.cell).floor() + 2.0).product();
            if cells > MOST_CELLS {
                self.large.push(i);
                continue;
            }
            let entries = &mut self.entries;
            visit_cells(b, self.cell, |hash| entries.push((hash, i)));
        }
        self.entries.sort_unstable();
        self.entries.dedup();
    }

    /// Calls `visit` for every box that may overlap `b`, possibly more than once.
    pub(crate) fn near(&self, b: &Bounds, mut visit: impl FnMut(u32)) {
        self.large.iter().for_each(|&i| visit(i));
        let cells: f64 = (0..3).map(|k| ((b.high[k] - b.low[k]) / self.cell).floor() + 2.0).product();
        if cells > 8.0 * MOST_CELLS {
            // A fast or huge box: walking the list is cheaper than its cells.
            self.entries.iter().for_each(|&(_, i)| visit(i));
            return;
        }
        visit_cells(b, self.cell, |hash| {
            let first = self.entries.partition_point(|&(h, _)| h < hash);
            self.entries[first..].iter().take_while(|&&(h, _)| h == hash).for_each(|&(_, i)| visit(i));
        });
    }
}

fn visit_cells(b: &Bounds, cell: f64, mut visit: impl FnMut(u64)) {
    // Saturating casts: positions beyond 2^63 cells share the outermost one.
    let index = |x: f64| (x / cell).floor() as i64;
    for x in index(b.low.x)..=index(b.high.x) {
        for y in index(b.low.y)..=index(b.high.y) {
            for z in index(b.low.z)..=index(b.high.z) {
                let mut hash = 0xcbf2_9ce4_8422_2325_u64;
                for i in [x, y, z] {
                    hash = (hash ^ i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                    hash ^= hash >> 29;
                }
                visit(hash);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_overlapping_pair_is_found() {
        let mut next = 5_u32;
        let mut random = || {
            next = next.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(next >> 8) / f64::from(1 << 24)
        };
        let boxes: Vec<Bounds> = (0..300)
            .map(|i| {
                let low = Vector3::new(random(), random(), random()) * 10.0 - Vector3::repeat(5.0);
                let size = if i % 50 == 0 { 6.0 } else { 0.3 };
                Bounds { low, high: low + Vector3::new(random(), random(), random()) * size }
            })
            .collect();
        let mut grid = Grid::default();
        grid.fill(&boxes);
        let mut overlaps = 0;
        for a in &boxes {
            let mut found = vec![false; boxes.len()];
            grid.near(a, |i| found[i as usize] = true);
            for (i, b) in boxes.iter().enumerate() {
                if a.overlaps(b) {
                    overlaps += 1;
                    assert!(found[i]);
                }
            }
        }
        assert!(overlaps > 300 + 50, "{overlaps}: every box overlaps itself, and some others");
    }
}
