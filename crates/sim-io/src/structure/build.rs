//! From the tables of a file to a [`Structure`].

mod elements;
mod nodes;

use super::check::MAX_MEMBERS;
use super::document::{BoxTruss, FixSpec, FixWord, LoadSpec, MemberSpec, StructureScene};
use super::inp::{self, InpModel};
use super::reference::{NodeRef, NodeSelection};
use crate::scene::check::At;
use crate::scene::error::{SceneError, nearest};
use elements::{material, section};
use nalgebra::Vector3;
use nodes::Nodes;
use sim_fem::elements::Element;
use sim_fem::elements::truss::Truss;
use sim_fem::load::{Direction, TimeFunction};
use sim_fem::material::ValueError;
use sim_fem::{Load, Structure, StructureBuilder, StructureError};
use std::ops::Range;
use std::sync::Arc;

/// Members that one table made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Id in the scene.
    pub id: String,
    /// Their numbers.
    pub members: Range<usize>,
    path: String,
}

/// A structure with the names of its file.
#[derive(Debug)]
pub struct BuiltStructure {
    /// The structure.
    pub structure: Arc<Structure>,
    /// Groups of members in order.
    pub groups: Vec<Group>,
    /// What a reader should know.
    pub warnings: Vec<String>,
    nodes: Nodes,
}

impl BuiltStructure {
    /// The single node that a probe names.
    pub(super) fn node(&self, selection: &NodeSelection, at: &At<'_>) -> Result<usize, SceneError> {
        match self.nodes.all(selection, at)?[..] {
            [node] => Ok(node),
            ref several => Err(at.refuse(format!("{} nodes", several.len()), "one node")),
        }
    }

    /// The nodes that a probe names.
    pub(super) fn nodes(&self, selection: &NodeSelection, at: &At<'_>) -> Result<Vec<usize>, SceneError> {
        self.nodes.all(selection, at)
    }

    /// The numbers of a group of members.
    pub(super) fn group(&self, id: &str) -> Range<usize> {
        self.groups.iter().find(|group| group.id == id).map_or(0..0, |group| group.members.clone())
    }

    /// A member as a person would name it.
    pub(super) fn member_name(&self, member: usize) -> String {
        match self.groups.iter().find(|group| group.members.contains(&member)) {
            Some(group) => format!("{}[{}]", group.id, member - group.members.start),
            None => format!("member {member}"),
        }
    }

    /// A node as a person would name it.
    pub(super) fn node_name(&self, node: usize) -> String {
        let name = self.nodes.names.iter().find(|(_, number)| **number == node);
        name.map_or_else(|| node.to_string(), |(name, _)| name.clone())
    }
}

/// State of the construction.
struct Builder<'a> {
    scene: &'a StructureScene,
    root: At<'a>,
    nodes: Nodes,
    /// Element, nodes.
    members: Vec<(Box<dyn Element>, Vec<usize>)>,
    groups: Vec<Group>,
}

/// Builds the structure.
///
/// # Errors
/// [`SceneError`] naming the table.
pub fn build(scene: &StructureScene) -> Result<BuiltStructure, SceneError> {
    let root = At::root(&scene.source);
    let mut warnings = Vec::new();
    let mesh = match &scene.structure.mesh {
        Some(file) => Some(load_mesh(scene, file, &root, &mut warnings)?),
        None => None,
    };
    let mut nodes = Nodes::default();
    if let Some(mesh) = &mesh {
        nodes.positions.extend(&mesh.nodes);
        nodes.sets.clone_from(&mesh.node_sets);
    }
    nodes.positions.extend(&scene.structure.nodes);
    for node in &scene.named_nodes {
        nodes.names.insert(node.id.clone(), nodes.positions.len());
        nodes.positions.push(node.at);
    }
    let mut builder = Builder { scene, root, nodes, members: Vec::new(), groups: Vec::new() };
    builder.lay(mesh.as_ref())?;
    builder.finish(mesh.as_ref(), warnings)
}

