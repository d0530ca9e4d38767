//! The swings of a small model about a state, with their damping.

use super::matrices::ScaledMatrices;
use super::{StabilityError, couplings::CouplingsError};
use nalgebra::{DMatrix, DVector, SymmetricEigen};
use sim_core::{ExplicitSystem, ImplicitSystem, State};

/// Largest number of free particles whose modes are computed: the work grows with its cube, 200 take a fifth of a second.
pub const MODES_LIMIT: usize = 200;

/// Below this share of the largest eigenvalue a motion is free rather than a swing: rounding spreads zeros so far.
const FREE: f64 = 1e-10;

/// One swing.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Mode {
    /// Angular frequency in rad/s without damping.
    pub angular_frequency: f64,
    /// Fraction of critical damping, `φᵀ D φ / (2 ω φᵀ M φ)`: exact when damping does not couple modes.
    pub damping_ratio: f64,
    /// Particle that moves most.
    pub particle: usize,
}

/// All swings of a model about a state, slowest first.
#[derive(Clone, Debug)]
pub struct Modes {
    list: Vec<Mode>,
    /// Mass-scaled shapes, one column per mode.
    shapes: DMatrix<f64>,
    particles: Vec<usize>,
    root_mass: Vec<f64>,
}

impl Modes {
    /// From the model's exact matrices at a state. Motions that nothing resists, or that grow by themselves (compressed chains), are
    /// no swings and are left out.
    ///
    /// # Errors
    /// [`StabilityError::NotCovered`] for more than [`MODES_LIMIT`] free particles, or matrices that are not finite.
    ///
    /// # Limitations
    /// Linear theory about one state: the modes of a part in large motion change with it.
    pub fn new<S: ExplicitSystem + ImplicitSystem + ?Sized>(
        system: &S,
        state: &State,
    ) -> Result<Self, StabilityError> {
        let free = system.inverse_mass().iter().filter(|&&w| w > 0.0).count();
        if free > MODES_LIMIT {
            return Err(StabilityError::NotCovered { method: "modes", free, limit: MODES_LIMIT });
        }
        let matrices = ScaledMatrices::assemble(system, state)?;
        let particles = matrices.particles().to_vec();
        let [stiffness, damping] = matrices.dense();
        let scale = stiffness.amax();
        let eigen = SymmetricEigen::try_new(stiffness, f64::EPSILON, 100_000)
            .ok_or(StabilityError::Model(CouplingsError::Matrix { matrix: "stiffness", row: 0, col: 0 }))?;
        let mut kept: Vec<usize> =
            (0..eigen.eigenvalues.len()).filter(|&k| eigen.eigenvalues[k] > FREE * scale).collect();
        kept.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
        let list = kept
            .iter()
            .map(|&k| {
                let shape = eigen.eigenvectors.column(k);
                let omega = eigen.eigenvalues[k].sqrt();
                let resisted = shape.dot(&(&damping * shape));
                let most = (0..particles.len())
                    .max_by(|&a, &b| {
                        let size = |i: usize| shape.fixed_rows::<3>(3 * i).norm_squared();
                        size(a).total_cmp(&size(b))
                    })
                    .unwrap_or(0);
                Mode {
                    angular_frequency: omega,
                    damping_ratio: 0.5 * resisted / omega,
                    particle: particles[most],
                }
            })
            .collect();
        let shapes = eigen.eigenvectors.select_columns(&kept);
        let root_mass = particles.iter().map(|&p| system.mass()[p].sqrt()).collect();
        Ok(Self { list, shapes, particles, root_mass })
    }

    /// The swings, slowest first.
    pub fn list(&self) -> &[Mode] {
        &self.list
    }

    /// Kinetic energy in J of every swing, for velocities `v` of all particles, flat `xyzxyz…`.
    ///
    /// # Panics
    /// If `v` is too short for the model.
    pub fn kinetic(&self, v: &[f64]) -> Vec<f64> {
        let scaled = DVector::from_iterator(
            3 * self.particles.len(),
            self.particles
                .iter()
                .zip(&self.root_mass)
                .flat_map(|(&p, m)| (0..3).map(move |c| m * v[3 * p + c])),
        );
        (self.shapes.transpose() * scaled).iter().map(|a| 0.5 * a * a).collect()
    }
}
