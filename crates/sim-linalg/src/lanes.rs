//! Four lanes at a time, compiled for the processor at hand.
//!
//! 3-vectors are padded to four lanes and the rows of a block are loaded as four overlapping lanes. The operations are
//! spelled out because the compiler, seeing that the last lane is unused, otherwise takes the vectors apart again. Every
//! implementation rounds each operation alone and in the same order: results have the same bits on any processor.

/// A 3-vector padded to four lanes; the last lane is zero outside of kernels.
pub(crate) type Lane64 = [f64; 4];

/// The same in f32.
pub(crate) type Lane32 = [f32; 4];

/// Numbers behind the last block of an array of blocks, so that four lanes can be loaded at any row of a block.
pub(crate) const PAD: usize = 3;

/// Arithmetic on four lanes.
pub(crate) trait Quad: Copy {
    type F64: Copy;
    type F32: Copy;
    fn load(self, v: Lane64) -> Self::F64;
    fn store(self, v: Self::F64) -> Lane64;
    fn splat(self, v: f64) -> Self::F64;
    fn add(self, a: Self::F64, b: Self::F64) -> Self::F64;
    fn sub(self, a: Self::F64, b: Self::F64) -> Self::F64;
    fn mul(self, a: Self::F64, b: Self::F64) -> Self::F64;
    fn load32(self, v: Lane32) -> Self::F32;
    fn store32(self, v: Self::F32) -> Lane32;
    fn splat32(self, v: f32) -> Self::F32;
    fn add32(self, a: Self::F32, b: Self::F32) -> Self::F32;
    fn sub32(self, a: Self::F32, b: Self::F32) -> Self::F32;
    fn mul32(self, a: Self::F32, b: Self::F32) -> Self::F32;
    fn widen(self, v: Self::F32) -> Self::F64;
    /// Lanes 1, 2, 0, 3.
    fn rotate(self, v: Self::F64) -> Self::F64;
    /// Lanes 2, 0, 1, 3.
    fn rotate_back(self, v: Self::F64) -> Self::F64;

    /// Lane r of the result is the sum of the first three lanes of `rows[r]`, from the left; the last lane is zero.
    fn sums32(self, rows: [Self::F32; 3]) -> Self::F32;

    fn div(self, a: Self::F64, b: Self::F64) -> Self::F64;
    fn sqrt(self, v: Self::F64) -> Self::F64;
    fn abs(self, v: Self::F64) -> Self::F64;
    /// Lane by lane, `yes` where a > b, else `no`.
    fn choose(self, a: Self::F64, b: Self::F64, yes: Self::F64, no: Self::F64) -> Self::F64;

    /// The sum of all four lanes, (0 + 1) + (2 + 3), in every lane.
    fn sum_everywhere(self, v: Self::F64) -> Self::F64;
    /// The last lane in every lane.
    fn last_everywhere(self, v: Self::F64) -> Self::F64;
    /// The same with zero in the last lane.
    fn clear_last(self, v: Self::F64) -> Self::F64;

    /// The product of a block a I + b bᵀ, given as (b, a), with a vector whose last lane is zero.
    #[inline(always)]
    fn spring_times(self, block: Self::F64, x: Self::F64) -> Self::F64 {
        let along = self.mul(self.sum_everywhere(self.mul(block, x)), block);
        self.clear_last(self.add(along, self.mul(self.last_everywhere(block), x)))
    }

    /// The product of a symmetric block, stored as its diagonal and its entries 01, 12, 02, with a vector.
    #[inline(always)]
    fn symmetric_times(self, block: &[f64], at: usize, x: Self::F64) -> Self::F64 {
        let (diagonal, off) = (self.load_at(block, at), self.load_at(block, at + 3));
        let ahead = self.mul(off, self.rotate(x));
        let behind = self.mul(self.rotate_back(off), self.rotate_back(x));
        self.add(self.mul(diagonal, x), self.add(ahead, behind))
    }

    /// Four consecutive numbers of a slice.
    #[inline(always)]
    fn load_at(self, values: &[f64], at: usize) -> Self::F64 {
        self.load(values[at..at + 4].try_into().unwrap_or([0.0; 4]))
    }

