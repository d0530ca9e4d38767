//! Every method of the registry on models that remember.

use sim_core::force::law_springs::{LawSpring, LawSprings};
use sim_core::material::table::{Above, Below, Table};
use sim_core::material::{Branch, Break, LineMaterial};
use sim_core::{ModelSystem, ParticleSystem, ParticleSystemBuilder, State, StepError, Stepper, System};
use sim_integrate::{Leapfrog, STEPPERS};
use sim_verify::judge::history::judge_history;

#[test]
fn every_method_steps_what_remembers() {
    for info in STEPPERS {
        let mut make =
            || (info.build)(&serde_json::Value::Null).unwrap() as Box<dyn Stepper<dyn ModelSystem>>;
        for claim in judge_history(info.method.id, info.method, &mut make) {
            assert!(claim.pass(), "{claim}");
        }
    }
}

/// A mass on a strap, thrown outward.
fn strap(material: LineMaterial, speed: f64) -> (ParticleSystem, State) {
    let spring = LawSpring { ends: [0, 1], rest_length: 1.0, scale: 1.0, damping: 0.0, material: 0 };
    let system = ParticleSystemBuilder::new(vec![1.0; 2])
        .pin([0])
        .force(LawSprings::new([material], [spring]))
        .build()
        .unwrap();
    let mut state = State::at_rest(vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    state.v[3] = speed;
    state.internal.resize(system.internal_count(), 0.0);
    (system, state)
}

fn webbing() -> LineMaterial {
    let table = Table::new(vec![0.0, 0.1, 0.3], vec![0.0, 20.0, 90.0], Below::Slack, Above::Error).unwrap();
    sim_core::Law::Table(table).into()
}

#[test]
fn a_state_beyond_the_table_is_refused_and_nothing_changes() {
    for info in STEPPERS {
        let (system, mut state) = strap(webbing(), 12.0);
        let mut stepper = (info.build)(&serde_json::Value::Null).unwrap();
        let mut steps = 0;
        let error = loop {
            let before = state.clone();
            match stepper.step(&system, &mut state, 1e-3) {
                Ok(_) => steps += 1,
                Err(error) => {
                    assert_eq!(state, before, "{}: a refused step must leave the state", info.method.id);
                    break error;
                }
            }
            assert!(steps < 100, "{}: it flies on", info.method.id);
        };
        assert!(steps > 20 && state.q[3] <= 1.3 + 1e-12, "{}: {}", info.method.id, state.q[3]);
        let text = format!("{}", std::error::Error::source(&error).expect("it says why"));
        assert!(text.contains("law_spring 0") && text.contains("0.300000"), "{text}");
    }
}

#[test]
fn a_strap_breaks_where_it_is_said_to_and_its_energy_is_booked() {
    use sim_core::{EnergyLedger, StageRecord};
    let mut material =
        LineMaterial::from(sim_core::Law::Linear(sim_core::material::linear::Linear { modulus: 100.0 }));
    material.breaks = Some(Break { tension: Some(30.0), strain: None });
    material.branches.push(Branch { modulus: 20.0, time: 0.5 });
    let (system, mut state) = strap(material, 5.0);
    let mut stepper = sim_integrate::stepper("leapfrog", &serde_json::Value::Null).unwrap();
    let (mut record, dt) = (StageRecord::default(), 1e-4);
    let mut ledger = EnergyLedger::new(&system, &state);
    let mut broke = None;
    for step in 0..4000 {
        state.t = f64::from(step) * dt;
        let before = state.q[3];
        stepper.step_recorded(&system, &mut state, dt, Some(&mut record)).unwrap();
        state.t = f64::from(step + 1) * dt;
        ledger.book(&system, |i| i == 1, &state, dt, &record);
        let mut broken = Vec::new();
        system.broken(&state.internal, &mut |force, index| broken.push((force, index)));
        if !broken.is_empty() && broke.is_none() {
            assert_eq!(broken, [("law_spring", 0)]);
            broke = Some((before, state.q[3], state.v[3]));
        }
    }
    let (before, after, speed) = broke.expect("30 N is reached on the way out");
    // Between 100 e = 30 (all crept) and 120 e = 30 (nothing crept).
    assert!(before < 1.3 && after > 1.25, "broke between {before} and {after}");
    assert!((state.v[3] - speed).abs() < 1e-12, "nothing pulls what is broken");
    let report = ledger.report();
    // Kinetic energy lost is what the strap had stored and crept away.
    let kinetic = 0.5 * (25.0 - speed * speed);
    assert!((report.work.inelastic + kinetic).abs() < 1e-6 * kinetic, "{report:?}");
    assert!(report.numerical.abs() < 1e-6 * kinetic && report.gap().abs() < 1e-12 * kinetic, "{report:?}");
}

#[test]
fn a_method_alone_refuses_what_remembers() {
    let mut material = webbing();
    material.branches.push(Branch { modulus: 1.0, time: 1.0 });
    let (system, mut state) = strap(material, 1.0);
    let error = Leapfrog::default().step(&system, &mut state, 1e-3).unwrap_err();
    assert!(matches!(error, StepError::Unsupported { .. }), "{error}");
}
