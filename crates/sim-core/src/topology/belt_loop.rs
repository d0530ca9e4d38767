//! A closed belt around pulleys.

use super::{MAX_PARTICLES, Topology, TopologyError, count, direction, finite, line, positive};
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

const PART: &str = "belt_loop";

/// A circle that the belt runs around, from inside.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pulley {
    /// Center in m; all centers lie in one plane across the loop's normal.
    pub center: [f64; 3],
    /// Radius in m to the belt's center line, positive.
    pub radius: f64,
}

/// A belt around one pulley (a circle) or several (external tangents between neighbors).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BeltLoopOptions {
    /// Pulleys, counterclockwise about `normal`, each touched from inside.
    pub pulleys: Vec<Pulley>,
    /// Normal of the belt's plane; its size does not matter.
    #[serde(default = "normal")]
    pub normal: [f64; 3],
    /// Number of segments, and of particles, at least 5.
    pub segments: usize,
}

fn normal() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}

impl BeltLoopOptions {
    /// A belt in the xy plane.
    pub fn new(pulleys: Vec<Pulley>, segments: usize) -> Self {
        Self { pulleys, normal: normal(), segments }
    }
}

/// One piece of the belt: an arc (on a pulley) and the straight run that follows it.
struct Piece {
    center: Vector3<f64>,
    radius: f64,
    /// Direction from the center to where the belt comes on.
    on: Vector3<f64>,
    wrap: f64,
    run: f64,
}

struct Path {
    pieces: Vec<Piece>,
    normal: Vector3<f64>,
}

impl Path {
    fn new(options: &BeltLoopOptions) -> Result<Self, TopologyError> {
        let pulleys = &options.pulleys;
        count(PART, "pulleys", pulleys.len(), 1, 10_000)?;
        let normal = direction(PART, "normal", options.normal)?;
        for pulley in pulleys {
            finite(PART, "center", &pulley.center)?;
            positive(PART, "radius", pulley.radius)?;
        }
        let center = |i: usize| Vector3::from(pulleys[i % pulleys.len()].center);
        let radius = |i: usize| pulleys[i % pulleys.len()].radius;
        if let [only] = pulleys.as_slice() {
            let start = across(normal);
            let piece = Piece { center: center(0), radius: only.radius, on: start, wrap: TAU, run: 0.0 };
            return Ok(Self { pieces: vec![piece], normal });
        }
        let mut outward = Vec::with_capacity(pulleys.len());
        let mut runs = Vec::with_capacity(pulleys.len());
        for i in 0..pulleys.len() {
            let between = center(i + 1) - center(i);
            let distance = between.norm();
            let height = between.dot(&normal);
            if height.abs() > 1e-9 * distance {
                return Err(TopologyError::Value {
                    part: PART,
                    field: "center",
                    value: height,
                    requirement: "in one plane across `normal` (this is the distance out of it in m)",
                });
            }
            let cosine = (radius(i) - radius(i + 1)) / distance;
            if distance == 0.0 || cosine.abs() >= 1.0 {
                let second = (i + 1) % pulleys.len();
                return Err(TopologyError::PulleyInside { first: i, second, distance });
            }
            let along = between / distance;
            let sine = (1.0 - cosine * cosine).sqrt();
            outward.push(along * cosine + along.cross(&normal) * sine);
            runs.push(distance * sine);
        }
        let mut pieces = Vec::with_capacity(pulleys.len());
        for i in 0..pulleys.len() {
            let on = outward[(i + pulleys.len() - 1) % pulleys.len()];
            let off = outward[i];
            let angle = normal.dot(&on.cross(&off)).atan2(on.dot(&off));
            // A wrap of nearly nothing may come out just below zero.
            let wrap = if angle < -1e-12 { angle + TAU } else { angle.max(0.0) };
            pieces.push(Piece { center: center(i), radius: radius(i), on, wrap, run: runs[i] });
        }
        let turned: f64 = pieces.iter().map(|piece| piece.wrap).sum();
        if (turned - TAU).abs() > 1e-6 {
            let pulley =
                (0..pieces.len()).max_by(|&a, &b| pieces[a].wrap.total_cmp(&pieces[b].wrap)).unwrap_or(0);
            let wrap = pieces[pulley].wrap;
            return Err(TopologyError::BeltOrder { turns: turned / TAU, pulley, wrap });
        }
        Ok(Self { pieces, normal })
    }

    fn length(&self) -> f64 {
        self.pieces.iter().map(|piece| piece.radius * piece.wrap + piece.run).sum()
    }
}

/// A unit vector across `normal`.
fn across(normal: Vector3<f64>) -> Vector3<f64> {
    // The coordinate axis least along the normal: for the default normal this is x.
    let axis = normal.iamin();
    let mut unit = Vector3::zeros();
    unit[axis] = 1.0;
    (unit - normal * normal.dot(&unit)).normalize()
}

/// Exact length in m of the belt's center line: arcs and straight runs.
///
/// # Errors
/// As [`belt_loop`].
pub fn belt_length(options: &BeltLoopOptions) -> Result<f64, TopologyError> {
    Path::new(options).map(|path| path.length())
}

