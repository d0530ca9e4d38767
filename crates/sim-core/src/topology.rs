//! Topology: where the particles of a part are at first and how they are joined.
//!
//! Generators make the geometry once; springs, constraints or elements are then laid along it, so that the same rope can
//! be simulated in three ways. Nothing here knows stiffness or mass; see [`crate::mass`] and [`crate::rest`].

mod belt_loop;
mod catenary;
mod cloth;
mod coil;
mod knot;
mod mesh;
mod rope;

pub use belt_loop::{BeltLoopOptions, Pulley, belt_length, belt_loop};
pub use cloth::{ClothFaces, ClothOptions, cloth};
pub use coil::{CoilOptions, coil};
pub use knot::{knot_determinant, open_knot_determinant};
pub use mesh::from_mesh;
pub use rope::{RopeOptions, rope};

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// Most particles a generator makes: a larger count is refused before anything is allocated.
pub const MAX_PARTICLES: usize = 10_000_000;

/// Positions and the ways to join them. Indices refer to `positions`; the default is the empty part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Topology {
    /// Positions in m.
    pub positions: Vec<[f64; 3]>,
    /// Structural edges: the segments of a rope, the edges of a mesh.
    pub segments: Vec<[u32; 2]>,
    /// Diagonals that resist shear.
    pub shear: Vec<[u32; 2]>,
    /// Second neighbors along a line, `[a, middle, b]`.
    pub skips: Vec<[u32; 3]>,
    /// Pairs of triangles on a common edge, `[edge0, edge1, wing0, wing1]`.
    pub hinges: Vec<[u32; 4]>,
    /// Triangular faces.
    pub triangles: Vec<[u32; 3]>,
    /// Quadrilateral faces, corners in order around the face.
    pub quads: Vec<[u32; 4]>,
}

/// A part that cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// A number is out of range or not finite.
    #[error("{part}: {field} = {value}, must be {requirement}")]
    Value {
        /// `rope`, `belt_loop`, `coil`, `cloth` or `mesh`.
        part: &'static str,
        /// Field name.
        field: &'static str,
        /// Value found.
        value: f64,
        /// What it must be.
        requirement: &'static str,
    },
    /// A count is too small or too large.
    #[error("{part}: {field} = {value}, must be between {min} and {max}")]
    Count {
        /// Part.
        part: &'static str,
        /// Field name.
        field: &'static str,
        /// Count found.
        value: usize,
        /// Smallest count.
        min: usize,
        /// Largest count.
        max: usize,
    },
    /// The pulleys do not lie inside one convex belt.
    #[error(
        "belt_loop: the belt turns by {turns} full turns around the pulleys, largest wrap {wrap} rad at pulley \
         {pulley}; list them counterclockwise about the normal and let every one touch the belt from inside"
    )]
    BeltOrder {
        /// Full turns found (1 is right).
        turns: f64,
        /// Pulley with the largest wrap angle.
        pulley: usize,
        /// Its wrap angle in rad.
        wrap: f64,
    },
    /// Two neighboring pulleys leave no external tangent.
    #[error("belt_loop: pulleys {first} and {second} are {distance} m apart, one lies inside the other")]
    PulleyInside {
        /// First pulley.
        first: usize,
        /// Next pulley.
        second: usize,
        /// Distance of their centers in m.
        distance: f64,
    },
    /// A face or edge names a vertex that does not exist.
    #[error("{kind} {index}: vertex {vertex} does not exist (there are {count})")]
    NoVertex {
        /// `segment`, `shear`, `skip`, `hinge`, `triangle` or `quad`.
        kind: &'static str,
        /// Index of the face or edge.
        index: usize,
        /// Vertex asked for.
        vertex: u32,
        /// Number of vertices.
        count: usize,
    },
    /// A face or edge names a vertex twice.
    #[error("{kind} {index}: vertex {vertex} is used twice")]
    RepeatedVertex {
        /// Kind of face or edge.
        kind: &'static str,
        /// Its index.
        index: usize,
        /// Vertex used twice.
        vertex: u32,
    },
    /// A face has no area.
    #[error("{kind} {index} has no area")]
    NoArea {
        /// `triangle` or `quad`.
        kind: &'static str,
        /// Its index.
        index: usize,
    },
    /// An edge belongs to more than two faces.
    #[error("edge {}-{} belongs to {faces} faces, at most 2 are possible", edge[0], edge[1])]
    NonManifoldEdge {
        /// The edge, smaller vertex first.
        edge: [u32; 2],
        /// Number of faces on it.
        faces: usize,
    },
    /// Two faces on one edge have the same other corners.
    #[error("two faces on edge {}-{} are the same", edge[0], edge[1])]
    DuplicateFace {
        /// The edge, smaller vertex first.
        edge: [u32; 2],
    },
    /// A position is NaN or infinite.
    #[error("position of vertex {vertex} is not finite")]
    NotFinite {
        /// Vertex.
        vertex: usize,
    },
}

impl Topology {
    /// Number of particles.
    pub fn particle_count(&self) -> usize {
        self.positions.len()
    }

    /// Position of particle `index` in m.
    ///
    /// # Panics
    /// When `index` is out of range.
    pub fn position(&self, index: u32) -> Vector3<f64> {
        Vector3::from(self.positions[index as usize])
    }

    /// Distance in m between two particles.
    ///
    /// # Panics
    /// When an index is out of range.
    pub fn distance(&self, [a, b]: [u32; 2]) -> f64 {
        (self.position(b) - self.position(a)).norm()
    }

    /// Positions as one flat `xyzxyz…` array, the `q` of a [`crate::State`].
    pub fn flat_positions(&self) -> Vec<f64> {
        self.positions.as_flattened().to_vec()
    }

