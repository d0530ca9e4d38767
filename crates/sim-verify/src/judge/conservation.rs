//! What a method keeps: the symplectic form, time reversal, momenta, energy, and the books.

use super::{Findings, Subject};
use crate::claim::Claim;
use crate::closed_forms::{self, Oscillator, is_reversible};
use crate::problems::{ExactProblem, PROBLEMS, problem};
use crate::studies::energy::energy_study;
use crate::studies::momentum::momentum_study;
use crate::studies::reversibility::reversibility_study;
use crate::studies::symplecticity::symplecticity_study;
use sim_core::{EnergyLedger, FORCES, ModelSystem, StageRecord};

/// `JᵀΩJ = Ω` on a chain and on the Kepler problem, exactly when claimed.
pub fn symplecticity(subject: &Subject<'_>, findings: &mut Findings) {
    let cases = [("chain_modes", 0.3, (1e-3, 5e-3), 0.05), ("kepler", 0.7, (1e-3, 1e-3), 0.2)];
    let mut worst = 0.0_f64;
    let mut failure = None;
    for (id, t, delta, dt) in cases {
        let Some(problem) = problem(id) else { continue };
        let (system, _) = problem.build();
        match symplecticity_study(&*system, &mut *(subject.make)(), &problem.exact(t), delta, dt) {
            Ok(report) => worst = worst.max(report.form_error).max(report.determinant_error),
            Err(error) => failure = Some(error),
        }
    }
    let id = subject.id("symplecticity", "");
    let what = "largest entry of JᵀΩJ - Ω on chain and Kepler problem";
    let claim = if subject.method.symplectic {
        Claim::at_most(id, what, 1e-9, worst, "definition of a symplectic map")
    } else {
        Claim::at_least(id, format!("{what}: not symplectic, as said"), 1e-6, worst, "claim of the method")
    };
    findings.claims.push(match failure {
        Some(error) => claim.because(error),
        None => claim,
    });
}

/// A method whose closed form is its own inverse after turning the velocity does so on the pendulum; the others do not.
pub fn reversibility(subject: &Subject<'_>, findings: &mut Findings) {
    let (Some(form), Some(pendulum)) = (subject.closed_form, problem("pendulum")) else { return };
    let (system, state) = pendulum.build();
    let id = subject.id("reversibility", "");
    let what = "distance from the start of the pendulum after 100 steps, turning round, and 100 more";
    let claim = |measured| {
        if is_reversible(form) {
            Claim::at_most(id.as_str(), what, 1e-10, measured, "ρ A ρ A = I of the closed form")
        } else {
            let what = format!("{what}: not reversible");
            Claim::at_least(id.as_str(), what, 1e-7, measured, "ρ A ρ A ≠ I of the closed form")
        }
    };
    let study = reversibility_study(&*system, &mut *(subject.make)(), &state, 0.05, 100, pendulum.scales());
    findings.claims.push(match study {
        Ok(distance) => claim(distance),
        Err(error) => claim(f64::NAN).because(error),
    });
}

/// Linear momentum of a free network always, angular momentum when symplectic: central forces, also with dashpots.
pub fn momentum(subject: &Subject<'_>, findings: &mut Findings) {
    let Some(sample) = FORCES.iter().find(|force| force.id == "spring").map(|force| force.sample) else {
        return;
    };
    let (system, state) = sample();
    // Implicit methods keep it as far as their equations are solved.
    let limit = if subject.method.implicit { 1e-9 } else { 1e-12 };
    let system: Box<dyn ModelSystem> = Box::new(system);
    let study = momentum_study(&*system, &mut *(subject.make)(), &state, 1e-3, 500, 1);
    let (linear, angular, failure) = match study {
        Ok(report) => (report.linear, report.angular, None),
        Err(error) => (f64::NAN, f64::NAN, Some(error)),
    };
    let mut push = |case: &str, what: &str, measured: f64| {
        let claim = Claim::at_most(subject.id("momentum", case), what, limit, measured, "Newton's third law");
        findings.claims.push(match &failure {
            Some(error) => claim.because(error),
            None => claim,
        });
    };
    push("linear", "relative change of linear momentum in 500 steps of a free network", linear);
    if subject.method.symplectic {
        push("angular", "relative change of angular momentum in 500 steps of a free network", angular);
    }
}

