//! What every stepper owes its caller, whatever its mathematics.

use super::{Findings, Subject};
use crate::claim::Claim;
use crate::judge::linear::Line;
use crate::problems::{PROBLEMS, problem};
use crate::studies::failed_step::failed_step_study;
use crate::studies::restart::restart_study;
use sim_core::{ModelSystem, State};

/// Time advances by exactly dt, pinned particles stay, driven ones follow their path, the entry tells the truth about itself.
pub fn contract(subject: &Subject<'_>, findings: &mut Findings) {
    let mut complaints = Vec::new();
    let mut stepper = (subject.make)();
    if stepper.method() != subject.method {
        complaints.push(format!("the stepper says it is {}", stepper.method().id));
    }
    for id in ["chain_modes", "driven_support"] {
        let Some(problem) = problem(id) else { continue };
        let (system, mut state) = problem.build();
        state.t = 0.7;
        system.prescribe(state.t, &mut state.q, &mut state.v);
        let dt = 0.05 / problem.max_frequency();
        let mut expected = state.clone();
        for _ in 0..3 {
            expected.t += dt;
            if let Err(error) = stepper.step(&*system, &mut state, dt) {
                complaints.push(format!("{id}: {error}"));
                break;
            }
        }
        if state.t != expected.t {
            complaints.push(format!("{id}: time is {} after three steps, not {}", state.t, expected.t));
        }
        system.prescribe(expected.t, &mut expected.q, &mut expected.v);
        for i in (0..state.q.len()).filter(|i| system.inverse_mass()[i / 3] == 0.0) {
            if state.q[i] != expected.q[i] || state.v[i] != expected.v[i] {
                complaints.push(format!(
                    "{id}: supported particle {} is at {} with {}, not at {} with {}",
                    i / 3,
                    state.q[i],
                    state.v[i],
                    expected.q[i],
                    expected.v[i]
                ));
            }
        }
    }
    findings.claims.push(Claim::no_complaint(
        subject.id("contract", ""),
        "time advances by dt, supported particles are where they must be",
        complaints,
        "contract of Stepper and System::prescribe",
    ));
}

/// A linear problem is solved at once: explicit methods iterate never, implicit ones at most twice per stage.
pub fn work(subject: &Subject<'_>, findings: &mut Findings) {
    let line = Line::dashpot(2.0, 50.0, 2.0);
    let mut state = line.base.clone();
    state.q[3] += 0.01;
    let (id, source) = (subject.id("work", ""), "Newton's method solves a linear system in one iteration");
    let claim = match (subject.make)().step(&*line.system, &mut state, 0.4) {
        Ok(stats) if subject.method.implicit => {
            let iterations = f64::from(stats.newton_iterations);
            Claim::at_most(
                id,
                "Newton iterations of a step on the linear oscillator",
                4.0,
                iterations,
                source,
            )
        }
        Ok(stats) => {
            let mut complaints = Vec::new();
            if stats.newton_iterations > 0 || stats.linear_iterations > 0 {
                complaints.push(format!("an explicit step iterates: {stats:?}"));
            }
            if stats.force_evaluations == 0 || stats.substeps == 0 {
                complaints.push(format!("no force evaluation or no substep reported: {stats:?}"));
            }
            Claim::no_complaint(id, "an explicit step does not iterate", complaints, "definition")
        }
        Err(error) => {
            Claim::no_complaint(id, "a step on the linear oscillator", vec![], source).because(error)
        }
    };
    findings.claims.push(claim);
}

/// On a linear model the step is linear: no clamp, no absolute epsilon.
pub fn scaling(subject: &Subject<'_>, findings: &mut Findings) {
    let line = Line::mass_damping(2.0, 50.0, 2.0);
    let stepped = |factor: f64| {
        let mut state = line.base.clone();
        (state.q[3], state.v[3], state.v[4]) = (0.1 * factor, -0.3 * factor, 0.2 * factor);
        (subject.make)().step(&*line.system, &mut state, 0.08).map(|_| state)
    };
    let mut worst = 0.0_f64;
    let (id, what) =
        (subject.id("scaling", ""), "relative change of a linear step under a factor 1e-9 or 1e9");
    for factor in [1.0, 1e-9, 1e9] {
        match (stepped(1.0), stepped(factor)) {
            (Ok(one), Ok(other)) => {
                for (a, b) in one.q.iter().zip(&other.q).chain(one.v.iter().zip(&other.v)) {
                    worst = worst.max((a - b / factor).abs());
                }
            }
            (Err(error), _) | (_, Err(error)) => {
                findings.claims.push(Claim::at_most(id, what, 1e-12, f64::NAN, "").because(error));
                return;
            }
        }
    }
    findings.claims.push(Claim::at_most(id, what, 1e-12, worst, "linearity"));
}

/// A run taken up by a new stepper gives the same bits, on every problem.
pub fn restart(subject: &Subject<'_>, findings: &mut Findings) {
    let complaints = PROBLEMS
        .iter()
        .filter_map(|problem| {
            let (system, state): (Box<dyn ModelSystem>, State) = problem.build();
            let dt = 0.05 / problem.max_frequency();
            match restart_study(&*system, &mut || (subject.make)(), &state, dt, 15) {
                Ok(report) if report.identical() => None,
                Ok(_) => Some(format!("{}: other bits", problem.id())),
                Err(error) => Some(format!("{}: {error}", problem.id())),
            }
        })
        .collect();
    findings.claims.push(Claim::no_complaint(
        subject.id("restart", ""),
        "a run taken up from its state gives the same bits",
        complaints,
        "the state is the whole truth",
    ));
}

/// A failed step is an error and leaves state and stepper fit for use, on every problem.
pub fn failed_step(subject: &Subject<'_>, findings: &mut Findings) {
    let complaints = PROBLEMS
        .iter()
        .flat_map(|problem| {
            let dt = 0.05 / problem.max_frequency();
            let report = failed_step_study(*problem, &mut || (subject.make)(), dt);
            report.complaints.into_iter().map(|text| format!("{}: {text}", problem.id()))
        })
        .collect();
    findings.claims.push(Claim::no_complaint(
        subject.id("failed_step", ""),
        "a failed step is an error, leaves the state untouched and the stepper fit for use",
        complaints,
        "contract of Stepper",
    ));
}
