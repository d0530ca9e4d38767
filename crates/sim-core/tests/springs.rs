//! Springs against values computed elsewhere (case ids as in the reference collection) and against differences.

#[path = "support/dense.rs"]
mod dense;

use dense::*;
use nalgebra::{DMatrix, Matrix3, Vector3};
use sim_core::force::springs::{Spring, SpringPotential, Springs};
use sim_core::{
    Definiteness, ExplicitSystem, ImplicitSystem, MatrixRequest, ParticleSystem, ParticleSystemBuilder,
    Potential, State, System,
};

fn pair(spring: Spring) -> ParticleSystem {
    ParticleSystemBuilder::new(vec![1.0; 2]).force(Springs::new([spring])).build().unwrap()
}

fn spring(rest_length: f64, stiffness: f64, damping: f64) -> Spring {
    Spring { ends: [0, 1], rest_length, stiffness, damping }
}

struct JacobianCase {
    id: &'static str,
    x_i: [f64; 3],
    x_j: [f64; 3],
    f_i: [f64; 3],
    k_ii: [[f64; 3]; 3],
    clamped: [[f64; 3]; 3],
    eigenvalues: [f64; 3],
    energy: f64,
}

const STRETCHED: [[f64; 3]; 3] = [
    [140.0359838229476, -61.57984905914935, -46.184886794362015],
    [-61.57984905914935, 156.53058624950546, 52.78272776498516],
    [-46.184886794362015, 52.78272776498516, 125.74066171993077],
];
const REST: [[f64; 3]; 3] = [[90.0, 120.0, 0.0], [120.0, 160.0, 0.0], [0.0; 3]];

#[test]
fn jacobian_cases() {
    let cases = [
        JacobianCase {
            id: "B-spring-jacobian-stretched",
            x_i: [0.3, -0.2, 0.5],
            x_j: [-0.4, 0.6, 1.1],
            f_i: [-60.307531127334336, 68.92289271695353, 51.692169537715145],
            k_ii: STRETCHED,
            clamped: STRETCHED,
            eigenvalues: [86.15361589619191, 86.15361589619191, 250.0],
            energy: 22.11888768532594,
        },
        JacobianCase {
            id: "B-spring-jacobian-rest-length",
            x_i: [0.48, 0.64, 0.0],
            x_j: [0.0; 3],
            f_i: [0.0; 3],
            k_ii: REST,
            clamped: REST,
            eigenvalues: [0.0, 0.0, 250.0],
            energy: 0.0,
        },
        JacobianCase {
            id: "B-spring-jacobian-strongly-compressed-axis",
            x_i: [0.2, 0.0, 0.0],
            x_j: [0.0; 3],
            f_i: [150.0, 0.0, 0.0],
            k_ii: [[250.0, 0.0, 0.0], [0.0, -750.0, 0.0], [0.0, 0.0, -750.0]],
            clamped: [[250.0, 0.0, 0.0], [0.0; 3], [0.0; 3]],
            eigenvalues: [-750.0, -750.0, 250.0],
            energy: 45.0,
        },
    ];
    let system = pair(spring(0.8, 250.0, 0.0));
    for case in cases {
        let state = State::at_rest([case.x_i, case.x_j].concat());
        let f = force(&system, &state);
        for k in 0..3 {
            assert!((f[k] - case.f_i[k]).abs() < 1e-12 * 250.0, "{} force", case.id);
            assert!((f[k] + f[k + 3]).abs() == 0.0, "{} reaction", case.id);
        }
        let energy = system.energy(0.0, &state.q, &state.v).elastic;
        assert!((energy - case.energy).abs() < 1e-12 * 45.0, "{} energy", case.id);
        let exact = stiffness(&system, &state, Definiteness::Exact).matrix;
        let projected = stiffness(&system, &state, Definiteness::Projected).matrix;
        for (matrix, expected) in [(&exact, case.k_ii), (&projected, case.clamped)] {
            for r in 0..3 {
                for c in 0..3 {
                    assert!((matrix[(r, c)] - expected[r][c]).abs() < 1e-12 * 750.0, "{}", case.id);
                    assert!((matrix[(r, c + 3)] + expected[r][c]).abs() < 1e-12 * 750.0, "{}", case.id);
                }
            }
        }
        let mut eigenvalues: Vec<f64> =
            exact.view((0, 0), (3, 3)).into_owned().symmetric_eigen().eigenvalues.iter().copied().collect();
        eigenvalues.sort_by(f64::total_cmp);
        for (found, expected) in eigenvalues.iter().zip(case.eigenvalues) {
            assert!((found - expected).abs() < 1e-12 * 750.0, "{} eigenvalues", case.id);
        }
    }
}

