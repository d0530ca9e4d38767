//! Newton's method for one stage of an implicit step.
//!
//! The unknown is the velocity change `u` of the free particles. With `v = v_base + u` and `q = q_base + c u`, a stage solves
//!
//! ```text
//! R(u) = M u - h f(t, q, v) - r = 0,      matrix M + h D + h c K
//! ```
//!
//! For forces with a potential U this is the stationary point of the incremental potential
//! `½ uᵀMu - rᵀu + (h/c) U(q)`, whose slope along a direction d is `R·d`: the line search works on this slope, because differences of
//! potentials lose their digits long before the residual does. The antisymmetric part of how dashpots turn with their springs is
//! left out of the matrix, which costs iterations but changes no solution.

use super::matrix::{AddProduct, StageMatrix};
use super::{NewtonOptions, Projection};
use sim_core::{Definiteness, ImplicitSystem, StepError, StepStats};
use sim_linalg::{AssemblyError, LinearSolver};

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
    rhs: Vec<f64>,
    x: Vec<f64>,
}

impl std::fmt::Debug for StageSolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StageSolver").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Residuals are compared with this many roundings of the positions and velocities that the stiff forces act on.
const ROUNDINGS: f64 = 16.0;

/// First and largest tolerance of the linear solver (Eisenstat & Walker, SIAM J. Sci. Comput. 17 (1996) 16, choice 2).
const FORCING: (f64, f64) = (1e-2, 0.1);

