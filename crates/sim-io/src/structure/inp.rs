//! Nodes, two-node elements, sets, supports and loads from an Abaqus or `CalculiX` input file.
//!
//! Read are `*NODE`, `*ELEMENT` (T2D2, T3D2, B21, B23, B31, B33: two nodes each), `*NSET`, `*ELSET` (with `GENERATE`), `*BOUNDARY` and
//! `*CLOAD`. What the scene file says itself (materials, sections, steps, output) is passed over and listed; any other keyword is refused.
//! No maintained parser crate for this format is known; the format is described in the `CalculiX` `CrunchiX` manual, "Input deck format".
//!
//! # Limitations
//! Parts, assemblies, instances and `INPUT=` files are refused. Units are those of the file: they must be SI.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// A file that cannot be read as a structure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InpError {
    /// The file cannot be read.
    #[error("{path}: cannot be read")]
    Read {
        /// Path.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A line that cannot be understood.
    #[error("{path}:{line}: {message}")]
    Line {
        /// Path.
        path: String,
        /// From 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
}

/// What was read. Nodes and elements are numbered from 0 in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct InpModel {
    pub nodes: Vec<[f64; 3]>,
    pub elements: Vec<[usize; 2]>,
    /// Node sets by upper-case name.
    pub node_sets: BTreeMap<String, Vec<usize>>,
    /// Element sets by upper-case name.
    pub element_sets: BTreeMap<String, Vec<usize>>,
    /// Node, first and last direction (0 to 5), displacement.
    pub boundaries: Vec<(usize, usize, usize, f64)>,
    /// Node, direction (0 to 5), force.
    pub loads: Vec<(usize, usize, f64)>,
    /// Keywords that were passed over, with their first line.
    pub passed_over: BTreeMap<String, usize>,
}

/// Keywords whose meaning the scene file states itself.
const PASSED_OVER: &[&str] = &[
    "HEADING",
    "MATERIAL",
    "ELASTIC",
    "DENSITY",
    "PLASTIC",
    "SOLID SECTION",
    "BEAM SECTION",
    "BEAM GENERAL SECTION",
    "STEP",
    "STATIC",
    "FREQUENCY",
    "BUCKLE",
    "DYNAMIC",
    "MODAL DYNAMIC",
    "END STEP",
    "NODE PRINT",
    "NODE FILE",
    "EL PRINT",
    "EL FILE",
    "ELEMENT OUTPUT",
    "NODE OUTPUT",
    "OUTPUT",
    "RESTART",
    "PREPRINT",
    "PRINT",
];

const ELEMENT_TYPES: &[&str] = &["T2D2", "T3D2", "B21", "B23", "B31", "B33"];

/// What data lines belong to.
enum Section {
    Nodes { set: Option<String> },
    Elements { set: Option<String> },
    NodeSet { name: String, generate: bool },
    ElementSet { name: String, generate: bool },
    Boundary,
    Cload,
    Ignored,
}

struct Reader {
    path: String,
    model: InpModel,
    node_index: HashMap<u64, usize>,
    element_index: HashMap<u64, usize>,
}

/// Reads a file.
///
/// # Errors
/// [`InpError`] naming the line.
pub(super) fn read(path: &Path) -> Result<InpModel, InpError> {
    let bytes =
        std::fs::read(path).map_err(|source| InpError::Read { path: path.display().to_string(), source })?;
    parse(&path.display().to_string(), &String::from_utf8_lossy(&bytes))
}

/// Reads text; `path` is for messages.
pub(super) fn parse(path: &str, text: &str) -> Result<InpModel, InpError> {
    let mut reader = Reader {
        path: path.to_owned(),
        model: InpModel::default(),
        node_index: HashMap::new(),
        element_index: HashMap::new(),
    };
    let mut section = Section::Ignored;
    let mut began = false;
    for (index, raw) in text.lines().enumerate() {
        let (line, number) = (raw.trim(), index + 1);
        if line.is_empty() || line.starts_with("**") {
            continue;
        }
        if let Some(keyword) = line.strip_prefix('*') {
            section = reader.keyword(keyword, number)?;
            began = true;
        } else if began {
            reader.data(&section, line, number)?;
        } else {
            return Err(
                reader.wrong(number, format!("expected a keyword such as *NODE, found `{}`", excerpt(line)))
            );
        }
    }
    let last = text.lines().count();
    if reader.model.nodes.is_empty() {
        return Err(reader.wrong(last, "the file ends without any node (*NODE)"));
    }
    if reader.model.elements.is_empty() {
        return Err(reader.wrong(last, "the file ends without any two-node element (*ELEMENT)"));
    }
    Ok(reader.model)
}

