//! Fits a material law to measured points of stretch and stress.

mod problem;
mod statistics;

use problem::{Family, least_squares};
use serde::Serialize;
use sim_core::material::cubic::Cubic;
use sim_core::material::linear::Linear;
use sim_core::material::mooney_rivlin::MooneyRivlin;
use sim_core::material::neo_hooke::NeoHooke;
use sim_core::material::ogden::{Ogden, Term};
use sim_core::{AxialLaw, Law};
use statistics::t_quantile;

/// Which law is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitLaw {
    /// One modulus.
    Linear,
    /// Polynomial of third degree in strain.
    Cubic,
    /// Rubber of one constant.
    NeoHooke,
    /// Rubber of two constants.
    MooneyRivlin,
    /// Rubber of so many terms.
    Ogden(usize),
}

/// A parameter with its confidence interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Name as scenes write it.
    pub name: String,
    /// Value, in the unit of the stresses where it has one.
    pub value: f64,
    /// Half width of the confidence interval (linearized, errors of equal variance); none when there is no point to spare.
    pub half_width: Option<f64>,
}

/// The law nearest to the points.
#[derive(Clone, Debug, Serialize)]
pub struct Fit {
    /// The law.
    pub law: Law,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Stretch, stress, stress of the law.
    pub points: Vec<[f64; 3]>,
    /// Root of the mean square of the residuals.
    pub rms: f64,
    /// Largest residual, with its point.
    pub largest: (f64, usize),
    /// Share of the variance of the stresses that the law explains.
    pub r_squared: f64,
    /// Condition number of the sensitivities, each scaled to length 1: beyond 1e4 parameters stand in for each other.
    pub condition: f64,
    /// Confidence of the intervals, in (0, 1).
    pub confidence: f64,
    /// What a user should know.
    pub warnings: Vec<String>,
}

/// A table that no law can be fitted to.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// Too few points.
    #[error("{points} points do not determine {parameters} parameters")]
    TooFew {
        /// Points with a stretch other than 1.
        points: usize,
        /// Parameters of the law.
        parameters: usize,
    },
    /// A point is impossible.
    #[error("point {index}: stretch {stretch}, stress {stress}; the stretch must be positive, both finite")]
    Point {
        /// Index from 0.
        index: usize,
        /// Stretch found.
        stretch: f64,
        /// Stress found.
        stress: f64,
    },
    /// The confidence is impossible.
    #[error("confidence {0}, must be above 0 and below 1")]
    Confidence(f64),
    /// Number of terms out of range.
    #[error("{0} terms, must be 1 to 4")]
    Terms(usize),
    /// No start led to a law.
    #[error("no fit was found: {0}")]
    NoFit(String),
}

/// Fits `law` to points `(stretch, nominal stress)` by unweighted least squares.
///
/// Laws that are linear in their parameters have one answer. For Ogden's, the exponents are searched from every set of a fixed list, with
/// the factors that are best for them, by the Levenberg-Marquardt method in `MINPACK`'s form (crate `levenberg-marquardt`); the best end
/// with exponents within ±20 is taken.
///
/// # Errors
/// [`FitError`].
pub fn fit(points: &[(f64, f64)], law: FitLaw, confidence: f64) -> Result<Fit, FitError> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(FitError::Confidence(confidence));
    }
    if let FitLaw::Ogden(terms) = law
        && !(1..=4).contains(&terms)
    {
        return Err(FitError::Terms(terms));
    }
    let bad = points.iter().position(|(l, p)| !(l.is_finite() && *l > 0.0 && p.is_finite()));
    if let Some(index) = bad {
        let (stretch, stress) = points[index];
        return Err(FitError::Point { index, stretch, stress });
    }
    let family = Family::of(law);
    // At stretch 1 every law is zero: such a point says nothing.
    let telling = points.iter().filter(|(l, _)| *l != 1.0).count();
    if telling < family.count() {
        return Err(FitError::TooFew { points: telling, parameters: family.count() });
    }
    let solution = least_squares(points, family).map_err(FitError::NoFit)?;
    let found = family.law(&solution.parameters);
    let fitted: Vec<[f64; 3]> = points.iter().map(|&(l, p)| [l, p, found.tension(l)]).collect();
    let squares: f64 = fitted.iter().map(|[_, p, fit]| (p - fit) * (p - fit)).sum();
    let largest = (fitted.iter().enumerate())
        .map(|(index, [_, p, fit])| ((p - fit).abs(), index))
        .fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a });
    let mean = points.iter().map(|(_, p)| p).sum::<f64>() / points.len() as f64;
    let spread: f64 = points.iter().map(|(_, p)| (p - mean) * (p - mean)).sum();
    let spare = telling - family.count();
    let widths = (spare > 0).then(|| {
        let scale = (squares / spare as f64).sqrt() * t_quantile(0.5 + 0.5 * confidence, spare as f64);
        solution.unit_errors.iter().map(|error| scale * error).collect::<Vec<f64>>()
    });
    let parameters: Vec<Parameter> = (family.names().into_iter().zip(&solution.parameters).enumerate())
        .map(|(i, (name, &value))| Parameter {
            name,
            value,
            half_width: widths.as_ref().map(|widths| widths[i]),
        })
        .collect();
    let mut warnings = Vec::new();
    if solution.condition > 1e4 {
        warnings.push(format!(
            "the data do not tell the parameters apart: condition {:.1e} of the scaled sensitivities; fewer terms or other tests would",
            solution.condition
        ));
    }
    match &widths {
        None => warnings.push("as many parameters as points: no residual is left to judge the fit by".into()),
        Some(_) => warnings.extend(parameters.iter().filter_map(|parameter| {
            let width = parameter.half_width.filter(|width| *width > parameter.value.abs())?;
            Some(format!(
                "{} = {:.4e} ± {width:.1e} is not determined by the data",
                parameter.name, parameter.value
            ))
        })),
    }
    warnings.extend(instability(&found, points));
    if let Err(error) = found.validate() {
        warnings.push(format!("scenes refuse this law: {error}"));
    }
    let rms = (squares / points.len() as f64).sqrt();
    let r_squared = 1.0 - squares / spread;
    let condition = solution.condition;
    Ok(Fit {
        law: found,
        parameters,
        points: fitted,
        rms,
        largest,
        r_squared,
        condition,
        confidence,
        warnings,
    })
}

