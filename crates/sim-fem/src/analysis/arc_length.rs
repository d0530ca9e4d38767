//! Equilibrium paths through limit points: the spherical arc-length method in displacement space, and the points where a
//! path turns or branches.

mod branch;

use super::nonlinear_static::{EquilibriumError, Newton, NonlinearStaticOptions, PathPoint, Stage};
use crate::factor::FactorKind;
use crate::material::{ValueError, positive, tolerance};
use crate::matrix::{dot, norm};
use crate::structure::{Structure, StructureError};
use serde::{Deserialize, Serialize};

/// How to follow a path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ArcLengthOptions {
    /// Load factor of the first step, > 0; it sets the length of the arc.
    pub first_load_factor: f64,
    /// Most steps.
    pub max_steps: usize,
    /// Stop when the size of the load factor exceeds this.
    pub max_load_factor: f64,
    /// Stop when a displacement exceeds this in size (m or rad).
    pub max_displacement: f64,
    /// Largest growth of the arc over its first length.
    pub max_growth: f64,
    /// Unbalanced force relative to loads and internal forces at which a step counts as solved.
    pub relative_tolerance: f64,
    /// Newton iterations per step.
    pub max_iterations: usize,
    /// Bifurcation point, counted from 1, at which the path is left for the one that crosses it; 0 = it is not left.
    pub branch: usize,
    /// Side on which the crossing path is followed.
    pub side: Side,
    /// Storage of the factor.
    pub factor: FactorKind,
}

/// Side of a crossing path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The largest component of the critical mode (the first of equal ones) grows.
    #[default]
    Positive,
    /// It falls.
    Negative,
}

impl Default for ArcLengthOptions {
    fn default() -> Self {
        Self {
            first_load_factor: 0.1,
            max_steps: 200,
            max_load_factor: f64::INFINITY,
            max_displacement: f64::INFINITY,
            max_growth: 4.0,
            relative_tolerance: 1e-10,
            max_iterations: 25,
            branch: 0,
            side: Side::Positive,
            factor: FactorKind::Auto,
        }
    }
}

impl ArcLengthOptions {
    /// Checks every range.
    ///
    /// # Errors
    /// [`ValueError`] naming the field.
    pub fn validate(&self) -> Result<(), ValueError> {
        positive("first_load_factor", self.first_load_factor)?;
        tolerance("relative_tolerance", self.relative_tolerance)?;
        positive("max_growth", self.max_growth)?;
        positive("max_iterations", self.max_iterations as f64)?;
        for (field, value) in
            [("max_load_factor", self.max_load_factor), ("max_displacement", self.max_displacement)]
        {
            if value.is_nan() || value <= 0.0 {
                return Err(ValueError { field, value, requirement: "positive" });
            }
        }
        Ok(())
    }
}

/// Where a path changes its character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CriticalKind {
    /// The load factor turns; the displacement goes on.
    Limit,
    /// The tangent becomes singular while the load factor goes on: another path crosses.
    Bifurcation,
}

/// A point where the tangent is singular.
#[derive(Clone, Debug)]
pub struct CriticalPoint {
    /// Limit or bifurcation.
    pub kind: CriticalKind,
    /// Load factor.
    pub load_factor: f64,
    /// Displacement, one value per degree of freedom.
    pub displacement: Vec<f64>,
    /// Motion without resistance there, one value per degree of freedom, its largest component 1.
    pub mode: Vec<f64>,
    /// Eigenvalues of the tangent that change sign there; of several modes `mode` is one.
    pub multiplicity: usize,
    /// Number of the path point before it.
    pub after: usize,
}

/// An equilibrium path.
#[derive(Clone, Debug)]
pub struct ArcLengthReport {
    /// Every step, the start left out.
    pub path: Vec<PathPoint>,
    /// Limit and bifurcation points in order.
    pub critical: Vec<CriticalPoint>,
    /// Number of the first path point on the crossing path, when one was followed; the point before it is the bifurcation.
    pub branch_start: Option<usize>,
    /// Why it ended.
    pub end: PathEnd,
}

