//! The least-squares problem of a law.

use super::FitLaw;
use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt};
use nalgebra::{DMatrix, DVector};
use nalgebra_of_fits as lm;
use sim_core::AxialLaw;

/// A law with its parameters as a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Family {
    pub law: FitLaw,
}

/// The best parameters.
pub(super) struct Solution {
    pub parameters: Vec<f64>,
    /// Standard errors of the parameters for residuals of standard deviation 1.
    pub unit_errors: Vec<f64>,
    pub condition: f64,
}

/// Exponents that fits of Ogden's law start from.
const EXPONENTS: [f64; 8] = [-6.0, -2.0, -0.5, 1.3, 2.0, 4.0, 8.0, 12.0];

/// Exponents beyond this follow the scatter of single points and no rubber.
const LARGEST_EXPONENT: f64 = 20.0;

impl Family {
    pub fn of(law: FitLaw) -> Self {
        Self { law }
    }

    pub fn count(self) -> usize {
        match self.law {
            FitLaw::Linear | FitLaw::NeoHooke => 1,
            FitLaw::MooneyRivlin => 2,
            FitLaw::Cubic => 3,
            FitLaw::Ogden(terms) => 2 * terms,
        }
    }

    fn stresses(self, points: &[(f64, f64)], p: &[f64]) -> DVector<f64> {
        let law = self.law(p);
        DVector::from_iterator(points.len(), points.iter().map(|(stretch, _)| law.tension(*stretch)))
    }

    /// ∂ stress / ∂ parameter.
    fn sensitivities(self, points: &[(f64, f64)], p: &[f64]) -> DMatrix<f64> {
        let mut matrix = DMatrix::zeros(points.len(), p.len());
        for k in 0..p.len() {
            let column = if let (FitLaw::Ogden(_), true) = (self.law, k % 2 == 1) {
                // d/dα of μ (λ^(α-1) - λ^(-α/2-1)) = μ ln λ (λ^(α-1) + ½ λ^(-α/2-1)).
                let (mu, alpha) = (p[k - 1], p[k]);
                DVector::from_iterator(
                    points.len(),
                    points.iter().map(|(l, _)| {
                        let x = l.ln();
                        mu * x * (((alpha - 1.0) * x).exp() + 0.5 * ((-0.5 * alpha - 1.0) * x).exp())
                    }),
                )
            } else {
                // Linear in it: the stress for 1 in place of the parameter and 0 in place of the other factors.
                let unit: Vec<f64> = (0..p.len())
                    .map(|i| match self.law {
                        FitLaw::Ogden(_) if i % 2 == 1 => p[i],
                        _ => f64::from(u8::from(i == k)),
                    })
                    .collect();
                self.stresses(points, &unit)
            };
            matrix.set_column(k, &column);
        }
        matrix
    }

    /// Best factors of parameters in which the stress is linear.
    fn linear(self, points: &[(f64, f64)], p: &[f64]) -> Option<Vec<f64>> {
        let wanted = DVector::from_iterator(points.len(), points.iter().map(|(_, stress)| *stress));
        let free: Vec<usize> =
            (0..p.len()).filter(|k| !(matches!(self.law, FitLaw::Ogden(_)) && k % 2 == 1)).collect();
        let matrix = self.sensitivities(points, p).select_columns(&free);
        let factors = matrix.svd(true, true).solve(&wanted, 1e-13).ok()?;
        let mut best = p.to_vec();
        free.iter().zip(factors.iter()).for_each(|(&k, factor)| best[k] = *factor);
        Some(best)
    }
}

/// What the crate is handed: parameters and residuals scaled to about 1.
struct Problem<'a> {
    family: Family,
    points: &'a [(f64, f64)],
    scale: f64,
    p: lm::DVector<f64>,
}

impl Problem<'_> {
    /// In the units of the points.
    fn physical(&self) -> Vec<f64> {
        self.p.iter().enumerate().map(|(k, p)| if k % 2 == 0 { p * self.scale } else { *p }).collect()
    }
}

