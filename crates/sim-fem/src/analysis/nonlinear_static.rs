//! Equilibrium at finite displacements: load steps, Newton's method with line search.

use super::Stiffness;
use super::linear_static::{StaticReport, finish};
use crate::elements::MemberResult;
use crate::factor::FactorKind;
use crate::material::{ValueError, positive, tolerance};
use crate::matrix::{dot, norm};
use crate::structure::{Structure, StructureError};
use serde::{Deserialize, Serialize};

/// How to look for equilibrium.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NonlinearStaticOptions {
    /// Equal load steps, at least 1.
    pub steps: usize,
    /// Unbalanced force relative to loads and internal forces at which a step counts as solved, > 0. Where rounding of the
    /// displacement alone makes more than this (stiff members that moved far), that much is accepted; the report says what was left.
    pub relative_tolerance: f64,
    /// Newton iterations per step.
    pub max_iterations: usize,
    /// How often a step that fails is halved before the analysis gives up.
    pub max_cuts: usize,
    /// Refuse shapes whose tangent has negative eigenvalues (unstable equilibrium).
    pub require_stable: bool,
    /// Storage of the factor.
    pub factor: FactorKind,
}

impl Default for NonlinearStaticOptions {
    fn default() -> Self {
        Self {
            steps: 10,
            relative_tolerance: 1e-10,
            max_iterations: 30,
            max_cuts: 6,
            require_stable: true,
            factor: FactorKind::Auto,
        }
    }
}

impl NonlinearStaticOptions {
    /// Checks every range.
    ///
    /// # Errors
    /// [`ValueError`] naming the field.
    pub fn validate(&self) -> Result<(), ValueError> {
        tolerance("relative_tolerance", self.relative_tolerance)?;
        positive("steps", self.steps as f64)?;
        positive("max_iterations", self.max_iterations as f64)
    }
}

/// Load and start of one stage: `fixed + λ·varied` with λ from 0 to 1, supports at λ times their value when `move_supports`.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Displacement the stage starts from, one value per degree of freedom.
    pub start: Vec<f64>,
    /// Load that acts from the start, one value per degree of freedom.
    pub fixed: Vec<f64>,
    /// Load that grows with λ.
    pub varied: Vec<f64>,
    /// Whether prescribed displacements grow with λ (otherwise they hold from the start).
    pub move_supports: bool,
}

impl Stage {
    /// All loads of the structure at time 0, from the reference shape.
    #[must_use]
    pub fn new(structure: &Structure) -> Self {
        let n = structure.dof_count();
        let mut varied = vec![0.0; n];
        structure.external_force(0.0, &mut varied);
        Self { start: vec![0.0; n], fixed: vec![0.0; n], varied, move_supports: true }
    }

    /// The load groups `varied` on top of the groups `fixed`, from displacement `start`; supports stay.
    #[must_use]
    pub fn after(structure: &Structure, start: Vec<f64>, fixed: &[usize], varied: &[usize]) -> Self {
        let n = structure.dof_count();
        let mut stage = Self { start, fixed: vec![0.0; n], varied: vec![0.0; n], move_supports: false };
        structure.external_force_of(|group| fixed.contains(&group), 0.0, &mut stage.fixed);
        structure.external_force_of(|group| varied.contains(&group), 0.0, &mut stage.varied);
        stage
    }

    pub(super) fn supports(&self, structure: &Structure, factor: f64, displacement: &mut [f64]) {
        structure.apply_supports(0.0, if self.move_supports { factor } else { 1.0 }, displacement);
    }
}

/// One point of a load-displacement curve.
#[derive(Clone, Debug)]
pub struct PathPoint {
    /// Share of the varied load.
    pub load_factor: f64,
    /// Displacement, one value per degree of freedom.
    pub displacement: Vec<f64>,
    /// Negative eigenvalues of the tangent: 0 = stable.
    pub negative: usize,
    /// Newton iterations it took.
    pub iterations: usize,
}

