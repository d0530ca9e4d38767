//! A rectangular cloth.

use super::{MAX_PARTICLES, Topology, TopologyError, count, direction, finite, mesh, positive};
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

const PART: &str = "cloth";

/// Faces of a cloth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClothFaces {
    /// Two triangles per cell, the diagonal alternating from cell to cell so that no direction is preferred.
    #[default]
    Triangles,
    /// One quadrilateral per cell.
    Quads,
}

/// A rectangular cloth of equal cells.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClothOptions {
    /// Size along `width_direction` in m, positive.
    pub width: f64,
    /// Size along `height_direction` in m, positive.
    pub height: f64,
    /// Cells along the width, at least 1; there is one particle more in each row.
    pub columns: usize,
    /// Cells along the height, at least 1.
    pub rows: usize,
    /// Kind of faces.
    #[serde(default)]
    pub faces: ClothFaces,
    /// Corner of row 0, column 0 in m.
    #[serde(default)]
    pub origin: [f64; 3],
    /// Direction of the width; its size does not matter.
    #[serde(default = "x_axis")]
    pub width_direction: [f64; 3],
    /// Direction of the height; its part along the width is removed.
    #[serde(default = "y_axis")]
    pub height_direction: [f64; 3],
}

fn x_axis() -> [f64; 3] {
    [1.0, 0.0, 0.0]
}

fn y_axis() -> [f64; 3] {
    [0.0, 1.0, 0.0]
}

impl ClothOptions {
    /// A cloth of triangles in the xy plane.
    pub fn new(width: f64, height: f64, columns: usize, rows: usize) -> Self {
        Self {
            width,
            height,
            columns,
            rows,
            faces: ClothFaces::default(),
            origin: [0.0; 3],
            width_direction: x_axis(),
            height_direction: y_axis(),
        }
    }
}

/// Makes a cloth. Particle `row * (columns + 1) + column`; `segments` along the grid lines, `shear` both diagonals of every
/// cell, `skips` second neighbors along the grid lines, `hinges` between adjacent faces.
///
/// # Errors
/// [`TopologyError`] when a number is out of range or the two directions are parallel.
pub fn cloth(options: &ClothOptions) -> Result<Topology, TopologyError> {
    positive(PART, "width", options.width)?;
    positive(PART, "height", options.height)?;
    finite(PART, "origin", &options.origin)?;
    count(PART, "columns", options.columns, 1, MAX_PARTICLES)?;
    count(PART, "rows", options.rows, 1, MAX_PARTICLES)?;
    let (columns, rows) = (options.columns as u32, options.rows as u32);
    let total = (options.columns + 1).saturating_mul(options.rows + 1);
    count(PART, "columns × rows", total, 4, MAX_PARTICLES)?;
    let across = direction(PART, "width_direction", options.width_direction)?;
    let up = direction(PART, "height_direction", options.height_direction)?;
    let up = up - across * across.dot(&up);
    if up.norm() < 1e-9 {
        return Err(TopologyError::Value {
            part: PART,
            field: "height_direction",
            value: up.norm(),
            requirement: "not parallel to width_direction (this is the sine between them)",
        });
    }
    let up = up.normalize();
    let origin = Vector3::from(options.origin);
    let at = |row: u32, column: u32| row * (columns + 1) + column;
    let mut part = Topology::default();
    part.positions.reserve(total);
    for row in 0..=rows {
        for column in 0..=columns {
            let s = options.width * f64::from(column) / f64::from(columns);
            let t = options.height * f64::from(row) / f64::from(rows);
            part.positions.push((origin + across * s + up * t).into());
        }
    }
    for row in 0..=rows {
        part.segments.extend((0..columns).map(|column| [at(row, column), at(row, column + 1)]));
    }
    for row in 0..rows {
        part.segments.extend((0..=columns).map(|column| [at(row, column), at(row + 1, column)]));
    }
    for row in 0..rows {
        for column in 0..columns {
            let corners =
                [at(row, column), at(row, column + 1), at(row + 1, column + 1), at(row + 1, column)];
            let [a, b, c, d] = corners;
            part.shear.extend([[a, c], [b, d]]);
            match options.faces {
                ClothFaces::Quads => part.quads.push(corners),
                ClothFaces::Triangles if (row + column) % 2 == 0 => {
                    part.triangles.extend([[a, b, c], [a, c, d]]);
                }
                ClothFaces::Triangles => part.triangles.extend([[a, b, d], [b, c, d]]),
            }
        }
    }
    for row in 0..=rows {
        part.skips.extend((0..columns - 1).map(|j| [at(row, j), at(row, j + 1), at(row, j + 2)]));
    }
    for row in 0..rows - 1 {
        part.skips
            .extend((0..=columns).map(|column| [at(row, column), at(row + 1, column), at(row + 2, column)]));
    }
    part.hinges = mesh::hinges(&mesh::sides(&part.triangles, &part.quads)?)?;
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_every_family() {
        let (columns, rows) = (4, 3);
        let part = cloth(&ClothOptions::new(2.0, 1.5, columns, rows)).unwrap();
        assert_eq!(part.positions.len(), 20);
        assert_eq!(part.segments.len(), 4 * 4 + 3 * 5);
        assert_eq!(part.shear.len(), 24);
        assert_eq!(part.skips.len(), 3 * 4 + 2 * 5);
        assert_eq!(part.triangles.len(), 24);
        // One hinge per inner grid edge (4 x 2 + 3 x 3) and per diagonal (12).
        assert_eq!(part.hinges.len(), 17 + 12);
        let quads =
            cloth(&ClothOptions { faces: ClothFaces::Quads, ..ClothOptions::new(2.0, 1.5, columns, rows) })
                .unwrap();
        assert_eq!((quads.quads.len(), quads.triangles.len(), quads.hinges.len()), (12, 0, 2 * 17));
        for part in [&part, &quads] {
            assert_eq!(part.validate(), Ok(()));
            assert!(part.segments.iter().all(|&s| (part.distance(s) - 0.5).abs() < 1e-15));
            assert!(part.shear.iter().all(|&s| (part.distance(s) - 0.5_f64.sqrt()).abs() < 1e-15));
            for &[a, middle, b] in &part.skips {
                let mean = 0.5 * (part.position(a) + part.position(b));
                assert!((mean - part.position(middle)).norm() < 1e-15);
            }
        }
    }

    #[test]
    fn impossible_cloths_are_named() {
        let base = ClothOptions::new(1.0, 1.0, 3, 3);
        let field = |options: ClothOptions| match cloth(&options).unwrap_err() {
            TopologyError::Value { field, .. } | TopologyError::Count { field, .. } => field,
            other => panic!("{other}"),
        };
        assert_eq!(field(ClothOptions { width: -1.0, ..base }), "width");
        assert_eq!(field(ClothOptions { rows: 0, ..base }), "rows");
        assert_eq!(field(ClothOptions { columns: 1_000_000, rows: 1_000_000, ..base }), "columns × rows");
        assert_eq!(field(ClothOptions { rows: usize::MAX, ..base }), "rows");
        assert_eq!(field(ClothOptions { height_direction: [2.0, 0.0, 0.0], ..base }), "height_direction");
    }
}
