//! Reference area F: projections, stiffness, integration and convergence of position-based dynamics; contact in files of its own.

use super::cases::{
    CaseError, Verdict, advance, apart, at_most, expected, input, job, link, particles, plain, relative,
    sweeps, worst,
};
use super::catalogue::{Job, Scope};
use nalgebra::Vector3;
use sim_core::State;
use sim_pbd::constraints::distance::Distance;
use sim_pbd::constraints::hinge_bending::HingeBending;
use sim_pbd::constraints::tetrahedron_volume::TetrahedronVolume;
use sim_pbd::{Bound, Constraint, Formulation, PbdSystem, Xpbd, XpbdOptions};
use sim_verify::reference::Case;
use std::f64::consts::PI;

mod contact;
mod dynamics;
mod errata;

pub(super) fn jobs(_: Scope) -> Vec<Job> {
    vec![
        job("F-distance-projection-equal", distance_projection),
        job("F-distance-projection-unequal", distance_projection),
        job("F-distance-projection-pinned", distance_projection),
        job("F-stiffness-iteration-correction", iteration_correction),
        job("F-bending-dihedral", dihedral),
        job("F-volume-constraint", volume),
        job("F-pbd-static-stretch-artifact", dynamics::stretch_of_plain),
        job("F-xpbd-static-stretch", dynamics::stretch),
        job("F-xpbd-equals-implicit-euler", dynamics::implicit_euler),
        job("F-chain-gs-rate", dynamics::chain_rate),
        job("F-triple-inextensible-pendulum", dynamics::triple_pendulum),
        job("F-incline-friction-mu04", contact::incline),
        job("F-incline-friction-mu07", contact::incline),
        job("F-rolling-cylinder-incline", contact::rolling),
        job("F-bounce-restitution", contact::bounce),
        job("F-capsule-plane-depth", contact::capsule),
        job("F-point-triangle-distance", contact::triangle),
        job("F-two-body-impact", contact::impact),
        job("F-errata-sign-and-jacobian", errata::errata),
    ]
}

/// Step of the projections in s: without forces and velocities it does not matter.
const DT: f64 = 0.01;

/// One step without forces and velocities is one projection.
fn projected<C: Constraint<N> + Clone + 'static, const N: usize>(
    points: [[f64; 3]; N],
    inverse_mass: [f64; N],
    constraint: C,
    options: XpbdOptions,
) -> Result<(State, Xpbd, PbdSystem), CaseError> {
    let mass = inverse_mass.map(|w| if w > 0.0 { 1.0 / w } else { 1.0 });
    let pins: Vec<usize> = (0..N).filter(|&i| inverse_mass[i] == 0.0).collect();
    let system = PbdSystem::builder(particles(&mass, &pins, [0.0; 3])?)
        .constraints([Bound::rigid(std::array::from_fn(|i| i as u32), constraint)])
        .build()?;
    let mut state = system.state_at_rest(points.concat());
    let xpbd = advance(&system, &mut state, options, DT, 1)?;
    Ok((state, xpbd, system))
}

/// Points of a state.
fn points<const N: usize>(state: &State) -> [Vector3<f64>; N] {
    std::array::from_fn(|i| Vector3::from_column_slice(&state.q[3 * i..3 * i + 3]))
}

/// `N` points of a case.
fn corners<const N: usize>(case: &Case, path: &str) -> Result<[[f64; 3]; N], CaseError> {
    let rows = case.rows(path)?.into_iter().map(|row| row.try_into().map_err(|_| "not a point"));
    let list = rows.collect::<Result<Vec<[f64; 3]>, _>>()?;
    Ok(list.try_into().map_err(|_| format!("{path} has another number of points"))?)
}

