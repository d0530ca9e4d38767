//! The spring force on several springs at a time, for the processor found at run time.
//!
//! A *run* is a sequence of springs `(a, b), (a + 1, b + 1), …`: ropes, belts and grids consist of them. Positions of
//! consecutive particles are consecutive numbers, so that a run needs no index per spring and no gathering. Only sums,
//! products, one square root and one division occur, each correctly rounded on every processor: the bits depend neither
//! on the lane width nor on the number of threads.
#![allow(clippy::inline_always)] // what is not inlined is compiled without the processor's features

/// Springs whose pulls are formed before they are added. Short enough to stay in the first cache level; long enough that
/// adding to one end never waits for a store to the other end of a neighboring spring.
pub(super) const STRIP: usize = 128;

/// Consecutive springs between consecutive particles.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    /// First particle on either side.
    pub ends: [u32; 2],
    /// Number of springs.
    pub count: usize,
    /// m.
    pub rest_length: Values,
    /// N/m.
    pub stiffness: Values,
    /// N·s/m.
    pub damping: Values,
    /// Places in the run, ascending, where there is no spring.
    pub idle: Vec<u32>,
}

/// One parameter along a run. Equal values are kept once: reading them per spring would take most of the memory traffic.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values {
    Same(f64),
    Each(Vec<f64>),
}

impl Values {
    /// Values from `start` to `end`; `same` holds the value when there is only one.
    #[inline(always)]
    pub(super) fn between<'a>(&'a self, start: usize, end: usize, same: &'a [f64; STRIP]) -> &'a [f64] {
        match self {
            Self::Same(_) => &same[..end - start],
            Self::Each(values) => &values[start..end],
        }
    }

    #[inline(always)]
    pub(super) fn fill(&self, same: &mut [f64; STRIP]) {
        if let Self::Same(value) = self {
            same.fill(*value);
        }
    }
}

/// Springs in no run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Loose {
    pub ends: Vec<[u32; 2]>,
    pub rest_length: Vec<f64>,
    pub stiffness: Vec<f64>,
    pub damping: Vec<f64>,
}

/// The springs of one chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work<'a> {
    pub runs: &'a [Run],
    pub loose: &'a Loose,
    /// Which of `loose`.
    pub range: (usize, usize),
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

/// Adds the forces of `work` to `f`, which starts at particle `first`.
pub(super) fn add_forces(work: Work<'_>, q: &[f64], v: &[f64], f: &mut [f64], first: usize) {
    // The widest lanes; found once and remembered by `pulp`.
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(simd) = pulp::x86::V4::try_new() {
            simd.vectorize(AddForces { form: x86::Eight(simd), work, q, v, f, first });
            return;
        }
        if let Some(simd) = pulp::x86::V3::try_new() {
            simd.vectorize(AddForces { form: x86::Four(simd), work, q, v, f, first });
            return;
        }
    }
    let kernel = AddForces { form: One, work, q, v, f, first };
    pulp::NullaryFnOnce::call(kernel);
}

/// Forms the pulls on the first ends of a strip, three numbers per spring.
trait Form: Copy {
    fn form(self, strip: Strip<'_>, pulls: &mut [f64]);
}

/// One spring at a time.
#[derive(Clone, Copy)]
struct One;

impl Form for One {
    fn form(self, strip: Strip<'_>, pulls: &mut [f64]) {
        form_rest(strip, pulls, 0);
    }
}

/// The loops over springs, to be compiled once per lane width.
struct AddForces<'a, F> {
    form: F,
    work: Work<'a>,
    q: &'a [f64],
    v: &'a [f64],
    f: &'a mut [f64],
    first: usize,
}

impl<F: Form> pulp::NullaryFnOnce for AddForces<'_, F> {
    type Output = ();

    #[inline(always)]
    fn call(mut self) {
        self.add_runs();
        self.add_loose();
    }
}

