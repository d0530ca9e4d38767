//! Particles with constraints: what the solver advances.

use crate::constraint::{Bound, Constraint, ValueError};
use crate::constraints::closed_volume::ClosedVolume;
use crate::constraints::distance::Distance;
use crate::constraints::slip_ring::{ReevedCable, SlipRing};
use crate::contact::{Collider, ContactModel, ContactOptions, Features, Rotation, Skin};
use crate::options::SolveOrder;
use crate::rod::{Rod, frames};
use crate::schedule::Schedule;
use crate::sets::chain::ChainSet;
use crate::sets::distances::Distances;
use crate::sets::rods::RodSet;
use crate::sets::volumes::{ManyPoints, Wide, WideSet};
use crate::sets::{Batch, ConstraintSet};
use nalgebra::Vector3;
use sim_core::{Dependence, Energy, ExplicitSystem, ParticleSystem, State, StencilBound, System, Work};

/// A model that cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PbdError {
    /// A constraint has an impossible parameter.
    #[error("{constraint} {index} of list {set}")]
    Constraint {
        /// Constraint id.
        constraint: &'static str,
        /// Number of the list, from 0 in the order of adding.
        set: usize,
        /// Index in that list.
        index: usize,
        /// What is wrong.
        #[source]
        source: ValueError,
    },
    /// A constraint names a particle that does not exist.
    #[error("{constraint} {index} of list {set}: particle {particle} does not exist (there are {count})")]
    NoParticle {
        /// Constraint id.
        constraint: &'static str,
        /// Number of the list.
        set: usize,
        /// Index in that list.
        index: usize,
        /// Particle asked for.
        particle: u32,
        /// Number of particles.
        count: usize,
    },
    /// A constraint names a particle twice.
    #[error("{constraint} {index} of list {set}: particle {particle} is used twice")]
    SameParticle {
        /// Constraint id.
        constraint: &'static str,
        /// Number of the list.
        set: usize,
        /// Index in that list.
        index: usize,
        /// Particle used twice.
        particle: u32,
    },
    /// A rod has an impossible parameter.
    #[error("rod {index}")]
    Rod {
        /// Number of the rod.
        index: usize,
        /// What is wrong.
        #[source]
        source: ValueError,
    },
    /// A collider, a skin or the contact options have an impossible parameter.
    #[error("{what} {index}")]
    Contact {
        /// `collider`, `skin` or `contact options`.
        what: &'static str,
        /// Its number.
        index: usize,
        /// What is wrong.
        #[source]
        source: ValueError,
    },
    /// More particles than a 32-bit index can name.
    #[error("{count} particles and orientations are more than 2^32 - 1")]
    TooMany {
        /// Number found.
        count: usize,
    },
}

/// Particles under explicit forces, held together by constraints.
///
/// `System::force` and `System::power` are those of the particle system: constraint forces are no function of position (a
/// rigid constraint's is unbounded) and are read off the multipliers instead. `System::energy` includes the energy of
/// compliant constraints.
///
/// `State::internal` holds four numbers (i, j, k, w) per rod segment for its orientation, then three per segment for its
/// angular velocity in material axes (rad/s), then angle (rad) and angular velocity (rad/s) of every collider.
#[derive(Debug)]
pub struct PbdSystem {
    particles: ParticleSystem,
    sets: Vec<Box<dyn ConstraintSet>>,
    schedule: Schedule,
    inverse_inertia: Vec<[f64; 3]>,
    rods: Vec<Rod>,
    contact: ContactModel,
}

/// Collects what a [`PbdSystem`] is made of. Lists are numbered in the order of adding.
#[derive(Debug)]
pub struct PbdSystemBuilder {
    particles: ParticleSystem,
    sets: Vec<Box<dyn ConstraintSet>>,
    rods: Vec<Rod>,
    order: SolveOrder,
    contact: ContactModel,
    skins: Vec<Skin>,
    rest: Vec<Vector3<f64>>,
}

