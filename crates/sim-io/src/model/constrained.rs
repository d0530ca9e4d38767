//! Parts as constraints: every spring becomes a distance of the same stiffness, every bending hinge an angle, so that a scene
//! describes the same physical parts whatever solves it.

use super::lay::{Bending, Laid};
use super::{Layout, collide, select, with_sources};
use crate::run::xpbd::MethodOptions;
use crate::scene::check::At;
use crate::scene::document::Scene;
use crate::scene::error::SceneError;
use crate::scene::part::{Belt, Part, PulleyDrive};
use nalgebra::Vector3;
use sim_core::force::cloth_hinge::ClothHinge;
use sim_core::force::rope_hinge::{RestShape, RopeHinge};
use sim_core::{ParticleSystem, State};
use sim_pbd::constraints::distance::Distance;
use sim_pbd::constraints::hinge_bending::HingeBending;
use sim_pbd::constraints::rope_bending::RopeBending;
use sim_pbd::constraints::slip_ring::SlipRing;
use sim_pbd::{BeltDrive, BeltModel, Bound, Formulation, Friction, PbdSystem, PbdSystemBuilder, XpbdOptions};
use std::ops::Range;

/// What the solver advances.
#[derive(Debug)]
pub(crate) enum Body {
    /// Any parts.
    Parts(Box<PbdSystem>),
    /// A belt on its pulleys.
    Belt(Box<BeltModel>),
}

/// A list of constraints: whose it is, and which springs it stands for.
#[derive(Clone, Debug)]
pub(crate) struct List {
    /// Part or cable.
    pub owner: String,
    /// `spring`, `bending hinge` or `cable`.
    pub what: &'static str,
    /// Its springs in the order of the layout; empty for others.
    pub springs: Range<usize>,
}

/// A scene that constraints hold together.
#[derive(Debug)]
pub struct Constrained {
    pub(crate) body: Body,
    /// Options of the solver; the run sets the substeps.
    pub(crate) options: XpbdOptions,
    pub(crate) lists: Vec<List>,
    /// Particles that each cable passes, in order.
    pub(crate) cables: Vec<Vec<u32>>,
}

impl Constrained {
    /// The model of the solver.
    pub fn system(&self) -> &PbdSystem {
        match &self.body {
            Body::Parts(system) => system,
            Body::Belt(model) => model.system(),
        }
    }

    /// List and index of a spring of the layout.
    pub(crate) fn spring(&self, spring: usize) -> Option<(usize, usize)> {
        let list = self.lists.iter().position(|list| list.springs.contains(&spring))?;
        Some((list, spring - self.lists[list].springs.start))
    }

    /// List of a cable.
    pub(crate) fn cable(&self, id: &str) -> Option<usize> {
        self.lists.iter().position(|list| list.what == "cable" && list.owner == id)
    }

    /// A constraint in words.
    pub(crate) fn name(&self, list: usize, index: usize) -> String {
        match self.lists.get(list) {
            Some(List { owner, what: "cable", .. }) => format!("cable {owner}"),
            Some(List { owner, what, .. }) => format!("{what} {index} of part {owner}"),
            None => format!("constraint {index} of list {list}"),
        }
    }
}

fn refusal(at: &At<'_>) -> impl Fn(&dyn std::error::Error) -> SceneError {
    let place = at.place();
    move |error| SceneError::Model { place: place.clone(), message: with_sources(error) }
}

