//! Belt drives against creep theory (Euler-Eytelwein with centrifugal tension, Reynolds creep).

use crate::common::{close, options};
use sim_core::Stepper;
use sim_pbd::{BeltDrive, BeltReport, Friction, Pulley, PulleyDrive, Xpbd};
use std::f64::consts::PI;

const RADIUS: f64 = 0.09995;

fn drive(friction: f64, torque: f64, particles: usize) -> BeltDrive {
    let center_distance = 0.1 * PI;
    let path = 2.0 * center_distance + 2.0 * PI * RADIUS;
    let pulley = |x: f64, drive| Pulley {
        center: [x, 0.0],
        radius: RADIUS,
        drive,
        friction: Friction::coulomb(friction),
    };
    BeltDrive {
        pulleys: vec![
            pulley(0.0, PulleyDrive::Speed { angular_velocity: 12.0 }),
            pulley(center_distance, PulleyDrive::Torque { torque: -torque, inertia: 0.02, drag: 0.0 }),
        ],
        axial_stiffness: 8000.0,
        mass_per_length: 0.8288,
        rest_length: path / 1.05,
        particles,
        initial_speed: 12.0 * RADIUS,
    }
}

/// Runs until `settle` and averages until `end` (s).
fn run(drive: BeltDrive, settle: f64, end: f64) -> (BeltReport, f64) {
    let (model, mut state) = drive.build().unwrap();
    let mut xpbd = Xpbd::new(model.system(), options(1, 14)).unwrap();
    let mut report = BeltReport::default();
    let dt = 1e-4;
    for step in 0..(end / dt) as u32 {
        xpbd.step(model.system(), &mut state, dt).unwrap();
        if f64::from(step) * dt >= settle {
            report.sample(&model, &xpbd, &state);
        }
    }
    let creep = report.creep(&model, 0, 1);
    (report, creep)
}

#[test]
fn tensions_slip_arcs_and_creep_follow_theory() {
    // friction, torque, T1, T2, slip arc in degrees, driven speed
    let cases = [
        (0.5, 15.0, 476.226, 326.151, 43.5, 11.7875),
        (0.5, 40.0, 615.390, 215.190, 120.8, 11.4426),
        (0.2, 15.0, 476.998, 326.923, 108.5, 11.7876),
    ];
    for (friction, torque, tight, slack, arc, speed) in cases {
        let (report, creep) = run(drive(friction, torque, 160), 1.3, 1.6);
        close(report.tight_tension(), tight, 0.01 * tight, "tight side");
        close(report.slack_tension(), slack, 0.01 * slack, "slack side");
        for pulley in &report.pulleys {
            close(pulley.slip_arc.to_degrees(), arc, 4.0, "slip arc");
            assert!(!pulley.slips);
        }
        close(creep, 1.0 - speed / 12.0, 0.04 * (1.0 - speed / 12.0), "creep");
    }
}

/// The largest torque of the theory, 2 T0 R (e^{μπ} − 1)/(e^{μπ} + 1), lies between a load that is carried and one that
/// brakes the driven pulley down.
#[test]
fn gross_slip_starts_within_two_percent_of_theory() {
    let friction = 0.2;
    let growth = (friction * PI).exp();
    let most = 2.0 * 400.0 * RADIUS * (growth - 1.0) / (growth + 1.0);
    let (carried, _) = run(drive(friction, 0.98 * most, 96), 1.0, 1.2);
    assert!(carried.pulleys[1].angular_velocity > 11.4, "{carried:?}");
    let (slipping, _) = run(drive(friction, 1.02 * most, 96), 1.0, 1.2);
    assert!(slipping.pulleys[1].angular_velocity < 8.0, "{slipping:?}");
    assert!(slipping.pulleys[1].slips && !carried.pulleys[1].slips, "the report warns: {slipping:?}");
}

/// C-running-belt-tension: on fixed centers an unloaded belt keeps its tension at any speed.
#[test]
fn c_running_belt_tension_does_not_change_with_speed() {
    let mut belt = drive(0.5, 0.0, 128);
    belt.pulleys[0].drive = PulleyDrive::Speed { angular_velocity: 100.0 };
    belt.initial_speed = 100.0 * RADIUS;
    let (report, creep) = run(belt, 0.2, 0.4);
    close(report.tight_tension(), 400.0, 0.02 * 400.0, "tension");
    close(report.slack_tension(), 400.0, 0.02 * 400.0, "tension");
    close(creep, 0.0, 1e-3, "no torque, no creep");
}
