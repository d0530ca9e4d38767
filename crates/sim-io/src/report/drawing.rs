//! The moving picture of a part.

use super::{MAX_NUMBERS, ReportError};
use base64::Engine as _;
use nalgebra::Vector3;
use serde_json::{Value, json};

/// Recorded motion of points with what connects them.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// Time of each frame in s.
    pub times: Vec<f64>,
    /// Positions in m per frame and point.
    pub positions: Vec<Vec<[f32; 3]>>,
    /// Speed per frame and point in m/s, or whatever `color` says.
    pub speeds: Vec<Vec<f32>>,
    /// Lines between points.
    pub segments: Vec<[u32; 2]>,
    /// Triangles between points.
    pub triangles: Vec<[u32; 3]>,
    /// Triangles of rigid bodies, in one color.
    pub solids: Vec<[u32; 3]>,
    /// Lines on rigid bodies.
    pub outlines: Vec<[u32; 2]>,
    /// Points from here on belong to rigid bodies: they get no mark.
    pub bodies_from: Option<usize>,
    /// What is up in the picture: a vector of length 1.
    pub up: [f64; 3],
    /// What colors mean; by default speeds.
    pub color: Option<ColorScale>,
    /// A text for each frame in place of its time.
    pub labels: Vec<String>,
    /// The frame that is shown first.
    pub first: usize,
    /// Show it in space even when it lies in a plane, and look from this direction.
    pub look_from: Option<[f64; 3]>,
    /// What stands still beside the motion.
    pub still: Vec<Still>,
}

/// Lines or points that stand still, with a name in the legend.
#[derive(Clone, Debug)]
pub struct Still {
    /// Name in the legend.
    pub name: &'static str,
    /// Color, as CSS has it.
    pub color: &'static str,
    /// Polylines in m; a line of one point is a mark.
    pub lines: Vec<Vec<[f64; 3]>>,
}

/// What colors mean.
#[derive(Clone, Debug, PartialEq)]
pub struct ColorScale {
    /// Quantity and unit.
    pub label: String,
    /// Values at the two ends.
    pub range: [f32; 2],
    /// Zero is in the middle and has a color of its own: for quantities with a sign.
    pub signed: bool,
}

impl Default for Drawing {
    fn default() -> Self {
        Self {
            times: Vec::new(),
            positions: Vec::new(),
            speeds: Vec::new(),
            segments: Vec::new(),
            triangles: Vec::new(),
            solids: Vec::new(),
            outlines: Vec::new(),
            bodies_from: None,
            up: [0.0, 0.0, 1.0],
            color: None,
            labels: Vec::new(),
            first: 0,
            look_from: None,
            still: Vec::new(),
        }
    }
}

/// Smallest and largest coordinate per axis over all frames.
struct Bounds {
    low: [f64; 3],
    high: [f64; 3],
}

impl Bounds {
    fn of(positions: &[Vec<[f32; 3]>]) -> Self {
        let mut bounds = Self { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3] };
        for point in positions.iter().flatten() {
            bounds.include(point.map(f64::from));
        }
        bounds
    }

    fn include(&mut self, point: [f64; 3]) {
        for (k, x) in point.into_iter().enumerate() {
            self.low[k] = self.low[k].min(x);
            self.high[k] = self.high[k].max(x);
        }
    }

    fn extent(&self, axis: usize) -> f64 {
        (self.high[axis] - self.low[axis]).max(0.0)
    }

    /// Lengths of the axes relative to the longest, so that the camera's distance fits every part.
    fn aspect(&self, scale: f64) -> Value {
        let length = |axis: usize| scale * (self.range(axis)[1] - self.range(axis)[0]);
        let longest = (0..3).map(length).fold(0.0, f64::max) / scale;
        json!({"x": length(0) / longest, "y": length(1) / longest, "z": length(2) / longest})
    }

    /// The range of an axis with a margin of 5 % of the largest extent.
    fn range(&self, axis: usize) -> [f64; 2] {
        let largest = (0..3).map(|k| self.extent(k)).fold(0.0, f64::max);
        let margin = if largest > 0.0 { 0.05 * largest } else { 1.0 };
        [self.low[axis] - margin, self.high[axis] + margin]
    }
}

