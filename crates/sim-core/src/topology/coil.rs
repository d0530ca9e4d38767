//! The wire of a helical spring.

use super::{MAX_PARTICLES, Topology, TopologyError, count, direction, finite, line, positive};
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

const PART: &str = "coil";

/// A helix of wire. Exactly one of `pitch` and `free_length` is given.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoilOptions {
    /// Mean diameter in m (to the center line of the wire), positive.
    pub diameter: f64,
    /// Advance along the axis per turn in m, positive.
    #[serde(default)]
    pub pitch: Option<f64>,
    /// Advance along the axis over all turns in m, positive.
    #[serde(default)]
    pub free_length: Option<f64>,
    /// Number of turns, positive, not necessarily whole.
    pub turns: f64,
    /// Segments per turn, at least 3.
    pub segments_per_turn: usize,
    /// Start of the axis in m.
    #[serde(default)]
    pub origin: [f64; 3],
    /// Direction of the axis; its size does not matter.
    #[serde(default = "axis")]
    pub axis: [f64; 3],
}

fn axis() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}

impl CoilOptions {
    /// A coil of `free_length` along z from the origin.
    pub fn new(diameter: f64, free_length: f64, turns: f64, segments_per_turn: usize) -> Self {
        Self {
            diameter,
            pitch: None,
            free_length: Some(free_length),
            turns,
            segments_per_turn,
            origin: [0.0; 3],
            axis: axis(),
        }
    }
}

/// Makes a right-handed helix: `segments` and `skips` along the wire.
///
/// # Errors
/// [`TopologyError`] when a number is out of range, or both or none of `pitch` and `free_length` are given.
///
/// # Limitations
/// Segments are chords: the polygon is shorter than the wire by about (π / segments per turn)² / 6. Turns times segments
/// per turn is rounded to a whole number of segments, and the last one then ends exactly at `turns`.
pub fn coil(options: &CoilOptions) -> Result<Topology, TopologyError> {
    positive(PART, "diameter", options.diameter)?;
    positive(PART, "turns", options.turns)?;
    finite(PART, "origin", &options.origin)?;
    count(PART, "segments_per_turn", options.segments_per_turn, 3, 1_000_000)?;
    let along = direction(PART, "axis", options.axis)?;
    let advance = match (options.pitch, options.free_length) {
        (Some(pitch), None) => {
            positive(PART, "pitch", pitch)?;
            pitch * options.turns
        }
        (None, Some(length)) => {
            positive(PART, "free_length", length)?;
            length
        }
        (pitch, _) => {
            return Err(TopologyError::Value {
                part: PART,
                field: "pitch",
                value: pitch.unwrap_or(f64::NAN),
                requirement: "given when `free_length` is not, and left out when it is",
            });
        }
    };
    // The product is bounded before it becomes a count.
    let segments = (options.turns * options.segments_per_turn as f64).round();
    if !(1.0..MAX_PARTICLES as f64).contains(&segments) {
        return Err(TopologyError::Value {
            part: PART,
            field: "turns",
            value: options.turns,
            requirement: "such that turns × segments_per_turn is between 1 and 10 million",
        });
    }
    let n = segments as usize;
    let seed = if along.x.abs() < 0.9 { Vector3::x() } else { Vector3::y() };
    let side = (seed - along * along.dot(&seed)).normalize();
    let other = along.cross(&side);
    let (origin, radius) = (Vector3::from(options.origin), 0.5 * options.diameter);
    let positions = (0..=n)
        .map(|i| {
            let part = i as f64 / n as f64;
            let (sin, cos) = (TAU * options.turns * part).sin_cos();
            (origin + (side * cos + other * sin) * radius + along * (advance * part)).into()
        })
        .collect();
    let (segments, skips) = line(n as u32 + 1, false);
    Ok(Topology { positions, segments, skips, ..Topology::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_length_tends_to_the_helix() {
        let (diameter, height, turns) = (0.03, 0.1, 7.5);
        let exact = (TAU * 0.5 * diameter * turns).hypot(height);
        let error = |per_turn| {
            let part = coil(&CoilOptions::new(diameter, height, turns, per_turn)).unwrap();
            exact - part.total_length()
        };
        let (coarse, fine) = (error(20), error(40));
        assert!(coarse > 0.0 && (coarse / fine - 4.0).abs() < 0.05, "second order: {coarse} {fine}");
        let bound = exact * (std::f64::consts::PI / 40.0).powi(2) / 6.0;
        assert!(fine < bound && fine > 0.8 * bound);
    }

    #[test]
    fn geometry_and_orientation() {
        let options = CoilOptions {
            pitch: Some(0.5),
            free_length: None,
            origin: [1.0, 2.0, 3.0],
            axis: [0.0, 3.0, 0.0],
            ..CoilOptions::new(2.0, 1.0, 2.0, 8)
        };
        let part = coil(&options).unwrap();
        assert_eq!(part.positions.len(), 17);
        let x = |i| part.position(i) - Vector3::new(1.0, 2.0, 3.0);
        for i in 0..17_u32 {
            assert!((x(i).xz().norm() - 1.0).abs() < 1e-14);
            assert!((x(i).y - 0.5 * f64::from(i) / 8.0).abs() < 1e-14);
        }
        let turned = x(0).cross(&x(1)).y;
        assert!(turned > 0.0, "right-handed about the axis");
    }

    #[test]
    fn impossible_coils_are_named() {
        let base = CoilOptions::new(1.0, 1.0, 3.0, 12);
        let field = |options: CoilOptions| match coil(&options).unwrap_err() {
            TopologyError::Value { field, .. } | TopologyError::Count { field, .. } => field,
            other => panic!("{other}"),
        };
        assert_eq!(field(CoilOptions { diameter: 0.0, ..base }), "diameter");
        assert_eq!(field(CoilOptions { turns: f64::INFINITY, ..base }), "turns");
        assert_eq!(field(CoilOptions { turns: 1e300, ..base }), "turns");
        assert_eq!(field(CoilOptions { pitch: Some(1.0), ..base }), "pitch");
        assert_eq!(field(CoilOptions { free_length: None, ..base }), "pitch");
        assert_eq!(field(CoilOptions { free_length: Some(-1.0), ..base }), "free_length");
        assert_eq!(field(CoilOptions { segments_per_turn: 2, ..base }), "segments_per_turn");
        assert_eq!(field(CoilOptions { axis: [0.0; 3], ..base }), "axis");
    }
}