impl LeastSquaresProblem<f64, lm::Dyn, lm::Dyn> for Problem<'_> {
    type ResidualStorage = lm::VecStorage<f64, lm::Dyn, lm::U1>;
    type JacobianStorage = lm::VecStorage<f64, lm::Dyn, lm::Dyn>;
    type ParameterStorage = lm::VecStorage<f64, lm::Dyn, lm::U1>;

    fn set_params(&mut self, p: &lm::DVector<f64>) {
        self.p.copy_from(p);
    }

    fn params(&self) -> lm::DVector<f64> {
        self.p.clone()
    }

    fn residuals(&self) -> Option<lm::DVector<f64>> {
        let found = self.family.stresses(self.points, &self.physical());
        let residuals =
            found.iter().zip(self.points).map(|(found, (_, stress))| (found - stress) / self.scale);
        let residuals = lm::DVector::from_iterator(self.points.len(), residuals);
        residuals.iter().all(|r| r.is_finite()).then_some(residuals)
    }

    fn jacobian(&self) -> Option<lm::DMatrix<f64>> {
        let matrix = self.family.sensitivities(self.points, &self.physical());
        let scaled = lm::DMatrix::from_fn(matrix.nrows(), matrix.ncols(), |i, k| {
            matrix[(i, k)] / if k % 2 == 0 { 1.0 } else { self.scale }
        });
        scaled.iter().all(|x| x.is_finite()).then_some(scaled)
    }
}

/// Every choice of `count` numbers of the list.
fn choices(count: usize, from: usize) -> Vec<Vec<f64>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    (from..EXPONENTS.len())
        .flat_map(|i| {
            choices(count - 1, i + 1).into_iter().map(move |mut rest| {
                rest.insert(0, EXPONENTS[i]);
                rest
            })
        })
        .collect()
}

fn squares(points: &[(f64, f64)], family: Family, p: &[f64]) -> f64 {
    let found = family.stresses(points, p);
    found.iter().zip(points).map(|(found, (_, stress))| (found - stress) * (found - stress)).sum()
}

pub(super) fn least_squares(points: &[(f64, f64)], family: Family) -> Result<Solution, String> {
    let scale = points.iter().fold(0.0_f64, |a, (_, stress)| a.max(stress.abs()));
    if scale == 0.0 {
        return Err("every stress is zero".into());
    }
    let parameters = if let FitLaw::Ogden(terms) = family.law {
        let mut best: Option<(f64, Vec<f64>)> = None;
        for exponents in choices(terms, 0) {
            let start: Vec<f64> = exponents.iter().flat_map(|&alpha| [scale, alpha]).collect();
            let Some(start) = family.linear(points, &start) else { continue };
            let p = lm::DVector::from_iterator(
                start.len(),
                start.iter().enumerate().map(|(k, p)| if k % 2 == 0 { p / scale } else { *p }),
            );
            let (end, _) = LevenbergMarquardt::new().with_tol(1e-14).with_patience(200).minimize(Problem {
                family,
                points,
                scale,
                p,
            });
            let found = end.physical();
            let error = squares(points, family, &found);
            let sensible = found.iter().skip(1).step_by(2).all(|alpha| alpha.abs() <= LARGEST_EXPONENT);
            if sensible && error.is_finite() && best.as_ref().is_none_or(|(least, _)| error < *least) {
                best = Some((error, found));
            }
        }
        let (_, best) = best.ok_or("no start of the exponents ended within ±20")?;
        in_order(&best)
    } else {
        family.linear(points, &vec![1.0; family.count()]).ok_or("the sensitivities have no decomposition")?
    };
    let matrix = family.sensitivities(points, &parameters);
    let lengths: Vec<f64> = matrix.column_iter().map(|column| column.norm()).collect();
    let scaled = DMatrix::from_fn(matrix.nrows(), matrix.ncols(), |i, k| {
        if lengths[k] > 0.0 { matrix[(i, k)] / lengths[k] } else { 0.0 }
    });
    let svd = scaled.svd(false, true);
    let (largest, least) = (svd.singular_values.max(), svd.singular_values.min());
    let rows = svd.v_t.ok_or("the sensitivities have no decomposition")?;
    let unit_errors = (0..parameters.len())
        .map(|k| {
            let sum: f64 = (0..parameters.len())
                .map(|i| {
                    let part = rows[(i, k)] / svd.singular_values[i];
                    part * part
                })
                .sum();
            sum.sqrt() / lengths[k]
        })
        .collect();
    Ok(Solution { parameters, unit_errors, condition: largest / least })
}

/// Terms by falling slope at rest.
fn in_order(p: &[f64]) -> Vec<f64> {
    let mut terms: Vec<[f64; 2]> = p.as_chunks::<2>().0.to_vec();
    terms.sort_by(|a, b| (b[0] * b[1]).abs().total_cmp(&(a[0] * a[1]).abs()));
    terms.into_iter().flatten().collect()
}