fn distance_projection(case: &Case) -> Verdict {
    let ends = [case.vector("inputs/x1")?, case.vector("inputs/x2")?];
    let weights = [input(case, "w1")?, input(case, "w2")?];
    let distance = Distance { rest_length: input(case, "L")? };
    let read = |suffix: &str| -> Result<Vec<f64>, CaseError> {
        let one = |name: &str| case.numbers(&format!("expected/{name}_new{suffix}"));
        Ok([one("x1")?, one("x2")?].concat())
    };
    let (whole, part) = (read("")?, read("_k0.3")?);
    let (xpbd, ..) = projected(ends, weights, distance, sweeps(1, 1))?;
    let (full, ..) = projected(ends, weights, distance, plain(1.0, 1))?;
    let (partial, ..) = projected(ends, weights, distance, plain(0.3, 1))?;
    let value = |x: &[Vector3<f64>; 2]| distance.evaluate(0.0, x).0;
    let violations = worst([
        (value(&ends.map(Vector3::from)) - expected(case, "violation_before")?).abs(),
        (value(&points(&partial)) - expected(case, "violation_after_k0.3")?).abs(),
        value(&points(&xpbd)).abs(),
    ]);
    // Lists are summed in a fixed order and lanes may be padded: the same constraint laid out for them.
    let mass = weights.map(|w| if w > 0.0 { 1.0 / w } else { 1.0 });
    let pins: Vec<usize> = (0..2).filter(|&i| weights[i] == 0.0).collect();
    let lanes = PbdSystem::builder(particles(&mass, &pins, [0.0; 3])?)
        .distances([link(0, 1, distance.rest_length, 0.0)])
        .build()?;
    let direct = PbdSystem::builder(particles(&mass, &pins, [0.0; 3])?)
        .chain([link(0, 1, distance.rest_length, 0.0)])
        .build()?;
    let mut others = 0.0;
    for system in [lanes, direct] {
        let mut state = system.state_at_rest(ends.concat());
        // One Newton step of the chain is the projection of its only link.
        advance(&system, &mut state, sweeps(1, 1), DT, 1)?;
        others = worst([others, apart(&state.q, &whole)]);
    }
    let mut claims = vec![
        at_most(case, "rigid", "rigid constraint after one projection, distance in m", 1e-14, {
            worst([apart(&xpbd.q, &whole), apart(&full.q, &whole)])
        }),
        at_most(case, "layouts", "the same in lanes and as a chain, distance in m", 1e-14, others),
        at_most(case, "part", "with fraction 0.3, distance in m", 1e-14, apart(&partial.q, &part)),
        at_most(case, "violation", "violations before and after, distance in m", 1e-14, violations),
    ];
    if pins.is_empty() {
        let center = |q: &[f64]| (0..3).map(|k| mass[0] * q[k] + mass[1] * q[3 + k]).collect::<Vec<_>>();
        let moved = worst([
            apart(&center(&xpbd.q), &center(&ends.concat())),
            apart(&center(&partial.q), &center(&ends.concat())),
        ]);
        claims.push(at_most(case, "momentum", "change of Σ m x in kg·m", 1e-14, moved));
    }
    Ok(claims)
}

fn iteration_correction(case: &Case) -> Verdict {
    let fraction = input(case, "k")?;
    let counts = case.numbers("inputs/n")?;
    let mut factors = 0.0;
    let mut left = 0.0;
    for (&count, expected) in counts.iter().zip(case.numbers("expected/k_prime")?) {
        let formulation = Formulation::pbd_per_step(fraction, count as u32);
        let Formulation::Pbd { fraction: found } = formulation else {
            return Err("the fraction per step is not plain PBD".into());
        };
        factors = worst([factors, (found - expected).abs()]);
        let options = XpbdOptions { formulation, ..sweeps(1, count as u32) };
        let (state, ..) = projected([[0.0; 3], [1.5, 0.0, 0.0]], [1.0, 0.5], ONE, options)?;
        let violation = ONE.evaluate(0.0, &points(&state)).0;
        left = worst([left, (violation / 0.5 - (1.0 - fraction)).abs()]);
    }
    Ok(vec![
        at_most(case, "factor", "fraction per visit for five iteration counts, distance", 1e-14, factors),
        at_most(case, "left", "part of a violation that is left after all visits, distance", 1e-14, left),
    ])
}

