//! A model replaced by its matrices at one state, so that linear theory holds exactly.

use nalgebra::{Matrix3, Vector3};
use sim_core::{
    BlockSink, Definiteness, Dependence, Energy, ExplicitSystem, ImplicitSystem, ModelSystem, State,
    StencilBound, System, Work, WorkTerm,
};

/// `f = -K (q - q0) - D v` with K and D of a model at one state.
///
/// What a non-linear model does near its stability limit mixes two things: the method's limit and the model's own change of stiffness.
/// Here only the first is left.
#[derive(Clone, Debug)]
pub struct Linearized {
    mass: Vec<f64>,
    inverse_mass: Vec<f64>,
    origin: Vec<f64>,
    stiffness: Vec<(usize, usize, Matrix3<f64>)>,
    damping: Vec<(usize, usize, Matrix3<f64>)>,
}

fn point(x: &[f64], i: usize) -> Vector3<f64> {
    Vector3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2])
}

/// `y -= A x` for blocks that stand for themselves and their mirror image.
fn subtract(blocks: &[(usize, usize, Matrix3<f64>)], x: &[f64], y: &mut [f64]) {
    let mut add = |row: usize, value: Vector3<f64>| (0..3).for_each(|k| y[3 * row + k] -= value[k]);
    for (row, col, block) in blocks {
        add(*row, block * point(x, *col));
        if row != col {
            add(*col, block.transpose() * point(x, *row));
        }
    }
}

impl Linearized {
    /// The matrices of `system` at `state`, with exact (not projected) stiffness.
    pub fn at(system: &dyn ModelSystem, state: &State) -> Self {
        let (mut stiffness, mut damping) = (Vec::new(), Vec::new());
        let State { t, q, v, .. } = state;
        system.stiffness_matrix(
            *t,
            q,
            v,
            Definiteness::Exact,
            &mut |row: usize, col: usize, block: &Matrix3<f64>| stiffness.push((row, col, *block)),
        );
        system.damping_matrix(*t, q, v, &mut |row: usize, col: usize, block: &Matrix3<f64>| {
            damping.push((row, col, *block));
        });
        damping.retain(|(_, _, block)| *block != Matrix3::zeros());
        Self {
            mass: system.mass().to_vec(),
            inverse_mass: system.inverse_mass().to_vec(),
            origin: q.clone(),
            stiffness,
            damping,
        }
    }

    fn offset(&self, q: &[f64]) -> Vec<f64> {
        assert_eq!(
            q.len(),
            self.origin.len(),
            "q has {} values, the system needs {}",
            q.len(),
            self.origin.len()
        );
        q.iter().zip(&self.origin).map(|(q, o)| q - o).collect()
    }
}

impl System for Linearized {
    fn particle_count(&self) -> usize {
        self.mass.len()
    }

    fn dependence(&self) -> Dependence {
        Dependence { time: false, velocity: !self.damping.is_empty() }
    }

    fn force(&self, _t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        f.fill(0.0);
        subtract(&self.stiffness, &self.offset(q), f);
        subtract(&self.damping, v, f);
    }

    fn energy(&self, _t: f64, q: &[f64], v: &[f64]) -> Energy {
        let x = self.offset(q);
        let mut kx = vec![0.0; x.len()];
        subtract(&self.stiffness, &x, &mut kx);
        let kinetic = (v.chunks_exact(3).zip(&self.mass).zip(&self.inverse_mass))
            .filter(|&(_, &w)| w > 0.0)
            .map(|((v, &m), _)| 0.5 * m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]))
            .sum();
        let elastic = -0.5 * x.iter().zip(&kx).map(|(x, kx)| x * kx).sum::<f64>();
        Energy { kinetic, elastic, ..Energy::default() }
    }

    fn power(&self, _t: f64, q: &[f64], v: &[f64], velocity: &[f64]) -> Work {
        let mut work = Work::default();
        let along = |blocks, x: &[f64]| {
            let mut f = vec![0.0; x.len()];
            subtract(blocks, x, &mut f);
            f.iter().zip(velocity).map(|(f, u)| f * u).sum::<f64>()
        };
        work.add_term(WorkTerm::Conservative, along(&self.stiffness, &self.offset(q)));
        work.add_term(WorkTerm::Dashpot, along(&self.damping, v));
        work
    }
}

impl ExplicitSystem for Linearized {
    fn mass(&self) -> &[f64] {
        &self.mass
    }

    fn inverse_mass(&self) -> &[f64] {
        &self.inverse_mass
    }

    /// None: the bounds of the model it was made from hold.
    fn stencil_bounds(&self, _q: &[f64], _emit: &mut dyn FnMut(StencilBound<'_>)) {}
}

impl ImplicitSystem for Linearized {
    fn is_free(&self, particle: usize) -> bool {
        self.inverse_mass[particle] > 0.0
    }

    fn mass_matrix(&self, sink: &mut dyn BlockSink) {
        for (i, &m) in self.mass.iter().enumerate() {
            sink.add(i, i, &Matrix3::from_diagonal_element(m));
        }
    }

    fn damping_matrix(&self, _t: f64, _q: &[f64], _v: &[f64], sink: &mut dyn BlockSink) {
        self.damping.iter().for_each(|(row, col, block)| sink.add(*row, *col, block));
    }

    /// Exact, whatever is asked: the model is what it is.
    fn stiffness_matrix(&self, _t: f64, _q: &[f64], _v: &[f64], _: Definiteness, sink: &mut dyn BlockSink) {
        self.stiffness.iter().for_each(|(row, col, block)| sink.add(*row, *col, block));
    }

    fn damping_stiffness(
        &self,
        _t: f64,
        _q: &[f64],
        _v: &[f64],
        _emit: &mut dyn FnMut(usize, usize, &Matrix3<f64>),
    ) {
    }
}