/// Why a path ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEnd {
    /// All steps were made.
    Steps,
    /// The load factor exceeded its bound.
    LoadFactor,
    /// A displacement exceeded its bound.
    Displacement,
}

/// State of a walk along the path.
struct Walk<'a> {
    structure: &'a Structure,
    stage: &'a Stage,
    newton: Newton,
    options: ArcLengthOptions,
    /// Varied load on the unknowns.
    load: Vec<f64>,
}

/// A point with what is needed to go on.
#[derive(Clone)]
struct Point {
    load_factor: f64,
    displacement: Vec<f64>,
    /// K⁻¹ times the varied load, on the unknowns.
    rate: Vec<f64>,
    negative: usize,
}

/// Follows the equilibrium path of `fixed + λ·varied` from the start of the stage, which must be in equilibrium at λ = 0.
///
/// Arc length in the displacement of the unknowns (Crisfield, Comput. Struct. 13, 1981), with the correction held to the
/// plane normal to the predictor (Ramm 1981). The direction is the one that makes an acute angle with the last step.
/// Critical points are bracketed by a change of the number of negative eigenvalues and located by shortening the step: limit
/// points where dλ changes sign too, bifurcations where it does not. At the bifurcation asked for, the path steps aside
/// along the critical mode (Wagner & Wriggers, Eng. Comput. 5, 1988) and goes on along the path that crosses there.
///
/// # Limitations
/// Supports hold still. Two critical points closer than one arc whose changes of the count cancel are not seen. Paths that
/// cross where several modes are critical at once are not followed; a small load in the direction wanted separates them.
///
/// # Errors
/// [`EquilibriumError`] when a step fails at a hundredth of the first arc, or when the bifurcation asked for is not
/// reached, not simple, or no other path is found there.
pub fn arc_length(
    structure: &Structure,
    stage: &Stage,
    options: &ArcLengthOptions,
) -> Result<ArcLengthReport, EquilibriumError> {
    options.validate()?;
    let at = |load_factor: f64| move |source| EquilibriumError::Structure { load_factor, source };
    let newton_options = NonlinearStaticOptions {
        relative_tolerance: options.relative_tolerance,
        max_iterations: options.max_iterations,
        factor: options.factor,
        ..NonlinearStaticOptions::default()
    };
    let newton = Newton::new(structure, &newton_options).map_err(at(0.0))?;
    let mut load = vec![0.0; structure.unknown_count()];
    structure.gather(&stage.varied, &mut load);
    if norm(&load) == 0.0 {
        return Err(EquilibriumError::NoLoad);
    }
    let mut walk = Walk { structure, stage, newton, options: *options, load };
    let mut start = stage.start.clone();
    stage.supports(structure, 1.0, &mut start);
    walk.newton.stiffness.update(structure, &start).map_err(at(0.0))?;
    let mut here = walk.point(0.0, start).map_err(at(0.0))?;
    let mut first = options.first_load_factor * norm(&here.rate);
    let mut arc = first;
    let mut direction = here.rate.clone();
    let mut report =
        ArcLengthReport { path: Vec::new(), critical: Vec::new(), branch_start: None, end: PathEnd::Steps };
    let mut crossings = 0;
    while report.path.len() < options.max_steps {
        let tried = walk.step(&here, &direction, arc).map_err(at(here.load_factor))?;
        let (mut next, mut iterations) = match tried {
            Ok(found) => found,
            Err(residual) => {
                if arc <= 0.01 * first {
                    return Err(walk.stuck(&here, residual));
                }
                arc *= 0.5;
                continue;
            }
        };
        let mut step = vec![0.0; direction.len()];
        walk.difference(&here, &next, &mut step);
        let passed = walk.locate(&here, &next, &direction, arc).map_err(at(here.load_factor))?;
        for crossing in passed {
            let mode = walk.critical_mode(&crossing.point).map_err(at(crossing.point.load_factor))?;
            let bifurcation = crossing.kind == CriticalKind::Bifurcation;
            report.critical.push(CriticalPoint {
                kind: crossing.kind,
                load_factor: crossing.point.load_factor,
                displacement: crossing.point.displacement.clone(),
                mode: walk.full(&mode),
                multiplicity: crossing.multiplicity,
                after: report.path.len(),
            });
            crossings += usize::from(bifurcation);
            if bifurcation && crossings == options.branch && report.branch_start.is_none() {
                (next, arc, iterations) = walk.leave(&crossing, &mode, &step, arc)?;
                // From here on arcs are measured by this one.
                first = arc;
                // The point where the paths cross belongs to both.
                report.path.push(PathPoint {
                    load_factor: crossing.point.load_factor,
                    displacement: crossing.point.displacement.clone(),
                    negative: crossing.point.negative,
                    iterations: 0,
                });
                walk.difference(&crossing.point, &next, &mut step);
                report.branch_start = Some(report.path.len());
                break;
            }
        }
        report.path.push(PathPoint {
            load_factor: next.load_factor,
            displacement: next.displacement.clone(),
            negative: next.negative,
            iterations,
        });
        direction = step;
        here = next;
        // Four iterations are a good pace (Crisfield).
        arc = (arc * (4.0 / iterations.max(1) as f64).sqrt()).min(options.max_growth * first);
        if here.load_factor.abs() > options.max_load_factor {
            report.end = PathEnd::LoadFactor;
            break;
        }
        if here.displacement.iter().any(|u| u.abs() > options.max_displacement) {
            report.end = PathEnd::Displacement;
            break;
        }
    }
    if options.branch > 0 && report.branch_start.is_none() {
        return Err(EquilibriumError::BranchNotReached {
            wanted: options.branch,
            found: crossings,
            load_factor: here.load_factor,
        });
    }
    Ok(report)
}

