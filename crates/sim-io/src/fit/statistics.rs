//! Student's distribution.

/// The value that a variable of Student's distribution with `freedom` degrees of freedom stays below with `probability` > ½.
///
/// With t = √ν tan θ the density is proportional to cos^(ν-1) θ: Simpson's rule and bisection, good to about 1e-9.
pub(super) fn t_quantile(probability: f64, freedom: f64) -> f64 {
    let quarter = std::f64::consts::FRAC_PI_2;
    let integral = |end: f64| {
        let (n, density) = (2000_u32, |x: f64| x.cos().max(0.0).powf(freedom - 1.0));
        let h = end / f64::from(n);
        let inner: f64 = (1..n).map(|i| if i % 2 == 1 { 4.0 } else { 2.0 } * density(h * f64::from(i))).sum();
        h / 3.0 * (density(0.0) + inner + density(end))
    };
    let wanted = (2.0 * probability - 1.0) * integral(quarter);
    let (mut low, mut high) = (0.0, quarter);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if integral(middle) < wanted { low = middle } else { high = middle }
    }
    freedom.sqrt() * (0.5 * (low + high)).tan()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        // Abramowitz & Stegun, table 26.10.
        for (freedom, probability, t) in [
            (1.0, 0.975, 12.706),
            (2.0, 0.975, 4.303),
            (9.0, 0.975, 2.262),
            (10.0, 0.95, 1.812),
            (30.0, 0.995, 2.750),
        ] {
            assert!((t_quantile(probability, freedom) - t).abs() < 6e-4, "{freedom} {probability}");
        }
    }
}
