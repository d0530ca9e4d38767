//! What a run hands to the exporters, the report and the command line.

use crate::scene::probe::Expectation;
use serde::{Deserialize, Serialize};
use sim_core::{LedgerReport, MethodInfo, State};
use std::collections::BTreeMap;
use std::ops::Range;

/// Everything a run leaves behind. A failed run leaves the same, up to its last complete frame.
#[derive(Clone, Debug, Serialize)]
pub struct RunResult {
    /// Name of the scene, fit for a file name.
    pub scene: String,
    /// Where the scene came from.
    pub source: SceneSource,
    /// Title for people.
    pub title: String,
    /// What the scene shows.
    pub description: String,
    /// The method and what it claims.
    pub method: MethodInfo,
    /// Smallest step taken in s.
    pub dt: f64,
    /// Frame time in s.
    pub frame: f64,
    /// Steps taken.
    pub steps: u64,
    /// Largest number of steps in one frame.
    pub substeps: u64,
    /// Evaluations of the force, Newton and linear iterations, summed over the run.
    pub work_done: WorkDone,
    /// Wall-clock time of the stepping in s.
    pub wall_s: f64,
    /// How to draw a frame.
    pub display: Display,
    /// Recorded frames, the initial state first.
    pub frames: Vec<Frame>,
    /// Times in s at which the series hold a value: every frame, the initial state first.
    pub times: Vec<f64>,
    /// Named time series, each as long as `times`.
    pub series: Vec<TimeSeries>,
    /// Named results.
    pub probes: BTreeMap<String, ProbeValue>,
    /// Expectations and how they came out, in the order of the scene.
    pub expectations: Vec<ExpectationResult>,
    /// The energy account of the run.
    pub energy: LedgerReport,
    /// What the parts carried before anything moved.
    pub initial_stress: Vec<PartStress>,
    /// How the step was chosen; absent for methods that need no limit.
    pub stability: Option<StepChoice>,
    /// How far from solved the constraints were; absent for other methods than `xpbd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convergence: Option<crate::run::xpbd::Convergence>,
    /// What a reader should know.
    pub warnings: Vec<String>,
    /// Hash of the final state, 16 hexadecimal digits: equal runs have equal hashes.
    pub state_hash: String,
    /// Hash of the state at every time of `times`, in the same form.
    pub frame_hashes: Vec<String>,
    /// The final state.
    #[serde(skip)]
    pub state: State,
}

/// Where a scene came from: with it the run can be made again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SceneSource {
    /// Its file, or the name of a built-in scene.
    pub file: String,
    /// What was changed of it, as `PATH=VALUE`.
    pub changes: Vec<String>,
}

impl RunResult {
    /// Whether every expectation was met.
    pub fn all_met(&self) -> bool {
        self.expectations.iter().all(|expectation| expectation.pass)
    }

    /// The series of that name.
    pub fn series(&self, name: &str) -> Option<&TimeSeries> {
        self.series.iter().find(|series| series.name == name)
    }
}

/// Work of the method, summed over the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkDone {
    /// Evaluations of all forces.
    pub force_evaluations: u64,
    /// Newton iterations.
    pub newton_iterations: u64,
    /// Linear solver iterations.
    pub linear_iterations: u64,
}

/// Points, lines and faces for drawing. Points are those of a [`Frame`]; they may be more than the particles: a coil is drawn as
/// a helix although its particles lie on its axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Display {
    /// Number of points in every frame.
    pub points: usize,
    /// Lines between two points.
    pub lines: Vec<[u32; 2]>,
    /// Triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Triangles of rigid bodies.
    pub solids: Vec<[u32; 3]>,
    /// Lines on rigid bodies that show how they turn.
    pub outlines: Vec<[u32; 2]>,
    /// What colors points: `speed` in m/s, or `tension` in N.
    pub quantity: &'static str,
    /// Which points belong to which part.
    pub parts: Vec<DisplayPart>,
    /// Points that are held or driven.
    pub held: Vec<u32>,
    /// Opposite to gravity, of length 1; z where there is none.
    pub up: [f64; 3],
}

impl Default for Display {
    fn default() -> Self {
        Self {
            points: 0,
            lines: Vec::new(),
            triangles: Vec::new(),
            solids: Vec::new(),
            outlines: Vec::new(),
            quantity: "speed",
            parts: Vec::new(),
            held: Vec::new(),
            up: [0.0, 0.0, 1.0],
        }
    }
}

/// The points of one part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DisplayPart {
    /// Part id.
    pub id: String,
    /// Its points.
    pub points: Range<usize>,
}

/// One recorded instant. Single precision: for pictures, not for measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Time in s.
    pub t: f64,
    /// Positions in m, one per display point.
    pub positions: Vec<[f32; 3]>,
    /// Speeds in m/s, or what [`Display::quantity`] says, one per display point.
    pub speeds: Vec<f32>,
}

/// A quantity over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeSeries {
    /// Name; that of the probe, or `kinetic`, `elastic`, … for the energies.
    pub name: String,
    /// What kind of quantity it is, so that charts can group: `energy`, `momentum` or `probe`.
    pub group: SeriesGroup,
    /// SI unit.
    pub unit: &'static str,
    /// One value per time.
    pub values: Vec<f64>,
}

/// Which chart a series belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SeriesGroup {
    /// Energies and works of the ledger in J.
    Energy,
    /// Components of the total momentum in kg·m/s.
    Momentum,
    /// A probe of the scene.
    Probe,
}

/// A named scalar result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProbeValue {
    /// Value in `unit`.
    pub value: f64,
    /// SI unit; `1` for pure numbers.
    pub unit: &'static str,
}

/// An expectation and how it came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExpectationResult {
    /// Name of the probe.
    pub probe: String,
    /// Value from theory, in the probe's unit.
    pub expected: f64,
    /// Value of the run; absent when the run ended before the probe was defined.
    pub measured: Option<f64>,
    /// Largest allowed difference, in the probe's unit.
    pub tolerance: f64,
    /// Whether the difference is within the tolerance.
    pub pass: bool,
    /// Where the expected value comes from.
    pub source: String,
}

impl ExpectationResult {
    /// Compares an expectation with what the probes say.
    pub(crate) fn of(expectation: &Expectation, probes: &BTreeMap<String, ProbeValue>) -> Self {
        let measured = probes.get(&expectation.probe).map(|probe| probe.value);
        let tolerance = expectation
            .tolerance
            .unwrap_or_else(|| expectation.relative_tolerance.unwrap_or(0.0) * expectation.value.abs());
        Self {
            probe: expectation.probe.clone(),
            expected: expectation.value,
            measured,
            tolerance,
            pass: measured.is_some_and(|m| (m - expectation.value).abs() <= tolerance),
            source: expectation.source.clone(),
        }
    }
}

/// Stress in a part before anything moved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartStress {
    /// Part id.
    pub part: String,
    /// Largest |strain|, dimensionless.
    pub max_strain: f64,
    /// Tension in N of the spring with the largest |tension|, negative when compressed.
    pub tension: f64,
    /// That spring, counted within the part.
    pub spring: usize,
    /// Elastic energy in J.
    pub energy: f64,
    /// Whether the scene asked for it (a stated tension) or it follows from a stated length.
    pub intended: bool,
}

/// How the step was chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepChoice {
    /// Smallest guaranteed stable step over the frames in s; absent when the method has no limit.
    pub limit: Option<f64>,
    /// Fraction of the limit that automatic substeps use.
    pub safety: f64,
    /// Whether the scene fixed the number of substeps.
    pub fixed: bool,
    /// What sets the limit, e.g. `spring 17`.
    pub culprit: Option<String>,
}