/// Principal stretches of a mode at a stretch.
type Principal = fn(f64) -> [f64; 3];

/// Where in the range of the data the law is not stable (Drucker): stress and strain increments that oppose each other. Rubber is tried in
/// pulling along one axis, along two, and in pure shear; others along their axis only.
fn instability(law: &Law, points: &[(f64, f64)]) -> Vec<String> {
    let low = points.iter().fold(1.0_f64, |a, (l, _)| a.min(*l));
    let high = points.iter().fold(1.0_f64, |a, (l, _)| a.max(*l));
    let terms: Vec<Term> = match law {
        Law::NeoHooke(law) => vec![Term { mu: law.shear_modulus, alpha: 2.0 }],
        Law::MooneyRivlin(law) => law.terms().to_vec(),
        Law::Ogden(law) => law.terms.clone(),
        _ => Vec::new(),
    };
    let places = (0..=400).map(|i| low + (high - low) * f64::from(i) / 400.0);
    if terms.is_empty() {
        let soft = places.clone().find(|&l| law.tangent(l) <= 0.0);
        return soft
            .map(|l| format!("the law loses its stiffness at stretch {l:.3}, within the data"))
            .into_iter()
            .collect();
    }
    let modes: [(&str, Principal); 3] = [
        ("pulled along one axis", |l| [l, l.powf(-0.5), l.powf(-0.5)]),
        ("pulled along two axes", |l| [l, l, l.powi(-2)]),
        ("in pure shear", |l| [l, 1.0, 1.0 / l]),
    ];
    modes
        .into_iter()
        .filter_map(|(mode, principal)| {
            // dτ·dε = Σ h dε² on Σ dε = 0, h = Σ μ α λ^α: positive when both minors are.
            let unstable = |stretch: &f64| {
                let [a, b, c] = principal(*stretch)
                    .map(|l| terms.iter().map(|t| t.mu * t.alpha * l.powf(t.alpha)).sum::<f64>());
                a + c <= 0.0 || a * b + b * c + a * c <= 0.0
            };
            let place = places.clone().find(unstable)?;
            Some(format!("the law is not stable (Drucker) when {mode} to stretch {place:.3}, within the range of the data"))
        })
        .collect()
}

impl Family {
    fn names(self) -> Vec<String> {
        let fixed = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        match self.law {
            FitLaw::Linear => fixed(&["modulus"]),
            FitLaw::Cubic => fixed(&["modulus", "quadratic", "cubic"]),
            FitLaw::NeoHooke => fixed(&["shear_modulus"]),
            FitLaw::MooneyRivlin => fixed(&["c10", "c01"]),
            FitLaw::Ogden(terms) => {
                (0..terms).flat_map(|i| [format!("terms[{i}].mu"), format!("terms[{i}].alpha")]).collect()
            }
        }
    }

