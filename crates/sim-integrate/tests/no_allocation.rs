//! A step allocates nothing once the buffers are there. One test per binary: the allocator counts for the whole process.
#![cfg(feature = "implicit")]

use serde_json::{Value, json};
use sim_core::force::cloth_hinge::ClothHinge;
use sim_core::force::gravity::Gravity;
use sim_core::force::mass_damping::MassDamping;
use sim_core::force::rope_hinge::RestShape;
use sim_core::force::springs::{Spring, Springs};
use sim_core::topology::{ClothOptions, RopeOptions, Topology, cloth, rope};
use sim_core::{ParticleSystem, ParticleSystemBuilder, StageRecord, State};
use sim_integrate::STEPPERS;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System as SystemAllocator;

#[global_allocator]
static COUNTING: &StatsAlloc<SystemAllocator> = &INSTRUMENTED_SYSTEM;

/// Springs of moderate stiffness along a topology, hung at its first particle.
fn hung(topology: &Topology) -> (ParticleSystem, State) {
    let n = topology.particle_count();
    let spring = |ends: &[u32; 2]| Spring {
        ends: *ends,
        rest_length: topology.distance(*ends),
        stiffness: 50.0,
        damping: 0.01,
    };
    let mut builder = ParticleSystemBuilder::new(vec![0.01; n])
        .rest_positions(topology.flat_positions())
        .pin([0])
        .force(Springs::new(topology.segments.iter().chain(&topology.shear).map(spring)))
        .force(Gravity { acceleration: [0.0, 0.0, -9.8] })
        .force(MassDamping { rate: 0.1 });
    if !topology.hinges.is_empty() {
        builder = builder.force(ClothHinge::over(topology, 1e-6, RestShape::Flat));
    }
    (builder.build().unwrap(), State::at_rest(topology.flat_positions()))
}

/// Number and bytes of the allocations in ten steps after a warm-up of ten, and the Newton iterations in them.
fn allocations(id: &str, options: &Value, (system, start): &(ParticleSystem, State)) -> (usize, usize, u32) {
    let mut stepper = sim_integrate::stepper(id, options).unwrap();
    let (mut state, mut record) = (start.clone(), StageRecord::default());
    let mut counted = (0, 0, 0);
    for step in 0..20 {
        let region = Region::new(COUNTING);
        let stats = stepper.step_recorded(system, &mut state, 1e-3, Some(&mut record)).unwrap();
        let change = region.change();
        if step >= 10 {
            counted.0 += change.allocations + change.reallocations;
            counted.1 += change.bytes_allocated;
            counted.2 += stats.newton_iterations;
        }
    }
    counted
}

/// Explicit methods and implicit ones with a direct solver allocate nothing at all. Conjugate gradients make a few short lists per
/// factorization, one entry per chunk of rows or so, and nothing of the size of the system.
#[test]
fn steps_do_not_allocate() {
    // The count can count.
    let region = Region::new(COUNTING);
    std::hint::black_box(vec![0_u8; 100]);
    assert_eq!((region.change().allocations, region.change().bytes_allocated), (1, 100));

    let sheet = hung(&cloth(&ClothOptions::new(1.0, 1.0, 16, 16)).unwrap());
    let chain = hung(&rope(&RopeOptions::new([0.0; 3], [1.0, 0.0, 0.0], 30)).unwrap());
    for info in STEPPERS {
        let id = info.method.id;
        if !info.method.implicit {
            assert_eq!(allocations(id, &Value::Null, &sheet), (0, 0, 0), "{id}");
            continue;
        }
        let with = |choice: &str| json!({ "newton": { "solver": { "choice": choice } } });
        for (what, options, model) in [("direct", with("direct"), &sheet), ("chain", Value::Null, &chain)] {
            let (count, _, iterations) = allocations(id, &options, model);
            assert!(iterations >= 10, "{id}, {what}: {iterations} iterations");
            assert_eq!(count, 0, "{id}, {what}");
        }
        for choice in ["two_level", "block_incomplete_cholesky", "block_jacobi"] {
            let (_, bytes, iterations) = allocations(id, &with(choice), &sheet);
            let (each, vector) = (bytes / iterations as usize, 8 * sheet.1.q.len());
            assert!(
                each < vector / 2,
                "{id}, {choice}: {each} bytes per factorization, a vector has {vector}"
            );
        }
    }
}
