//! Probes that follow a state: which particles and springs they look at, and what they read there.

mod constraints;

use super::xpbd::SolverView;
use crate::model::{Layout, Model, select};
use crate::scene::check::At;
use crate::scene::document::Scene;
use crate::scene::error::SceneError;
use crate::scene::probe::{
    BeltQuantity, ColliderEntry, Component, ConvergenceEntry, EnergyEntry, PointQuantity, Probe,
    SegmentQuantity, SegmentSelection,
};
use nalgebra::Vector3;
use sim_core::{LedgerReport, ParticleSystem, State, System};
use std::ops::Range;

/// A probe with its places looked up.
pub(crate) struct Gauge {
    pub name: String,
    pub unit: &'static str,
    reading: Reading,
}

enum Reading {
    Position(Vec<usize>, Component),
    Displacement(Vec<usize>, Component, Vector3<f64>),
    Velocity(Vec<usize>, Component),
    Force(Vec<usize>, Component),
    Tension(usize),
    Strain(usize),
    MaxStrain(Range<usize>),
    Knot(Range<usize>),
    Length(Range<usize>),
    Energy(EnergyEntry),
    Momentum(Component),
    AngularMomentum(Component),
    CenterOfMass(Component),
    Collider(usize, ColliderEntry),
    Belt(BeltQuantity),
    Convergence(ConvergenceEntry),
    CableTension(usize),
}

/// All a gauge may look at.
pub(crate) struct View<'a> {
    pub system: &'a ParticleSystem,
    pub layout: &'a Layout,
    pub state: &'a State,
    pub energy: &'a LedgerReport,
    /// The solver of constraints, if that is what steps.
    pub solver: Option<&'a SolverView<'a>>,
}

/// Looks up the places of all probes that follow the state. Probes made of other probes give `None`.
///
/// # Errors
/// [`SceneError`] for particles and springs that do not exist.
pub(crate) fn gauges(scene: &Scene, model: &Model) -> Result<Vec<Option<Gauge>>, SceneError> {
    let root = At::root(&scene.source);
    let mut gauges: Vec<Option<Gauge>> = Vec::new();
    let mut units: Vec<&'static str> = Vec::new();
    for (index, probe) in scene.probes.iter().enumerate() {
        let at = root.field("probe").index(index);
        let points =
            |p: &PointQuantity| select(&p.at, model.layout.part(&p.part), &model.state.q, &at.field("at"));
        let spring = |p: &SegmentQuantity| segment(p, &model.layout, &at);
        let edges = |part: &str| {
            let range = model.layout.part(part).structural.clone();
            if range.is_empty() {
                return Err(SceneError::Reference {
                    place: at.field("part").place(),
                    value: format!("`{part}`"),
                    what: "this part has no springs".into(),
                    suggestion: None,
                });
            }
            Ok(range)
        };
        let (unit, reading) = match probe {
            Probe::Position(p) => ("m", Some(Reading::Position(points(p)?, p.component))),
            Probe::Displacement(p) => {
                let particles = points(p)?;
                let origin = mean(&model.state.q, &particles);
                ("m", Some(Reading::Displacement(particles, p.component, origin)))
            }
            Probe::Velocity(p) => ("m/s", Some(Reading::Velocity(points(p)?, p.component))),
            Probe::Force(p) => ("N", Some(Reading::Force(points(p)?, p.component))),
            Probe::Tension(p) => ("N", Some(Reading::Tension(spring(p)?))),
            Probe::Strain(p) => {
                let spring = spring(p)?;
                with_length(&model.layout, spring, &at)?;
                ("1", Some(Reading::Strain(spring)))
            }
            Probe::MaxStrain(p) => {
                let range = edges(&p.part)?;
                range.clone().try_for_each(|spring| with_length(&model.layout, spring, &at))?;
                ("1", Some(Reading::MaxStrain(range)))
            }
            Probe::Length(p) => ("m", Some(Reading::Length(edges(&p.part)?))),
            Probe::Knot(p) => ("1", Some(Reading::Knot(model.layout.part(&p.part).particles.clone()))),
            Probe::Energy(p) => match p.term {
                EnergyEntry::MaxRelativeResidual => ("1", Some(Reading::Energy(p.term))),
                _ => ("J", Some(Reading::Energy(p.term))),
            },
            Probe::Momentum(p) => ("kg·m/s", Some(Reading::Momentum(p.component))),
            Probe::AngularMomentum(p) => ("kg·m²/s", Some(Reading::AngularMomentum(p.component))),
            Probe::CenterOfMass(p) => ("m", Some(Reading::CenterOfMass(p.component))),
            Probe::Collider(p) => {
                let found = scene.colliders.iter().position(|collider| collider.id == p.collider);
                let index = found.expect("checked scenes name colliders that exist");
                (constraints::collider_unit(p.quantity), Some(Reading::Collider(index, p.quantity)))
            }
            Probe::Belt(p) => (constraints::belt_unit(p.quantity), Some(Reading::Belt(p.clone()))),
            Probe::Convergence(p) => ("1", Some(Reading::Convergence(p.quantity))),
            Probe::CableTension(p) => {
                let list = model.constrained.as_ref().and_then(|model| model.cable(&p.cable));
                ("N", Some(Reading::CableTension(list.expect("checked scenes name cables that exist"))))
            }
            Probe::Ratio(p) | Probe::Difference(p) => {
                let unit = |name: &str| {
                    scene.probes.iter().position(|q| q.name() == name).map(|i| result_unit(scene, i, &units))
                };
                let (of, to) = (unit(&p.of), unit(&p.to));
                if of != to {
                    let value = format!("`{}` in {}", p.to, to.unwrap_or("?"));
                    let requirement = format!("a probe in {}, the unit of `{}`", of.unwrap_or("?"), p.of);
                    return Err(at.field("to").refuse(value, requirement));
                }
                (if matches!(probe, Probe::Ratio(_)) { "1" } else { of.unwrap_or("1") }, None)
            }
        };
        units.push(unit);
        gauges.push(reading.map(|reading| Gauge { name: probe.name().to_owned(), unit, reading }));
    }
    Ok(gauges)
}

