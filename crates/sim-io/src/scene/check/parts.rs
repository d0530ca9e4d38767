//! Checks of parts and materials.

use super::At;
use crate::scene::document::Scene;
use crate::scene::error::SceneError;
use crate::scene::part::{Belt, Cloth, Coil, MeshPart, Part, Particles, Rope, RopeShape, Section};
use std::collections::HashMap;

/// Most particles along a line or side.
const MAX_COUNT: usize = 10_000_000;

pub(super) fn materials(scene: &Scene, root: &At<'_>) -> Result<(), SceneError> {
    for (name, material) in &scene.materials {
        let at = root.field("material").field(name);
        at.positive_if("youngs_modulus", material.youngs_modulus)?;
        at.positive_if("shear_modulus", material.shear_modulus)?;
        at.positive_if("density", material.density)?;
        if let Some(ratio) = material.poisson_ratio
            && !(ratio > -1.0 && ratio <= 0.5)
        {
            return Err(at.field("poisson_ratio").refuse(ratio, "above -1 and at most 0.5"));
        }
    }
    Ok(())
}

pub(super) fn parts(scene: &Scene, root: &At<'_>) -> Result<(), SceneError> {
    if scene.parts.is_empty() {
        return Err(root.field("part").missing("a scene needs at least one part"));
    }
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (index, part) in scene.parts.iter().enumerate() {
        let at = root.field("part").index(index);
        super::name(&at.field("id"), part.id())?;
        if let Some(first) = seen.insert(part.id(), index) {
            return Err(SceneError::Duplicate {
                place: at.field("id").place(),
                value: part.id().to_owned(),
                first: format!("part[{first}]"),
            });
        }
        if let Some(material) = part.material() {
            at.field("material").exists(material, "material", scene.materials.keys().map(String::as_str))?;
        }
        let of_material = |field: &str| {
            let material = part.material().and_then(|name| scene.materials.get(name));
            material.is_some_and(|m| match field {
                "youngs_modulus" => m.youngs_modulus.is_some(),
                "shear_modulus" => m.shear().is_some(),
                _ => m.density.is_some(),
            })
        };
        match part {
            Part::Rope(part) => rope(part, &at, of_material)?,
            Part::Belt(part) => belt(part, &at, of_material)?,
            Part::Coil(part) => coil(part, &at, of_material)?,
            Part::Cloth(part) => cloth(part, &at, of_material)?,
            Part::Mesh(part) => mesh(part, &at, of_material)?,
            Part::Particles(part) => particles(part, &at)?,
        }
    }
    Ok(())
}

