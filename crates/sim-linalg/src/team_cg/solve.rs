//! The iteration.

use crate::block_factor::{DiagonalSolve, backward, forward};
use crate::cg::{
    CgError, CgReport, FlatDirection, Flatness, MAX_RESTARTS, check_inputs, check_preconditioned,
};
use crate::lanes::{Lane64, Lanes, vectorized};
use crate::team_cg::{Combination, Smoother, TeamCg};
use crate::team_kernel::{Partials, Shared, Worker, run};

/// What the caller asks of a solve.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub(crate) tolerance: f64,
    pub(crate) max_iterations: usize,
    pub(crate) record_history: bool,
    /// Iterations that another way to the solution costs: with more than these left the solve ends as [`CgError::TooSlow`].
    pub(crate) worth: Option<usize>,
}

/// Iteration of the first mark from which progress is measured; the next ones are at twice as many each.
const FIRST_MARK: usize = 3;

/// Watches the rate of convergence from mark to mark.
///
/// It sees the residual only, so that what it says is the same on any machine and for any number of threads.
#[derive(Debug, Clone, Copy)]
struct Pace {
    next: usize,
    before: f64,
}

impl Pace {
    fn new() -> Self {
        Self { next: FIRST_MARK, before: f64::NAN }
    }

    /// Iterations left at the rate between the last two marks, if `iteration` is one.
    fn remaining(&mut self, iteration: usize, relative: f64, tolerance: f64) -> Option<f64> {
        if iteration != self.next {
            return None;
        }
        let (before, half) = (std::mem::replace(&mut self.before, relative), (self.next / 2) as f64);
        self.next *= 2;
        if before.is_nan() {
            return None;
        }
        let gained = (before / relative).ln() / half;
        Some(if gained > 0.0 { (relative / tolerance).ln() / gained } else { f64::INFINITY })
    }
}

impl TeamCg {
    /// Solves A x = b in the caller's numbering; `x` holds the guess and receives the solution.
    pub(crate) fn solve(&mut self, rhs: &[f64], x: &mut [f64], target: Target) -> Result<CgReport, CgError> {
        let rhs_norm = crate::reduce::norm(rhs);
        check_inputs(rhs, rhs_norm, x)?;
        let order = &self.matrix.chunked.order;
        for (vector, source) in [(&mut self.vectors.b, rhs), (&mut self.vectors.x, &*x)] {
            for (lane, &old) in vector.get_mut().iter_mut().zip(order) {
                let s = &source[3 * old as usize..3 * old as usize + 3];
                *lane = [s[0], s[1], s[2], 0.0];
            }
        }
        let cold = x.iter().all(|&v| v == 0.0);
        let this = &*self;
        let result = run(self.threads, |worker| this.iterate(worker, rhs_norm, cold, target));
        for (lane, &old) in self.vectors.x.get_mut().iter().zip(&self.matrix.chunked.order) {
            x[3 * old as usize..3 * old as usize + 3].copy_from_slice(&lane[..3]);
        }
        result
    }

