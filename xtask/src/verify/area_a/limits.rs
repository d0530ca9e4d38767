//! Stability limits: without damping, with it, and on the negative real axis.

use super::{Verdict, at_most, make, newmark, with, with_options, worst};
use serde_json::{Value, json};
use sim_core::force::mass_damping::MassDamping;
use sim_core::{ModelSystem, ParticleSystemBuilder, State};
use sim_verify::judge::linear::Line;
use sim_verify::reference::Case;
use sim_verify::studies::run;
use sim_verify::{Claim, stability_limit};

pub(super) fn limit_2(case: &Case) -> Verdict {
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

pub(super) fn damped_limits(case: &Case) -> Verdict {
    let zetas = case.numbers("inputs/zeta")?;
    let mut claims = Vec::new();
    let explicit_springs = json!({ "explicit": ["spring"] });
    for (label, id, options, column) in [
        ("symplectic_euler", "symplectic_euler", Value::Null, "limit_symplectic_old_velocity"),
        (
            "symplectic_euler_drift_kick",
            "symplectic_euler_drift_kick",
            Value::Null,
            "limit_symplectic_old_velocity",
        ),
        ("position_verlet", "position_verlet", Value::Null, "limit_dkd_explicit"),
        ("imex", "imex", explicit_springs, "limit_symplectic_implicit_damping"),
        ("newmark_central_difference", "generalized_alpha", newmark(0.0, 0.5), "limit_central_difference"),
    ] {
        let limits = case.numbers(&format!("expected/{column}"))?;
        let found = with_options(id, &options, |subject| {
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
        let what = |part: &str| format!("stability limit of {label} {part}, relative distance");
        claims.push(at_most(case, &format!("{label}/undamped"), what("without damping"), 1e-7, distances[0]));
        claims.push(at_most(
            case,
            &format!("{label}/damped"),
            what("at five damping ratios"),
            1e-9,
            worst(distances[1..].iter().copied()),
        ));
    }
    Ok(claims)
}

pub(super) fn runge_kutta_limits(case: &Case) -> Verdict {
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
pub(super) fn decay(id: &str, rate: f64) -> f64 {
    let Ok(system) = ParticleSystemBuilder::new(vec![1.0]).force(MassDamping { rate }).build() else {
        return f64::NAN;
    };
    let system: Box<dyn ModelSystem> = Box::new(system);
    let state = State { v: vec![1.0, 0.0, 0.0], ..State::at_rest(vec![0.0; 3]) };
    run(&*system, &mut *make(id), &state, 1.0, 1).map_or(f64::NAN, |end| end.v[0])
}
