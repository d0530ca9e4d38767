//! How far two runs are apart.

use crate::failure::Failure;
use sim_io::run::RunResult;
use sim_io::run::result::SeriesGroup;

/// Relative precision of recorded positions: they are single precision.
const SINGLE: f64 = 6e-8;

/// What errors are of.
pub enum Measure {
    /// Root mean square of the distance of all points over all frames, over the root mean square of how far they go from their start in
    /// the frame where they are farthest.
    Motion {
        /// How far they go, in m.
        scale: f64,
        /// Rounding of the recording over `scale`.
        rounding: f64,
    },
    /// Root mean square of the difference of a probe's history, over its range.
    Probe {
        /// Its name.
        name: String,
        /// Its range.
        scale: f64,
    },
}

fn square(a: [f32; 3], b: [f32; 3]) -> f64 {
    (0..3).map(|k| (f64::from(a[k]) - f64::from(b[k])).powi(2)).sum()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u64), |(sum, count), x| (sum + x, count + 1));
    sum / count.max(1) as f64
}

impl Measure {
    /// A measure with the scales of `reference`: of the probe `by`, or else of the motion.
    ///
    /// # Errors
    /// [`Failure`] when the probe has no history or nothing moves.
    pub fn new(by: Option<&str>, reference: &RunResult) -> Result<Self, Failure> {
        let Some(name) = by else {
            let Some(start) = reference.frames.first() else {
                return Err(Failure::usage(
                    "nothing is drawn, so nothing can be compared; name a probe with --by",
                ));
            };
            let farthest = (reference.frames.iter())
                .map(|frame| mean(frame.positions.iter().zip(&start.positions).map(|(a, b)| square(*a, *b))))
                .fold(0.0, f64::max);
            let size = (reference.frames.iter().flat_map(|frame| frame.positions.iter().flatten()))
                .fold(0.0_f64, |size, x| size.max(f64::from(x.abs())));
            let scale = farthest.sqrt();
            if !(scale.is_finite() && scale > 0.0) {
                return Err(Failure::usage(
                    "nothing moves, so nothing can be compared; name a probe with --by",
                ));
            }
            return Ok(Self::Motion { scale, rounding: SINGLE * size / scale });
        };
        let Some(series) = reference.series(name) else {
            let known: Vec<&str> = reference.series.iter().map(|series| series.name.as_str()).collect();
            return Err(Failure::usage(format!(
                "--by {name}: the scene has no history of that name; it has {}",
                known.join(", ")
            )));
        };
        let (low, high) = (series.values.iter())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
        let scale = if high > low { high - low } else { high.abs() };
        if !(scale.is_finite() && scale > 0.0) {
            return Err(Failure::usage(format!(
                "--by {name}: its history in the reference is zero throughout"
            )));
        }
        Ok(Self::Probe { name: name.to_owned(), scale })
    }

    /// What errors are of, in words.
    pub fn words(&self) -> String {
        match self {
            Self::Motion { .. } => "the motion".into(),
            Self::Probe { name, .. } => format!("probe {name}"),
        }
    }

    /// Errors below this are rounding of what is recorded.
    pub fn floor(&self) -> f64 {
        match self {
            Self::Motion { rounding, .. } => *rounding,
            Self::Probe { .. } => 1e-12,
        }
    }

    /// Relative square distance of two runs frame by frame, over the frames that both have.
    fn squares(&self, a: &RunResult, b: &RunResult) -> Vec<f64> {
        match self {
            Self::Motion { scale, .. } => (a.frames.iter().zip(&b.frames))
                .map(|(a, b)| {
                    if a.positions.len() != b.positions.len() {
                        return f64::INFINITY;
                    }
                    mean(a.positions.iter().zip(&b.positions).map(|(a, b)| square(*a, *b))) / (scale * scale)
                })
                .collect(),
            Self::Probe { name, scale } => match (a.series(name), b.series(name)) {
                (Some(a), Some(b)) => {
                    (a.values.iter().zip(&b.values)).map(|(a, b)| ((a - b) / scale).powi(2)).collect()
                }
                _ => vec![f64::INFINITY],
            },
        }
    }

    /// Relative distance of two runs over the frames that both have.
    pub fn distance(&self, a: &RunResult, b: &RunResult) -> f64 {
        mean(self.squares(a, b).into_iter()).sqrt()
    }

    /// Number of frames, from the first, over which the distance of two runs stays within `limit`.
    pub fn agreement(&self, a: &RunResult, b: &RunResult, limit: f64) -> usize {
        let mut sum = 0.0;
        (self.squares(a, b).into_iter().zip(1_u64..))
            .take_while(|&(square, count)| {
                sum += square;
                (sum / count as f64).sqrt() <= limit
            })
            .count()
    }
}

/// The first probe of the scene whose history changes.
pub fn first_history(reference: &RunResult) -> Option<String> {
    (reference.series.iter().filter(|series| series.group == SeriesGroup::Probe))
        .find(|series| Measure::new(Some(&series.name), reference).is_ok())
        .map(|series| series.name.clone())
}
