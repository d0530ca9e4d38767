//! Probes as numbers: what they read at a point of the path, and how the path becomes one value.

use super::build::BuiltStructure;
use super::document::StructureScene;
use super::probe::{PathValue, StructureProbe};
use crate::run::result::ProbeValue;
use crate::scene::check::At;
use crate::scene::error::SceneError;
use sim_fem::load::Direction;

/// What a probe reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Displacement(usize),
    Velocity(usize),
    Acceleration(usize),
    AxialForce(usize),
    Strain(usize),
    Stress(usize),
}

/// A probe with its values along the path.
#[derive(Debug)]
pub(super) struct Gauge {
    pub name: String,
    pub unit: &'static str,
    reading: Reading,
    value: PathValue,
    pub values: Vec<f64>,
}

/// A point of the path. Vectors have one value per degree of freedom; those of motion may be absent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point<'a> {
    pub displacement: &'a [f64],
    pub velocity: Option<&'a [f64]>,
    pub acceleration: Option<&'a [f64]>,
}

/// m or rad and their rates.
fn unit(direction: Direction, rate: usize) -> &'static str {
    let units = if direction.is_rotation() { ["rad", "rad/s", "rad/s²"] } else { ["m", "m/s", "m/s²"] };
    units[rate]
}

/// Degree of freedom that a probe names.
pub(super) fn dof(
    built: &BuiltStructure,
    node: usize,
    direction: Direction,
    at: &At<'_>,
) -> Result<usize, SceneError> {
    built.structure.dof(node, direction).ok_or_else(|| {
        at.field("direction")
            .refuse(direction, format!("a translation: no member turns node {}", built.node_name(node)))
    })
}

/// Number of a member that a probe names.
pub(super) fn member(
    built: &BuiltStructure,
    id: &str,
    index: usize,
    at: &At<'_>,
) -> Result<usize, SceneError> {
    let range = built.group(id);
    if index < range.len() {
        return Ok(range.start + index);
    }
    Err(at.field("index").refuse(index, format!("below {}, the number of members of `{id}`", range.len())))
}

/// The probes that follow the path.
pub(super) fn gauges(scene: &StructureScene, built: &BuiltStructure) -> Result<Vec<Gauge>, SceneError> {
    let root = At::root(&scene.source);
    let mut gauges = Vec::new();
    for (index, probe) in scene.probes.iter().enumerate() {
        let at = root.field("probe").index(index);
        let (reading, unit, value) = match probe {
            StructureProbe::Displacement(p)
            | StructureProbe::Velocity(p)
            | StructureProbe::Acceleration(p) => {
                let node = built.node(&p.at, &at.field("at"))?;
                let dof = dof(built, node, p.direction, &at)?;
                let (reading, rate) = match probe {
                    StructureProbe::Displacement(_) => (Reading::Displacement(dof), 0),
                    StructureProbe::Velocity(_) => (Reading::Velocity(dof), 1),
                    _ => (Reading::Acceleration(dof), 2),
                };
                (reading, unit(p.direction, rate), p.value)
            }
            StructureProbe::AxialForce(p) | StructureProbe::Strain(p) | StructureProbe::Stress(p) => {
                let member = member(built, &p.member, p.index, &at)?;
                match probe {
                    StructureProbe::AxialForce(_) => (Reading::AxialForce(member), "N", p.value),
                    StructureProbe::Strain(_) => (Reading::Strain(member), "1", p.value),
                    _ => (Reading::Stress(member), "Pa", p.value),
                }
            }
            _ => continue,
        };
        gauges.push(Gauge { name: probe.name().to_owned(), unit, reading, value, values: Vec::new() });
    }
    Ok(gauges)
}

impl Gauge {
    /// Reads the probe at a point.
    pub fn read(&mut self, built: &BuiltStructure, point: Point<'_>) {
        let of = |vector: Option<&[f64]>, dof: usize| vector.map_or(f64::NAN, |vector| vector[dof]);
        let carried = |member: usize| built.structure.member_result(member, point.displacement);
        self.values.push(match self.reading {
            Reading::Displacement(dof) => point.displacement[dof],
            Reading::Velocity(dof) => of(point.velocity, dof),
            Reading::Acceleration(dof) => of(point.acceleration, dof),
            Reading::AxialForce(member) => carried(member).axial_force,
            Reading::Strain(member) => carried(member).strain,
            Reading::Stress(member) => carried(member).stress,
        });
    }

    /// Whether it is a displacement, which load-displacement curves show.
    pub fn is_displacement(&self) -> bool {
        matches!(self.reading, Reading::Displacement(_))
    }

    /// Whether both follow the same quantity.
    pub fn same_reading(&self, other: &Self) -> bool {
        self.reading == other.reading
    }

    /// One number; `places` are the load factors or times of the values.
    pub fn reduce(&self, places: &[f64]) -> Option<ProbeValue> {
        let values = &self.values;
        let value = match self.value {
            PathValue::Final => *values.last()?,
            PathValue::Maximum => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            PathValue::Minimum => values.iter().copied().fold(f64::INFINITY, f64::min),
            PathValue::MaxAbs => values.iter().fold(0.0, |max: f64, value| max.max(value.abs())),
            PathValue::At(place) => at(places, values, place)?,
        };
        value.is_finite().then_some(ProbeValue { value, unit: self.unit })
    }
}

/// Linear between the points around `place`.
fn at(places: &[f64], values: &[f64], place: f64) -> Option<f64> {
    // Times are products of step and number: the last digit of a place may differ.
    let slack = 1e-9 * places.last()?.abs();
    let after = places.iter().position(|&p| p >= place - slack)?;
    if after == 0 || (places[after] - place).abs() <= slack {
        return Some(values[after]);
    }
    let (p0, p1) = (places[after - 1], places[after]);
    let share = (place - p0) / (p1 - p0);
    Some(values[after - 1] + share * (values[after] - values[after - 1]))
}

#[cfg(test)]
mod tests {
    use super::at;

    #[test]
    fn values_between_points_are_linear() {
        let (places, values) = ([0.0, 0.1, 0.2], [0.0, 1.0, 5.0]);
        assert_eq!(at(&places, &values, 0.0), Some(0.0));
        assert_eq!(at(&places, &values, 0.1 + 1e-13), Some(1.0));
        assert!((at(&places, &values, 0.15).unwrap() - 3.0).abs() < 1e-12);
        assert_eq!(at(&places, &values, 0.3), None);
    }
}
