//! `cargo xtask tidy|ci|verify|bench`: the repository's own checks and measurements.

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
    /// Run performance workloads in a release build; `cargo xtask bench --help` tells more
    #[command(disable_help_flag = true)]
    Bench {
        /// Passed on to the benchmark program
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Judge every claim by theory and reference cases: table, JSON, page and docs/verification.md
    Verify(xtask::verify::VerifyOptions),
    /// Everything CI checks besides the tests: format, clippy, tidy, docs, every example and scene
    Ci,
}

fn main() -> ExitCode {
    let failures = match Arguments::parse().task {
        Task::Tidy => xtask::tidy::check(&xtask::root()),
        Task::Bench { arguments } => xtask::bench::run(&xtask::root(), &arguments),
        Task::Verify(options) => xtask::verify::run(&xtask::root(), &options),
        Task::Ci => xtask::ci::run(&xtask::root()),
    };
    for failure in &failures {
        eprintln!("error: {failure}");
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
