//! Displacements, reactions and member forces under a load, to first order.

use super::Stiffness;
use crate::elements::MemberResult;
use crate::factor::FactorKind;
use crate::matrix::norm;
use crate::structure::{Structure, StructureError};

/// Result of a static analysis. Vectors have one value per degree of freedom of the structure.
#[derive(Clone, Debug)]
pub struct StaticReport {
    /// Displacement in m (and rad).
    pub displacement: Vec<f64>,
    /// Force in N (and N·m) of the supports on the structure; zero elsewhere.
    pub reaction: Vec<f64>,
    /// What every member carries.
    pub members: Vec<MemberResult>,
    /// Stored energy in J.
    pub strain_energy: f64,
    /// Force left over on the unknowns, relative to the loads and reactions.
    pub relative_residual: f64,
    /// Storage of the factor.
    pub factor: FactorKind,
}

/// Solves K u = f about the reference shape, with the loads and prescribed displacements of time `t` in s.
///
/// Prestress enters through the internal force and the tangent of the reference shape.
///
/// # Limitations
/// First order in the displacement: a load across a straight unstressed cable is a mechanism here. Members that are slack in
/// the reference shape stay slack and taut ones stay taut.
///
/// # Errors
/// [`StructureError::Mechanism`] when the structure can move freely; [`StructureError::Unstable`] when its prestress makes
/// the tangent indefinite.
pub fn linear_static(
    structure: &Structure,
    t: f64,
    kind: FactorKind,
) -> Result<StaticReport, StructureError> {
    let mut stiffness = Stiffness::new(structure, kind)?;
    linear_static_with(structure, t, &mut stiffness)
}

/// As [`linear_static`], with storage that is reused from call to call.
///
/// # Errors
/// As [`linear_static`].
pub fn linear_static_with(
    structure: &Structure,
    t: f64,
    stiffness: &mut Stiffness,
) -> Result<StaticReport, StructureError> {
    let n = structure.dof_count();
    let rest = vec![0.0; n];
    stiffness.update(structure, &rest)?;
    let negative = stiffness.pivots().negative;
    if negative > 0 {
        return Err(StructureError::Unstable { negative });
    }
    let mut external = vec![0.0; n];
    structure.external_force(t, &mut external);
    let mut displacement = vec![0.0; n];
    structure.apply_supports(t, 1.0, &mut displacement);
    // What the unknowns feel: loads, minus what prestress and moved supports already push with.
    let mut unbalanced = vec![0.0; n];
    // Linear elements push with nothing in the reference shape.
    if !structure.is_linear() {
        structure.internal_force(&rest, &mut unbalanced)?;
    }
    for (r, f) in unbalanced.iter_mut().zip(&external) {
        *r = f - *r;
    }
    if displacement.iter().any(|&u| u != 0.0) {
        structure.add_tangent_times(-1.0, &rest, &displacement, &mut unbalanced);
    }
    let mut unknowns = vec![0.0; structure.unknown_count()];
    structure.gather(&unbalanced, &mut unknowns);
    stiffness.solve(&mut unknowns);
    structure.scatter(&unknowns, &mut displacement);
    let mut reaction = vec![0.0; n];
    if structure.is_linear() {
        structure.internal_force(&displacement, &mut reaction)?;
    } else {
        structure.internal_force(&rest, &mut reaction)?;
        structure.add_tangent_times(1.0, &rest, &displacement, &mut reaction);
    }
    finish(structure, displacement, reaction, &external, stiffness.kind())
}

/// Splits internal minus external force into reactions and residual.
pub(crate) fn finish(
    structure: &Structure,
    displacement: Vec<f64>,
    internal: Vec<f64>,
    external: &[f64],
    factor: FactorKind,
) -> Result<StaticReport, StructureError> {
    let mut reaction = internal;
    let mut residual = vec![0.0; structure.unknown_count()];
    for (r, f) in reaction.iter_mut().zip(external) {
        *r -= f;
    }
    structure.gather(&reaction, &mut residual);
    let left_over = norm(&residual);
    residual.fill(0.0);
    structure.scatter(&residual, &mut reaction);
    let scale = norm(external).hypot(norm(&reaction));
    let relative_residual = if left_over == 0.0 { 0.0 } else { left_over / scale };
    if !(relative_residual.is_finite() && displacement.iter().all(|u| u.is_finite())) {
        return Err(StructureError::Overflow { what: "forces or displacements" });
    }
    let members = structure.member_results(&displacement);
    let strain_energy = structure.strain_energy(&displacement).iter().sum();
    Ok(StaticReport { displacement, reaction, members, strain_energy, relative_residual, factor })
}
