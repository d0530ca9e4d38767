//! Solving contacts within a substep.

use super::collider::ColliderState;
use super::detect::{Contact, Features, Partner, Search, Ways};
use super::safe;
use super::{Collider, ContactForce, ContactOptions, ContactReport};
use crate::kernel::Sweep;
use nalgebra::Vector3;

/// A surface met at less than this cosine from where it was met first is another face: the first plane then counts.
const SAME_FACE: f64 = 0.7;
/// Depth over the thickness from which a contact that was found may not hold.
const DEEP: f64 = 0.5;
/// Sweeps over contacts alone after a repeated search.
const EXTRA_SWEEPS: usize = 8;

/// What can touch, and how.
#[derive(Debug, Default)]
pub(crate) struct ContactModel {
    pub colliders: Vec<Collider>,
    pub features: Features,
    pub options: ContactOptions,
}

/// Contacts of the current substep.
#[derive(Debug, Default)]
pub(crate) struct ContactWork {
    contacts: Vec<Contact>,
    states: Vec<ColliderState>,
    search: Search,
    predicted: Vec<Vector3<f64>>,
    velocity_start: Vec<f64>,
    report: ContactReport,
}

impl ContactWork {
    pub(crate) fn new(model: &ContactModel) -> Self {
        let states = model.colliders.iter().map(|collider| ColliderState::new(collider, 0.0)).collect();
        Self { states, ..Self::default() }
    }

    pub(crate) fn report(&self) -> &ContactReport {
        &self.report
    }

    /// Takes angles and angular velocities from the state and starts a new report.
    pub(crate) fn load(&mut self, internal: &[f64]) {
        for (state, values) in self.states.iter_mut().zip(internal.chunks_exact(2)) {
            (state.angle, state.angular_velocity) = (values[0], values[1]);
        }
        self.contacts.clear();
        self.report.depenetrations_limited = 0;
        self.report.repeated_searches = 0;
        self.report.stopped = 0;
    }

    pub(crate) fn store(&self, internal: &mut [f64]) {
        for (state, values) in self.states.iter().zip(internal.chunks_exact_mut(2)) {
            (values[0], values[1]) = (state.angle, state.angular_velocity);
        }
    }

    /// Values that became NaN or infinite.
    pub(crate) fn not_finite(&self) -> Option<(usize, f64)> {
        let value = |state: &ColliderState| state.angle + state.angular_velocity;
        let index = self.states.iter().position(|state| !value(state).is_finite())?;
        Some((index, value(&self.states[index])))
    }

    /// Remembers velocities before forces act: bounces are judged by them.
    pub(crate) fn remember(&mut self, model: &ContactModel, v: &[f64]) {
        if model.features.list.is_empty() {
            return;
        }
        self.velocity_start.clear();
        self.velocity_start.extend_from_slice(v);
    }

    /// Moves colliders and finds contacts on the way from the start to the predicted positions.
    pub(crate) fn begin(&mut self, model: &ContactModel, sweep: &Sweep<'_>, t0: f64) {
        for (state, collider) in self.states.iter_mut().zip(&model.colliders) {
            state.predict(collider, t0, sweep.rule.t);
        }
        self.contacts.clear();
        self.find(model, sweep);
        self.predicted.clear();
        self.predicted.extend(model.features.list.iter().map(|f| sweep.position(f.particles[0])));
        self.report.depenetrations_limited += self.contacts.iter().filter(|c| c.limited).count();
    }

    fn find(&mut self, model: &ContactModel, sweep: &Sweep<'_>) {
        let ways =
            Ways { start: &|p| sweep.start_position(p), end: &|p| sweep.position(p), dt: sweep.rule.dt };
        self.search.run(
            &model.features,
            &model.colliders,
            &self.states,
            &model.options,
            &ways,
            &mut self.contacts,
        );
    }

    /// One pass over all contacts, normal part first.
    pub(crate) fn solve(&mut self, model: &ContactModel, sweep: &Sweep<'_>) {
        for (state, collider) in self.states.iter_mut().zip(&model.colliders) {
            if state.inverse_inertia > 0.0 {
                state.end = collider.pose(sweep.rule.t, state.angle);
            }
        }
        for contact in &mut self.contacts {
            solve_one(contact, &model.colliders, &mut self.states, sweep);
        }
    }

