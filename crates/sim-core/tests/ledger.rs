//! The energy audit: it closes on a right step and points at a wrong one.

use sim_core::force::{
    air_drag::AirDrag, gravity::Gravity, mass_damping::MassDamping, point_load::PointLoad,
    point_load::PointLoads, rope_hinge::RestShape, rope_hinge::RopeHinge, springs::Springs,
};
use sim_core::topology::{RopeOptions, rope};
use sim_core::{
    EnergyLedger, ExplicitSystem, LedgerReport, Motion, ParticleSystem, ParticleSystemBuilder, RestLength,
    SpringOptions, SpringStiffness, StageRecord, State, System, TimeCurve,
};

/// A rope with every kind of energy and work: driven end, dashpots, drag, constant and timed loads, bending.
fn everything() -> (ParticleSystem, State) {
    let part = rope(&RopeOptions::new([0.0; 3], [1.0, 0.0, 0.2], 12)).unwrap();
    let options = SpringOptions {
        stiffness: SpringStiffness::Axial(200.0),
        damping_time: 1e-3,
        rest_length: RestLength::Factor(0.97),
    };
    let load = |particle, force, curve| PointLoad { particle, force, curve };
    let swing = TimeCurve::Sinusoid { mean: 0.0, amplitude: 1.0, frequency: 3.0, phase: 0.0 };
    let system = ParticleSystemBuilder::new(vec![0.01; 13])
        .drive(
            0,
            Motion::Sinusoid { center: [0.0; 3], amplitude: [0.0, 0.05, 0.02], frequency: 2.0, phase: 0.0 },
        )
        .pin([12])
        .force(Springs::new(options.lay(&part, part.segments.iter().copied()).unwrap()))
        .force(RopeHinge::along(&part, 1e-3, RestShape::Flat))
        .force(Gravity::new([0.0, 0.0, -9.81]))
        .force(MassDamping { rate: 0.3 })
        .force(AirDrag { linear: 1e-3, quadratic: 1e-3, bound_speed: 5.0 })
        .force(PointLoads::new([
            load(5, [0.0, 0.02, 0.01], TimeCurve::Constant),
            load(8, [0.03, 0.0, 0.02], swing),
        ]))
        .build()
        .unwrap();
    (system, State::at_rest(part.flat_positions()))
}

/// Symplectic Euler (kick, then drift) that multiplies the kick by `kick`; 1 is right.
fn run(kick: f64, dt: f64, steps: u32) -> (LedgerReport, State) {
    let (system, mut state) = everything();
    system.prescribe(0.0, &mut state.q, &mut state.v);
    let mut ledger = EnergyLedger::new(&system, &state);
    let mut record = StageRecord::default();
    let mut f = vec![0.0; state.q.len()];
    for step in 0..steps {
        record.clear();
        record.push(1.0, state.t, &state.q, &state.v);
        system.force(state.t, &state.q, &state.v, &mut f);
        for (i, &f) in f.iter().enumerate() {
            let w = system.inverse_mass()[i / 3];
            state.v[i] += kick * dt * f * w;
            if w > 0.0 {
                state.q[i] += dt * state.v[i];
            }
        }
        state.t = f64::from(step + 1) * dt;
        system.prescribe(state.t, &mut state.q, &mut state.v);
        ledger.book(&system, |i| system.inverse_mass()[i] > 0.0, &state, dt, &record);
    }
    (*ledger.report(), state)
}

#[test]
fn the_sum_closes_and_every_entry_is_used() {
    let (report, state) = run(1.0, 2e-4, 5000);
    assert_eq!(report.steps, 5000);
    assert!((state.t - 1.0).abs() < 1e-15);
    let work = report.work;
    let turned_over = work.magnitude();
    assert!(turned_over > 0.01, "the run must do work: {work:?}");
    assert!(report.max_relative_residual < 1e-9, "{:e}", report.max_relative_residual);
    assert!(report.residual.abs() < 1e-10 * turned_over, "{:e}", report.residual);
    assert!(report.gap().abs() < 1e-10 * turned_over, "{:e}", report.gap());
    for (name, value) in [("dashpot", work.dashpot), ("mass damping", work.mass_damping), ("air", work.air)] {
        assert!(value < 0.0, "{name} takes energy: {value}");
    }
    for (name, value) in [
        ("conservative", work.conservative),
        ("external", work.external),
        ("reaction", work.reaction),
        ("elastic", report.current.elastic),
        ("bending", report.current.bending),
        ("gravitational", report.current.gravitational),
        ("load", report.current.load),
        ("kinetic", report.current.kinetic),
    ] {
        assert!(value.abs() > 1e-9, "{name} is not used: {value}");
    }
}

#[test]
fn numerical_energy_falls_with_the_step() {
    let numerical = |dt: f64, steps| run(1.0, dt, steps).0.numerical.abs();
    let (coarse, fine) = (numerical(2e-4, 500), numerical(1e-4, 1000));
    assert!(coarse > 0.0 && (coarse / fine - 2.0).abs() < 0.3, "first order: {coarse:e} {fine:e}");
}

#[test]
fn a_wrong_step_is_detected() {
    for kick in [0.999, 1.0 + 1e-6] {
        let (report, _) = run(kick, 2e-4, 500);
        let expected = (kick - 1.0_f64).abs();
        assert!(report.max_relative_residual > 0.1 * expected, "{kick}: {:e}", report.max_relative_residual);
        assert!(report.max_relative_residual > 100.0 * run(1.0, 2e-4, 500).0.max_relative_residual);
    }
}
