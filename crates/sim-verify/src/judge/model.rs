//! What a force must show: consistent derivatives and energies, invariance, and the published spring values.

use crate::claim::Claim;
use crate::reference::{ReferenceError, case};
use crate::studies::derivatives::{DenseMatrices, derivative_study, force_of, invariance_study};
use nalgebra::{DMatrix, Vector3};
use sim_core::force::springs::Spring;
use sim_core::{Definiteness, Force, ForceKind, ModelSystem, ParticleSystemBuilder, State};

/// Factors on all positions of the sample: as it is, stretched, compressed, nearly collapsed.
const FACTORS: [f64; 4] = [1.0, 1.7, 0.4, 0.02];

/// Judges a free model with one force at the sample state and at stretched, compressed and nearly collapsed copies of it.
pub fn judge_model(id: &str, kind: ForceKind, system: &dyn ModelSystem, sample: &State) -> Vec<Claim> {
    let mut worst = [0.0_f64; 8];
    let mut rigid = [0.0_f64; 4];
    let mut largest_force = 0.0_f64;
    let max = |a: &mut f64, b: f64| *a = if b.is_nan() { f64::INFINITY } else { a.max(b) };
    for factor in FACTORS {
        let mut state = sample.clone();
        state.q.iter_mut().for_each(|x| *x *= factor);
        let report = derivative_study(system, &state, 3e-4 * factor, 1e-3);
        let found = [
            report.by_position,
            report.by_velocity,
            report.asymmetry,
            report.negative,
            report.energy,
            report.power,
            if factor == 1.0 { report.bound } else { 0.0 },
            report.dependence,
        ];
        worst.iter_mut().zip(found).for_each(|(a, b)| max(a, b));
        max(&mut largest_force, report.largest_force);
        if kind == ForceKind::Internal {
            let report = invariance_study(system, &state);
            let found = [report.force, report.moment, report.rigid_motion, report.energy];
            rigid.iter_mut().zip(found).for_each(|(a, b)| max(a, b));
        }
    }
    let mut claims = Vec::new();
    let mut push = |study: &str, what: &str, limit: f64, measured: f64, source: &str| {
        claims.push(Claim::at_most(format!("{id}/{study}"), what, limit, measured, source));
    };
    let differences = "five-point differences of the force";
    push("stiffness", "relative distance of K from -∂f/∂q", 1e-7, worst[0], differences);
    push("damping", "relative distance of D from -∂f/∂v", 1e-7, worst[1], differences);
    push("symmetry", "relative asymmetry of K and D", 1e-13, worst[2], "K is a Hessian, D dissipates");
    push(
        "definite",
        "negative part of D, of the projected K and of the losses",
        1e-12,
        worst[3],
        "second law",
    );
    push("energy", "relative distance of the conservative force from -∂U/∂q", 1e-7, worst[4], differences);
    push(
        "power",
        "relative distance of the power by terms from force times velocity",
        1e-12,
        worst[5],
        "definition",
    );
    push(
        "bound",
        "negative part of the stencil bounds minus the matrices",
        1e-9,
        worst[6],
        "definition of StencilBound",
    );
    push(
        "dependence",
        "dependence on time or velocity that is denied",
        0.0,
        worst[7],
        "definition of Dependence",
    );
    if kind == ForceKind::Internal {
        let third = "forces depend on relative positions and motions";
        push("balance", "sum of forces over their size", 1e-13, rigid[0], third);
        push("moment", "sum of moments over their size", 1e-12, rigid[1], third);
        push(
            "rigid_motion",
            "relative change of forces in a frame moved, turned and spinning",
            1e-10,
            rigid[2],
            third,
        );
        push("rigid_energy", "relative change of energy in a frame moved and turned", 1e-11, rigid[3], third);
    }
    claims.push(Claim::at_least(
        format!("{id}/acts"),
        "largest force in N: the checks are not of nothing",
        1e-3,
        largest_force,
        "",
    ));
    claims
}

