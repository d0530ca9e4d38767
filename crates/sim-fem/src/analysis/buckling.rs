//! Linear buckling: at which multiple of a load does the structure give way?

use super::Stiffness;
use super::lanczos::{self, Locked, Pencil};
use super::linear_static::{StaticReport, linear_static_with};
use crate::factor::{FactorKind, Factorization};
use crate::matrix::SymmetricMatrix;
use crate::structure::{Structure, StructureError};
use serde::{Deserialize, Serialize};

/// How to look for critical loads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BucklingOptions {
    /// Number of critical loads, lowest first, at least 1.
    pub modes: usize,
    /// Residual of a mode relative to its eigenvalue.
    pub relative_tolerance: f64,
    /// Runs of Lanczos' method before giving up.
    pub max_runs: usize,
    /// Storage of the factor.
    pub factor: FactorKind,
}

impl Default for BucklingOptions {
    fn default() -> Self {
        Self { modes: 1, relative_tolerance: 1e-8, max_runs: 12, factor: FactorKind::Auto }
    }
}

/// One critical load.
#[derive(Clone, Debug)]
pub struct BucklingMode {
    /// Multiple of the load at which the structure buckles.
    pub load_factor: f64,
    /// Shape, one value per degree of freedom, of strain energy ½ J.
    pub shape: Vec<f64>,
}

/// Critical loads and the static state they belong to.
#[derive(Clone, Debug)]
pub struct BucklingReport {
    /// Lowest first.
    pub modes: Vec<BucklingMode>,
    /// The load once.
    pub prebuckling: StaticReport,
}

/// Why no critical load was found.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BucklingError {
    /// The structure itself.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// The load stretches everything.
    #[error("the load has {found} critical multiples, {wanted} wanted; members under tension do not buckle")]
    TooFew {
        /// Modes asked for.
        wanted: usize,
        /// Modes that exist.
        found: usize,
    },
    /// Not all modes converged, or the count found more than Lanczos did.
    #[error("{found} of {wanted} critical loads after {runs} runs of Lanczos' method")]
    NotConverged {
        /// Modes asked for.
        wanted: usize,
        /// Modes found.
        found: usize,
        /// Runs made.
        runs: usize,
    },
}

/// Solves (K + λ `K_σ`) φ = 0 for the smallest λ > 0, `K_σ` from the axial forces of the linear static solution at time 0.
///
/// Lanczos' method on `K⁻¹(−K_σ)` in the inner product of K; negative pivots of K + `λK_σ` count the critical loads below λ.
///
/// # Limitations
/// Displacements before buckling are taken as small; shallow arches and domes snap at lower loads (arc length finds
/// those). Torsional buckling is not modelled. Loads keep their direction.
///
/// # Errors
/// [`BucklingError`].
pub fn buckling(structure: &Structure, options: &BucklingOptions) -> Result<BucklingReport, BucklingError> {
    let mut stiffness = Stiffness::new(structure, options.factor)?;
    let prebuckling = linear_static_with(structure, 0.0, &mut stiffness)?;
    let mut minus_geometric = SymmetricMatrix::zeros(structure.pattern().clone());
    structure.geometric_stiffness(&prebuckling.displacement, &mut minus_geometric);
    minus_geometric.values.iter_mut().for_each(|value| *value = -*value);
    let matrix = stiffness.matrix().clone();
    let mut factor = Factorization::new(structure.pattern(), options.factor).map_err(StructureError::from)?;
    factor.refactor(&matrix).map_err(StructureError::from)?;
    let n = matrix.dim();
    let wanted = options.modes;
    let mut locked = Locked::default();
    let mut pairs: Vec<(f64, Vec<f64>)> = Vec::new();
    let mut steps = (2 * wanted + 20).min(n);
    for run in 0..options.max_runs {
        let mut pencil = Pencil { factor: &mut factor, a: &minus_geometric, b: &matrix };
        let start = lanczos::fresh_start(n, run);
        let ritz = lanczos::run(&mut pencil, &locked, &start, steps, wanted + 1);
        let converged = (0..ritz.theta.len())
            .take_while(|&k| {
                ritz.theta[k] > 0.0 && ritz.residual[k] <= options.relative_tolerance * ritz.theta[k]
            })
            .count();
        let exhausted = ritz.exhausted;
        if pairs.is_empty()
            && converged == 0
            && !buckles(&matrix, &minus_geometric, &ritz.theta, &mut factor)?
        {
            return Err(BucklingError::TooFew { wanted, found: 0 });
        }
        for (k, vector) in ritz.vectors.into_iter().enumerate().take(converged) {
            let mut product = vec![0.0; n];
            matrix.multiply_add(1.0, &vector, &mut product);
            locked.vectors.push(vector.clone());
            locked.products.push(product);
            pairs.push((1.0 / ritz.theta[k], vector));
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        if pairs.len() >= wanted {
            let above = pairs[wanted - 1].0 * (1.0 + 1e-6);
            let mut shifted = matrix.clone();
            shifted.add_scaled(-above, &minus_geometric);
            let mut probe =
                Factorization::new(structure.pattern(), options.factor).map_err(StructureError::from)?;
            let counted = probe.refactor(&shifted).map_err(StructureError::from)?.negative;
            if counted == pairs.iter().filter(|pair| pair.0 < above).count() {
                pairs.truncate(wanted);
                return Ok(BucklingReport { modes: shapes(structure, pairs), prebuckling });
            }
        } else if exhausted && converged == 0 {
            return Err(BucklingError::TooFew { wanted, found: pairs.len() });
        }
        steps = (2 * steps).min(n).min(2 * wanted + 160);
    }
    Err(BucklingError::NotConverged { wanted, found: pairs.len().min(wanted), runs: options.max_runs })
}

/// Whether any critical load lies below a million times what the Ritz values say; leaves `factor` as it was.
fn buckles(
    matrix: &SymmetricMatrix,
    minus_geometric: &SymmetricMatrix,
    theta: &[f64],
    factor: &mut Factorization,
) -> Result<bool, BucklingError> {
    let largest = theta.iter().fold(0.0_f64, |largest, theta| largest.max(theta.abs()));
    if largest == 0.0 || theta.iter().any(|&theta| theta > 1e-6 * largest) {
        return Ok(largest > 0.0);
    }
    let mut shifted = matrix.clone();
    shifted.add_scaled(-1e6 / largest, minus_geometric);
    // Where even that cannot be factored nothing is known, and the search goes on.
    let counted = factor.refactor(&shifted).map_or(true, |pivots| pivots.negative > 0);
    factor.refactor(matrix).map_err(StructureError::from)?;
    Ok(counted)
}

fn shapes(structure: &Structure, pairs: Vec<(f64, Vec<f64>)>) -> Vec<BucklingMode> {
    pairs
        .into_iter()
        .map(|(load_factor, vector)| {
            let mut shape = vec![0.0; structure.dof_count()];
            structure.scatter(&vector, &mut shape);
            BucklingMode { load_factor, shape }
        })
        .collect()
}
