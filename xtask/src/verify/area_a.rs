//! Reference area A: discrete values, limits and trajectories of methods, as far as the registry holds them.

use super::catalogue::{Job, Outcome, Scope};
use super::steppers::make;
use nalgebra::Complex;
use serde_json::{Value, json};
use sim_integrate::STEPPERS;
use sim_verify::judge::linear::{Line, march};
use sim_verify::judge::{AnyStepper, Subject};
use sim_verify::problems::pendulum::Pendulum;
use sim_verify::reference::{Case, ReferenceError, case};
use sim_verify::studies::run;
use sim_verify::{Claim, ExactProblem};

mod families;
mod limits;
mod trajectories;

use families::{FAMILY, critical_steps, family, hht, newmark};
use limits::{damped_limits, decay, limit_2, runge_kutta_limits};
use trajectories::{duffing, elastic_pendulum, henon_heiles, kepler, pendulum};

/// A method as a reference case names it.
#[derive(Clone, Debug)]
struct Member {
    /// Name in the cases.
    name: &'static str,
    /// Name in our claims.
    label: &'static str,
    /// Id and options in the registry.
    id: &'static str,
    options: Value,
}

/// Every method of the cases that the registry holds. `leapfrog` is velocity Verlet where nothing is damped.
fn members() -> Vec<Member> {
    let plain = [
        ("explicit_euler", "explicit_euler"),
        ("symplectic_euler_v_first", "symplectic_euler"),
        ("symplectic_euler_x_first", "symplectic_euler_drift_kick"),
        ("explicit_midpoint", "explicit_midpoint"),
        ("rk4", "runge_kutta4"),
        ("position_verlet_dkd_explicit_damping", "position_verlet"),
        ("position_verlet", "position_verlet"),
        ("velocity_verlet", "leapfrog"),
        ("implicit_euler", "implicit_euler"),
        ("implicit_midpoint", "implicit_midpoint"),
        ("trapezoidal", "trapezoidal"),
    ]
    .map(|(name, id)| Member { name, label: id, id, options: Value::Null });
    let newmark = [
        ("newmark_average_acceleration", 0.25),
        ("newmark_linear_acceleration", 1.0 / 6.0),
        ("newmark_fox_goodwin", 1.0 / 12.0),
        ("newmark_central_difference", 0.0),
    ]
    .map(|(name, beta)| Member {
        name,
        label: name,
        id: "generalized_alpha",
        options: newmark(beta, 0.5),
    });
    let split = Member {
        name: "symplectic_euler_v_first_implicit_damping",
        label: "imex",
        id: "imex",
        options: json!({ "explicit": ["spring"] }),
    };
    plain.into_iter().chain(newmark).chain([split]).filter(|member| has(member.id)).collect()
}

type Verdict = Result<Vec<Claim>, ReferenceError>;

/// A job whose values come from the case it is named after.
fn job(id: &'static str, claims: impl Fn(&'static Case) -> Verdict + Send + Sync + 'static) -> Job {
    Job::new(format!("reference/{id}"), move |_| {
        let found = case(id).and_then(&claims);
        let failed =
            |error| vec![Claim::no_complaint(format!("reference/{id}"), "", vec![], "").because(error)];
        let claims = found.unwrap_or_else(failed);
        Outcome::from(claims.into_iter().map(|claim| claim.case(id)).collect::<Vec<_>>())
    })
}

fn has(id: &str) -> bool {
    STEPPERS.iter().any(|info| info.method.id == id)
}

