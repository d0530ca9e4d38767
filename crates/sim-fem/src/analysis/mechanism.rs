//! Finds the motions that meet no resistance and says which they are.

use crate::factor::{FactorKind, Factorization};
use crate::matrix::{SymmetricMatrix, dot, norm};
use crate::structure::{MechanismMode, MechanismReport, Structure, StructureError};
use nalgebra::DMatrix;

/// Eigenvalues below this share of the largest one are rounding: assembly leaves about 1e-16 of a true mechanism.
const NOTHING: f64 = 1e-14;

/// Added to the diagonal so that the singular matrix can be factored; far above rounding, far below any stiffness.
const SHIFT: f64 = 1e-13;

/// Errors when the matrix has eigenvalues that are zero up to rounding.
///
/// The matrix is scaled to a unit diagonal first, so that neither units nor the mix of translations and rotations matter.
pub(super) fn check(structure: &Structure, matrix: &SymmetricMatrix) -> Result<(), StructureError> {
    let scaled = Scaled::new(matrix);
    let Some(report) = scaled.search(structure) else { return Ok(()) };
    if let Some(loose) = loose_part(structure) {
        return Err(loose);
    }
    Err(StructureError::Mechanism(report))
}

/// Free motions that are looked for at most; a structure with more of them is no structure yet.
const MOST: usize = 32;

struct Scaled {
    matrix: SymmetricMatrix,
    /// Square roots of the inverse diagonal; 1 for a degree of freedom without any stiffness.
    scale: Vec<f64>,
    largest: f64,
}

impl Scaled {
    fn new(matrix: &SymmetricMatrix) -> Self {
        let diagonal = matrix.diagonal();
        let scale: Vec<f64> =
            diagonal.iter().map(|&d| if d == 0.0 { 1.0 } else { 1.0 / d.abs().sqrt() }).collect();
        let mut scaled = matrix.clone();
        let pattern = scaled.pattern().clone();
        for j in 0..pattern.dim() {
            for place in pattern.column(j) {
                scaled.values[place] *= scale[j] * scale[pattern.row_idx[place] as usize];
            }
        }
        let largest = largest_eigenvalue(&scaled);
        Self { matrix: scaled, scale, largest }
    }

    fn search(&self, structure: &Structure) -> Option<MechanismReport> {
        let n = self.matrix.dim();
        let mut shifted = self.matrix.clone();
        let pattern = shifted.pattern().clone();
        for j in 0..n {
            shifted.values[pattern.column(j).start] += SHIFT * self.largest;
        }
        let mut factor = Factorization::new(&pattern, FactorKind::Auto).ok()?;
        factor.refactor(&shifted).ok()?;
        let mut width = 8.min(n);
        loop {
            let (values, vectors) = self.inverse_iteration(&mut factor, width);
            let free = values.iter().filter(|value| value.abs() < NOTHING * self.largest).count();
            if free == 0 {
                return None;
            }
            if free < width || width == n || width >= MOST {
                let complete = free < width || width == n;
                return Some(self.report(structure, &values[..free], &vectors[..free], complete));
            }
            width = (4 * width).min(n);
        }
    }

    /// Eigenvalues of smallest size and their vectors, by a few rounds of block inverse iteration.
    fn inverse_iteration(&self, factor: &mut Factorization, width: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
        let n = self.matrix.dim();
        let mut block: Vec<Vec<f64>> =
            (0..width).map(|k| (0..n).map(|i| wave(i * width + k)).collect()).collect();
        let mut values = vec![0.0; width];
        for _ in 0..5 {
            for vector in &mut block {
                factor.solve(vector);
            }
            orthonormalize(&mut block);
            let products: Vec<Vec<f64>> = block
                .iter()
                .map(|vector| {
                    let mut product = vec![0.0; n];
                    self.matrix.multiply_add(1.0, vector, &mut product);
                    product
                })
                .collect();
            let small = DMatrix::from_fn(width, width, |i, j| dot(&block[i], &products[j]));
            let eigen = (0.5 * (&small + small.transpose())).symmetric_eigen();
            let mut order: Vec<usize> = (0..width).collect();
            order.sort_by(|&a, &b| eigen.eigenvalues[a].abs().total_cmp(&eigen.eigenvalues[b].abs()));
            values = order.iter().map(|&k| eigen.eigenvalues[k]).collect();
            block = order
                .iter()
                .map(|&k| {
                    let mut vector = vec![0.0; n];
                    for (i, old) in block.iter().enumerate() {
                        let weight = eigen.eigenvectors[(i, k)];
                        vector.iter_mut().zip(old).for_each(|(v, o)| *v += weight * o);
                    }
                    vector
                })
                .collect();
        }
        (values, block)
    }

