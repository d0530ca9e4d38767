//! How far from converged a run was.

use crate::model::Constrained;
use serde::{Deserialize, Serialize};
use sim_pbd::{ContactReport, Formulation, SolveOrder, SolveReport, Worst, XpbdOptions};

/// How far from solved the constraints were at the ends of the frames.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Convergence {
    /// Order of the constraints in a sweep.
    pub order: SolveOrder,
    /// Levels (list order) or colours of a sweep.
    pub levels: usize,
    /// What compliance meant.
    pub formulation: Formulation,
    /// Sweeps per substep.
    pub iterations: u32,
    /// Relative residual up to which a frame counts as converged.
    pub tolerance: f64,
    /// Frames.
    pub frames: u64,
    /// Of these, how many did not converge.
    pub not_converged: u64,
    /// Largest residual of the run.
    pub largest: Option<LargestResidual>,
    /// Largest error |C| of a rigid constraint, in its own unit; absent when all have compliance.
    pub largest_rigid_error: Option<LargestResidual>,
    /// Root mean square of the relative residuals, largest over the frames.
    pub largest_rms: f64,
    /// Deepest penetration in m at the end of a frame.
    pub deepest_contact: f64,
    /// How often parts that overlapped were let out at the limited speed.
    pub depenetrations_limited: u64,
    /// How often a part was stopped short because constraints would have dragged it through a collider.
    pub stopped: u64,
    /// The same in a sentence.
    pub sentence: String,
}

/// One constraint at one time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LargestResidual {
    /// The constraint in words.
    pub constraint: String,
    /// Time in s.
    pub t: f64,
    /// In the unit of the constraint.
    pub value: f64,
    /// Over the scale of the constraint (a rest length, a radian).
    pub relative: f64,
}

/// Watches a run; a checkpoint holds it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Watch {
    made: u64,
    not_converged: u64,
    largest: Option<Seen>,
    rigid: Option<Seen>,
    rms: f64,
    deepest: f64,
    limited: u64,
    stopped: u64,
}

/// A constraint that was far off.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Seen {
    t: f64,
    list: usize,
    index: usize,
    value: f64,
    relative: f64,
}

impl Seen {
    fn new(t: f64, worst: &Worst) -> Self {
        Self { t, list: worst.list, index: worst.index, value: worst.value, relative: worst.relative }
    }
}

impl Watch {
    pub fn frame(&mut self, t: f64, report: &SolveReport, contact: &ContactReport) {
        self.made += 1;
        self.not_converged += u64::from(!report.converged);
        self.rms = self.rms.max(report.rms);
        self.deepest = self.deepest.max(contact.deepest);
        self.limited += contact.depenetrations_limited as u64;
        self.stopped += contact.stopped as u64;
        for (kept, found) in [(&mut self.largest, report.worst), (&mut self.rigid, report.worst_rigid)] {
            if let Some(worst) = found
                && kept.is_none_or(|kept| worst.relative > kept.relative)
            {
                *kept = Some(Seen::new(t, &worst));
            }
        }
    }

    pub fn finish(self, model: &Constrained, options: &XpbdOptions, report: &SolveReport) -> Convergence {
        let named = |found: Option<Seen>| {
            found.map(|worst| LargestResidual {
                constraint: model.name(worst.list, worst.index),
                t: worst.t,
                value: worst.value,
                relative: worst.relative,
            })
        };
        let largest = named(self.largest);
        let sentence = sentence(largest.as_ref(), self.not_converged, self.made, options);
        Convergence {
            order: report.order,
            levels: report.levels,
            formulation: options.formulation,
            iterations: options.iterations,
            tolerance: options.tolerance,
            frames: self.made,
            not_converged: self.not_converged,
            largest,
            largest_rigid_error: named(self.rigid),
            largest_rms: self.rms,
            deepest_contact: self.deepest,
            depenetrations_limited: self.limited,
            stopped: self.stopped,
            sentence,
        }
    }
}

fn sentence(
    largest: Option<&LargestResidual>,
    not_converged: u64,
    frames: u64,
    options: &XpbdOptions,
) -> String {
    let Some(largest) = largest else { return "there are no constraints to converge".to_owned() };
    let LargestResidual { constraint, t, relative, .. } = largest;
    let tolerance = options.tolerance;
    if not_converged == 0 {
        return format!(
            "converged: no constraint was farther than {relative:.1e} of its scale from its law (tolerance {tolerance:.1e})"
        );
    }
    let softer = match options.formulation {
        Formulation::Xpbd => {
            "parts act softer than described; more substeps, or `direct` for lines, bring it down"
        }
        Formulation::Pbd { .. } => "plain PBD leaves such errors by design",
    };
    format!(
        "not converged in {not_converged} of {frames} frames: at worst {constraint} was {relative:.1e} of its scale from its \
         law, at t = {t:.4} s (tolerance {tolerance:.1e}); {softer}"
    )
}