fn load_mesh(
    scene: &StructureScene,
    file: &str,
    root: &At<'_>,
    warnings: &mut Vec<String>,
) -> Result<InpModel, SceneError> {
    let at = root.field("structure.mesh");
    let model = inp::read(&scene.folder.join(file)).map_err(|error| SceneError::Model {
        place: at.place(),
        message: crate::model::with_sources(&error),
    })?;
    let claimed = |set: &str| {
        scene.members.iter().any(|m| m.mesh_group.as_deref().is_some_and(|g| g.eq_ignore_ascii_case(set)))
    };
    let mut used = vec![false; model.elements.len()];
    for (_, set) in model.element_sets.iter().filter(|(name, _)| claimed(name)) {
        for &element in set {
            used[element] = true;
        }
    }
    let unused = used.iter().filter(|used| !**used).count();
    if unused > 0 {
        warnings.push(format!(
            "{file}: {unused} elements belong to no set that a `[[member]]` names and are left out"
        ));
    }
    if !model.passed_over.is_empty() {
        let list = model.passed_over.iter().map(|(word, line)| format!("*{word} (line {line})"));
        warnings.push(format!(
            "{file}: the scene file has its own word for these, they were passed over: {}",
            list.collect::<Vec<_>>().join(", ")
        ));
    }
    Ok(model)
}

