//! Random networks: what they promise, and how failures shrink.

use proptest::prelude::*;
use sim_core::{ExplicitSystem, ForceKind, ModelSystem, System};
use sim_verify::strategies::{NetworkOptions, counterexample, networks, sample};
use sim_verify::{Linearized, invariance_study};

fn damped() -> NetworkOptions {
    NetworkOptions { damping_ratio: 0.5, pinned: false, strain: (-0.3, 0.5), ..NetworkOptions::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_network_is_connected_within_its_ranges(network in networks(NetworkOptions::default())) {
        let (system, state) = network.build().unwrap();
        state.validate(system.particle_count()).unwrap();
        prop_assert!(system.inverse_mass().iter().any(|&w| w > 0.0));
        let mut reached = vec![false; network.particles.len()];
        reached[0] = true;
        for _ in 0..network.particles.len() {
            for spring in &network.springs {
                let [a, b] = spring.ends.map(|end| end as usize);
                let any = reached[a] || reached[b];
                (reached[a], reached[b]) = (any, any);
            }
        }
        prop_assert!(reached.iter().all(|&r| r));
        prop_assert!(network.springs.iter().all(|s| (1.0..=1e6 * 1.0001).contains(&s.stiffness)));
        prop_assert!(network.particles.iter().all(|p| (0.0099..=100.1).contains(&p.mass)));
    }

    /// Forces of any network balance, turn with it, and do not brake rigid motion.
    #[test]
    fn forces_balance(network in networks(damped())) {
        let (system, state) = network.build().unwrap();
        let report = invariance_study(&system, &state);
        prop_assert!(report.force < 1e-12 && report.moment < 1e-12, "{report:?}");
        prop_assert!(report.rigid_motion < 1e-9 && report.energy < 1e-8, "{report:?}");
    }

    /// The linear model has the matrices as its derivatives, and its energy belongs to its force.
    #[test]
    fn linear_models_are_consistent(network in networks(NetworkOptions { particles: 4, ..damped() })) {
        let (system, state) = network.build().unwrap();
        let linear = Linearized::at(&system, &state);
        let mut other = state.clone();
        other.q.iter_mut().enumerate().for_each(|(i, q)| *q += 0.01 * (i as f64).cos());
        let claims = sim_verify::judge::model::judge_model("linear", ForceKind::External, &linear, &other);
        // It emits no bounds of its own.
        for claim in claims.iter().filter(|claim| !claim.id.contains("bound") && !claim.id.contains("definite")) {
            prop_assert!(claim.pass(), "{claim}");
        }
        let _: &dyn ModelSystem = &linear;
    }
}

#[test]
fn samples_depend_on_the_seed_alone() {
    let strategy = networks(NetworkOptions::default());
    assert_eq!(sample(&strategy, 20, 5), sample(&strategy, 20, 5));
    assert_ne!(sample(&strategy, 20, 5), sample(&strategy, 20, 6));
    let sizes: Vec<usize> = sample(&strategy, 200, 1).iter().map(|network| network.particles.len()).collect();
    assert!((2..=12).all(|n| sizes.contains(&n)), "{sizes:?}");
}

/// A property that fails from 3 particles on shrinks to exactly 3, with the other values at their simplest.
#[test]
fn failures_shrink() {
    let strategy = networks(NetworkOptions::default());
    let found = counterexample(&strategy, 100, 3, |network| {
        if network.particles.len() < 3 { Ok(()) } else { Err("too many".into()) }
    })
    .unwrap();
    assert_eq!(found.network.particles.len(), 3);
    assert_eq!(found.network.springs.len(), 2);
    assert!(found.reason.contains("too many"));
    assert!(counterexample(&strategy, 100, 3, |_| Ok(())).is_none());
}
