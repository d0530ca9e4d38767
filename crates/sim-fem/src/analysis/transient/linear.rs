//! Linear structures: one factorization, one solve per step.

use super::{
    Coefficients, InitialState, Instant, Motion, StartAcceleration, TransientError, TransientOptions,
    TransientReport, solve_mass,
};
use crate::factor::Factorization;
use crate::matrix::SymmetricMatrix;
use crate::structure::Structure;
use pulp::Arch;
use std::ops::ControlFlow;

/// M in the cheapest form that is exact.
enum Mass {
    Diagonal(Vec<f64>),
    Full(SymmetricMatrix),
}

impl Mass {
    /// `out += M (a x + b y)`.
    fn add_combined(&self, a: f64, x: &[f64], b: f64, y: &[f64], scratch: &mut [f64], out: &mut [f64]) {
        match self {
            Self::Diagonal(mass) => Arch::new().dispatch(
                #[inline(always)]
                || {
                    for (((out, m), x), y) in out.iter_mut().zip(mass).zip(x).zip(y) {
                        *out += m * (a * x + b * y);
                    }
                },
            ),
            Self::Full(matrix) => {
                combine(scratch, a, x, b, y);
                matrix.multiply_add(1.0, scratch, out);
            }
        }
    }

    fn add_product(&self, factor: f64, x: &[f64], y: &mut [f64]) {
        match self {
            Self::Diagonal(m) => {
                y.iter_mut().zip(m).zip(x).for_each(|((y, m), x)| *y += factor * m * x);
            }
            Self::Full(matrix) => matrix.multiply_add(factor, x, y),
        }
    }
}

struct Matrices {
    mass: Mass,
    stiffness: SymmetricMatrix,
    /// Damping beyond the multiple of M: that of K and of dashpots.
    damping: Option<SymmetricMatrix>,
    mass_damping: f64,
    /// Force of the reference shape (prestress, supports held away from zero), on the unknowns.
    resting: Vec<f64>,
}

impl Matrices {
    /// y += factor C x.
    fn add_damping(&self, factor: f64, x: &[f64], y: &mut [f64]) {
        if self.mass_damping != 0.0 {
            self.mass.add_product(factor * self.mass_damping, x, y);
        }
        if let Some(damping) = &self.damping {
            damping.multiply_add(factor, x, y);
        }
    }
}