/// Result of a non-linear static analysis.
#[derive(Clone, Debug)]
pub struct NonlinearStaticReport {
    /// Every load step, the start left out.
    pub path: Vec<PathPoint>,
    /// Reactions, member forces and energy at the full load.
    pub end: StaticReport,
    /// Steps that were halved.
    pub cuts: usize,
}

impl NonlinearStaticReport {
    /// What every member carries at the full load.
    #[must_use]
    pub fn members(&self) -> &[MemberResult] {
        &self.end.members
    }
}

/// Why no equilibrium was found.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EquilibriumError {
    /// An option is out of range.
    #[error(transparent)]
    Options(#[from] ValueError),
    /// The structure itself.
    #[error("at load factor {load_factor}")]
    Structure {
        /// Load factor tried.
        load_factor: f64,
        /// What is wrong.
        #[source]
        source: StructureError,
    },
    /// Newton's method did not get there, even with smaller steps.
    #[error(
        "no equilibrium at load factor {load_factor} after {iterations} iterations (residual {residual:.3e}, wanted {tolerance:.1e}); \
         the last equilibrium is at {reached}. Past a limit point only the arc-length method follows"
    )]
    NotConverged {
        /// Load factor tried.
        load_factor: f64,
        /// Load factor of the last equilibrium.
        reached: f64,
        /// Iterations of the last try.
        iterations: usize,
        /// Relative residual at its end.
        residual: f64,
        /// Tolerance asked for.
        tolerance: f64,
    },
    /// Equilibrium is unstable.
    #[error(
        "equilibrium at load factor {load_factor} is unstable ({negative} negative eigenvalues); the last stable one is at \
         {reached}: a limit or bifurcation point lies between"
    )]
    Unstable {
        /// Load factor.
        load_factor: f64,
        /// Negative eigenvalues of the tangent.
        negative: usize,
        /// Load factor of the last stable equilibrium.
        reached: f64,
    },
    /// The path ended before the bifurcation at which it was to be left.
    #[error(
        "bifurcation {wanted} was to be followed, but the path has {found} up to its end at load factor {load_factor}"
    )]
    BranchNotReached {
        /// Number of the bifurcation, from 1.
        wanted: usize,
        /// Bifurcations on the path.
        found: usize,
        /// Load factor at its end.
        load_factor: f64,
    },
    /// Nothing varies along the path.
    #[error("no load varies: a path needs a load on a free node that grows with the load factor")]
    NoLoad,
    /// Several modes are critical at once.
    #[error(
        "{multiplicity} modes are critical at once at load factor {load_factor}: which way to leave the path is not \
         determined; a small load in the direction wanted separates them"
    )]
    MultipleBifurcation {
        /// Load factor.
        load_factor: f64,
        /// Number of critical modes.
        multiplicity: usize,
    },
    /// No equilibrium apart from the path was found.
    #[error(
        "no path that crosses at load factor {load_factor} was found with steps aside down to {smallest_arc:.3e}"
    )]
    BranchNotFound {
        /// Load factor.
        load_factor: f64,
        /// Length of the smallest step tried, in the norm of all unknowns.
        smallest_arc: f64,
    },
}

