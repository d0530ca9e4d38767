//! Bending by springs between second neighbors.

use super::springs::{Spring, SpringRole, Springs};
use super::{ForceInfo, ForceKind, Units, sample};
use crate::particles::{ParticleSystem, ParticleSystemBuilder};
use crate::rest::RestError;
use crate::state::State;

/// Registry entry.
pub const INFO: ForceInfo = ForceInfo {
    id: "skip_spring",
    summary: "bending of ropes and cloth by springs between second neighbors",
    kind: ForceKind::Internal,
    sample: || scaled(Units::SI),
    scaled,
};

fn scaled(units: Units) -> (ParticleSystem, State) {
    let spring = |ends, l: f64, k: f64, c: f64| Spring {
        ends,
        rest_length: l * units.length,
        stiffness: k * units.stiffness(),
        damping: c * units.damping(),
    };
    let springs = [
        spring([0, 2], 0.7, 30.0, 0.2),
        spring([1, 3], 1.1, 20.0, 0.0),
        spring([2, 4], 0.9, 25.0, 0.4),
        spring([3, 0], 0.2, 10.0, 0.1),
    ];
    sample(5, units, |b: ParticleSystemBuilder| b.force(skip_springs(springs)))
}

/// Springs between second neighbors, booked as bending energy.
///
/// What they do to a rope of segments h that hardly stretch, bent by the angle θ at the middle particle: the skip has the
/// length `2 h cos(θ/2)`.
///
/// - **Straight at rest** (rest length 2 h): it shortens by h θ²/4, so the energy `k h² θ⁴ / 32` is of fourth order. There is
///   *no* linear bending stiffness; at curvature κ the moment is `k h⁵ κ³ / 8`. Such springs stop a rope from folding,
///   they do not make it a beam.
/// - **Curved at rest** (angle θ0, rest length `2 h cos(θ0/2)`): linear in the plane of the curve with
///   `EI = k h³ sin²(θ0/2)`, the h³ law.
/// - **Prestressed** (skips compressed by C, segments pulled by 2 C, in balance): linear with `EI = C h²/2`, in every
///   direction; see [`prestressed_rope`].
///
/// To give a straight rope or flat cloth an EI, prefer [`super::rope_hinge`] and [`super::cloth_hinge`].
///
/// # Limitations
/// They also resist stretch and add to the axial stiffness.
pub fn skip_springs(springs: impl IntoIterator<Item = Spring>) -> Springs {
    Springs::with_role(SpringRole::Bending, springs)
}

/// Springs of a straight rope on particles `0..=segments` with axial stiffness EA and, by prestressed skips, the small
/// deflection bending stiffness EI: `(segment springs, skip springs)`.
///
/// Second neighbors push with C = 2 EI / h², the segments between pull with 2 C, the two end segments with C, so that every
/// cross-section carries no force. Transverse waves of wave number q then store (4 C / h) sin⁴(q h / 2) per particle, the
/// discrete form of ½ EI q⁴ h.
///
/// # Errors
/// [`RestError`] when a number is not positive and finite, or when the segments would be stretched by more than half,
/// where rest lengths lose their meaning: then EI is too large for this EA and segment length.
pub fn prestressed_rope(
    segments: u32,
    segment_length: f64,
    axial_stiffness: f64,
    bending_stiffness: f64,
) -> Result<(Vec<Spring>, Vec<Spring>), RestError> {
    let fields = [
        ("segments", f64::from(segments)),
        ("segment_length", segment_length),
        ("axial_stiffness", axial_stiffness),
        ("bending_stiffness", bending_stiffness),
    ];
    for (field, value) in fields {
        if !(value.is_finite() && value > 0.0) {
            return Err(RestError::Value { field, value, requirement: "positive and finite" });
        }
    }
    if segments < 2 {
        let requirement = "at least 2";
        return Err(RestError::Value { field: "segments", value: f64::from(segments), requirement });
    }
    let h = segment_length;
    let push = 2.0 * bending_stiffness / (h * h);
    // Every cross-section holds one segment and two skips: half of EA in the segment, a quarter in each skip's material.
    let (segment_stiffness, skip_stiffness) = (0.5 * axial_stiffness / h, 0.25 * axial_stiffness / (2.0 * h));
    if 2.0 * push / segment_stiffness > 0.5 * h {
        return Err(RestError::Value {
            field: "bending_stiffness",
            value: bending_stiffness,
            requirement: "at most axial_stiffness × segment_length² / 16",
        });
    }
    let damping = 0.0;
    let laid = (0..segments).map(|i| {
        let pull = if i == 0 || i + 1 == segments { push } else { 2.0 * push };
        let rest_length = h - pull / segment_stiffness;
        Spring { ends: [i, i + 1], rest_length, stiffness: segment_stiffness, damping }
    });
    let skips = (0..segments - 1).map(|i| {
        let rest_length = 2.0 * h + push / skip_stiffness;
        Spring { ends: [i, i + 2], rest_length, stiffness: skip_stiffness, damping }
    });
    Ok((laid.collect(), skips.collect()))
}
