//! Laws every registered element obeys.

use nalgebra::{DMatrix, DVector, Rotation3, Vector3};
use sim_fem::elements::{ELEMENTS, ElementInfo, ElementSample, LocalMatrix, MassKind};

fn dense(matrix: &LocalMatrix) -> DMatrix<f64> {
    DMatrix::from_fn(matrix.size(), matrix.size(), |i, j| matrix.get(i, j))
}

fn tangent(sample: &ElementSample, u: &[f64]) -> DMatrix<f64> {
    let mut matrix = LocalMatrix::zeros(sample.element.dof_count());
    sample.element.tangent(&sample.x, u, &mut matrix);
    dense(&matrix)
}

fn internal_force(sample: &ElementSample, u: &[f64]) -> DVector<f64> {
    let mut force = vec![f64::NAN; sample.element.dof_count()];
    sample.element.internal_force(&sample.x, u, &mut force);
    DVector::from_vec(force)
}

/// Displacement states to test in: generic, small and large, and the reference shape.
fn states(sample: &ElementSample) -> Vec<Vec<f64>> {
    [1.0, 0.4, -0.2, 1e-3, 0.0].iter().map(|s| sample.u.iter().map(|u| s * u).collect()).collect()
}

/// Fourth-order central difference of a vector function in direction `k`.
fn difference(u: &[f64], k: usize, step: f64, f: impl Fn(&[f64]) -> DVector<f64>) -> DVector<f64> {
    let at = |factor: f64| {
        let mut moved = u.to_vec();
        moved[k] += factor * step;
        f(&moved)
    };
    ((at(1.0) - at(-1.0)) * 8.0 - (at(2.0) - at(-2.0))) / (12.0 * step)
}

fn for_each(mut law: impl FnMut(&ElementInfo, &ElementSample)) {
    for info in ELEMENTS {
        let sample = (info.sample)();
        assert_eq!(info.id, sample.element.id());
        assert_eq!(sample.x.len(), sample.element.node_count(), "{}", info.id);
        assert_eq!(sample.u.len(), sample.element.dof_count(), "{}", info.id);
        sample.element.validate(&sample.x).unwrap();
        law(info, &sample);
    }
}

#[test]
fn forces_are_derivatives_of_the_energy() {
    for_each(|info, sample| {
        for u in states(sample) {
            let force = internal_force(sample, &u);
            let scale = force.amax().max(tangent(sample, &u).amax() * 1e-3);
            for k in 0..u.len() {
                let slope = difference(&u, k, 1e-3, |u| {
                    DVector::from_element(1, sample.element.strain_energy(&sample.x, u))
                })[0];
                assert!((force[k] - slope).abs() <= 1e-7 * scale, "{} {k}: {} {slope}", info.id, force[k]);
            }
        }
        let moves = !["point_mass", "dashpot"].contains(&info.id);
        assert_eq!(internal_force(sample, &sample.u).amax() > 0.0, moves, "{}", info.id);
    });
}

#[test]
fn tangents_are_derivatives_of_the_force_and_symmetric() {
    for_each(|info, sample| {
        for (number, u) in states(sample).into_iter().enumerate() {
            let k = tangent(sample, &u);
            assert!((&k - k.transpose()).amax() <= 1e-12 * k.amax(), "{} is not symmetric", info.id);
            // A tension-only member has a corner in the state where it is just taut; the sample is taut everywhere.
            for column in 0..u.len() {
                let slope = difference(&u, column, 1e-3, |u| internal_force(sample, u));
                let gap = (k.column(column) - &slope).amax();
                assert!(
                    gap <= 1e-7 * k.amax(),
                    "{} state {number} column {column}: {gap:e} of {:e}",
                    info.id,
                    k.amax()
                );
            }
            if sample.element.is_linear() {
                assert_eq!(k, tangent(sample, &sample.u), "{} says it is linear", info.id);
            }
        }
    });
}

#[test]
fn damping_matrices_are_derivatives_of_the_viscous_force() {
    let mut viscous = 0;
    for_each(|info, sample| {
        let n = sample.element.dof_count();
        let v: Vec<f64> = (0..n).map(|i| 0.3 * ((i as f64 + 1.0) * 1.7).sin()).collect();
        let force = |v: &[f64]| {
            let mut force = vec![f64::NAN; n];
            sample.element.viscous_force(&sample.x, &sample.u, v, &mut force);
            DVector::from_vec(force)
        };
        let mut d = LocalMatrix::zeros(n);
        sample.element.damping_matrix(&sample.x, &sample.u, &v, &mut d);
        let d = dense(&d);
        for column in 0..n {
            let slope = difference(&v, column, 1e-3, force);
            assert!((d.column(column) - slope).amax() <= 1e-9 * d.amax(), "{}", info.id);
        }
        assert_eq!(d.amax() > 0.0, sample.element.is_viscous(), "{}", info.id);
        let power = force(&v).dot(&DVector::from_column_slice(&v));
        assert!(power >= 0.0, "{} drives the motion", info.id);
        viscous += usize::from(d.amax() > 0.0);
    });
    assert_eq!(viscous, 2);
}

