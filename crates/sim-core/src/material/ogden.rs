//! Ogden rubber of several terms.

use super::{AxialLaw, Law, LawInfo, MaterialError, value_error};
use serde::{Deserialize, Serialize};

/// Registry entry.
pub const INFO: LawInfo = LawInfo {
    id: "ogden",
    summary: "rubber of several power terms, incompressible, pulled or pushed along one axis",
    source: "Ogden, Proc. R. Soc. Lond. A 326 (1972) 565",
    limitations: "Three terms follow rubber to its breaking stretch, but data of pulling alone do not determine them: fits can be \
                  unstable elsewhere. No Mullins softening, no history.",
    sample: |unit| {
        Law::Ogden(Ogden {
            terms: vec![
                Term { mu: 0.63 * unit, alpha: 1.3 },
                Term { mu: 0.02 * unit, alpha: 4.0 },
                Term { mu: -0.03 * unit, alpha: -2.0 },
            ],
        })
    },
};

/// One power term.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// μ in Pa (times the area: N), not zero, of the sign of `alpha`, as a rule.
    pub mu: f64,
    /// Exponent α, not zero.
    pub alpha: f64,
}

/// Nominal stress `Σ μ (λ^(α-1) - λ^(-α/2-1))`, energy `Σ μ/α (λ^α + 2 λ^(-α/2) - 3)`. Slope at rest `3/2 Σ μ α`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ogden {
    /// The terms, at least one; `Σ μ α` is positive.
    pub terms: Vec<Term>,
}

// With x = ln λ everything is exponentials of multiples of x; `exp_m1` keeps the digits that differences near λ = 1 would lose.

pub(super) fn power_energy(Term { mu, alpha }: Term, stretch: f64) -> f64 {
    let x = stretch.ln();
    // e^a + 2 e^(-a/2) - 3 with a = αx; near 0 it is 3a²/4 and the two halves cancel to first order.
    let half = (-0.5 * alpha * x).exp_m1();
    // With u = e^(-a/2) = 1 + half: u⁻² + 2u - 3 = (1 + 2u³ - 3u²)/u² = (u - 1)² (2u + 1)/u².
    let u = 1.0 + half;
    mu / alpha * half * half * (2.0 * u + 1.0) / (u * u)
}

pub(super) fn power_tension(Term { mu, alpha }: Term, stretch: f64) -> f64 {
    let x = stretch.ln();
    mu * ((-0.5 * alpha - 1.0) * x).exp() * (1.5 * alpha * x).exp_m1()
}

pub(super) fn power_tangent(Term { mu, alpha }: Term, stretch: f64) -> f64 {
    let x = stretch.ln();
    mu * ((alpha - 1.0) * ((alpha - 2.0) * x).exp() + (0.5 * alpha + 1.0) * ((-0.5 * alpha - 2.0) * x).exp())
}

/// Powers of λ are monotone: each is largest at an end.
pub(super) fn power_tangent_bound(Term { mu, alpha }: Term, low: f64, high: f64) -> f64 {
    let largest = |factor: f64, exponent: f64| {
        factor.abs() * (exponent * low.ln()).exp().max((exponent * high.ln()).exp())
    };
    mu.abs() * (largest(alpha - 1.0, alpha - 2.0) + largest(0.5 * alpha + 1.0, -0.5 * alpha - 2.0))
}

impl AxialLaw for Ogden {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn energy(&self, stretch: f64) -> f64 {
        self.terms.iter().map(|&term| power_energy(term, stretch)).sum()
    }

    fn tension(&self, stretch: f64) -> f64 {
        self.terms.iter().map(|&term| power_tension(term, stretch)).sum()
    }

    fn tangent(&self, stretch: f64) -> f64 {
        self.terms.iter().map(|&term| power_tangent(term, stretch)).sum()
    }

    fn tangent_bound(&self, low: f64, high: f64) -> f64 {
        self.terms.iter().map(|&term| power_tangent_bound(term, low, high)).sum()
    }

    fn validate(&self) -> Result<(), MaterialError> {
        let mut slope = 0.0;
        for (index, term) in self.terms.iter().enumerate() {
            for (name, value) in [("mu", term.mu), ("alpha", term.alpha)] {
                if !value.is_finite() || value == 0.0 {
                    let field = format!("terms[{index}].{name}");
                    return Err(value_error(INFO.id, field, value, "finite and not zero"));
                }
            }
            slope += 1.5 * term.mu * term.alpha;
        }
        if slope > 0.0 {
            return Ok(());
        }
        let message = format!("the stiffness at rest, 3/2 Σ mu alpha, is {slope}; it must be positive");
        Err(MaterialError::Together { law: INFO.id, message })
    }
}
