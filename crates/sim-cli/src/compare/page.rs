//! The page of a comparison: error against wall time, with what was wanted and what real time is.

use super::per_cent;
use super::study::{Comparison, Outcome, Point, per_frame};
use sim_io::report::{Badge, Chart, ReportPage, Rule, Table};
use sim_io::scene::Header;

pub fn page(header: &Header, comparison: &Comparison) -> ReportPage {
    let title = if header.title.is_empty() { &header.name } else { &header.title };
    let ranking = comparison.ranking();
    let best = ranking.first().copied();
    let reference = &comparison.reference;
    let facts = vec![
        ("error of".to_owned(), comparison.measure.clone()),
        ("wanted".to_owned(), per_cent(comparison.wanted)),
        (
            "reference".to_owned(),
            format!(
                "{}, {} steps per frame, {:.2} s",
                reference.method, reference.substeps, reference.wall_s
            ),
        ),
        ("reference known to".to_owned(), per_cent(reference.uncertainty)),
        ("simulated".to_owned(), format!("{} s in {} frames", comparison.simulated, comparison.frames)),
    ];
    let advice: Vec<String> = (["Fastest", "Second"].into_iter().zip(&ranking))
        .map(|(word, choice)| format!("{word}: {}.", comparison.sentence(*choice)))
        .collect();
    ReportPage {
        title: format!("Methods compared: {title}"),
        subtitle: if advice.is_empty() {
            "No method came within the wanted error: allow longer runs (--max-wall) or a larger error (--error).".into()
        } else {
            advice.join(" ")
        },
        warnings: comparison.notes.clone(),
        badge: Some(match best {
            Some((candidate, point)) => Badge {
                text: format!(
                    "fastest within {}: {}, {}",
                    per_cent(comparison.wanted),
                    candidate.method,
                    per_frame(point.substeps)
                ),
                good: true,
            },
            None => Badge { text: format!("no run within {}", per_cent(comparison.wanted)), good: false },
        }),
        facts,
        charts: vec![chart(comparison, best.map(|(_, point)| point))],
        tables: vec![table(comparison, best.map(|(_, point)| point))],
        ..ReportPage::default()
    }
}

fn remark(point: &Point, frames: usize) -> String {
    format!(
        "{}, dt {:.3e} s<br>error {}<br>{:.4} s, {:.3} ms per frame<br>{} force evaluations",
        per_frame(point.substeps),
        point.dt,
        point.error().map_or_else(|| "none".to_owned(), per_cent),
        point.wall_s,
        1e3 * point.wall_s / frames.max(1) as f64,
        point.force_evaluations
    )
}

fn chart(comparison: &Comparison, best: Option<&Point>) -> Chart {
    let (mut series, mut remarks) = (Vec::new(), Vec::new());
    let (mut shortest, mut longest) = (f64::INFINITY, 0.0_f64);
    for candidate in &comparison.candidates {
        // Beyond the size of the motion itself an error says nothing but "wrong".
        let shown = (candidate.points.iter())
            .filter_map(|point| Some((point, point.error().filter(|e| *e > 0.0 && *e < 1e3)?)));
        let (mut x, mut y, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for (point, error) in shown {
            x.push(point.wall_s);
            y.push(error);
            texts.push(remark(point, comparison.frames));
            (shortest, longest) = (shortest.min(point.wall_s), longest.max(point.wall_s));
        }
        if !x.is_empty() {
            series.push((candidate.method.to_owned(), x, y));
            remarks.push(texts);
        }
    }
    let mut rules = vec![Rule {
        at: comparison.wanted,
        upright: false,
        text: format!("wanted: {}", per_cent(comparison.wanted)),
    }];
    if comparison.reference.uncertainty > 0.0 && comparison.reference.uncertainty.is_finite() {
        rules.push(Rule {
            at: comparison.reference.uncertainty,
            upright: false,
            text: "the reference is not known better".into(),
        });
    }
    // Only where it does not squeeze the curves into a corner.
    if comparison.simulated > 0.1 * shortest && comparison.simulated < 30.0 * longest {
        rules.push(Rule { at: comparison.simulated, upright: true, text: "real time".into() });
    }
    Chart {
        points: 0,
        title: "Every method with more and more steps: further down is more accurate, further left is faster"
            .into(),
        x_label: "wall-clock time of the run in s".into(),
        y_label: format!("error of {}, root mean square, relative to its range", comparison.measure),
        log: true,
        large: true,
        series,
        remarks,
        rules,
        highlight: best.and_then(|point| Some((point.wall_s, point.error()?))),
    }
}

fn table(comparison: &Comparison, best: Option<&Point>) -> Table {
    let mut rows = Vec::new();
    for candidate in &comparison.candidates {
        for (index, point) in candidate.points.iter().enumerate() {
            let last = index + 1 == candidate.points.len();
            rows.push((
                vec![
                    if index == 0 { candidate.method.to_owned() } else { String::new() },
                    point.substeps.to_string(),
                    format!("{:.3e}", point.dt),
                    match &point.outcome {
                        Outcome::Done { error } => per_cent(*error),
                        Outcome::Failed { .. } => "failed".into(),
                    },
                    format!("{:.4}", point.wall_s),
                    point.force_evaluations.to_string(),
                    point.linear_iterations.to_string(),
                    if last { candidate.ended.clone() } else { String::new() },
                ],
                best.is_some_and(|best| std::ptr::eq(best, point)),
            ));
        }
    }
    Table {
        title: "All runs".into(),
        head: vec![
            "method",
            "steps per frame #",
            "dt in s #",
            "error #",
            "wall time in s #",
            "force evaluations #",
            "linear iterations #",
            "no finer run because",
        ],
        rows,
    }
}
