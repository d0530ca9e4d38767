//! Contact of particles, segments and triangles with colliders and with each other.
//!
//! Contacts are found once per substep along the way from its start to its predicted end (so that fast thin things do not
//! pass through each other), and solved after every sweep: the normal part as an inequality, the tangential part by
//! Coulomb's law with the normal multiplier of the same iteration. A block on a slope therefore sticks exactly when its
//! static coefficient is at least the slope.

use crate::constraint::ValueError;
use serde::{Deserialize, Serialize};

mod broad;
pub mod closest;
pub mod collider;
mod detect;
mod safe;
pub mod shapes;
mod solve;

pub use collider::{Collider, Piece, Rotation};
pub(crate) use detect::Features;
pub(crate) use solve::{ContactModel, ContactWork};

/// Coulomb friction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Friction {
    /// Largest tangential over normal force while sticking, not negative.
    pub static_coefficient: f64,
    /// Tangential over normal force while sliding, not negative and not above the static one.
    pub kinetic_coefficient: f64,
}

impl Friction {
    /// No friction.
    pub const NONE: Self = Self { static_coefficient: 0.0, kinetic_coefficient: 0.0 };

    /// The same coefficient for sticking and sliding.
    pub const fn coulomb(coefficient: f64) -> Self {
        Self { static_coefficient: coefficient, kinetic_coefficient: coefficient }
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ValueError`] naming the field.
    pub fn validate(&self) -> Result<(), ValueError> {
        ValueError::not_negative("static_coefficient", self.static_coefficient)?;
        ValueError::not_negative("kinetic_coefficient", self.kinetic_coefficient)?;
        if self.kinetic_coefficient > self.static_coefficient {
            return Err(ValueError {
                field: "kinetic_coefficient",
                value: self.kinetic_coefficient,
                requirement: "not above static_coefficient",
            });
        }
        Ok(())
    }
}

/// The parts of a model that can touch: particles as balls, segments as capsules, triangles as rounded plates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Skin {
    /// Radius in m of all of them, not negative: half the thickness of a cloth or rope. With 0, constraints may drag parts across
    /// thin colliders.
    pub radius: f64,
    /// Particles that touch colliders, and triangles of skins.
    pub particles: Vec<u32>,
    /// Segments that touch colliders and other segments.
    pub segments: Vec<[u32; 2]>,
    /// Triangles that touch particles. Their edges belong into `segments`.
    pub triangles: Vec<[u32; 3]>,
}

impl Skin {
    /// Balls only.
    pub fn balls(radius: f64, particles: impl IntoIterator<Item = u32>) -> Self {
        Self { radius, particles: particles.into_iter().collect(), ..Self::default() }
    }

    /// A rope along the particles.
    pub fn rope(radius: f64, particles: &[u32]) -> Self {
        Self {
            radius,
            particles: particles.to_vec(),
            segments: particles.windows(2).map(|pair| [pair[0], pair[1]]).collect(),
            triangles: Vec::new(),
        }
    }

    /// A cloth of triangles: its vertices, its edges and itself.
    pub fn cloth(radius: f64, triangles: &[[u32; 3]]) -> Self {
        let mut particles: Vec<u32> = triangles.iter().flatten().copied().collect();
        particles.sort_unstable();
        particles.dedup();
        let mut segments: Vec<[u32; 2]> = triangles
            .iter()
            .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]].map(|[p, q]| [p.min(q), p.max(q)]))
            .collect();
        segments.sort_unstable();
        segments.dedup();
        Self { radius, particles, segments, triangles: triangles.to_vec() }
    }
}

/// Contact of skins with each other (and themselves).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkinContact {
    /// Friction between skins.
    pub friction: Friction,
    /// Restitution between skins, 0 to 1.
    pub restitution: f64,
}

/// How contacts are treated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContactOptions {
    /// Contacts are prepared when a part is closer than this to a surface beyond its predicted way, m; not negative.
    /// Constraints may pull a part by about this much within a substep; if they pull it farther, contacts are looked for
    /// again. `None` takes the radius of the skin.
    pub margin: Option<f64>,
    /// Speed in m/s at which a part that starts a substep inside a surface is let out; `None` puts it outside at once,
    /// which turns depth into speed. The report counts how often the limit acted.
    pub depenetration_speed: Option<f64>,
    /// Approach speed in m/s below which nothing bounces, not negative. It keeps a resting stack at rest.
    pub bounce_speed: f64,
    /// Contact of skins with each other, if any.
    pub between_skins: Option<SkinContact>,
}

impl Default for ContactOptions {
    fn default() -> Self {
        Self { margin: None, depenetration_speed: Some(1.0), bounce_speed: 0.05, between_skins: None }
    }
}

impl ContactOptions {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ValueError`] naming the field.
    pub fn validate(&self) -> Result<(), ValueError> {
        if let Some(margin) = self.margin {
            ValueError::not_negative("margin", margin)?;
        }
        if let Some(speed) = self.depenetration_speed {
            ValueError::positive("depenetration_speed", speed)?;
        }
        ValueError::not_negative("bounce_speed", self.bounce_speed)?;
        if let Some(skins) = self.between_skins {
            skins.friction.validate()?;
            restitution(skins.restitution)?;
        }
        Ok(())
    }
}

pub(crate) fn restitution(value: f64) -> Result<(), ValueError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(ValueError { field: "restitution", value, requirement: "from 0 to 1" })
}

/// What the contacts of the last substep did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ContactReport {
    /// Contacts that carried a load.
    pub active: usize,
    /// Of these, how many slid.
    pub sliding: usize,
    /// Contacts prepared.
    pub prepared: usize,
    /// How often, over the whole step, a part was let out of a surface at the limited speed.
    pub depenetrations_limited: usize,
    /// Substeps of the step in which constraints moved parts beyond the margin and contacts were looked for again.
    pub repeated_searches: usize,
    /// How often, over the whole step, a part was stopped short because constraints would have dragged it through a collider.
    pub stopped: usize,
    /// Largest remaining penetration in m.
    pub deepest: f64,
    /// Force in N of everything on each collider, and moment in N·m about its axis.
    pub on_colliders: Vec<([f64; 3], f64)>,
}

/// One contact that carried a load in the last substep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ContactForce {
    /// The collider touched, or `None` for another skin.
    pub collider: Option<usize>,
    /// Particle with the largest weight on the near side.
    pub particle: u32,
    /// Normal force in N.
    pub normal_force: f64,
    /// Direction of the normal force on the near side.
    pub normal: [f64; 3],
    /// Friction force in N on the near side.
    pub friction: [f64; 3],
    /// Whether it slid.
    pub sliding: bool,
}