    /// Looks again when constraints moved parts farther than the margin that was searched, and stops what would get through all the
    /// same.
    pub(crate) fn check(&mut self, model: &ContactModel, sweep: &Sweep<'_>) {
        let strayed = model.features.list.iter().zip(&self.predicted).any(|(feature, predicted)| {
            let margin = model.options.margin.unwrap_or(feature.radius);
            (sweep.position(feature.particles[0]) - predicted).norm() > margin
        });
        if strayed {
            self.report.repeated_searches += 1;
            self.find(model, sweep);
            for _ in 0..EXTRA_SWEEPS {
                self.solve(model, sweep);
            }
        }
        let deep = self.contacts.iter().any(|contact| {
            matches!(contact.key.1, Partner::Collider { .. })
                && gap(contact, &model.colliders, &self.states, sweep).0 < -DEEP * contact.thickness
        });
        if strayed || deep {
            self.report.stopped += safe::stop(&model.features, &model.colliders, &self.states, sweep);
        }
    }

    /// Bounces, collider speeds, and the report of this substep. `v` holds the velocities from the way that was made.
    pub(crate) fn finish(&mut self, model: &ContactModel, sweep: &Sweep<'_>, v: &mut [f64]) {
        let dt = sweep.rule.dt;
        for state in &mut self.states {
            state.finish(dt);
        }
        for contact in &self.contacts {
            if contact.normal_multiplier > 0.0 && contact.restitution > 0.0 {
                bounce(contact, &self.states, sweep, &self.velocity_start, v, model.options.bounce_speed);
            }
        }
        let report = &mut self.report;
        report.prepared = self.contacts.len();
        report.active = self.contacts.iter().filter(|c| c.normal_multiplier > 0.0).count();
        report.sliding = self.contacts.iter().filter(|c| c.normal_multiplier > 0.0 && c.sliding).count();
        report.on_colliders.clear();
        report.on_colliders.resize(model.colliders.len(), ([0.0; 3], 0.0));
        report.deepest = 0.0;
        for contact in &self.contacts {
            let (gap, ..) = gap(contact, &model.colliders, &self.states, sweep);
            report.deepest = report.deepest.max(-gap);
            if let Partner::Collider { collider, .. } = contact.key.1 {
                let (force, moment) = &mut report.on_colliders[collider as usize];
                let state = &self.states[collider as usize];
                let push = -(contact.last_normal * contact.normal_multiplier + contact.tangential_multiplier)
                    / (dt * dt);
                let r = contact.point(&|p| sweep.position(p))
                    - contact.last_normal * contact.thickness
                    - state.end.origin;
                for k in 0..3 {
                    force[k] += push[k];
                }
                *moment += state.axis.dot(&r.cross(&push));
            }
        }
    }

    /// Contacts that carried a load in the last substep.
    pub(crate) fn forces(&self, dt: f64) -> impl Iterator<Item = ContactForce> + '_ {
        self.contacts.iter().filter(|c| c.normal_multiplier > 0.0).map(move |contact| ContactForce {
            collider: match contact.key.1 {
                Partner::Collider { collider, .. } => Some(collider as usize),
                Partner::Skin { .. } => None,
            },
            particle: contact.particles
                [usize::from(contact.count > 1 && contact.weights[1] > contact.weights[0])],
            normal_force: contact.normal_multiplier / (dt * dt),
            normal: contact.last_normal.into(),
            friction: (contact.tangential_multiplier / (dt * dt)).into(),
            sliding: contact.sliding,
        })
    }
}

/// Gap, normal in space, and the touching point relative to the collider's origin.
fn gap(
    contact: &Contact,
    colliders: &[Collider],
    states: &[ColliderState],
    sweep: &Sweep<'_>,
) -> (f64, Vector3<f64>, Vector3<f64>) {
    let p = contact.point(&|p| sweep.position(p));
    match contact.key.1 {
        Partner::Skin { .. } => (contact.normal.dot(&p) - contact.thickness, contact.normal, p),
        Partner::Collider { collider, piece } => {
            let state = &states[collider as usize];
            let placed = &colliders[collider as usize].pieces[piece as usize];
            let local = state.end.into_local(p);
            let surface = placed.shape.surface(local - Vector3::from(placed.offset));
            let (distance, normal) = if surface.normal.dot(&contact.normal) >= SAME_FACE {
                (surface.distance, surface.normal)
            } else {
                (contact.normal.dot(&local) - contact.offset, contact.normal)
            };
            let normal = state.end.orientation * normal;
            (distance - contact.thickness, normal, p - normal * distance - state.end.origin)
        }
    }
}

