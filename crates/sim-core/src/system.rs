//! What a stepper and an observer may ask of a model.

use crate::energy::{Energy, Work};
use crate::state::{State, StateError};
use nalgebra::Matrix3;

/// What the force depends on besides position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dependence {
    /// The force depends explicitly on time (moving ends, gusts, timed loads).
    pub time: bool,
    /// The force depends on velocity (dashpots, drag).
    pub velocity: bool,
}

impl Dependence {
    /// Position only.
    pub const POSITION: Self = Self { time: false, velocity: false };
    /// Position and velocity.
    pub const VELOCITY: Self = Self { time: false, velocity: true };

    /// What a sum of two forces depends on.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self { time: self.time || other.time, velocity: self.velocity || other.velocity }
    }
}

/// Where a step began, for forces with a history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepStart<'a> {
    /// s.
    pub t: f64,
    /// Positions in m.
    pub q: &'a [f64],
    /// History values: [`System::internal_count`] of them.
    pub internal: &'a [f64],
}

impl<'a> StepStart<'a> {
    /// A step that begins at `state`, of a model with `count` history values.
    ///
    /// # Errors
    /// [`StateError::Length`] when the state has fewer history values.
    pub fn new(state: &'a State, count: usize) -> Result<Self, StateError> {
        let found = state.internal.len();
        let internal = state.internal.get(..count).ok_or(StateError::Length {
            field: "internal",
            expected: count,
            found,
        })?;
        Ok(Self { t: state.t, q: &state.q, internal })
    }
}

/// A state that the history of a material cannot go on from.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// A law is not known at a strain.
    #[error("{force} {index} is at the strain {strain:.6}, its law is known from {low:.6} to {high:.6} only")]
    OutOfRange {
        /// Force id.
        force: &'static str,
        /// Stencil index.
        index: usize,
        /// Strain reached.
        strain: f64,
        /// Least strain of the law.
        low: f64,
        /// Largest strain of the law.
        high: f64,
    },
}

/// What an observer may ask of a model.
///
/// All slices `q`, `v`, `f` are flat `xyzxyz…` of length `3 * particle_count`; implementations panic with both numbers
/// when a length is wrong.
pub trait System: Sync {
    /// Number of particles.
    fn particle_count(&self) -> usize;

    /// What the force depends on.
    fn dependence(&self) -> Dependence;

