//! Probes: named scalar results; and what is expected of them.

use super::support::Selection;
use super::words::kinds;
use serde::de::{Error, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer};
use std::fmt;

kinds! {
    /// A named result: a quantity that the run follows and reduces to one number.
    Probe {
        /// Position of a particle in m.
        "position" => Position(PointQuantity),
        /// Position less position at the start in m.
        "displacement" => Displacement(PointQuantity),
        /// Velocity of a particle in m/s.
        "velocity" => Velocity(PointQuantity),
        /// Force in N of the forces on particles: on a pin, the load that it carries.
        "force" => Force(PointQuantity),
        /// Elastic tension of a spring in N, negative when compressed.
        "tension" => Tension(SegmentQuantity),
        /// Strain of a spring.
        "strain" => Strain(SegmentQuantity),
        /// Largest |strain| of a part's structural springs.
        "max_strain" => MaxStrain(PartQuantity),
        /// Sum of the lengths of a part's structural springs in m.
        "length" => Length(PartQuantity),
        /// Determinant of the knot in a part's line of particles: 1 none, 3 an overhand knot; 0 where no view shows it.
        "knot" => Knot(PartQuantity),
        /// Energy or work in J.
        "energy" => Energy(EnergyQuantity),
        /// Total momentum of the free particles in kg·m/s.
        "momentum" => Momentum(VectorQuantity),
        /// Total angular momentum of the free particles about the origin in kg·m²/s.
        "angular_momentum" => AngularMomentum(VectorQuantity),
        /// Center of mass of everything in m.
        "center_of_mass" => CenterOfMass(VectorQuantity),
        /// What a collider takes from the parts, and how it turns.
        "collider" => Collider(ColliderQuantity),
        /// A quantity of a belt drive.
        "belt" => Belt(BeltQuantity),
        /// How far from converged the constraints are.
        "convergence" => Convergence(ConvergenceQuantity),
        /// Tension of a cable in N.
        "cable_tension" => CableTension(CableQuantity),
        /// One probe over another.
        "ratio" => Ratio(Pair),
        /// One probe less another.
        "difference" => Difference(Pair),
    }
}

/// Component of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Component {
    /// Along x.
    X,
    /// Along y.
    Y,
    /// Along z.
    Z,
    /// Euclidean length.
    Norm,
}

/// A vector at particles; over several particles, the mean (the sum for a force).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointQuantity {
    /// Name, fit for a column of a table.
    pub name: String,
    /// Part.
    pub part: String,
    /// Particles of the part.
    pub at: Selection,
    /// Which component.
    pub component: Component,
    /// How the series becomes one number.
    #[serde(default)]
    pub value: Reduction,
}

/// Which spring of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentSelection {
    /// The first.
    First,
    /// The last.
    Last,
    /// Counted within the part from 0.
    Index(usize),
}

impl SegmentSelection {
    /// The words that `segment` takes.
    pub const WORDS: &'static [&'static str] = &["first", "last"];
}

impl<'de> Deserialize<'de> for SegmentSelection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl Visitor<'_> for Forms {
            type Value = SegmentSelection;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"first\", \"last\" or a spring number")
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<SegmentSelection, E> {
                match word {
                    "first" => Ok(SegmentSelection::First),
                    "last" => Ok(SegmentSelection::Last),
                    other => Err(E::unknown_variant(other, SegmentSelection::WORDS)),
                }
            }
            fn visit_i64<E: Error>(self, index: i64) -> Result<SegmentSelection, E> {
                usize::try_from(index).map(SegmentSelection::Index).map_err(|_| {
                    E::invalid_value(serde::de::Unexpected::Signed(index), &"a spring number, 0 or more")
                })
            }
            fn visit_u64<E: Error>(self, index: u64) -> Result<SegmentSelection, E> {
                Ok(SegmentSelection::Index(index as usize))
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

/// A scalar of one spring.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmentQuantity {
    /// Name, fit for a column of a table.
    pub name: String,
    /// Part.
    pub part: String,
    /// Spring of the part.
    pub segment: SegmentSelection,
    /// How the series becomes one number.
    #[serde(default)]
    pub value: Reduction,
}

/// A scalar of a whole part.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartQuantity {
    /// Name, fit for a column of a table.
    pub name: String,
    /// Part.
    pub part: String,
    /// How the series becomes one number.
    #[serde(default)]
    pub value: Reduction,
}

/// A vector of the whole scene.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorQuantity {
    /// Name, fit for a column of a table.
    pub name: String,
    /// Which component.
    pub component: Component,
    /// How the series becomes one number.
    #[serde(default)]
    pub value: Reduction,
}

