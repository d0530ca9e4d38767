//! Checks of colliders, contact, cables and belt drives.

use super::At;
use crate::scene::contact::{FrictionSpec, RotationSpec, ShapeSpec};
use crate::scene::document::Scene;
use crate::scene::error::SceneError;
use crate::scene::part::{Belt, Model, Part, PulleyDrive};
use crate::scene::probe::{BeltEntry, Probe};
use std::collections::HashMap;

/// The method that solves constraints.
pub(crate) const XPBD: &str = "xpbd";

pub(super) fn contact(scene: &Scene, root: &At<'_>) -> Result<(), SceneError> {
    models(scene, root)?;
    colliders(scene, root)?;
    let ids = scene.parts.iter().map(Part::id);
    if let Some(contact) = &scene.contact {
        let at = root.field("contact");
        for (index, part) in contact.parts.iter().flatten().enumerate() {
            at.field("parts").index(index).exists(part, "part", ids.clone())?;
        }
        at.not_negative("thickness", contact.thickness)?;
        at.not_negative("margin", contact.margin.unwrap_or(0.0))?;
        at.not_negative("bounce_speed", contact.bounce_speed.unwrap_or(0.0))?;
        at.positive_if("depenetration_speed", contact.depenetration_speed)?;
        if let Some(between) = contact.between_parts {
            let at = at.field("between_parts");
            friction(between.friction, &at)?;
            restitution(between.restitution, &at)?;
        }
    }
    let mut seen = HashMap::new();
    for (index, cable) in scene.cables.iter().enumerate() {
        let at = root.field("cable").index(index);
        unique(&at, &cable.id, "cable", index, &mut seen)?;
        at.positive("axial_stiffness", cable.axial_stiffness)?;
        at.positive_if("length", cable.length)?;
        at.count("through", cable.through.len(), 2, 100_000)?;
        for (k, point) in cable.through.iter().enumerate() {
            at.field("through").index(k).field("part").exists(&point.part, "part", ids.clone())?;
        }
    }
    for (index, part) in scene.parts.iter().enumerate() {
        if let Part::Belt(belt) = part {
            belt_on_pulleys(belt, scene, root, &root.field("part").index(index))?;
        }
    }
    probes(scene, root)
}

/// What only constraints can do is asked of them only.
fn models(scene: &Scene, root: &At<'_>) -> Result<(), SceneError> {
    let constrained = scene.method.id == XPBD;
    for (index, part) in scene.parts.iter().enumerate() {
        let at = root.field("part").index(index).field("model");
        match (part.model(), constrained) {
            (Some(Model::Xpbd), false) => {
                let method = &scene.method.id;
                return Err(at.refuse(
                    "`xpbd`",
                    format!("`mass_spring` with the method `{method}`, or `method.id = \"xpbd\"`"),
                ));
            }
            (Some(Model::MassSpring), true) => {
                return Err(at.refuse("`mass_spring`", "`xpbd` or absent with the method `xpbd`"));
            }
            _ => {}
        }
    }
    if constrained {
        if scene.relax.is_some() && !scene.colliders.is_empty() {
            return Err(root
                .field("relax")
                .refuse("[relax]", "absent with colliders: settling knows no contact"));
        }
        return Ok(());
    }
    for (present, name) in [
        (!scene.colliders.is_empty(), "collider"),
        (scene.contact.is_some(), "contact"),
        (!scene.cables.is_empty(), "cable"),
    ] {
        if present {
            return Err(root.field(name).refuse(name, needs(scene)));
        }
    }
    Ok(())
}

fn needs(scene: &Scene) -> String {
    format!("used with `method.id = \"xpbd\"`; `{}` knows no contact and no constraints", scene.method.id)
}

fn unique<'a>(
    at: &At<'_>,
    id: &'a str,
    what: &str,
    index: usize,
    seen: &mut HashMap<&'a str, usize>,
) -> Result<(), SceneError> {
    super::name(&at.field("id"), id)?;
    match seen.insert(id, index) {
        None => Ok(()),
        Some(first) => Err(SceneError::Duplicate {
            place: at.field("id").place(),
            value: id.to_owned(),
            first: format!("{what}[{first}]"),
        }),
    }
}

