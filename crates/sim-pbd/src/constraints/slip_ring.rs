//! A cable that runs freely through rings and over small frictionless sheaves.

use super::{ConstraintInfo, Sample};
use crate::constraint::{Sense, ValueError, direction};
use crate::sets::volumes::ManyPoints;
use nalgebra::Vector3;

/// Registry entry.
pub const INFO: ConstraintInfo = ConstraintInfo {
    id: "slip_ring",
    summary: "one cable through any number of points: its total length is limited, its tension the same throughout",
    reference: "slip-ring element; Aufaure: A finite element of cable passing through a pulley, 1993",
    limitations: "Massless, without friction and of zero sheave radius; a part whose points coincide has no direction.",
    internal: true,
    sample: || {
        let cable = SlipRing { length: 2.0 };
        let points = [[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 0.9, 0.1], [0.1, 0.2, 1.1]];
        Sample::Points {
            points: points.iter().map(|&p| Vector3::from(p)).collect(),
            evaluate: Box::new(move |x| {
                let mut gradient = vec![Vector3::zeros(); x.len()];
                let value = cable.path(0..x.len(), &|i| x[i], &mut |i, g| gradient[i] += g);
                (value, gradient)
            }),
            sense: Sense::AtMost,
        }
    },
};

/// `C = Σ |x_{i+1} − x_i| − length ≤ 0`, in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlipRing {
    /// Unloaded length of the whole cable in m, positive.
    pub length: f64,
}

impl SlipRing {
    /// C for a cable that visits the points `path` (local numbers) in this order; a block may be visited again.
    fn path(
        self,
        path: impl Iterator<Item = usize>,
        x: &dyn Fn(usize) -> Vector3<f64>,
        add: &mut dyn FnMut(usize, Vector3<f64>),
    ) -> f64 {
        let mut length = 0.0;
        let mut before = None;
        for i in path {
            if let Some(last) = before.replace(i) {
                let (part, n) = direction(x(i) - x(last));
                length += part;
                add(last, -n);
                add(i, n);
            }
        }
        length - self.length
    }
}

/// A [`SlipRing`] with its way through the points of the constraint.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReevedCable {
    pub ring: SlipRing,
    pub path: Vec<usize>,
}

impl ReevedCable {
    /// The cable, and the different particles it visits.
    pub(crate) fn new(ring: SlipRing, particles: &[u32]) -> (Self, Vec<u32>) {
        let mut different: Vec<u32> = Vec::new();
        let path = particles
            .iter()
            .map(|p| {
                different.iter().position(|d| d == p).unwrap_or_else(|| {
                    different.push(*p);
                    different.len() - 1
                })
            })
            .collect();
        (Self { ring, path }, different)
    }
}

impl ManyPoints for ReevedCable {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn sense(&self) -> Sense {
        Sense::AtMost
    }

    fn scale(&self) -> f64 {
        self.ring.length
    }

    fn evaluate(&self, x: &dyn Fn(usize) -> Vector3<f64>, add: &mut dyn FnMut(usize, Vector3<f64>)) -> f64 {
        self.ring.path(self.path.iter().copied(), x, add)
    }

    fn validate(&self) -> Result<(), ValueError> {
        if let Some(same) = self.path.windows(2).position(|pair| pair[0] == pair[1]) {
            let requirement = "different from the particle before it";
            return Err(ValueError {
                field: "particle of the cable at place",
                value: same as f64 + 1.0,
                requirement,
            });
        }
        ValueError::positive("length", self.ring.length)
    }
}
