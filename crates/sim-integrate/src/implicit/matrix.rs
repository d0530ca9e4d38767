//! `M + a D + b K` over the free particles, on a pattern that is recorded once.

use nalgebra::Matrix3;
use sim_core::{BlockSink, Definiteness, ImplicitSystem, MatrixRequest};
use sim_linalg::{AssemblyError, BlockAssembler, BlockRecorder, BlockRefill, BlockSymmetric};

/// The matrix of a stage and the mass blocks behind it.
#[derive(Debug)]
pub(crate) struct StageMatrix {
    pub assembler: BlockAssembler,
    pub matrix: BlockSymmetric,
    /// Exact and projected values behind a blend; made when first needed.
    exact: Option<BlockSymmetric>,
    projected: Option<BlockSymmetric>,
    mass: Vec<MassBlock>,
    is_free: Vec<bool>,
}

/// Takes down the places of a weighted matrix.
struct Recording<'a> {
    recorder: &'a mut BlockRecorder,
}

impl BlockSink for Recording<'_> {
    fn add(&mut self, row: usize, col: usize, _block: &Matrix3<f64>) {
        self.recorder.add(row, col);
    }
    fn add_pair(&mut self, a: usize, b: usize, _block: &Matrix3<f64>) {
        self.recorder.add_edge(a, b);
    }
    fn add_pairs(&mut self, ends: &[[u32; 2]], _blocks: &[[f64; 9]]) {
        self.recorder.add_edges(ends);
    }
}

/// Adds a weighted matrix at the recorded places.
struct Filling<'a, 'b>(&'a mut BlockRefill<'b>);

impl BlockSink for Filling<'_, '_> {
    fn add(&mut self, row: usize, col: usize, block: &Matrix3<f64>) {
        self.0.add(row, col, block);
    }
    fn add_pair(&mut self, a: usize, b: usize, block: &Matrix3<f64>) {
        self.0.add_edge(a, b, 1.0, block);
    }
    fn add_pairs(&mut self, ends: &[[u32; 2]], blocks: &[[f64; 9]]) {
        self.0.add_edges(ends, blocks);
    }
}

/// Adds a matrix times `x` to `y`, both over all particles.
pub(crate) struct AddProduct<'a> {
    pub x: &'a [f64],
    pub y: &'a mut [f64],
}

impl BlockSink for AddProduct<'_> {
    fn add(&mut self, row: usize, col: usize, block: &Matrix3<f64>) {
        add_product(block, &self.x[3 * col..3 * col + 3], &mut self.y[3 * row..3 * row + 3]);
        if row != col {
            add_product(&block.transpose(), &self.x[3 * row..3 * row + 3], &mut self.y[3 * col..3 * col + 3]);
        }
    }
    fn add_pair(&mut self, a: usize, b: usize, block: &Matrix3<f64>) {
        let rows = std::array::from_fn(|k| block[(k / 3, k % 3)]);
        self.add_pairs(&[[a as u32, b as u32]], &[rows]);
    }
    fn add_pairs(&mut self, ends: &[[u32; 2]], blocks: &[[f64; 9]]) {
        let (x, y) = (self.x.as_chunks::<3>().0, self.y.as_chunks_mut::<3>().0);
        for (&[a, b], s) in ends.iter().zip(blocks) {
            let (a, b) = (a as usize, b as usize);
            let d = [x[a][0] - x[b][0], x[a][1] - x[b][1], x[a][2] - x[b][2]];
            for r in 0..3 {
                let product = s[3 * r] * d[0] + s[3 * r + 1] * d[1] + s[3 * r + 2] * d[2];
                y[a][r] += product;
                y[b][r] -= product;
            }
        }
    }
}

/// Row, column and block of the mass matrix.
type MassBlock = (usize, usize, Matrix3<f64>);

/// Where a matrix is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point<'a> {
    pub t: f64,
    pub q: &'a [f64],
    pub v: &'a [f64],
    /// Positions from which stresses are predicted; none for those of K where it is.
    pub before: Option<&'a [f64]>,
}

