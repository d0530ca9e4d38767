//! Errors of method names and options.

/// A method that cannot be made as asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// No method has this id.
    #[error("unknown method `{id}`{}", did_you_mean(.suggestions))]
    UnknownMethod {
        /// Id asked for.
        id: String,
        /// Ids that come close, best first.
        suggestions: Vec<&'static str>,
    },
    /// The method has no options, but one was given.
    #[error("method {method} has no options, but `{field}` is given")]
    NoOptions {
        /// Method id.
        method: &'static str,
        /// First option given.
        field: String,
    },
    /// An option is unknown or of the wrong type.
    #[error("options of {method}")]
    Parse {
        /// Method id.
        method: &'static str,
        /// Which option, and why.
        #[source]
        source: serde_json::Error,
    },
    /// A value is out of range.
    #[error("option {field} of {method} is {value}, must be {requirement}")]
    Value {
        /// Method id, or the name of the part that has the option.
        method: &'static str,
        /// Option.
        field: &'static str,
        /// Value found.
        value: f64,
        /// What it must be.
        requirement: &'static str,
    },
    /// An option of the linear solver is out of range.
    #[cfg(feature = "implicit")]
    #[error("options of the linear solver")]
    Solver {
        /// Which option, and why.
        #[source]
        source: sim_linalg::OptionsError,
    },
}

fn did_you_mean(suggestions: &[&'static str]) -> String {
    if suggestions.is_empty() {
        String::new()
    } else {
        format!("; did you mean {}?", suggestions.join(" or "))
    }
}
