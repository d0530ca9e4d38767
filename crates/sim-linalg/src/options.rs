//! The error of an option outside its range.

/// An option outside the range that its documentation states.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[error("option `{field}` is {value}, but it must be {requirement}")]
pub struct OptionsError {
    /// Name of the field.
    pub field: &'static str,
    /// The value given, as text.
    pub value: String,
    /// The requirement that it misses.
    pub requirement: &'static str,
}

impl OptionsError {
    pub(crate) fn new(field: &'static str, value: impl std::fmt::Display, requirement: &'static str) -> Self {
        Self { field, value: format!("{value}"), requirement }
    }
}
