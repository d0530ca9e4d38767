//! Reference area A: discrete values, limits and trajectories of methods, as far as the registry holds them.

use super::catalogue::{Job, Outcome, Scope};
use super::steppers::make;
use nalgebra::{Complex, Matrix3, Vector3};
use serde_json::{Value, json};
use sim_core::force::gravity::Gravity;
use sim_core::force::mass_damping::MassDamping;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ModelSystem, ParticleSystemBuilder, State};
use sim_integrate::STEPPERS;
use sim_verify::judge::linear::{Line, march};
use sim_verify::judge::{AnyStepper, Subject};
use sim_verify::problems::{duffing::Duffing, kepler::Kepler, pendulum::Pendulum};
use sim_verify::reference::{Case, ReferenceError, case};
use sim_verify::studies::run;
use sim_verify::{Claim, ExactProblem, PointLaw, PointSystem, stability_limit};

/// Names in the reference cases and ids of methods that are exactly these. `leapfrog` is velocity Verlet where nothing is damped.
const NAMES: [(&str, &str); 11] = [
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
];

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

/// The methods of the registry that a case speaks of: its name and ours.
fn known() -> impl Iterator<Item = (&'static str, &'static str)> {
    NAMES.into_iter().filter(|(_, id)| has(id))
}

fn has(id: &str) -> bool {
    STEPPERS.iter().any(|info| info.method.id == id)
}

