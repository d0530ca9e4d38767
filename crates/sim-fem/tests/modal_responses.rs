//! Responses from modes against closed forms, the reference set and direct time integration.

#[path = "support/reference.rs"]
mod reference;

use reference::{Case, close, close_to};
use sim_fem::analysis::linear_static::linear_static;
use sim_fem::analysis::modal::{ModalOptions, modal};
use sim_fem::analysis::modal_response::DampedModes;
use sim_fem::analysis::transient::{InitialState, TransientOptions, transient};
use sim_fem::elements::ground_spring::GroundSpring;
use sim_fem::elements::point_mass::PointMass;
use sim_fem::elements::truss::Truss;
use sim_fem::factor::FactorKind;
use sim_fem::load::Direction::{X, Y, Z};
use sim_fem::load::TimeFunction;
use sim_fem::material::{Material, Section};
use sim_fem::{Load, StructureBuilder};
use std::ops::ControlFlow;

/// Exact answer where the load is a straight line in each step: the step load of Bathe's two masses.
#[test]
fn d_two_dof_bathe_exact() {
    let case = Case::new("D-two-dof-bathe");
    let mut builder = StructureBuilder::new();
    builder.nodes([[0.0; 3], [1.0, 0.0, 0.0]]);
    builder.element(Truss::new(&Material::new(2.0), &Section::area(1.0)).unwrap(), &[0, 1]);
    for (node, (k, m)) in [(4.0, 2.0), (2.0, 1.0)].into_iter().enumerate() {
        builder.element(GroundSpring::new([k, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap(), &[node]);
        builder.element(PointMass::new(m).unwrap(), &[node]);
        builder.fix(node, Y).fix(node, Z);
    }
    builder.force(1, X, 10.0);
    let structure = builder.build().unwrap();
    let report = modal(&structure, None, &ModalOptions { modes: 2, ..Default::default() }).unwrap();
    close("omega1", report.modes[0].eigenvalue, 2.0, 1e-12);
    close("omega2", report.modes[1].eigenvalue, 5.0, 1e-12);
    let modes = DampedModes::new(&report.modes, vec![0.0; 2]).unwrap();
    let mut rows = Vec::new();
    let mut keep = |_: f64, u: &[f64]| {
        rows.push([u[0], u[3]]);
        ControlFlow::Continue(())
    };
    modes.transient(&structure, case.number("dt"), 12, &mut keep).unwrap();
    for (row, expected) in rows[1..].iter().zip(case.table("exact")) {
        close_to("exact", row[0], expected[0], 1e-11, 1.0);
        close_to("exact", row[1], expected[1], 1e-11, 1.0);
    }
}

/// A damped bar shaken at its tip: from modes with static correction, and the steady end of a long direct march.
#[test]
fn harmonic_response_is_where_a_long_march_ends() {
    let (n, omega) = (5, 2.2);
    let build = |timed: bool| {
        let material = Material::new(1.0).with_density(1.0);
        let mut builder = StructureBuilder::new();
        builder.nodes((0..=n).map(|i| [i as f64 / n as f64, 0.0, 0.0])).rayleigh_damping(0.3, 0.05);
        for i in 0..n {
            builder.element(Truss::new(&material, &Section::area(1.0)).unwrap(), &[i, i + 1]);
        }
        (0..=n).for_each(|i| _ = builder.fix(i, Y).fix(i, Z));
        builder.fix(0, X);
        let load = Load::Force { node: n, direction: X, value: 1.0 };
        let cosine = TimeFunction::Sine { angular_frequency: omega, phase: std::f64::consts::FRAC_PI_2 };
        builder.timed_load(0, load, if timed { cosine } else { TimeFunction::Constant });
        builder.build().unwrap()
    };
    let structure = build(false);
    let at_rest = linear_static(&structure, 0.0, FactorKind::Auto).unwrap().displacement;
    let mut force = vec![0.0; structure.dof_count()];
    structure.external_force(0.0, &mut force);
    let all = modal(&structure, None, &ModalOptions { modes: n, ..Default::default() }).unwrap();
    let modes = DampedModes::rayleigh(&structure, &all.modes).unwrap();
    let full = modes.harmonic(omega, &force, None);
    // With all modes the static correction changes nothing; with one mode of five it mends most of the gap.
    let corrected = modes.harmonic(omega, &force, Some(&at_rest));
    let tip = structure.dof(n, X).unwrap();
    assert!((full[tip] - corrected[tip]).norm() < 1e-10);
    let few = DampedModes::rayleigh(&structure, &all.modes[..1]).unwrap();
    let plain = (few.harmonic(omega, &force, None)[tip] - full[tip]).norm();
    let mended = (few.harmonic(omega, &force, Some(&at_rest))[tip] - full[tip]).norm();
    assert!(mended < 0.3 * plain && plain > 0.1, "{mended} {plain}");

    let march = build(true);
    let dt = 2.0 * std::f64::consts::PI / omega / 2000.0;
    let options = TransientOptions { dt, steps: 30 * 2000, ..Default::default() };
    let end = transient(&march, &InitialState::at_rest(&march), &options, &mut |_| ControlFlow::Continue(()))
        .unwrap();
    // After whole periods the displacement is the real part, the velocity −Ω times the imaginary one.
    close_to("in phase", end.displacement[tip], full[tip].re, 2e-5, 1.0);
    close_to("out of phase", end.velocity[tip], -omega * full[tip].im, 2e-5, 1.0);
}

#[test]
fn ratios_are_checked() {
    let mut builder = StructureBuilder::new();
    builder.node([0.0; 3]);
    builder.element(GroundSpring::new([9.0, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap(), &[0]);
    builder.element(PointMass::new(1.0).unwrap(), &[0]);
    builder.fix(0, Y).fix(0, Z);
    let structure = builder.build().unwrap();
    let report = modal(&structure, None, &ModalOptions { modes: 1, ..Default::default() }).unwrap();
    for bad in [-0.1, 1.0, f64::NAN] {
        assert!(DampedModes::new(&report.modes, vec![bad]).is_err());
    }
    // At resonance the amplitude is F/(2ζk), a quarter period behind.
    let modes = DampedModes::new(&report.modes, vec![0.05]).unwrap();
    let u = modes.harmonic(3.0, &[1.8, 0.0, 0.0], None)[0];
    close("resonance", -u.im, 1.8 / (2.0 * 0.05 * 9.0), 1e-12);
    close_to("phase", u.re, 0.0, 1e-12, 1.0);
}