fn excerpt(line: &str) -> String {
    line.chars().take(40).collect()
}

impl Reader {
    fn wrong(&self, line: usize, message: impl Into<String>) -> InpError {
        InpError::Line { path: self.path.clone(), line, message: message.into() }
    }

    fn keyword(&mut self, text: &str, line: usize) -> Result<Section, InpError> {
        let mut words = text.split(',').map(str::trim);
        let keyword = words.next().unwrap_or_default().to_uppercase();
        let mut parameters: HashMap<String, String> = HashMap::new();
        for word in words.filter(|word| !word.is_empty()) {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            parameters.insert(key.trim().to_uppercase(), value.trim().to_uppercase());
        }
        if let Some(file) = parameters.get("INPUT") {
            return Err(self.wrong(line, format!("INPUT={file}: other files are not read")));
        }
        let needed = |name: &str| {
            parameters
                .get(name)
                .filter(|value| !value.is_empty())
                .cloned()
                .ok_or_else(|| self.wrong(line, format!("*{keyword} needs {name}=")))
        };
        Ok(match keyword.as_str() {
            "NODE" => Section::Nodes { set: parameters.get("NSET").cloned() },
            "ELEMENT" => {
                let kind = needed("TYPE")?;
                if !ELEMENT_TYPES.contains(&kind.as_str()) {
                    let known = ELEMENT_TYPES.join(", ");
                    return Err(self.wrong(line, format!("element type {kind} is not one of {known}")));
                }
                Section::Elements { set: parameters.get("ELSET").cloned() }
            }
            "NSET" => {
                Section::NodeSet { name: needed("NSET")?, generate: parameters.contains_key("GENERATE") }
            }
            "ELSET" => {
                Section::ElementSet { name: needed("ELSET")?, generate: parameters.contains_key("GENERATE") }
            }
            "BOUNDARY" => Section::Boundary,
            "CLOAD" => Section::Cload,
            known if PASSED_OVER.contains(&known) => {
                self.model.passed_over.entry(keyword).or_insert(line);
                Section::Ignored
            }
            _ => return Err(self.wrong(line, format!("keyword *{keyword} is not read by this version"))),
        })
    }

    fn data(&mut self, section: &Section, text: &str, line: usize) -> Result<(), InpError> {
        let fields: Vec<&str> = text.trim_end_matches(',').split(',').map(str::trim).collect();
        match section {
            Section::Ignored => Ok(()),
            Section::Nodes { set } => {
                if !(2..=4).contains(&fields.len()) {
                    let count = fields.len();
                    return Err(self.wrong(
                        line,
                        format!("a node needs a number and 1 to 3 coordinates, found {count} fields"),
                    ));
                }
                let tag = self.tag(fields[0], line)?;
                let mut position = [0.0; 3];
                for (target, field) in position.iter_mut().zip(&fields[1..]) {
                    *target = self.number(field, line)?;
                }
                let index = self.model.nodes.len();
                if self.node_index.insert(tag, index).is_some() {
                    return Err(self.wrong(line, format!("node {tag} is defined twice")));
                }
                self.model.nodes.push(position);
                if let Some(set) = set {
                    self.model.node_sets.entry(set.clone()).or_default().push(index);
                }
                Ok(())
            }
            Section::Elements { set } => {
                if fields.len() != 3 {
                    let count = fields.len();
                    return Err(self.wrong(
                        line,
                        format!("a two-node element needs its number and two nodes, found {count} fields"),
                    ));
                }
                let tag = self.tag(fields[0], line)?;
                let ends = [self.node(fields[1], line)?, self.node(fields[2], line)?];
                let index = self.model.elements.len();
                if self.element_index.insert(tag, index).is_some() {
                    return Err(self.wrong(line, format!("element {tag} is defined twice")));
                }
                self.model.elements.push(ends);
                if let Some(set) = set {
                    self.model.element_sets.entry(set.clone()).or_default().push(index);
                }
                Ok(())
            }
            Section::NodeSet { name, generate } => {
                let members = self.members(&fields, *generate, true, line)?;
                self.model.node_sets.entry(name.clone()).or_default().extend(members);
                Ok(())
            }
            Section::ElementSet { name, generate } => {
                let members = self.members(&fields, *generate, false, line)?;
                self.model.element_sets.entry(name.clone()).or_default().extend(members);
                Ok(())
            }
            Section::Boundary => {
                if !(2..=4).contains(&fields.len()) {
                    return Err(self.wrong(
                        line,
                        "a support needs node or set, first and last direction, and perhaps a value",
                    ));
                }
                let nodes = self.nodes(fields[0], line)?;
                let first = self.direction(fields[1], line)?;
                let last = match fields.get(2) {
                    Some(field) if !field.is_empty() => self.direction(field, line)?,
                    _ => first,
                };
                if last < first {
                    return Err(self.wrong(
                        line,
                        format!(
                            "directions {} to {}: the last must not be below the first",
                            first + 1,
                            last + 1
                        ),
                    ));
                }
                let value = fields.get(3).map_or(Ok(0.0), |field| self.number(field, line))?;
                self.model.boundaries.extend(nodes.into_iter().map(|node| (node, first, last, value)));
                Ok(())
            }
            Section::Cload => {
                if fields.len() != 3 {
                    return Err(self.wrong(line, "a load needs node or set, direction and value"));
                }
                let nodes = self.nodes(fields[0], line)?;
                let direction = self.direction(fields[1], line)?;
                let value = self.number(fields[2], line)?;
                self.model.loads.extend(nodes.into_iter().map(|node| (node, direction, value)));
                Ok(())
            }
        }
    }

