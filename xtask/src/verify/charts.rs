//! Charts of the page, as data for plotly.js.

use serde_json::{Value, json};
use sim_verify::OrderReport;

/// An axis.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub label: String,
    pub log: bool,
}

impl Axis {
    pub fn linear(label: &str) -> Self {
        Self { label: label.into(), log: false }
    }

    pub fn log(label: &str) -> Self {
        Self { label: label.into(), log: true }
    }
}

/// A curve.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

impl Series {
    pub fn new(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { name: name.into(), points: points.into_iter().collect() }
    }
}

/// Curves over one axis.
#[derive(Clone, Debug)]
pub struct Chart {
    pub(super) title: String,
    pub(super) note: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    /// Same scale on both axes.
    pub(super) equal: bool,
    pub(super) series: Vec<Series>,
}

/// One chart per problem: error against step size of every method, with the observed slope in the legend.
pub(super) fn errors(orders: &[(String, &'static str, u32, OrderReport)]) -> Vec<Chart> {
    let mut problems: Vec<&'static str> = Vec::new();
    for (_, problem, ..) in orders {
        if !problems.contains(problem) {
            problems.push(problem);
        }
    }
    problems
        .into_iter()
        .map(|problem| Chart {
            title: format!("Convergence on {problem}"),
            note: "Largest relative error of position and velocity at the end; slope of the finest pair above rounding in \
                   brackets."
                .into(),
            x: Axis::log("dt [s]"),
            y: Axis::log("relative error"),
            equal: false,
            series: (orders.iter().filter(|row| row.1 == problem))
                .map(|(method, _, _, report)| {
                    let slope = report.observed().map_or("-".to_owned(), |slope| format!("{slope:.2}"));
                    let points = report.dt.iter().copied().zip(report.errors.iter().copied());
                    Series::new(&format!("{method} [{slope}]"), points)
                })
                .collect(),
        })
        .collect()
}

impl Chart {
    pub(super) fn to_json(&self) -> Value {
        const COLORS: [&str; 12] = [
            "#1f5fa8", "#d1495b", "#2e8b57", "#b07d12", "#6a4c93", "#0f8b8d", "#7a7a7a", "#c2571a",
            "#3a86ff", "#8338ec", "#5a9e2f", "#a23b72",
        ];
        let data: Vec<Value> = (self.series.iter().enumerate())
            .map(|(i, series)| {
                let (x, y): (Vec<f64>, Vec<f64>) = series.points.iter().copied().unzip();
                let mode = if self.equal { "lines" } else { "lines+markers" };
                json!({"type": "scatter", "mode": mode, "name": series.name, "x": x, "y": y,
                       "line": {"width": 1.6, "color": COLORS[i % COLORS.len()]}, "marker": {"size": 5}})
            })
            .collect();
        let axis = |axis: &Axis| {
            json!({"title": {"text": axis.label, "standoff": 8}, "type": if axis.log { "log" } else { "linear" },
                   "gridcolor": "#e7ebef", "zerolinecolor": "#8d99a6", "exponentformat": "power", "automargin": true})
        };
        let mut y = axis(&self.y);
        if self.equal {
            y["scaleanchor"] = json!("x");
        }
        let layout = json!({
            "margin": {"l": 56, "r": 12, "t": 12, "b": 44}, "hovermode": "closest",
            "font": {"family": "system-ui, sans-serif", "size": 12, "color": "#1d2733"},
            "xaxis": axis(&self.x), "yaxis": y, "legend": {"orientation": "h", "y": -0.2, "x": 0},
        });
        json!({"data": data, "layout": layout})
    }
}