impl Builder<'_> {
    fn lay(&mut self, mesh: Option<&InpModel>) -> Result<(), SceneError> {
        let scene = self.scene;
        for (name, spec) in &scene.materials {
            let at = self.root.field("material").field(name);
            material(spec).validate().map_err(|error| {
                let field = if error.field == "poissons_ratio" { "poisson_ratio" } else { error.field };
                at.field(field).refuse(error.value, error.requirement)
            })?;
        }
        for (name, spec) in &scene.sections {
            let at = self.root.field("section").field(name);
            section(spec)
                .properties()
                .map_err(|error| at.field(error.field).refuse(error.value, error.requirement))?;
        }
        for (index, spec) in scene.box_trusses.iter().enumerate() {
            self.box_truss(spec, &format!("box_truss[{index}]"))?;
        }
        for (index, spec) in scene.members.iter().enumerate() {
            self.member(spec, &format!("member[{index}]"), mesh)?;
        }
        Ok(())
    }

    fn room_for(&self, count: usize, path: &str) -> Result<(), SceneError> {
        if self.members.len().saturating_add(count) > MAX_MEMBERS {
            return Err(self.root.field(path).refuse(
                format!("{count} members"),
                format!("such that there are at most {MAX_MEMBERS} in all"),
            ));
        }
        Ok(())
    }

    fn box_truss(&mut self, spec: &BoxTruss, path: &str) -> Result<(), SceneError> {
        let (bays, first) = (spec.bays, self.nodes.positions.len());
        self.room_for(13 * bays + 5, path)?;
        let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        for k in 0..=bays {
            for [y, z] in corners {
                let step = [k as f64, y, z];
                self.nodes.positions.push(std::array::from_fn(|i| spec.origin[i] + step[i] * spec.bay[i]));
            }
        }
        let (material, section) =
            (material(&self.scene.materials[&spec.material]), section(&self.scene.sections[&spec.section]));
        let bar = Truss::new(&material, &section).map_err(|error| self.value(&error, path))?;
        let start = self.members.len();
        let node = |k: usize, c: usize| first + 4 * k + c % 4;
        for k in 0..=bays {
            let frame = (0..4).map(|c| [node(k, c), node(k, c + 1)]).chain([[node(k, 0), node(k, 2)]]);
            let along = (0..if k < bays { 4 } else { 0 })
                .flat_map(|c| [[node(k, c), node(k + 1, c)], [node(k, c), node(k + 1, c + 1)]]);
            for ends in frame.chain(along) {
                self.members.push((Box::new(bar), ends.to_vec()));
            }
        }
        self.close(&spec.id, start, path);
        Ok(())
    }

    fn close(&mut self, id: &str, start: usize, path: &str) {
        self.groups.push(Group {
            id: id.to_owned(),
            members: start..self.members.len(),
            path: path.to_owned(),
        });
    }

    fn value(&self, error: &ValueError, path: &str) -> SceneError {
        self.root.field(path).field(error.field).refuse(error.value, error.requirement)
    }

    fn member(&mut self, spec: &MemberSpec, path: &str, mesh: Option<&InpModel>) -> Result<(), SceneError> {
        let at = self.root.field(path);
        let start = self.members.len();
        let divisions = spec.divisions.unwrap_or(1);
        let mut pairs: Vec<[usize; 2]> = Vec::new();
        let mut singles: Vec<usize> = Vec::new();
        if let Some(nodes) = &spec.nodes {
            for (i, pair) in nodes.iter().enumerate() {
                let at = at.field("nodes").index(i);
                pairs.push([self.nodes.one(&pair[0], &at)?, self.nodes.one(&pair[1], &at)?]);
            }
        }
        let legs: Vec<&NodeRef> = match (&spec.between, &spec.path) {
            (Some(ends), _) => ends.iter().collect(),
            (None, Some(path)) => path.iter().collect(),
            (None, None) => Vec::new(),
        };
        let field = if spec.between.is_some() { "between" } else { "path" };
        let stops = legs
            .iter()
            .enumerate()
            .map(|(i, node)| self.nodes.one(node, &at.field(field).index(i)))
            .collect::<Result<Vec<_>, _>>()?;
        self.room_for(divisions.saturating_mul(stops.len().saturating_sub(1)), path)?;
        for leg in stops.windows(2) {
            self.divide(leg[0], leg[1], divisions, &mut pairs);
        }
        if let Some(group) = &spec.mesh_group {
            let at = at.field("mesh_group");
            let sets = mesh.map(|mesh| &mesh.element_sets);
            let set = sets.and_then(|sets| sets.get(&group.to_uppercase()));
            let (Some(set), Some(mesh)) = (set, mesh) else {
                let known = || sets.into_iter().flatten().map(|(name, _)| name.as_str());
                return Err(SceneError::Reference {
                    place: at.place(),
                    value: format!("`{group}`"),
                    what: format!(
                        "no such element set; there are {}",
                        known().collect::<Vec<_>>().join(", ")
                    ),
                    suggestion: nearest(&group.to_uppercase(), known()),
                });
            };
            pairs.extend(set.iter().map(|&element| mesh.elements[element]));
        }
        if let Some(selection) = &spec.at {
            singles = self.nodes.all(selection, &at.field("at"))?;
        }
        self.room_for(pairs.len() + singles.len(), path)?;
        for pair in pairs {
            let element = elements::element(self.scene, spec, divisions, &at)?;
            self.members.push((element, pair.to_vec()));
        }
        for node in singles {
            let element = elements::element(self.scene, spec, 1, &at)?;
            self.members.push((element, vec![node]));
        }
        self.close(&spec.id, start, path);
        Ok(())
    }

    /// Joins two nodes by members in a straight line.
    fn divide(&mut self, from: usize, to: usize, divisions: usize, pairs: &mut Vec<[usize; 2]>) {
        let (a, b) = (Vector3::from(self.nodes.positions[from]), Vector3::from(self.nodes.positions[to]));
        let mut before = from;
        for i in 1..=divisions {
            let next = if i == divisions {
                to
            } else {
                self.nodes.positions.push((a + (b - a) * (i as f64 / divisions as f64)).into());
                self.nodes.positions.len() - 1
            };
            pairs.push([before, next]);
            before = next;
        }
    }

    fn finish(
        self,
        mesh: Option<&InpModel>,
        mut warnings: Vec<String>,
    ) -> Result<BuiltStructure, SceneError> {
        let Self { scene, root, nodes, members, groups } = self;
        let mut builder = StructureBuilder::new();
        builder.nodes(nodes.positions.iter().copied());
        if scene.structure.planar {
            builder.planar();
        }
        builder.mass(scene.structure.mass.into());
        if let Some([mass_factor, stiffness_factor]) = scene.structure.rayleigh {
            builder.rayleigh_damping(mass_factor, stiffness_factor);
        }
        for (element, ends) in members {
            builder.boxed_element(element, &ends);
        }
        // Which table each support and load of the structure came from, for errors.
        let (mut supports, mut loads) = (Vec::new(), Vec::new());
        if let Some(mesh) = mesh {
            for &(node, first, last, value) in &mesh.boundaries {
                for direction in &Direction::ALL[first..=last] {
                    if scene.structure.planar && out_of_plane(*direction) {
                        continue;
                    }
                    builder.prescribe(node, *direction, value, TimeFunction::Constant);
                    supports.push("structure.mesh".to_owned());
                }
            }
            for &(node, direction, value) in &mesh.loads {
                builder.force(node, Direction::ALL[direction], value);
                loads.push("structure.mesh".to_owned());
            }
        }
        for (index, support) in scene.supports.iter().enumerate() {
            let at = root.field("support").index(index);
            let directions: Vec<Direction> = match &support.fix {
                FixSpec::List(list) => list.clone(),
                FixSpec::Word(word) => {
                    let all = if *word == FixWord::Pin { 3 } else { 6 };
                    let kept = |d: &&Direction| !(scene.structure.planar && out_of_plane(**d));
                    Direction::ALL[..all].iter().filter(kept).copied().collect()
                }
            };
            if directions.is_empty() {
                return Err(at.field("fix").refuse("[]", "one direction or more"));
            }
            for node in nodes.all(&support.at, &at.field("at"))? {
                for &direction in &directions {
                    builder.prescribe(node, direction, support.value, support.function.clone());
                    supports.push(format!("support[{index}]"));
                }
            }
        }
        for (index, load) in scene.loads.iter().enumerate() {
            let path = format!("load[{index}]");
            let mut add = |load: Load, group: usize, function: &TimeFunction| {
                builder.timed_load(group, load, function.clone());
                loads.push(path.clone());
            };
            match load {
                LoadSpec::Force(spec) => {
                    for node in nodes.all(&spec.at, &root.field(&path).field("at"))? {
                        let load = Load::Force { node, direction: spec.direction, value: spec.value };
                        add(load, spec.acts.group(), &spec.function);
                    }
                }
                LoadSpec::Uniform(spec) => {
                    let group = groups.iter().find(|group| group.id == spec.member);
                    for element in group.map_or(0..0, |group| group.members.clone()) {
                        let load = Load::Uniform { element, force: spec.force };
                        add(load, spec.acts.group(), &spec.function);
                    }
                }
                LoadSpec::Gravity(spec) => {
                    let load = Load::Gravity { acceleration: spec.acceleration };
                    add(load, spec.acts.group(), &spec.function);
                }
                LoadSpec::BaseAcceleration(spec) => {
                    let load = Load::BaseAcceleration { acceleration: spec.acceleration };
                    add(load, spec.acts.group(), &spec.function);
                }
            }
        }
        let structure = builder.build().map_err(|error| {
            let path = culprit(&error, &groups, &supports, &loads);
            SceneError::Model {
                place: root.field(&path).place(),
                message: crate::model::with_sources(&error),
            }
        })?;
        warnings.extend(structure.warnings().iter().map(ToString::to_string));
        Ok(BuiltStructure { structure: Arc::new(structure), groups, warnings, nodes })
    }
}

