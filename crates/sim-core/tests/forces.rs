//! What must hold for every force of the registry, without knowing which it is.

#[path = "support/dense.rs"]
mod dense;

use dense::*;
use nalgebra::{DMatrix, DVector, Rotation3, Vector3};
use sim_core::{
    Definiteness, ExplicitSystem, FORCES, ForceInfo, ForceKind, ImplicitSystem, MatrixRequest,
    ParticleSystem, State, System, Units,
};

/// The registry's state and the same shape stretched, compressed and nearly collapsed.
fn states(info: &ForceInfo) -> (ParticleSystem, Vec<(f64, State)>) {
    let (system, state) = (info.sample)();
    let states = [1.0, 1.7, 0.4, 0.02].map(|factor| {
        let mut state = state.clone();
        state.q.iter_mut().for_each(|x| *x *= factor);
        (factor, state)
    });
    (system, states.into())
}

fn potential(system: &ParticleSystem, state: &State, q: &[f64]) -> f64 {
    system.energy(state.t, q, &state.v).potential()
}

fn dot(f: &DVector<f64>, u: &[f64]) -> f64 {
    f.iter().zip(u).map(|(f, u)| f * u).sum()
}

#[test]
fn ids_are_unique_and_match() {
    for (index, info) in FORCES.iter().enumerate() {
        let (system, _) = (info.sample)();
        assert_eq!(system.forces().len(), 1);
        assert_eq!(system.forces()[0].id(), info.id);
        assert!(FORCES[..index].iter().all(|other| other.id != info.id), "{} twice", info.id);
        assert!(!info.summary.is_empty());
    }
}

#[test]
fn conservative_power_is_minus_the_change_of_energy() {
    let mut conservative = 0;
    for info in FORCES {
        let (system, states) = states(info);
        for (factor, state) in states {
            let gradient = differences(&state.q, 3e-4 * factor, |q| {
                DVector::from_element(1, potential(&system, &state, q))
            });
            let mut unit = vec![0.0; state.q.len()];
            let power = DMatrix::from_fn(1, unit.len(), |_, j| {
                unit.fill(0.0);
                unit[j] = 1.0;
                -system.power(state.t, &state.q, &state.v, &unit).conservative
            });
            if potential(&system, &state, &state.q) == 0.0 {
                assert_eq!(power.norm(), 0.0, "{}: power without energy", info.id);
                continue;
            }
            assert_close(info.id, &power, &gradient, 1e-7);
            conservative += 1;
        }
    }
    assert!(conservative >= 4 * 5, "{conservative} cases: springs, skips, two hinges, gravity, loads");
}

#[test]
fn power_is_force_times_velocity() {
    for info in FORCES {
        let (system, states) = states(info);
        for (_, state) in states {
            let u: Vec<f64> = (0..state.q.len()).map(|i| noise(i + 77)).collect();
            let expected = dot(&force(&system, &state), &u);
            let power = system.power(state.t, &state.q, &state.v, &u);
            let scale = force(&system, &state).norm();
            assert!(scale > 0.0, "{}: no force", info.id);
            assert!((power.total() - expected).abs() < 1e-12 * scale, "{}: {power:?} {expected}", info.id);
            let own = system.power(state.t, &state.q, &state.v, &state.v);
            assert!(own.dashpot <= 0.0 && own.mass_damping <= 0.0, "{}: damping must not drive", info.id);
        }
    }
}

#[test]
fn matrices_are_the_derivatives_of_the_force() {
    for info in FORCES {
        let (system, states) = states(info);
        for (factor, state) in states {
            let what = format!("{} at {factor}", info.id);
            let k = stiffness(&system, &state, Definiteness::Exact).matrix;
            let s = damping_stiffness(&system, &state).matrix;
            let by_position = minus_force_by_position(&system, &state, 3e-4 * factor);
            if by_position.norm() > 0.0 || k.norm() + s.norm() > 0.0 {
                assert_close(&what, &(&k + &s), &by_position, 1e-7);
            }
            if info.kind == ForceKind::Internal {
                let mut still = state.clone();
                still.v.fill(0.0);
                assert_close(&what, &k, &minus_force_by_position(&system, &still, 3e-4 * factor), 1e-7);
                assert_eq!(damping_stiffness(&system, &still).matrix.norm(), 0.0, "{what}");
            }
            let d = damping(&system, &state).matrix;
            if system.dependence().velocity {
                assert_close(&what, &d, &minus_force_by_velocity(&system, &state, 1e-3), 1e-7);
                assert!(lowest_eigenvalue(&d) > -1e-12 * d.norm(), "{what}: D must not drive");
            } else {
                assert_eq!(minus_force_by_velocity(&system, &state, 1e-3).norm(), 0.0, "{what}");
                assert_eq!(d.norm(), 0.0, "{what}");
            }
            for matrix in [&k, &d] {
                assert!(
                    (matrix - matrix.transpose()).norm() <= 1e-13 * matrix.norm(),
                    "{what}: not symmetric"
                );
            }
        }
    }
    for id in ["spring", "skip_spring", "segment_drag", "wind"] {
        let info = FORCES.iter().find(|info| info.id == id).unwrap();
        let (system, state) = (info.sample)();
        assert!(damping_stiffness(&system, &state).matrix.norm() > 0.0, "{id}");
    }
}

