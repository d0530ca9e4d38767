//! A closed surface that keeps the volume it encloses.

use super::{ConstraintInfo, Sample};
use crate::constraint::{Sense, ValueError};
use crate::sets::volumes::ManyPoints;
use nalgebra::Vector3;

/// Registry entry.
pub const INFO: ConstraintInfo = ConstraintInfo {
    id: "closed_volume",
    summary: "volume enclosed by a closed triangle mesh, times a pressure factor",
    reference: "Müller, Heidelberger, Hennix, Ratcliff: Position Based Dynamics, 2007 (balloons)",
    limitations: "The mesh must be closed and wound the same way; one projection is one Newton step on a cubic.",
    internal: true,
    sample: || {
        let triangles = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
        let volume = ClosedVolume::new(triangles, 0.1).expect("a tetrahedron is closed");
        let points = [[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 0.9, 0.1], [0.1, 0.2, 1.1]];
        volume_sample(volume, &points)
    },
};

fn volume_sample(constraint: impl ManyPoints + 'static, points: &[[f64; 3]]) -> Sample {
    let sense = constraint.sense();
    Sample::Points {
        points: points.iter().map(|&p| Vector3::from(p)).collect(),
        evaluate: Box::new(move |x| {
            let mut gradient = vec![Vector3::zeros(); x.len()];
            let value = constraint.evaluate(&|i| x[i], &mut |i, g| gradient[i] += g);
            (value, gradient)
        }),
        sense,
    }
}

/// C = enclosed volume − rest volume, in m³. Triangles index into the particles of the constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedVolume {
    triangles: Vec<[u32; 3]>,
    rest_volume: f64,
}

impl ClosedVolume {
    /// A closed mesh and the volume in m³ it shall enclose (positive when wound outward).
    ///
    /// # Errors
    /// [`ValueError`] when an edge is not shared by two triangles of opposite direction.
    pub fn new(triangles: Vec<[u32; 3]>, rest_volume: f64) -> Result<Self, ValueError> {
        ValueError::positive("rest_volume", rest_volume)?;
        let edges = |[a, b, c]: [u32; 3]| [(a, b), (b, c), (c, a)];
        let mut directed: Vec<(u32, u32)> = triangles.iter().copied().flat_map(edges).collect();
        directed.sort_unstable();
        for &(a, b) in &directed {
            let once =
                directed.partition_point(|&e| e <= (a, b)) - directed.partition_point(|&e| e < (a, b)) == 1;
            if !once || directed.binary_search(&(b, a)).is_err() {
                return Err(ValueError {
                    field: "first vertex of an open or wrongly wound edge",
                    value: f64::from(a),
                    requirement: "on edges with exactly two triangles of the same winding",
                });
            }
        }
        Ok(Self { triangles, rest_volume })
    }

    /// Enclosed volume in m³ of the points.
    pub fn volume(triangles: &[[u32; 3]], points: &[[f64; 3]]) -> f64 {
        let x = |i: u32| Vector3::from(points[i as usize]);
        triangles.iter().map(|&[a, b, c]| x(a).cross(&x(b)).dot(&x(c))).sum::<f64>() / 6.0
    }
}

impl ManyPoints for ClosedVolume {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn sense(&self) -> Sense {
        Sense::Equal
    }

    fn scale(&self) -> f64 {
        self.rest_volume
    }

    fn evaluate(&self, x: &dyn Fn(usize) -> Vector3<f64>, add: &mut dyn FnMut(usize, Vector3<f64>)) -> f64 {
        // Relative to one vertex: far from the origin the products would lose the digits of a small volume.
        let origin = self.triangles.first().map_or(Vector3::zeros(), |t| x(t[0] as usize));
        let mut volume = 0.0;
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|i| x(i as usize) - origin);
            let (ga, gb, gc) = (b.cross(&c) / 6.0, c.cross(&a) / 6.0, a.cross(&b) / 6.0);
            volume += gc.dot(&c);
            add(triangle[0] as usize, ga);
            add(triangle[1] as usize, gb);
            add(triangle[2] as usize, gc);
        }
        volume - self.rest_volume
    }

    fn validate(&self) -> Result<(), ValueError> {
        ValueError::positive("rest_volume", self.rest_volume)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_and_badly_wound_meshes_are_refused() {
        assert!(ClosedVolume::new(vec![[0, 2, 1], [0, 1, 3], [1, 2, 3]], 1.0).is_err(), "open");
        assert!(ClosedVolume::new(vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 2, 3]], 1.0).is_err(), "winding");
    }
}
