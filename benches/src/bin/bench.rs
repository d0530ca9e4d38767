//! Runs performance workloads; see `cargo xtask bench --help`.

use clap::Parser;
use sim_benches::workloads::{self, WORKLOADS};
use sim_benches::{Context, Row};
use std::process::ExitCode;

/// Run performance workloads beside their peers and check the answers
#[derive(Parser)]
#[command(name = "cargo xtask bench")]
struct Arguments {
    /// Workloads to run, e.g. W1 W4; all when none is named
    workloads: Vec<String>,
    /// Folder with built peer programs; each runs in turn in this run
    #[arg(long, value_name = "DIR")]
    peers: Option<std::path::PathBuf>,
    /// Folder with OBJ meshes for the workload `garments`
    #[arg(long, value_name = "DIR")]
    meshes: Option<std::path::PathBuf>,
    /// Write all rows to a file
    #[arg(long, value_name = "FILE")]
    json: Option<std::path::PathBuf>,
    /// Smaller sizes and fewer repeats
    #[arg(long)]
    quick: bool,
    /// Solve once by `auto` or `direct` and print the peak memory before and after; for the workload `memory`
    #[arg(long, hide = true, value_name = "METHOD", value_parser = ["auto", "direct"])]
    memory_probe: Option<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(method) = &arguments.memory_probe {
        println!("{}", workloads::memory::probe(method == "direct"));
        return ExitCode::SUCCESS;
    }
    for name in &arguments.workloads {
        if !WORKLOADS.iter().any(|workload| workload.id.eq_ignore_ascii_case(name)) {
            let known: Vec<&str> = WORKLOADS.iter().map(|workload| workload.id).collect();
            eprintln!("error: no workload `{name}`; there are {}", known.join(", "));
            return ExitCode::from(2);
        }
    }
    for (word, dir) in [("peers", &arguments.peers), ("meshes", &arguments.meshes)] {
        if let Some(dir) = dir.as_ref().filter(|dir| !dir.is_dir()) {
            eprintln!("error: {word}: `{}` is not a folder", dir.display());
            return ExitCode::from(2);
        }
    }
    let context = Context { peers: arguments.peers, meshes: arguments.meshes, quick: arguments.quick };
    let mut rows: Vec<Row> = Vec::new();
    for workload in WORKLOADS {
        let named = arguments.workloads.iter().any(|name| workload.id.eq_ignore_ascii_case(name));
        if !named && !arguments.workloads.is_empty() {
            continue;
        }
        println!("{}: {}", workload.id, workload.summary);
        (workload.run)(&context, &mut |row: Row| {
            println!("{}", row.line());
            rows.push(row);
        });
    }
    let missed = rows.iter().filter(|row| row.met() == Some(false)).count();
    let wrong = rows.iter().filter(|row| row.correct == Some(false)).count();
    println!("{} rows, {missed} goals missed, {wrong} wrong answers", rows.len());
    if let Some(file) = arguments.json {
        let text = serde_json::to_string_pretty(&rows).expect("rows are plain data");
        if let Err(error) = std::fs::write(&file, text) {
            eprintln!("error: cannot write {}: {error}", file.display());
            return ExitCode::from(2);
        }
    }
    if wrong > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
