//! What is computed.

use crate::scene::words::kinds;
use serde::Deserialize;
use sim_fem::analysis::arc_length::ArcLengthOptions;
use sim_fem::analysis::buckling::BucklingOptions;
use sim_fem::analysis::nonlinear_static::NonlinearStaticOptions;
use sim_fem::analysis::transient::{StartAcceleration, TransientMethod};
use sim_fem::form_finding::dynamic_relaxation::RelaxationOptions;

kinds! {
    /// What is computed.
    AnalysisSpec {
        /// First-order displacements, reactions and member forces.
        "static" => Static(StaticSpec),
        /// Equilibrium at finite displacements in load steps.
        "nonlinear_static" => NonlinearStatic(NonlinearStaticOptions),
        /// The equilibrium path through limit points.
        "arc_length" => ArcLength(ArcLengthOptions),
        /// Multiples of the load at which it buckles, from the first-order state.
        "buckling" => Buckling(BucklingOptions),
        /// Natural frequencies and modes.
        "modal" => Modal(ModalSpec),
        /// Motion in time.
        "transient" => Transient(TransientSpec),
        /// Motion in time by a method of the registry that motions use.
        "stepped" => Stepped(SteppedSpec),
        /// Steady response to a load that swings.
        "harmonic" => Harmonic(HarmonicSpec),
        /// The shape in which a net or cable comes to rest.
        "dynamic_relaxation" => DynamicRelaxation(RelaxationOptions),
    }
}

/// A first-order static analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StaticSpec {
    /// Time in s at which loads and supports are taken.
    pub time: f64,
}

/// Natural modes.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModalSpec {
    /// Number of modes, lowest first.
    pub modes: usize,
    /// About the equilibrium under the loads (at finite displacements) instead of the given shape.
    pub loaded: bool,
}

impl Default for ModalSpec {
    fn default() -> Self {
        Self { modes: 10, loaded: false }
    }
}

/// Motion in time.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransientSpec {
    /// s.
    pub duration: f64,
    /// Step in s; for `central_difference` it must be below the structure's limit.
    pub dt: f64,
    /// Scheme; default Newmark with β = 1/4, γ = 1/2.
    #[serde(default)]
    pub method: TransientMethod,
    /// Acceleration at the start.
    #[serde(default)]
    pub start: StartAcceleration,
    /// Begin in the equilibrium of the loads marked `acts = "before"` instead of the given shape.
    #[serde(default)]
    pub from_equilibrium: bool,
}

/// Motion in time by a method of the registry that motions use.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SteppedSpec {
    /// s.
    pub duration: f64,
    /// Step in s.
    pub dt: f64,
    /// Id of the method; `sim describe` lists them.
    pub method: String,
    /// Options of the method itself.
    #[serde(default)]
    pub options: toml::Table,
    /// Begin in the equilibrium of the loads marked `acts = "before"` instead of the given shape.
    #[serde(default)]
    pub from_equilibrium: bool,
}

/// Steady response to the loads times sin(2π f t), by modes.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HarmonicSpec {
    /// Lowest and highest frequency in Hz.
    pub band: [f64; 2],
    /// Number of frequencies in the band.
    #[serde(default = "two_hundred")]
    pub points: usize,
    /// Modes counted; the rest enter with their stiffness.
    #[serde(default = "ten")]
    pub modes: usize,
    /// Damping ratio of every mode; default that of `structure.rayleigh`.
    pub damping_ratio: Option<f64>,
}

fn two_hundred() -> usize {
    200
}

fn ten() -> usize {
    10
}
