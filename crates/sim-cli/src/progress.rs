//! A progress bar for runs that take a while.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sim_io::Progress;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Wall-clock time in s before a bar appears.
const PATIENCE: f64 = 2.0;
/// Parts of the bar.
const RESOLUTION: u64 = 10_000;

/// Shows nothing until a run has taken two seconds, and nothing at all when standard error is not a terminal.
pub struct Bar {
    bar: Option<ProgressBar>,
    wanted: bool,
}

impl Bar {
    /// A bar, unless `quiet`.
    pub fn new(quiet: bool) -> Self {
        Self { bar: None, wanted: !quiet && std::io::stderr().is_terminal() }
    }

    /// Shows how far the run is.
    pub fn show(&mut self, progress: &Progress) {
        if !self.wanted || progress.wall_s < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(RESOLUTION), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("[{elapsed}] {bar:32} {msg} (left {eta})") {
                bar.set_style(style);
            }
            bar
        });
        let done = (progress.t - progress.start) / (progress.end - progress.start);
        bar.set_position((done * RESOLUTION as f64) as u64);
        bar.set_message(format!(
            "t = {:.3} of {:.3} s, {:.0} steps/s, energy drift {:+.1e}",
            progress.t,
            progress.end,
            progress.steps as f64 / progress.wall_s,
            progress.energy_drift
        ));
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Says what an analysis is doing: nothing until two seconds have passed, and nothing at all when standard error is not a terminal.
pub struct Stages {
    bar: Option<ProgressBar>,
    wanted: bool,
    begun: Instant,
}

impl Stages {
    /// A display, unless `quiet`.
    pub fn new(quiet: bool) -> Self {
        let wanted = !quiet && std::io::stderr().is_terminal();
        // It turns by itself: a factorization cannot say how far it is.
        let bar = wanted.then(|| {
            let bar = ProgressBar::with_draw_target(Some(RESOLUTION), ProgressDrawTarget::stderr());
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self { bar, wanted, begun: Instant::now() }
    }

    /// Shows what is being done and, where known, which share of it is.
    pub fn show(&mut self, text: &str, share: Option<f64>) {
        let Some(bar) = self.bar.as_ref().filter(|_| self.wanted) else { return };
        let template = match share {
            Some(share) if self.begun.elapsed().as_secs_f64() > PATIENCE => {
                bar.set_position((share * RESOLUTION as f64) as u64);
                "[{elapsed}] {bar:32} {msg} (left {eta})"
            }
            _ => "[{elapsed}] {spinner} {msg}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(text.to_owned());
    }

    /// Takes it away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