/// The unknown is the increment of displacement: its rounding does not grow with the displacement itself. For Newmark's
/// own members K u₀ is known from the equilibrium at the start of the step, which saves a product.
pub(super) fn march(
    structure: &Structure,
    initial: &InitialState,
    options: &TransientOptions,
    scheme: &Coefficients,
    observe: &mut dyn FnMut(&Instant<'_>) -> ControlFlow<()>,
) -> Result<TransientReport, TransientError> {
    let (t0, h) = (initial.t, options.dt);
    let mut motion = Motion::new(structure, initial);
    let (matrices, mass) = assemble(structure, t0)?;
    let n = motion.u.len();
    let mut force = vec![0.0; n];
    load_into(structure, &matrices, t0, &mut force);
    if options.start == StartAcceleration::Equilibrium {
        motion.a.copy_from_slice(&force);
        matrices.stiffness.multiply_add(-1.0, &motion.u, &mut motion.a);
        matrices.add_damping(-1.0, &motion.v, &mut motion.a);
        solve_mass(&mass, options.factor, &mut motion.a)?;
    }
    let &Coefficients { alpha_m, alpha_f, beta, gamma } = scheme;
    let (from_u_to_a, from_u_to_v) = (1.0 / (beta * h * h), gamma / (beta * h));
    let mut factor = {
        let mut matrix = SymmetricMatrix::zeros(structure.pattern().clone());
        let (new_m, new_f) = (1.0 - alpha_m, 1.0 - alpha_f);
        let inertia = new_m * from_u_to_a + new_f * from_u_to_v * matrices.mass_damping;
        matrix.set_combination(inertia, &mass, new_f, &matrices.stiffness);
        if let Some(damping) = &matrices.damping {
            matrix.add_scaled(new_f * from_u_to_v, damping);
        }
        let failed = |source| TransientError::Factor { what: "the matrix of the step", source };
        let mut factor = Factorization::new(structure.pattern(), options.factor).map_err(failed)?;
        factor.refactor(&matrix).map_err(failed)?;
        factor
    };
    drop(mass);
    // Equilibrium at the start of a step holds only where forces are not interpolated, and from a true start.
    let in_equilibrium = alpha_m == 0.0
        && alpha_f == 0.0
        && options.start == StartAcceleration::Equilibrium
        && massive(&matrices);
    let constant_loads = structure.has_constant_loads();
    let mut next_force = force.clone();
    let (mut rhs, mut weighted) = (vec![0.0; n], vec![0.0; n]);
    let damped = matrices.mass_damping != 0.0 || matrices.damping.is_some();
    let mut made = 0;
    if motion.show(0, t0, observe).is_continue() {
        for step in 1..=options.steps {
            let t = t0 + step as f64 * h;
            if !constant_loads {
                load_into(structure, &matrices, t, &mut next_force);
            }
            if in_equilibrium && constant_loads {
                rhs.fill(0.0);
            } else if in_equilibrium {
                // f₁ − K u₀ = (f₁ − f₀) + M a₀ + C v₀.
                rhs.iter_mut().zip(&next_force).zip(&force).for_each(|((r, new), old)| *r = new - old);
            } else {
                rhs.iter_mut()
                    .zip(&next_force)
                    .zip(&force)
                    .for_each(|((r, new), old)| *r = (1.0 - alpha_f) * new + alpha_f * old);
                matrices.stiffness.multiply_add(-1.0, &motion.u, &mut rhs);
            }
            let extra = f64::from(in_equilibrium);
            let (of_v, of_a) =
                ((1.0 - alpha_m) / (beta * h), (1.0 - alpha_m) * (0.5 / beta - 1.0) - alpha_m + extra);
            matrices.mass.add_combined(of_v, &motion.v, of_a, &motion.a, &mut weighted, &mut rhs);
            if damped {
                let new = 1.0 - alpha_f;
                let (of_v, of_a) =
                    (new * (gamma / beta - 1.0) - alpha_f + extra, new * h * (0.5 * gamma / beta - 1.0));
                combine(&mut weighted, of_v, &motion.v, of_a, &motion.a);
                matrices.add_damping(1.0, &weighted, &mut rhs);
            }
            factor.solve(&mut rhs);
            let (keep_v, keep_a) = (1.0 - gamma / beta, h * (1.0 - 0.5 * gamma / beta));
            let (v_to_a, a_to_a) = (1.0 / (beta * h), 0.5 / beta - 1.0);
            Arch::new().dispatch(
                #[inline(always)]
                || {
                    for (((u, v), a), d) in
                        motion.u.iter_mut().zip(&mut motion.v).zip(&mut motion.a).zip(&rhs)
                    {
                        let (v0, a0) = (*v, *a);
                        *u += d;
                        *v = from_u_to_v * d + keep_v * v0 + keep_a * a0;
                        *a = from_u_to_a * d - v_to_a * v0 - a_to_a * a0;
                    }
                },
            );
            std::mem::swap(&mut force, &mut next_force);
            made = step;
            if motion.show(step, t, observe).is_break() {
                break;
            }
        }
    }
    let t = t0 + made as f64 * h;
    motion.check(structure, t)?;
    Ok(motion.report(structure, t, made, 0))
}

/// Whether every unknown has mass: without it there is no acceleration that stands for the missing equilibrium.
fn massive(matrices: &Matrices) -> bool {
    match &matrices.mass {
        Mass::Diagonal(m) => m.iter().all(|&m| m > 0.0),
        Mass::Full(matrix) => matrix.diagonal().iter().all(|&m| m > 0.0),
    }
}

fn combine(out: &mut [f64], a: f64, x: &[f64], b: f64, y: &[f64]) {
    out.iter_mut().zip(x).zip(y).for_each(|((out, x), y)| *out = a * x + b * y);
}

fn load_into(structure: &Structure, matrices: &Matrices, t: f64, force: &mut [f64]) {
    for (f, resting) in force.iter_mut().zip(&matrices.resting) {
        *f = -resting;
    }
    structure.add_unknown_force(t, 1.0, force);
}

fn assemble(structure: &Structure, t0: f64) -> Result<(Matrices, SymmetricMatrix), TransientError> {
    let at = |source| TransientError::Structure { t: t0, source };
    let pattern = structure.pattern();
    let rest = vec![0.0; structure.dof_count()];
    let mut stiffness = SymmetricMatrix::zeros(pattern.clone());
    structure.tangent(&rest, &mut stiffness).map_err(at)?;
    let mut mass = SymmetricMatrix::zeros(pattern.clone());
    structure.assemble_mass(&mut mass);
    let [mass_damping, stiffness_damping] = structure.rayleigh();
    let mut damping = None;
    if stiffness_damping != 0.0 || structure.is_viscous() {
        let mut matrix = SymmetricMatrix::zeros(pattern.clone());
        structure.dashpot_matrix(&rest, &rest, &mut matrix);
        matrix.add_scaled(stiffness_damping, &stiffness);
        damping = Some(matrix);
    }
    // With unknowns at zero, only prestress and supports held away from zero push.
    let mut held = rest;
    structure.apply_supports(t0, 1.0, &mut held);
    let mut internal = vec![0.0; held.len()];
    structure.internal_force(&held, &mut internal).map_err(at)?;
    let mut resting = vec![0.0; structure.unknown_count()];
    structure.gather(&internal, &mut resting);
    let form = if mass.is_diagonal() { Mass::Diagonal(mass.diagonal()) } else { Mass::Full(mass.clone()) };
    Ok((Matrices { mass: form, stiffness, damping, mass_damping, resting }, mass))
}
