//! Force density method: choose tension over length in every segment, and the shape follows from one linear solve.

use crate::factor::{FactorError, FactorKind, Factorization, ordering::Graph};
use crate::matrix::{SymmetricMatrix, SymmetricPattern};
use std::sync::Arc;

/// A net of segments between nodes, some of them fixed.
#[derive(Clone, Debug, PartialEq)]
pub struct Net {
    /// Positions in m; those of free nodes are only a start and may be anything.
    pub nodes: Vec<[f64; 3]>,
    /// Which nodes stay.
    pub fixed: Vec<bool>,
    /// Segments.
    pub segments: Vec<[usize; 2]>,
    /// Tension over length of each segment in N/m; positive pulls.
    pub force_densities: Vec<f64>,
    /// Load in N on each node.
    pub loads: Vec<[f64; 3]>,
}

/// The shape found.
#[derive(Clone, Debug, PartialEq)]
pub struct NetReport {
    /// Positions in m.
    pub nodes: Vec<[f64; 3]>,
    /// Tension of each segment in N.
    pub tensions: Vec<f64>,
    /// Length of each segment in m.
    pub lengths: Vec<f64>,
    /// Largest unbalanced force of a free node in N.
    pub residual: f64,
}

/// A net without a shape.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// Lists of different lengths.
    #[error("{what} has {found} entries, expected {expected}")]
    Length {
        /// Which list.
        what: &'static str,
        /// Entries found.
        found: usize,
        /// Entries expected.
        expected: usize,
    },
    /// A segment names a node that does not exist, or twice the same.
    #[error("segment {segment} joins nodes {} and {} of {count}", .nodes[0], .nodes[1])]
    Segment {
        /// Segment.
        segment: usize,
        /// Its nodes.
        nodes: [usize; 2],
        /// Number of nodes.
        count: usize,
    },
    /// A number is NaN or infinite.
    #[error("{what} {index} is not finite")]
    NotFinite {
        /// `position`, `force density` or `load`.
        what: &'static str,
        /// Index.
        index: usize,
    },
    /// No node may move.
    #[error("all nodes are fixed")]
    NothingFree,
    /// The force densities do not determine the shape: a part hangs on nothing, or pushes and pulls cancel.
    #[error("force densities leave the shape undetermined (free node {node})")]
    Undetermined {
        /// A node that is not held.
        node: usize,
        /// What the factorization said.
        #[source]
        source: Option<FactorError>,
    },
}