#[test]
fn damper_case() {
    // B-damper-jacobian
    let system = pair(spring(1.0, 0.0, 3.5));
    let state = State {
        q: vec![0.3, -0.2, 0.5, -0.4, 0.6, 1.1],
        v: vec![1.2, 0.4, -0.7, -0.3, 0.1, 0.9],
        ..State::default()
    };
    let f_i = [-2.9104026845637585, 3.3261744966442954, 2.4946308724832216];
    let df_dx = [
        [-3.8895545245709653, -3.6185532183234987, 0.28692401243187243],
        [-0.30647268141074724, -0.022228728435656053, -0.3279131570649971],
        [-0.22985451105806046, 3.101617044277285, -4.403652988604117],
    ];
    let df_dv = [
        [-1.151006711409396, 1.3154362416107384, 0.9865771812080537],
        [1.3154362416107384, -1.5033557046979866, -1.1275167785234899],
        [0.9865771812080537, -1.1275167785234899, -0.8456375838926175],
    ];
    let f = force(&system, &state);
    let d = damping(&system, &state).matrix;
    let s = damping_stiffness(&system, &state).matrix;
    for r in 0..3 {
        assert!((f[r] - f_i[r]).abs() < 1e-12);
        for c in 0..3 {
            assert!((d[(r, c)] + df_dv[r][c]).abs() < 1e-12, "D = -df/dv at {r} {c}");
            assert!((s[(r, c)] + df_dx[r][c]).abs() < 1e-12, "-df/dx at {r} {c}: {}", s[(r, c)]);
        }
    }
    assert_eq!(stiffness(&system, &state, Definiteness::Exact).matrix.norm(), 0.0);
}

#[test]
fn derivatives_from_long_to_nearly_collapsed() {
    for rest_length in [0.8, 0.0] {
        let system = pair(spring(rest_length, 250.0, 3.0));
        for length in [3.0, 0.8, 0.5, 1e-3, 1e-6] {
            let along = Vector3::new(0.48, -0.6, 0.64) * length;
            let mut state = State {
                q: [[0.1, 0.2, -0.1], (Vector3::new(0.1, 0.2, -0.1) + along).into()].concat(),
                v: vec![0.3, -0.1, 0.2, -0.4, 0.5, 0.1],
                ..State::default()
            };
            // With one end at the origin the small difference keeps its digits.
            state.q = state.q.iter().zip([0.1, 0.2, -0.1].iter().cycle()).map(|(x, o)| x - o).collect();
            if length < 0.1 {
                state.q = [[0.0; 3], along.into()].concat();
            }
            let k = stiffness(&system, &state, Definiteness::Exact).matrix
                + damping_stiffness(&system, &state).matrix;
            let what = format!("rest {rest_length}, length {length}");
            assert_close(&what, &k, &minus_force_by_position(&system, &state, 1e-3 * length), 1e-7);
            let d = damping(&system, &state).matrix;
            assert_close(&what, &d, &minus_force_by_velocity(&system, &state, 1e-3), 1e-7);
        }
    }
}

#[test]
fn coincident_ends_are_decided() {
    let (rest, zero) = (pair(spring(0.5, 90.0, 2.0)), pair(spring(0.0, 90.0, 2.0)));
    let state = State { q: vec![0.3; 6], v: vec![1.0, 0.0, 0.0, -1.0, 0.0, 0.0], ..State::default() };
    for (system, block) in [(&rest, 30.0), (&zero, 90.0)] {
        assert_eq!(force(system, &state).norm(), 0.0);
        let k = stiffness(system, &state, Definiteness::Exact).matrix;
        assert_eq!(k.view((0, 0), (3, 3)), Matrix3::from_diagonal_element(block));
    }
}

#[test]
fn potential_is_what_the_batch_does() {
    let law = SpringPotential { stiffness: 70.0, rest_length: 0.4 };
    let x = [Vector3::new(0.1, 0.2, 0.3), Vector3::new(-0.4, 0.5, 0.1)];
    let system = pair(spring(0.4, 70.0, 0.0));
    let state = State::at_rest(x.iter().flat_map(|x| x.iter().copied()).collect());
    let (f, k) = (force(&system, &state), stiffness(&system, &state, Definiteness::Exact).matrix);
    assert!((law.energy(&x) - system.energy(0.0, &state.q, &state.v).elastic).abs() < 1e-15);
    let (gradient, hessian) = (law.gradient(&x), law.hessian(&x));
    for (i, gradient) in gradient.iter().enumerate() {
        assert!((gradient + f.fixed_rows::<3>(3 * i)).norm() < 1e-14 * f.norm());
        for j in 0..2 {
            assert!((hessian.blocks[i][j] - k.fixed_view::<3, 3>(3 * i, 3 * j)).norm() < 1e-14 * k.norm());
        }
    }
}

