//! Long space truss: static solution, Newmark steps and lowest modes, timed.
//!
//! Nodes 4k + c at (k, Y, Z) with (Y, Z) = (0,0), (1,0), (1,1), (0,1); bars around and across each section, along the edges
//! and diagonally along the faces. E = 210e9 Pa, A = 1e-3 m², 7850 kg/m³ lumped; nodes c = 0, 1 held at every 20th
//! section; −1000 N along z on c = 2, 3. Average acceleration, dt = 1 ms, load from t = 0 at rest, no damping.
//!
//! `cargo run --release --example w5 -- [bays steps modes]`; without arguments the three sizes 100, 1000 and 10,000.

use sim_fem::analysis::Stiffness;
use sim_fem::analysis::linear_static::linear_static_with;
use sim_fem::analysis::modal::{ModalOptions, modal};
use sim_fem::analysis::transient::{InitialState, StartAcceleration, TransientOptions, transient};
use sim_fem::elements::MassKind;
use sim_fem::elements::truss::Truss;
use sim_fem::factor::FactorKind;
use sim_fem::load::Direction;
use sim_fem::material::{Material, Section};
use sim_fem::{Structure, StructureBuilder};
use std::ops::ControlFlow;
use std::time::Instant;

fn truss(bays: usize) -> Result<Structure, Box<dyn std::error::Error>> {
    let bar = Truss::new(&Material::new(210e9).with_density(7850.0), &Section::area(1e-3))?;
    let mut builder = StructureBuilder::new();
    builder.mass(MassKind::Lumped);
    for k in 0..=bays {
        let x = k as f64;
        builder.nodes([[x, 0.0, 0.0], [x, 1.0, 0.0], [x, 1.0, 1.0], [x, 0.0, 1.0]]);
    }
    for k in 0..=bays {
        for c in 0..4 {
            builder.element(bar, &[4 * k + c, 4 * k + (c + 1) % 4]);
        }
        builder.element(bar, &[4 * k, 4 * k + 2]);
        if k < bays {
            for c in 0..4 {
                builder.element(bar, &[4 * k + c, 4 * k + 4 + c]);
                builder.element(bar, &[4 * k + c, 4 * k + 4 + (c + 1) % 4]);
            }
        }
        if k % 20 == 0 {
            builder.pin(4 * k).pin(4 * k + 1);
        }
        builder.force(4 * k + 2, Direction::Z, -1000.0).force(4 * k + 3, Direction::Z, -1000.0);
    }
    Ok(builder.build()?)
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// Time in s that this thread has had a processor, where the system tells; the clock otherwise.
fn processor_time(origin: &Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat");
    let nanoseconds =
        told.ok().and_then(|text| text.split(' ').next().and_then(|word| word.parse::<f64>().ok()));
    nanoseconds.map_or_else(|| origin.elapsed().as_secs_f64(), |ns| ns * 1e-9)
}

/// Mean time in ms of repeated runs that take a fifth of a second together, and the last result. The system books
/// processor time in ticks of some milliseconds, so that single short runs cannot be measured.
fn mean_time<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let origin = Instant::now();
    let start = processor_time(&origin);
    let mut runs = 0;
    loop {
        let result = work();
        runs += 1;
        let spent = processor_time(&origin) - start;
        if spent > 0.2 || origin.elapsed().as_secs_f64() > 5.0 {
            return (spent * 1e3 / f64::from(runs), result);
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<usize> = std::env::args().skip(1).map(|a| a.parse()).collect::<Result<_, _>>()?;
    let sizes = match arguments[..] {
        [bays, steps, modes] => vec![(bays, steps, modes)],
        _ => vec![(100, 20_000, 10), (1000, 2000, 10), (10_000, 200, 10)],
    };
    for (bays, steps, modes) in sizes {
        let (build, structure) = mean_time(|| truss(bays));
        let structure = structure?;
        let (analyse, stiffness) = mean_time(|| Stiffness::new(&structure, FactorKind::Auto));
        let mut stiffness = stiffness?;
        let (solve, report) = mean_time(|| linear_static_with(&structure, 0.0, &mut stiffness));
        let report = report?;
        println!(
            "W5 bays {bays}, unknowns {}: build {build:.1} ms, analyse {analyse:.1} ms ({:?}), static with assembly \
             {solve:.3} ms, |u| = {:.9}, lowest {:.9}",
            structure.unknown_count(),
            stiffness.kind(),
            norm(&report.displacement),
            report.displacement.iter().copied().fold(0.0, f64::min),
        );
        let march = |steps: usize, start| {
            let options = TransientOptions { dt: 1e-3, steps, start, ..Default::default() };
            transient(&structure, &InitialState::at_rest(&structure), &options, &mut |_| {
                ControlFlow::Continue(())
            })
        };
        // The set-up is the same for any number of steps: the difference of two runs is the steps alone.
        let start = StartAcceleration::Equilibrium;
        let (short, _) = mean_time(|| march(steps / 10, start));
        let (long, end) = mean_time(|| march(steps, start));
        let per_step = (long - short) * 1e3 / (steps - steps / 10) as f64;
        let end = end?;
        println!(
            "  newmark {per_step:.2} µs per step (set-up {:.1} ms), {steps} steps: |x| = {:.9}, |v| = {:.9}",
            short - per_step * 1e-3 * (steps / 10) as f64,
            norm(&end.displacement),
            norm(&end.velocity),
        );
        let checked = march(1000.min(steps), start)?;
        println!("  after {} steps: |x| = {:.9}", 1000.min(steps), norm(&checked.displacement));
        let options = ModalOptions { modes, ..Default::default() };
        let (time, report) = mean_time(|| modal(&structure, None, &options));
        let report = report?;
        let frequencies: Vec<String> = report.modes.iter().map(|m| format!("{:.9}", m.frequency())).collect();
        println!(
            "  {modes} modes in {time:.2} ms, {} factorizations, {} solves: {} Hz",
            report.factorizations,
            report.solves,
            frequencies.join(" ")
        );
    }
    Ok(())
}
