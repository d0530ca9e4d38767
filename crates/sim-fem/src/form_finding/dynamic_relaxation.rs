//! Dynamic relaxation: let the structure swing and stop it at every peak of kinetic energy.

use crate::analysis::linear_static::StaticReport;
use crate::analysis::nonlinear_static::Stage;
use crate::material::{ValueError, positive, tolerance};
use crate::matrix::{SymmetricMatrix, norm};
use crate::structure::{Structure, StructureError};
use serde::{Deserialize, Serialize};

/// How to relax.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RelaxationOptions {
    /// Unbalanced force relative to loads and internal forces at which it counts as settled.
    pub relative_tolerance: f64,
    /// Steps before giving up.
    pub max_steps: usize,
    /// Share of the certain stable step used, 0 to 1.
    pub safety: f64,
    /// Steps after which the fictitious masses are found anew from the tangent.
    pub mass_interval: usize,
}

impl Default for RelaxationOptions {
    fn default() -> Self {
        Self { relative_tolerance: 1e-12, max_steps: 200_000, safety: 0.9, mass_interval: 50 }
    }
}

/// The shape found.
#[derive(Clone, Debug)]
pub struct RelaxationReport {
    /// Displacements, reactions and member forces.
    pub equilibrium: StaticReport,
    /// Steps made.
    pub steps: usize,
    /// Peaks of kinetic energy at which everything was stopped.
    pub peaks: usize,
}

/// Why it did not settle.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RelaxationError {
    /// An option is out of range.
    #[error(transparent)]
    Options(#[from] ValueError),
    /// The structure itself.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// Not settled in the steps allowed.
    #[error("not settled after {steps} steps: residual {residual:.3e}, wanted {tolerance:.1e}")]
    NotSettled {
        /// Steps made.
        steps: usize,
        /// Relative residual.
        residual: f64,
        /// Tolerance asked for.
        tolerance: f64,
    },
}

/// Relaxes to equilibrium under the full load of `stage`, with kinetic damping (Cundall 1976; Barnes, Int. J. Space
/// Struct. 14, 1999).
///
/// Each degree of freedom gets the fictitious mass Σⱼ|Kᵢⱼ|/4·safety⁻², for which the step 1 is certain to be stable
/// (rows of M⁻¹|K| sum to at most 4·safety²). At a peak of kinetic energy velocities are set to zero and the
/// displacement is taken back to the estimated peak.
///
/// # Limitations
/// Many cheap steps: for a handful of unknowns Newton's method is faster. It finds stable shapes only. Supports are held
/// where `stage` puts them at full load.
///
/// # Errors
/// [`RelaxationError`].
pub fn dynamic_relaxation(
    structure: &Structure,
    stage: &Stage,
    options: &RelaxationOptions,
) -> Result<RelaxationReport, RelaxationError> {
    tolerance("relative_tolerance", options.relative_tolerance)?;
    positive("mass_interval", options.mass_interval as f64)?;
    positive("safety", options.safety)?;
    if options.safety > 1.0 {
        return Err(ValueError { field: "safety", value: options.safety, requirement: "at most 1" }.into());
    }
    let n = structure.unknown_count();
    let mut displacement = stage.start.clone();
    structure.apply_supports(0.0, 1.0, &mut displacement);
    let external: Vec<f64> = stage.fixed.iter().zip(&stage.varied).map(|(a, b)| a + b).collect();
    let mut internal = vec![0.0; structure.dof_count()];
    let mut tangent = SymmetricMatrix::zeros(structure.pattern().clone());
    let (mut force, mut velocity, mut mass) = (vec![0.0; n], vec![0.0; n], vec![1.0; n]);
    let (mut kinetic, mut peaks, mut relative) = (0.0, 0, f64::INFINITY);
    let mut fresh = true;
    for step in 0..options.max_steps {
        structure.internal_force(&displacement, &mut internal)?;
        let scale = norm(&internal).hypot(norm(&external));
        // An infinite scale would make any residual small.
        if !scale.is_finite() {
            return Err(StructureError::Overflow { what: "loads and internal forces" }.into());
        }
        let unbalanced: Vec<f64> = external.iter().zip(&internal).map(|(p, f)| p - f).collect();
        structure.gather(&unbalanced, &mut force);
        let size = norm(&force);
        relative = if size == 0.0 { 0.0 } else { size / scale };
        if relative <= options.relative_tolerance {
            let equilibrium = crate::analysis::linear_static::finish(
                structure,
                displacement,
                internal,
                &external,
                crate::factor::FactorKind::Auto,
            );
            return Ok(RelaxationReport { equilibrium: equilibrium?, steps: step, peaks });
        }
        if step % options.mass_interval == 0 {
            structure.tangent(&displacement, &mut tangent)?;
            fictitious_mass(&tangent, options.safety, &mut mass);
        }
        let share = if fresh { 0.5 } else { 1.0 };
        for i in 0..n {
            velocity[i] += share * force[i] / mass[i];
        }
        let now: f64 = velocity.iter().zip(&mass).map(|(v, m)| 0.5 * m * v * v).sum();
        if now < kinetic && !fresh {
            // The peak lay between the last two velocities: go back half a step with their mean.
            peaks += 1;
            for (i, &dof) in structure.free_dofs().iter().enumerate() {
                displacement[dof as usize] -= 0.5 * velocity[i] - 0.5 * force[i] / mass[i];
            }
            velocity.fill(0.0);
            kinetic = 0.0;
            fresh = true;
            continue;
        }
        kinetic = now;
        fresh = false;
        for (v, &dof) in velocity.iter().zip(structure.free_dofs()) {
            displacement[dof as usize] += v;
        }
    }
    Err(RelaxationError::NotSettled {
        steps: options.max_steps,
        residual: relative,
        tolerance: options.relative_tolerance,
    })
}

/// Masses for which a step of 1 is stable: rows of |K| over four; rows without stiffness take the mean of the others.
fn fictitious_mass(tangent: &SymmetricMatrix, safety: f64, mass: &mut [f64]) {
    mass.fill(0.0);
    let pattern = tangent.pattern();
    for j in 0..pattern.dim() {
        for place in pattern.column(j) {
            let (i, value) = (pattern.row_idx[place] as usize, tangent.values[place].abs());
            mass[i] += value;
            if i != j {
                mass[j] += value;
            }
        }
    }
    let stiff = mass.iter().filter(|&&m| m > 0.0).count().max(1);
    let mean = (mass.iter().sum::<f64>() / stiff as f64).max(f64::MIN_POSITIVE);
    // A straight cable has little stiffness across it now and more once it moves: 1 % of the mean keeps the step stable.
    for m in mass {
        *m = m.max(0.01 * mean) / (4.0 * safety * safety);
    }
}
