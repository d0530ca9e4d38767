//! The Galerkin matrix Pᵀ A P with every position known beforehand.
//!
//! Each patch G owns the one-sided products of its rows with the upper entries of A, E(G → H) = Σ φ φᵀ ⊗ A over i in G and
//! j > i in H, so that no two threads write the same place; E(G, H) = E(G → H) + E(H → G)ᵀ. A block contributes
//! (φ_i φ_jᵀ) ⊗ A_ij: per row the sums W = Σ_j φ_j A_ij are formed for each neighboring patch, then one outer product.

use std::sync::Arc;

use crate::block3::{self, Block};
use crate::coarse_space::{CoarseSpace, FUNCTIONS};
use crate::direct::FactorError;
use crate::lanes::{Kernel, Quad, vectorized};
use crate::matrix::BlockSymmetric;
use crate::ordering::TRANSPOSED;
use crate::pattern::BlockPattern;
use crate::team_kernel::Shared;

/// W of one row and one neighboring patch, per function.
type RowSum = [Block; FUNCTIONS];

#[derive(Debug)]
pub(crate) struct Galerkin {
    pattern: Arc<BlockPattern>,
    /// Targets of node i are `target_ptr[i]..target_ptr[i + 1]`: one per patch that its upper entries reach, its own first.
    target_ptr: Vec<u32>,
    /// First block of the one-sided product of each target.
    target: Vec<u32>,
    /// Number of functions of the patch behind each target.
    target_functions: Vec<u8>,
    /// For every upper entry of A, which of its row's targets it belongs to.
    entry_target: Vec<u8>,
    /// One-sided products, 3×3 blocks, functions of G by functions of H.
    products: Shared<Block>,
    /// Where each product goes in the coarse matrix: a diagonal block, or an upper block counted from the last of those.
    slots: Vec<u32>,
    fine_row_ptr: Vec<u32>,
    fine_col: Vec<u32>,
}

impl Galerkin {
    pub(crate) fn new(
        a: &BlockPattern,
        patch: &[u32],
        ptr: &[u32],
        members: &[u32],
        first: &[u32],
        groups: &[usize],
    ) -> Result<Self, FactorError> {
        let functions = |g: u32| (first[g as usize + 1] - first[g as usize]) as usize;
        let count = first.len() - 1;
        let (mut targets, mut pieces, mut bounds) = (vec![Vec::new(); a.block_rows()], Vec::new(), vec![0]);
        let mut entry_target = vec![0_u8; a.upper_len()];
        let mut blocks = 0_usize;
        // Product of the current patch with patch h, if it has been met.
        let mut met: Vec<(u32, u32)> = vec![(u32::MAX, 0); count];
        let mut next_group = 1;
        for g in 0..count {
            for &i in &members[ptr[g] as usize..ptr[g + 1] as usize] {
                let mut row: Vec<u32> = vec![g as u32];
                for k in a.range(i as usize) {
                    let h = patch[a.columns()[k] as usize];
                    let at = row.iter().position(|&t| t == h).unwrap_or_else(|| {
                        row.push(h);
                        row.len() - 1
                    });
                    entry_target[k] = u8::try_from(at).map_err(|_| FactorError::Symbolic {
                        dim: a.dim(),
                        reason: format!("row {i} touches more than 255 patches"),
                    })?;
                }
                for &h in &row {
                    if met[h as usize].0 != g as u32 {
                        met[h as usize] = (g as u32, blocks as u32);
                        pieces.push([g as u32, h, blocks as u32]);
                        blocks += functions(g as u32) * functions(h);
                    }
                }
                targets[i as usize] = row.iter().map(|&h| (met[h as usize].1, functions(h) as u8)).collect();
            }
            if groups[next_group] == g + 1 {
                bounds.push(blocks);
                next_group += 1;
            }
        }
        let failed = |reason: String| FactorError::Symbolic { dim: a.dim(), reason };
        if blocks >= TRANSPOSED as usize {
            return Err(failed(format!("{blocks} coarse products do not fit 31-bit indices")));
        }
        let mut edges = Vec::new();
        for &[g, h, _] in &pieces {
            for p in first[g as usize]..first[g as usize + 1] {
                edges.extend((first[h as usize]..first[h as usize + 1]).map(|q| [p, q]));
            }
        }
        let pattern =
            BlockPattern::from_edges(first[count] as usize, &edges).map_err(|e| failed(e.to_string()))?;
        let n = pattern.block_rows();
        let slot = |[p, q]: [u32; 2]| {
            let upper = pattern.position(p.min(q) as usize, p.max(q) as usize).map_or(p, |k| (k + n) as u32);
            if p > q { upper | TRANSPOSED } else { upper }
        };
        let slots = edges.iter().copied().map(slot).collect();
        let mut target_ptr = vec![0_u32];
        for row in &targets {
            target_ptr.push(target_ptr[target_ptr.len() - 1] + row.len() as u32);
        }
        let flat = || targets.iter().flatten();
        Ok(Self {
            pattern: Arc::new(pattern),
            target: flat().map(|t: &(u32, u8)| t.0).collect(),
            target_functions: flat().map(|t| t.1).collect(),
            target_ptr,
            entry_target,
            products: Shared::new([0.0; 9], &bounds),
            slots,
            fine_row_ptr: (0..=a.block_rows())
                .map(|i| if i == 0 { 0 } else { a.range(i - 1).end as u32 })
                .collect(),
            fine_col: a.columns().to_vec(),
        })
    }

