//! The spring force on several springs at a time, for the processor found at run time.
//!
//! A *run* is a sequence of springs `(a, b), (a + 1, b + 1), …`: ropes, belts and grids consist of them. Positions of
//! consecutive particles are consecutive numbers, so that a run needs no index per spring and no gathering. Only sums,
//! products, one square root and one division occur, each correctly rounded on every processor: the bits depend neither
//! on the lane width nor on the number of threads.

use std::ops::Range;

/// Springs whose pulls are formed before they are added. Short enough to stay in the first cache level; long enough that
/// adding to one end never waits for a store to the other end of a neighboring spring.
const STRIP: usize = 128;

/// Consecutive springs between consecutive particles.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    /// First particle on either side.
    pub ends: [u32; 2],
    /// Place of the parameters.
    pub springs: Range<usize>,
}

/// Parameters in the order of the runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Parameters {
    pub rest_length: Vec<f64>,
    pub stiffness: Vec<f64>,
    pub damping: Vec<f64>,
}

/// What the pulls of consecutive springs are formed from.
#[derive(Clone, Copy)]
struct Strip<'a> {
    /// Positions and velocities of the first and the second ends, three numbers per spring.
    q: [&'a [f64]; 2],
    v: [&'a [f64]; 2],
    /// One number per spring.
    rest_length: &'a [f64],
    stiffness: &'a [f64],
    damping: &'a [f64],
}

/// Adds the forces of `runs` to `f`, which starts at particle `first`.
pub(super) fn add_forces(
    runs: &[Run],
    parameters: &Parameters,
    q: &[f64],
    v: &[f64],
    f: &mut [f64],
    first: usize,
) {
    let lanes = Lanes::detect();
    let mut pulls = [0.0; 3 * STRIP];
    for run in runs {
        let mut start = run.springs.start;
        while start < run.springs.end {
            let end = run.springs.end.min(start + STRIP);
            let size = 3 * (end - start);
            let done = start - run.springs.start;
            let [a, b] = run.ends.map(|particle| 3 * (particle as usize + done));
            let strip = Strip {
                q: [&q[a..a + size], &q[b..b + size]],
                v: [&v[a..a + size], &v[b..b + size]],
                rest_length: &parameters.rest_length[start..end],
                stiffness: &parameters.stiffness[start..end],
                damping: &parameters.damping[start..end],
            };
            let pulls = &mut pulls[..size];
            lanes.form(strip, pulls);
            let (a, b) = (a - 3 * first, b - 3 * first);
            for (f, pull) in f[a..a + size].iter_mut().zip(&*pulls) {
                *f += pull;
            }
            for (f, pull) in f[b..b + size].iter_mut().zip(&*pulls) {
                *f -= pull;
            }
            start = end;
        }
    }
}

/// Widths that a processor may offer.
#[derive(Clone, Copy, Debug)]
enum Lanes {
    One,
    #[cfg(target_arch = "x86_64")]
    Four(pulp::x86::V3),
    #[cfg(target_arch = "x86_64")]
    Eight(pulp::x86::V4),
}

impl Lanes {
    /// The widest; found once and remembered by `pulp`.
    fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(simd) = pulp::x86::V4::try_new() {
                return Self::Eight(simd);
            }
            if let Some(simd) = pulp::x86::V3::try_new() {
                return Self::Four(simd);
            }
        }
        Self::One
    }

    /// Writes the pull on the first end of each spring.
    fn form(self, strip: Strip<'_>, pulls: &mut [f64]) {
        match self {
            Self::One => form_rest(strip, pulls, 0),
            #[cfg(target_arch = "x86_64")]
            Self::Four(simd) => simd.vectorize(x86::FormFour { simd, strip, pulls }),
            #[cfg(target_arch = "x86_64")]
            Self::Eight(simd) => simd.vectorize(x86::FormEight { simd, strip, pulls }),
        }
    }
}

