//! Jacobi elliptic functions and the complete integral, for pendulum and Duffing solutions.

use std::f64::consts::FRAC_PI_2;

/// Complete elliptic integral of the first kind K(m), parameter `m = k²`, by the arithmetic-geometric mean.
///
/// # Panics
/// When `m` is not below 1.
pub fn complete_k(m: f64) -> f64 {
    assert!(m < 1.0, "K(m) needs m < 1, got {m}");
    let (mut a, mut b) = (1.0_f64, (1.0 - m).sqrt());
    while (a - b).abs() > 4.0 * f64::EPSILON * a {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    FRAC_PI_2 / (0.5 * (a + b))
}

/// `(sn, cn, dn)` of argument `u` and parameter `m` in [0, 1).
///
/// Descending Landen sequence: Abramowitz & Stegun, Handbook of Mathematical Functions (1964), section 16.4.
///
/// # Panics
/// When `m` is outside [0, 1).
pub fn jacobi(u: f64, m: f64) -> (f64, f64, f64) {
    assert!((0.0..1.0).contains(&m), "Jacobi functions need 0 <= m < 1, got {m}");
    let mut a = vec![1.0];
    let mut c = vec![m.sqrt()];
    let mut b = (1.0 - m).sqrt();
    while c[c.len() - 1].abs() > f64::EPSILON {
        let last = a[a.len() - 1];
        a.push(0.5 * (last + b));
        c.push(0.5 * (last - b));
        b = (last * b).sqrt();
    }
    let n = a.len() - 1;
    let mut phi = 2.0_f64.powf(n as f64) * a[n] * u;
    for i in (1..=n).rev() {
        phi = 0.5 * (phi + (c[i] / a[i] * phi.sin()).asin());
    }
    let (sn, cn) = phi.sin_cos();
    (sn, cn, (1.0 - m * sn * sn).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // Abramowitz & Stegun table 17.1: K(0) = π/2, K(0.5) = 1.85407 46773 01372.
        assert!((complete_k(0.0) - FRAC_PI_2).abs() < 1e-15);
        assert!((complete_k(0.5) - 1.854_074_677_301_372).abs() < 1e-14);
        // sn(K/2 | m) = 1 / sqrt(1 + sqrt(1 - m)), a classical identity.
        let m = 0.7_f64;
        let (sn, cn, dn) = jacobi(0.5 * complete_k(m), m);
        assert!((sn - 1.0 / (1.0 + (1.0 - m).sqrt()).sqrt()).abs() < 1e-14);
        assert!((sn * sn + cn * cn - 1.0).abs() < 1e-15);
        assert!((dn * dn + m * sn * sn - 1.0).abs() < 1e-14);
        // Without ellipticity they are the circular functions.
        let (sn, cn, dn) = jacobi(0.8, 0.0);
        assert!((sn - 0.8_f64.sin()).abs() < 1e-15 && (cn - 0.8_f64.cos()).abs() < 1e-15 && dn == 1.0);
    }

    #[test]
    fn derivative_of_sn_is_cn_dn() {
        let (m, u, h) = (0.6, 1.3, 1e-4);
        let sn = |u| jacobi(u, m).0;
        let slope = (8.0 * (sn(u + h) - sn(u - h)) - (sn(u + 2.0 * h) - sn(u - 2.0 * h))) / (12.0 * h);
        let (_, cn, dn) = jacobi(u, m);
        assert!((slope - cn * dn).abs() < 1e-11 && slope.abs() > 0.1);
    }
}
