//! One constraint as pure mathematics: a value and its gradients, no indices and no storage.

use nalgebra::Vector3;
use sim_core::EnergyTerm;
use std::fmt::Debug;

/// Whether a constraint must vanish or only must not be positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// C = 0.
    Equal,
    /// C ≤ 0: it can pull in one direction only.
    AtMost,
}

/// A scalar function C of `N` points that a solver drives to zero (or below).
///
/// A compliance α (1/stiffness) turns it into the energy C²/(2α); the multiplier per squared step is minus the force.
pub trait Constraint<const N: usize>: Debug + Send + Sync {
    /// Id used in reports and scene files.
    fn id(&self) -> &'static str;

    /// Equality or inequality.
    fn sense(&self) -> Sense {
        Sense::Equal
    }

    /// A positive value of C that counts as large (a rest length, a radian), with which errors are compared.
    fn scale(&self) -> f64;

    /// Where the energy of a compliant constraint is booked.
    fn energy_term(&self) -> EnergyTerm {
        EnergyTerm::Elastic
    }

    /// C and `∂C/∂x_i` at time `t` (s). A place without a direction gives a documented one, or zero gradients; never NaN.
    fn evaluate(&self, t: f64, x: &[Vector3<f64>; N]) -> (f64, [Vector3<f64>; N]);

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`ValueError`] naming the field.
    fn validate(&self) -> Result<(), ValueError>;
}

/// A parameter out of range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{field} = {value}, must be {requirement}")]
pub struct ValueError {
    /// Field name.
    pub field: &'static str,
    /// Value found.
    pub value: f64,
    /// What it must be.
    pub requirement: &'static str,
}

impl ValueError {
    /// `Ok` when `value` is finite and not negative.
    ///
    /// # Errors
    /// Otherwise, itself.
    pub fn not_negative(field: &'static str, value: f64) -> Result<(), Self> {
        if value.is_finite() && value >= 0.0 {
            return Ok(());
        }
        Err(Self { field, value, requirement: "finite and not negative" })
    }

    /// `Ok` when `value` is finite and positive.
    ///
    /// # Errors
    /// Otherwise, itself.
    pub fn positive(field: &'static str, value: f64) -> Result<(), Self> {
        if value.is_finite() && value > 0.0 {
            return Ok(());
        }
        Err(Self { field, value, requirement: "finite and positive" })
    }

    /// `Ok` when `value` is finite.
    ///
    /// # Errors
    /// Otherwise, itself.
    pub fn finite(field: &'static str, value: f64) -> Result<(), Self> {
        if value.is_finite() {
            return Ok(());
        }
        Err(Self { field, value, requirement: "finite" })
    }
}

/// A constraint on particles of a system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound<C, const N: usize> {
    /// The particles, all different.
    pub particles: [u32; N],
    /// The mathematics.
    pub constraint: C,
    /// Inverse stiffness: m/N for lengths, rad/(N·m) for angles, (unit of C)²/J in general. 0 is rigid.
    pub compliance: f64,
    /// Dashpot on the rate of C, N·s/m for lengths, J·s/(unit of C)² in general. It acts together with a compliance (the
    /// Kelvin-Voigt element); a rigid constraint has no rate to damp.
    pub damping: f64,
}

impl<C, const N: usize> Bound<C, N> {
    /// A rigid constraint.
    pub const fn rigid(particles: [u32; N], constraint: C) -> Self {
        Self { particles, constraint, compliance: 0.0, damping: 0.0 }
    }

    /// A constraint of the given compliance.
    pub const fn compliant(particles: [u32; N], constraint: C, compliance: f64) -> Self {
        Self { particles, constraint, compliance, damping: 0.0 }
    }
}

/// The unit vector of `d`, or +x when `d` has no direction: coincident points part along x, the same on every run.
pub(crate) fn direction(d: Vector3<f64>) -> (f64, Vector3<f64>) {
    // Scaled first, so that neither tiny nor huge vectors lose their direction.
    let largest = d.amax();
    if largest == 0.0 || !largest.is_finite() {
        return (0.0, Vector3::x());
    }
    let scaled = d / largest;
    let norm = scaled.norm();
    (norm * largest, scaled / norm)
}
