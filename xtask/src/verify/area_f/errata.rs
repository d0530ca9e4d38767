//! The list of mistakes of published code: what the crates give where others go wrong.

use crate::verify::area_b::{equilibrium, line, spring};
use crate::verify::cases::{CaseError, Verdict, apart, at_most, expected, input, relative, sweeps, worst};
use nalgebra::DMatrix;
use sim_core::force::point_load::{PointLoad, PointLoads};
use sim_core::force::springs::{Spring, Springs};
use sim_core::{Definiteness, ParticleSystemBuilder, State, TimeCurve};
use sim_pbd::constraints::distance::Distance;
use sim_verify::DenseMatrices;
use sim_verify::reference::Case;
use sim_verify::studies::derivatives::force_of;

/// Stiffness in N/m of springs along a line, from the displacement of the last particle under a force.
fn stiffness_of(springs: Vec<Spring>, count: usize) -> Result<f64, CaseError> {
    let load = PointLoad { particle: count as u32 - 1, force: [10.0, 0.0, 0.0], curve: TimeCurve::Constant };
    let system = ParticleSystemBuilder::new(vec![1.0; count])
        .pin([0])
        .force(Springs::new(springs))
        .force(PointLoads::new([load]))
        .build()?;
    let start = line((0..count).map(|i| i as f64), 0);
    let end = 3 * (count - 1);
    let before = start.q[end];
    Ok(10.0 / (equilibrium(&system, &start)?.q[end] - before))
}

pub(super) fn errata(case: &Case) -> Verdict {
    let (k, rest_length) = (input(case, "k")?, input(case, "l0")?);
    let ends = [case.vector("inputs/x_i")?, case.vector("inputs/x_j")?];
    let build = |damping: f64| {
        ParticleSystemBuilder::new(vec![1.0; 2])
            .force(Springs::new([spring(0, 1, rest_length, k, damping)]))
            .build()
    };
    let plain = build(0.0)?;
    let state = State::at_rest(ends.concat());
    let force = force_of(&plain, &state);
    let (after, ..) = super::projected(ends, [1.0; 2], Distance { rest_length }, sweeps(1, 1))?;
    let at_rest = State::at_rest(vec![rest_length, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let matrix = DenseMatrices::at(&plain, &at_rest, Definiteness::Exact).stiffness;
    let block: DMatrix<f64> = matrix.view((0, 0), (3, 3)).into_owned();
    let rank = block.clone().symmetric_eigenvalues().iter().filter(|x| x.abs() > 1e-9 * k).count();
    // A rigid turn about the other end: the dashpot must not see it.
    let damped = build(3.0)?;
    let turning = State { v: vec![0.0, 1.0, 0.0, 0.0, 0.0, 0.0], ..state.clone() };
    let damper = force_of(&damped, &turning) - &force;
    let unit = |a, b, k| spring(a, b, 1.0, k, 0.0);
    let parts = expected(case, "segment_k_of_rope_k100_n20")?;
    let rope = (0..20).map(|i| unit(i, i + 1, parts)).collect();
    let positions =
        [case.numbers("expected/x_i_after_projection")?, { case.numbers("expected/x_j_after_projection")? }];
    Ok(vec![
        at_most(case, "force", "force on a stretched spring's first end, distance in N", 1e-12, {
            apart(&force.as_slice()[..3], &case.numbers("expected/f_i")?)
        }),
        at_most(case, "projection", "a stretched pair after one projection, distance in m", 1e-14, {
            apart(&after.q, &positions.concat())
        }),
        at_most(case, "trace", "trace of the stiffness block at rest length, relative distance", 1e-14, {
            relative(block.trace(), expected(case, "K_rest_trace")?)
        }),
        at_most(case, "rank", "its rank, distance", 0.0, {
            (rank as f64 - expected(case, "K_rest_rank")?).abs()
        }),
        at_most(case, "damper", "dashpot force in a rigid turn, distance in N", 1e-14, {
            apart(&damper.as_slice()[..3], &case.numbers("expected/axial_damper_force_for_rotation")?)
        }),
        at_most(
            case,
            "stiffness",
            "springs of 100 and 300 N/m in series and in parallel, a rope of 20 parts, relative distance",
            1e-11,
            worst([
                relative(
                    stiffness_of(vec![unit(0, 1, 100.0), unit(1, 2, 300.0)], 3)?,
                    expected(case, "series_100_300")?,
                ),
                relative(
                    stiffness_of(vec![unit(0, 1, 100.0), unit(0, 1, 300.0)], 2)?,
                    expected(case, "parallel_100_300")?,
                ),
                relative(stiffness_of(rope, 21)?, k),
            ]),
        ),
    ])
}