/// Longest multiple of a Newton step that is tried.
const LONGEST: f64 = 1e6;

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
        ] {
            buffer.resize(q.len(), 0.0);
        }
        self.u.fill(0.0);
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
            let u = if matrix.is_free(k / 3) { self.u[k] + length * self.direction[k] } else { 0.0 };
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
        self.start(system, stage, known);
        stats.force_evaluations += 1;
        std::mem::swap(&mut self.residual, &mut self.trial);
        let (mut scale, mut before, mut forcing) = (0.0_f64, f64::INFINITY, FORCING.0);
        let mut iteration = 0;
        loop {
            let (size, particle, resolved) = self.accelerations_left(tolerance * scale);
            if !size.is_finite() {
                return Err(self.diverged(stage));
            }
            scale = scale.max(size).max(self.force_scale(stage));
            stats.residual = if scale > 0.0 { size / scale } else { 0.0 };
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

    /// One Newton step: direction and line search, with exact blocks first and projected ones if that fails.
    fn iterate<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        stage: Stage,
        known: Known<'_>,
        iteration: u32,
        tolerance: f64,
        stats: &mut StepStats,
    ) -> Result<(), StepError> {
        let choices: &[Definiteness] = match self.options.projection {
            Projection::OnDemand => &[Definiteness::Exact, Definiteness::Projected],
            Projection::Always => &[Definiteness::Projected],
            Projection::Never => &[Definiteness::Exact],
        };
        let mut failure = None;
        for (attempt, &definiteness) in choices.iter().enumerate() {
            if attempt > 0 {
                // The failed attempt has moved `q` and `v`.
                self.direction.fill(0.0);
                if stage.linearized {
                    self.start(system, stage, known);
                } else {
                    self.evaluate(system, stage, known, 0.0);
                }
                stats.force_evaluations += 1;
            }
            match self.direction(system, stage, definiteness, tolerance, stats) {
                Err(error) => failure = Some(linear_error(stage.t0, iteration)(error)),
                Ok(()) if self.search(system, stage, known, stats) => return Ok(()),
                Ok(()) => {}
            }
        }
        Err(failure.unwrap_or_else(|| {
            let (size, particle, _) = self.accelerations_left(0.0);
            let scale = self.force_scale(stage).max(size);
            self.not_converged(stage, iteration + 1, size / scale, particle)
        }))
    }

    /// Sets the matrix at `(t, q, v)`. Another model with the same free particles emits other blocks than were recorded: its pattern
    /// is then recorded like the first one's.
    fn fill<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        factors: (f64, f64),
        at: (f64, &[f64], &[f64]),
        definiteness: Definiteness,
    ) -> Result<(), BoxedError> {
        match self.parts().0.fill(system, factors, at, definiteness) {
            Err(AssemblyError::SequenceChanged { .. } | AssemblyError::CountChanged { .. }) => {
                self.record(system, at)?;
                Ok(self.parts().0.fill(system, factors, at, definiteness)?)
            }
            result => Ok(result?),
        }
    }

    /// Newton's direction at the present `q`, `v`.
    fn direction<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        stage: Stage,
        definiteness: Definiteness,
        tolerance: f64,
        stats: &mut StepStats,
    ) -> Result<(), BoxedError> {
        let h = stage.force_factor;
        let (q, v) = (std::mem::take(&mut self.q), std::mem::take(&mut self.v));
        let filled = self.fill(system, (h, h * stage.position_factor), (stage.t, &q, &v), definiteness);
        (self.q, self.v) = (q, v);
        filled?;
        let (matrix, solver) = self.linear.as_mut().expect(RECORDED);
        let (q, v, c) = (&self.q, &self.v, stage.position_factor);
        for (i, floor) in self.floor.iter_mut().enumerate() {
            let Some(row) = matrix.assembler.unknown_of(i) else { continue };
            let norm = matrix.matrix.diagonal()[row].iter().map(|x| x * x).sum::<f64>().sqrt();
            let largest = |x: &[f64]| x[3 * i..3 * i + 3].iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            let position = if c > 0.0 { largest(q) / c } else { 0.0 };
            *floor = ROUNDINGS * f64::EPSILON * norm * (position + largest(v));
        }
        matrix.assembler.gather(&self.residual, &mut self.rhs);
        for r in &mut self.rhs {
            *r = -*r;
        }
        self.x.fill(0.0);
        solver.factor(&matrix.matrix)?;
        let report = solver.solve(&matrix.matrix, &self.rhs, &mut self.x, tolerance)?;
        stats.linear_iterations += report.iterations as u32;
        self.direction.fill(0.0);
        matrix.assembler.scatter(&self.x, &mut self.direction);
        Ok(())
    }

    /// Moves along the direction until the slope of the incremental potential has fallen, or the residual has; false when
    /// neither does.
    fn search<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        stage: Stage,
        known: Known<'_>,
        stats: &mut StepStats,
    ) -> bool {
        let slope = dot(&self.residual, &self.direction);
        let size = weighted_norm(&self.residual, &self.mass);
        let mut length = 1.0;
        for _ in 0..=self.options.max_cuts {
            let (new_slope, new_size) = self.probe(system, stage, known, length, stats);
            // Past the minimum along the line the slope is positive; while it is at most half of what it was, the overshoot is
            // smaller than the way made.
            let fallen = new_slope <= 0.5 * slope.abs() || new_size <= (1.0 - 1e-4 * length) * size;
            if new_size.is_finite() && (fallen || stage.linearized || self.within_rounding()) {
                if length == 1.0 && !stage.linearized {
                    length = self.lengthen(system, stage, known, (slope, new_slope), stats);
                }
                for (u, d) in self.u.iter_mut().zip(&self.direction) {
                    *u += length * d;
                }
                std::mem::swap(&mut self.residual, &mut self.trial);
                return true;
            }
            // The zero of the secant through both slopes, kept between a tenth and a half.
            let secant = if new_slope.is_finite() { slope / (slope - new_slope) } else { 0.1 };
            length *= secant.clamp(0.1, 0.5);
        }
        false
    }

    /// After a full step that goes downhill as steeply as it began (a buckling mode, whose negative curvature the projection has
    /// removed): longer steps while they go on downhill. Leaves the evaluation at the length returned.
    fn lengthen<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        stage: Stage,
        known: Known<'_>,
        (slope, mut at_best): (f64, f64),
        stats: &mut StepStats,
    ) -> f64 {
        let mut best = 1.0;
        while at_best < 0.7 * slope && best < LONGEST {
            let (next_slope, next_size) = self.probe(system, stage, known, 3.0 * best, stats);
            if !(next_size.is_finite() && next_slope <= 0.5 * slope.abs()) {
                self.probe(system, stage, known, best, stats);
                break;
            }
            best *= 3.0;
            at_best = next_slope;
        }
        best
    }

    /// Evaluates at a length along the direction: slope and size of the residual there.
    fn probe<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        stage: Stage,
        known: Known<'_>,
        length: f64,
        stats: &mut StepStats,
    ) -> (f64, f64) {
        self.evaluate(system, stage, known, length);
        stats.force_evaluations += 1;
        (dot(&self.trial, &self.direction), weighted_norm(&self.trial, &self.mass))
    }

    /// Whether the trial residual is what rounding leaves, particle by particle.
    fn within_rounding(&self) -> bool {
        self.trial.chunks_exact(3).zip(&self.floor).all(|(r, floor)| norm(r) <= *floor)
    }

    /// Largest |R|/m over the particles, where it is, and whether every particle is below `allowed` or its rounding.
    fn accelerations_left(&self, allowed: f64) -> (f64, usize, bool) {
        let (mut largest, mut particle, mut resolved) = (0.0_f64, 0, true);
        for (i, ((r, &m), &floor)) in
            self.residual.chunks_exact(3).zip(&self.mass).zip(&self.floor).enumerate()
        {
            if m > 0.0 {
                let size = norm(r);
                resolved &= size <= floor + allowed * m;
                if size / m > largest || size.is_nan() {
                    largest = size / m;
                    particle = i;
                }
                if largest.is_nan() {
                    break;
                }
            }
        }
        (largest, particle, resolved)
    }

    /// Largest h|f|/m over the particles: what residuals are compared with.
    fn force_scale(&self, stage: Stage) -> f64 {
        let pairs = self.f.chunks_exact(3).zip(&self.mass).filter(|&(_, &m)| m > 0.0);
        pairs.fold(0.0, |scale: f64, (f, &m)| scale.max(stage.force_factor * norm(f) / m))
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
        self.fill(system, (0.0, 0.0), at, Definiteness::Projected).map_err(&fail)?;
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

fn norm(x: &[f64]) -> f64 {
    (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]).sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `sqrt(Σ |r|²/m)`.
fn weighted_norm(r: &[f64], mass: &[f64]) -> f64 {
    let pairs = r.chunks_exact(3).zip(mass).filter(|&(_, &m)| m > 0.0);
    pairs.map(|(r, m)| (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) / m).sum::<f64>().sqrt()
}
