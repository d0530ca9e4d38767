//! Masses of particles from the density of a part.

use crate::summation::compensated_sum;
use crate::system::BlockSink;
use crate::topology::{Topology, TopologyError};
use nalgebra::Matrix3;
use serde::{Deserialize, Serialize};

/// What a part weighs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Density {
    /// Mass per length in kg/m, spread along `segments`: ropes, belts, wire.
    Linear(f64),
    /// Mass per area in kg/m², spread over `triangles` and `quads`: cloth.
    Areal(f64),
}

impl Density {
    /// The value in kg/m or kg/m².
    pub const fn value(self) -> f64 {
        match self {
            Self::Linear(value) | Self::Areal(value) => value,
        }
    }
}

/// A part that cannot be given masses.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MassError {
    /// The density is zero, negative or not finite.
    #[error("density is {value}, must be positive and finite (kg/m or kg/m²)")]
    Density {
        /// Value found.
        value: f64,
    },
    /// A particle belongs to no segment or face that could give it mass.
    #[error("particle {particle} belongs to no {carrier}, so a {carrier} density gives it no mass")]
    Unreferenced {
        /// Particle.
        particle: usize,
        /// `segment` or `face`.
        carrier: &'static str,
    },
    /// A particle gets no mass because all its segments or faces have no extent, or so much that it overflows.
    #[error("particle {particle} would get a mass of {value} kg")]
    NoExtent {
        /// Particle.
        particle: usize,
        /// Mass found.
        value: f64,
    },
    /// The part itself is broken.
    #[error(transparent)]
    Topology(#[from] TopologyError),
}

/// Mass in kg of the whole part: density times length of all segments, or times area of all faces.
///
/// The area of a quad that is not plane is the mean of its two triangulations.
///
/// # Panics
/// When the topology has indices out of range; see [`Topology::validate`].
pub fn part_mass(topology: &Topology, density: Density) -> f64 {
    density.value() * measure(topology, density)
}

fn measure(topology: &Topology, density: Density) -> f64 {
    match density {
        Density::Linear(_) => compensated_sum(topology.segments.iter().map(|&s| topology.distance(s))),
        Density::Areal(_) => {
            let triangles = topology.triangles.iter().map(|&t| area(topology, t));
            let quads = topology.quads.iter().map(|&[a, b, c, d]| {
                let halves = [[a, b, c], [a, c, d], [a, b, d], [b, c, d]];
                0.5 * halves.map(|half| area(topology, half)).iter().sum::<f64>()
            });
            compensated_sum(triangles.chain(quads))
        }
    }
}

fn area(topology: &Topology, [a, b, c]: [u32; 3]) -> f64 {
    let a = topology.position(a);
    0.5 * (topology.position(b) - a).cross(&(topology.position(c) - a)).norm()
}

/// Lumped masses in kg: each segment gives half its mass to either end, each triangle a third to every corner, each quad the
/// mean of its two triangulations.
///
/// The compensated sum of the result equals [`part_mass`] to the last place: what rounding leaves over goes to the heaviest
/// particle.
///
/// # Errors
/// [`MassError`] when the density is not positive, the topology is broken, or a particle gets no mass.
pub fn lumped_masses(topology: &Topology, density: Density) -> Result<Vec<f64>, MassError> {
    let value = density.value();
    if !(value.is_finite() && value > 0.0) {
        return Err(MassError::Density { value });
    }
    topology.validate()?;
    let mut mass = vec![0.0; topology.particle_count()];
    let mut carried = vec![false; mass.len()];
    let mut give = |particles: &[u32], share: f64| {
        for &particle in particles {
            mass[particle as usize] += share;
            carried[particle as usize] = true;
        }
    };
    let carrier = match density {
        Density::Linear(_) => {
            for segment in &topology.segments {
                give(segment, 0.5 * value * topology.distance(*segment));
            }
            "segment"
        }
        Density::Areal(_) => {
            for triangle in &topology.triangles {
                give(triangle, value * area(topology, *triangle) / 3.0);
            }
            for &[a, b, c, d] in &topology.quads {
                for half in [[a, b, c], [a, c, d], [a, b, d], [b, c, d]] {
                    give(&half, value * area(topology, half) / 6.0);
                }
            }
            "face"
        }
    };
    if let Some(particle) = carried.iter().position(|&carried| !carried) {
        return Err(MassError::Unreferenced { particle, carrier });
    }
    if let Some(particle) = mass.iter().position(|&m| !(m.is_finite() && m > 0.0)) {
        return Err(MassError::NoExtent { particle, value: mass[particle] });
    }
    let total = part_mass(topology, density);
    let heaviest = (0..mass.len()).max_by(|&a, &b| mass[a].total_cmp(&mass[b])).unwrap_or(0);
    // The second round takes up the rounding of the first.
    for _ in 0..2 {
        let rest = total - compensated_sum(mass.iter().copied());
        mass[heaviest] += rest;
    }
    Ok(mass)
}

