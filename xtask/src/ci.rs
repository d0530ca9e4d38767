//! What CI runs besides the tests.

use cargo_metadata::{MetadataCommand, TargetKind};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Runs every step, also after a failure, and returns what failed.
pub fn run(root: &Path) -> Vec<String> {
    let mut failures = Vec::new();
    let mut step = |name: &str, command: &mut Command| {
        let start = Instant::now();
        println!("--- {name}");
        let passed = command.current_dir(root).status().is_ok_and(|status| status.success());
        println!(
            "--- {name}: {} ({:.0} s)",
            if passed { "passed" } else { "FAILED" },
            start.elapsed().as_secs_f64()
        );
        if !passed {
            failures.push(format!("{name} failed"));
        }
    };
    step("format", cargo().args(["fmt", "--all", "--check"]));
    step(
        "clippy",
        cargo().args(["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]),
    );
    let docs = ["doc", "--workspace", "--no-deps", "--quiet", "--document-private-items"];
    step("docs", cargo().args(docs).env("RUSTDOCFLAGS", "-D warnings"));
    step("explicit only", cargo().args(["check", "--quiet", "-p", "sim-integrate", "--no-default-features"]));
    step("release build", cargo().args(["build", "--release", "--quiet", "-p", "sim-cli"]));
    for (package, example) in examples(root) {
        step(
            &format!("example {example}"),
            cargo().args(["run", "--release", "--quiet", "-p", &package, "--example", &example]),
        );
    }
    let scenes = scenes(root);
    if scenes.is_empty() {
        failures.push("docs/scenes holds no scene".to_owned());
    }
    let mut step = |name: &str, command: &mut Command| {
        let start = Instant::now();
        let output = command.current_dir(root).output();
        let passed = output.as_ref().is_ok_and(|output| output.status.success());
        println!(
            "--- {name}: {} ({:.1} s)",
            if passed { "passed" } else { "FAILED" },
            start.elapsed().as_secs_f64()
        );
        if !passed {
            if let Ok(output) = &output {
                println!(
                    "{}{}",
                    String::from_utf8_lossy(&output.stdout),
                    String::from_utf8_lossy(&output.stderr)
                );
            }
            failures.push(format!("{name} failed"));
        }
    };
    let sim = root.join("target/release/sim");
    let out = root.join("target/scenes");
    for scene in scenes {
        let file = format!("docs/scenes/{scene}");
        step(&format!("scene {scene}"), Command::new(&sim).args(["run", &file, "--json", "--out"]).arg(&out));
        // A healthy scene raises no alarm; a few seconds of a long one are enough to see.
        step(
            &format!("diagnose {scene}"),
            Command::new(&sim).args(["diagnose", &file, "--json", "--budget", "3"]),
        );
    }
    println!("--- verify");
    let verify = crate::verify::VerifyOptions { check: true, ..Default::default() };
    failures.extend(crate::verify::run(root, &verify));
    println!("--- tidy");
    failures.extend(crate::tidy::check(root));
    failures
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Package and name of every example in the workspace.
fn examples(root: &Path) -> Vec<(String, String)> {
    let metadata = MetadataCommand::new().no_deps().manifest_path(root.join("Cargo.toml")).exec();
    let Ok(metadata) = metadata else { return Vec::new() };
    (metadata.packages.iter())
        .flat_map(|package| {
            (package.targets.iter())
                .filter(|target| target.kind.contains(&TargetKind::Example))
                .map(|target| (package.name.to_string(), target.name.clone()))
        })
        .collect()
}

fn scenes(root: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        (std::fs::read_dir(root.join("docs/scenes")).into_iter().flatten().flatten())
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| {
                let extension = Path::new(name).extension();
                extension.is_some_and(|e| e == "toml" || e == "json")
            })
            .collect();
    names.sort();
    names
}
