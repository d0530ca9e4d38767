//! A claim with what was expected and what was measured: one row of a verification report.

use serde::Serialize;
use std::fmt;

/// What a measured number must satisfy. NaN satisfies nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Requirement {
    /// Within an absolute tolerance of the expected value.
    Near {
        /// Expected value.
        expected: f64,
        /// Largest distance from it.
        tolerance: f64,
    },
    /// Not above this.
    AtMost(f64),
    /// Not below this.
    AtLeast(f64),
    /// The check has nothing to complain about; its number of complaints is the measured value.
    NoComplaint,
}

/// One claim and its verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Unique id, parts separated by `/`: subject, study, case.
    pub id: String,
    /// What is claimed, in words.
    pub claim: String,
    /// What the measured value must satisfy.
    pub requirement: Requirement,
    /// Measured value; NaN when the measurement failed.
    pub measured: f64,
    /// Complaints of the check or the reason why nothing could be measured.
    pub complaints: Vec<String>,
    /// Where the expected value comes from.
    pub source: String,
    /// Reference case that the claim rests on.
    pub case: Option<String>,
}

impl Claim {
    fn new(
        id: impl Into<String>,
        claim: impl Into<String>,
        requirement: Requirement,
        measured: f64,
        source: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            claim: claim.into(),
            requirement,
            measured,
            complaints: Vec::new(),
            source: source.into(),
            case: None,
        }
    }

    /// `measured` must lie within `tolerance` (absolute) of `expected`.
    pub fn near(
        id: impl Into<String>,
        claim: impl Into<String>,
        (expected, tolerance): (f64, f64),
        measured: f64,
        source: impl Into<String>,
    ) -> Self {
        Self::new(id, claim, Requirement::Near { expected, tolerance }, measured, source)
    }

    /// `measured` must not be above `limit`.
    pub fn at_most(
        id: impl Into<String>,
        claim: impl Into<String>,
        limit: f64,
        measured: f64,
        source: impl Into<String>,
    ) -> Self {
        Self::new(id, claim, Requirement::AtMost(limit), measured, source)
    }

    /// `measured` must not be below `limit`.
    pub fn at_least(
        id: impl Into<String>,
        claim: impl Into<String>,
        limit: f64,
        measured: f64,
        source: impl Into<String>,
    ) -> Self {
        Self::new(id, claim, Requirement::AtLeast(limit), measured, source)
    }

    /// There must be no complaint.
    pub fn no_complaint(
        id: impl Into<String>,
        claim: impl Into<String>,
        complaints: Vec<String>,
        source: impl Into<String>,
    ) -> Self {
        let count = complaints.len() as f64;
        Self { complaints, ..Self::new(id, claim, Requirement::NoComplaint, count, source) }
    }

    /// Names the reference case behind the claim.
    #[must_use]
    pub fn case(self, id: impl Into<String>) -> Self {
        Self { case: Some(id.into()), ..self }
    }

    /// Turns a measurement that could not be made into a failed claim.
    #[must_use]
    pub fn because(mut self, complaint: impl fmt::Display) -> Self {
        self.complaints.push(complaint.to_string());
        if self.requirement == Requirement::NoComplaint {
            self.measured = self.complaints.len() as f64;
        }
        self
    }

    /// Whether the claim holds.
    pub fn pass(&self) -> bool {
        self.complaints.is_empty()
            && match self.requirement {
                Requirement::Near { expected, tolerance } => (self.measured - expected).abs() <= tolerance,
                Requirement::AtMost(limit) => self.measured <= limit,
                Requirement::AtLeast(limit) => self.measured >= limit,
                Requirement::NoComplaint => true,
            }
    }

    /// What was expected, in words: a number, a bound or `none` complaints.
    pub fn expected_text(&self) -> String {
        match self.requirement {
            Requirement::Near { expected, .. } => format!("{expected}"),
            Requirement::AtMost(limit) => format!("≤ {}", compact(limit)),
            Requirement::AtLeast(limit) => format!("≥ {}", compact(limit)),
            Requirement::NoComplaint => "no complaint".into(),
        }
    }

    /// The measured value or the first complaint, in words.
    pub fn measured_text(&self) -> String {
        match self.complaints.first() {
            Some(first) if self.complaints.len() == 1 => first.clone(),
            Some(first) => format!("{first} (and {} more)", self.complaints.len() - 1),
            None if self.requirement == Requirement::NoComplaint => "none".into(),
            None => compact(self.measured),
        }
    }

    /// The absolute tolerance, where there is one.
    pub fn tolerance(&self) -> Option<f64> {
        match self.requirement {
            Requirement::Near { tolerance, .. } => Some(tolerance),
            _ => None,
        }
    }
}