/// Unit of the result of probe `index`, whose series has the unit `units[index]`.
pub(crate) fn result_unit(scene: &Scene, index: usize, units: &[&'static str]) -> &'static str {
    use crate::scene::probe::{Reduction, ReductionForm};
    match scene.probes[index].reduction() {
        Some(Reduction::Form(ReductionForm::Frequency(_) | ReductionForm::PeakFrequency(_))) => "Hz",
        _ => units[index],
    }
}

fn segment(p: &SegmentQuantity, layout: &Layout, at: &At<'_>) -> Result<usize, SceneError> {
    let range = layout.part(&p.part).springs.clone();
    let structural = layout.part(&p.part).structural.clone();
    let missing = |value: String| SceneError::Reference {
        place: at.field("segment").place(),
        value,
        what: format!("part `{}` has {} springs", p.part, range.len()),
        suggestion: None,
    };
    match p.segment {
        SegmentSelection::First if !structural.is_empty() => Ok(structural.start),
        SegmentSelection::Last if !structural.is_empty() => Ok(structural.end - 1),
        SegmentSelection::Index(index) if index < range.len() => Ok(range.start + index),
        SegmentSelection::Index(index) => Err(missing(index.to_string())),
        SegmentSelection::First => Err(missing("\"first\"".into())),
        SegmentSelection::Last => Err(missing("\"last\"".into())),
    }
}

fn with_length(layout: &Layout, spring: usize, at: &At<'_>) -> Result<(), SceneError> {
    if layout.springs.get(spring).rest_length > 0.0 {
        return Ok(());
    }
    let (part, index) = layout.spring_owner(spring).expect("every spring has a part");
    Err(at
        .field("kind")
        .refuse("strain", format!("another: spring {index} of part `{}` has rest length 0", part.id)))
}

fn vector(values: &[f64], particle: usize) -> Vector3<f64> {
    Vector3::new(values[3 * particle], values[3 * particle + 1], values[3 * particle + 2])
}

fn mean(values: &[f64], particles: &[usize]) -> Vector3<f64> {
    particles.iter().map(|&i| vector(values, i)).sum::<Vector3<f64>>() / particles.len() as f64
}

fn component(v: Vector3<f64>, component: Component) -> f64 {
    match component {
        Component::X => v.x,
        Component::Y => v.y,
        Component::Z => v.z,
        Component::Norm => v.norm(),
    }
}

impl Gauge {
    /// The value now, in the gauge's unit.
    pub fn read(&self, view: &View<'_>) -> f64 {
        let (state, springs) = (view.state, &view.layout.springs);
        let strain = |spring: usize| {
            let rest = springs.get(spring).rest_length;
            (springs.length(spring, &state.q) - rest) / rest
        };
        match &self.reading {
            Reading::Position(particles, c) => component(mean(&state.q, particles), *c),
            Reading::Displacement(particles, c, origin) => component(mean(&state.q, particles) - origin, *c),
            Reading::Velocity(particles, c) => component(mean(&state.v, particles), *c),
            Reading::Force(particles, c) => {
                let mut f = vec![0.0; state.q.len()];
                view.system.force_of(state, &mut f);
                component(particles.iter().map(|&i| vector(&f, i)).sum(), *c)
            }
            Reading::Tension(spring) => {
                let solved = view.solver.and_then(|solver| solver.tension(*spring));
                solved.unwrap_or_else(|| view.layout.tension(*spring, state))
            }
            Reading::Collider(index, entry) => {
                view.solver.map_or(0.0, |solver| constraints::collider(solver, state, *index, *entry))
            }
            Reading::Belt(quantity) => {
                view.solver.map_or(0.0, |solver| constraints::belt(solver, state, quantity))
            }
            Reading::Convergence(entry) => {
                view.solver.map_or(0.0, |solver| constraints::convergence(solver, *entry))
            }
            Reading::CableTension(list) => {
                view.solver.map_or(0.0, |solver| constraints::cable_tension(solver, *list))
            }
            Reading::Strain(spring) => strain(*spring),
            Reading::MaxStrain(range) => range.clone().map(|i| strain(i).abs()).fold(0.0, f64::max),
            Reading::Knot(range) => {
                let points: Vec<[f64; 3]> =
                    range.clone().map(|i| vector(&state.q, i)).map(<[f64; 3]>::from).collect();
                sim_core::topology::open_knot_determinant(&points)
                    .map_or(0.0, |determinant| determinant as f64)
            }
            Reading::Length(range) => range.clone().map(|i| springs.length(i, &state.q)).sum(),
            Reading::Energy(entry) => energy(*entry, view.energy),
            Reading::Momentum(c) => component(momentum(view.system, state), *c),
            Reading::AngularMomentum(c) => {
                let of = |i, m| vector(&state.q, i).cross(&vector(&state.v, i)) * m;
                component(over_free(view.system, of), *c)
            }
            Reading::CenterOfMass(c) => {
                use sim_core::ExplicitSystem;
                let mass = view.system.mass();
                let sum: Vector3<f64> = mass.iter().enumerate().map(|(i, &m)| vector(&state.q, i) * m).sum();
                component(sum / view.system.total_mass(), *c)
            }
        }
    }
}

fn over_free(system: &ParticleSystem, of: impl Fn(usize, f64) -> Vector3<f64>) -> Vector3<f64> {
    use sim_core::ExplicitSystem;
    let masses = system.mass().iter().zip(system.inverse_mass()).enumerate();
    masses.filter(|(_, (_, w))| **w > 0.0).map(|(i, (&m, _))| of(i, m)).sum()
}

/// Total momentum of the free particles in kg·m/s.
pub(crate) fn momentum(system: &ParticleSystem, state: &State) -> Vector3<f64> {
    over_free(system, |i, m| vector(&state.v, i) * m)
}

fn energy(entry: EnergyEntry, report: &LedgerReport) -> f64 {
    let (now, work) = (&report.current, &report.work);
    match entry {
        EnergyEntry::Kinetic => now.kinetic,
        EnergyEntry::Elastic => now.elastic,
        EnergyEntry::Bending => now.bending,
        EnergyEntry::Gravitational => now.gravitational,
        EnergyEntry::Load => now.load,
        EnergyEntry::Potential => now.potential(),
        EnergyEntry::Total => now.total(),
        EnergyEntry::DashpotWork => work.dashpot,
        EnergyEntry::InelasticWork => work.inelastic,
        EnergyEntry::MassDampingWork => work.mass_damping,
        EnergyEntry::AirWork => work.air,
        EnergyEntry::ExternalWork => work.external,
        EnergyEntry::ReactionWork => work.reaction,
        EnergyEntry::Numerical => report.numerical,
        EnergyEntry::Drift => now.total() - report.initial.total() - work.not_conservative(),
        EnergyEntry::MaxRelativeResidual => report.max_relative_residual,
    }
}