    /// Four consecutive numbers of a slice.
    #[inline(always)]
    fn load32_at(self, values: &[f32], at: usize) -> Self::F32 {
        self.load32(values[at..at + 4].try_into().unwrap_or([0.0; 4]))
    }

    /// a + block · x without the sum over lanes: lane k of row r receives entry (r, k) times x_k.
    #[inline(always)]
    fn accumulate(self, acc: &mut [Self::F64; 3], block: &[f64; 12], x: Self::F64) {
        acc[0] = self.add(acc[0], self.mul(self.load_at(block, 0), x));
        acc[1] = self.add(acc[1], self.mul(self.load_at(block, 3), x));
        acc[2] = self.add(acc[2], self.mul(self.load_at(block, 6), x));
    }

    /// blockᵀ x, with x given as three splats.
    #[inline(always)]
    fn transposed(self, block: &[f64; 12], x: [Self::F64; 3]) -> Self::F64 {
        let first = self.mul(self.load_at(block, 0), x[0]);
        let second = self.mul(self.load_at(block, 3), x[1]);
        self.add(self.add(first, second), self.mul(self.load_at(block, 6), x[2]))
    }

    /// As [`Quad::accumulate`], in f32.
    #[inline(always)]
    fn accumulate32(self, acc: &mut [Self::F32; 3], block: &[f32; 12], x: Self::F32) {
        acc[0] = self.add32(acc[0], self.mul32(self.load32_at(block, 0), x));
        acc[1] = self.add32(acc[1], self.mul32(self.load32_at(block, 3), x));
        acc[2] = self.add32(acc[2], self.mul32(self.load32_at(block, 6), x));
    }

    /// As [`Quad::transposed`], in f32.
    #[inline(always)]
    fn transposed32(self, block: &[f32; 12], x: [Self::F32; 3]) -> Self::F32 {
        let first = self.mul32(self.load32_at(block, 0), x[0]);
        let second = self.mul32(self.load32_at(block, 3), x[1]);
        self.add32(self.add32(first, second), self.mul32(self.load32_at(block, 6), x[2]))
    }
}

/// The sum of the first three lanes.
#[inline(always)]
pub(crate) fn sum3(v: Lane64) -> f64 {
    (v[0] + v[1]) + v[2]
}

/// Lanes as plain arrays, for processors without AVX2.
#[derive(Debug, Clone, Copy)]
struct Portable;

macro_rules! lanewise {
    ($a:expr, $op:tt, $b:expr) => {
        [$a[0] $op $b[0], $a[1] $op $b[1], $a[2] $op $b[2], $a[3] $op $b[3]]
    };
}