/// A number with at most six significant digits, in exponent form when that is shorter.
pub fn compact(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let size = x.abs().log10().floor();
    let trimmed = |text: String| {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    };
    if (-4.0..7.0).contains(&size) {
        trimmed(format!("{x:.*}", (5.0 - size).max(0.0) as usize))
    } else {
        let text = format!("{x:.5e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        format!("{}e{exponent}", trimmed(mantissa.to_owned()))
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}", self.id, self.expected_text())?;
        if let Some(tolerance) = self.tolerance() {
            write!(f, " ± {}", compact(tolerance))?;
        }
        write!(
            f,
            ", measured {}: {}",
            self.measured_text(),
            if self.pass() { "holds" } else { "does NOT hold" }
        )
    }
}

/// A claim as written to a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimRow {
    /// Unique id.
    pub id: String,
    /// Crate that makes the claim.
    #[serde(rename = "crate")]
    pub crate_name: String,
    /// In words.
    pub claim: String,
    /// Expected value or bound, in words.
    pub expected: String,
    /// Measured value; null when nothing could be measured.
    pub measured: Option<f64>,
    /// Absolute tolerance, where there is one.
    pub tolerance: Option<f64>,
    /// Verdict.
    pub pass: bool,
    /// Where the expected value comes from.
    pub source: String,
    /// Reference case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// Complaints.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<String>,
}

impl Claim {
    /// The row for a file.
    pub fn row(&self, crate_name: &str) -> ClaimRow {
        ClaimRow {
            id: self.id.clone(),
            crate_name: crate_name.to_owned(),
            claim: self.claim.clone(),
            expected: self.expected_text(),
            measured: self.measured.is_finite().then_some(self.measured),
            tolerance: self.tolerance(),
            pass: self.pass(),
            source: self.source.clone(),
            case: self.case.clone(),
            complaints: self.complaints.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_passes_with_nan_or_a_complaint() {
        let claims = |x: f64| {
            [
                Claim::near("a", "", (1.0, 0.1), x, ""),
                Claim::at_most("a", "", 1.5, x, ""),
                Claim::at_least("a", "", 0.5, x, ""),
            ]
        };
        assert!(claims(1.05).iter().all(Claim::pass));
        assert!(claims(f64::NAN).iter().all(|claim| !claim.pass()));
        assert!(claims(1.0).into_iter().all(|claim| !claim.because("broken").pass()));
        assert!(Claim::no_complaint("a", "", vec![], "").pass());
        assert!(!Claim::no_complaint("a", "", vec!["x".into()], "").pass());
        assert!(!Claim::near("a", "", (1.0, 0.1), 1.2, "").pass());
        assert!(!Claim::at_most("a", "", 1.0, 1.1, "").pass());
        assert!(!Claim::at_least("a", "", 1.0, 0.9, "").pass());
    }

    #[test]
    fn numbers_are_short() {
        for (x, text) in [
            (2.0, "2"),
            (0.05, "0.05"),
            (1e-10, "1e-10"),
            (1.9024984394500786, "1.9025"),
            (123456.0, "123456"),
            (-3.25e9, "-3.25e9"),
            (0.0, "0"),
            (100.0, "100"),
        ] {
            assert_eq!(compact(x), text);
        }
    }
}
