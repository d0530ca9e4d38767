//! What the reference areas of models share: one job per case, claims as distances, small particle models.

use super::catalogue::{Job, Outcome};
use sim_core::force::gravity::Gravity;
use sim_core::{ParticleSystem, ParticleSystemBuilder, State, Stepper};
use sim_pbd::constraints::distance::Distance;
use sim_pbd::{Bound, Formulation, PbdSystem, Xpbd, XpbdOptions};
use sim_verify::Claim;
use sim_verify::reference::{Case, case};
use std::error::Error;

/// Whatever kept a case from being measured.
pub(super) type CaseError = Box<dyn Error>;

pub(super) type Verdict = Result<Vec<Claim>, CaseError>;

/// A job whose values come from the case it is named after.
pub(super) fn job(
    id: &'static str,
    claims: impl Fn(&'static Case) -> Verdict + Send + Sync + 'static,
) -> Job {
    Job::new(format!("reference/{id}"), move |_| {
        let found = case(id).map_err(CaseError::from).and_then(&claims);
        let failed = |error: CaseError| {
            vec![Claim::no_complaint(format!("reference/{id}"), "", vec![], "").because(chain(&*error))]
        };
        let claims = found.unwrap_or_else(failed);
        Outcome::from(claims.into_iter().map(|claim| claim.case(id)).collect::<Vec<_>>())
    })
}

/// An error with its causes.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// The number `inputs/NAME`.
pub(super) fn input(case: &Case, name: &str) -> Result<f64, CaseError> {
    Ok(case.number(&format!("inputs/{name}"))?)
}

/// The number `expected/NAME`.
pub(super) fn expected(case: &Case, name: &str) -> Result<f64, CaseError> {
    Ok(case.number(&format!("expected/{name}"))?)
}

/// A distance that must not exceed `limit`.
pub(super) fn at_most(case: &Case, part: &str, what: &str, limit: f64, measured: f64) -> Claim {
    Claim::at_most(format!("reference/{}/{part}", case.id), what, limit, measured, case.source.as_str())
}

/// A value that must be at least `limit`.
pub(super) fn at_least(case: &Case, part: &str, what: &str, limit: f64, measured: f64) -> Claim {
    Claim::at_least(format!("reference/{}/{part}", case.id), what, limit, measured, case.source.as_str())
}

/// Largest of some distances; NaN counts as infinite.
pub(super) fn worst(distances: impl IntoIterator<Item = f64>) -> f64 {
    distances.into_iter().fold(0.0, |a, b| if b.is_nan() { f64::INFINITY } else { a.max(b) })
}

/// Largest absolute distance of two lists; infinite when their lengths differ.
pub(super) fn apart(found: &[f64], expected: &[f64]) -> f64 {
    if found.len() != expected.len() {
        return f64::INFINITY;
    }
    worst(found.iter().zip(expected).map(|(a, b)| (a - b).abs()))
}

/// |found / expected − 1|.
pub(super) fn relative(found: f64, expected: f64) -> f64 {
    (found / expected - 1.0).abs()
}

/// Particles under uniform gravity (m/s²), some of them pinned.
pub(super) fn particles(
    mass: &[f64],
    pins: &[usize],
    gravity: [f64; 3],
) -> Result<ParticleSystem, CaseError> {
    let builder = ParticleSystemBuilder::new(mass.to_vec()).pin(pins.iter().copied());
    Ok(builder.force(Gravity::new(gravity)).build()?)
}

/// A link of a rope.
pub(super) fn link(a: usize, b: usize, rest_length: f64, compliance: f64) -> Bound<Distance, 2> {
    Bound::compliant([a as u32, b as u32], Distance { rest_length }, compliance)
}

/// XPBD with substeps and iterations.
pub(super) fn sweeps(substeps: u32, iterations: u32) -> XpbdOptions {
    XpbdOptions { substeps, iterations, ..XpbdOptions::default() }
}

/// Plain PBD that removes a fraction per visit.
pub(super) fn plain(fraction: f64, iterations: u32) -> XpbdOptions {
    XpbdOptions { formulation: Formulation::Pbd { fraction }, ..sweeps(1, iterations) }
}

/// Makes steps of `dt` and returns the stepper, which knows forces and reports.
pub(super) fn advance(
    system: &PbdSystem,
    state: &mut State,
    options: XpbdOptions,
    dt: f64,
    steps: usize,
) -> Result<Xpbd, CaseError> {
    let mut xpbd = Xpbd::new(system, options)?;
    for _ in 0..steps {
        xpbd.step(system, state, dt)?;
    }
    Ok(xpbd)
}
