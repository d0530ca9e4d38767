//! Linear systems of implicit steps of spring nets: grids and garments, flat, noisy and folded.

use crate::assembly::StepMatrix;
use crate::cloth::hash;
use nalgebra::Vector3;
use sim_core::ParticleSystemBuilder;
use sim_core::force::springs::{Spring, Springs};
use sim_linalg::BlockSymmetric;
use std::collections::BTreeMap;
use std::path::Path;

/// Step in s.
pub const DT: f64 = 1.0 / 60.0;
/// Mass of the whole net in kg.
pub const MASS: f64 = 0.2;

/// Pieces of the middle line of a bent net, far finer than any mesh.
const PIECES: usize = 20_000;

/// Vertices and springs between them.
#[derive(Clone, Debug)]
pub struct Net {
    /// Rest positions in m.
    pub rest: Vec<[f64; 3]>,
    /// Springs; their rest lengths are those of `rest`.
    pub springs: Vec<Spring>,
    /// Vertices that are no unknowns.
    pub pins: Vec<usize>,
}

/// One linear system.
#[derive(Debug)]
pub struct Problem {
    /// `M + h D + h² K`.
    pub matrix: BlockSymmetric,
    /// `h m (g + noise)` in N·s.
    pub rhs: Vec<f64>,
    /// Rest coordinates of the unknowns in m.
    pub rest: Vec<f64>,
    /// Mass of a vertex in kg: no eigenvalue of the matrix is smaller.
    pub vertex_mass: f64,
}

impl Net {
    /// Mean length of the springs in m.
    pub fn mean_length(&self) -> f64 {
        self.springs.iter().map(|spring| spring.rest_length).sum::<f64>() / self.springs.len() as f64
    }

    /// The rest shape bent like a ribbon along its longest axis: its slope swings by `amplitude` rad, `waves` times. A flat
    /// net keeps all its lengths; then noise of 1 % of a spring.
    pub fn bent(&self, amplitude: f64, waves: f64) -> Vec<f64> {
        let extent = |k: usize| {
            let of = |f: fn(f64, f64) -> f64, start| self.rest.iter().map(|x| x[k]).fold(start, f);
            (of(f64::min, f64::INFINITY), of(f64::max, f64::NEG_INFINITY))
        };
        let extents: Vec<(f64, f64)> = (0..3).map(extent).collect();
        let size = |k: &usize| extents[*k].1 - extents[*k].0;
        let mut axes = [0, 1, 2];
        axes.sort_by(|a, b| size(a).total_cmp(&size(b)));
        let (thin, long) = (axes[0], axes[2]);
        let (low, length) = (extents[long].0, size(&long));
        let slope = |s: f64| amplitude * (std::f64::consts::TAU * waves * s).sin();
        // The middle line by the midpoint rule.
        let ds = length / PIECES as f64;
        let mut line = vec![[0.0; 2]];
        for i in 0..PIECES {
            let (sin, cos) = slope((i as f64 + 0.5) / PIECES as f64).sin_cos();
            let [x, y] = line[i];
            line.push([x + ds * cos, y + ds * sin]);
        }
        let noise = 0.01 * self.mean_length();
        let mut x = Vec::with_capacity(3 * self.rest.len());
        for (v, rest) in self.rest.iter().enumerate() {
            let s = (rest[long] - low) / length;
            let place = (s * PIECES as f64).clamp(0.0, (PIECES - 1) as f64);
            let (i, part) = (place as usize, place.fract());
            let (sin, cos) = slope(s).sin_cos();
            let mut point = *rest;
            point[long] = line[i][0] + part * (line[i + 1][0] - line[i][0]) - rest[thin] * sin;
            point[thin] = line[i][1] + part * (line[i + 1][1] - line[i][1]) + rest[thin] * cos;
            x.extend((0..3).map(|k| point[k] + noise * hash((3 * v + k) as u64)));
        }
        x
    }

