//! The largest stable step by bisection.

/// A bisection that cannot start.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// Already the lower end is unstable.
    #[error("unstable already at {0}")]
    LowUnstable(f64),
    /// Even the upper end is stable.
    #[error("still stable at {0}")]
    HighStable(f64),
}

/// Bisects for the border between a stable `low` and an unstable `high` (any quantity: dt, ω dt, …) until the bracket is
/// narrower than `relative_tolerance` of its value; returns its middle.
///
/// # Limitations
/// Finds one border; a method with several stable intervals has more.
///
/// # Errors
/// [`LimitError`] when the bracket is none.
pub fn stability_limit(
    low: f64,
    high: f64,
    relative_tolerance: f64,
    mut is_stable: impl FnMut(f64) -> bool,
) -> Result<f64, LimitError> {
    if !is_stable(low) {
        return Err(LimitError::LowUnstable(low));
    }
    if is_stable(high) {
        return Err(LimitError::HighStable(high));
    }
    let (mut low, mut high) = (low, high);
    while high - low > relative_tolerance * high {
        let middle = 0.5 * (low + high);
        if is_stable(middle) { low = middle } else { high = middle }
    }
    Ok(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_border_and_refuses_a_bad_bracket() {
        let limit = stability_limit(0.1, 10.0, 1e-9, |x| x * x < 2.0).unwrap();
        assert!((limit - 2.0_f64.sqrt()).abs() < 1e-8);
        assert_eq!(stability_limit(2.0, 10.0, 1e-9, |x| x * x < 2.0), Err(LimitError::LowUnstable(2.0)));
        assert_eq!(stability_limit(0.1, 1.0, 1e-9, |x| x * x < 2.0), Err(LimitError::HighStable(1.0)));
    }
}
