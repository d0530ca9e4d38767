//! From the result of a run to the page that shows it.

use super::{Chart, ColorScale, Drawing, MAX_NUMBERS, ReportPage, Verdict};
use crate::run::result::{ExpectationResult, ProbeValue, RunResult, SeriesGroup, TimeSeries};
use sim_pbd::SolveOrder;
use std::collections::BTreeMap;

/// The page of a run; `failure` says why it ended early.
pub fn page_of(result: &RunResult, failure: Option<String>) -> ReportPage {
    let drawing = Drawing {
        times: result.frames.iter().map(|frame| frame.t).collect(),
        positions: result.frames.iter().map(|frame| frame.positions.clone()).collect(),
        speeds: result.frames.iter().map(|frame| frame.speeds.clone()).collect(),
        segments: result.display.lines.clone(),
        triangles: result.display.triangles.clone(),
        solids: result.display.solids.clone(),
        outlines: result.display.outlines.clone(),
        bodies_from: bodies_from(result),
        color: color(result),
        up: result.display.up,
        ..Drawing::default()
    };
    let numbers = 4 * result.display.points * result.frames.len();
    let drawing_note = (numbers > MAX_NUMBERS).then(|| {
        format!(
            "One frame in {} is shown, to keep this page small; all are in the VTK series.",
            numbers.div_ceil(MAX_NUMBERS)
        )
    });
    ReportPage {
        title: if result.title.is_empty() { result.scene.clone() } else { result.title.clone() },
        subtitle: result.description.clone(),
        badge: None,
        failure,
        warnings: result.warnings.clone(),
        facts: facts(result),
        verdicts: verdicts(&result.expectations, &result.probes),
        probes: (result.probes.iter())
            .map(|(name, probe)| (name.clone(), number(probe.value), unit(probe.unit).to_owned()))
            .collect(),
        drawing: (result.display.points > 0 && !result.frames.is_empty()).then_some(drawing),
        drawing_note: joined(drawing_note, result.convergence.as_ref().map(|found| found.sentence.as_str())),
        charts: charts(result),
        tables: Vec::new(),
    }
}

/// Two remarks as one.
fn joined(first: Option<String>, second: Option<&str>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) => Some(format!("{first} Constraints: {second}.")),
        (None, Some(second)) => Some(format!("Constraints: {second}.")),
        (first, None) => first,
    }
}

/// The first point of a rigid body: they come last.
fn bodies_from(result: &RunResult) -> Option<usize> {
    let display = &result.display;
    let points = display.solids.iter().flatten().chain(display.outlines.iter().flatten());
    points.min().map(|&point| point as usize)
}

/// Colors of what is not a speed: between the least and the largest value of the parts.
fn color(result: &RunResult) -> Option<ColorScale> {
    if result.display.quantity == "speed" {
        return None;
    }
    let parts = bodies_from(result).unwrap_or(result.display.points);
    let values = || result.frames.iter().flat_map(|frame| frame.speeds.iter().take(parts).copied());
    let range = [values().fold(f32::INFINITY, f32::min), values().fold(f32::NEG_INFINITY, f32::max)];
    (range[0] < range[1]).then(|| ColorScale {
        label: format!("{} [N]", result.display.quantity),
        range,
        signed: false,
    })
}

