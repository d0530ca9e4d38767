//! Natural frequencies and modes: shift-invert Lanczos, with a count that proves none was missed.

use super::lanczos::{self, Locked, Pencil};
use crate::factor::{FactorError, FactorKind, Factorization};
use crate::load::Direction;
use crate::matrix::{SymmetricMatrix, dot};
use crate::structure::{Structure, StructureError};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// How to look for modes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModalOptions {
    /// Number of modes, lowest first, at least 1.
    pub modes: usize,
    /// Residual of a mode relative to its eigenvalue in the shifted problem; the frequency is twice as many digits good.
    pub relative_tolerance: f64,
    /// Runs of Lanczos' method before giving up.
    pub max_runs: usize,
    /// Storage of the factor.
    pub factor: FactorKind,
}

impl Default for ModalOptions {
    fn default() -> Self {
        Self { modes: 10, relative_tolerance: 1e-9, max_runs: 30, factor: FactorKind::Auto }
    }
}

/// One natural mode.
#[derive(Clone, Debug)]
pub struct Mode {
    /// ω² in 1/s²; negative for a structure that is not stable.
    pub eigenvalue: f64,
    /// Shape, one value per degree of freedom, scaled so that φᵀMφ = 1 kg.
    pub shape: Vec<f64>,
    /// Participation φᵀM r in x, y and z, in √kg; its square is the effective mass.
    pub participation: [f64; 3],
}

impl Mode {
    /// Angular frequency in rad/s; NaN never: zero for rigid motions, and minus the growth rate for unstable ones.
    #[must_use]
    pub fn angular_frequency(&self) -> f64 {
        self.eigenvalue.signum() * self.eigenvalue.abs().sqrt()
    }

    /// Frequency in Hz.
    #[must_use]
    pub fn frequency(&self) -> f64 {
        self.angular_frequency() / (2.0 * PI)
    }

    /// Effective mass in kg in x, y and z.
    #[must_use]
    pub fn effective_mass(&self) -> [f64; 3] {
        self.participation.map(|p| p * p)
    }
}

/// Modes and the work they took.
#[derive(Clone, Debug)]
pub struct ModalReport {
    /// Lowest first.
    pub modes: Vec<Mode>,
    /// Mass in kg that can move in x, y and z: what effective masses add up to over all modes.
    pub movable_mass: [f64; 3],
    /// Factorizations made, those of the proof included.
    pub factorizations: usize,
    /// Triangular solves made.
    pub solves: usize,
}

/// Why modes were not found.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModalError {
    /// The structure itself.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// The factorization of a shifted matrix broke down.
    #[error(transparent)]
    Factor(#[from] FactorError),
    /// Fewer modes exist than were asked for.
    #[error(
        "{wanted} modes wanted, but only {found} degrees of freedom have mass and can move independently"
    )]
    TooFew {
        /// Modes asked for.
        wanted: usize,
        /// Modes that exist.
        found: usize,
    },
    /// Not all modes converged, or the count found more than Lanczos did.
    #[error("{found} of {wanted} modes after {runs} runs of Lanczos' method")]
    NotConverged {
        /// Modes asked for.
        wanted: usize,
        /// Modes found.
        found: usize,
        /// Runs made.
        runs: usize,
    },
}

/// Lowest modes about the displacement `state` (the reference shape when none): K(state) φ = ω² M φ.
///
/// Runs of Lanczos' method on (K − σM)⁻¹M, with σ moved up below the lowest eigenvalue as that becomes known, so that
/// clustered spectra converge too. At the end the factorization of K − τM with τ just above the last mode counts how many
/// eigenvalues lie below (Sylvester); modes of multiple frequencies that a single vector cannot see are found by
/// further runs until the count agrees (Ericsson & Ruhe, Math. Comp. 35, 1980).
///
/// # Limitations
/// Undamped modes. Of modes whose frequencies agree to rounding any rotation may be returned.
///
/// # Errors
/// [`ModalError`].
pub fn modal(
    structure: &Structure,
    state: Option<&[f64]>,
    options: &ModalOptions,
) -> Result<ModalReport, ModalError> {
    let pattern = structure.pattern();
    let mut stiffness = SymmetricMatrix::zeros(pattern.clone());
    let mut mass = SymmetricMatrix::zeros(pattern.clone());
    match state {
        Some(state) => structure.tangent(state, &mut stiffness)?,
        None => structure.tangent(&vec![0.0; structure.dof_count()], &mut stiffness)?,
    }
    structure.assemble_mass(&mut mass);
    let mut search = Search {
        shifted: SymmetricMatrix::zeros(pattern.clone()),
        factor: Factorization::new(pattern, options.factor)?,
        stiffness: &stiffness,
        mass: &mass,
        options,
        shift: 0.0,
        below: 0,
        factorizations: 0,
        solves: 0,
    };
    let with_mass = mass.diagonal().iter().filter(|&&m| m > 0.0).count();
    if with_mass < options.modes {
        return Err(ModalError::TooFew { wanted: options.modes, found: with_mass });
    }
    let pairs = search.find()?;
    let (factorizations, solves) = (search.factorizations, search.solves);
    Ok(finish(structure, pairs, factorizations, solves))
}

