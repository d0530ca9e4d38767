//! Reference cases of area F (ids in the comments): projections, stiffness, integrators, pendulum.

use crate::common::{G, close, distance, link, options, particles, plain, position, run};
use sim_core::{ExplicitSystem, MethodInfo, ParticleSystemBuilder, State, Stepper};
use sim_pbd::constraints::attachment::Attachment;
use sim_pbd::constraints::distance::Distance;
use sim_pbd::constraints::hinge_bending::HingeBending;
use sim_pbd::constraints::tetrahedron_volume::TetrahedronVolume;
use sim_pbd::{Bound, Constraint, GradientPoint, PbdSystem, Xpbd, XpbdOptions};

/// One step without forces and velocity is one projection.
fn project<C: Constraint<N> + Clone + 'static, const N: usize>(
    points: [[f64; 3]; N],
    inverse_mass: [f64; N],
    constraint: C,
    options: XpbdOptions,
) -> State {
    let mass: Vec<f64> = inverse_mass.iter().map(|&w| if w > 0.0 { 1.0 / w } else { 1.0 }).collect();
    let pins: Vec<usize> = (0..N).filter(|&i| inverse_mass[i] == 0.0).collect();
    let system = PbdSystem::builder(particles(&mass, &pins, [0.0; 3]))
        .constraints([Bound::rigid(std::array::from_fn(|i| i as u32), constraint)])
        .build()
        .unwrap();
    let mut state = system.state_at_rest(points.concat());
    run(&system, &mut state, options, 0.01, 1);
    state
}

#[test]
fn f_distance_projection() {
    let points = [[0.1, 0.2, 0.3], [0.9, -0.4, 0.7]];
    let cases = [
        (
            [1.0, 1.0],
            [
                0.2214569927344222,
                0.10890725544918335,
                0.3607284963672111,
                0.7785430072655778,
                -0.30890725544918335,
                0.639271503632789,
            ],
            [
                0.13643709782032667,
                0.172672176634755,
                0.3182185489101633,
                0.8635629021796734,
                -0.372672176634755,
                0.6817814510898367,
            ],
        ),
        (
            [0.5, 0.2],
            [
                0.27350998962060313,
                0.06986750778454763,
                0.38675499481030157,
                0.8305960041517587,
                -0.34794700311381904,
                0.6652980020758794,
            ],
            [
                0.15205299688618096,
                0.1609602523353643,
                0.32602649844309045,
                0.8791788012455276,
                -0.3843841009341457,
                0.6895894006227639,
            ],
        ),
        (
            [0.0, 1.0],
            [0.1, 0.2, 0.3, 0.6570860145311556, -0.2178145108983667, 0.5785430072655778],
            [0.1, 0.2, 0.3, 0.8271258043593467, -0.34534435326951, 0.6635629021796733],
        ),
    ];
    for (inverse_mass, whole, part) in cases {
        let distance = Distance { rest_length: 0.75 };
        let xpbd = project(points, inverse_mass, distance, options(1, 1));
        let full = project(points, inverse_mass, distance, plain(1.0, 1));
        let partial = project(points, inverse_mass, distance, plain(0.3, 1));
        for k in 0..6 {
            close(xpbd.q[k], whole[k], 2e-15, "rigid XPBD");
            close(full.q[k], whole[k], 2e-15, "PBD");
            close(partial.q[k], part[k], 2e-15, "PBD with fraction 0.3");
        }
    }
}

#[test]
fn f_errata_sign_a_stretched_pair_moves_together() {
    let state =
        project([[1.5, 0.0, 0.0], [0.0; 3]], [1.0, 1.0], Distance { rest_length: 1.0 }, options(1, 1));
    close(state.q[0], 1.25, 1e-14, "first");
    close(state.q[3], 0.25, 1e-14, "second");
}