fn friction(spec: FrictionSpec, at: &At<'_>) -> Result<(), SceneError> {
    at.not_negative("friction", spec.sticking)?;
    at.not_negative("friction", spec.sliding)?;
    if spec.sliding > spec.sticking {
        let requirement = format!("not above the static coefficient {}", spec.sticking);
        return Err(at.field("friction").field("kinetic").refuse(spec.sliding, requirement));
    }
    Ok(())
}

fn restitution(value: f64, at: &At<'_>) -> Result<(), SceneError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(at.field("restitution").refuse(value, "from 0 to 1"))
}

fn colliders(scene: &Scene, root: &At<'_>) -> Result<(), SceneError> {
    let mut seen = HashMap::new();
    for (index, collider) in scene.colliders.iter().enumerate() {
        let at = root.field("collider").index(index);
        unique(&at, &collider.id, "collider", index, &mut seen)?;
        friction(collider.friction, &at)?;
        restitution(collider.restitution, &at)?;
        match (&collider.place, &collider.motion) {
            (Some(_), Some(_)) => return Err(at.field("motion").conflict("place")),
            (None, None) => return Err(at.field("place").missing("or `motion`")),
            (None, Some(motion)) => {
                motion.validate().map_err(|error| at.field("motion").refuse("table", error.to_string()))?;
            }
            (Some(_), None) => {}
        }
        let shape = at.field("shape");
        match &collider.shape {
            ShapeSpec::Plane(plane) => shape.direction("normal", plane.normal)?,
            ShapeSpec::Sphere(sphere) => shape.positive("radius", sphere.radius)?,
            ShapeSpec::Capsule(capsule) => {
                shape.positive("radius", capsule.radius)?;
                shape.not_negative("length", capsule.length)?;
                shape.direction("axis", capsule.axis)?;
            }
            ShapeSpec::Box(cuboid) => {
                for (k, length) in cuboid.size.into_iter().enumerate() {
                    shape.positive(&format!("size[{k}]"), length)?;
                }
            }
            ShapeSpec::Cylinder(drum) => {
                shape.positive("radius", drum.radius)?;
                shape.positive("length", drum.length)?;
                shape.direction("axis", drum.axis)?;
                if let Some(flange) = drum.flange {
                    let at = shape.field("flange");
                    at.positive("thickness", flange.thickness)?;
                    if flange.radius <= drum.radius {
                        let requirement = format!("more than the radius {} of the drum", drum.radius);
                        return Err(at.field("radius").refuse(flange.radius, requirement));
                    }
                }
            }
            ShapeSpec::Mesh(mesh) => shape.positive("scale", mesh.scale)?,
        }
        let at = at.field("rotation");
        match &collider.rotation {
            None => {}
            Some(RotationSpec::Speed(speed)) => at.direction("axis", speed.axis)?,
            Some(RotationSpec::Torque(torque)) => {
                at.direction("axis", torque.axis)?;
                at.positive("inertia", torque.inertia)?;
                at.not_negative("drag", torque.drag)?;
            }
        }
    }
    Ok(())
}

