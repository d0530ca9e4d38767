//! Options of the method `xpbd`.

use crate::scene::check::At;
use crate::scene::document::Scene;
use crate::scene::error::{SceneError, nearest};
use serde::{Deserialize, Serialize};
use sim_pbd::{Formulation, GradientPoint, OptionsError, PbdSystem, SolveOrder, Xpbd, XpbdOptions};

/// What `method.options` takes. The number of substeps is `method.substeps`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MethodOptions {
    /// Sweeps per substep.
    pub iterations: u32,
    /// Order of the constraints in a sweep.
    pub order: SolveOrder,
    /// Springs along a line are solved together; absent = where nothing is touched.
    pub direct: Option<bool>,
    /// What compliance means.
    pub formulation: Formulation,
    /// Factor on corrections.
    pub over_relaxation: f64,
    /// Where directions are taken.
    pub gradient: GradientPoint,
    /// Largest relative residual that counts as converged.
    pub tolerance: f64,
}

impl Default for MethodOptions {
    fn default() -> Self {
        let solver = XpbdOptions::default();
        Self {
            iterations: solver.iterations,
            order: SolveOrder::List,
            direct: None,
            formulation: solver.formulation,
            over_relaxation: solver.over_relaxation,
            gradient: solver.gradient,
            tolerance: solver.tolerance,
        }
    }
}

/// The options and their defaults, for people.
pub fn defaults() -> serde_json::Value {
    serde_json::to_value(MethodOptions::default()).unwrap_or_default()
}

impl MethodOptions {
    /// Those of a scene, checked.
    pub fn of(scene: &Scene) -> Result<Self, SceneError> {
        let at = At::root(&scene.source).field("method").field("options");
        let options: Self = toml::Value::Table(scene.method.options.clone())
            .try_into()
            .map_err(|error: toml::de::Error| refused(error.message(), &at))?;
        options.solver().validate().map_err(|error| option_error(&error, &at))?;
        let drive = scene
            .parts
            .iter()
            .any(|part| matches!(part, crate::scene::part::Part::Belt(belt) if belt.is_drive()));
        for (name, other) in
            [("order", options.order != SolveOrder::List), ("direct", options.direct == Some(true))]
        {
            if drive && other {
                return Err(at.field(name).refuse(name, "left at its default for a belt drive"));
            }
        }
        if drive && options.formulation != Formulation::Xpbd {
            return Err(at.field("formulation").refuse("pbd", "\"xpbd\" for a belt drive"));
        }
        if options.direct == Some(true) && options.formulation != Formulation::Xpbd {
            return Err(at.field("direct").refuse("true", "false with plain PBD"));
        }
        Ok(options)
    }

    /// Whether springs along lines are solved together. A solve that converges pays where nothing undoes it: contacts do, in every
    /// sweep.
    pub fn solves_lines(&self, scene: &Scene) -> bool {
        let touched = !scene.colliders.is_empty()
            || scene.contact.as_ref().is_some_and(|contact| contact.between_parts.is_some());
        let converges = self.formulation == Formulation::Xpbd && self.gradient == GradientPoint::Current;
        self.direct.unwrap_or(converges && !touched)
    }

    /// Options of the solver; substeps and threads are the run's.
    pub fn solver(&self) -> XpbdOptions {
        XpbdOptions {
            iterations: self.iterations,
            formulation: self.formulation,
            over_relaxation: self.over_relaxation,
            gradient: self.gradient,
            tolerance: self.tolerance,
            ..XpbdOptions::default()
        }
    }
}

/// The message of the reader as an error with a place.
fn refused(message: &str, at: &At<'_>) -> SceneError {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (first, known) = (quoted.first().copied().unwrap_or_default(), quoted.get(1..).unwrap_or_default());
    if message.starts_with("unknown field") {
        let suggestion = nearest(first, known.iter().copied());
        return SceneError::UnknownField {
            place: at.field(first).place(),
            suggestion,
            known: known.join(", "),
        };
    }
    if message.starts_with("unknown variant") {
        let suggestion = nearest(first, known.iter().copied());
        let value = first.to_owned();
        return SceneError::UnknownWord { place: at.place(), value, suggestion, known: known.join(", ") };
    }
    SceneError::Type { place: at.place(), message: message.trim().to_owned() }
}

fn option_error(error: &OptionsError, at: &At<'_>) -> SceneError {
    match error {
        OptionsError::Value { field, value, requirement } => at.field(field).refuse(value, *requirement),
        other => SceneError::Model { place: at.place(), message: other.to_string() },
    }
}

/// The solver of a scene.
pub(super) fn solver(scene: &Scene, system: &PbdSystem, options: XpbdOptions) -> Result<Xpbd, SceneError> {
    let at = At::root(&scene.source).field("method").field("options");
    Xpbd::new(system, options).map_err(|error| option_error(&error, &at))
}