    /// z = M⁻¹ r in the caller's numbering, by the calling thread.
    pub(crate) fn apply_preconditioner(&self, rhs: &[f64], z: &mut [f64]) {
        let order = &self.matrix.chunked.order;
        let n = 3 * order.len();
        assert_eq!((rhs.len(), z.len()), (n, n), "slices of {} and {} for {n} unknowns", rhs.len(), z.len());
        let norm = crate::reduce::norm(rhs);
        if norm == 0.0 || !norm.is_finite() {
            z.copy_from_slice(rhs);
            return;
        }
        let _one_at_a_time = self.applying.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for (lane, &old) in self.vectors.r.write(0..self.matrix.parts()).iter_mut().zip(order) {
            let s = &rhs[3 * old as usize..3 * old as usize + 3];
            *lane = [s[0], s[1], s[2], 0.0];
        }
        run(1, |worker| {
            self.begin_preconditioning(worker, norm);
            self.precondition(worker, norm);
            self.advance_direction(worker, norm, 0.0, 0.0);
        });
        for (lane, &old) in self.vectors.p.read_all().iter().zip(order) {
            z[3 * old as usize..3 * old as usize + 3].copy_from_slice(&lane[..3]);
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match (&self.smoother, self.coarse().map(|_| self.combination)) {
            (Smoother::BlockJacobi(_), None) => "block_jacobi",
            (Smoother::BlockJacobi(_), Some(_)) => "block_jacobi_two_level",
            (Smoother::Incomplete(_), None) => "block_incomplete_cholesky",
            (Smoother::Incomplete(_), Some(Combination::Deflated)) => "two_level",
            (Smoother::Incomplete(_), Some(Combination::Additive)) => "two_level_additive",
        }
    }

    fn iterate(
        &self,
        worker: Worker<'_>,
        rhs_norm: f64,
        cold: bool,
        target: Target,
    ) -> Result<CgReport, CgError> {
        let mut report = self.blank_report(!cold);
        let mut norm_r = if cold { self.start_from_zero(worker) } else { self.true_residual(worker) };
        if norm_r >= rhs_norm || norm_r.is_nan() {
            report.warm_start = false;
            norm_r = self.start_from_zero(worker);
        }
        let mut restart_relative = f64::INFINITY;
        let mut pace = Pace::new();
        let mut relative = norm_r / rhs_norm;
        if target.record_history {
            report.history.push(relative);
        }
        'restart: loop {
            if relative <= target.tolerance {
                report.relative_residual = relative;
                return Ok(report);
            }
            if self.coarse().is_some() && self.combination == Combination::Deflated {
                norm_r = self.deflated_start(worker);
                if !norm_r.is_finite() {
                    return Err(FlatDirection::NotFinite.into_error(report.iterations, relative, f64::NAN));
                }
            }
            self.begin_preconditioning(worker, norm_r);
            // The residual norm that y is scaled by: one step behind.
            let mut y_norm = norm_r;
            let (mut previous_rz, mut shortest_step) = (None, f64::INFINITY);
            // The step along p that x has not made yet.
            let mut step = 0.0;
            loop {
                let rz = self.precondition(worker, y_norm);
                check_preconditioned(rz, report.iterations, relative)?;
                if report.iterations == target.max_iterations {
                    self.settle(worker, step);
                    let (iteration, tolerance) = (report.iterations, target.tolerance);
                    let relative_residual = self.true_residual(worker) / rhs_norm;
                    return Err(CgError::NotConverged { iteration, relative_residual, tolerance });
                }
                let beta = previous_rz.map_or(0.0, |previous| rz / previous);
                self.advance_direction(worker, y_norm, beta, step);
                previous_rz = Some(rz);
                let curvature =
                    self.product(worker, &self.vectors.p, &self.vectors.q, &self.partials.curvature);
                let scale = || self.direction_scale();
                if let Some(kind) = (Flatness { curvature, rz, shortest_step, scale }).judge() {
                    let relative_residual = self.true_residual(worker) / rhs_norm;
                    return Err(kind.into_error(report.iterations, relative_residual, curvature));
                }
                step = rz / curvature;
                shortest_step = shortest_step.min(step);
                let next_norm = self.advance_residual(worker, step, norm_r);
                report.iterations += 1;
                let next_relative = next_norm / rhs_norm;
                if !next_relative.is_finite() {
                    return Err(FlatDirection::NotFinite.into_error(report.iterations, relative, curvature));
                }
                (y_norm, norm_r, relative) = (norm_r, next_norm, next_relative);
                if target.record_history {
                    report.history.push(relative);
                }
                if let (Some(worth), Some(remaining)) =
                    (target.worth, pace.remaining(report.iterations, relative, target.tolerance))
                    && remaining > worth as f64
                {
                    self.settle(worker, step);
                    let iteration = report.iterations;
                    return Err(CgError::TooSlow {
                        iteration,
                        relative_residual: relative,
                        remaining,
                        worth,
                    });
                }
                if relative <= target.tolerance {
                    self.settle(worker, step);
                    let recurrence_residual = relative;
                    norm_r = self.true_residual(worker);
                    relative = norm_r / rhs_norm;
                    if relative > target.tolerance {
                        report.restarts += 1;
                        if report.restarts > MAX_RESTARTS || relative > 0.5 * restart_relative {
                            let (iteration, relative_residual) = (report.iterations, relative);
                            let tolerance = target.tolerance;
                            return Err(CgError::Stagnated {
                                iteration,
                                relative_residual,
                                recurrence_residual,
                                tolerance,
                            });
                        }
                        restart_relative = relative;
                    }
                    continue 'restart;
                }
            }
        }
    }

