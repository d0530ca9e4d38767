//! Steps that adapt to an error tolerance and land exactly on output times.

use crate::options::OptionsError;
use serde::{Deserialize, Serialize};
use sim_core::{MethodInfo, State, StepError, Stepper, System};

/// How steps adapt. Tolerances are on the error of one step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AdaptiveOptions {
    /// Allowed error relative to the largest position (or velocity) component of the model, above 0 and below 1.
    pub relative_tolerance: f64,
    /// Allowed error of positions in m on top, not negative.
    pub absolute_position: f64,
    /// Allowed error of velocities in m/s on top, not negative.
    pub absolute_velocity: f64,
    /// First step in s, positive; none: a thousandth of the way to the first output.
    pub first_dt: Option<f64>,
    /// Longest step in s, positive; infinite for none.
    pub max_dt: f64,
    /// Shortest step as a share of the way to the next output; shorter is an error. Above 0 and below 1.
    pub min_share: f64,
    /// Margin of the step that the error estimate proposes, above 0 and below 1.
    pub safety: f64,
    /// Allow symplectic methods, whose long-time energy behavior varying steps destroy.
    pub allow_symplectic: bool,
}

impl Default for AdaptiveOptions {
    fn default() -> Self {
        Self {
            relative_tolerance: 1e-6,
            absolute_position: 0.0,
            absolute_velocity: 0.0,
            first_dt: None,
            max_dt: f64::INFINITY,
            min_share: 1e-12,
            safety: 0.9,
            allow_symplectic: false,
        }
    }
}

/// What the controller remembers from step to step. Serialize it beside the state to resume with the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveMemory {
    /// Step to try next in s; none before the first.
    pub dt: Option<f64>,
    /// Scaled error of the last accepted step.
    pub last_error: Option<f64>,
}

/// What was done on the way to an output time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct AdaptiveReport {
    /// Accepted steps.
    pub accepted: u64,
    /// Steps made again because the error was too large.
    pub rejected: u64,
    /// Steps made again because the method failed.
    pub failed: u64,
    /// Force evaluations, those of rejected steps included.
    pub force_evaluations: u64,
    /// Shortest accepted step in s.
    pub shortest: f64,
    /// Longest accepted step in s.
    pub longest: f64,
}

/// Adaptive stepping that cannot go on. The state is that of the last accepted step.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdaptiveError {
    /// A symplectic method with varying steps.
    #[error(
        "{method} is symplectic: steps that vary with the state destroy its long-time energy behavior; use constant \
         steps, another method (runge_kutta4, tr_bdf2), or set allow_symplectic"
    )]
    Symplectic {
        /// Method id.
        method: &'static str,
    },
    /// An option is out of range.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// The output time is not after the state's.
    #[error("output time {t_out} s is not after the state's time {t} s")]
    Time {
        /// Time of the state in s.
        t: f64,
        /// Time asked for in s.
        t_out: f64,
    },
    /// The step fell below the limit without reaching the tolerance.
    #[error("at t = {t} s the tolerance asks for steps below {dt:.3e} s")]
    TooShort {
        /// Time in s.
        t: f64,
        /// Step in s.
        dt: f64,
    },
    /// The method fails however short the step.
    #[error("at t = {t} s the method fails even with dt = {dt:.3e} s")]
    Step {
        /// Time in s.
        t: f64,
        /// Step in s.
        dt: f64,
        /// Why.
        #[source]
        source: StepError,
    },
}

/// Bounds on the change of the step from one to the next.
const CHANGE: (f64, f64) = (0.2, 5.0);
/// Cut after a failed step.
const FAILURE_CUT: f64 = 0.25;
/// Exponents of the present and the previous error, over the order plus one (Gustafsson, ACM TOMS 17 (1991) 533).
const EXPONENTS: (f64, f64) = (0.7, 0.4);

/// Drives a stepper with steps of varying size: each is made once whole and once in two halves, and the difference tells the error
/// (Hairer, Nørsett & Wanner, Solving ODEs I (1993), ch. II.4). The halves are kept.
///
/// # Limitations
/// Three times the work of a plain step, for any method at all. The estimate is of the local error: the error of a long run grows
/// with its length.
#[derive(Debug)]
pub struct Adaptive<T> {
    stepper: T,
    options: AdaptiveOptions,
    /// The controller's memory.
    pub memory: AdaptiveMemory,
    whole: State,
    halves: State,
}

impl<T> Adaptive<T> {
    /// Wraps a stepper. `method` is what it claims.
    ///
    /// # Errors
    /// [`AdaptiveError::Symplectic`] unless allowed, [`AdaptiveError::Options`].
    pub fn new(stepper: T, method: &MethodInfo, options: AdaptiveOptions) -> Result<Self, AdaptiveError> {
        if method.symplectic && !options.allow_symplectic {
            return Err(AdaptiveError::Symplectic { method: method.id });
        }
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let share = |x: f64| x > 0.0 && x < 1.0;
        let not_negative = |x: f64| x.is_finite() && x >= 0.0;
        let first = options.first_dt.unwrap_or(1.0);
        for (field, value, good, requirement) in [
            (
                "relative_tolerance",
                options.relative_tolerance,
                share(options.relative_tolerance),
                "above 0 and below 1",
            ),
            (
                "absolute_position",
                options.absolute_position,
                not_negative(options.absolute_position),
                "finite and not negative (m)",
            ),
            (
                "absolute_velocity",
                options.absolute_velocity,
                not_negative(options.absolute_velocity),
                "finite and not negative (m/s)",
            ),
            ("first_dt", first, positive(first), "positive and finite (s)"),
            ("max_dt", options.max_dt, options.max_dt > 0.0, "positive (s)"),
            ("min_share", options.min_share, share(options.min_share), "above 0 and below 1"),
            ("safety", options.safety, share(options.safety), "above 0 and below 1"),
        ] {
            if !good {
                return Err(OptionsError::Value { method: "adaptive", field, value, requirement }.into());
            }
        }
        Ok(Self {
            stepper,
            options,
            memory: AdaptiveMemory::default(),
            whole: State::default(),
            halves: State::default(),
        })
    }

