//! The advice for models whose best method is known.
#![cfg(feature = "implicit")]

use sim_core::force::springs::{Spring, Springs};
use sim_core::{ParticleSystem, ParticleSystemBuilder, State};
use sim_integrate::{Advice, AdviceError, AdviceRequest, advise};

/// A chain hanging from its first particle.
fn chain(stiffness: f64, damping: f64) -> (ParticleSystem, State) {
    let springs = (0..10).map(|i| Spring { ends: [i, i + 1], rest_length: 1.0, stiffness, damping });
    let system =
        ParticleSystemBuilder::new(vec![0.1; 11]).pin([0]).force(Springs::new(springs)).build().unwrap();
    (system, State::at_rest((0..11).flat_map(|i| [0.0, 0.0, -f64::from(i)]).collect()))
}

fn advice(stiffness: f64, relative_error: f64, conserve_energy: bool) -> Advice {
    let (system, state) = chain(stiffness, 0.0);
    advise(&system, &state, AdviceRequest { frame: 1.0 / 60.0, relative_error, conserve_energy }).unwrap()
}

fn names(advice: &Advice) -> Vec<&'static str> {
    advice.suggestions.iter().map(|suggestion| suggestion.method).collect()
}

#[test]
fn facts_are_those_of_the_chain() {
    let (system, state) = chain(1000.0, 2.0);
    let request = AdviceRequest { frame: 0.02, relative_error: 0.01, conserve_energy: false };
    let facts = advise(&system, &state, request).unwrap().facts;
    assert_eq!(facts.free, 10);
    // A spring between two free masses of 0.1 kg: ω² = 2 k/m; at the support k/m.
    assert!((facts.stiffest - (2.0 * 1000.0 / 0.1_f64).sqrt()).abs() < 1e-9 * facts.stiffest);
    assert!((facts.spread() - 2.0_f64.sqrt()).abs() < 1e-12);
    // ζ = c/(2 ω μ) with the reduced mass μ = m/2.
    assert!((facts.damping_ratio - 2.0 / (2.0 * facts.stiffest * 0.05)).abs() < 1e-12);
    assert_eq!(facts.explicit_steps, (0.02 / (0.9 * facts.stable_dt)).ceil() as u64);
    assert_eq!(facts.culprit.map(|(force, _)| force), Some("spring"));
}

#[test]
fn soft_parts_get_explicit_methods_only() {
    let advice = advice(10.0, 0.01, false);
    assert!(advice.facts.explicit_steps <= 4, "{:?}", advice.facts);
    assert!(names(&advice).contains(&"leapfrog"), "{:?}", names(&advice));
    let implicit = advice.rejections.iter().find(|rejection| rejection.method == "implicit_euler").unwrap();
    assert!(implicit.reason.contains("nothing stiff"), "{}", implicit.reason);
}

#[test]
fn very_stiff_parts_get_implicit_methods_only() {
    let advice = advice(1e10, 0.05, false);
    assert!(names(&advice).contains(&"implicit_euler"), "{:?}", names(&advice));
    assert!(!names(&advice).contains(&"leapfrog"));
    let leapfrog = advice.rejections.iter().find(|rejection| rejection.method == "leapfrog").unwrap();
    assert!(leapfrog.reason.contains("steps per frame"), "{}", leapfrog.reason);
}

#[test]
fn energy_and_accuracy_rule_methods_out() {
    let kept = names(&advice(1e5, 0.01, true));
    for dissipative in ["implicit_euler", "tr_bdf2", "generalized_alpha", "runge_kutta4"] {
        assert!(!kept.contains(&dissipative), "{kept:?}");
    }
    let precise = names(&advice(1e5, 1e-4, false));
    assert!(!precise.contains(&"implicit_euler") && !precise.contains(&"symplectic_euler"), "{precise:?}");
    assert!(precise.contains(&"runge_kutta4"), "{precise:?}");
}

#[test]
fn every_method_is_suggested_or_rejected_once() {
    for stiffness in [1.0, 1e4, 1e12] {
        let advice = advice(stiffness, 0.01, false);
        let mut all: Vec<_> = names(&advice);
        all.extend(advice.rejections.iter().map(|rejection| rejection.method));
        all.sort_unstable();
        let mut known: Vec<_> = sim_integrate::STEPPERS.iter().map(|info| info.method.id).collect();
        known.sort_unstable();
        assert_eq!(all, known);
        let costs: Vec<f64> = advice.suggestions.iter().map(|s| s.force_evaluations).collect();
        assert!(!costs.is_empty() && costs.is_sorted(), "{costs:?}");
    }
}

#[test]
fn requests_out_of_range_are_named() {
    let (system, state) = chain(1.0, 0.0);
    for (frame, relative_error, field) in [
        (0.0, 0.1, "frame"),
        (f64::NAN, 0.1, "frame"),
        (0.1, 0.0, "relative_error"),
        (0.1, f64::NAN, "relative_error"),
    ] {
        let request = AdviceRequest { frame, relative_error, conserve_energy: false };
        match advise(&system, &state, request) {
            Err(AdviceError::Request { field: found, .. }) => assert_eq!(found, field),
            other => panic!("{other:?}"),
        }
    }
}
