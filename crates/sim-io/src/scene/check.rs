//! Checks of a scene that need no geometry: ranges, names, and fields that exclude or need each other.

pub(crate) mod contact;
mod parts;

use super::document::{Scene, Substeps};
use super::error::{SceneError, nearest};
use super::force::ForceSpec;
use super::probe::{Expectation, Probe, Reduction, ReductionForm};
use super::source::Source;
use super::support::{Initial, Shape};
use std::collections::HashMap;
use std::fmt::Display;

/// Most frames of a run: beyond it a typing error is likelier than a wish.
pub(crate) const MAX_FRAMES: f64 = 1e7;
/// Most steps in a frame, for the same reason.
pub const MAX_SUBSTEPS: u32 = 1_000_000;

/// A table of the scene, by its path.
#[derive(Clone)]
pub(crate) struct At<'a> {
    source: &'a Source,
    path: String,
}

impl<'a> At<'a> {
    pub fn root(source: &'a Source) -> Self {
        Self { source, path: String::new() }
    }

    /// The scene as a whole.
    pub fn top(&self) -> Self {
        Self::root(self.source)
    }

    pub fn field(&self, name: impl Display) -> Self {
        let name = name.to_string();
        let dot = if self.path.is_empty() || name.starts_with('[') { "" } else { "." };
        let path = format!("{}{dot}{name}", self.path);
        Self { source: self.source, path }
    }

    pub fn index(&self, index: usize) -> Self {
        Self { source: self.source, path: format!("{}[{index}]", self.path) }
    }

    #[expect(clippy::unnecessary_box_returns, reason = "errors carry a boxed place to stay small")]
    pub fn place(&self) -> Box<super::error::Place> {
        self.source.place(&self.path)
    }

    pub fn refuse(&self, value: impl Display, requirement: impl Into<String>) -> SceneError {
        SceneError::Value { place: self.place(), value: value.to_string(), requirement: requirement.into() }
    }

    pub fn missing(&self, requirement: impl Into<String>) -> SceneError {
        SceneError::Missing { place: self.place(), requirement: requirement.into() }
    }

    pub fn conflict(&self, other: &str) -> SceneError {
        SceneError::Conflict { place: self.place(), other: other.to_owned() }
    }

    fn holds(&self, name: &str, value: f64, good: bool, requirement: &str) -> Result<(), SceneError> {
        if good { Ok(()) } else { Err(self.field(name).refuse(format!("{value:?}"), requirement)) }
    }

    pub fn positive(&self, name: &str, value: f64) -> Result<(), SceneError> {
        self.holds(name, value, value > 0.0, "greater than 0")
    }

    pub fn positive_if(&self, name: &str, value: Option<f64>) -> Result<(), SceneError> {
        value.map_or(Ok(()), |value| self.positive(name, value))
    }

    pub fn not_negative(&self, name: &str, value: f64) -> Result<(), SceneError> {
        self.holds(name, value, value >= 0.0, "0 or more")
    }

    pub fn direction(&self, name: &str, value: [f64; 3]) -> Result<(), SceneError> {
        if value == [0.0; 3] {
            return Err(self.field(name).refuse("[0, 0, 0]", "a direction, not the zero vector"));
        }
        Ok(())
    }

    pub fn count(&self, name: &str, value: usize, least: usize, most: usize) -> Result<(), SceneError> {
        if (least..=most).contains(&value) {
            return Ok(());
        }
        Err(self.field(name).refuse(value, format!("between {least} and {most}")))
    }

    /// `name` must be one of `known`.
    pub fn exists<'k>(
        &self,
        name: &str,
        what: &str,
        known: impl Iterator<Item = &'k str> + Clone,
    ) -> Result<(), SceneError> {
        if known.clone().any(|k| k == name) {
            return Ok(());
        }
        let list: Vec<&str> = known.clone().collect();
        let what = if list.is_empty() {
            format!("there is no {what}")
        } else {
            format!("there is no such {what}; there are {}", list.join(", "))
        };
        Err(SceneError::Reference {
            place: self.place(),
            value: format!("`{name}`"),
            what,
            suggestion: nearest(name, known),
        })
    }
}

/// Checks everything.
pub(crate) fn scene(scene: &Scene) -> Result<(), SceneError> {
    let root = At::root(&scene.source);
    header(scene, &root)?;
    time(scene, &root)?;
    parts::materials(scene, &root)?;
    parts::parts(scene, &root)?;
    supports(scene, &root)?;
    forces(scene, &root)?;
    probes(scene, &root)?;
    contact::contact(scene, &root)?;
    expectations(scene, &root)?;
    if scene.method.id == contact::XPBD {
        return crate::run::xpbd::MethodOptions::of(scene).map(|_| ());
    }
    crate::run::method(scene).map(|_| ())
}

/// Names of files, parts and results.
pub(crate) fn name(at: &At<'_>, name: &str) -> Result<(), SceneError> {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= 64 && name.chars().all(good) {
        return Ok(());
    }
    Err(at.refuse(format!("`{name}`"), "1 to 64 letters, digits, `_` and `-`"))
}

