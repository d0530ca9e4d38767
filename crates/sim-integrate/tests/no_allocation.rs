//! A step allocates nothing once the buffers are there. One test per binary: the allocator counts for the whole process.
#![allow(unsafe_code)] // An allocator cannot be written without.

use serde_json::{Value, json};
use sim_core::force::cloth_hinge::ClothHinge;
use sim_core::force::gravity::Gravity;
use sim_core::force::mass_damping::MassDamping;
use sim_core::force::rope_hinge::RestShape;
use sim_core::force::springs::{Spring, Springs};
use sim_core::topology::{ClothOptions, RopeOptions, Topology, cloth, rope};
use sim_core::{ParticleSystem, ParticleSystemBuilder, StageRecord, State};
use sim_integrate::STEPPERS;
use std::alloc::{GlobalAlloc, Layout, System as SystemAllocator};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
/// Bytes of the largest allocation since it was last set to zero.
static LARGEST: AtomicUsize = AtomicUsize::new(0);

fn note(size: usize) {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    LARGEST.fetch_max(size, Ordering::Relaxed);
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's promises are those that the system's allocator needs.
        unsafe { SystemAllocator.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: as above.
        unsafe { SystemAllocator.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { SystemAllocator.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

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

/// Number of allocations in ten steps after a warm-up of ten, and bytes of the largest.
fn allocations(id: &str, options: &Value, (system, start): &(ParticleSystem, State)) -> (usize, usize) {
    let mut stepper = sim_integrate::stepper(id, options).unwrap();
    let (mut state, mut record) = (start.clone(), StageRecord::default());
    let mut counted = (0, 0);
    for step in 0..20 {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        LARGEST.store(0, Ordering::Relaxed);
        stepper.step_recorded(system, &mut state, 1e-3, Some(&mut record)).unwrap();
        if step >= 10 {
            counted.0 += ALLOCATIONS.load(Ordering::Relaxed) - before;
            counted.1 = counted.1.max(LARGEST.load(Ordering::Relaxed));
        }
    }
    counted
}

/// Explicit methods and implicit ones with a direct solver allocate nothing at all. Conjugate gradients make a few short lists per
/// factorization, one entry per chunk of rows or so, and nothing of the size of the system.
#[test]
fn steps_do_not_allocate() {
    // The count can count.
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    std::hint::black_box(vec![0_u8; 100]);
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 1);

    let sheet = hung(&cloth(&ClothOptions::new(1.0, 1.0, 16, 16)).unwrap());
    let chain = hung(&rope(&RopeOptions::new([0.0; 3], [1.0, 0.0, 0.0], 30)).unwrap());
    for info in STEPPERS {
        let id = info.method.id;
        if !info.method.implicit {
            assert_eq!(allocations(id, &Value::Null, &sheet), (0, 0), "{id}");
            continue;
        }
        let with = |choice: &str| json!({ "newton": { "solver": { "choice": choice } } });
        assert_eq!(allocations(id, &with("direct"), &sheet), (0, 0), "{id}, direct");
        assert_eq!(allocations(id, &Value::Null, &chain), (0, 0), "{id}, chain");
        for choice in ["two_level", "block_incomplete_cholesky", "block_jacobi"] {
            let (_, largest) = allocations(id, &with(choice), &sheet);
            let vector = 8 * sheet.1.q.len();
            assert!(largest < vector / 2, "{id}, {choice}: {largest} bytes where a vector has {vector}");
        }
    }
}
