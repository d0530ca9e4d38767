//! The text of a scene, and where in it a field stands.

use super::error::{Place, SceneError};
use toml::de::{DeTable, DeValue};

/// File name and text, kept while a scene is read so that errors can name lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Source {
    /// File or built-in name.
    pub file: String,
    /// What was changed of it before it was read, as `PATH=VALUE`.
    pub changes: Vec<String>,
    text: String,
    toml: bool,
}

impl Source {
    pub fn new(file: impl Into<String>, text: impl Into<String>, toml: bool) -> Self {
        Self { file: file.into(), changes: Vec::new(), text: text.into(), toml }
    }

    /// A path in this file, with the line of the deepest part of it that the file has.
    #[expect(clippy::unnecessary_box_returns, reason = "errors carry a boxed place to stay small")]
    pub fn place(&self, field: &str) -> Box<Place> {
        Box::new(Place { file: self.file.clone(), field: field.to_owned(), line: self.line_of(field) })
    }

    /// Parses the text into a tree.
    pub fn tree(&self) -> Result<toml::Table, SceneError> {
        if self.toml {
            self.text.parse::<toml::Table>().map_err(|error| SceneError::Syntax {
                place: Box::new(Place {
                    file: self.file.clone(),
                    field: String::new(),
                    line: error.span().map(|span| self.line_at(span.start)),
                }),
                message: error.message().to_owned(),
            })
        } else {
            serde_json::from_str(&self.text).map_err(|error| SceneError::Syntax {
                place: Box::new(Place {
                    file: self.file.clone(),
                    field: String::new(),
                    line: (error.line() > 0).then_some(error.line()),
                }),
                message: error.to_string(),
            })
        }
    }

    fn line_at(&self, byte: usize) -> usize {
        1 + self.text.bytes().take(byte).filter(|&b| b == b'\n').count()
    }

    /// Reads the text a second time: only errors pay for it.
    fn line_of(&self, field: &str) -> Option<usize> {
        if !self.toml || field.is_empty() {
            return None;
        }
        let root = DeTable::parse(&self.text).ok()?;
        let mut line = None;
        let mut steps = steps(field).into_iter();
        let first = steps.next()?;
        let (key, mut value) = root.get_ref().get_key_value(first.as_str())?;
        line.replace(self.line_at(key.span().start));
        for step in steps {
            let next = match value.get_ref() {
                DeValue::Table(table) => match table.get_key_value(step.as_str()) {
                    Some((key, next)) => {
                        line.replace(self.line_at(key.span().start));
                        next
                    }
                    None => break,
                },
                DeValue::Array(array) => match step.parse().ok().and_then(|index: usize| array.get(index)) {
                    Some(next) => {
                        line.replace(self.line_at(next.span().start));
                        next
                    }
                    None => break,
                },
                _ => break,
            };
            value = next;
        }
        line
    }
}

/// `part[0].at` and `part.0.at` both become `part`, `0`, `at`.
pub(crate) fn steps(path: &str) -> Vec<String> {
    path.split(['.', '[', ']']).filter(|step| !step.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "[scene]\nname = \"x\"\n\n[[part]]\nid = \"a\"\n[[part]]\nid = \"b\"\nfrom = [0,\n 1]\n";

    #[test]
    fn lines_are_those_of_the_field() {
        let source = Source::new("x.toml", TEXT, true);
        for (field, line) in [
            ("scene", Some(1)),
            ("scene.name", Some(2)),
            ("part[0].id", Some(5)),
            ("part[1].id", Some(7)),
            ("part[1].from[1]", Some(9)),
            ("part[1].missing", Some(6)),
            ("nothing", None),
        ] {
            assert_eq!(source.line_of(field), line, "{field}");
        }
    }

    #[test]
    fn syntax_errors_name_the_line() {
        let error = Source::new("x.toml", "[scene]\nname = = 1\n", true).tree().unwrap_err();
        assert_eq!(error.place().unwrap().line, Some(2));
        let error = Source::new("x.json", "{\n\"scene\": {,}\n}", false).tree().unwrap_err();
        assert_eq!(error.place().unwrap().line, Some(2));
    }
}
