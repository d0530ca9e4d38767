//! Whether a model's matrices, energy and power belong to its force.

use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use sim_core::{BlockSink, Definiteness, ModelSystem, State, System};

/// Dense matrices of a small model at one state, all particles included.
#[derive(Clone, Debug)]
pub struct DenseMatrices {
    /// Mass in kg.
    pub mass: DMatrix<f64>,
    /// D in N·s/m.
    pub damping: DMatrix<f64>,
    /// K in N/m of the conservative forces.
    pub stiffness: DMatrix<f64>,
    /// The rest of -∂f/∂q.
    pub damping_stiffness: DMatrix<f64>,
}

struct Dense(DMatrix<f64>);

impl Dense {
    fn zeros(particles: usize) -> Self {
        Self(DMatrix::zeros(3 * particles, 3 * particles))
    }

    fn block(&mut self, row: usize, col: usize, block: &Matrix3<f64>) {
        let mut view = self.0.fixed_view_mut::<3, 3>(3 * row, 3 * col);
        view += block;
    }
}

impl BlockSink for Dense {
    fn add(&mut self, row: usize, col: usize, block: &Matrix3<f64>) {
        self.block(row, col, block);
        if row != col {
            self.block(col, row, &block.transpose());
        }
    }
}

impl DenseMatrices {
    /// The matrices of `system` at `state`.
    pub fn at(system: &dyn ModelSystem, state: &State, definiteness: Definiteness) -> Self {
        let n = system.particle_count();
        let State { t, q, v, .. } = state;
        let (mut m, mut d, mut k, mut s) =
            (Dense::zeros(n), Dense::zeros(n), Dense::zeros(n), Dense::zeros(n));
        system.mass_matrix(&mut m);
        system.damping_matrix(*t, q, v, &mut d);
        system.stiffness_matrix(*t, q, v, definiteness, &mut k);
        system.damping_stiffness(*t, q, v, &mut |row, col, block| s.block(row, col, block));
        Self { mass: m.0, damping: d.0, stiffness: k.0, damping_stiffness: s.0 }
    }
}

/// The force of `system` at `state`.
pub fn force_of<S: System + ?Sized>(system: &S, state: &State) -> DVector<f64> {
    let mut f = vec![f64::NAN; state.q.len()];
    system.force(state.t, &state.q, &state.v, &mut f);
    DVector::from_vec(f)
}

/// Five-point derivative of a vector function by each entry of `x`, of fourth order in `step`.
pub(crate) fn differences(x: &[f64], step: f64, mut f: impl FnMut(&[f64]) -> DVector<f64>) -> DMatrix<f64> {
    let mut x = x.to_vec();
    let columns: Vec<_> = (0..x.len())
        .map(|j| {
            let middle = x[j];
            let mut at = |offset: f64| {
                x[j] = middle + offset;
                (f(&x), x[j] - middle)
            };
            let ((p1, a1), (m1, b1)) = (at(step), at(-step));
            let ((p2, a2), (m2, b2)) = (at(2.0 * step), at(-2.0 * step));
            x[j] = middle;
            (p1 - m1) / (a1 - b1) * (4.0 / 3.0) - (p2 - m2) / (a2 - b2) / 3.0
        })
        .collect();
    DMatrix::from_columns(&columns)
}

/// Relative disagreements, each a number that is zero for a consistent model.
#[derive(Clone, Copy, Debug, Default)]
pub struct DerivativeReport {
    /// K + damping stiffness against -∂f/∂q.
    pub by_position: f64,
    /// D against -∂f/∂v.
    pub by_velocity: f64,
    /// Asymmetry of K and D.
    pub asymmetry: f64,
    /// Lowest eigenvalue of D and of the projected K, when negative.
    pub negative: f64,
    /// Conservative power against -∂U/∂q.
    pub energy: f64,
    /// Total power along a velocity against force times velocity.
    pub power: f64,
    /// How far the emitted stencil bounds lie below the matrices.
    pub bound: f64,
    /// Largest |f| in N, to show that the check was not of nothing.
    pub largest_force: f64,
    /// 1 when the force changes with time or velocity and the model denies it.
    pub dependence: f64,
}

fn relative(found: &DMatrix<f64>, expected: &DMatrix<f64>, floor: f64) -> f64 {
    let scale = found.norm().max(expected.norm()).max(floor);
    if scale > 0.0 { (found - expected).norm() / scale } else { 0.0 }
}

fn lowest(matrix: &DMatrix<f64>) -> f64 {
    let scale = matrix.norm();
    if scale == 0.0 { 0.0 } else { (-matrix.symmetric_eigenvalues().min() / scale).max(0.0) }
}

