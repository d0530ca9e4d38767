//! Keeps what a run shows: frames, series, results.

use super::error::RunError;
use super::gauge::{self, Gauge, View};
use super::reduce;
use super::result::{ExpectationResult, Frame, ProbeValue, RunResult, SeriesGroup, TimeSeries, WorkDone};
use super::steps::Failure;
use super::xpbd::SolverView;
use crate::model::Layout;
use crate::scene::document::Scene;
use crate::scene::probe::Probe;
use serde::{Deserialize, Serialize};
use sim_core::{LedgerReport, ParticleSystem, State, StepStats};

/// Energies that always have a series; others only when they are not zero all the time.
const ALWAYS: &[&str] = &["kinetic", "total"];

pub(crate) struct Recorder {
    every: u64,
    gauges: Vec<Option<Gauge>>,
    kept: History,
    /// State and energy account of the last frame.
    last: (State, LedgerReport),
}

/// What has been recorded; a checkpoint holds all of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct History {
    frames: Vec<Frame>,
    times: Vec<f64>,
    /// Hash of the state at every time.
    hashes: Vec<u64>,
    probes: Vec<Vec<f64>>,
    /// In the order of [`energies`].
    energies: Vec<Vec<f64>>,
    momentum: [Vec<f64>; 3],
    steps: u64,
    smallest_dt: f64,
    work: WorkDone,
}

impl History {
    fn new(gauges: &[Option<Gauge>]) -> Self {
        Self {
            frames: Vec::new(),
            times: Vec::new(),
            hashes: Vec::new(),
            probes: gauges.iter().map(|_| Vec::new()).collect(),
            energies: energies(&LedgerReport::default()).map(|_| Vec::new()).into(),
            momentum: [const { Vec::new() }; 3],
            steps: 0,
            smallest_dt: f64::INFINITY,
            work: WorkDone::default(),
        }
    }

    /// Whether all series have a value for the start and for each of `frames`.
    pub fn check(&self, frames: u64, gauges: &[bool]) -> Result<(), String> {
        let lengths = [("times", self.times.len()), ("hashes", self.hashes.len())];
        let energies_wanted = energies(&LedgerReport::default()).len();
        if (self.probes.len(), self.energies.len()) != (gauges.len(), energies_wanted) {
            return Err(format!(
                "it has {} probes and {} energies instead of {} and {energies_wanted}",
                self.probes.len(),
                self.energies.len(),
                gauges.len()
            ));
        }
        // A probe made of others has no series of its own.
        let probes =
            self.probes.iter().zip(gauges).filter(|(_, follows)| **follows).map(|(values, _)| values);
        let series =
            probes.chain(&self.energies).chain(&self.momentum).map(|values| ("a series", values.len()));
        for (what, found) in lengths.into_iter().chain(series) {
            if found as u64 != frames + 1 {
                return Err(format!("{what} of {found} values after {frames} frames"));
            }
        }
        Ok(())
    }
}

