//! W4: explicit steps of a cloth of 238,002 springs.

use crate::cloth::{Cloth, ClothStiffness, sums};
use crate::measure::{Clock, Timing, summarize, time};
use crate::peers::{agree, expected, number, run as run_peer};
use crate::row::{Goal, Row};
use crate::{Context, Workload};
use sim_core::{State, Stepper};
use sim_integrate::SymplecticEuler;

/// Registry entry.
pub const WORKLOAD: Workload =
    Workload { id: "W4", summary: "explicit cloth, 238,002 springs, symplectic Euler, dt = 2e-5 s", run };

const N: usize = 200;
const DT: f64 = 2e-5;

fn run(context: &Context, emit: &mut dyn FnMut(Row)) {
    let (steps, repeats) = if context.quick { (100, 3) } else { (1000, 3) };
    let cloth = Cloth::new(N, ClothStiffness::EXPLICIT);
    let system = cloth.system();
    let work = cloth.springs.len() as f64 * steps as f64 / 1e6;
    let start = State::at_rest(cloth.deformed());
    // The peer runs before and after, so that a busy neighbor does not favor either side.
    let mut peer_samples = Vec::new();
    let peer = |samples: &mut Vec<f64>| match run_peer(
        context,
        "w34_cpp",
        &["w4", "200", &steps.to_string(), "double", "3"],
    ) {
        Ok(Some(value)) => samples.extend(number(&value, "s_min")),
        Ok(None) => {}
        Err(error) => eprintln!("warning: {error}"),
    };
    peer(&mut peer_samples);
    let mut hashes = Vec::new();
    let mut timings: Vec<(usize, Timing, State)> = Vec::new();
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
        let mut end = start.clone();
        let clock = if threads == 1 { Clock::Cpu } else { Clock::Wall };
        let timing = pool.install(|| {
            time(clock, repeats, || {
                end = start.clone();
                let mut stepper = SymplecticEuler::default();
                for _ in 0..steps {
                    stepper.step(&system, &mut end, DT).expect("the step is far below the limit");
                }
            })
        });
        hashes.push(end.hash());
        timings.push((threads, timing, end));
    }
    peer(&mut peer_samples);
    let peer_time = (!peer_samples.is_empty()).then(|| summarize(peer_samples).median);
    let same_bits = hashes[0] == hashes[1];
    for (threads, timing, end) in timings {
        emit(Row {
            workload: "W4".into(),
            case: format!("{threads} thread{}", if threads == 1 { "" } else { "s" }),
            quantity: "springs".into(),
            unit: "M/s",
            ours: work / timing.median,
            spread: timing.spread,
            peer_name: Some("plain C++, 1 thread".into()),
            peer: peer_time.map(|seconds| work / seconds),
            goal: Some(Goal::RatioAtLeast(if threads == 1 { 0.8 } else { 1.3 })),
            note: format!(
                "{steps} steps, bits of 1 and 2 threads {}",
                if same_bits { "equal" } else { "DIFFER" }
            ),
            correct: Some(same_bits && right(&end, steps)),
        });
    }
}

fn right(end: &State, steps: usize) -> bool {
    let table = &expected()["W4"][format!("n=200,steps={steps}")];
    let (sum, squares) = sums(&end.q);
    let wanted = |k: usize| table["pos_sum"][k].as_f64().unwrap_or(f64::NAN);
    (0..3).all(|k| agree(sum[k], wanted(k), 6))
        && agree(squares, table["pos_sumsq"].as_f64().unwrap_or(f64::NAN), 6)
}
