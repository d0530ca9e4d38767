//! Where the blocks of a symmetric matrix are.

/// What can be wrong with the entries a pattern is built from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// An index points beyond the last block row.
    #[error("block ({row}, {col}) lies outside a matrix of {block_rows} block rows")]
    OutOfRange {
        /// Row of the culprit.
        row: usize,
        /// Column of the culprit.
        col: usize,
        /// Block rows of the matrix.
        block_rows: usize,
    },
    /// Indices are stored in 32 bits.
    #[error("{count} {what} do not fit 32-bit indices")]
    TooLarge {
        /// What was counted.
        what: &'static str,
        /// How many there are.
        count: usize,
    },
}

/// The positions of the blocks of a symmetric matrix with 3×3 blocks.
///
/// Every diagonal block is present; of the others the strict upper triangle is listed row by row with sorted columns.
/// Built once; values live in [`crate::BlockSymmetric`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockPattern {
    row_ptr: Vec<u32>,
    col: Vec<u32>,
}

impl BlockPattern {
    /// Builds the pattern of `block_rows` rows with a block at every pair of `edges` (any order, repeats allowed; pairs
    /// of equal indices name a diagonal block, which exists anyway).
    ///
    /// # Errors
    /// An index that is not below `block_rows`, or more blocks than 32-bit indices can count.
    pub fn from_edges(block_rows: usize, edges: &[[u32; 2]]) -> Result<Self, PatternError> {
        if block_rows >= (u32::MAX / 3) as usize {
            return Err(PatternError::TooLarge { what: "block rows", count: block_rows });
        }
        if edges.len() >= u32::MAX as usize {
            return Err(PatternError::TooLarge { what: "edges", count: edges.len() });
        }
        let mut count = vec![0_u32; block_rows + 1];
        for &[a, b] in edges {
            let (row, col) = (a.min(b) as usize, a.max(b) as usize);
            if col >= block_rows {
                return Err(PatternError::OutOfRange { row: a as usize, col: b as usize, block_rows });
            }
            if row != col {
                count[row + 1] += 1;
            }
        }
        for row in 0..block_rows {
            count[row + 1] += count[row];
        }
        let mut next = count.clone();
        let mut bucket = vec![0_u32; count[block_rows] as usize];
        for &[a, b] in edges {
            if a != b {
                let slot = &mut next[a.min(b) as usize];
                bucket[*slot as usize] = a.max(b);
                *slot += 1;
            }
        }
        let mut row_ptr = vec![0_u32; block_rows + 1];
        let mut col = Vec::new();
        for row in 0..block_rows {
            let entries = &mut bucket[count[row] as usize..count[row + 1] as usize];
            entries.sort_unstable();
            let first = col.len();
            for &c in entries.iter() {
                if col.len() == first || col[col.len() - 1] != c {
                    col.push(c);
                }
            }
            row_ptr[row + 1] = col.len() as u32;
        }
        col.shrink_to_fit();
        Ok(Self { row_ptr, col })
    }

