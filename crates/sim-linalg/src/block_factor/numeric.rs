//! The numeric phase: one row at a time, all products listed beforehand.

use std::ops::Range;

use crate::block_factor::symbolic::{FILL, FactorPattern};
use crate::block3::{Block, inverse_positive_definite};
use crate::lanes::{Kernel, Lane64, PAD, Quad, block12, vectorized};
use crate::matrix::BlockSymmetric;
use crate::ordering::{ChunkedOrder, TRANSPOSED};
use crate::team_kernel::Shared;

/// A pivot block that is not positive definite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Breakdown {
    /// Row in the numbering of the factor.
    pub(crate) row: usize,
}

/// The values of the factor.
#[derive(Debug)]
pub(crate) struct BlockFactor {
    /// Blocks of L, row by row, nine numbers each, in f32; a pad at the end of each part.
    pub(crate) lower: Shared<f32>,
    /// Inverse blocks of D times the scale, padded to twelve numbers.
    pub(crate) inverse: Shared<[f32; 12]>,
    /// Transposed blocks of L and the inverse blocks in f64: a rounded L inside the factorisation would perturb the
    /// matrix by the f32 precision of its stiffest entries, which can exceed its smallest eigenvalue. Of L only the rows
    /// that are still needed: a window per part, and what the separators need of the interiors.
    window: Shared<f64>,
    kept: Shared<f64>,
    inverse64: Shared<Block>,
}

/// What the numeric phase does to the diagonal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tuning {
    /// Relative addition to the diagonal, see [`Tuning::shifted`].
    pub(crate) shift: f64,
    /// Power of two near the mean diagonal of the matrix; keeps the inverse blocks inside the range of f32.
    pub(crate) scale: f64,
}

impl Tuning {
    /// The diagonal block with the shift: `(1 + shift)` times the block, which leaves its weak directions weak. A block that needs more
    /// than itself is not positive definite, and no multiple of it will be: then `shift` times its diagonal entries are added.
    #[inline(always)]
    pub(crate) fn shifted(&self, mut d: Block) -> Block {
        if self.shift < 1.0 {
            for v in &mut d {
                *v *= 1.0 + self.shift;
            }
        } else {
            for k in [0, 4, 8] {
                d[k] *= 1.0 + self.shift;
            }
        }
        d
    }
}

impl BlockFactor {
    pub(crate) fn new(pattern: &FactorPattern, chunked: &ChunkedOrder) -> Self {
        let bounds = padded_bounds(pattern, chunked);
        Self {
            lower: Shared::new(0.0, &bounds),
            inverse: Shared::new([0.0; 12], &chunked.bounds),
            window: Shared::new(0.0, &pattern.window_bounds),
            kept: Shared::new(0.0, &pattern.kept_bounds),
            inverse64: Shared::new([0.0; 9], &chunked.bounds),
        }
    }

    /// Factors one part; the interiors must be done before the separators.
    pub(crate) fn factor_part(
        &self,
        pattern: &FactorPattern,
        chunked: &ChunkedOrder,
        matrix: &BlockSymmetric,
        tuning: Tuning,
        part: usize,
    ) -> Result<(), Breakdown> {
        let interior = part < chunked.interiors;
        let before_parts = if interior { 0..0 } else { 0..chunked.interiors };
        let own_part = if interior { part..part + 1 } else { 0..0 };
        let rows = chunked.part(part);
        let work = PartFactor {
            first_entry: pattern.ptr[rows.start] as usize,
            rows,
            pattern,
            matrix,
            order: &chunked.order,
            tuning,
            before: &self.kept.read(before_parts.clone()),
            before_inverse: &self.inverse64.read(before_parts),
            mask: pattern.window_mask[part],
            window: &mut self.window.write(part..part + 1),
            kept: &mut self.kept.write(own_part),
            kept_start: if interior { pattern.kept_bounds[part] } else { 0 },
            lower: &mut self.lower.write(part..part + 1),
            inverse64: &mut self.inverse64.write(part..part + 1),
            inverse: &mut self.inverse.write(part..part + 1),
            row: &mut vec![[[0.0; 4]; 3]; pattern.longest_row],
        };
        vectorized(work)
    }
}

/// Part boundaries of the scalar arrays, each part with its own pad.
fn padded_bounds(pattern: &FactorPattern, chunked: &ChunkedOrder) -> Vec<usize> {
    chunked.bounds.iter().enumerate().map(|(part, &b)| 9 * pattern.ptr[b] as usize + PAD * part).collect()
}

/// Rows of a block in lanes.
type LaneBlock = [Lane64; 3];

/// The factorisation of one part.
struct PartFactor<'a> {
    rows: Range<usize>,
    first_entry: usize,
    pattern: &'a FactorPattern,
    matrix: &'a BlockSymmetric,
    /// The caller's row of each row.
    order: &'a [u32],
    tuning: Tuning,
    /// What is kept of the interiors, if the part is a separator group.
    before: &'a [f64],
    before_inverse: &'a [Block],
    mask: usize,
    window: &'a mut [f64],
    /// What an interior keeps for the separators, and where that starts.
    kept: &'a mut [f64],
    kept_start: usize,
    lower: &'a mut [f32],
    inverse64: &'a mut [Block],
    inverse: &'a mut [[f32; 12]],
    /// U = L D of the row at hand.
    row: &'a mut [LaneBlock],
}