    /// Overwrites `f` with the force in N on each particle, pinned ones included (their value is the load on the support).
    fn force(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]);

    /// Kinetic and potential energy in J. Kinetic energy counts free particles only.
    fn energy(&self, t: f64, q: &[f64], v: &[f64]) -> Energy;

    /// Power in W that each kind of force delivers at `(t, q, v)` when the particles move with `velocity`.
    ///
    /// `velocity` is apart from `v` because a ledger asks for the work of a force at a *stage* along the mean velocity
    /// of the *step*. `reaction` is minus the power of all forces on particles that are not free.
    fn power(&self, t: f64, q: &[f64], v: &[f64], velocity: &[f64]) -> Work;

    /// Number of history values the model keeps at the front of [`crate::State::internal`].
    fn internal_count(&self) -> usize {
        0
    }

    /// Whether a step must be made through [`System::in_step`] and closed by [`System::advance_internal`]: the force depends on history,
    /// or accepted states must be checked.
    fn remembers(&self) -> bool {
        self.internal_count() > 0
    }

    /// History at the start of a run with parts at `q`; overwrites `internal`, of length
    /// [`System::internal_count`].
    fn begin_history(&self, _q: &[f64], internal: &mut [f64]) {
        internal.fill(0.0);
    }

    /// Hands `run` the model as it is within a step: forces at (t, q) are then those of parts that came there from `start` in the time
    /// t - start.t. That model does not remember: any method steps it as if there were no history. False when the model has none.
    fn in_step(&self, _start: StepStart<'_>, _run: &mut dyn FnMut(&dyn ModelSystem)) -> bool {
        false
    }

    /// History at the end of the accepted step from `start` to (t, q, v); writes all of `internal`.
    ///
    /// # Errors
    /// [`HistoryError`] naming the stencil whose law does not know the new state.
    fn advance_internal(
        &self,
        _start: StepStart<'_>,
        _end: (f64, &[f64], &[f64]),
        _internal: &mut [f64],
    ) -> Result<(), HistoryError> {
        Ok(())
    }

    /// Energy in J that materials have lost inside on the way from `start` to (t, q, v), not negative. [`System::power`] counts the power
    /// that is lost so as conservative.
    fn inelastic_loss(&self, _start: StepStart<'_>, _end: (f64, &[f64], &[f64])) -> f64 {
        0.0
    }

    /// Reports force id and index of every stencil that its history says is broken.
    fn broken(&self, _internal: &[f64], _report: &mut dyn FnMut(&'static str, usize)) {}

    /// [`System::energy`] of a whole state, history included.
    ///
    /// # Panics
    /// When the state has fewer history values than the model.
    fn energy_of(&self, state: &State) -> Energy {
        let mut energy = None;
        if self.remembers() {
            let start =
                StepStart::new(state, self.internal_count()).expect("the state has the model's history");
            self.in_step(start, &mut |now| energy = Some(now.energy(state.t, &state.q, &state.v)));
        }
        energy.unwrap_or_else(|| self.energy(state.t, &state.q, &state.v))
    }

    /// [`System::force`] of a whole state, history included.
    ///
    /// # Panics
    /// When the state has fewer history values than the model.
    fn force_of(&self, state: &State, f: &mut [f64]) {
        let mut known = false;
        if self.remembers() {
            let start =
                StepStart::new(state, self.internal_count()).expect("the state has the model's history");
            known = self.in_step(start, &mut |now| now.force(state.t, &state.q, &state.v, f));
        }
        if !known {
            self.force(state.t, &state.q, &state.v, f);
        }
    }

    /// Moves driven particles to their prescribed position and velocity at time `t`; leaves all others alone.
    fn prescribe(&self, _t: f64, _q: &mut [f64], _v: &mut [f64]) {}
}

/// A system with a diagonal mass matrix.
pub trait ExplicitSystem: System {
    /// Mass in kg per particle, pinned ones included.
    fn mass(&self) -> &[f64];

    /// 1/mass in 1/kg per particle; 0 = pinned or prescribed.
    fn inverse_mass(&self) -> &[f64];

    /// Emits, per stencil, a bound on its stiffness and damping that holds in every state the model documents
    /// (for springs: while no spring is shorter than half its rest length).
    fn stencil_bounds(&self, q: &[f64], emit: &mut dyn FnMut(StencilBound<'_>));
}

/// Upper bound on one stencil's matrices: `-S ⪯ K_e ⪯ S` with `S = stiffness * w wᵀ ⊗ I₃`, and `D_e ⪯ damping * w wᵀ ⊗ I₃`.
///
/// A spring has `particles = [a, b]`, `weights = [1, -1]`, and its own stiffness and dashpot coefficient.
#[derive(Clone, Copy, Debug)]
pub struct StencilBound<'a> {
    /// Id of the force it belongs to, e.g. `spring`.
    pub force: &'static str,
    /// Index of the stencil within that force.
    pub index: usize,
    /// Particles of the stencil.
    pub particles: &'a [usize],
    /// One weight per particle.
    pub weights: &'a [f64],
    /// N/m.
    pub stiffness: f64,
    /// N·s/m.
    pub damping: f64,
}

/// Whether stencil matrices are exact or projected to the nearest positive semidefinite ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Definiteness {
    /// The exact derivative; a compressed spring makes it indefinite.
    Exact,
    /// Negative eigenvalues of each stencil matrix set to zero, so that the sum is positive semidefinite.
    #[default]
    Projected,
    /// Positive semidefinite as well, by leaving out what may be negative: much cheaper where a projection is an eigenvalue
    /// problem, but not always above the exact matrix. Springs: as projected; hinges: the Gauss-Newton part `k ∇θ ∇θᵀ`.
    Reduced,
}

/// Receives 3×3 blocks of a symmetric matrix.
///
/// Each off-diagonal pair is given once, in either order; the sink adds the transpose at the mirrored place.
/// For the same system the sequence of places is the same at every call.
pub trait BlockSink {
    /// Adds `block` at block row `row` and block column `col` (particle indices), and its transpose at (col, row)
    /// when they differ.
    fn add(&mut self, row: usize, col: usize, block: &Matrix3<f64>);

    /// Adds the matrix `[[B, -B], [-B, B]]` of a two-particle stencil with symmetric `B`.
    fn add_pair(&mut self, a: usize, b: usize, block: &Matrix3<f64>) {
        self.add(a, a, block);
        self.add(b, b, block);
        self.add(a, b, &-block);
    }

    /// Adds many two-particle stencils: [`BlockSink::add_pair`] of `ends[k]` and `blocks[k]` (rows one after the other) for
    /// every k in order.
    ///
    /// # Panics
    /// Implementations may panic when the slices differ in length.
    fn add_pairs(&mut self, ends: &[[u32; 2]], blocks: &[[f64; 9]]) {
        assert_eq!(ends.len(), blocks.len(), "{} pairs with {} blocks", ends.len(), blocks.len());
        for (&[a, b], block) in ends.iter().zip(blocks) {
            self.add_pair(a as usize, b as usize, &Matrix3::from_row_slice(block));
        }
    }
}

/// Which matrix `damping · D + stiffness · K`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatrixRequest<'a> {
    /// Factor of D, in s for the matrix of an implicit step.
    pub damping: f64,
    /// Factor of K, in s² for the matrix of an implicit step.
    pub stiffness: f64,
    /// Whether K is exact.
    pub definiteness: Definiteness,
    /// Positions from which the stress that turns along with the parts (the geometric stiffness) is predicted to first order, instead of
    /// being taken where the matrix is: for a spring the tension `k (n(before)·d - l0)` in place of `k (l - l0)`, and that of its dashpot,
    /// which turns along too. None: the stress of K alone, where the matrix is.
    ///
    /// With the previous iterate this makes Newton's method on displacements the one on displacements and stresses as separate unknowns:
    /// a stiff spring that has been turned by a step is stretched to second order, and the huge stress of that would lock its direction
    /// in the next.
    ///
    /// Source: D. Magisano, L. Leonetti, G. Garcea, "How to improve efficiency and robustness of the Newton method in geometrically
    /// non-linear structural problem discretized via displacement-based finite elements", CMAME 313 (2017) 986-1005.
    pub before: Option<&'a [f64]>,
}