    /// The law of some parameters.
    pub(self) fn law(self, p: &[f64]) -> Law {
        match self.law {
            FitLaw::Linear => Linear { modulus: p[0] }.into(),
            FitLaw::Cubic => Cubic { modulus: p[0], quadratic: p[1], cubic: p[2] }.into(),
            FitLaw::NeoHooke => NeoHooke { shear_modulus: p[0] }.into(),
            FitLaw::MooneyRivlin => MooneyRivlin { c10: p[0], c01: p[1] }.into(),
            FitLaw::Ogden(_) => {
                let terms = p.chunks_exact(2).map(|pair| Term { mu: pair[0], alpha: pair[1] });
                Ogden { terms: terms.collect() }.into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(law: &Law, stretches: impl Iterator<Item = f64>) -> Vec<(f64, f64)> {
        stretches.map(|l| (l, law.tension(l))).collect()
    }

    #[test]
    fn laws_are_found_again_from_their_own_points() {
        let law: Law =
            Ogden { terms: vec![Term { mu: 0.6, alpha: 1.6 }, Term { mu: 2e-3, alpha: 5.2 }] }.into();
        let data = points(&law, (0..40).map(|i| 0.6 + 0.15 * f64::from(i)));
        let found = fit(&data, FitLaw::Ogden(2), 0.95).unwrap();
        for (parameter, wanted) in found.parameters.iter().zip([0.6, 1.6, 2e-3, 5.2]) {
            assert!((parameter.value / wanted - 1.0).abs() < 1e-6, "{parameter:?}, not {wanted}");
        }
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
        let cubic: Law = Cubic { modulus: 3.0, quadratic: -1.0, cubic: 2.0 }.into();
        let found =
            fit(&points(&cubic, (0..9).map(|i| 0.8 + 0.1 * f64::from(i))), FitLaw::Cubic, 0.9).unwrap();
        assert!(found.rms < 1e-14 && (found.parameters[1].value + 1.0).abs() < 1e-11);
    }

    #[test]
    fn intervals_are_those_of_a_straight_line() {
        // y = b x through the origin: s² = Σ r²/(n - 1), error of b = s/sqrt(Σ x²), t(0.975, 3) = 3.182446.
        let data = [(1.1, 0.21), (1.2, 0.38), (1.3, 0.63), (1.4, 0.79)];
        let found = fit(&data, FitLaw::Linear, 0.95).unwrap();
        let b = (0.1 * 0.21 + 0.2 * 0.38 + 0.3 * 0.63 + 0.4 * 0.79) / 0.3;
        let squares: f64 = data.iter().map(|(l, y)| (y - b * (l - 1.0)).powi(2)).sum();
        let width = 3.182446 * (squares / 3.0 / 0.3).sqrt();
        assert!((found.parameters[0].value - b).abs() < 1e-12);
        assert!((found.parameters[0].half_width.unwrap() / width - 1.0).abs() < 1e-6);
    }

    #[test]
    fn what_the_data_do_not_say_is_said() {
        let law: Law = NeoHooke { shear_modulus: 0.4 }.into();
        // Two terms for the data of one: the second has nothing to explain.
        let mut data = points(&law, (1..12).map(|i| 1.0 + 0.05 * f64::from(i)));
        data.iter_mut().enumerate().for_each(|(i, (_, p))| *p += 1e-3 * (1.9 * i as f64).sin());
        let found = fit(&data, FitLaw::Ogden(3), 0.95).unwrap();
        assert!(
            found.warnings.iter().any(|text| text.contains("determine") || text.contains("tell")),
            "{found:?}"
        );
        // A Mooney-Rivlin law with a strongly negative constant is unstable when pulled along two axes.
        let law: Law = MooneyRivlin { c10: 0.4, c01: -0.15 }.into();
        let found = fit(&points(&law, (0..20).map(|i| 1.0 + 0.1 * f64::from(i))), FitLaw::MooneyRivlin, 0.95)
            .unwrap();
        assert!(found.warnings.iter().any(|text| text.contains("along two axes")), "{:?}", found.warnings);
        assert_eq!(
            fit(&[(1.0, 0.0), (1.2, 0.3)], FitLaw::MooneyRivlin, 0.95).unwrap_err(),
            FitError::TooFew { points: 1, parameters: 2 }
        );
        let error = fit(&[(-1.0, 0.1)], FitLaw::Linear, 0.95).unwrap_err();
        assert!(matches!(error, FitError::Point { index: 0, .. }));
    }
}
