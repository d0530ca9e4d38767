//! A long space truss: static solution, Newmark steps and lowest modes, with the answers other programs give.
//!
//! 100 bays of four nodes at the corners of a unit square; bars around and once across each section, along the edges and
//! diagonally along the faces. E = 210e9 Pa, A = 1e-3 m², 7850 kg/m³ lumped; the lower nodes are held at every 20th
//! section; −1000 N along z on the upper ones. Average acceleration, dt = 1 ms, load from t = 0 at rest, no damping.
//!
//! `cargo run --release --example w5`; `cargo xtask bench W5` measures it in three sizes.

use sim_fem::analysis::linear_static::linear_static;
use sim_fem::analysis::modal::{ModalOptions, modal};
use sim_fem::analysis::transient::{InitialState, TransientOptions, transient};
use sim_fem::factor::FactorKind;
use sim_fem::workload::box_truss;
use std::ops::ControlFlow;

const BAYS: usize = 100;

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// Prints a value and fails when it is not the one `SciPy` gives for the same truss.
fn check(what: &str, value: f64, expected: f64) -> Result<(), String> {
    println!("{what:28} {value:.9}");
    if (value - expected).abs() > 1e-8 * expected.abs() {
        return Err(format!("{what} is {value}, should be {expected}"));
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let structure = box_truss(BAYS);
    println!("{} nodes, {} unknowns", structure.node_count(), structure.unknown_count());
    let report = linear_static(&structure, 0.0, FactorKind::Auto)?;
    check("static |u| in m", norm(&report.displacement), 0.085_858_338_570_4)?;
    let options = TransientOptions { dt: 1e-3, steps: 1000, ..Default::default() };
    let start = InitialState::at_rest(&structure);
    let end = transient(&structure, &start, &options, &mut |_| ControlFlow::Continue(()))?;
    check("|u| after 1 s in m", norm(&end.displacement), 0.109_227_586_701)?;
    check("|v| after 1 s in m/s", norm(&end.velocity), 4.508_468_830_95)?;
    let modes = modal(&structure, None, &ModalOptions::default())?.modes;
    check("lowest frequency in Hz", modes[0].frequency(), 6.792_633_739_50)?;
    check("tenth frequency in Hz", modes[9].frequency(), 10.304_329_875_71)?;
    Ok(())
}