impl Quad for Portable {
    type F64 = Lane64;
    type F32 = Lane32;
    #[inline(always)]
    fn load(self, v: Lane64) -> Lane64 {
        v
    }
    #[inline(always)]
    fn store(self, v: Lane64) -> Lane64 {
        v
    }
    #[inline(always)]
    fn splat(self, v: f64) -> Lane64 {
        [v; 4]
    }
    #[inline(always)]
    fn add(self, a: Lane64, b: Lane64) -> Lane64 {
        lanewise!(a, +, b)
    }
    #[inline(always)]
    fn sub(self, a: Lane64, b: Lane64) -> Lane64 {
        lanewise!(a, -, b)
    }
    #[inline(always)]
    fn mul(self, a: Lane64, b: Lane64) -> Lane64 {
        lanewise!(a, *, b)
    }
    #[inline(always)]
    fn load32(self, v: Lane32) -> Lane32 {
        v
    }
    #[inline(always)]
    fn store32(self, v: Lane32) -> Lane32 {
        v
    }
    #[inline(always)]
    fn splat32(self, v: f32) -> Lane32 {
        [v; 4]
    }
    #[inline(always)]
    fn add32(self, a: Lane32, b: Lane32) -> Lane32 {
        lanewise!(a, +, b)
    }
    #[inline(always)]
    fn sub32(self, a: Lane32, b: Lane32) -> Lane32 {
        lanewise!(a, -, b)
    }
    #[inline(always)]
    fn mul32(self, a: Lane32, b: Lane32) -> Lane32 {
        lanewise!(a, *, b)
    }
    #[inline(always)]
    fn widen(self, v: Lane32) -> Lane64 {
        v.map(f64::from)
    }
    #[inline(always)]
    fn sums32(self, [a, b, c]: [Lane32; 3]) -> Lane32 {
        [(a[0] + a[1]) + a[2], (b[0] + b[1]) + b[2], (c[0] + c[1]) + c[2], 0.0]
    }
    #[inline(always)]
    fn div(self, a: Lane64, b: Lane64) -> Lane64 {
        lanewise!(a, /, b)
    }
    #[inline(always)]
    fn sqrt(self, v: Lane64) -> Lane64 {
        v.map(f64::sqrt)
    }
    #[inline(always)]
    fn abs(self, v: Lane64) -> Lane64 {
        v.map(f64::abs)
    }
    #[inline(always)]
    fn choose(self, a: Lane64, b: Lane64, yes: Lane64, no: Lane64) -> Lane64 {
        std::array::from_fn(|l| if a[l] > b[l] { yes[l] } else { no[l] })
    }
    #[inline(always)]
    fn sum_everywhere(self, v: Lane64) -> Lane64 {
        [(v[0] + v[1]) + (v[2] + v[3]); 4]
    }
    #[inline(always)]
    fn last_everywhere(self, v: Lane64) -> Lane64 {
        [v[3]; 4]
    }
    #[inline(always)]
    fn clear_last(self, v: Lane64) -> Lane64 {
        [v[0], v[1], v[2], 0.0]
    }
    #[inline(always)]
    fn rotate(self, v: Lane64) -> Lane64 {
        [v[1], v[2], v[0], v[3]]
    }
    #[inline(always)]
    fn rotate_back(self, v: Lane64) -> Lane64 {
        [v[2], v[0], v[1], v[3]]
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Lane32, Lane64, Quad};
    use pulp::{cast, f32x4, f64x4, x86::V3};

