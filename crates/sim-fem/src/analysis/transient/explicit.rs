//! Central differences, and the largest step they allow.

use super::{InitialState, Instant, Motion, TransientError, TransientOptions, TransientReport};
use crate::factor::{FactorKind, Factorization};
use crate::matrix::SymmetricMatrix;
use crate::structure::{Structure, StructureError};
use std::ops::ControlFlow;

/// Largest stable step of central differences about the reference shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StableStep {
    /// Guaranteed upper bound of the largest angular frequency in rad/s.
    pub omega_bound: f64,
    /// Damping ratio of Rayleigh damping at that frequency.
    pub damping_ratio: f64,
    /// 2/ω in s: without damping, or with damping proportional to mass.
    pub undamped: f64,
    /// 2 (√(1 + ζ²) − ζ)/ω in s: with damping that lags half a step, as stiffness damping and dashpots do here.
    pub damped: f64,
    /// Node whose row sets the bound.
    pub node: usize,
}

/// Bounds the largest frequency from above and gives the step that is certain to be stable for a linear structure.
///
/// ω² <= maxᵢ (N v)ᵢ/vᵢ for N = |M^-½ K M^-½| entry by entry and any positive v (Collatz); v is improved by power steps
/// and then by Noda's iteration (Numer. Math. 17, 1971), which keep it positive. Damped limit as in Belytschko, Liu & Moran (Nonlinear Finite Elements, ch. 6).
///
/// # Limitations
/// About the reference shape: a non-linear structure that stiffens needs a margin. Dashpot elements are not
/// counted; their damping needs c dt/m well below 1.
///
/// # Errors
/// [`TransientError::Massless`], [`TransientError::Unstable`] when the mass matrix is not diagonal.
pub fn stable_step(structure: &Structure) -> Result<StableStep, TransientError> {
    let at = |source: StructureError| TransientError::Structure { t: 0.0, source };
    let mass = diagonal_mass(structure)?;
    let mut stiffness = SymmetricMatrix::zeros(structure.pattern().clone());
    structure.tangent(&vec![0.0; structure.dof_count()], &mut stiffness).map_err(at)?;
    let pattern = stiffness.pattern().clone();
    for j in 0..pattern.dim() {
        for place in pattern.column(j) {
            let i = pattern.row_idx[place] as usize;
            stiffness.values[place] = (stiffness.values[place] / (mass[i] * mass[j]).sqrt()).abs();
        }
    }
    let (bound, culprit) = perron_bound(&stiffness);
    let omega_bound = bound.sqrt();
    let damping_ratio = 0.5 * structure.rayleigh()[1] * omega_bound;
    let (node, _) = structure.node_direction(structure.free_dofs()[culprit] as usize);
    Ok(StableStep {
        omega_bound,
        damping_ratio,
        undamped: 2.0 / omega_bound,
        damped: 2.0 * ((1.0 + damping_ratio * damping_ratio).sqrt() - damping_ratio) / omega_bound,
        node,
    })
}

/// Smallest Collatz bound found for a matrix without negative entries, and its row.
fn perron_bound(matrix: &SymmetricMatrix) -> (f64, usize) {
    let n = matrix.dim();
    let mut vector = vec![1.0; n];
    let mut product = vec![0.0; n];
    let (mut bound, mut culprit) = (f64::INFINITY, 0);
    let mut factor = Factorization::new(matrix.pattern(), FactorKind::Auto).ok();
    for round in 0..30 {
        product.fill(0.0);
        matrix.multiply_add(1.0, &vector, &mut product);
        let ratios = product.iter().zip(&vector).map(|(p, v)| p / v);
        let (at, largest) = ratios.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0));
        let stalled = largest >= bound * (1.0 - 1e-10);
        if largest < bound {
            (bound, culprit) = (largest, at);
        }
        if round < 10 {
            // Mixing with the old vector damps the alternation of bipartite structures.
            let scale = product.iter().fold(0.0_f64, |max, &p| max.max(p)).max(f64::MIN_POSITIVE);
            vector.iter_mut().zip(&product).for_each(|(v, p)| *v = 0.5 * (*v + p / scale));
            continue;
        }
        // (ρ − N)⁻¹ has no negative entries as long as ρ exceeds the largest eigenvalue.
        let Some(factor) = factor.as_mut().filter(|_| !stalled) else { break };
        let mut shifted = matrix.clone();
        shifted.values.iter_mut().for_each(|value| *value = -*value);
        let pattern = shifted.pattern().clone();
        (0..n).for_each(|j| shifted.values[pattern.column(j).start] += bound);
        if !matches!(factor.refactor(&shifted), Ok(pivots) if pivots.negative == 0) {
            break;
        }
        factor.solve(&mut vector);
        let scale = vector.iter().fold(0.0_f64, |max, &v| max.max(v));
        crate::matrix::scale(&mut vector, 1.0 / scale);
        if !vector.iter().all(|&v| v > 0.0) {
            break;
        }
    }
    (bound, culprit)
}

