//! The page: verdicts by subject, charts of convergence, stability and work.

use super::Verification;
use super::document::{self, groups, open_by_area};
use askama::Template;
use serde_json::Value;
use sim_verify::ClaimRow;

#[derive(Template)]
#[template(path = "verify.html")]
struct PageTemplate<'a> {
    quick: bool,
    total: usize,
    failed: usize,
    groups: Vec<Group<'a>>,
    charts: Vec<(&'a str, &'a str)>,
    open: Vec<(String, Vec<String>)>,
    plotly: &'a str,
    data: &'a str,
}

struct Group<'a> {
    name: String,
    passed: usize,
    rows: Vec<Row<'a>>,
}

struct Row<'a> {
    id: &'a str,
    claim: &'a str,
    expected: String,
    measured: String,
    tolerance: String,
    pass: bool,
    source: &'a str,
}

/// Renders the page.
pub(super) fn render(found: &Verification, quick: bool) -> Result<String, askama::Error> {
    let row = |row: &'_ ClaimRow| -> (String, String, String) {
        let tolerance = row.tolerance.map_or_else(String::new, sim_verify::claim::compact);
        (document::expected(row), document::measured_exactly(row), tolerance)
    };
    let groups = groups(&found.rows)
        .into_iter()
        .map(|(name, rows)| Group {
            name,
            passed: rows.iter().filter(|row| row.pass).count(),
            rows: rows
                .into_iter()
                .map(|r| {
                    let (expected, measured, tolerance) = row(r);
                    Row {
                        id: &r.id,
                        claim: &r.claim,
                        expected,
                        measured,
                        tolerance,
                        pass: r.pass,
                        source: &r.source,
                    }
                })
                .collect(),
        })
        .collect();
    let data: Vec<Value> = found.charts.iter().map(super::charts::Chart::to_json).collect();
    // `<` inside a script element could end it.
    let data = Value::from(data).to_string().replace('<', "\\u003c");
    PageTemplate {
        quick,
        total: found.rows.len(),
        failed: found.rows.iter().filter(|row| !row.pass).count(),
        groups,
        charts: found.charts.iter().map(|chart| (chart.title.as_str(), chart.note.as_str())).collect(),
        open: open_by_area(&found.rows),
        plotly: &sim_io::report::plotly_js(),
        data: &data,
    }
    .render()
}