impl Still {
    /// A trace of Plotly's: in space, or in the plane across `flat_axis`.
    fn to_json(&self, flat_axis: Option<usize>) -> Value {
        let marks = self.lines.iter().all(|line| line.len() == 1);
        // Plotly lifts the pen where there is no number.
        let along = |k: usize| -> Vec<Option<f64>> {
            let mut values = Vec::new();
            for line in &self.lines {
                values.extend(line.iter().map(|point| Some(point[k])));
                values.extend((!marks).then_some(None));
            }
            values
        };
        let mode = if marks { "markers" } else { "lines" };
        let mut trace = json!({"type": "scatter", "mode": mode, "name": self.name, "showlegend": true, "hoverinfo": "name",
            "line": {"color": self.color, "width": 2}, "marker": {"color": self.color, "size": 5, "symbol": "square"}});
        let axes = flat_axis.map_or(vec![0, 1, 2], |axis| plane(axis).to_vec());
        for (name, axis) in ["x", "y", "z"].iter().zip(&axes) {
            trace[*name] = json!(along(*axis));
        }
        if axes.len() == 3 {
            trace["type"] = json!("scatter3d");
        }
        trace
    }
}

impl Drawing {
    /// Points in each frame.
    pub fn point_count(&self) -> usize {
        self.positions.first().map_or(0, Vec::len)
    }

    /// Every how many frames one is kept so that the page stays within its size.
    fn stride(&self) -> usize {
        let numbers = 4 * self.point_count() * self.times.len();
        numbers.div_ceil(MAX_NUMBERS).max(1)
    }

    pub(super) fn to_json(&self) -> Result<Value, ReportError> {
        let count = self.point_count();
        for frame in 0..self.times.len() {
            for (what, found, expected) in [
                ("positions", self.positions.get(frame).map_or(0, Vec::len), count),
                ("speeds", self.speeds.get(frame).map_or(0, Vec::len), count),
            ] {
                if found != expected {
                    return Err(ReportError::Frame { frame, what, found, expected });
                }
            }
        }
        let (stride, last) = (self.stride(), self.times.len().saturating_sub(1));
        let kept: Vec<usize> = (0..self.times.len()).filter(|i| i % stride == 0 || *i == last).collect();
        let mut bytes = Vec::with_capacity(16 * count * kept.len());
        for &frame in &kept {
            for k in 0..3 {
                for point in &self.positions[frame] {
                    bytes.extend_from_slice(&point[k].to_le_bytes());
                }
            }
            for speed in &self.speeds[frame] {
                bytes.extend_from_slice(&speed.to_le_bytes());
            }
        }
        let times: Vec<f64> = kept.iter().map(|&i| self.times[i]).collect();
        let shortest = times.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        let decimals =
            if shortest.is_finite() { (1.0 - shortest.log10()).ceil().clamp(2.0, 9.0) } else { 3.0 };
        let mut bounds = Bounds::of(&self.positions);
        let flat_axis = self.flat_axis(&bounds);
        self.still
            .iter()
            .flat_map(|still| still.lines.iter().flatten())
            .for_each(|&point| bounds.include(point));
        let (traces, mut data, mut layout) = match flat_axis {
            Some(axis) => self.flat_picture(axis, &bounds),
            None => self.solid_picture(&bounds),
        };
        if let Some(list) = data.as_array_mut() {
            list.extend(self.still.iter().map(|still| still.to_json(flat_axis)));
        }
        layout["legend"] = json!({"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"});
        Ok(json!({
            "particles": count, "times": times, "decimals": decimals,
            "frames": base64::engine::general_purpose::STANDARD.encode(bytes),
            "path": chained(&self.segments), "outline": chained(&self.outlines), "marked": self.bodies_from.unwrap_or(count), "plane": plane(flat_axis.unwrap_or(1)),
            "first": kept.iter().position(|&i| i >= self.first).unwrap_or(0),
            "labels": kept.iter().filter_map(|&i| self.labels.get(i)).collect::<Vec<_>>(),
            "traces": traces, "data": data, "layout": layout,
        }))
    }