impl PbdSystemBuilder {
    /// Adds distance constraints; they are computed several at a time.
    #[must_use]
    pub fn distances(mut self, links: impl IntoIterator<Item = Bound<Distance, 2>>) -> Self {
        self.sets.push(Box::new(Distances::new(links.into_iter().collect())));
        self
    }

    /// Adds constraints of one kind.
    #[must_use]
    pub fn constraints<C, const N: usize>(mut self, items: impl IntoIterator<Item = Bound<C, N>>) -> Self
    where
        C: Constraint<N> + Clone + 'static,
    {
        self.sets.push(Box::new(Batch::new(items.into_iter().collect())));
        self
    }

    /// Adds a chain, tree or loop of distance constraints that are solved together, to convergence, whenever they are visited:
    /// alone, a substep is then one of implicit Euler, whatever the masses and the step.
    ///
    /// # Limitations
    /// With [`GradientPoint::StepStart`](crate::GradientPoint), in plain PBD and in nets with more than four loops a visit is one
    /// linear solve without what a tension T resists turning with: while the chain swings, substeps h must then keep `T h²` below about
    /// `4 m l` for the lightest particle m on a link l. Over-relaxation does not apply to solves that converge.
    #[must_use]
    pub fn chain(mut self, links: impl IntoIterator<Item = Bound<Distance, 2>>) -> Self {
        self.sets.push(Box::new(ChainSet::new(&links.into_iter().collect::<Vec<_>>())));
        self
    }

    /// Adds a closed surface whose vertex `i` is `particles[i]`; compliance in m³/Pa.
    #[must_use]
    pub fn closed_volume(self, particles: Vec<u32>, volume: ClosedVolume, compliance: f64) -> Self {
        self.wide(particles, Box::new(volume), compliance)
    }

    /// Adds a cable that runs freely through `particles` in this order, blocks more than once; compliance in m/N of the whole cable.
    #[must_use]
    pub fn cable(self, particles: &[u32], ring: SlipRing, compliance: f64) -> Self {
        let (cable, different) = ReevedCable::new(ring, particles);
        self.wide(different, Box::new(cable), compliance)
    }

    fn wide(mut self, particles: Vec<u32>, constraint: Box<dyn ManyPoints>, compliance: f64) -> Self {
        self.sets.push(Box::new(WideSet::new(vec![Wide { particles, constraint, compliance }])));
        self
    }

    /// Adds a rod; all rods together make the last two lists (segments, joints).
    #[must_use]
    pub fn rod(mut self, rod: Rod) -> Self {
        self.rods.push(rod);
        self
    }

    /// Adds a rigid body that skins touch; colliders are numbered in the order of adding.
    #[must_use]
    pub fn collider(mut self, collider: Collider) -> Self {
        self.contact.colliders.push(collider);
        self
    }

    /// Adds parts that touch colliders and, if the options say so, each other.
    #[must_use]
    pub fn skin(mut self, skin: Skin) -> Self {
        self.skins.push(skin);
        self
    }

    /// Unloaded positions (flat, m): parts of skins that are within their thickness there never touch each other.
    ///
    /// # Panics
    /// When `q` has the wrong length.
    #[must_use]
    pub fn rest_positions(mut self, q: &[f64]) -> Self {
        let count = 3 * self.particles.particle_count();
        assert_eq!(q.len(), count, "q has {} values, the system needs {count}", q.len());
        self.rest = q.chunks_exact(3).map(|x| Vector3::new(x[0], x[1], x[2])).collect();
        self
    }

    /// Chooses how contacts are treated.
    #[must_use]
    pub fn contact_options(mut self, options: ContactOptions) -> Self {
        self.contact.options = options;
        self
    }

    /// Chooses the order in which constraints are visited.
    #[must_use]
    pub fn order(mut self, order: SolveOrder) -> Self {
        self.order = order;
        self
    }