/// Reference cases of a single spring.
pub const SPRING_CASES: [&str; 4] = [
    "B-spring-jacobian-stretched",
    "B-spring-jacobian-rest-length",
    "B-spring-jacobian-strongly-compressed-axis",
    "B-damper-jacobian",
];

/// Judges springs made by `make` against the published force, energy and matrices.
pub fn judge_spring(id: &str, make: &dyn Fn(Spring) -> Box<dyn Force>) -> Vec<Claim> {
    SPRING_CASES
        .iter()
        .flat_map(|case_id| match spring_case(id, case_id, make) {
            Ok(claims) => claims,
            Err(error) => {
                vec![Claim::no_complaint(format!("{id}/{case_id}"), "", vec![], "").because(error)]
            }
        })
        .collect()
}

fn spring_case(
    id: &str,
    case_id: &str,
    make: &dyn Fn(Spring) -> Box<dyn Force>,
) -> Result<Vec<Claim>, ReferenceError> {
    let case = case(case_id)?;
    let spring = Spring {
        ends: [0, 1],
        rest_length: case.number("inputs/l0").unwrap_or(1.0),
        stiffness: case.number("inputs/k").unwrap_or(0.0),
        damping: case.number("inputs/c").unwrap_or(0.0),
    };
    let system = ParticleSystemBuilder::new(vec![1.0, 1.0]).boxed_force(make(spring)).build();
    let Ok(system) = system else {
        let claim = Claim::no_complaint(format!("{id}/{case_id}"), "a spring of these values", vec![], "");
        return Ok(vec![claim.because("was refused")]);
    };
    let ends = |name: &str| -> Result<Vec<f64>, ReferenceError> {
        let i = case.vector(&format!("inputs/{name}_i"));
        let j = case.vector(&format!("inputs/{name}_j"));
        Ok([i?, j?].concat())
    };
    let mut state = State::at_rest(ends("x")?);
    if case.inputs.contains_key("v_i") {
        state.v = ends("v")?;
    }
    let mut claims = Vec::new();
    let mut push = |what: &str, text: &str, found: f64| {
        claims.push(
            Claim::at_most(format!("{id}/{case_id}/{what}"), text, 1e-12, found, case.source.as_str())
                .case(case_id),
        );
    };
    let f = force_of(&system, &state);
    let expected = Vector3::from(case.vector("expected/f_i")?);
    let distance = (f.fixed_rows::<3>(0) - expected).norm() / expected.norm().max(1.0);
    push("force", "relative distance of the force on the first end", distance);
    let exact = DenseMatrices::at(&system, &state, Definiteness::Exact);
    let projected = DenseMatrices::at(&system, &state, Definiteness::Projected);
    let corner = |m: &DMatrix<f64>| m.view((0, 0), (3, 3)).into_owned();
    let relative =
        |found: DMatrix<f64>, expected: DMatrix<f64>| (&found - &expected).norm() / expected.norm();
    if case.expected.contains_key("K_ii") {
        let clamped = "expected/K_ii_clamped";
        push(
            "stiffness",
            "relative distance of K_ii",
            relative(corner(&exact.stiffness), case.matrix("expected/K_ii")?),
        );
        push(
            "projected",
            "relative distance of the projected K_ii",
            relative(corner(&projected.stiffness), case.matrix(clamped)?),
        );
        let energy = (&system as &dyn ModelSystem).energy(0.0, &state.q, &state.v).elastic;
        let expected = case.number("expected/energy")?;
        push("energy", "relative distance of the energy", (energy - expected).abs() / expected.max(1.0));
    } else {
        push(
            "damping",
            "relative distance of ∂f/∂v",
            relative(-corner(&exact.damping), case.matrix("expected/df_dv")?),
        );
        push(
            "damping_stiffness",
            "relative distance of ∂f/∂x",
            relative(-corner(&exact.damping_stiffness), case.matrix("expected/df_dx")?),
        );
    }
    Ok(claims)
}