#[test]
fn f_bending_dihedral() {
    // The case measures φ = π when flat; ours is θ = 0 when flat, so the rest angle is π - φ0 (with its sign).
    let points = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.4, 0.2], [-0.8, 0.5, 0.35]];
    let x = points.map(nalgebra::Vector3::from);
    let angle = HingeBending::angle(&x);
    close(std::f64::consts::PI - angle.abs(), 2.531786652142525, 1e-12, "angle");
    let rest_angle = (std::f64::consts::PI - 2.9670597283903604) * angle.signum();
    let state = project(points, [1.0; 4], HingeBending { rest_angle }, options(1, 1));
    let expected = [
        [0.01142134340400959, 0.0, 0.11023804931936329],
        [0.015270525435195142, 1.0, 0.09099213916343551],
        [1.0192459101559277, 0.4, 0.10377044922036119],
        [-0.8459377789951324, 0.5, 0.24499936229684],
    ];
    for (i, expected) in expected.iter().enumerate() {
        for k in 0..3 {
            close(position(&state, i)[k], expected[k], 1e-12, "position");
        }
    }
    let after: Vec<_> = (0..4).map(|i| nalgebra::Vector3::from(position(&state, i))).collect();
    let after = HingeBending::angle(&[after[0], after[1], after[2], after[3]]);
    close(std::f64::consts::PI - after.abs(), 2.9739232674042975, 1e-12, "angle after");
}

#[test]
fn f_volume_constraint() {
    let points = [[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 0.9, 0.1], [0.1, 0.2, 1.1]];
    let state = project(points, [1.0, 0.5, 0.0, 2.0], TetrahedronVolume { rest_volume: 0.1 }, options(1, 1));
    let expected = [
        [0.07879637198801043, 0.07155072858681408, 0.05796514720957089],
        [0.9560732868802471, 0.10950990696407023, 0.002264263562873863],
        [0.2, 0.9, 0.1],
        [0.09818858914970091, 0.2181141085029909, 0.94059584517368],
    ];
    for (i, expected) in expected.iter().enumerate() {
        for k in 0..3 {
            close(position(&state, i)[k], expected[k], 1e-13, "position");
        }
    }
}

#[test]
fn f_pbd_static_stretch_artifact() {
    let cases = [
        (1.0 / 60.0, 10, 7.921204969874535e-05),
        (1.0 / 120.0, 10, 1.9803012424686337e-05),
        (1.0 / 60.0, 5, 0.0005505159688916134),
    ];
    for (h, iterations, expected) in cases {
        for mass in [0.1, 3.0] {
            let system = PbdSystem::builder(particles(&[1.0, mass], &[0], [0.0, 0.0, -G]))
                .distances([link(0, 1, 1.0, 0.0)])
                .build()
                .unwrap();
            let mut state = system.state_at_rest(vec![0.0, 0.0, 0.0, 0.0, 0.0, -1.0]);
            run(&system, &mut state, plain(0.3, iterations), h, 3000);
            close(-1.0 - state.q[5], expected, 1e-12, "stretch");
        }
    }
}

#[test]
fn f_xpbd_static_stretch_for_every_step_and_iteration_count() {
    let (mass, compliance) = (2.0, 1e-3);
    for (h, iterations) in [(1.0 / 60.0, 1), (1.0 / 60.0, 5), (1.0 / 240.0, 1), (1.0 / 240.0, 50)] {
        let system = PbdSystem::builder(particles(&[1.0, mass], &[0], [0.0, 0.0, -G]))
            .distances([link(0, 1, 1.0, compliance)])
            .build()
            .unwrap();
        let mut state = system.state_at_rest(vec![0.0, 0.0, 0.0, 0.0, 0.0, -1.0]);
        let mut xpbd = Xpbd::new(&system, options(1, iterations)).unwrap();
        for _ in 0..8000 {
            xpbd.step(&system, &mut state, h).unwrap();
        }
        close(-1.0 - state.q[5], 0.01962, 1e-9, "stretch");
        close(xpbd.constraint_force(&system, 0, 0), 19.62, 1e-6, "force");
    }
    // Three links in a row, by sweeps and directly.
    let expected = [0.05886, 0.03924, 0.01962];
    for direct in [false, true] {
        let links: Vec<_> = (0..3).map(|i| link(i, i + 1, 1.0, compliance)).collect();
        let builder = PbdSystem::builder(particles(&[2.0; 4], &[0], [0.0, 0.0, -G]));
        let system = if direct { builder.chain(links) } else { builder.distances(links) }.build().unwrap();
        let q = (0..4).flat_map(|i| [0.0, 0.0, -f64::from(i)]).collect();
        let mut state = system.state_at_rest(q);
        run(&system, &mut state, options(1, 30), 1.0 / 60.0, 3000);
        for (i, expected) in expected.iter().enumerate() {
            close(distance(&state, i, i + 1) - 1.0, *expected, 1e-9, "link");
        }
    }
}