/// Small rigid motions: no force, no energy; six (planar: three) and not more.
#[test]
fn rigid_motions_cost_nothing() {
    for_each(|info, sample| {
        if info.grounded || info.carries_weight || sample.element.node_count() == 1 {
            return;
        }
        let zero = vec![0.0; sample.u.len()];
        // A member under initial tension resists turning: test those from a state without tension.
        let tension = internal_force(sample, &zero).amax();
        let k = tangent(sample, &zero);
        let per = if sample.element.has_rotations() { 6 } else { 3 };
        let mut motions: Vec<DVector<f64>> = Vec::new();
        for axis in 0..3 {
            let (mut shift, mut turn) = (DVector::zeros(zero.len()), DVector::zeros(zero.len()));
            let omega = Vector3::ith(axis, 1.0);
            for (node, x) in sample.x.iter().enumerate() {
                shift[node * per + axis] = 1.0;
                for c in 0..3 {
                    turn[node * per + c] = omega.cross(x)[c];
                    if per == 6 {
                        turn[node * per + 3 + c] = omega[c];
                    }
                }
            }
            motions.push(shift);
            if tension == 0.0 {
                motions.push(turn);
            }
        }
        for motion in &motions {
            assert!((&k * motion).amax() <= 1e-10 * k.amax() * motion.amax(), "{}", info.id);
        }
        let rank = k.clone().svd(false, false).rank(1e-9 * k.amax());
        let expected = match (info.id, info.planar) {
            (_, true) | ("tension_cable", _) => 3,

            (_, _) if per == 6 => 6,
            _ => 1,
        };
        assert_eq!(rank, expected, "{}", info.id);
    });
}

/// Turning a strained member as a whole turns its forces and keeps its energy.
#[test]
fn finite_rotations_turn_the_forces() {
    let mut tested = 0;
    for_each(|info, sample| {
        if !info.finite_rotations || sample.element.node_count() == 1 {
            return;
        }
        tested += 1;
        let per = if sample.element.has_rotations() { 6 } else { 3 };
        let axis = if info.planar { Vector3::z() } else { Vector3::new(0.3, -0.5, 0.8).normalize() };
        let rotation = Rotation3::from_scaled_axis(axis * 1.1);
        let mut turned = sample.u.clone();
        for (node, x) in sample.x.iter().enumerate() {
            let at = node * per;
            let u = Vector3::new(sample.u[at], sample.u[at + 1], sample.u[at + 2]);
            let moved = rotation * (x + u) - x;
            turned[at..at + 3].copy_from_slice(moved.as_slice());
            if per == 6 {
                let theta = Vector3::new(sample.u[at + 3], sample.u[at + 4], sample.u[at + 5]);
                let total = if info.planar {
                    theta + axis * 1.1
                } else {
                    (rotation * Rotation3::from_scaled_axis(theta)).scaled_axis()
                };
                turned[at + 3..at + 6].copy_from_slice(total.as_slice());
            }
        }
        let (before, after) = (
            sample.element.strain_energy(&sample.x, &sample.u),
            sample.element.strain_energy(&sample.x, &turned),
        );
        assert!((before - after).abs() <= 1e-12 * before && before > 0.0, "{}: {before} {after}", info.id);
        let (f0, f1) = (internal_force(sample, &sample.u), internal_force(sample, &turned));
        for node in 0..2 {
            let at = node * per;
            let was = rotation * Vector3::new(f0[at], f0[at + 1], f0[at + 2]);
            let is = Vector3::new(f1[at], f1[at + 1], f1[at + 2]);
            assert!((was - is).amax() <= 1e-10 * f0.amax(), "{}", info.id);
        }
    });
    assert_eq!(tested, 4);
}

#[test]
fn masses_sum_to_the_whole_and_are_symmetric() {
    for_each(|info, sample| {
        let mut totals = Vec::new();
        for kind in [MassKind::Consistent, MassKind::Lumped] {
            let mut mass = LocalMatrix::zeros(sample.element.dof_count());
            sample.element.mass_matrix(&sample.x, kind, &mut mass);
            let m = dense(&mass);
            assert!((&m - m.transpose()).amax() <= 1e-14 * m.amax(), "{}", info.id);
            let per = if sample.element.has_rotations() { 6 } else { 3 };
            for direction in 0..3 {
                let shift = DVector::from_fn(m.nrows(), |i, _| f64::from(i % per == direction));
                let total = shift.dot(&(&m * &shift));
                totals.push(total);
                assert!(
                    (total - sample.mass).abs() <= 1e-12 * sample.mass,
                    "{}: {total} {}",
                    info.id,
                    sample.mass
                );
            }
            if kind == MassKind::Lumped {
                let off = &m - DMatrix::from_diagonal(&m.diagonal());
                assert_eq!(off.amax(), 0.0, "{} lumps on the diagonal", info.id);
            }
            assert!(m.symmetric_eigenvalues().min() >= -1e-14 * sample.mass, "{}", info.id);
        }
        assert!((sample.element.total_mass(&sample.x) - sample.mass).abs() <= 1e-12 * sample.mass);
        assert_eq!(totals.len(), 6);
    });
}

/// Swapping the ends swaps forces and masses (case F44 at the level of one element).
#[test]
fn the_order_of_the_ends_does_not_matter() {
    for_each(|info, sample| {
        if sample.element.node_count() == 1 || info.id.ends_with("beam") {
            return;
        }
        let swapped_x = [sample.x[1], sample.x[0]];
        let n = sample.u.len() / 2;
        let swapped_u: Vec<f64> = (0..2 * n).map(|i| sample.u[(i + n) % (2 * n)]).collect();
        let f = internal_force(sample, &sample.u);
        let mut g = vec![0.0; 2 * n];
        sample.element.internal_force(&swapped_x, &swapped_u, &mut g);
        for i in 0..2 * n {
            assert!((f[i] - g[(i + n) % (2 * n)]).abs() <= 1e-11 * f.amax(), "{} {i}", info.id);
        }
    });
}

#[test]
fn zero_length_is_refused() {
    for_each(|info, sample| {
        if sample.element.node_count() == 2 {
            let error = sample.element.validate(&[sample.x[0], sample.x[0]]).unwrap_err();
            assert!(error.to_string().contains("length is zero"), "{}: {error}", info.id);
        }
    });
}
