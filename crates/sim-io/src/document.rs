//! A scene file of either kind.

use crate::scene::error::SceneError;
use crate::scene::probe::Expectation;
use crate::scene::source::Source;
use crate::scene::{Header, Scene, read};
use crate::structure::StructureScene;
use std::path::PathBuf;

/// A motion or a structure; a file with an `[analysis]` is a structure.
#[derive(Clone, Debug, PartialEq)]
pub enum Document {
    /// Parts that move, stepped by a method.
    Motion(Box<Scene>),
    /// Members that are analysed.
    Structure(Box<StructureScene>),
}

impl Document {
    /// Reads a scene file (`.json` is JSON, anything else TOML) or, when there is no such file, the built-in scene of that
    /// name; applies `path=value` overrides and checks everything that can be checked without building it.
    ///
    /// # Errors
    /// [`SceneError`] naming file, field, line and value.
    pub fn load(name: &str, overrides: &[String]) -> Result<Self, SceneError> {
        let (mut source, folder) = read::locate(name)?;
        overrides.clone_into(&mut source.changes);
        Self::read(&source, overrides, folder)
    }

    /// Reads a scene from TOML text. `folder` is where file names in it start.
    ///
    /// # Errors
    /// As [`Document::load`].
    pub fn from_toml(file: &str, text: &str, folder: impl Into<PathBuf>) -> Result<Self, SceneError> {
        Self::read(&Source::new(file, text, true), &[], folder.into())
    }

    fn read(source: &Source, overrides: &[String], folder: PathBuf) -> Result<Self, SceneError> {
        let tree = read::tree(source, overrides)?;
        if ["analysis", "member", "box_truss"].iter().any(|table| tree.contains_key(*table)) {
            return StructureScene::of_tree(tree, source, folder)
                .map(|scene| Self::Structure(Box::new(scene)));
        }
        Scene::of_tree(tree, source, folder).map(|scene| Self::Motion(Box::new(scene)))
    }

    /// Names and words for people.
    pub fn header(&self) -> &Header {
        match self {
            Self::Motion(scene) => &scene.header,
            Self::Structure(scene) => &scene.header,
        }
    }

    /// Values from theory that its probes must meet.
    pub fn expectations(&self) -> &[Expectation] {
        match self {
            Self::Motion(scene) => &scene.expectations,
            Self::Structure(scene) => &scene.expectations,
        }
    }
}
