//! Every command of the guide, run as printed there, says what the guide says it does.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A command of a `console` block and the lines that follow it.
struct Step {
    command: String,
    expected: Vec<String>,
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside && let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: command.to_owned(), expected: Vec::new() });
        } else if inside && let Some(step) = steps.last_mut() {
            step.expected.push(line.to_owned());
        }
    }
    steps
}

/// Whether a printed line is the expected one, `...` standing for anything.
fn agrees(expected: &str, printed: &str) -> bool {
    let mut pieces = expected.split("...");
    let Some(mut rest) = pieces.next().and_then(|first| printed.strip_prefix(first)) else { return false };
    let mut open = false;
    for piece in pieces {
        open = true;
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    open && expected.ends_with("...") || rest.is_empty()
}

#[test]
fn the_wildcard_is_no_blank_cheque() {
    assert!(agrees("met 0.02...", "met 0.0223") && agrees("a ... c", "a b c") && agrees("same", "same"));
    assert!(!agrees("met 0.02...", "met 0.03") && !agrees("a ... c", "a b d") && !agrees("same", "same as"));
}

#[test]
fn the_guide_says_what_the_program_does() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let work = tempfile::tempdir().expect("a folder");
    let mut run = 0;
    let mut pages: Vec<PathBuf> = std::fs::read_dir(root.join("docs/guide"))
        .expect("the guide")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    pages.sort();
    // Commands name files of the repository and write to `out`: both are there in the folder that they run in.
    let folder = work.path().join("docs/guide");
    std::fs::create_dir_all(&folder).expect("a folder");
    for page in &pages {
        let target = folder.join(page.file_name().expect("a name"));
        if page.is_file() {
            std::fs::copy(page, target).expect("copied");
        }
    }
    for page in pages.iter().filter(|page| page.extension().is_some_and(|extension| extension == "md")) {
        let text = std::fs::read_to_string(page).expect("readable");
        for Step { command, expected } in steps(&text) {
            let arguments =
                command.strip_prefix("cargo sim ").unwrap_or_else(|| panic!("{command}: not ours"));
            let output = Command::new(env!("CARGO_BIN_EXE_sim"))
                .args(arguments.split_whitespace())
                .env("CARGO", "cargo")
                .current_dir(work.path())
                .output()
                .expect("the program starts");
            let printed = [output.stdout, output.stderr]
                .map(|text| String::from_utf8_lossy(&text).into_owned())
                .concat();
            let mut lines = printed.lines();
            for wanted in &expected {
                assert!(
                    lines.any(|line| agrees(wanted, line)),
                    "{}: `{command}` does not print `{wanted}` (in this order):\n{printed}",
                    page.display()
                );
            }
            run += 1;
        }
    }
    assert!(run >= 5, "{run} commands");
}