/// One spring at a time, from spring `done` on. The order of operations here is the definition; lanes follow it.
#[inline(always)]
fn form_rest(strip: Strip<'_>, pulls: &mut [f64], done: usize) {
    let Strip { q: [qa, qb], v: [va, vb], rest_length, stiffness, damping } = strip;
    for i in done..rest_length.len() {
        let k = 3 * i;
        let d = [qb[k] - qa[k], qb[k + 1] - qa[k + 1], qb[k + 2] - qa[k + 2]];
        let w = [vb[k] - va[k], vb[k + 1] - va[k + 1], vb[k + 2] - va[k + 2]];
        let length = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
        let rate = w[0] * d[0] + w[1] * d[1] + w[2] * d[2];
        // Ends that coincide have no direction: their force is zero by symmetry.
        let inverse = if length > 0.0 { 1.0 / length } else { 0.0 };
        let scale = (stiffness[i] * (length - rest_length[i]) + damping[i] * (rate * inverse)) * inverse;
        pulls[k] = scale * d[0];
        pulls[k + 1] = scale * d[1];
        pulls[k + 2] = scale * d[2];
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Strip, form_rest};
    use core::arch::x86_64::{__m256d, __m512d, __m512i};
    use pulp::x86::{V3, V4};
    use pulp::{NullaryFnOnce, cast};

    #[inline(always)]
    fn load<const N: usize>(x: &[f64], at: usize) -> [f64; N] {
        x[at..at + N].try_into().expect("the range has N numbers")
    }

    pub(super) struct FormEight<'a> {
        pub simd: V4,
        pub strip: Strip<'a>,
        pub pulls: &'a mut [f64],
    }

    /// Which of 24 numbers `xyzxyz…` in three registers belong to x, y and z: first from the first two registers, then
    /// joined by the third (indices from 8 on name the second operand).
    const PICK: [[[i64; 8]; 2]; 3] = [
        [[0, 3, 6, 9, 12, 15, 0, 0], [0, 1, 2, 3, 4, 5, 10, 13]],
        [[1, 4, 7, 10, 13, 0, 0, 0], [0, 1, 2, 3, 4, 8, 11, 14]],
        [[2, 5, 8, 11, 14, 0, 0, 0], [0, 1, 2, 3, 4, 9, 12, 15]],
    ];
    /// Eight numbers, each three times.
    const SPREAD: [[i64; 8]; 3] =
        [[0, 0, 0, 1, 1, 1, 2, 2], [2, 3, 3, 3, 4, 4, 4, 5], [5, 5, 6, 6, 6, 7, 7, 7]];

    // Small functions that are always inlined, no closures: a closure is compiled without the processor's features.

    #[inline(always)]
    fn at8(x: &[f64], i: usize) -> __m512d {
        cast(load::<8>(x, i))
    }

    #[inline(always)]
    fn difference8(s: V4, b: &[f64], a: &[f64], k: usize) -> [__m512d; 3] {
        let s = s.avx512f;
        [
            s._mm512_sub_pd(at8(b, k), at8(a, k)),
            s._mm512_sub_pd(at8(b, k + 8), at8(a, k + 8)),
            s._mm512_sub_pd(at8(b, k + 16), at8(a, k + 16)),
        ]
    }

    #[inline(always)]
    fn pick8(s: V4, r: [__m512d; 3], [first, second]: [__m512i; 2]) -> __m512d {
        let s = s.avx512f;
        s._mm512_permutex2var_pd(s._mm512_permutex2var_pd(r[0], first, r[1]), second, r[2])
    }

    /// `x y + …` of eight vectors whose coordinates are mixed in three registers.
    #[inline(always)]
    fn dot8(s: V4, a: [__m512d; 3], b: [__m512d; 3], pick: [[__m512i; 2]; 3]) -> __m512d {
        let f = s.avx512f;
        let r = [f._mm512_mul_pd(a[0], b[0]), f._mm512_mul_pd(a[1], b[1]), f._mm512_mul_pd(a[2], b[2])];
        f._mm512_add_pd(f._mm512_add_pd(pick8(s, r, pick[0]), pick8(s, r, pick[1])), pick8(s, r, pick[2]))
    }

    #[inline(always)]
    fn store8(s: V4, pulls: &mut [f64], k: usize, scale: __m512d, spread: __m512i, d: __m512d) {
        let s = s.avx512f;
        let pull = s._mm512_mul_pd(s._mm512_permutexvar_pd(spread, scale), d);
        pulls[k..k + 8].copy_from_slice(&cast::<_, [f64; 8]>(pull));
    }

    impl NullaryFnOnce for FormEight<'_> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            let Self { simd, strip, pulls } = self;
            let Strip { q: [qa, qb], v: [va, vb], rest_length, stiffness, damping } = strip;
            let s = simd.avx512f;
            let pick: [[__m512i; 2]; 3] = cast(PICK);
            let spread: [__m512i; 3] = cast(SPREAD);
            let (zero, one) = (s._mm512_set1_pd(0.0), s._mm512_set1_pd(1.0));
            let blocks = rest_length.len() / 8;
            for block in 0..blocks {
                let (i, k) = (8 * block, 24 * block);
                let d = difference8(simd, qb, qa, k);
                let w = difference8(simd, vb, va, k);
                let length = s._mm512_sqrt_pd(dot8(simd, d, d, pick));
                let rate = dot8(simd, w, d, pick);
                let apart = s._mm512_cmplt_pd_mask(zero, length);
                let inverse = s._mm512_maskz_div_pd(apart, one, length);
                let elastic =
                    s._mm512_mul_pd(at8(stiffness, i), s._mm512_sub_pd(length, at8(rest_length, i)));
                let dashpot = s._mm512_mul_pd(at8(damping, i), s._mm512_mul_pd(rate, inverse));
                let scale = s._mm512_mul_pd(s._mm512_add_pd(elastic, dashpot), inverse);
                store8(simd, pulls, k, scale, spread[0], d[0]);
                store8(simd, pulls, k + 8, scale, spread[1], d[1]);
                store8(simd, pulls, k + 16, scale, spread[2], d[2]);
            }
            form_rest(strip, pulls, 8 * blocks);
        }
    }

    pub(super) struct FormFour<'a> {
        pub simd: V3,
        pub strip: Strip<'a>,
        pub pulls: &'a mut [f64],
    }

    #[inline(always)]
    fn at4(x: &[f64], i: usize) -> __m256d {
        cast(load::<4>(x, i))
    }

    #[inline(always)]
    fn difference4(s: V3, b: &[f64], a: &[f64], k: usize) -> [__m256d; 3] {
        let s = s.avx;
        [
            s._mm256_sub_pd(at4(b, k), at4(a, k)),
            s._mm256_sub_pd(at4(b, k + 4), at4(a, k + 4)),
            s._mm256_sub_pd(at4(b, k + 8), at4(a, k + 8)),
        ]
    }

    /// As [`dot8`] for four vectors: `[x0 y0 z0 x1] [y1 z1 x2 y2] [z2 x3 y3 z3]`.
    #[inline(always)]
    fn dot4(s: V3, a: [__m256d; 3], b: [__m256d; 3]) -> __m256d {
        let s = s.avx;
        let r = [s._mm256_mul_pd(a[0], b[0]), s._mm256_mul_pd(a[1], b[1]), s._mm256_mul_pd(a[2], b[2])];
        let xy = s._mm256_permute2f128_pd::<0x30>(r[0], r[1]);
        let zx = s._mm256_permute2f128_pd::<0x21>(r[0], r[2]);
        let yz = s._mm256_permute2f128_pd::<0x30>(r[1], r[2]);
        let x = s._mm256_blend_pd::<0b1010>(xy, zx);
        let y = s._mm256_shuffle_pd::<0b0101>(xy, yz);
        let z = s._mm256_blend_pd::<0b1010>(zx, yz);
        s._mm256_add_pd(s._mm256_add_pd(x, y), z)
    }

    #[inline(always)]
    fn store4(s: V3, pulls: &mut [f64], k: usize, scale: __m256d, d: __m256d) {
        pulls[k..k + 4].copy_from_slice(&cast::<_, [f64; 4]>(s.avx._mm256_mul_pd(scale, d)));
    }

    impl NullaryFnOnce for FormFour<'_> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            let Self { simd, strip, pulls } = self;
            let Strip { q: [qa, qb], v: [va, vb], rest_length, stiffness, damping } = strip;
            let s = simd.avx;
            let (zero, one) = (s._mm256_set1_pd(0.0), s._mm256_set1_pd(1.0));
            let blocks = rest_length.len() / 4;
            for block in 0..blocks {
                let (i, k) = (4 * block, 12 * block);
                let d = difference4(simd, qb, qa, k);
                let w = difference4(simd, vb, va, k);
                let length = s._mm256_sqrt_pd(dot4(simd, d, d));
                let rate = dot4(simd, w, d);
                let apart = s._mm256_cmp_pd::<{ core::arch::x86_64::_CMP_LT_OQ }>(zero, length);
                let inverse = s._mm256_and_pd(s._mm256_div_pd(one, length), apart);
                let elastic =
                    s._mm256_mul_pd(at4(stiffness, i), s._mm256_sub_pd(length, at4(rest_length, i)));
                let dashpot = s._mm256_mul_pd(at4(damping, i), s._mm256_mul_pd(rate, inverse));
                let scale = s._mm256_mul_pd(s._mm256_add_pd(elastic, dashpot), inverse);
                let spread = simd.avx2;
                store4(simd, pulls, k, spread._mm256_permute4x64_pd::<0b01_00_00_00>(scale), d[0]);
                store4(simd, pulls, k + 4, spread._mm256_permute4x64_pd::<0b10_10_01_01>(scale), d[1]);
                store4(simd, pulls, k + 8, spread._mm256_permute4x64_pd::<0b11_11_11_10>(scale), d[2]);
            }
            form_rest(strip, pulls, 4 * blocks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(k: usize) -> f64 {
        ((k as f64 + 0.5) * 12.9898).sin() * 43758.5453 % 1.0
    }

    #[test]
    fn every_width_gives_the_same_bits() {
        for count in [0, 1, 3, 4, 7, 8, 9, 31, 128] {
            let fill = |seed: usize, n: usize| (0..n).map(|i| noise(1000 * seed + i)).collect::<Vec<_>>();
            let (mut q0, q1, v0, v1) =
                (fill(1, 3 * count), fill(2, 3 * count), fill(3, 3 * count), fill(4, 3 * count));
            let (rest_length, stiffness, damping) = (fill(5, count), fill(6, count), fill(7, count));
            // Coincident ends in every place of a lane.
            for i in (0..count).step_by(5) {
                q0[3 * i..3 * i + 3].copy_from_slice(&q1[3 * i..3 * i + 3]);
            }
            let strip = Strip {
                q: [&q0, &q1],
                v: [&v0, &v1],
                rest_length: &rest_length,
                stiffness: &stiffness,
                damping: &damping,
            };
            let form = |lanes: Lanes| {
                let mut pulls = vec![f64::NAN; 3 * count];
                lanes.form(strip, &mut pulls);
                pulls.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
            };
            let expected = form(Lanes::One);
            assert!(expected.iter().all(|&bits| f64::from_bits(bits).is_finite()));
            assert!(count < 2 || expected.iter().any(|&bits| f64::from_bits(bits) != 0.0));
            #[cfg(target_arch = "x86_64")]
            {
                if let Some(simd) = pulp::x86::V3::try_new() {
                    assert_eq!(form(Lanes::Four(simd)), expected, "four lanes, {count} springs");
                }
                if let Some(simd) = pulp::x86::V4::try_new() {
                    assert_eq!(form(Lanes::Eight(simd)), expected, "eight lanes, {count} springs");
                }
            }
            assert_eq!(form(Lanes::detect()), expected);
        }
    }
}