#[test]
fn time_matters_only_where_it_is_said_to() {
    for info in FORCES {
        let (system, mut state) = (info.sample)();
        let before = force(&system, &state);
        if system.forces()[0].is_constant() {
            let mut other = state.clone();
            other.q.iter_mut().chain(&mut other.v).for_each(|x| *x = 3.0 - 2.0 * *x);
            other.t += 1.0;
            assert_eq!(force(&system, &other), before, "{}", info.id);
        }
        state.t += 0.3;
        assert_eq!(force(&system, &state) != before, system.dependence().time, "{}", info.id);
    }
}

#[test]
fn projection_is_positive_and_keeps_positive_matrices() {
    let mut indefinite = 0;
    for info in FORCES {
        let (system, states) = states(info);
        for (factor, state) in states {
            let exact = stiffness(&system, &state, Definiteness::Exact).matrix;
            let projected = stiffness(&system, &state, Definiteness::Projected).matrix;
            let what = format!("{} at {factor}", info.id);
            assert!(lowest_eigenvalue(&projected) >= -1e-12 * projected.norm(), "{what}");
            // Projection takes away negative parts stencil by stencil: it never lowers the matrix.
            let reduced = stiffness(&system, &state, Definiteness::Reduced).matrix;
            assert!(lowest_eigenvalue(&reduced) >= -1e-12 * reduced.norm(), "{what}");
            let scale = exact.norm().max(projected.norm());
            assert!(lowest_eigenvalue(&(&projected - &exact)) >= -1e-12 * scale, "{what}");
            if lowest_eigenvalue(&exact) < -1e-9 * scale {
                indefinite += 1;
                assert!((&projected - &exact).norm() > 1e-9 * scale, "{what}: negative part kept");
            }
        }
    }
    assert!(indefinite >= 4, "only {indefinite} indefinite cases");
}

/// Predicted from where it is taken and at rest, it is the stiffness matrix; and its places do not depend on where from.
#[test]
fn predicted_stiffness_is_the_stiffness_without_a_step() {
    for info in FORCES {
        let (system, state) = (info.sample)();
        let still = State { v: vec![0.0; state.v.len()], ..state };
        for definiteness in [Definiteness::Exact, Definiteness::Projected, Definiteness::Reduced] {
            let expected = stiffness(&system, &still, definiteness);
            let predicted = |before: &[f64]| {
                let mut sink = Dense::new(still.particle_count());
                let request =
                    MatrixRequest { before: Some(before), ..MatrixRequest::stiffness(definiteness) };
                system.weighted_matrix(still.t, &still.q, &still.v, request, &mut sink);
                sink
            };
            let here = predicted(&still.q);
            assert!(
                (&here.matrix - &expected.matrix).norm() <= 1e-12 * expected.matrix.norm(),
                "{}",
                info.id
            );
            let elsewhere: Vec<f64> = still.q.iter().map(|x| x * 1.1 + 0.01).collect();
            assert_eq!(predicted(&elsewhere).places, here.places, "{}", info.id);
        }
    }
}

