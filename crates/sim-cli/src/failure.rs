//! Errors as exit codes, text and JSON.

use serde_json::{Map, Value, json};
use sim_io::output::OutputError;
use sim_io::{RunError, SceneError, StructureRunError};
use std::process::ExitCode;

/// An expectation was not met.
pub const EXPECTATION: u8 = 1;
const INPUT: u8 = 2;
const RUN: u8 = 3;

/// A command that did not do its work.
pub struct Failure {
    code: u8,
    kind: &'static str,
    message: String,
    details: Map<String, Value>,
}

impl Failure {
    /// A wrong command line.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { code: INPUT, kind: "usage", message: message.into(), details: Map::new() }
    }

    /// A run that came to nothing.
    pub fn run(kind: &'static str, message: impl Into<String>) -> Self {
        Self { code: RUN, kind, message: message.into(), details: Map::new() }
    }

    /// A result that could not be written.
    pub fn output(message: impl Into<String>) -> Self {
        Self { code: RUN, kind: "output", message: message.into(), details: Map::new() }
    }

    /// What kind of failure it is, as `--json` names it.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Says something more about the error.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Prints the error, as one JSON object on standard output or as text on standard error.
    pub fn report(&self, as_json: bool) -> ExitCode {
        if as_json {
            let mut error = Map::new();
            error.insert("kind".into(), self.kind.into());
            error.insert("message".into(), self.message.trim_end().into());
            error.extend(self.details.clone());
            println!("{}", json!({ "error": error }));
        } else {
            eprintln!("error: {}", self.message.trim_end());
            if let Some(hint) = self.details.get("hint").and_then(Value::as_str) {
                eprintln!("{hint}");
            }
        }
        ExitCode::from(self.code)
    }
}

/// An error with everything that caused it, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        source = inner.source();
    }
    text
}

impl From<SceneError> for Failure {
    fn from(error: SceneError) -> Self {
        let mut failure =
            Self { code: INPUT, kind: error.kind(), message: chain(&error), details: Map::new() };
        if let Some(place) = error.place() {
            failure = failure.with("file", place.file.as_str()).with("field", place.field.as_str());
            if let Some(line) = place.line {
                failure = failure.with("line", line);
            }
        }
        if let Some(value) = error.value() {
            failure = failure.with("value", value);
        }
        failure
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        if let RunError::Scene(error) = error {
            return error.into();
        }
        let code = if matches!(error, RunError::Resume(_)) { INPUT } else { RUN };
        let failure = Self { code, kind: error.kind(), message: chain(&error), details: Map::new() };
        match error.partial() {
            Some(partial) => failure
                .with("scene", partial.scene.as_str())
                .with("t", partial.times.last().copied())
                .with("steps", partial.steps)
                .with("dt", partial.dt)
                .with("step_limit", partial.stability.as_ref().and_then(|choice| choice.limit))
                .with("warnings", partial.warnings.clone()),
            None => failure,
        }
    }
}

impl From<StructureRunError> for Failure {
    fn from(error: StructureRunError) -> Self {
        match error {
            StructureRunError::Scene(error) => error.into(),
            other => Self { code: RUN, kind: other.kind(), message: chain(&other), details: Map::new() },
        }
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        Self { code: RUN, kind: "output", message: chain(&error), details: Map::new() }
    }
}