/// Follows the structure from λ = 0 to λ = 1.
///
/// The varied load grows in equal steps, halved where Newton's method fails. The line search lowers the unbalanced work.
///
/// # Limitations
/// Loads keep their direction. Load control stops at limit points; see [`super::arc_length`]. A start in which every
/// member is slack has no tangent at all: relax it first ([`crate::form_finding::dynamic_relaxation`]) or start from a taut shape.
///
/// # Errors
/// [`EquilibriumError`]; nothing that is not in equilibrium is returned.
pub fn nonlinear_static(
    structure: &Structure,
    stage: &Stage,
    options: &NonlinearStaticOptions,
) -> Result<NonlinearStaticReport, EquilibriumError> {
    options.validate()?;
    let at = |load_factor: f64| move |source| EquilibriumError::Structure { load_factor, source };
    let mut newton = Newton::new(structure, options).map_err(at(0.0))?;
    let mut displacement = stage.start.clone();
    let (mut reached, mut cuts) = (0.0, 0);
    let mut path: Vec<PathPoint> = Vec::new();
    for step in 1..=options.steps {
        let goal = step as f64 / options.steps as f64;
        let (mut increment, mut depth) = (goal - reached, 0);
        while reached < goal {
            let target = if reached + increment >= goal * (1.0 - 1e-12) { goal } else { reached + increment };
            let mut trial = displacement.clone();
            stage.supports(structure, target, &mut trial);
            match newton.solve(structure, stage, target, &mut trial) {
                Ok(iterations) => {
                    let negative = newton.stiffness.pivots().negative;
                    if options.require_stable && negative > 0 {
                        return Err(EquilibriumError::Unstable { load_factor: target, negative, reached });
                    }
                    displacement.clone_from(&trial);
                    reached = target;
                    path.push(PathPoint { load_factor: target, displacement: trial, negative, iterations });
                }
                Err(failure) => {
                    depth += 1;
                    cuts += 1;
                    if depth > options.max_cuts {
                        return Err(failure.into_error(target, reached, options));
                    }
                    increment = 0.5 * (target - reached);
                }
            }
        }
    }
    let mut internal = vec![0.0; structure.dof_count()];
    structure.internal_force(&displacement, &mut internal).map_err(at(1.0))?;
    let external: Vec<f64> = stage.fixed.iter().zip(&stage.varied).map(|(a, b)| a + b).collect();
    let end =
        finish(structure, displacement, internal, &external, newton.stiffness.kind()).map_err(at(1.0))?;
    Ok(NonlinearStaticReport { path, end, cuts })
}

/// Newton's method at a given load, with storage that is reused.
#[derive(Debug)]
pub(super) struct Newton {
    pub(super) stiffness: Stiffness,
    internal: Vec<f64>,
    residual: Vec<f64>,
    trial: Vec<f64>,
    relative_tolerance: f64,
    max_iterations: usize,
}

/// A try that failed.
#[derive(Debug)]
pub(super) enum Failure {
    Structure(StructureError),
    Stalled { iterations: usize, residual: f64 },
}

impl Failure {
    fn into_error(
        self,
        load_factor: f64,
        reached: f64,
        options: &NonlinearStaticOptions,
    ) -> EquilibriumError {
        match self {
            Self::Structure(source) => EquilibriumError::Structure { load_factor, source },
            Self::Stalled { iterations, residual } => EquilibriumError::NotConverged {
                load_factor,
                reached,
                iterations,
                residual,
                tolerance: options.relative_tolerance,
            },
        }
    }
}

impl Newton {
    pub(super) fn new(
        structure: &Structure,
        options: &NonlinearStaticOptions,
    ) -> Result<Self, StructureError> {
        Ok(Self {
            stiffness: Stiffness::new(structure, options.factor)?,
            internal: vec![0.0; structure.dof_count()],
            residual: vec![0.0; structure.unknown_count()],
            trial: vec![0.0; structure.dof_count()],
            relative_tolerance: options.relative_tolerance,
            max_iterations: options.max_iterations,
        })
    }

    /// Unbalanced force on the unknowns (external minus internal) into `out`, and the size of what balances.
    pub(super) fn unbalanced(
        &mut self,
        structure: &Structure,
        stage: &Stage,
        load_factor: f64,
        displacement: &[f64],
        out: &mut [f64],
    ) -> Result<f64, StructureError> {
        structure.internal_force(displacement, &mut self.internal)?;
        let mut square = dot(&self.internal, &self.internal);
        for ((f, fixed), varied) in self.internal.iter_mut().zip(&stage.fixed).zip(&stage.varied) {
            let load = fixed + load_factor * varied;
            square += load * load;
            *f = load - *f;
        }
        structure.gather(&self.internal, out);
        // An infinite scale would make any residual small.
        if !square.is_finite() {
            return Err(StructureError::Overflow { what: "loads and internal forces" });
        }
        Ok(square.sqrt())
    }