#[test]
fn internal_forces_balance_and_do_not_see_rigid_motion() {
    let mut checked = 0;
    for info in FORCES.iter().filter(|info| info.kind == ForceKind::Internal) {
        let (system, states) = states(info);
        for (factor, state) in states {
            let f = force(&system, &state);
            let (mut sum, mut moment, mut arm) = (Vector3::zeros(), Vector3::zeros(), 0.0_f64);
            for (f, x) in f.as_slice().chunks_exact(3).zip(state.q.chunks_exact(3)) {
                let (f, x) = (Vector3::from_column_slice(f), Vector3::from_column_slice(x));
                sum += f;
                moment += x.cross(&f);
                arm = arm.max(x.norm());
            }
            let what = format!("{} at {factor}", info.id);
            assert!(sum.norm() < 1e-14 * f.norm() * 5.0, "{what}: force {sum:?}");
            assert!(moment.norm() < 1e-13 * f.norm() * arm, "{what}: moment {moment:?}");

            let turn = Rotation3::from_euler_angles(0.4, -1.1, 2.3);
            let (shift, drift, spin) =
                (Vector3::new(0.3, -0.2, 0.5), Vector3::new(1.0, 2.0, -0.7), Vector3::new(0.8, 0.1, -0.4));
            let mut moved = state.clone();
            let both = moved.q.chunks_exact_mut(3).zip(moved.v.chunks_exact_mut(3));
            for (x, v) in both {
                let at = turn * Vector3::from_column_slice(x);
                let with = turn * Vector3::from_column_slice(v) + drift + spin.cross(&at);
                x.copy_from_slice((at + shift * factor).as_slice());
                v.copy_from_slice(with.as_slice());
            }
            let moved_force = force(&system, &moved);
            for (a, b) in f.as_slice().chunks_exact(3).zip(moved_force.as_slice().chunks_exact(3)) {
                let expected = turn * Vector3::from_column_slice(a);
                assert!((expected - Vector3::from_column_slice(b)).norm() < 1e-11 * f.norm(), "{what}");
            }
            let (e0, e1) = (potential(&system, &state, &state.q), potential(&system, &moved, &moved.q));
            assert!((e0 - e1).abs() < 1e-12 * e0, "{what}: energy {e0} {e1}");
            checked += 1;
        }
    }
    assert!(checked >= 16);
}

#[test]
fn answers_scale_with_the_units() {
    for info in FORCES {
        let (system, state) = (info.sample)();
        let f = force(&system, &state);
        let energy = system.energy(state.t, &state.q, &state.v);
        let k = stiffness(&system, &state, Definiteness::Projected).matrix;
        let d = damping(&system, &state).matrix;
        for length in [1e-6, 1e6] {
            for mass in [1e-6, 1e6] {
                for time in [1e-6, 1e6] {
                    let units = Units { length, mass, time };
                    let (system, state) = (info.scaled)(units);
                    let what = format!("{} in {units:?}", info.id);
                    let scaled = force(&system, &state) / units.force();
                    assert!((&scaled - &f).norm() < 1e-12 * f.norm(), "{what}: force");
                    let other = system.energy(state.t, &state.q, &state.v);
                    let gap = other.total() / units.energy() - energy.total();
                    assert!(gap.abs() < 1e-12 * energy.total().abs(), "{what}: energy");
                    let scaled =
                        stiffness(&system, &state, Definiteness::Projected).matrix / units.stiffness();
                    assert!((&scaled - &k).norm() <= 1e-12 * k.norm(), "{what}: stiffness");
                    let scaled = damping(&system, &state).matrix / units.damping();
                    assert!((&scaled - &d).norm() <= 1e-12 * d.norm(), "{what}: damping");
                }
            }
        }
    }
}

/// The matrices that the emitted bounds stand for.
fn bound(system: &ParticleSystem, q: &[f64]) -> (DMatrix<f64>, DMatrix<f64>) {
    let (mut k, mut d) = (Dense::new(q.len() / 3), Dense::new(q.len() / 3));
    system.stencil_bounds(q, &mut |bound| {
        assert_eq!(bound.particles.len(), bound.weights.len());
        for (&i, &wi) in bound.particles.iter().zip(bound.weights) {
            for (&j, &wj) in bound.particles.iter().zip(bound.weights) {
                for axis in 0..3 {
                    k.matrix[(3 * i + axis, 3 * j + axis)] += bound.stiffness * wi * wj;
                    d.matrix[(3 * i + axis, 3 * j + axis)] += bound.damping * wi * wj;
                }
            }
        }
    });
    (k.matrix, d.matrix)
}

