//! The pass that refills a matrix.

use nalgebra::Matrix3;

use super::{AssemblyError, FIRST, PairSlot, SKIPPED, TRANSPOSED};
use crate::block3::Block;
use crate::lanes::{Kernel, Quad, vectorized};

/// A pass that refills a matrix; contributions must come in the recorded order.
#[derive(Debug)]
pub struct BlockRefill<'a> {
    pub(super) keys: &'a [[u32; 2]],
    pub(super) slots: &'a [u32],
    pub(super) pairs: &'a [[u32; 2]],
    pub(super) pair_slots: &'a [PairSlot],
    pub(super) unknowns: usize,
    pub(super) diagonal: &'a mut [Block],
    pub(super) upper: &'a mut [Block],
    pub(super) next: usize,
    pub(super) next_pair: usize,
    pub(super) error: Option<AssemblyError>,
}

impl BlockRefill<'_> {
    /// Adds `block` to block (`row`, `col`), both particle indices.
    #[inline]
    pub fn add(&mut self, row: usize, col: usize, block: &Matrix3<f64>) {
        self.add_scaled(row, col, 1.0, block);
    }

    /// Adds `scale * block` to block (`row`, `col`), both particle indices.
    #[inline]
    pub fn add_scaled(&mut self, row: usize, col: usize, scale: f64, block: &Matrix3<f64>) {
        if let Some(slot) = self.next_slot(row, col) {
            self.write(slot, scale, block);
        }
    }

    /// Adds a two-particle stencil: `scale * block` to (a, a) and (b, b), and `-scale * block` to (a, b), for a symmetric
    /// block. The block of a force between two particles has this form; one call replaces three.
    #[inline]
    pub fn add_edge(&mut self, a: usize, b: usize, scale: f64, block: &Matrix3<f64>) {
        let narrow = |i: usize| u32::try_from(i).unwrap_or(u32::MAX);
        let block = block * scale;
        let rows: Block = std::array::from_fn(|k| block[(k / 3, k % 3)]);
        self.add_edges(&[[narrow(a), narrow(b)]], &[rows]);
    }

    /// Adds many two-particle stencils, [`BlockRefill::add_edge`] with scale 1 for each pair and block (row by row) in order.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn add_edges(&mut self, ends: &[[u32; 2]], blocks: &[[f64; 9]]) {
        assert_eq!(ends.len(), blocks.len(), "{} pairs with {} blocks", ends.len(), blocks.len());
        let start = self.next_pair;
        self.next_pair += ends.len();
        let Some(recorded) = self.pairs.get(start..self.next_pair) else { return };
        if recorded != ends {
            let k = recorded.iter().zip(ends).position(|(x, y)| x != y).unwrap_or(0);
            self.note_change(start + k, ends[k][0] as usize, ends[k][1] as usize, recorded[k]);
            return;
        }
        let slots = &self.pair_slots[start..self.next_pair];
        vectorized(ScatterPairs { slots, blocks, diagonal: self.diagonal, upper: self.upper });
    }

    #[inline]
    fn next_slot(&mut self, row: usize, col: usize) -> Option<u32> {
        let index = self.next;
        self.next += 1;
        match self.keys.get(index) {
            Some(key) if key[0] as usize == row && key[1] as usize == col => Some(self.slots[index]),
            Some(&key) => {
                self.note_change(index, row, col, key);
                None
            }
            None => None,
        }
    }

    #[cold]
    fn note_change(&mut self, index: usize, row: usize, col: usize, key: [u32; 2]) {
        let (recorded_row, recorded_col) = (key[0] as usize, key[1] as usize);
        self.error.get_or_insert(AssemblyError::SequenceChanged {
            index,
            row,
            col,
            recorded_row,
            recorded_col,
        });
    }

    #[inline]
    fn write(&mut self, slot: u32, scale: f64, block: &Matrix3<f64>) {
        if slot == SKIPPED {
            return;
        }
        let index = (slot & !TRANSPOSED) as usize;
        let target = match index.checked_sub(self.unknowns) {
            None => &mut self.diagonal[index],
            Some(k) => &mut self.upper[k],
        };
        // nalgebra stores columns, we store rows: the transposed case is the plain copy.
        let columns: &[f64] = block.as_slice();
        if slot & TRANSPOSED == 0 {
            for r in 0..3 {
                for c in 0..3 {
                    target[3 * r + c] += scale * columns[3 * c + r];
                }
            }
        } else {
            for (t, v) in target.iter_mut().zip(columns) {
                *t += scale * v;
            }
        }
    }

    /// Ends the pass.
    ///
    /// # Errors
    /// The first contribution that differs from the recorded sequence, or a different number of contributions. The values
    /// of the matrix are then unusable.
    pub fn finish(self) -> Result<(), AssemblyError> {
        let singles = self.keys.len();
        self.finish_after(singles)
    }

    /// Ends a pass that leaves out the contributions that were recorded by [`super::BlockRecorder::add`] after the first `singles`.
    ///
    /// # Errors
    /// As [`BlockRefill::finish`].
    pub fn finish_after(self, singles: usize) -> Result<(), AssemblyError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if self.next != singles || self.next_pair != self.pairs.len() {
            let (count, recorded) = (self.next + self.next_pair, singles + self.pairs.len());
            return Err(AssemblyError::CountChanged { count, recorded });
        }
        Ok(())
    }
}

/// Pairs whose blocks stay in the first cache level.
const CHUNK: usize = 128;

/// Adds the blocks of pairs to both diagonal blocks, and subtracts them from the one between.
struct ScatterPairs<'a> {
    slots: &'a [PairSlot],
    blocks: &'a [Block],
    diagonal: &'a mut [Block],
    upper: &'a mut [Block],
}

impl Kernel for ScatterPairs<'_> {
    type Output = ();

    #[inline(always)]
    fn run<Q: Quad>(self, _quad: Q) {
        let Self { slots, blocks, diagonal, upper } = self;
        // One end after the other: pairs along a line meet in a block, and adding to it at once would wait for the store before.
        for (chunk, blocks) in slots.chunks(CHUNK).zip(blocks.chunks(CHUNK)) {
            for side in 0..2 {
                for (slot, block) in chunk.iter().zip(blocks) {
                    if let Some(target) = diagonal.get_mut(slot.diagonal[side] as usize) {
                        for k in 0..9 {
                            target[k] += block[k];
                        }
                    }
                }
            }
            for (slot, block) in chunk.iter().zip(blocks) {
                if let Some(target) = upper.get_mut((slot.upper & !FIRST) as usize) {
                    if slot.upper & FIRST == 0 {
                        for k in 0..9 {
                            target[k] -= block[k];
                        }
                    } else {
                        *target = block.map(|v| -v);
                    }
                }
            }
        }
    }
}
