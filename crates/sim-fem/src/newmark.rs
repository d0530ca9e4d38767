//! Newmark's method as a stepper for any system of `sim-core`: structures and particle systems alike.

use crate::factor::{FactorKind, Factorization};
use crate::material::{ValueError, finite};
use crate::matrix::{SymmetricMatrix, SymmetricPattern, norm};
use nalgebra::Matrix3;
use serde::{Deserialize, Serialize};
use sim_core::{
    Definiteness, ImplicitSystem, MethodInfo, Stability, StageRecord, State, StepError, StepStats, Stepper,
};
use std::sync::Arc;

/// Parameters of [`Newmark`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewmarkOptions {
    /// 1/4 = average acceleration (unconditional), 1/6 = linear acceleration; > 0.
    pub beta: f64,
    /// 1/2 for second order; at least 1/2.
    pub gamma: f64,
    /// Unbalanced force relative to the forces at work at which Newton's method stops.
    pub relative_tolerance: f64,
    /// Newton iterations per step.
    pub max_iterations: u32,
}

impl Default for NewmarkOptions {
    fn default() -> Self {
        Self { beta: 0.25, gamma: 0.5, relative_tolerance: 1e-10, max_iterations: 20 }
    }
}

static METHOD: MethodInfo = MethodInfo {
    id: "newmark",
    summary: "Newmark's method (average acceleration by default), Newton's method in every step",
    implicit: true,
    symplectic: false,
    order: 2,
    order_velocity_dependent: 2,
    stability: Stability::Unconditional,
    reference: "Newmark, J. Eng. Mech. Div. ASCE 85 (1959) 67",
    limitations: "Does not damp frequencies it cannot resolve; not energy-conserving for non-linear forces. The acceleration \
                  at the start of a step is found anew from the forces there, which costs a solve with the mass matrix.",
};

/// Newmark's method with the acceleration at the start of every step taken from equilibrium, so that the state needs no
/// more than positions and velocities.
///
/// # Limitations
/// Scalar sparse factorization in every Newton iteration. Free blocks need mass. Of prescribed motion only position and
/// velocity are used. Matrices are taken exact, not projected.
#[derive(Debug)]
pub struct Newmark {
    options: NewmarkOptions,
    work: Option<Workspace>,
}

impl Newmark {
    /// Checks the options.
    ///
    /// # Errors
    /// [`ValueError`] naming the parameter.
    pub fn new(options: NewmarkOptions) -> Result<Self, ValueError> {
        let requirement = |field, value, requirement| Err(ValueError { field, value, requirement });
        finite("beta", options.beta)?;
        finite("gamma", options.gamma)?;
        if options.beta <= 0.0 {
            return requirement("beta", options.beta, "positive; an explicit method is another stepper");
        }
        if options.gamma < 0.5 {
            return requirement("gamma", options.gamma, "at least 1/2, below it the method feeds energy");
        }
        crate::material::tolerance("relative_tolerance", options.relative_tolerance)?;
        Ok(Self { options, work: None })
    }
}

/// Matrices and vectors of a system, kept from step to step; losing them changes no bit.
#[derive(Debug)]
struct Workspace {
    assembler: BlockAssembler,
    mass: SymmetricMatrix,
    matrix: SymmetricMatrix,
    factor: Factorization,
    mass_factor: Factorization,
    force: Vec<f64>,
    residual: Vec<f64>,
}

impl<S: ImplicitSystem + ?Sized> Stepper<S> for Newmark {
    fn method(&self) -> &'static MethodInfo {
        &METHOD
    }

    fn step_recorded(
        &mut self,
        system: &S,
        state: &mut State,
        dt: f64,
        record: Option<&mut StageRecord>,
    ) -> Result<StepStats, StepError> {
        if !(dt.is_finite() && dt > 0.0) {
            return Err(StepError::StepSize { dt });
        }
        state.validate(system.particle_count())?;
        let t0 = state.t;
        let fits = self.work.as_ref().is_some_and(|work| work.assembler.fits(system));
        if !fits {
            self.work = Some(Workspace::new(system, state).map_err(|source| linear(t0, 0, source))?);
        }
        let (options, Some(work)) = (self.options, self.work.as_mut()) else {
            return Err(StepError::StepSize { dt });
        };
        work.step(system, state, dt, &options, record)
    }
}