/// 1/kg along a direction is the same for all: Σ w b².
fn mobility(contact: &Contact, sweep: &Sweep<'_>) -> f64 {
    (0..contact.count)
        .map(|i| sweep.inverse_mass(contact.particles[i]) * contact.weights[i] * contact.weights[i])
        .sum()
}

fn push(contact: &Contact, sweep: &Sweep<'_>, by: Vector3<f64>) {
    for i in 0..contact.count {
        let weight = sweep.inverse_mass(contact.particles[i]) * contact.weights[i];
        sweep.shift(contact.particles[i], by * weight);
    }
}

fn solve_one(contact: &mut Contact, colliders: &[Collider], states: &mut [ColliderState], sweep: &Sweep<'_>) {
    let (gap, normal, arm) = gap(contact, colliders, states, sweep);
    if gap >= contact.target && contact.normal_multiplier == 0.0 {
        return;
    }
    contact.last_normal = normal;
    let linear = mobility(contact, sweep);
    let state = match contact.key.1 {
        Partner::Collider { collider, .. } => Some(&mut states[collider as usize]),
        Partner::Skin { .. } => None,
    };
    // Velocity of the touching point per angular velocity.
    let (lever, inertia) =
        state.as_ref().map_or((Vector3::zeros(), 0.0), |s| (s.axis.cross(&arm), s.inverse_inertia));
    let along = lever.dot(&normal);
    let normal_mobility = linear + inertia * along * along;
    if normal_mobility <= 0.0 {
        return;
    }
    let before = contact.normal_multiplier;
    contact.normal_multiplier = (before - (gap - contact.target) / normal_mobility).max(0.0);
    let mut impulse = normal * (contact.normal_multiplier - before);
    push(contact, sweep, impulse);
    let mut turned = -inertia * lever.dot(&impulse);

    let friction = contact.friction;
    if friction.static_coefficient > 0.0 || contact.tangential_multiplier != Vector3::zeros() {
        let now = contact.point(&|p| sweep.position(p));
        let start = contact.point(&|p| sweep.start_position(p));
        let mut way = now - start;
        if let Some(state) = &state {
            // The surface point under the contact, not its center, moves along.
            let mut moved = **state;
            moved.angle += turned;
            way -= moved.displacement(moved.end.origin + arm);
        }
        let slip = way - normal * normal.dot(&way);
        let sideways = lever - normal * along;
        let tangential_mobility = linear + inertia * sideways.norm_squared();
        let old = contact.tangential_multiplier;
        let old_flat = old - normal * normal.dot(&old);
        let trial = old_flat - slip / tangential_mobility;
        let size = trial.norm();
        let limit = friction.static_coefficient * contact.normal_multiplier;
        contact.sliding = size > limit;
        contact.tangential_multiplier = if contact.sliding {
            trial * (friction.kinetic_coefficient * contact.normal_multiplier / size)
        } else {
            trial
        };
        impulse = contact.tangential_multiplier - old;
        push(contact, sweep, impulse);
        turned -= inertia * lever.dot(&impulse);
    }
    if let Some(state) = state {
        state.angle += turned;
    }
}

fn bounce(
    contact: &Contact,
    states: &[ColliderState],
    sweep: &Sweep<'_>,
    before: &[f64],
    v: &mut [f64],
    bounce_speed: f64,
) {
    let normal = contact.last_normal;
    let velocity = |v: &[f64]| contact.point(&|p| crate::sets::point(v, p));
    let (mut approach, mut now) = (normal.dot(&velocity(before)), normal.dot(&velocity(v)));
    if let Partner::Collider { collider, .. } = contact.key.1 {
        let state = &states[collider as usize];
        let p = contact.point(&|p| sweep.position(p));
        let surface = normal.dot(&state.displacement(p)) / sweep.rule.dt;
        approach -= surface;
        now -= surface;
    }
    if approach >= -bounce_speed {
        return;
    }
    let change = -contact.restitution * approach - now;
    let linear = mobility(contact, sweep);
    if change > 0.0 && linear > 0.0 {
        for i in 0..contact.count {
            let particle = contact.particles[i];
            let weight = sweep.inverse_mass(particle) * contact.weights[i] / linear;
            for k in 0..3 {
                v[3 * particle as usize + k] += weight * change * normal[k];
            }
        }
    }
}
