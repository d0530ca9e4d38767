//! Why a run failed.

use super::result::RunResult;
use crate::checkpoint::CheckpointError;
use crate::model::StartError;
use crate::scene::error::SceneError;
use sim_core::StepError;
use sim_integrate::{StabilityError, SubstepError};

/// A run that did not reach its end. Those that had begun carry the result up to the last complete frame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The scene cannot be built.
    #[error(transparent)]
    Scene(SceneError),
    /// The start could not be reached.
    #[error(transparent)]
    Start(#[from] StartError),
    /// No thread pool of that size.
    #[error("{threads} threads: {message}")]
    Threads {
        /// Asked for.
        threads: usize,
        /// What the pool says.
        message: String,
    },
    /// More frames than anyone can want.
    #[error(
        "a run to {until:?} s has {frames:e} frames, more than the {most:e} allowed; give a longer frame"
    )]
    TooManyFrames {
        /// Time asked for in s.
        until: f64,
        /// Frames that it needs.
        frames: f64,
        /// Most allowed.
        most: f64,
    },
    /// The checkpoint to go on from is missing, damaged or of another run.
    #[error(transparent)]
    Resume(#[from] CheckpointError),
    /// A checkpoint could not be written; the one before is still there to go on from.
    #[error("{source}")]
    Checkpoint {
        /// Why.
        source: CheckpointError,
        /// What was reached.
        partial: Box<RunResult>,
    },
    /// A step failed.
    #[error("step {step}: {source}{diagnosis}")]
    Step {
        /// Steps made before it.
        step: u64,
        /// What the method says.
        source: StepError,
        /// Likely cause, with numbers; empty when there is nothing to add.
        diagnosis: String,
        /// What was reached.
        partial: Box<RunResult>,
    },
    /// Positions or velocities left the range of numbers that can be drawn or written.
    #[error(
        "diverged before t = {t} s (step {step}, dt = {dt} s): particle {particle} has left the range of single \
         precision{diagnosis}"
    )]
    Overflow {
        /// Time of the frame in s.
        t: f64,
        /// Steps made.
        step: u64,
        /// Step size in s.
        dt: f64,
        /// First such particle.
        particle: usize,
        /// Likely cause.
        diagnosis: String,
        /// What was reached.
        partial: Box<RunResult>,
    },
    /// No stable step is known.
    #[error("{source}")]
    Stability {
        /// Why.
        source: StabilityError,
        /// What was reached.
        partial: Box<RunResult>,
    },
    /// A frame would need too many steps.
    #[error("{source}")]
    Substeps {
        /// Why.
        source: SubstepError,
        /// What was reached.
        partial: Box<RunResult>,
    },
    /// A probe has no value.
    #[error("probe `{probe}` is not defined: {reason}")]
    Probe {
        /// Its name.
        probe: String,
        /// Why.
        reason: String,
        /// What was reached: everything but the probes.
        partial: Box<RunResult>,
    },
    /// The caller ended the run.
    #[error("stopped by the caller")]
    Stopped {
        /// What was reached.
        partial: Box<RunResult>,
    },
}

impl RunError {
    /// One word for scripts.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Scene(error) => error.kind(),
            Self::Start(StartError::NotSettled { .. }) => "not_settled",
            Self::Start(_) => "no_equilibrium",
            Self::Threads { .. } => "threads",
            Self::TooManyFrames { .. } => "too_many_frames",
            Self::Step { source, .. } => match source {
                StepError::Diverged { .. } => "diverged",
                StepError::NotConverged { .. } => "not_converged",
                StepError::LinearSolver { .. } => "linear_solver",
                StepError::StepSize { .. } => "step_size",
                _ => "step",
            },
            Self::Overflow { .. } => "diverged",
            Self::Stability { .. } => "no_stable_step",
            Self::Substeps { .. } => "too_many_substeps",
            Self::Probe { .. } => "probe",
            Self::Resume(_) | Self::Checkpoint { .. } => "checkpoint",
            Self::Stopped { .. } => "stopped",
        }
    }

    /// What was reached before the failure.
    pub fn partial(&self) -> Option<&RunResult> {
        match self {
            Self::Step { partial, .. }
            | Self::Overflow { partial, .. }
            | Self::Stability { partial, .. }
            | Self::Substeps { partial, .. }
            | Self::Probe { partial, .. }
            | Self::Checkpoint { partial, .. }
            | Self::Stopped { partial } => Some(partial),
            _ => None,
        }
    }
}