/// Directions that a planar structure holds itself.
fn out_of_plane(direction: Direction) -> bool {
    matches!(direction, Direction::Z | Direction::Rx | Direction::Ry)
}

/// The table that an error is about.
fn culprit(error: &StructureError, groups: &[Group], supports: &[String], loads: &[String]) -> String {
    let of_member = |index: usize| {
        let group = groups.iter().find(|group| group.members.contains(&index));
        group.map_or_else(|| "member".to_owned(), |group| group.path.clone())
    };
    let of = |what: &str, index: usize| match what {
        "element" => of_member(index),
        "support" => supports.get(index).cloned().unwrap_or_else(|| "support".to_owned()),
        "load" => loads.get(index).cloned().unwrap_or_else(|| "load".to_owned()),
        _ => "structure".to_owned(),
    };
    match error {
        StructureError::NodeCount { index, .. }
        | StructureError::Element { index, .. }
        | StructureError::NotFinite { index, .. } => of_member(*index),
        StructureError::NoNode { what, index, .. }
        | StructureError::NoRotation { what, index, .. }
        | StructureError::Value { what, index, .. }
        | StructureError::TimeFunction { what, index, .. } => of(what, *index),
        StructureError::NoElement { index, .. } => of("load", *index),
        StructureError::SupportedTwice { .. } => "support".to_owned(),
        _ => "structure".to_owned(),
    }
}
