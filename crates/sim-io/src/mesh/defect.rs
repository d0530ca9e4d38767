//! Defects of meshes: found, named by line, and mended or refused.

use super::{Face, Mesh, MeshError, undirected};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;

/// A triangle lower than this fraction of its longest side is degenerate: its height is then lost in the rounding of
/// single-precision files (2⁻²³ ≈ 1.2e-7).
const DEGENERATE_HEIGHT: f64 = 1e-6;

/// What a user allows the import to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mending {
    /// Vertices with equal coordinates become one.
    MergeDuplicates,
    /// Vertices with equal coordinates stay apart: a slit on purpose.
    KeepDuplicates,
    /// Faces with a repeated corner or without area are dropped.
    DropDegenerate,
    /// A face with the same corners as an earlier one is dropped.
    DropDuplicateFaces,
    /// Vertices in no face are dropped.
    DropUnreferenced,
    /// Faces are turned until neighbors agree.
    UnifyWinding,
    /// Edges with more than two faces keep their spring and get no hinge.
    OpenBranches,
}

impl Mending {
    /// The word in scene files.
    pub fn word(self) -> &'static str {
        match self {
            Self::MergeDuplicates => "merge_duplicates",
            Self::KeepDuplicates => "keep_duplicates",
            Self::DropDegenerate => "drop_degenerate",
            Self::DropDuplicateFaces => "drop_duplicate_faces",
            Self::DropUnreferenced => "drop_unreferenced",
            Self::UnifyWinding => "unify_winding",
            Self::OpenBranches => "open_branches",
        }
    }
}

/// One defect, with the lines it is on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Defect {
    /// Two vertices at the same place.
    DuplicateVertex {
        /// Line of the later one.
        line: usize,
        /// Line of the first one.
        first: usize,
    },
    /// A face with a repeated corner or without area.
    Degenerate {
        /// Its line.
        line: usize,
        /// What makes it degenerate.
        reason: &'static str,
    },
    /// A face with the corners of an earlier one.
    DuplicateFace {
        /// Its line.
        line: usize,
        /// Line of the first one.
        first: usize,
    },
    /// A vertex in no face.
    Unreferenced {
        /// Its line.
        line: usize,
    },
    /// An edge with more than two faces.
    NonManifold {
        /// Lines of the edge's vertices.
        edge: [usize; 2],
        /// Lines of its faces.
        faces: Vec<usize>,
    },
    /// Two neighbors that run along their common edge in the same direction.
    MixedWinding {
        /// Line of the later face.
        line: usize,
        /// Line of the earlier face.
        first: usize,
    },
    /// A surface with one side only (such as a Möbius strip) has no winding that all neighbors agree on.
    NotOrientable {
        /// Line of a face where the disagreement shows.
        line: usize,
    },
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateVertex { line, first } => {
                write!(f, "line {line}: vertex at the same place as that of line {first}")
            }
            Self::Degenerate { line, reason } => write!(f, "line {line}: degenerate face ({reason})"),
            Self::DuplicateFace { line, first } => write!(f, "line {line}: the same face as in line {first}"),
            Self::Unreferenced { line } => write!(f, "line {line}: vertex in no face"),
            Self::NonManifold { edge, faces } => write!(
                f,
                "edge between the vertices of lines {} and {} has {} faces (lines {})",
                edge[0],
                edge[1],
                faces.len(),
                faces.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
            ),
            Self::MixedWinding { line, first } => {
                write!(f, "line {line}: face wound against its neighbor of line {first}")
            }
            Self::NotOrientable { line } => {
                write!(f, "line {line}: the surface has one side only, no winding fits")
            }
        }
    }
}

