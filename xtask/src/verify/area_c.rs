//! Reference area C: belts, pulleys and friction drives, as far as the contact of ropes with drums expresses them.

use super::cases::{CaseError, Verdict, at_most, expected, input, job, relative, worst};
use super::catalogue::{Job, Scope};
use nalgebra::Vector2;
use rig::{FirstEnd, slipping};
use sim_core::topology::{self, BeltLoopOptions, belt_length};
use sim_pbd::belt::BeltPath;
use sim_verify::reference::Case;
use std::f64::consts::PI;

mod belt_drive;
mod drives;
mod falling;
mod rig;

pub(super) fn jobs(_: Scope) -> Vec<Job> {
    let mut jobs = vec![
        job("C-capstan-ratio", capstan),
        job("C-capstan-discrete-nodes", discrete_capstan),
        job("C-capstan-centrifugal", drives::centrifugal),
        job("C-belt-length-two-pulley", belt_lengths),
        job("C-belt-tensions-and-slip-arc", drives::slip_arc),
        job("C-belt-elastic-creep", drives::creep),
        job("C-moving-string", drives::moving_string),
        job("C-belt-drive-torsional-mode", drives::torsional_mode),
        job("C-running-belt-tension", drives::running_belt),
        job("C-atwood-pulley", falling::atwood),
        job("C-chain-off-table", falling::off_the_table),
        job("C-stick-slip-block-on-belt", falling::stick_slip),
        job("C-band-brake", band_brake),
        job("C-block-and-tackle", tackle),
    ];
    jobs.extend(belt_drive::jobs());
    jobs
}

/// Radius in m of drums where the case gives none.
const RADIUS: f64 = 0.1;

/// Ratio of the tensions at the ends of a slipping rope with `nodes` particles on the drum.
fn ratio(friction: f64, wrap: f64, nodes: usize) -> Result<f64, CaseError> {
    let found = slipping(friction, RADIUS, &[wrap], nodes, FirstEnd::Fixed, false)?;
    if found.sliding != (nodes, nodes) {
        return Err(format!("{} of {} contacts slide", found.sliding.0, found.sliding.1).into());
    }
    Ok(found.tensions[1] / found.tensions[0])
}

/// The same for more and more nodes: the logarithm of the ratio has an error of the second order in the turn per node.
fn smooth_ratio(friction: f64, wrap: f64) -> Result<f64, CaseError> {
    let nodes = ((wrap / 0.3).ceil() as usize).max(8);
    let [coarse, fine] = [nodes, 2 * nodes].map(|nodes| ratio(friction, wrap, nodes));
    Ok(((4.0 * fine?.ln() - coarse?.ln()) / 3.0).exp())
}

fn capstan(case: &Case) -> Verdict {
    let wraps = case.numbers("inputs/theta")?;
    let mut claims = Vec::new();
    for (friction, wanted) in case.numbers("inputs/mu")?.into_iter().zip(case.rows("expected/ratio")?) {
        let distances: Result<Vec<f64>, CaseError> = wraps
            .iter()
            .zip(wanted)
            .map(|(&wrap, b)| Ok(relative(smooth_ratio(friction, wrap)?, b)))
            .collect();
        let what = format!("ratio over a quarter to three turns, μ = {friction}, relative distance");
        claims.push(at_most(case, &format!("mu_{friction}"), &what, 1e-3, worst(distances?)));
    }
    // A groove of half angle β/2 multiplies the normal force by 1/sin(β/2).
    let friction = case.number("inputs/mu/1")? / (0.5 * input(case, "V_angle")?).sin();
    let found = smooth_ratio(friction, PI)?;
    let groove = worst([
        relative(friction, expected(case, "mu_eff_vbelt_mu0.3")?),
        relative(found, expected(case, "ratio_vbelt_mu0.3_theta_pi")?),
    ]);
    claims.push(at_most(
        case,
        "groove",
        "ratio in a V groove over half a turn, relative distance",
        1e-3,
        groove,
    ));
    Ok(claims)
}

fn discrete_capstan(case: &Case) -> Verdict {
    let (friction, wrap) = (input(case, "mu")?, input(case, "theta")?);
    let mut distance = 0.0;
    for (count, wanted) in case.numbers("inputs/N")?.into_iter().zip(case.numbers("expected/ratio")?) {
        distance = worst([distance, relative(ratio(friction, wrap, count as usize)?, wanted)]);
    }
    let limit = relative(smooth_ratio(friction, wrap)?, expected(case, "limit")?);
    Ok(vec![
        at_most(case, "nodes", "ratio over 4 to 256 nodes, relative distance", 1e-5, distance),
        at_most(case, "limit", "ratio extrapolated to a smooth belt, relative distance", 1e-4, limit),
    ])
}

