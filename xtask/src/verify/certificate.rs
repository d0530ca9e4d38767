//! The step certificate on random networks: never above the true limit, close to it, and the limit is what it is called.

use super::catalogue::{Job, Outcome, Scope};
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;
use serde_json::Value;
use sim_core::{Definiteness, ModelSystem, State};
use sim_integrate::{StepperInfo, stable_dt, stencil_stable_dt, stepper_info};
use sim_verify::strategies::{Network, NetworkOptions, counterexample, networks, sample};
use sim_verify::{Claim, DenseMatrices, Linearized};

/// Networks of the short and of the full run, per kind.
const COUNT: [u32; 2] = [2_000, 100_000];

/// Networks drawn from one seed; a chunk is the unit of parallel work.
const CHUNK: u32 = 100;

/// A kind of network and the method that is certified on it.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Word in the ids of its claims.
    pub id: &'static str,
    /// The method.
    pub method: &'static str,
    /// Stiffness and mass spread by 4 only instead of 10⁶ and 10⁴.
    even: bool,
    damping_ratio: f64,
    /// Share of the networks.
    share: f64,
    /// Steps in which the critical motion must show its growth: at 1.001 of the limit it grows by 6 % per step at the double root of the
    /// undamped case, by a few per mille otherwise.
    pub steps: u32,
}

/// Undamped networks by leapfrog, damped ones by symplectic Euler: the two conditions that are necessary and sufficient. Even networks, in
/// which no single spring sets the step, are the hard ones for a bound.
pub const KINDS: [Kind; 3] = [
    Kind { id: "undamped", method: "leapfrog", even: false, damping_ratio: 0.0, share: 0.5, steps: 1_500 },
    Kind { id: "even", method: "leapfrog", even: true, damping_ratio: 0.0, share: 0.3, steps: 1_500 },
    Kind {
        id: "damped",
        method: "symplectic_euler",
        even: false,
        damping_ratio: 0.5,
        share: 0.2,
        steps: 6_000,
    },
];

pub(super) fn jobs(_: Scope) -> Vec<Job> {
    KINDS
        .iter()
        .map(|kind| Job::new(format!("certificate/{}", kind.id), |scope| judge(*kind, scope)))
        .collect()
}

/// How wild networks of a kind are: stiffness spread over 10⁶ and mass over 10⁴ unless even, pre-stress up to 50 %.
pub fn options(kind: Kind) -> NetworkOptions {
    let wild = NetworkOptions { damping_ratio: kind.damping_ratio, ..NetworkOptions::default() };
    if kind.even { NetworkOptions { stiffness: (2.0, 2.6), mass: (-0.3, 0.3), ..wild } } else { wild }
}

/// What was found on one network.
#[derive(Clone, Copy, Debug)]
pub struct Finding {
    /// Largest stable step of the linear model, by dense eigenvalues, in s.
    pub limit: f64,
    /// Bound from the model's matrices over the limit.
    pub bound: f64,
    /// Bound from stencils alone over the limit.
    pub stencil_bound: f64,
    /// The certificate's own exact limit over the limit.
    pub exact: f64,
    /// Growth of the critical motion at 0.999 of the limit.
    pub below: f64,
    /// Growth at 1.001 of the limit.
    pub above: f64,
}

/// Growth that counts as bounded: at 0.999 of the limit the motion of a double root swings to at most 1/sqrt(1 - 0.999²) = 22 times.
const BOUNDED: f64 = 40.0;

impl Finding {
    /// What is wrong, if anything.
    ///
    /// # Errors
    /// A sentence with the numbers.
    pub fn verdict(&self) -> Result<(), String> {
        let Self { bound, stencil_bound, exact, below, above, limit } = *self;
        let sound = |x: f64| x > 0.0 && x <= 1.0 + 1e-9;
        if !(sound(bound) && sound(stencil_bound)) {
            return Err(format!("bounds are {bound} and {stencil_bound} of the true step {limit}"));
        }
        if (exact - 1.0).abs() > 1e-8 || exact.is_nan() {
            return Err(format!("the exact limit is off by a factor {exact}"));
        }
        if below.is_nan() || below > BOUNDED {
            return Err(format!("grows {below:.1e}-fold at 0.999 of the true step {limit}"));
        }
        if above.is_nan() || above < 2.0 * BOUNDED {
            return Err(format!("grows only {above:.1e}-fold at 1.001 of the true step {limit}"));
        }
        Ok(())
    }
}

/// Certifies one network and tests the certificate, the critical motion for `steps` steps.
///
/// # Errors
/// A sentence when the network cannot be built or certified.
pub fn examine(network: &Network, info: &'static StepperInfo, steps: u32) -> Result<Finding, String> {
    let (system, state) = network.build().map_err(|error| error.to_string())?;
    let (limit, mode) = true_limit(&system, &state).ok_or("no particle is free")?;
    let report = stable_dt(&system, &state, info).map_err(|error| error.to_string())?;
    let stencils = stencil_stable_dt(&system, &state, info).map_err(|error| error.to_string())?;
    let linear = Linearized::at(&system, &state);
    let growth = |factor| growth(&linear, info, &state, &mode, factor * limit, steps);
    Ok(Finding {
        limit,
        bound: report.dt_bound / limit,
        stencil_bound: stencils.dt_bound / limit,
        exact: report.dt_exact.map_or(f64::NAN, |dt| dt / limit),
        below: growth(0.999),
        above: growth(1.001),
    })
}

