//! Why a scene was refused.

use crate::mesh::MeshError;
use serde::Serialize;
use std::fmt;

/// Where in which file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// File, or the name of a built-in scene.
    pub file: String,
    /// Dotted path of the field, e.g. `part[0].segments`; empty for the file as a whole.
    pub field: String,
    /// Line in the file, from 1, where the parser knows it.
    pub line: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.field.is_empty() {
            write!(f, ": `{}`", self.field)?;
        }
        Ok(())
    }
}

/// A scene that cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// Neither a file nor a built-in scene of that name.
    #[error("no scene file or built-in scene `{name}`{}; built in: {known}", did_you_mean(suggestion.as_deref()))]
    NotFound {
        /// What was asked for.
        name: String,
        /// Nearest name.
        suggestion: Option<String>,
        /// All names, separated by commas.
        known: String,
    },
    /// The file cannot be read.
    #[error("{place}: cannot be read")]
    Read {
        /// File, and the field that names it if any.
        place: Box<Place>,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The text is neither TOML nor JSON (as its name says).
    #[error("{place}: {message}")]
    Syntax {
        /// File and line.
        place: Box<Place>,
        /// What the parser says.
        message: String,
    },
    /// A field that the schema does not have.
    #[error("{place}: unknown field{}; known here: {known}", did_you_mean(suggestion.as_deref()))]
    UnknownField {
        /// The field.
        place: Box<Place>,
        /// Nearest known field.
        suggestion: Option<String>,
        /// All known fields at this place.
        known: String,
    },
    /// A word (kind, component, method …) that is not in the list.
    #[error("{place}: unknown word `{value}`{}; known here: {known}", did_you_mean(suggestion.as_deref()))]
    UnknownWord {
        /// The field.
        place: Box<Place>,
        /// The word.
        value: String,
        /// Nearest known word.
        suggestion: Option<String>,
        /// All known words at this place.
        known: String,
    },
    /// A word of the schema that this version cannot run yet.
    #[error("{place}: `{value}` is not supported yet by this version ({note})")]
    NotSupported {
        /// The field.
        place: Box<Place>,
        /// The word.
        value: String,
        /// What to use instead.
        note: &'static str,
    },
    /// A field is missing.
    #[error("{place}: missing ({requirement})")]
    Missing {
        /// The missing field.
        place: Box<Place>,
        /// Why it is needed.
        requirement: String,
    },
    /// A value of the wrong type.
    #[error("{place}: {message}")]
    Type {
        /// The field.
        place: Box<Place>,
        /// What was found and what is needed.
        message: String,
    },
    /// A value out of range.
    #[error("{place} = {value}: must be {requirement}")]
    Value {
        /// The field.
        place: Box<Place>,
        /// The value.
        value: String,
        /// What it must be.
        requirement: String,
    },
    /// Two fields that exclude each other.
    #[error("{place}: given together with `{other}`; give one of them")]
    Conflict {
        /// The field.
        place: Box<Place>,
        /// The other field.
        other: String,
    },
    /// A part, probe, material or particle that does not exist.
    #[error("{place} = {value}: {what}{}", did_you_mean(suggestion.as_deref()))]
    Reference {
        /// The field.
        place: Box<Place>,
        /// What was asked for.
        value: String,
        /// What does not exist, and what does.
        what: String,
        /// Nearest existing name.
        suggestion: Option<String>,
    },
    /// A name used twice.
    #[error("{place} = `{value}`: already used by `{first}`")]
    Duplicate {
        /// The second use.
        place: Box<Place>,
        /// The name.
        value: String,
        /// Path of the first use.
        first: String,
    },
    /// A `--set` argument that cannot be applied.
    #[error("--set {text}: {reason}")]
    Override {
        /// The argument.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A mesh file was refused.
    #[error("{place}: {source}")]
    Mesh {
        /// The field that names the mesh.
        place: Box<Place>,
        /// Why.
        #[source]
        source: MeshError,
    },
    /// The model refuses what the scene asks for.
    #[error("{place}: {message}")]
    Model {
        /// The part or table it comes from.
        place: Box<Place>,
        /// What the model says.
        message: String,
    },
}

/// `; did you mean …?` for messages.
fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map(|word| format!("; did you mean `{word}`?")).unwrap_or_default()
}

/// The known word nearest to `word`, if it is near enough to be meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let near = known.into_iter().map(|k| (strsim::damerau_levenshtein(word, k), k)).min()?;
    // A third of the letters may differ: more is another word.
    (near.0 <= (word.chars().count() / 3).max(1)).then(|| near.1.to_owned())
}

impl SceneError {
    /// One word for scripts.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not_found",
            Self::Read { .. } => "read",
            Self::Syntax { .. } => "syntax",
            Self::UnknownField { .. } => "unknown_field",
            Self::UnknownWord { .. } => "unknown_word",
            Self::NotSupported { .. } => "not_supported",
            Self::Missing { .. } => "missing",
            Self::Type { .. } => "type",
            Self::Value { .. } => "value",
            Self::Conflict { .. } => "conflict",
            Self::Reference { .. } => "reference",
            Self::Duplicate { .. } => "duplicate",
            Self::Override { .. } => "override",
            Self::Mesh { .. } => "mesh",
            Self::Model { .. } => "model",
        }
    }

    /// File, field and line, where the error has them.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::NotFound { .. } | Self::Override { .. } => None,
            Self::Read { place, .. }
            | Self::Syntax { place, .. }
            | Self::UnknownField { place, .. }
            | Self::UnknownWord { place, .. }
            | Self::NotSupported { place, .. }
            | Self::Missing { place, .. }
            | Self::Type { place, .. }
            | Self::Value { place, .. }
            | Self::Conflict { place, .. }
            | Self::Reference { place, .. }
            | Self::Duplicate { place, .. }
            | Self::Mesh { place, .. }
            | Self::Model { place, .. } => Some(place),
        }
    }

    /// The offending value, where the error has one.
    pub fn value(&self) -> Option<&str> {
        match self {
            Self::UnknownWord { value, .. }
            | Self::NotSupported { value, .. }
            | Self::Value { value, .. }
            | Self::Reference { value, .. }
            | Self::Duplicate { value, .. } => Some(value),
            Self::NotFound { name, .. } => Some(name),
            Self::Override { text, .. } => Some(text),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_word_is_near() {
        assert_eq!(
            nearest("bend_stifness", ["bending_stiffness", "axial_stiffness"]).as_deref(),
            Some("bending_stiffness")
        );
        assert_eq!(nearest("lenght", ["length", "segments"]).as_deref(), Some("length"));
        assert_eq!(nearest("wind", ["gravity"]), None);
    }

    #[test]
    fn place_reads_like_a_compiler_message() {
        let place = Place { file: "a.toml".into(), field: "part[0].segments".into(), line: Some(7) };
        assert_eq!(place.to_string(), "a.toml:7: `part[0].segments`");
    }
}