    /// The system of one implicit step at positions `x`.
    ///
    /// # Panics
    /// When the net names vertices that it does not have.
    pub fn problem(&self, x: &[f64]) -> Problem {
        let count = self.rest.len();
        let vertex_mass = MASS / count as f64;
        let system = ParticleSystemBuilder::new(vec![vertex_mass; count])
            .pin(self.pins.iter().copied())
            .force(Springs::new(self.springs.iter().copied()))
            .build()
            .expect("the net is valid");
        let mut step = StepMatrix::new(&system, x);
        step.fill(&system, x, DT);
        let all: Vec<f64> = (0..3 * count)
            .map(|k| {
                let gravity = if k % 3 == 2 { -9.81 } else { 0.0 };
                DT * vertex_mass * (gravity + 5.0 * hash((3 * count + k) as u64))
            })
            .collect();
        let gather = |all: &[f64]| {
            let mut own = vec![0.0; step.assembler.pattern().dim()];
            step.assembler.gather(all, &mut own);
            own
        };
        let (rhs, rest) = (gather(&all), gather(self.rest.as_flattened()));
        Problem { matrix: step.matrix, rhs, rest, vertex_mass }
    }
}

/// A triangle mesh.
#[derive(Clone, Debug)]
pub struct Garment {
    /// Positions in m, area 1 m².
    pub vertices: Vec<[f64; 3]>,
    /// Corners.
    pub triangles: Vec<[u32; 3]>,
}

impl Garment {
    /// Reads an OBJ file and scales it to an area of 1 m².
    ///
    /// # Errors
    /// A file that cannot be read or holds no triangles.
    pub fn read(file: &Path) -> Result<Self, String> {
        let options = tobj::LoadOptions { triangulate: true, ..tobj::LoadOptions::default() };
        let (models, _) =
            tobj::load_obj(file, &options).map_err(|error| format!("{}: {error}", file.display()))?;
        let mut garment = Self { vertices: Vec::new(), triangles: Vec::new() };
        for model in models {
            let first = garment.vertices.len() as u32;
            garment.vertices.extend(model.mesh.positions.as_chunks::<3>().0);
            let corners = model.mesh.indices.as_chunks::<3>().0;
            garment.triangles.extend(corners.iter().map(|t| t.map(|v| v + first)));
        }
        let area = garment.area();
        if !(area.is_finite() && area > 0.0) {
            return Err(format!("{}: {} triangles of area {area}", file.display(), garment.triangles.len()));
        }
        garment.vertices.as_flattened_mut().iter_mut().for_each(|x| *x /= area.sqrt());
        Ok(garment)
    }

    fn area(&self) -> f64 {
        let point = |v: u32| Vector3::from(self.vertices[v as usize]);
        let area = |&[a, b, c]: &[u32; 3]| {
            let (a, b, c) = (point(a), point(b), point(c));
            0.5 * (b - a).cross(&(c - a)).norm()
        };
        self.triangles.iter().map(area).sum()
    }

    /// Cuts every triangle into four at the middles of its edges.
    #[must_use]
    pub fn subdivided(&self) -> Self {
        let mut vertices = self.vertices.clone();
        let mut middles = BTreeMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                let (p, q) = (vertices[a as usize], vertices[b as usize]);
                vertices.push(std::array::from_fn(|k| 0.5 * (p[k] + q[k])));
                vertices.len() as u32 - 1
            })
        };
        let mut triangles = Vec::with_capacity(4 * self.triangles.len());
        for &[a, b, c] in &self.triangles {
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            triangles.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        Self { vertices, triangles }
    }

    /// Springs of 1e5 N/m along the edges and of 1e3 N/m between the corners opposite an edge; three pins.
    pub fn net(&self) -> Net {
        let mut opposite: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
        for &[a, b, c] in &self.triangles {
            for (a, b, c) in [(a, b, c), (b, c, a), (c, a, b)] {
                opposite.entry([a.min(b), a.max(b)]).or_default().push(c);
            }
        }
        let spring = |ends: [u32; 2], k: f64| {
            let [a, b] = ends.map(|v| Vector3::from(self.vertices[v as usize]));
            Spring { ends, rest_length: (b - a).norm(), stiffness: k, damping: 0.01 * k }
        };
        let edges = opposite.keys().map(|&ends| spring(ends, 1e5));
        let across = opposite.values().filter(|corners| corners.len() == 2 && corners[0] != corners[1]);
        let springs = edges.chain(across.map(|corners| spring([corners[0], corners[1]], 1e3))).collect();
        let count = self.vertices.len();
        Net { rest: self.vertices.clone(), springs, pins: vec![0, count / 3, 2 * count / 3] }
    }
}