    /// Checks everything, finds levels or colours, and builds.
    ///
    /// # Errors
    /// [`PbdError`] naming the first culprit.
    pub fn build(mut self) -> Result<PbdSystem, PbdError> {
        let count = self.particles.particle_count();
        let mut inverse_inertia = Vec::new();
        let (mut segments, mut joints) = (Vec::new(), Vec::new());
        for (index, rod) in self.rods.iter().enumerate() {
            rod.validate().map_err(|source| PbdError::Rod { index, source })?;
            let (s, j) = rod.stencils(inverse_inertia.len() as u32);
            segments.extend(s);
            joints.extend(j);
            inverse_inertia.extend(rod.inverse_inertia());
        }
        let entities = count + inverse_inertia.len();
        if u32::try_from(entities).is_err() {
            return Err(PbdError::TooMany { count: entities });
        }
        if !segments.is_empty() {
            self.sets.push(Box::new(RodSet::new(segments, count as u32)));
            self.sets.push(Box::new(RodSet::new(joints, count as u32)));
        }
        for (set, constraints) in self.sets.iter().enumerate() {
            check(set, constraints.as_ref(), entities)?;
        }
        check_contact(&self.contact, &self.skins, count)?;
        self.contact.features = Features::new(&self.skins, self.rest);
        let schedule = Schedule::new(&mut self.sets, entities, self.order);
        Ok(PbdSystem {
            particles: self.particles,
            sets: self.sets,
            schedule,
            inverse_inertia,
            rods: self.rods,
            contact: self.contact,
        })
    }
}

fn check_contact(contact: &ContactModel, skins: &[Skin], count: usize) -> Result<(), PbdError> {
    let error = |what, index| move |source| PbdError::Contact { what, index, source };
    contact.options.validate().map_err(error("contact options", 0))?;
    for (index, collider) in contact.colliders.iter().enumerate() {
        collider.validate().map_err(error("collider", index))?;
    }
    for (index, skin) in skins.iter().enumerate() {
        ValueError::not_negative("radius", skin.radius).map_err(error("skin", index))?;
        let named = (skin.particles.iter())
            .chain(skin.segments.iter().flatten())
            .chain(skin.triangles.iter().flatten());
        for &particle in named {
            if particle as usize >= count {
                return Err(PbdError::NoParticle {
                    constraint: "skin",
                    set: index,
                    index: 0,
                    particle,
                    count,
                });
            }
        }
    }
    Ok(())
}

fn check(set: usize, constraints: &dyn ConstraintSet, entities: usize) -> Result<(), PbdError> {
    let constraint = constraints.id();
    constraints.validate().map_err(|(index, source)| PbdError::Constraint {
        constraint,
        set,
        index,
        source,
    })?;
    let whole = constraints.units() < constraints.len();
    let mut seen = Vec::new();
    for index in 0..constraints.units() {
        seen.clear();
        let mut missing = None;
        constraints.entities(index, &mut |e| {
            if e as usize >= entities {
                missing = missing.or(Some(e));
            }
            seen.push(e);
        });
        if let Some(particle) = missing {
            return Err(PbdError::NoParticle { constraint, set, index, particle, count: entities });
        }
        if whole {
            // A chain lists its particles link by link: only the two of one link must differ.
            if let Some(link) = seen.chunks_exact(2).position(|pair| pair[0] == pair[1]) {
                let particle = seen[2 * link];
                return Err(PbdError::SameParticle { constraint, set, index: link, particle });
            }
            continue;
        }
        seen.sort_unstable();
        if let Some(pair) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(PbdError::SameParticle { constraint, set, index, particle: pair[0] });
        }
    }
    Ok(())
}

impl PbdSystem {
    /// Starts from particles, pins, drives and explicit forces.
    pub fn builder(particles: ParticleSystem) -> PbdSystemBuilder {
        PbdSystemBuilder {
            particles,
            sets: Vec::new(),
            rods: Vec::new(),
            order: SolveOrder::default(),
            contact: ContactModel::default(),
            skins: Vec::new(),
            rest: Vec::new(),
        }
    }

    /// The particles and their explicit forces.
    pub fn particles(&self) -> &ParticleSystem {
        &self.particles
    }

    /// The order in which constraints are visited.
    pub fn order(&self) -> SolveOrder {
        self.schedule.order()
    }

    /// Levels or colours in one sweep.
    pub fn levels(&self) -> usize {
        self.schedule.levels().count()
    }

