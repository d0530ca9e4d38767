//! Nodes by number, name and place.

use crate::scene::check::At;
use crate::scene::error::{SceneError, nearest};
use crate::structure::reference::{NodePlace, NodeRef, NodeSelection};
use nalgebra::Vector3;
use std::collections::BTreeMap;

/// Positions and names of nodes.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub positions: Vec<[f64; 3]>,
    pub names: BTreeMap<String, usize>,
    pub sets: BTreeMap<String, Vec<usize>>,
}

impl Nodes {
    pub fn one(&self, node: &NodeRef, at: &At<'_>) -> Result<usize, SceneError> {
        match node {
            NodeRef::Number(number) if *number < self.positions.len() => Ok(*number),
            NodeRef::Number(number) => Err(SceneError::Reference {
                place: at.place(),
                value: number.to_string(),
                what: match self.positions.len() {
                    0 => "there are no nodes here yet".to_owned(),
                    count => format!("nodes run from 0 to {}", count - 1),
                },
                suggestion: None,
            }),
            NodeRef::Name(name) => self.names.get(name).copied().ok_or_else(|| self.no_name(name, at)),
        }
    }

    fn no_name(&self, name: &str, at: &At<'_>) -> SceneError {
        let known = self.names.keys().chain(self.sets.keys()).map(String::as_str);
        SceneError::Reference {
            place: at.place(),
            value: format!("`{name}`"),
            what: "there is no node or node set of that name".to_owned(),
            suggestion: nearest(name, known),
        }
    }

    pub fn all(&self, selection: &NodeSelection, at: &At<'_>) -> Result<Vec<usize>, SceneError> {
        let nodes = match selection {
            NodeSelection::One(NodeRef::Name(name)) if !self.names.contains_key(name) => {
                let set = self.sets.get(&name.to_uppercase());
                set.cloned().ok_or_else(|| self.no_name(name, at))?
            }
            NodeSelection::One(node) => vec![self.one(node, at)?],
            NodeSelection::List(list) => {
                let place = |(i, node)| self.one(node, &at.index(i));
                list.iter().enumerate().map(place).collect::<Result<_, _>>()?
            }
            NodeSelection::All => (0..self.positions.len()).collect(),
            NodeSelection::Place(NodePlace::Nearest(point)) => {
                let distance =
                    |i: &usize| (Vector3::from(self.positions[*i]) - Vector3::from(*point)).norm_squared();
                let nearest = (0..self.positions.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
                nearest.into_iter().collect()
            }
            NodeSelection::Place(NodePlace::Within([low, high])) => {
                let inside = |x: &[f64; 3]| (0..3).all(|k| (low[k]..=high[k]).contains(&x[k]));
                (0..self.positions.len()).filter(|&i| inside(&self.positions[i])).collect()
            }
            NodeSelection::Place(NodePlace::Every([_, 0])) => {
                return Err(at.refuse("step 0", "a step of 1 or more"));
            }
            NodeSelection::Place(NodePlace::Every([first, step])) => {
                (*first..self.positions.len()).step_by(*step).collect()
            }
        };
        if nodes.is_empty() {
            return Err(at.refuse("that", "at least one node: none is there"));
        }
        Ok(nodes)
    }
}