/// Frequencies in rad/s of the free particles along the axes that `keep` picks.
fn frequencies(system: &ParticleSystem, q: Vec<f64>, keep: impl Fn(usize) -> bool) -> Vec<f64> {
    let k = stiffness(system, &State::at_rest(q), Definiteness::Exact).matrix;
    let free: Vec<usize> =
        (0..k.nrows()).filter(|&i| keep(i % 3) && system.inverse_mass()[i / 3] > 0.0).collect();
    let scaled = DMatrix::from_fn(free.len(), free.len(), |r, c| {
        k[(free[r], free[c])]
            * (system.inverse_mass()[free[r] / 3] * system.inverse_mass()[free[c] / 3]).sqrt()
    });
    let mut omega: Vec<f64> =
        scaled.symmetric_eigen().eigenvalues.iter().map(|x| x.max(0.0).sqrt()).collect();
    omega.sort_by(f64::total_cmp);
    omega
}

#[test]
fn chain_frequencies() {
    // B-chain-frequencies-*: N = 10 masses of 0.1 kg, k = 1000 N/m; lowest two and highest value of each list.
    let cases: [(&str, usize, &[usize], [f64; 3]); 3] = [
        (
            "B-chain-frequencies-fixed-fixed",
            12,
            &[0, 11],
            [28.462967654657028, 56.34651136828594, 197.96428837618654],
        ),
        (
            "B-chain-frequencies-fixed-free",
            11,
            &[0],
            [14.94601871728485, 44.50418679126288, 197.76616524502572],
        ),
        ("B-chain-frequencies-free-free", 10, &[], [0.0, 31.286893008046174, 197.53766811902756]),
    ];
    for (id, count, pins, [first, second, last]) in cases {
        let springs = (0..count as u32 - 1).map(|i| Spring {
            ends: [i, i + 1],
            rest_length: 0.2,
            stiffness: 1000.0,
            damping: 0.0,
        });
        let system = ParticleSystemBuilder::new(vec![0.1; count])
            .pin(pins.iter().copied())
            .force(Springs::new(springs))
            .build()
            .unwrap();
        let q = (0..3 * count).map(|i| if i % 3 == 0 { 0.2 * (i / 3) as f64 } else { 0.0 }).collect();
        let omega = frequencies(&system, q, |axis| axis == 0);
        assert_eq!(omega.len(), 10);
        // A zero frequency is the square root of a rounding error.
        assert!((omega[0] - first).abs() < 1e-10 * last || first == 0.0 && omega[0] < 1e-6 * last, "{id}");
        assert!((omega[1] - second).abs() < 1e-10 * last, "{id}: {}", omega[1]);
        assert!((omega[9] - last).abs() < 1e-10 * last, "{id}: {}", omega[9]);
    }
}

#[test]
fn cloth_grid_frequencies() {
    // B-cloth-grid-omega-max: 8 x 6 nodes, ks 1000, kd 300, kb 80 N/m, 0.01 kg, corners (0,0) and (0,5) pinned.
    use sim_core::topology::{ClothOptions, cloth};
    use sim_core::{SpringOptions, SpringStiffness};
    let part = cloth(&ClothOptions::new(0.7, 0.5, 7, 5)).unwrap();
    let lay = |stiffness, pairs: Vec<[u32; 2]>| {
        let options = SpringOptions {
            stiffness: SpringStiffness::PerSpring(stiffness),
            damping_time: 0.0,
            rest_length: sim_core::RestLength::Geometry,
        };
        Springs::new(options.lay(&part, pairs).unwrap())
    };
    let skips = part.skips.iter().map(|&[a, _, b]| [a, b]).collect();
    let system = ParticleSystemBuilder::new(vec![0.01; 48])
        .pin([0, 40])
        .force(lay(1000.0, part.segments.clone()))
        .force(lay(300.0, part.shear.clone()))
        .force(lay(80.0, skips))
        .build()
        .unwrap();
    let omega = frequencies(&system, part.flat_positions(), |axis| axis < 2);
    assert!((omega.last().unwrap() - 703.8324942075773).abs() < 1e-9 * 703.8, "{:?}", omega.last());
    assert!((omega[0] - 23.388277733351735).abs() < 1e-9 * 703.8, "{}", omega[0]);
    let system =
        ParticleSystemBuilder::new(vec![0.01; 48]).force(lay(1000.0, part.segments.clone())).build().unwrap();
    let omega = frequencies(&system, part.flat_positions(), |axis| axis < 2);
    assert!((omega.last().unwrap() - 620.303076328223).abs() < 1e-9 * 620.3);
}

