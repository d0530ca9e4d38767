//! `cargo xtask tidy|ci`: the repository's own checks.

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Repository tasks")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check layering, registries, names and the map
    Tidy,
    /// Everything CI checks besides the tests: format, clippy, tidy, docs, every example and scene
    Ci,
}

fn main() -> ExitCode {
    let failures = match Arguments::parse().task {
        Task::Tidy => xtask::tidy::check(&xtask::root()),
        Task::Ci => xtask::ci::run(&xtask::root()),
    };
    for failure in &failures {
        eprintln!("error: {failure}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