fn belt_lengths(case: &Case) -> Verdict {
    let (big, small, center) = (input(case, "R")?, input(case, "r")?, input(case, "C")?);
    let around =
        |center: f64| BeltPath::around(&[(Vector2::zeros(), big), (Vector2::new(center, 0.0), small)]);
    let path = around(center)?;
    let pulley = |x: f64, radius: f64| topology::Pulley { center: [x, 0.0, 0.0], radius };
    let laid = belt_length(&BeltLoopOptions::new(vec![pulley(0.0, big), pulley(center, small)], 8))?;
    let length = expected(case, "L_open")?;
    // The inverse: length grows with the distance of the centers.
    let target = input(case, "L_target")?;
    let (mut low, mut high) = (center, center + target);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if around(middle)?.length() < target { low = middle } else { high = middle }
    }
    Ok(vec![
        at_most(
            case,
            "length",
            "length of the open belt, of the drive and of the topology, relative",
            1e-12,
            worst([relative(path.length(), length), relative(laid, length)]),
        ),
        at_most(
            case,
            "parts",
            "wraps and free spans, relative distance",
            1e-12,
            worst([
                relative(path.wraps()[0], expected(case, "wrap_large")?),
                relative(path.wraps()[1], expected(case, "wrap_small")?),
                relative(path.spans()[0], expected(case, "free_span")?),
                relative(path.spans()[1], expected(case, "free_span")?),
            ]),
        ),
        at_most(case, "inverse", "distance of the centers for a given length, relative distance", 1e-12, {
            relative(low, expected(case, "C_for_L_target")?)
        }),
    ])
}

fn band_brake(case: &Case) -> Verdict {
    let (radius, wrap, friction, force) =
        (input(case, "r")?, input(case, "theta")?, input(case, "mu")?, input(case, "F")?);
    let mut claims = Vec::new();
    for (part, name, forward) in
        [("energizing", "torque_self_energising", false), ("other", "torque_other", true)]
    {
        let torque = |nodes: usize| -> Result<f64, CaseError> {
            let pulled = FirstEnd::Pulled(force);
            Ok(slipping(friction, radius, &[wrap], nodes, pulled, forward)?.loads[0].1.abs())
        };
        // Second order in the turn per node.
        let smooth = (4.0 * torque(64)? - torque(32)?) / 3.0;
        let what = format!("torque on the drum turning in the {part} direction, relative distance");
        claims.push(at_most(case, part, &what, 1e-4, relative(smooth, expected(case, name)?)));
    }
    Ok(claims)
}

fn tackle(case: &Case) -> Verdict {
    let (falls, weight, friction) = (input(case, "n")? as usize, input(case, "W")?, input(case, "mu")?);
    // Half turns to the right and to the left by turns: the second and the fourth sheave are those of the moving block.
    let wraps: Vec<f64> = (0..falls).map(|i| if i % 2 == 0 { -PI } else { PI }).collect();
    let mut pulls = Vec::new();
    let mut steps = 0.0;
    for nodes in [16, 32] {
        let found = slipping(friction, RADIUS, &wraps, nodes, FirstEnd::Fixed, true)?;
        let load: f64 = found.loads.iter().skip(1).step_by(2).map(|(force, _)| force[1].abs()).sum();
        pulls.push(weight * found.tensions[0] / load);
        let half = found.tensions.windows(2).map(|pair| pair[0] / pair[1]).collect::<Vec<_>>();
        steps = worst(half.iter().map(|&found| relative(found, (friction * PI).exp())));
    }
    let pull = (4.0 * pulls[1] - pulls[0]) / 3.0;
    let raise = expected(case, "F_raise")?;
    Ok(vec![
        at_most(case, "ideal", "pull on a frictionless cable, relative distance", 1e-9, {
            relative(falling::ideal_tackle(falls, weight)?, expected(case, "F_ideal")?)
        }),
        at_most(case, "sheave", "ratio over each sheave of 32 nodes, relative distance", 1e-3, {
            worst([steps, relative((friction * PI).exp(), expected(case, "r")?)])
        }),
        at_most(case, "raise", "pull that raises the load, and efficiency, relative distance", 1e-4, {
            let efficiency = weight / (falls as f64 * pull);
            worst([relative(pull, raise), relative(efficiency, expected(case, "efficiency")?)])
        }),
    ])
}