struct Search<'a> {
    stiffness: &'a SymmetricMatrix,
    mass: &'a SymmetricMatrix,
    shifted: SymmetricMatrix,
    factor: Factorization,
    options: &'a ModalOptions,
    shift: f64,
    /// Eigenvalues below the shift.
    below: usize,
    factorizations: usize,
    solves: usize,
}

/// Eigenvalue and vector.
type Pair = (f64, Vec<f64>);

impl Search<'_> {
    /// Factors K − σM; nudges σ down where that is singular.
    fn factor_at(&mut self, shift: f64) -> Result<usize, ModalError> {
        let mut shift = shift;
        for _ in 0..4 {
            self.shifted.set_combination(1.0, self.stiffness, -shift, self.mass);
            self.factorizations += 1;
            match self.factor.refactor(&self.shifted) {
                Ok(pivots) if pivots.smallest_ratio > 1e-14 => {
                    self.shift = shift;
                    return Ok(pivots.negative);
                }
                _ => shift -= 1e-4 * shift.abs().max(self.smallest_diagonal()),
            }
        }
        self.shifted.set_combination(1.0, self.stiffness, -shift, self.mass);
        let pivots = self.factor.refactor(&self.shifted)?;
        self.shift = shift;
        Ok(pivots.negative)
    }

    /// Smallest K/M of a diagonal pair: an upper bound of the lowest eigenvalue, and a scale for shifts.
    fn smallest_diagonal(&self) -> f64 {
        let (k, m) = (self.stiffness.diagonal(), self.mass.diagonal());
        k.iter()
            .zip(&m)
            .filter(|&(&k, &m)| k > 0.0 && m > 0.0)
            .map(|(k, m)| k / m)
            .fold(f64::INFINITY, f64::min)
    }

    fn find(&mut self) -> Result<Vec<Pair>, ModalError> {
        let wanted = self.options.modes;
        let n = self.mass.dim();
        self.below = self.factor_at(0.0)?;
        let mut locked = Locked::default();
        let mut pairs: Vec<Pair> = Vec::new();
        let mut start = lanczos::fresh_start(n, 0);
        // Enough for spectra without clusters; others show where to move the shift.
        let mut steps = (wanted + 15).min(n);
        let mut runs = 0;
        while runs < self.options.max_runs {
            runs += 1;
            let missing = wanted.saturating_sub(pairs.len()) + 1;
            // With eigenvalues below the shift their θ is negative: move below them first.
            if self.below > 0 && pairs.is_empty() {
                let scale = self.smallest_diagonal();
                let mut down = 1e-3 * scale;
                while self.below > 0 {
                    self.below = self.factor_at(-down)?;
                    down *= 4.0;
                }
            }
            let mut pencil = Pencil { factor: &mut self.factor, a: self.mass, b: self.mass };
            let ritz = lanczos::run(&mut pencil, &locked, &start, steps, missing + 4);
            self.solves += steps + 1;
            let estimates: Vec<f64> = ritz.theta.iter().map(|theta| self.shift + 1.0 / theta).collect();
            let converged = (0..ritz.theta.len())
                .take_while(|&k| {
                    ritz.theta[k] > 0.0 && ritz.residual[k] <= self.options.relative_tolerance * ritz.theta[k]
                })
                .count();
            let enough = converged >= missing - 1 || ritz.exhausted;
            let take = if enough { converged } else { 0 };
            if take == 0 && !enough {
                // Not there: move the shift up to just below the lowest, and start from the best guess.
                start = combined(&ritz.vectors);
                self.move_shift(&estimates, wanted, &pairs)?;
                steps = (steps + 10).max(2 * wanted + 20).min(2 * wanted + 80).min(n);
                continue;
            }
            for (k, vector) in ritz.vectors.into_iter().enumerate().take(take) {
                let mut product = vec![0.0; n];
                self.mass.multiply_add(1.0, &vector, &mut product);
                locked.vectors.push(vector.clone());
                locked.products.push(product);
                pairs.push((estimates[k], vector));
            }
            pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
            if pairs.len() < wanted {
                if ritz.exhausted && take == 0 {
                    return Err(ModalError::TooFew { wanted, found: pairs.len() });
                }
                start = lanczos::fresh_start(n, runs);
                continue;
            }
            if self.count_agrees(&pairs, wanted)? {
                pairs.truncate(wanted);
                return Ok(pairs);
            }
            let shift = resting_shift(&pairs);
            self.below = self.factor_at(shift)?;
            start = lanczos::fresh_start(n, runs);
        }
        Err(ModalError::NotConverged { wanted, found: pairs.len().min(wanted), runs })
    }

    fn move_shift(&mut self, estimates: &[f64], wanted: usize, pairs: &[Pair]) -> Result<(), ModalError> {
        let low = pairs.first().map_or(estimates[0], |pair| pair.0.min(estimates[0]));
        let high = estimates[wanted.min(estimates.len()) - 1].max(low);
        // Ritz values lie above the eigenvalues: start a little below, and further below while some remain there.
        let mut gap = 0.05 * (high - low).max(1e-9 * low.abs());
        for _ in 0..40 {
            let shift = low - gap;
            if shift <= self.shift && self.below == 0 {
                return Ok(());
            }
            self.below = self.factor_at(shift)?;
            if self.below == 0 {
                return Ok(());
            }
            gap *= 3.0;
        }
        Ok(())
    }

    /// Whether the number of eigenvalues just above the last wanted mode is what was found.
    fn count_agrees(&mut self, pairs: &[Pair], wanted: usize) -> Result<bool, ModalError> {
        let last = pairs[wanted - 1].0;
        let spread = (last - pairs[0].0).max(last.abs());
        let mut above = last + 1e-7 * spread;
        // Between the last wanted and the next one found, when that is further away.
        if let Some(next) = pairs.get(wanted) {
            above = if next.0 > above { 0.5 * (last + next.0) } else { above };
        }
        let counted = self.factor_at(above)?;
        let found = pairs.iter().filter(|pair| pair.0 < self.shift).count();
        Ok(counted == found)
    }
}

