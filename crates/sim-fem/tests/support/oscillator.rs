//! One mass on a spring, and marches that keep what they pass.
#![allow(dead_code, reason = "every test binary uses its own part")]

use sim_fem::analysis::transient::{InitialState, Instant, TransientOptions, TransientReport, transient};
use sim_fem::elements::dashpot::Dashpot;
use sim_fem::elements::ground_spring::GroundSpring;
use sim_fem::elements::point_mass::PointMass;
use sim_fem::load::Direction::{Y, Z};
use sim_fem::{Structure, StructureBuilder};
use std::ops::ControlFlow;

/// Mass on a spring and a dashpot, moving along x.
pub fn oscillator(m: f64, k: f64, c: f64) -> StructureBuilder {
    let mut builder = StructureBuilder::new();
    builder.node([0.0; 3]);
    builder.element(PointMass::new(m).unwrap(), &[0]);
    builder.element(GroundSpring::new([k, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap(), &[0]);
    if c > 0.0 {
        builder.element(Dashpot::new([c, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap(), &[0]);
    }
    builder.fix(0, Y).fix(0, Z);
    builder
}

pub fn run(structure: &Structure, x0: f64, v0: f64, options: &TransientOptions) -> TransientReport {
    let initial = InitialState { t: 0.0, displacement: vec![x0, 0.0, 0.0], velocity: vec![v0, 0.0, 0.0] };
    transient(structure, &initial, options, &mut |_| ControlFlow::Continue(())).unwrap()
}

pub fn history(structure: &Structure, options: &TransientOptions) -> Vec<[Vec<f64>; 3]> {
    let mut rows = Vec::new();
    let mut keep = |instant: &Instant<'_>| {
        rows.push([instant.displacement.to_vec(), instant.velocity.to_vec(), instant.acceleration.to_vec()]);
        ControlFlow::Continue(())
    };
    transient(structure, &InitialState::at_rest(structure), options, &mut keep).unwrap();
    rows
}