/// Finds all defects in turn; mends the ones that `allowed` names and refuses the others.
pub(super) fn mend(mesh: &mut Mesh, file: &str, allowed: &[Mending]) -> Result<(), MeshError> {
    let may = |mending| allowed.contains(&mending);
    let settle = |mesh: &mut Mesh, found: Vec<Defect>, mending: Mending, what: &str| {
        let count = found.len();
        match found.into_iter().next() {
            None => Ok(false),
            Some(defect) if may(mending) => {
                let line = format!("{count} {what} (first: {defect})");
                mesh.mended.push(line);
                Ok(true)
            }
            Some(defect) => {
                Err(MeshError::Defect { file: file.to_owned(), defect, count, mending: Some(mending) })
            }
        }
    };
    if !may(Mending::KeepDuplicates) {
        let (found, target) = duplicates(mesh);
        if settle(mesh, found, Mending::MergeDuplicates, "merged")? {
            renumber(mesh, &target);
        }
    }
    let found = degenerate(mesh);
    let bad: Vec<usize> = found.iter().map(|(face, _)| *face).collect();
    if settle(
        mesh,
        found.into_iter().map(|f| f.1).collect(),
        Mending::DropDegenerate,
        "degenerate faces dropped",
    )? {
        drop_faces(mesh, &bad);
    }
    let found = duplicate_faces(mesh);
    let bad: Vec<usize> = found.iter().map(|(face, _)| *face).collect();
    let what = "duplicate faces dropped";
    if settle(mesh, found.into_iter().map(|f| f.1).collect(), Mending::DropDuplicateFaces, what)? {
        drop_faces(mesh, &bad);
    }
    let (found, target) = unreferenced(mesh);
    if settle(mesh, found, Mending::DropUnreferenced, "unreferenced vertices dropped")? {
        renumber(mesh, &target);
    }
    if mesh.faces.is_empty() {
        return Err(MeshError::Empty { file: file.to_owned(), vertices: mesh.positions.len() });
    }
    let (found, edges) = branches(mesh);
    if settle(mesh, found, Mending::OpenBranches, "branching edges without hinge")? {
        mesh.branches = edges.into_iter().collect();
    }
    let (found, flips) = windings(mesh);
    if let Some(defect @ Defect::NotOrientable { .. }) = found.first() {
        // Springs have no sides: a one-sided surface is a surface all the same.
        if !may(Mending::UnifyWinding) {
            return Err(MeshError::Defect {
                file: file.to_owned(),
                defect: defect.clone(),
                count: 1,
                mending: Some(Mending::UnifyWinding),
            });
        }
        mesh.mended.push(format!("winding left as it is ({defect})"));
    } else if settle(mesh, found, Mending::UnifyWinding, "neighbors disagreed in winding, faces turned")? {
        for face in flips {
            mesh.faces[face].corners.reverse();
        }
    }
    Ok(())
}

/// Later vertices with the coordinates of an earlier one, and for each vertex its new number.
fn duplicates(mesh: &Mesh) -> (Vec<Defect>, Vec<Option<u32>>) {
    let mut first: HashMap<[u64; 3], u32> = HashMap::new();
    let (mut found, mut target, mut next) = (Vec::new(), Vec::new(), 0);
    let referenced = referenced(mesh);
    for (index, x) in mesh.positions.iter().enumerate() {
        if !referenced[index] {
            // Its position was never read; it is another kind of defect.
            target.push(Some(next));
            next += 1;
            continue;
        }
        // Adding zero makes -0 and 0 the same place.
        let key = x.map(|x| (x + 0.0).to_bits());
        if let Some(&earlier) = first.get(&key) {
            target.push(target[earlier as usize]);
            let (line, first) = (mesh.vertex_lines[index], mesh.vertex_lines[earlier as usize]);
            found.push(Defect::DuplicateVertex { line, first });
        } else {
            first.insert(key, index as u32);
            target.push(Some(next));
            next += 1;
        }
    }
    (found, target)
}

fn referenced(mesh: &Mesh) -> Vec<bool> {
    let mut referenced = vec![false; mesh.positions.len()];
    mesh.faces.iter().flat_map(|face| &face.corners).for_each(|&corner| referenced[corner as usize] = true);
    referenced
}

/// Moves every vertex to its new number; `None` drops it.
fn renumber(mesh: &mut Mesh, target: &[Option<u32>]) {
    let count = target.iter().flatten().max().map_or(0, |&most| most as usize + 1);
    let (mut positions, mut lines) = (vec![[0.0; 3]; count], vec![0; count]);
    for (old, new) in target.iter().enumerate().rev() {
        if let Some(new) = *new {
            positions[new as usize] = mesh.positions[old];
            lines[new as usize] = mesh.vertex_lines[old];
        }
    }
    mesh.positions = positions;
    mesh.vertex_lines = lines;
    for corner in mesh.faces.iter_mut().flat_map(|face| &mut face.corners) {
        *corner = target[*corner as usize].expect("a vertex of a face is never dropped");
    }
    for vertex in &mut mesh.vertex_of {
        *vertex = vertex.and_then(|vertex| target[vertex as usize]);
    }
}

fn drop_faces(mesh: &mut Mesh, bad: &[usize]) {
    let mut index = 0;
    mesh.faces.retain(|_| {
        index += 1;
        bad.binary_search(&(index - 1)).is_err()
    });
}