fn convergence_facts(result: &RunResult, facts: &mut Vec<(&'static str, String)>) {
    let Some(found) = &result.convergence else { return };
    let kind = match found.order {
        SolveOrder::List => "levels",
        SolveOrder::Colors => "colors",
    };
    let order = match found.order {
        SolveOrder::List => "list",
        SolveOrder::Colors => "colors",
    };
    facts.push(("order of constraints", format!("{order}, {} {kind} per sweep", found.levels)));
    facts.push(("sweeps per substep", found.iterations.to_string()));
    if let Some(largest) = &found.largest {
        let text = format!(
            "{:.1e} of its scale, {} at {} s",
            largest.relative,
            largest.constraint,
            number(largest.t)
        );
        facts.push(("largest residual", text));
    }
    if let Some(rigid) = &found.largest_rigid_error {
        facts.push((
            "largest error of a rigid constraint",
            format!("{:.1e}, {}", rigid.value, rigid.constraint),
        ));
    }
    facts.push(("deepest contact", format!("{:.1e} m", found.deepest_contact)));
}

fn facts(result: &RunResult) -> Vec<(String, String)> {
    let energy = &result.energy;
    let mut facts = vec![
        ("method", result.method.id.to_owned()),
        ("step", format!("{} s", number(result.dt))),
        (
            "steps",
            match &result.convergence {
                None => format!("{}, at most {} per frame", result.steps, result.substeps),
                Some(_) => format!("{} frames of at most {} substeps", result.steps, result.substeps),
            },
        ),
        ("frame", format!("{} s", number(result.frame))),
        ("points", result.display.points.to_string()),
        ("wall time", format!("{:.2} s", result.wall_s)),
    ];
    if let Some(choice) = &result.stability {
        let limit = choice.limit.map_or_else(|| "none".to_owned(), |limit| format!("{} s", number(limit)));
        facts.push(("guaranteed stable step", limit));
        if let Some(culprit) = &choice.culprit {
            facts.push(("set by", culprit.clone()));
        }
    }
    facts.push(("energy at the end", format!("{} J", number(energy.current.total()))));
    if result.convergence.is_some() {
        // The ledger cannot tell constraints and friction from what the method loses.
        let made = energy.numerical + energy.residual;
        facts.push((
            "gained (+) or lost (−) to colliders, friction and the method",
            format!("{} J", number(made)),
        ));
        convergence_facts(result, &mut facts);
    } else {
        facts.push(("made (+) or lost (−) by the method", format!("{} J", number(energy.numerical))));
        facts.push((
            "largest ledger residual",
            format!("{:.1e} of a step's turnover", energy.max_relative_residual),
        ));
    }
    facts.push(("state hash", result.state_hash.clone()));
    facts.into_iter().map(|(label, value)| (label.to_owned(), value)).collect()
}

pub(crate) fn verdicts(
    expectations: &[ExpectationResult],
    probes: &BTreeMap<String, ProbeValue>,
) -> Vec<Verdict> {
    (expectations.iter())
        .map(|row| {
            let unit = probes.get(&row.probe).map_or("", |probe| unit(probe.unit));
            let with_unit = |value: f64| format!("{} {unit}", number(value)).trim_end().to_owned();
            Verdict {
                probe: row.probe.clone(),
                expected: with_unit(row.expected),
                measured: row.measured.map_or_else(|| "not reached".to_owned(), with_unit),
                tolerance: with_unit(row.tolerance),
                source: row.source.clone(),
                pass: row.pass,
            }
        })
        .collect()
}

/// Energies on one chart, momentum on another, probes together when they share a unit.
fn charts(result: &RunResult) -> Vec<Chart> {
    let mut charts = Vec::new();
    let of_group = |group: SeriesGroup| result.series.iter().filter(move |series| series.group == group);
    for (group, title) in [(SeriesGroup::Energy, "Energy ledger"), (SeriesGroup::Momentum, "Momentum")] {
        // A curve that never leaves zero says nothing.
        let shown: Vec<&TimeSeries> =
            of_group(group).filter(|series| series.values.iter().any(|&x| x != 0.0)).collect();
        if let Some(first) = shown.first() {
            charts.push(chart(title, first.unit, &shown, &result.times));
        }
    }
    charts.extend(along_the_belt(result));
    let mut units: Vec<&'static str> = Vec::new();
    for series in of_group(SeriesGroup::Probe) {
        if !units.contains(&series.unit) {
            units.push(series.unit);
        }
    }
    for unit in units {
        let shown: Vec<&TimeSeries> =
            of_group(SeriesGroup::Probe).filter(|series| series.unit == unit).collect();
        let title = if let [only] = shown[..] {
            only.name.clone()
        } else {
            format!("Probes in {}", if unit == "1" { "pure numbers" } else { unit })
        };
        charts.push(chart(&title, unit, &shown, &result.times));
    }
    charts
}

/// Tension over the place on a belt at the end of the run.
fn along_the_belt(result: &RunResult) -> Option<Chart> {
    let last = result.frames.last().filter(|_| result.display.quantity == "tension")?;
    let points = &last.positions[..bodies_from(result)?];
    let (mut way, mut places) = (0.0, Vec::with_capacity(points.len()));
    for (i, point) in points.iter().enumerate() {
        let before = points[i.saturating_sub(1)];
        way += (0..3).map(|k| f64::from(point[k] - before[k]).powi(2)).sum::<f64>().sqrt();
        places.push(way);
    }
    let tension = last.speeds.iter().take(points.len()).map(|&x| f64::from(x)).collect();
    Some(Chart {
        title: "Tension along the belt at the end".to_owned(),
        x_label: "way along the belt from particle 0 [m]".to_owned(),
        y_label: "N".to_owned(),
        log: false,
        series: vec![("tension".to_owned(), places, tension)],
        ..Chart::default()
    })
}

fn chart(title: &str, unit_label: &str, series: &[&TimeSeries], times: &[f64]) -> Chart {
    Chart {
        title: title.to_owned(),
        x_label: "t [s]".to_owned(),
        y_label: unit(unit_label).to_owned(),
        log: false,
        series: (series.iter())
            .map(|series| (series.name.clone(), times.to_vec(), series.values.clone()))
            .collect(),
        ..Chart::default()
    }
}

/// Pure numbers carry no unit on a page.
pub(crate) fn unit(unit: &str) -> &str {
    if unit == "1" { "" } else { unit }
}

/// Seven significant digits, plain where that is short.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if (1e-3..1e6).contains(&size) {
        let decimals = (6 - size.log10().floor() as i32).clamp(0, 9) as usize;
        let text = format!("{value:.decimals$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    } else {
        let text = format!("{value:.6e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_short_and_keep_seven_digits() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.1 + 0.2, "0.3"),
            (123456.789, "123456.8"),
            (1200.0, "1200"),
            (1.0 / 3.0, "0.3333333"),
            (2e-5, "2e-5"),
            (-3e7, "-3e7"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }
}