/// No drift when symplectic; otherwise drift of the sign that the closed form's spectral radius says.
pub fn energy(subject: &Subject<'_>, findings: &mut Findings) {
    let mut check = |id: &str, slowest: f64, dt: f64, steps: u64| {
        let Some(problem) = problem(id) else { return };
        let (system, state) = problem.build();
        let study = energy_study(&*system, &mut *(subject.make)(), &state, dt, steps, 1);
        let (drift, oscillation, failure) = match study {
            Ok(report) => (report.energy_drift, report.energy_oscillation, None),
            Err(error) => (f64::NAN, 0.0, Some(error)),
        };
        // A line fitted to A cos(ωt + φ) over the time T rises by at most 12 A/(ω T); twice that for sums of such terms.
        let fitted = 2.0 * 6.0 * oscillation / (slowest * dt * steps as f64);
        let claim_id = subject.id("energy", id);
        let what = format!("relative drift of the energy in {steps} steps of {}", problem.id());
        let radius = subject.closed_form.map(|form| {
            let undamped = Oscillator { omega: problem.max_frequency(), damping_ratio: 0.0 };
            closed_forms::spectral_radius(&form(undamped, dt))
        });
        let claim = match (subject.method.symplectic, radius) {
            (true, _) => {
                let source = "backward error analysis: what a fitted line makes of a bounded oscillation";
                Claim::near(claim_id, what, (0.0, fitted.clamp(1e-10, 0.01)), drift, source)
            }
            (false, Some(radius)) if radius < 1.0 - 1e-9 => Claim::at_most(
                claim_id,
                format!("{what}: loses energy"),
                -1e-4,
                drift,
                "spectral radius below 1",
            ),
            (false, Some(radius)) if radius > 1.0 + 1e-9 => Claim::at_least(
                claim_id,
                format!("{what}: gains energy"),
                1e-4,
                drift,
                "spectral radius above 1",
            ),
            _ => return,
        };
        findings.claims.push(match failure {
            Some(error) => claim.because(error),
            None => claim,
        });
    };
    // Frequencies of the slowest motion: the first mode of the chain; the pendulum at 90 degrees.
    check("chain_modes", 2.19, 0.02, 4000);
    if subject.method.symplectic {
        check("pendulum", 2.16, 0.05, 4000);
    }
}

/// The change of kinetic energy in every step is the work of the forces at the stages that the stepper reports, on every problem.
pub fn ledger(subject: &Subject<'_>, findings: &mut Findings) {
    let mut worst = 0.0_f64;
    let mut complaints = Vec::new();
    for problem in PROBLEMS {
        match ledger_residual(subject, *problem) {
            Ok(residual) => worst = worst.max(residual),
            Err(complaint) => complaints.push(format!("{}: {complaint}", problem.id())),
        }
    }
    let claim = Claim::at_most(
        subject.id("ledger", ""),
        "largest relative residual of the energy ledger of one step, over all problems",
        1e-9,
        worst,
        "M (v1 - v0) = dt Σ w f at the reported stages",
    );
    findings.claims.push(complaints.into_iter().fold(claim, Claim::because));
}

fn ledger_residual(subject: &Subject<'_>, problem: &dyn ExactProblem) -> Result<f64, String> {
    let mut stepper = (subject.make)();
    let (system, mut state) = problem.build();
    let mut ledger = EnergyLedger::new(&*system, &state);
    let mut record = StageRecord::default();
    let dt = 0.1 / problem.max_frequency();
    for _ in 0..40 {
        stepper
            .step_recorded(&*system, &mut state, dt, Some(&mut record))
            .map_err(|error| error.to_string())?;
        let weights: f64 = record.stages().iter().map(|stage| stage.weight).sum();
        if (weights - 1.0).abs() > 1e-13 {
            return Err(format!("stage weights sum to {weights}"));
        }
        ledger.book(&*system, |i| system.is_free(i), &state, dt, &record);
    }
    let report = ledger.report();
    if report.current.kinetic == report.initial.kinetic {
        return Err("nothing moved".into());
    }
    Ok(report.max_relative_residual)
}
