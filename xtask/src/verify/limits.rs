//! The step limit that each method states, against the border of stability as measured on oscillators.

use super::catalogue::{Job, Outcome, Scope};
use super::steppers::make;
use nalgebra::Vector2;
use serde_json::json;
use sim_core::Stability;
use sim_integrate::steppers::theta_mixed::ThetaMixed;
use sim_integrate::{STEPPERS, StepLimit, StepperInfo, stable_dt};
use sim_verify::judge::linear::Line;
use sim_verify::judge::{AnyStepper, Subject};
use sim_verify::{Claim, stability_limit};

const DAMPING: [f64; 7] = [0.0, 0.01, 0.1, 0.5, 0.9, 1.5, 4.0];

pub(super) fn jobs(_: Scope) -> Vec<Job> {
    let limited = STEPPERS.iter().filter(|info| !matches!(info.limit, StepLimit::Unconditional));
    let mut jobs: Vec<Job> =
        limited.map(|info| Job::new(format!("{}/stated_limit", info.method.id), |_| stated(info))).collect();
    jobs.push(Job::new("covered_options", |_| covered()));
    jobs
}

/// Growth of a step that may be rounding: without damping the border is a double root, which magnifies it to its square root.
const GROWTH: f64 = 1.0 + 3e-8;

/// First ω dt at which a motion grows, from `start` on.
fn border(subject: &Subject<'_>, line: &Line, start: f64) -> Option<f64> {
    let limit = if line.oscillator.damping_ratio > 0.0 { 1.0 + 1e-12 } else { GROWTH };
    let stable = |omega_dt: f64| line.radius(subject, omega_dt) <= limit;
    let mut low = start;
    if !stable(low) {
        return None;
    }
    while low < 1e3 {
        let high = 1.01 * low;
        if !stable(high) {
            return stability_limit(low, high, 1e-10, stable).ok();
        }
        low = high;
    }
    Some(f64::INFINITY)
}

/// The largest ω dt that the method states as stable; zero where it says that there is none.
fn stated_limit(info: &'static StepperInfo, line: &Line) -> f64 {
    stable_dt(&*line.system, &line.base, info).map_or(0.0, |report| report.dt_bound * line.oscillator.omega)
}

fn stated(info: &'static StepperInfo) -> Outcome {
    let id = info.method.id;
    let make = || make(id);
    let subject = Subject::new(info.method, &make);
    let (mut highest, mut lowest, mut lowest_bound) = (0.0_f64, f64::INFINITY, f64::INFINITY);
    let mut complaints = Vec::new();
    for damping_ratio in DAMPING {
        for line in
            [Line::mass_damping(2.0, 8.0, 8.0 * damping_ratio), Line::dashpot(2.0, 8.0, 8.0 * damping_ratio)]
        {
            let stated = stated_limit(info, &line);
            if stated == 0.0 {
                // Nothing is stated to be stable: then even a short step must grow.
                if line.radius(&subject, 0.05) <= 1.0 + 1e-12 {
                    complaints
                        .push(format!("ζ = {damping_ratio}: no stable step is stated, but ω dt = 0.05 is"));
                }
                continue;
            }
            let Some(measured) = border(&subject, &line, 0.1 * stated) else {
                complaints
                    .push(format!("ζ = {damping_ratio}: grows at a tenth of the stated limit {stated}"));
                continue;
            };
            let share = stated / measured;
            highest = highest.max(share);
            let sharp = match info.limit {
                StepLimit::Certified { damped_is_sharp, .. } => damped_is_sharp || damping_ratio == 0.0,
                _ => true,
            };
            let kind = if sharp { &mut lowest } else { &mut lowest_bound };
            *kind = kind.min(share);
        }
    }
    let source = "`stable_dt` against the spectral radius of measured steps";
    let name = |part: &str| format!("{id}/stated_limit/{part}");
    let mut claims = vec![
        Claim::at_most(
            name("sound"),
            "stated step limit over the measured one on oscillators of seven damping ratios, at most",
            1.0 + 1e-6,
            highest,
            source,
        ),
        Claim::at_least(
            name("sharp"),
            "the same where the limit is stated as exact, at least",
            1.0 - 1e-6,
            lowest,
            source,
        ),
        Claim::no_complaint(name("growth"), "no method that states no step is stable", complaints, source),
    ];
    if lowest_bound.is_finite() {
        claims.push(Claim::at_least(
            name("useful"),
            "the same where the limit is stated as safe only, at least",
            0.5,
            lowest_bound,
            source,
        ));
    }
    claims.into()
}