    /// Turns scaled vectors into motions, each with a leading degree of freedom that the others leave at rest.
    fn report(
        &self,
        structure: &Structure,
        values: &[f64],
        vectors: &[Vec<f64>],
        complete: bool,
    ) -> MechanismReport {
        let mut rows: Vec<Vec<f64>> = vectors.to_vec();
        for k in 0..rows.len() {
            let lead = (0..rows[k].len()).max_by(|&a, &b| rows[k][a].abs().total_cmp(&rows[k][b].abs()));
            let Some(lead) = lead else { continue };
            let inverse = 1.0 / rows[k][lead];
            crate::matrix::scale(&mut rows[k], inverse);
            let pivot = rows[k].clone();
            for (other, row) in rows.iter_mut().enumerate() {
                if other != k {
                    let factor = row[lead];
                    row.iter_mut().zip(&pivot).for_each(|(value, p)| *value -= factor * p);
                }
            }
        }
        let modes = rows
            .iter()
            .zip(values)
            .map(|(row, value)| self.mode(structure, row, value / self.largest))
            .collect();
        MechanismReport { modes, complete, largest_eigenvalue: self.largest }
    }

    fn mode(&self, structure: &Structure, row: &[f64], relative_stiffness: f64) -> MechanismMode {
        let motion: Vec<f64> = row.iter().zip(&self.scale).map(|(value, scale)| value * scale).collect();
        let mut shape = vec![0.0; structure.dof_count()];
        structure.scatter(&motion, &mut shape);
        let translations = 3 * structure.node_count();
        let largest = |values: &[f64]| values.iter().fold(0.0_f64, |max, value| max.max(value.abs()));
        let mut peak = largest(&shape[..translations]);
        // A motion of rotations alone is measured in rad.
        if peak <= 1e-9 * largest(&shape) {
            peak = largest(&shape);
        }
        crate::matrix::scale(&mut shape, 1.0 / peak);
        let mut components: Vec<_> = (0..shape.len()).filter(|&dof| shape[dof].abs() > 1e-6).collect();
        // Components that differ by rounding only keep the order of their nodes.
        components.sort_by_key(|&dof| (std::cmp::Reverse((shape[dof].abs() * 1e9).round() as u64), dof));
        let components = components
            .into_iter()
            .map(|dof| {
                let (node, direction) = structure.node_direction(dof);
                (node, direction, shape[dof])
            })
            .collect();
        MechanismMode { relative_stiffness, components, shape }
    }
}

/// A fixed sequence without pattern, in (-1, 1).
pub(super) fn wave(i: usize) -> f64 {
    let mixed = (i as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    ((mixed >> 11) as f64) / (1_u64 << 52) as f64 - 1.0
}

fn largest_eigenvalue(matrix: &SymmetricMatrix) -> f64 {
    let n = matrix.dim();
    let mut vector: Vec<f64> = (0..n).map(wave).collect();
    let mut value = 0.0;
    for _ in 0..20 {
        let length = norm(&vector);
        if length == 0.0 {
            return 1.0;
        }
        crate::matrix::scale(&mut vector, 1.0 / length);
        let mut product = vec![0.0; n];
        matrix.multiply_add(1.0, &vector, &mut product);
        value = norm(&product);
        vector = product;
    }
    value
}

fn orthonormalize(block: &mut [Vec<f64>]) {
    for k in 0..block.len() {
        let (before, rest) = block.split_at_mut(k);
        let vector = &mut rest[0];
        let scale = 1.0 / norm(vector);
        crate::matrix::scale(vector, scale);
        for _ in 0..2 {
            for other in before.iter() {
                let share = dot(vector, other);
                vector.iter_mut().zip(other).for_each(|(v, o)| *v -= share * o);
            }
        }
        let length = norm(vector);
        // A vector that lies in the span of the others is replaced; it cannot be the last free motion then.
        if length < 1e-10 {
            vector.iter_mut().enumerate().for_each(|(i, v)| *v = wave(i + 7919 * (k + 1)));
            for other in before.iter() {
                let share = dot(vector, other);
                vector.iter_mut().zip(other).for_each(|(v, o)| *v -= share * o);
            }
        }
        let scale = 1.0 / norm(vector);
        crate::matrix::scale(vector, scale);
    }
}

/// A part that no support and no ground spring holds, when there is more than one part.
fn loose_part(structure: &Structure) -> Option<StructureError> {
    let n = structure.node_count();
    let mut parent: Vec<usize> = (0..n).collect();
    let mut held = vec![false; n];
    let find = |parent: &mut Vec<usize>, mut i: usize| {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    };
    for member in structure.members() {
        let nodes: Vec<usize> = member.nodes().collect();
        if nodes.len() == 2 {
            let (a, b) = (find(&mut parent, nodes[0]), find(&mut parent, nodes[1]));
            parent[a.max(b)] = a.min(b);
        } else if member.element().id() == "ground_spring" {
            held[nodes[0]] = true;
        }
    }
    structure.own_supports().iter().for_each(|support| held[support.node] = true);
    let roots: Vec<usize> = (0..n).map(|i| find(&mut parent, i)).collect();
    let mut part_held = vec![false; n];
    for (node, &root) in roots.iter().enumerate() {
        part_held[root] |= held[node];
    }
    let parts = (0..n).filter(|&i| roots[i] == i).count();
    let loose = (0..n).find(|&root| roots[root] == root && !part_held[root])?;
    let count = roots.iter().filter(|&&root| root == loose).count();
    (parts > 1).then_some(StructureError::Disconnected { parts, node: loose, count })
}
