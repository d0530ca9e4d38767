//! From a bifurcation point onto the path that crosses there.

use super::super::mechanism::wave;
use super::super::nonlinear_static::EquilibriumError;
use super::{Crossing, Point, Side, Walk};
use crate::matrix::{dot, norm, scale};
use crate::structure::StructureError;

/// A step aside must differ from the path it leaves by this share of its length at least.
const APART: f64 = 0.05;

/// Share of the structure's extent that the first step aside moves it by, at least.
const VISIBLE: f64 = 1e-3;

impl Walk<'_> {
    /// The critical mode at a point next to where the tangent is singular, largest component 1, by inverse iteration.
    pub(super) fn critical_mode(&mut self, point: &Point) -> Result<Vec<f64>, StructureError> {
        self.newton.stiffness.update_regularized(self.structure, &point.displacement)?;
        let mut mode: Vec<f64> = (0..self.load.len()).map(wave).collect();
        // The eigenvalue is about 2⁻⁴⁰ of the others: each round gains that much.
        for _ in 0..4 {
            self.newton.stiffness.solve(&mut mode);
            let length = norm(&mode);
            scale(&mut mode, 1.0 / length);
        }
        let peak = mode.iter().fold(0.0_f64, |peak, value| peak.max(value.abs()));
        // Components that differ by rounding only do not decide the sign: the first of them does.
        let lead = mode.iter().copied().find(|value| value.abs() > peak * (1.0 - 1e-6));
        scale(&mut mode, 1.0 / lead.unwrap_or(peak));
        Ok(mode)
    }

    /// Length of the first step aside: one arc, and so much that the structure is visibly off the path it leaves. What is
    /// critical recovers with the square of that step, and must rise above rounding for its sign to mean anything.
    fn aside(&self, mode: &[f64], arc: f64) -> f64 {
        let structure = self.structure;
        let translations = 3 * structure.node_count();
        let moved = (mode.iter().zip(structure.free_dofs()))
            .filter(|&(_, &dof)| (dof as usize) < translations)
            .fold(0.0_f64, |peak, (value, _)| peak.max(value.abs()));
        // A mode of rotations alone is measured in rad.
        let wanted = if moved > 1e-9 { VISIBLE * structure.extent() / moved } else { VISIBLE };
        arc.max(wanted * norm(mode))
    }

    /// First point on the path that crosses at a bifurcation, its distance from there and the iterations it took.
    ///
    /// `along` is the direction of the path that is left.
    pub(super) fn leave(
        &mut self,
        crossing: &Crossing,
        mode: &[f64],
        along: &[f64],
        arc: f64,
    ) -> Result<(Point, f64, usize), EquilibriumError> {
        let point = &crossing.point;
        let load_factor = point.load_factor;
        if crossing.multiplicity != 1 {
            let multiplicity = crossing.multiplicity;
            return Err(EquilibriumError::MultipleBifurcation { load_factor, multiplicity });
        }
        let sign = match self.options.side {
            Side::Positive => 1.0,
            Side::Negative => -1.0,
        };
        let longest = self.aside(mode, arc);
        let mut length = longest;
        let mut step = vec![0.0; mode.len()];
        loop {
            let factor = sign * length / norm(mode);
            let predictor: Vec<f64> = mode.iter().map(|m| factor * m).collect();
            let tried = self.correct(point, &predictor, 0.0);
            let tried = tried.map_err(|source| EquilibriumError::Structure { load_factor, source })?;
            if let Ok((next, iterations)) = tried {
                self.difference(point, &next, &mut step);
                let share = dot(&step, along) / dot(along, along);
                let aside: Vec<f64> = step.iter().zip(along).map(|(s, a)| s - share * a).collect();
                if norm(&aside) > APART * norm(&step) && dot(&step, &predictor) > 0.0 {
                    return Ok((next, length, iterations));
                }
            }
            if length <= 0.01 * longest {
                return Err(EquilibriumError::BranchNotFound { load_factor, smallest_arc: length });
            }
            length *= 0.5;
        }
    }
}
