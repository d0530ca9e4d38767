//! Slips around preconditioners and solvers, between them and whoever applies them.

use crate::judge::inverse::{Apply, Make, Problem};
use std::cell::RefCell;

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InverseSlip {
    /// Sign of the result.
    FlippedSign,
    /// ½ missing.
    MissingHalf,
    /// Nothing for the last unknowns.
    LostBlock,
    /// The matrix of the first call for ever.
    Stale,
    /// The values of the matrix are never taken over: as good as none.
    NeverRefilled,
    /// Applied twice: wrong power.
    Squared,
    /// Output weighed by component.
    WrongWeight,
    /// Second component of every block counted the other way round.
    FlippedComponent,
    /// Result handed to the neighbor.
    ShiftedBlock,
    /// Not zeroed: starts from the result before.
    NotZeroed,
    /// Added to what is there.
    Offset,
    /// Components of a block exchanged on the way in only.
    TransposedBlock,
    /// Every block gets its mean.
    Averaged,
}

/// Every slip in words.
pub const INVERSE_SLIPS: &[(InverseSlip, &str)] = &[
    (InverseSlip::FlippedSign, "sign of the result"),
    (InverseSlip::MissingHalf, "twice the result"),
    (InverseSlip::LostBlock, "nothing for the last three unknowns"),
    (InverseSlip::Stale, "the first matrix for ever"),
    (InverseSlip::NeverRefilled, "values of the matrix are not taken over"),
    (InverseSlip::Squared, "applied twice"),
    (InverseSlip::WrongWeight, "output weighed by component"),
    (InverseSlip::FlippedComponent, "second component of every block counted the other way round"),
    (InverseSlip::ShiftedBlock, "result handed to the neighbor"),
    (InverseSlip::NotZeroed, "starts from the result before"),
    (InverseSlip::Offset, "a constant added"),
    (InverseSlip::TransposedBlock, "first two components of every block exchanged on the way in"),
    (InverseSlip::Averaged, "every block gets its mean"),
];

fn flip(x: &[f64]) -> Vec<f64> {
    x.iter().enumerate().map(|(i, x)| if i % 3 == 1 { -x } else { *x }).collect()
}

fn exchange(x: &[f64]) -> Vec<f64> {
    x.chunks_exact(3).flat_map(|x| [x[1], x[0], x[2]]).collect()
}

/// What `make` makes, with a slip around it.
///
/// # Errors
/// Those of `make`.
pub fn slipped(
    slip: InverseSlip,
    make: &Make<'_>,
    problem: Problem,
    factors: &[f64],
) -> Result<Apply, String> {
    let factors = if slip == InverseSlip::Stale { &factors[..1] } else { factors };
    let right = make(problem, factors)?;
    let before: RefCell<Vec<f64>> = RefCell::new(Vec::new());
    Ok(Box::new(move |r| match slip {
        InverseSlip::Stale => right(r),
        InverseSlip::FlippedSign => right(r).iter().map(|z| -z).collect(),
        InverseSlip::MissingHalf => right(r).iter().map(|z| 2.0 * z).collect(),
        InverseSlip::NeverRefilled => r.to_vec(),
        InverseSlip::Squared => right(&right(r)),
        InverseSlip::FlippedComponent => flip(&right(&flip(r))),
        InverseSlip::TransposedBlock => right(&exchange(r)),
        InverseSlip::WrongWeight => {
            right(r).iter().enumerate().map(|(i, z)| z * (1.0 + (i % 3) as f64)).collect()
        }
        InverseSlip::Offset => right(r).iter().map(|z| z + 1e-3).collect(),
        InverseSlip::LostBlock => {
            let mut z = right(r);
            z.iter_mut().rev().take(3).for_each(|z| *z = 0.0);
            z
        }
        InverseSlip::ShiftedBlock => {
            let mut z = right(r);
            z.rotate_right(3);
            z
        }
        InverseSlip::Averaged => {
            right(r).chunks_exact(3).flat_map(|z| [(z[0] + z[1] + z[2]) / 3.0; 3]).collect()
        }
        InverseSlip::NotZeroed => {
            let mut z = right(r);
            let mut before = before.borrow_mut();
            z.iter_mut().zip(before.iter()).for_each(|(z, old)| *z += old);
            before.clone_from(&z);
            z
        }
    }))
}
