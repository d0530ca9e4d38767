//! What a checkpoint of a run holds, and when one is made.

use super::error::RunError;
use super::pieces::Cuts;
use super::recorder::History;
use super::steps::StepNotes;
use super::xpbd::ConstraintNotes;
use crate::checkpoint::{self, CheckpointError, Every, Identity, KeepOptions};
use crate::model::{Breakages, Layout};
use crate::scene::document::Scene;
use serde::{Deserialize, Serialize};
use sim_core::{ExplicitSystem, LedgerReport, ParticleSystem, State};
use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Instant;

/// A run between two frames: all that is needed to go on.
#[derive(Serialize, Deserialize)]
pub(crate) struct Snapshot<'a> {
    /// Complete frames.
    pub frames: u64,
    pub largest_kinetic: f64,
    pub state: Cow<'a, State>,
    pub ledger: LedgerReport,
    pub history: Cow<'a, History>,
    pub steps: Cow<'a, StepNotes>,
    pub cuts: Cuts,
    pub breakages: Cow<'a, Breakages>,
    /// Of a run of constraints only.
    pub constraints: Option<Cow<'a, ConstraintNotes>>,
}

impl Snapshot<'_> {
    /// Whether it fits the run: a file that was made by a faulty program must not make this one panic.
    fn check(&self, identity: &Identity, start: &State, gauges: &[bool]) -> Result<(), String> {
        if self.frames >= identity.frames {
            return Err(format!("it is at frame {} of a run of {}", self.frames, identity.frames));
        }
        self.state.validate(start.particle_count()).map_err(|error| error.to_string())?;
        self.history.check(self.frames, gauges)
    }
}

/// The checkpoints of a run.
pub(crate) struct Keep {
    write: Option<(PathBuf, Every)>,
    identity: Identity,
    /// Wall-clock and simulated time of the last one.
    last: (Instant, f64),
    resumed: Option<Snapshot<'static>>,
}

impl Keep {
    /// Reads the checkpoint to go on from, if one is asked for.
    pub fn new(
        options: &KeepOptions,
        scene: &Scene,
        (system, state, layout): (&ParticleSystem, &State, &Layout),
        frames: u64,
        gauges: &[bool],
    ) -> Result<Self, RunError> {
        if options.write.is_none() && options.resume.is_none() {
            let identity =
                Identity { program: String::new(), name: String::new(), scene: 0, model: 0, frames };
            return Ok(Self { write: None, identity, last: (Instant::now(), state.t), resumed: None });
        }
        let identity = Identity {
            program: Identity::this_program(),
            name: scene.header.name.clone(),
            scene: scene.fingerprint(),
            model: model_hash(system, state, layout),
            frames,
        };
        let mut resumed: Option<Snapshot<'static>> = None;
        if let Some((folder, which)) = &options.resume {
            let snapshot: Snapshot<'static> = checkpoint::read(folder, *which, &identity)?;
            snapshot
                .check(&identity, state, gauges)
                .map_err(|reason| CheckpointError::Damaged { path: which.path(folder), reason })?;
            resumed = Some(snapshot);
        }
        let t = resumed.as_ref().map_or(state.t, |snapshot| snapshot.state.t);
        Ok(Self { write: options.write.clone(), identity, last: (Instant::now(), t), resumed })
    }

    /// Where to go on; `None` at the start of a run.
    pub fn resumed(&mut self) -> Option<Snapshot<'static>> {
        self.resumed.take()
    }

    /// Writes a checkpoint if it is time for one and frames are still to come: a complete run needs none.
    pub fn offer<'a>(
        &mut self,
        frames: u64,
        t: f64,
        snapshot: impl FnOnce() -> Snapshot<'a>,
    ) -> Result<(), CheckpointError> {
        let Some((folder, every)) = &self.write else { return Ok(()) };
        let due = match *every {
            Every::Wall(length) => self.last.0.elapsed().as_secs_f64() >= length,
            // Frame times are rounded.
            Every::Simulated(length) => t - self.last.1 >= length * (1.0 - 1e-9),
        };
        if due && frames < self.identity.frames {
            checkpoint::write(folder, &self.identity, &snapshot())?;
            self.last = (Instant::now(), t);
        }
        Ok(())
    }
}

/// Hash of what the scene was built to at its start: state, masses and what is drawn of its connections.
fn model_hash(system: &ParticleSystem, state: &State, layout: &Layout) -> u64 {
    let lines = layout.display.lines.iter().flatten();
    let faces = layout.display.triangles.iter().flatten();
    let indices = lines.chain(faces).flat_map(|index| index.to_le_bytes());
    let mass = system.mass().iter().flat_map(|mass| mass.to_bits().to_le_bytes());
    checkpoint::fingerprint(state.hash().to_le_bytes().into_iter().chain(mass).chain(indices))
}