    /// Id and number of constraints of every list.
    pub fn lists(&self) -> impl Iterator<Item = (&'static str, usize)> + '_ {
        self.sets.iter().map(|set| (set.id(), set.len()))
    }

    /// A state at rest at `q` (flat, m), with rods untwisted along it.
    ///
    /// # Panics
    /// When `q` has the wrong length.
    pub fn state_at_rest(&self, q: Vec<f64>) -> State {
        let count = 3 * self.particles.particle_count();
        assert_eq!(q.len(), count, "q has {} values, the system needs {count}", q.len());
        let mut state = State::at_rest(q);
        for rod in &self.rods {
            let points: Vec<Vector3<f64>> =
                rod.particles.iter().map(|&p| crate::sets::point(&state.q, p)).collect();
            for frame in frames(&points) {
                state.internal.extend([frame.i, frame.j, frame.k, frame.w]);
            }
        }
        state.internal.resize(7 * self.inverse_inertia.len(), 0.0);
        for collider in &self.contact.colliders {
            let speed = if let Rotation::Speed { angular_velocity, .. } = collider.rotation {
                angular_velocity
            } else {
                0.0
            };
            state.internal.extend([0.0, speed]);
        }
        state
    }

    /// Number of values in `State::internal`.
    pub fn internal_len(&self) -> usize {
        7 * self.inverse_inertia.len() + 2 * self.contact.colliders.len()
    }

    /// Where in `State::internal` the angle (rad) and, after it, the angular velocity (rad/s) of a collider stand.
    pub fn collider_internal(&self, collider: usize) -> usize {
        7 * self.inverse_inertia.len() + 2 * collider
    }

    pub(crate) fn contact(&self) -> &ContactModel {
        &self.contact
    }

    pub(crate) fn sets(&self) -> &[Box<dyn ConstraintSet>] {
        &self.sets
    }

    pub(crate) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    pub(crate) fn inverse_inertia(&self) -> &[[f64; 3]] {
        &self.inverse_inertia
    }

    /// Energy in J of a whole state, orientations of rods included. `System::energy` sees positions and velocities only and
    /// leaves rods out.
    pub fn state_energy(&self, state: &State) -> Energy {
        let mut energy = self.particles.energy(state.t, &state.q, &state.v);
        for set in &self.sets {
            let (term, value) = set.energy(state.t, &state.q, &state.internal);
            energy.add(term, value);
        }
        let segments = self.inverse_inertia.len();
        for (k, inverse) in self.inverse_inertia.iter().enumerate() {
            for (speed, &inverse) in state.internal[4 * segments + 3 * k..].iter().zip(inverse) {
                if inverse > 0.0 {
                    energy.kinetic += 0.5 * speed * speed / inverse;
                }
            }
        }
        energy
    }
}

impl System for PbdSystem {
    fn particle_count(&self) -> usize {
        self.particles.particle_count()
    }

    fn dependence(&self) -> Dependence {
        self.particles.dependence()
    }

    fn force(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        self.particles.force(t, q, v, f);
    }

    fn energy(&self, t: f64, q: &[f64], v: &[f64]) -> Energy {
        let mut energy = self.particles.energy(t, q, v);
        let without_rods = self.sets.len() - if self.rods.is_empty() { 0 } else { 2 };
        for set in &self.sets[..without_rods] {
            let (term, value) = set.energy(t, q, &[]);
            energy.add(term, value);
        }
        energy
    }

    fn power(&self, t: f64, q: &[f64], v: &[f64], velocity: &[f64]) -> Work {
        self.particles.power(t, q, v, velocity)
    }

    fn prescribe(&self, t: f64, q: &mut [f64], v: &mut [f64]) {
        self.particles.prescribe(t, q, v);
    }
}

impl ExplicitSystem for PbdSystem {
    fn mass(&self) -> &[f64] {
        self.particles.mass()
    }

    fn inverse_mass(&self) -> &[f64] {
        self.particles.inverse_mass()
    }

    fn stencil_bounds(&self, q: &[f64], emit: &mut dyn FnMut(StencilBound<'_>)) {
        self.particles.stencil_bounds(q, emit);
    }
}
