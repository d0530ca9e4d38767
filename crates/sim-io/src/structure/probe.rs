//! Named results of a structure.

use super::reference::NodeSelection;
use crate::scene::words::kinds;
use serde::Deserialize;
use sim_fem::load::Direction;

kinds! {
    /// A named result.
    StructureProbe {
        /// Displacement of a node in m (rotation in rad).
        "displacement" => Displacement(NodeProbe),
        /// Velocity of a node in m/s (rad/s); transient analyses only.
        "velocity" => Velocity(NodeProbe),
        /// Acceleration of a node in m/s² (rad/s²); transient analyses only.
        "acceleration" => Acceleration(NodeProbe),
        /// Force in N (moment in N·m) of the support on a node, at the end.
        "reaction" => Reaction(EndProbe),
        /// Axial force of a member in N, tension positive.
        "axial_force" => AxialForce(MemberProbe),
        /// Axial strain of a member.
        "strain" => Strain(MemberProbe),
        /// Stress of largest size in a member in Pa, with sign.
        "stress" => Stress(MemberProbe),
        /// Largest share of the strength in use.
        "utilisation" => Utilisation(GroupProbe),
        /// Largest size of a displacement vector in m.
        "max_displacement" => MaxDisplacement(PlainProbe),
        /// Stored energy in J, at the end.
        "strain_energy" => StrainEnergy(PlainProbe),
        /// Mass in kg.
        "total_mass" => TotalMass(PlainProbe),
        /// Frequency of a mode in Hz.
        "frequency" => Frequency(NumberProbe),
        /// Share of the movable mass that a mode carries in a direction.
        "mass_participation" => MassParticipation(ParticipationProbe),
        /// Buckling: critical multiple of the load.
        "buckling_factor" => BucklingFactor(NumberProbe),
        /// Arc length: load factor of a limit or bifurcation point.
        "critical_factor" => CriticalFactor(NumberProbe),
        /// Harmonic: amplitude of a node in m (rad) at a frequency, or its peak over the band.
        "amplitude" => Amplitude(AmplitudeProbe),
    }
}

/// Something that a node does along the path or in time.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeProbe {
    /// Name of the result.
    pub name: String,
    /// One node.
    pub at: NodeSelection,
    /// Direction.
    pub direction: Direction,
    /// How the path becomes one number.
    #[serde(default)]
    pub value: PathValue,
}

/// Something at a node at the end.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndProbe {
    /// Name of the result.
    pub name: String,
    /// Nodes; their values are summed.
    pub at: NodeSelection,
    /// Direction.
    pub direction: Direction,
}

/// Something in a member.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemberProbe {
    /// Name of the result.
    pub name: String,
    /// Group.
    pub member: String,
    /// Which of the group, from 0; default 0.
    #[serde(default)]
    pub index: usize,
    /// How the path becomes one number.
    #[serde(default)]
    pub value: PathValue,
}

/// Something over a group of members, or all.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupProbe {
    /// Name of the result.
    pub name: String,
    /// Group; default all members.
    pub member: Option<String>,
}

/// Something of the whole structure.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlainProbe {
    /// Name of the result.
    pub name: String,
}

/// One of a numbered list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberProbe {
    /// Name of the result.
    pub name: String,
    /// Number, from 1.
    pub number: usize,
}

/// Effective mass.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParticipationProbe {
    /// Name of the result.
    pub name: String,
    /// Number of the mode, from 1.
    pub number: usize,
    /// x, y or z.
    pub direction: Direction,
}

/// Response to a swinging load.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AmplitudeProbe {
    /// Name of the result.
    pub name: String,
    /// One node.
    pub at: NodeSelection,
    /// Direction.
    pub direction: Direction,
    /// Frequency in Hz within the band; default the one of the peak.
    pub frequency: Option<f64>,
}

/// How values along a path (load steps, or time) become one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PathValue {
    /// The last.
    #[default]
    Final,
    /// The largest.
    Maximum,
    /// The least.
    Minimum,
    /// The largest size.
    MaxAbs,
    /// At a time in s (transient) or a load factor (load steps), linear between points.
    At(f64),
}

impl StructureProbe {
    /// Name of the result.
    pub fn name(&self) -> &str {
        match self {
            Self::Displacement(p) | Self::Velocity(p) | Self::Acceleration(p) => &p.name,
            Self::Reaction(p) => &p.name,
            Self::AxialForce(p) | Self::Strain(p) | Self::Stress(p) => &p.name,
            Self::Utilisation(p) => &p.name,
            Self::MaxDisplacement(p) | Self::StrainEnergy(p) | Self::TotalMass(p) => &p.name,
            Self::Frequency(p) | Self::BucklingFactor(p) | Self::CriticalFactor(p) => &p.name,
            Self::MassParticipation(p) => &p.name,
            Self::Amplitude(p) => &p.name,
        }
    }
}
