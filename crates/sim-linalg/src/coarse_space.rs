//! A coarse space of affine fields on patches of nodes, and its Galerkin matrix.
//!
//! On every patch the scalar functions 1, x, y, z of the rest coordinates are orthonormalised; each times the three unit
//! vectors gives a basis of affine displacement fields, rotations and stretches among them. The basis is φ ⊗ I₃, so that
//! the coarse matrix consists of 3×3 blocks again: one block row per (patch, function).

mod galerkin;

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::direct::{DirectSolver, FactorError, SparseCholesky};
use crate::lanes::{Lane32, Lane64};
use crate::matrix::BlockSymmetric;
use crate::pattern::BlockPattern;
use crate::team_kernel::Shared;

pub(crate) use galerkin::Galerkin;

/// Functions per patch at most: 1, x, y, z.
pub(crate) const FUNCTIONS: usize = 4;
/// Functions whose part orthogonal to the others is smaller than this, relative to the patch radius, are dropped.
const DROP_TOLERANCE: f64 = 1e-6;
/// Patches are handed to threads in groups of this many.
const PATCHES_PER_GROUP: usize = 16;

#[derive(Debug)]
struct CoarseSystem {
    matrix: BlockSymmetric,
    cholesky: SparseCholesky,
}

#[derive(Debug)]
pub(crate) struct CoarseSpace {
    /// Members of patch g are `members[ptr[g]..ptr[g + 1]]`, in the caller's numbering, by ascending row of the solver.
    ptr: Vec<u32>,
    members: Vec<u32>,
    /// The same in the numbering of the solver.
    rows: Vec<u32>,
    /// Values of the functions, in the order of `members`; unused ones are zero.
    ///
    /// Rounded to f32, which makes them other functions by a ten-millionth, but the same ones everywhere.
    phi: Vec<Lane32>,
    /// The same by node of the caller, for Galerkin products.
    node_phi: Vec<Lane32>,
    /// The same by row of the solver, for prolongation.
    row_phi: Vec<Lane32>,
    row_patch: Vec<u32>,
    /// First coarse block row of each patch.
    first: Vec<u32>,
    galerkin: Galerkin,
    system: Mutex<CoarseSystem>,
    /// P r and P (r − A y), then the coarse solution: three numbers per coarse block row.
    pub(crate) restricted: Shared<[f64; 3]>,
    pub(crate) restricted_r: Shared<[f64; 3]>,
    pub(crate) solution: Shared<[f64; 3]>,
    /// Group boundaries in patches.
    groups: Vec<usize>,
}

impl CoarseSpace {
    /// `patch` assigns the nodes of `pattern` to patches 0..count; `coordinates` are three numbers per node, without them
    /// only constants are used; `order` is the numbering of the solver, new to old.
    pub(crate) fn new(
        pattern: &BlockPattern,
        patch: &[u32],
        count: usize,
        coordinates: Option<&[f64]>,
        order: &[u32],
    ) -> Result<Self, FactorError> {
        let n = patch.len();
        let mut ptr = vec![0_u32; count + 1];
        for &g in patch {
            ptr[g as usize + 1] += 1;
        }
        for g in 0..count {
            ptr[g + 1] += ptr[g];
        }
        let mut next = ptr.clone();
        let (mut members, mut rows) = (vec![0_u32; n], vec![0_u32; n]);
        for (row, &node) in order.iter().enumerate() {
            let slot = &mut next[patch[node as usize] as usize];
            (members[*slot as usize], rows[*slot as usize]) = (node, row as u32);
            *slot += 1;
        }
        let mut phi = Vec::with_capacity(n);
        let mut first = vec![0_u32];
        for g in 0..count {
            let own = &members[ptr[g] as usize..ptr[g + 1] as usize];
            let kept = orthonormal_functions(own, coordinates, &mut phi);
            first.push(first[g] + kept as u32);
        }
        let phi: Vec<Lane32> = phi.iter().map(|f| f.map(|v| v as f32)).collect();
        let mut node_phi = vec![[0.0; 4]; n];
        let mut row_phi = vec![[0.0; 4]; n];
        for ((&node, &row), f) in members.iter().zip(&rows).zip(&phi) {
            (node_phi[node as usize], row_phi[row as usize]) = (*f, *f);
        }
        let groups: Vec<usize> =
            (0..count).step_by(PATCHES_PER_GROUP).chain(std::iter::once(count)).collect();
        let galerkin = Galerkin::new(pattern, patch, &ptr, &members, &first, &groups)?;
        let matrix = BlockSymmetric::zeros(galerkin.pattern().clone());
        let cholesky = SparseCholesky::new(galerkin.pattern())?;
        let bounds: Vec<usize> = groups.iter().map(|&g| first[g] as usize).collect();
        let vector = || Shared::new([0.0; 3], &bounds);
        Ok(Self {
            row_patch: order.iter().map(|&node| patch[node as usize]).collect(),
            restricted: vector(),
            restricted_r: vector(),
            solution: vector(),
            ptr,
            members,
            rows,
            phi,
            node_phi,
            row_phi,
            first,
            galerkin,
            system: Mutex::new(CoarseSystem { matrix, cholesky }),
            groups,
        })
    }