    fn blank_report(&self, warm_start: bool) -> CgReport {
        CgReport {
            iterations: 0,
            relative_residual: 1.0,
            restarts: 0,
            warm_start,
            preconditioner: self.name(),
            shift: self.shift,
            history: Vec::new(),
        }
    }

    /// y = A x without the halos, which the next phase adds; returns x · A x.
    fn product<T: Lanes>(
        &self,
        worker: Worker<'_>,
        x: &Shared<T>,
        y: &Shared<Lane64>,
        dots: &Partials,
    ) -> f64 {
        let input = x.read_all();
        for part in self.parts_of(worker) {
            self.matrix.product_part(&input, &mut y.write(part..part + 1), part, dots);
        }
        drop(input);
        worker.barrier();
        dots.sum()
    }

    /// ‖p‖ ‖A p‖, by every thread for itself.
    fn direction_scale(&self) -> f64 {
        let norm = |v: &Shared<Lane64>| crate::reduce::norm(v.read_all().as_flattened());
        norm(&self.vectors.p) * norm(&self.vectors.q)
    }

    /// x = 0, r = b; returns ‖r‖.
    fn start_from_zero(&self, worker: Worker<'_>) -> f64 {
        for part in self.parts_of(worker) {
            let b = self.vectors.b.read(part..part + 1);
            let mut r = self.vectors.r.write(part..part + 1);
            r.copy_from_slice(&b);
            self.vectors.x.write(part..part + 1).fill([0.0; 4]);
            self.partials.residual.set(part, crate::reduce::dot(r.as_flattened(), r.as_flattened()));
        }
        worker.barrier();
        self.partials.residual.sum().sqrt()
    }

    /// r = b − A x; returns ‖r‖.
    fn true_residual(&self, worker: Worker<'_>) -> f64 {
        worker.barrier();
        self.product(worker, &self.vectors.x, &self.vectors.q, &self.partials.discarded);
        for part in self.parts_of(worker) {
            let mut q = self.vectors.q.write(part..part + 1);
            self.matrix.add_halos(&mut q, part);
            let b = self.vectors.b.read(part..part + 1);
            let mut r = self.vectors.r.write(part..part + 1);
            for ((r, b), q) in r.iter_mut().zip(b.iter()).zip(q.iter()) {
                *r = std::array::from_fn(|l| b[l] - q[l]);
            }
            self.partials.residual.set(part, crate::reduce::dot(r.as_flattened(), r.as_flattened()));
        }
        worker.barrier();
        self.partials.residual.sum().sqrt()
    }

