//! A structure as a system of `sim-core`, so that any stepper runs it.
//!
//! "Particles" are the blocks of three degrees of freedom: the translation of every node, then the rotations of nodes that
//! have them. `q` is displacement, not position. A block whose three components are supported is not free. Of a block that
//! is supported in part, the supported components feel no force and are cut off from all matrices (with 1 on the
//! diagonal of M), so that they stay where they are or are prescribed.

use super::assembly::gathered;
use super::{NONE, Structure};
use crate::elements::LocalMatrix;
use nalgebra::{Matrix3, SMatrix};
use sim_core::{BlockSink, Definiteness, Dependence, Energy, ImplicitSystem, System, Work};

impl Structure {
    fn is_supported(&self, dof: usize) -> bool {
        self.numbering.unknown[dof] == NONE
    }

    /// Supported, in a block that has free components too.
    fn is_partial(&self, dof: usize) -> bool {
        let block = dof / 3;
        self.is_supported(dof) && (3 * block..3 * block + 3).any(|dof| !self.is_supported(dof))
    }

    /// Hands the blocks of an element's matrix to a sink, supported components of free blocks cut off.
    fn emit(&self, dofs: &[u32], local: &LocalMatrix, factor: f64, sink: &mut dyn BlockSink) {
        let blocks = dofs.len() / 3;
        for r in 0..blocks {
            for c in 0..=r {
                let mut block = local.block(r, c) * factor;
                for i in 0..3 {
                    for j in 0..3 {
                        let cut = self.is_partial(dofs[3 * r + i] as usize)
                            || self.is_partial(dofs[3 * c + j] as usize);
                        if cut {
                            block[(i, j)] = 0.0;
                        }
                    }
                }
                sink.add(dofs[3 * r] as usize / 3, dofs[3 * c] as usize / 3, &block);
            }
        }
    }

    /// Damping force along the motion: dashpots and stiffness-proportional, mass-proportional apart.
    fn damping_forces(&self, q: &[f64], v: &[f64]) -> [Vec<f64>; 2] {
        let mut forces = [vec![0.0; q.len()], vec![0.0; q.len()]];
        self.add_viscous_force(q, v, &mut forces[0]);
        let [mass_factor, stiffness_factor] = self.rayleigh;
        if stiffness_factor != 0.0 {
            let rest = vec![0.0; q.len()];
            self.add_tangent_times(stiffness_factor, &rest, v, &mut forces[0]);
        }
        if mass_factor != 0.0 {
            self.add_mass_times(mass_factor, v, &mut forces[1]);
        }
        forces
    }

    /// Constant and time-dependent part of the load.
    fn split_loads(&self, t: f64) -> [Vec<f64>; 2] {
        let mut loads = [vec![0.0; self.dof_count()], vec![0.0; self.dof_count()]];
        for pattern in &self.patterns {
            let (part, factor) = if pattern.is_constant() { (0, 1.0) } else { (1, pattern.factor(t)) };
            pattern.add(factor, &mut loads[part]);
        }
        loads
    }

    fn internal_or_nan(&self, q: &[f64]) -> Vec<f64> {
        let mut force = vec![0.0; q.len()];
        if self.internal_force(q, &mut force).is_err() {
            // The stepper's own check for values that are not finite stops the run and names the block.
            force.fill(f64::NAN);
        }
        force
    }
}

impl System for Structure {
    fn particle_count(&self) -> usize {
        self.numbering.blocks
    }

    fn dependence(&self) -> Dependence {
        Dependence {
            time: !self.has_constant_loads() || self.has_moving_supports(),
            velocity: self.is_viscous || self.rayleigh != [0.0; 2],
        }
    }

    /// # Limitations
    /// An element without equilibrium makes every force NaN, which steppers report as divergence.
    fn force(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        self.external_force(t, f);
        for (f, internal) in f.iter_mut().zip(self.internal_or_nan(q)) {
            *f -= internal;
        }
        if self.dependence().velocity {
            let [lasting, mass] = self.damping_forces(q, v);
            f.iter_mut().zip(lasting.iter().zip(&mass)).for_each(|(f, (a, b))| *f -= a + b);
        }
        for (dof, f) in f.iter_mut().enumerate() {
            if self.is_partial(dof) {
                *f = 0.0;
            }
        }
    }

    /// Weight counts as a load: `gravitational` stays zero.
    fn energy(&self, _t: f64, q: &[f64], v: &[f64]) -> Energy {
        let mut momentum = vec![0.0; v.len()];
        let free: Vec<f64> =
            v.iter().enumerate().map(|(dof, &v)| if self.is_supported(dof) { 0.0 } else { v }).collect();
        self.add_mass_times(1.0, &free, &mut momentum);
        let kinetic = 0.5 * crate::matrix::dot(&momentum, &free);
        let [elastic, bending] = self.strain_energy(q);
        let [constant, _] = self.split_loads(0.0);
        Energy { kinetic, elastic, bending, gravitational: 0.0, load: -crate::matrix::dot(&constant, q) }
    }

