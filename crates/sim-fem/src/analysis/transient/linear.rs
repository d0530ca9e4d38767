//! Linear structures: one factorization, one solve per step.

use super::{
    Coefficients, InitialState, Instant, Motion, StartAcceleration, TransientError, TransientOptions,
    TransientReport, solve_mass,
};
use crate::factor::{AroundSolve, Factorization};
use crate::matrix::SymmetricMatrix;
use crate::structure::Structure;
use pulp::Arch;
use std::ops::{ControlFlow, Range};

/// M in the cheapest form that is exact.
enum Mass {
    Diagonal(Vec<f64>),
    Full(SymmetricMatrix),
}

impl Mass {
    fn add_product(&self, factor: f64, x: &[f64], y: &mut [f64]) {
        match self {
            Self::Diagonal(m) => {
                y.iter_mut().zip(m).zip(x).for_each(|((y, m), x)| *y += factor * m * x);
            }
            Self::Full(matrix) => matrix.multiply_add(factor, x, y),
        }
    }
}

/// What a step does with velocity and acceleration; pairs are the factors of (v, a).
struct Rule<'a> {
    mass: &'a Mass,
    damping: Option<&'a SymmetricMatrix>,
    /// M times this goes to the right-hand side, damping by M included.
    inertia_of: [f64; 2],
    /// Damping matrix times this goes to the right-hand side.
    damping_of: [f64; 2],
    u_to_v: f64,
    u_to_a: f64,
    keep_v: [f64; 2],
    keep_a: [f64; 2],
    /// Whether the right-hand side is the diagonal inertia and nothing else.
    from_inertia_alone: bool,
    weighted: Vec<f64>,
}

impl Rule<'_> {
    /// Adds the products with matrices that couple unknowns to the right-hand side.
    fn add_coupled(&mut self, motion: &Motion, rhs: &mut [f64]) {
        if let Mass::Full(matrix) = self.mass {
            combine(&mut self.weighted, self.inertia_of, &motion.v, &motion.a);
            matrix.multiply_add(1.0, &self.weighted, rhs);
        }
        if let Some(damping) = self.damping {
            combine(&mut self.weighted, self.damping_of, &motion.v, &motion.a);
            damping.multiply_add(1.0, &self.weighted, rhs);
        }
    }
}

/// A step around its solve: row by row it adds the diagonal inertia and moves the unknowns on.
struct Advance<'a> {
    rule: &'a Rule<'a>,
    motion: &'a mut Motion,
}

impl AroundSolve for Advance<'_> {
    fn before(&mut self, rows: Range<usize>, rhs: &mut [f64]) {
        let Mass::Diagonal(mass) = self.rule.mass else { return };
        let [of_v, of_a] = self.rule.inertia_of;
        let (mass, v, a) = (&mass[rows.clone()], &self.motion.v[rows.clone()], &self.motion.a[rows]);
        let alone = self.rule.from_inertia_alone;
        Arch::new().dispatch(
            #[inline(always)]
            || {
                let terms = mass.iter().zip(v).zip(a).map(|((m, v), a)| m * (of_v * v + of_a * a));
                if alone {
                    rhs.iter_mut().zip(terms).for_each(|(r, term)| *r = term);
                } else {
                    rhs.iter_mut().zip(terms).for_each(|(r, term)| *r += term);
                }
            },
        );
    }

    fn after(&mut self, rows: Range<usize>, solution: &[f64]) {
        let &Rule { u_to_v, u_to_a, keep_v, keep_a, .. } = self.rule;
        let Motion { u, v, a } = &mut *self.motion;
        let (u, v, a) = (&mut u[rows.clone()], &mut v[rows.clone()], &mut a[rows]);
        Arch::new().dispatch(
            #[inline(always)]
            || {
                for (((u, v), a), d) in u.iter_mut().zip(v).zip(a).zip(solution) {
                    let (v0, a0) = (*v, *a);
                    *u += d;
                    *v = u_to_v * d + keep_v[0] * v0 + keep_v[1] * a0;
                    *a = u_to_a * d - keep_a[0] * v0 - keep_a[1] * a0;
                }
            },
        );
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
    let mut rhs = vec![0.0; n];
    let extra = f64::from(in_equilibrium);
    let inertia_of = [(1.0 - alpha_m) / (beta * h), (1.0 - alpha_m) * (0.5 / beta - 1.0) - alpha_m + extra];
    let new = 1.0 - alpha_f;
    let damping_of = [new * (gamma / beta - 1.0) - alpha_f + extra, new * h * (0.5 * gamma / beta - 1.0)];
    let mut rule = Rule {
        mass: &matrices.mass,
        damping: matrices.damping.as_ref(),
        inertia_of: [0, 1].map(|k| inertia_of[k] + matrices.mass_damping * damping_of[k]),
        damping_of,
        u_to_v: from_u_to_v,
        u_to_a: from_u_to_a,
        keep_v: [1.0 - gamma / beta, h * (1.0 - 0.5 * gamma / beta)],
        keep_a: [1.0 / (beta * h), 0.5 / beta - 1.0],
        from_inertia_alone: in_equilibrium
            && constant_loads
            && matrices.damping.is_none()
            && matches!(matrices.mass, Mass::Diagonal(_)),
        weighted: vec![0.0; n],
    };
    let mut made = 0;
    if motion.show(0, t0, observe).is_continue() {
        for step in 1..=options.steps {
            let t = t0 + step as f64 * h;
            if !constant_loads {
                load_into(structure, &matrices, t, &mut next_force);
            }
            if rule.from_inertia_alone {
                // Nothing else: the rows are written one by one during the solve.
            } else if in_equilibrium && constant_loads {
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
            rule.add_coupled(&motion, &mut rhs);
            factor.solve_within(&mut rhs, &mut Advance { rule: &rule, motion: &mut motion });
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

fn combine(out: &mut [f64], [a, b]: [f64; 2], x: &[f64], y: &[f64]) {
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
