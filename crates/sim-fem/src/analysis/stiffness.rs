//! The factored tangent of a structure.

use super::mechanism;
use crate::factor::{FactorKind, Factorization, Pivots};
use crate::matrix::SymmetricMatrix;
use crate::structure::{Structure, StructureError};

/// Below this ratio of pivot to diagonal the matrix is looked at for mechanisms. A mechanism leaves about 1e-16; a sound
/// structure of a million elements seldom goes below 1e-7.
const SUSPICIOUS_PIVOT: f64 = 1e-8;

/// Below this ratio a tangent is singular to rounding.
const SINGULAR_PIVOT: f64 = 1e-13;

/// Share of the largest diagonal that makes a singular tangent regular: the step it gives is long, and cut by line search.
const REGULARIZATION: f64 = 1e-7;

/// Tangent stiffness with its factorization; storage is reused from state to state.
#[derive(Debug)]
pub struct Stiffness {
    matrix: SymmetricMatrix,
    factor: Factorization,
    pivots: Pivots,
}

impl Stiffness {
    /// Analyses the pattern; nothing is factored yet.
    ///
    /// # Errors
    /// [`StructureError::Factor`] when the pattern cannot be analysed.
    pub fn new(structure: &Structure, kind: FactorKind) -> Result<Self, StructureError> {
        let factor = Factorization::new(structure.pattern(), kind)?;
        let matrix = SymmetricMatrix::zeros(structure.pattern().clone());
        Ok(Self {
            matrix,
            factor,
            pivots: Pivots { negative: 0, smallest_ratio: f64::INFINITY, smallest_at: 0 },
        })
    }

    /// Assembles and factors the tangent in state `displacement`.
    ///
    /// # Errors
    /// [`StructureError::Mechanism`] or [`StructureError::Disconnected`] when it can move freely,
    /// [`StructureError::NotFinite`] when an element has no tangent there.
    pub fn update(&mut self, structure: &Structure, displacement: &[f64]) -> Result<(), StructureError> {
        structure.tangent(displacement, &mut self.matrix)?;
        self.pivots = match self.factor.refactor(&self.matrix) {
            Ok(pivots) if pivots.smallest_ratio > SUSPICIOUS_PIVOT => pivots,
            Ok(pivots) => {
                mechanism::check(structure, &self.matrix)?;
                pivots
            }
            Err(error) => {
                mechanism::check(structure, &self.matrix)?;
                return Err(error.into());
            }
        };
        Ok(())
    }

    /// As [`Stiffness::update`], for steps on the way to an equilibrium: a singular tangent (a limit point, a slack or a
    /// straight unstressed cable) is made regular by a small share of its largest diagonal. Returns whether it was.
    ///
    /// # Errors
    /// [`StructureError::Factor`], [`StructureError::NotFinite`], [`StructureError::NoStiffness`].
    pub fn update_regularized(
        &mut self,
        structure: &Structure,
        displacement: &[f64],
    ) -> Result<bool, StructureError> {
        structure.tangent(displacement, &mut self.matrix)?;
        match self.factor.refactor(&self.matrix) {
            Ok(pivots) if pivots.smallest_ratio > SINGULAR_PIVOT => {
                self.pivots = pivots;
                Ok(false)
            }
            _ => {
                let largest = self.matrix.diagonal().into_iter().fold(0.0_f64, |max, d| max.max(d.abs()));
                if largest == 0.0 {
                    return Err(StructureError::NoStiffness);
                }
                let pattern = self.matrix.pattern().clone();
                for j in 0..pattern.dim() {
                    self.matrix.values[pattern.column(j).start] += REGULARIZATION * largest;
                }
                self.pivots = self.factor.refactor(&self.matrix)?;
                Ok(true)
            }
        }
    }

    /// Overwrites `x`, one value per unknown, with the solution of K x = b.
    ///
    /// # Panics
    /// If the length differs from the number of unknowns.
    pub fn solve(&mut self, x: &mut [f64]) {
        self.factor.solve(x);
    }

    /// Force that rounding of the displacement alone makes: no residual can be expected below it.
    #[must_use]
    pub fn rounding_floor(&self, structure: &Structure, displacement: &[f64]) -> f64 {
        let pattern = self.matrix.pattern();
        let square: f64 = (structure.free_dofs().iter().enumerate())
            .map(|(i, &dof)| {
                (self.matrix.values[pattern.column(i).start] * displacement[dof as usize]).powi(2)
            })
            .sum();
        2.0 * f64::EPSILON * square.sqrt()
    }

    /// The assembled matrix.
    #[must_use]
    pub fn matrix(&self) -> &SymmetricMatrix {
        &self.matrix
    }

    /// Signs and sizes of the pivots of the matrix last factored.
    #[must_use]
    pub fn pivots(&self) -> Pivots {
        self.pivots
    }

    /// The storage the factor uses.
    #[must_use]
    pub fn kind(&self) -> FactorKind {
        self.factor.kind()
    }
}
