//! A structure with one mass per block, as explicit steppers and registries of steppers need it.

use super::assembly::gathered;
use super::{Structure, StructureError};
use crate::elements::{Element, LocalMatrix, MAX_DOFS};
use crate::matrix::SymmetricMatrix;
use nalgebra::Matrix3;
use sim_core::{
    BlockSink, Definiteness, Dependence, Energy, ExplicitSystem, ImplicitSystem, StencilBound, System, Work,
};
use std::sync::Arc;

/// A structure whose mass matrix is one number per block of three degrees of freedom.
///
/// It is an [`ExplicitSystem`] and an [`ImplicitSystem`], so every stepper of a registry runs it. `q` is displacement.
///
/// # Limitations
/// Bounds of the step are taken at the displacement they are asked for: members that stiffen as they move (cables going taut, beams
/// that turn) need bounds anew, as substeps take them every frame.
#[derive(Clone, Debug)]
pub struct ExplicitStructure {
    structure: Arc<Structure>,
    mass: Vec<f64>,
    inverse_mass: Vec<f64>,
}

impl Structure {
    /// The structure for explicit steppers.
    ///
    /// # Errors
    /// [`StructureError::Unlumped`] when the mass of a block is coupled to others, differs by direction, or is zero where the block can
    /// move.
    pub fn explicit(self: &Arc<Self>) -> Result<ExplicitStructure, StructureError> {
        let mut matrix = SymmetricMatrix::zeros(self.pattern().clone());
        self.assemble_mass(&mut matrix);
        let blocks = self.numbering.blocks;
        let (mut mass, mut inverse_mass) = (vec![0.0; blocks], vec![0.0; blocks]);
        let unlumped = |dof: usize, reason| {
            let (node, direction) = self.node_direction(dof);
            StructureError::Unlumped { node, direction, reason }
        };
        let free = self.free_dofs();
        if !matrix.is_diagonal() {
            let first = free.first().map_or(0, |&dof| dof as usize);
            return Err(unlumped(first, "its mass is spread to its neighbors"));
        }
        for (&dof, value) in free.iter().zip(matrix.diagonal()) {
            let (dof, block) = (dof as usize, dof as usize / 3);
            if value <= 0.0 {
                return Err(unlumped(dof, "it can move and has no mass"));
            }
            if mass[block] != 0.0 && (mass[block] - value).abs() > 1e-12 * value {
                return Err(unlumped(dof, "its mass differs by direction"));
            }
            mass[block] = value;
            inverse_mass[block] = 1.0 / value;
        }
        Ok(ExplicitStructure { structure: self.clone(), mass, inverse_mass })
    }
}

impl System for ExplicitStructure {
    fn particle_count(&self) -> usize {
        self.structure.particle_count()
    }

    fn dependence(&self) -> Dependence {
        self.structure.dependence()
    }

    fn force(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        self.structure.force(t, q, v, f);
    }

    fn energy(&self, t: f64, q: &[f64], v: &[f64]) -> Energy {
        self.structure.energy(t, q, v)
    }

    fn power(&self, t: f64, q: &[f64], v: &[f64], velocity: &[f64]) -> Work {
        self.structure.power(t, q, v, velocity)
    }

    fn prescribe(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        self.structure.prescribe(t, q, v);
    }
}

impl ImplicitSystem for ExplicitStructure {
    fn is_free(&self, particle: usize) -> bool {
        self.structure.is_free(particle)
    }

    fn mass_matrix(&self, sink: &mut dyn BlockSink) {
        // As steppers that take the mass per block have it: held components of a free block keep that mass and feel no force.
        for (block, &mass) in self.mass.iter().enumerate() {
            sink.add(block, block, &(Matrix3::identity() * mass));
        }
    }

    fn damping_matrix(&self, t: f64, q: &[f64], v: &[f64], sink: &mut dyn BlockSink) {
        self.structure.damping_matrix(t, q, v, sink);
    }

    fn stiffness_matrix(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        definiteness: Definiteness,
        sink: &mut dyn BlockSink,
    ) {
        self.structure.stiffness_matrix(t, q, v, definiteness, sink);
    }

    fn damping_stiffness(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        emit: &mut dyn FnMut(usize, usize, &Matrix3<f64>),
    ) {
        self.structure.damping_stiffness(t, q, v, emit);
    }
}

impl ExplicitSystem for ExplicitStructure {
    fn mass(&self) -> &[f64] {
        &self.mass
    }

    fn inverse_mass(&self) -> &[f64] {
        &self.inverse_mass
    }

    /// Of a bar `[[B, -B], [-B, B]]` the bound is the norm of B (Frobenius) on the difference of its ends; of any other element the block
    /// diagonal of the row sums of its blocks' norms, which bounds any symmetric matrix.
    fn stencil_bounds(&self, q: &[f64], emit: &mut dyn FnMut(StencilBound<'_>)) {
        let [mass_factor, stiffness_factor] = self.structure.rayleigh;
        let (mut tangent, mut damping) = (LocalMatrix::zeros(0), LocalMatrix::zeros(0));
        let mut rest_tangent = LocalMatrix::zeros(0);
        let rest = [0.0; MAX_DOFS];
        let mut index = 0;
        self.structure.each_member(|element, x, dofs| {
            let u = gathered(dofs, q);
            let (u, still) = (&u[..dofs.len()], &rest[..dofs.len()]);
            element.tangent(x, u, &mut tangent);
            if stiffness_factor != 0.0 {
                element.tangent(x, still, &mut rest_tangent);
            }
            damping.clear(dofs.len());
            if element.is_viscous() {
                element.damping_matrix(x, u, still, &mut damping);
            }
            emit_bounds(
                element,
                index,
                dofs,
                |r, c| tangent.block(r, c).norm(),
                |r, c| {
                    let proportional = if stiffness_factor == 0.0 {
                        0.0
                    } else {
                        stiffness_factor * rest_tangent.block(r, c).norm()
                    };
                    damping.block(r, c).norm() + proportional
                },
                emit,
            );
            index += 1;
        });
        if mass_factor != 0.0 {
            for (block, &mass) in self.mass.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
                emit(StencilBound {
                    force: "mass_damping",
                    index: block,
                    particles: &[block],
                    weights: &[1.0],
                    stiffness: 0.0,
                    damping: mass_factor * mass,
                });
            }
        }
    }
}

fn emit_bounds(
    element: &dyn Element,
    index: usize,
    dofs: &[u32],
    stiffness: impl Fn(usize, usize) -> f64,
    damping: impl Fn(usize, usize) -> f64,
    emit: &mut dyn FnMut(StencilBound<'_>),
) {
    let blocks = dofs.len() / 3;
    let particle = |r: usize| dofs[3 * r] as usize / 3;
    if blocks == 2 && !element.has_rotations() {
        emit(StencilBound {
            force: element.id(),
            index,
            particles: &[particle(0), particle(1)],
            weights: &[1.0, -1.0],
            stiffness: stiffness(0, 1),
            damping: damping(0, 1),
        });
        return;
    }
    for r in 0..blocks {
        emit(StencilBound {
            force: element.id(),
            index,
            particles: &[particle(r)],
            weights: &[1.0],
            stiffness: (0..blocks).map(|c| stiffness(r, c)).sum(),
            damping: (0..blocks).map(|c| damping(r, c)).sum(),
        });
    }
}
