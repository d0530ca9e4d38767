//! Methods of sim-integrate: every entry of the registry through every study, with pictures.

use super::catalogue::{Job, Outcome, Scope};
use super::charts::{Axis, Chart, Series};
use nalgebra::Matrix2;
use serde_json::Value;
use sim_core::{SimulateOptions, State, StepStats, simulate};
use sim_integrate::STEPPERS;
use sim_verify::judge::history::judge_history;
use sim_verify::judge::linear::{Line, stability_border};
use sim_verify::judge::{AnyStepper, Findings, Subject, conservation, judge_stepper};
use sim_verify::{Claim, problem};
use std::ops::ControlFlow;

/// A method of the registry with its default options.
///
/// # Panics
/// When the registry does not accept its own id.
pub(super) fn make(id: &str) -> AnyStepper {
    match sim_integrate::stepper(id, &Value::Null) {
        Ok(stepper) => stepper,
        Err(error) => panic!("the registry refuses its own {id}: {error}"),
    }
}

pub(super) fn jobs(_: Scope) -> Vec<Job> {
    let mut jobs: Vec<Job> = STEPPERS
        .iter()
        .map(|info| {
            Job::new(info.method.id, |_| {
                let make = || make(info.method.id);
                let findings = judge_stepper(&Subject::new(info.method, &make));
                let orders = findings
                    .orders
                    .into_iter()
                    .map(|(problem, order, report)| (info.method.id.to_owned(), problem, order, report))
                    .collect();
                Outcome { claims: findings.claims, orders, ..Outcome::default() }
            })
        })
        .collect();
    jobs.extend(STEPPERS.iter().map(|info| {
        Job::new(format!("history/{}", info.method.id), |_| {
            let id = format!("history/{}", info.method.id);
            judge_history(&id, info.method, &mut || make(info.method.id)).into()
        })
    }));
    jobs.push(Job::new("position_verlet/velocity_damping", |_| velocity_damping()));
    jobs.push(Job::new("registry", |_| registry()));
    jobs.push(Job::new("charts/stability", |_| stability_charts()));
    jobs.push(Job::new("charts/work", |_| work_chart("pendulum")));
    jobs
}

fn registry() -> Outcome {
    let mut complaints = Vec::new();
    for info in STEPPERS {
        let id = info.method.id;
        if STEPPERS.iter().filter(|other| other.method.id == id).count() != 1 {
            complaints.push(format!("{id} is listed twice"));
        }
        if info.method.reference.is_empty() || info.method.limitations.is_empty() {
            complaints.push(format!("{id} names no source or no limitation"));
        }
        if sim_integrate::stepper(id, &(info.defaults)()).is_err() {
            complaints.push(format!("{id} refuses its own defaults"));
        }
    }
    vec![Claim::no_complaint(
        "registry",
        "ids are unique, entries complete, defaults accepted",
        complaints,
        "",
    )]
    .into()
}

/// Position Verlet with velocities that decay: its step matrix, and an energy ledger that closes.
fn velocity_damping() -> Outcome {
    const RATE: f64 = 0.7;
    let Some(info) = STEPPERS.iter().find(|info| info.method.id == "position_verlet") else {
        return Outcome::default();
    };
    let make = || -> AnyStepper {
        match sim_integrate::stepper("position_verlet", &serde_json::json!({ "velocity_damping": RATE })) {
            Ok(stepper) => stepper,
            Err(error) => panic!("{error}"),
        }
    };
    let subject = Subject {
        id: "position_verlet/velocity_damping",
        closed_form: None,
        ..Subject::new(info.method, &make)
    };
    let line = Line::mass_damping(2.0, 8.0, 0.0);
    let distance = [0.05, 0.4, 1.0, 1.9].map(|omega_dt| {
        let dt = omega_dt / line.oscillator.omega;
        let half_drift = Matrix2::new(1.0, 0.5 * dt, 0.0, 1.0);
        let decay = Matrix2::new(1.0, 0.0, 0.0, (-0.5 * RATE * dt).exp());
        let kick = Matrix2::new(1.0, 0.0, -dt * line.oscillator.stiffness(), 1.0);
        let expected = half_drift * decay * kick * decay * half_drift;
        // The velocity counts in units of ω.
        let omega = line.oscillator.omega;
        let expected = Matrix2::new(expected.m11, expected.m12 * omega, expected.m21 / omega, expected.m22);
        line.step_matrix(&subject, omega_dt).map_or(f64::NAN, |found| (found - expected).amax())
    });
    let mut findings = Findings::default();
    findings.claims.push(Claim::at_most(
        "position_verlet/velocity_damping/amplification",
        "step matrix with velocities that decay, distance from half drift, decay, kick, decay, half drift",
        1e-10,
        distance.into_iter().fold(0.0, |worst: f64, d| if d.is_nan() { f64::INFINITY } else { worst.max(d) }),
        "Strang splitting",
    ));
    conservation::ledger(&subject, &mut findings);
    findings.claims.into()
}

