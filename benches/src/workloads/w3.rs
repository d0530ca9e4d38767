//! W3: projections of distances on ropes and cloths, and a rope that is solved directly.

use crate::measure::{Clock, time};
use crate::peers::{agree, expected, number, run as run_peer};
use crate::row::{Goal, Row};
use crate::{Context, Workload};
use sim_core::force::gravity::Gravity;
use sim_core::{ParticleSystemBuilder, State, Stepper};
use sim_pbd::constraints::distance::Distance;
use sim_pbd::{Bound, PbdSystem, SolveOrder, Xpbd, XpbdOptions};

/// Registry entry.
pub const WORKLOAD: Workload = Workload {
    id: "W3",
    summary: "distance projections of ropes and cloths, million per second; ropes by the direct chain solve",
    run,
};

/// A rope on the x axis, or a cloth of structural and diagonal links; see the definitions of the workloads.
struct Model {
    pins: Vec<usize>,
    q: Vec<f64>,
    links: Vec<Bound<Distance, 2>>,
}

fn rigid(a: usize, b: usize, rest_length: f64) -> Bound<Distance, 2> {
    Bound::rigid([a as u32, b as u32], Distance { rest_length })
}

fn rope(n: usize) -> Model {
    let d = 1.0 / (n - 1) as f64;
    Model {
        pins: vec![0],
        q: (0..n).flat_map(|i| [i as f64 * d, 0.0, 0.0]).collect(),
        links: (0..n - 1).map(|i| rigid(i, i + 1, d)).collect(),
    }
}

fn cloth(n: usize) -> Model {
    let d = 1.0 / (n - 1) as f64;
    let diagonal = d.hypot(d);
    // Rows and columns of a family, its first and second end from there, and its length.
    let families = [
        (n, n - 1, (0, 0), (0, 1), d),
        (n - 1, n, (0, 0), (1, 0), d),
        (n - 1, n - 1, (0, 0), (1, 1), diagonal),
        (n - 1, n - 1, (1, 0), (0, 1), diagonal),
    ];
    let links = families
        .into_iter()
        .flat_map(|(rows, columns, from, to, length)| {
            let places = (0..rows).flat_map(move |i| (0..columns).map(move |j| (i, j)));
            places.map(move |(i, j)| rigid((i + from.0) * n + j + from.1, (i + to.0) * n + j + to.1, length))
        })
        .collect();
    Model {
        pins: vec![0, n - 1],
        q: (0..n * n).flat_map(|v| [(v % n) as f64 * d, (v / n) as f64 * d, 0.0]).collect(),
        links,
    }
}

impl Model {
    fn system(&self, order: SolveOrder, direct: bool) -> PbdSystem {
        let particles = ParticleSystemBuilder::new(vec![1.0; self.q.len() / 3])
            .pin(self.pins.iter().copied())
            .force(Gravity::new([0.0, 0.0, -9.81]))
            .build()
            .expect("the workload is valid");
        let builder = PbdSystem::builder(particles).order(order);
        let links = self.links.iter().copied();
        if direct { builder.chain(links) } else { builder.distances(links) }
            .build()
            .expect("the workload is valid")
    }

    /// Relative length errors: mean, and root of the mean square.
    fn strains(&self, state: &State) -> [f64; 2] {
        let strains = self.links.iter().map(|link| {
            let [a, b] = link.particles.map(|p| 3 * p as usize);
            let square: f64 = (0..3).map(|k| (state.q[b + k] - state.q[a + k]).powi(2)).sum();
            (square.sqrt() / link.constraint.rest_length - 1.0).abs()
        });
        let count = self.links.len() as f64;
        let (sum, squares) = strains.fold((0.0, 0.0), |(sum, squares), s| (sum + s, squares + s * s));
        [sum / count, (squares / count).sqrt()]
    }
}

fn run(context: &Context, emit: &mut dyn FnMut(Row)) {
    for n in if context.quick { &[100][..] } else { &[100, 200] } {
        sweeps(context, emit, &cloth(*n), &format!("cloth {n}"), ["cloth", &n.to_string()], 15);
    }
    for n in if context.quick { &[1_000][..] } else { &[1_000, 10_000] } {
        let model = rope(*n);
        sweeps(context, emit, &model, &format!("rope {n}"), ["rope", &n.to_string()], 30);
        direct(emit, &model, *n);
    }
}