/// Calls `f` with the method `id` of the registry.
fn with<T>(id: &str, f: impl FnOnce(&Subject<'_>) -> T) -> Option<T> {
    let info = STEPPERS.iter().find(|info| info.method.id == id)?;
    let make = || make(id);
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

pub(super) fn jobs(_: &Scope) -> Vec<Job> {
    let mut jobs = Vec::new();
    for case in sim_verify::reference::cases() {
        let Some(rest) = case.id.strip_prefix("A-sdof-") else { continue };
        let Some((name, damping)) = rest.rsplit_once('-') else { continue };
        let undamped = damping == "undamped";
        let id = match name {
            // The same maps: without damping, and on a linear equation.
            "newmark_central_difference" | "symplectic_euler_v_first_implicit_damping" if !undamped => {
                continue;
            }
            "newmark_central_difference" => "leapfrog",
            "symplectic_euler_v_first_implicit_damping" => "symplectic_euler",
            "newmark_average_acceleration" => "trapezoidal",
            name => match NAMES.iter().find(|(other, _)| *other == name) {
                Some((_, id)) => id,
                None => continue,
            },
        };
        if has(id) {
            jobs.push(job(&case.id, move |case| sdof(case, id)));
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
        jobs.push(job("A-discrete-tr-bdf2", |case| discrete(case, "tr_bdf2")));
        jobs.push(job("A-stiff-decay-Lstability", stiff_decay));
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
fn sdof(case: &Case, id: &str) -> Verdict {
    let (line, start, dt) = (line(case)?, start(case)?, case.number("inputs/h")?);
    let expected = case.matrix("expected/A")?;
    let rho = case.number("expected/spectral_radius")?;
    let (x, v) = (case.number("expected/x_after_50_steps")?, case.number("expected/v_after_50_steps")?);
    let omega = line.oscillator.omega;
    let claims = with(id, |subject| {
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
    Ok(claims.unwrap_or_default())
}

/// The errors themselves, to a millionth: tighter than any order or constant.
fn convergence(case: &Case) -> Verdict {
    let (line, start) = (line(case)?, start(case)?);
    let exact = case.number("expected/exact_x(1)")?;
    let mut claims = Vec::new();
    for (name, id) in known() {
        let path = format!("expected/abs_error_x[{name}]");
        if !case.expected.contains_key(&format!("abs_error_x[{name}]")) {
            continue;
        }
        let errors = case.numbers(&path)?;
        let distance = with(id, |subject| {
            worst([50, 100, 200, 400].into_iter().zip(&errors).map(|(steps, expected)| {
                march(subject, &line, start, 1.0 / steps as f64, steps).map_or(f64::NAN, |end| {
                    // 3e-16 is the rounding of x itself, which the smallest error of fourth order feels.
                    let distance = ((end.0 - exact).abs() - expected).abs() - 3e-16;
                    distance.max(0.0) / expected
                })
            }))
        });
        let what = format!("errors of {id} with 50, 100, 200 and 400 steps, relative distance");
        claims.push(at_most(case, id, what, 1e-6, distance.unwrap_or(f64::NAN)));
    }
    Ok(claims)
}

fn pendulum_40(case: &Case) -> Verdict {
    let input = |name: &str| case.number(&format!("inputs/{name}"));
    let pendulum = Pendulum { gravity: input("g")?, length: input("L")?, amplitude: input("theta0")? };
    let dt = input("h")?;
    let mut claims = Vec::new();
    for (name, id) in known() {
        let key = format!("state_40_steps[{name}]");
        if !case.expected.contains_key(&key) {
            continue;
        }
        let expected = case.numbers(&format!("expected/{key}"))?;
        let (system, state) = pendulum.build();
        let end = run(&*system, &mut *make(id), &state, 40.0 * dt, 40);
        let distance =
            end.map_or(f64::NAN, |end| worst([end.q[0] - expected[0], end.v[0] - expected[1]].map(f64::abs)));
        // Newton's method of an implicit step stops at its own tolerance.
        let limit = if STEPPERS.iter().any(|info| info.method.id == id && info.method.implicit) {
            1e-9
        } else {
            1e-11
        };
        claims.push(at_most(
            case,
            id,
            format!("state of {id} after 40 steps of the pendulum, distance"),
            limit,
            distance,
        ));
    }
    Ok(claims)
}

fn invariants(case: &Case) -> Verdict {
    let (omega, dt) = (case.number("inputs/omega")?, case.number("inputs/h")?);
    let line = Line::mass_damping(1.0, omega * omega, 0.0);
    let (x0, v0) = start(case)?;
    let w2 = omega * omega;
    type Invariant = fn(f64, f64, f64, f64) -> f64;
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

fn limit_2(case: &Case) -> Verdict {
    let line = Line::mass_damping(1.0, 1.0, 0.0);
    let limit = case.number("expected/h_omega_limit")?;
    let radii = [
        (2.1, case.number("expected/spectral_radius_at_2.1")?),
        (2.5, case.number("expected/spectral_radius_at_2.5")?),
    ];
    let mut claims = Vec::new();
    for id in ["symplectic_euler", "symplectic_euler_drift_kick", "leapfrog", "position_verlet"] {
        let found = with(id, |subject| {
            let distance = worst(radii.map(|(x, rho)| (line.radius(subject, x) - rho).abs()));
            let growth = |omega_dt: f64| {
                let mut state = line.base.clone();
                state.q[3] = 0.1;
                let mut stepper = (subject.make)();
                worst((0..100_000).map_while(|_| {
                    stepper.step(&*line.system, &mut state, omega_dt).ok()?;
                    (state.q[3].abs() < 1e100).then_some(state.q[3].abs() / 0.1)
                }))
            };
            (distance, growth(0.9995 * limit), growth(1.0005 * limit))
        });
        let Some((distance, below, above)) = found else { continue };
        claims.push(at_most(
            case,
            &format!("{id}/radius"),
            format!("spectral radius of {id} at ω dt = 2.1 and 2.5"),
            1e-12,
            distance,
        ));
        // Bounded: the ellipse of the invariant is at most 1/sqrt(1 - Ω²/4) long.
        claims.push(at_most(
            case,
            &format!("{id}/below"),
            format!("growth of {id} in 100,000 steps at ω dt = 1.999"),
            100.0,
            below,
        ));
        claims.push(Claim::at_least(
            format!("reference/{}/{id}/above", case.id),
            format!("growth of {id} at ω dt = 2.001"),
            1e50,
            above,
            case.source.as_str(),
        ));
    }
    Ok(claims)
}

fn damped_limits(case: &Case) -> Verdict {
    let zetas = case.numbers("inputs/zeta")?;
    let mut claims = Vec::new();
    for (id, column) in [
        ("symplectic_euler", "limit_symplectic_old_velocity"),
        ("symplectic_euler_drift_kick", "limit_symplectic_old_velocity"),
        ("position_verlet", "limit_dkd_explicit"),
    ] {
        let limits = case.numbers(&format!("expected/{column}"))?;
        let found = with(id, |subject| {
            zetas
                .iter()
                .zip(&limits)
                .map(|(&zeta, &limit)| {
                    let line = Line::mass_damping(1.0, 1.0, 2.0 * zeta);
                    // At ζ = 0 the border is a double root, so that rounding is magnified to its square root.
                    let slack = if zeta == 0.0 { 1e-7 } else { 1e-12 };
                    let found = stability_limit(0.9 * limit, 1.1 * limit, 1e-10, |x| {
                        line.radius(subject, x) <= 1.0 + slack
                    });
                    (found.unwrap_or(f64::NAN) / limit - 1.0).abs()
                })
                .collect::<Vec<f64>>()
        });
        let Some(distances) = found else { continue };
        let what = |part: &str| format!("stability limit of {id} {part}, relative distance");
        claims.push(at_most(case, &format!("{id}/undamped"), what("without damping"), 1e-7, distances[0]));
        claims.push(at_most(
            case,
            &format!("{id}/damped"),
            what("at five damping ratios"),
            1e-9,
            worst(distances[1..].iter().copied()),
        ));
    }
    Ok(claims)
}

fn runge_kutta_limits(case: &Case) -> Verdict {
    let mut claims = Vec::new();
    let limit = |id: &str, zeta: f64, expected: f64| {
        let line = Line::mass_damping(1.0, 1.0, 2.0 * zeta);
        with(id, |subject| {
            stability_limit(0.9 * expected, 1.1 * expected, 1e-13, |x| line.radius(subject, x) <= 1.0 + 1e-13)
                .unwrap_or(f64::NAN)
        })
        .map_or(f64::NAN, |found| (found - expected).abs())
    };
    let undamped = case.number("expected/rk4_undamped_limit")?;
    claims.push(at_most(
        case,
        "runge_kutta4",
        "undamped stability limit of runge_kutta4, distance",
        1e-10,
        limit("runge_kutta4", 0.0, undamped),
    ));
    let zetas = case.numbers("inputs/zeta")?;
    for (id, column) in [
        ("explicit_euler", "explicit_euler_damped_limit"),
        ("explicit_midpoint", "rk2_damped_limit"),
        ("runge_kutta4", "rk4_damped_limit"),
    ] {
        let limits = case.numbers(&format!("expected/{column}"))?;
        let distance = worst(zetas.iter().zip(limits).map(|(&zeta, expected)| limit(id, zeta, expected)));
        claims.push(at_most(
            case,
            &format!("{id}/damped"),
            format!("damped stability limits of {id}, distance"),
            1e-10,
            distance,
        ));
    }
    let line = Line::mass_damping(1.0, 1.0, 0.0);
    for (id, name) in
        [("explicit_euler", "explicit_euler_rho_at_0.5"), ("explicit_midpoint", "rk2_rho_at_0.5")]
    {
        let expected = case.number(&format!("expected/{name}"))?;
        let distance = with(id, |subject| (line.radius(subject, 0.5) - expected).abs()).unwrap_or(f64::NAN);
        claims.push(at_most(
            case,
            &format!("{id}/radius"),
            format!("spectral radius of {id} at ω dt = 0.5, distance"),
            1e-12,
            distance,
        ));
    }
    // The negative real axis: a particle under damping alone.
    let expected = case.number("expected/rk4_negative_real_axis")?;
    let found =
        stability_limit(1.0, 4.0, 1e-13, |z| decay("runge_kutta4", z).abs() <= 1.0).unwrap_or(f64::NAN);
    claims.push(at_most(
        case,
        "runge_kutta4/real_axis",
        "end of the stability region of runge_kutta4 on the real axis, distance",
        1e-10,
        (found - expected).abs(),
    ));
    Ok(claims)
}

/// Factor by which one step of 1 s multiplies a velocity that decays at `rate`.
fn decay(id: &str, rate: f64) -> f64 {
    let Ok(system) = ParticleSystemBuilder::new(vec![1.0]).force(MassDamping { rate }).build() else {
        return f64::NAN;
    };
    let system: Box<dyn ModelSystem> = Box::new(system);
    let state = State { v: vec![1.0, 0.0, 0.0], ..State::at_rest(vec![0.0; 3]) };
    run(&*system, &mut *make(id), &state, 1.0, 1).map_or(f64::NAN, |end| end.v[0])
}

/// Trace, determinant and radius of every member, with the options `alpha` and `beta`.
fn alpha_beta(case: &Case) -> Verdict {
    let Some(info) = STEPPERS.iter().find(|info| info.method.id == "theta_mixed") else {
        return Ok(Vec::new());
    };
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
        let make = || -> AnyStepper {
            match sim_integrate::stepper("theta_mixed", &json!({ "alpha": a, "beta": b })) {
                Ok(stepper) => stepper,
                Err(_) => make("theta_mixed"),
            }
        };
        let subject = Subject::new(info.method, &make);
        let found = line.step_matrix(&subject, omega_dt).map_or([f64::NAN; 3], |m| {
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
fn discrete(case: &Case, id: &str) -> Verdict {
    let (line, start, dt) = (line(case)?, start(case)?, case.number("inputs/h")?);
    let (x, v) = (case.number("expected/x_50")?, case.number("expected/v_50")?);
    let (errors, exact) = (case.numbers("expected/abs_error_x")?, case.number("expected/exact_x(1)")?);
    let found = with(id, |subject| {
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
    Ok(found.unwrap_or_default())
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

/// Largest distance of an exact problem from states at given times: components of q and v by index.
fn against(problem: &dyn ExactProblem, times: &[f64], q: &[Vec<f64>], v: &[Vec<f64>]) -> f64 {
    worst(times.iter().zip(q.iter().zip(v)).flat_map(|(&t, (q, v))| {
        let state = problem.exact(t);
        let distances = q.iter().zip(&state.q).chain(v.iter().zip(&state.v)).map(|(a, b)| (a - b).abs());
        distances.collect::<Vec<_>>()
    }))
}

fn column(values: Vec<f64>) -> Vec<Vec<f64>> {
    values.into_iter().map(|x| vec![x]).collect()
}

fn pendulum(case: &Case) -> Verdict {
    let input = |name: &str| case.number(&format!("inputs/{name}"));
    let pendulum = Pendulum { gravity: input("g")?, length: input("L")?, amplitude: input("theta0")? };
    let (theta, rate) = (case.numbers("expected/theta")?, case.numbers("expected/theta_dot")?);
    let distance = against(&pendulum, &case.numbers("inputs/t")?, &column(theta), &column(rate));
    let period = (pendulum.period() / case.number("expected/period")? - 1.0).abs();
    Ok(vec![
        at_most(case, "state", "exact pendulum at four times, distance", 1e-12, distance),
        at_most(case, "period", "period of the pendulum, relative distance", 1e-13, period),
    ])
}

fn duffing(case: &Case) -> Verdict {
    let input = |name: &str| case.number(&format!("inputs/{name}"));
    let duffing = Duffing { alpha: input("alpha")?, beta: input("beta")?, amplitude: input("A")? };
    let (x, v) = (case.numbers("expected/x")?, case.numbers("expected/v")?);
    let distance = against(&duffing, &case.numbers("inputs/t")?, &column(x), &column(v));
    Ok(vec![at_most(case, "", "exact Duffing oscillator at three times, distance", 1e-12, distance)])
}

fn kepler(case: &Case) -> Verdict {
    let kepler = Kepler { eccentricity: case.number("inputs/e")? };
    let rows = case.rows("expected/state(qx,qy,px,py)")?;
    let part = |from: usize| rows.iter().map(|row| row[from..from + 2].to_vec()).collect::<Vec<_>>();
    let distance = against(&kepler, &case.numbers("inputs/t")?, &part(0), &part(2));
    Ok(vec![at_most(case, "", "exact orbit at three times, distance", 1e-12, distance)])
}

#[derive(Debug)]
struct HenonHeiles;

impl PointLaw for HenonHeiles {
    fn potential(&self, x: Vector3<f64>) -> f64 {
        0.5 * (x[0] * x[0] + x[1] * x[1]) + x[0] * x[0] * x[1] - x[1].powi(3) / 3.0
    }

    fn conservative(&self, x: Vector3<f64>) -> Vector3<f64> {
        Vector3::new(-x[0] - 2.0 * x[0] * x[1], -x[1] - x[0] * x[0] + x[1] * x[1], 0.0)
    }

    fn stiffness(&self, x: Vector3<f64>) -> Matrix3<f64> {
        Matrix3::new(1.0 + 2.0 * x[1], 2.0 * x[0], 0.0, 2.0 * x[0], 1.0 - 2.0 * x[1], 0.0, 0.0, 0.0, 0.0)
    }
}

/// Runs the fourth-order method from `state` to each time and compares four components.
fn trajectory(
    system: &(dyn ModelSystem + 'static),
    state: &State,
    per_second: f64,
    times: &[f64],
    expected: &[Vec<f64>],
    read: impl Fn(&State) -> [f64; 4],
) -> f64 {
    let mut at = state.clone();
    let mut stepper = match sim_integrate::stepper("runge_kutta4", &Value::Null) {
        Ok(stepper) => stepper,
        Err(_) => return f64::NAN,
    };
    let mut distance = 0.0_f64;
    for (&t, expected) in times.iter().zip(expected) {
        let steps = ((t - at.t) * per_second).ceil().max(1.0) as u64;
        match run(system, &mut *stepper, &at, t, steps) {
            Ok(end) => at = end,
            Err(_) => return f64::NAN,
        }
        distance = worst([distance, worst(read(&at).iter().zip(expected).map(|(a, b)| (a - b).abs()))]);
    }
    distance
}

fn henon_heiles(case: &Case) -> Verdict {
    let (q, p) = (case.numbers("inputs/q0")?, case.numbers("inputs/p0")?);
    let state = State { v: vec![p[0], p[1], 0.0], ..State::at_rest(vec![q[0], q[1], 0.0]) };
    let system = PointSystem::new(1.0, HenonHeiles);
    let distance =
        trajectory(&system, &state, 400.0, &case.numbers("inputs/t")?, &case.rows("expected/state")?, |s| {
            [s.q[0], s.q[1], s.v[0], s.v[1]]
        });
    Ok(vec![at_most(
        case,
        "",
        "runge_kutta4 with 400 steps per unit of time, distance at three times",
        1e-10,
        distance,
    )])
}

fn elastic_pendulum(case: &Case) -> Verdict {
    let input = |name: &str| case.number(&format!("inputs/{name}"));
    let spring = Spring { ends: [0, 1], rest_length: input("l0")?, stiffness: input("k")?, damping: 0.0 };
    let system = ParticleSystemBuilder::new(vec![1.0, input("m")?])
        .pin([0])
        .force(Springs::new([spring]))
        .force(Gravity::new([0.0, 0.0, -input("g")?]))
        .build();
    let Ok(system) = system else {
        return Ok(vec![at_most(case, "", "a model of these values", 0.0, f64::NAN)]);
    };
    let start = case.numbers("inputs/state0")?;
    let state = State {
        v: vec![0.0, 0.0, 0.0, start[2], 0.0, start[3]],
        ..State::at_rest(vec![0.0, 0.0, 0.0, start[0], 0.0, start[1]])
    };
    let distance =
        trajectory(&system, &state, 4000.0, &case.numbers("inputs/t")?, &case.rows("expected/state")?, |s| {
            [s.q[3], s.q[5], s.v[3], s.v[5]]
        });
    Ok(vec![at_most(
        case,
        "",
        "runge_kutta4 with 4000 steps per second, distance at three times",
        1e-9,
        distance,
    )])
}
