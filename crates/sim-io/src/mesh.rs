//! Import of polygon meshes: what was found, what was mended, what was refused.

mod defect;
mod obj;
mod report;

pub use defect::{Defect, Mending};
pub use report::MeshReport;

use sim_core::topology::{Topology, TopologyError, from_mesh};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// A mesh that cannot be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// The file cannot be read.
    #[error("mesh {file} cannot be read: {source}")]
    Read {
        /// File.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// A line that cannot be understood.
    #[error("mesh {file}:{line}: {message}")]
    Syntax {
        /// File.
        file: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The file has no faces.
    #[error("mesh {file} has {vertices} vertices and no faces")]
    Empty {
        /// File.
        file: String,
        /// Vertices found.
        vertices: usize,
    },
    /// A defect that no option of the scene mends.
    #[error("mesh {file}: {defect}{}{}", more(*count), hint(*mending))]
    Defect {
        /// File.
        file: String,
        /// The first defect of its kind.
        defect: Defect,
        /// How many there are of this kind.
        count: usize,
        /// The option that mends it.
        mending: Option<Mending>,
    },
    /// The parser crate refuses what the line check let pass.
    #[error("mesh {file}: {message}")]
    Parser {
        /// File.
        file: String,
        /// What the parser says.
        message: String,
    },
    /// The model refuses the mesh.
    #[error("mesh {file}: {source}")]
    Topology {
        /// File.
        file: String,
        /// Why.
        source: TopologyError,
    },
}

fn more(count: usize) -> String {
    if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() }
}

fn hint(mending: Option<Mending>) -> String {
    mending.map(|word| format!("; `mend = [\"{}\"]` mends it", word.word())).unwrap_or_default()
}

/// A polygon mesh: positions in the units of its file, faces in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    positions: Vec<[f64; 3]>,
    /// Line of each vertex in the file.
    vertex_lines: Vec<usize>,
    faces: Vec<Face>,
    /// Vertex of the file → vertex of the mesh.
    vertex_of: Vec<Option<u32>>,
    /// Edges with more than two faces that were accepted.
    branches: BTreeSet<[u32; 2]>,
    mended: Vec<String>,
}

/// A polygon.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Face {
    corners: Vec<u32>,
    line: usize,
}

impl Face {
    /// Its edges in its own direction.
    fn sides(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        let n = self.corners.len();
        (0..n).map(move |i| [self.corners[i], self.corners[(i + 1) % n]])
    }
}

/// An edge without direction.
fn undirected([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

impl Mesh {
    /// Reads an OBJ file and mends what `mend` names.
    ///
    /// # Errors
    /// [`MeshError`]: unreadable, malformed (with the line), or with a defect that is not to be mended.
    pub fn read_obj(path: &Path, mend: &[Mending]) -> Result<Self, MeshError> {
        let file = path.to_string_lossy();
        let bytes =
            std::fs::read(path).map_err(|source| MeshError::Read { file: file.to_string(), source })?;
        // Names and comments may be in any encoding; what is read of the file is ASCII.
        Self::parse_obj(&file, &String::from_utf8_lossy(&bytes), mend)
    }

    /// Reads OBJ text; `file` names it in messages.
    ///
    /// # Errors
    /// As [`Mesh::read_obj`].
    pub fn parse_obj(file: &str, text: &str, mend: &[Mending]) -> Result<Self, MeshError> {
        let mut mesh = obj::parse(file, text)?;
        defect::mend(&mut mesh, file, mend)?;
        Ok(mesh)
    }

    /// Vertex positions in the units of the file.
    pub fn positions(&self) -> &[[f64; 3]] {
        &self.positions
    }

    /// For every vertex of the file, its vertex here (none when it was dropped).
    pub fn vertex_of(&self) -> &[Option<u32>] {
        &self.vertex_of
    }

    /// What was mended, one line each.
    pub fn mended(&self) -> &[String] {
        &self.mended
    }

    /// The faces as triangles: polygons fanned from their first corner, orientation kept.
    pub fn triangles(&self) -> Vec<[u32; 3]> {
        self.faces.iter().flat_map(|face| fan(&face.corners)).collect()
    }

    /// Number of faces, of any number of corners.
    pub fn face_count(&self) -> usize {
        self.faces.len()
    }

    /// Edges of the faces, each once, sorted.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let mut edges: Vec<_> = self.faces.iter().flat_map(Face::sides).map(undirected).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Scales and shifts all positions.
    pub fn place(&mut self, scale: f64, shift: [f64; 3]) {
        for x in &mut self.positions {
            *x = [0, 1, 2].map(|k| scale * x[k] + shift[k]);
        }
    }

    /// Sizes and counts.
    pub fn report(&self) -> MeshReport {
        report::of(self)
    }

    /// The mesh as a part: structural segments along the edges of the faces, shear along the diagonals of quads and of the fans
    /// of larger polygons, hinges across edges.
    ///
    /// An edge with more than two faces, when accepted, carries its spring and no hinge.
    ///
    /// # Errors
    /// [`MeshError::Topology`] when the model refuses it.
    pub fn topology(&self, file: &str) -> Result<Topology, MeshError> {
        let (mut triangles, mut quads) = (Vec::new(), Vec::new());
        let mut on_edge: HashMap<[u32; 2], usize> = HashMap::new();
        // Faces beyond the second on an edge are joined separately, for the model knows surfaces without branches only.
        let (mut more_triangles, mut more_quads) = (Vec::new(), Vec::new());
        for face in &self.faces {
            let beyond = face.sides().any(|side| on_edge.get(&undirected(side)).is_some_and(|&n| n >= 2));
            if !beyond {
                face.sides().for_each(|side| *on_edge.entry(undirected(side)).or_default() += 1);
            }
            let (triangles, quads) =
                if beyond { (&mut more_triangles, &mut more_quads) } else { (&mut triangles, &mut quads) };
            match *face.corners.as_slice() {
                [a, b, c, d] => quads.push([a, b, c, d]),
                ref corners => triangles.extend(fan(corners)),
            }
        }
        let refuse = |source| MeshError::Topology { file: file.to_owned(), source };
        let mut part = from_mesh(&self.positions, &triangles, &quads).map_err(refuse)?;
        for (triangles, quads) in more_triangles
            .iter()
            .map(|t| (vec![*t], vec![]))
            .chain(more_quads.iter().map(|q| (vec![], vec![*q])))
        {
            let more = from_mesh(&self.positions, &triangles, &quads).map_err(refuse)?;
            part.segments.extend(more.segments);
            part.shear.extend(more.shear);
            part.triangles.extend(more.triangles);
            part.quads.extend(more.quads);
        }
        part.hinges.retain(|&[a, b, ..]| !self.branches.contains(&undirected([a, b])));
        part.segments.sort_unstable();
        part.segments.dedup();
        let edges: BTreeSet<[u32; 2]> = self.edges().into_iter().collect();
        let (structural, diagonals) =
            part.segments.iter().partition(|&&edge| edges.contains(&undirected(edge)));
        part.segments = structural;
        part.shear.extend::<Vec<[u32; 2]>>(diagonals);
        Ok(part)
    }
}

fn fan(corners: &[u32]) -> impl Iterator<Item = [u32; 3]> + '_ {
    corners[1..].windows(2).map(|pair| [corners[0], pair[0], pair[1]])
}

#[cfg(test)]
mod tests;
