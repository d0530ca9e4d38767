//! Loads as vectors over the degrees of freedom.

use super::{NONE, Structure, StructureError, check_node};
use crate::elements::{LocalMatrix, MAX_DOFS};
use crate::load::{Direction, TimeFunction};
use crate::material::finite;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

/// A load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Load {
    /// A force in N, or a moment in N·m, at a node.
    Force {
        /// Node.
        node: usize,
        /// Direction.
        direction: Direction,
        /// N or N·m.
        value: f64,
    },
    /// A force per reference length along a two-node element, in global axes; bending elements get end moments too.
    Uniform {
        /// Element.
        element: usize,
        /// N/m.
        force: [f64; 3],
    },
    /// Weight of all mass under an acceleration, e.g. `[0, 0, -9.81]`. Elements that carry their own weight are left out.
    Gravity {
        /// m/s².
        acceleration: [f64; 3],
    },
    /// Supports accelerate; displacements are then relative to them, and all mass feels −acceleration.
    BaseAcceleration {
        /// m/s².
        acceleration: [f64; 3],
    },
}

/// A load spread over the degrees of freedom.
#[derive(Debug)]
pub(super) struct LoadPattern {
    group: usize,
    function: TimeFunction,
    entries: Vec<(u32, f64)>,
}

impl LoadPattern {
    pub(super) fn is_constant(&self) -> bool {
        self.function.is_constant()
    }

    pub(super) fn factor(&self, t: f64) -> f64 {
        self.function.value(t)
    }

    pub(super) fn add(&self, factor: f64, force: &mut [f64]) {
        for &(dof, value) in &self.entries {
            force[dof as usize] += factor * value;
        }
    }
}

/// One pattern per load; constant loads of a group share one.
pub(super) fn patterns(
    structure: &Structure,
    loads: &[(usize, Load, TimeFunction)],
) -> Result<Vec<LoadPattern>, StructureError> {
    let mut patterns: Vec<LoadPattern> = Vec::new();
    for (index, (group, load, function)) in loads.iter().enumerate() {
        function.validate().map_err(|source| StructureError::TimeFunction { what: "load", index, source })?;
        let entries = entries(structure, index, load)?;
        match patterns.iter_mut().find(|p| p.group == *group && p.function == *function) {
            Some(pattern) => pattern.entries.extend(entries),
            None => patterns.push(LoadPattern { group: *group, function: function.clone(), entries }),
        }
    }
    Ok(patterns)
}

fn entries(structure: &Structure, index: usize, load: &Load) -> Result<Vec<(u32, f64)>, StructureError> {
    let check = |node: usize, values: &[f64]| {
        values.iter().try_for_each(|&value| {
            finite("value", value).map_err(|source| StructureError::Value {
                what: "load",
                index,
                node,
                source,
            })
        })
    };
    match *load {
        Load::Force { node, direction, value } => {
            check_node("load", index, node, structure.node_count())?;
            check(node, &[value])?;
            match structure.dof(node, direction) {
                Some(dof) => Ok(vec![(dof as u32, value)]),
                None => Err(StructureError::NoRotation { what: "load", index, node, direction }),
            }
        }
        Load::Uniform { element, force } => {
            let Some(member) = structure.members.get(element) else {
                let last = structure.members.len() - 1;
                return Err(StructureError::NoElement { index, element, last });
            };
            check(member.nodes[0] as usize, &force)?;
            if member.count != 2 {
                let (id, found) = (member.element.id(), usize::from(member.count));
                return Err(StructureError::NodeCount { index: element, id, expected: 2, found });
            }
            Ok(uniform(structure, element, force.into()))
        }
        Load::Gravity { acceleration } => {
            check(0, &acceleration)?;
            Ok(inertia(structure, acceleration.into(), false))
        }
        Load::BaseAcceleration { acceleration } => {
            check(0, &acceleration)?;
            Ok(inertia(structure, -Vector3::from(acceleration), true))
        }
    }
}

/// q L/2 at each end, and ± L²/12 d̂ × q for elements that bend.
fn uniform(structure: &Structure, element: usize, q: Vector3<f64>) -> Vec<(u32, f64)> {
    let member = &structure.members[element];
    let (dofs, n) = structure.numbering.member_dofs(member);
    let per = n / 2;
    let [a, b] = structure.positions(member).0;
    let d = b - a;
    let (force, moment) = (q * (d.norm() / 2.0), d.cross(&q) * (d.norm() / 12.0));
    let mut entries = Vec::with_capacity(n);
    for end in 0..2 {
        let sign = [1.0, -1.0][end];
        for k in 0..3 {
            entries.push((dofs[end * per + k], force[k]));
            if per == 6 {
                entries.push((dofs[end * per + 3 + k], sign * moment[k]));
            }
        }
    }
    entries
}

/// M times a translation in direction and size of `acceleration`.
fn inertia(structure: &Structure, acceleration: Vector3<f64>, own_weight: bool) -> Vec<(u32, f64)> {
    let mut total = vec![0.0; structure.dof_count()];
    let mut local = LocalMatrix::zeros(0);
    let kind = if own_weight { structure.mass } else { Structure::WEIGHT };
    structure.each_member(|element, x, dofs| {
        if element.carries_weight() && !own_weight {
            return;
        }
        element.mass_matrix(x, kind, &mut local);
        let per = dofs.len() / x.len();
        let mut shift = [0.0; MAX_DOFS];
        for (i, value) in shift.iter_mut().enumerate().take(dofs.len()) {
            *value = if i % per < 3 { acceleration[i % per] } else { 0.0 };
        }
        let mut product = [0.0; MAX_DOFS];
        local.multiply_add(&shift[..dofs.len()], &mut product[..dofs.len()]);
        for (&dof, value) in dofs.iter().zip(product) {
            total[dof as usize] += value;
        }
    });
    total
        .iter()
        .enumerate()
        .filter(|&(_, &value)| value != 0.0)
        .map(|(dof, &value)| (dof as u32, value))
        .collect()
}

impl Structure {
    /// External force in N (and N·m) at every degree of freedom at time `t`, all groups together.
    ///
    /// # Panics
    /// If the length differs from [`Structure::dof_count`].
    pub fn external_force(&self, t: f64, force: &mut [f64]) {
        self.external_force_of(|_| true, t, force);
    }

    /// As [`Structure::external_force`], of the groups that `wanted` chooses.
    ///
    /// # Panics
    /// If the length differs from [`Structure::dof_count`].
    pub fn external_force_of(&self, wanted: impl Fn(usize) -> bool, t: f64, force: &mut [f64]) {
        assert_eq!(
            force.len(),
            self.dof_count(),
            "force has {} values, needs {}",
            force.len(),
            self.dof_count()
        );
        force.fill(0.0);
        for pattern in self.patterns.iter().filter(|pattern| wanted(pattern.group)) {
            pattern.add(pattern.factor(t), force);
        }
    }

    /// Whether no load changes with time.
    #[must_use]
    pub fn has_constant_loads(&self) -> bool {
        self.patterns.iter().all(|pattern| pattern.function.is_constant())
    }

    /// Adds the external force on the unknowns at time `t` to `force`, one value per unknown.
    pub(crate) fn add_unknown_force(&self, t: f64, scale: f64, force: &mut [f64]) {
        for pattern in &self.patterns {
            let factor = scale * pattern.function.value(t);
            for &(dof, value) in &pattern.entries {
                let unknown = self.numbering.unknown[dof as usize];
                if unknown != NONE {
                    force[unknown as usize] += factor * value;
                }
            }
        }
    }
}
