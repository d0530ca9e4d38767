//! Why reference cases are open that no row rests on.

use sim_verify::ClaimRow;
use sim_verify::reference::case;

/// Case and reason, in words for `docs/verification.md`. A case that a row rests on must not stand here.
pub(super) const REASONS: &[(&str, &str)] = &[
    ("A-stability-function-bdf2", TWO_STEP),
    ("A-discrete-bdf2", TWO_STEP),
    (
        "A-stability-function-gauss4",
        "two coupled implicit stages: no method of the registry solves a system of twice the size",
    ),
    (
        "F-polar-decomposition-2d",
        "no constraint matches shapes, and nothing else in the crates needs the nearest rotation of a matrix",
    ),
];

/// Case and the part of it that no row measures, though rows rest on the rest of it.
pub(super) const PARTS: &[(&str, &str)] = &[
    ("B-helical-spring", "rate, stresses and mass from the wire: the crates take the rate, not the wire"),
    (
        "B-slinky-drop",
        "the coils that stay together are joined by the row; between impacts the particles move by themselves",
    ),
    ("B-folded-falling-chain", "acceleration, support force and the time of the whole fall"),
    ("C-belt-length-two-pulley", "the crossed belt: pulleys are touched from inside the loop only"),
    ("C-capstan-centrifugal", "speeds of largest and of no power, which follow from the formula alone"),
    (
        "C-belt-tensions-and-slip-arc",
        "the pretension that a torque requires; T1 + T2 = 2 T0, which leaves out the belt on the pulleys (the row has it)",
    ),
    (
        "C-moving-string",
        "frequencies are those that the belt's report states for the tension and speed it measured, first mode only",
    ),
    ("C-chain-off-table", "friction on the table: a slider's rail has none"),
    ("F-triple-inextensible-pendulum", "angles and their rates; positions stand for them"),
];

const TWO_STEP: &str =
    "a two-step method: its state before last would have to be part of `State`, which holds one moment only";

/// The reason why a case is open, where one is known.
pub(super) fn reason(case: &str) -> Option<&'static str> {
    REASONS.iter().find(|(id, _)| *id == case).map(|(_, reason)| *reason)
}

/// Reasons for cases that do not exist or that a row rests on by now, and parts of cases that no row rests on.
pub(super) fn stale(rows: &[ClaimRow]) -> Vec<String> {
    let covered = |id: &str| rows.iter().any(|row| row.case.as_deref() == Some(id));
    REASONS
        .iter()
        .filter(|(id, _)| covered(id) || case(id).is_err())
        .chain(PARTS.iter().filter(|(id, _)| !covered(id)))
        .map(|(id, _)| format!("xtask/src/verify/open.rs is wrong about {id}"))
        .collect()
}
