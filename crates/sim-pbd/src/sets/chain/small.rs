//! Symmetric 3×3 matrices, and systems of a few equations.

use super::tree::MOST_LOOPS;
use nalgebra::Vector3;

/// A pivot smaller than this share of the largest diagonal entry belongs to an equation that says nothing new.
const REDUNDANT: f64 = 1e-12;

/// Gauss with pivoting; a singular row has the solution 0.
pub(super) fn small_solve(
    system: &mut [[f64; MOST_LOOPS + 1]; MOST_LOOPS],
    count: usize,
) -> [f64; MOST_LOOPS] {
    let size = (0..count).map(|k| system[k][k].abs()).fold(0.0, f64::max);
    for k in 0..count {
        let best = (k..count).max_by(|&a, &b| system[a][k].abs().total_cmp(&system[b][k].abs())).unwrap_or(k);
        system.swap(k, best);
        if system[k][k].abs() <= REDUNDANT * size {
            system[k] = [0.0; MOST_LOOPS + 1];
            system[k][k] = 1.0;
        }
        for row in k + 1..count {
            let factor = system[row][k] / system[k][k];
            let above = system[k];
            for (entry, above) in system[row][k..=count].iter_mut().zip(&above[k..=count]) {
                *entry -= factor * above;
            }
        }
    }
    let mut solution = [0.0; MOST_LOOPS];
    for k in (0..count).rev() {
        let known: f64 = (k + 1..count).map(|c| system[k][c] * solution[c]).sum();
        solution[k] = (system[k][count] - known) / system[k][k];
    }
    solution
}

/// A symmetric 3×3 matrix: xx yy zz xy yz xz.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Symmetric(pub(super) [f64; 6]);

impl Symmetric {
    #[inline]
    pub(super) fn times(self, v: Vector3<f64>) -> Vector3<f64> {
        let [xx, yy, zz, xy, yz, xz] = self.0;
        Vector3::new(
            xx * v.x + xy * v.y + xz * v.z,
            xy * v.x + yy * v.y + yz * v.z,
            xz * v.x + yz * v.y + zz * v.z,
        )
    }

    #[inline]
    pub(super) fn plus(self, factor: f64, other: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k] + factor * other.0[k]))
    }

    /// + factor · v vᵀ
    #[inline]
    pub(super) fn plus_square(self, factor: f64, v: Vector3<f64>) -> Self {
        let f = v * factor;
        self.plus(1.0, Self([f.x * v.x, f.y * v.y, f.z * v.z, f.x * v.y, f.y * v.z, f.x * v.z]))
    }

    /// + factor · (I − d dᵀ)
    #[inline]
    pub(super) fn plus_across(self, factor: f64, d: Vector3<f64>) -> Self {
        self.plus(factor, Self([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])).plus_square(-factor, d)
    }

    /// − a bᵀ − b aᵀ
    #[inline]
    pub(super) fn minus_both(self, a: Vector3<f64>, b: Vector3<f64>) -> Self {
        self.plus(
            -1.0,
            Self([
                2.0 * a.x * b.x,
                2.0 * a.y * b.y,
                2.0 * a.z * b.z,
                a.x * b.y + a.y * b.x,
                a.y * b.z + a.z * b.y,
                a.x * b.z + a.z * b.x,
            ]),
        )
    }

    /// By cofactors; the matrix is positive definite.
    #[inline]
    pub(super) fn inverse(self) -> Self {
        let [xx, yy, zz, xy, yz, xz] = self.0;
        let (a, b, c) = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy);
        let scale = 1.0 / (xx * a + xy * b + xz * c);
        let (d, e, f) = (xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy);
        Self([a * scale, d * scale, f * scale, b * scale, e * scale, c * scale])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Matrix3;

    fn full(m: Symmetric) -> Matrix3<f64> {
        let [xx, yy, zz, xy, yz, xz] = m.0;
        Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
    }

    #[test]
    fn symmetric_matrices_act_as_full_ones() {
        let (m, a) = (Symmetric([3.0, 4.0, 5.0, 0.3, -0.7, 1.1]), Vector3::new(0.2, -1.0, 0.5));
        let d = Vector3::new(2.0, 1.0, -2.0) / 3.0;
        let near = |x: Matrix3<f64>, y: Matrix3<f64>| assert!((x - y).amax() < 1e-14, "{x} {y}");
        near(full(m.inverse()) * full(m), Matrix3::identity());
        near(full(m.plus_square(0.4, a)), full(m) + a * a.transpose() * 0.4);
        near(full(m.plus_across(0.4, d)), full(m) + (Matrix3::identity() - d * d.transpose()) * 0.4);
        near(full(m.minus_both(a, d)), full(m) - a * d.transpose() - d * a.transpose());
        assert!((m.times(a) - full(m) * a).amax() < 1e-15);
        let p = Matrix3::identity() - d * d.transpose();
        let along = m.times(d);
        near(full(m.minus_both(along - d * (0.5 * d.dot(&along)), d)), p * full(m) * p);
    }

    #[test]
    fn small_systems_and_singular_ones() {
        let mut system = [[0.0; MOST_LOOPS + 1]; MOST_LOOPS];
        system[0][..3].copy_from_slice(&[1.0, 2.0, 5.0]);
        system[1][..3].copy_from_slice(&[3.0, 4.0, 11.0]);
        let x = small_solve(&mut system, 2);
        assert!((x[0] - 1.0).abs() < 1e-14 && (x[1] - 2.0).abs() < 1e-14);
        let mut singular = [[0.0; MOST_LOOPS + 1]; MOST_LOOPS];
        singular[0][..3].copy_from_slice(&[1.0, 1.0, 2.0]);
        singular[1][..3].copy_from_slice(&[1.0, 1.0, 2.0]);
        let x = small_solve(&mut singular, 2);
        assert_eq!((x[0], x[1]), (2.0, 0.0));
    }
}
