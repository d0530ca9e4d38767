//! Newton's method for one stage of an implicit step.
//!
//! The unknown is the velocity change `u` of the free particles. With `v = v_base + u` and `q = q_base + c u`, a stage solves
//!
//! ```text
//! R(u) = M u - h f(t, q, v) - r = 0,      matrix M + h D + h c K
//! ```
//!
//! For forces with a potential U this is the stationary point of the incremental potential `½ uᵀMu - rᵀu + (h/c) U(q)`, whose slope
//! along a direction d is `R·d`.
//!
//! Three things make it fast on stiff parts that turn and wrinkle:
//!
//! - K takes stresses as predicted from the previous iterate (`MatrixRequest::before`): a turned spring is stretched to second
//!   order, and its stress from that would lock the next step.
//! - Full steps are taken without asking whether they go downhill, for the same reason; a watchdog returns to the best iterate and
//!   searches along the line when they lead nowhere (`search`).
//! - Where K is indefinite, as little of the projected blocks is mixed in as makes it definite (`direction`).

mod direction;
mod measure;
mod search;

use super::NewtonOptions;
use super::matrix::{AddProduct, Point, StageMatrix};
use direction::Mixture;
use measure::{dot, weighted_norm};
use search::Watchdog;
use sim_core::{Definiteness, ImplicitSystem, StepError, StepStats};
use sim_linalg::LinearSolver;

/// One stage: see the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stage {
    /// Start and size of the step, for messages.
    pub t0: f64,
    pub dt: f64,
    /// Time at which the force is taken.
    pub t: f64,
    /// `c` in s.
    pub position_factor: f64,
    /// `h` in s.
    pub force_factor: f64,
    /// Stop after one Newton step from the guess, whatever the residual.
    pub linearized: bool,
}

/// Known parts of a stage, over all particles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    pub q_base: &'a [f64],
    pub v_base: &'a [f64],
    /// `r` in N·s; empty means zero.
    pub impulse: &'a [f64],
}

/// Solves stages; keeps pattern, factorization and vectors.
#[derive(Default)]
pub(crate) struct StageSolver {
    options: NewtonOptions,
    linear: Option<(StageMatrix, LinearSolver)>,
    /// Stage positions and velocities after a solve.
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    /// Force at the last evaluation.
    pub f: Vec<f64>,
    /// Velocity change of the free particles: first guess in, solution out.
    pub u: Vec<f64>,
    residual: Vec<f64>,
    trial: Vec<f64>,
    direction: Vec<f64>,
    scratch: Vec<f64>,
    mass: Vec<f64>,
    /// What rounding may leave of the residual, per particle.
    floor: Vec<f64>,
    /// The same for residuals that have stopped shrinking.
    wide_floor: Vec<f64>,
    rhs: Vec<f64>,
    x: Vec<f64>,
    /// Positions from which the stresses of the next matrix are predicted: the previous iterate.
    before: Vec<f64>,
    /// Where the matrix is taken: the present iterate.
    q_here: Vec<f64>,
    v_here: Vec<f64>,
    mixture: Mixture,
    watchdog: Watchdog,
}

impl std::fmt::Debug for StageSolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StageSolver").field("options", &self.options).finish_non_exhaustive()
    }
}

/// First and largest tolerance of the linear solver (Eisenstat & Walker, SIAM J. Sci. Comput. 17 (1996) 16, choice 2).
const FORCING: (f64, f64) = (1e-2, 0.1);

/// Iterations in a row that do not halve a residual before it is taken to have stalled.
const STALLS: u32 = 5;

const RECORDED: &str = "`begin` records the pattern before anything else is called";

type BoxedError = Box<dyn std::error::Error + Send + Sync>;

fn linear_error(t: f64, newton_iteration: u32) -> impl Fn(BoxedError) -> StepError {
    move |source| StepError::LinearSolver { t, newton_iteration, source }
}

