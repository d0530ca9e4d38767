//! A part from the vertices and faces of a mesh.

use super::{MAX_PARTICLES, Topology, TopologyError, count};
use nalgebra::Vector3;

/// One side of a face: the edge, smaller vertex first, and the vertices that follow it around the face.
pub(super) struct Side {
    edge: [u32; 2],
    /// Corner next to `edge[0]` and corner next to `edge[1]`; the same for a triangle.
    wings: [u32; 2],
}

/// The sides of all faces, sorted by edge.
pub(super) fn sides(triangles: &[[u32; 3]], quads: &[[u32; 4]]) -> Result<Vec<Side>, TopologyError> {
    let mut sides = Vec::with_capacity(3 * triangles.len() + 4 * quads.len());
    for corners in triangles {
        for i in 0..3 {
            sides.push(side(corners[i], corners[(i + 1) % 3], corners[(i + 2) % 3], corners[(i + 2) % 3]));
        }
    }
    for corners in quads {
        for i in 0..4 {
            sides.push(side(corners[i], corners[(i + 1) % 4], corners[(i + 3) % 4], corners[(i + 2) % 4]));
        }
    }
    sides.sort_by_key(|side| side.edge);
    for group in sides.chunk_by(|a, b| a.edge == b.edge) {
        if group.len() > 2 {
            return Err(TopologyError::NonManifoldEdge { edge: group[0].edge, faces: group.len() });
        }
    }
    Ok(sides)
}

fn side(a: u32, b: u32, beside_a: u32, beside_b: u32) -> Side {
    if a < b {
        Side { edge: [a, b], wings: [beside_a, beside_b] }
    } else {
        Side { edge: [b, a], wings: [beside_b, beside_a] }
    }
}

/// Hinges between faces that share an edge, in the order of the edges.
pub(super) fn hinges(sides: &[Side]) -> Result<Vec<[u32; 4]>, TopologyError> {
    let mut hinges = Vec::new();
    for group in sides.chunk_by(|a, b| a.edge == b.edge) {
        let [first, second] = group else { continue };
        let [e0, e1] = first.edge;
        let pairs = [[first.wings[0], second.wings[0]], [first.wings[1], second.wings[1]]];
        if pairs.iter().any(|[a, b]| a == b) {
            return Err(TopologyError::DuplicateFace { edge: first.edge });
        }
        hinges.push([e0, e1, pairs[0][0], pairs[0][1]]);
        if pairs[0] != pairs[1] {
            hinges.push([e0, e1, pairs[1][0], pairs[1][1]]);
        }
    }
    Ok(hinges)
}

/// Makes a part from a mesh: `segments` are the edges of the faces, each once and sorted; `shear` the diagonals of the
/// quads; `hinges` join faces that share an edge: one between two triangles, two where a quad takes part (one for the
/// corners beside each end of the edge, so that no diagonal of the quad is preferred).
///
/// # Errors
/// [`TopologyError`] when a vertex does not exist or is not finite, a face repeats a corner or has no area, an edge has
/// more than two faces (a surface that branches has no single fold angle there; split it first), or two faces on an edge
/// have a further corner in common (the same face twice).
///
/// # Limitations
/// There are no `skips`: a mesh has no lines to follow. Vertices in no face are kept, without springs. Neighbors with
/// opposite windings are accepted: no energy here depends on the side of a face.
pub fn from_mesh(
    vertices: &[[f64; 3]],
    triangles: &[[u32; 3]],
    quads: &[[u32; 4]],
) -> Result<Topology, TopologyError> {
    count("mesh", "vertices", vertices.len(), 1, MAX_PARTICLES)?;
    count("mesh", "triangles", triangles.len(), 0, 4 * MAX_PARTICLES)?;
    count("mesh", "quads", quads.len(), 0, 4 * MAX_PARTICLES)?;
    let mut part = Topology {
        positions: vertices.to_vec(),
        triangles: triangles.to_vec(),
        quads: quads.to_vec(),
        ..Topology::default()
    };
    part.validate()?;
    let x = |i: u32| Vector3::from(vertices[i as usize]);
    let flat = |a: u32, b: u32, c: u32, d: u32| (x(b) - x(a)).cross(&(x(d) - x(c))).norm() == 0.0;
    if let Some(index) = triangles.iter().position(|&[a, b, c]| flat(a, b, a, c)) {
        return Err(TopologyError::NoArea { kind: "triangle", index });
    }
    if let Some(index) = quads.iter().position(|&[a, b, c, d]| flat(a, c, b, d)) {
        return Err(TopologyError::NoArea { kind: "quad", index });
    }
    let sides = sides(triangles, quads)?;
    part.segments = sides.chunk_by(|a, b| a.edge == b.edge).map(|group| group[0].edge).collect();
    part.shear = quads.iter().flat_map(|&[a, b, c, d]| [[a, c], [b, d]]).collect();
    part.hinges = hinges(&sides)?;
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: [[f64; 3]; 6] =
        [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [2.0, 0.0, 0.0], [2.0, 1.0, 0.0]];

    #[test]
    fn edges_once_and_hinges_between_neighbors() {
        let part = from_mesh(&SQUARE[..4], &[[0, 1, 2], [0, 2, 3]], &[]).unwrap();
        assert_eq!(part.segments, [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]]);
        assert_eq!(part.hinges, [[0, 2, 1, 3]]);
        assert!(part.shear.is_empty());
    }

    #[test]
    fn quads_give_diagonals_and_two_hinges() {
        let part = from_mesh(&SQUARE, &[], &[[0, 1, 2, 3], [1, 4, 5, 2]]).unwrap();
        assert_eq!(part.segments.len(), 7);
        assert_eq!(part.shear, [[0, 2], [1, 3], [1, 5], [4, 2]]);
        assert_eq!(part.hinges, [[1, 2, 0, 4], [1, 2, 3, 5]]);
        let mixed = from_mesh(&SQUARE[..5], &[[1, 4, 2]], &[[0, 1, 2, 3]]).unwrap();
        assert_eq!(mixed.hinges, [[1, 2, 4, 0], [1, 2, 4, 3]]);
    }

    #[test]
    fn closed_surface_follows_euler() {
        let tetrahedron = [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]];
        let x = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let part = from_mesh(&x, &tetrahedron, &[]).unwrap();
        assert_eq!((part.segments.len(), part.hinges.len()), (6, 6), "V - E + F = 2, every edge a hinge");
    }

    #[test]
    fn bad_meshes_name_the_place() {
        let x = &SQUARE;
        let error = |triangles: &[[u32; 3]], quads: &[[u32; 4]]| from_mesh(x, triangles, quads).unwrap_err();
        assert_eq!(
            error(&[[0, 1, 9]], &[]),
            TopologyError::NoVertex { kind: "triangle", index: 0, vertex: 9, count: 6 }
        );
        assert_eq!(
            error(&[], &[[0, 1, 2, 0]]),
            TopologyError::RepeatedVertex { kind: "quad", index: 0, vertex: 0 }
        );
        assert_eq!(error(&[[0, 1, 2], [0, 1, 4]], &[]), TopologyError::NoArea { kind: "triangle", index: 1 });
        assert_eq!(
            error(&[[0, 1, 2], [0, 1, 3], [1, 0, 5]], &[]),
            TopologyError::NonManifoldEdge { edge: [0, 1], faces: 3 }
        );
        assert_eq!(error(&[[0, 1, 2], [2, 1, 0]], &[]), TopologyError::DuplicateFace { edge: [0, 1] });
        assert!(matches!(from_mesh(&[], &[], &[]), Err(TopologyError::Count { field: "vertices", .. })));
    }
}
