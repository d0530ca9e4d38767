//! From elements to vectors and matrices of the structure.

use super::{Member, NONE, Structure, StructureError};
use crate::elements::{Element, LocalMatrix, MAX_DOFS, MassKind, MemberResult};
use crate::matrix::SymmetricMatrix;
use nalgebra::Vector3;

impl Structure {
    /// Internal force in N (and N·m) at every degree of freedom.
    ///
    /// # Errors
    /// [`StructureError::NotFinite`] naming the element.
    ///
    /// # Panics
    /// If a length differs from [`Structure::dof_count`].
    pub fn internal_force(&self, displacement: &[f64], force: &mut [f64]) -> Result<(), StructureError> {
        self.check_length("displacement", displacement);
        self.check_length("force", force);
        force.fill(0.0);
        for (index, member) in self.members.iter().enumerate() {
            let mut local = [0.0; MAX_DOFS];
            let (dofs, n) = self.numbering.member_dofs(member);
            let u = gathered(&dofs[..n], displacement);
            let ends = self.positions(member);
            member.element.internal_force(ends.as_slice(member), &u[..n], &mut local[..n]);
            if !local[..n].iter().sum::<f64>().is_finite() {
                let id = member.element.id();
                return Err(StructureError::NotFinite { quantity: "internal force", index, id });
            }
            for (&dof, value) in dofs[..n].iter().zip(local) {
                force[dof as usize] += value;
            }
        }
        Ok(())
    }

    /// Adds the force of dashpots (positive along the motion) to `force`.
    ///
    /// # Panics
    /// If a length differs from [`Structure::dof_count`].
    pub fn add_viscous_force(&self, displacement: &[f64], velocity: &[f64], force: &mut [f64]) {
        self.check_length("velocity", velocity);
        if !self.is_viscous {
            return;
        }
        for member in self.members.iter().filter(|member| member.element.is_viscous()) {
            let mut local = [0.0; MAX_DOFS];
            let (dofs, n) = self.numbering.member_dofs(member);
            let (u, v) = (gathered(&dofs[..n], displacement), gathered(&dofs[..n], velocity));
            let ends = self.positions(member);
            member.element.viscous_force(ends.as_slice(member), &u[..n], &v[..n], &mut local[..n]);
            for (&dof, value) in dofs[..n].iter().zip(local) {
                force[dof as usize] += value;
            }
        }
    }

    /// Whether any element has a dashpot.
    #[must_use]
    pub fn is_viscous(&self) -> bool {
        self.is_viscous
    }

    /// Stored energy in J; elements with bending and without apart.
    #[must_use]
    pub fn strain_energy(&self, displacement: &[f64]) -> [f64; 2] {
        let mut energy = [0.0; 2];
        for member in &self.members {
            let (dofs, n) = self.numbering.member_dofs(member);
            let u = gathered(&dofs[..n], displacement);
            let ends = self.positions(member);
            let bends = usize::from(member.has_rotations);
            energy[bends] += member.element.strain_energy(ends.as_slice(member), &u[..n]);
        }
        energy
    }

    /// Tangent stiffness of the unknowns in state `displacement`.
    ///
    /// # Errors
    /// [`StructureError::NotFinite`] naming the element.
    pub fn tangent(&self, displacement: &[f64], matrix: &mut SymmetricMatrix) -> Result<(), StructureError> {
        self.check_length("displacement", displacement);
        self.assemble(matrix, |member, x, dofs, local| {
            member.element.tangent(x, &gathered(dofs, displacement)[..dofs.len()], local);
        });
        if matrix.values.iter().sum::<f64>().is_finite() {
            return Ok(());
        }
        Err(self.culprit(displacement))
    }

    /// The first element whose tangent is not finite.
    fn culprit(&self, displacement: &[f64]) -> StructureError {
        let mut local = LocalMatrix::zeros(0);
        for (index, member) in self.members.iter().enumerate() {
            let (dofs, n) = self.numbering.member_dofs(member);
            let u = gathered(&dofs[..n], displacement);
            member.element.tangent(self.positions(member).as_slice(member), &u[..n], &mut local);
            let finite = (0..n).all(|i| (0..n).all(|j| local.get(i, j).is_finite()));
            if !finite {
                return StructureError::NotFinite { quantity: "tangent", index, id: member.element.id() };
            }
        }
        let (index, id) = (0, self.members[0].element.id());
        StructureError::NotFinite { quantity: "sum of tangents from here on", index, id }
    }

    /// Geometric stiffness of the unknowns from the axial forces in state `displacement`.
    pub fn geometric_stiffness(&self, displacement: &[f64], matrix: &mut SymmetricMatrix) {
        self.assemble(matrix, |member, x, dofs, local| {
            member.element.geometric_stiffness(x, &gathered(dofs, displacement)[..dofs.len()], local);
        });
    }

    /// Mass matrix of the unknowns.
    pub fn assemble_mass(&self, matrix: &mut SymmetricMatrix) {
        self.assemble(matrix, |member, x, _, local| member.element.mass_matrix(x, self.mass, local));
    }

