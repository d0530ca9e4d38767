//! How a file names nodes.

use serde::de::{Error, MapAccess, SeqAccess, Unexpected, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// One node: its number, or the name that a `[[node]]` table gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeRef {
    /// Number from 0.
    Number(usize),
    /// Name.
    Name(String),
}

/// Which nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeSelection {
    /// One node.
    One(NodeRef),
    /// Several, in order.
    List(Vec<NodeRef>),
    /// Every node.
    All,
    /// By place.
    Place(NodePlace),
}

/// Nodes chosen by where they are.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NodePlace {
    /// The node nearest to a point in m; of equals the first.
    Nearest([f64; 3]),
    /// Every node in an axis-parallel box `[lowest, highest]` in m, borders included.
    Within([[f64; 3]; 2]),
    /// Every so many nodes: `[first, step]`.
    Every([usize; 2]),
}

fn number<E: Error>(index: i64) -> Result<NodeRef, E> {
    usize::try_from(index)
        .map(NodeRef::Number)
        .map_err(|_| E::invalid_value(Unexpected::Signed(index), &"a node number, 0 or more"))
}

impl<'de> Deserialize<'de> for NodeRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl Visitor<'_> for Forms {
            type Value = NodeRef;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a node number or the name of a node")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<NodeRef, E> {
                Ok(NodeRef::Name(name.to_owned()))
            }
            fn visit_u64<E: Error>(self, index: u64) -> Result<NodeRef, E> {
                Ok(NodeRef::Number(usize::try_from(index).unwrap_or(usize::MAX)))
            }
            fn visit_i64<E: Error>(self, index: i64) -> Result<NodeRef, E> {
                number(index)
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

impl<'de> Deserialize<'de> for NodeSelection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl<'de> Visitor<'de> for Forms {
            type Value = NodeSelection;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a node number, a node name, \"all\", a list of numbers and names, { nearest = [x, y, z] }, \
                     { within = [[x, y, z], [x, y, z]] } or { every = [first, step] }",
                )
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<NodeSelection, E> {
                Ok(match word {
                    "all" => NodeSelection::All,
                    name => NodeSelection::One(NodeRef::Name(name.to_owned())),
                })
            }
            fn visit_u64<E: Error>(self, index: u64) -> Result<NodeSelection, E> {
                Ok(NodeSelection::One(NodeRef::Number(usize::try_from(index).unwrap_or(usize::MAX))))
            }
            fn visit_i64<E: Error>(self, index: i64) -> Result<NodeSelection, E> {
                number(index).map(NodeSelection::One)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<NodeSelection, A::Error> {
                let mut nodes = Vec::new();
                while let Some(node) = list.next_element()? {
                    nodes.push(node);
                }
                Ok(NodeSelection::List(nodes))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<NodeSelection, A::Error> {
                NodePlace::deserialize(MapAccessDeserializer::new(map)).map(NodeSelection::Place)
            }
        }
        deserializer.deserialize_any(Forms)
    }
}
