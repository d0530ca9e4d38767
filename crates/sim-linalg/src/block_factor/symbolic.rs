//! Which blocks the incomplete factor keeps, and which products update them.

use crate::lanes::PAD;
use crate::ordering::{ChunkedOrder, PermutedPattern, TRANSPOSED};
use crate::pattern::BlockPattern;

/// Marks an entry of the factor that the matrix does not have.
pub(crate) const FILL: u32 = u32::MAX;

/// The strict lower triangle of the factor, row by row, with everything the numeric phase would otherwise search for.
#[derive(Debug, Clone)]
pub(crate) struct FactorPattern {
    pub(crate) ptr: Vec<u32>,
    pub(crate) col: Vec<u32>,
    /// First entry of each row whose column lies in the row's own part.
    pub(crate) own: Vec<u32>,
    /// The caller's upper block that makes this entry, with the top bit if the entry is its transpose, or [`FILL`].
    pub(crate) source: Vec<u32>,
    /// Updates of entry k are `update_ptr[k]..update_ptr[k + 1]`.
    pub(crate) update_ptr: Vec<u32>,
    /// Position of the first factor within the row being computed.
    pub(crate) update_local: Vec<u16>,
    /// Where the numbers of the second factor are: in the window of the part, or, for an interior column of a separator row,
    /// among the kept blocks.
    pub(crate) update_other: Vec<u32>,
    /// What turns an entry, counted from the first one of its part, into its place in the window of the part: a row needs
    /// the rows that it is coupled with, and these are near.
    pub(crate) window_mask: Vec<usize>,
    /// Boundaries of the windows, in numbers, each with its own pad.
    pub(crate) window_bounds: Vec<usize>,
    /// Where the blocks of each interior row are kept for the separators, or [`FILL`].
    pub(crate) kept: Vec<u32>,
    /// Boundaries of the kept blocks, in numbers, by interior, each with its own pad.
    pub(crate) kept_bounds: Vec<usize>,
    /// Entries that couple a separator row with an interior column, sorted by descending column: (col, row, entry).
    pub(crate) bridges: Vec<[u32; 3]>,
    /// Boundaries in `bridges` of each interior part.
    pub(crate) bridge_ptr: Vec<u32>,
    /// Longest row.
    pub(crate) longest_row: usize,
}

impl FactorPattern {
    /// Fill of level up to `fill_level` on the renumbered pattern, which is in the order of `chunked`. Merges the separators of
    /// `chunked` if the factor couples them.
    ///
    /// Source: Watts, SPE J. 21 (1981) 345, for the levels.
    pub(crate) fn new(permuted: &PermutedPattern, chunked: &mut ChunkedOrder, fill_level: u8) -> Self {
        let pattern = &permuted.pattern;
        let (ptr, col) = fill_pattern(pattern, fill_level);
        let row = |i: usize| &col[ptr[i] as usize..ptr[i + 1] as usize];
        if chunked.separators_touch(row) {
            chunked.merge_separators();
        }
        let n = pattern.block_rows();
        let mut source = Vec::with_capacity(col.len());
        for i in 0..n {
            // Entry (i, j) is the transpose of the renumbered upper block (j, i).
            let block =
                |&j: &u32| pattern.position(j as usize, i).map_or(FILL, |k| permuted.source[k] ^ TRANSPOSED);
            source.extend(row(i).iter().map(block));
        }
        let mut own = vec![0; n];
        for part in 0..chunked.parts() {
            let range = chunked.part(part);
            let first = range.start as u32;
            for i in range {
                own[i] = ptr[i] + row(i).partition_point(|&j| j < first) as u32;
            }
        }
        let mut result = Self {
            own,
            source,
            update_ptr: Vec::with_capacity(col.len() + 1),
            update_local: Vec::new(),
            update_other: Vec::new(),
            window_mask: Vec::new(),
            window_bounds: vec![0],
            kept: vec![FILL; n],
            kept_bounds: vec![0],
            bridges: Vec::new(),
            bridge_ptr: Vec::new(),
            longest_row: (0..n).map(|i| row(i).len()).max().unwrap_or(0),
            ptr,
            col,
        };
        result.list_bridges(chunked);
        result.place_windows(chunked);
        result.place_kept(chunked);
        for part in 0..chunked.parts() {
            result.list_updates(chunked.part(part), result.window_mask[part]);
        }
        result
    }

    pub(crate) fn rows(&self) -> usize {
        self.own.len()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.col.len()
    }

    /// A window holds what the rows of its part need at the same time, a power of two, or all entries if that is less.
    fn place_windows(&mut self, chunked: &ChunkedOrder) {
        for part in 0..chunked.parts() {
            let rows = chunked.part(part);
            let all = (self.ptr[rows.end] - self.ptr[rows.start]) as usize;
            let reach = |i: usize| {
                let first = self.col[self.own[i] as usize..self.ptr[i + 1] as usize].first();
                (self.ptr[i + 1] - self.ptr[first.map_or(i, |&j| j as usize)]) as usize
            };
            let needed = rows.map(reach).max().unwrap_or(0).next_power_of_two();
            let (blocks, mask) = if needed < all { (needed, needed - 1) } else { (all, usize::MAX) };
            self.window_mask.push(mask);
            self.window_bounds.push(self.window_bounds[part] + 9 * blocks + PAD);
        }
    }

    /// Separator rows need the interior rows that they are coupled with after the windows have moved on.
    fn place_kept(&mut self, chunked: &ChunkedOrder) {
        for bridge in &self.bridges {
            self.kept[bridge[0] as usize] = 0;
        }
        for part in 0..chunked.interiors {
            let mut next = self.kept_bounds[part];
            for i in chunked.part(part) {
                if self.kept[i] != FILL {
                    self.kept[i] = next as u32;
                    next += 9 * (self.ptr[i + 1] - self.ptr[i]) as usize;
                }
            }
            self.kept_bounds.push(next + PAD);
        }
    }

