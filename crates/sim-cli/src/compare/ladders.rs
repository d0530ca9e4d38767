//! Every method with more and more steps, the run expected to be the shortest first.

use super::measure::Measure;
use super::study::{Candidate, Limits, Outcome, Point, Tell, first_steps, run, twice};
use sim_core::MethodInfo;
use sim_io::RunError;
use sim_io::run::RunResult;
use sim_io::scene::{Scene, Substeps};
use std::time::Instant;

/// Errors below this part of the wanted one need no finer run.
const ENOUGH: f64 = 0.2;
/// Runs of a method at most.
const LEVELS: usize = 9;
/// A run as long as this in s is not made for the picture only.
const LONG: f64 = 1.0;
/// Runs shorter than this in s are repeated twice, and the shortest time counts.
const SHORT: f64 = 0.25;

/// What runs are compared with.
#[derive(Clone, Copy)]
pub struct Exact<'a> {
    pub run: &'a RunResult,
    pub measure: &'a Measure,
    pub uncertainty: f64,
}

struct Ladder {
    method: &'static MethodInfo,
    points: Vec<Point>,
    next: Substeps,
    /// Wall-clock time that the next run is expected to take in s.
    expected: f64,
    ended: Option<String>,
}

/// Runs of every method, until one is well within the wanted error or finer ones are not worth their time.
pub fn climb(
    scene: &Scene,
    methods: Vec<&'static MethodInfo>,
    exact: Exact<'_>,
    limits: Limits,
    tell: Tell<'_>,
) -> Vec<Candidate> {
    let mut ladders: Vec<Ladder> = (methods.into_iter())
        .map(|method| Ladder {
            method,
            points: Vec::new(),
            next: first_steps(method),
            expected: 0.0,
            ended: None,
        })
        .collect();
    let mut fastest = f64::INFINITY;
    loop {
        // What has become too slow meanwhile is given up before it is chosen.
        for ladder in &mut ladders {
            ladder.give_up(limits, fastest);
        }
        let open = ladders.iter_mut().filter(|ladder| ladder.ended.is_none());
        let Some(ladder) = open.min_by(|a, b| a.expected.total_cmp(&b.expected)) else { break };
        let variant = match scene.with_method(ladder.method.id, ladder.next) {
            Ok(variant) => variant,
            Err(refusal) => {
                ladder.ended = Some(refusal.to_string());
                continue;
            }
        };
        let point = measured(&variant, exact, limits, tell);
        if point.error().is_some_and(|error| error <= limits.wanted) {
            fastest = fastest.min(point.wall_s);
        }
        ladder.add(point, exact.uncertainty, limits);
    }
    (ladders.into_iter())
        .map(|ladder| Candidate {
            method: ladder.method.id,
            points: ladder.points,
            ended: ladder.ended.unwrap_or_default(),
        })
        .collect()
}

impl Ladder {
    fn add(&mut self, point: Point, uncertainty: f64, limits: Limits) {
        let (substeps, error) = (point.substeps, point.error());
        self.expected = 2.0 * point.wall_s;
        self.points.push(point);
        if error.is_some_and(|error| error <= (ENOUGH * limits.wanted).max(uncertainty)) {
            self.ended = Some("well within the wanted error".into());
        } else if self.points.len() >= LEVELS {
            self.ended = Some(format!("{LEVELS} runs"));
        } else if let Some(count) = twice(substeps) {
            self.next = Substeps::Fixed(count);
        } else {
            self.ended = Some("as many steps per frame as a scene may have".into());
        }
    }

    fn give_up(&mut self, limits: Limits, fastest: f64) {
        if self.ended.is_some() {
            return;
        }
        let wall = 0.5 * self.expected;
        self.ended = if self.expected > limits.max_wall {
            Some(format!("the next run would take about {:.0} s", self.expected))
        } else if self.expected > limits.patience * fastest
            && (self.points.len() >= limits.fewest || wall > LONG)
        {
            Some(format!(
                "more than {} times slower than the fastest within the wanted error",
                limits.patience
            ))
        } else if limits.is_late(self.expected) {
            Some("the time allowed for all runs was over".into())
        } else {
            None
        };
    }
}

/// One run, or the shortest of three when it is short.
fn measured(scene: &Scene, exact: Exact<'_>, limits: Limits, tell: Tell<'_>) -> Point {
    let substeps = match scene.method.substeps {
        Substeps::Auto => 0,
        Substeps::Fixed(count) => u64::from(count),
    };
    let begun = Instant::now();
    match run(scene, limits, tell) {
        Ok(result) => {
            let mut wall_s = result.wall_s;
            if wall_s < SHORT {
                for _ in 0..2 {
                    wall_s = run(scene, limits, tell).map_or(wall_s, |again| again.wall_s.min(wall_s));
                }
            }
            Point {
                substeps: result.substeps,
                dt: result.dt,
                wall_s,
                force_evaluations: result.work_done.force_evaluations,
                linear_iterations: result.work_done.linear_iterations,
                outcome: Outcome::Done { error: exact.measure.distance(&result, exact.run) },
            }
        }
        Err(error) => Point {
            substeps,
            dt: scene.time.frame / substeps.max(1) as f64,
            wall_s: begun.elapsed().as_secs_f64(),
            force_evaluations: 0,
            linear_iterations: 0,
            outcome: Outcome::Failed {
                reason: match error {
                    RunError::Stopped { .. } => {
                        format!("stopped after {:.1} s", begun.elapsed().as_secs_f64())
                    }
                    error => error.to_string(),
                },
            },
        },
    }
}