fn degenerate(mesh: &Mesh) -> Vec<(usize, Defect)> {
    let x = |i: u32| nalgebra::Vector3::from(mesh.positions[i as usize]);
    let reason = |face: &Face| {
        let corners = &face.corners;
        if (1..corners.len()).any(|i| corners[..i].contains(&corners[i])) {
            return Some("a corner is repeated");
        }
        let mut normal = nalgebra::Vector3::zeros();
        let mut longest = 0.0_f64;
        for [a, b] in face.sides() {
            // Relative to a corner, so that a mesh far from the origin keeps its digits.
            normal += (x(a) - x(corners[0])).cross(&(x(b) - x(corners[0])));
            longest = longest.max((x(b) - x(a)).norm_squared());
        }
        (normal.norm() <= DEGENERATE_HEIGHT * longest).then_some("it has no area")
    };
    (mesh.faces.iter().enumerate())
        .filter_map(|(i, face)| Some((i, Defect::Degenerate { line: face.line, reason: reason(face)? })))
        .collect()
}

fn duplicate_faces(mesh: &Mesh) -> Vec<(usize, Defect)> {
    let mut first: HashMap<Vec<u32>, usize> = HashMap::new();
    let mut found = Vec::new();
    for (index, face) in mesh.faces.iter().enumerate() {
        let mut key = face.corners.clone();
        key.sort_unstable();
        match first.get(&key) {
            Some(&line) => found.push((index, Defect::DuplicateFace { line: face.line, first: line })),
            None => {
                first.insert(key, face.line);
            }
        }
    }
    found
}

fn unreferenced(mesh: &Mesh) -> (Vec<Defect>, Vec<Option<u32>>) {
    let (mut found, mut target, mut next) = (Vec::new(), Vec::new(), 0);
    for (index, referenced) in referenced(mesh).into_iter().enumerate() {
        if referenced {
            target.push(Some(next));
            next += 1;
        } else {
            target.push(None);
            found.push(Defect::Unreferenced { line: mesh.vertex_lines[index] });
        }
    }
    (found, target)
}

/// Faces on each edge, in order, with whether they run along it from its smaller to its larger vertex.
fn faces_on_edges(mesh: &Mesh) -> BTreeMap<[u32; 2], Vec<(usize, bool)>> {
    let mut on: BTreeMap<[u32; 2], Vec<(usize, bool)>> = BTreeMap::new();
    for (index, face) in mesh.faces.iter().enumerate() {
        for side in face.sides() {
            on.entry(undirected(side)).or_default().push((index, side[0] < side[1]));
        }
    }
    on
}

fn branches(mesh: &Mesh) -> (Vec<Defect>, Vec<[u32; 2]>) {
    let (mut found, mut edges) = (Vec::new(), Vec::new());
    for (edge, faces) in faces_on_edges(mesh) {
        if faces.len() > 2 {
            found.push(Defect::NonManifold {
                edge: edge.map(|vertex| mesh.vertex_lines[vertex as usize]),
                faces: faces.iter().map(|(face, _)| mesh.faces[*face].line).collect(),
            });
            edges.push(edge);
        }
    }
    (found, edges)
}

/// Disagreements between neighbors, and the faces to turn so that all agree with the first face of their piece.
fn windings(mesh: &Mesh) -> (Vec<Defect>, Vec<usize>) {
    let mut neighbors: Vec<Vec<(usize, bool)>> = vec![Vec::new(); mesh.faces.len()];
    let mut found = Vec::new();
    for faces in faces_on_edges(mesh).values() {
        if let [(a, a_up), (b, b_up)] = faces[..] {
            let disagree = a_up == b_up;
            neighbors[a].push((b, disagree));
            neighbors[b].push((a, disagree));
            if disagree {
                found.push(Defect::MixedWinding { line: mesh.faces[b].line, first: mesh.faces[a].line });
            }
        }
    }
    if found.is_empty() {
        return (found, Vec::new());
    }
    let mut turned: Vec<Option<bool>> = vec![None; mesh.faces.len()];
    let mut queue = VecDeque::new();
    for start in 0..mesh.faces.len() {
        if turned[start].is_some() {
            continue;
        }
        turned[start] = Some(false);
        queue.push_back(start);
        while let Some(face) = queue.pop_front() {
            let here = turned[face] == Some(true);
            for &(other, disagree) in &neighbors[face] {
                match turned[other] {
                    None => {
                        turned[other] = Some(here != disagree);
                        queue.push_back(other);
                    }
                    Some(there) if there != (here != disagree) => {
                        return (vec![Defect::NotOrientable { line: mesh.faces[other].line }], Vec::new());
                    }
                    Some(_) => {}
                }
            }
        }
    }
    (found, (0..turned.len()).filter(|&face| turned[face] == Some(true)).collect())
}
