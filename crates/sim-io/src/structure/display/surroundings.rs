//! What stands still in the picture of a structure: its shape as built, its supports and its loads.

use super::size;
use crate::report::Still;
use crate::structure::result::StructureResult;
use nalgebra::Vector3;
use sim_fem::Structure;
use sim_fem::load::Direction;

/// Length of the arrow of the largest load, as a share of the structure's size.
const ARROW: f64 = 0.12;

/// Loads below this share of the largest get no arrow.
const SEEN: f64 = 0.02;

/// Up to so many supported nodes all are marked.
const MANY: usize = 20;

/// Most marks or arrows of a kind: more only blacken the picture.
const MOST: usize = 300;

/// Instants at which a load that changes is looked at to find it at its largest.
const INSTANTS: usize = 64;

pub(super) fn around(result: &StructureResult, lines: &[usize], planar: bool) -> Vec<Still> {
    let structure = &result.built.structure;
    let built = (lines.iter().take(100 * MOST))
        .map(|&member| structure.members()[member].nodes().map(|node| structure.node(node)).collect())
        .collect();
    let marks = |nodes: Vec<usize>| -> Vec<Vec<[f64; 3]>> {
        nodes.into_iter().take(MOST).map(|node| vec![structure.node(node)]).collect()
    };
    let attached = (structure.members().iter())
        .filter(|member| member.nodes().count() == 1)
        .flat_map(sim_fem::structure::Member::nodes)
        .collect();
    let all = [
        Still { name: "as built", color: "#c3cad2", lines: built },
        Still { name: "supports", color: "#1d2733", lines: marks(held(structure)) },
        Still { name: "springs, dashpots, masses", color: "#7a4fb5", lines: marks(attached) },
        // Free motions know no loads.
        Still {
            name: "loads",
            color: "#e08a00",
            lines: if result.end.is_some() { arrows(result, planar) } else { Vec::new() },
        },
    ];
    all.into_iter().filter(|still| !still.lines.is_empty()).collect()
}

/// Nodes with supports; where most nodes have some (bars held in line), only those with more than the least held.
fn held(structure: &Structure) -> Vec<usize> {
    let mut count = vec![0_u32; structure.node_count()];
    structure.own_supports().iter().for_each(|support| count[support.node] += 1);
    let held = count.iter().filter(|&&c| c > 0).count();
    let few = held <= MANY || held <= count.len() / 2;
    let least = if few { 0 } else { count.iter().copied().filter(|&c| c > 0).min().unwrap_or(0) };
    (0..count.len()).filter(|&node| count[node] > least).collect()
}

/// Arrows that end at the loaded nodes of the shape as built, at the instant of the largest load. Moments have none.
fn arrows(result: &StructureResult, planar: bool) -> Vec<Vec<[f64; 3]>> {
    let structure = &result.built.structure;
    let end = result.dt.map_or(0.0, |dt| dt * result.steps as f64);
    let mut largest = (0.0, Vec::new());
    let instants = if end > 0.0 { INSTANTS } else { 0 };
    for k in 0..=instants {
        let mut force = vec![0.0; structure.dof_count()];
        structure.external_force(end * k as f64 / INSTANTS as f64, &mut force);
        let total = force.iter().map(|f| f * f).sum::<f64>();
        if total > largest.0 {
            largest = (total, force);
        }
    }
    let (total, force) = largest;
    if total == 0.0 {
        return Vec::new();
    }
    let at = |node: usize| {
        Vector3::from([Direction::X, Direction::Y, Direction::Z].map(|d| structure.value(&force, node, d)))
    };
    let most = (0..structure.node_count()).map(|node| at(node).norm()).fold(0.0, f64::max);
    let loaded: Vec<usize> =
        (0..structure.node_count()).filter(|&node| at(node).norm() > SEEN * most).collect();
    let mut arrows = Vec::new();
    for &node in loaded.iter().step_by(loaded.len().div_ceil(MOST).max(1)) {
        let vector = at(node) * (ARROW * size(structure) / most);
        let tip = Vector3::from(structure.node(node));
        let side =
            (if planar { vector.cross(&Vector3::z()) } else { vector.cross(&Vector3::z()).cross(&vector) })
                .try_normalize(1e-9 * vector.norm().powi(if planar { 1 } else { 2 }))
                .unwrap_or(Vector3::x())
                * (0.12 * vector.norm());
        let back = tip - 0.25 * vector;
        let barbs = [back + side, tip, back - side, tip].map(Into::into);
        arrows.push(std::iter::once((tip - vector).into()).chain([tip.into()]).chain(barbs).collect());
    }
    arrows
}
