//! The step certificate as properties of random networks, and what a counterexample becomes.

use sim_integrate::{stencil_stable_dt, stepper_info};
use sim_io::Scene;
use sim_io::run::{RunOptions, run};
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