/// Refuses a step above `omega_dt` over the bound of the largest frequency.
pub(super) fn check_step(
    structure: &Structure,
    options: &TransientOptions,
    omega_dt: f64,
) -> Result<(), TransientError> {
    let stable = stable_step(structure)?;
    let limit = 0.5 * omega_dt * stable.damped;
    if options.dt > limit * (1.0 + 1e-12) {
        return Err(TransientError::Unstable {
            reason: format!(
                "dt = {:e} s is above the certain limit {limit:e} s (undamped {:e} s, with the damping ratio {:.3} at the highest \
                 frequency, at most {:e} rad/s near node {}, {:e} s)",
                options.dt,
                0.5 * omega_dt * stable.undamped,
                stable.damping_ratio,
                stable.omega_bound,
                stable.node,
                limit
            ),
        });
    }
    Ok(())
}

fn diagonal_mass(structure: &Structure) -> Result<Vec<f64>, TransientError> {
    let mut mass = SymmetricMatrix::zeros(structure.pattern().clone());
    structure.assemble_mass(&mut mass);
    if !mass.is_diagonal() {
        return Err(TransientError::Unstable {
            reason: "an explicit scheme needs a diagonal mass matrix; choose lumped mass".to_owned(),
        });
    }
    let mass = mass.diagonal();
    if let Some(unknown) = mass.iter().position(|&m| m <= 0.0) {
        let (node, direction) = structure.node_direction(structure.free_dofs()[unknown] as usize);
        return Err(TransientError::Massless { node, direction });
    }
    Ok(mass)
}

/// Velocities live at half steps: M (v₊ − v₋)/h + a₀ M (v₊ + v₋)/2 + (a₁ K(0) + dashpots) v₋ + `f_int(u)` = `f_ext`.
/// The start is u₋₁ = u₀ − h v₀ + ½ h² a₀. What is shown are the mean velocity and the acceleration at whole steps.
pub(super) fn march(
    structure: &Structure,
    initial: &InitialState,
    options: &TransientOptions,
    observe: &mut dyn FnMut(&Instant<'_>) -> ControlFlow<()>,
) -> Result<TransientReport, TransientError> {
    check_step(structure, options, 2.0)?;
    let (t0, h) = (initial.t, options.dt);
    let mass = diagonal_mass(structure)?;
    let mut motion = Motion::new(structure, initial);
    let n = motion.u.len();
    let [mass_damping, stiffness_damping] = structure.rayleigh();
    let mut reference = None;
    if stiffness_damping != 0.0 {
        let mut matrix = SymmetricMatrix::zeros(structure.pattern().clone());
        let rest = vec![0.0; structure.dof_count()];
        structure
            .tangent(&rest, &mut matrix)
            .map_err(|source| TransientError::Structure { t: t0, source })?;
        reference = Some(matrix);
    }
    let mut full = [(); 4].map(|()| vec![0.0; structure.dof_count()]);
    let mut force = vec![0.0; n];
    let mut half = motion.v.clone();
    let damping = 0.5 * mass_damping * h;
    let mut made = 0;
    for step in 0..=options.steps {
        let t = t0 + step as f64 * h;
        let [displacement, velocity, internal, external] = &mut full;
        structure.apply_supports(t, 1.0, displacement);
        structure.apply_support_velocities(t, velocity);
        structure.scatter(&motion.u, displacement);
        structure.scatter(&half, velocity);
        structure
            .internal_force(displacement, internal)
            .map_err(|source| TransientError::Structure { t, source })?;
        structure.add_viscous_force(displacement, velocity, internal);
        structure.external_force(t, external);
        external.iter_mut().zip(internal.iter()).for_each(|(p, f)| *p -= f);
        structure.gather(external, &mut force);
        if let Some(reference) = &reference {
            reference.multiply_add(-stiffness_damping, &half, &mut force);
        }
        if step == 0 {
            // `half` held v₀; step back half a step with the acceleration of the start.
            for (v, (f, m)) in half.iter_mut().zip(force.iter().zip(&mass)) {
                *v -= 0.5 * h * (f / m - mass_damping * *v);
            }
        }
        for i in 0..n {
            let before = half[i];
            half[i] = ((1.0 - damping) * before + h * force[i] / mass[i]) / (1.0 + damping);
            motion.a[i] = (half[i] - before) / h;
            motion.v[i] = 0.5 * (half[i] + before);
        }
        motion.check(structure, t)?;
        made = step;
        if motion.show(step, t, observe).is_break() || step == options.steps {
            break;
        }
        motion.u.iter_mut().zip(&half).for_each(|(u, v)| *u += h * v);
    }
    Ok(motion.report(structure, t0 + made as f64 * h, made, 0))
}