/// Borders of stability in the plane of z = dt μ, as measured.
fn stability_charts() -> Outcome {
    let mut charts = Vec::new();
    for (implicit, title, top) in [
        (false, "Stability of explicit methods", 4.0),
        (true, "Stability of implicit methods (drawn up to |z| = 10)", 10.0),
    ] {
        let series: Vec<Series> = STEPPERS
            .iter()
            .filter(|info| info.method.implicit == implicit)
            .map(|info| {
                let make = || make(info.method.id);
                let border = stability_border(&Subject::new(info.method, &make), 24, top);
                let mirrored = border.iter().rev().map(|&(x, y)| (x, -y));
                let points: Vec<(f64, f64)> = border.iter().copied().chain(mirrored).collect();
                Series::new(info.method.id, points)
            })
            .collect();
        if !series.is_empty() {
            charts.push(Chart {
                title: title.into(),
                note: "z = dt μ with μ = ω(-ζ ± i√(1-ζ²)), the eigenvalues of the damped oscillator: first |z| at which the \
                       measured step grows, by angle."
                    .into(),
                x: Axis::linear("Re z"),
                y: Axis::linear("Im z"),
                equal: true,
                series,
            });
        }
    }
    Outcome { charts, ..Outcome::default() }
}

/// Error at the end against force evaluations.
fn work_chart(id: &str) -> Outcome {
    let Some(problem) = problem(id) else { return Outcome::default() };
    let (scale, rate_scale) = problem.scales();
    let series = STEPPERS
        .iter()
        .map(|info| {
            let points = [40_u64, 80, 160, 320, 640, 1280, 2560, 5120].into_iter().filter_map(|steps| {
                let (system, mut state) = problem.build();
                let mut work = 0_u64;
                let mut count = |_: &_, _: &State, stats: &StepStats| {
                    work += u64::from(stats.force_evaluations.max(stats.newton_iterations));
                    ControlFlow::Continue(())
                };
                let options = SimulateOptions { dt: problem.t_end() / steps as f64, steps };
                simulate(&*system, &mut *make(info.method.id), &mut state, options, &mut [&mut count])
                    .ok()?;
                let exact = problem.exact(problem.t_end());
                let distance = |a: &[f64], b: &[f64], scale: f64| {
                    a.iter().zip(b).map(|(a, b)| (a - b).abs() / scale).fold(0.0, f64::max)
                };
                let error = distance(&state.q, &exact.q, scale).max(distance(&state.v, &exact.v, rate_scale));
                Some((work as f64, error))
            });
            Series::new(info.method.id, points)
        })
        .collect();
    let chart = Chart {
        title: format!("Work and precision on {id}"),
        note: "Relative error at the end of the interval against force evaluations: further down and to the left is better.".into(),
        x: Axis::log("force evaluations"),
        y: Axis::log("relative error"),
        equal: false,
        series,
    };
    Outcome { charts: vec![chart], ..Outcome::default() }
}
