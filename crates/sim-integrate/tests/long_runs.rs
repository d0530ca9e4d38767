//! Conservation over long runs.

#[path = "support/networks.rs"]
mod networks;

use networks::{Random, Wildness, network};
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ParticleSystemBuilder, State};
use sim_integrate::{Leapfrog, PositionVerlet, SymplecticEuler, stepper_info};
use sim_verify::{energy_study, momentum_study, reversibility_study};

/// T8: momentum of a free network is kept to 1e-12 over 1e5 steps, damped or not.
#[test]
fn momentum_of_a_free_network() {
    for (seed, damped) in [(1, false), (2, true)] {
        let wildness = Wildness {
            particles: 12,
            strain: (-0.2, 0.2),
            stiffness: (1.0, 1e6),
            damped,
            pinned: false,
            balanced: false,
            speed: 0.1,
        };
        let (system, state) = network(seed, wildness);
        for id in ["leapfrog", "symplectic_euler", "runge_kutta4"] {
            let dt = 0.5
                * sim_integrate::stencil_stable_dt(&system, &state, stepper_info(id).unwrap())
                    .unwrap()
                    .dt_bound;
            let mut stepper = sim_integrate::stepper(id, &serde_json::Value::Null).unwrap();
            let report =
                momentum_study::<dyn sim_core::ModelSystem>(&system, &mut *stepper, &state, dt, 100_000, 100)
                    .unwrap();
            assert!(report.linear < 1e-12, "{id}, damped {damped}: {report:?}");
            // Internal forces along the springs keep angular momentum too; kick-drift maps keep it exactly.
            if id != "runge_kutta4" {
                assert!(report.angular < 1e-11, "{id}, damped {damped}: {report:?}");
            }
        }
    }
}

/// A net of 100 springs: 6 × 6 particles with 60 edges and 40 of the 50 diagonals.
fn net() -> (sim_core::ParticleSystem, State) {
    let side = 6;
    let at = |i: u32, j: u32| i * side + j;
    let mut random = Random(7);
    let mut pairs = Vec::new();
    for i in 0..side {
        for j in 0..side {
            if i + 1 < side {
                pairs.push([at(i, j), at(i + 1, j)]);
            }
            if j + 1 < side {
                pairs.push([at(i, j), at(i, j + 1)]);
            }
        }
    }
    for i in 0..side - 1 {
        for j in 0..side - 1 {
            pairs.push([at(i, j), at(i + 1, j + 1)]);
            if pairs.len() < 100 {
                pairs.push([at(i + 1, j), at(i, j + 1)]);
            }
        }
    }
    pairs.truncate(100);
    let q: Vec<f64> = (0..side * side)
        .flat_map(|p| {
            [f64::from(p / side), f64::from(p % side), 0.0].map(|x| x + random.between(-0.05, 0.05))
        })
        .collect();
    // Slightly stretched, so that the flat net is stable.
    let length = |[a, b]: [u32; 2]| {
        let apart = |x: u32, y: u32| (f64::from(x) - f64::from(y)).abs();
        apart(a / side, b / side).hypot(apart(a % side, b % side))
    };
    let springs = Springs::new(pairs.into_iter().map(|ends| Spring {
        ends,
        rest_length: 0.95 * length(ends),
        stiffness: 100.0,
        damping: 0.0,
    }));
    let system =
        ParticleSystemBuilder::new(vec![0.1; (side * side) as usize]).force(springs).build().unwrap();
    (system, State::at_rest(q))
}

/// T8: the energy of leapfrog oscillates but does not drift over 1e6 steps of a 100-spring net.
#[test]
fn leapfrog_energy_does_not_drift() {
    let (system, state) = net();
    let dt = 0.2
        * sim_integrate::stencil_stable_dt(&system, &state, stepper_info("leapfrog").unwrap())
            .unwrap()
            .dt_bound;
    let report = energy_study(&system, &mut Leapfrog::default(), &state, dt, 1_000_000, 50).unwrap();
    assert!(report.energy_oscillation > 1e-4 && report.energy_oscillation < 0.1, "{report:?}");
    // Relative to the whole run, a fiftieth of the oscillation itself.
    assert!(report.energy_drift.abs() < 0.02 * report.energy_oscillation, "{report:?}");
    // A method that does drift is caught by the same measure.
    let mut stepper = sim_integrate::RungeKutta4::default();
    let drifting = energy_study(&system, &mut stepper, &state, 4.0 * dt, 20_000, 50).unwrap();
    assert!(drifting.energy_drift < -0.05, "{drifting:?}");
}

#[test]
fn symmetric_methods_retrace_their_path() {
    let (system, state) = net();
    let dt = 0.3
        * sim_integrate::stencil_stable_dt(&system, &state, stepper_info("leapfrog").unwrap())
            .unwrap()
            .dt_bound;
    let back = reversibility_study(&system, &mut Leapfrog::default(), &state, dt, 200, (1.0, 1.0)).unwrap();
    assert!(back < 1e-11, "{back}");
    let back =
        reversibility_study(&system, &mut PositionVerlet::default(), &state, dt, 200, (1.0, 1.0)).unwrap();
    assert!(back < 1e-11, "{back}");
    let euler =
        reversibility_study(&system, &mut SymplecticEuler::default(), &state, dt, 200, (1.0, 1.0)).unwrap();
    assert!(euler > 1e-4, "symplectic Euler is not its own adjoint: {euler}");
}