/// Consistent mass matrix of two-node segments with linear shape functions, `m/6 [[2, 1], [1, 2]] ⊗ I₃` each, in kg.
///
/// # Limitations
/// Not diagonal: only implicit methods can use it. It raises the frequencies that lumping lowers, by the same amount to
/// leading order.
///
/// # Panics
/// When the topology has indices out of range; see [`Topology::validate`].
pub fn consistent_segment_mass(topology: &Topology, linear_density: f64, sink: &mut dyn BlockSink) {
    for &[a, b] in &topology.segments {
        let mass = linear_density * topology.distance([a, b]);
        let own = Matrix3::from_diagonal_element(mass / 3.0);
        sink.add(a as usize, a as usize, &own);
        sink.add(b as usize, b as usize, &own);
        sink.add(a as usize, b as usize, &Matrix3::from_diagonal_element(mass / 6.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{ClothFaces, ClothOptions, CoilOptions, RopeOptions, cloth, coil, from_mesh, rope};

    fn ulps(a: f64, b: f64) -> f64 {
        (a - b).abs() / (b.abs() * f64::EPSILON)
    }

    #[test]
    fn totals_are_exact() {
        let rope = rope(&RopeOptions::new([0.1, 0.2, 0.3], [3.7, -1.9, 0.4], 997)).unwrap();
        let length = (3.6_f64.powi(2) + 2.1_f64.powi(2) + 0.1_f64.powi(2)).sqrt();
        let masses = lumped_masses(&rope, Density::Linear(0.137)).unwrap();
        assert!(ulps(compensated_sum(masses.iter().copied()), 0.137 * length) <= 4.0);
        // Half masses at the ends: a full mass there would shift the hanging stretch at first order.
        assert!((masses[0] / masses[500] - 0.5).abs() < 1e-9);

        let coil = coil(&CoilOptions::new(0.03, 0.1, 12.3, 37)).unwrap();
        let options = ClothOptions { faces: ClothFaces::Quads, ..ClothOptions::new(1.1, 0.7, 61, 43) };
        let cloths = [cloth(&options).unwrap(), cloth(&ClothOptions::new(1.1, 0.7, 61, 43)).unwrap()];
        let areal = Density::Areal(0.213);
        for part in &cloths {
            assert!(ulps(part_mass(part, areal), 0.213 * 1.1 * 0.7) <= 4.0);
        }
        for (part, density) in [
            (&rope, Density::Linear(0.137)),
            (&coil, Density::Linear(0.02)),
            (&cloths[0], areal),
            (&cloths[1], areal),
        ] {
            let masses = lumped_masses(part, density).unwrap();
            let sum = compensated_sum(masses.iter().copied());
            assert!(ulps(sum, part_mass(part, density)) <= 1.0, "{density:?}");
        }
    }

    #[test]
    fn parts_without_mass_are_named() {
        let x = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [5.0, 5.0, 5.0]];
        let mesh = from_mesh(&x, &[[0, 1, 2]], &[]).unwrap();
        assert_eq!(
            lumped_masses(&mesh, Density::Areal(1.0)),
            Err(MassError::Unreferenced { particle: 3, carrier: "face" })
        );
        assert_eq!(lumped_masses(&mesh, Density::Areal(-1.0)), Err(MassError::Density { value: -1.0 }));
        let point = Topology { positions: vec![[1.0; 3]; 2], segments: vec![[0, 1]], ..Topology::default() };
        assert_eq!(
            lumped_masses(&point, Density::Linear(1.0)),
            Err(MassError::NoExtent { particle: 0, value: 0.0 })
        );
        let broken = Topology { segments: vec![[0, 9]], ..point };
        assert!(matches!(lumped_masses(&broken, Density::Linear(1.0)), Err(MassError::Topology(_))));
    }

    #[test]
    fn consistent_mass_moves_rigidly_like_the_lumped_one_and_is_exact_for_linear_fields() {
        let rope = rope(&RopeOptions::new([0.0; 3], [2.0, 0.0, 0.0], 5)).unwrap();
        let mut matrix = nalgebra::DMatrix::<f64>::zeros(6, 6);
        consistent_segment_mass(&rope, 1.5, &mut |row: usize, col: usize, block: &Matrix3<f64>| {
            matrix[(row, col)] += block[(0, 0)];
            if row != col {
                matrix[(col, row)] += block[(0, 0)];
            }
        });
        assert!((matrix.sum() - 3.0).abs() < 1e-15);
        // v(x) = x: kinetic energy ½ ρ ∫ x² dx = ½ 1.5 8/3.
        let v = nalgebra::DVector::from_fn(6, |i, _| 0.4 * i as f64);
        assert!((0.5 * v.dot(&(&matrix * &v)) - 2.0).abs() < 1e-14);
    }
}