    /// Iterates to equilibrium and leaves the tangent there factored. Supports are already in `displacement`.
    pub(super) fn solve(
        &mut self,
        structure: &Structure,
        stage: &Stage,
        load_factor: f64,
        displacement: &mut [f64],
    ) -> Result<usize, Failure> {
        let mut residual = std::mem::take(&mut self.residual);
        let result = self.iterate(structure, stage, load_factor, displacement, &mut residual);
        self.residual = residual;
        result
    }

    fn iterate(
        &mut self,
        structure: &Structure,
        stage: &Stage,
        load_factor: f64,
        displacement: &mut [f64],
        residual: &mut [f64],
    ) -> Result<usize, Failure> {
        let mut scale = self
            .unbalanced(structure, stage, load_factor, displacement, residual)
            .map_err(Failure::Structure)?;
        let mut direction = vec![0.0; residual.len()];
        for iteration in 0..=self.max_iterations {
            let size = norm(residual);
            let singular =
                self.stiffness.update_regularized(structure, displacement).map_err(Failure::Structure)?;
            let floor = self.stiffness.rounding_floor(structure, displacement);
            let solved = size <= (self.relative_tolerance * scale).max(floor) || size == 0.0;
            if solved {
                return Ok(iteration);
            }
            if iteration == self.max_iterations {
                return Err(self.stalled(structure, displacement, singular, iteration, size / scale));
            }
            direction.copy_from_slice(residual);
            self.stiffness.solve(&mut direction);
            let found = self
                .search(structure, stage, load_factor, displacement, &direction, residual)
                .map_err(Failure::Structure)?;
            match found {
                Some(found) => scale = found,
                None => {
                    return Err(self.stalled(structure, displacement, singular, iteration + 1, size / scale));
                }
            }
        }
        Err(Failure::Stalled { iterations: self.max_iterations, residual: norm(residual) / scale })
    }

    /// The reason for a failure: a mechanism where there is one.
    fn stalled(
        &mut self,
        structure: &Structure,
        displacement: &[f64],
        singular: bool,
        iterations: usize,
        residual: f64,
    ) -> Failure {
        if singular
            && let Err(mechanism @ StructureError::Mechanism(_)) =
                self.stiffness.update(structure, displacement)
        {
            return Failure::Structure(mechanism);
        }
        Failure::Stalled { iterations, residual }
    }

    /// Halves the step until the unbalanced work along it has dropped, or the unbalanced force has.
    fn search(
        &mut self,
        structure: &Structure,
        stage: &Stage,
        load_factor: f64,
        displacement: &mut [f64],
        direction: &[f64],
        residual: &mut [f64],
    ) -> Result<Option<f64>, StructureError> {
        let (work, size) = (dot(direction, residual), norm(residual));
        let mut fraction = 1.0;
        let mut trial = std::mem::take(&mut self.trial);
        let mut best = None;
        for _ in 0..12 {
            trial.copy_from_slice(displacement);
            for (d, &dof) in direction.iter().zip(structure.free_dofs()) {
                trial[dof as usize] += fraction * d;
            }
            match self.unbalanced(structure, stage, load_factor, &trial, residual) {
                Ok(scale) => {
                    let now = dot(direction, residual).abs();
                    if now <= 0.9 * work.abs() || norm(residual) < size {
                        best = Some(scale);
                        break;
                    }
                }
                Err(StructureError::NotFinite { .. } | StructureError::Overflow { .. }) => {}
                Err(error) => {
                    self.trial = trial;
                    return Err(error);
                }
            }
            fraction *= 0.5;
        }
        if best.is_some() {
            displacement.copy_from_slice(&trial);
        }
        self.trial = trial;
        Ok(best)
    }
}
