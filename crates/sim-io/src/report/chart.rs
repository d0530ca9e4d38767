//! Curves over one axis, as plotly takes them.

use serde_json::{Value, json};

const COLORS: [&str; 8] =
    ["#1f5fa8", "#d1495b", "#2e8b57", "#b07d12", "#6a4c93", "#0f8b8d", "#7a7a7a", "#c2571a"];
/// Dashes and marks change once the colors are used up.
const DASHES: [&str; 3] = ["solid", "dash", "dot"];
const MARKS: [&str; 3] = ["circle", "square", "diamond"];

/// Curves over one axis.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// Heading.
    pub title: String,
    /// Label of the horizontal axis.
    pub x_label: String,
    /// Label of the vertical axis.
    pub y_label: String,
    /// Logarithmic axes with a mark at every value, for errors; else linear ones with plain lines.
    pub log: bool,
    /// Twice as high, and as wide as the page.
    pub large: bool,
    /// So many curves at the front are measured points, without lines.
    pub points: usize,
    /// Name, horizontal and vertical values of each curve.
    pub series: Vec<(String, Vec<f64>, Vec<f64>)>,
    /// Text of every value of every curve, shown where the pointer is; empty for the numbers alone.
    pub remarks: Vec<Vec<String>>,
    /// Lines across the chart.
    pub rules: Vec<Rule>,
    /// One value that stands out.
    pub highlight: Option<(f64, f64)>,
}

/// A line across a chart.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Where it crosses the axis.
    pub at: f64,
    /// Upright, at a horizontal value.
    pub upright: bool,
    /// What it stands for.
    pub text: String,
}

impl Chart {
    pub(super) fn to_json(&self) -> Value {
        let mode = if self.log { "lines+markers" } else { "lines" };
        let mut data: Vec<Value> = (self.series.iter().enumerate())
            .map(|(i, (name, x, y))| {
                let round = i / COLORS.len() % DASHES.len();
                let mut series = json!({
                    "type": "scatter", "mode": if i < self.points { "markers" } else { mode }, "name": name, "x": x, "y": y,
                    "line": {"width": 1.6, "color": COLORS[i % COLORS.len()], "dash": DASHES[round]},
                    "marker": {"size": 7, "symbol": MARKS[round]},
                });
                if let Some(remarks) = self.remarks.get(i).filter(|remarks| remarks.len() == x.len()) {
                    series["text"] = json!(remarks);
                    series["hovertemplate"] = "%{text}<extra>%{fullData.name}</extra>".into();
                }
                series
            })
            .collect();
        if let Some((x, y)) = self.highlight {
            data.push(json!({
                "type": "scatter", "mode": "markers", "x": [x], "y": [y], "showlegend": false, "hoverinfo": "skip",
                "marker": {"size": 20, "symbol": "circle-open", "color": "#1d2733", "line": {"width": 2.5}},
            }));
        }
        let axis = |title: &str| {
            json!({"title": {"text": title, "standoff": 8}, "gridcolor": "#e7ebef", "zerolinecolor": "#c5ccd3",
                   "exponentformat": "power", "automargin": true, "type": if self.log { "log" } else { "linear" }})
        };
        let legend = if self.large {
            json!({"orientation": "v", "x": 1.01, "y": 1.0})
        } else {
            json!({"orientation": "h", "y": -0.24, "x": 0})
        };
        let layout = json!({
            "title": {"text": self.title, "font": {"size": 15}, "x": 0.01, "xanchor": "left", "y": 0.97},
            "margin": {"l": 56, "r": 12, "t": 38, "b": 72},
            "hovermode": if self.remarks.is_empty() { "x unified" } else { "closest" },
            "font": {"family": "system-ui, sans-serif", "size": 12, "color": "#1d2733"},
            "xaxis": axis(&self.x_label), "yaxis": axis(&self.y_label),
            "showlegend": self.series.len() > 1, "legend": legend,
            "shapes": self.rules.iter().map(Rule::shape).collect::<Vec<_>>(),
            "annotations": self.rules.iter().map(|rule| rule.label(self.log)).collect::<Vec<_>>(),
        });
        json!({"data": data, "layout": layout})
    }
}

impl Rule {
    fn shape(&self) -> Value {
        let line = json!({"color": "#55606b", "width": 1.2, "dash": "dash"});
        if self.upright {
            json!({"type": "line", "x0": self.at, "x1": self.at, "y0": 0, "y1": 1, "yref": "paper", "line": line})
        } else {
            json!({"type": "line", "y0": self.at, "y1": self.at, "x0": 0, "x1": 1, "xref": "paper", "line": line})
        }
    }

    fn label(&self, log: bool) -> Value {
        // Annotations take the logarithm on logarithmic axes, shapes the value.
        let at = if log { self.at.log10() } else { self.at };
        let mut label =
            json!({"text": self.text, "showarrow": false, "font": {"size": 11, "color": "#55606b"}});
        let place = if self.upright {
            json!({"x": at, "y": 1, "yref": "paper", "xanchor": "left", "yanchor": "top", "textangle": 90})
        } else {
            json!({"y": at, "x": 1, "xref": "paper", "xanchor": "right", "yanchor": "bottom"})
        };
        if let (Some(label), Value::Object(place)) = (label.as_object_mut(), place) {
            label.extend(place);
        }
        label
    }
}
