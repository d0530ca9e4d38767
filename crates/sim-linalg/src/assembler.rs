//! From a stream of block contributions to a matrix: recorded once, refilled without search.
//!
//! A system hands out its blocks in the same order at every step. The first pass records the (row, col) sequence; from
//! it come the pattern and one slot per contribution. Later passes walk the slots with a counter.
//!
//! **Convention**: each off-diagonal pair of particles is emitted once, as (row, col) or (col, row) in any order; the
//! mirrored block is its transpose and is never emitted. Diagonal blocks must be symmetric.

mod refill;

use std::sync::Arc;

use crate::matrix::BlockSymmetric;
use crate::pattern::{BlockPattern, PatternError};

pub use refill::BlockRefill;

/// Why an assembly pass failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssemblyError {
    /// A later pass emitted another block than the recorded pass did at the same place of the sequence.
    #[error(
        "contribution {index} is ({row}, {col}) but ({recorded_row}, {recorded_col}) was recorded there; \
         the sequence of blocks must not change between passes"
    )]
    SequenceChanged {
        /// Place in the sequence.
        index: usize,
        /// Row now.
        row: usize,
        /// Column now.
        col: usize,
        /// Row recorded.
        recorded_row: usize,
        /// Column recorded.
        recorded_col: usize,
    },
    /// A later pass emitted fewer or more blocks than were recorded, or pairs in place of single blocks.
    #[error("{count} contributions where {recorded} were recorded, or pairs in place of single blocks")]
    CountChanged {
        /// Contributions now.
        count: usize,
        /// Contributions recorded.
        recorded: usize,
    },
    /// A recorded contribution names a particle that does not exist.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

const SKIPPED: u32 = u32::MAX;
const TRANSPOSED: u32 = 1 << 31;

/// Records the sequence of contributions of the first pass.
#[derive(Debug, Clone)]
pub struct BlockRecorder {
    unknown: Vec<u32>,
    unknowns: usize,
    keys: Vec<[u32; 2]>,
    pairs: Vec<[u32; 2]>,
}

impl BlockRecorder {
    /// Starts a recording for particles of which `is_free[i]` says whether particle i is an unknown. Pinned particles get
    /// no block row; contributions that touch them are dropped.
    ///
    /// # Panics
    /// If there are more particles than 32-bit indices can count.
    pub fn new(is_free: &[bool]) -> Self {
        let fits = is_free.len() < (u32::MAX / 3) as usize;
        assert!(fits, "{} particles do not fit 32-bit indices", is_free.len());
        let mut unknowns = 0;
        let unknown = is_free
            .iter()
            .map(|&free| {
                let index = if free { unknowns as u32 } else { SKIPPED };
                unknowns += usize::from(free);
                index
            })
            .collect();
        Self { unknown, unknowns, keys: Vec::new(), pairs: Vec::new() }
    }

    /// Records one contribution to block (`row`, `col`), both particle indices.
    #[inline]
    pub fn add(&mut self, row: usize, col: usize) {
        // An index beyond 32 bits is beyond the particle count too; saturating keeps it so for the check in `finish`.
        let narrow = |i: usize| u32::try_from(i).unwrap_or(u32::MAX);
        self.keys.push([narrow(row), narrow(col)]);
    }

    /// Records what [`BlockRefill::add_edge`] adds for the pair (`a`, `b`).
    #[inline]
    pub fn add_edge(&mut self, a: usize, b: usize) {
        let narrow = |i: usize| u32::try_from(i).unwrap_or(u32::MAX);
        self.pairs.push([narrow(a), narrow(b)]);
    }

    /// Records what [`BlockRefill::add_edges`] adds for these pairs.
    pub fn add_edges(&mut self, ends: &[[u32; 2]]) {
        self.pairs.extend_from_slice(ends);
    }