    /// Sum of the lengths of `segments` in m.
    pub fn total_length(&self) -> f64 {
        self.segments.iter().map(|&segment| self.distance(segment)).sum()
    }

    /// Appends another part; its indices are moved by the number of particles already here, which is returned.
    ///
    /// # Panics
    /// When there would be more particles than a `u32` can index.
    pub fn append(&mut self, other: &Self) -> u32 {
        let total = self.positions.len() + other.positions.len();
        assert!(u32::try_from(total).is_ok(), "{total} particles are more than a 32-bit index can name");
        let first = self.positions.len() as u32;
        self.positions.extend_from_slice(&other.positions);
        self.segments.extend(other.segments.iter().map(|&s| moved(s, first)));
        self.shear.extend(other.shear.iter().map(|&s| moved(s, first)));
        self.skips.extend(other.skips.iter().map(|&s| moved(s, first)));
        self.hinges.extend(other.hinges.iter().map(|&s| moved(s, first)));
        self.triangles.extend(other.triangles.iter().map(|&s| moved(s, first)));
        self.quads.extend(other.quads.iter().map(|&s| moved(s, first)));
        first
    }

    /// Checks that every index exists, that no edge or face repeats a vertex and that positions are finite.
    ///
    /// # Errors
    /// [`TopologyError`] naming the first culprit.
    pub fn validate(&self) -> Result<(), TopologyError> {
        if let Some(vertex) = self.positions.iter().position(|x| x.iter().any(|x| !x.is_finite())) {
            return Err(TopologyError::NotFinite { vertex });
        }
        let count = self.positions.len();
        check_indices("segment", &self.segments, count)?;
        check_indices("shear", &self.shear, count)?;
        check_indices("skip", &self.skips, count)?;
        check_indices("hinge", &self.hinges, count)?;
        check_indices("triangle", &self.triangles, count)?;
        check_indices("quad", &self.quads, count)
    }
}

fn moved<const N: usize>(indices: [u32; N], by: u32) -> [u32; N] {
    indices.map(|i| i + by)
}

fn check_indices<const N: usize>(
    kind: &'static str,
    list: &[[u32; N]],
    count: usize,
) -> Result<(), TopologyError> {
    for (index, vertices) in list.iter().enumerate() {
        for (place, &vertex) in vertices.iter().enumerate() {
            if vertex as usize >= count {
                return Err(TopologyError::NoVertex { kind, index, vertex, count });
            }
            if vertices[..place].contains(&vertex) {
                return Err(TopologyError::RepeatedVertex { kind, index, vertex });
            }
        }
    }
    Ok(())
}

fn finite(part: &'static str, field: &'static str, values: &[f64]) -> Result<(), TopologyError> {
    match values.iter().find(|x| !x.is_finite()) {
        Some(&value) => Err(TopologyError::Value { part, field, value, requirement: "finite" }),
        None => Ok(()),
    }
}

fn positive(part: &'static str, field: &'static str, value: f64) -> Result<(), TopologyError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(TopologyError::Value { part, field, value, requirement: "positive and finite" })
}

fn count(
    part: &'static str,
    field: &'static str,
    value: usize,
    min: usize,
    max: usize,
) -> Result<(), TopologyError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(TopologyError::Count { part, field, value, min, max })
}

/// A unit vector along `value`, which must not be zero.
fn direction(
    part: &'static str,
    field: &'static str,
    value: [f64; 3],
) -> Result<Vector3<f64>, TopologyError> {
    finite(part, field, &value)?;
    let vector = Vector3::from(value);
    let length = vector.norm();
    if length > 0.0 {
        return Ok(vector / length);
    }
    Err(TopologyError::Value { part, field, value: 0.0, requirement: "a vector that is not zero" })
}

/// Segments and second neighbors along particles `0..count`, closed into a ring or not.
fn line(count: u32, closed: bool) -> (Vec<[u32; 2]>, Vec<[u32; 3]>) {
    let open_by = |reach: u32| if closed { count } else { count.saturating_sub(reach) };
    let segments = (0..open_by(1)).map(|i| [i, (i + 1) % count]).collect();
    let skips = (0..open_by(2)).map(|i| [i, (i + 1) % count, (i + 2) % count]).collect();
    (segments, skips)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_is_the_empty_part_also_in_files() {
        let empty: Topology = serde_json::from_str("{}").unwrap();
        assert_eq!(empty, Topology::default());
        assert!(serde_json::from_str::<Topology>(r#"{"edges": []}"#).is_err(), "unknown fields are refused");
        assert_eq!(empty.validate(), Ok(()));
    }

    #[test]
    fn append_moves_indices() {
        let mut both = rope(&RopeOptions::new([0.0; 3], [1.0, 0.0, 0.0], 2)).unwrap();
        let other = both.clone();
        assert_eq!(both.append(&other), 3);
        assert_eq!(both.segments, [[0, 1], [1, 2], [3, 4], [4, 5]]);
        assert_eq!(both.skips, [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(both.validate(), Ok(()));
    }

    #[test]
    fn validate_names_the_culprit() {
        let mut part = rope(&RopeOptions::new([0.0; 3], [1.0, 0.0, 0.0], 2)).unwrap();
        part.segments[1] = [1, 7];
        assert_eq!(
            part.validate(),
            Err(TopologyError::NoVertex { kind: "segment", index: 1, vertex: 7, count: 3 })
        );
        part.segments[1] = [2, 2];
        assert_eq!(
            part.validate(),
            Err(TopologyError::RepeatedVertex { kind: "segment", index: 1, vertex: 2 })
        );
        part.positions[2][1] = f64::NAN;
        assert_eq!(part.validate(), Err(TopologyError::NotFinite { vertex: 2 }));
    }
}
