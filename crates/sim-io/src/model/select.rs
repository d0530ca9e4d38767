//! From `at` to particle numbers.

use super::PartLayout;
use crate::scene::check::At;
use crate::scene::error::SceneError;
use crate::scene::support::{PlaceSelection, Selection};

pub(super) fn position(q: &[f64], particle: usize) -> [f64; 3] {
    [q[3 * particle], q[3 * particle + 1], q[3 * particle + 2]]
}

/// Particles of the system that the selection names in this part, never none.
pub(super) fn particles(
    selection: &Selection,
    part: &PartLayout,
    q: &[f64],
    at: &At<'_>,
) -> Result<Vec<usize>, SceneError> {
    let count = part.particles.len();
    let refuse = |value: String, what: String| SceneError::Reference {
        place: at.place(),
        value,
        what,
        suggestion: None,
    };
    let local = |index: usize| {
        if index < count {
            Ok(part.particles.start + index)
        } else {
            Err(refuse(
                index.to_string(),
                format!("part `{}` has no such particle; it has 0 to {}", part.id, count - 1),
            ))
        }
    };
    let line_end = |word: &str, index: usize| match part.kind {
        "cloth" | "mesh" => Err(refuse(
            format!("\"{word}\""),
            format!("a {} has no ends; use corners, sides, numbers, `nearest` or `within`", part.kind),
        )),
        _ => local(index),
    };
    let grid = |word: &str| {
        part.grid.ok_or_else(|| {
            refuse(
                format!("\"{word}\""),
                format!("only a cloth has that; part `{}` is a {}", part.id, part.kind),
            )
        })
    };
    let vertex = |[columns, _]: [usize; 2], column: usize, row: usize| {
        part.particles.start + row * (columns + 1) + column
    };
    Ok(match selection {
        Selection::Start => vec![line_end("start", 0)?],
        Selection::End => vec![line_end("end", count - 1)?],
        Selection::All => part.particles.clone().collect(),
        Selection::Corners => {
            let cells @ [columns, rows] = grid("corners")?;
            vec![
                vertex(cells, 0, 0),
                vertex(cells, columns, 0),
                vertex(cells, 0, rows),
                vertex(cells, columns, rows),
            ]
        }
        Selection::Left => {
            let cells = grid("left")?;
            (0..=cells[1]).map(|row| vertex(cells, 0, row)).collect()
        }
        Selection::Right => {
            let cells = grid("right")?;
            (0..=cells[1]).map(|row| vertex(cells, cells[0], row)).collect()
        }
        Selection::Bottom => {
            let cells = grid("bottom")?;
            (0..=cells[0]).map(|column| vertex(cells, column, 0)).collect()
        }
        Selection::Top => {
            let cells = grid("top")?;
            (0..=cells[0]).map(|column| vertex(cells, column, cells[1])).collect()
        }
        Selection::Index(index) => vec![local(*index)?],
        Selection::List(list) if list.is_empty() => {
            return Err(refuse("[]".into(), "an empty list names no particle".into()));
        }
        Selection::List(list) => list.iter().map(|&index| local(index)).collect::<Result<_, _>>()?,
        Selection::Place(PlaceSelection::Nearest(point)) => {
            let distance = |particle: usize| {
                position(q, particle).iter().zip(point).map(|(x, p)| (x - p) * (x - p)).sum::<f64>()
            };
            let nearest = part.particles.clone().min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
            vec![nearest.expect("a part has particles")]
        }
        Selection::Place(PlaceSelection::Within([low, high])) => {
            let inside = |particle: &usize| {
                let x = position(q, *particle);
                (0..3).all(|k| (low[k]..=high[k]).contains(&x[k]))
            };
            let found: Vec<usize> = part.particles.clone().filter(inside).collect();
            if found.is_empty() {
                return Err(refuse(
                    format!("{low:?} to {high:?}"),
                    format!("part `{}` has no particle there", part.id),
                ));
            }
            found
        }
    })
}
