//! Which method to try first, and why not the others: from the step limit, the spread of stiffness and the damping of a model.
//!
//! # Limitations
//! The facts are certain, the order of the suggestions is an estimate: what a step costs and how wrong it is shows in a run only
//! (`sim advise` makes it).

use crate::stability::{StabilityError, stencil_stable_dt};
use crate::steppers::stepper_info;
use crate::substeps::SubstepOptions;
use crate::{OptionsError, STEPPERS};
use serde::Serialize;
use sim_core::{ModelSystem, Stability, State};

/// Force evaluations that an implicit step is taken to cost: two or three Newton iterations, each a matrix (about four evaluations)
/// and a solve (about ten).
const IMPLICIT_STEP: f64 = 40.0;
/// Shares below which a frame counts as resolved by explicit steps alone.
const FEW_STEPS: u64 = 4;

/// What is wanted of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdviceRequest {
    /// Time between two frames in s.
    pub frame: f64,
    /// Wanted relative error of the motion, above 0 and at most 1.
    pub relative_error: f64,
    /// Whether the method itself may neither make nor lose energy.
    pub conserve_energy: bool,
}

/// What is known of a model before anything runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Facts {
    /// Particles that move.
    pub free: usize,
    /// Largest leapfrog step in s that is guaranteed stable; infinite when nothing limits it.
    pub stable_dt: f64,
    /// Leapfrog steps per frame that automatic substeps take.
    pub explicit_steps: u64,
    /// Force id and index of the stencil that sets the step.
    pub culprit: Option<(&'static str, usize)>,
    /// Angular frequency in rad/s of the stiffest stencil by itself.
    pub stiffest: f64,
    /// The same of the softest one.
    pub softest: f64,
    /// Fraction of critical damping of the stiffest stencil.
    pub damping_ratio: f64,
}

impl Facts {
    /// Ratio of the frequencies of the stiffest and the softest stencil.
    pub fn spread(&self) -> f64 {
        if self.softest > 0.0 { self.stiffest / self.softest } else { 1.0 }
    }
}

/// A method worth trying.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    /// Method id.
    pub method: &'static str,
    /// Steps per frame to begin with.
    pub substeps: u64,
    /// Expected cost of a frame in force evaluations; orders the list.
    pub force_evaluations: f64,
    /// Why, with numbers.
    pub reason: String,
}

/// A method not worth trying.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rejection {
    /// Method id.
    pub method: &'static str,
    /// Why not, with numbers.
    pub reason: String,
}

/// What to try, the cheapest expected first, and what not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// What it rests on.
    pub facts: Facts,
    /// Never empty.
    pub suggestions: Vec<Suggestion>,
    /// The other methods.
    pub rejections: Vec<Rejection>,
}