/// Makes a closed belt: particles at equal arc lengths, the first where the belt comes onto the first pulley, numbered
/// counterclockwise; `segments` and `skips` around the loop.
///
/// # Errors
/// [`TopologyError`] when a number is out of range, centers are not in a plane, a pulley lies inside its neighbor, or the
/// pulleys do not all touch one convex belt in the order given.
///
/// # Limitations
/// No crossed belts and no pulleys touched from outside. Segments on a pulley are chords, shorter than their arcs by
/// (segment / radius)² / 24.
pub fn belt_loop(options: &BeltLoopOptions) -> Result<Topology, TopologyError> {
    count(PART, "segments", options.segments, 5, MAX_PARTICLES)?;
    let path = Path::new(options)?;
    let n = options.segments;
    let spacing = path.length() / n as f64;
    let mut positions = Vec::with_capacity(n);
    let mut piece = 0;
    let mut start = 0.0;
    for i in 0..n {
        let s = i as f64 * spacing;
        loop {
            let p = &path.pieces[piece];
            let (arc, whole) = (p.radius * p.wrap, p.radius * p.wrap + p.run);
            let local = s - start;
            if local <= whole || piece + 1 == path.pieces.len() {
                let angle = (local / p.radius).min(p.wrap);
                let out = p.on * angle.cos() + path.normal.cross(&p.on) * angle.sin();
                let ahead = path.normal.cross(&out) * (local - arc).max(0.0);
                positions.push((p.center + out * p.radius + ahead).into());
                break;
            }
            start += whole;
            piece += 1;
        }
    }
    let (segments, skips) = line(n as u32, true);
    Ok(Topology { positions, segments, skips, ..Topology::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pulley(x: f64, y: f64, radius: f64) -> Pulley {
        Pulley { center: [x, y, 0.0], radius }
    }

    #[test]
    fn open_belt_length_is_the_textbook_formula() {
        // L = 2 C cos(φ) + π (R + r) + 2 φ (R - r), sin φ = (R - r) / C.
        let (c, big, small) = (1.3_f64, 0.4, 0.15);
        let phi = ((big - small) / c).asin();
        let exact = 2.0 * c * phi.cos() + std::f64::consts::PI * (big + small) + 2.0 * phi * (big - small);
        let options = BeltLoopOptions::new(vec![pulley(0.0, 0.0, big), pulley(c, 0.0, small)], 400);
        assert!((belt_length(&options).unwrap() - exact).abs() < 1e-14 * exact);
        let part = belt_loop(&options).unwrap();
        assert_eq!((part.segments.len(), part.skips.len()), (400, 400));
        assert_eq!(part.segments[399], [399, 0]);
        let spacing = exact / 400.0;
        for &segment in &part.segments {
            let chord = part.distance(segment);
            assert!(chord <= spacing * (1.0 + 1e-12));
            assert!(chord >= spacing * (1.0 - (spacing / small).powi(2) / 23.0));
        }
        // Every particle is on a pulley or outside both, never inside.
        for x in &part.positions {
            let out = [(0.0, big), (c, small)].map(|(cx, r)| (x[0] - cx).hypot(x[1]) - r);
            assert!(out.iter().all(|&d| d > -1e-12), "{x:?}");
        }
        let shoelace: f64 = part
            .segments
            .iter()
            .map(|&[a, b]| {
                let (a, b) = (part.position(a), part.position(b));
                0.5 * (a.x * b.y - b.x * a.y)
            })
            .sum();
        assert!(shoelace > 0.0, "counterclockwise about the normal");
    }

    #[test]
    fn three_equal_pulleys_and_a_circle() {
        let triangle = vec![pulley(0.0, 0.0, 0.1), pulley(1.0, 0.0, 0.1), pulley(0.0, 1.0, 0.1)];
        let length = belt_length(&BeltLoopOptions::new(triangle, 10)).unwrap();
        let exact = 2.0 + 2.0_f64.sqrt() + TAU * 0.1;
        assert!((length - exact).abs() < 1e-14 * exact);
        let ring = BeltLoopOptions {
            normal: [1.0, 2.0, -1.0],
            ..BeltLoopOptions::new(vec![pulley(0.0, 0.0, 2.0)], 12)
        };
        let part = belt_loop(&ring).unwrap();
        for x in &part.positions {
            let x = Vector3::from(*x);
            assert!((x.norm() - 2.0).abs() < 1e-14 && x.dot(&Vector3::new(1.0, 2.0, -1.0)).abs() < 1e-14);
        }
        for &segment in &part.segments {
            assert!((part.distance(segment) - 4.0 * (TAU / 24.0).sin()).abs() < 1e-14);
        }
    }

    #[test]
    fn impossible_belts_are_named() {
        let belt = |pulleys| belt_loop(&BeltLoopOptions::new(pulleys, 20)).unwrap_err();
        assert!(matches!(belt(vec![]), TopologyError::Count { field: "pulleys", .. }));
        assert!(matches!(belt(vec![pulley(0.0, 0.0, -1.0)]), TopologyError::Value { field: "radius", .. }));
        let inside = vec![pulley(0.0, 0.0, 1.0), pulley(0.2, 0.0, 0.1)];
        assert!(matches!(belt(inside), TopologyError::PulleyInside { first: 0, second: 1, .. }));
        let clockwise = vec![pulley(0.0, 0.0, 0.1), pulley(0.0, 1.0, 0.1), pulley(1.0, 0.0, 0.1)];
        assert!(matches!(belt(clockwise), TopologyError::BeltOrder { .. }));
        let dented =
            vec![pulley(0.0, 0.0, 0.1), pulley(1.0, 0.3, 0.1), pulley(2.0, 0.0, 0.1), pulley(1.0, 1.0, 0.1)];
        assert!(matches!(belt(dented), TopologyError::BeltOrder { .. }));
        let tilted = vec![pulley(0.0, 0.0, 0.1), Pulley { center: [1.0, 0.0, 0.5], radius: 0.1 }];
        assert!(matches!(belt(tilted), TopologyError::Value { field: "center", .. }));
        let huge = BeltLoopOptions::new(vec![pulley(0.0, 0.0, 0.1)], usize::MAX);
        assert!(matches!(belt_loop(&huge), Err(TopologyError::Count { field: "segments", .. })));
    }
}
