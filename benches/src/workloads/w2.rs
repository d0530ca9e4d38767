//! W2: implicit steps of a stiff cloth at 60 Hz, one linearized solve per step.

use crate::assembly::StepMatrix;
use crate::cloth::{Cloth, ClothStiffness, sums};
use crate::measure::{Clock, time};
use crate::peers::{agree, expected, number, run as run_peer};
use crate::row::{Goal, Row};
use crate::workloads::w1;
use crate::{Context, Workload};
use sim_core::{State, Stepper, System};
use sim_integrate::{ImplicitEuler, ImplicitEulerOptions, NewtonOptions, Projection};
use sim_linalg::workload::{SheetOptions, sheet};

/// Registry entry.
pub const WORKLOAD: Workload = Workload {
    id: "W2",
    summary: "implicit Euler steps of a stiff cloth at 60 Hz, one linear solve each, tolerance 1e-6",
    run,
};

/// Vertices per side, steps, and the wanted ratio to plain C++ assembly plus faer's sparse Cholesky.
const SIZES: [(usize, usize, f64); 3] = [(50, 20, 0.65), (100, 20, 0.5), (200, 10, 0.4)];

fn run(context: &Context, emit: &mut dyn FnMut(Row)) {
    for (n, steps, goal) in SIZES {
        if context.quick && n > 100 {
            continue;
        }
        let cloth = Cloth::new(n, ClothStiffness::STIFF);
        let system = cloth.system();
        // As the peers do it: projected blocks, one solve to 1e-6.
        let newton = NewtonOptions {
            relative_tolerance: 1e-6,
            projection: Projection::Always,
            ..NewtonOptions::default()
        };
        let options = ImplicitEulerOptions { linearized: true, newton };
        let mut stepper = ImplicitEuler::new(options).expect("default options are valid");
        let start = State::at_rest(cloth.rest());
        let (mut end, mut iterations) = (start.clone(), 0);
        let timing = time(Clock::Cpu, 3, || {
            end = start.clone();
            iterations = 0;
            for _ in 0..steps {
                let stats = stepper.step(&system, &mut end, 1.0 / 60.0).expect("the step is solved");
                iterations += stats.linear_iterations;
            }
        });
        let reply = run_peer(context, "w2_cpp", &["bic0", &n.to_string(), &steps.to_string(), "1e-6"]);
        let peer = reply.unwrap_or_else(|error| {
            eprintln!("warning: {error}");
            None
        });
        assembly(emit, &cloth, n, peer.as_ref().and_then(|peer| number(peer, "assembly_ms_med")));
        let stiff = sheet(&SheetOptions::stiff(n)).expect("the workload is valid");
        let faer = w1::direct_ms(&stiff);
        let peer_ms = peer.as_ref().and_then(|peer| number(peer, "assembly_ms_med")).map(|ms| ms + faer);
        emit(Row {
            workload: "W2".into(),
            case: format!("n={n}, 1 thread"),
            quantity: "implicit step".into(),
            unit: "ms",
            ours: 1e3 * timing.median / steps as f64,
            spread: timing.spread,
            peer_name: Some("C++ assembly + faer".into()),
            peer: peer_ms,
            goal: Some(Goal::RatioAtMost(goal)),
            note: format!("{:.1} iterations per step", f64::from(iterations) / steps as f64),
            correct: right(&end, n, steps),
        });
    }
}

/// Matrix and right-hand side as a step needs them: forces, and `M + h D + h² K` from the batches of the springs.
fn assembly(emit: &mut dyn FnMut(Row), cloth: &Cloth, n: usize, peer: Option<f64>) {
    let system = cloth.system();
    let q = cloth.deformed();
    let v = vec![0.0; q.len()];
    let mut force = v.clone();
    let mut step = StepMatrix::new(&system, &q);
    let repeats = 200_000 / cloth.springs.len() + 1;
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread can be had");
    let timing = one_thread.install(|| {
        time(Clock::Cpu, 5, || {
            for _ in 0..repeats {
                system.force(0.0, &q, &v, &mut force);
                step.fill(&system, &q, 1.0 / 60.0);
            }
        })
    });
    let seconds = timing.median / repeats as f64;
    emit(Row {
        workload: "W2".into(),
        case: format!("n={n}, 1 thread"),
        quantity: "force and matrix".into(),
        unit: "ms",
        ours: 1e3 * seconds,
        spread: timing.spread,
        peer_name: Some("C++ assembly".into()),
        peer,
        goal: Some(Goal::RatioAtMost(0.4)),
        note: format!("{:.1} ns per spring", 1e9 * seconds / cloth.springs.len() as f64),
        correct: None,
    });
}

/// Sums of positions to 4 digits: each step is solved to 1e-6 only.
fn right(end: &State, n: usize, steps: usize) -> Option<bool> {
    let table = &expected()["W2"][format!("n={n},steps={steps}")];
    let (sum, squares) = sums(&end.q);
    let wanted = |k: usize| table["pos_sum"][k].as_f64();
    Some(
        (0..3).all(|k| wanted(k).is_some_and(|w| agree(sum[k], w, 4)))
            && agree(squares, table["pos_sumsq"].as_f64()?, 4),
    )
}