fn energies(report: &LedgerReport) -> [(&'static str, f64); 14] {
    let (now, work) = (&report.current, &report.work);
    [
        ("kinetic", now.kinetic),
        ("elastic", now.elastic),
        ("bending", now.bending),
        ("gravitational", now.gravitational),
        ("load", now.load),
        ("total", now.total()),
        ("dashpot_work", work.dashpot),
        ("inelastic_work", work.inelastic),
        ("mass_damping_work", work.mass_damping),
        ("air_work", work.air),
        ("external_work", work.external),
        ("reaction_work", work.reaction),
        ("numerical", report.numerical),
        ("residual", report.residual),
    ]
}

impl Recorder {
    pub fn new(scene: &Scene, gauges: Vec<Option<Gauge>>) -> Self {
        Self {
            every: scene.output.every,
            kept: History::new(&gauges),
            gauges,
            last: (State::default(), LedgerReport::default()),
        }
    }

    /// What has been recorded so far.
    pub fn history(&self) -> &History {
        &self.kept
    }

    /// Goes on with what had been recorded up to the frame that ended with this state and account.
    pub fn resume(&mut self, history: History, state: &State, report: &LedgerReport) {
        self.kept = history;
        self.last = (state.clone(), *report);
    }

    /// Which probes follow the state, so that they have a series.
    pub fn follows(&self) -> Vec<bool> {
        self.gauges.iter().map(Option::is_some).collect()
    }

    /// Records a frame.
    ///
    /// # Errors
    /// The first particle with numbers beyond single precision; the frame is then left out.
    pub fn frame(
        &mut self,
        index: u64,
        system: &ParticleSystem,
        layout: &Layout,
        state: &State,
        report: &LedgerReport,
        solver: Option<&SolverView<'_>>,
    ) -> Result<(), usize> {
        let beyond = |x: &f64| x.abs() >= f64::from(f32::MAX) || x.is_nan();
        let wild = state.q.iter().zip(&state.v).position(|(q, v)| beyond(q) || beyond(v));
        if let Some(index) = wild {
            return Err(index / 3);
        }
        self.last = (state.clone(), *report);
        if index.is_multiple_of(self.every) {
            self.kept.frames.push(layout.frame(state, solver));
        }
        self.kept.times.push(state.t);
        self.kept.hashes.push(state.hash());
        let view = View { system, layout, state, energy: report, solver };
        for (series, gauge) in self.kept.probes.iter_mut().zip(&self.gauges) {
            if let Some(gauge) = gauge {
                series.push(gauge.read(&view));
            }
        }
        let momentum = gauge::momentum(system, state);
        for (k, series) in self.kept.momentum.iter_mut().enumerate() {
            series.push(momentum[k]);
        }
        for (series, (_, value)) in self.kept.energies.iter_mut().zip(energies(report)) {
            series.push(value);
        }
        Ok(())
    }

    pub fn count(&mut self, stats: &StepStats, dt: f64) {
        self.kept.steps += 1;
        self.kept.smallest_dt = self.kept.smallest_dt.min(dt);
        self.kept.work.force_evaluations += u64::from(stats.force_evaluations);
        self.kept.work.newton_iterations += u64::from(stats.newton_iterations);
        self.kept.work.linear_iterations += u64::from(stats.linear_iterations);
    }

    pub fn steps(&self) -> u64 {
        self.kept.steps
    }

    /// Smallest step in s; 0 when there was none.
    pub fn smallest_dt(&self) -> f64 {
        if self.kept.steps == 0 { 0.0 } else { self.kept.smallest_dt }
    }

    pub fn work(&self) -> WorkDone {
        self.kept.work
    }

    /// Completes the result; `judged` says whether the run has the length that expectations are about.
    pub fn finish(
        mut self,
        mut result: RunResult,
        scene: &Scene,
        failure: Option<Failure>,
        judged: bool,
    ) -> Result<RunResult, RunError> {
        let probed = if failure.is_none() { self.results(scene, judged) } else { Ok(Vec::new()) };
        result.frames = std::mem::take(&mut self.kept.frames);
        (result.state, result.energy) = std::mem::take(&mut self.last);
        result.state_hash = format!("{:016x}", result.state.hash());
        let expected: Vec<_> = if judged { scene.expectations.iter().collect() } else { Vec::new() };
        let (values, undefined) = match probed {
            Ok(values) => (values, None),
            Err(undefined) => (Vec::new(), Some(undefined)),
        };
        result.probes = values.into_iter().collect();
        result.expectations = expected
            .into_iter()
            .map(|expectation| ExpectationResult::of(expectation, &result.probes))
            .collect();
        result.series = self.series();
        result.frame_hashes = self.kept.hashes.iter().map(|hash| format!("{hash:016x}")).collect();
        result.times = self.kept.times;
        match (failure, undefined) {
            (None, None) => Ok(result),
            (Some(failure), _) => Err(failure.with(Box::new(result))),
            (None, Some((probe, reason))) => {
                Err(RunError::Probe { probe, reason, partial: Box::new(result) })
            }
        }
    }

    /// Values of all probes. In a run that was cut short, those that are not defined yet are left out.
    fn results(&self, scene: &Scene, judged: bool) -> Result<Vec<(String, ProbeValue)>, (String, String)> {
        let units: Vec<&'static str> =
            self.gauges.iter().map(|gauge| gauge.as_ref().map_or("1", |gauge| gauge.unit)).collect();
        let mut values: Vec<(String, ProbeValue)> = Vec::new();
        for (index, probe) in scene.probes.iter().enumerate() {
            let value = self.result(index, probe, &values, &units, scene);
            match value {
                Ok(value) => values.push((probe.name().to_owned(), value)),
                Err(_) if !judged => {}
                Err(reason) => return Err((probe.name().to_owned(), reason)),
            }
        }
        Ok(values)
    }

    fn result(
        &self,
        index: usize,
        probe: &Probe,
        earlier: &[(String, ProbeValue)],
        units: &[&'static str],
        scene: &Scene,
    ) -> Result<ProbeValue, String> {
        let find = |name: &str| {
            let found = earlier.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| *value).ok_or_else(|| format!("`{name}` has no value"))
        };
        let value = match probe {
            Probe::Ratio(pair) => {
                let (of, to) = (find(&pair.of)?, find(&pair.to)?);
                if to.value == 0.0 {
                    return Err(format!("`{}` is zero", pair.to));
                }
                ProbeValue { value: of.value / to.value, unit: "1" }
            }
            Probe::Difference(pair) => {
                let (of, to) = (find(&pair.of)?, find(&pair.to)?);
                ProbeValue { value: of.value - to.value, unit: of.unit }
            }
            _ => {
                let reduction = probe.reduction().cloned().unwrap_or_default();
                let value = reduce::reduce(&reduction, &self.kept.times, &self.kept.probes[index])?;
                ProbeValue { value, unit: gauge::result_unit(scene, index, units) }
            }
        };
        if value.value.is_finite() { Ok(value) } else { Err(format!("its value is {}", value.value)) }
    }

    fn series(&mut self) -> Vec<TimeSeries> {
        let mut series = Vec::new();
        let names = energies(&LedgerReport::default()).map(|(name, _)| name);
        for (name, values) in names.into_iter().zip(self.kept.energies.drain(..)) {
            if ALWAYS.contains(&name) || values.iter().any(|&x| x != 0.0) {
                series.push(TimeSeries {
                    name: name.to_owned(),
                    group: SeriesGroup::Energy,
                    unit: "J",
                    values,
                });
            }
        }
        for (axis, values) in ["x", "y", "z"].into_iter().zip(&mut self.kept.momentum) {
            series.push(TimeSeries {
                name: format!("momentum_{axis}"),
                group: SeriesGroup::Momentum,
                unit: "kg·m/s",
                values: std::mem::take(values),
            });
        }
        for (gauge, values) in self.gauges.iter().zip(&mut self.kept.probes) {
            if let Some(gauge) = gauge {
                series.push(TimeSeries {
                    name: gauge.name.clone(),
                    group: SeriesGroup::Probe,
                    unit: gauge.unit,
                    values: std::mem::take(values),
                });
            }
        }
        series
    }
}