fn belt_on_pulleys(belt: &Belt, scene: &Scene, root: &At<'_>, at: &At<'_>) -> Result<(), SceneError> {
    let constrained = scene.method.id == XPBD;
    if !belt.is_drive() {
        if let Some(index) = belt.pulleys.iter().position(|pulley| pulley.friction.is_some()) {
            let at = at.field("pulleys").index(index);
            return Err(at.field("drive").missing("a pulley with `friction` needs it"));
        }
        if belt.initial_speed != 0.0 {
            return Err(at
                .field("initial_speed")
                .refuse(belt.initial_speed, "0 without a `drive` on the pulleys"));
        }
        if constrained && belt.bending_stiffness > 0.0 {
            let requirement = "0 with `xpbd`: its bending constraint is straight at rest";
            return Err(at.field("bending_stiffness").refuse(belt.bending_stiffness, requirement));
        }
        return Ok(());
    }
    for (index, pulley) in belt.pulleys.iter().enumerate() {
        let at = at.field("pulleys").index(index);
        match &pulley.drive {
            None => return Err(at.field("drive").missing("other pulleys of this belt have one")),
            Some(PulleyDrive::Speed(_)) => {}
            Some(PulleyDrive::Torque(torque)) => {
                let at = at.field("drive");
                at.positive("inertia", torque.inertia)?;
                at.not_negative("drag", torque.drag)?;
            }
        }
        friction(pulley.friction.ok_or_else(|| at.field("friction").missing("a belt drive needs it"))?, &at)?;
        if pulley.center[2] != 0.0 {
            return Err(at
                .field("center")
                .index(2)
                .refuse(pulley.center[2], "0: a belt drive lies in the plane z = 0"));
        }
    }
    if !constrained {
        return Err(at.field("pulleys").index(0).field("drive").refuse("drive", needs(scene)));
    }
    at.count("pulleys", belt.pulleys.len(), 2, 1000)?;
    at.count("segments", belt.segments, 8, 1_000_000)?;
    if belt.normal[0] != 0.0 || belt.normal[1] != 0.0 || belt.normal[2] <= 0.0 {
        let requirement = "[0, 0, 1]: a belt drive lies in the plane z = 0";
        return Err(at.field("normal").refuse(format!("{:?}", belt.normal), requirement));
    }
    for (name, value) in
        [("axial_damping", belt.axial_damping), ("bending_stiffness", belt.bending_stiffness)]
    {
        if value > 0.0 {
            return Err(at.field(name).refuse(value, "0 for a belt drive, which has no such constraint"));
        }
    }
    for (present, name) in [
        (scene.parts.len() > 1, "part"),
        (!scene.pins.is_empty(), "pin"),
        (!scene.drives.is_empty(), "drive"),
        (!scene.point_masses.is_empty(), "point_mass"),
        (!scene.forces.is_empty(), "force"),
        (!scene.colliders.is_empty(), "collider"),
        (scene.contact.is_some(), "contact"),
        (!scene.cables.is_empty(), "cable"),
        (scene.relax.is_some(), "relax"),
        (!scene.initial.is_empty(), "initial"),
    ] {
        if present {
            let at = if name == "part" { root.field("part").index(1) } else { root.field(name) };
            return Err(at.refuse(name, "absent: a belt drive is a scene of its own"));
        }
    }
    Ok(())
}

fn probes(scene: &Scene, root: &At<'_>) -> Result<(), SceneError> {
    let constrained = scene.method.id == XPBD;
    for (index, probe) in scene.probes.iter().enumerate() {
        let at = root.field("probe").index(index);
        match probe {
            Probe::Collider(p) => {
                let known = scene.colliders.iter().map(|collider| collider.id.as_str());
                at.field("collider").exists(&p.collider, "collider", known)?;
            }
            Probe::CableTension(p) => {
                at.field("cable").exists(
                    &p.cable,
                    "cable",
                    scene.cables.iter().map(|cable| cable.id.as_str()),
                )?;
            }
            Probe::Convergence(_) if !constrained => {
                return Err(at.field("kind").refuse("convergence", needs(scene)));
            }
            Probe::Belt(p) => {
                let drives =
                    scene.parts.iter().filter(|part| matches!(part, Part::Belt(belt) if belt.is_drive()));
                at.field("part").exists(
                    &p.part,
                    "belt whose pulleys have a `drive`",
                    drives.clone().map(Part::id),
                )?;
                let Some(Part::Belt(belt)) = drives.clone().find(|part| part.id() == p.part) else {
                    continue;
                };
                let whole = matches!(p.quantity, BeltEntry::TightTension | BeltEntry::SlackTension);
                match (whole, p.pulley) {
                    (true, Some(_)) => {
                        return Err(at
                            .field("pulley")
                            .refuse("a pulley", "absent: this quantity is of the whole belt"));
                    }
                    (false, None) => {
                        return Err(at.field("pulley").missing("this quantity is of one pulley"));
                    }
                    _ => {}
                }
                at.count("pulley", p.pulley.unwrap_or(0), 0, belt.pulleys.len() - 1)?;
                at.count("driver", p.driver, 0, belt.pulleys.len() - 1)?;
            }
            _ => {}
        }
    }
    Ok(())
}