    /// Builds the pattern in which all members of a stencil are coupled with each other, for every stencil.
    ///
    /// # Errors
    /// As [`BlockPattern::from_edges`].
    pub fn from_stencils<'a>(
        block_rows: usize,
        stencils: impl IntoIterator<Item = &'a [u32]>,
    ) -> Result<Self, PatternError> {
        let mut edges = Vec::new();
        for stencil in stencils {
            for (k, &a) in stencil.iter().enumerate() {
                edges.extend(stencil[k..].iter().map(|&b| [a, b]));
            }
        }
        Self::from_edges(block_rows, &edges)
    }

    /// Number of block rows.
    pub fn block_rows(&self) -> usize {
        self.row_ptr.len() - 1
    }

    /// Number of scalar unknowns, three per block row.
    pub fn dim(&self) -> usize {
        3 * self.block_rows()
    }

    /// Number of blocks above the diagonal.
    pub fn upper_len(&self) -> usize {
        self.col.len()
    }

    /// The sorted columns right of the diagonal in `row`.
    ///
    /// # Panics
    /// If `row` is not below [`BlockPattern::block_rows`].
    pub fn row(&self, row: usize) -> &[u32] {
        &self.col[self.range(row)]
    }

    /// The positions of `row` in the list of upper blocks.
    ///
    /// # Panics
    /// If `row` is not below [`BlockPattern::block_rows`].
    pub fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.row_ptr[row] as usize..self.row_ptr[row + 1] as usize
    }

    /// The position of block (`row`, `col`), `row < col`, in the list of upper blocks, if it exists.
    pub fn position(&self, row: usize, col: usize) -> Option<usize> {
        if row >= col || col >= self.block_rows() {
            return None;
        }
        let range = self.range(row);
        let start = range.start;
        self.col[range].binary_search(&(col as u32)).ok().map(|k| start + k)
    }

    /// The largest distance of a block from the diagonal (0 for a block-diagonal matrix, 1 for a chain).
    pub fn bandwidth(&self) -> usize {
        (0..self.block_rows())
            .filter_map(|row| self.row(row).last().map(|&c| c as usize - row))
            .max()
            .unwrap_or(0)
    }

    /// The neighbors of every block row on both sides of the diagonal, sorted.
    pub(crate) fn adjacency(&self) -> Adjacency {
        let n = self.block_rows();
        let mut ptr = vec![0_u32; n + 1];
        for row in 0..n {
            for &c in self.row(row) {
                ptr[row + 1] += 1;
                ptr[c as usize + 1] += 1;
            }
        }
        for row in 0..n {
            ptr[row + 1] += ptr[row];
        }
        let mut next = ptr.clone();
        let mut index = vec![0_u32; ptr[n] as usize];
        // Rows are visited in ascending order, so a row first receives all smaller neighbors, sorted, and the larger ones follow.
        for row in 0..n {
            for &c in self.row(row) {
                index[next[c as usize] as usize] = row as u32;
                next[c as usize] += 1;
            }
            let k = next[row] as usize;
            let upper = self.row(row);
            index[k..k + upper.len()].copy_from_slice(upper);
            next[row] += upper.len() as u32;
        }
        Adjacency { ptr, index }
    }

    /// From rows that are sorted already.
    pub(crate) fn from_sorted(row_ptr: Vec<u32>, col: Vec<u32>) -> Self {
        debug_assert_eq!(row_ptr.last().map(|&e| e as usize), Some(col.len()));
        Self { row_ptr, col }
    }

    pub(crate) fn row_ptr(&self) -> &[u32] {
        &self.row_ptr
    }

    pub(crate) fn columns(&self) -> &[u32] {
        &self.col
    }
}

/// Neighbor lists of a symmetric pattern.
#[derive(Debug, Clone)]
pub(crate) struct Adjacency {
    ptr: Vec<u32>,
    index: Vec<u32>,
}

impl Adjacency {
    pub(crate) fn len(&self) -> usize {
        self.ptr.len() - 1
    }

    pub(crate) fn of(&self, node: usize) -> &[u32] {
        &self.index[self.ptr[node] as usize..self.ptr[node + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_in_any_order_give_sorted_unique_rows() {
        let pattern = BlockPattern::from_edges(4, &[[2, 0], [0, 1], [0, 2], [3, 1], [1, 1]]).unwrap();
        assert_eq!(pattern.row(0), &[1, 2]);
        assert_eq!(pattern.row(1), &[3]);
        assert_eq!(pattern.row(2), &[] as &[u32]);
        assert_eq!(pattern.upper_len(), 3);
        assert_eq!(pattern.position(1, 3), Some(2));
        assert_eq!(pattern.position(1, 2), None);
        assert_eq!(pattern.position(3, 1), None);
        assert_eq!(pattern.bandwidth(), 2);
    }

    #[test]
    fn adjacency_is_symmetric_and_sorted() {
        let pattern = BlockPattern::from_edges(5, &[[0, 4], [4, 2], [2, 0], [1, 3], [3, 4]]).unwrap();
        let adjacency = pattern.adjacency();
        assert_eq!(adjacency.len(), 5);
        assert_eq!(adjacency.of(4), &[0, 2, 3]);
        assert_eq!(adjacency.of(2), &[0, 4]);
        assert_eq!(adjacency.of(3), &[1, 4]);
    }

    #[test]
    fn an_index_out_of_range_is_named() {
        assert_eq!(
            BlockPattern::from_edges(3, &[[0, 1], [1, 7]]),
            Err(PatternError::OutOfRange { row: 1, col: 7, block_rows: 3 })
        );
    }

    #[test]
    fn a_stencil_couples_all_its_members() {
        let pattern = BlockPattern::from_stencils(4, [&[3_u32, 1, 0][..], &[2][..]]).unwrap();
        assert_eq!((pattern.row(0), pattern.row(1)), (&[1_u32, 3][..], &[3_u32][..]));
        assert_eq!(pattern.upper_len(), 3);
    }
}
