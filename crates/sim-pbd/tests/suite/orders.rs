//! The order of visits decides the bits, and nothing else does.

use crate::common::{G, link, options, particles, run};
use sim_core::State;
use sim_pbd::constraints::distance::Distance;
use sim_pbd::constraints::rope_bending::RopeBending;
use sim_pbd::constraints::unilateral_distance::UnilateralDistance;
use sim_pbd::{Bound, Formulation, PbdSystem, PbdSystemBuilder, SolveOrder, XpbdOptions};

const N: usize = 60;

fn links(compliance: f64) -> Vec<Bound<Distance, 2>> {
    let d = 1.0 / (N - 1) as f64;
    let at = |i: usize, j: usize| i * N + j;
    let mut links = Vec::new();
    for (di, dj) in [(0, 1), (1, 0), (1, 1)] {
        for i in 0..N - di {
            for j in 0..N - dj {
                links.push(link(at(i, j), at(i + di, j + dj), d * (di as f64).hypot(dj as f64), compliance));
            }
        }
    }
    links
}

fn cloth() -> PbdSystemBuilder {
    PbdSystem::builder(particles(&vec![0.2 / (N * N) as f64; N * N], &[0, N - 1], [0.0, 0.0, -G]))
}

fn start(system: &PbdSystem) -> State {
    let d = 1.0 / (N - 1) as f64;
    let wave = |v: usize| 0.02 * ((v % N) as f64 * 0.3).sin() * ((v / N) as f64 * 0.2).cos();
    system.state_at_rest((0..N * N).flat_map(|v| [d * (v % N) as f64, d * (v / N) as f64, wave(v)]).collect())
}

/// Plain Gauss-Seidel down the list, written down once more.
fn list_by_hand(
    links: &[Bound<Distance, 2>],
    state: &mut State,
    pins: &[usize],
    h: f64,
    steps: usize,
    sweeps: usize,
) {
    let inverse: Vec<f64> =
        (0..N * N).map(|i| if pins.contains(&i) { 0.0 } else { 1.0 / (0.2 / (N * N) as f64) }).collect();
    for _ in 0..steps {
        let before = state.q.clone();
        let m = 0.2 / (N * N) as f64;
        for i in (0..N * N).filter(|&i| inverse[i] > 0.0) {
            state.v[3 * i + 2] += h * inverse[i] * (m * -G);
            for k in 3 * i..3 * i + 3 {
                state.q[k] += h * state.v[k];
            }
        }
        let mut lambda = vec![0.0; links.len()];
        for _ in 0..sweeps {
            for (link, lambda) in links.iter().zip(&mut lambda) {
                let [a, b] = link.particles.map(|p| 3 * p as usize);
                let d: [f64; 3] = std::array::from_fn(|k| state.q[b + k] - state.q[a + k]);
                let length = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
                let softness = link.compliance / (h * h);
                let residual = length - link.constraint.rest_length + softness * *lambda;
                let (wa, wb) = (inverse[a / 3], inverse[b / 3]);
                let share = -residual / (length * (wa + wb + softness));
                *lambda += share * length;
                for k in 0..3 {
                    state.q[a + k] -= wa * share * d[k];
                    state.q[b + k] += wb * share * d[k];
                }
            }
        }
        for i in (0..N * N).filter(|&i| inverse[i] > 0.0) {
            for k in 3 * i..3 * i + 3 {
                state.v[k] = (state.q[k] - before[k]) / h;
            }
        }
    }
}

#[test]
fn levels_equal_the_list_bit_for_bit() {
    for compliance in [0.0, 1e-4] {
        let system = cloth().distances(links(compliance)).build().unwrap();
        let mut state = start(&system);
        run(&system, &mut state, options(2, 4), 0.5, 3);
        let mut by_hand = start(&system);
        list_by_hand(&links(compliance), &mut by_hand, &[0, N - 1], 0.25, 6, 4);
        assert_eq!(state.q, by_hand.q);
        assert_eq!(state.v, by_hand.v);
    }
}