impl Kernel for PartFactor<'_> {
    type Output = Result<(), Breakdown>;

    #[inline(always)]
    fn run<Q: Quad>(mut self, quad: Q) -> Result<(), Breakdown> {
        for i in self.rows.clone() {
            let mut d = self.shifted_diagonal(i);
            let begin = self.pattern.ptr[i] as usize;
            for p in begin..self.pattern.ptr[i + 1] as usize {
                let u = self.updated_entry(quad, p);
                self.row[p - begin] = u;
                let l = times_symmetric(&u, self.inverse_of(self.pattern.col[p] as usize));
                subtract_outer(&mut d, &u, &l);
                self.store(p, &l);
            }
            self.keep(i);
            let inverse = inverse_positive_definite(&d).ok_or(Breakdown { row: i })?;
            let local = i - self.rows.start;
            self.inverse64[local] = inverse;
            for (target, v) in self.inverse[local].iter_mut().zip(inverse) {
                *target = (v * self.tuning.scale) as f32;
            }
        }
        Ok(())
    }
}

impl PartFactor<'_> {
    #[inline(always)]
    fn shifted_diagonal(&self, i: usize) -> Block {
        self.tuning.shifted(self.matrix.diagonal[self.order[i] as usize])
    }

    /// A_ij − Σ U_ik L_jkᵀ.
    #[inline(always)]
    fn updated_entry<Q: Quad>(&self, quad: Q, p: usize) -> LaneBlock {
        let pattern = self.pattern;
        let mut u = load(&self.matrix.upper, pattern.source[p]).map(|row| quad.load(row));
        let finished = if (pattern.col[p] as usize) < self.rows.start { self.before } else { &*self.window };
        let updates = pattern.update_ptr[p] as usize..pattern.update_ptr[p + 1] as usize;
        for (&local, &other) in
            pattern.update_local[updates.clone()].iter().zip(&pattern.update_other[updates])
        {
            let l = block12(finished, other as usize);
            let (l0, l1, l2) = (quad.load_at(l, 0), quad.load_at(l, 3), quad.load_at(l, 6));
            for (u, x) in u.iter_mut().zip(&self.row[local as usize]) {
                let first = quad.add(quad.mul(quad.splat(x[0]), l0), quad.mul(quad.splat(x[1]), l1));
                *u = quad.sub(*u, quad.add(first, quad.mul(quad.splat(x[2]), l2)));
            }
        }
        u.map(|row| quad.store(row))
    }

    #[inline(always)]
    fn inverse_of(&self, j: usize) -> &Block {
        if j >= self.rows.start { &self.inverse64[j - self.rows.start] } else { &self.before_inverse[j] }
    }

    #[inline(always)]
    fn store(&mut self, p: usize, l: &Block) {
        let local = p - self.first_entry;
        let lower = &mut self.lower[9 * local..9 * local + 9];
        let window = &mut self.window[9 * (local & self.mask)..9 * (local & self.mask) + 9];
        for r in 0..3 {
            for c in 0..3 {
                window[3 * c + r] = l[3 * r + c];
                lower[3 * r + c] = l[3 * r + c] as f32;
            }
        }
    }

    /// Copies a row that the separators will need, while it is in the window.
    #[inline(always)]
    fn keep(&mut self, i: usize) {
        if self.pattern.kept[i] == FILL || self.kept.is_empty() {
            return;
        }
        let at = self.pattern.kept[i] as usize - self.kept_start;
        let entries = self.pattern.ptr[i] as usize..self.pattern.ptr[i + 1] as usize;
        for (block, p) in self.kept[at..].chunks_exact_mut(9).zip(entries) {
            let from = 9 * ((p - self.first_entry) & self.mask);
            block.copy_from_slice(&self.window[from..from + 9]);
        }
    }
}

/// A block of the matrix, rows padded to four lanes.
#[inline(always)]
fn load(upper: &[Block], source: u32) -> LaneBlock {
    if source == FILL {
        return [[0.0; 4]; 3];
    }
    let b = &upper[(source & !TRANSPOSED) as usize];
    if source & TRANSPOSED == 0 {
        [[b[0], b[1], b[2], 0.0], [b[3], b[4], b[5], 0.0], [b[6], b[7], b[8], 0.0]]
    } else {
        [[b[0], b[3], b[6], 0.0], [b[1], b[4], b[7], 0.0], [b[2], b[5], b[8], 0.0]]
    }
}

#[inline(always)]
fn times_symmetric(u: &LaneBlock, inverse: &Block) -> Block {
    let mut l = [0.0; 9];
    for r in 0..3 {
        for c in 0..3 {
            l[3 * r + c] = u[r][0] * inverse[c] + u[r][1] * inverse[3 + c] + u[r][2] * inverse[6 + c];
        }
    }
    l
}

/// d −= u lᵀ, keeping d symmetric to the bit.
#[inline(always)]
fn subtract_outer(d: &mut Block, u: &LaneBlock, l: &Block) {
    for r in 0..3 {
        for c in r..3 {
            d[3 * r + c] -= u[r][0] * l[3 * c] + u[r][1] * l[3 * c + 1] + u[r][2] * l[3 * c + 2];
            d[3 * c + r] = d[3 * r + c];
        }
    }
}
