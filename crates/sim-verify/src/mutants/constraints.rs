//! Slips around a constraint: between its formula and whoever asks for it.

use crate::Claim;
use crate::judge::constraint::{ConstraintFunction, ConstraintSubject, ConstraintValue, judge_constraint};
use nalgebra::{UnitQuaternion, Vector3};
use std::sync::OnceLock;

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstraintSlip {
    /// Derivatives with the wrong sign.
    FlippedGradient,
    /// Derivative by the first point or orientation with the wrong sign.
    FlippedPoint,
    /// Half the derivatives.
    HalfGradient,
    /// Derivative by one point a thousandth too large.
    WrongWeight,
    /// Derivatives by the first two points or orientations exchanged.
    ExchangedPoints,
    /// Derivatives of the first call for ever.
    StaleDirection,
    /// Derivative by the last point or orientation forgotten.
    LostPoint,
    /// Components y and z of the derivatives exchanged.
    SwappedAxes,
    /// C |C| for C, derivatives to match.
    WrongPower,
    /// A constant on C: the rest value is wrong.
    WrongRest,
    /// C depends a little on where the first point is, derivatives to match.
    AbsolutePlace,
    /// C is not below zero.
    Clamped,
    /// C in single precision.
    SinglePrecision,
    /// Not a number when two points coincide.
    DividedByZero,
    /// Blocks by turns transposed.
    TransposedTurn,
    /// Turns taken about axes of space.
    TurnInSpace,
    /// Derivatives by turns forgotten.
    ForgottenTurn,
}

/// Every slip with its text.
pub const CONSTRAINT_SLIPS: &[(ConstraintSlip, &str)] = &[
    (ConstraintSlip::FlippedGradient, "derivatives with the wrong sign"),
    (ConstraintSlip::FlippedPoint, "derivative by the first point with the wrong sign"),
    (ConstraintSlip::HalfGradient, "half the derivatives"),
    (ConstraintSlip::WrongWeight, "derivative by one point a thousandth too large"),
    (ConstraintSlip::ExchangedPoints, "derivatives by two points exchanged"),
    (ConstraintSlip::StaleDirection, "derivatives of the first call for ever"),
    (ConstraintSlip::LostPoint, "derivative by the last point forgotten"),
    (ConstraintSlip::SwappedAxes, "components y and z of the derivatives exchanged"),
    (ConstraintSlip::WrongPower, "C |C| for C"),
    (ConstraintSlip::WrongRest, "wrong rest value"),
    (ConstraintSlip::AbsolutePlace, "C depends on where it is"),
    (ConstraintSlip::Clamped, "C is not below zero"),
    (ConstraintSlip::SinglePrecision, "C in single precision"),
    (ConstraintSlip::DividedByZero, "not a number when two points coincide"),
    (ConstraintSlip::TransposedTurn, "blocks by turns transposed"),
    (ConstraintSlip::TurnInSpace, "turns about axes of space"),
    (ConstraintSlip::ForgottenTurn, "derivatives by turns forgotten"),
];