    /// The axis along which nothing ever extends, when there are no faces to show.
    fn flat_axis(&self, bounds: &Bounds) -> Option<usize> {
        let largest = (0..3).map(|k| bounds.extent(k)).fold(0.0, f64::max);
        // What hangs straight down is flat along two axes: the vertical one is shown.
        let mut axes = [1, 2, 0];
        axes.sort_by(|&a, &b| self.up[a].abs().total_cmp(&self.up[b].abs()));
        let flat = axes.into_iter().find(|&k| bounds.extent(k) <= 1e-6 * largest)?;
        (self.triangles.is_empty() && self.solids.is_empty() && self.look_from.is_none()).then_some(flat)
    }

    fn color_range(&self) -> (f32, f32) {
        if let Some(color) = &self.color {
            return (color.range[0], color.range[1]);
        }
        let fastest = self.speeds.iter().flatten().copied().fold(0.0, f32::max);
        (0.0, if fastest > 0.0 { fastest } else { 1.0 })
    }

    fn color_bar(&self) -> Value {
        let label = self.color.as_ref().map_or("speed [m/s]", |color| &color.label);
        json!({"title": {"text": label, "side": "right"}, "thickness": 14, "len": 0.85})
    }

    /// Plotly's name, or a list of places and colors: blue is pushed, red is pulled.
    fn color_map(&self) -> Value {
        if self.color.as_ref().is_some_and(|color| color.signed) {
            json!([[0.0, "#1f5fa8"], [0.5, "#b9c0c7"], [1.0, "#d1495b"]])
        } else {
            json!("Viridis")
        }
    }

    fn flat_picture(&self, axis: usize, bounds: &Bounds) -> (Vec<&'static str>, Value, Value) {
        let (low, high) = self.color_range();
        let [a, b] = plane(axis);
        let name = |k: usize| format!("{} [m]", ["x", "y", "z"][k]);
        let size = if self.point_count() > 120 { 4 } else { 7 };
        let data = json!([
            {"type": "scatter", "mode": "lines", "x": [], "y": [], "hoverinfo": "skip",
             "line": {"color": "#c3a06a", "width": 2}, "showlegend": false},
            {"type": "scatter", "mode": "lines", "x": [], "y": [], "hoverinfo": "skip",
             "line": {"color": "#9aa5b1", "width": 1.5}, "showlegend": false},
            {"type": "scatter", "mode": "markers", "x": [], "y": [], "showlegend": false,
             "marker": {"size": size, "color": [], "cmin": low, "cmax": high, "colorscale": self.color_map(),
                        "colorbar": self.color_bar()}},
        ]);
        let grid = json!({"gridcolor": "#e7ebef", "zerolinecolor": "#c5ccd3"});
        let mut x = grid.clone();
        x["title"] = json!({"text": name(a)});
        x["range"] = json!(bounds.range(a));
        let mut y = grid;
        y["title"] = json!({"text": name(b)});
        y["range"] = json!(bounds.range(b));
        y["scaleanchor"] = json!("x");
        let layout = json!({"margin": {"l": 60, "r": 10, "t": 10, "b": 45}, "xaxis": x, "yaxis": y,
                            "font": {"family": "system-ui, sans-serif", "color": "#1d2733"}});
        (vec!["outline2", "line2", "points2"], data, layout)
    }

