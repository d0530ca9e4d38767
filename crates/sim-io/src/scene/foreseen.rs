//! Words that the schema keeps for capabilities to come. They are refused by name, so that no scene silently loses a part of
//! its meaning, and so that no word is ever given another meaning.

use super::error::SceneError;
use super::source::Source;

const TABLES: &[(&str, &str)] = &[
    ("pulley", "use a `[[collider]]` with a cylinder, or a `belt` whose pulleys have a `drive`"),
    ("solver", "options of linear solvers; `method.options` has those of the method"),
    ("checkpoint", "saving and resuming runs"),
    ("adaptive", "step size by error control; `method.substeps = \"auto\"` chooses by stability"),
];

const PART_KINDS: &[(&str, &str)] = &[
    (
        "truss",
        "bars with joints in a motion; describe a structure with `[[member]]` and `[analysis]` instead",
    ),
    (
        "beam",
        "beams in a motion; describe a structure with `[[member]]` and `[analysis]`, or use a `rope` with `bending_stiffness`",
    ),
    ("rod", "rods with twist; a `rope` with `bending_stiffness` is the nearest"),
    ("solid", "volume elements"),
    ("net", "nets of cables; use `particles`"),
];

const MODELS: &[(&str, &str)] =
    &[("fem", "use `mass_spring` or `xpbd`"), ("cosserat", "use `mass_spring` or `xpbd`")];

const PART_FIELDS: &[(&str, &str)] = &[
    (
        "tension_only",
        "springs that cannot push; use `law = { elastic = { kind = \"cable\", modulus = EA } }`",
    ),
    ("friction", "friction of a part; colliders, pulleys and `[contact]` have it"),
    ("thickness_contact", "a contact thickness of its own; `contact.thickness` is that of all parts"),
    ("twisting_stiffness", "twist"),
];

const FORCE_KINDS: &[(&str, &str)] = &[
    ("magnetic", "magnetic forces"),
    ("pressure", "pressure on faces; `wind` acts on faces"),
    ("buoyancy", "buoyancy"),
];

/// Refuses words of the schema that this version cannot run.
pub(crate) fn refuse(tree: &toml::Table, source: &Source) -> Result<(), SceneError> {
    let error = |field: &str, value: &str, note: &'static str| SceneError::NotSupported {
        place: source.place(field),
        value: value.to_owned(),
        note,
    };
    for (key, note) in TABLES {
        if tree.contains_key(*key) {
            return Err(error(key, key, note));
        }
    }
    for (index, part) in tables(tree, "part") {
        for (words, key) in [(PART_KINDS, "kind"), (MODELS, "model")] {
            if let Some(word) = part.get(key).and_then(toml::Value::as_str)
                && let Some((_, note)) = words.iter().find(|(known, _)| *known == word)
            {
                return Err(error(&format!("part[{index}].{key}"), word, note));
            }
        }
        if let Some((field, note)) = PART_FIELDS.iter().find(|(field, _)| part.contains_key(*field)) {
            return Err(error(&format!("part[{index}].{field}"), field, note));
        }
    }
    for (index, force) in tables(tree, "force") {
        if let Some(word) = force.get("kind").and_then(toml::Value::as_str)
            && let Some((_, note)) = FORCE_KINDS.iter().find(|(known, _)| *known == word)
        {
            return Err(error(&format!("force[{index}].kind"), word, note));
        }
    }
    Ok(())
}

fn tables<'a>(tree: &'a toml::Table, key: &str) -> impl Iterator<Item = (usize, &'a toml::Table)> {
    let list = tree.get(key).and_then(toml::Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().enumerate().filter_map(|(index, value)| Some((index, value.as_table()?)))
}