    pub(crate) fn patches(&self) -> usize {
        self.first.len() - 1
    }

    /// Number of coarse unknowns.
    pub(crate) fn dim(&self) -> usize {
        3 * self.first[self.patches()] as usize
    }

    pub(crate) fn groups(&self) -> usize {
        self.groups.len() - 1
    }

    fn functions(&self, g: usize) -> usize {
        (self.first[g + 1] - self.first[g]) as usize
    }

    /// Galerkin products of the patches of one group.
    pub(crate) fn galerkin_group(&self, matrix: &BlockSymmetric, group: usize) {
        self.galerkin.compute_group(self, matrix, group);
    }

    fn system(&self) -> MutexGuard<'_, CoarseSystem> {
        self.system.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sums the one-sided products into the coarse matrix and factors it; by one thread.
    pub(crate) fn factor(&self) -> Result<(), FactorError> {
        let system = &mut *self.system();
        self.galerkin.finish(&mut system.matrix);
        system.cholesky.factor(&system.matrix)
    }

    /// Restricts r, and r − `scale` · w if w is given, on one group of patches.
    pub(crate) fn restrict_group(&self, r: &[Lane64], w: Option<(&[Lane64], f64)>, group: usize) {
        let mut out = self.restricted.write(group..group + 1);
        let mut out_r = self.restricted_r.write(group..group + 1);
        let base = self.first[self.groups[group]] as usize;
        for g in self.groups[group]..self.groups[group + 1] {
            let mut sum = [[0.0; 3]; FUNCTIONS];
            let mut sum_r = [[0.0; 3]; FUNCTIONS];
            let range = self.ptr[g] as usize..self.ptr[g + 1] as usize;
            for (&i, f) in self.rows[range.clone()].iter().zip(&self.phi[range]) {
                let ri = r[i as usize];
                let di = w.map_or(ri, |(w, scale)| {
                    let wi = w[i as usize];
                    [ri[0] - scale * wi[0], ri[1] - scale * wi[1], ri[2] - scale * wi[2], 0.0]
                });
                for a in 0..FUNCTIONS {
                    for c in 0..3 {
                        sum[a][c] += f64::from(f[a]) * di[c];
                        sum_r[a][c] += f64::from(f[a]) * ri[c];
                    }
                }
            }
            let at = self.first[g] as usize - base;
            let m = self.functions(g);
            out[at..at + m].copy_from_slice(&sum[..m]);
            out_r[at..at + m].copy_from_slice(&sum_r[..m]);
        }
    }

    /// The coarse solve, by one thread; returns (P r) · e for the solution e.
    pub(crate) fn solve(&self) -> f64 {
        let rhs = self.restricted.read_all();
        let rhs_r = self.restricted_r.read_all();
        let mut solution = self.solution.write(0..self.groups());
        solution.copy_from_slice(&rhs);
        self.system().cholesky.solve_in_place(solution.as_flattened_mut());
        crate::reduce::dot(solution.as_flattened(), rhs_r.as_flattened())
    }