/// Builds the constraints of a scene over `particles`, which carry the explicit forces only. Returns the part of the state that
/// belongs to rigid bodies, or the whole state of a belt drive.
pub(super) fn build(
    scene: &Scene,
    root: &At<'_>,
    (layout, laid): (&Layout, &[Laid]),
    q: &[f64],
    particles: ParticleSystem,
    method: &MethodOptions,
) -> Result<(Constrained, State), SceneError> {
    let drive = scene.parts.iter().position(|part| matches!(part, Part::Belt(belt) if belt.is_drive()));
    if let (Some(index), Part::Belt(belt)) = (drive, &scene.parts[drive.unwrap_or(0)]) {
        let at = root.field("part").index(index);
        return belt_drive(belt, layout, &laid[index], method, &at);
    }
    let rigid = method.formulation != Formulation::Xpbd;
    let direct = method.solves_lines(scene);
    let mut builder = PbdSystem::builder(particles).order(method.order).rest_positions(q);
    let mut lists = Vec::new();
    for (index, (part, laid)) in layout.parts.iter().zip(laid).enumerate() {
        let at = root.field("part").index(index);
        builder = springs(builder, layout, index, (direct, rigid), &mut lists, &at)?;
        builder = bending(builder, laid, part.particles.start as u32, &part.id, &mut lists);
        if rigid && !matches!(laid.bending, Bending::None) {
            let value = "plain PBD";
            return Err(at
                .field("bending_stiffness")
                .refuse(value, "0: plain PBD has no physical stiffness"));
        }
    }
    let mut cables = Vec::new();
    for (index, cable) in scene.cables.iter().enumerate() {
        let at = root.field("cable").index(index);
        let mut through = Vec::new();
        for (k, point) in cable.through.iter().enumerate() {
            let at = at.field("through").index(k);
            let found = select::particles(&point.at, layout.part(&point.part), q, &at.field("at"))?;
            let [one] = found[..] else {
                return Err(at.field("at").refuse(format!("{} particles", found.len()), "one particle"));
            };
            through.push(one);
        }
        let x = |i: usize| Vector3::new(q[3 * i], q[3 * i + 1], q[3 * i + 2]);
        let path: f64 = through.windows(2).map(|pair| (x(pair[1]) - x(pair[0])).norm()).sum();
        let length = cable.length.unwrap_or(path);
        let points: Vec<u32> = through.iter().map(|&i| i as u32).collect();
        let compliance = if rigid { 0.0 } else { length / cable.axial_stiffness };
        builder = builder.cable(&points, SlipRing { length }, compliance);
        lists.push(List { owner: cable.id.clone(), what: "cable", springs: 0..0 });
        cables.push(points);
    }
    builder = collide::add(scene, root, layout, laid, builder)?;
    let system = builder.build().map_err(|error| refusal(root)(&error))?;
    let state = system.state_at_rest(q.to_vec());
    let options = method.solver();
    Ok((Constrained { body: Body::Parts(Box::new(system)), options, lists, cables }, state))
}

/// The springs of a part: along a line solved together if `direct`, others by sweeps.
fn springs(
    mut builder: PbdSystemBuilder,
    layout: &Layout,
    part: usize,
    (direct, rigid): (bool, bool),
    lists: &mut Vec<List>,
    at: &At<'_>,
) -> Result<PbdSystemBuilder, SceneError> {
    let place = &layout.parts[part];
    if place.springs.is_empty() {
        return Ok(builder);
    }
    let mut bounds = Vec::with_capacity(place.springs.len());
    for index in place.springs.clone() {
        let spring = layout.springs.get(index);
        let local = index - place.springs.start;
        if layout.has_law(index) {
            return Err(at.field("law").refuse(
                format!("a law of spring {local}"),
                "left out with the method `xpbd`, whose constraints are linear; a method of springs takes it",
            ));
        }
        let single = || {
            if place.kind == "particles" { at.field("springs").index(local) } else { at.field("kind") }
        };
        if spring.stiffness <= 0.0 {
            return Err(single().field("stiffness").refuse(spring.stiffness, "greater than 0 with `xpbd`"));
        }
        if rigid && spring.damping > 0.0 {
            return Err(single().refuse(
                format!("a damping of {} N·s/m", spring.damping),
                "no damping: plain PBD has no physical damping",
            ));
        }
        let (compliance, damping) = if rigid { (0.0, 0.0) } else { (1.0 / spring.stiffness, spring.damping) };
        let constraint = Distance { rest_length: spring.rest_length };
        bounds.push(Bound { particles: spring.ends, constraint, compliance, damping });
    }
    let line = matches!(place.kind, "rope" | "belt" | "coil");
    builder = if direct && line { builder.chain(bounds) } else { builder.distances(bounds) };
    lists.push(List { owner: place.id.clone(), what: "spring", springs: place.springs.clone() });
    Ok(builder)
}

