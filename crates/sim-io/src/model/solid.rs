//! Colliders and pulleys as points, triangles and lines, for pictures.

use super::collide;
use crate::scene::check::At;
use crate::scene::contact::ShapeSpec;
use crate::scene::document::Scene;
use crate::scene::error::SceneError;
use nalgebra::Vector3;
use std::f64::consts::{PI, TAU};

/// Corners round a circle.
const ROUND: u32 = 48;
/// Bands of an arc from below to above.
const BANDS: u32 = 24;

/// A surface in the frame of its body, m.
#[derive(Clone, Debug, Default)]
pub(super) struct Solid {
    pub points: Vec<[f64; 3]>,
    pub triangles: Vec<[u32; 3]>,
    /// Lines that show how it turns.
    pub lines: Vec<[u32; 2]>,
}

impl Solid {
    /// A surface of revolution about z: rings of (radius, z) joined by bands.
    fn turned(profile: &[(f64, f64)]) -> Self {
        let mut solid = Self::default();
        for &(radius, z) in profile {
            solid.points.extend((0..ROUND).map(|k| {
                let (sin, cos) = (TAU * f64::from(k) / f64::from(ROUND)).sin_cos();
                [radius * cos, radius * sin, z]
            }));
        }
        for ring in 1..profile.len() as u32 {
            for k in 0..ROUND {
                let (a, b) = (ROUND * (ring - 1), ROUND * ring);
                let next = (k + 1) % ROUND;
                solid.triangles.extend([[a + k, a + next, b + next], [a + k, b + next, b + k]]);
            }
        }
        solid
    }

    /// Circles of the given rings, and four spokes of the outermost ones.
    fn marked(mut self, rings: &[u32]) -> Self {
        for &ring in rings {
            let first = ROUND * ring;
            self.lines.extend((0..ROUND).map(|k| [first + k, first + (k + 1) % ROUND]));
        }
        for &ring in [rings.first(), rings.last()].into_iter().flatten() {
            let first = ROUND * ring;
            self.lines.extend([[first, first + ROUND / 2], [first + ROUND / 4, first + 3 * ROUND / 4]]);
        }
        self
    }

    /// A circle with spokes in the plane of a belt.
    pub fn wheel(radius: f64) -> Self {
        Self::turned(&[(radius, 0.0)]).marked(&[0])
    }
}

/// Half the circle of a ball in the profile, from below to above.
fn arc(radius: f64, shift: f64, from: f64, to: f64) -> impl Iterator<Item = (f64, f64)> {
    (0..=BANDS).map(move |k| {
        let (sin, cos) = (from + (to - from) * f64::from(k) / f64::from(BANDS)).sin_cos();
        (radius * cos.max(0.0), shift + radius * sin)
    })
}

/// The surface of a collider; `middle` and `reach` (m) say where a plane is shown.
pub(super) fn of(
    shape: &ShapeSpec,
    scene: &Scene,
    at: &At<'_>,
    (middle, reach): (Vector3<f64>, f64),
) -> Result<Solid, SceneError> {
    Ok(match shape {
        ShapeSpec::Plane(plane) => {
            let normal = collide::unit(plane.normal);
            let u = normal.cross(&Vector3::ith(normal.iamin(), 1.0)).normalize();
            let w = normal.cross(&u);
            let middle = middle - normal * normal.dot(&middle);
            let corner = |a: f64, b: f64| (middle + (u * a + w * b) * reach).into();
            Solid {
                points: vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)],
                triangles: vec![[0, 1, 2], [0, 2, 3]],
                lines: vec![[0, 1], [1, 2], [2, 3], [3, 0]],
            }
        }
        ShapeSpec::Sphere(ball) => {
            Solid::turned(&arc(ball.radius, 0.0, -0.5 * PI, 0.5 * PI).collect::<Vec<_>>())
        }
        ShapeSpec::Capsule(capsule) => {
            let half = 0.5 * capsule.length;
            let profile: Vec<_> = arc(capsule.radius, -half, -0.5 * PI, 0.0)
                .chain(arc(capsule.radius, half, 0.0, 0.5 * PI))
                .collect();
            Solid::turned(&profile)
        }
        ShapeSpec::Box(cuboid) => {
            let [x, y, z] = cuboid.size.map(|x| 0.5 * x);
            let points = (0..8).map(|k| {
                [
                    if k & 1 > 0 { x } else { -x },
                    if k & 2 > 0 { y } else { -y },
                    if k & 4 > 0 { z } else { -z },
                ]
            });
            let faces = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]];
            Solid {
                points: points.collect(),
                triangles: faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
                lines: vec![
                    [0, 1],
                    [1, 3],
                    [3, 2],
                    [2, 0],
                    [4, 5],
                    [5, 7],
                    [7, 6],
                    [6, 4],
                    [0, 4],
                    [1, 5],
                    [2, 6],
                    [3, 7],
                ],
            }
        }
        ShapeSpec::Cylinder(drum) => {
            let (r, half) = (drum.radius, 0.5 * drum.length);
            match drum.flange {
                None => Solid::turned(&[(0.0, -half), (r, -half), (r, half), (0.0, half)]).marked(&[1, 2]),
                Some(flange) => {
                    let (big, end) = (flange.radius, half + flange.thickness);
                    Solid::turned(&[
                        (0.0, -end),
                        (big, -end),
                        (big, -half),
                        (r, -half),
                        (r, half),
                        (big, half),
                        (big, end),
                        (0.0, end),
                    ])
                    .marked(&[1, 2, 5, 6])
                }
            }
        }
        ShapeSpec::Mesh(mesh) => {
            let (points, triangles) = collide::mesh(mesh, scene, &at.field("shape"))?;
            Solid { points, triangles, lines: Vec::new() }
        }
    })
}