#[test]
fn stencil_bounds_are_above_the_matrices() {
    let mut tight = 0;
    for info in FORCES {
        let (system, state) = (info.sample)();
        let (k_bound, d_bound) = bound(&system, &state.q);
        for trial in 0..60 {
            let mut near = state.clone();
            for (i, x) in near.q.iter_mut().enumerate() {
                *x += 0.004 * noise(1000 * trial + i);
            }
            for (i, v) in near.v.iter_mut().enumerate() {
                *v *= 1.0 + noise(1000 * trial + i + 500);
            }
            let k = stiffness(&system, &near, Definiteness::Exact).matrix;
            let d = damping(&system, &near).matrix;
            for (what, gap) in [("K", &k_bound - &k), ("-K", &k_bound + &k), ("D", &d_bound - &d)] {
                let lowest = lowest_eigenvalue(&gap);
                assert!(
                    lowest >= -1e-9 * gap.norm(),
                    "{} {what}: {lowest:.3e} of {:.3e}",
                    info.id,
                    gap.norm()
                );
            }
            let sharpness = k.norm() + d.norm();
            tight += usize::from(sharpness > 0.05 * (k_bound.norm() + d_bound.norm()) && sharpness > 0.0);
        }
    }
    assert!(tight >= 60 * 6, "bounds are far above what they bound");
}

#[test]
fn places_do_not_depend_on_the_state() {
    for info in FORCES {
        let (system, state) = (info.sample)();
        let count = state.particle_count();
        let mut others = vec![state.clone(); 4];
        others[1].q.fill(0.3);
        others[2].v.fill(0.0);
        others[3] = State::at_rest((0..3 * count).map(|i| if i % 3 == 0 { i as f64 } else { 0.0 }).collect());
        for other in &others {
            for definiteness in [Definiteness::Exact, Definiteness::Projected] {
                let expected = stiffness(&system, &state, definiteness).places;
                assert_eq!(stiffness(&system, other, definiteness).places, expected, "{}", info.id);
            }
            assert_eq!(damping(&system, other).places, damping(&system, &state).places, "{}", info.id);
            let expected = damping_stiffness(&system, &state).places;
            assert_eq!(damping_stiffness(&system, other).places, expected, "{}", info.id);
        }
    }
}

#[test]
fn degenerate_shapes_give_finite_answers() {
    for info in FORCES {
        let (system, state) = (info.sample)();
        let count = state.particle_count();
        let line =
            |step: f64| (0..3 * count).map(|i| if i % 3 == 0 { step * i as f64 } else { 0.0 }).collect();
        let folded = (0..3 * count).map(|i| if i % 3 == 0 { (i / 3 % 2) as f64 } else { 0.0 }).collect();
        let shapes: [Vec<f64>; 5] = [vec![0.7; 3 * count], line(0.1), line(1e-200), line(1e150), folded];
        for (shape, q) in shapes.into_iter().enumerate() {
            // Squares of 1e150 do not overflow, energies of fourth order in it do not occur.
            for v in [state.v.clone(), vec![0.0; 3 * count]] {
                let state = State { q: q.clone(), v, ..state.clone() };
                let what = format!("{} in shape {shape}", info.id);
                assert!(force(&system, &state).iter().all(|f| f.is_finite()), "{what}: force");
                let energy = system.energy(state.t, &state.q, &state.v);
                assert!(energy.total().is_finite(), "{what}: energy {energy:?}");
                for definiteness in [Definiteness::Exact, Definiteness::Projected] {
                    let k = stiffness(&system, &state, definiteness).matrix;
                    assert!(k.iter().all(|x| x.is_finite()), "{what}: stiffness");
                }
                assert!(damping(&system, &state).matrix.iter().all(|x| x.is_finite()), "{what}: damping");
                let s = damping_stiffness(&system, &state).matrix;
                assert!(s.iter().all(|x| x.is_finite()), "{what}: damping stiffness");
                system.stencil_bounds(&state.q, &mut |bound| {
                    assert!(bound.stiffness.is_finite() && bound.damping.is_finite(), "{what}: bound");
                });
            }
        }
    }
}

#[test]
fn forces_add_and_matrices_ignore_pins() {
    for info in FORCES {
        let (system, state) = (info.sample)();
        let once = force(&system, &state);
        let at =
            sim_core::Kinematics { t: state.t, q: &state.q, v: &state.v, mass: system.mass(), start: None };
        let mut twice = once.as_slice().to_vec();
        system.forces()[0].add_force(at, &mut twice);
        for (a, b) in once.iter().zip(&twice) {
            assert!((2.0 * a - b).abs() <= 1e-14 * once.norm(), "{}: add_force must add", info.id);
        }
        assert!((0..state.particle_count()).all(|i| system.is_free(i)));
    }
}