/// Finds the shape in which every free node is in equilibrium: D x = p − `D_f` `x_f` for each coordinate, D the Laplacian of
/// the net weighted with force densities (Schek, Comput. Methods Appl. Mech. Eng. 3, 1974).
///
/// # Limitations
/// Lengths and tensions follow, they cannot be prescribed. Loads keep their direction and size whatever the shape.
///
/// # Errors
/// [`NetError`].
pub fn force_density(net: &Net) -> Result<NetReport, NetError> {
    check(net)?;
    let count = net.nodes.len();
    let edges: Vec<[u32; 2]> = net.segments.iter().map(|s| s.map(|node| node as u32)).collect();
    let place = Graph::new(count, &edges).narrow_order();
    let mut order: Vec<usize> = (0..count).filter(|&node| !net.fixed[node]).collect();
    order.sort_by_key(|&node| place[node]);
    if order.is_empty() {
        return Err(NetError::NothingFree);
    }
    let mut unknown = vec![None; count];
    order.iter().enumerate().for_each(|(i, &node)| unknown[node] = Some(i));
    let n = order.len();
    let mut columns: Vec<Vec<u32>> = (0..n as u32).map(|j| vec![j]).collect();
    for &[a, b] in &net.segments {
        if let (Some(i), Some(j)) = (unknown[a], unknown[b]) {
            columns[i.min(j)].push(i.max(j) as u32);
        }
    }
    for column in &mut columns {
        column.sort_unstable();
        column.dedup();
    }
    let pattern = Arc::new(SymmetricPattern::from_columns(columns));
    let mut matrix = SymmetricMatrix::zeros(pattern.clone());
    let mut rhs = [(); 3].map(|()| vec![0.0; n]);
    for (i, &node) in order.iter().enumerate() {
        (0..3).for_each(|k| rhs[k][i] = net.loads[node][k]);
    }
    for (&[a, b], &q) in net.segments.iter().zip(&net.force_densities) {
        for (node, other) in [(a, b), (b, a)] {
            let Some(i) = unknown[node] else { continue };
            matrix.values[pattern.column(i).start] += q;
            match unknown[other] {
                Some(j) if i > j => {
                    // Every pair of free ends is in the pattern.
                    let place = pattern.position(i, j).unwrap_or_default();
                    matrix.values[place] -= q;
                }
                Some(_) => {}
                None => (0..3).for_each(|k| rhs[k][i] += q * net.nodes[other][k]),
            }
        }
    }
    let undetermined = |unknown: usize, source| NetError::Undetermined { node: order[unknown], source };
    let mut factor =
        Factorization::new(&pattern, FactorKind::Auto).map_err(|error| undetermined(0, Some(error)))?;
    let pivots = factor.refactor(&matrix).map_err(|error| {
        let at = if let FactorError::Pivot { unknown, .. } = error { unknown } else { 0 };
        undetermined(at, Some(error))
    })?;
    if pivots.smallest_ratio < 1e-13 {
        return Err(undetermined(pivots.smallest_at, None));
    }
    let mut nodes = net.nodes.clone();
    for (k, values) in rhs.iter_mut().enumerate() {
        factor.solve(values);
        order.iter().zip(values).for_each(|(&node, value)| nodes[node][k] = *value);
    }
    Ok(report(net, nodes))
}

fn report(net: &Net, nodes: Vec<[f64; 3]>) -> NetReport {
    let mut unbalanced = net.loads.clone();
    let (mut tensions, mut lengths) = (Vec::new(), Vec::new());
    for (&[a, b], &q) in net.segments.iter().zip(&net.force_densities) {
        let d = [0, 1, 2].map(|k| nodes[b][k] - nodes[a][k]);
        for k in 0..3 {
            unbalanced[a][k] += q * d[k];
            unbalanced[b][k] -= q * d[k];
        }
        let length = d.iter().map(|d| d * d).sum::<f64>().sqrt();
        lengths.push(length);
        tensions.push(q * length);
    }
    let free = unbalanced.iter().zip(&net.fixed).filter(|&(_, &fixed)| !fixed);
    let residual = free.flat_map(|(f, _)| f.iter()).fold(0.0_f64, |max, f| max.max(f.abs()));
    NetReport { nodes, tensions, lengths, residual }
}

fn check(net: &Net) -> Result<(), NetError> {
    let count = net.nodes.len();
    for (what, found, expected) in [
        ("fixed", net.fixed.len(), count),
        ("loads", net.loads.len(), count),
        ("force_densities", net.force_densities.len(), net.segments.len()),
    ] {
        if found != expected {
            return Err(NetError::Length { what, found, expected });
        }
    }
    for (segment, &nodes) in net.segments.iter().enumerate() {
        if nodes[0] >= count || nodes[1] >= count || nodes[0] == nodes[1] {
            return Err(NetError::Segment { segment, nodes, count });
        }
    }
    let bad = |list: &[[f64; 3]]| list.iter().position(|p| p.iter().any(|value| !value.is_finite()));
    for (what, index) in [
        ("position", bad(&net.nodes)),
        ("load", bad(&net.loads)),
        ("force density", net.force_densities.iter().position(|q| !q.is_finite())),
    ] {
        if let Some(index) = index {
            return Err(NetError::NotFinite { what, index });
        }
    }
    Ok(())
}
