//! `docs/verification.md`: the record of the quick run, the same on every machine.

use super::{Verification, open};
use sim_verify::claim::compact;
use sim_verify::reference::{areas, open_cases};
use sim_verify::{ClaimRow, reference};
use std::fmt::Write as _;

/// What was expected, in words.
pub(super) fn expected(row: &ClaimRow) -> String {
    match row.expected.parse::<f64>() {
        Ok(number) => compact(number),
        Err(_) => row.expected.clone(),
    }
}

/// What was measured, in six digits, or the complaints.
pub(super) fn measured_exactly(row: &ClaimRow) -> String {
    match (row.complaints.first(), row.measured) {
        (Some(first), _) if row.complaints.len() == 1 => first.clone(),
        (Some(first), _) => format!("{first} (and {} more)", row.complaints.len() - 1),
        (None, _) if row.expected == "no complaint" => "none".into(),
        (None, Some(measured)) => compact(measured),
        (None, None) => "nothing".into(),
    }
}

/// What was measured, rounded so that another machine's library functions and rounding do not show.
///
/// A number near an expected one keeps the digits down to a tenth of its tolerance; what is only bounded has two digits, and none where
/// it is rounding of the arithmetic.
fn measured(row: &ClaimRow) -> String {
    let Some(value) = row.measured.filter(|_| row.complaints.is_empty() && row.expected != "no complaint")
    else {
        return measured_exactly(row);
    };
    match row.tolerance {
        Some(tolerance) if tolerance > 0.0 => {
            let digits = (1.0 - tolerance.log10().floor()).clamp(0.0, 12.0) as usize;
            let text = format!("{value:.digits$}");
            // Through a number again, so that zeros at the end and the sign of zero go.
            text.parse::<f64>().map_or(text, |x| format!("{}", x + 0.0))
        }
        _ if value == 0.0 => "0".into(),
        _ if value.abs() < ROUNDING => "rounding".into(),
        _ => two_digits(value),
    }
}

/// Below this a measured distance is rounding of the arithmetic.
const ROUNDING: f64 = 1e-6;

fn two_digits(x: f64) -> String {
    let text = format!("{x:.1e}");
    text.parse::<f64>().map_or(text, compact)
}

/// Rows by crate and subject, in order.
pub(super) fn groups(rows: &[ClaimRow]) -> Vec<(String, Vec<&ClaimRow>)> {
    let mut groups: Vec<(String, Vec<&ClaimRow>)> = Vec::new();
    for row in rows {
        let parts: Vec<&str> = row.id.split('/').collect();
        let depth =
            if matches!(parts.get(1), Some(&("force" | "element" | "preconditioner"))) { 3 } else { 2 };
        let name = parts[..depth.min(parts.len())].join("/");
        match groups.iter_mut().find(|(other, _)| *other == name) {
            Some((_, list)) => list.push(row),
            None => groups.push((name, vec![row])),
        }
    }
    groups
}

/// Ids of the reference cases that no row rests on, by area.
pub(super) fn open_by_area(rows: &[ClaimRow]) -> Vec<(String, Vec<String>)> {
    let covered: Vec<&str> = rows.iter().filter_map(|row| row.case.as_deref()).collect();
    let open = open_cases(&covered);
    areas()
        .map(|(letter, name)| {
            let ids: Vec<String> =
                open.iter().filter(|case| case.area() == letter).map(|case| case.id.clone()).collect();
            let all = reference::cases().iter().filter(|case| case.area() == letter).count();
            (format!("{letter}, {name} ({} of {all} open)", ids.len()), ids)
        })
        .collect()
}

/// A table cell: bars would end it.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The whole document.
pub(super) fn render(found: &Verification) -> String {
    let mut text = String::from(
        "# Verification\n\n\
         What every method, force and bound promises, and what was measured. `cargo xtask verify` measures it anew, prints the table, writes\n\
         `target/verify/index.html` (convergence, stability and work-precision charts) and `target/verify/rows.json`, and fails when a claim does\n\
         not hold. This file records the quick run (`--quick`; written by `--write`, held up to date by `cargo xtask ci`). Numbers are rounded so\n\
         that they do not depend on the machine; distances below 1e-6 are called rounding. The full run repeats the same claims with\n\
         100,000 instead of 2,000 random networks.\n\n",
    );
    let held = found.rows.iter().filter(|row| row.pass).count();
    let _ = writeln!(text, "{held} of {} claims hold.\n", found.rows.len());
    for (name, rows) in groups(&found.rows) {
        let _ = writeln!(
            text,
            "## {name}\n\n| claim | expected | tolerance | measured | |\n|---|---|---|---|---|"
        );
        for row in rows {
            let tolerance = row.tolerance.map_or_else(String::new, two_digits);
            let short = row.id.strip_prefix(&format!("{name}/")).unwrap_or("");
            let label = if short.is_empty() { String::new() } else { format!("`{short}` ") };
            let _ = writeln!(
                text,
                "| {label}{} | {} | {tolerance} | {} | {} |",
                cell(&row.claim),
                cell(&expected(row)),
                cell(&measured(row)),
                if row.pass { "holds" } else { "FAILS" }
            );
        }
        text.push('\n');
    }
    if !found.notes.is_empty() {
        text.push_str("## Mistakes that nobody can tell\n\n");
        for note in &found.notes {
            let _ = writeln!(text, "{note}");
        }
        text.push('\n');
    }
    text.push_str("## Open reference cases\n\nCases of `crates/sim-verify/reference/` that no row above rests on yet.\n\n");
    for (area, list) in open_by_area(&found.rows) {
        let ids = list.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "- {area}{}{ids}", if ids.is_empty() { "" } else { ": " });
        for id in &list {
            if let Some(reason) = open::reason(id) {
                let _ = writeln!(text, "  - `{id}`: {reason}.");
            }
        }
    }
    text.push_str("\nParts of cases that no row measures:\n\n");
    for (id, part) in open::PARTS {
        let _ = writeln!(text, "- `{id}`: {part}.");
    }
    text
}

/// Where the recorded text differs from what the run would write; none when it does not.
pub(super) fn difference(recorded: &str, found: &Verification) -> Option<String> {
    let fresh = render(found);
    if recorded == fresh {
        return None;
    }
    let line = recorded.lines().zip(fresh.lines()).position(|(a, b)| a != b);
    Some(match line {
        Some(line) => format!(
            "line {}: {:?}, now {:?}",
            line + 1,
            recorded.lines().nth(line).unwrap_or_default(),
            fresh.lines().nth(line).unwrap_or_default()
        ),
        None => format!("{} lines, now {}", recorded.lines().count(), fresh.lines().count()),
    })
}
