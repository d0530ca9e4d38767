//! L D Lᵀ of one 3×3 block.

use crate::block3::Block;

/// A pivot smaller than this fraction of its diagonal entry is rounding residue: the block is singular.
const SMALLEST_PIVOT: f64 = 16.0 * f64::EPSILON;

/// A factored symmetric positive definite block. Solving with it is stable where multiplying by an explicit inverse is
/// not: on chains of 1e5 nodes the inverse loses all digits.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ldl3 {
    l10: f64,
    l20: f64,
    l21: f64,
    i0: f64,
    i1: f64,
    i2: f64,
}

impl Ldl3 {
    /// Factors `a`, whose entries above the diagonal are ignored; `original` are the diagonal entries before elimination,
    /// against which pivots are judged. The error is the component of the bad pivot.
    #[inline(always)]
    pub(crate) fn new(a: &Block, original: [f64; 3]) -> Result<Self, usize> {
        let d0 = a[0];
        let i0 = 1.0 / d0;
        let (l10, l20) = (a[3] * i0, a[6] * i0);
        let d1 = a[4] - l10 * a[3];
        let i1 = 1.0 / d1;
        let u21 = a[7] - l20 * a[3];
        let l21 = u21 * i1;
        let d2 = a[8] - l20 * a[6] - l21 * u21;
        let good = |d: f64, k: usize| d > SMALLEST_PIVOT * original[k] && original[k] > 0.0 && d.is_finite();
        if good(d0, 0) && good(d1, 1) && good(d2, 2) {
            return Ok(Self { l10, l20, l21, i0, i1, i2: 1.0 / d2 });
        }
        Err(if good(d0, 0) { 1 + usize::from(good(d1, 1)) } else { 0 })
    }

    /// D⁻¹ b.
    #[inline(always)]
    pub(crate) fn solve(&self, b: [f64; 3]) -> [f64; 3] {
        let y1 = b[1] - self.l10 * b[0];
        let y2 = b[2] - self.l20 * b[0] - self.l21 * y1;
        let x2 = y2 * self.i2;
        let x1 = y1 * self.i1 - self.l21 * x2;
        [b[0] * self.i0 - self.l10 * x1 - self.l20 * x2, x1, x2]
    }

    /// d −= U D⁻¹ Uᵀ (on and below the diagonal, where alone pivots are read), and returns U D⁻¹.
    ///
    /// A chain waits for nothing but this and its pivots. Hence the update takes the shortest way, through the forward
    /// half of the solves alone and with the last pivot, which is known last, in the last term.
    #[inline(always)]
    pub(crate) fn eliminate(&self, u: &Block, d: &mut Block) -> Block {
        let half = |r: usize| {
            let y1 = u[3 * r + 1] - self.l10 * u[3 * r];
            [u[3 * r], y1, (u[3 * r + 2] - self.l20 * u[3 * r]) - self.l21 * y1]
        };
        let z = [half(0), half(1), half(2)];
        let scaled = z.map(|z| [z[0] * self.i0, z[1] * self.i1, z[2] * self.i2]);
        for r in 0..3 {
            for c in 0..=r {
                let early = d[3 * r + c] - (scaled[r][0] * z[c][0] + scaled[r][1] * z[c][1]);
                d[3 * r + c] = early - scaled[r][2] * z[c][2];
            }
        }
        let mut l = [0.0; 9];
        for (l, s) in l.chunks_exact_mut(3).zip(&scaled) {
            l[2] = s[2];
            l[1] = s[1] - self.l21 * l[2];
            l[0] = s[0] - self.l10 * l[1] - self.l20 * l[2];
        }
        l
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block3;

    #[test]
    fn solves_and_names_the_bad_component() {
        let a = [4.0, 1.0, -1.0, 1.0, 5.0, 2.0, -1.0, 2.0, 6.0];
        let f = Ldl3::new(&a, [4.0, 5.0, 6.0]).unwrap();
        let x = f.solve(block3::times(&a, [1.0, -2.0, 3.0]));
        assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] + 2.0).abs() < 1e-15 && (x[2] - 3.0).abs() < 1e-15);
        let u = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0];
        let mut d = [0.0; 9];
        let l = f.eliminate(&u, &mut d);
        let back = block3::product(&l, &a);
        assert!(back.iter().zip(u).all(|(b, u)| (b - u).abs() < 1e-13));
        let square = block3::product(&l, &block3::transpose(&u));
        for k in [0, 3, 4, 6, 7, 8] {
            assert!((d[k] + square[k]).abs() < 1e-13);
        }
        for k in 0..3 {
            let mut bad = a;
            bad[4 * k] = -1.0;
            assert_eq!(Ldl3::new(&bad, [4.0, 5.0, 6.0]).unwrap_err(), k);
        }
        assert!(Ldl3::new(&[f64::NAN; 9], [1.0; 3]).is_err());
        // Rank one up to rounding.
        let x: [f64; 3] = [0.1, 0.7, 1.3];
        let rank1: Block = std::array::from_fn(|k| x[k / 3] * x[k % 3]);
        assert_eq!(Ldl3::new(&rank1, [rank1[0], rank1[4], rank1[8]]).unwrap_err(), 1);
    }
}
