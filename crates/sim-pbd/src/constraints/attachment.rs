//! One particle held at a place that may move.

use super::{ConstraintInfo, Sample};
use crate::constraint::{Constraint, ValueError, direction};
use nalgebra::Vector3;
use sim_core::Motion;

/// Registry entry.
pub const INFO: ConstraintInfo = ConstraintInfo {
    id: "attachment",
    summary: "a particle held at a fixed or moving place, rigidly or by a spring",
    reference: "Müller, Heidelberger, Hennix, Ratcliff: Position Based Dynamics, 2007",
    limitations: "To hold a particle exactly and for ever, pin or drive it in the particle system: that costs nothing.",
    internal: false,
    sample: || {
        let target = Motion::Linear { start: [0.5, 0.1, -0.2], velocity: [1.0, 0.0, 0.5] };
        Sample::of(Attachment { target, radius: 0.2 }, [[0.1, 0.2, 0.3]])
    },
};

/// C = |x − target(t)| − radius, in m; radius 0 attaches to the place itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// Path of the place.
    pub target: Motion,
    /// Distance to keep from it in m, not negative.
    pub radius: f64,
}

impl Attachment {
    /// Attached to a place that does not move, m.
    pub fn fixed(place: [f64; 3]) -> Self {
        Self { target: Motion::Linear { start: place, velocity: [0.0; 3] }, radius: 0.0 }
    }

    /// Attached to a moving place.
    pub fn moving(target: Motion) -> Self {
        Self { target, radius: 0.0 }
    }
}

impl Constraint<1> for Attachment {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn scale(&self) -> f64 {
        if self.radius > 0.0 { self.radius } else { 1.0 }
    }

    fn evaluate(&self, t: f64, x: &[Vector3<f64>; 1]) -> (f64, [Vector3<f64>; 1]) {
        let (length, n) = direction(x[0] - Vector3::from(self.target.at(t).0));
        (length - self.radius, [n])
    }

    fn validate(&self) -> Result<(), ValueError> {
        ValueError::not_negative("radius", self.radius)?;
        self.target.validate().map_err(|_| ValueError {
            field: "target",
            value: f64::NAN,
            requirement: "a finite path with increasing times",
        })
    }
}