fn mixed(order: SolveOrder, threads: usize) -> u64 {
    let bends = (0..N * N - 2)
        .filter(|v| v % N < N - 2)
        .map(|v| Bound::compliant([v as u32, v as u32 + 1, v as u32 + 2], RopeBending, 1e3));
    let diagonal = Bound::rigid([0, (N * N - 1) as u32], UnilateralDistance { max_length: 1.2 });
    let system = cloth()
        .distances(links(1e-6))
        .constraints(bends)
        .constraints([diagonal])
        .order(order)
        .build()
        .unwrap();
    let mut state = start(&system);
    let options = XpbdOptions { threads, ..options(5, 3) };
    let report = run(&system, &mut state, options, 1.0 / 60.0, 5);
    assert_eq!(report.order, order);
    state.hash()
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for order in [SolveOrder::List, SolveOrder::Colors] {
        let one = mixed(order, 1);
        for threads in [2, 3, 4] {
            assert_eq!(mixed(order, threads), one, "{order:?} on {threads} threads");
        }
    }
    assert_ne!(mixed(SolveOrder::List, 1), mixed(SolveOrder::Colors, 1), "the orders differ");
}

#[test]
fn over_relaxation_speeds_up_a_stiff_chain() {
    let n = 40;
    let error = |over_relaxation| {
        let system = PbdSystem::builder(particles(&vec![1.0; n + 1], &[0], [0.0; 3]))
            .distances((0..n).map(|i| link(i, i + 1, 1.0, 0.0)))
            .build()
            .unwrap();
        let q = (0..=n).flat_map(|i| [1.01 * i as f64, 0.0, 0.0]).collect();
        let mut state = system.state_at_rest(q);
        run(&system, &mut state, XpbdOptions { over_relaxation, ..options(1, 150) }, 0.01, 1).rms
    };
    // Young's optimal factor for this chain, whose Jacobi radius is cos(π/2n).
    let best = 2.0 / (1.0 + (std::f64::consts::PI / (2 * n) as f64).sin());
    assert!(error(best) < 0.01 * error(1.0), "{} {}", error(best), error(1.0));
}

/// Trees and loops solved directly agree with many sweeps.
#[test]
fn direct_solves_agree_with_converged_sweeps() {
    let star = [[0, 1], [0, 2], [0, 3], [3, 4], [3, 5], [5, 6]];
    let ring: Vec<[usize; 2]> = (0..12).map(|i| [i, (i + 1) % 12]).collect();
    for (pairs, count) in [(star.to_vec(), 7), (ring, 12)] {
        let place = |i: usize| {
            let angle = i as f64 * std::f64::consts::TAU / count as f64;
            [angle.cos(), angle.sin(), 0.1 * (3.0 * angle).sin()]
        };
        let rest = |a: usize, b: usize| {
            let (a, b) = (nalgebra::Vector3::from(place(a)), nalgebra::Vector3::from(place(b)));
            (a - b).norm() * (1.0 + 1e-5)
        };
        let links = || pairs.iter().map(|&[a, b]| link(a, b, rest(a, b), 1e-5));
        let finish = |direct: bool, iterations| {
            let builder = PbdSystem::builder(particles(&vec![0.5; count], &[2], [0.0, 0.0, -G]));
            let system =
                if direct { builder.chain(links()) } else { builder.distances(links()) }.build().unwrap();
            let mut state = system.state_at_rest((0..count).flat_map(place).collect());
            let report = run(&system, &mut state, options(1, iterations), 1e-3, 3);
            (state, report)
        };
        let (swept, _) = finish(false, 3000);
        let (direct, report) = finish(true, 8);
        assert!(report.worst.unwrap().relative < 1e-11, "{report:?}");
        for (a, b) in direct.q.iter().zip(&swept.q) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }
}

#[test]
fn plain_pbd_is_named_in_the_report() {
    let system = cloth().distances(links(0.0)).build().unwrap();
    let mut state = start(&system);
    let report = run(&system, &mut state, crate::common::plain(0.5, 3), 1.0 / 60.0, 1);
    assert_eq!(report.formulation, Formulation::Pbd { fraction: 0.5 });
    assert!(report.worst_rigid.is_some() && report.rms > 0.0);
}
