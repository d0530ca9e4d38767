//! How far to go along a direction: freely while that leads somewhere, else downhill.

use super::{Known, Stage, StageSolver, dot, weighted_norm};
use sim_core::{ImplicitSystem, StepStats};

/// Longest multiple of a Newton step that is tried.
const LONGEST: f64 = 1e6;

/// Iterations without a new best residual after which the watchdog returns to the best iterate.
const PATIENCE: u32 = 8;

/// A free step may leave a residual so many times the best one; a stiff part that turns has one like this for an iteration or two.
const GROWTH: f64 = 100.0;

/// Remembers the best iterate while steps are free.
///
/// Source: R. M. Chamberlain, M. J. D. Powell, C. Lemarechal, H. C. Pedersen, "The watchdog technique for forcing convergence in
/// algorithms for constrained optimization", Math. Programming Study 16 (1982) 1-17.
#[derive(Debug, Default)]
pub(super) struct Watchdog {
    best: Vec<f64>,
    size: f64,
    /// Length of the shortest free step.
    shortest: f64,
    /// Iterations since the best one.
    waited: u32,
    /// So many of the next steps are made downhill.
    strict: u32,
    /// How often free steps have led nowhere: every time, twice as many steps are made downhill.
    returns: u32,
    /// Whether an iterate with stresses of its own has been seen; the guess has none.
    begun: bool,
}

impl Watchdog {
    pub fn begin(&mut self) {
        (self.size, self.waited, self.begun) = (f64::INFINITY, 0, false);
        (self.strict, self.returns, self.shortest) = (0, 0, f64::INFINITY);
    }
}

impl StageSolver {
    /// Before a direction is taken: notes the best iterate, or returns to it.
    pub(super) fn watch<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        stage: Stage,
        known: Known<'_>,
        stats: &mut StepStats,
    ) {
        if stage.linearized {
            return;
        }
        let size = weighted_norm(&self.residual, &self.mass);
        if self.watchdog.strict > 0 || size < self.watchdog.size {
            self.watchdog.size = size;
            self.watchdog.waited = 0;
            self.watchdog.strict = self.watchdog.strict.saturating_sub(1);
            self.watchdog.best.clone_from(&self.u);
            return;
        }
        // Steps that get shorter converge, whatever the residual of stiff springs says.
        let step = weighted_norm(&self.direction, &self.mass);
        if step < 0.9 * self.watchdog.shortest {
            self.watchdog.shortest = step;
            self.watchdog.waited = 0;
            return;
        }
        self.watchdog.waited += 1;
        if self.watchdog.waited == PATIENCE {
            self.watchdog.strict = 1 << self.watchdog.returns.min(8);
            self.watchdog.returns += 1;
            self.watchdog.shortest = f64::INFINITY;
            self.u.copy_from_slice(&self.watchdog.best);
            self.evaluate(system, stage, known, 0.0);
            stats.force_evaluations += 1;
            std::mem::swap(&mut self.residual, &mut self.trial);
            self.before.copy_from_slice(&self.q);
        }
    }

    /// Moves along the direction; false when no step along it is acceptable, `u` being untouched then.
    pub(super) fn advance<S: ImplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        stage: Stage,
        known: Known<'_>,
        stats: &mut StepStats,
    ) -> bool {
        let free = self.watchdog.strict == 0 || stage.linearized;
        if free {
            let (_, size) = self.probe(system, stage, known, 1.0, stats);
            let limit = if self.watchdog.begun { GROWTH * self.watchdog.size } else { f64::MAX };
            if size <= limit || (stage.linearized && size.is_finite()) {
                self.take(1.0);
                self.forget_guess();
                return true;
            }
        }
        self.search(system, stage, known, stats)
    }

    /// The residual of the guess says little: inertia stretches nothing that it does not turn.
    fn forget_guess(&mut self) {
        if !self.watchdog.begun {
            self.watchdog.begun = true;
            self.watchdog.size = f64::INFINITY;
        }
    }

    fn take(&mut self, length: f64) {
        for (u, d) in self.u.iter_mut().zip(&self.direction) {
            *u += length * d;
        }
        std::mem::swap(&mut self.residual, &mut self.trial);
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
            if new_size.is_finite() && (fallen || self.within_rounding()) {
                if length == 1.0 {
                    length = self.lengthen(system, stage, known, (slope, new_slope), stats);
                }
                self.take(length);
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
}
