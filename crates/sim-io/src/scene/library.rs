//! Scenes that are compiled in, so that `sim run NAME` works from anywhere.

/// One scene of `docs/scenes`.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Name, equal to the file's.
    pub name: &'static str,
    /// TOML text.
    pub text: &'static str,
}

/// A file that a built-in scene refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BuiltInFile {
    /// Name as the scene writes it.
    pub name: &'static str,
    /// Text.
    pub text: &'static str,
}

macro_rules! built_in {
    ($type:ident: $($name:literal => $file:literal),* $(,)?) => {
        &[$($type { name: $name, text: include_str!(concat!("../../../../docs/scenes/", $file)) }),*]
    };
}

/// Every built-in scene; a test holds that this is the whole folder.
pub const BUILT_IN: &[BuiltIn] = built_in!(BuiltIn:
    "bar" => "bar.toml",
    "belt_drive" => "belt_drive.toml",
    "block_and_tackle" => "block_and_tackle.toml",
    "box-truss" => "box-truss.toml",
    "breaking_strap" => "breaking_strap.toml",
    "bungee" => "bungee.toml",
    "cable" => "cable.toml",
    "cloth" => "cloth.toml",
    "cloth_on_box" => "cloth_on_box.toml",
    "cloth_on_sphere" => "cloth_on_sphere.toml",
    "coil" => "coil.toml",
    "coil_surge" => "coil_surge.toml",
    "falling_sheet" => "falling_sheet.toml",
    "flag" => "flag.toml",
    "flag_xpbd" => "flag_xpbd.toml",
    "hanging_rope" => "hanging_rope.toml",
    "hanging_rope_modes" => "hanging_rope_modes.toml",
    "knot" => "knot.toml",
    "long-truss" => "long-truss.toml",
    "portal-step-load" => "portal-step-load.toml",
    "propped-column" => "propped-column.toml",
    "rope" => "rope.toml",
    "rope_over_peg" => "rope_over_peg.toml",
    "rope_pile" => "rope_pile.toml",
    "rope_swing" => "rope_swing.toml",
    "rope_whip" => "rope_whip.toml",
    "rubber_strip" => "rubber_strip.toml",
    "slinky_drop" => "slinky_drop.toml",
    "star-dome" => "star-dome.toml",
    "strap_creep" => "strap_creep.toml",
    "strap_relaxation" => "strap_relaxation.toml",
    "string" => "string.toml",
    "ten-bar" => "ten-bar.toml",
    "three_links" => "three_links.toml",
    "von-mises" => "von-mises.toml",
);

pub(crate) const FILES: &[BuiltInFile] = built_in!(BuiltInFile: "flag.obj" => "flag.obj");

/// Names in order.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    BUILT_IN.iter().map(|scene| scene.name)
}

pub(crate) fn find(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|scene| scene.name == name)
}