#[test]
fn f_xpbd_equals_implicit_euler() {
    let (mass, compliance, h) = (2.0, 0.001, 0.016666666666666666);
    let system = PbdSystem::builder(particles(&[mass], &[], [G, 0.0, 0.0]))
        .constraints([Bound::compliant([0], Attachment::fixed([0.0; 3]), compliance)])
        .build()
        .unwrap();
    let mut state = system.state_at_rest(vec![0.02, 0.0, 0.0]);
    state.v[0] = -0.1;
    let expected = [
        (1, 0.018490243902439023, -0.09058536585365853),
        (10, 0.02040332809324522, 0.049363299066073694),
        (60, 0.01956353693184695, 0.0015873749292307112),
    ];
    let mut xpbd = Xpbd::new(&system, options(1, 1)).unwrap();
    let mut done = 0;
    for (steps, x, v) in expected {
        while done < steps {
            xpbd.step(&system, &mut state, h).unwrap();
            done += 1;
        }
        close(state.q[0], x, 1e-13, "x");
        close(state.v[0], v, 1e-12, "v");
    }
    // Amplitude per step 1/sqrt(1 + Ω²) = 0.9370425713316364 of the free vibration.
    let system = PbdSystem::builder(particles(&[mass], &[], [0.0; 3]))
        .constraints([Bound::compliant([0], Attachment::fixed([0.0; 3]), compliance)])
        .build()
        .unwrap();
    let mut state = system.state_at_rest(vec![0.02, 0.0, 0.0]);
    let norm = |state: &State| (state.q[0].powi(2) / compliance + mass * state.v[0].powi(2)).sqrt();
    let before = norm(&state);
    run(&system, &mut state, options(1, 1), h, 40);
    close((norm(&state) / before).powf(1.0 / 40.0), 0.9370425713316364, 1e-12, "spectral radius");
}

/// Error left after sweeps of a straight chain, from a small perturbation.
fn chain_rate(links: usize, pinned: bool, sweeps: u32) -> f64 {
    let mass = vec![1.0; links + 1];
    let pins: &[usize] = if pinned { &[0] } else { &[] };
    let system = PbdSystem::builder(particles(&mass, pins, [0.0; 3]))
        .distances((0..links).map(|i| link(i, i + 1, 1.0, 0.0)))
        .build()
        .unwrap();
    let error = |iterations| {
        let q = (0..=links).flat_map(|i| [i as f64 + 1e-3 * (i as f64 * 0.7).sin(), 0.0, 0.0]).collect();
        let mut state = system.state_at_rest(q);
        run(&system, &mut state, options(1, iterations), 0.01, 1).rms
    };
    error(sweeps + 1) / error(sweeps)
}

#[test]
fn f_chain_gauss_seidel_rate() {
    close(chain_rate(12, false, 200), 0.9427280128266049, 0.0094, "free chain");
    close(chain_rate(12, true, 400), 0.9829629131445341, 0.0098, "pinned chain");
}

const TRIPLE: [[[f64; 2]; 3]; 3] = [
    [
        [0.3908571552051664, -0.31181835132801994],
        [0.8396542767783419, -0.5322296569991046],
        [1.224922467711679, -0.8509276661785685],
    ],
    [
        [0.04030837600745377, -0.49837258634844844],
        [0.08493026794850492, -0.9963774927094211],
        [0.5137422014685215, -1.2535162211631976],
    ],
    [
        [-0.2871513388584506, -0.40932152226800783],
        [-0.7791621372747244, -0.4983460932682705],
        [-1.2677967305033515, -0.3923449880839648],
    ],
];