/// A quantity is given either at once (`direct`) or as a factor (of the part or its material) times a measure.
struct EitherOr<'a> {
    direct: (&'a str, Option<f64>),
    factor: (&'a str, Option<f64>),
    measure: (&'a str, bool),
}

impl EitherOr<'_> {
    fn check(&self, at: &At<'_>, of_material: impl Fn(&str) -> bool) -> Result<(), SceneError> {
        let ((direct, value), (factor, own), (measure, measured)) = (self.direct, self.factor, self.measure);
        at.positive_if(direct, value)?;
        at.positive_if(factor, own)?;
        if own.is_some() && of_material(factor) {
            return Err(at.field(factor).conflict("material"));
        }
        match (value.is_some(), own.is_some()) {
            (true, true) => Err(at.field(direct).conflict(factor)),
            (true, false) => Ok(()),
            (false, has_own) if has_own || of_material(factor) => {
                if measured {
                    Ok(())
                } else {
                    Err(at.field(measure).missing(format!("`{factor}` needs it")))
                }
            }
            _ => Err(at.field(direct).missing(format!("or `{factor}` and `{measure}`"))),
        }
    }
}

fn section(section: Option<Section>, at: &At<'_>) -> Result<(), SceneError> {
    let at = at.field("section");
    match section {
        None => Ok(()),
        Some(Section::Diameter(d)) => at.positive("diameter", d),
        Some(Section::Area(area)) => at.positive("area", area),
        Some(Section::Rectangle([width, height])) => {
            at.positive("rectangle[0]", width).and(at.positive("rectangle[1]", height))
        }
    }
}

fn rope(part: &Rope, at: &At<'_>, of_material: impl Fn(&str) -> bool) -> Result<(), SceneError> {
    at.count("segments", part.segments, 1, MAX_COUNT)?;
    if part.from == part.to {
        return Err(at.field("to").refuse(format!("{:?}", part.to), "apart from `from`"));
    }
    section(part.section, at)?;
    let measured = part.section.is_some();
    if let Some(law) = &part.law {
        let given = [
            ("axial_stiffness", part.axial_stiffness.is_some()),
            ("youngs_modulus", part.youngs_modulus.is_some()),
            ("tension", part.tension.is_some()),
        ];
        if let Some((field, _)) = given.iter().find(|(_, given)| *given) {
            return Err(at.field("law").conflict(field));
        }
        law.check(&at.field("law"), measured)?;
    } else {
        EitherOr {
            direct: ("axial_stiffness", part.axial_stiffness),
            factor: ("youngs_modulus", part.youngs_modulus),
            measure: ("section", measured),
        }
        .check(at, &of_material)?;
    }
    EitherOr {
        direct: ("linear_density", part.linear_density),
        factor: ("density", part.density),
        measure: ("section", measured),
    }
    .check(at, of_material)?;
    at.positive_if("length", part.length)?;
    at.direction("down", part.down)?;
    if part.length.is_some() && part.tension.is_some() {
        return Err(at.field("tension").conflict("length"));
    }
    if let Some(tension) = part.tension {
        at.not_negative("tension", tension)?;
    }
    if part.shape == RopeShape::Hanging && part.length.is_none() {
        return Err(at.field("length").missing("a hanging shape needs it"));
    }
    at.not_negative("axial_damping", part.axial_damping)?;
    at.not_negative("bending_stiffness", part.bending_stiffness)
}

fn belt(part: &Belt, at: &At<'_>, of_material: impl Fn(&str) -> bool) -> Result<(), SceneError> {
    at.count("segments", part.segments, 5, MAX_COUNT)?;
    at.count("pulleys", part.pulleys.len(), 1, 1000)?;
    for (index, pulley) in part.pulleys.iter().enumerate() {
        at.field("pulleys").index(index).positive("radius", pulley.radius)?;
    }
    at.direction("normal", part.normal)?;
    section(part.section, at)?;
    let measured = part.section.is_some();
    EitherOr {
        direct: ("axial_stiffness", part.axial_stiffness),
        factor: ("youngs_modulus", part.youngs_modulus),
        measure: ("section", measured),
    }
    .check(at, &of_material)?;
    EitherOr {
        direct: ("linear_density", part.linear_density),
        factor: ("density", part.density),
        measure: ("section", measured),
    }
    .check(at, of_material)?;
    at.positive_if("length", part.length)?;
    if part.length.is_some() && part.tension.is_some() {
        return Err(at.field("tension").conflict("length"));
    }
    if let Some(tension) = part.tension {
        at.not_negative("tension", tension)?;
    }
    at.not_negative("axial_damping", part.axial_damping)?;
    at.not_negative("bending_stiffness", part.bending_stiffness)
}

fn coil(part: &Coil, at: &At<'_>, of_material: impl Fn(&str) -> bool) -> Result<(), SceneError> {
    at.count("segments", part.segments, 1, MAX_COUNT)?;
    at.direction("axis", part.axis)?;
    at.positive("free_length", part.free_length)?;
    at.positive("coil_diameter", part.coil_diameter)?;
    at.positive("wire_diameter", part.wire_diameter)?;
    at.positive("turns", part.turns)?;
    if part.wire_diameter >= part.coil_diameter {
        return Err(at.field("wire_diameter").refuse(part.wire_diameter, "less than `coil_diameter`"));
    }
    for (name, value) in [("shear_modulus", part.shear_modulus), ("density", part.density)] {
        at.positive_if(name, value)?;
        match (value.is_some(), of_material(name)) {
            (true, true) => return Err(at.field(name).conflict("material")),
            (false, false) => return Err(at.field(name).missing("or a `material` that has it")),
            _ => {}
        }
    }
    at.positive_if("length", part.length)?;
    at.not_negative("damping", part.damping)
}

/// What cloth and mesh have in common.
struct Membrane<'a> {
    stretch_stiffness: Option<f64>,
    youngs_modulus: Option<f64>,
    thickness: Option<f64>,
    areal_density: Option<f64>,
    density: Option<f64>,
    others: [(&'a str, f64); 3],
}

impl Membrane<'_> {
    fn check(&self, at: &At<'_>, of_material: impl Fn(&str) -> bool) -> Result<(), SceneError> {
        at.positive_if("thickness", self.thickness)?;
        let measured = self.thickness.is_some();
        EitherOr {
            direct: ("membrane_stiffness", self.stretch_stiffness),
            factor: ("youngs_modulus", self.youngs_modulus),
            measure: ("thickness", measured),
        }
        .check(at, &of_material)?;
        EitherOr {
            direct: ("areal_density", self.areal_density),
            factor: ("density", self.density),
            measure: ("thickness", measured),
        }
        .check(at, of_material)?;
        self.others.iter().try_for_each(|(name, value)| at.not_negative(name, *value))
    }
}

fn cloth(part: &Cloth, at: &At<'_>, of_material: impl Fn(&str) -> bool) -> Result<(), SceneError> {
    at.positive("width", part.width)?;
    at.positive("height", part.height)?;
    at.count("columns", part.columns, 1, MAX_COUNT)?;
    at.count("rows", part.rows, 1, MAX_COUNT)?;
    if (part.columns + 1).saturating_mul(part.rows + 1) > MAX_COUNT {
        return Err(at
            .field("rows")
            .refuse(part.rows, format!("such that there are at most {MAX_COUNT} particles")));
    }
    at.direction("width_direction", part.width_direction)?;
    at.direction("height_direction", part.height_direction)?;
    Membrane {
        stretch_stiffness: part.membrane_stiffness,
        youngs_modulus: part.youngs_modulus,
        thickness: part.thickness,
        areal_density: part.areal_density,
        density: part.density,
        others: [
            ("shear_stiffness", part.shear_stiffness),
            ("bending_stiffness", part.bending_stiffness),
            ("damping_time", part.damping_time),
        ],
    }
    .check(at, of_material)
}

fn mesh(part: &MeshPart, at: &At<'_>, of_material: impl Fn(&str) -> bool) -> Result<(), SceneError> {
    at.positive("scale", part.scale)?;
    if part.file.is_empty() {
        return Err(at.field("file").refuse("``", "the name of an OBJ file"));
    }
    Membrane {
        stretch_stiffness: part.membrane_stiffness,
        youngs_modulus: part.youngs_modulus,
        thickness: part.thickness,
        areal_density: part.areal_density,
        density: part.density,
        others: [
            ("shear_stiffness", part.shear_stiffness),
            ("bending_stiffness", part.bending_stiffness),
            ("damping_time", part.damping_time),
        ],
    }
    .check(at, of_material)
}

fn particles(part: &Particles, at: &At<'_>) -> Result<(), SceneError> {
    at.count("particles", part.particles.len(), 1, MAX_COUNT)?;
    for (index, particle) in part.particles.iter().enumerate() {
        at.field("particles").index(index).positive("mass", particle.mass)?;
    }
    for (index, spring) in part.springs.iter().enumerate() {
        let at = at.field("springs").index(index);
        for (k, &end) in spring.ends.iter().enumerate() {
            if end >= part.particles.len() {
                let requirement = format!("a particle of this part, 0 to {}", part.particles.len() - 1);
                return Err(at.field("ends").index(k).refuse(end, requirement));
            }
        }
        if spring.ends[0] == spring.ends[1] {
            return Err(at.field("ends").refuse(format!("{:?}", spring.ends), "two different particles"));
        }
        at.not_negative("damping", spring.damping)?;
        match (spring.stiffness, &spring.law) {
            (Some(_), Some(_)) => return Err(at.field("law").conflict("stiffness")),
            (None, None) => return Err(at.field("stiffness").missing("or `law`")),
            (Some(stiffness), None) => at.not_negative("stiffness", stiffness)?,
            (None, Some(law)) => {
                law.check(&at.field("law"), false)?;
                at.positive_if("rest_length", spring.rest_length)?;
                let [a, b] = spring.ends.map(|end| part.particles[end].position);
                if spring.rest_length.is_none() && a == b {
                    return Err(at
                        .field("rest_length")
                        .missing("its ends coincide, and a law needs a length"));
                }
            }
        }
        if let Some(rest_length) = spring.rest_length {
            at.not_negative("rest_length", rest_length)?;
        }
    }
    Ok(())
}
