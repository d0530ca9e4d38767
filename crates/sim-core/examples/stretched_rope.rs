//! Lay a rope, look at its forces and its stress. `cargo run -p sim-core --example stretched_rope`

use sim_core::force::{gravity::Gravity, springs::Springs};
use sim_core::mass::{Density, lumped_masses};
use sim_core::rest::{InitialStressReport, RestLength, SpringOptions, SpringStiffness};
use sim_core::topology::{RopeOptions, rope};
use sim_core::{ParticleSystemBuilder, System};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // 2 m of rope of EA = 5 kN and 60 g/m, made 1 % too short for its place.
    let topology = rope(&RopeOptions::new([0.0, 0.0, 0.0], [2.0, 0.0, 0.0], 40))?;
    let options = SpringOptions {
        stiffness: SpringStiffness::Axial(5000.0),
        damping_time: 0.0,
        rest_length: RestLength::Factor(1.0 / 1.01),
    };
    let springs = Springs::new(options.lay(&topology, topology.segments.iter().copied())?);
    let q = topology.flat_positions();
    let stress = InitialStressReport::new(&springs, &q);
    println!(
        "largest strain {:.4}, tension {:.3} N, energy {:.4} J",
        stress.max_strain, stress.max_tension, stress.energy
    );

    let system = ParticleSystemBuilder::new(lumped_masses(&topology, Density::Linear(0.06))?)
        .pin([0, 40])
        .force(springs)
        .force(Gravity::new([0.0, 0.0, -9.81]))
        .build()?;
    let mut f = vec![0.0; q.len()];
    system.force(0.0, &q, &vec![0.0; q.len()], &mut f);
    println!("the rope pulls its first support with {:.3} N along x", f[0]);

    // T = EA * strain = 5000 N * 0.01, and half a segment's weight at each end.
    assert!((stress.max_tension - 50.0).abs() < 1e-9);
    assert!((f[0] - 50.0).abs() < 1e-9);
    assert!((system.total_mass() - 0.12).abs() < 1e-15);
    Ok(())
}