    /// Builds the pattern and the slot of every recorded contribution.
    ///
    /// # Errors
    /// A contribution that names a particle beyond the last one.
    pub fn finish(self) -> Result<BlockAssembler, AssemblyError> {
        let Self { unknown, unknowns, keys, pairs } = self;
        let particles = unknown.len();
        let contributions = keys.len() + pairs.len();
        if contributions >= TRANSPOSED as usize {
            return Err(PatternError::TooLarge { what: "contributions", count: contributions }.into());
        }
        let mut edges = Vec::with_capacity(contributions);
        for &[row, col] in keys.iter().chain(&pairs) {
            if row.max(col) as usize >= particles {
                let (row, col) = (row as usize, col as usize);
                return Err(PatternError::OutOfRange { row, col, block_rows: particles }.into());
            }
            let (i, j) = (unknown[row as usize], unknown[col as usize]);
            if i != SKIPPED && j != SKIPPED && i != j {
                edges.push([i, j]);
            }
        }
        let pattern = BlockPattern::from_edges(unknowns, &edges)?;
        drop(edges);
        // Every recorded pair is an edge of the pattern, so the search finds it.
        let upper =
            |i: u32, j: u32| pattern.position(i.min(j) as usize, i.max(j) as usize).unwrap_or_default();
        let slots = keys
            .iter()
            .map(|&[row, col]| {
                let (i, j) = (unknown[row as usize], unknown[col as usize]);
                if i == SKIPPED || j == SKIPPED {
                    return SKIPPED;
                }
                if i == j {
                    return i;
                }
                (upper(i, j) + unknowns) as u32 | if i > j { TRANSPOSED } else { 0 }
            })
            .collect::<Vec<u32>>();
        // Blocks that single contributions reach, or none at all, start at zero; the others at their first pair.
        let mut started = vec![false; pattern.upper_len()];
        for &slot in slots.iter().filter(|&&slot| slot != SKIPPED) {
            if let Some(k) = ((slot & !TRANSPOSED) as usize).checked_sub(unknowns) {
                started[k] = true;
            }
        }
        let zeroed = (0_u32..).zip(&started).filter(|(_, started)| **started).map(|(k, _)| k).collect();
        let mut pair_slot = |&[a, b]: &[u32; 2]| {
            let diagonal = [a, b].map(|particle| unknown[particle as usize]);
            let [i, j] = diagonal;
            if i == SKIPPED || j == SKIPPED || i == j {
                return PairSlot { diagonal, upper: SKIPPED };
            }
            let k = upper(i, j);
            let first = !std::mem::replace(&mut started[k], true);
            PairSlot { diagonal, upper: k as u32 | if first { FIRST } else { 0 } }
        };
        let pair_slots = pairs.iter().map(&mut pair_slot).collect();
        Ok(BlockAssembler { unknown, pattern: Arc::new(pattern), keys, slots, pairs, pair_slots, zeroed })
    }
}

/// Marks the first contribution to an upper block: it is stored, not added, so that the block need not be cleared before.
const FIRST: u32 = 1 << 31;

/// Where the blocks of a pair go; [`SKIPPED`], which no array reaches, where an end is pinned.
#[derive(Debug, Clone, Copy)]
struct PairSlot {
    diagonal: [u32; 2],
    upper: u32,
}

/// A pattern and the slot of every contribution of a fixed sequence.
#[derive(Debug, Clone)]
pub struct BlockAssembler {
    unknown: Vec<u32>,
    pattern: Arc<BlockPattern>,
    keys: Vec<[u32; 2]>,
    slots: Vec<u32>,
    pairs: Vec<[u32; 2]>,
    pair_slots: Vec<PairSlot>,
    /// Upper blocks that a pass sets to zero before it begins.
    zeroed: Vec<u32>,
}

