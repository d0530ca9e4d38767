//! Non-linear structures and moving supports: Newton's method in every step, unknown: the new acceleration.

use super::{
    Coefficients, InitialState, Instant, Motion, StartAcceleration, TransientError, TransientOptions,
    TransientReport, solve_mass,
};
use crate::factor::Factorization;
use crate::matrix::{SymmetricMatrix, norm};
use crate::structure::{Structure, StructureError};
use std::ops::ControlFlow;

struct Forces<'a> {
    structure: &'a Structure,
    mass: SymmetricMatrix,
    /// Stiffness of the reference shape, for Rayleigh damping.
    reference: Option<SymmetricMatrix>,
    tangent: SymmetricMatrix,
    dashpots: SymmetricMatrix,
    /// Scratch over all degrees of freedom.
    full: [Vec<f64>; 4],
    scratch: Vec<f64>,
}

impl Forces<'_> {
    /// Internal and damping force minus load on the unknowns, at time `t`, and the size of what balances.
    fn imbalance(
        &mut self,
        t: f64,
        support_acceleration: &[f64],
        u: &[f64],
        v: &[f64],
        out: &mut [f64],
    ) -> Result<f64, StructureError> {
        let structure = self.structure;
        let [displacement, velocity, internal, external] = &mut self.full;
        structure.apply_supports(t, 1.0, displacement);
        structure.apply_support_velocities(t, velocity);
        structure.scatter(u, displacement);
        structure.scatter(v, velocity);
        structure.internal_force(displacement, internal)?;
        structure.add_viscous_force(displacement, velocity, internal);
        if support_acceleration.iter().any(|&a| a != 0.0) {
            structure.add_mass_times(1.0, support_acceleration, internal);
        }
        structure.external_force(t, external);
        let scale = norm(internal).hypot(norm(external));
        for (f, p) in internal.iter_mut().zip(external.iter()) {
            *f -= p;
        }
        structure.gather(internal, out);
        let [mass_damping, stiffness_damping] = structure.rayleigh();
        if mass_damping != 0.0 {
            self.mass.multiply_add(mass_damping, v, out);
        }
        if let Some(reference) = &self.reference {
            reference.multiply_add(stiffness_damping, v, out);
        }
        Ok(scale)
    }

    /// Matrix of the step: `inertia M + damping C + stiffness K` at the state last looked at.
    fn matrix(
        &mut self,
        inertia: f64,
        damping: f64,
        stiffness: f64,
        out: &mut SymmetricMatrix,
    ) -> Result<(), StructureError> {
        let [displacement, velocity, ..] = &self.full;
        let [mass_damping, stiffness_damping] = self.structure.rayleigh();
        if stiffness == 0.0 {
            self.tangent.values.fill(0.0);
        } else {
            self.structure.tangent(displacement, &mut self.tangent)?;
        }
        out.set_combination(inertia + damping * mass_damping, &self.mass, stiffness, &self.tangent);
        if self.structure.is_viscous() {
            self.structure.dashpot_matrix(displacement, velocity, &mut self.dashpots);
            out.add_scaled(damping, &self.dashpots);
        }
        if let Some(reference) = &self.reference {
            out.add_scaled(damping * stiffness_damping, reference);
        }
        Ok(())
    }
}

