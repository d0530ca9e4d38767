//! Damping coefficients from damping ratios.

use crate::material::{ValueError, not_negative, positive};

/// Rayleigh factors (of M in 1/s, of K in s) that give `ratios` of critical damping at two angular frequencies in rad/s:
/// ζ(ω) = a₀/(2ω) + a₁ω/2.
///
/// The damping is lowest between them, at ω = √(a₀/a₁), and grows without bound above: high modes are overdamped.
///
/// # Errors
/// [`ValueError`] for frequencies that are not positive and different, or negative ratios. The factors themselves
/// may come out negative for extreme ratios: that is an error too.
pub fn rayleigh_factors(angular_frequencies: [f64; 2], ratios: [f64; 2]) -> Result<[f64; 2], ValueError> {
    let [w1, w2] = angular_frequencies;
    positive("angular frequency", w1)?;
    positive("angular frequency", w2)?;
    not_negative("damping ratio", ratios[0])?;
    not_negative("damping ratio", ratios[1])?;
    let difference = (w2 - w1) * (w2 + w1);
    if difference == 0.0 {
        return Err(ValueError {
            field: "angular frequency",
            value: w2,
            requirement: "different from the first",
        });
    }
    let mass = 2.0 * w1 * w2 * (ratios[0] * w2 - ratios[1] * w1) / difference;
    let stiffness = 2.0 * (ratios[1] * w2 - ratios[0] * w1) / difference;
    not_negative("Rayleigh mass factor", mass)?;
    not_negative("Rayleigh stiffness factor", stiffness)?;
    Ok([mass, stiffness])
}

/// Damping ratio at an angular frequency in rad/s of Rayleigh factors.
#[must_use]
pub fn rayleigh_ratio(factors: [f64; 2], angular_frequency: f64) -> f64 {
    0.5 * (factors[0] / angular_frequency + factors[1] * angular_frequency)
}