impl BlockAssembler {
    /// The pattern over the free particles.
    pub fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }

    /// The block row of a particle; `None` if it is pinned.
    ///
    /// # Panics
    /// If there is no such particle.
    pub fn unknown_of(&self, particle: usize) -> Option<usize> {
        let index = self.unknown[particle];
        (index != SKIPPED).then_some(index as usize)
    }

    /// Number of particles, free and pinned.
    pub fn particle_count(&self) -> usize {
        self.unknown.len()
    }

    /// Number of contributions in the sequence; a pair counts once.
    pub fn contribution_count(&self) -> usize {
        self.keys.len() + self.pairs.len()
    }

    /// Copies the 3-vectors of the free particles out of a vector over all particles.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn gather(&self, particles: &[f64], unknowns: &mut [f64]) {
        self.check_lengths(particles.len(), unknowns.len());
        for (source, &i) in particles.chunks_exact(3).zip(&self.unknown) {
            if i != SKIPPED {
                unknowns[3 * i as usize..][..3].copy_from_slice(source);
            }
        }
    }

    /// Writes the 3-vectors of the unknowns into a vector over all particles; pinned particles keep their values.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn scatter(&self, unknowns: &[f64], particles: &mut [f64]) {
        self.check_lengths(particles.len(), unknowns.len());
        for (target, &i) in particles.chunks_exact_mut(3).zip(&self.unknown) {
            if i != SKIPPED {
                target.copy_from_slice(&unknowns[3 * i as usize..][..3]);
            }
        }
    }

    fn check_lengths(&self, particles: usize, unknowns: usize) {
        let (p, u) = (3 * self.unknown.len(), self.pattern.dim());
        assert_eq!(particles, p, "a particle vector of {particles} entries where {p} are needed");
        assert_eq!(unknowns, u, "a vector of unknowns of {unknowns} entries where {u} are needed");
    }

    /// Starts a pass that fills `matrix` anew; what it held is lost.
    ///
    /// # Panics
    /// If `matrix` was made on a pattern of another size.
    pub fn refill<'a>(&'a self, matrix: &'a mut BlockSymmetric) -> BlockRefill<'a> {
        let same = Arc::ptr_eq(&self.pattern, matrix.pattern()) || self.pattern == *matrix.pattern();
        assert!(
            same,
            "a matrix of {} block rows and {} upper blocks does not have the recorded pattern ({} and {})",
            matrix.block_rows(),
            matrix.upper().len(),
            self.pattern.block_rows(),
            self.pattern.upper_len()
        );
        matrix.diagonal.fill([0.0; 9]);
        for &k in &self.zeroed {
            matrix.upper[k as usize] = [0.0; 9];
        }
        BlockRefill {
            keys: &self.keys,
            slots: &self.slots,
            pairs: &self.pairs,
            pair_slots: &self.pair_slots,
            unknowns: self.pattern.block_rows(),
            diagonal: &mut matrix.diagonal,
            upper: &mut matrix.upper,
            next: 0,
            next_pair: 0,
            error: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block3::Block;
    use nalgebra::Matrix3;

    fn scaled_identity(s: f64) -> Matrix3<f64> {
        Matrix3::identity() * s
    }

    fn sequence() -> Vec<(usize, usize, Matrix3<f64>)> {
        let b = Matrix3::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0);
        vec![
            (0, 0, scaled_identity(1.0)),
            (1, 1, scaled_identity(2.0)),
            (2, 2, scaled_identity(3.0)),
            (3, 1, b),
            (1, 0, b),
            (1, 3, b),
            (3, 3, scaled_identity(4.0)),
        ]
    }

    fn recorded(is_free: &[bool]) -> BlockAssembler {
        let mut recorder = BlockRecorder::new(is_free);
        for &(r, c, _) in &sequence() {
            recorder.add(r, c);
        }
        recorder.finish().unwrap()
    }

    #[test]
    fn refill_transposes_drops_pinned_and_repeats_exactly() {
        let assembler = recorded(&[false, true, true, true]);
        assert_eq!(assembler.unknown_of(0), None);
        assert_eq!(assembler.unknown_of(3), Some(2));
        let mut matrix = BlockSymmetric::zeros(assembler.pattern().clone());
        for _ in 0..2 {
            let mut refill = assembler.refill(&mut matrix);
            for (r, c, b) in &sequence() {
                refill.add_scaled(*r, *c, 2.0, b);
            }
            refill.finish().unwrap();
            let b = sequence()[3].2;
            assert_eq!(matrix.block(0, 2).unwrap(), 2.0 * (b + b.transpose()));
            assert_eq!(matrix.block(0, 0).unwrap(), scaled_identity(4.0));
            assert_eq!(matrix.block(0, 1), None);
            assert_eq!(matrix.block_rows(), 3);
        }
    }

    #[test]
    fn a_changed_sequence_is_an_error_with_numbers() {
        let assembler = recorded(&[true; 4]);
        let mut matrix = BlockSymmetric::zeros(assembler.pattern().clone());
        let mut refill = assembler.refill(&mut matrix);
        for (r, c, b) in &sequence() {
            refill.add(*r, if *c == 3 { 2 } else { *c }, b);
        }
        assert_eq!(
            refill.finish(),
            Err(AssemblyError::SequenceChanged {
                index: 5,
                row: 1,
                col: 2,
                recorded_row: 1,
                recorded_col: 3
            })
        );
        let mut refill = assembler.refill(&mut matrix);
        for (r, c, b) in &sequence()[..5] {
            refill.add(*r, *c, b);
        }
        assert_eq!(refill.finish(), Err(AssemblyError::CountChanged { count: 5, recorded: 7 }));
    }

    #[test]
    fn an_edge_fills_three_places() {
        let s = Matrix3::new(2.0, 1.0, 0.0, 1.0, 3.0, 0.5, 0.0, 0.5, 4.0);
        let mut recorder = BlockRecorder::new(&[true, true]);
        recorder.add_edge(1, 0);
        let assembler = recorder.finish().unwrap();
        let mut matrix = BlockSymmetric::zeros(assembler.pattern().clone());
        let mut refill = assembler.refill(&mut matrix);
        refill.add_edge(1, 0, 0.5, &s);
        refill.finish().unwrap();
        assert_eq!(matrix.block(0, 1).unwrap(), -0.5 * s);
        assert_eq!(matrix.block(1, 1).unwrap(), 0.5 * s);
    }

    /// Pinned ends, both directions, a pair met twice and one that single blocks reach too, filled twice over old values.
    #[test]
    fn batches_of_pairs_equal_their_blocks_one_by_one() {
        let ends = [[0, 1], [2, 1], [1, 2], [3, 4], [4, 0], [2, 4]];
        let block = |k: usize| {
            let b = Matrix3::from_fn(|r, c| ((3 * k + r + c) as f64).sin());
            b * b.transpose()
        };
        let is_free = [false, true, true, true, true];
        let single = Matrix3::from_fn(|r, c| (r * 3 + c) as f64);
        let (mut batched, mut apart) = (BlockRecorder::new(&is_free), BlockRecorder::new(&is_free));
        for recorder in [&mut batched, &mut apart] {
            recorder.add(4, 3);
            recorder.add(1, 3);
        }
        batched.add_edges(&ends);
        for [a, b] in ends.map(|pair| pair.map(|i| i as usize)) {
            for (r, c) in [(a, a), (b, b), (a, b)] {
                apart.add(r, c);
            }
        }
        let (batched, apart) = (batched.finish().unwrap(), apart.finish().unwrap());
        let (mut x, mut y) = (
            BlockSymmetric::zeros(batched.pattern().clone()),
            BlockSymmetric::zeros(apart.pattern().clone()),
        );
        for _ in 0..2 {
            let (mut one, mut other) = (batched.refill(&mut x), apart.refill(&mut y));
            for refill in [&mut one, &mut other] {
                refill.add(4, 3, &single);
                refill.add(1, 3, &single);
            }
            let rows: Vec<Block> =
                (0..ends.len()).map(|k| std::array::from_fn(|e| block(k)[(e / 3, e % 3)])).collect();
            one.add_edges(&ends[..2], &rows[..2]);
            one.add_edges(&ends[2..], &rows[2..]);
            for (k, [a, b]) in ends.map(|pair| pair.map(|i| i as usize)).into_iter().enumerate() {
                let b_k = block(k);
                for (r, c, m) in [(a, a, b_k), (b, b, b_k), (a, b, -b_k)] {
                    other.add(r, c, &m);
                }
            }
            one.finish().unwrap();
            other.finish().unwrap();
            for (a, b) in x.diagonal().iter().chain(x.upper()).zip(y.diagonal().iter().chain(y.upper())) {
                for (a, b) in a.iter().zip(b) {
                    assert!((a - b).abs() < 1e-14, "{a} and {b}");
                }
            }
        }
        let mut refill = batched.refill(&mut x);
        refill.add_edges(&[[0, 1], [1, 2]], &[[0.0; 9]; 2]);
        let changed =
            AssemblyError::SequenceChanged { index: 1, row: 1, col: 2, recorded_row: 2, recorded_col: 1 };
        assert_eq!(refill.finish(), Err(changed));
        let mut refill = batched.refill(&mut x);
        refill.add_edges(&ends, &[[0.0; 9]; 6]);
        assert_eq!(refill.finish_after(0), Ok(()));
    }

    #[test]
    fn a_particle_that_does_not_exist_is_named() {
        let mut recorder = BlockRecorder::new(&[true, true]);
        recorder.add(0, 5);
        let error = recorder.finish().unwrap_err();
        assert_eq!(error, PatternError::OutOfRange { row: 0, col: 5, block_rows: 2 }.into());
    }
}