/// No advice can be given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdviceError {
    /// A field of the request is out of range.
    #[error("{field} is {value}, must be {requirement}")]
    Request {
        /// Field.
        field: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        requirement: &'static str,
    },
    /// The model has no step limit.
    #[error(transparent)]
    Stability(#[from] StabilityError),
    /// A method of the registry is missing from this build.
    #[error(transparent)]
    Method(#[from] OptionsError),
}

/// Advises on a model at a state.
///
/// # Errors
/// [`AdviceError`].
pub fn advise(
    system: &dyn ModelSystem,
    state: &State,
    request: AdviceRequest,
) -> Result<Advice, AdviceError> {
    let AdviceRequest { frame, relative_error, conserve_energy } = request;
    if !(frame.is_finite() && frame > 0.0) {
        return Err(AdviceError::Request {
            field: "frame",
            value: frame,
            requirement: "positive and finite, in s",
        });
    }
    if !(relative_error > 0.0 && relative_error <= 1.0) {
        return Err(AdviceError::Request {
            field: "relative_error",
            value: relative_error,
            requirement: "above 0 and at most 1",
        });
    }
    let facts = facts(system, state, frame)?;
    let explicit_cost = |evaluations: f64| facts.explicit_steps as f64 * evaluations;
    let (mut suggestions, mut rejections) = (Vec::new(), Vec::new());
    for info in STEPPERS {
        let method = info.method;
        let verdict = match (method.id, method.stability) {
            (_, Stability::Unstable) => {
                Err("without damping it makes every motion grow, at any step".to_owned())
            }
            ("theta_mixed", _) => Err("with its default weights it is `trapezoidal`".into()),
            ("imex", _) => Err("without forces to leave explicit it is `implicit_euler`".into()),
            // Two forms of one step; the error of both is the same.
            ("symplectic_euler_drift_kick", _) => {
                Err("`symplectic_euler` with the halves exchanged: same cost, same error".into())
            }
            ("position_verlet", _) => {
                Err("`leapfrog` with the halves exchanged: same order, same limit".into())
            }
            (id, Stability::Conditional { .. }) => explicit(id, method.order, &facts, request),
            _ if facts.explicit_steps <= FEW_STEPS => Err(format!(
                "explicit steps are nearly as long as the frame ({} per frame): there is nothing stiff to be gained from",
                facts.explicit_steps
            )),
            (_, Stability::LStable) | ("generalized_alpha", _) if conserve_energy => {
                Err("it takes energy out of fast motions by itself".into())
            }
            (_, _) if method.order == 1 && relative_error < 1e-2 => Err(format!(
                "of first order: at ten steps per swing its error is tens of per cent, and {} would take hundreds",
                percent(relative_error)
            )),
            (_, stability) => Ok(Suggestion {
                method: method.id,
                substeps: 1,
                force_evaluations: IMPLICIT_STEP,
                reason: implicit_reason(method.id, stability, &facts, frame),
            }),
        };
        match verdict {
            Ok(suggestion) => suggestions.push(suggestion),
            Err(reason) => rejections.push(Rejection { method: method.id, reason }),
        }
    }
    if suggestions.is_empty() {
        // Nothing is stiff and nothing else was left: the simplest method of second order.
        let leapfrog = stepper_info("leapfrog")?.method;
        suggestions.push(Suggestion {
            method: leapfrog.id,
            substeps: facts.explicit_steps,
            force_evaluations: explicit_cost(2.0),
            reason: "of second order, and keeps energy without drift".into(),
        });
        rejections.retain(|rejection| rejection.method != leapfrog.id);
    }
    suggestions.sort_by(|a, b| a.force_evaluations.total_cmp(&b.force_evaluations));
    Ok(Advice { facts, suggestions, rejections })
}

fn percent(error: f64) -> String {
    format!("{} %", 100.0 * error)
}

/// Explicit methods: as long as their steps are not far more than implicit ones would cost.
fn explicit(
    id: &'static str,
    order: u32,
    facts: &Facts,
    request: AdviceRequest,
) -> Result<Suggestion, String> {
    let (evaluations, limit) = match id {
        "leapfrog" => (2.0, 1.0),
        // Its limit on the imaginary axis is larger by sqrt 2, but four evaluations buy it.
        "runge_kutta4" => (4.0, std::f64::consts::FRAC_1_SQRT_2),
        _ => (1.0, 1.0),
    };
    let steps = (facts.explicit_steps as f64 * limit).ceil();
    let cost = steps * evaluations;
    if cost > 50.0 * IMPLICIT_STEP {
        return Err(format!(
            "the stiffest part needs {steps:.0} steps per frame, {cost:.0} force evaluations, where an implicit step costs about {IMPLICIT_STEP}"
        ));
    }
    if order == 1 && request.relative_error < 1e-3 {
        return Err("of first order: leapfrog gives the square of its error for one more evaluation".into());
    }
    if id == "runge_kutta4" && request.conserve_energy {
        return Err("it loses energy slowly, without end".into());
    }
    Ok(Suggestion {
        method: id,
        substeps: steps as u64,
        force_evaluations: cost,
        reason: format!(
            "stable up to {:.3e} s, so {steps:.0} step{} per frame; no equations to solve{}",
            facts.stable_dt,
            if steps == 1.0 { "" } else { "s" },
            if id == "runge_kutta4" { "; of fourth order" } else { ", and no drift of the energy" }
        ),
    })
}

fn implicit_reason(id: &str, stability: Stability, facts: &Facts, frame: f64) -> String {
    let stiff = format!(
        "stable at any step, while the stiffest part swings {:.1} times in a frame",
        facts.stiffest * frame / std::f64::consts::TAU
    );
    match stability {
        _ if id == "generalized_alpha" => format!("{stiff}; takes energy out of the fastest motions only"),
        Stability::LStable => {
            format!("{stiff}; takes energy out of what it cannot resolve, so that nothing jitters")
        }
        _ => format!("{stiff}; keeps the energy of a linear model"),
    }
}

fn facts(system: &dyn ModelSystem, state: &State, frame: f64) -> Result<Facts, AdviceError> {
    let report = stencil_stable_dt(system, state, stepper_info("leapfrog")?)?;
    let safety = SubstepOptions::default().safety;
    let steps = (frame / (safety * report.dt_bound)).ceil().max(1.0);
    let (mut stiffest, mut softest, mut damping_ratio) = (0.0_f64, f64::INFINITY, 0.0);
    let w = system.inverse_mass();
    system.stencil_bounds(&state.q, &mut |stencil| {
        // w_eff = Σ c² / m: the inverse mass that the stencil's own motion has.
        let inverse: f64 = stencil.particles.iter().zip(stencil.weights).map(|(&p, c)| c * c * w[p]).sum();
        let omega = (stencil.stiffness.max(0.0) * inverse).sqrt();
        if omega > stiffest {
            stiffest = omega;
            damping_ratio = 0.5 * stencil.damping * inverse / omega;
        }
        if omega > 0.0 {
            softest = softest.min(omega);
        }
    });
    Ok(Facts {
        free: w.iter().filter(|&&w| w > 0.0).count(),
        stable_dt: report.dt_bound,
        explicit_steps: if steps < 1e9 { steps as u64 } else { 1_000_000_000 },
        culprit: report.culprit,
        stiffest,
        softest: if softest.is_finite() { softest } else { 0.0 },
        damping_ratio,
    })
}
