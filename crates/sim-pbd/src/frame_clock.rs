//! From frames of any length to steps of one length.

use crate::constraint::ValueError;
use serde::{Deserialize, Serialize};

/// How frames become steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameClockOptions {
    /// Length of every step in s, positive: the result does not depend on the frame rate.
    pub dt: f64,
    /// Most steps made for one frame, at least 1: a late frame costs no more.
    pub max_steps: u32,
}

impl Default for FrameClockOptions {
    fn default() -> Self {
        Self { dt: 1.0 / 240.0, max_steps: 8 }
    }
}

/// Steps due for a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DueSteps {
    /// Steps of length `dt` to make now.
    pub steps: u32,
    /// Time in s that was asked for and will never be simulated.
    pub dropped: f64,
    /// Time in s carried over to the next frame, less than `dt`.
    pub carried: f64,
}

/// Turns frame times into equal steps, with a bound on the work of one frame.
///
/// # Limitations
/// What is shown lags the clock by less than one step. Dropped time slows the simulation down instead of making steps
/// longer: a longer step would change stiffness and damping and could blow up.
#[derive(Clone, Debug)]
pub struct FrameClock {
    options: FrameClockOptions,
    carried: f64,
    dropped: f64,
}

impl FrameClock {
    /// Starts with nothing due.
    ///
    /// # Errors
    /// [`ValueError`] naming the option.
    pub fn new(options: FrameClockOptions) -> Result<Self, ValueError> {
        ValueError::positive("dt", options.dt)?;
        ValueError::positive("max_steps", f64::from(options.max_steps))?;
        Ok(Self { options, carried: 0.0, dropped: 0.0 })
    }

    /// Steps due after a frame of `frame` seconds.
    ///
    /// # Errors
    /// [`ValueError`] when `frame` is negative or not finite; nothing changes then.
    pub fn advance(&mut self, frame: f64) -> Result<DueSteps, ValueError> {
        ValueError::not_negative("frame", frame)?;
        let dt = self.options.dt;
        let available = self.carried + frame;
        // A frame that is a whole number of steps up to rounding shall make that number.
        let whole = (available / dt + 1e-9).floor();
        let steps = whole.min(f64::from(self.options.max_steps));
        let mut rest = (available - steps * dt).max(0.0);
        let mut dropped = 0.0;
        if whole > steps {
            dropped = (whole - steps) * dt;
            rest = (available - whole * dt).max(0.0);
        }
        self.carried = rest;
        self.dropped += dropped;
        Ok(DueSteps { steps: steps as u32, dropped, carried: rest })
    }

    /// All time in s dropped so far.
    pub fn dropped(&self) -> f64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_frame_is_bounded_and_says_what_it_dropped() {
        let mut clock = FrameClock::new(FrameClockOptions::default()).unwrap();
        let due = clock.advance(30.0).unwrap();
        assert_eq!(due.steps, 8);
        assert!((due.dropped - (30.0 - 8.0 / 240.0)).abs() < 1e-9, "{due:?}");
        assert_eq!(clock.advance(1.0 / 60.0).unwrap().steps, 4);
        assert!((clock.dropped() - (30.0 - 8.0 / 240.0)).abs() < 1e-9);
    }

    #[test]
    fn any_frame_rate_makes_the_same_number_of_steps() {
        for rate in [30_u32, 60, 144, 1000] {
            let mut clock = FrameClock::new(FrameClockOptions::default()).unwrap();
            let steps: u32 =
                (0..10 * rate).map(|_| clock.advance(1.0 / f64::from(rate)).unwrap().steps).sum();
            assert!(steps == 2400 || steps == 2399, "{rate} Hz: {steps}");
            assert_eq!(clock.dropped(), 0.0);
        }
    }

    #[test]
    fn impossible_frames_are_refused() {
        assert!(FrameClock::new(FrameClockOptions { dt: 0.0, max_steps: 1 }).is_err());
        let mut clock = FrameClock::new(FrameClockOptions::default()).unwrap();
        assert!(clock.advance(f64::NAN).is_err() && clock.advance(-1.0).is_err());
    }
}