/// An entry of the energy account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnergyEntry {
    /// ½ m v² of the free particles.
    Kinetic,
    /// Stored in stretch.
    Elastic,
    /// Stored in bending.
    Bending,
    /// Height, zero at the origin.
    Gravitational,
    /// Of constant loads.
    Load,
    /// All but the kinetic one.
    Potential,
    /// All stored energy.
    Total,
    /// Work of dashpots since the start.
    DashpotWork,
    /// Lost inside materials since the start: creep, slip, breakage.
    InelasticWork,
    /// Work of mass-proportional damping since the start.
    MassDampingWork,
    /// Work of air since the start.
    AirWork,
    /// Work of varying loads since the start.
    ExternalWork,
    /// Work of driven supports since the start.
    ReactionWork,
    /// Made (+) or lost (-) by the discretisation since the start.
    Numerical,
    /// Total less its start less all work: what the method made or lost.
    Drift,
    /// Largest |residual| of one step, relative to the energy turned over in it (dimensionless).
    MaxRelativeResidual,
}

/// An energy.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnergyQuantity {
    /// Name, fit for a column of a table.
    pub name: String,
    /// Which entry.
    pub term: EnergyEntry,
    /// How the series becomes one number.
    #[serde(default)]
    pub value: Reduction,
}

/// What is read of a collider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColliderEntry {
    /// Sum of the sizes of all normal forces in N.
    NormalForce,
    /// Sum of the sizes of all friction forces in N.
    FrictionForce,
    /// Force on it along x in N.
    ForceX,
    /// Along y.
    ForceY,
    /// Along z.
    ForceZ,
    /// Moment on it about its axis in N·m.
    Torque,
    /// Angular velocity in rad/s.
    AngularVelocity,
    /// Angle in rad since the start.
    Angle,
    /// Number of contacts that carry a load.
    Contacts,
    /// Of these, how many slide.
    Sliding,
}

/// A quantity of a collider.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColliderQuantity {
    /// Name, fit for a column of a table.
    pub name: String,
    /// Id of the collider.
    pub collider: String,
    /// Which quantity.
    pub quantity: ColliderEntry,
    /// How the series becomes one number.
    #[serde(default)]
    pub value: Reduction,
}

/// What is read of a belt drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BeltEntry {
    /// Largest tension of a span in N.
    TightTension,
    /// Least tension of a span in N.
    SlackTension,
    /// Tension in N of the span after `pulley`.
    SpanTension,
    /// First transverse frequency in Hz of the span after `pulley`.
    SpanFrequency,
    /// Belt speed in m/s in the span after `pulley`.
    SpanSpeed,
    /// Angle in rad over which the belt touches `pulley`.
    Wrap,
    /// Angle in rad over which it slips on `pulley`.
    SlipArc,
    /// Angular velocity of `pulley` in rad/s.
    AngularVelocity,
    /// Torque in N·m of the belt on `pulley`.
    Torque,
    /// 1 less the rim speed of `pulley` over that of pulley `driver`.
    Creep,
}

/// A quantity of a belt drive.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BeltQuantity {
    /// Name, fit for a column of a table.
    pub name: String,
    /// The belt.
    pub part: String,
    /// Which quantity.
    pub quantity: BeltEntry,
    /// Number of the pulley; needed by all but the tight and slack tension.
    pub pulley: Option<usize>,
    /// Number of the pulley that creep counts from.
    #[serde(default)]
    pub driver: usize,
    /// How the series becomes one number.
    #[serde(default)]
    pub value: Reduction,
}

/// How far from converged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConvergenceEntry {
    /// Largest residual over the scale of its constraint.
    Largest,
    /// Root mean square of the same.
    Rms,
}

/// How far from converged the constraints are at the end of a frame (dimensionless).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConvergenceQuantity {
    /// Name, fit for a column of a table.
    pub name: String,
    /// Which quantity.
    pub quantity: ConvergenceEntry,
    /// How the series becomes one number.
    #[serde(default)]
    pub value: Reduction,
}

/// Tension of a cable.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CableQuantity {
    /// Name, fit for a column of a table.
    pub name: String,
    /// Id of the cable.
    pub cable: String,
    /// How the series becomes one number.
    #[serde(default)]
    pub value: Reduction,
}

/// Two other probes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// Name, fit for a column of a table.
    pub name: String,
    /// Name of the first.
    pub of: String,
    /// Name of the second.
    pub to: String,
}