impl StageSolver {
    pub fn new(options: NewtonOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Sizes buffers, and records the pattern when the system is a new one. Sets `u` to zero.
    pub fn begin<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        t0: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<(), StepError> {
        for buffer in [
            &mut self.q,
            &mut self.v,
            &mut self.f,
            &mut self.u,
            &mut self.residual,
            &mut self.trial,
            &mut self.direction,
            &mut self.scratch,
            &mut self.before,
            &mut self.q_here,
            &mut self.v_here,
        ] {
            buffer.resize(q.len(), 0.0);
        }
        self.u.fill(0.0);
        self.before.copy_from_slice(q);
        if self.linear.as_mut().is_some_and(|(matrix, _)| matrix.take_mass(system)) {
            self.linear.as_ref().expect(RECORDED).0.diagonal_mass(&mut self.mass);
        } else {
            self.record(system, (t0, q, v)).map_err(linear_error(t0, 0))?;
        }
        Ok(())
    }

    fn record<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        (t, q, v): (f64, &[f64], &[f64]),
    ) -> Result<(), BoxedError> {
        let matrix = StageMatrix::record(system, t, q, v)?;
        let mut solver = LinearSolver::new(self.options.solver.clone())?;
        let dim = matrix.assembler.pattern().dim();
        if dim > 0 {
            let rest = system.rest_positions().map(|rest| {
                let mut unknowns = vec![0.0; dim];
                matrix.assembler.gather(rest, &mut unknowns);
                unknowns
            });
            solver.prepare(matrix.assembler.pattern(), rest.as_deref())?;
        }
        self.mass.resize(system.particle_count(), 0.0);
        self.floor.resize(system.particle_count(), 0.0);
        self.wide_floor.resize(system.particle_count(), 0.0);
        matrix.diagonal_mass(&mut self.mass);
        self.rhs.resize(dim, 0.0);
        self.x.resize(dim, 0.0);
        self.linear = Some((matrix, solver));
        Ok(())
    }

    fn parts(&mut self) -> (&mut StageMatrix, &mut LinearSolver) {
        let (matrix, solver) = self.linear.as_mut().expect(RECORDED);
        (matrix, solver)
    }

    /// `y = M x`, zero on particles that are not free.
    pub fn mass_times(&self, x: &[f64], y: &mut [f64]) {
        self.linear.as_ref().expect(RECORDED).0.mass_times(x, y);
    }

    /// Evaluates where the iteration begins.
    ///
    /// Newton's method begins where inertia carries the particles. The one solve of a linearized step is made about the *old*
    /// positions and velocities (Baraff & Witkin, SIGGRAPH 98, eq. 6): a stiff part has been in that shape, while inertia alone
    /// would stretch it beyond measure. That is `u = -v0/β`, with the force at `v0 + u` taken to first order from `v0`.
    fn start<S: ImplicitSystem + ?Sized>(&mut self, system: &S, stage: Stage, known: Known<'_>) {
        if !stage.linearized || stage.position_factor == 0.0 {
            return self.evaluate(system, stage, known, 0.0);
        }
        let matrix = &self.linear.as_ref().expect(RECORDED).0;
        let back = stage.dt / stage.position_factor;
        for k in 0..self.u.len() {
            self.u[k] = if matrix.is_free(k / 3) { -back * known.v_base[k] } else { 0.0 };
            self.v[k] = known.v_base[k];
            self.q[k] = known.q_base[k] + stage.position_factor * self.u[k];
        }
        system.prescribe(stage.t, &mut self.q, &mut self.v);
        system.force(stage.t, &self.q, &self.v, &mut self.f);
        self.scratch.fill(0.0);
        let mut multiply = AddProduct { x: &self.u, y: &mut self.scratch };
        system.damping_matrix(stage.t, &self.q, &self.v, &mut multiply);
        matrix.mass_times(&self.u, &mut self.trial);
        for (k, residual) in self.trial.iter_mut().enumerate() {
            let impulse = known.impulse.get(k).copied().unwrap_or(0.0);
            let force = self.f[k] - self.scratch[k];
            *residual =
                if matrix.is_free(k / 3) { *residual - stage.force_factor * force - impulse } else { 0.0 };
        }
    }