    impl Quad for V3 {
        type F64 = f64x4;
        type F32 = f32x4;
        #[inline(always)]
        fn load(self, v: Lane64) -> f64x4 {
            cast(v)
        }
        #[inline(always)]
        fn store(self, v: f64x4) -> Lane64 {
            cast(v)
        }
        #[inline(always)]
        fn splat(self, v: f64) -> f64x4 {
            self.splat_f64x4(v)
        }
        #[inline(always)]
        fn add(self, a: f64x4, b: f64x4) -> f64x4 {
            self.add_f64x4(a, b)
        }
        #[inline(always)]
        fn sub(self, a: f64x4, b: f64x4) -> f64x4 {
            self.sub_f64x4(a, b)
        }
        #[inline(always)]
        fn mul(self, a: f64x4, b: f64x4) -> f64x4 {
            self.mul_f64x4(a, b)
        }
        #[inline(always)]
        fn load32(self, v: Lane32) -> f32x4 {
            cast(v)
        }
        #[inline(always)]
        fn store32(self, v: f32x4) -> Lane32 {
            cast(v)
        }
        #[inline(always)]
        fn splat32(self, v: f32) -> f32x4 {
            self.splat_f32x4(v)
        }
        #[inline(always)]
        fn add32(self, a: f32x4, b: f32x4) -> f32x4 {
            self.add_f32x4(a, b)
        }
        #[inline(always)]
        fn sub32(self, a: f32x4, b: f32x4) -> f32x4 {
            self.sub_f32x4(a, b)
        }
        #[inline(always)]
        fn mul32(self, a: f32x4, b: f32x4) -> f32x4 {
            self.mul_f32x4(a, b)
        }
        #[inline(always)]
        fn widen(self, v: f32x4) -> f64x4 {
            self.convert_f32x4_to_f64x4(v)
        }
        #[inline(always)]
        fn sums32(self, [a, b, c]: [f32x4; 3]) -> f32x4 {
            // A transposition in registers: numbers that go through memory one by one stall the next row, which loads
            // them as one.
            let (a, b, c) = (cast(a), cast(b), cast(c));
            let sse = self.sse;
            let zero = sse._mm_setzero_ps();
            let (ab, c0) = (sse._mm_unpacklo_ps(a, b), sse._mm_unpacklo_ps(c, zero));
            let (ab_high, c_high) = (sse._mm_unpackhi_ps(a, b), sse._mm_unpackhi_ps(c, zero));
            let first: f32x4 = cast(sse._mm_movelh_ps(ab, c0));
            let second: f32x4 = cast(sse._mm_movehl_ps(c0, ab));
            let third: f32x4 = cast(sse._mm_movelh_ps(ab_high, c_high));
            self.add_f32x4(self.add_f32x4(first, second), third)
        }
        #[inline(always)]
        fn div(self, a: f64x4, b: f64x4) -> f64x4 {
            self.div_f64x4(a, b)
        }
        #[inline(always)]
        fn sqrt(self, v: f64x4) -> f64x4 {
            cast(self.avx._mm256_sqrt_pd(cast(v)))
        }
        #[inline(always)]
        fn abs(self, v: f64x4) -> f64x4 {
            self.abs_f64x4(v)
        }
        #[inline(always)]
        fn choose(self, a: f64x4, b: f64x4, yes: f64x4, no: f64x4) -> f64x4 {
            self.select_f64x4(self.cmp_gt_f64x4(a, b), yes, no)
        }
        #[inline(always)]
        fn sum_everywhere(self, v: f64x4) -> f64x4 {
            let neighbors: f64x4 = cast(self.avx._mm256_permute_pd::<0b0101>(cast(v)));
            let pairs = self.add_f64x4(v, neighbors);
            self.add_f64x4(
                pairs,
                cast(self.avx._mm256_permute2f128_pd::<0b0000_0001>(cast(pairs), cast(pairs))),
            )
        }
        #[inline(always)]
        fn last_everywhere(self, v: f64x4) -> f64x4 {
            cast(self.avx2._mm256_permute4x64_pd::<0b11_11_11_11>(cast(v)))
        }
        #[inline(always)]
        fn clear_last(self, v: f64x4) -> f64x4 {
            cast(self.avx._mm256_blend_pd::<0b1000>(cast(v), cast(self.splat_f64x4(0.0))))
        }
        #[inline(always)]
        fn rotate(self, v: f64x4) -> f64x4 {
            // Lane k of the result is lane (bits 2k, 2k + 1) of the source.
            cast(self.avx2._mm256_permute4x64_pd::<0b11_00_10_01>(cast(v)))
        }
        #[inline(always)]
        fn rotate_back(self, v: f64x4) -> f64x4 {
            cast(self.avx2._mm256_permute4x64_pd::<0b11_01_00_10>(cast(v)))
        }
    }
}

/// A loop over numbers with all that it reads and writes.
///
/// `run` and everything it calls must be `#[inline(always)]`: only then is it compiled along by [`vectorized`].
pub(crate) trait Kernel {
    type Output;
    fn run<Q: Quad>(self, quad: Q) -> Self::Output;
}

/// Runs a kernel with the widest lanes that the processor has.
#[inline(always)]
pub(crate) fn vectorized<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(quad) = pulp::x86::V3::try_new() {
        struct Dispatched<K>(K, pulp::x86::V3);
        impl<K: Kernel> pulp::NullaryFnOnce for Dispatched<K> {
            type Output = K::Output;
            #[inline(always)]
            fn call(self) -> K::Output {
                self.0.run(self.1)
            }
        }
        return quad.vectorize(Dispatched(kernel, quad));
    }
    kernel.run(Portable)
}

/// Vectors that a kernel reads in f64.
pub(crate) trait Lanes: Copy {
    /// Whether the lanes are f32.
    const NARROW: bool;
    fn load_wide<Q: Quad>(self, quad: Q) -> Q::F64;
    fn splats<Q: Quad>(self, quad: Q) -> [Q::F64; 3];
    fn first3(self) -> [f64; 3];
}

