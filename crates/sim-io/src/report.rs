//! A self-contained HTML page of one run: animation coloured by speed, charts, expectations.
//!
//! The page embeds plotly.js (from the `plotly` crate) and all data; it needs no network.
//!
//! # Limitations
//! Positions are stored as `f32` and at most [`MAX_NUMBERS`] numbers are kept, by dropping frames evenly: the page is for
//! looking. Use the CSV and VTK files to measure.

mod chart;
pub mod drawing;
pub(crate) mod summary;

use askama::Template;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

pub use chart::{Chart, Rule};
pub use drawing::{ColorScale, Drawing, Still};
pub use summary::page_of;

/// Most numbers (4 per point and frame) that a page carries: 16 MB before encoding.
pub const MAX_NUMBERS: usize = 4_000_000;

/// Everything a page shows, already formatted where it is text.
#[derive(Clone, Debug, Default)]
pub struct ReportPage {
    /// Heading.
    pub title: String,
    /// One or two sentences below it.
    pub subtitle: String,
    /// Verdict beside the heading, in place of the count of met expectations.
    pub badge: Option<Badge>,
    /// Why the run stopped before its end.
    pub failure: Option<String>,
    /// Things a user should know.
    pub warnings: Vec<String>,
    /// Label and value pairs.
    pub facts: Vec<(String, String)>,
    /// Expectations with their outcome.
    pub verdicts: Vec<Verdict>,
    /// Name, value and unit of every probe.
    pub probes: Vec<(String, String, String)>,
    /// The animation.
    pub drawing: Option<Drawing>,
    /// A remark below the animation.
    pub drawing_note: Option<String>,
    /// Charts in order.
    pub charts: Vec<Chart>,
    /// Tables below the charts.
    pub tables: Vec<Table>,
}

/// A verdict in a few words.
#[derive(Clone, Debug)]
pub struct Badge {
    /// The words.
    pub text: String,
    /// Whether they are good news.
    pub good: bool,
}

/// One expectation, formatted.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Probe name.
    pub probe: String,
    /// Expected value with unit.
    pub expected: String,
    /// Measured value with unit.
    pub measured: String,
    /// Tolerance.
    pub tolerance: String,
    /// Where the expected value comes from.
    pub source: String,
    /// Whether it was met.
    pub pass: bool,
}

/// Rows of text.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Heading.
    pub title: String,
    /// Names of the columns; a column whose name ends in `#` holds numbers and is set to the right (the mark is not shown).
    pub head: Vec<&'static str>,
    /// Rows as long as `head`, and whether each stands out.
    pub rows: Vec<(Vec<String>, bool)>,
}

impl Table {
    fn columns(&self) -> Vec<(&'static str, bool)> {
        self.head.iter().map(|name| (name.trim_end_matches('#').trim_end(), name.ends_with('#'))).collect()
    }
}

impl ReportPage {
    fn failed_count(&self) -> usize {
        self.verdicts.iter().filter(|verdict| !verdict.pass).count()
    }

    fn all_pass(&self) -> bool {
        self.failed_count() == 0
    }
}

#[derive(Template)]
#[template(path = "report.html")]
struct PageTemplate<'a> {
    page: &'a ReportPage,
    css: &'static str,
    script: &'static str,
    plotly: &'a str,
    data: &'a str,
    charts: &'a [Chart],
    has_drawing: bool,
}

#[derive(Serialize)]
struct PagePayload {
    charts: Vec<Value>,
    drawing: Option<Value>,
}

/// A page that could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The template failed.
    #[error("report template")]
    Template(#[from] askama::Error),
    /// The drawing's arrays disagree in length.
    #[error("drawing frame {frame}: {what} has {found} values, expected {expected}")]
    Frame {
        /// Frame index.
        frame: usize,
        /// `positions` or `speeds`.
        what: &'static str,
        /// Length found.
        found: usize,
        /// Length needed.
        expected: usize,
    },
    /// The file could not be written.
    #[error("cannot write {path}")]
    Write {
        /// Path.
        path: String,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
}

/// Renders the page.
///
/// # Errors
/// [`ReportError`] when the drawing is inconsistent.
///
/// # Panics
/// Never: the page data are plain numbers and strings.
pub fn render(page: &ReportPage) -> Result<String, ReportError> {
    let data = PagePayload {
        charts: page.charts.iter().map(Chart::to_json).collect(),
        drawing: page.drawing.as_ref().map(Drawing::to_json).transpose()?,
    };
    // `<` inside a script element could end it.
    let data = serde_json::to_string(&data).expect("plain values serialise").replace('<', "\\u003c");
    Ok(PageTemplate {
        page,
        css: include_str!("../templates/report.css"),
        script: include_str!("../templates/report.js"),
        plotly: &plotly_js(),
        data: &data,
        charts: &page.charts,
        has_drawing: page.drawing.is_some(),
    }
    .render()?)
}

/// Writes the page to `path`: whole, or not at all.
///
/// # Errors
/// [`ReportError`].
pub fn write_page(page: &ReportPage, path: &Path) -> Result<(), ReportError> {
    let html = render(page)?;
    crate::export::write_whole(path, html.as_bytes())
        .map_err(|source| ReportError::Write { path: path.display().to_string(), source })
}

/// The script alone, without the element around it and without `MathJax`, which the page does not use.
pub fn plotly_js() -> String {
    let both = plotly::Plot::offline_js_sources();
    let body = both.split_once('>').map_or("", |(_, rest)| rest);
    let end = body.find("</script>").unwrap_or(body.len());
    body[..end].to_owned()
}
