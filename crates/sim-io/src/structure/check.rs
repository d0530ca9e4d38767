//! Checks of a structure's file that need no geometry: ranges, names, and fields that exclude or need each other.

use super::document::{AnalysisSpec, LoadSpec, MemberSpec, StructureScene};
use super::probe::{PathValue, StructureProbe};
use crate::run::stepper;
use crate::scene::check::{At, expectation, name};
use crate::scene::error::{SceneError, nearest};
use std::collections::HashMap;

/// Most members, bays or divisions: beyond these a typing error is likelier than a wish.
pub(super) const MAX_MEMBERS: usize = 5_000_000;
/// Most steps of a march, most modes, most points of a curve.
const MAX_STEPS: f64 = 1e7;
const MAX_MODES: usize = 1000;
const MAX_POINTS: usize = 100_000;

/// What a kind of member takes besides `id` and `kind`.
struct MemberFields {
    kind: &'static str,
    /// Joins two nodes, so that it takes `nodes`, `between`, `path` or `mesh_group`; else it sits `at` nodes.
    line: bool,
    needs: &'static [&'static str],
    takes: &'static [&'static str],
}

/// Every kind; a test holds that these are the elements of sim-fem.
const MEMBERS: &[MemberFields] = &[
    line("truss", &["material", "section"], &[]),
    line("nonlinear_truss", &["material", "section"], &["measure", "unstretched"]),
    line("tension_cable", &["material", "section"], &["unstretched", "axial_damping"]),
    line("catenary_cable", &["material", "section", "unstretched", "gravity"], &[]),
    line("euler_bernoulli_beam", &["material", "section"], &["orientation"]),
    line("timoshenko_beam", &["material", "section"], &["orientation"]),
    line("corotational_beam", &["material", "section"], &["orientation"]),
    line("planar_corotational_beam", &["material", "section"], &[]),
    at("point_mass", &["mass"], &["rotary_inertia"]),
    at("ground_spring", &["stiffness"], &[]),
    at("dashpot", &["damping"], &[]),
];

const fn line(
    kind: &'static str,
    needs: &'static [&'static str],
    takes: &'static [&'static str],
) -> MemberFields {
    MemberFields { kind, line: true, needs, takes }
}

const fn at(
    kind: &'static str,
    needs: &'static [&'static str],
    takes: &'static [&'static str],
) -> MemberFields {
    MemberFields { kind, line: false, needs, takes }
}

/// The words of `kind`.
pub(super) fn member_kinds() -> impl Iterator<Item = &'static str> + Clone {
    MEMBERS.iter().map(|fields| fields.kind)
}

impl MemberSpec {
    /// The optional fields that are there.
    fn given(&self) -> Vec<&'static str> {
        [
            ("material", self.material.is_some()),
            ("section", self.section.is_some()),
            ("nodes", self.nodes.is_some()),
            ("between", self.between.is_some()),
            ("path", self.path.is_some()),
            ("divisions", self.divisions.is_some()),
            ("mesh_group", self.mesh_group.is_some()),
            ("at", self.at.is_some()),
            ("measure", self.measure.is_some()),
            ("unstretched", self.unstretched.is_some()),
            ("orientation", self.orientation.is_some()),
            ("axial_damping", self.axial_damping.is_some()),
            ("gravity", self.gravity.is_some()),
            ("mass", self.mass.is_some()),
            ("rotary_inertia", self.rotary_inertia.is_some()),
            ("stiffness", self.stiffness.is_some()),
            ("damping", self.damping.is_some()),
        ]
        .into_iter()
        .filter_map(|(field, given)| given.then_some(field))
        .collect()
    }
}

/// Checks everything.
pub(super) fn scene(scene: &StructureScene) -> Result<(), SceneError> {
    let root = At::root(&scene.source);
    name(&root.field("scene.name"), &scene.header.name)?;
    let mut names = HashMap::new();
    for (index, node) in scene.named_nodes.iter().enumerate() {
        let at = root.field("node").index(index).field("id");
        name(&at, &node.id)?;
        if node.id == "all" || node.id.parse::<usize>().is_ok() {
            return Err(at.refuse(format!("`{}`", node.id), "a name, not `all` or a number"));
        }
        unique(&mut names, &node.id, &at, format!("node[{index}]"))?;
    }
    members(scene, &root)?;
    loads(scene, &root)?;
    analysis(scene, &root)?;
    if let Some(magnification) = scene.output.magnification {
        root.field("output").positive("magnification", magnification)?;
    }
    probes(scene, &root)?;
    for (index, row) in scene.expectations.iter().enumerate() {
        let names = scene.probes.iter().map(StructureProbe::name);
        expectation(row, names, &root.field("expect").index(index))?;
    }
    Ok(())
}