/// Largest dt with `dt² K + 2 dt D ⪯ 4 M` on the free particles, and the motion that reaches it: for leapfrog without damping and for
/// symplectic Euler with it this is exactly the limit of stability.
///
/// By bisection on dense symmetric eigenvalues, independently of the certificate.
fn true_limit(system: &dyn ModelSystem, state: &State) -> Option<(f64, DVector<f64>)> {
    let dense = DenseMatrices::at(system, state, Definiteness::Exact);
    let w = system.inverse_mass();
    let free: Vec<usize> = (0..state.q.len()).filter(|i| w[i / 3] > 0.0).collect();
    let n = free.len();
    let scaled = |m: &DMatrix<f64>| {
        DMatrix::from_fn(n, n, |r, c| m[(free[r], free[c])] * (w[free[r] / 3] * w[free[c] / 3]).sqrt())
    };
    let (k, d) = (scaled(&dense.stiffness), scaled(&dense.damping));
    let top = |dt: f64| (&k * (dt * dt) + &d * (2.0 * dt)).symmetric_eigenvalues().max();
    let stiffest = if n == 0 { 0.0 } else { k.symmetric_eigenvalues().max() };
    if stiffest <= 0.0 {
        return None;
    }
    let mut high = 2.0 / stiffest.sqrt();
    if d.amax() > 0.0 {
        let mut low = 0.0;
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if top(middle) <= 4.0 {
                low = middle;
            } else {
                high = middle;
            }
            if high - low < 1e-13 * high {
                break;
            }
        }
    }
    let eigen = (&k * (high * high) + &d * (2.0 * high)).symmetric_eigen();
    let u = eigen.eigenvectors.column(eigen.eigenvalues.imax());
    let mut mode = DVector::zeros(state.q.len());
    free.iter().zip(u.iter()).for_each(|(&i, u)| mode[i] = u * w[i / 3].sqrt());
    Some((high, mode))
}

/// Largest growth of the critical motion in `steps` steps of the linear model.
fn growth(
    linear: &Linearized,
    info: &StepperInfo,
    state: &State,
    mode: &DVector<f64>,
    dt: f64,
    steps: u32,
) -> f64 {
    let Ok(mut stepper) = (info.build)(&Value::Null) else { return f64::NAN };
    let linear: &(dyn ModelSystem + 'static) = linear;
    let mut moved = State::at_rest(state.q.clone());
    moved.q.iter_mut().zip(mode.iter()).for_each(|(q, u)| *q += u);
    let size = |at: &State| at.q.iter().zip(&state.q).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let start = size(&moved);
    let mut largest = 1.0_f64;
    for _ in 0..steps {
        if stepper.step(linear, &mut moved, dt).is_err() {
            return f64::INFINITY;
        }
        largest = largest.max(size(&moved) / start);
        if largest > 1e4 {
            break;
        }
    }
    largest
}

fn judge(kind: Kind, scope: Scope) -> Outcome {
    let count = (f64::from(COUNT[usize::from(!scope.quick)]) * kind.share) as u32;
    let id = format!("certificate/{}", kind.id);
    let Ok(info) = stepper_info(kind.method) else {
        return vec![Claim::no_complaint(id, "", vec![format!("no method {}", kind.method)], "")].into();
    };
    let strategy = networks(options(kind));
    let chunks: Vec<Vec<(u64, Result<Finding, String>)>> = (0..u64::from(count.div_ceil(CHUNK)))
        .into_par_iter()
        .map(|seed| {
            let nets = sample(&strategy, CHUNK, seed);
            nets.iter().map(|network| (seed, examine(network, info, kind.steps))).collect()
        })
        .collect();
    let findings: Vec<(u64, Result<Finding, String>)> = chunks.into_iter().flatten().collect();
    let verdict = |found: &Result<Finding, String>| found.clone().and_then(|finding| finding.verdict());
    let complaints: Vec<String> = findings
        .iter()
        .filter_map(|(seed, found)| verdict(found).err().map(|text| format!("seed {seed}: {text}")))
        .collect();
    let mut outcome = Outcome::default();
    if let Some((seed, _)) = findings.iter().find(|(_, found)| verdict(found).is_err()) {
        // The smallest network that still breaks the claim, as a scene that runs at 1.001 of the limit.
        let smallest =
            counterexample(&strategy, CHUNK, *seed, |network| examine(network, info, kind.steps)?.verdict());
        if let Some(found) = smallest {
            let dt = examine(&found.network, info, kind.steps).map_or(1e-3, |finding| 1.001 * finding.limit);
            outcome.scenes.push((
                format!("counterexample-{}.toml", kind.id),
                found.network.scene(kind.method, dt, kind.steps.into()),
            ));
        }
    }
    let mut bounds: Vec<f64> =
        findings.iter().filter_map(|(_, found)| found.as_ref().ok()).map(|f| f.bound).collect();
    bounds.sort_by(f64::total_cmp);
    let median = bounds.get(bounds.len() / 2).copied().unwrap_or(f64::NAN);
    let source = "linear theory: dt² K + 2 dt D ⪯ 4 M, dense eigenvalues";
    let total = findings.len();
    outcome.claims = vec![
        Claim::no_complaint(
            format!("{id}/sound"),
            format!(
                "{} on random {} networks: bounds never above the true step, bounded at 0.999 of it, growing at 1.001",
                kind.method, kind.id
            ),
            complaints,
            source,
        ),
        Claim::at_least(
            format!("{id}/number"),
            "networks examined",
            f64::from(count),
            total as f64,
            "sample size",
        ),
        Claim::at_least(
            format!("{id}/median"),
            "median of the guaranteed step over the true one",
            0.9,
            median,
            source,
        ),
    ];
    outcome
}
