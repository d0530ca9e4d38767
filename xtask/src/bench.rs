//! Performance workloads, always in a release build.

use std::path::Path;
use std::process::Command;

/// Builds and runs the benchmark program of `sim-benches` with `arguments`.
pub fn run(root: &Path, arguments: &[String]) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--release", "--quiet", "--manifest-path"])
        .arg(root.join("Cargo.toml"))
        .args(["-p", "sim-benches", "--bin", "bench", "--"])
        .args(arguments)
        .status();
    match status {
        Ok(status) if status.success() => Vec::new(),
        Ok(status) => vec![format!("the benchmark program ended with {status}")],
        Err(error) => vec![format!("cannot start cargo: {error}")],
    }
}