fn unique<'a>(
    seen: &mut HashMap<&'a str, String>,
    name: &'a str,
    at: &At<'_>,
    path: String,
) -> Result<(), SceneError> {
    match seen.insert(name, path) {
        None => Ok(()),
        Some(first) => Err(SceneError::Duplicate { place: at.place(), value: name.to_owned(), first }),
    }
}

fn members(scene: &StructureScene, root: &At<'_>) -> Result<(), SceneError> {
    let mut ids = HashMap::new();
    let constants = |at: &At<'_>, material: Option<&str>, section: Option<&str>| {
        if let Some(material) = material {
            at.field("material").exists(material, "material", scene.materials.keys().map(String::as_str))?;
        }
        if let Some(section) = section {
            at.field("section").exists(section, "section", scene.sections.keys().map(String::as_str))?;
        }
        Ok::<(), SceneError>(())
    };
    for (index, member) in scene.members.iter().enumerate() {
        let at = root.field("member").index(index);
        name(&at.field("id"), &member.id)?;
        unique(&mut ids, &member.id, &at.field("id"), format!("member[{index}]"))?;
        let Some(fields) = MEMBERS.iter().find(|fields| fields.kind == member.kind) else {
            return Err(SceneError::UnknownWord {
                place: at.field("kind").place(),
                value: member.kind.clone(),
                suggestion: nearest(&member.kind, member_kinds()),
                known: member_kinds().collect::<Vec<_>>().join(", "),
            });
        };
        member_fields(member, fields, scene, &at)?;
        constants(&at, member.material.as_deref(), member.section.as_deref())?;
    }
    for (index, truss) in scene.box_trusses.iter().enumerate() {
        let at = root.field("box_truss").index(index);
        name(&at.field("id"), &truss.id)?;
        unique(&mut ids, &truss.id, &at.field("id"), format!("box_truss[{index}]"))?;
        at.count("bays", truss.bays, 1, MAX_MEMBERS / 13)?;
        for (k, length) in truss.bay.into_iter().enumerate() {
            at.field("bay").positive(&format!("[{k}]"), length)?;
        }
        constants(&at, Some(&truss.material), Some(&truss.section))?;
    }
    if scene.members.is_empty() && scene.box_trusses.is_empty() {
        return Err(root.field("member").missing("a structure needs at least one member"));
    }
    Ok(())
}

fn member_fields(
    member: &MemberSpec,
    fields: &MemberFields,
    scene: &StructureScene,
    at: &At<'_>,
) -> Result<(), SceneError> {
    const LINE: [&str; 5] = ["nodes", "between", "path", "divisions", "mesh_group"];
    let given = member.given();
    let place: &[&str] = if fields.line { &LINE } else { &["at"] };
    for field in &given {
        let known = || fields.needs.iter().chain(fields.takes).chain(place).copied();
        if !known().any(|known| known == *field) {
            return Err(SceneError::UnknownField {
                place: at.field(field).place(),
                suggestion: None,
                known: format!("{} takes {}", fields.kind, known().collect::<Vec<_>>().join(", ")),
            });
        }
    }
    if let Some(missing) = fields.needs.iter().find(|field| !given.contains(field)) {
        return Err(at.field(missing).missing(format!("a {} needs it", fields.kind)));
    }
    if !fields.line {
        return if member.at.is_some() {
            Ok(())
        } else {
            Err(at.field("at").missing("the nodes where it sits"))
        };
    }
    let places: Vec<&str> =
        ["nodes", "between", "path", "mesh_group"].into_iter().filter(|p| given.contains(p)).collect();
    match places[..] {
        [] => return Err(at.field("nodes").missing("or `between`, `path` or `mesh_group`")),
        [_] => {}
        [first, second, ..] => return Err(at.field(second).conflict(first)),
    }
    if let Some(divisions) = member.divisions {
        at.count("divisions", divisions, 1, MAX_MEMBERS)?;
        if let Some(other) = ["nodes", "mesh_group"].iter().find(|p| given.contains(p)) {
            return Err(at.field("divisions").conflict(other));
        }
    }
    if member.path.as_ref().is_some_and(|path| path.len() < 2) {
        return Err(at.field("path").refuse("fewer than two nodes", "two nodes or more"));
    }
    if member.nodes.as_ref().is_some_and(Vec::is_empty) {
        return Err(at.field("nodes").refuse("[]", "one pair of nodes or more"));
    }
    if member.mesh_group.is_some() && scene.structure.mesh.is_none() {
        return Err(root_mesh(at).missing("`mesh_group` names a group of this mesh"));
    }
    if let Some(damping) = member.axial_damping {
        at.not_negative("axial_damping", damping)?;
    }
    Ok(())
}