impl ConstraintSlip {
    /// Whether a constraint of this kind can be got wrong so; otherwise the reason why not.
    ///
    /// # Errors
    /// The reason.
    pub fn suits(self, subject: &ConstraintSubject<'_>) -> Result<(), &'static str> {
        let (points, turns) = (subject.sample.points.len(), subject.sample.orientations.len());
        let signed = subject.known.iter().flat_map(|(_, values)| values).any(|&value| value < 0.0);
        let require = |holds: bool, reason| if holds { Ok(()) } else { Err(reason) };
        match self {
            Self::ExchangedPoints => require(points + turns > 1, "there is one point only"),
            Self::AbsolutePlace => require(points > 0, "there are no points"),
            Self::DividedByZero => require(points > 1 && turns == 0, "no two points that could coincide"),
            Self::Clamped => require(signed, "C is never negative"),
            Self::TransposedTurn | Self::TurnInSpace | Self::ForgottenTurn => {
                require(turns > 0, "there are no orientations")
            }
            _ => Ok(()),
        }
    }
}

/// Evaluates `inner` with a slip around it.
fn slipped(
    slip: ConstraintSlip,
    inner: &ConstraintFunction<'_>,
    stale: &OnceLock<nalgebra::DMatrix<f64>>,
    points: &[Vector3<f64>],
    turns: &[UnitQuaternion<f64>],
) -> ConstraintValue {
    let ConstraintValue { mut value, mut jacobian } = inner(points, turns);
    let last = jacobian.ncols().saturating_sub(3);
    let turned = 3 * points.len();
    match slip {
        ConstraintSlip::FlippedGradient => jacobian.neg_mut(),
        ConstraintSlip::FlippedPoint => jacobian.columns_mut(0, 3).neg_mut(),
        ConstraintSlip::HalfGradient => jacobian *= 0.5,
        ConstraintSlip::WrongWeight => jacobian.columns_mut(0, 3).scale_mut(1.001),
        ConstraintSlip::ExchangedPoints => {
            for k in 0..3 {
                jacobian.swap_columns(k, 3 + k);
            }
        }
        ConstraintSlip::StaleDirection => jacobian.copy_from(stale.get_or_init(|| jacobian.clone())),
        ConstraintSlip::LostPoint => jacobian.columns_mut(last, 3).fill(0.0),
        ConstraintSlip::SwappedAxes => {
            for i in 0..jacobian.ncols() / 3 {
                jacobian.swap_columns(3 * i + 1, 3 * i + 2);
            }
        }
        ConstraintSlip::WrongPower => {
            for (row, value) in value.iter_mut().enumerate() {
                jacobian.row_mut(row).scale_mut(2.0 * value.abs());
                *value *= value.abs();
            }
        }
        ConstraintSlip::WrongRest => value.iter_mut().for_each(|value| *value += 1e-3),
        ConstraintSlip::AbsolutePlace => {
            value[0] += 1e-6 * points[0].x;
            jacobian[(0, 0)] += 1e-6;
        }
        ConstraintSlip::Clamped => value.iter_mut().for_each(|value| *value = value.max(0.0)),
        ConstraintSlip::SinglePrecision => {
            for value in &mut value {
                *value = f64::from(*value as f32);
            }
        }
        ConstraintSlip::DividedByZero => {
            if (1..points.len()).any(|i| points[..i].contains(&points[i])) {
                jacobian.fill(f64::NAN);
            }
        }
        ConstraintSlip::TransposedTurn => {
            for i in 0..turns.len() {
                let block = jacobian.columns(turned + 3 * i, 3).transpose();
                jacobian.columns_mut(turned + 3 * i, 3).copy_from(&block);
            }
        }
        ConstraintSlip::TurnInSpace => {
            for (i, turn) in turns.iter().enumerate() {
                let into = turn.to_rotation_matrix().matrix().transpose();
                let block = jacobian.columns(turned + 3 * i, 3) * into;
                jacobian.columns_mut(turned + 3 * i, 3).copy_from(&block);
            }
        }
        ConstraintSlip::ForgottenTurn => jacobian.columns_mut(turned, 3 * turns.len()).fill(0.0),
    }
    ConstraintValue { value, jacobian }
}

/// The first claim that does not hold for a constraint with this slip around it; none when the slip is not found.
pub fn rejects(subject: &ConstraintSubject<'_>, slip: ConstraintSlip) -> Option<Claim> {
    let stale = OnceLock::new();
    let evaluate = |points: &[Vector3<f64>], turns: &[UnitQuaternion<f64>]| {
        slipped(slip, subject.evaluate, &stale, points, turns)
    };
    let subject = ConstraintSubject { evaluate: &evaluate, ..*subject };
    judge_constraint(&subject).into_iter().find(|claim| !claim.pass())
}