impl<F: Form> AddForces<'_, F> {
    #[inline(always)]
    fn add_runs(&mut self) {
        let mut pulls = [0.0; 3 * STRIP];
        let (mut rest_length, mut stiffness, mut damping) = ([0.0; STRIP], [0.0; STRIP], [0.0; STRIP]);
        for run in self.work.runs {
            run.rest_length.fill(&mut rest_length);
            run.stiffness.fill(&mut stiffness);
            run.damping.fill(&mut damping);
            let mut idle = run.idle.as_slice();
            let mut start = 0;
            while start < run.count {
                let end = run.count.min(start + STRIP);
                let size = 3 * (end - start);
                let a = 3 * (run.ends[0] as usize + start);
                let b = 3 * (run.ends[1] as usize + start);
                let strip = Strip {
                    q: [&self.q[a..a + size], &self.q[b..b + size]],
                    v: [&self.v[a..a + size], &self.v[b..b + size]],
                    rest_length: run.rest_length.between(start, end, &rest_length),
                    stiffness: run.stiffness.between(start, end, &stiffness),
                    damping: run.damping.between(start, end, &damping),
                };
                let pulls = &mut pulls[..size];
                self.form.form(strip, pulls);
                while let [place, rest @ ..] = idle
                    && (*place as usize) < end
                {
                    let k = 3 * (*place as usize - start);
                    pulls[k..k + 3].fill(0.0);
                    idle = rest;
                }
                let (a, b) = (a - 3 * self.first, b - 3 * self.first);
                for (f, pull) in self.f[a..a + size].iter_mut().zip(&*pulls) {
                    *f += pull;
                }
                for (f, pull) in self.f[b..b + size].iter_mut().zip(&*pulls) {
                    *f -= pull;
                }
                start = end;
            }
        }
    }

    #[inline(always)]
    fn add_loose(&mut self) {
        let Loose { ends, rest_length, stiffness, damping } = self.work.loose;
        let range = self.work.range.0..self.work.range.1;
        let parameters =
            rest_length[range.clone()].iter().zip(&stiffness[range.clone()]).zip(&damping[range.clone()]);
        let (q, v, f) = (self.q.as_chunks::<3>().0, self.v.as_chunks::<3>().0, self.f.as_chunks_mut::<3>().0);
        for (&[a, b], ((&rest_length, &stiffness), &damping)) in ends[range].iter().zip(parameters) {
            let (a, b) = (a as usize, b as usize);
            let pull = pull([&q[a], &q[b]], [&v[a], &v[b]], rest_length, stiffness, damping);
            for (f, pull) in f[a - self.first].iter_mut().zip(&pull) {
                *f += pull;
            }
            for (f, pull) in f[b - self.first].iter_mut().zip(&pull) {
                *f -= pull;
            }
        }
    }
}

/// Pull of one spring on its first end. The order of operations here is the definition; lanes follow it.
#[inline(always)]
fn pull(
    [qa, qb]: [&[f64; 3]; 2],
    [va, vb]: [&[f64; 3]; 2],
    rest_length: f64,
    stiffness: f64,
    damping: f64,
) -> [f64; 3] {
    let d = [qb[0] - qa[0], qb[1] - qa[1], qb[2] - qa[2]];
    let w = [vb[0] - va[0], vb[1] - va[1], vb[2] - va[2]];
    let length = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
    let rate = w[0] * d[0] + w[1] * d[1] + w[2] * d[2];
    // Ends that coincide have no direction: their force is zero by symmetry.
    let inverse = if length > 0.0 { 1.0 / length } else { 0.0 };
    let scale = (stiffness * (length - rest_length) + damping * (rate * inverse)) * inverse;
    [scale * d[0], scale * d[1], scale * d[2]]
}

