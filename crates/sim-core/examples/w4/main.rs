//! Explicit steps of a cloth of 200 × 200 particles and 238,002 springs: speed, sums and a hash of the end state.
//!
//! `cargo run --release -p sim-core --example w4 [particles per side] [steps] [repeats] [threads]`
//!
//! The spring family, the deformed start and the sums are those of the workload this kernel is tuned on: structural and
//! diagonal springs of 100 N/m, second neighbors of 1 N/m, dashpots of 1e-6 s times the stiffness, symplectic Euler with
//! 2e-5 s, two corners held.

mod cloth;

use sim_core::State;
use std::time::Instant;

/// CPU seconds of this thread where the system tells; wall time means little on a shared machine.
fn thread_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

fn main() {
    let argument = |index: usize, default: usize| {
        std::env::args().nth(index).map_or(default, |x| x.parse().expect("a whole number"))
    };
    let (n, steps, repeats, threads) = (argument(1, 200), argument(2, 1000), argument(3, 3), argument(4, 1));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
    let system = cloth::system(n as u32);
    let count = cloth::springs(n as u32).len();
    let mut f = vec![0.0; 3 * n * n];
    let (mut best, mut best_cpu, mut state) = (f64::INFINITY, f64::INFINITY, State::default());
    for _ in 0..repeats {
        state = cloth::start(n as u32);
        let clock = Instant::now();
        let cpu = pool.install(|| {
            let before = thread_seconds();
            cloth::run(&system, &mut state, &mut f, steps, 2e-5);
            Some(thread_seconds()? - before?)
        });
        best = best.min(clock.elapsed().as_secs_f64());
        best_cpu = best_cpu.min(cpu.unwrap_or(f64::INFINITY));
    }
    let sum = cloth::position_sum(&state);
    let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    println!("springs {count}, steps {steps}, threads {threads}, best of {repeats}");
    let rate = |seconds: f64| count as f64 * steps as f64 / seconds / 1e6;
    println!("wall {best:.4} s, {:.1} Mspring/s", rate(best));
    println!("CPU of the driving thread {best_cpu:.4} s, {:.1} Mspring/s", rate(best_cpu));
    println!("position sum {:.10} {:.10} {:.10}", sum[0], sum[1], sum[2]);
    println!("position square {:.10}, velocity square {:.10}", square(&state.q), square(&state.v));
    println!("state hash {:016x}", state.hash());
    for (_, expected) in cloth::EXPECTED.iter().filter(|(of, _)| n == 200 && *of == steps) {
        for (found, expected) in sum.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9 * sum[0], "position sum {found}, expected {expected}");
        }
        println!("position sums as expected");
    }
}