    fn list_updates(&mut self, rows: std::ops::Range<usize>, mask: usize) {
        if rows.start == 0 {
            self.update_ptr.push(0);
        }
        let first_entry = self.ptr[rows.start] as usize;
        for i in rows.clone() {
            let begin = self.ptr[i] as usize;
            for p in begin..self.ptr[i + 1] as usize {
                let j = self.col[p] as usize;
                let (mut x, mut y) = (begin, self.ptr[j] as usize);
                let (y_begin, y_end) = (y, self.ptr[j + 1] as usize);
                while x < p && y < y_end {
                    match self.col[x].cmp(&self.col[y]) {
                        std::cmp::Ordering::Less => x += 1,
                        std::cmp::Ordering::Greater => y += 1,
                        std::cmp::Ordering::Equal => {
                            self.update_local.push((x - begin) as u16);
                            self.update_other.push(if j < rows.start {
                                self.kept[j] + 9 * (y - y_begin) as u32
                            } else {
                                9 * ((y - first_entry) & mask) as u32
                            });
                            x += 1;
                            y += 1;
                        }
                    }
                }
                self.update_ptr.push(self.update_other.len() as u32);
            }
        }
    }

    fn list_bridges(&mut self, chunked: &ChunkedOrder) {
        for i in chunked.separator_start()..self.rows() {
            for k in self.ptr[i]..self.own[i] {
                self.bridges.push([self.col[k as usize], i as u32, k]);
            }
        }
        self.bridges.sort_unstable_by(|a, b| b.cmp(a));
        // Descending columns: the bridges of part 0 come last.
        let first_below = |bound: usize| self.bridges.partition_point(|b| b[0] as usize >= bound) as u32;
        self.bridge_ptr = (0..=chunked.interiors).map(|part| first_below(chunked.bounds[part])).collect();
    }

    /// The bridges into an interior part, by descending column.
    pub(crate) fn bridges_of(&self, part: usize) -> &[[u32; 3]] {
        &self.bridges[self.bridge_ptr[part + 1] as usize..self.bridge_ptr[part] as usize]
    }
}

/// Lower rows with sorted columns: entry (i, j) is kept if its level, 1 + the sum of the levels that make it, is small.
fn fill_pattern(pattern: &BlockPattern, fill_level: u8) -> (Vec<u32>, Vec<u32>) {
    let n = pattern.block_rows();
    let adjacency = pattern.adjacency();
    let mut ptr = vec![0_u32; n + 1];
    let mut col = Vec::with_capacity(pattern.upper_len());
    if fill_level == 0 {
        for i in 0..n {
            col.extend(adjacency.of(i).iter().copied().filter(|&j| (j as usize) < i));
            ptr[i + 1] = col.len() as u32;
        }
        return (ptr, col);
    }
    // upper[k]: finished (row, level) pairs of column k.
    let mut upper: Vec<Vec<(u32, u8)>> = vec![Vec::new(); n];
    let mut row: Vec<(u32, u8)> = Vec::new();
    for i in 0..n {
        row.clear();
        row.extend(adjacency.of(i).iter().filter(|&&j| (j as usize) < i).map(|&j| (j, 0)));
        let mut x = 0;
        while x < row.len() {
            let (k, level) = row[x];
            x += 1;
            for &(j, other) in &upper[k as usize] {
                let sum = level + other + 1;
                if sum > fill_level {
                    continue;
                }
                match row.binary_search_by_key(&j, |e| e.0) {
                    Ok(at) => row[at].1 = row[at].1.min(sum),
                    Err(at) => row.insert(at, (j, sum)),
                }
            }
        }
        for &(j, level) in &row {
            upper[j as usize].push((i as u32, level));
            col.push(j);
        }
        ptr[i + 1] = col.len() as u32;
    }
    (ptr, col)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permuted(pattern: &BlockPattern) -> PermutedPattern {
        let order: Vec<u32> = (0..pattern.block_rows() as u32).collect();
        PermutedPattern::new(pattern, &order)
    }

    fn single(n: usize) -> ChunkedOrder {
        ChunkedOrder { order: (0..n as u32).collect(), bounds: vec![0, n], interiors: 1 }
    }

    /// A cycle 0-1-2-3-4-0: eliminating 0 couples 1 and 4 (level 1), then 1 couples 2 and 4 (level 2).
    #[test]
    fn levels_of_a_cycle() {
        let pattern = BlockPattern::from_edges(5, &[[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]]).unwrap();
        let rows = |level| {
            let factor = FactorPattern::new(&permuted(&pattern), &mut single(5), level);
            factor.col[factor.ptr[4] as usize..].to_vec()
        };
        assert_eq!(rows(0), [0, 3]);
        assert_eq!(rows(1), [0, 1, 3]);
        assert_eq!(rows(2), [0, 1, 2, 3]);
    }

    #[test]
    fn updates_pair_equal_columns() {
        let pattern = BlockPattern::from_edges(4, &[[0, 2], [0, 3], [1, 3], [2, 3]]).unwrap();
        let factor = FactorPattern::new(&permuted(&pattern), &mut single(4), 0);
        // Row 3 has columns 0, 1, 2; entry (3, 2) is updated by (3, 0) and (2, 0).
        let entry = factor.len() - 1;
        let updates = factor.update_ptr[entry] as usize..factor.update_ptr[entry + 1] as usize;
        assert_eq!(updates.len(), 1);
        assert_eq!(
            (factor.update_local[updates.start], factor.update_other[updates.start]),
            (0, 9 * factor.ptr[2])
        );
    }
}
