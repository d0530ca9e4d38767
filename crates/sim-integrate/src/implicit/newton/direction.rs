//! Newton's direction: the matrix, as indefinite as the solver can bear, and the linear solve.

use super::super::Projection;
use super::{BoxedError, Known, Point, RECORDED, Stage, StageSolver, linear_error};
use sim_core::{Definiteness, ImplicitSystem, StepError, StepStats};
use sim_linalg::AssemblyError;

/// Shares of the projected matrix that are tried in turn. Where parts are compressed the exact matrix is indefinite away from the
/// solution, but seldom by as much as the projection removes; the less is removed, the fewer iterations buckling takes.
const SHARES: [f64; 4] = [0.0, 1.0 / 16.0, 0.25, 1.0];

/// Which of [`SHARES`] the next matrix begins with, and the last one it may try.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mixture {
    first: usize,
    last: usize,
}

impl Mixture {
    pub fn new(projection: Projection) -> Self {
        let most = SHARES.len() - 1;
        match projection {
            Projection::OnDemand => Self { first: 0, last: most },
            Projection::Always => Self { first: most, last: most },
            Projection::Never => Self { first: 0, last: 0 },
        }
    }
}

/// Residuals are compared with this many roundings of the positions and velocities that the stiff forces act on.
const ROUNDINGS: f64 = 4.0;
/// The same for residuals that have stopped shrinking, of the largest positions and velocities anywhere.
const STALLED_ROUNDINGS: f64 = 128.0;

impl StageSolver {
    /// One Newton step: direction and search, with more and more of the projected matrix until both succeed.
    pub(super) fn iterate<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        stage: Stage,
        known: Known<'_>,
        iteration: u32,
        tolerance: f64,
        stats: &mut StepStats,
    ) -> Result<(), StepError> {
        self.watch(system, stage, known, stats);
        self.q_here.copy_from_slice(&self.q);
        self.v_here.copy_from_slice(&self.v);
        let Mixture { first, last } = self.mixture;
        let mut failure = None;
        for choice in first..=last {
            let filled = self.fill_share(system, stage, choice, choice == first);
            let result = filled.and_then(|()| self.direction(stage, tolerance, stats));
            match result {
                Err(error) => failure = Some(linear_error(stage.t0, iteration)(error)),
                Ok(()) if self.advance(system, stage, known, stats) => {
                    // The next matrix is tried with less.
                    self.mixture.first = if first == last { first } else { choice.saturating_sub(1) };
                    self.before.copy_from_slice(&self.q_here);
                    return Ok(());
                }
                Ok(()) => failure = None,
            }
        }
        Err(failure.unwrap_or_else(|| {
            let (size, particle, _) = self.accelerations_left(0.0, false);
            let scale = self.scale(stage, known).max(size);
            self.not_converged(stage, iteration + 1, size / scale, particle)
        }))
    }

    /// Sets the matrix at the present iterate with share `choice` of the projected one.
    fn fill_share<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        stage: Stage,
        choice: usize,
        is_first: bool,
    ) -> Result<(), BoxedError> {
        let factors = (stage.force_factor, stage.force_factor * stage.position_factor);
        let (q, v, before) = (
            std::mem::take(&mut self.q_here),
            std::mem::take(&mut self.v_here),
            std::mem::take(&mut self.before),
        );
        let at = Point { t: stage.t, q: &q, v: &v, before: (!stage.linearized).then_some(&before[..]) };
        let filled = self.fill_mixture(system, factors, at, choice, is_first);
        (self.q_here, self.v_here, self.before) = (q, v, before);
        filled
    }

    fn fill_mixture<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        factors: (f64, f64),
        at: Point<'_>,
        choice: usize,
        is_first: bool,
    ) -> Result<(), BoxedError> {
        let only_projected = self.mixture.first == SHARES.len() - 1 && is_first;
        if only_projected {
            return self.fill(system, factors, at, Definiteness::Reduced);
        }
        if is_first {
            self.fill(system, factors, at, Definiteness::Exact)?;
            if choice == 0 {
                return Ok(());
            }
        }
        let matrix = &mut self.linear.as_mut().expect(RECORDED).0;
        if is_first || choice == 1 {
            matrix.project(system, factors, at)?;
        }
        matrix.blend(SHARES[choice]);
        Ok(())
    }

    /// Sets the matrix. Another model with the same free particles emits other blocks than were recorded: its pattern is then
    /// recorded like the first one's.
    pub(super) fn fill<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        factors: (f64, f64),
        at: Point<'_>,
        definiteness: Definiteness,
    ) -> Result<(), BoxedError> {
        match self.parts().0.fill(system, factors, at, definiteness) {
            Err(AssemblyError::SequenceChanged { .. } | AssemblyError::CountChanged { .. }) => {
                self.record(system, (at.t, at.q, at.v))?;
                Ok(self.parts().0.fill(system, factors, at, definiteness)?)
            }
            result => Ok(result?),
        }
    }

    /// Solves for the direction, and notes what rounding may leave of the residual.
    fn direction(&mut self, stage: Stage, tolerance: f64, stats: &mut StepStats) -> Result<(), BoxedError> {
        let (matrix, solver) = self.linear.as_mut().expect(RECORDED);
        let (q, v, c) = (&self.q_here, &self.v_here, stage.position_factor);
        let largest = |x: &[f64]| x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let size = |q: &[f64], v: &[f64]| if c > 0.0 { largest(q) / c + largest(v) } else { largest(v) };
        // Forces see neighbors, and a base far away that the change brings back has lost its digits: the largest of all.
        let all = size(q, v) + largest(&self.u);
        for (i, (floor, wide)) in self.floor.iter_mut().zip(&mut self.wide_floor).enumerate() {
            let Some(row) = matrix.assembler.unknown_of(i) else { continue };
            let norm = matrix.matrix.diagonal()[row].iter().map(|x| x * x).sum::<f64>().sqrt();
            let own = 3 * i..3 * i + 3;
            *floor = ROUNDINGS * f64::EPSILON * norm * size(&q[own.clone()], &v[own]);
            *wide = STALLED_ROUNDINGS * f64::EPSILON * norm * all;
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
}