    /// Damping matrix of the dashpots in state (`displacement`, `velocity`), without Rayleigh damping.
    pub fn dashpot_matrix(&self, displacement: &[f64], velocity: &[f64], matrix: &mut SymmetricMatrix) {
        if !self.is_viscous {
            return matrix.values.fill(0.0);
        }
        self.assemble(matrix, |member, x, dofs, local| {
            let (u, v) = (gathered(dofs, displacement), gathered(dofs, velocity));
            member.element.damping_matrix(x, &u[..dofs.len()], &v[..dofs.len()], local);
        });
    }

    /// `force += factor M a` over all degrees of freedom, supported ones included.
    pub fn add_mass_times(&self, factor: f64, acceleration: &[f64], force: &mut [f64]) {
        self.check_length("acceleration", acceleration);
        self.add_element_products(acceleration, factor, force, |member, x, _, local| {
            member.element.mass_matrix(x, self.mass, local);
        });
    }

    /// `force += factor K(state) u` over all degrees of freedom, supported ones included.
    pub fn add_tangent_times(&self, factor: f64, state: &[f64], u: &[f64], force: &mut [f64]) {
        self.check_length("displacement", u);
        self.add_element_products(u, factor, force, |member, x, dofs, local| {
            member.element.tangent(x, &gathered(dofs, state)[..dofs.len()], local);
        });
    }

    /// What every member carries.
    #[must_use]
    pub fn member_results(&self, displacement: &[f64]) -> Vec<MemberResult> {
        self.check_length("displacement", displacement);
        (0..self.members.len()).map(|member| self.member_result(member, displacement)).collect()
    }

    /// What one member carries.
    ///
    /// # Panics
    /// If the number of the member or the length is out of range.
    #[must_use]
    pub fn member_result(&self, member: usize, displacement: &[f64]) -> MemberResult {
        let member = &self.members[member];
        let (dofs, n) = self.numbering.member_dofs(member);
        let u = gathered(&dofs[..n], displacement);
        member.element.member_result(self.positions(member).as_slice(member), &u[..n])
    }

    /// Position in m of a material point of a member at `fraction` (0 to 1) of its length.
    ///
    /// # Panics
    /// If the number of the member or the length is out of range.
    #[must_use]
    pub fn member_point(&self, member: usize, displacement: &[f64], fraction: f64) -> Vector3<f64> {
        let member = &self.members[member];
        let (dofs, n) = self.numbering.member_dofs(member);
        let u = gathered(&dofs[..n], displacement);
        member.element.point(self.positions(member).as_slice(member), &u[..n], fraction)
    }

    pub(super) fn add_element_products(
        &self,
        vector: &[f64],
        factor: f64,
        out: &mut [f64],
        fill: impl Fn(&Member, &[Vector3<f64>], &[u32], &mut LocalMatrix),
    ) {
        let mut local = LocalMatrix::zeros(0);
        for member in &self.members {
            let (dofs, n) = self.numbering.member_dofs(member);
            let part = gathered(&dofs[..n], vector);
            if part[..n].iter().all(|&value| value == 0.0) {
                continue;
            }
            fill(member, self.positions(member).as_slice(member), &dofs[..n], &mut local);
            let mut product = [0.0; MAX_DOFS];
            local.multiply_add(&part[..n], &mut product[..n]);
            for (&dof, value) in dofs[..n].iter().zip(product) {
                out[dof as usize] += factor * value;
            }
        }
    }

    fn assemble(
        &self,
        matrix: &mut SymmetricMatrix,
        fill: impl Fn(&Member, &[Vector3<f64>], &[u32], &mut LocalMatrix),
    ) {
        let found = matrix.values.len();
        assert_eq!(found, self.numbering.pattern.len(), "matrix of {found} values for another structure");
        matrix.values.fill(0.0);
        let mut local = LocalMatrix::zeros(0);
        for (index, member) in self.members.iter().enumerate() {
            let (dofs, n) = self.numbering.member_dofs(member);
            fill(member, self.positions(member).as_slice(member), &dofs[..n], &mut local);
            let slots = &self.numbering.slots[self.numbering.slot_start[index] as usize..];
            let mut k = 0;
            for i in 0..n {
                for j in 0..=i {
                    let slot = slots[k];
                    k += 1;
                    if slot != NONE {
                        matrix.values[slot as usize] += local.get(i, j);
                    }
                }
            }
        }
    }

    pub(super) fn each_member(&self, mut visit: impl FnMut(&dyn Element, &[Vector3<f64>], &[u32])) {
        for member in &self.members {
            let (dofs, n) = self.numbering.member_dofs(member);
            visit(member.element.as_ref(), self.positions(member).as_slice(member), &dofs[..n]);
        }
    }

    /// Mass kind used for weight: consistent loads whatever the mass matrix is.
    pub(super) const WEIGHT: MassKind = MassKind::Consistent;

    fn check_length(&self, what: &str, vector: &[f64]) {
        let n = self.dof_count();
        assert_eq!(vector.len(), n, "{what} has {} values, the structure needs {n}", vector.len());
    }
}

#[inline]
pub(super) fn gathered(dofs: &[u32], vector: &[f64]) -> [f64; MAX_DOFS] {
    let mut local = [0.0; MAX_DOFS];
    for (value, &dof) in local.iter_mut().zip(dofs) {
        *value = vector[dof as usize];
    }
    local
}
