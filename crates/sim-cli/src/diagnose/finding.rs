//! What a check found.

use crate::edit::Change;
use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The results are wrong, or there are none.
    Fault,
    /// Good to know; nothing is wrong.
    Note,
}

/// A cause, its evidence and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Word of the cause; those of [`super::checks::CHECKS`].
    pub cause: &'static str,
    pub severity: Severity,
    /// What is wrong, in a sentence.
    pub what: String,
    /// Numbers that show it.
    pub evidence: Vec<String>,
    /// What to do, in words.
    pub remedy: String,
    /// The same as changes of the scene; empty when it needs a person.
    pub changes: Vec<Change>,
}

impl Finding {
    pub fn fault(cause: &'static str, what: impl Into<String>) -> Self {
        Self {
            cause,
            severity: Severity::Fault,
            what: what.into(),
            evidence: Vec::new(),
            remedy: String::new(),
            changes: Vec::new(),
        }
    }

    pub fn note(cause: &'static str, what: impl Into<String>) -> Self {
        Self { severity: Severity::Note, ..Self::fault(cause, what) }
    }

    pub fn seen(mut self, evidence: impl Into<String>) -> Self {
        self.evidence.push(evidence.into());
        self
    }

    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }

    pub fn change(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }
}

/// A number as people read it: four digits, with an exponent only where that is shorter.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-3..1e5).contains(&size) {
        let digits = (3.0 - size.max(1e-9).log10().floor()).clamp(0.0, 6.0) as usize;
        let text = format!("{value:.digits$}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        text.to_owned()
    } else {
        format!("{value:.2e}")
    }
}
