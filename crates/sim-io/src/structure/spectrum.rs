//! Amplitude spectrum of a curve.

use rustfft::{FftPlanner, num_complex::Complex};
use std::f64::consts::TAU;

/// Frequencies in Hz and amplitudes of `values` sampled every `dt` s, the mean taken out, through a Hann window whose gain is undone: a
/// sine of amplitude a in the middle of a bin reads a.
pub(super) fn amplitudes(values: &[f64], dt: f64) -> (Vec<f64>, Vec<f64>) {
    let n = values.len();
    if n < 8 {
        return (Vec::new(), Vec::new());
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let mut buffer: Vec<Complex<f64>> = (values.iter().enumerate())
        .map(|(i, value)| {
            let window = 0.5 - 0.5 * (TAU * i as f64 / n as f64).cos();
            Complex::new(window * (value - mean), 0.0)
        })
        .collect();
    FftPlanner::new().plan_fft_forward(n).process(&mut buffer);
    let half = n / 2;
    // Beyond the last visible peak there is nothing to see.
    // 2 for the two sides, 2 for the mean of the window.
    let amplitudes: Vec<f64> = buffer[..half].iter().map(|c| 4.0 * c.norm() / n as f64).collect();
    let peak = amplitudes.iter().copied().fold(0.0, f64::max);
    let seen = amplitudes.iter().rposition(|&a| a > 5e-3 * peak).unwrap_or(0);
    let kept = half.min((1.3 * seen as f64).ceil() as usize + 8);
    let frequencies = (0..kept).map(|i| i as f64 / (n as f64 * dt)).collect();
    (frequencies, amplitudes[..kept].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sine_reads_its_amplitude_at_its_frequency() {
        let (dt, n, f, a) = (0.01, 1000, 7.0, 0.25);
        let values: Vec<f64> = (0..n).map(|i| 3.0 + a * (TAU * f * f64::from(i) * dt).sin()).collect();
        let (frequencies, amplitudes) = amplitudes(&values, dt);
        let peak = (0..frequencies.len()).max_by(|&i, &j| amplitudes[i].total_cmp(&amplitudes[j])).unwrap();
        assert!((frequencies[peak] - f).abs() < 1e-9);
        assert!((amplitudes[peak] - a).abs() < 1e-9);
    }
}