/// Sign of dλ along a direction: that of its component along K⁻¹ f.
fn sense(at: &Point, direction: &[f64]) -> f64 {
    dot(&at.rate, direction).signum()
}

/// A critical point between two points of the path.
struct Crossing {
    point: Point,
    kind: CriticalKind,
    multiplicity: usize,
}

impl Walk<'_> {
    fn stuck(&self, here: &Point, residual: f64) -> EquilibriumError {
        EquilibriumError::NotConverged {
            load_factor: here.load_factor,
            reached: here.load_factor,
            iterations: self.options.max_iterations,
            residual,
            tolerance: self.options.relative_tolerance,
        }
    }

    /// Unknowns spread over all degrees of freedom.
    fn full(&self, unknowns: &[f64]) -> Vec<f64> {
        let mut full = vec![0.0; self.structure.dof_count()];
        self.structure.scatter(unknowns, &mut full);
        full
    }

    /// Completes an equilibrium whose tangent is factored.
    fn point(&mut self, load_factor: f64, displacement: Vec<f64>) -> Result<Point, StructureError> {
        self.newton.stiffness.update_regularized(self.structure, &displacement)?;
        let mut rate = self.load.clone();
        self.newton.stiffness.solve(&mut rate);
        let negative = self.newton.stiffness.pivots().negative;
        Ok(Point { load_factor, displacement, rate, negative })
    }

    fn difference(&self, from: &Point, to: &Point, out: &mut [f64]) {
        for (value, &dof) in out.iter_mut().zip(self.structure.free_dofs()) {
            *value = to.displacement[dof as usize] - from.displacement[dof as usize];
        }
    }

    /// One arc from `from`; the inner error is the residual of a step that failed.
    fn step(
        &mut self,
        from: &Point,
        direction: &[f64],
        arc: f64,
    ) -> Result<Result<(Point, usize), f64>, StructureError> {
        let length = norm(&from.rate);
        let factor = sense(from, direction) * arc / length;
        let predictor: Vec<f64> = from.rate.iter().map(|r| factor * r).collect();
        self.correct(from, &predictor, factor)
    }

    /// Corrects `from` plus a predictor back to equilibrium in the plane normal to the predictor.
    fn correct(
        &mut self,
        from: &Point,
        predictor: &[f64],
        factor: f64,
    ) -> Result<Result<(Point, usize), f64>, StructureError> {
        let mut displacement = from.displacement.clone();
        self.advance(&mut displacement, 1.0, predictor);
        let mut load_factor = from.load_factor + factor;
        let mut residual = vec![0.0; self.load.len()];
        let mut relative = f64::INFINITY;
        for iteration in 0..=self.options.max_iterations {
            let unbalanced =
                self.newton.unbalanced(self.structure, self.stage, load_factor, &displacement, &mut residual);
            let scale = match unbalanced {
                Ok(scale) => scale,
                Err(StructureError::NotFinite { .. } | StructureError::Overflow { .. }) => {
                    return Ok(Err(relative));
                }
                Err(error) => return Err(error),
            };
            let size = norm(&residual);
            relative = if size == 0.0 { 0.0 } else { size / scale };
            let floor = self.newton.stiffness.rounding_floor(self.structure, &displacement);
            if relative <= self.options.relative_tolerance || size <= floor {
                return Ok(Ok((self.point(load_factor, displacement)?, iteration)));
            }
            self.newton.stiffness.update_regularized(self.structure, &displacement)?;
            let mut correction = residual.clone();
            self.newton.stiffness.solve(&mut correction);
            let mut rate = self.load.clone();
            self.newton.stiffness.solve(&mut rate);
            let change = -dot(predictor, &correction) / dot(predictor, &rate);
            if !change.is_finite() {
                return Ok(Err(relative));
            }
            self.advance(&mut displacement, 1.0, &correction);
            self.advance(&mut displacement, change, &rate);
            load_factor += change;
        }
        Ok(Err(relative))
    }

    fn advance(&self, displacement: &mut [f64], factor: f64, unknowns: &[f64]) {
        for (value, &dof) in unknowns.iter().zip(self.structure.free_dofs()) {
            displacement[dof as usize] += factor * value;
        }
    }

    /// The critical points between `from` and `to`, one arc on: each narrowed to 2⁻⁴⁰ of the arc, from below.
    fn locate(
        &mut self,
        from: &Point,
        to: &Point,
        direction: &[f64],
        arc: f64,
    ) -> Result<Vec<Crossing>, StructureError> {
        let mut found = Vec::new();
        let mut step = vec![0.0; direction.len()];
        let (mut low, mut below) = (0.0, from.clone());
        let mut sense_below = sense(from, direction);
        self.difference(from, to, &mut step);
        let sense_end = sense(to, &step);
        while below.negative != to.negative {
            let (mut high, mut above, mut sense_above) = (arc, to.negative, sense_end);
            for _ in 0..40 {
                let middle = 0.5 * (low + high);
                let Ok((point, _)) = self.step(from, direction, middle)? else { break };
                self.difference(from, &point, &mut step);
                let sense_here = sense(&point, &step);
                if point.negative == below.negative {
                    (low, sense_below) = (middle, sense_here);
                    below = point;
                } else {
                    (high, above, sense_above) = (middle, point.negative, sense_here);
                }
            }
            let turned = sense_below != sense_above;
            let kind = if turned { CriticalKind::Limit } else { CriticalKind::Bifurcation };
            let multiplicity = above.abs_diff(below.negative);
            let next = Point { negative: above, ..below.clone() };
            found.push(Crossing { point: below, kind, multiplicity });
            (low, below, sense_below) = (high, next, sense_above);
        }
        Ok(found)
    }
}