    fn power(&self, t: f64, q: &[f64], v: &[f64], velocity: &[f64]) -> Work {
        let along = |force: &[f64]| {
            (0..force.len())
                .filter(|&dof| !self.is_partial(dof))
                .map(|dof| force[dof] * velocity[dof])
                .sum::<f64>()
        };
        let [constant, timed] = self.split_loads(t);
        let [lasting, mass] = self.damping_forces(q, v);
        let mut work = Work {
            conservative: along(&constant) - along(&self.internal_or_nan(q)),
            dashpot: -along(&lasting),
            mass_damping: -along(&mass),
            external: along(&timed),
            ..Work::default()
        };
        if self.has_moving_supports() {
            let mut force = vec![0.0; q.len()];
            self.force(t, q, v, &mut force);
            work.reaction = -(0..force.len())
                .filter(|&dof| self.is_supported(dof))
                .map(|dof| force[dof] * velocity[dof])
                .sum::<f64>();
        }
        work
    }

    fn prescribe(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        self.apply_supports(t, 1.0, q);
        self.apply_support_velocities(t, v);
    }
}

impl ImplicitSystem for Structure {
    fn is_free(&self, particle: usize) -> bool {
        (3 * particle..3 * particle + 3).any(|dof| !self.is_supported(dof))
    }

    /// # Limitations
    /// Inertia that couples a moving support to its neighbours (consistent mass) is left out here.
    fn mass_matrix(&self, sink: &mut dyn BlockSink) {
        let mut local = LocalMatrix::zeros(0);
        self.each_member(|element, x, dofs| {
            element.mass_matrix(x, self.mass, &mut local);
            self.emit(dofs, &local, 1.0, sink);
        });
        for block in 0..self.numbering.blocks {
            let held = [0, 1, 2].map(|k| f64::from(u8::from(self.is_partial(3 * block + k))));
            sink.add(block, block, &Matrix3::from_diagonal(&held.into()));
        }
    }

    fn damping_matrix(&self, _t: f64, q: &[f64], v: &[f64], sink: &mut dyn BlockSink) {
        let [mass_factor, stiffness_factor] = self.rayleigh;
        let mut local = LocalMatrix::zeros(0);
        let rest = [0.0; 12];
        self.each_member(|element, x, dofs| {
            if element.is_viscous() {
                let (u, v) = (gathered(dofs, q), gathered(dofs, v));
                element.damping_matrix(x, &u[..dofs.len()], &v[..dofs.len()], &mut local);
                self.emit(dofs, &local, 1.0, sink);
            }
            if mass_factor != 0.0 {
                element.mass_matrix(x, self.mass, &mut local);
                self.emit(dofs, &local, mass_factor, sink);
            }
            if stiffness_factor != 0.0 {
                element.tangent(x, &rest[..dofs.len()], &mut local);
                self.emit(dofs, &local, stiffness_factor, sink);
            }
        });
    }

    fn stiffness_matrix(
        &self,
        _t: f64,
        q: &[f64],
        _v: &[f64],
        definiteness: Definiteness,
        sink: &mut dyn BlockSink,
    ) {
        let mut local = LocalMatrix::zeros(0);
        self.each_member(|element, x, dofs| {
            element.tangent(x, &gathered(dofs, q)[..dofs.len()], &mut local);
            if definiteness != Definiteness::Exact && !element.is_linear() {
                project(&mut local);
            }
            self.emit(dofs, &local, 1.0, sink);
        });
    }

    /// Nothing: the turning of cable dashpots is left out, which slows Newton's method but not what it converges to.
    fn damping_stiffness(
        &self,
        _t: f64,
        _q: &[f64],
        _v: &[f64],
        _emit: &mut dyn FnMut(usize, usize, &Matrix3<f64>),
    ) {
    }
}

/// Sets negative eigenvalues to zero.
fn project(local: &mut LocalMatrix) {
    // Fixed sizes keep the work on the stack.
    macro_rules! sized {
        ($n:literal) => {{
            let matrix = SMatrix::<f64, $n, $n>::from_fn(|i, j| 0.5 * (local.get(i, j) + local.get(j, i)));
            let eigen = nalgebra::SymmetricEigen::new(matrix);
            if eigen.eigenvalues.iter().all(|&value| value >= 0.0) {
                return;
            }
            let kept = SMatrix::<f64, $n, $n>::from_diagonal(&eigen.eigenvalues.map(|value| value.max(0.0)));
            let positive = eigen.eigenvectors * kept * eigen.eigenvectors.transpose();
            local.clear($n);
            for i in 0..$n {
                for j in 0..$n {
                    local.add(i, j, 0.5 * (positive[(i, j)] + positive[(j, i)]));
                }
            }
        }};
    }
    match local.size() {
        3 => sized!(3),
        6 => sized!(6),
        _ => sized!(12),
    }
}
