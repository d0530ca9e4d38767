//! The `sim` command: run, check, advise, diagnose, converge, compare, list and describe scenes; fit material laws.

mod advise;
mod check;
mod compare;
mod converge;
mod describe;
mod diagnose;
mod edit;
mod failure;
mod fit;
mod list;
mod progress;
mod run;

use clap::{Parser, Subcommand};
use failure::Failure;
use std::process::ExitCode;

const EXIT_CODES: &str = "Exit codes:
  0  done; every expectation was met
  1  done; an expectation was not met, (converge) a probe does not converge, (advise, compare) no run is within the error, (diagnose) a fault was found
  2  bad input: the command line, the scene or a file it names
  3  the run failed: diverged, not converged, not settled, or its results could not be written";

/// Simulates flexible parts: ropes, belts, springs, cloth.
#[derive(Parser)]
#[command(name = "sim", version, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a scene and write its results.
    #[command(after_help = EXIT_CODES)]
    Run(run::RunArguments),
    /// List the built-in scenes.
    List(list::ListArguments),
    /// Check a scene without running it.
    #[command(after_help = EXIT_CODES)]
    Check(check::CheckArguments),
    /// Run a scene with finer and finer steps and say how far its results are from their limit.
    #[command(after_help = EXIT_CODES)]
    Converge(converge::ConvergeArguments),
    /// Recommend a method and its steps for a scene, with the numbers behind it.
    #[command(after_help = EXIT_CODES)]
    Advise(advise::AdviseArguments),
    /// Run a scene with every method and say which is the fastest within a wanted error.
    #[command(after_help = EXIT_CODES)]
    Compare(compare::CompareArguments),
    /// Find out what is wrong with a scene, with evidence and remedies.
    #[command(after_help = EXIT_CODES)]
    Diagnose(diagnose::DiagnoseArguments),
    /// Fit a material law to a table of stretch and stress.
    #[command(after_help = EXIT_CODES)]
    Fit(fit::FitArguments),
    /// Describe an integration method, or list them all.
    Describe(describe::DescribeArguments),
}

/// How the program is called: through cargo, where it is not on the path, or by its own name.
pub fn program() -> &'static str {
    if std::env::var_os("CARGO").is_some() { "cargo sim" } else { "sim" }
}

fn main() -> ExitCode {
    let json = std::env::args().any(|argument| argument == "--json");
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Help and version are no errors.
        Err(error) if json && error.use_stderr() => {
            return Failure::usage(error.to_string()).report(true);
        }
        Err(error) => error.exit(),
    };
    let done = match &cli.command {
        Command::Run(arguments) => run::execute(arguments),
        Command::List(arguments) => list::execute(arguments),
        Command::Check(arguments) => check::execute(arguments),
        Command::Converge(arguments) => converge::execute(arguments),
        Command::Advise(arguments) => advise::execute(arguments),
        Command::Compare(arguments) => compare::execute(arguments),
        Command::Diagnose(arguments) => diagnose::execute(arguments),
        Command::Fit(arguments) => fit::execute(arguments),
        Command::Describe(arguments) => describe::execute(arguments),
    };
    match done {
        Ok(code) => code,
        Err(failure) => failure.report(json),
    }
}
