//! Named energies and named powers.

use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Mul, Sub};

/// Where potential energy is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnergyTerm {
    /// Stretch of springs, bars and membranes.
    Elastic,
    /// Bending of ropes, beams and cloth.
    Bending,
    /// Height in the field of gravity.
    Gravitational,
    /// Constant loads, as minus the work they can still do.
    Load,
}

/// Energy in J, term by term.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// ½ vᵀ M v of the free particles.
    pub kinetic: f64,
    /// Stretch energy.
    pub elastic: f64,
    /// Bending energy.
    pub bending: f64,
    /// Gravitational energy (zero at the origin).
    pub gravitational: f64,
    /// Potential of constant loads.
    pub load: f64,
}

impl Energy {
    /// All potential energy in J.
    pub fn potential(&self) -> f64 {
        self.elastic + self.bending + self.gravitational + self.load
    }

    /// Kinetic plus potential energy in J.
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential()
    }

    /// Adds `value` J to a potential term.
    pub fn add(&mut self, term: EnergyTerm, value: f64) {
        match term {
            EnergyTerm::Elastic => self.elastic += value,
            EnergyTerm::Bending => self.bending += value,
            EnergyTerm::Gravitational => self.gravitational += value,
            EnergyTerm::Load => self.load += value,
        }
    }
}

/// Forces that no stored energy stands behind, and the moved supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkTerm {
    /// Forces that derive from an [`Energy`] term.
    Conservative,
    /// Dashpots along springs and hinges.
    Dashpot,
    /// What materials lose inside: creep, relaxation, slip and breakage.
    Inelastic,
    /// Mass-proportional damping.
    MassDamping,
    /// Air drag and wind, which may also drive.
    Air,
    /// Loads that change with time or position.
    External,
}

/// Power in W or, integrated over a step, work in J, term by term. Positive when the force drives the motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// Of forces that derive from a stored energy: minus the change of that energy, up to the error of the scheme.
    pub conservative: f64,
    /// Dashpots (never positive).
    pub dashpot: f64,
    /// What materials lose inside: creep, relaxation, slip and breakage (never positive).
    #[serde(default)]
    pub inelastic: f64,
    /// Mass-proportional damping (never positive).
    pub mass_damping: f64,
    /// Air: drag takes, wind may give.
    pub air: f64,
    /// Loads that vary.
    pub external: f64,
    /// Put in by supports that are moved: minus the power of all forces on particles that are not free.
    pub reaction: f64,
}

impl Work {
    /// Adds `value` to a term.
    pub fn add_term(&mut self, term: WorkTerm, value: f64) {
        match term {
            WorkTerm::Conservative => self.conservative += value,
            WorkTerm::Dashpot => self.dashpot += value,
            WorkTerm::Inelastic => self.inelastic += value,
            WorkTerm::MassDamping => self.mass_damping += value,
            WorkTerm::Air => self.air += value,
            WorkTerm::External => self.external += value,
        }
    }

    /// All terms together: the power that goes into kinetic energy of the free particles.
    pub fn total(&self) -> f64 {
        self.conservative + self.not_conservative()
    }

    /// All terms but the conservative one: the power that goes into kinetic plus potential energy.
    pub fn not_conservative(&self) -> f64 {
        self.dashpot + self.inelastic + self.mass_damping + self.air + self.external + self.reaction
    }

    /// Sum of the sizes of all terms, a scale to compare a residual with.
    pub fn magnitude(&self) -> f64 {
        self.conservative.abs()
            + self.dashpot.abs()
            + self.inelastic.abs()
            + self.mass_damping.abs()
            + self.air.abs()
            + self.external.abs()
            + self.reaction.abs()
    }
}

macro_rules! termwise {
    ($type:ident { $($field:ident),* }) => {
        impl Add for $type {
            type Output = Self;
            fn add(self, other: Self) -> Self { Self { $($field: self.$field + other.$field),* } }
        }
        impl Sub for $type {
            type Output = Self;
            fn sub(self, other: Self) -> Self { Self { $($field: self.$field - other.$field),* } }
        }
        impl Mul<f64> for $type {
            type Output = Self;
            fn mul(self, factor: f64) -> Self { Self { $($field: self.$field * factor),* } }
        }
        impl AddAssign for $type {
            fn add_assign(&mut self, other: Self) { *self = *self + other; }
        }
    };
}
termwise!(Energy { kinetic, elastic, bending, gravitational, load });
termwise!(Work { conservative, dashpot, inelastic, mass_damping, air, external, reaction });
