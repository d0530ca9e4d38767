//! A rope released from horizontal, with certified substeps. `cargo run -p sim-integrate --example swinging_rope`

use sim_core::force::{gravity::Gravity, springs::Springs};
use sim_core::mass::{Density, lumped_masses};
use sim_core::rest::{RestLength, SpringOptions, SpringStiffness};
use sim_core::topology::{RopeOptions, rope};
use sim_core::{ParticleSystemBuilder, State, System};
use sim_integrate::{Leapfrog, SubstepOptions, Substepping, stepper_info};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let topology = rope(&RopeOptions::new([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], 20))?;
    let options = SpringOptions {
        stiffness: SpringStiffness::Axial(2000.0),
        damping_time: 0.0,
        rest_length: RestLength::Geometry,
    };
    let system = ParticleSystemBuilder::new(lumped_masses(&topology, Density::Linear(0.1))?)
        .pin([0])
        .force(Springs::new(options.lay(&topology, topology.segments.iter().copied())?))
        .force(Gravity::new([0.0, 0.0, -9.81]))
        .build()?;
    let mut state = State::at_rest(topology.flat_positions());
    let before = system.energy(0.0, &state.q, &state.v).total();

    let mut stepper = Leapfrog::default();
    let mut substeps = Substepping::new(stepper_info("leapfrog")?, SubstepOptions::default())?;
    let frame = 1.0 / 60.0;
    for _ in 0..30 {
        let plan = substeps.advance(&system, &mut stepper, &mut state, frame, |_, _| {})?;
        if state.t < 1.5 * frame {
            println!(
                "{} substeps per frame of {:.3e} s; set by {:?}",
                plan.substeps, plan.dt, plan.stability.culprit
            );
        }
    }
    let energy = system.energy(state.t, &state.q, &state.v);
    let tip = &state.q[60..63];
    println!("after {:.3} s the tip is at x = {:.3} m, z = {:.3} m", state.t, tip[0], tip[2]);
    println!("kinetic energy {:.4} J, energy change {:.1e} J", energy.kinetic, energy.total() - before);

    // Nothing damps here: energy may wobble, not drift; and the rope has fallen below its support.
    assert!((energy.total() - before).abs() < 2e-3 * energy.kinetic);
    assert!(tip[2] < -0.5);
    Ok(())
}
