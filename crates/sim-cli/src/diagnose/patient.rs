//! A scene and what its run showed.

use crate::failure::Failure;
use sim_core::State;
use sim_integrate::{StepperInfo, stepper_info};
use sim_io::run::RunResult;
use sim_io::run::result::TimeSeries;
use sim_io::scene::{Scene, Substeps};
use sim_io::{Model, Progress, RunError, RunOptions};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// What the checks look at.
pub struct Patient {
    pub scene: Scene,
    pub model: Model,
    /// The run up to its end or to where it was stopped; absent when it could not begin.
    pub result: Option<RunResult>,
    /// Why it ended early, unless it was stopped for lack of time.
    pub failure: Option<RunError>,
    /// Whether it came to the end of the scene.
    pub complete: bool,
    pub budget: Duration,
}

/// Runs a scene until its end, or for so long.
fn run(
    scene: &Scene,
    budget: Duration,
    tell: &mut (dyn FnMut(&Progress) + Send),
) -> (Option<RunResult>, Option<RunError>, bool) {
    let begun = Instant::now();
    let outcome = sim_io::run(scene, RunOptions::default(), &mut |progress| {
        tell(progress);
        if begun.elapsed() > budget { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match outcome {
        Ok(result) => (Some(result), None, true),
        Err(RunError::Stopped { partial }) => (Some(*partial), None, false),
        Err(error) => (error.partial().cloned(), Some(error), false),
    }
}

impl Patient {
    /// Builds the scene and runs it, for `budget` at most.
    pub fn examine(
        scene: Scene,
        budget: Duration,
        tell: &mut (dyn FnMut(&Progress) + Send),
    ) -> Result<Self, Failure> {
        let model = sim_io::run::check(&scene)?;
        let (result, failure, complete) = run(&scene, budget, tell);
        Ok(Self { scene, model, result, failure, complete, budget })
    }

    /// The same scene with another option of the method, run as far.
    pub fn variant(&self, change: impl FnOnce(&mut Scene)) -> Option<RunResult> {
        let mut scene = self.scene.clone();
        change(&mut scene);
        run(&scene, self.budget, &mut |_| {}).0
    }

    /// The stepper, unless the method is `xpbd`.
    pub fn stepper(&self) -> Option<&'static StepperInfo> {
        stepper_info(&self.scene.method.id).ok()
    }

    pub fn fixed_substeps(&self) -> Option<u32> {
        match self.scene.method.substeps {
            Substeps::Fixed(count) => Some(count),
            Substeps::Auto => None,
        }
    }

    /// What a failed run says.
    pub fn failure_text(&self) -> Option<String> {
        self.failure.as_ref().map(ToString::to_string)
    }

    /// The last good state.
    pub fn last_state(&self) -> &State {
        self.result
            .as_ref()
            .map(|result| &result.state)
            .filter(|state| !state.q.is_empty())
            .unwrap_or(&self.model.state)
    }

    fn series(&self, name: &str) -> Option<&TimeSeries> {
        self.result.as_ref()?.series(name)
    }

    /// Kinetic energy in J at the end.
    pub fn last_kinetic(&self) -> f64 {
        self.series("kinetic").and_then(|series| series.values.last().copied()).unwrap_or(0.0)
    }

    /// Largest kinetic energy in J of all frames.
    pub fn largest_kinetic(&self) -> f64 {
        self.series("kinetic").map_or(0.0, |series| series.values.iter().copied().fold(0.0, f64::max))
    }

    /// Energy in J that the method made (positive) or lost.
    pub fn made_energy(&self) -> f64 {
        self.result.as_ref().map_or(0.0, |result| result.energy.numerical + result.energy.residual)
    }

    /// Largest distance in m between two corners of the box around all particles at the start.
    pub fn size(&self) -> f64 {
        let [low, high] = bounds(&self.model.state.q);
        (0..3).map(|c| (high[c] - low[c]).powi(2)).sum::<f64>().sqrt()
    }

    /// Sum of all gravity in m/s².
    pub fn gravity(&self) -> f64 {
        let mut sum = [0.0; 3];
        for force in &self.scene.forces {
            if let sim_io::scene::force::ForceSpec::Gravity(gravity) = force {
                (0..3).for_each(|c| sum[c] += gravity.acceleration[c]);
            }
        }
        sum.iter().map(|a| a * a).sum::<f64>().sqrt()
    }

    /// Largest strain of springs that are stretched, and the part and number of that spring.
    pub fn largest_stretch(&self, state: &State) -> Option<(f64, String)> {
        let springs = &self.model.layout.springs;
        let strains =
            springs.iter().enumerate().filter(|(_, spring)| spring.rest_length > 0.0).map(|(k, spring)| {
                let [a, b] = spring.ends.map(|end| end as usize);
                let length =
                    (0..3).map(|c| (state.q[3 * a + c] - state.q[3 * b + c]).powi(2)).sum::<f64>().sqrt();
                (length / spring.rest_length - 1.0, k)
            });
        let (strain, spring) = strains.max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((strain, self.spring_name(spring)))
    }

    /// A spring in words.
    pub fn spring_name(&self, spring: usize) -> String {
        self.model.layout.spring_owner(spring).map_or_else(
            || format!("spring {spring}"),
            |(part, local)| format!("spring {local} of part {}", part.id),
        )
    }

    /// A stencil in words: force id and index within it.
    pub fn stencil_name(&self, culprit: Option<(&'static str, usize)>) -> Option<String> {
        culprit.map(
            |(force, index)| {
                if force == "spring" { self.spring_name(index) } else { format!("{force} {index}") }
            },
        )
    }
}

/// The box around flat positions.
pub fn bounds(q: &[f64]) -> [[f64; 3]; 2] {
    let mut bounds = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    for x in q.chunks_exact(3) {
        for c in 0..3 {
            bounds[0][c] = bounds[0][c].min(x[c]);
            bounds[1][c] = bounds[1][c].max(x[c]);
        }
    }
    bounds
}
