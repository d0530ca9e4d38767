//! What a method must show on a model that remembers: order, restart, a closed energy account.

use super::AnyStepper;
use crate::claim::Claim;
use crate::studies::derivatives::{derivative_study, invariance_study};
use crate::studies::order::OrderReport;
use crate::studies::restart::restart_study;
use crate::studies::run;
use sim_core::force::law_springs::{LawSpring, LawSprings};
use sim_core::material::{Branch, LineMaterial, SlipElement, neo_hooke::NeoHooke};
use sim_core::{
    EnergyLedger, Law, LedgerReport, MethodInfo, ParticleError, ParticleSystem, ParticleSystemBuilder,
    StageRecord, State, StepStart, System,
};

/// A particle between two rubber straps that creep.
const SHEAR_MODULUS: f64 = 12.0;
const BRANCHES: [Branch; 2] = [Branch { modulus: 9.0, time: 0.35 }, Branch { modulus: 15.0, time: 0.06 }];
const SPAN: f64 = 2.6;
const MASS: f64 = 0.4;
const START: (f64, f64) = (1.1, 1.3);
const END: f64 = 1.2;

fn strap(slips: Vec<SlipElement>) -> LineMaterial {
    let law = Law::NeoHooke(NeoHooke { shear_modulus: SHEAR_MODULUS });
    LineMaterial { branches: BRANCHES.to_vec(), slips, ..law.into() }
}

fn straps(slips: Vec<SlipElement>) -> Result<(ParticleSystem, State), ParticleError> {
    let spring = |ends| LawSpring { ends, rest_length: 1.0, scale: 1.0, damping: 0.0, material: 0 };
    let system = ParticleSystemBuilder::new(vec![1.0, MASS, 1.0])
        .pin([0, 2])
        .force(LawSprings::new([strap(slips)], [spring([0, 1]), spring([1, 2])]))
        .build()?;
    let mut state = State::at_rest(vec![0.0, 0.0, 0.0, START.0, 0.0, 0.0, SPAN, 0.0, 0.0]);
    state.v[3] = START.1;
    state.internal.resize(system.internal_count(), 0.0);
    system.begin_history(&state.q, &mut state.internal);
    Ok((system, state))
}