fn root_mesh<'a>(at: &At<'a>) -> At<'a> {
    at.top().field("structure.mesh")
}

fn loads(scene: &StructureScene, root: &At<'_>) -> Result<(), SceneError> {
    let groups =
        scene.members.iter().map(|m| m.id.as_str()).chain(scene.box_trusses.iter().map(|t| t.id.as_str()));
    for (index, load) in scene.loads.iter().enumerate() {
        let at = root.field("load").index(index);
        let function = match load {
            LoadSpec::Force(load) => &load.function,
            LoadSpec::Uniform(load) => {
                at.field("member").exists(&load.member, "group of members", groups.clone())?;
                &load.function
            }
            LoadSpec::Gravity(load) | LoadSpec::BaseAcceleration(load) => &load.function,
        };
        function.validate().map_err(|error| {
            at.field("function").refuse("the function given", format!("valid, but {error}"))
        })?;
    }
    for (index, support) in scene.supports.iter().enumerate() {
        let at = root.field("support").index(index);
        support.function.validate().map_err(|error| {
            at.field("function").refuse("the function given", format!("valid, but {error}"))
        })?;
    }
    if let Some(rayleigh) = scene.structure.rayleigh {
        for (k, factor) in rayleigh.into_iter().enumerate() {
            root.field("structure.rayleigh").not_negative(&format!("[{k}]"), factor)?;
        }
    }
    Ok(())
}

fn analysis(scene: &StructureScene, root: &At<'_>) -> Result<(), SceneError> {
    let at = root.field("analysis");
    let option =
        |error: sim_fem::material::ValueError| at.field(error.field).refuse(error.value, error.requirement);
    match &scene.analysis {
        AnalysisSpec::Static(_) => Ok(()),
        AnalysisSpec::NonlinearStatic(options) => {
            options.validate().map_err(option)?;
            at.count("steps", options.steps, 1, MAX_POINTS)
        }
        AnalysisSpec::ArcLength(options) => {
            options.validate().map_err(option)?;
            at.count("max_steps", options.max_steps, 1, MAX_POINTS)
        }
        AnalysisSpec::Buckling(options) => at.count("modes", options.modes, 1, MAX_MODES),
        AnalysisSpec::Modal(spec) => at.count("modes", spec.modes, 1, MAX_MODES),
        AnalysisSpec::Transient(spec) => whole_steps(spec.duration, spec.dt, &at),
        AnalysisSpec::Stepped(spec) => {
            whole_steps(spec.duration, spec.dt, &at)?;
            stepper(&spec.method, &spec.options, (&at.field("method"), &at.field("options"))).map(|_| ())
        }
        AnalysisSpec::Harmonic(spec) => {
            if !(spec.band[0] >= 0.0 && spec.band[0] < spec.band[1]) {
                return Err(at.field("band").refuse(format!("{:?}", spec.band), "0 <= lowest < highest"));
            }
            at.count("points", spec.points, 2, MAX_POINTS)?;
            at.count("modes", spec.modes, 1, MAX_MODES)?;
            at.not_negative("damping_ratio", spec.damping_ratio.unwrap_or(0.0))
        }
        AnalysisSpec::DynamicRelaxation(options) => {
            at.positive("relative_tolerance", options.relative_tolerance)?;
            at.count("mass_interval", options.mass_interval, 1, 1_000_000_000)?;
            at.count("max_steps", options.max_steps, 1, 1_000_000_000)
        }
    }
}

fn whole_steps(duration: f64, dt: f64, at: &At<'_>) -> Result<(), SceneError> {
    at.positive("duration", duration)?;
    at.positive("dt", dt)?;
    let steps = duration / dt;
    if steps > MAX_STEPS {
        return Err(at.field("dt").refuse(dt, format!("such that there are at most {MAX_STEPS} steps")));
    }
    if steps.round() < 1.0 || (steps - steps.round()).abs() > 1e-9 * steps.max(1.0) {
        let requirement = format!("a whole number of steps of {dt} s, it is {steps}");
        return Err(at.field("duration").refuse(duration, requirement));
    }
    Ok(())
}

