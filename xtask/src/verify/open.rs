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

const TWO_STEP: &str =
    "a two-step method: its state before last would have to be part of `State`, which holds one moment only";

/// The reason why a case is open, where one is known.
pub(super) fn reason(case: &str) -> Option<&'static str> {
    REASONS.iter().find(|(id, _)| *id == case).map(|(_, reason)| *reason)
}

/// Reasons for cases that do not exist or that a row rests on by now.
pub(super) fn stale(rows: &[ClaimRow]) -> Vec<String> {
    let covered = |id: &str| rows.iter().any(|row| row.case.as_deref() == Some(id));
    REASONS
        .iter()
        .filter(|(id, _)| covered(id) || case(id).is_err())
        .map(|(id, _)| format!("{id} is no open case, but xtask/src/verify/open.rs gives a reason"))
        .collect()
}
