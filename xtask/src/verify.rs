//! `cargo xtask verify`: every claim against theory and reference cases, as a table, JSON, a page and `docs/verification.md`.

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use sim_verify::ClaimRow;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

mod area_a;
mod area_b;
mod area_c;
mod area_d;
mod area_e;
mod area_f;
mod cases;
mod catalogue;
pub mod certificate;
mod charts;
mod constraints;
mod document;
mod elements;
mod forces;
mod limits;
mod links;
mod mutants;
mod open;
mod page;
mod solvers;
mod spring_layout;
mod steppers;
mod tunnelling;

use catalogue::{Job, Outcome, SECTIONS, Scope};

/// Where the page and the JSON rows go unless told otherwise.
const FOLDER: &str = "target/verify";

/// The record that is kept in the repository.
pub const DOCUMENT: &str = "docs/verification.md";

/// What to verify and where to write it.
#[derive(Args, Clone, Debug, Default)]
pub struct VerifyOptions {
    /// The short run (under a minute), which is also what `docs/verification.md` records
    #[arg(long)]
    pub quick: bool,
    /// Only claims whose id contains this, e.g. `leapfrog` or `order/kepler`
    #[arg(long, value_name = "FILTER")]
    pub only: Option<String>,
    /// Write the rows as JSON to this file (default: target/verify/rows.json)
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write docs/verification.md; implies --quick
    #[arg(long, conflicts_with = "only")]
    pub write: bool,
    /// Fail when docs/verification.md is not what --write would write; implies --quick
    #[arg(long, conflicts_with_all = ["only", "write"])]
    pub check: bool,
}

/// Runs the catalogue, prints and writes the result, and returns what failed.
pub fn run(root: &Path, options: &VerifyOptions) -> Vec<String> {
    let quick = options.quick || options.write || options.check;
    let start = Instant::now();
    let outcome = collect(Scope { quick }, options.only.as_deref());
    let rows = &outcome.rows;
    if rows.is_empty() {
        return vec![format!("no claim's id contains {:?}", options.only.as_deref().unwrap_or_default())];
    }
    print_table(rows, options.only.is_some());
    let mut failures: Vec<String> = Vec::new();
    for row in rows.iter().filter(|row| !row.pass) {
        failures.push(format!("{}: {}", row.id, document::measured_exactly(row)));
    }
    if options.only.is_none() {
        failures.extend(open::stale(rows));
    }
    let folder = root.join(FOLDER);
    let mut written = Vec::new();
    let mut write = |path: PathBuf, bytes: &[u8]| match sim_io::export::write_whole(&path, bytes) {
        Ok(()) => written.push(path),
        Err(error) => failures.push(format!("cannot write {}: {error}", path.display())),
    };
    match serde_json::to_vec_pretty(rows) {
        Ok(json) => write(options.json.clone().unwrap_or_else(|| folder.join("rows.json")), &json),
        Err(error) => eprintln!("warning: rows cannot be written as JSON: {error}"),
    }
    match page::render(&outcome, quick) {
        Ok(html) => write(folder.join("index.html"), html.as_bytes()),
        Err(error) => eprintln!("warning: the page cannot be made: {error}"),
    }
    for (name, text) in &outcome.scenes {
        write(folder.join(name), text.as_bytes());
    }
    let record = root.join(DOCUMENT);
    if options.write {
        write(record, document::render(&outcome).as_bytes());
    } else if options.check
        && let Some(difference) =
            document::difference(&std::fs::read_to_string(record).unwrap_or_default(), &outcome)
    {
        failures.push(format!("{DOCUMENT} is stale ({difference}): run cargo xtask verify --write"));
    }
    let failed = rows.iter().filter(|row| !row.pass).count();
    println!("\n{} claims, {failed} failed, {:.1} s", rows.len(), start.elapsed().as_secs_f64());
    for path in written {
        println!("{}", path.strip_prefix(root).unwrap_or(&path).display());
    }
    failures
}

/// Everything that was found.
#[derive(Debug, Default)]
pub struct Verification {
    /// One row per claim, in the order of the catalogue.
    pub rows: Vec<ClaimRow>,
    /// Charts of the page.
    charts: Vec<charts::Chart>,
    /// Survivors of the mutants and other remarks, in Markdown.
    notes: Vec<String>,
    /// Scene files of counterexamples: name and text.
    scenes: Vec<(String, String)>,
}

/// Carries out the jobs whose claims `only` asks for.
pub fn collect(scope: Scope, only: Option<&str>) -> Verification {
    let mut jobs: Vec<(&'static str, Job)> = Vec::new();
    for section in SECTIONS {
        jobs.extend((section.jobs)(scope).into_iter().map(|job| (section.crate_name, job)));
    }
    let full = |crate_name: &str, id: &str| format!("{crate_name}/{id}");
    if let Some(only) = only
        && jobs.iter().any(|(crate_name, job)| full(crate_name, &job.id).contains(only))
    {
        jobs.retain(|(crate_name, job)| full(crate_name, &job.id).contains(only));
    }
    let bar = if std::io::stderr().is_terminal() {
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {msg}");
        let bar = ProgressBar::new(jobs.len() as u64);
        bar.enable_steady_tick(Duration::from_millis(200));
        bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    } else {
        ProgressBar::hidden()
    };
    // Results are gathered in the order of the jobs: the same for any number of threads.
    let outcomes: Vec<Outcome> = jobs
        .par_iter()
        .map(|(_, job)| {
            bar.set_message(job.id.clone());
            let outcome = (job.run)(scope);
            bar.inc(1);
            outcome
        })
        .collect();
    bar.finish_and_clear();
    let mut verification = Verification::default();
    let mut errors = Vec::new();
    for ((crate_name, _), outcome) in jobs.iter().zip(outcomes) {
        verification.rows.extend(outcome.claims.iter().map(|claim| {
            let row = claim.row(crate_name);
            ClaimRow { id: full(crate_name, &row.id), ..row }
        }));
        verification.charts.extend(outcome.charts);
        verification.notes.extend(outcome.notes);
        verification.scenes.extend(outcome.scenes);
        errors.extend(outcome.orders);
    }
    verification.charts.splice(0..0, charts::errors(&errors));
    if let Some(only) = only {
        verification.rows.retain(|row| row.id.contains(only));
    }
    verification
}

fn print_table(rows: &[ClaimRow], all: bool) {
    // A thousand lines that hold help nobody: in full only what was asked for or failed.
    let mut groups: Vec<(String, usize, usize)> = Vec::new();
    for row in rows {
        let group = row.id.splitn(3, '/').take(2).collect::<Vec<_>>().join("/");
        match groups.last_mut() {
            Some((name, count, passed)) if *name == group => {
                *count += 1;
                *passed += usize::from(row.pass);
            }
            _ => groups.push((group, 1, usize::from(row.pass))),
        }
        if all || !row.pass {
            println!(
                "{} {:<58} expected {:<14} measured {:<24} {}",
                if row.pass { "ok  " } else { "FAIL" },
                row.id,
                document::expected(row),
                document::measured_exactly(row),
                row.claim
            );
        }
    }
    if !all {
        for (name, count, passed) in groups {
            println!("{} {name:<50} {passed} of {count}", if passed == count { "ok  " } else { "FAIL" });
        }
    }
}