    /// The coarse field at a row of the solver.
    #[inline(always)]
    pub(crate) fn prolong(&self, solution: &[[f64; 3]], row: usize) -> [f64; 3] {
        let g = self.row_patch[row] as usize;
        let f = &self.row_phi[row];
        let mut e = [0.0; 3];
        for (a, s) in solution[self.first[g] as usize..self.first[g + 1] as usize].iter().enumerate() {
            for c in 0..3 {
                e[c] += f64::from(f[a]) * s[c];
            }
        }
        e
    }
}

/// Orthonormalises 1, x, y, z on the nodes of a patch with pivoting, appends their values and returns how many survive.
fn orthonormal_functions(nodes: &[u32], coordinates: Option<&[f64]>, phi: &mut Vec<Lane64>) -> usize {
    let m = nodes.len();
    let norm = |f: &[f64]| f.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut basis: Vec<Vec<f64>> = vec![vec![1.0 / (m as f64).sqrt(); m]];
    if let Some(coordinates) = coordinates {
        let mut rest: Vec<Vec<f64>> = (0..3)
            .map(|k| {
                let values = nodes.iter().map(|&i| coordinates[3 * i as usize + k]);
                let mean = values.clone().sum::<f64>() / m as f64;
                values.map(|v| v - mean).collect()
            })
            .collect();
        let radius = rest.iter().map(|f| norm(f).powi(2)).sum::<f64>().sqrt();
        while !rest.is_empty() && basis.len() < m {
            let pivot =
                (0..rest.len()).max_by(|&a, &b| norm(&rest[a]).total_cmp(&norm(&rest[b]))).unwrap_or(0);
            let mut f = rest.swap_remove(pivot);
            // Twice is enough (Kahan): orthogonal to rounding even after cancellation.
            for _ in 0..2 {
                for b in &basis {
                    let dot: f64 = f.iter().zip(b).map(|(x, y)| x * y).sum();
                    f.iter_mut().zip(b).for_each(|(x, y)| *x -= dot * y);
                }
            }
            let length = norm(&f);
            if length <= DROP_TOLERANCE * radius || length == 0.0 {
                break;
            }
            for v in &mut f {
                *v /= length;
            }
            for g in &mut rest {
                let dot: f64 = f.iter().zip(g.iter()).map(|(x, y)| x * y).sum();
                g.iter_mut().zip(&f).for_each(|(x, y)| *x -= dot * y);
            }
            basis.push(f);
        }
    }
    phi.extend((0..m).map(|k| std::array::from_fn(|a| basis.get(a).map_or(0.0, |f| f[k]))));
    basis.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_orthonormal_and_flat_directions_are_dropped() {
        let nodes: Vec<u32> = (0..12).collect();
        let place = |lift: f64| -> Vec<f64> {
            (0..12).flat_map(|k| [f64::from(k % 4), f64::from(k / 4), lift * f64::from(k * k % 7)]).collect()
        };
        for (lift, expected) in [(0.0, 3), (0.3, 4), (1e-9, 3)] {
            let mut phi = Vec::new();
            let kept = orthonormal_functions(&nodes, Some(&place(lift)), &mut phi);
            assert_eq!(kept, expected);
            for a in 0..FUNCTIONS {
                for b in 0..FUNCTIONS {
                    let dot: f64 = phi.iter().map(|f| f[a] * f[b]).sum();
                    let identity = f64::from(u8::from(a == b && a < kept));
                    assert!((dot - identity).abs() < 1e-14);
                }
            }
        }
        let mut phi = Vec::new();
        assert_eq!(orthonormal_functions(&nodes[..2], Some(&place(0.3)), &mut phi), 2);
        assert_eq!(orthonormal_functions(&nodes, None, &mut phi), 1);
    }
}
