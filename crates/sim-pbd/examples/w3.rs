//! Workload W3: distance projections on ropes and cloth, in million per second of thread time, with the strain they leave.
//!
//! `cargo run --release -p sim-pbd --example w3 [frames]`
use sim_core::force::gravity::Gravity;
use sim_core::{ParticleSystemBuilder, Stepper};
use sim_pbd::constraints::distance::Distance;
use sim_pbd::{Bound, PbdSystem, SolveOrder, Xpbd, XpbdOptions};
use std::time::Instant;

fn rigid(a: usize, b: usize, rest_length: f64) -> Bound<Distance, 2> {
    Bound::rigid([a as u32, b as u32], Distance { rest_length })
}

struct Model {
    name: String,
    pins: Vec<usize>,
    q: Vec<f64>,
    links: Vec<Bound<Distance, 2>>,
}

fn rope(n: usize) -> Model {
    let d = 1.0 / (n - 1) as f64;
    Model {
        name: format!("rope {n}"),
        pins: vec![0],
        q: (0..n).flat_map(|i| [i as f64 * d, 0.0, 0.0]).collect(),
        links: (0..n - 1).map(|i| rigid(i, i + 1, d)).collect(),
    }
}

fn cloth(n: usize) -> Model {
    let d = 1.0 / (n - 1) as f64;
    let mut links = Vec::new();
    let mut family = |rows: usize, columns: usize, from: (usize, usize), to: (usize, usize), length: f64| {
        for i in 0..rows {
            for j in 0..columns {
                links.push(rigid((i + from.0) * n + j + from.1, (i + to.0) * n + j + to.1, length));
            }
        }
    };
    family(n, n - 1, (0, 0), (0, 1), d);
    family(n - 1, n, (0, 0), (1, 0), d);
    family(n - 1, n - 1, (0, 0), (1, 1), d.hypot(d));
    family(n - 1, n - 1, (1, 0), (0, 1), d.hypot(d));
    Model {
        name: format!("cloth {n}"),
        pins: vec![0, n - 1],
        q: (0..n * n).flat_map(|v| [(v % n) as f64 * d, (v / n) as f64 * d, 0.0]).collect(),
        links,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Sweeps(SolveOrder, usize),
    Direct,
}

fn measure(model: &Model, way: Way, substeps: u32, iterations: u32, frames: usize) {
    let particles = ParticleSystemBuilder::new(vec![1.0; model.q.len() / 3])
        .pin(model.pins.iter().copied())
        .force(Gravity::new([0.0, 0.0, -9.81]))
        .build()
        .expect("valid particles");
    let builder = PbdSystem::builder(particles);
    let links = model.links.iter().copied();
    let (builder, threads) = match way {
        Way::Sweeps(order, threads) => (builder.distances(links).order(order), threads),
        Way::Direct => (builder.chain(links), 1),
    };
    let system = builder.build().expect("a valid model");
    let mut state = system.state_at_rest(model.q.clone());
    let mut xpbd =
        Xpbd::new(&system, XpbdOptions { substeps, iterations, threads, ..XpbdOptions::default() })
            .expect("valid options");
    let mut times = Vec::new();
    let before = thread_seconds();
    for _ in 0..frames {
        let start = Instant::now();
        xpbd.step(&system, &mut state, 1.0 / 60.0).expect("the step succeeds");
        times.push(start.elapsed().as_secs_f64());
    }
    let busy = thread_seconds().zip(before).map(|(now, before)| (now - before) / frames as f64);
    times.sort_by(f64::total_cmp);
    let visits = model.links.len() as f64 * f64::from(substeps * iterations);
    let strains: Vec<f64> = (model.links.iter())
        .map(|link| {
            let [a, b] = link.particles.map(|p| 3 * p as usize);
            let square: f64 = (0..3).map(|k| (state.q[b + k] - state.q[a + k]).powi(2)).sum();
            (square.sqrt() / link.constraint.rest_length - 1.0).abs()
        })
        .collect();
    let mean = strains.iter().sum::<f64>() / strains.len() as f64;
    let sum = |k: usize| state.q.iter().skip(k).step_by(3).sum::<f64>();
    let name = match way {
        Way::Sweeps(SolveOrder::List, _) => "list by levels".to_owned(),
        Way::Sweeps(SolveOrder::Colors, threads) => format!("colours, {threads} threads"),
        Way::Direct => "direct chain".to_owned(),
    };
    println!(
        "{:10} {substeps:2}x{iterations:<2} {name:19} min {:8.3} ms  median {:8.3} ms  main thread {:8.3} ms, {:6.1} M/s  \
         mean strain {mean:.6e}  sums {:.6} {:.6} {:.6}",
        model.name,
        1e3 * times[0],
        1e3 * times[times.len() / 2],
        1e3 * busy.unwrap_or(f64::NAN),
        visits / busy.unwrap_or(f64::NAN) / 1e6,
        sum(0),
        sum(1),
        sum(2),
    );
}

/// Time in s this thread has run, where the system tells: on a shared machine the only figure that means something.
fn thread_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

fn main() {
    let frames = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let list = Way::Sweeps(SolveOrder::List, 1);
    for n in [1000, 10000] {
        let model = rope(n);
        for (substeps, iterations) in [(1, 10), (10, 1)] {
            measure(&model, list, substeps, iterations, frames.unwrap_or(30));
        }
        for substeps in [1, 10] {
            measure(&model, Way::Direct, substeps, 1, frames.unwrap_or(30));
        }
    }
    for n in [100, 200] {
        let model = cloth(n);
        for (substeps, iterations) in [(1, 10), (10, 1)] {
            for way in [list, Way::Sweeps(SolveOrder::Colors, 1), Way::Sweeps(SolveOrder::Colors, 2)] {
                measure(&model, way, substeps, iterations, frames.unwrap_or(15));
            }
        }
    }
}