    /// Sets `q`, `v`, `f` for `u + length * direction` and writes the residual into `trial`.
    fn evaluate<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        stage: Stage,
        known: Known<'_>,
        length: f64,
    ) {
        let matrix = &self.linear.as_ref().expect(RECORDED).0;
        for k in 0..self.u.len() {
            let step = if length > 0.0 { length * self.direction[k] } else { 0.0 };
            let u = if matrix.is_free(k / 3) { self.u[k] + step } else { 0.0 };
            self.scratch[k] = u;
            self.v[k] = known.v_base[k] + u;
            self.q[k] = known.q_base[k] + stage.position_factor * u;
        }
        system.prescribe(stage.t, &mut self.q, &mut self.v);
        system.force(stage.t, &self.q, &self.v, &mut self.f);
        matrix.mass_times(&self.scratch, &mut self.trial);
        for (k, (residual, f)) in self.trial.iter_mut().zip(&self.f).enumerate() {
            let impulse = known.impulse.get(k).copied().unwrap_or(0.0);
            *residual =
                if matrix.is_free(k / 3) { *residual - stage.force_factor * f - impulse } else { 0.0 };
        }
    }

    /// Solves the stage from the guess in `u`; afterwards `u`, `q`, `v`, `f` belong to the solution.
    pub fn solve<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        stage: Stage,
        known: Known<'_>,
        stats: &mut StepStats,
    ) -> Result<(), StepError> {
        let tolerance = self.options.relative_tolerance;
        self.floor.fill(0.0);
        self.wide_floor.fill(0.0);
        self.mixture = Mixture::new(self.options.projection);
        self.watchdog.begin();
        self.start(system, stage, known);
        stats.force_evaluations += 1;
        std::mem::swap(&mut self.residual, &mut self.trial);
        let (mut before, mut forcing) = (f64::INFINITY, FORCING.0);
        let (mut iteration, mut stalls) = (0, 0);
        loop {
            let scale = self.scale(stage, known);
            let (size, particle, resolved) = self.accelerations_left(tolerance * scale, stalls >= STALLS);
            if !size.is_finite() {
                return Err(self.diverged(stage));
            }
            stats.residual = if scale > 0.0 { size / scale } else { 0.0 };
            stalls = if size > 0.5 * before { stalls + 1 } else { 0 };
            if size <= tolerance * scale || resolved || (stage.linearized && iteration == 1) {
                return Ok(());
            }
            if iteration == self.options.max_iterations {
                return Err(self.not_converged(stage, iteration, stats.residual, particle));
            }
            if before.is_finite() {
                forcing = (0.9 * (size / before).powi(2)).min(FORCING.1);
            }
            before = size;
            // Never more accurate than the non-linear tolerance asks for.
            let linear_tolerance =
                if stage.linearized { tolerance } else { forcing.max(0.1 * tolerance * scale / size) };
            let linear_tolerance = linear_tolerance.clamp(1e-13, FORCING.1);
            self.iterate(system, stage, known, iteration, linear_tolerance, stats)?;
            iteration += 1;
            stats.newton_iterations += 1;
        }
    }

    fn not_converged(&self, stage: Stage, iterations: u32, residual: f64, particle: usize) -> StepError {
        let tolerance = self.options.relative_tolerance;
        StepError::NotConverged { t: stage.t0, iterations, residual, tolerance, particle }
    }

    fn diverged(&self, stage: Stage) -> StepError {
        let index = self.residual.iter().position(|x| !x.is_finite()).unwrap_or(0);
        let quantity = if self.q[index].is_finite() { "velocity" } else { "position" };
        StepError::Diverged {
            t: stage.t0,
            dt: stage.dt,
            quantity,
            particle: index / 3,
            value: self.residual[index],
        }
    }

    /// Solves `M a = f` over the free particles into `a`, which is zero elsewhere.
    pub fn accelerations<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        at: (f64, &[f64], &[f64]),
        f: &[f64],
        a: &mut [f64],
    ) -> Result<(), StepError> {
        if self.rhs.is_empty() {
            a.fill(0.0);
            return Ok(());
        }
        let fail = linear_error(at.0, 0);
        let (t, q, v) = at;
        self.fill(system, (0.0, 0.0), Point { t, q, v, before: None }, Definiteness::Projected)
            .map_err(&fail)?;
        let (matrix, solver) = self.linear.as_mut().expect(RECORDED);
        matrix.assembler.gather(f, &mut self.rhs);
        self.x.fill(0.0);
        solver.factor(&matrix.matrix).map_err(|e| fail(e.into()))?;
        solver.solve(&matrix.matrix, &self.rhs, &mut self.x, 1e-14).map_err(|e| fail(e.into()))?;
        a.fill(0.0);
        matrix.assembler.scatter(&self.x, a);
        Ok(())
    }
}