fn header(scene: &Scene, root: &At<'_>) -> Result<(), SceneError> {
    name(&root.field("scene.name"), &scene.header.name)
}

fn time(scene: &Scene, root: &At<'_>) -> Result<(), SceneError> {
    let (at, time) = (root.field("time"), &scene.time);
    at.positive("duration", time.duration)?;
    at.positive("frame", time.frame)?;
    let frames = time.duration / time.frame;
    if frames > MAX_FRAMES {
        return Err(at.field("frame").refuse(
            format!("{:?}", time.frame),
            format!("such that there are at most {MAX_FRAMES} frames"),
        ));
    }
    if frames.round() < 1.0 || (frames - frames.round()).abs() > 1e-9 * frames.max(1.0) {
        let requirement = format!("a whole number of frames of {} s, it is {frames}", time.frame);
        return Err(at.field("duration").refuse(time.duration, requirement));
    }
    let at = root.field("method");
    if !(scene.method.safety > 0.0 && scene.method.safety <= 1.0) {
        return Err(at.field("safety").refuse(scene.method.safety, "above 0 and at most 1"));
    }
    if let Substeps::Fixed(count) = scene.method.substeps {
        at.count("substeps", count as usize, 1, MAX_SUBSTEPS as usize)?;
    }
    if let Some(relax) = scene.relax {
        let at = root.field("relax");
        if !(relax.relative_tolerance > 0.0 && relax.relative_tolerance < 1.0) {
            return Err(at
                .field("relative_tolerance")
                .refuse(relax.relative_tolerance, "above 0 and below 1"));
        }
        at.count("max_iterations", relax.max_iterations as usize, 1, usize::MAX)?;
    }
    root.field("output").count("every", scene.output.every as usize, 1, usize::MAX)
}

fn supports(scene: &Scene, root: &At<'_>) -> Result<(), SceneError> {
    let ids = scene.parts.iter().map(super::part::Part::id);
    for (index, pin) in scene.pins.iter().enumerate() {
        root.field("pin").index(index).field("part").exists(&pin.part, "part", ids.clone())?;
    }
    for (index, drive) in scene.drives.iter().enumerate() {
        let at = root.field("drive").index(index);
        at.field("part").exists(&drive.part, "part", ids.clone())?;
        drive.motion.validate().map_err(|error| at.field("motion").refuse("table", error.to_string()))?;
    }
    for (index, mass) in scene.point_masses.iter().enumerate() {
        let at = root.field("point_mass").index(index);
        at.field("part").exists(&mass.part, "part", ids.clone())?;
        at.positive("mass", mass.mass)?;
    }
    for (index, initial) in scene.initial.iter().enumerate() {
        let at = root.field("initial").index(index);
        match initial {
            Initial::Velocity(velocity) => at.field("part").exists(&velocity.part, "part", ids.clone())?,
            Initial::Displacement(shape) => {
                at.field("part").exists(&shape.part, "part", ids.clone())?;
                at.count("mode", shape.mode as usize, 1, 10_000)?;
                at.direction("direction", shape.direction)?;
                if shape.shape == Shape::Hanging {
                    at.count("mode", shape.mode as usize, 1, 5)?;
                }
                let line =
                    scene.parts.iter().any(|p| p.id() == shape.part && !matches!(p.kind(), "cloth" | "mesh"));
                if !line && shape.shape != Shape::Uniform {
                    return Err(at
                        .field("shape")
                        .refuse("that", "`uniform` for a cloth or mesh, which has no line"));
                }
            }
        }
    }
    Ok(())
}

fn forces(scene: &Scene, root: &At<'_>) -> Result<(), SceneError> {
    let ids = scene.parts.iter().map(super::part::Part::id);
    for (index, force) in scene.forces.iter().enumerate() {
        let at = root.field("force").index(index);
        let part_of = |part: Option<&String>| {
            part.map_or(Ok(()), |part| at.field("part").exists(part, "part", ids.clone()))
        };
        match force {
            ForceSpec::Gravity(_) => {}
            ForceSpec::MassDamping(damping) => at.not_negative("rate", damping.rate)?,
            ForceSpec::PointLoad(load) => {
                part_of(Some(&load.part))?;
                load.curve
                    .validate()
                    .map_err(|error| at.field("curve").refuse("table", error.to_string()))?;
            }
            ForceSpec::AirDrag(drag) => {
                at.not_negative("linear", drag.linear)?;
                at.not_negative("quadratic", drag.quadratic)?;
                if drag.quadratic > 0.0 && drag.bound_speed.is_none() {
                    return Err(at.field("bound_speed").missing("`quadratic` drag needs it"));
                }
                at.not_negative("bound_speed", drag.bound_speed.unwrap_or(0.0))?;
            }
            ForceSpec::SegmentDrag(drag) => {
                part_of(drag.part.as_ref())?;
                at.not_negative("normal", drag.normal)?;
                at.not_negative("tangential", drag.tangential)?;
                at.not_negative("gust_frequency", drag.gust_frequency)?;
                at.not_negative("bound_speed", drag.bound_speed)?;
            }
            ForceSpec::Wind(wind) => {
                part_of(wind.part.as_ref())?;
                at.not_negative("gust_frequency", wind.gust_frequency)?;
                at.positive("air_density", wind.air_density)?;
                at.not_negative("normal_coefficient", wind.normal_coefficient)?;
                at.not_negative("tangential_coefficient", wind.tangential_coefficient)?;
                at.not_negative("bound_speed", wind.bound_speed.unwrap_or(0.0))?;
            }
        }
    }
    Ok(())
}

