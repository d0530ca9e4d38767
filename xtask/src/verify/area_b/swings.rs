//! Short motions of a chain and of a small cloth, against values in many digits.

use super::{CaseError, Model, Verdict, at_most, line, spring, worst};
use crate::verify::steppers::make;
use sim_core::force::gravity::Gravity;
use sim_core::force::springs::Springs;
use sim_core::{ParticleSystemBuilder, State};
use sim_verify::reference::Case;
use sim_verify::studies::run;

/// Runs the fourth-order method to each time and compares the given particles.
fn motion(
    case: &Case,
    system: &Model,
    state: &State,
    per_second: f64,
    particles: &[usize],
) -> Result<f64, CaseError> {
    let mut at = state.clone();
    let mut distance = 0.0_f64;
    for (i, t) in case.numbers("inputs/t")?.into_iter().enumerate() {
        let steps = ((t - at.t) * per_second).round().max(1.0) as u64;
        at = run(&**system, &mut *make("runge_kutta4"), &at, t, steps)
            .map_err(|error| CaseError::Solve(error.to_string()))?;
        let (positions, velocities) =
            (case.rows(&format!("expected/positions/{i}"))?, case.rows(&format!("expected/velocities/{i}"))?);
        for (&p, (q, v)) in particles.iter().zip(positions.iter().zip(&velocities)) {
            distance = worst([
                distance,
                worst((0..3).map(|k| (at.q[3 * p + k] - q[k]).abs().max((at.v[3 * p + k] - v[k]).abs()))),
            ]);
        }
    }
    Ok(distance)
}

pub(super) fn chain_swing(case: &Case) -> Verdict {
    let input = |name: &str| case.number(&format!("inputs/{name}"));
    let (n, k, rest, c, m, g) =
        (input("N")? as usize, input("k")?, input("l0")?, input("c")?, input("m")?, input("g")?);
    let system: Model = Box::new(
        ParticleSystemBuilder::new(vec![m; n + 1])
            .pin([0])
            .force(Springs::new((1..=n).map(|i| spring(i - 1, i, rest, k, c))))
            .force(Gravity::new([0.0, -g, 0.0]))
            .build()?,
    );
    let state = line((0..=n).map(|i| i as f64 * rest), 0);
    let particles: Vec<usize> = (1..=n).collect();
    let distance = motion(case, &system, &state, 20_000.0, &particles)?;
    Ok(vec![at_most(case, "motion", "positions and velocities at three times, distance", 1e-8, distance)])
}

pub(super) fn cloth_motion(case: &Case) -> Verdict {
    let input = |name: &str| case.number(&format!("inputs/{name}"));
    let (ks, kd, c, m, a, g) =
        (input("ks")?, input("kd")?, input("c")?, input("m")?, input("a")?, input("g")?);
    let mut list = Vec::new();
    for i in 0..3_usize {
        for j in 0..3_usize {
            for (di, dj, k) in [(1, 0, ks), (0, 1, ks), (1, 1, kd)] {
                if i + di < 3 && j + dj < 3 {
                    list.push(spring(
                        3 * i + j,
                        3 * (i + di) + j + dj,
                        a * (di as f64).hypot(dj as f64),
                        k,
                        c,
                    ));
                }
            }
            if i < 2 && j > 0 {
                list.push(spring(3 * i + j, 3 * (i + 1) + j - 1, a * std::f64::consts::SQRT_2, kd, c));
            }
        }
    }
    let system: Model = Box::new(
        ParticleSystemBuilder::new(vec![m; 9])
            .pin([0, 2])
            .force(Springs::new(list))
            .force(Gravity::new([0.0, 0.0, -g]))
            .build()?,
    );
    let state =
        State::at_rest((0..9).flat_map(|k| [a * f64::from(k / 3), a * f64::from(k % 3), 0.0]).collect());
    let particles: Vec<usize> =
        case.numbers("expected/free_node_ids")?.into_iter().map(|x| x as usize).collect();
    let distance = motion(case, &system, &state, 20_000.0, &particles)?;
    Ok(vec![at_most(case, "motion", "positions and velocities at two times, distance", 1e-8, distance)])
}
