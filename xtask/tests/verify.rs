//! The step certificate as properties of random networks, and what a counterexample becomes.

use sim_core::{ModelSystem, Stability, State};
use sim_integrate::{STEPPERS, stencil_stable_dt, stepper_info};
use sim_io::Scene;
use sim_io::run::{RunOptions, run};
use sim_verify::Linearized;
use sim_verify::strategies::{Network, NetworkOptions, counterexample, networks};
use std::ops::ControlFlow;
use xtask::verify::certificate::{KINDS, examine, options};

/// Guaranteed bounds, exact limit and its meaning, for networks of both kinds.
#[test]
fn certificates_hold_on_random_networks() {
    for kind in KINDS {
        let info = stepper_info(kind.method).unwrap();
        let found = counterexample(&networks(options(kind)), 60, 11, |network| {
            examine(network, info, kind.steps)?.verdict()
        });
        if let Some(found) = found {
            panic!("{}: {}\n{}", kind.id, found.reason, found.network.scene(kind.method, 1e-3, 100));
        }
    }
}

/// The energy of a linear network does not grow under any method that claims every step, whatever the step.
#[test]
fn unconditional_methods_bound_every_network_at_every_step() {
    let strategy = networks(NetworkOptions { particles: 5, damping_ratio: 0.3, ..NetworkOptions::default() });
    let mut judged = 0;
    for info in STEPPERS
        .iter()
        .filter(|info| matches!(info.method.stability, Stability::Unconditional | Stability::LStable))
    {
        judged += 1;
        let found = counterexample(&strategy, 12, 4, |network| {
            // Held at one end: what drifts away for a day loses digits of its stretch.
            let mut network = network.clone();
            network.particles[0].pinned = true;
            network.particles[0].velocity = [0.0; 3];
            let (system, state) = network.build().unwrap();
            let linear: Box<dyn ModelSystem> = Box::new(Linearized::at(&system, &state));
            for dt in [1e-3, 1.0, 1e3] {
                let mut stepper = sim_integrate::stepper(info.method.id, &serde_json::Value::Null).unwrap();
                let mut at = state.clone();
                at.q.iter_mut().enumerate().for_each(|(i, q)| *q += 0.01 * (i as f64).sin());
                for i in (0..at.q.len()).filter(|&i| !linear.is_free(i / 3)) {
                    at.q[i] = state.q[i];
                }
                let energy = |at: &State| linear.energy(at.t, &at.q, &at.v).total();
                let start = energy(&at);
                let mut energies = vec![start];
                for _ in 0..100 {
                    stepper.step(&*linear, &mut at, dt).map_err(|error| error.to_string())?;
                    energies.push(energy(&at));
                }
                let worst = |energies: &[f64]| energies.iter().copied().fold(0.0, f64::max);
                // An A-stable rational function of a dissipative operator is a contraction (von Neumann), up to the tolerance of
                // Newton's method. A method that carries accelerations overshoots in its first steps, but does not grow.
                let (bound, later) = if at.internal.is_empty() {
                    (start, worst(&energies))
                } else {
                    (worst(&energies[..50]), worst(&energies[50..]))
                };
                if later.is_nan() || later > bound * (1.0 + 1e-6) {
                    return Err(format!("dt = {dt}: {later} J from {bound} J"));
                }
            }
            Ok(())
        });
        if let Some(found) = found {
            panic!("{}: {}\n{:?}", info.method.id, found.reason, found.network);
        }
    }
    assert!(judged >= 6, "{judged} methods");
}

/// Whether a scene runs away.
fn grows(text: &str) -> bool {
    let scene =
        Scene::from_toml("counterexample.toml", text, "").unwrap_or_else(|error| panic!("{error}\n{text}"));
    match run(&scene, RunOptions::default(), &mut |_| ControlFlow::Continue(())) {
        Ok(result) => result.state.q.iter().any(|q| q.abs() > 1e3),
        Err(_) => true,
    }
}

/// The wrong claim that 1.3 times the guaranteed step is stable is refuted by the smallest network there is, and its scene file
/// reproduces the refutation.
#[test]
fn a_wrong_claim_shrinks_to_a_scene_that_reproduces_it() {
    let info = stepper_info("leapfrog").unwrap();
    let scene = |network: &Network| {
        let (system, state) = network.build().unwrap();
        let dt = stencil_stable_dt(&system, &state, info).unwrap().dt_bound;
        network.scene("leapfrog", 1.3 * dt, 2_000)
    };
    let strategy = networks(NetworkOptions { particles: 6, pinned: false, ..NetworkOptions::default() });
    let found =
        counterexample(
            &strategy,
            50,
            2,
            |network| if grows(&scene(network)) { Err("grows".into()) } else { Ok(()) },
        );
    let network = found.expect("a step above the limit must grow").network;
    // Two particles; a second spring may be left, because something must move or be stretched to grow.
    assert!(network.particles.len() == 2 && network.springs.len() <= 2, "{network:?}");
    assert!(grows(&scene(&network)));
    let (system, state) = network.build().unwrap();
    let dt = stencil_stable_dt(&system, &state, info).unwrap().dt_bound;
    assert!(!grows(&network.scene("leapfrog", 0.9 * dt, 2_000)), "and below the bound it does not");
}