/// One spring at a time, from spring `done` on.
#[inline(always)]
fn form_rest(strip: Strip<'_>, pulls: &mut [f64], done: usize) {
    let q = strip.q.map(|q| q.as_chunks::<3>().0);
    let v = strip.v.map(|v| v.as_chunks::<3>().0);
    for (i, result) in pulls.as_chunks_mut::<3>().0.iter_mut().enumerate().skip(done) {
        let (rest_length, stiffness, damping) = (strip.rest_length[i], strip.stiffness[i], strip.damping[i]);
        *result = pull([&q[0][i], &q[1][i]], [&v[0][i], &v[1][i]], rest_length, stiffness, damping);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! Small functions that are always inlined, no closures: a closure is compiled without the processor's features.

    use super::{Form, Strip, form_rest};
    use core::arch::x86_64::{__m256d, __m512d, __m512i, _CMP_LT_OQ};
    use pulp::cast;
    use pulp::x86::{V3, V4};

    /// Eight springs at a time.
    #[derive(Clone, Copy)]
    pub(super) struct Eight(pub V4);

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

    #[inline(always)]
    fn difference8(s: V4, b: &[f64; 24], a: &[f64; 24]) -> [__m512d; 3] {
        let (s, a, b) = (s.avx512f, cast::<_, [__m512d; 3]>(*a), cast::<_, [__m512d; 3]>(*b));
        [s._mm512_sub_pd(b[0], a[0]), s._mm512_sub_pd(b[1], a[1]), s._mm512_sub_pd(b[2], a[2])]
    }

    #[inline(always)]
    fn pick8(s: V4, r: [__m512d; 3], [first, second]: [__m512i; 2]) -> __m512d {
        let s = s.avx512f;
        s._mm512_permutex2var_pd(s._mm512_permutex2var_pd(r[0], first, r[1]), second, r[2])
    }

    /// Dot products of eight pairs of vectors whose coordinates are mixed in three registers.
    #[inline(always)]
    fn dot8(s: V4, a: [__m512d; 3], b: [__m512d; 3], pick: [[__m512i; 2]; 3]) -> __m512d {
        let f = s.avx512f;
        let r = [f._mm512_mul_pd(a[0], b[0]), f._mm512_mul_pd(a[1], b[1]), f._mm512_mul_pd(a[2], b[2])];
        f._mm512_add_pd(f._mm512_add_pd(pick8(s, r, pick[0]), pick8(s, r, pick[1])), pick8(s, r, pick[2]))
    }

    #[inline(always)]
    fn spread8(s: V4, scale: __m512d, spread: __m512i, d: __m512d) -> __m512d {
        s.avx512f._mm512_mul_pd(s.avx512f._mm512_permutexvar_pd(spread, scale), d)
    }

    impl Form for Eight {
        #[inline(always)]
        fn form(self, strip: Strip<'_>, pulls: &mut [f64]) {
            let simd = self.0;
            let s = simd.avx512f;
            let count = strip.rest_length.len() / 8;
            let Strip { q: [qa, qb], v: [va, vb], rest_length, stiffness, damping } = strip;
            let (qa, qb) = (&qa.as_chunks::<24>().0[..count], &qb.as_chunks::<24>().0[..count]);
            let (va, vb) = (&va.as_chunks::<24>().0[..count], &vb.as_chunks::<24>().0[..count]);
            let rest_length = &rest_length.as_chunks::<8>().0[..count];
            let stiffness = &stiffness.as_chunks::<8>().0[..count];
            let damping = &damping.as_chunks::<8>().0[..count];
            let blocks = &mut pulls.as_chunks_mut::<24>().0[..count];
            let pick: [[__m512i; 2]; 3] = cast(PICK);
            let spread: [__m512i; 3] = cast(SPREAD);
            let (zero, one) = (s._mm512_set1_pd(0.0), s._mm512_set1_pd(1.0));
            for i in 0..count {
                let d = difference8(simd, &qb[i], &qa[i]);
                let w = difference8(simd, &vb[i], &va[i]);
                let length = s._mm512_sqrt_pd(dot8(simd, d, d, pick));
                let rate = dot8(simd, w, d, pick);
                let apart = s._mm512_cmplt_pd_mask(zero, length);
                let inverse = s._mm512_maskz_div_pd(apart, one, length);
                let stretch = s._mm512_sub_pd(length, cast(rest_length[i]));
                let elastic = s._mm512_mul_pd(cast(stiffness[i]), stretch);
                let dashpot = s._mm512_mul_pd(cast(damping[i]), s._mm512_mul_pd(rate, inverse));
                let scale = s._mm512_mul_pd(s._mm512_add_pd(elastic, dashpot), inverse);
                blocks[i] = cast([
                    spread8(simd, scale, spread[0], d[0]),
                    spread8(simd, scale, spread[1], d[1]),
                    spread8(simd, scale, spread[2], d[2]),
                ]);
            }
            form_rest(strip, pulls, 8 * count);
        }
    }

    /// Four springs at a time.
    #[derive(Clone, Copy)]
    pub(super) struct Four(pub V3);

    #[inline(always)]
    fn difference4(s: V3, b: &[f64; 12], a: &[f64; 12]) -> [__m256d; 3] {
        let (s, a, b) = (s.avx, cast::<_, [__m256d; 3]>(*a), cast::<_, [__m256d; 3]>(*b));
        [s._mm256_sub_pd(b[0], a[0]), s._mm256_sub_pd(b[1], a[1]), s._mm256_sub_pd(b[2], a[2])]
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

    impl Form for Four {
        #[inline(always)]
        fn form(self, strip: Strip<'_>, pulls: &mut [f64]) {
            let simd = self.0;
            let (s, spread) = (simd.avx, simd.avx2);
            let count = strip.rest_length.len() / 4;
            let Strip { q: [qa, qb], v: [va, vb], rest_length, stiffness, damping } = strip;
            let (qa, qb) = (&qa.as_chunks::<12>().0[..count], &qb.as_chunks::<12>().0[..count]);
            let (va, vb) = (&va.as_chunks::<12>().0[..count], &vb.as_chunks::<12>().0[..count]);
            let rest_length = &rest_length.as_chunks::<4>().0[..count];
            let stiffness = &stiffness.as_chunks::<4>().0[..count];
            let damping = &damping.as_chunks::<4>().0[..count];
            let blocks = &mut pulls.as_chunks_mut::<12>().0[..count];
            let (zero, one) = (s._mm256_set1_pd(0.0), s._mm256_set1_pd(1.0));
            for i in 0..count {
                let d = difference4(simd, &qb[i], &qa[i]);
                let w = difference4(simd, &vb[i], &va[i]);
                let length = s._mm256_sqrt_pd(dot4(simd, d, d));
                let rate = dot4(simd, w, d);
                let apart = s._mm256_cmp_pd::<_CMP_LT_OQ>(zero, length);
                let inverse = s._mm256_and_pd(s._mm256_div_pd(one, length), apart);
                let stretch = s._mm256_sub_pd(length, cast(rest_length[i]));
                let elastic = s._mm256_mul_pd(cast(stiffness[i]), stretch);
                let dashpot = s._mm256_mul_pd(cast(damping[i]), s._mm256_mul_pd(rate, inverse));
                let scale = s._mm256_mul_pd(s._mm256_add_pd(elastic, dashpot), inverse);
                blocks[i] = cast([
                    s._mm256_mul_pd(spread._mm256_permute4x64_pd::<0b01_00_00_00>(scale), d[0]),
                    s._mm256_mul_pd(spread._mm256_permute4x64_pd::<0b10_10_01_01>(scale), d[1]),
                    s._mm256_mul_pd(spread._mm256_permute4x64_pd::<0b11_11_11_10>(scale), d[2]),
                ]);
            }
            form_rest(strip, pulls, 4 * count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(k: usize) -> f64 {
        ((k as f64 + 0.5) * 12.9898).sin() * 43758.5453 % 1.0
    }

    fn bits(form: impl Form, strip: Strip<'_>) -> Vec<u64> {
        let mut pulls = vec![f64::NAN; 3 * strip.rest_length.len()];
        form.form(strip, &mut pulls);
        pulls.iter().map(|x| x.to_bits()).collect()
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
            let expected = bits(One, strip);
            assert!(expected.iter().all(|&bits| f64::from_bits(bits).is_finite()));
            assert!(count < 2 || expected.iter().any(|&bits| f64::from_bits(bits) != 0.0));
            #[cfg(target_arch = "x86_64")]
            {
                if let Some(simd) = pulp::x86::V3::try_new() {
                    assert_eq!(bits(x86::Four(simd), strip), expected, "four lanes, {count} springs");
                }
                if let Some(simd) = pulp::x86::V4::try_new() {
                    assert_eq!(bits(x86::Eight(simd), strip), expected, "eight lanes, {count} springs");
                }
            }
        }
    }
}
