//! A rope between two points.

use super::{MAX_PARTICLES, Topology, TopologyError, catenary, count, direction, finite, line, positive};
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

const PART: &str = "rope";

/// A rope of equal segments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RopeOptions {
    /// First end in m.
    pub from: [f64; 3],
    /// Last end in m, apart from the first.
    pub to: [f64; 3],
    /// Number of segments, at least 1; there is one particle more.
    pub segments: usize,
    /// Length in m of the rope, not less than the distance of the ends. A longer rope hangs in its equilibrium shape
    /// as a chain of rigid links with equal particle masses. `None` is the straight rope.
    #[serde(default)]
    pub length: Option<f64>,
    /// Where a rope longer than the distance of its ends sags to; its size does not matter.
    #[serde(default = "down")]
    pub down: [f64; 3],
}

fn down() -> [f64; 3] {
    [0.0, 0.0, -1.0]
}

impl RopeOptions {
    /// A straight rope.
    pub fn new(from: [f64; 3], to: [f64; 3], segments: usize) -> Self {
        Self { from, to, segments, length: None, down: down() }
    }
}

/// Makes a rope: `segments` and `skips` along it.
///
/// # Errors
/// [`TopologyError`] when the ends coincide, a number is out of range, the length is shorter than the distance of the
/// ends, or a hanging rope has its ends less than one segment apart horizontally: it then folds, and the link at the fold
/// carries no force and has no direction.
pub fn rope(options: &RopeOptions) -> Result<Topology, TopologyError> {
    finite(PART, "from", &options.from)?;
    finite(PART, "to", &options.to)?;
    count(PART, "segments", options.segments, 1, MAX_PARTICLES - 1)?;
    let (from, to) = (Vector3::from(options.from), Vector3::from(options.to));
    let span = to - from;
    let distance = span.norm();
    if !(distance > 0.0 && distance.is_finite()) {
        return Err(TopologyError::Value {
            part: PART,
            field: "to",
            value: distance,
            requirement: "a finite distance away from `from`",
        });
    }
    let n = options.segments;
    let mut positions: Vec<[f64; 3]> = match options.length {
        Some(length) => {
            positive(PART, "length", length)?;
            let down = direction(PART, "down", options.down)?;
            hanging(from, span, length, n, down)?
        }
        None => (0..=n).map(|i| (from + span * (i as f64 / n as f64)).into()).collect(),
    };
    positions[n] = options.to;
    let (segments, skips) = line(n as u32 + 1, false);
    Ok(Topology { positions, segments, skips, ..Topology::default() })
}

fn hanging(
    from: Vector3<f64>,
    span: Vector3<f64>,
    length: f64,
    n: usize,
    down: Vector3<f64>,
) -> Result<Vec<[f64; 3]>, TopologyError> {
    let refused =
        |requirement| TopologyError::Value { part: PART, field: "length", value: length, requirement };
    // A length given as the distance of the ends is straight even if the last bit says otherwise.
    let distance = span.norm();
    if length < distance * (1.0 - 4.0 * f64::EPSILON) {
        return Err(refused("at least the distance of the ends"));
    }
    if length <= distance * (1.0 + 4.0 * f64::EPSILON) {
        return Ok((0..=n).map(|i| (from + span * (i as f64 / n as f64)).into()).collect());
    }
    if n < 2 {
        return Err(refused("the distance of the ends when there is one segment"));
    }
    let drop = span.dot(&down);
    let across = span - down * drop;
    let width = across.norm();
    if width <= length / n as f64 {
        return Err(refused("used with ends more than one segment apart horizontally (else the rope folds)"));
    }
    let links = catenary::hanging_chain(width, drop, length, n).ok_or_else(|| {
        refused("a length whose hanging shape can be found (it is too close to the distance)")
    })?;
    let side = across / width;
    Ok(links.iter().map(|&[x, y]| (from + side * x + down * y).into()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn straight_rope_has_equal_segments() {
        let part = rope(&RopeOptions::new([1.0, 2.0, 3.0], [4.0, 6.0, 3.0], 10)).unwrap();
        assert_eq!((part.positions.len(), part.segments.len(), part.skips.len()), (11, 10, 9));
        assert_eq!((part.positions[0], part.positions[10]), ([1.0, 2.0, 3.0], [4.0, 6.0, 3.0]));
        for &segment in &part.segments {
            assert!((part.distance(segment) - 0.5).abs() < 1e-15);
        }
        assert_eq!(part.skips[8], [8, 9, 10]);
    }

    #[test]
    fn hanging_rope_is_in_equilibrium() {
        for (to, length) in [([1.0, 0.0, 0.4], 1.5), ([1.0, 1.0, 0.0], 1.4143), ([0.2, 0.0, -0.5], 3.0)] {
            let n = 21;
            let options = RopeOptions { length: Some(length), ..RopeOptions::new([0.0; 3], to, n) };
            let part = rope(&options).unwrap();
            let link = |i: usize| part.position(i as u32 + 1) - part.position(i as u32);
            let mut slopes = Vec::new();
            for i in 0..n {
                let l = link(i);
                assert!((l.norm() - length / n as f64).abs() < 1e-12 * length, "link {i} of {to:?}");
                slopes.push(l.z / l.xy().norm());
            }
            // Equal particle weights between links of tension T_i with one horizontal part: slopes in equal steps.
            let step = slopes[1] - slopes[0];
            assert!(step > 1e-3, "the rope sags");
            for pair in slopes.windows(2) {
                assert!((pair[1] - pair[0] - step).abs() < 1e-8 * step.max(1.0), "{slopes:?}");
            }
        }
    }

    #[test]
    fn impossible_ropes_are_named() {
        let base = RopeOptions::new([0.0; 3], [1.0, 0.0, 0.0], 5);
        let field = |options: RopeOptions| match rope(&options).unwrap_err() {
            TopologyError::Value { field, .. } | TopologyError::Count { field, .. } => field,
            other => panic!("{other}"),
        };
        assert_eq!(field(RopeOptions { to: [0.0; 3], ..base }), "to");
        assert_eq!(field(RopeOptions { from: [f64::NAN, 0.0, 0.0], ..base }), "from");
        assert_eq!(field(RopeOptions { segments: 0, ..base }), "segments");
        assert_eq!(field(RopeOptions { segments: usize::MAX, ..base }), "segments");
        assert_eq!(field(RopeOptions { length: Some(0.9), ..base }), "length");
        assert_eq!(field(RopeOptions { length: Some(2.0), down: [0.0; 3], ..base }), "down");
        assert_eq!(field(RopeOptions { length: Some(2.0), to: [0.0, 0.0, 1.0], ..base }), "length");
        assert!(rope(&RopeOptions { length: Some(1.0), ..base }).is_ok());
    }
}