#[test]
fn a_free_network_keeps_its_momentum() {
    let count = 40;
    let mut springs = Vec::new();
    for k in 0..160_usize {
        let ends = [k % count, (k * 7 + 1 + k / count * 5) % count];
        if ends[0] != ends[1] {
            springs.push(Spring {
                ends: ends.map(|end| end as u32),
                rest_length: 0.3 + 0.2 * noise(k),
                stiffness: 10.0_f64.powf(2.0 + 1.5 * noise(k + 1000)),
                damping: 0.05 * (1.0 + noise(k + 2000)),
            });
        }
    }
    let mass: Vec<f64> = (0..count).map(|i| 10.0_f64.powf(noise(i + 3000))).collect();
    let system = ParticleSystemBuilder::new(mass).force(Springs::new(springs)).build().unwrap();
    let mut state = State::at_rest((0..3 * count).map(|i| noise(i + 4000)).collect());
    state.v = (0..3 * count).map(|i| noise(i + 5000)).collect();
    let momenta = |state: &State| {
        let (mut linear, mut angular, mut scale) = (Vector3::zeros(), Vector3::zeros(), 0.0);
        for ((x, v), &m) in state.q.chunks_exact(3).zip(state.v.chunks_exact(3)).zip(system.mass()) {
            let (x, p) = (Vector3::from_column_slice(x), Vector3::from_column_slice(v) * m);
            linear += p;
            angular += x.cross(&p);
            scale += p.norm();
        }
        (linear, angular, scale)
    };
    let (linear, angular, scale) = momenta(&state);
    let (start, mut f) = (state.clone(), vec![0.0; 3 * count]);
    let dt = 1e-3;
    for _ in 0..5000 {
        system.force(0.0, &state.q, &state.v, &mut f);
        for (i, &f) in f.iter().enumerate() {
            state.v[i] += dt * f * system.inverse_mass()[i / 3];
            state.q[i] += dt * state.v[i];
        }
    }
    let moved: f64 = state.q.iter().zip(&start.q).map(|(a, b)| (a - b).abs()).sum();
    assert!(moved > 10.0 && moved.is_finite(), "the network must move");
    let (linear_end, angular_end, _) = momenta(&state);
    assert!((linear_end - linear).norm() < 1e-12 * scale, "{:e}", (linear_end - linear).norm() / scale);
    assert!((angular_end - angular).norm() < 1e-12 * scale, "{:e}", (angular_end - angular).norm() / scale);
}

/// What the tension of a predicted matrix is: that of spring and dashpot where the matrix was taken last, and its change from there
/// along the straight way.
#[test]
fn predicted_stiffness_has_the_tension_of_the_tangent() {
    let (l0, k, c) = (0.8, 250.0, 3.0);
    let system = pair(spring(l0, k, c));
    let before = Vector3::new(0.7, -0.2, 0.4);
    let d = Vector3::new(0.3, 0.9, -0.1);
    let w = Vector3::new(-0.5, 1.1, 0.6);
    let tension = |d: Vector3<f64>| k * (d.norm() - l0) + c * d.normalize().dot(&w);
    let at = |s: f64| tension(before + (d - before) * s);
    let slope = (at(1e-3) - at(-1e-3)) / 2e-3 * (4.0 / 3.0) - (at(2e-3) - at(-2e-3)) / 4e-3 / 3.0;
    let predicted = at(0.0) + slope;
    let n = d.normalize();
    let across = Matrix3::identity() - n * n.transpose();
    let state = |d: Vector3<f64>| [[0.0; 3], d.into()].concat();
    let v = state(w);
    let block = |from: Vector3<f64>, definiteness| {
        let mut matrix = Matrix3::zeros();
        let mut sink = |row: usize, col: usize, block: &Matrix3<f64>| {
            if (row, col) == (0, 0) {
                matrix += block;
            }
        };
        let from = state(from);
        let request = MatrixRequest { before: Some(&from), ..MatrixRequest::stiffness(definiteness) };
        system.weighted_matrix(0.0, &state(d), &v, request, &mut sink);
        matrix
    };
    let expected = n * n.transpose() * k + across * (predicted / d.norm());
    assert!(predicted < -50.0, "the case must be one where projection matters: {predicted}");
    assert!((block(before, Definiteness::Exact) - expected).norm() < 1e-9 * k);
    for definiteness in [Definiteness::Projected, Definiteness::Reduced] {
        assert!((block(before, definiteness) - n * n.transpose() * k).norm() < 1e-12 * k);
    }
    // Predicted from where it is taken, it is the tension there.
    let expected = n * n.transpose() * k + across * (tension(d) / d.norm());
    assert!((block(d, Definiteness::Exact) - expected).norm() < 1e-12 * k);
}
