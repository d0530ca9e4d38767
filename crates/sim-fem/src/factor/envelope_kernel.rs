//! The loops of the envelope factor, compiled for the processor at hand. Sums have a fixed order: eight lanes, then pairwise,
//! so that the bits do not depend on the instructions chosen.

use pulp::Arch;

/// `LDLᵀ` in place: `lower` holds A on entry and L on return, `pivots` the diagonal of A and then D.
/// A zero pivot makes what follows not finite; the caller looks at the pivots in order.
pub(super) fn eliminate(
    first: &[u32],
    start: &[u32],
    lower: &mut [f64],
    pivots: &mut [f64],
    inverse_pivots: &mut [f64],
    scratch: &mut [f64],
) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for i in 0..pivots.len() {
                let (done, rest) = lower.split_at_mut(start[i] as usize);
                let from = first[i] as usize;
                let row = &mut rest[..i - from];
                // w = L D of this row, in `scratch`; L follows by dividing.
                for j in from..i {
                    let other_from = first[j] as usize;
                    let common = from.max(other_from);
                    let other = &done[start[j] as usize + common - other_from..start[j + 1] as usize];
                    scratch[j - from] = row[j - from] - lanes(&scratch[common - from..j - from], other);
                }
                let mut pivot = pivots[i];
                for (k, value) in row.iter_mut().enumerate() {
                    *value = scratch[k] * inverse_pivots[from + k];
                    pivot -= *value * scratch[k];
                }
                pivots[i] = pivot;
                inverse_pivots[i] = 1.0 / pivot;
            }
        },
    );
}

/// x ← L⁻¹ x.
pub(super) fn forward(first: &[u32], start: &[u32], lower: &[f64], x: &mut [f64]) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for i in 0..x.len() {
                let row = &lower[start[i] as usize..start[i + 1] as usize];
                x[i] -= lanes(row, &x[first[i] as usize..i]);
            }
        },
    );
}

/// x ← L⁻ᵀ D⁻¹ x.
pub(super) fn backward(first: &[u32], start: &[u32], lower: &[f64], inverse_pivots: &[f64], x: &mut [f64]) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for (value, inverse) in x.iter_mut().zip(inverse_pivots) {
                *value *= inverse;
            }
            for i in (0..x.len()).rev() {
                let row = &lower[start[i] as usize..start[i + 1] as usize];
                let (before, at) = x.split_at_mut(i);
                let xi = at[0];
                for (value, l) in before[first[i] as usize..].iter_mut().zip(row) {
                    *value -= l * xi;
                }
            }
        },
    );
}

/// Sum of products, four running sums.
#[inline(always)]
#[expect(
    clippy::inline_always,
    reason = "only inlined into the dispatched closures is it compiled for their instructions"
)]
fn lanes(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let mut sums = [0.0; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let (a_tail, b_tail) = (a4.remainder(), b4.remainder());
    for (a, b) in a4.zip(b4) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let mut tail = 0.0;
    for (a, b) in a_tail.iter().zip(b_tail) {
        tail += a * b;
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + tail
}