    /// x += Q r, r −= A Q r, so that Pᵀ r = 0; returns ‖r‖.
    fn deflated_start(&self, worker: Worker<'_>) -> f64 {
        let Some(coarse) = self.coarse() else { return f64::NAN };
        worker.barrier();
        self.restrict(worker, None);
        if worker.is_first() {
            coarse.solve();
        }
        worker.barrier();
        for part in self.parts_of(worker) {
            let solution = coarse.solution.read_all();
            let mut p = self.vectors.p.write(part..part + 1);
            let mut x = self.vectors.x.write(part..part + 1);
            for ((i, p), x) in self.matrix.chunked.part(part).zip(p.iter_mut()).zip(x.iter_mut()) {
                let e = coarse.prolong(&solution, i);
                *p = [e[0], e[1], e[2], 0.0];
                for c in 0..3 {
                    x[c] += e[c];
                }
            }
        }
        worker.barrier();
        self.product(worker, &self.vectors.p, &self.vectors.q, &self.partials.discarded);
        for part in self.parts_of(worker) {
            let mut q = self.vectors.q.write(part..part + 1);
            self.matrix.add_halos(&mut q, part);
            let mut r = self.vectors.r.write(part..part + 1);
            for (r, q) in r.iter_mut().zip(q.iter()) {
                for l in 0..4 {
                    r[l] -= q[l];
                }
            }
            self.partials.residual.set(part, crate::reduce::dot(r.as_flattened(), r.as_flattened()));
        }
        worker.barrier();
        self.partials.residual.sum().sqrt()
    }

    /// y = r / `norm`, and the first half of the smoother on the interiors.
    fn begin_preconditioning(&self, worker: Worker<'_>, norm: f64) {
        for part in self.parts_of(worker) {
            {
                let r = self.vectors.r.read(part..part + 1);
                let mut y = self.vectors.y.write(part..part + 1);
                let inverse = 1.0 / norm;
                for (y, r) in y.iter_mut().zip(r.iter()) {
                    *y = r.map(|v| (v * inverse) as f32);
                }
            }
            self.forward_interior(part);
        }
        worker.barrier();
    }

    fn forward_interior(&self, part: usize) {
        if let Smoother::Incomplete(ic) = &self.smoother
            && part < self.matrix.chunked.interiors
        {
            forward(&ic.factor, &ic.pattern, &self.matrix.chunked, &self.vectors.y, part);
        }
    }

    /// The second half of the smoother on one part, and its share of r · M⁻¹ r, as (L⁻¹ r) · D⁻¹ (L⁻¹ r): a sum of
    /// squares for which r need not be read again.
    fn backward_part(&self, part: usize) {
        let y = &self.vectors.y;
        let smoothed = match &self.smoother {
            Smoother::Incomplete(ic) => {
                let (pattern, factor) = (&ic.pattern, &ic.factor);
                if part >= self.matrix.chunked.interiors {
                    forward(factor, pattern, &self.matrix.chunked, y, part);
                }
                backward(factor, pattern, &self.matrix.chunked, y, part)
            }
            Smoother::BlockJacobi(inverse) => vectorized(DiagonalSolve {
                inverse: &inverse.read(part..part + 1),
                y: &mut y.write(part..part + 1),
            }),
        };
        self.partials.smoothed.set(part, smoothed);
    }

    fn restrict(&self, worker: Worker<'_>, correction: Option<f64>) {
        let Some(coarse) = self.coarse() else { return };
        let (r, q) = (self.vectors.r.read_all(), self.vectors.q.read_all());
        for group in worker.share(coarse.groups()) {
            coarse.restrict_group(&r, correction.map(|scale| (&*q, scale)), group);
        }
        drop((r, q));
        worker.barrier();
    }

