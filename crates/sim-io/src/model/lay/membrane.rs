//! Fabric as springs along edges and diagonals.

use super::{Bending, Laid, model_error};
use crate::scene::check::At;
use crate::scene::error::SceneError;
use nalgebra::Vector3;
use sim_core::force::springs::Spring;
use sim_core::topology::Topology;
use sim_core::{Density, lumped_masses};
use std::collections::HashMap;

/// Fabric.
///
/// An edge of length L gets `k = Y ΣA / L²` with Y the membrane stiffness, summed over its triangles, quads counting half (van
/// Gelder, "Approximate simulation of elastic membranes by triangulated spring meshes", 1998): exact for stretching a
/// rectangular grid along its lines and for an equilateral triangulation. A diagonal of length d in a quad of area A gets
/// `k = S d² / (2 A)` with S the shear stiffness: exact for shearing a rectangle along its sides.
///
/// # Limitations
/// Springs cannot have every Poisson ratio, and the diagonals of a quad also stiffen it against stretching.
pub(super) struct Membrane {
    pub stretch_stiffness: f64,
    pub areal_density: f64,
    pub shear_stiffness: f64,
    pub bending_stiffness: f64,
    pub damping_time: f64,
    /// Area of every cell of a regular grid.
    pub cell: Option<f64>,
}

impl Membrane {
    pub fn lay(&self, topology: Topology, at: &At<'_>) -> Result<Laid, SceneError> {
        let refuse = model_error(at);
        let mass =
            lumped_masses(&topology, Density::Areal(self.areal_density)).map_err(|error| refuse(&error))?;
        let areas = Areas::of(&topology);
        let spring = |ends: [u32; 2], stiffness: f64| Spring {
            ends,
            rest_length: topology.distance(ends),
            stiffness,
            damping: self.damping_time * stiffness,
        };
        let mut springs: Vec<Spring> = topology
            .segments
            .iter()
            .map(|&ends| {
                spring(ends, self.stretch_stiffness * areas.beside(ends) / topology.distance(ends).powi(2))
            })
            .collect();
        let structural = springs.len();
        if self.shear_stiffness > 0.0 {
            springs.extend(topology.shear.iter().map(|&ends| {
                let area = self.cell.unwrap_or_else(|| areas.across(ends));
                spring(ends, self.shear_stiffness * topology.distance(ends).powi(2) / (2.0 * area))
            }));
        }
        Ok(Laid {
            topology,
            mass,
            velocities: None,
            springs,
            structural,
            grid: None,
            bending: if self.bending_stiffness > 0.0 {
                Bending::Surface(self.bending_stiffness)
            } else {
                Bending::None
            },
            mesh: None,
            stress_intended: false,
            laws: super::PartLaws::default(),
        })
    }
}

/// Areas by edge and by diagonal.
struct Areas {
    edges: HashMap<[u32; 2], f64>,
    diagonals: HashMap<[u32; 2], f64>,
}

impl Areas {
    fn of(topology: &Topology) -> Self {
        let key = |a: u32, b: u32| [a.min(b), a.max(b)];
        let x = |i: u32| Vector3::from(topology.positions[i as usize]);
        let (mut edges, mut diagonals) = (HashMap::new(), HashMap::new());
        for &[a, b, c] in &topology.triangles {
            let area = 0.5 * (x(b) - x(a)).cross(&(x(c) - x(a))).norm();
            for side in [key(a, b), key(b, c), key(c, a)] {
                *edges.entry(side).or_insert(0.0) += area;
            }
        }
        for &[a, b, c, d] in &topology.quads {
            let area = 0.5 * (x(c) - x(a)).cross(&(x(d) - x(b))).norm();
            for side in [key(a, b), key(b, c), key(c, d), key(d, a)] {
                *edges.entry(side).or_insert(0.0) += 0.5 * area;
            }
            for diagonal in [key(a, c), key(b, d)] {
                *diagonals.entry(diagonal).or_insert(0.0) += area;
            }
        }
        Self { edges, diagonals }
    }

    fn beside(&self, [a, b]: [u32; 2]) -> f64 {
        self.edges.get(&[a.min(b), a.max(b)]).copied().unwrap_or(0.0)
    }

    /// Area of the quad of a diagonal, or of the two triangles beside the diagonal of a polygon's fan.
    fn across(&self, ends @ [a, b]: [u32; 2]) -> f64 {
        self.diagonals.get(&[a.min(b), a.max(b)]).copied().unwrap_or_else(|| self.beside(ends))
    }
}
