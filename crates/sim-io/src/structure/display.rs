//! Pictures of a structure: deformed shapes, colored by what members carry.

mod surroundings;

use super::analyse::SWING;
use super::document::StructureScene;
use super::result::StructureResult;
use crate::report::{ColorScale, Drawing};
use nalgebra::Vector3;
use sim_fem::Structure;
use sim_fem::elements::MemberResult;
use sim_fem::load::Direction;

/// Frames from the start of a swing to its largest.
pub(super) const QUARTER: usize = SWING / 4;

/// Share of the structure's size that the largest drawn displacement gets when it could not be seen otherwise.
const VISIBLE: f64 = 0.08;

/// Displacement of a node in m.
pub(super) fn translation(structure: &Structure, node: usize, displacement: &[f64]) -> Vector3<f64> {
    let along = |direction| structure.value(displacement, node, direction);
    Vector3::new(along(Direction::X), along(Direction::Y), along(Direction::Z))
}

/// Longest side of the box around the nodes in m.
fn size(structure: &Structure) -> f64 {
    let nodes = || (0..structure.node_count()).map(|node| Vector3::from(structure.node(node)));
    let low = nodes().fold(Vector3::repeat(f64::INFINITY), |a, b| a.inf(&b));
    let high = nodes().fold(Vector3::repeat(f64::NEG_INFINITY), |a, b| a.sup(&b));
    (high - low).max()
}

/// The moving picture, and how many times larger than they are displacements appear in it.
pub(super) fn drawing(scene: &StructureScene, result: &StructureResult) -> (Option<Drawing>, f64) {
    let structure = &result.built.structure;
    let largest = (result.shown.iter())
        .flat_map(|shown| {
            (0..structure.node_count()).map(|node| translation(structure, node, &shown.displacement).norm())
        })
        .fold(0.0, f64::max);
    let visible = VISIBLE * size(structure);
    let physical = is_physical(result);
    // Finite displacements make no shape when they are magnified: a cable pulled straight would bulge upwards.
    let finite = matches!(result.analysis, "nonlinear_static" | "arc_length" | "dynamic_relaxation");
    let seen = if finite { 0.05 } else { 0.25 } * visible;
    let magnification = scene.output.magnification.unwrap_or(if largest == 0.0 {
        1.0
    } else if !physical {
        visible / largest
    } else if largest >= seen {
        1.0
    } else {
        round(visible / largest)
    });
    if result.shown.is_empty() {
        return (None, magnification);
    }
    let lines: Vec<usize> = (structure.members().iter().enumerate())
        .filter_map(|(index, member)| (member.nodes().count() == 2).then_some(index))
        .collect();
    let carried = if physical { Carried::of(result, &lines) } else { None };
    let mut drawing = Drawing {
        up: if scene.structure.planar { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] },
        // A load that has been carried, or a mode at its largest, is what people want to see; a motion begins at its beginning.
        first: match result.dt {
            _ if !physical => QUARTER.min(result.shown.len() - 1),
            Some(_) => 0,
            None => result.shown.len() - 1,
        },
        look_from: scene.structure.planar.then_some([0.0, 0.0, 1.0]),
        still: surroundings::around(result, &lines, scene.structure.planar),
        ..Drawing::default()
    };
    let rest = vec![0.0; structure.dof_count()];
    for (frame, shown) in result.shown.iter().enumerate() {
        let (mut positions, mut speeds) = (Vec::new(), Vec::new());
        for (k, &member) in lines.iter().enumerate() {
            let pieces = structure.members()[member].element().pieces();
            for i in 0..=pieces {
                // Magnified at each point: nodes moved too far may leave a cable without any equilibrium.
                let at = |u: &[f64]| structure.member_point(member, u, i as f64 / pieces as f64);
                let unmoved = at(&rest);
                let point = unmoved + magnification * (at(&shown.displacement) - unmoved);
                if frame == 0 && i > 0 {
                    let last = positions.len() as u32;
                    drawing.segments.push([last - 1, last]);
                }
                positions.push([point.x as f32, point.y as f32, point.z as f32]);
                speeds.push(match &carried {
                    Some(carried) => carried.values[frame * lines.len() + k] as f32,
                    None => point_displacement(structure, member, &shown.displacement, i, pieces) as f32,
                });
            }
        }
        drawing.times.push(frame as f64 / 20.0);
        drawing.positions.push(positions);
        drawing.speeds.push(speeds);
        drawing.labels.push(shown.label.clone());
    }
    let most = |values: &mut dyn Iterator<Item = f32>| values.fold(0.0, |most: f32, x| most.max(x.abs()));
    let top = most(&mut drawing.speeds.iter().flatten().copied());
    let top = if top > 0.0 { top } else { 1.0 };
    let (label, signed) = match &carried {
        Some(carried) => (carried.label, carried.signed),
        None if physical => ("displacement [m]", false),
        None => ("displacement (any scale)", false),
    };
    let range = [if signed { -top } else { 0.0 }, top];
    drawing.color = Some(ColorScale { label: label.into(), range, signed });
    (Some(drawing), magnification)
}

fn point_displacement(
    structure: &Structure,
    member: usize,
    displacement: &[f64],
    i: usize,
    pieces: usize,
) -> f64 {
    let mut ends = structure.members()[member].nodes().map(|node| translation(structure, node, displacement));
    let (first, last) = (ends.next().unwrap_or_default(), ends.last().unwrap_or_default());
    (first + (last - first) * (i as f64 / pieces as f64)).norm()
}

/// Whether the shapes are displacements in m rather than modes.
pub(super) fn is_physical(result: &StructureResult) -> bool {
    result.end.is_some() && result.analysis != "buckling"
}

/// What members carry in each shape: utilisation where every member has one, else axial force.
struct Carried {
    label: &'static str,
    signed: bool,
    /// One per shape and line.
    values: Vec<f64>,
}

impl Carried {
    fn of(result: &StructureResult, lines: &[usize]) -> Option<Self> {
        let structure = &result.built.structure;
        let all = |read: fn(&MemberResult) -> f64| -> Vec<f64> {
            (result.shown.iter())
                .flat_map(|shown| {
                    lines.iter().map(|&member| read(&structure.member_result(member, &shown.displacement)))
                })
                .collect()
        };
        let end = result.end.as_ref()?;
        if !lines.is_empty() && lines.iter().all(|&member| end.members[member].utilisation.is_some()) {
            let values = all(|carried| carried.utilisation.unwrap_or(0.0));
            return Some(Self { label: "utilisation", signed: false, values });
        }
        let values = all(|carried| carried.axial_force);
        values.iter().any(|force| *force != 0.0).then_some(Self {
            label: "axial force [N]",
            signed: true,
            values,
        })
    }
}

/// 1, 2 or 5 times a power of ten, not above `x`.
fn round(x: f64) -> f64 {
    let power = 10.0_f64.powf(x.log10().floor());
    let digit = x / power;
    power
        * if digit >= 5.0 {
            5.0
        } else if digit >= 2.0 {
            2.0
        } else {
            1.0
        }
}

#[cfg(test)]
mod tests {
    use super::round;

    #[test]
    fn magnifications_are_round_numbers() {
        for (x, expected) in [(1.0, 1.0), (37.0, 20.0), (740.0, 500.0), (0.3, 0.2)] {
            assert!((round(x) - expected).abs() < 1e-12 * expected);
        }
    }
}
