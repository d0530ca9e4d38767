//! How far a step was from converged.

use crate::kernel::{MainThread, Rule};
use crate::options::{Formulation, SolveOrder, XpbdOptions};
use crate::sets::Measure;
use crate::system::PbdSystem;
use serde::Serialize;

/// The constraint that is farthest off.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Worst {
    /// Constraint id.
    pub constraint: &'static str,
    /// Number of its list.
    pub list: usize,
    /// Index in the list.
    pub index: usize,
    /// Value in the unit of the constraint.
    pub value: f64,
    /// The same relative to the constraint's scale.
    pub relative: f64,
}

/// What the last step's solve looked like at its end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SolveReport {
    /// Order in which constraints were visited.
    pub order: SolveOrder,
    /// Levels or colours per sweep.
    pub levels: usize,
    /// What compliance meant.
    pub formulation: Formulation,
    /// Substeps per step.
    pub substeps: u32,
    /// Sweeps per substep.
    pub iterations: u32,
    /// Largest residual C + α λ/dt² (+ damping) of all constraints: zero when the substep is solved exactly. For plain
    /// PBD, the largest |C|.
    pub worst: Option<Worst>,
    /// Largest |C| of the rigid constraints.
    pub worst_rigid: Option<Worst>,
    /// Root mean square of the relative residuals.
    pub rms: f64,
    /// Whether every relative residual is within the tolerance.
    pub converged: bool,
}

impl SolveReport {
    pub(crate) fn new(system: &PbdSystem, options: &XpbdOptions) -> Self {
        Self {
            order: system.order(),
            levels: system.levels(),
            formulation: options.formulation,
            substeps: options.substeps,
            iterations: options.iterations,
            worst: None,
            worst_rigid: None,
            rms: 0.0,
            converged: true,
        }
    }

    pub(crate) fn measure(
        &mut self,
        system: &PbdSystem,
        main: &mut MainThread<'_>,
        rule: Rule,
        tolerance: f64,
    ) {
        (self.worst, self.worst_rigid) = (None, None);
        let (mut squares, mut count) = (0.0, 0_usize);
        for (list, set) in system.sets().iter().enumerate() {
            let sweep = main.alone(list, rule);
            let constraint = set.id();
            set.measure(&sweep, &mut |Measure { index, value, residual, scale, rigid }| {
                let residual = if rule.formulation == Formulation::Xpbd { residual } else { value };
                let found =
                    |value: f64| Worst { constraint, list, index, value, relative: value.abs() / scale };
                keep(&mut self.worst, found(residual));
                if rigid {
                    keep(&mut self.worst_rigid, found(value));
                }
                squares += (residual / scale) * (residual / scale);
                count += 1;
            });
        }
        self.rms = if count > 0 { (squares / count as f64).sqrt() } else { 0.0 };
        self.converged = self.worst.is_none_or(|worst| worst.relative <= tolerance);
    }
}

fn keep(worst: &mut Option<Worst>, found: Worst) {
    if worst.is_none_or(|worst| found.relative > worst.relative) {
        *worst = Some(found);
    }
}
