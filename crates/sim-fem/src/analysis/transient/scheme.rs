//! The generalized-α family and its members.

use super::TransientError;
use crate::material::{ValueError, finite};
use serde::{Deserialize, Serialize};

/// A time integration scheme.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TransientMethod {
    /// Newmark (J. Eng. Mech. Div. ASCE 85, 1959). γ = 1/2 is second order; unconditional for 2β >= γ >= 1/2.
    Newmark {
        /// 1/4 = average, 1/6 = linear acceleration.
        beta: f64,
        /// 1/2, above it damps.
        gamma: f64,
    },
    /// Newmark with γ < 1/2 allowed: grows without bound, for demonstrations.
    NewmarkUnchecked {
        /// As above.
        beta: f64,
        /// Any.
        gamma: f64,
    },
    /// Hilber, Hughes & Taylor (Earthq. Eng. Struct. Dyn. 5, 1977).
    HilberHughesTaylor {
        /// −1/3 to 0; more negative damps more.
        alpha: f64,
    },
    /// Chung & Hulbert (J. Appl. Mech. 60, 1993).
    GeneralizedAlpha {
        /// Spectral radius at infinite frequency, 0 to 1; 1 does not damp.
        rho_infinity: f64,
    },
    /// Central differences, explicit: needs a diagonal mass matrix and a step below its limit.
    CentralDifference,
}

impl Default for TransientMethod {
    /// Average acceleration.
    fn default() -> Self {
        Self::Newmark { beta: 0.25, gamma: 0.5 }
    }
}

/// (1 − `α_m`) M a₁ + `α_m` M a₀ + (1 − `α_f)(C` v₁ + f₁) + `α_f` (C v₀ + f₀) = (1 − `α_f`) p₁ + `α_f` p₀ with Newmark's β and γ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficients {
    /// Weight of the old inertia.
    pub alpha_m: f64,
    /// Weight of the old forces.
    pub alpha_f: f64,
    /// Newmark's β.
    pub beta: f64,
    /// Newmark's γ.
    pub gamma: f64,
}

impl TransientMethod {
    /// Coefficients of the family; none for central differences.
    ///
    /// # Errors
    /// [`TransientError::Unstable`] for γ < 1/2, [`TransientError::Options`] for parameters out of range.
    pub fn coefficients(self) -> Result<Option<Coefficients>, TransientError> {
        let out_of =
            |field, value, requirement| TransientError::from(ValueError { field, value, requirement });
        let coefficients = match self {
            Self::CentralDifference => return Ok(None),
            Self::Newmark { beta, gamma } | Self::NewmarkUnchecked { beta, gamma } => {
                finite("beta", beta)?;
                finite("gamma", gamma)?;
                if beta < 0.0 {
                    return Err(out_of("beta", beta, "zero or positive"));
                }
                if gamma < 0.5 && matches!(self, Self::Newmark { .. }) {
                    return Err(TransientError::Unstable {
                        reason: format!(
                            "gamma = {gamma} is below 1/2: the scheme feeds energy into every mode (by about {:.2e} of its \
                             amplitude per step and (omega dt)^2) and never stops; use 1/2",
                            0.5 * (0.5 - gamma)
                        ),
                    });
                }
                Coefficients { alpha_m: 0.0, alpha_f: 0.0, beta, gamma }
            }
            Self::HilberHughesTaylor { alpha } => {
                if !(-1.0 / 3.0..=0.0).contains(&alpha) {
                    return Err(out_of("alpha", alpha, "between -1/3 and 0"));
                }
                let beta = (1.0 - alpha) * (1.0 - alpha) / 4.0;
                Coefficients { alpha_m: 0.0, alpha_f: -alpha, beta, gamma: 0.5 - alpha }
            }
            Self::GeneralizedAlpha { rho_infinity: rho } => {
                if !(0.0..=1.0).contains(&rho) {
                    return Err(out_of("rho_infinity", rho, "between 0 and 1"));
                }
                let (alpha_m, alpha_f) = ((2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0));
                let difference = alpha_f - alpha_m;
                let beta = (1.0 + difference) * (1.0 + difference) / 4.0;
                Coefficients { alpha_m, alpha_f, beta, gamma: 0.5 + difference }
            }
        };
        Ok(Some(coefficients))
    }
}

impl Coefficients {
    /// Whether the step has a limit.
    #[must_use]
    pub fn is_conditional(&self) -> bool {
        self.alpha_m == 0.0 && self.alpha_f == 0.0 && 2.0 * self.beta < self.gamma
    }

    /// Largest stable ω dt of a member of Newmark's family with damping ratio `ratio`; infinite when there is no limit
    /// (Hughes, The Finite Element Method, ch. 9).
    #[must_use]
    pub fn critical_omega_dt(&self, ratio: f64) -> f64 {
        if !self.is_conditional() {
            return f64::INFINITY;
        }
        let half = 0.5 * self.gamma - self.beta;
        let shift = ratio * (self.gamma - 0.5);
        (shift + (half + shift * shift).sqrt()) / half
    }
}