/// Compares matrices, energy and power of `system` with differences of its force at `state`; `length` and `speed` are small
/// compared with the distances and velocities that occur.
///
/// # Limitations
/// Fourth-order differences: a consistent smooth model gives about 1e-9. The model must be free of pins and drives.
pub fn derivative_study(
    system: &dyn ModelSystem,
    state: &State,
    length: f64,
    speed: f64,
) -> DerivativeReport {
    let exact = DenseMatrices::at(system, state, Definiteness::Exact);
    let projected = DenseMatrices::at(system, state, Definiteness::Projected);
    let State { t, q, v, .. } = state;
    let evaluate = |t: f64, q: &[f64], v: &[f64]| {
        let mut f = vec![0.0; q.len()];
        system.force(t, q, v, &mut f);
        DVector::from_vec(f)
    };
    let f = evaluate(*t, q, v);
    let by_position = -differences(q, length, |q| evaluate(*t, q, v));
    let by_velocity = -differences(v, speed, |v| evaluate(*t, q, v));
    // What rounding of the force alone can make of a difference.
    let floor = |step: f64| 1e-8 * f.norm() / step;
    let k = &exact.stiffness + &exact.damping_stiffness;
    let gradient = differences(q, length, |q| DVector::from_element(1, system.energy(*t, q, v).potential()));
    let mut unit = vec![0.0; q.len()];
    let power = DMatrix::from_fn(1, q.len(), |_, j| {
        unit.fill(0.0);
        unit[j] = 1.0;
        -system.power(*t, q, v, &unit).conservative
    });
    let along: Vec<f64> = (0..q.len()).map(|i| (1.7 * i as f64 + 0.3).sin()).collect();
    let expected_power: f64 = f.iter().zip(&along).map(|(f, u)| f * u).sum();
    let own = system.power(*t, q, v, v);
    let drives = (own.dashpot.max(own.mass_damping).max(0.0)) / own.magnitude().max(f64::MIN_POSITIVE);
    let depends = system.dependence();
    let denied = (evaluate(t + 0.37, q, v) != f && !depends.time)
        || (by_velocity.norm() > 0.0 && !depends.velocity)
        || (exact.damping.norm() > 0.0 && !depends.velocity);
    DerivativeReport {
        by_position: relative(&k, &by_position, floor(length)),
        by_velocity: relative(&exact.damping, &by_velocity, floor(speed)),
        asymmetry: [&exact.stiffness, &exact.damping, &projected.stiffness]
            .into_iter()
            .map(|m| relative(m, &m.transpose(), 0.0))
            .fold(0.0, f64::max),
        negative: lowest(&exact.damping).max(lowest(&projected.stiffness)).max(drives),
        energy: relative(&power, &gradient, 1e-8 * system.energy(*t, q, v).potential().abs() / length),
        power: (system.power(*t, q, v, &along).total() - expected_power).abs()
            / f.norm().max(f64::MIN_POSITIVE),
        bound: bound_violation(system, q, &exact),
        largest_force: f.amax(),
        dependence: f64::from(u8::from(denied)),
    }
}

/// How far `bounds - K`, `bounds + K` and `bounds - D` are from positive semidefinite.
fn bound_violation(system: &dyn ModelSystem, q: &[f64], exact: &DenseMatrices) -> f64 {
    let n = system.particle_count();
    let (mut k, mut d) = (Dense::zeros(n), Dense::zeros(n));
    system.stencil_bounds(q, &mut |bound| {
        for (&i, &wi) in bound.particles.iter().zip(bound.weights) {
            for (&j, &wj) in bound.particles.iter().zip(bound.weights) {
                let identity = Matrix3::identity();
                k.block(i, j, &(identity * (bound.stiffness * wi * wj)));
                d.block(i, j, &(identity * (bound.damping * wi * wj)));
            }
        }
    });
    [&k.0 - &exact.stiffness, &k.0 + &exact.stiffness, &d.0 - &exact.damping]
        .iter()
        .map(lowest)
        .fold(0.0, f64::max)
}

/// Relative imbalances of an internal force, each zero when forces depend on relative positions and motions alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct InvarianceReport {
    /// |Σ f| over |f|.
    pub force: f64,
    /// |Σ x × f| over |x| |f|.
    pub moment: f64,
    /// Change of the turned-back force when everything is moved, turned and spun.
    pub rigid_motion: f64,
    /// Change of the energy.
    pub energy: f64,
}

/// Sums forces and moments of a free model under internal forces, and repeats after a rigid motion.
pub fn invariance_study(system: &dyn ModelSystem, state: &State) -> InvarianceReport {
    let f = force_of(system, state);
    let (mut sum, mut moment, mut arm) = (Vector3::zeros(), Vector3::zeros(), 0.0_f64);
    for (f, x) in f.as_slice().chunks_exact(3).zip(state.q.chunks_exact(3)) {
        let (f, x) = (Vector3::from_column_slice(f), Vector3::from_column_slice(x));
        sum += f;
        moment += x.cross(&f);
        arm = arm.max(x.norm());
    }
    let turn = nalgebra::Rotation3::from_euler_angles(0.4, -1.1, 2.3);
    let (shift, drift, spin) =
        (Vector3::new(0.3, -0.2, 0.5) * arm, Vector3::new(1.0, 2.0, -0.7), Vector3::new(0.8, 0.1, -0.4));
    let mut moved = state.clone();
    for (x, v) in moved.q.chunks_exact_mut(3).zip(moved.v.chunks_exact_mut(3)) {
        let at = turn * Vector3::from_column_slice(x);
        let with = turn * Vector3::from_column_slice(v) + drift + spin.cross(&at);
        x.copy_from_slice((at + shift).as_slice());
        v.copy_from_slice(with.as_slice());
    }
    let g = force_of(system, &moved);
    let rigid_motion = f
        .as_slice()
        .chunks_exact(3)
        .zip(g.as_slice().chunks_exact(3))
        .map(|(a, b)| (turn * Vector3::from_column_slice(a) - Vector3::from_column_slice(b)).norm())
        .fold(0.0, f64::max);
    let energy = |state: &State| system.energy(state.t, &state.q, &state.v).potential();
    let (before, after) = (energy(state), energy(&moved));
    let scale = f.norm().max(f64::MIN_POSITIVE);
    InvarianceReport {
        force: sum.norm() / scale,
        moment: moment.norm() / (scale * arm),
        rigid_motion: rigid_motion / scale,
        energy: (before - after).abs() / before.abs().max(f64::MIN_POSITIVE),
    }
}
