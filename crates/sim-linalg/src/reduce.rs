//! Sums in fixed chunks and fixed order.
//!
//! The order of additions depends on the length alone, never on the number of threads.

/// Scalars per chunk.
const CHUNK: usize = 4096;
const LANES: usize = 8;

#[inline]
fn chunk_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lane = [0.0; LANES];
    let (a_full, b_full) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let tail: f64 = a_full.remainder().iter().zip(b_full.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a_full.zip(b_full) {
        for k in 0..LANES {
            lane[k] += x[k] * y[k];
        }
    }
    ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7])) + tail
}

/// a · b.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "dot of slices of lengths {} and {}", a.len(), b.len());
    a.chunks(CHUNK).zip(b.chunks(CHUNK)).map(|(x, y)| chunk_dot(x, y)).sum()
}

/// The Euclidean norm; scaling keeps squares of tiny and huge vectors inside the range of doubles.
pub(crate) fn norm(a: &[f64]) -> f64 {
    let plain = dot(a, a);
    if plain.is_finite() && plain > f64::MIN_POSITIVE / f64::EPSILON {
        return plain.sqrt();
    }
    let largest = a.iter().fold(0.0_f64, |m, x| if x.abs() > m || x.is_nan() { x.abs() } else { m });
    if largest == 0.0 || !largest.is_finite() {
        return largest;
    }
    let sum: f64 =
        a.chunks(CHUNK).map(|c| c.iter().map(|x| (x / largest) * (x / largest)).sum::<f64>()).sum();
    largest * sum.sqrt()
}

/// x += alpha p, r -= alpha q, and returns the new r · r, in one pass.
pub(crate) fn step_and_dot(alpha: f64, p: &[f64], q: &[f64], x: &mut [f64], r: &mut [f64]) -> f64 {
    let chunks = x.chunks_mut(CHUNK).zip(r.chunks_mut(CHUNK)).zip(p.chunks(CHUNK).zip(q.chunks(CHUNK)));
    chunks
        .map(|((x, r), (p, q))| {
            for k in 0..x.len() {
                x[k] += alpha * p[k];
                r[k] -= alpha * q[k];
            }
            chunk_dot(r, r)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norm_survives_tiny_and_huge_vectors() {
        assert!((norm(&[3e-200, 4e-200]) / 5e-200 - 1.0).abs() < 1e-15);
        assert!((norm(&[3e200, -4e200]) / 5e200 - 1.0).abs() < 1e-15);
        assert_eq!(norm(&[0.0; 4]), 0.0);
        assert!(norm(&[1.0, f64::NAN]).is_nan());
        assert_eq!(norm(&[1.0, f64::INFINITY]), f64::INFINITY);
    }

    #[test]
    fn dot_matches_a_plain_sum() {
        let a: Vec<f64> = (0..10_003).map(|k| f64::from(k % 17) - 8.0).collect();
        let b: Vec<f64> = (0..10_003).map(|k| f64::from(k % 5)).collect();
        let plain: f64 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
        assert_eq!(dot(&a, &b), plain); // small integers: exact in any order
    }
}