/// Options under which an unconditional method stays so, and the limits of a family.
fn covered() -> Outcome {
    let mut complaints = Vec::new();
    let mut options = Vec::new();
    for alpha in 0..=4 {
        for beta in 0..=4 {
            let (alpha, beta) = (0.25 * f64::from(alpha), 0.25 * f64::from(beta));
            options.push(("theta_mixed", json!({ "alpha": alpha, "beta": beta })));
            if let Err(complaint) = family_member(alpha, beta) {
                complaints.push(complaint);
            }
        }
    }
    for (alpha_m, alpha_f, beta, gamma) in [
        (0.0, 0.0, 0.25, 0.5),
        (0.0, 0.0, 0.0, 0.5),
        (0.0, 0.0, 1.0 / 6.0, 0.5),
        (0.0, 0.05, 0.275625, 0.55),
        (0.0, 0.3, 0.4225, 0.8),
        (0.4, 0.3, 0.25, 0.5),
        (0.2, 0.45, 0.375, 0.75),
        (0.2, 0.45, 0.3, 0.75),
    ] {
        let parameters = json!({ "alpha_m": alpha_m, "alpha_f": alpha_f, "beta": beta, "gamma": gamma });
        options.push(("generalized_alpha", json!({ "parameters": parameters })));
    }
    let mut covered = 0;
    for (id, options) in &options {
        let Some(info) = STEPPERS.iter().find(|info| info.method.id == *id) else { continue };
        if !(info.covers)(options) {
            continue;
        }
        covered += 1;
        for (damping_ratio, omega_dt) in
            DAMPING.iter().flat_map(|z| [0.3, 1.0, 3.0, 30.0, 3e3].map(|x| (*z, x)))
        {
            let growth = long_growth(id, options, damping_ratio, omega_dt);
            if growth.is_nan() || growth > 1e3 {
                complaints.push(format!(
                    "{id} {options}, ζ = {damping_ratio}, ω dt = {omega_dt}: grows {growth:.1e}-fold"
                ));
            }
        }
    }
    let source = "stepped on oscillators";
    vec![
        Claim::no_complaint(
            "covered_options/bounded",
            "options that a limit covers keep to it; the limits of theta_mixed are measured",
            complaints,
            source,
        ),
        Claim::at_least(
            "covered_options/number",
            "option sets that are covered",
            7.0,
            f64::from(covered),
            source,
        ),
    ]
    .into()
}

/// Size after 400 steps from unit position and velocity.
fn long_growth(id: &str, options: &serde_json::Value, damping_ratio: f64, omega_dt: f64) -> f64 {
    let line = Line::mass_damping(1.0, 1.0, 2.0 * damping_ratio);
    let Ok(mut stepper) = sim_integrate::stepper(id, options) else { return f64::NAN };
    let mut state = line.base.clone();
    (state.q[line.coordinate], state.v[line.coordinate]) = (1.0, 1.0);
    let mut largest = 0.0_f64;
    for _ in 0..400 {
        if stepper.step(&*line.system, &mut state, omega_dt).is_err() {
            return f64::NAN;
        }
        // Bounded methods may swing to ω dt times the start before they settle: velocities count by the distance they make in a step.
        let size = Vector2::new(state.q[line.coordinate], state.v[line.coordinate]).norm();
        largest = largest.max(size / (1.0 + omega_dt));
        // It has died out; the squares of much shorter lengths underflow.
        if size < 1e-100 {
            break;
        }
    }
    largest
}

/// The stability that [`ThetaMixed::stability`] states for a member, as measured on the undamped oscillator.
fn family_member(alpha: f64, beta: f64) -> Result<(), String> {
    let Some(info) = STEPPERS.iter().find(|info| info.method.id == "theta_mixed") else {
        return Err("no theta_mixed".into());
    };
    let options = json!({ "alpha": alpha, "beta": beta });
    let make = || -> AnyStepper {
        match sim_integrate::stepper("theta_mixed", &options) {
            Ok(stepper) => stepper,
            Err(error) => panic!("{options}: {error}"),
        }
    };
    let subject = Subject::new(info.method, &make);
    let line = Line::mass_damping(1.0, 1.0, 0.0);
    let radius = |omega_dt: f64| line.radius(&subject, omega_dt);
    let bounded = |omega_dt: f64| radius(omega_dt) <= GROWTH;
    let stated = ThetaMixed::stability(alpha, beta);
    let good = match stated {
        Stability::Unstable => !bounded(0.1),
        Stability::Conditional { omega_dt } => bounded(0.9999 * omega_dt) && !bounded(1.0001 * omega_dt),
        Stability::Unconditional => [0.1, 1.0, 10.0, 1e3].into_iter().all(bounded) && radius(1e4) > 0.01,
        Stability::LStable => [0.1, 1.0, 10.0, 1e3].into_iter().all(bounded) && radius(1e4) < 0.01,
    };
    if good {
        Ok(())
    } else {
        Err(format!("α = {alpha}, β = {beta}: stated {stated:?}, measured otherwise"))
    }
}
