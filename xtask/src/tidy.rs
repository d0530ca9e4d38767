//! Layering, registries, names and the map, held by a machine.

use cargo_metadata::{DependencyKind, MetadataCommand};
use std::path::{Path, PathBuf};

/// Longest source file in lines.
const MAX_LINES: usize = 520;

/// Crate, workspace crates it may depend on, outside crates it may depend on (`*` = any).
const LAYERS: &[(&str, &[&str], &[&str])] = &[
    ("sim-core", &[], &["nalgebra", "pulp", "rayon", "serde", "thiserror"]),
    ("sim-linalg", &[], &["faer", "nalgebra", "pulp", "rayon", "serde", "thiserror"]),
    (
        "sim-integrate",
        &["sim-core", "sim-linalg"],
        &["nalgebra", "serde", "serde_json", "strsim", "thiserror"],
    ),
    ("sim-pbd", &["sim-core"], &["*"]),
    ("sim-fem", &["sim-core", "sim-linalg"], &["faer", "nalgebra", "pulp", "serde", "thiserror"]),
    ("sim-verify", &["sim-core"], &["nalgebra", "proptest", "serde", "serde_json", "thiserror"]),
    ("sim-io", &["sim-core", "sim-linalg", "sim-integrate", "sim-pbd", "sim-fem"], &["*"]),
    (
        "sim-cli",
        &["sim-core", "sim-linalg", "sim-integrate", "sim-pbd", "sim-fem", "sim-io", "sim-verify"],
        &["*"],
    ),
    (
        "xtask",
        &[
            "sim-core",
            "sim-linalg",
            "sim-integrate",
            "sim-pbd",
            "sim-fem",
            "sim-io",
            "sim-verify",
            "sim-benches",
        ],
        &["*"],
    ),
    (
        "sim-benches",
        &["sim-core", "sim-linalg", "sim-integrate", "sim-pbd", "sim-fem", "sim-io", "sim-verify"],
        &["*"],
    ),
];

/// Crates that must never reach faer, directly or not.
const WITHOUT_FAER: &[&str] = &["sim-core", "sim-pbd", "sim-verify"];

/// Folder of one-file-per-thing modules and the file that holds its registry.
const REGISTRIES: &[(&str, &str)] = &[
    ("crates/sim-core/src/force", "crates/sim-core/src/force.rs"),
    ("crates/sim-core/src/material", "crates/sim-core/src/material.rs"),
    ("crates/sim-pbd/src/constraints", "crates/sim-pbd/src/constraints.rs"),
    ("crates/sim-fem/src/elements", "crates/sim-fem/src/elements.rs"),
    ("crates/sim-integrate/src/steppers", "crates/sim-integrate/src/steppers.rs"),
    ("crates/sim-linalg/src/preconditioners", "crates/sim-linalg/src/preconditioners.rs"),
    ("crates/sim-verify/src/problems", "crates/sim-verify/src/problems.rs"),
];

/// Words that say nothing about what a type is.
const BANNED_IN_TYPES: &[&str] = &[
    "Manager", "Handler", "Helper", "Util", "Engine", "Data", "Base", "Impl", "Wrapper", "Config", "Settings",
];

/// All findings, empty when the tree is tidy.
pub fn check(root: &Path) -> Vec<String> {
    let mut findings = Vec::new();
    layers(root, &mut findings);
    registries(root, &mut findings);
    let mut files = Vec::new();
    for folder in ["crates", "xtask", "benches"] {
        collect(&root.join(folder), &mut files);
    }
    for file in &files {
        let name = file.strip_prefix(root).unwrap_or(file).display().to_string();
        match std::fs::read_to_string(file) {
            Ok(text) => source(&name, &text, &mut findings),
            Err(error) => findings.push(format!("{name}: {error}")),
        }
    }
    documents(root, &mut findings);
    findings
}

fn layers(root: &Path, findings: &mut Vec<String>) {
    let metadata = match MetadataCommand::new().manifest_path(root.join("Cargo.toml")).exec() {
        Ok(metadata) => metadata,
        Err(error) => return findings.push(format!("cargo metadata: {error}")),
    };
    let members = metadata.workspace_packages();
    let is_member = |name: &str| members.iter().any(|package| package.name.as_str() == name);
    for package in &members {
        let Some((_, inside, outside)) = LAYERS.iter().find(|row| row.0 == package.name.as_str()) else {
            findings.push(format!("{} has no row in the layer table (xtask/src/tidy.rs)", package.name));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|d| d.kind == DependencyKind::Normal) {
            let name = dependency.name.as_str();
            let allowed = if is_member(name) { inside } else { outside };
            if !allowed.contains(&name) && !allowed.contains(&"*") {
                findings.push(format!("{} may not depend on {name}", package.name));
            }
        }
    }
    // Normal dependencies only; with default features off nothing below these may bring faer in.
    let Some(resolve) = &metadata.resolve else {
        return findings.push("cargo metadata resolved nothing".into());
    };
    for package in members.iter().filter(|p| WITHOUT_FAER.contains(&p.name.as_str())) {
        let (mut seen, mut stack) = (vec![package.id.clone()], vec![package.id.clone()]);
        while let Some(id) = stack.pop() {
            let node = resolve.nodes.iter().find(|node| node.id == id);
            for dep in node.into_iter().flat_map(|node| &node.deps) {
                if dep.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal)
                    && !seen.contains(&dep.pkg)
                {
                    seen.push(dep.pkg.clone());
                    stack.push(dep.pkg.clone());
                }
            }
        }
        if seen.iter().any(|id| metadata[id].name.as_str() == "faer") {
            findings.push(format!("{} reaches faer", package.name));
        }
    }
}