/// Steps `frames` frames; seconds per frame and the end.
fn frames(system: &PbdSystem, model: &Model, options: &XpbdOptions, frames: usize) -> (f64, f64, State) {
    let start = system.state_at_rest(model.q.clone());
    let mut end = start.clone();
    let mut xpbd = Xpbd::new(system, options.clone()).expect("valid options");
    let clock = if options.threads == 1 { Clock::Cpu } else { Clock::Wall };
    let timing = time(clock, 5, || {
        end = start.clone();
        for _ in 0..frames {
            xpbd.step(system, &mut end, 1.0 / 60.0).expect("the step succeeds");
        }
    });
    (timing.median / frames as f64, timing.spread, end)
}

fn sweeps(
    context: &Context,
    emit: &mut dyn FnMut(Row),
    model: &Model,
    name: &str,
    [kind, size]: [&str; 2],
    count: usize,
) {
    let is_cloth = kind == "cloth";
    let orders: &[(SolveOrder, usize)] = if is_cloth {
        &[(SolveOrder::List, 1), (SolveOrder::Colors, 1), (SolveOrder::Colors, 2)]
    } else {
        &[(SolveOrder::List, 1)]
    };
    let mut ends: Vec<State> = Vec::new();
    for &(order, threads) in orders {
        let system = model.system(order, false);
        let options = XpbdOptions { substeps: 1, iterations: 10, threads, ..XpbdOptions::default() };
        let mode = if order == SolveOrder::List { "0" } else { "2" };
        let peer = run_peer(context, "w34_cpp", &["w3", kind, size, "double", mode, &count.to_string()]);
        let (seconds, spread, end) = frames(&system, model, &options, count);
        let strains = [10, 50, 200].map(|iterations| {
            let options = XpbdOptions { iterations, ..options.clone() };
            let mut state = system.state_at_rest(model.q.clone());
            let mut xpbd = Xpbd::new(&system, options).expect("valid options");
            for _ in 0..count {
                xpbd.step(&system, &mut state, 1.0 / 60.0).expect("the step succeeds");
            }
            model.strains(&state)[1]
        });
        let correct = match order {
            SolveOrder::List => right(&end, kind, size, count),
            // Colours of another kind than the peer's: only the number of threads may not matter.
            SolveOrder::Colors => ends.last().is_none_or(|one| threads == 1 || one.hash() == end.hash()),
        };
        let words = if order == SolveOrder::List { "list order by levels" } else { "by colours" };
        emit(Row {
            workload: "W3".into(),
            case: format!("{name}, {words}, {threads} thread{}", if threads == 1 { "" } else { "s" }),
            quantity: "projections".into(),
            unit: "M/s",
            ours: 10.0 * model.links.len() as f64 / seconds / 1e6,
            spread,
            peer_name: Some("plain C++, 1 thread, the same order".into()),
            peer: peer.ok().flatten().and_then(|peer| number(&peer, "Mproj_per_s_med")),
            goal: match (is_cloth, order, threads) {
                (true, SolveOrder::List, _) => Some(Goal::RatioAtLeast(1.6)),
                (true, SolveOrder::Colors, 2) => Some(Goal::RatioAtLeast(1.5)),
                _ => None,
            },
            note: format!(
                "rms strain after 10, 50, 200 sweeps {:.1e}, {:.1e}, {:.1e}",
                strains[0], strains[1], strains[2]
            ),
            correct: Some(correct),
        });
        ends.push(end);
    }
}

fn right(end: &State, kind: &str, size: &str, frames: usize) -> bool {
    let table = &expected()["W3"][format!("{kind} N={size}, 1sub x 10it, {frames} frames")]["pos_sum"];
    (0..3).all(|k| {
        let sum: f64 = end.q.iter().skip(k).step_by(3).sum();
        agree(sum, table[k].as_f64().unwrap_or(f64::NAN), 8)
    })
}

/// One substep per frame, solved to the end.
fn direct(emit: &mut dyn FnMut(Row), model: &Model, n: usize) {
    let system = model.system(SolveOrder::List, true);
    let options = XpbdOptions { substeps: 1, iterations: 1, ..XpbdOptions::default() };
    let (seconds, spread, end) = frames(&system, model, &options, 30);
    let [mean, _] = model.strains(&end);
    emit(Row {
        workload: "W3".into(),
        case: format!("rope {n}, solved directly, 1 thread"),
        quantity: "frame of 60 Hz, per link".into(),
        unit: "ns",
        ours: 1e9 * seconds / model.links.len() as f64,
        spread,
        goal: Some(Goal::AtMost(40.0)),
        note: format!("mean strain {mean:.1e} after 30 frames (goal 1e-4)"),
        correct: Some(mean < 1e-4),
        ..Row::default()
    });
}