    fn number(&self, text: &str, line: usize) -> Result<f64, InpError> {
        // Fortran writes exponents with D.
        let value: Option<f64> = text.replace(['D', 'd'], "e").parse().ok();
        value
            .filter(|value| value.is_finite())
            .ok_or_else(|| self.wrong(line, format!("`{}` is not a finite number", excerpt(text))))
    }

    fn tag(&self, text: &str, line: usize) -> Result<u64, InpError> {
        text.parse().map_err(|_| {
            self.wrong(line, format!("`{}` is not a number of a node or element", excerpt(text)))
        })
    }

    fn node(&self, text: &str, line: usize) -> Result<usize, InpError> {
        let tag = self.tag(text, line)?;
        self.node_index
            .get(&tag)
            .copied()
            .ok_or_else(|| self.wrong(line, format!("there is no node {tag} before this line")))
    }

    /// A node, or the nodes of a set.
    fn nodes(&self, text: &str, line: usize) -> Result<Vec<usize>, InpError> {
        if text.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(vec![self.node(text, line)?]);
        }
        let set = self.model.node_sets.get(&text.to_uppercase());
        set.cloned().ok_or_else(|| {
            self.wrong(line, format!("there is no node set `{}` before this line", excerpt(text)))
        })
    }

    fn direction(&self, text: &str, line: usize) -> Result<usize, InpError> {
        match text.parse::<usize>() {
            Ok(direction @ 1..=6) => Ok(direction - 1),
            _ => Err(self.wrong(line, format!("direction `{}` must be 1 to 6", excerpt(text)))),
        }
    }

    fn members(
        &self,
        fields: &[&str],
        generate: bool,
        nodes: bool,
        line: usize,
    ) -> Result<Vec<usize>, InpError> {
        let index = if nodes { &self.node_index } else { &self.element_index };
        let what = if nodes { "node" } else { "element" };
        let find = |tag: u64| {
            index
                .get(&tag)
                .copied()
                .ok_or_else(|| self.wrong(line, format!("there is no {what} {tag} before this line")))
        };
        if generate {
            let (first, last, step) = match *fields {
                [first, last] => (self.tag(first, line)?, self.tag(last, line)?, 1),
                [first, last, step] => (self.tag(first, line)?, self.tag(last, line)?, self.tag(step, line)?),
                _ => return Err(self.wrong(line, "GENERATE needs first, last and perhaps a step")),
            };
            let most = index.len() as u64;
            if step == 0 || last < first || (last - first) / step >= most {
                return Err(
                    self.wrong(line, format!("{first} to {last} by {step}: not a range of existing {what}s"))
                );
            }
            return (first..=last).step_by(step as usize).map(find).collect();
        }
        let mut members = Vec::new();
        for field in fields.iter().filter(|field| !field.is_empty()) {
            if field.bytes().all(|b| b.is_ascii_digit()) {
                members.push(find(self.tag(field, line)?)?);
                continue;
            }
            let sets = if nodes { &self.model.node_sets } else { &self.model.element_sets };
            let set = sets.get(&field.to_uppercase()).ok_or_else(|| {
                self.wrong(line, format!("there is no set `{}` before this line", excerpt(field)))
            })?;
            members.extend(set);
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "*HEADING\nTwo bars\n** comment\n*Node, nset=All\n1, 0, 0\n 2, 1.0D0, 0., 0.\n5, 2, 1\n\
        *ELEMENT, TYPE=T3D2, ELSET=BARS\n10, 1, 2\n11, 2, 5\n*ELSET, ELSET=BOTH, GENERATE\n10, 11\n*NSET, NSET=ENDS\n1, 5,\n\
        *BOUNDARY\nENDS, 1, 3\n*STEP\n*STATIC\n*CLOAD\n2, 2, -1000\n*END STEP\n";

    #[test]
    fn a_small_file_is_read() {
        let model = parse("a.inp", GOOD).unwrap();
        assert_eq!(model.nodes, [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 1.0, 0.0]]);
        assert_eq!(model.elements, [[0, 1], [1, 2]]);
        assert_eq!(model.element_sets["BOTH"], [0, 1]);
        assert_eq!(model.boundaries, [(0, 0, 2, 0.0), (2, 0, 2, 0.0)]);
        assert_eq!(model.loads, [(1, 1, -1000.0)]);
        let passed: Vec<_> = model.passed_over.iter().map(|(k, line)| (k.as_str(), *line)).collect();
        assert_eq!(passed, [("END STEP", 21), ("HEADING", 1), ("STATIC", 18), ("STEP", 17)]);
    }

    #[test]
    fn errors_name_line_and_culprit() {
        for (from, to, line, fragment) in [
            ("10, 1, 2", "10, 1, 7", 9, "no node 7"),
            ("10, 1, 2", "10, 1", 9, "found 2 fields"),
            ("11, 2, 5", "10, 2, 5", 10, "element 10 is defined twice"),
            ("5, 2, 1", "2, 2, 1", 7, "node 2 is defined twice"),
            ("5, 2, 1", "5, 2, x", 7, "`x` is not a finite number"),
            ("5, 2, 1", "5, 2, 1e999", 7, "1e999"),
            ("5, 2, 1", "5, 2, nan", 7, "nan"),
            ("T3D2", "C3D8", 8, "C3D8"),
            ("TYPE=T3D2, ", "", 8, "needs TYPE="),
            ("ENDS, 1, 3", "ENDS, 3, 1", 16, "must not be below"),
            ("ENDS, 1, 3", "TOPS, 1, 3", 16, "no node set `TOPS`"),
            ("2, 2, -1000", "2, 7, -1000", 20, "must be 1 to 6"),
            ("2, 2, -1000", "2, 2", 20, "direction and value"),
            ("10, 11\n", "10, 99999999999\n", 12, "not a range"),
            ("10, 11\n", "10, 11, 0\n", 12, "by 0"),
            ("*STATIC", "*CONTACT PAIR", 18, "CONTACT PAIR"),
            ("*STATIC", "*INCLUDE, INPUT=x.inp", 18, "INPUT=X.INP"),
            ("*HEADING", "HEADING", 1, "expected a keyword"),
        ] {
            assert!(GOOD.contains(from), "{from}");
            match parse("a.inp", &GOOD.replacen(from, to, 1)).unwrap_err() {
                InpError::Line { line: found, message, .. } => {
                    assert_eq!(found, line, "{from} -> {to}: {message}");
                    assert!(message.contains(fragment), "{from} -> {to}: {message}");
                }
                InpError::Read { .. } => panic!("nothing was read"),
            }
        }
        assert!(parse("a.inp", "").unwrap_err().to_string().contains("without any node"));
        assert!(parse("a.inp", "*NODE\n1,0,0,0\n").unwrap_err().to_string().contains("two-node element"));
    }
}