pub(super) fn march(
    structure: &Structure,
    initial: &InitialState,
    options: &TransientOptions,
    scheme: &Coefficients,
    observe: &mut dyn FnMut(&Instant<'_>) -> ControlFlow<()>,
) -> Result<TransientReport, TransientError> {
    let (t0, h) = (initial.t, options.dt);
    let at = |t: f64| move |source| TransientError::Structure { t, source };
    let failed = |source| TransientError::Factor { what: "the matrix of the step", source };
    let mut motion = Motion::new(structure, initial);
    let n = motion.u.len();
    let mut forces = prepare(structure).map_err(at(t0))?;
    let mut support_acceleration = vec![0.0; structure.dof_count()];
    let mut old = vec![0.0; n];
    forces.imbalance(t0, &support_acceleration, &motion.u, &motion.v, &mut old).map_err(at(t0))?;
    if options.start == StartAcceleration::Equilibrium {
        motion.a.iter_mut().zip(&old).for_each(|(a, r)| *a = -r);
        solve_mass(&forces.mass, options.factor, &mut motion.a)?;
    }
    let mut matrix = SymmetricMatrix::zeros(structure.pattern().clone());
    let mut factor = Factorization::new(structure.pattern(), options.factor).map_err(failed)?;
    let &Coefficients { alpha_m, alpha_f, beta, gamma } = scheme;
    let (new_m, new_f) = (1.0 - alpha_m, 1.0 - alpha_f);
    let (mut u, mut v, mut a) = (motion.u.clone(), motion.v.clone(), motion.a.clone());
    let (mut new, mut residual) = (vec![0.0; n], vec![0.0; n]);
    let (mut made, mut iterations) = (0, 0);
    if motion.show(0, t0, observe).is_continue() {
        for step in 1..=options.steps {
            let t = t0 + step as f64 * h;
            // Centred on the new time: second order, and impulses at the corners of a table are kept.
            structure.support_accelerations(t - 0.5 * h, t + 0.5 * h, &mut support_acceleration);
            // Predictor: the old acceleration goes on.
            a.copy_from_slice(&motion.a);
            let mut relative = f64::INFINITY;
            let mut solved = false;
            for iteration in 0..=options.max_iterations {
                for i in 0..n {
                    let (u0, v0, a0) = (motion.u[i], motion.v[i], motion.a[i]);
                    u[i] = u0 + h * v0 + h * h * ((0.5 - beta) * a0 + beta * a[i]);
                    v[i] = v0 + h * ((1.0 - gamma) * a0 + gamma * a[i]);
                }
                let scale = forces.imbalance(t, &support_acceleration, &u, &v, &mut new).map_err(at(t))?;
                for (r, (new, old)) in residual.iter_mut().zip(new.iter().zip(&old)) {
                    *r = -(new_f * new + alpha_f * old);
                }
                let mut inertia = std::mem::take(&mut forces.scratch);
                inertia.fill(0.0);
                forces.mass.multiply_add(new_m, &a, &mut inertia);
                forces.mass.multiply_add(alpha_m, &motion.a, &mut inertia);
                let scale = scale.hypot(norm(&inertia));
                residual.iter_mut().zip(&inertia).for_each(|(r, m)| *r -= m);
                forces.scratch = inertia;
                let size = norm(&residual);
                // An infinite scale would make any residual small.
                relative = match (size, scale.is_finite()) {
                    (_, false) => f64::NAN,
                    (0.0, true) => 0.0,
                    (size, true) => size / scale,
                };
                if relative <= options.relative_tolerance && iteration > 0 || relative == 0.0 {
                    solved = true;
                    break;
                }
                if iteration == options.max_iterations || !relative.is_finite() {
                    break;
                }
                forces.matrix(new_m, new_f * gamma * h, new_f * beta * h * h, &mut matrix).map_err(at(t))?;
                factor.refactor(&matrix).map_err(failed)?;
                factor.solve(&mut residual);
                a.iter_mut().zip(&residual).for_each(|(a, d)| *a += d);
                iterations += 1;
            }
            if !solved {
                return Err(TransientError::NotConverged {
                    t,
                    iterations: options.max_iterations,
                    residual: relative,
                    tolerance: options.relative_tolerance,
                });
            }
            std::mem::swap(&mut motion.u, &mut u);
            std::mem::swap(&mut motion.v, &mut v);
            std::mem::swap(&mut motion.a, &mut a);
            std::mem::swap(&mut old, &mut new);
            made = step;
            if motion.show(step, t, observe).is_break() {
                break;
            }
        }
    }
    let t = t0 + made as f64 * h;
    motion.check(structure, t)?;
    Ok(motion.report(structure, t, made, iterations))
}

fn prepare(structure: &Structure) -> Result<Forces<'_>, StructureError> {
    let zeros = || SymmetricMatrix::zeros(structure.pattern().clone());
    let mut mass = zeros();
    structure.assemble_mass(&mut mass);
    let mut reference = None;
    if structure.rayleigh()[1] != 0.0 {
        let mut matrix = zeros();
        structure.tangent(&vec![0.0; structure.dof_count()], &mut matrix)?;
        reference = Some(matrix);
    }
    Ok(Forces {
        structure,
        mass,
        reference,
        tangent: zeros(),
        dashpots: zeros(),
        full: [(); 4].map(|()| vec![0.0; structure.dof_count()]),
        scratch: vec![0.0; structure.unknown_count()],
    })
}