const ONE: Distance = Distance { rest_length: 1.0 };

fn dihedral(case: &Case) -> Verdict {
    let p: [[f64; 3]; 4] = corners(case, "inputs/p")?;
    let weights: [f64; 4] = case.numbers("inputs/w")?.try_into().map_err(|_| "not four weights")?;
    let x = p.map(Vector3::from);
    let flat = HingeBending { rest_angle: 0.0 };
    let (angle, gradient) = flat.evaluate(0.0, &x);
    // The case measures φ = π when flat, without a sign; ours is θ = 0 when flat: φ = π - |θ|, so that d = cos φ = -cos θ.
    let dihedral = |x: &[Vector3<f64>; 4]| PI - HingeBending::angle(x).abs();
    let along: Vec<f64> = gradient.iter().flat_map(|g| (g * angle.sin()).data.0[0]).collect();
    let back: Vec<f64> = along.iter().map(|g| -g).collect();
    let rest_angle = (PI - input(case, "phi0")?) * angle.signum();
    let (state, ..) = projected(p, weights, HingeBending { rest_angle }, sweeps(1, 1))?;
    let flatten = |path: &str| Ok::<_, CaseError>(case.rows(path)?.concat());
    let sum: Vector3<f64> = gradient.iter().sum();
    Ok(vec![
        at_most(case, "angle", "angle and its cosine, distance", 1e-12, {
            let phi = (dihedral(&x) - expected(case, "phi")?).abs();
            worst([phi, (-angle.cos() - expected(case, "d")?).abs()])
        }),
        at_most(
            case,
            "gradient",
            "gradient of the cosine, and minus it, which the paper prints, distance in 1/m",
            1e-12,
            worst([
                apart(&along, &flatten("expected/grad_d")?),
                apart(&back, &flatten("expected/q_of_2007_paper")?),
            ]),
        ),
        at_most(case, "sum", "sum of the gradients in rad/m", 1e-12, {
            apart(sum.as_slice(), &case.numbers("expected/sum_grad")?)
        }),
        at_most(case, "positions", "positions after one projection, distance in m", 1e-12, {
            apart(&state.q, &flatten("expected/positions_after")?)
        }),
        at_most(case, "after", "angle after it, distance in rad", 1e-12, {
            (dihedral(&points(&state)) - expected(case, "phi_after")?).abs()
        }),
    ])
}

fn volume(case: &Case) -> Verdict {
    let p: [[f64; 3]; 4] = corners(case, "inputs/p")?;
    let weights: [f64; 4] = case.numbers("inputs/w")?.try_into().map_err(|_| "not four weights")?;
    let rest_volume = input(case, "V0")?;
    let constraint = TetrahedronVolume { rest_volume };
    let (value, gradient) = constraint.evaluate(0.0, &p.map(Vector3::from));
    let (state, xpbd, system) = projected(p, weights, constraint, sweeps(1, 1))?;
    let after = constraint.evaluate(0.0, &points(&state)).0 + rest_volume;
    let multiplier = -xpbd.constraint_force(&system, 0, 0) * DT * DT;
    let gradient: Vec<f64> = gradient.iter().flat_map(|g| g.data.0[0]).collect();
    Ok(vec![
        at_most(case, "volume", "volumes before and after, relative distance", 1e-13, {
            let before = relative(value + rest_volume, expected(case, "V")?);
            worst([before, relative(after, expected(case, "V_after")?)])
        }),
        at_most(case, "gradient", "gradient, distance in m²", 1e-13, {
            apart(&gradient, &case.rows("expected/grad")?.concat())
        }),
        at_most(case, "multiplier", "multiplier, relative distance", 1e-13, {
            relative(multiplier, expected(case, "lambda")?)
        }),
        at_most(case, "positions", "positions after one projection, distance in m", 1e-13, {
            apart(&state.q, &case.rows("expected/positions_after")?.concat())
        }),
    ])
}