fn probes(scene: &StructureScene, root: &At<'_>) -> Result<(), SceneError> {
    let mut seen = HashMap::new();
    let groups =
        scene.members.iter().map(|m| m.id.as_str()).chain(scene.box_trusses.iter().map(|t| t.id.as_str()));
    let analysis = scene.analysis.kind();
    for (index, probe) in scene.probes.iter().enumerate() {
        let at = root.field("probe").index(index);
        name(&at.field("name"), probe.name())?;
        unique(&mut seen, probe.name(), &at.field("name"), format!("probe[{index}]"))?;
        let needs: &[&str] = match probe {
            StructureProbe::Displacement(_)
            | StructureProbe::AxialForce(_)
            | StructureProbe::Strain(_)
            | StructureProbe::Stress(_)
            | StructureProbe::Utilisation(_)
            | StructureProbe::MaxDisplacement(_)
            | StructureProbe::StrainEnergy(_) => &[
                "static",
                "nonlinear_static",
                "arc_length",
                "buckling",
                "transient",
                "stepped",
                "dynamic_relaxation",
            ],
            StructureProbe::Reaction(_) => &["static", "nonlinear_static", "buckling", "dynamic_relaxation"],
            StructureProbe::Velocity(_) => &["transient", "stepped"],
            StructureProbe::Acceleration(_) => &["transient"],
            StructureProbe::Frequency(_) | StructureProbe::MassParticipation(_) => &["modal", "harmonic"],
            StructureProbe::BucklingFactor(_) => &["buckling"],
            StructureProbe::CriticalFactor(_) => &["arc_length"],
            StructureProbe::Amplitude(_) => &["harmonic"],
            StructureProbe::TotalMass(_) => &[],
        };
        if !needs.is_empty() && !needs.contains(&analysis) {
            return Err(at.field("kind").refuse(
                format!("`{}`", probe.kind()),
                format!("with another analysis than `{analysis}`: {}", needs.join(", ")),
            ));
        }
        match probe {
            StructureProbe::AxialForce(p) | StructureProbe::Strain(p) | StructureProbe::Stress(p) => {
                at.field("member").exists(&p.member, "group of members", groups.clone())?;
                path_value(p.value, scene, &at)?;
            }
            StructureProbe::Displacement(p)
            | StructureProbe::Velocity(p)
            | StructureProbe::Acceleration(p) => path_value(p.value, scene, &at)?,
            StructureProbe::Utilisation(p) => {
                if let Some(member) = &p.member {
                    at.field("member").exists(member, "group of members", groups.clone())?;
                }
            }
            StructureProbe::Frequency(p)
            | StructureProbe::BucklingFactor(p)
            | StructureProbe::CriticalFactor(p) => at.count("number", p.number, 1, MAX_MODES)?,
            StructureProbe::MassParticipation(p) => {
                at.count("number", p.number, 1, MAX_MODES)?;
                if p.direction.is_rotation() {
                    return Err(at.field("direction").refuse(p.direction, "x, y or z"));
                }
            }
            StructureProbe::Amplitude(p) => {
                if let (Some(frequency), AnalysisSpec::Harmonic(spec)) = (p.frequency, &scene.analysis)
                    && !(spec.band[0]..=spec.band[1]).contains(&frequency)
                {
                    let [low, high] = spec.band;
                    return Err(at
                        .field("frequency")
                        .refuse(frequency, format!("within {low} to {high} Hz")));
                }
            }
            StructureProbe::Reaction(_)
            | StructureProbe::MaxDisplacement(_)
            | StructureProbe::StrainEnergy(_)
            | StructureProbe::TotalMass(_) => {}
        }
    }
    Ok(())
}

fn path_value(value: PathValue, scene: &StructureScene, at: &At<'_>) -> Result<(), SceneError> {
    let PathValue::At(place) = value else { return Ok(()) };
    let range = match &scene.analysis {
        AnalysisSpec::Transient(spec) => 0.0..=spec.duration,
        AnalysisSpec::Stepped(spec) => 0.0..=spec.duration,
        AnalysisSpec::NonlinearStatic(_) => 0.0..=1.0,
        other => {
            return Err(at.field("value").refuse(
                format!("at {place}"),
                format!("`final`, `maximum`, `minimum` or `max_abs` with `{}`", other.kind()),
            ));
        }
    };
    if range.contains(&place) {
        return Ok(());
    }
    Err(at
        .field("value")
        .refuse(format!("at {place}"), format!("between {} and {}", range.start(), range.end())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_is_a_kind_of_member() {
        let mut kinds: Vec<&str> = member_kinds().collect();
        let mut elements: Vec<&str> = sim_fem::elements::ELEMENTS.iter().map(|info| info.id).collect();
        kinds.sort_unstable();
        elements.sort_unstable();
        assert_eq!(kinds, elements);
    }
}
