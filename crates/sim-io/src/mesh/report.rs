//! Sizes and counts of a mesh, so that a user notices wrong units.

use super::{Mesh, undirected};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt;

/// What a mesh is like. Lengths in the unit of its positions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeshReport {
    /// Vertices.
    pub vertices: usize,
    /// Faces with three corners.
    pub triangles: usize,
    /// Faces with four corners.
    pub quads: usize,
    /// Faces with more corners.
    pub polygons: usize,
    /// Lowest and highest corner of the bounding box.
    pub bounds: [[f64; 3]; 2],
    /// Total area.
    pub area: f64,
    /// Number of edges.
    pub edges: usize,
    /// Shortest, median and longest edge.
    pub edge_length: [f64; 3],
    /// Connected pieces.
    pub pieces: usize,
    /// Closed lines of edges with one face.
    pub boundary_loops: usize,
    /// What was mended.
    pub mended: Vec<String>,
}

impl fmt::Display for MeshReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, high] = self.bounds;
        let [shortest, median, longest] = self.edge_length;
        write!(
            f,
            "{} vertices, {} triangles, {} quads, {} polygons in {} piece(s) with {} border(s); \
             {:.4} × {:.4} × {:.4} m, area {:.4} m², edges {shortest:.3e} to {longest:.3e} m (median {median:.3e} m)",
            self.vertices,
            self.triangles,
            self.quads,
            self.polygons,
            self.pieces,
            self.boundary_loops,
            high[0] - low[0],
            high[1] - low[1],
            high[2] - low[2],
            self.area
        )?;
        self.mended.iter().try_for_each(|line| write!(f, "; {line}"))
    }
}

pub(super) fn of(mesh: &Mesh) -> MeshReport {
    let mut bounds = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    for x in &mesh.positions {
        for k in 0..3 {
            bounds[0][k] = bounds[0][k].min(x[k]);
            bounds[1][k] = bounds[1][k].max(x[k]);
        }
    }
    let x = |i: u32| nalgebra::Vector3::from(mesh.positions[i as usize]);
    let area =
        mesh.triangles().iter().map(|&[a, b, c]| 0.5 * (x(b) - x(a)).cross(&(x(c) - x(a))).norm()).sum();
    let edges = mesh.edges();
    let mut lengths: Vec<f64> = edges.iter().map(|&[a, b]| (x(b) - x(a)).norm()).collect();
    lengths.sort_unstable_by(f64::total_cmp);
    let arity = |n: usize| mesh.faces.iter().filter(|face| face.corners.len() == n).count();
    let mut faces_on: HashMap<[u32; 2], usize> = HashMap::new();
    mesh.faces
        .iter()
        .flat_map(super::Face::sides)
        .for_each(|side| *faces_on.entry(undirected(side)).or_default() += 1);
    let border: Vec<[u32; 2]> = edges.iter().copied().filter(|edge| faces_on[edge] == 1).collect();
    MeshReport {
        vertices: mesh.positions.len(),
        triangles: arity(3),
        quads: arity(4),
        polygons: mesh.faces.len() - arity(3) - arity(4),
        bounds,
        area,
        edges: edges.len(),
        edge_length: [lengths[0], lengths[lengths.len() / 2], lengths[lengths.len() - 1]],
        pieces: components(mesh.positions.len(), &edges),
        boundary_loops: components(mesh.positions.len(), &border),
        mended: mesh.mended.clone(),
    }
}

/// The representative of `i`'s component; halves the way there.
fn root(parent: &mut [u32], mut i: u32) -> u32 {
    while parent[i as usize] != i {
        parent[i as usize] = parent[parent[i as usize] as usize];
        i = parent[i as usize];
    }
    i
}

/// Connected components of the graph of these edges; vertices in no edge do not count.
fn components(vertices: usize, edges: &[[u32; 2]]) -> usize {
    let mut parent: Vec<u32> = (0..vertices as u32).collect();
    let mut used = vec![false; vertices];
    for &[a, b] in edges {
        let (a_root, b_root) = (root(&mut parent, a), root(&mut parent, b));
        parent[a_root as usize] = b_root;
        used[a as usize] = true;
        used[b as usize] = true;
    }
    (0..vertices).filter(|&i| used[i] && parent[i] == i as u32).count()
}
