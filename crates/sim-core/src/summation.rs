//! Sums whose bits do not depend on luck.

/// The sum of `values` with Neumaier's compensation: for terms of one sign within one or two units in the last place of the
/// exact sum, in the order given.
///
/// Source: A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54 (1974) 39-51.
pub fn compensated_sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    // An infinite sum has no meaningful compensation (inf - inf).
    if sum.is_finite() { sum + lost } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_a_plain_sum_loses() {
        assert_eq!(compensated_sum([1.0, 1e100, 1.0, -1e100]), 2.0);
        let plain: f64 = [1.0, 1e100, 1.0, -1e100].iter().sum();
        assert_eq!(plain, 0.0, "the case must be one that a plain sum gets wrong");
        assert_eq!(compensated_sum([]), 0.0);
        assert_eq!(compensated_sum([f64::MAX, f64::MAX]), f64::INFINITY);
        assert!(compensated_sum([f64::NAN, 1.0]).is_nan());
    }
}