    /// Finishes y and the coarse solution; returns r · z. The residual that y was scaled by is `norm`.
    fn precondition(&self, worker: Worker<'_>, norm: f64) -> f64 {
        if self.has_separators() {
            for part in self.separators_of(worker) {
                self.backward_part(part);
            }
            worker.barrier();
        }
        for part in worker.share(self.matrix.chunked.interiors) {
            self.backward_part(part);
        }
        worker.barrier();
        let scale = norm / self.scale;
        // Both factors of each product carry the 1 / norm of y.
        let smoothed = scale * norm * self.partials.smoothed.sum();
        let Some(coarse) = self.coarse() else { return smoothed };
        let correction = (self.combination == Combination::Deflated).then(|| {
            self.product(worker, &self.vectors.y, &self.vectors.q, &self.partials.discarded);
            if self.has_separators() {
                for part in self.separators_of(worker) {
                    self.matrix.add_halos(&mut self.vectors.q.write(part..part + 1), part);
                }
                worker.barrier();
            }
            scale
        });
        self.restrict(worker, correction);
        if worker.is_first() {
            self.partials.coarse.set(0, coarse.solve());
        }
        worker.barrier();
        smoothed + self.partials.coarse.get(0)
    }

    /// x += step p, then p = z + beta p, where z is the smoothed residual plus the coarse field. The step of the iteration
    /// before waits until here, where p is read anyway.
    fn advance_direction(&self, worker: Worker<'_>, norm: f64, beta: f64, step: f64) {
        let scale = norm / self.scale;
        let coarse = self.coarse();
        let solution = coarse.map(|c| c.solution.read_all());
        for part in self.parts_of(worker) {
            let y = self.vectors.y.read(part..part + 1);
            let mut p = self.vectors.p.write(part..part + 1);
            if beta == 0.0 {
                // What an earlier solve left there, perhaps NaN, must not survive the product with zero.
                p.fill([0.0; 4]);
            }
            let mut x = self.vectors.x.write(part..part + 1);
            let rows = self.matrix.chunked.part(part);
            if let (Some(coarse), Some(solution)) = (coarse, &solution) {
                for (((i, p), x), y) in rows.zip(p.iter_mut()).zip(x.iter_mut()).zip(y.iter()) {
                    let e = coarse.prolong(solution, i);
                    for c in 0..3 {
                        x[c] += step * p[c];
                        p[c] = scale * f64::from(y[c]) + e[c] + beta * p[c];
                    }
                    p[3] = 0.0;
                }
            } else {
                for ((p, x), y) in p.iter_mut().zip(x.iter_mut()).zip(y.iter()) {
                    for c in 0..3 {
                        x[c] += step * p[c];
                        p[c] = scale * f64::from(y[c]) + beta * p[c];
                    }
                    p[3] = 0.0;
                }
            }
        }
        drop(solution);
        worker.barrier();
    }

    /// x += step p, for a step that [`TeamCg::advance_direction`] has not taken.
    fn settle(&self, worker: Worker<'_>, step: f64) {
        for part in self.parts_of(worker) {
            let p = self.vectors.p.read(part..part + 1);
            let mut x = self.vectors.x.write(part..part + 1);
            for (x, p) in x.iter_mut().zip(p.iter()) {
                for l in 0..4 {
                    x[l] += step * p[l];
                }
            }
        }
        worker.barrier();
    }

    /// r −= step q, y = r / norm and the first half of the smoother; returns the new ‖r‖.
    fn advance_residual(&self, worker: Worker<'_>, step: f64, norm: f64) -> f64 {
        let inverse = 1.0 / norm;
        for part in self.parts_of(worker) {
            {
                let mut q = self.vectors.q.write(part..part + 1);
                self.matrix.add_halos(&mut q, part);
                let mut r = self.vectors.r.write(part..part + 1);
                let mut y = self.vectors.y.write(part..part + 1);
                let mut lanes = [0.0; 4];
                for ((q, r), y) in q.iter().zip(r.iter_mut()).zip(y.iter_mut()) {
                    for l in 0..4 {
                        r[l] -= step * q[l];
                        lanes[l] += r[l] * r[l];
                        y[l] = (r[l] * inverse) as f32;
                    }
                }
                self.partials.residual.set(part, (lanes[0] + lanes[1]) + lanes[2]);
            }
            self.forward_interior(part);
        }
        worker.barrier();
        self.partials.residual.sum().sqrt()
    }
}