/// Every file of a registry's folder is declared in the registry's file and used there.
fn registries(root: &Path, findings: &mut Vec<String>) {
    for (folder, registry) in REGISTRIES {
        let Ok(text) = std::fs::read_to_string(root.join(registry)) else {
            findings.push(format!("{registry}: registry file is missing"));
            continue;
        };
        let names = std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
        for name in names
            .filter_map(|entry| entry.file_name().to_string_lossy().strip_suffix(".rs").map(str::to_owned))
        {
            if !text.contains(&format!("mod {name};")) {
                findings.push(format!("{folder}/{name}.rs is not a module of {registry}"));
            }
            let uses = text.matches(&format!("{name}::")).count();
            let shared = text.contains(&format!("// shared: {name}"));
            if uses == 0 && !shared {
                findings.push(format!("{folder}/{name}.rs has no entry in the registry of {registry}"));
            }
        }
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn source(name: &str, text: &str, findings: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > MAX_LINES {
        findings.push(format!("{name}: {lines} lines, more than {MAX_LINES}: split it by idea"));
    }
    // Cargo takes tests/common.rs for a test of its own.
    if name.ends_with("/mod.rs") && !name.contains("/tests/") {
        findings.push(format!("{name}: module files are foo.rs + foo/, not mod.rs"));
    }
    if text.contains("allow(unsafe_code)") && !name.contains("kernel") && !name.starts_with("xtask") {
        findings.push(format!("{name}: unsafe code is allowed only in a file named after its kernel"));
    }
    // Written in two halves so that this file passes its own check.
    let unfinished = [
        concat!("to", "do!("),
        concat!("unimple", "mented!("),
        concat!("db", "g!("),
        concat!("#[ig", "nore"),
    ];
    for (number, line) in text.lines().enumerate() {
        let at = format!("{name}:{}", number + 1);
        for word in unfinished {
            if line.contains(word) {
                findings.push(format!("{at}: {word} is not for this repository"));
            }
        }
        let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
        if let (Some("struct" | "enum" | "trait" | "type"), Some(rest)) = (words.next(), words.next()) {
            let type_name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if let Some(banned) = BANNED_IN_TYPES.iter().find(|banned| ends_or_holds(&type_name, banned)) {
                findings.push(format!("{at}: type name {type_name} holds the empty word {banned}"));
            }
        }
    }
}

/// Whether `banned` stands in `name` as a whole camel-case word.
fn ends_or_holds(name: &str, banned: &str) -> bool {
    name.match_indices(banned).any(|(start, _)| {
        let after = name[start + banned.len()..].chars().next();
        after.is_none_or(|c| !c.is_lowercase())
    })
}

fn documents(root: &Path, findings: &mut Vec<String>) {
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_default();
    let map = read("docs/architecture.md");
    for (name, ..) in LAYERS {
        let lives = root.join("crates").join(name).exists() || root.join(name).exists();
        if lives && !map.contains(&format!("`{name}`")) {
            findings.push(format!("docs/architecture.md does not mention `{name}`"));
        }
    }
    for command in ["cargo sim run rope", "cargo test --workspace"] {
        if !read("README.md").contains(command) {
            findings.push(format!("README.md does not show `{command}`"));
        }
    }
    for name in ["CHANGELOG.md", "CONTRIBUTING.md", "LICENSE-MIT", "LICENSE-APACHE", "docs/conventions.md"] {
        if read(name).is_empty() {
            findings.push(format!("{name} is missing"));
        }
    }
    broken_links(root, findings);
}

/// Relative links in Markdown files point at files that exist.
fn broken_links(root: &Path, findings: &mut Vec<String>) {
    let mut pages: Vec<PathBuf> = Vec::new();
    for folder in [root.to_owned(), root.join("docs")] {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        pages.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap_or_default();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or_default();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            if !page.parent().unwrap_or(root).join(file).exists() {
                findings.push(format!(
                    "{}: link to {file} leads nowhere",
                    page.strip_prefix(root).unwrap_or(&page).display()
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_sources_are_found() {
        let mut findings = Vec::new();
        source("crates/x/src/mod.rs", "pub struct CacheManager;\nstruct Database;\n", &mut findings);
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert!(findings[1].contains("CacheManager"));
        findings.clear();
        source("crates/x/src/a.rs", &"x\n".repeat(MAX_LINES + 1), &mut findings);
        assert_eq!(findings.len(), 1);
        findings.clear();
        source("crates/x/src/a.rs", "#![allow(unsafe_code)]\nfn f() { to\u{64}o!() }", &mut findings);
        assert_eq!(findings.len(), 2, "{findings:?}");
    }
}
