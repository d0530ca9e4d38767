//! A rubber law and a creeping branch written out, with one mistake at a time.

use sim_core::AxialLaw;
use sim_core::material::{Branch, MaterialError};

/// A mistake in a law, here Mooney-Rivlin's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LawMistake {
    None,
    /// Tension with the wrong sign.
    FlippedTension,
    /// Cauchy for nominal stress.
    TrueStress,
    /// -λ⁻¹ for -λ⁻².
    WrongPower,
    /// C01 term without its 1/λ.
    LostDivision,
    /// Energy of the first invariant alone.
    HalfEnergy,
    /// Energy not zero at rest.
    EnergyOffset,
    /// Tangent without the derivative of the second factor.
    ProductRule,
    /// Tangent of the force at rest everywhere.
    ConstantTangent,
    /// Bound taken at the lower stretch only.
    LowBound,
    /// One constant not scaled with its unit.
    FixedUnit,
}

/// Mooney-Rivlin rubber with C10 = 0.3, C01 = 0.1 in the given unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenLaw {
    pub unit: f64,
    pub mistake: LawMistake,
}

impl AxialLaw for WrittenLaw {
    fn id(&self) -> &'static str {
        "written_law"
    }

    fn energy(&self, l: f64) -> f64 {
        let (c10, c01) = self.constants();
        let first = c10 * (l * l + 2.0 / l - 3.0);
        let second = c01 * (2.0 * l + 1.0 / (l * l) - 3.0);
        match self.mistake {
            LawMistake::HalfEnergy => first,
            LawMistake::EnergyOffset => c10 * (l * l + 2.0 / l) + second,
            _ => first + second,
        }
    }

    fn tension(&self, l: f64) -> f64 {
        let (c10, c01) = self.constants();
        let power = if self.mistake == LawMistake::WrongPower { l - 1.0 / l } else { l - 1.0 / (l * l) };
        let factor = if self.mistake == LawMistake::LostDivision { c10 + c01 } else { c10 + c01 / l };
        match self.mistake {
            LawMistake::FlippedTension => -2.0 * power * factor,
            LawMistake::TrueStress => 2.0 * power * factor * l,
            _ => 2.0 * power * factor,
        }
    }

    fn tangent(&self, l: f64) -> f64 {
        let (c10, c01) = self.constants();
        let first = 2.0 * (1.0 + 2.0 / (l * l * l)) * (c10 + c01 / l);
        let second = -2.0 * (l - 1.0 / (l * l)) * c01 / (l * l);
        match self.mistake {
            LawMistake::ProductRule => first,
            LawMistake::ConstantTangent => 6.0 * (c10 + c01),
            _ => first + second,
        }
    }

    fn tangent_bound(&self, low: f64, high: f64) -> f64 {
        // Falls with the stretch here.
        self.tangent(if self.mistake == LawMistake::LowBound { high } else { low })
    }

    fn validate(&self) -> Result<(), MaterialError> {
        Ok(())
    }
}

impl WrittenLaw {
    fn constants(&self) -> (f64, f64) {
        let second = if self.mistake == LawMistake::FixedUnit { 0.1 } else { 0.1 * self.unit };
        (0.3 * self.unit, second)
    }
}

/// A mistake in the advance of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CreepMistake {
    None,
    /// Grows instead of decays.
    WrongSign,
    /// The whole change of stretch acts to the end: first order.
    NoMean,
    /// The mean decay is the exact one at the middle: second order, but not exact for constant rates.
    MiddleMean,
    /// Old tension kept whole.
    NoDecay,
    /// 1 - x for e^(-x).
    EulerDecay,
    /// Implicit Euler.
    ImplicitEuler,
    /// Modulus forgotten in the tangent's mean.
    FastTangent,
    /// Stretch at the end for its change.
    TotalStretch,
    /// Rate and its inverse exchanged.
    InvertedTime,
    /// (1 - e^-x)/x without care near zero.
    Cancellation,
}

/// Tension and tangent of a branch after a step.
pub(super) fn creep(
    mistake: CreepMistake,
    branch: Branch,
    tension: f64,
    from: f64,
    to: f64,
    dt: f64,
) -> (f64, f64) {
    use CreepMistake as M;
    let x = if mistake == M::InvertedTime { dt * branch.time } else { dt / branch.time };
    let mut kept = (-x).exp();
    let mut mean = if x > 0.0 { -(-x).exp_m1() / x } else { 1.0 };
    match mistake {
        M::WrongSign => kept = x.exp(),
        M::NoMean => mean = 1.0,
        M::MiddleMean => mean = (-0.5 * x).exp(),
        M::NoDecay => kept = 1.0,
        M::EulerDecay => kept = 1.0 - x,
        M::ImplicitEuler => {
            kept = 1.0 / (1.0 + x);
            mean = kept;
        }
        M::Cancellation => mean = ((1.0 - (-x).exp()) as f32 / x as f32).into(),
        _ => {}
    }
    let change = if mistake == M::TotalStretch { to - 1.0 } else { to - from };
    let tangent = if mistake == M::FastTangent { branch.modulus } else { branch.modulus * mean };
    (kept * tension + branch.modulus * mean * change, tangent)
}
