//! OBJ text. The parser crate `tobj` reads the coordinates and faces; it names no lines, drops vertices without faces and
//! renumbers the others, so a check of the lines comes first and keeps, for every record, its line and its indices in the file.

use super::{Face, Mesh, MeshError};

/// Largest number of vertices or faces that is read.
const MAX_RECORDS: usize = 20_000_000;

pub(super) fn parse(file: &str, text: &str) -> Result<Mesh, MeshError> {
    let Records { vertex_lines, faces } = records(file, text)?;
    if faces.is_empty() {
        return Err(MeshError::Empty { file: file.to_owned(), vertices: vertex_lines.len() });
    }
    let refuse = |message: String| MeshError::Parser { file: file.to_owned(), message };
    // Points and lines of the file (`p`, `l`) are no surface.
    let options = tobj::LoadOptions { ignore_points: true, ignore_lines: true, ..Default::default() };
    let no_materials = |_: &std::path::Path| Err(tobj::LoadError::OpenFileFailed);
    let (models, _) = tobj::load_obj_buf(&mut text.as_bytes(), &options, no_materials)
        .map_err(|error| refuse(error.to_string()))?;
    let mut positions = vec![[f64::NAN; 3]; vertex_lines.len()];
    let mut expected = faces.iter();
    for model in &models {
        let mesh = &model.mesh;
        let mut next = 0;
        let arity = |face: usize| mesh.face_arities.get(face).map_or(3, |&n| n as usize);
        let mut face = 0;
        while next < mesh.indices.len() {
            let corners = &mesh.indices[next..next + arity(face)];
            let Some(known) = expected.next().filter(|known| known.corners.len() == corners.len()) else {
                return Err(refuse(format!("face {face} of `{}` is not the one in the file", model.name)));
            };
            for (&here, &there) in corners.iter().zip(&known.corners) {
                let at = 3 * here as usize;
                positions[there as usize].copy_from_slice(&mesh.positions[at..at + 3]);
            }
            next += corners.len();
            face += 1;
        }
    }
    if let Some(face) = expected.next() {
        return Err(refuse(format!("the face of line {} was not read", face.line)));
    }
    let vertex_of = (0..vertex_lines.len() as u32).map(Some).collect();
    Ok(Mesh { positions, vertex_lines, faces, vertex_of, ..Mesh::default() })
}

struct Records {
    vertex_lines: Vec<usize>,
    faces: Vec<Face>,
}

fn records(file: &str, text: &str) -> Result<Records, MeshError> {
    let (mut vertex_lines, mut faces) = (Vec::new(), Vec::new());
    for (index, line_text) in text.lines().enumerate() {
        let line = index + 1;
        let refuse = |message: String| MeshError::Syntax { file: file.to_owned(), line, message };
        let mut words = line_text.split_whitespace();
        match words.next() {
            Some("v") => {
                vertex(words).map_err(refuse)?;
                vertex_lines.push(line);
            }
            Some("f") => faces.push(Face { corners: face(words, vertex_lines.len()).map_err(refuse)?, line }),
            _ => {}
        }
        if vertex_lines.len().max(faces.len()) > MAX_RECORDS {
            return Err(refuse(format!("more than {MAX_RECORDS} vertices or faces")));
        }
    }
    // A face may name a vertex that comes after it; only now is their number known.
    for face in &faces {
        if let Some(&corner) = face.corners.iter().find(|&&corner| corner as usize >= vertex_lines.len()) {
            return Err(MeshError::Syntax {
                file: file.to_owned(),
                line: face.line,
                message: format!(
                    "vertex {} does not exist, there are {}",
                    u64::from(corner) + 1,
                    vertex_lines.len()
                ),
            });
        }
    }
    Ok(Records { vertex_lines, faces })
}

fn vertex<'a>(words: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut count = 0;
    for word in words.take(3) {
        match word.parse::<f64>() {
            Ok(value) if value.is_finite() => count += 1,
            _ => return Err(format!("coordinate `{word}` is not a finite number")),
        }
    }
    if count == 3 { Ok(()) } else { Err(format!("a vertex needs 3 coordinates, found {count}")) }
}

fn face<'a>(words: impl Iterator<Item = &'a str>, vertices: usize) -> Result<Vec<u32>, String> {
    let mut corners = Vec::with_capacity(4);
    for word in words {
        let index = word.split('/').next().unwrap_or_default();
        let number: i64 = index.parse().map_err(|_| format!("corner `{word}` is not a vertex number"))?;
        let corner = match number {
            0 => return Err("vertex numbers start at 1, found 0".into()),
            n if n > 0 => n - 1,
            n => i64::try_from(vertices).unwrap_or(i64::MAX).saturating_add(n),
        };
        match u32::try_from(corner) {
            Ok(corner) => corners.push(corner),
            Err(_) => {
                return Err(format!("vertex {number} does not exist, there are {vertices} before this line"));
            }
        }
    }
    if corners.len() < 3 {
        return Err(format!("a face needs at least 3 corners, found {}", corners.len()));
    }
    Ok(corners)
}