impl MatrixRequest<'_> {
    /// K as it is.
    #[must_use]
    pub fn stiffness(definiteness: Definiteness) -> Self {
        Self { damping: 0.0, stiffness: 1.0, definiteness, before: None }
    }

    /// D as it is.
    #[must_use]
    pub fn damping() -> Self {
        Self { damping: 1.0, stiffness: 0.0, definiteness: Definiteness::Projected, before: None }
    }
}

/// Passes blocks on, multiplied by a factor.
struct Scaled<'a> {
    factor: f64,
    sink: &'a mut dyn BlockSink,
}

impl BlockSink for Scaled<'_> {
    fn add(&mut self, row: usize, col: usize, block: &Matrix3<f64>) {
        self.sink.add(row, col, &(block * self.factor));
    }

    fn add_pair(&mut self, a: usize, b: usize, block: &Matrix3<f64>) {
        self.sink.add_pair(a, b, &(block * self.factor));
    }
}

/// Emits a matrix through `emit` with every block multiplied by `factor`.
pub(crate) fn scaled(factor: f64, sink: &mut dyn BlockSink, emit: impl FnOnce(&mut dyn BlockSink)) {
    emit(&mut Scaled { factor, sink });
}

/// Any closure is a sink.
impl<F: FnMut(usize, usize, &Matrix3<f64>)> BlockSink for F {
    fn add(&mut self, row: usize, col: usize, block: &Matrix3<f64>) {
        self(row, col, block);
    }
}

/// A system whose matrices leave as 3×3 blocks, `M a + D v + K q = f`.
pub trait ImplicitSystem: System {
    /// Whether particle `particle` is an unknown (neither pinned nor prescribed).
    fn is_free(&self, particle: usize) -> bool;

