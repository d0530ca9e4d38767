//! A step in one piece, or cut where Newton's method does not converge.

use crate::run::recorder::Recorder;
use serde::{Deserialize, Serialize};
use sim_core::{EnergyLedger, ImplicitSystem, ModelSystem, ParticleSystem, StageRecord, State, StepError};
use sim_integrate::BoxedStepper;

/// Times that a step may be halved.
const MOST_CUTS: u32 = 6;

/// What is left of a step, counted in its smallest pieces.
#[derive(Debug)]
pub(crate) struct Pieces {
    done: u32,
    /// The next piece is the step divided by 2 to this power.
    level: u32,
}

impl Pieces {
    /// The step as a whole.
    pub fn new() -> Self {
        Self { done: 0, level: 0 }
    }

    /// Start and length of the next piece as fractions of the step; `None` when the step is complete.
    pub fn piece(&self) -> Option<(f64, f64)> {
        let whole = f64::from(1_u32 << MOST_CUTS);
        (self.done < 1 << MOST_CUTS)
            .then(|| (f64::from(self.done) / whole, 1.0 / f64::from(1_u32 << self.level)))
    }

    /// The piece has been made: the next is twice as long where two of its length make one.
    pub fn complete(&mut self) {
        self.done += 1 << (MOST_CUTS - self.level);
        while self.level > 0 && self.done.is_multiple_of(1 << (MOST_CUTS - self.level + 1)) {
            self.level -= 1;
        }
    }

    /// Halves the next piece; false when it may not be any shorter.
    pub fn cut(&mut self) -> bool {
        let may = self.level < MOST_CUTS;
        self.level += u32::from(may);
        may
    }
}

/// Where the work of a step is written down.
pub(crate) struct Books<'a> {
    pub ledger: &'a mut EnergyLedger,
    pub recorder: &'a mut Recorder,
    pub record: &'a mut StageRecord,
    pub cuts: &'a mut Cuts,
}

/// How often steps were halved.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Cuts {
    count: u64,
    /// Time of the first in s.
    first: Option<f64>,
}

impl Cuts {
    pub fn warning(&self) -> Option<String> {
        let first = self.first?;
        let count = self.count;
        Some(format!(
            "Newton's method did not converge and steps were halved {count} times, first at t = {first} s"
        ))
    }
}

/// Makes the step of `dt` that starts at `t`, in pieces where it must be.
///
/// # Errors
/// Of the stepper, with the length in s of the piece that failed.
pub(crate) fn make_step(
    system: &ParticleSystem,
    stepper: &mut BoxedStepper,
    state: &mut State,
    (t, dt): (f64, f64),
    books: &mut Books<'_>,
) -> Result<(), (StepError, f64)> {
    let model: &dyn ModelSystem = system;
    let mut pieces = Pieces::new();
    while let Some((from, length)) = pieces.piece() {
        state.t = t + from * dt;
        let piece = length * dt;
        books.record.clear();
        match stepper.step_recorded(model, state, piece, Some(books.record)) {
            Ok(stats) => {
                books.recorder.count(&stats, piece);
                state.t = t + (from + length) * dt;
                books.ledger.book(system, |i| system.is_free(i), state, piece, books.record);
                pieces.complete();
            }
            Err(StepError::NotConverged { .. }) if pieces.cut() => {
                books.cuts.count += 1;
                books.cuts.first.get_or_insert(state.t);
            }
            Err(source) => return Err((source, piece)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_to_the_step() {
        let mut pieces = Pieces::new();
        let mut made = Vec::new();
        let mut cuts = 2;
        while let Some((start, length)) = pieces.piece() {
            assert_eq!(start, made.iter().sum::<f64>());
            if cuts > 0 {
                assert!(pieces.cut());
                cuts -= 1;
                continue;
            }
            made.push(length);
            pieces.complete();
        }
        assert_eq!(made, [0.25, 0.25, 0.5]);
        let mut pieces = Pieces::new();
        assert_eq!((0..10).filter(|_| pieces.cut()).count(), MOST_CUTS as usize);
    }
}