fn fill<S: ImplicitSystem + ?Sized>(
    (assembler, mass): (&BlockAssembler, &[MassBlock]),
    matrix: &mut BlockSymmetric,
    system: &S,
    (a, b): (f64, f64),
    Point { t, q, v, before }: Point<'_>,
    definiteness: Definiteness,
) -> Result<(), AssemblyError> {
    let mut refill = assembler.refill(matrix);
    for (r, c, block) in mass {
        refill.add(*r, *c, block);
    }
    let request = MatrixRequest { damping: a, stiffness: b, definiteness, before };
    system.weighted_matrix(t, q, v, request, &mut Filling(&mut refill));
    refill.finish()
}

impl StageMatrix {
    /// Records the sequence of blocks that `system` emits.
    pub fn record<S: ImplicitSystem + ?Sized>(
        system: &S,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<Self, AssemblyError> {
        let is_free: Vec<bool> = (0..system.particle_count()).map(|i| system.is_free(i)).collect();
        let mut recorder = BlockRecorder::new(&is_free);
        let mut mass = Vec::new();
        system.mass_matrix(&mut |r: usize, c: usize, b: &Matrix3<f64>| {
            if is_free[r] && is_free[c] {
                recorder.add(r, c);
                mass.push((r, c, *b));
            }
        });
        let mut sink = Recording { recorder: &mut recorder };
        let request = MatrixRequest { damping: 1.0, ..MatrixRequest::stiffness(Definiteness::Exact) };
        system.weighted_matrix(t, q, v, request, &mut sink);
        let assembler = recorder.finish()?;
        let matrix = BlockSymmetric::zeros(assembler.pattern().clone());
        Ok(Self { assembler, matrix, exact: None, projected: None, mass, is_free })
    }

    /// Takes over the masses of `system`; false when its free particles or the places of its masses are not the recorded ones.
    pub fn take_mass<S: ImplicitSystem + ?Sized>(&mut self, system: &S) -> bool {
        let same = self.is_free.len() == system.particle_count()
            && self.is_free.iter().enumerate().all(|(i, &free)| free == system.is_free(i));
        if !same {
            return false;
        }
        let (mut next, mut same) = (0, true);
        system.mass_matrix(&mut |r: usize, c: usize, block: &Matrix3<f64>| {
            if self.is_free[r] && self.is_free[c] {
                match self.mass.get_mut(next) {
                    Some(entry) if (entry.0, entry.1) == (r, c) => entry.2 = *block,
                    _ => same = false,
                }
                next += 1;
            }
        });
        same && next == self.mass.len()
    }

    /// Whether particle `i` is an unknown.
    pub fn is_free(&self, i: usize) -> bool {
        self.is_free[i]
    }

    /// Sets the matrix to `M + a D + b K` at time `t`, positions `q`, velocities `v`; the stress in K is predicted from the positions
    /// `before`. Blends can be taken of it once more after [`StageMatrix::project`].
    ///
    /// How dissipative forces change with position (`damping_stiffness`) is not in it, but for the tension of dashpots, which K has:
    /// the rest is not symmetric, and its symmetric half alone is worse than nothing. It couples the stiff direction of a spring with
    /// the soft ones across, one way only: dropped, the coupling is solved by back substitution over two iterations.
    pub fn fill<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        factors: (f64, f64),
        at: Point<'_>,
        definiteness: Definiteness,
    ) -> Result<(), AssemblyError> {
        let Self { assembler, matrix, mass, .. } = self;
        fill((assembler, mass), matrix, system, factors, at, definiteness)
    }

