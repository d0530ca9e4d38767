//! The frequency of a sampled signal.

use std::f64::consts::TAU;

/// Fewest periods in a window for a spectral peak: with fewer, the peak at the negative frequency reaches over.
const MIN_PERIODS: f64 = 8.0;

/// Mean frequency in Hz from crossings of the time average, each placed by a straight line between two samples.
///
/// # Errors
/// A text saying what is missing: at least three crossings.
pub(crate) fn by_crossings(t: &[f64], y: &[f64]) -> Result<f64, String> {
    let mean = super::reduce::mean(t, y);
    let mut crossings = Vec::new();
    let mut before: Option<(f64, f64)> = None;
    for (&t, &y) in t.iter().zip(y) {
        let y = y - mean;
        if y == 0.0 {
            // The sample itself: it counts when the sign changes, with the next sample that has one.
            continue;
        }
        if let Some((t0, y0)) = before
            && (y0 < 0.0) != (y < 0.0)
        {
            crossings.push(t0 + (t - t0) * y0 / (y0 - y));
        }
        before = Some((t, y));
    }
    match crossings[..] {
        [first, .., last] if crossings.len() >= 3 => Ok(0.5 * (crossings.len() - 1) as f64 / (last - first)),
        _ => Err(format!("a frequency needs at least 3 crossings of the mean, found {}", crossings.len())),
    }
}

/// Frequency in Hz of the highest peak in `band` of the spectrum under a Blackman-Harris window (F. J. Harris, Proc. IEEE 66
/// (1978) 51: side lobes below -92 dB, main lobe of 4 / duration on either side).
///
/// # Errors
/// A text: no peak inside the band, or a window of too few periods.
///
/// # Limitations
/// Two vibrations closer than 4 / duration merge. Damping widens the peak but hardly shifts it.
pub(crate) fn by_peak(t: &[f64], y: &[f64], band: [f64; 2]) -> Result<f64, String> {
    let (first, duration) = (t[0], t[t.len() - 1] - t[0]);
    let weight = |t: f64| {
        let x = TAU * (t - first) / duration;
        0.35875 - 0.48829 * x.cos() + 0.14128 * (2.0 * x).cos() - 0.01168 * (3.0 * x).cos()
    };
    let weights: Vec<f64> = t.iter().map(|&t| weight(t)).collect();
    let total: f64 = weights.iter().sum();
    let mean = weights.iter().zip(y).map(|(w, y)| w * y).sum::<f64>() / total;
    let signal: Vec<f64> = weights.iter().zip(y).map(|(w, y)| w * (y - mean)).collect();
    let power = |f: f64| {
        let (mut re, mut im) = (0.0, 0.0);
        for (&t, &y) in t.iter().zip(&signal) {
            let (sin, cos) = (TAU * f * (t - first)).sin_cos();
            re += y * cos;
            im += y * sin;
        }
        re * re + im * im
    };
    let step = 0.25 / duration;
    let count = ((band[1] - band[0]) / step).ceil().max(4.0) as usize;
    let at = |i: usize| band[0] + (band[1] - band[0]) * i as f64 / count as f64;
    let powers: Vec<f64> = (0..=count).map(|i| power(at(i))).collect();
    let best = (0..=count).max_by(|&a, &b| powers[a].total_cmp(&powers[b])).unwrap_or(0);
    if best == 0 || best == count || powers[best] == 0.0 {
        return Err(format!("no spectral peak between {} and {} Hz", band[0], band[1]));
    }
    let f = maximum(power, at(best - 1), at(best + 1));
    if f * duration < MIN_PERIODS {
        return Err(format!(
            "{duration} s are {:.1} periods of {f:.4} Hz, at least {MIN_PERIODS} are needed",
            f * duration
        ));
    }
    Ok(f)
}

/// Place of the maximum between `low` and `high` by golden section, to the rounding of the function.
fn maximum(function: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let ratio = 0.5 * (5.0_f64.sqrt() - 1.0);
    let (mut a, mut b) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_a, mut at_b) = (function(a), function(b));
    for _ in 0..60 {
        if at_a < at_b {
            (low, a, at_a) = (a, b, at_b);
            b = low + ratio * (high - low);
            at_b = function(b);
        } else {
            (high, b, at_b) = (b, a, at_a);
            a = high - ratio * (high - low);
            at_a = function(a);
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(duration: f64, count: usize, signal: impl Fn(f64) -> f64) -> (Vec<f64>, Vec<f64>) {
        let t: Vec<f64> = (0..=count).map(|i| 2.0 + duration * i as f64 / count as f64).collect();
        let y = t.iter().map(|&t| signal(t)).collect();
        (t, y)
    }

    #[test]
    fn crossings_find_one_vibration() {
        let (t, y) = samples(10.0, 1000, |t| 3.0 + 0.2 * (TAU * 1.37 * t + 0.4).sin());
        assert!((by_crossings(&t, &y).unwrap() - 1.37).abs() < 1e-3);
        let (t, y) = samples(10.0, 1000, |t| t);
        assert!(by_crossings(&t, &y).unwrap_err().contains("found 1"));
        let (t, y) = samples(1.0, 100, |_| 2.0);
        assert!(by_crossings(&t, &y).unwrap_err().contains("found 0"));
    }

    #[test]
    fn peaks_tell_three_vibrations_apart() {
        let parts = [(1.0, 0.42383), (0.3, 0.97287), (0.1, 1.52515)];
        let (t, y) =
            samples(60.0, 3000, |t| 5.0 + parts.iter().map(|(a, f)| a * (TAU * f * t).cos()).sum::<f64>());
        for (_, f) in parts {
            let found = by_peak(&t, &y, [f - 0.2, f + 0.2]).unwrap();
            assert!((found - f).abs() < 1e-5 * f, "{found} {f}");
        }
        assert!(by_peak(&t, &y, [0.6, 0.75]).is_err(), "the slope of a neighbor is no peak");
        let (t, y) = samples(10.0, 500, |t| (TAU * 0.42 * t).cos());
        assert!(by_peak(&t, &y, [0.2, 0.7]).unwrap_err().contains("periods"));
    }
}