    fn solid_picture(&self, bounds: &Bounds) -> (Vec<&'static str>, Value, Value) {
        let (low, high) = self.color_range();
        let mut traces = Vec::new();
        let mut data = Vec::new();
        if self.triangles.is_empty() {
            traces.push("line3");
            data.push(
                json!({"type": "scatter3d", "mode": "lines", "x": [], "y": [], "z": [], "showlegend": false,
                "hoverinfo": "skip", "line": {"width": 6, "color": [], "cmin": low, "cmax": high,
                "colorscale": self.color_map(), "colorbar": self.color_bar()}}),
            );
        } else {
            let corner = |k: usize| self.triangles.iter().map(|t| t[k]).collect::<Vec<_>>();
            traces.push("mesh3");
            data.push(json!({"type": "mesh3d", "x": [], "y": [], "z": [], "intensity": [], "cmin": low, "cmax": high,
                "i": corner(0), "j": corner(1), "k": corner(2), "colorscale": self.color_map(), "colorbar": self.color_bar(),
                "flatshading": false, "lighting": {"ambient": 0.55, "diffuse": 0.7, "specular": 0.05, "roughness": 0.9}}));
        }
        if !self.solids.is_empty() {
            let corner = |k: usize| self.solids.iter().map(|t| t[k]).collect::<Vec<_>>();
            traces.push("solid3");
            data.push(json!({"type": "mesh3d", "x": [], "y": [], "z": [], "i": corner(0), "j": corner(1), "k": corner(2),
                "color": "#c9b48f", "hoverinfo": "skip", "flatshading": true,
                "lighting": {"ambient": 0.6, "diffuse": 0.6, "specular": 0.05, "roughness": 0.9}}));
        }
        if !self.outlines.is_empty() {
            traces.push("outline3");
            data.push(
                json!({"type": "scatter3d", "mode": "lines", "x": [], "y": [], "z": [], "showlegend": false,
                "hoverinfo": "skip", "line": {"width": 2, "color": "#8a7342"}}),
            );
        }
        let axis = |k: usize| {
            json!({"title": {"text": format!("{} [m]", ["x", "y", "z"][k])}, "range": bounds.range(k),
                   "tickangle": 0, "visible": self.look_from.is_none_or(|from| from[k] == 0.0),
                   "backgroundcolor": "#f4f6f8", "showbackground": true, "gridcolor": "#dde3e9"})
        };
        let layout = json!({"margin": {"l": 0, "r": 0, "t": 0, "b": 0}, "font": {"family": "system-ui, sans-serif", "color": "#1d2733"},
            "scene": {"aspectmode": "manual", "aspectratio": bounds.aspect(self.scale(bounds)), "xaxis": axis(0), "yaxis": axis(1), "zaxis": axis(2),
                      "camera": self.camera()}});
        (traces, json!(data), layout)
    }

    /// Length of the longest axis in the picture; a look straight on fills a picture about twice as wide as high.
    fn scale(&self, bounds: &Bounds) -> f64 {
        if self.look_from.is_none() {
            return 1.0;
        }
        let range = |k: usize| bounds.range(k)[1] - bounds.range(k)[0];
        let up = (0..3).max_by(|&a, &b| self.up[a].abs().total_cmp(&self.up[b].abs())).unwrap_or(2);
        let longest = (0..3).map(range).fold(0.0, f64::max);
        (2.6_f64).min(1.55 * longest / range(up))
    }

    /// A look from the side and a little from above, with `up` upwards.
    fn camera(&self) -> Value {
        let up = Vector3::from(self.up);
        if let Some(from) = self.look_from {
            let eye = 1.9 * Vector3::from(from);
            let axes = |v: Vector3<f64>| json!({"x": v.x, "y": v.y, "z": v.z});
            return json!({"eye": axes(eye), "up": axes(up), "projection": {"type": "orthographic"}});
        }
        let across = if up.x.abs() < 0.9 { Vector3::x() } else { Vector3::y() };
        let right = (across - up * up.dot(&across)).normalize();
        let eye = 1.1 * right - 1.45 * up.cross(&right) + 0.5 * up;
        let axes = |v: Vector3<f64>| json!({"x": v.x, "y": v.y, "z": v.z});
        json!({"eye": axes(eye), "center": axes(-0.05 * up), "up": axes(up)})
    }
}

/// Points along polylines, −1 where the pen lifts: segments that share an end are chained.
fn chained(segments: &[[u32; 2]]) -> Vec<i64> {
    let mut path = Vec::with_capacity(3 * segments.len());
    let mut pen = None;
    for &[a, b] in segments {
        if pen != Some(a) {
            if pen.is_some() {
                path.push(-1);
            }
            path.push(i64::from(a));
        }
        path.push(i64::from(b));
        pen = Some(b);
    }
    path
}

fn plane(flat_axis: usize) -> [usize; 2] {
    match flat_axis {
        0 => [1, 2],
        1 => [0, 2],
        _ => [0, 1],
    }
}