kinds! {
    /// How a series becomes one number.
    ReductionForm {
        /// At a time in s, linear between frames.
        "at" => At(Instant),
        /// Least value in a window of time.
        "minimum" => Minimum(Window),
        /// Largest value.
        "maximum" => Maximum(Window),
        /// Largest |value|.
        "max_abs" => MaxAbs(Window),
        /// Time average (trapezoidal).
        "mean" => Mean(Window),
        /// Largest less least.
        "range" => Range(Window),
        /// Frequency in Hz from crossings of the mean.
        "frequency" => Frequency(Window),
        /// Frequency in Hz of the highest spectral peak in a band.
        "peak_frequency" => PeakFrequency(Band),
    }
}

/// How a series becomes one number; a bare word stands for the form without options.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Reduction {
    /// The last value.
    #[default]
    Final,
    /// The first value.
    First,
    /// Any other.
    Form(ReductionForm),
}

impl Reduction {
    /// The words that stand alone.
    pub const WORDS: &'static [&'static str] =
        &["final", "initial", "minimum", "maximum", "max_abs", "mean", "range", "frequency"];
}

impl<'de> Deserialize<'de> for Reduction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl<'de> Visitor<'de> for Forms {
            type Value = Reduction;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word such as \"final\" or \"maximum\", or a table with a `kind`")
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<Reduction, E> {
                let window = Window::default();
                Ok(match word {
                    "final" => Reduction::Final,
                    "initial" => Reduction::First,
                    "minimum" => Reduction::Form(ReductionForm::Minimum(window)),
                    "maximum" => Reduction::Form(ReductionForm::Maximum(window)),
                    "max_abs" => Reduction::Form(ReductionForm::MaxAbs(window)),
                    "mean" => Reduction::Form(ReductionForm::Mean(window)),
                    "range" => Reduction::Form(ReductionForm::Range(window)),
                    "frequency" => Reduction::Form(ReductionForm::Frequency(window)),
                    other => return Err(E::unknown_variant(other, Reduction::WORDS)),
                })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Reduction, A::Error> {
                ReductionForm::deserialize(MapAccessDeserializer::new(map)).map(Reduction::Form)
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

/// A moment.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instant {
    /// s.
    pub time: f64,
}

/// A span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Begin in s; by default the start.
    pub from: Option<f64>,
    /// End in s; by default the end.
    pub until: Option<f64>,
}

/// A span of frequencies.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// Lowest and highest frequency in Hz.
    pub band: [f64; 2],
    /// Begin in s; by default the start.
    pub from: Option<f64>,
    /// End in s; by default the end.
    pub until: Option<f64>,
}

impl Probe {
    /// Name of the result.
    pub fn name(&self) -> &str {
        match self {
            Self::Position(p) | Self::Displacement(p) | Self::Velocity(p) | Self::Force(p) => &p.name,
            Self::Tension(p) | Self::Strain(p) => &p.name,
            Self::MaxStrain(p) | Self::Length(p) | Self::Knot(p) => &p.name,
            Self::Energy(p) => &p.name,
            Self::Momentum(p) | Self::AngularMomentum(p) | Self::CenterOfMass(p) => &p.name,
            Self::Collider(p) => &p.name,
            Self::Belt(p) => &p.name,
            Self::Convergence(p) => &p.name,
            Self::CableTension(p) => &p.name,
            Self::Ratio(p) | Self::Difference(p) => &p.name,
        }
    }

    /// How its series becomes one number; `None` for probes made of other probes.
    pub fn reduction(&self) -> Option<&Reduction> {
        match self {
            Self::Position(p) | Self::Displacement(p) | Self::Velocity(p) | Self::Force(p) => Some(&p.value),
            Self::Tension(p) | Self::Strain(p) => Some(&p.value),
            Self::MaxStrain(p) | Self::Length(p) | Self::Knot(p) => Some(&p.value),
            Self::Energy(p) => Some(&p.value),
            Self::Momentum(p) | Self::AngularMomentum(p) | Self::CenterOfMass(p) => Some(&p.value),
            Self::Collider(p) => Some(&p.value),
            Self::Belt(p) => Some(&p.value),
            Self::Convergence(p) => Some(&p.value),
            Self::CableTension(p) => Some(&p.value),
            Self::Ratio(_) | Self::Difference(_) => None,
        }
    }
}

/// A value from theory that a probe must meet.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Name of the probe.
    pub probe: String,
    /// Value in the probe's unit.
    pub value: f64,
    /// Largest allowed difference in the probe's unit. Either this or `relative_tolerance`.
    pub tolerance: Option<f64>,
    /// The same as a fraction of |value|.
    pub relative_tolerance: Option<f64>,
    /// Where the value comes from.
    pub source: String,
}
