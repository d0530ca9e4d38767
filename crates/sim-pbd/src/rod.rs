//! Rods: chains of particles whose segments carry orientations.

use crate::constraint::ValueError;
use crate::constraints::rod_bend_twist::RodBendTwist;
use crate::constraints::rod_stretch_shear::RodStretchShear;
use crate::constraints::slider::perpendicular;
use crate::sets::rods::{Joint, Segment};
use nalgebra::{UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};

/// An elastic rod along a chain of particles. Segment k lies between particles k and k+1 and has an orientation whose
/// third axis is its tangent.
///
/// The rest shape is the given polyline; frames follow it without twist from the first segment on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rod {
    /// Particles in order, at least two.
    pub particles: Vec<u32>,
    /// Unloaded positions in m, one per particle.
    pub rest_positions: Vec<[f64; 3]>,
    /// EA in N.
    pub axial_stiffness: f64,
    /// Shear stiffness `κGA` in N.
    pub shear_stiffness: f64,
    /// EI in N·m² about the first and the second material axis.
    pub bending_stiffness: [f64; 2],
    /// GJ in N·m².
    pub torsional_stiffness: f64,
    /// Moment of inertia per length in kg·m about the three material axes.
    pub inertia_per_length: [f64; 3],
    /// Segments whose orientation is held.
    #[serde(default)]
    pub clamped_segments: Vec<usize>,
}

impl Rod {
    /// A round rod: EA, `κGA` with κ = 0.9 (Cowper's value for a circle, rounded), EI, GJ and rotary inertia from radius
    /// (m), Young's modulus (Pa), Poisson's ratio and density (kg/m³).
    pub fn round(
        particles: Vec<u32>,
        rest_positions: Vec<[f64; 3]>,
        radius: f64,
        youngs_modulus: f64,
        poissons_ratio: f64,
        density: f64,
    ) -> Self {
        let area = std::f64::consts::PI * radius * radius;
        let second_moment = 0.25 * area * radius * radius;
        let shear_modulus = 0.5 * youngs_modulus / (1.0 + poissons_ratio);
        let rotary = density * second_moment;
        Self {
            particles,
            rest_positions,
            axial_stiffness: youngs_modulus * area,
            shear_stiffness: 0.9 * shear_modulus * area,
            bending_stiffness: [youngs_modulus * second_moment; 2],
            torsional_stiffness: 2.0 * shear_modulus * second_moment,
            inertia_per_length: [rotary, rotary, 2.0 * rotary],
            clamped_segments: Vec::new(),
        }
    }

    /// Checks lengths and ranges.
    ///
    /// # Errors
    /// [`ValueError`] naming the field.
    pub fn validate(&self) -> Result<(), ValueError> {
        let segments = self.particles.len().saturating_sub(1);
        let same = self.rest_positions.len() == self.particles.len();
        if segments == 0 || !same {
            return Err(ValueError {
                field: "rest_positions",
                value: self.rest_positions.len() as f64,
                requirement: "one per particle, at least two",
            });
        }
        for (field, value) in [
            ("axial_stiffness", self.axial_stiffness),
            ("shear_stiffness", self.shear_stiffness),
            ("bending_stiffness", self.bending_stiffness[0]),
            ("bending_stiffness", self.bending_stiffness[1]),
            ("torsional_stiffness", self.torsional_stiffness),
            ("inertia_per_length", self.inertia_per_length[0]),
            ("inertia_per_length", self.inertia_per_length[1]),
            ("inertia_per_length", self.inertia_per_length[2]),
        ] {
            ValueError::positive(field, value)?;
        }
        if let Some(&segment) = self.clamped_segments.iter().find(|&&segment| segment >= segments) {
            let requirement = "below the number of segments";
            return Err(ValueError { field: "clamped_segments", value: segment as f64, requirement });
        }
        self.rest_positions.iter().flatten().try_for_each(|&x| ValueError::finite("rest_positions", x))?;
        self.lengths().try_for_each(|length| ValueError::positive("rest length of a segment", length))
    }

    fn lengths(&self) -> impl Iterator<Item = f64> + '_ {
        self.rest_positions.windows(2).map(|p| (Vector3::from(p[1]) - Vector3::from(p[0])).norm())
    }

    /// Inverse inertia of every segment in 1/(kg·m²), zero where clamped.
    pub(crate) fn inverse_inertia(&self) -> Vec<[f64; 3]> {
        let mut result: Vec<[f64; 3]> =
            self.lengths().map(|length| self.inertia_per_length.map(|j| 1.0 / (j * length))).collect();
        for &segment in &self.clamped_segments {
            result[segment] = [0.0; 3];
        }
        result
    }

    /// Constraint lists, with orientations numbered from `first`.
    pub(crate) fn stencils(&self, first: u32) -> (Vec<Segment>, Vec<Joint>) {
        let lengths: Vec<f64> = self.lengths().collect();
        let rest: Vec<Vector3<f64>> = self.rest_positions.iter().map(|&p| Vector3::from(p)).collect();
        let frames = frames(&rest);
        let segments = (0_u32..)
            .zip(&lengths)
            .map(|(k, &length)| Segment {
                particles: [self.particles[k as usize], self.particles[k as usize + 1]],
                orientation: first + k,
                constraint: RodStretchShear { rest_length: length },
                compliance: Vector3::new(
                    length / self.shear_stiffness,
                    length / self.shear_stiffness,
                    length / self.axial_stiffness,
                ),
            })
            .collect();
        let joints = (0..lengths.len() - 1)
            .map(|k| {
                let length = 0.5 * (lengths[k] + lengths[k + 1]);
                let [b0, b1] = self.bending_stiffness;
                Joint {
                    orientations: [first + k as u32, first + k as u32 + 1],
                    constraint: RodBendTwist {
                        rest_turn: (frames[k].inverse() * frames[k + 1]).scaled_axis(),
                    },
                    compliance: Vector3::new(length / b0, length / b1, length / self.torsional_stiffness),
                }
            })
            .collect();
        (segments, joints)
    }
}

/// Frames along a polyline, turned from one segment to the next without twist. The first is the shortest turn of the third
/// axis onto the tangent.
pub(crate) fn frames(points: &[Vector3<f64>]) -> Vec<UnitQuaternion<f64>> {
    let between = |from: Vector3<f64>, to: Vector3<f64>| {
        UnitQuaternion::rotation_between(&from, &to)
            .unwrap_or_else(|| UnitQuaternion::from_scaled_axis(perpendicular(from) * std::f64::consts::PI))
    };
    let mut result: Vec<UnitQuaternion<f64>> = Vec::with_capacity(points.len());
    let mut before = Vector3::z();
    for pair in points.windows(2) {
        let tangent = crate::constraint::direction(pair[1] - pair[0]).1;
        let turn = between(before, tangent);
        result.push(result.last().map_or(turn, |last| turn * last));
        before = tangent;
    }
    result
}
