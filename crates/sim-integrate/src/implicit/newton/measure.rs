//! How large a residual is.

use super::{Known, Stage, StageSolver};

impl StageSolver {
    /// Whether the trial residual is what rounding leaves, particle by particle.
    pub(super) fn within_rounding(&self) -> bool {
        self.trial.chunks_exact(3).zip(&self.floor).all(|(r, floor)| norm(r) <= *floor)
    }

    /// Largest |R|/m over the particles, where it is, and whether every particle is below `allowed` beyond its rounding; of a residual
    /// that has `stalled`, beyond the rounding of anything around.
    pub(super) fn accelerations_left(&self, allowed: f64, stalled: bool) -> (f64, usize, bool) {
        let floors = if stalled { &self.wide_floor } else { &self.floor };
        let (mut largest, mut particle, mut resolved) = (0.0_f64, 0, true);
        for (i, ((r, &m), &floor)) in self.residual.chunks_exact(3).zip(&self.mass).zip(floors).enumerate() {
            if m > 0.0 {
                let size = norm(r);
                resolved &= size <= floor + allowed * m;
                if size / m > largest || size.is_nan() {
                    largest = size / m;
                    particle = i;
                }
                if largest.is_nan() {
                    break;
                }
            }
        }
        (largest, particle, resolved)
    }

    /// Largest (h|f| + |r|)/m over the particles at the present iterate: what residuals are compared with.
    pub(super) fn scale(&self, stage: Stage, known: Known<'_>) -> f64 {
        let mut scale = 0.0_f64;
        for (i, (f, &m)) in self.f.chunks_exact(3).zip(&self.mass).enumerate() {
            if m > 0.0 {
                let impulse = known.impulse.get(3 * i..3 * i + 3).map_or(0.0, norm);
                scale = scale.max((stage.force_factor * norm(f) + impulse) / m);
            }
        }
        scale
    }
}

pub(super) fn norm(x: &[f64]) -> f64 {
    (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt()
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `sqrt(Σ |r|²/m)`.
pub(super) fn weighted_norm(r: &[f64], mass: &[f64]) -> f64 {
    let pairs = r.chunks_exact(3).zip(mass).filter(|&(_, &m)| m > 0.0);
    pairs.map(|(r, m)| (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) / m).sum::<f64>().sqrt()
}