fn bending(
    builder: PbdSystemBuilder,
    laid: &Laid,
    first: u32,
    id: &str,
    lists: &mut Vec<List>,
) -> PbdSystemBuilder {
    let mut list = || lists.push(List { owner: id.to_owned(), what: "bending hinge", springs: 0..0 });
    match laid.bending {
        Bending::Line(stiffness) => {
            list();
            let hinges = RopeHinge::along(&laid.topology, stiffness, RestShape::Flat);
            builder.constraints(hinges.iter().map(|(ends, law)| {
                Bound::compliant(ends.map(|i| i + first), RopeBending, 1.0 / law.stiffness)
            }))
        }
        Bending::Surface(stiffness) => {
            list();
            let hinges = ClothHinge::over(&laid.topology, stiffness, RestShape::Geometry);
            builder.constraints(hinges.iter().map(|(ends, law)| {
                let x = ends.map(|i| laid.topology.position(i));
                let hinge = HingeBending { rest_angle: HingeBending::angle(&x) };
                Bound::compliant(ends.map(|i| i + first), hinge, 1.0 / law.stiffness)
            }))
        }
        // Checked scenes bend no closed line.
        Bending::None | Bending::Loop(_) => builder,
    }
}

fn belt_drive(
    belt: &Belt,
    layout: &Layout,
    laid: &Laid,
    method: &MethodOptions,
    at: &At<'_>,
) -> Result<(Constrained, State), SceneError> {
    let springs = (0..layout.springs.len()).map(|index| layout.springs.get(index));
    let rest_length: f64 = springs.clone().map(|spring| spring.rest_length).sum();
    let first = layout.springs.get(0);
    let pulleys = belt.pulleys.iter().map(|pulley| sim_pbd::Pulley {
        center: [pulley.center[0], pulley.center[1]],
        radius: pulley.radius,
        drive: match pulley.drive.as_ref().expect("all pulleys of a drive turn") {
            PulleyDrive::Speed(speed) => {
                sim_pbd::PulleyDrive::Speed { angular_velocity: speed.angular_velocity }
            }
            PulleyDrive::Torque(torque) => sim_pbd::PulleyDrive::Torque {
                torque: torque.torque,
                inertia: torque.inertia,
                drag: torque.drag,
            },
        },
        friction: pulley.friction.map_or(Friction::NONE, collide::friction),
    });
    let path = belt_path(belt, at)?;
    // Length and tension are about the true path, not about the polygon that is laid on it.
    let stiffness = first.stiffness * first.rest_length;
    let polygon = laid.topology.total_length();
    let rest_length = rest_length / polygon * path;
    let rest_length = belt.length.unwrap_or(rest_length);
    let model = BeltDrive {
        pulleys: pulleys.collect(),
        axial_stiffness: stiffness,
        mass_per_length: laid.mass.iter().sum::<f64>() / springs.map(|s| s.rest_length).sum::<f64>(),
        rest_length,
        particles: belt.segments,
        initial_speed: belt.initial_speed,
    };
    let (model, state) = model.build().map_err(|error| refusal(at)(&error))?;
    let lists = vec![List { owner: belt.id.clone(), what: "spring", springs: 0..layout.springs.len() }];
    Ok((
        Constrained {
            body: Body::Belt(Box::new(model)),
            options: method.solver(),
            lists,
            cables: Vec::new(),
        },
        state,
    ))
}

fn belt_path(belt: &Belt, at: &At<'_>) -> Result<f64, SceneError> {
    let circles: Vec<_> = (belt.pulleys.iter())
        .map(|pulley| (nalgebra::Vector2::new(pulley.center[0], pulley.center[1]), pulley.radius))
        .collect();
    let path = sim_pbd::belt::BeltPath::around(&circles);
    Ok(path.map_err(|error| refusal(&at.field("pulleys"))(&error))?.length())
}