/// Largest error of the triple pendulum at 0.5 s.
fn triple_pendulum(substeps: u32) -> f64 {
    let angles = [1.5707963267948966_f64, 1.0471975511965979, 0.7853981633974483];
    let system = PbdSystem::builder(particles(&[1.0, 0.3, 0.3, 0.3], &[0], [0.0, 0.0, -G]))
        .chain((0..3).map(|i| link(i, i + 1, 0.5, 0.0)))
        .build()
        .unwrap();
    let mut q = vec![0.0; 12];
    for (i, angle) in angles.iter().enumerate() {
        q[3 * i + 3] = q[3 * i] + 0.5 * angle.sin();
        q[3 * i + 5] = q[3 * i + 2] - 0.5 * angle.cos();
    }
    let mut state = system.state_at_rest(q);
    let mut xpbd = Xpbd::new(&system, options(substeps, 3)).unwrap();
    let mut worst = 0.0_f64;
    for expected in &TRIPLE[..2] {
        xpbd.step(&system, &mut state, 0.25).unwrap();
        for (i, [x, z]) in expected.iter().enumerate() {
            let p = position(&state, i + 1);
            worst = worst.max((p[0] - x).hypot(p[2] - z));
        }
    }
    worst
}

#[test]
fn f_triple_inextensible_pendulum_first_order() {
    let errors = [500, 1000, 2000].map(triple_pendulum);
    let orders = [(errors[0] / errors[1]).log2(), (errors[1] / errors[2]).log2()];
    let claimed = f64::from(method().order);
    close(orders[1], claimed, 0.1, &format!("order from errors {errors:?}"));
    assert!(errors[2] < 5e-3, "{errors:?}");
}

fn method() -> &'static MethodInfo {
    &sim_pbd::xpbd::METHOD
}

#[test]
fn directions_of_the_step_start_keep_angular_momentum() {
    let momentum = |gradient| {
        let system = PbdSystem::builder(particles(&[1.0, 2.0, 0.5], &[], [0.0; 3]))
            .distances([link(0, 1, 1.0, 0.0), link(1, 2, 0.7, 1e-4)])
            .build()
            .unwrap();
        let mut state = system.state_at_rest(vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.2, 0.67, 0.0]);
        state.v = vec![0.0, -3.0, 0.5, 0.0, 4.0, 0.0, -1.0, 2.0, 0.3];
        let total = |state: &State| {
            let one = |i: usize| {
                let x = nalgebra::Vector3::from(position(state, i));
                x.cross(&nalgebra::Vector3::from_column_slice(&state.v[3 * i..3 * i + 3]))
                    * system.particles().mass()[i]
            };
            one(0) + one(1) + one(2)
        };
        let before = total(&state);
        let mut options = options(5, 4);
        options.gradient = gradient;
        run(&system, &mut state, options, 0.01, 200);
        (total(&state) - before).norm() / before.norm()
    };
    assert!(momentum(GradientPoint::StepStart) < 1e-12);
    assert!(momentum(GradientPoint::Current) > 1e-3, "the default loses some, as documented");
}

#[test]
fn pinned_particles_keep_their_bits() {
    let particles = ParticleSystemBuilder::new(vec![1.0; 3]).pin([1]).build().unwrap();
    let system = PbdSystem::builder(particles)
        .distances([link(0, 1, 0.3, 0.0), link(1, 2, 0.7, 1e-4)])
        .build()
        .unwrap();
    let q = vec![0.1, 0.2, 0.3, 1.0 / 3.0, 0.7, -0.1, 2.0, 0.0, 0.0];
    let mut state = system.state_at_rest(q.clone());
    run(&system, &mut state, options(4, 3), 0.01, 20);
    assert_eq!(&state.q[3..6], &q[3..6]);
    assert_ne!(state.q[0], q[0]);
}