fn probes(scene: &Scene, root: &At<'_>) -> Result<(), SceneError> {
    let ids = scene.parts.iter().map(super::part::Part::id);
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (index, probe) in scene.probes.iter().enumerate() {
        let at = root.field("probe").index(index);
        name(&at.field("name"), probe.name())?;
        if let Some(first) = seen.insert(probe.name(), index) {
            return Err(SceneError::Duplicate {
                place: at.field("name").place(),
                value: probe.name().to_owned(),
                first: format!("probe[{first}]"),
            });
        }
        match probe {
            Probe::Position(p) | Probe::Displacement(p) | Probe::Velocity(p) | Probe::Force(p) => {
                at.field("part").exists(&p.part, "part", ids.clone())?;
            }
            Probe::Tension(p) | Probe::Strain(p) => at.field("part").exists(&p.part, "part", ids.clone())?,
            Probe::MaxStrain(p) | Probe::Length(p) | Probe::Knot(p) => {
                at.field("part").exists(&p.part, "part", ids.clone())?;
            }
            Probe::Ratio(p) | Probe::Difference(p) => {
                // Only earlier probes, so that there is no circle.
                let earlier = || scene.probes[..index].iter().map(Probe::name);
                at.field("of").exists(&p.of, "earlier probe", earlier())?;
                at.field("to").exists(&p.to, "earlier probe", earlier())?;
            }
            Probe::Energy(_)
            | Probe::Momentum(_)
            | Probe::AngularMomentum(_)
            | Probe::CenterOfMass(_)
            | Probe::Collider(_)
            | Probe::Belt(_)
            | Probe::Convergence(_)
            | Probe::CableTension(_) => {}
        }
        if let Some(Reduction::Form(form)) = probe.reduction() {
            reduction(form, scene, &at.field("value"))?;
        }
    }
    Ok(())
}

fn reduction(form: &ReductionForm, scene: &Scene, at: &At<'_>) -> Result<(), SceneError> {
    let (start, end) = (scene.time.start, scene.time.start + scene.time.duration);
    let within = |name: &str, time: Option<f64>| match time {
        Some(time) if !(start..=end).contains(&time) => {
            Err(at.field(name).refuse(time, format!("a time of the run, {start} to {end} s")))
        }
        _ => Ok(()),
    };
    let (from, until) = match form {
        ReductionForm::At(instant) => return within("time", Some(instant.time)),
        ReductionForm::Minimum(w)
        | ReductionForm::Maximum(w)
        | ReductionForm::MaxAbs(w)
        | ReductionForm::Mean(w)
        | ReductionForm::Range(w)
        | ReductionForm::Frequency(w) => (w.from, w.until),
        ReductionForm::PeakFrequency(b) => {
            let nyquist = 0.5 / scene.time.frame;
            if !(b.band[0] > 0.0 && b.band[0] < b.band[1] && b.band[1] < nyquist) {
                let requirement = format!("0 < lowest < highest < {nyquist} Hz, half the frame rate");
                return Err(at.field("band").refuse(format!("{:?}", b.band), requirement));
            }
            (b.from, b.until)
        }
    };
    within("from", from)?;
    within("until", until)?;
    if from.unwrap_or(start) >= until.unwrap_or(end) {
        return Err(at.field("from").refuse(from.unwrap_or(start), "earlier than until"));
    }
    Ok(())
}

fn expectations(scene: &Scene, root: &At<'_>) -> Result<(), SceneError> {
    for (index, row) in scene.expectations.iter().enumerate() {
        let names = scene.probes.iter().map(Probe::name);
        expectation(row, names, &root.field("expect").index(index))?;
    }
    Ok(())
}

/// Checks one expectation about one of the probes `names`.
pub(crate) fn expectation<'k>(
    expectation: &Expectation,
    names: impl Iterator<Item = &'k str> + Clone,
    at: &At<'_>,
) -> Result<(), SceneError> {
    at.field("probe").exists(&expectation.probe, "probe", names)?;
    match (expectation.tolerance, expectation.relative_tolerance) {
        (Some(_), Some(_)) => return Err(at.field("relative_tolerance").conflict("tolerance")),
        (None, None) => return Err(at.field("tolerance").missing("or `relative_tolerance`")),
        (Some(tolerance), None) => at.positive("tolerance", tolerance)?,
        (None, Some(tolerance)) => {
            at.positive("relative_tolerance", tolerance)?;
            if expectation.value == 0.0 {
                return Err(at
                    .field("relative_tolerance")
                    .refuse(tolerance, "a `tolerance`, the value is 0"));
            }
        }
    }
    if expectation.source.trim().is_empty() {
        return Err(at.field("source").refuse("``", "where the value comes from"));
    }
    Ok(())
}
