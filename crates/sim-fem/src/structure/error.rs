//! What can be wrong with a structure.

use crate::elements::ElementError;
use crate::factor::FactorError;
use crate::load::{Direction, TimeFunctionError};
use crate::material::ValueError;
use std::fmt::Write as _;

/// A structure that cannot be built or solved.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StructureError {
    /// Nothing to compute.
    #[error("a structure needs at least one {what}")]
    Empty {
        /// `node` or `element`.
        what: &'static str,
    },
    /// More than 32-bit indices can count.
    #[error("{count} {what} are more than {limit}")]
    TooLarge {
        /// What was counted.
        what: &'static str,
        /// Number found.
        count: usize,
        /// Most allowed.
        limit: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error("coordinate {direction} of node {node} is {value}")]
    Coordinate {
        /// Node.
        node: usize,
        /// Direction.
        direction: Direction,
        /// Value found.
        value: f64,
    },
    /// Something names a node that does not exist.
    #[error("{what} {index} names node {node}, but nodes run from 0 to {last}")]
    NoNode {
        /// `element`, `support` or `load`.
        what: &'static str,
        /// Its index.
        index: usize,
        /// Node asked for.
        node: usize,
        /// Last node that exists.
        last: usize,
    },
    /// A load names an element that does not exist.
    #[error("load {index} names element {element}, but elements run from 0 to {last}")]
    NoElement {
        /// Load.
        index: usize,
        /// Element asked for.
        element: usize,
        /// Last element that exists.
        last: usize,
    },
    /// An element was given another number of nodes than it has.
    #[error("element {index} ({id}) needs {expected} nodes, got {found}")]
    NodeCount {
        /// Element.
        index: usize,
        /// Its id.
        id: &'static str,
        /// Nodes it needs.
        expected: usize,
        /// Nodes given.
        found: usize,
    },
    /// An element is impossible; the source says why.
    #[error("element {index} ({id}, nodes {nodes:?})")]
    Element {
        /// Element.
        index: usize,
        /// Its id.
        id: &'static str,
        /// Its nodes.
        nodes: Vec<usize>,
        /// What is wrong with it.
        #[source]
        source: ElementError,
    },
    /// A node that no element uses.
    #[error("node {node} belongs to no element")]
    UnusedNode {
        /// Node.
        node: usize,
    },
    /// A load or support on a rotation that no element gives the node.
    #[error(
        "{what} {index} acts on rotation {direction} of node {node}, which no element turns (only beams have rotations)"
    )]
    NoRotation {
        /// `load` or `support`.
        what: &'static str,
        /// Its index.
        index: usize,
        /// Node.
        node: usize,
        /// Direction.
        direction: Direction,
    },
    /// A number of a load or support is not finite.
    #[error("{what} {index} at node {node}")]
    Value {
        /// `load` or `support`.
        what: &'static str,
        /// Its index.
        index: usize,
        /// Node.
        node: usize,
        /// What is wrong.
        #[source]
        source: ValueError,
    },
    /// A time function of a load or support cannot be evaluated.
    #[error("time function of {what} {index}")]
    TimeFunction {
        /// `load` or `support`.
        what: &'static str,
        /// Its index.
        index: usize,
        /// What is wrong.
        #[source]
        source: TimeFunctionError,
    },
    /// The same degree of freedom is supported twice.
    #[error("direction {direction} of node {node} is supported twice")]
    SupportedTwice {
        /// Node.
        node: usize,
        /// Direction.
        direction: Direction,
    },
    /// Every degree of freedom is supported.
    #[error("every degree of freedom is supported; there is nothing to solve for")]
    NothingFree,
    /// A part hangs on nothing.
    #[error(
        "the structure falls into {parts} parts and one of them, with {count} nodes from node {node} on, has no support"
    )]
    Disconnected {
        /// Number of parts.
        parts: usize,
        /// Lowest node of the loose part.
        node: usize,
        /// Its number of nodes.
        count: usize,
    },
    /// The structure can move without resistance.
    #[error("{}", describe(.0))]
    Mechanism(MechanismReport),
    /// Prestress makes the tangent indefinite.
    #[error(
        "the tangent has {negative} negative eigenvalues: the prestressed structure is not stable in this shape"
    )]
    Unstable {
        /// Number of negative eigenvalues.
        negative: usize,
    },
    /// The mass matrix is not one number per block.
    #[error(
        "node {node}, direction {direction}: {reason}, but an explicit method needs one mass per node (mass kind `lumped`)"
    )]
    Unlumped {
        /// Node.
        node: usize,
        /// Direction.
        direction: Direction,
        /// What its mass is like.
        reason: &'static str,
    },
    /// An element gave a value that is not finite.
    #[error(
        "{quantity} of element {index} ({id}) is not finite: it is squeezed to zero length or has no equilibrium"
    )]
    NotFinite {
        /// `internal force` or `tangent`.
        quantity: &'static str,
        /// Element.
        index: usize,
        /// Its id.
        id: &'static str,
    },
    /// Values are finite one by one but not together.
    #[error(
        "{what} exceed the range of numbers: loads, stiffness or coordinates are too large by many orders of magnitude"
    )]
    Overflow {
        /// Which values.
        what: &'static str,
    },
    /// The tangent is zero.
    #[error(
        "nothing resists any motion in this state, as when every cable is slack: start from a taut shape, or relax the \
         shape first (`dynamic_relaxation`)"
    )]
    NoStiffness,
    /// The factorization broke down for a reason other than a mechanism.
    #[error(transparent)]
    Factor(#[from] FactorError),
}

/// The free motions of a structure.
#[derive(Debug, Clone, PartialEq)]
pub struct MechanismReport {
    /// One entry per independent free motion.
    pub modes: Vec<MechanismMode>,
    /// Whether there are no others; the search ends at a number that nobody reads through.
    pub complete: bool,
    /// Largest eigenvalue of the scaled stiffness matrix (unit diagonal): what "nothing" is measured against.
    pub largest_eigenvalue: f64,
}

/// One free motion.
#[derive(Debug, Clone, PartialEq)]
pub struct MechanismMode {
    /// Eigenvalue relative to the largest one; below 1e-14 in size.
    pub relative_stiffness: f64,
    /// Largest components: node, direction, amplitude (1 for the largest).
    pub components: Vec<(usize, Direction, f64)>,
    /// The whole motion, one value per degree of freedom of the structure, largest translation (or rotation) 1.
    pub shape: Vec<f64>,
}

fn describe(report: &MechanismReport) -> String {
    let count = report.modes.len();
    let mut text =
        format!("{count} mechanism{}: the structure can move freely", if count == 1 { "" } else { "s" });
    if !report.complete {
        text.insert_str(0, "at least ");
    }
    for (number, mode) in report.modes.iter().take(6).enumerate() {
        let _ = write!(text, "; mode {}:", number + 1);
        for (node, direction, amplitude) in mode.components.iter().take(6) {
            let _ = write!(text, " node {node} {direction} {amplitude:+.3}");
        }
        if mode.components.len() > 6 {
            let _ = write!(text, " and {} more", mode.components.len() - 6);
        }
    }
    text.push_str(
        ". Add a member or a support against it; a cable or bar that is only held by its own tension needs prestress \
         or a non-linear analysis from a bent shape",
    );
    text
}