fn linear(t: f64, newton_iteration: u32, source: crate::factor::FactorError) -> StepError {
    StepError::LinearSolver { t, newton_iteration, source: Box::new(source) }
}

impl Workspace {
    fn new<S: ImplicitSystem + ?Sized>(
        system: &S,
        state: &State,
    ) -> Result<Self, crate::factor::FactorError> {
        let assembler = BlockAssembler::new(system, state);
        let pattern = assembler.pattern.clone();
        let mut mass = SymmetricMatrix::zeros(pattern.clone());
        assembler.add(&mut mass, 1.0, |sink| system.mass_matrix(sink));
        let mut mass_factor = Factorization::new(&pattern, FactorKind::Auto)?;
        mass_factor.refactor(&mass)?;
        Ok(Self {
            matrix: SymmetricMatrix::zeros(pattern.clone()),
            factor: Factorization::new(&pattern, FactorKind::Auto)?,
            mass_factor,
            mass,
            force: vec![0.0; state.q.len()],
            residual: vec![0.0; assembler.unknowns()],
            assembler,
        })
    }

    fn step<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        state: &mut State,
        h: f64,
        options: &NewmarkOptions,
        record: Option<&mut StageRecord>,
    ) -> Result<StepStats, StepError> {
        let (t0, t1) = (state.t, state.t + h);
        let NewmarkOptions { beta, gamma, .. } = *options;
        system.force(t0, &state.q, &state.v, &mut self.force);
        let mut old = vec![0.0; self.assembler.unknowns()];
        self.assembler.gather(&self.force, &mut old);
        self.mass_factor.solve(&mut old);
        let mut new = old.clone();
        let (mut q, mut v) = (state.q.clone(), state.v.clone());
        system.prescribe(t1, &mut q, &mut v);
        let mut stats = StepStats { force_evaluations: 1, substeps: 1, ..StepStats::default() };
        loop {
            for (i, &dof) in self.assembler.dofs.iter().enumerate() {
                let dof = dof as usize;
                q[dof] = state.q[dof] + h * state.v[dof] + h * h * ((0.5 - beta) * old[i] + beta * new[i]);
                v[dof] = state.v[dof] + h * ((1.0 - gamma) * old[i] + gamma * new[i]);
            }
            system.force(t1, &q, &v, &mut self.force);
            stats.force_evaluations += 1;
            self.assembler.gather(&self.force, &mut self.residual);
            let mut scale = norm(&self.residual);
            self.mass.multiply_add(-1.0, &new, &mut self.residual);
            // Forces that nearly cancel are measured by what they would be without the inertia.
            let mut inertia = vec![0.0; new.len()];
            self.mass.multiply_add(1.0, &new, &mut inertia);
            scale = scale.hypot(norm(&inertia));
            let size = norm(&self.residual);
            // An infinite scale would make any residual small.
            stats.residual = match (size, scale.is_finite()) {
                (_, false) => f64::NAN,
                (0.0, true) => 0.0,
                (size, true) => size / scale,
            };
            if !stats.residual.is_finite() {
                return Err(diverged(t0, h, &q, &v));
            }
            if (stats.residual <= options.relative_tolerance && stats.newton_iterations > 0) || size == 0.0 {
                break;
            }
            if stats.newton_iterations == options.max_iterations {
                let largest = (0..self.residual.len())
                    .max_by(|&a, &b| self.residual[a].abs().total_cmp(&self.residual[b].abs()))
                    .unwrap_or(0);
                return Err(StepError::NotConverged {
                    t: t0,
                    iterations: stats.newton_iterations,
                    residual: stats.residual,
                    tolerance: options.relative_tolerance,
                    particle: self.assembler.dofs[largest] as usize / 3,
                });
            }
            self.matrix.values.copy_from_slice(&self.mass.values);
            self.assembler.add(&mut self.matrix, gamma * h, |sink| system.damping_matrix(t1, &q, &v, sink));
            self.assembler.add(&mut self.matrix, beta * h * h, |sink| {
                system.stiffness_matrix(t1, &q, &v, Definiteness::Exact, sink);
            });
            self.factor
                .refactor(&self.matrix)
                .map_err(|source| linear(t0, stats.newton_iterations, source))?;
            self.factor.solve(&mut self.residual);
            new.iter_mut().zip(&self.residual).for_each(|(a, d)| *a += d);
            stats.newton_iterations += 1;
        }
        if let Some(record) = record {
            record.clear();
            record.push(1.0 - gamma, t0, &state.q, &state.v);
            record.push(gamma, t1, &q, &v);
        }
        *state = State { t: t1, q, v, internal: std::mem::take(&mut state.internal) };
        Ok(stats)
    }
}