/// The same motion as six equations for place, speed and the four branch tensions, integrated on their own by the classical
/// Runge-Kutta method in steps that leave 1e-12: it shares nothing with the update of histories.
fn motion(t: f64) -> [f64; 2] {
    let law = |l: f64| SHEAR_MODULUS * (l - 1.0 / (l * l));
    let rates = |y: [f64; 6]| {
        let [x, v, ..] = y;
        let left = law(x) + y[2] + y[3];
        let right = law(SPAN - x) + y[4] + y[5];
        let branch =
            |i: usize, tension: f64, rate: f64| BRANCHES[i].modulus * rate - tension / BRANCHES[i].time;
        [
            v,
            (right - left) / MASS,
            branch(0, y[2], v),
            branch(1, y[3], v),
            branch(0, y[4], -v),
            branch(1, y[5], -v),
        ]
    };
    let strains = [START.0 - 1.0, SPAN - START.0 - 1.0];
    let fresh = |i: usize, s: usize| BRANCHES[i].modulus * strains[s];
    let mut y = [START.0, START.1, fresh(0, 0), fresh(1, 0), fresh(0, 1), fresh(1, 1)];
    let steps = 20_000;
    let h = t / f64::from(steps);
    let plus = |y: [f64; 6], k: [f64; 6], h: f64| std::array::from_fn(|i| y[i] + h * k[i]);
    for _ in 0..steps {
        let k1 = rates(y);
        let k2 = rates(plus(y, k1, 0.5 * h));
        let k3 = rates(plus(y, k2, 0.5 * h));
        let k4 = rates(plus(y, k3, h));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    [y[0], y[1]]
}

/// Judges a method that claims to step models with a history.
pub fn judge_history(id: &str, method: &MethodInfo, make: &mut dyn FnMut() -> AnyStepper) -> Vec<Claim> {
    match judged(id, method, make) {
        Ok(claims) => claims,
        Err(error) => vec![
            Claim::no_complaint(format!("{id}/run"), "a model that remembers is stepped", vec![], "")
                .because(error),
        ],
    }
}

fn judged(
    id: &str,
    method: &MethodInfo,
    make: &mut dyn FnMut() -> AnyStepper,
) -> Result<Vec<Claim>, Box<dyn std::error::Error>> {
    let (system, start) = straps(Vec::new())?;
    let model: &dyn sim_core::ModelSystem = &system;
    let exact = motion(END);
    let counts = [100_u64, 200, 400, 800, 1600];
    let (mut dt, mut errors) = (Vec::new(), Vec::new());
    for steps in counts {
        let end = run(model, &mut *make(), &start, END, steps)?;
        dt.push(END / steps as f64);
        errors.push((end.q[3] - exact[0]).abs() + 0.1 * (end.v[3] - exact[1]).abs());
    }
    let order = OrderReport::from_errors(&dt, &errors, 1e-12).observed().unwrap_or(f64::NAN);
    let claimed = f64::from(method.order.min(2));
    // With slip elements too: what they forget would show.
    let (slipping, from) = straps(vec![SlipElement { modulus: 20.0, slip: 2.0 }])?;
    let restart = restart_study(&slipping as &dyn sim_core::ModelSystem, make, &from, 4e-3, 40)?;
    let fine = account(&slipping, &from, make, 1600)?;
    let lost = -fine.work.inelastic;
    let source = "place, speed and branch tensions as one system of equations, Runge-Kutta";
    let mut claims = vec![
        Claim::at_least(
            format!("{id}/order"),
            "order on a particle between rubber straps that creep, at least (two at most is claimed)",
            claimed - 0.1,
            order,
            source,
        ),
        Claim::at_most(
            format!("{id}/error"),
            "error after 1600 steps of it in m",
            if claimed > 1.0 { 2e-5 } else { 2e-2 },
            errors[4],
            source,
        ),
        Claim::no_complaint(
            format!("{id}/restart"),
            "straps that creep and slip go on bit for bit from a saved state",
            if restart.identical() { vec![] } else { vec!["other bits".to_owned()] },
            "State is the whole truth",
        ),
        Claim::at_most(
            format!("{id}/account"),
            "largest residual of a step in the energy account, relative",
            1e-9,
            fine.max_relative_residual,
            "work of the forces is the change of kinetic energy",
        ),
        Claim::at_least(
            format!("{id}/dissipation"),
            "energy lost by creep and slip over the energy at the start",
            0.1,
            lost / fine.initial.total(),
            "second law; the straps damp the motion out",
        ),
    ];
    claims.push(Claim::at_most(
        format!("{id}/numerical"),
        "energy made or lost by the discretization with 1600 steps over that at the start",
        if claimed > 1.0 { 1e-4 } else { 0.05 },
        fine.numerical.abs() / fine.initial.total(),
        "consistency",
    ));
    Ok(claims)
}

fn account(
    system: &ParticleSystem,
    start: &State,
    make: &mut dyn FnMut() -> AnyStepper,
    steps: u64,
) -> Result<LedgerReport, Box<dyn std::error::Error>> {
    let model: &dyn sim_core::ModelSystem = system;
    let (mut state, mut stepper, mut record) = (start.clone(), make(), StageRecord::default());
    let mut ledger = EnergyLedger::new(model, &state);
    let dt = END / steps as f64;
    for step in 0..steps {
        state.t = dt * step as f64;
        stepper.step_recorded(model, &mut state, dt, Some(&mut record))?;
        state.t = dt * (step + 1) as f64;
        ledger.book(model, |i| i == 1, &state, dt, &record);
    }
    Ok(*ledger.report())
}

/// Judges the model that methods see within a step: its matrices are derivatives of its force, its force turns along.
pub fn judge_in_step(id: &str) -> Vec<Claim> {
    let material =
        strap(vec![SlipElement { modulus: 20.0, slip: 5.0 }, SlipElement { modulus: 30.0, slip: 0.3 }]);
    let wave = |i: u32, k: f64| (f64::from(i + 1) * k).sin();
    let springs = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]].map(|ends: [u32; 2]| {
        let rest_length = 0.4 + 0.1 * f64::from(ends[0]);
        LawSpring { ends, rest_length, scale: 1.0 + 0.1 * f64::from(ends[1]), damping: 0.1, material: 0 }
    });
    let system = ParticleSystemBuilder::new(vec![0.2; 4]).force(LawSprings::new([material], springs)).build();
    let system = match system {
        Ok(system) => system,
        Err(error) => {
            return vec![Claim::no_complaint(format!("{id}/model"), "", vec![], "").because(error)];
        }
    };
    let q = (0..4).flat_map(|i| [0.45 * f64::from(i), 0.4 * wave(i, 2.3), 0.3 * wave(i, 3.1)]).collect();
    let mut state = State::at_rest(q);
    state.v = (0..12).map(|i| 0.5 * wave(i, 0.9)).collect();
    state.internal = vec![0.0; system.internal_count()];
    system.begin_history(&state.q, &mut state.internal);
    let start = state.clone();
    state.t += 0.05;
    state.q.iter_mut().enumerate().for_each(|(i, x)| *x += 0.02 * wave(i as u32, 1.3));
    let mut claims = Vec::new();
    let Ok(from) = StepStart::new(&start, system.internal_count()) else { return claims };
    system.in_step(from, &mut |now| {
        let report = derivative_study(now, &state, 1e-4, 1e-3);
        let rigid = invariance_study(now, &state);
        let mut push = |study: &str, what: &str, limit: f64, found: f64| {
            claims.push(Claim::at_most(
                format!("{id}/{study}"),
                what,
                limit,
                found,
                "five-point differences",
            ));
        };
        push("stiffness", "within a step: relative distance of K from -∂f/∂q", 1e-7, report.by_position);
        push("damping", "within a step: relative distance of D from -∂f/∂v", 1e-7, report.by_velocity);
        push("symmetry", "within a step: relative asymmetry of K and D", 1e-13, report.asymmetry);
        push("definite", "within a step: negative part of D and of the projected K", 1e-12, report.negative);
        push("power", "within a step: power by terms against force times velocity", 1e-12, report.power);
        push(
            "bound",
            "within a step: negative part of the stencil bounds minus the matrices",
            1e-9,
            report.bound,
        );
        push("dependence", "within a step: dependence that is denied", 0.0, report.dependence);
        push("balance", "within a step: sum of forces over their size", 1e-13, rigid.force);
        push("moment", "within a step: sum of moments over their size", 1e-12, rigid.moment);
    });
    // A frame that moved and turned during the step changes nothing: what is remembered are tensions and slips along the line.
    let (mut still, mut turned) = (vec![0.0; 12], vec![0.0; 12]);
    let rest = vec![0.0; 12];
    system.in_step(from, &mut |now| now.force(state.t, &state.q, &rest, &mut still));
    let turn = nalgebra::Rotation3::from_euler_angles(0.4, -1.1, 2.3);
    let moved: Vec<f64> = (state.q.chunks_exact(3))
        .flat_map(|x| {
            let x = turn * nalgebra::Vector3::from_column_slice(x);
            [x.x + 3.0, x.y - 1.0, x.z]
        })
        .collect();
    system.in_step(from, &mut |now| now.force(state.t, &moved, &rest, &mut turned));
    let apart = (still.chunks_exact(3).zip(turned.chunks_exact(3)))
        .map(|(a, b)| {
            (turn * nalgebra::Vector3::from_column_slice(a) - nalgebra::Vector3::from_column_slice(b)).norm()
        })
        .fold(0.0, f64::max);
    let largest = still.iter().fold(0.0_f64, |a, f| a.max(f.abs()));
    claims.push(Claim::at_most(
        format!("{id}/objectivity"),
        "forces after a step in which everything moved and turned, relative distance",
        1e-12,
        apart / largest,
        "tensions along the line are objective",
    ));
    claims.push(Claim::at_least(format!("{id}/acts"), "largest force in N", 0.1, largest, ""));
    claims
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_model_within_a_step_is_consistent() {
        let claims = super::judge_in_step("in_step");
        assert!(claims.len() > 9);
        for claim in claims {
            assert!(claim.pass(), "{claim}");
        }
    }
}
