//! Colliders and what touches them.

use super::lay::Laid;
use super::{Layout, with_sources};
use crate::mesh::Mesh;
use crate::scene::check::At;
use crate::scene::contact::{ColliderSpec, ContactSpec, Features, FrictionSpec, RotationSpec, ShapeSpec};
use crate::scene::document::Scene;
use crate::scene::error::SceneError;
use nalgebra::{UnitQuaternion, Vector3};
use sim_core::Motion;
use sim_pbd::contact::shapes::{Capsule, Cuboid, Cylinder, Plane, Sphere};
use sim_pbd::{Collider, ContactOptions, Friction, PbdSystemBuilder, Rotation, Skin, SkinContact};

pub(super) fn friction(spec: FrictionSpec) -> Friction {
    Friction { static_coefficient: spec.sticking, kinetic_coefficient: spec.sliding }
}

pub(super) fn unit(v: [f64; 3]) -> Vector3<f64> {
    Vector3::from(v).normalize()
}

/// Path of the origin of a collider.
pub(super) fn path(spec: &ColliderSpec) -> Motion {
    spec.motion
        .clone()
        .unwrap_or_else(|| Motion::Linear { start: spec.place.unwrap_or([0.0; 3]), velocity: [0.0; 3] })
}

/// Orientation before the start.
pub(super) fn orientation(spec: &ColliderSpec) -> UnitQuaternion<f64> {
    let axis = match &spec.shape {
        ShapeSpec::Capsule(shape) => shape.axis,
        ShapeSpec::Cylinder(shape) => shape.axis,
        _ => [0.0, 0.0, 1.0],
    };
    let half_turn = || UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI);
    let along = UnitQuaternion::rotation_between(&Vector3::z(), &unit(axis)).unwrap_or_else(half_turn);
    UnitQuaternion::from_scaled_axis(Vector3::from(spec.turn)) * along
}

/// Points in m and triangles.
pub(super) type Surface = (Vec<[f64; 3]>, Vec<[u32; 3]>);

/// The surface of a mesh collider.
pub(super) fn mesh(
    spec: &crate::scene::contact::MeshSpec,
    scene: &Scene,
    at: &At<'_>,
) -> Result<Surface, SceneError> {
    let refuse = |source| SceneError::Mesh { place: at.field("file").place(), source };
    let mut mesh = Mesh::read_obj(&scene.folder.join(&spec.file), &[]).map_err(refuse)?;
    mesh.place(spec.scale, [0.0; 3]);
    let topology = mesh.topology(&spec.file).map_err(refuse)?;
    let halves = topology.quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
    let triangles = topology.triangles.iter().copied().chain(halves).collect();
    Ok((topology.positions, triangles))
}

fn collider(spec: &ColliderSpec, scene: &Scene, at: &At<'_>) -> Result<Collider, SceneError> {
    let place = [0.0; 3];
    let mut collider = match &spec.shape {
        ShapeSpec::Plane(shape) => {
            Collider::fixed(Plane { normal: unit(shape.normal).into(), offset: 0.0 }, place)
        }
        ShapeSpec::Sphere(shape) => Collider::fixed(Sphere { radius: shape.radius }, place),
        ShapeSpec::Capsule(shape) => {
            Collider::fixed(Capsule { half_length: 0.5 * shape.length, radius: shape.radius }, place)
        }
        ShapeSpec::Box(shape) => Collider::fixed(Cuboid { half_extents: shape.size.map(|x| 0.5 * x) }, place),
        ShapeSpec::Cylinder(shape) => match shape.flange {
            Some(flange) => {
                Collider::pulley(shape.radius, 0.5 * shape.length, flange.radius, flange.thickness, place)
            }
            None => {
                Collider::fixed(Cylinder { radius: shape.radius, half_length: 0.5 * shape.length }, place)
            }
        },
        ShapeSpec::Mesh(shape) => {
            let (points, triangles) = mesh(shape, scene, &at.field("shape"))?;
            Collider::mesh(&points, &triangles, place)
        }
    };
    collider.path = path(spec);
    collider.orientation = orientation(spec);
    collider.rotation = match &spec.rotation {
        None => Rotation::Held,
        Some(RotationSpec::Speed(speed)) => {
            Rotation::Speed { axis: unit(speed.axis).into(), angular_velocity: speed.angular_velocity }
        }
        Some(RotationSpec::Torque(torque)) => Rotation::Torque {
            axis: unit(torque.axis).into(),
            inertia: torque.inertia,
            torque: torque.torque,
            drag: torque.drag,
        },
    };
    collider.friction = friction(spec.friction);
    collider.restitution = spec.restitution;
    collider
        .validate()
        .map_err(|error| SceneError::Model { place: at.place(), message: with_sources(&error) })?;
    Ok(collider)
}

/// Adds the colliders, and the surfaces of the parts that touch.
pub(super) fn add(
    scene: &Scene,
    root: &At<'_>,
    layout: &Layout,
    laid: &[Laid],
    mut builder: PbdSystemBuilder,
) -> Result<PbdSystemBuilder, SceneError> {
    if scene.colliders.is_empty() && scene.contact.is_none() {
        return Ok(builder);
    }
    for (index, spec) in scene.colliders.iter().enumerate() {
        builder = builder.collider(collider(spec, scene, &root.field("collider").index(index))?);
    }
    let contact = scene.contact.clone().unwrap_or_default();
    for (part, laid) in layout.parts.iter().zip(laid) {
        if contact.parts.as_ref().is_some_and(|parts| !parts.contains(&part.id)) {
            continue;
        }
        builder = builder.skin(skin(laid, part.particles.start as u32, &contact));
    }
    let defaults = ContactOptions::default();
    Ok(builder.contact_options(ContactOptions {
        margin: contact.margin,
        depenetration_speed: contact.depenetration_speed.or(defaults.depenetration_speed),
        bounce_speed: contact.bounce_speed.unwrap_or(defaults.bounce_speed),
        between_skins: contact.between_parts.map(|between| SkinContact {
            friction: friction(between.friction),
            restitution: between.restitution,
        }),
    }))
}

fn skin(laid: &Laid, first: u32, contact: &ContactSpec) -> Skin {
    let radius = 0.5 * contact.thickness;
    let count = laid.topology.positions.len() as u32;
    let topology = &laid.topology;
    let halves = topology.quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
    let triangles: Vec<[u32; 3]> =
        topology.triangles.iter().copied().chain(halves).map(|t| t.map(|i| i + first)).collect();
    if contact.features == Features::Particles {
        return Skin::balls(radius, first..first + count);
    }
    if !triangles.is_empty() {
        return Skin::cloth(radius, &triangles);
    }
    Skin {
        radius,
        particles: (first..first + count).collect(),
        segments: topology.segments.iter().map(|ends| ends.map(|i| i + first)).collect(),
        triangles: Vec::new(),
    }
}