    /// Positions in m of the undeformed shape, all particles; they help solvers to build coarse spaces, and change no result
    /// beyond the solver's tolerance.
    fn rest_positions(&self) -> Option<&[f64]> {
        None
    }

    /// The model as a sum of forces that can be evaluated apart, when it can.
    fn as_split(&self) -> Option<&dyn SplitSystem> {
        None
    }

    /// Mass matrix M in kg.
    fn mass_matrix(&self, sink: &mut dyn BlockSink);

    /// Symmetric damping matrix D = -∂f/∂v in N·s/m (positive semidefinite for dissipative forces).
    fn damping_matrix(&self, t: f64, q: &[f64], v: &[f64], sink: &mut dyn BlockSink);

    /// Symmetric stiffness matrix K = -∂f/∂q in N/m of the forces that derive from an energy.
    fn stiffness_matrix(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        definiteness: Definiteness,
        sink: &mut dyn BlockSink,
    );

    /// The sum `request.damping D + request.stiffness K`. Its sequence of places does not depend on the request; it may be another one
    /// than those of D and of K. Systems whose stencils have both, or stresses that can be predicted, override it.
    fn weighted_matrix(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        request: MatrixRequest<'_>,
        sink: &mut dyn BlockSink,
    ) {
        scaled(request.damping, sink, |sink| self.damping_matrix(t, q, v, sink));
        scaled(request.stiffness, sink, |sink| self.stiffness_matrix(t, q, v, request.definiteness, sink));
    }

    /// The rest of -∂f/∂q: how dissipative forces change with position. Not symmetric: `emit(row, col, block)` gets every
    /// place, both halves. Zero at `v = 0` in still air. Symmetric solvers leave it out, which slows Newton but does not change
    /// the solution it converges to; a predicted
    /// matrix ([`MatrixRequest::before`]) has one part of it, the tension of dashpots across them.
    fn damping_stiffness(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        emit: &mut dyn FnMut(usize, usize, &Matrix3<f64>),
    );
}

/// Which forces of a [`SplitSystem`] to take: bit i stands for force i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForceMask(pub u64);

impl ForceMask {
    /// Whether force `index` is taken.
    pub const fn contains(self, index: usize) -> bool {
        index < 64 && self.0 >> index & 1 == 1
    }
}

/// A system that is a sum of forces, for methods that treat some implicitly and some explicitly. At most 64 forces.
pub trait SplitSystem: ImplicitSystem {
    /// Ids of the forces, in order; an id may occur more than once.
    fn force_ids(&self) -> Vec<&'static str>;

    /// What the masked forces depend on.
    fn part_dependence(&self, mask: ForceMask) -> Dependence;

    /// [`System::force`] of the masked forces.
    fn part_force(&self, mask: ForceMask, t: f64, q: &[f64], v: &[f64], f: &mut [f64]);

    /// [`ImplicitSystem::damping_matrix`] of the masked forces.
    fn part_damping_matrix(&self, mask: ForceMask, t: f64, q: &[f64], v: &[f64], sink: &mut dyn BlockSink);

    /// [`ImplicitSystem::stiffness_matrix`] of the masked forces.
    fn part_stiffness_matrix(
        &self,
        mask: ForceMask,
        t: f64,
        q: &[f64],
        v: &[f64],
        definiteness: Definiteness,
        sink: &mut dyn BlockSink,
    );

    /// [`ImplicitSystem::weighted_matrix`] of the masked forces.
    fn part_weighted_matrix(
        &self,
        mask: ForceMask,
        t: f64,
        q: &[f64],
        v: &[f64],
        request: MatrixRequest<'_>,
        sink: &mut dyn BlockSink,
    ) {
        scaled(request.damping, sink, |sink| self.part_damping_matrix(mask, t, q, v, sink));
        scaled(request.stiffness, sink, |sink| {
            self.part_stiffness_matrix(mask, t, q, v, request.definiteness, sink);
        });
    }
}

/// Everything a stepper of any kind may need, so that one boxed model serves all methods of a registry.
///
/// Implemented by every system that is both explicit and implicit.
pub trait ModelSystem: ExplicitSystem + ImplicitSystem {}

impl<S: ExplicitSystem + ImplicitSystem + ?Sized> ModelSystem for S {}