    pub(crate) fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }

    /// One-sided products of the patches of one group.
    pub(crate) fn compute_group(&self, space: &CoarseSpace, matrix: &BlockSymmetric, group: usize) {
        let mut products = self.products.write(group..group + 1);
        let base = self.products.part_range(group).start;
        vectorized(GroupProducts { galerkin: self, space, matrix, group, base, products: &mut products });
    }

    /// Adds the one-sided products and their mirrors into the coarse matrix.
    pub(crate) fn finish(&self, coarse: &mut BlockSymmetric) {
        coarse.fill_zero();
        let n = coarse.block_rows();
        let products = self.products.read_all();
        for (block, &slot) in products.iter().zip(&self.slots) {
            let index = (slot & !TRANSPOSED) as usize;
            if index < n {
                let target = &mut coarse.diagonal[index];
                for (t, (a, b)) in target.iter_mut().zip(block.iter().zip(block3::transpose(block))) {
                    *t += a + b;
                }
            } else {
                let source = if slot & TRANSPOSED == 0 { *block } else { block3::transpose(block) };
                coarse.upper[index - n].iter_mut().zip(source).for_each(|(t, v)| *t += v);
            }
        }
    }
}

/// The one-sided products of a group of patches.
struct GroupProducts<'a> {
    galerkin: &'a Galerkin,
    space: &'a CoarseSpace,
    matrix: &'a BlockSymmetric,
    group: usize,
    /// First block of the group.
    base: usize,
    products: &'a mut [Block],
}

impl Kernel for GroupProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn run<Q: Quad>(self, _quad: Q) {
        let Self { galerkin, space, matrix, group, base, products } = self;
        products.fill([0.0; 9]);
        let mut sums: Vec<RowSum> = Vec::new();
        for g in space.groups[group]..space.groups[group + 1] {
            let functions = space.functions(g);
            for &i in &space.members[space.ptr[g] as usize..space.ptr[g + 1] as usize] {
                let i = i as usize;
                galerkin.row_sums(space, matrix, i, functions, &mut sums);
                let targets = galerkin.target_ptr[i] as usize..galerkin.target_ptr[i + 1] as usize;
                let phi = &space.node_phi[i];
                for (sum, t) in sums.iter().zip(targets) {
                    let columns = galerkin.target_functions[t] as usize;
                    let start = galerkin.target[t] as usize - base;
                    let blocks = &mut products[start..start + functions * columns];
                    for (row, f) in blocks.chunks_exact_mut(columns).zip(phi) {
                        for (block, w) in row.iter_mut().zip(sum) {
                            add_scaled(block, f64::from(*f), w);
                        }
                    }
                }
            }
        }
    }
}

impl Galerkin {
    /// W = Σ_j φ_j A_ij for each neighboring patch; half of the diagonal block, since products are added to their mirror.
    #[inline(always)]
    fn row_sums(
        &self,
        space: &CoarseSpace,
        matrix: &BlockSymmetric,
        i: usize,
        functions: usize,
        sums: &mut Vec<RowSum>,
    ) {
        sums.clear();
        sums.resize((self.target_ptr[i + 1] - self.target_ptr[i]) as usize, [[0.0; 9]; FUNCTIONS]);
        let first_target = self.target_ptr[i] as usize;
        for (w, f) in sums[0].iter_mut().zip(&space.node_phi[i]).take(functions) {
            add_scaled(w, 0.5 * f64::from(*f), &matrix.diagonal[i]);
        }
        for k in self.fine_row_ptr[i] as usize..self.fine_row_ptr[i + 1] as usize {
            let t = self.entry_target[k] as usize;
            let count = self.target_functions[first_target + t] as usize;
            let phi = &space.node_phi[self.fine_col[k] as usize];
            for (w, f) in sums[t].iter_mut().zip(phi).take(count) {
                add_scaled(w, f64::from(*f), &matrix.upper[k]);
            }
        }
    }
}

/// target += factor · source.
#[inline(always)]
fn add_scaled(target: &mut Block, factor: f64, source: &Block) {
    for (t, s) in target.iter_mut().zip(source) {
        *t += factor * s;
    }
}
