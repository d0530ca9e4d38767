//! Arithmetic on 3×3 blocks stored row by row in nine numbers.

use nalgebra::Matrix3;

/// A 3×3 block, row by row.
pub(crate) type Block = [f64; 9];

pub(crate) fn from_matrix(m: &Matrix3<f64>) -> Block {
    [m.m11, m.m12, m.m13, m.m21, m.m22, m.m23, m.m31, m.m32, m.m33]
}

pub(crate) fn to_matrix(b: &Block) -> Matrix3<f64> {
    Matrix3::new(b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8])
}

#[inline]
pub(crate) fn transpose(a: &Block) -> Block {
    [a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]]
}

/// A x.
#[inline]
pub(crate) fn times(a: &Block, x: [f64; 3]) -> [f64; 3] {
    [
        a[0] * x[0] + a[1] * x[1] + a[2] * x[2],
        a[3] * x[0] + a[4] * x[1] + a[5] * x[2],
        a[6] * x[0] + a[7] * x[1] + a[8] * x[2],
    ]
}

/// Aᵀ x.
#[inline]
pub(crate) fn transpose_times(a: &Block, x: [f64; 3]) -> [f64; 3] {
    [
        a[0] * x[0] + a[3] * x[1] + a[6] * x[2],
        a[1] * x[0] + a[4] * x[1] + a[7] * x[2],
        a[2] * x[0] + a[5] * x[1] + a[8] * x[2],
    ]
}

/// A B.
#[cfg(test)]
pub(crate) fn product(a: &Block, b: &Block) -> Block {
    let mut c = [0.0; 9];
    for i in 0..3 {
        for j in 0..3 {
            c[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
        }
    }
    c
}

/// c − A Bᵀ.
#[inline]
pub(crate) fn subtract_product_transpose(c: &mut Block, a: &Block, b: &Block) {
    for i in 0..3 {
        for j in 0..3 {
            c[3 * i + j] -= a[3 * i] * b[3 * j] + a[3 * i + 1] * b[3 * j + 1] + a[3 * i + 2] * b[3 * j + 2];
        }
    }
}

/// The inverse of a symmetric positive definite block by cofactors, or `None` if a leading minor is not positive
/// beyond rounding of the block's own entries.
#[inline]
pub(crate) fn inverse_positive_definite(a: &Block) -> Option<Block> {
    // Minors that are only rounding residue of their own terms count as zero.
    const MINIMUM: f64 = 64.0 * f64::EPSILON;
    let c0 = a[4] * a[8] - a[5] * a[7];
    let c1 = a[5] * a[6] - a[3] * a[8];
    let c2 = a[3] * a[7] - a[4] * a[6];
    let minor2 = a[0] * a[4] - a[1] * a[3];
    let determinant = a[0] * c0 + a[1] * c1 + a[2] * c2;
    let positive = a[0] > 0.0
        && minor2 > MINIMUM * a[0] * a[4]
        && a[8] > 0.0
        && determinant > MINIMUM * minor2 * a[8]
        && determinant.is_finite();
    if !positive {
        return None;
    }
    let s = 1.0 / determinant;
    let i = [
        c0 * s,
        (a[2] * a[7] - a[1] * a[8]) * s,
        (a[1] * a[5] - a[2] * a[4]) * s,
        c1 * s,
        (a[0] * a[8] - a[2] * a[6]) * s,
        (a[2] * a[3] - a[0] * a[5]) * s,
        c2 * s,
        (a[1] * a[6] - a[0] * a[7]) * s,
        minor2 * s,
    ];
    s.is_finite().then_some(i)
}

#[inline]
pub(crate) fn get3(x: &[f64], i: usize) -> [f64; 3] {
    let s = &x[3 * i..3 * i + 3];
    [s[0], s[1], s[2]]
}

#[inline]
pub(crate) fn dot3(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