/// Calls `f` with the method `id` of the registry.
fn with<T>(id: &str, f: impl FnOnce(&Subject<'_>) -> T) -> Option<T> {
    with_options(id, &Value::Null, f)
}

/// Calls `f` with the method `id` of the registry and these options; none when either is not accepted.
fn with_options<T>(id: &str, options: &Value, f: impl FnOnce(&Subject<'_>) -> T) -> Option<T> {
    let info = STEPPERS.iter().find(|info| info.method.id == id)?;
    sim_integrate::stepper(id, options).ok()?;
    let make = || -> AnyStepper {
        match sim_integrate::stepper(id, options) {
            Ok(stepper) => stepper,
            Err(error) => panic!("{id} refuses the options it took before: {error}"),
        }
    };
    Some(f(&Subject::new(info.method, &make)))
}

fn at_most(case: &Case, part: &str, what: impl Into<String>, limit: f64, measured: f64) -> Claim {
    let id = if part.is_empty() {
        format!("reference/{}", case.id)
    } else {
        format!("reference/{}/{part}", case.id)
    };
    Claim::at_most(id, what, limit, measured, case.source.as_str())
}

/// Largest of some distances; NaN counts as infinite.
fn worst(distances: impl IntoIterator<Item = f64>) -> f64 {
    distances.into_iter().fold(0.0, |a, b| if b.is_nan() { f64::INFINITY } else { a.max(b) })
}

pub(super) fn jobs(_: Scope) -> Vec<Job> {
    let mut jobs = Vec::new();
    for case in sim_verify::reference::cases() {
        let Some(rest) = case.id.strip_prefix("A-sdof-") else { continue };
        let Some((name, _)) = rest.rsplit_once('-') else { continue };
        if let Some(member) = members().into_iter().find(|member| member.name == name) {
            jobs.push(job(&case.id, move |case| sdof(case, &member)));
        }
    }
    jobs.push(job("A-convergence-orders-damped", convergence));
    jobs.push(job("A-pendulum-discrete-40-steps", pendulum_40));
    jobs.push(job("A-discrete-invariants", invariants));
    jobs.push(job("A-limit-undamped-2", limit_2));
    jobs.push(job("A-limit-damped-table", damped_limits));
    jobs.push(job("A-limit-runge-kutta", runge_kutta_limits));
    if has("theta_mixed") {
        jobs.push(job("A-alphabeta-family", alpha_beta));
    }
    if has("tr_bdf2") {
        jobs.push(job("A-stability-function-tr-bdf2", tr_bdf2));
        jobs.push(job("A-discrete-tr-bdf2", |case| discrete(case, "tr_bdf2", &Value::Null)));
        jobs.push(job("A-stiff-decay-Lstability", stiff_decay));
    }
    if has("generalized_alpha") {
        for id in FAMILY {
            jobs.push(job(id, family));
        }
        jobs.push(job("A-newmark-critical-steps", critical_steps));
        jobs.push(job("A-discrete-hht-alpha--0.1", |case| discrete(case, "generalized_alpha", &hht(-0.1))));
    }
    for id in ["A-pendulum-10deg", "A-pendulum-60deg", "A-pendulum-90deg"] {
        jobs.push(job(id, pendulum));
    }
    jobs.push(job("A-duffing-hardening", duffing));
    jobs.push(job("A-kepler-e06", kepler));
    jobs.push(job("A-henon-heiles-E1_12", henon_heiles));
    jobs.push(job("A-elastic-pendulum", elastic_pendulum));
    jobs
}

/// Mass, spring and damper of a case.
fn line(case: &Case) -> Result<Line, ReferenceError> {
    let input = |name: &str| case.number(&format!("inputs/{name}"));
    Ok(Line::mass_damping(input("m")?, input("k")?, input("c")?))
}

fn start(case: &Case) -> Result<(f64, f64), ReferenceError> {
    Ok((case.number("inputs/x0")?, case.number("inputs/v0")?))
}

/// Step matrix, spectral radius and the state after 50 steps.
fn sdof(case: &Case, member: &Member) -> Verdict {
    let id = member.label;
    let (line, start, dt) = (line(case)?, start(case)?, case.number("inputs/h")?);
    let expected = case.matrix("expected/A")?;
    let rho = case.number("expected/spectral_radius")?;
    let (x, v) = (case.number("expected/x_after_50_steps")?, case.number("expected/v_after_50_steps")?);
    let omega = line.oscillator.omega;
    let claims = with_options(member.id, &member.options, |subject| {
        let matrix = line.step_matrix(subject, omega * dt).map_or(f64::NAN, |a| {
            let unit = [1.0, 1.0 / omega, omega, 1.0];
            worst((0..4).map(|i| {
                let expected = expected[(i / 2, i % 2)];
                (a[(i / 2, i % 2)] * unit[i] - expected).abs() / expected.abs().max(0.1)
            }))
        });
        let radius = (line.radius(subject, omega * dt) - rho).abs();
        let end = march(subject, &line, start, dt, 50);
        let states = end.map_or(f64::NAN, |end| worst([(end.0 / x - 1.0).abs(), (end.1 / v - 1.0).abs()]));
        vec![
            at_most(
                case,
                "matrix",
                format!("step matrix of {id}, relative distance per entry"),
                1e-12,
                matrix,
            ),
            at_most(case, "spectral_radius", format!("spectral radius of {id}, distance"), 1e-12, radius),
            at_most(case, "state", format!("state of {id} after 50 steps, relative distance"), 1e-11, states),
        ]
    });
    Ok(claims.unwrap_or_else(|| vec![at_most(case, "", format!("{id} takes its options"), 0.0, f64::NAN)]))
}

/// The errors themselves, to a millionth: tighter than any order or constant.
fn convergence(case: &Case) -> Verdict {
    let (line, start) = (line(case)?, start(case)?);
    let exact = case.number("expected/exact_x(1)")?;
    let mut claims = Vec::new();
    for Member { name, label, id, options } in members() {
        let path = format!("expected/abs_error_x[{name}]");
        if !case.expected.contains_key(&format!("abs_error_x[{name}]")) {
            continue;
        }
        let errors = case.numbers(&path)?;
        let distance = with_options(id, &options, |subject| {
            worst([50, 100, 200, 400].into_iter().zip(&errors).map(|(steps, expected)| {
                march(subject, &line, start, 1.0 / steps as f64, steps).map_or(f64::NAN, |end| {
                    // 3e-16 is the rounding of x itself, which the smallest error of fourth order feels.
                    let distance = ((end.0 - exact).abs() - expected).abs() - 3e-16;
                    distance.max(0.0) / expected
                })
            }))
        });
        let what = format!("errors of {label} with 50, 100, 200 and 400 steps, relative distance");
        claims.push(at_most(case, label, what, 1e-6, distance.unwrap_or(f64::NAN)));
    }
    Ok(claims)
}

fn pendulum_40(case: &Case) -> Verdict {
    let input = |name: &str| case.number(&format!("inputs/{name}"));
    let pendulum = Pendulum { gravity: input("g")?, length: input("L")?, amplitude: input("theta0")? };
    let dt = input("h")?;
    let mut claims = Vec::new();
    for Member { name, label, id, options } in members() {
        let key = format!("state_40_steps[{name}]");
        if !case.expected.contains_key(&key) {
            continue;
        }
        let expected = case.numbers(&format!("expected/{key}"))?;
        let (system, state) = pendulum.build();
        let end = with_options(id, &options, |subject| {
            run(&*system, &mut *(subject.make)(), &state, 40.0 * dt, 40).ok()
        });
        let distance = end
            .flatten()
            .map_or(f64::NAN, |end| worst([end.q[0] - expected[0], end.v[0] - expected[1]].map(f64::abs)));
        // Newton's method of an implicit step stops at its own tolerance.
        let limit = if STEPPERS.iter().any(|info| info.method.id == id && info.method.implicit) {
            1e-9
        } else {
            1e-11
        };
        claims.push(at_most(
            case,
            label,
            format!("state of {label} after 40 steps of the pendulum, distance"),
            limit,
            distance,
        ));
    }
    Ok(claims)
}

/// From x, v, ω² and dt.
type Invariant = fn(f64, f64, f64, f64) -> f64;

fn invariants(case: &Case) -> Verdict {
    let (omega, dt) = (case.number("inputs/omega")?, case.number("inputs/h")?);
    let line = Line::mass_damping(1.0, omega * omega, 0.0);
    let (x0, v0) = start(case)?;
    let w2 = omega * omega;
    let cases: [(&str, &str, Invariant); 3] = [
        ("I_symplectic_v_first", "symplectic_euler", |x, v, w2, h| v * v + w2 * x * x - h * w2 * x * v),
        ("I_symplectic_x_first", "symplectic_euler_drift_kick", |x, v, w2, h| {
            v * v + w2 * x * x + h * w2 * x * v
        }),
        ("I_velocity_verlet", "leapfrog", |x, v, w2, h| v * v + w2 * x * x * (1.0 - h * h * w2 / 4.0)),
    ];
    let mut claims = Vec::new();
    for (name, id, invariant) in cases {
        let expected = case.number(&format!("expected/{name}"))?;
        let mut state = line.base.clone();
        (state.q[3], state.v[3]) = (x0, v0);
        let mut stepper = make(id);
        let distance = worst((0..20_000).map(|_| match stepper.step(&*line.system, &mut state, dt) {
            Ok(_) => (invariant(state.q[3], state.v[3], w2, dt) / expected - 1.0).abs(),
            Err(_) => f64::NAN,
        }));
        let what = format!("discrete invariant of {id} in 20,000 steps, relative distance");
        claims.push(at_most(case, id, what, 1e-11, distance));
    }
    Ok(claims)
}

/// Trace, determinant and radius of every member, with the options `alpha` and `beta`.
fn alpha_beta(case: &Case) -> Verdict {
    let (a, b) = (case.numbers("inputs/a")?, case.numbers("inputs/b")?);
    let omega_dt = case.number("inputs/Omega")?;
    let expected = [
        case.numbers("expected/trace")?,
        case.numbers("expected/det")?,
        case.numbers("expected/spectral_radius")?,
    ];
    let line = Line::mass_damping(1.0, 1.0, 0.0);
    let mut distances = [0.0_f64; 3];
    for (i, (a, b)) in a.iter().zip(&b).enumerate() {
        let found = with_options("theta_mixed", &json!({ "alpha": a, "beta": b }), |subject| {
            line.step_matrix(subject, omega_dt).ok()
        });
        let found = found.flatten().map_or([f64::NAN; 3], |m| {
            [m.trace(), m.determinant(), sim_verify::closed_forms::spectral_radius(&m)]
        });
        for k in 0..3 {
            distances[k] = worst([distances[k], (found[k] - expected[k][i]).abs()]);
        }
    }
    let part = |k: usize, name: &str, limit: f64| {
        at_most(case, name, format!("{name} of ten members of the family, distance"), limit, distances[k])
    };
    // A double root at ζ = 0 magnifies rounding in the radius to its square root.
    Ok(vec![part(0, "trace", 1e-12), part(1, "determinant", 1e-12), part(2, "spectral_radius", 1e-7)])
}

fn tr_bdf2(case: &Case) -> Verdict {
    let line = Line::mass_damping(1.0, 1.0, 0.0);
    let mut distance = 0.0_f64;
    for (i, omega_dt) in case.numbers("inputs/Omega")?.into_iter().enumerate() {
        let expected: Complex<f64> = case.complex(&format!("expected/R/{i}"))?;
        let found = with("tr_bdf2", |subject| line.step_matrix(subject, omega_dt).ok()).flatten();
        distance = worst([
            distance,
            found.map_or(f64::NAN, |a| {
                worst([(0.5 * a.trace() - expected.re).abs(), (a.determinant() - expected.norm_sqr()).abs()])
            }),
        ]);
    }
    Ok(vec![at_most(case, "", "real part and square of |R(iΩ)| at six Ω, distance", 1e-11, distance)])
}

/// State after 50 steps and errors of a method.
fn discrete(case: &Case, id: &str, options: &Value) -> Verdict {
    let (line, start, dt) = (line(case)?, start(case)?, case.number("inputs/h")?);
    let (x, v) = (case.number("expected/x_50")?, case.number("expected/v_50")?);
    let (errors, exact) = (case.numbers("expected/abs_error_x")?, case.number("expected/exact_x(1)")?);
    let found = with_options(id, options, |subject| {
        let end = march(subject, &line, start, dt, 50);
        let state = end.map_or(f64::NAN, |end| worst([(end.0 / x - 1.0).abs(), (end.1 / v - 1.0).abs()]));
        let error = worst([50, 100, 200, 400].into_iter().zip(&errors).map(|(steps, expected)| {
            march(subject, &line, start, 1.0 / steps as f64, steps)
                .map_or(f64::NAN, |end| ((end.0 - exact).abs() / expected - 1.0).abs())
        }));
        vec![
            at_most(case, "state", format!("state of {id} after 50 steps, relative distance"), 1e-10, state),
            at_most(
                case,
                "errors",
                format!("errors of {id} with 50 to 400 steps, relative distance"),
                1e-6,
                error,
            ),
        ]
    });
    Ok(found.unwrap_or_else(|| vec![at_most(case, "", format!("{id} takes its options"), 0.0, f64::NAN)]))
}

fn stiff_decay(case: &Case) -> Verdict {
    let rate = case.number("inputs/lambda")? * case.number("inputs/h")?;
    let mut claims = Vec::new();
    for (id, name) in [
        ("implicit_euler", "R_implicit_euler"),
        ("trapezoidal", "R_trapezoidal"),
        ("implicit_midpoint", "R_trapezoidal"),
        ("tr_bdf2", "R_tr_bdf2"),
    ] {
        if has(id) {
            let distance = (decay(id, rate) - case.number(&format!("expected/{name}"))?).abs();
            claims.push(at_most(
                case,
                id,
                format!("reduction of a stiff mode by {id}, distance"),
                1e-10,
                distance,
            ));
        }
    }
    Ok(claims)
}