    /// Steps `state` to exactly `t_out`.
    ///
    /// # Errors
    /// [`AdaptiveError`]; `state` is then that of the last accepted step.
    pub fn advance_to<S>(
        &mut self,
        system: &S,
        state: &mut State,
        t_out: f64,
    ) -> Result<AdaptiveReport, AdaptiveError>
    where
        S: System + ?Sized,
        T: Stepper<S>,
    {
        if !(t_out.is_finite() && t_out > state.t) {
            return Err(AdaptiveError::Time { t: state.t, t_out });
        }
        let method = self.stepper.method();
        let order = if system.dependence().velocity { method.order_velocity_dependent } else { method.order };
        let shortest_allowed = self.options.min_share * (t_out - state.t);
        let mut report = AdaptiveReport { shortest: f64::INFINITY, ..AdaptiveReport::default() };
        let mut dt = self.memory.dt.or(self.options.first_dt).unwrap_or(1e-3 * (t_out - state.t));
        let mut after_rejection = false;
        while state.t < t_out {
            let left = t_out - state.t;
            dt = dt.min(self.options.max_dt);
            // The last two steps share what is left, so that none is needlessly short.
            let last = dt >= left * (1.0 - 1e-9);
            let step = if last {
                left
            } else if 2.0 * dt > left {
                0.5 * left
            } else {
                dt
            };
            if step < shortest_allowed && !last {
                return Err(AdaptiveError::TooShort { t: state.t, dt: step });
            }
            let error = match self.attempt(system, state, step, order, &mut report) {
                Ok(error) => error,
                Err(source) => {
                    let hopeless = matches!(
                        source,
                        StepError::State(_) | StepError::StepSize { .. } | StepError::Unsupported { .. }
                    );
                    report.failed += 1;
                    dt = FAILURE_CUT * step;
                    if hopeless || dt < shortest_allowed {
                        return Err(AdaptiveError::Step { t: state.t, dt: step, source });
                    }
                    after_rejection = true;
                    continue;
                }
            };
            let power = 1.0 / f64::from(order + 1);
            let (now, before) = (error.max(1e-10), self.memory.last_error.unwrap_or(1.0).max(1e-10));
            if error <= 1.0 {
                let mut factor =
                    self.options.safety * now.powf(-EXPONENTS.0 * power) * before.powf(EXPONENTS.1 * power);
                factor = factor.clamp(CHANGE.0, if after_rejection { 1.0 } else { CHANGE.1 });
                std::mem::swap(state, &mut self.halves);
                if last {
                    state.t = t_out;
                }
                report.accepted += 1;
                report.shortest = report.shortest.min(step);
                report.longest = report.longest.max(step);
                // A step cut short by the output time says nothing against the longer one.
                dt = if last { dt.max(factor * step) } else { factor * step };
                self.memory = AdaptiveMemory { dt: Some(dt), last_error: Some(error) };
                after_rejection = false;
            } else {
                report.rejected += 1;
                dt = step * (self.options.safety * now.powf(-power)).clamp(CHANGE.0, 0.9);
                if dt < shortest_allowed {
                    return Err(AdaptiveError::TooShort { t: state.t, dt });
                }
                after_rejection = true;
            }
        }
        Ok(report)
    }

    /// Makes the step both ways; returns the error of the halves over the tolerance.
    fn attempt<S>(
        &mut self,
        system: &S,
        state: &State,
        dt: f64,
        order: u32,
        report: &mut AdaptiveReport,
    ) -> Result<f64, StepError>
    where
        S: System + ?Sized,
        T: Stepper<S>,
    {
        self.whole.clone_from(state);
        self.halves.clone_from(state);
        let mut evaluations = 0;
        evaluations += self.stepper.step(system, &mut self.whole, dt)?.force_evaluations;
        for _ in 0..2 {
            evaluations += self.stepper.step(system, &mut self.halves, 0.5 * dt)?.force_evaluations;
        }
        report.force_evaluations += u64::from(evaluations);
        let largest = |x: &[f64]| x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let richardson = 2.0_f64.powf(order.into()) - 1.0;
        let scaled = |a: &[f64], b: &[f64], start: &[f64], absolute: f64| {
            let allowed = absolute + self.options.relative_tolerance * largest(b).max(largest(start));
            let error = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / richardson;
            if error == 0.0 { 0.0 } else { error / allowed }
        };
        let position = scaled(&self.whole.q, &self.halves.q, &state.q, self.options.absolute_position);
        let velocity = scaled(&self.whole.v, &self.halves.v, &state.v, self.options.absolute_velocity);
        Ok(position.max(velocity))
    }
}
