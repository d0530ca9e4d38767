//! Pictures of a structure: deformed shapes, colored by what members carry.

use super::document::StructureScene;
use super::result::StructureResult;
use crate::report::{ColorScale, Drawing};
use nalgebra::Vector3;
use sim_fem::Structure;
use sim_fem::load::Direction;

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
    let natural = largest >= 0.25 * visible && result.end.is_some();
    let magnification = scene.output.magnification.unwrap_or(if largest == 0.0 || natural {
        1.0
    } else if result.end.is_none() || result.analysis == "buckling" {
        visible / largest
    } else {
        round(visible / largest)
    });
    if result.shown.is_empty() {
        return (None, magnification);
    }
    let lines: Vec<usize> = (structure.members().iter().enumerate())
        .filter_map(|(index, member)| (member.nodes().count() == 2).then_some(index))
        .collect();
    let (color, values) = color(result, &lines);
    let mut drawing = Drawing {
        color,
        up: if scene.structure.planar { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] },
        look_from: scene.structure.planar.then_some([0.0, 0.0, 1.0]),
        ..Drawing::default()
    };
    for (frame, shown) in result.shown.iter().enumerate() {
        let scaled: Vec<f64> = shown.displacement.iter().map(|u| magnification * u).collect();
        let (mut positions, mut speeds) = (Vec::new(), Vec::new());
        for (k, &member) in lines.iter().enumerate() {
            let pieces = structure.members()[member].element().pieces();
            for i in 0..=pieces {
                let point = structure.member_point(member, &scaled, i as f64 / pieces as f64);
                if frame == 0 && i > 0 {
                    let last = positions.len() as u32;
                    drawing.segments.push([last - 1, last]);
                }
                positions.push([point.x as f32, point.y as f32, point.z as f32]);
                speeds.push(match &values {
                    Some(values) => values[k] as f32,
                    None => point_displacement(structure, member, &shown.displacement, i, pieces) as f32,
                });
            }
        }
        drawing.times.push(frame as f64 / 20.0);
        drawing.positions.push(positions);
        drawing.speeds.push(speeds);
        drawing.labels.push(shown.label.clone());
    }
    if values.is_none() {
        let most = drawing.speeds.iter().flatten().copied().fold(0.0, f32::max);
        let label = if result.end.is_some() { "displacement [m]" } else { "displacement (any scale)" };
        drawing.color = Some(ColorScale {
            label: label.into(),
            range: [0.0, if most > 0.0 { most } else { 1.0 }],
            signed: false,
        });
    }
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

/// Utilisation where every member has one, else axial force; none without an end state.
fn color(result: &StructureResult, lines: &[usize]) -> (Option<ColorScale>, Option<Vec<f64>>) {
    let Some(end) = result.end.as_ref().filter(|_| result.analysis != "transient") else {
        return (None, None);
    };
    let shares: Option<Vec<f64>> = lines.iter().map(|&member| end.members[member].utilisation).collect();
    if let Some(shares) = shares.filter(|shares| !shares.is_empty()) {
        let most = shares.iter().copied().fold(0.0, f64::max).max(1e-12);
        let scale = ColorScale { label: "utilisation".into(), range: [0.0, most as f32], signed: false };
        return (Some(scale), Some(shares));
    }
    let forces: Vec<f64> = lines.iter().map(|&member| end.members[member].axial_force).collect();
    let most = forces.iter().fold(0.0, |most: f64, force| most.max(force.abs()));
    if most == 0.0 {
        return (None, None);
    }
    let range = [-most as f32, most as f32];
    (Some(ColorScale { label: "axial force [N]".into(), range, signed: true }), Some(forces))
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