    /// After a `fill` with exact blocks: keeps them, and fills the projected ones, so that [`StageMatrix::blend`] can mix both.
    pub fn project<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        factors: (f64, f64),
        at: Point<'_>,
    ) -> Result<(), AssemblyError> {
        let Self { assembler, matrix, projected, exact, mass, .. } = self;
        for values in [&mut *projected, &mut *exact] {
            if values.is_none() {
                *values = Some(BlockSymmetric::zeros(assembler.pattern().clone()));
            }
        }
        let (Some(projected), Some(exact)) = (projected, exact) else { return Ok(()) };
        std::mem::swap(matrix, exact);
        fill((assembler, mass), projected, system, factors, at, Definiteness::Reduced)
    }

    /// Sets the matrix to `(1 - share) exact + share projected`.
    pub fn blend(&mut self, share: f64) {
        let (Some(projected), Some(exact)) = (&self.projected, &self.exact) else { return };
        let mix = |to: &mut [[f64; 9]], exact: &[[f64; 9]], projected: &[[f64; 9]]| {
            for ((to, e), p) in to.iter_mut().zip(exact).zip(projected) {
                for k in 0..9 {
                    to[k] = e[k] + share * (p[k] - e[k]);
                }
            }
        };
        mix(self.matrix.diagonal_mut(), exact.diagonal(), projected.diagonal());
        mix(self.matrix.upper_mut(), exact.upper(), projected.upper());
    }

    /// `y = M x` over all particles; rows that are not free are zero.
    pub fn mass_times(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for (r, c, block) in &self.mass {
            add_product(block, &x[3 * c..3 * c + 3], &mut y[3 * r..3 * r + 3]);
            if r != c {
                add_product(&block.transpose(), &x[3 * r..3 * r + 3], &mut y[3 * c..3 * c + 3]);
            }
        }
    }

    /// Mass in kg on the diagonal of each particle (mean over the axes); zero where not free.
    pub fn diagonal_mass(&self, mass: &mut [f64]) {
        mass.fill(0.0);
        for (r, _, block) in self.mass.iter().filter(|(r, c, _)| r == c) {
            mass[*r] += block.trace() / 3.0;
        }
    }
}

fn add_product(block: &Matrix3<f64>, x: &[f64], y: &mut [f64]) {
    for (r, y) in y.iter_mut().enumerate() {
        *y += block[(r, 0)] * x[0] + block[(r, 1)] * x[1] + block[(r, 2)] * x[2];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::ParticleSystemBuilder;
    use sim_core::force::springs::{Spring, Springs};

    /// T9, trap 14: pinned particles are no unknowns.
    #[test]
    fn pinned_particles_leave_the_matrix() {
        let spring = |a, b| Spring { ends: [a, b], rest_length: 1.0, stiffness: 100.0, damping: 2.0 };
        let system = ParticleSystemBuilder::new(vec![0.5; 4])
            .pin([0, 2])
            .force(Springs::new([spring(0, 1), spring(1, 2), spring(2, 3), spring(1, 3)]))
            .build()
            .unwrap();
        let q: Vec<f64> = (0..12).map(|i| if i % 3 == 0 { f64::from(i / 3) } else { 0.0 }).collect();
        let v = vec![0.0; 12];
        let mut stage = StageMatrix::record(&system, 0.0, &q, &v).unwrap();
        assert_eq!(stage.assembler.pattern().dim(), 6);
        let (a, b) = (0.01, 1e-4);
        stage
            .fill(&system, (a, b), Point { t: 0.0, q: &q, v: &v, before: Some(&q) }, Definiteness::Exact)
            .unwrap();
        // Particle 1 has three springs: two at rest length and one, to particle 3, of length 2 and so half of it across.
        let along = 0.5 + 3.0 * (a * 2.0 + b * 100.0);
        let across = 0.5 + 0.5 * b * 100.0;
        let block = stage.matrix.block(0, 0).unwrap();
        assert!((block[(0, 0)] - along).abs() < 1e-14 && (block[(1, 1)] - across).abs() < 1e-14, "{block}");
        let coupling = stage.matrix.block(0, 1).unwrap();
        assert!((coupling[(0, 0)] + a * 2.0 + b * 100.0).abs() < 1e-14, "{coupling}");
        let mut y = vec![1.0; 12];
        stage.mass_times(&[2.0; 12], &mut y);
        assert_eq!(y, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    }
}
