//! Peer programs: each prints one JSON object per run.

use crate::Context;
use serde_json::Value;
use std::process::Command;

/// Runs `program` from the peers' folder and parses the object it prints; `None` when it is not there.
///
/// # Errors
/// When it is there but fails or prints something else.
pub fn run(context: &Context, program: &str, arguments: &[&str]) -> Result<Option<Value>, String> {
    Ok(run_all(context, program, arguments)?.into_iter().next())
}

/// As [`run`], for programs that print several objects, one a line; other lines are skipped.
///
/// # Errors
/// When the program is there but fails or prints no object.
pub fn run_all(context: &Context, program: &str, arguments: &[&str]) -> Result<Vec<Value>, String> {
    let Some(file) = context.peers.as_ref().map(|dir| dir.join(program)).filter(|file| file.is_file()) else {
        return Ok(Vec::new());
    };
    let output = Command::new(&file)
        .args(arguments)
        .output()
        .map_err(|error| format!("{}: {error}", file.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("{} {arguments:?} ended with {}", file.display(), output.status));
    }
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error} in {text:?}", file.display());
    let objects: Vec<Value> = text
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).map_err(|error| failed(&error)))
        .collect::<Result<_, _>>()?;
    if objects.is_empty() { Err(failed(&"no object")) } else { Ok(objects) }
}

/// A number of a peer's object.
pub fn number(object: &Value, field: &str) -> Option<f64> {
    object.get(field).and_then(Value::as_f64)
}

/// The right answers, by workload and case.
///
/// # Panics
/// When the file in the repository is damaged.
pub fn expected() -> Value {
    serde_json::from_str(include_str!("../data/expected.json")).expect("benches/data/expected.json is valid")
}

/// Whether two numbers agree to `digits` significant digits.
pub fn agree(ours: f64, expected: f64, digits: i32) -> bool {
    (ours - expected).abs() <= 10f64.powi(-digits) * expected.abs()
}
