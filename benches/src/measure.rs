//! Time as medians of repeats.

use cpu_time::ProcessTime;
use std::time::Instant;

/// Median and spread of repeats in s.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    /// Median in s.
    pub median: f64,
    /// (largest − smallest) / median.
    pub spread: f64,
}

/// Which clock a measurement reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// CPU time of the process: for one thread on a shared machine.
    Cpu,
    /// Wall time: for several threads.
    Wall,
}

/// Runs `work` `repeats` times.
///
/// # Panics
/// When `repeats` is 0.
pub fn time(clock: Clock, repeats: usize, mut work: impl FnMut()) -> Timing {
    let samples: Vec<f64> = (0..repeats)
        .map(|_| match clock {
            Clock::Cpu => {
                let start = ProcessTime::now();
                work();
                start.elapsed().as_secs_f64()
            }
            Clock::Wall => {
                let start = Instant::now();
                work();
                start.elapsed().as_secs_f64()
            }
        })
        .collect();
    summarize(samples)
}

/// Median and spread of samples in s.
///
/// # Panics
/// Without samples.
pub fn summarize(mut samples: Vec<f64>) -> Timing {
    assert!(!samples.is_empty(), "a median needs at least 1 sample, got 0");
    samples.sort_by(f64::total_cmp);
    let median = samples[samples.len() / 2];
    Timing { median, spread: (samples[samples.len() - 1] - samples[0]) / median }
}

/// Peak resident memory of this process in MB, where the system tells.
pub fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}