fn diverged(t: f64, dt: f64, q: &[f64], v: &[f64]) -> StepError {
    let bad = |values: &[f64]| values.iter().position(|value| !value.is_finite());
    let (quantity, at, value) = match (bad(q), bad(v)) {
        (Some(at), _) => ("position", at, q[at]),
        (None, Some(at)) => ("velocity", at, v[at]),
        (None, None) => ("force", 0, f64::NAN),
    };
    StepError::Diverged { t, dt, quantity, particle: at / 3, value }
}

/// Scalar matrices from the blocks a system hands out: free blocks numbered in order, slots found by search.
#[derive(Debug)]
struct BlockAssembler {
    /// First unknown of each block, or `None` when it is not free.
    first: Vec<Option<u32>>,
    /// Degree of freedom of each unknown.
    dofs: Vec<u32>,
    pattern: Arc<SymmetricPattern>,
}

impl BlockAssembler {
    fn new<S: ImplicitSystem + ?Sized>(system: &S, state: &State) -> Self {
        let mut first = Vec::with_capacity(system.particle_count());
        let mut dofs = Vec::new();
        for block in 0..system.particle_count() as u32 {
            first.push(system.is_free(block as usize).then_some(dofs.len() as u32));
            if system.is_free(block as usize) {
                dofs.extend(3 * block..3 * block + 3);
            }
        }
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        {
            let mut note = |row: usize, col: usize, _: &Matrix3<f64>| {
                if let (Some(a), Some(b)) = (first[row], first[col]) {
                    pairs.push([a.min(b), a.max(b)]);
                }
            };
            system.mass_matrix(&mut note);
            system.damping_matrix(state.t, &state.q, &state.v, &mut note);
            system.stiffness_matrix(state.t, &state.q, &state.v, Definiteness::Exact, &mut note);
        }
        pairs.extend((0..dofs.len() as u32).step_by(3).map(|i| [i, i]));
        pairs.sort_unstable();
        pairs.dedup();
        let columns = (0..dofs.len()).map(|column| {
            let block = column as u32 / 3 * 3;
            let from = pairs.partition_point(|pair| pair[0] < block);
            let rows = pairs[from..].iter().take_while(|pair| pair[0] == block);
            rows.flat_map(|pair| pair[1]..pair[1] + 3).filter(|&row| row >= column as u32).collect()
        });
        let pattern = Arc::new(SymmetricPattern::from_columns(columns.collect::<Vec<Vec<u32>>>()));
        Self { first, dofs, pattern }
    }

    fn unknowns(&self) -> usize {
        self.dofs.len()
    }

    fn fits<S: ImplicitSystem + ?Sized>(&self, system: &S) -> bool {
        self.first.len() == system.particle_count()
            && self.first.iter().enumerate().all(|(block, first)| first.is_some() == system.is_free(block))
    }

    fn gather(&self, full: &[f64], unknowns: &mut [f64]) {
        for (value, &dof) in unknowns.iter_mut().zip(&self.dofs) {
            *value = full[dof as usize];
        }
    }

    /// Adds `factor` times what `emit` hands out.
    ///
    /// # Panics
    /// If a block lies outside the pattern recorded at the first step.
    fn add(
        &self,
        matrix: &mut SymmetricMatrix,
        factor: f64,
        emit: impl FnOnce(&mut dyn sim_core::BlockSink),
    ) {
        let pattern = &self.pattern;
        let mut sink = |row: usize, col: usize, block: &Matrix3<f64>| {
            let (Some(a), Some(b)) = (self.first[row], self.first[col]) else { return };
            for i in 0..3 {
                for j in 0..3 {
                    let (r, c) = (a as usize + i, b as usize + j);
                    // The mirrored half of a diagonal block is its transpose, already counted.
                    if a == b && r < c {
                        continue;
                    }
                    let place = pattern.position(r.max(c), r.min(c));
                    let place = place
                        .unwrap_or_else(|| panic!("block ({row}, {col}) was not there at the first step"));
                    matrix.values[place] += factor * block[(i, j)];
                }
            }
        };
        emit(&mut sink);
    }
}