/// A shift below everything found, close enough to tell clustered modes apart.
fn resting_shift(pairs: &[Pair]) -> f64 {
    let (low, high) = (pairs[0].0, pairs[pairs.len() - 1].0);
    low - 0.1 * (high - low).max(1e-6 * high.abs())
}

/// Sum of the Ritz vectors, the lowest weighted most.
fn combined(vectors: &[Vec<f64>]) -> Vec<f64> {
    let mut sum = vec![0.0; vectors[0].len()];
    for (k, vector) in vectors.iter().enumerate() {
        let weight = 1.0 / (k + 1) as f64;
        sum.iter_mut().zip(vector).for_each(|(s, v)| *s += weight * v);
    }
    sum
}

fn finish(structure: &Structure, pairs: Vec<Pair>, factorizations: usize, solves: usize) -> ModalReport {
    let n = structure.dof_count();
    let mut carried = [(); 3].map(|()| vec![0.0; structure.unknown_count()]);
    let mut movable_mass = [0.0; 3];
    for (k, direction) in [Direction::X, Direction::Y, Direction::Z].into_iter().enumerate() {
        let mut rigid = vec![0.0; n];
        for node in 0..structure.node_count() {
            if let Some(dof) = structure.dof(node, direction).filter(|&dof| structure.unknown(dof).is_some())
            {
                rigid[dof] = 1.0;
            }
        }
        let mut product = vec![0.0; n];
        structure.add_mass_times(1.0, &rigid, &mut product);
        movable_mass[k] = dot(&rigid, &product);
        structure.gather(&product, &mut carried[k]);
    }
    let modes = pairs
        .into_iter()
        .map(|(eigenvalue, vector)| {
            let participation = [0, 1, 2].map(|k| dot(&vector, &carried[k]));
            let mut shape = vec![0.0; n];
            structure.scatter(&vector, &mut shape);
            Mode { eigenvalue, shape, participation }
        })
        .collect();
    ModalReport { modes, movable_mass, factorizations, solves }
}