impl Lanes for Lane64 {
    const NARROW: bool = false;
    #[inline(always)]
    fn load_wide<Q: Quad>(self, quad: Q) -> Q::F64 {
        quad.load(self)
    }
    #[inline(always)]
    fn splats<Q: Quad>(self, quad: Q) -> [Q::F64; 3] {
        [quad.splat(self[0]), quad.splat(self[1]), quad.splat(self[2])]
    }
    #[inline(always)]
    fn first3(self) -> [f64; 3] {
        [self[0], self[1], self[2]]
    }
}

impl Lanes for Lane32 {
    const NARROW: bool = true;
    #[inline(always)]
    fn load_wide<Q: Quad>(self, quad: Q) -> Q::F64 {
        quad.widen(quad.load32(self))
    }
    #[inline(always)]
    fn splats<Q: Quad>(self, quad: Q) -> [Q::F64; 3] {
        self.first3().map(|v| quad.splat(v))
    }
    #[inline(always)]
    fn first3(self) -> [f64; 3] {
        [f64::from(self[0]), f64::from(self[1]), f64::from(self[2])]
    }
}

/// Numbers of an array that kernels read four at a time.
pub(crate) trait Weight: Copy {
    fn load_four<Q: Quad>(quad: Q, values: &[Self], at: usize) -> Q::F64;
}

impl Weight for f64 {
    #[inline(always)]
    fn load_four<Q: Quad>(quad: Q, values: &[f64], at: usize) -> Q::F64 {
        quad.load_at(values, at)
    }
}

impl Weight for f32 {
    #[inline(always)]
    fn load_four<Q: Quad>(quad: Q, values: &[f32], at: usize) -> Q::F64 {
        quad.widen(quad.load32_at(values, at))
    }
}

/// The block at `at` and the three numbers behind it.
#[inline(always)]
pub(crate) fn block12<T>(values: &[T], at: usize) -> &[T; 12] {
    values[at..at + 12].try_into().unwrap_or_else(|_| unreachable!("a range of twelve"))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Product<'a>(&'a [f64; 12], &'a [f32; 12], Lane64);
    impl Kernel for Product<'_> {
        type Output = (Lane64, [Lane64; 3], Lane32, Lane64);
        #[inline(always)]
        fn run<Q: Quad>(self, quad: Q) -> Self::Output {
            let x = quad.load(self.2);
            let mut acc = [quad.splat(0.0); 3];
            quad.accumulate(&mut acc, self.0, x);
            let narrow = self.2.map(|v| v as f32);
            let splats = [quad.splat32(narrow[0]), quad.splat32(narrow[1]), quad.splat32(narrow[2])];
            (
                quad.store(quad.transposed(self.0, self.2.splats(quad))),
                acc.map(|a| quad.store(a)),
                quad.store32(quad.transposed32(self.1, splats)),
                quad.store(quad.symmetric_times(self.0, 0, x)),
            )
        }
    }

    #[test]
    fn the_processor_does_not_change_bits() {
        let block: [f64; 12] = std::array::from_fn(|k| (k as f64 * 0.37).sin());
        let narrow = block.map(|v| v as f32);
        let x = [0.1, -0.7, 1.3, 0.0];
        let wide = vectorized(Product(&block, &narrow, x));
        assert_eq!(wide, Product(&block, &narrow, x).run(Portable));
        let expected = block[0] * x[0] + block[1] * x[1] + block[2] * x[2];
        assert_eq!(sum3(wide.1[0]), expected);
        assert_eq!(wide.0[1], block[1] * x[0] + block[4] * x[1] + block[7] * x[2]);
        // Diagonal 0, 1, 2 and entries 01, 12, 02 in places 3, 4, 5.
        let rows = [[0, 3, 5], [3, 1, 4], [5, 4, 2]];
        for (r, row) in rows.iter().enumerate() {
            let expected: f64 = row.iter().zip(x).map(|(&k, x)| block[k] * x).sum();
            assert!((wide.3[r] - expected).abs() < 1e-15);
        }
        assert_eq!(wide.3[3], 0.0);
    }
}
