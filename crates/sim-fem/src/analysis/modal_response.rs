//! Responses put together from modes, each with its own damping ratio: steady harmonic and arbitrary in time.

use super::modal::Mode;
use crate::material::{ValueError, not_negative, positive};
use crate::matrix::dot;
use crate::structure::Structure;
use nalgebra::Complex;
use std::ops::ControlFlow;

/// Modes and their damping ratios.
#[derive(Clone, Debug)]
pub struct DampedModes<'a> {
    modes: &'a [Mode],
    ratios: Vec<f64>,
}

impl<'a> DampedModes<'a> {
    /// One damping ratio per mode, from 0 to below 1.
    ///
    /// # Errors
    /// [`ValueError`] for a ratio out of range or a mode that is not a vibration (ω² <= 0).
    ///
    /// # Panics
    /// If there are not as many ratios as modes.
    pub fn new(modes: &'a [Mode], ratios: Vec<f64>) -> Result<Self, ValueError> {
        assert_eq!(modes.len(), ratios.len(), "{} modes and {} damping ratios", modes.len(), ratios.len());
        for &value in &ratios {
            not_negative("damping ratio", value)?;
            if value >= 1.0 {
                return Err(ValueError { field: "damping ratio", value, requirement: "below 1" });
            }
        }
        for mode in modes {
            positive("eigenvalue of a mode", mode.eigenvalue)?;
        }
        Ok(Self { modes, ratios })
    }

    /// Rayleigh damping of the structure seen mode by mode.
    ///
    /// # Errors
    /// As [`DampedModes::new`].
    pub fn rayleigh(structure: &Structure, modes: &'a [Mode]) -> Result<Self, ValueError> {
        let ratio =
            |mode: &Mode| super::damping::rayleigh_ratio(structure.rayleigh(), mode.angular_frequency());
        Self::new(modes, modes.iter().map(ratio).collect())
    }

    /// Steady displacement under `force` cos(Ω t), as complex amplitudes u with displacement Re(u e^{iΩt}); one value per
    /// degree of freedom. `static_response` is the displacement under `force` at rest when known: modes left out
    /// then still count with their stiffness (mode acceleration method).
    ///
    /// # Limitations
    /// Linear, about the state of the modes. Without the static response, modes left out are missing altogether.
    ///
    /// # Panics
    /// If a vector is shorter than the shapes.
    pub fn harmonic(
        &self,
        angular_frequency: f64,
        force: &[f64],
        static_response: Option<&[f64]>,
    ) -> Vec<Complex<f64>> {
        let mut response: Vec<Complex<f64>> = match static_response {
            Some(at_rest) => at_rest.iter().map(|&u| Complex::new(u, 0.0)).collect(),
            None => vec![Complex::new(0.0, 0.0); force.len()],
        };
        for (mode, ratio) in self.modes.iter().zip(&self.ratios) {
            let (square, omega) = (mode.eigenvalue, mode.eigenvalue.sqrt());
            let dynamic =
                Complex::new(square - angular_frequency.powi(2), 2.0 * ratio * omega * angular_frequency);
            let counted = if static_response.is_some() { 1.0 / square } else { 0.0 };
            let amplitude = (dynamic.inv() - counted) * dot(&mode.shape, force);
            for (u, shape) in response.iter_mut().zip(&mode.shape) {
                *u += amplitude * *shape;
            }
        }
        response
    }

    /// Motion from rest under the structure's loads, `steps` steps of `dt` s; shows time and displacement (one value per
    /// degree of freedom), the start included.
    ///
    /// Each mode is advanced exactly for loads that are straight lines within a step (Nigam & Jennings, Bull. Seism. Soc.
    /// Am. 59, 1969): no numerical damping and no period error.
    ///
    /// # Limitations
    /// Linear; supports hold still; modes left out are missing.
    ///
    /// # Errors
    /// [`ValueError`] for a step that is not positive.
    pub fn transient(
        &self,
        structure: &Structure,
        dt: f64,
        steps: usize,
        observe: &mut dyn FnMut(f64, &[f64]) -> ControlFlow<()>,
    ) -> Result<(), ValueError> {
        positive("dt", dt)?;
        let mut force = vec![0.0; structure.dof_count()];
        let mut displacement = force.clone();
        structure.external_force(0.0, &mut force);
        let share = |force: &[f64]| self.modes.iter().map(|m| dot(&m.shape, force)).collect::<Vec<_>>();
        let mut load = share(&force);
        let mut state = vec![[0.0; 2]; self.modes.len()];
        for step in 0..=steps {
            let t = step as f64 * dt;
            if step > 0 {
                structure.external_force(t, &mut force);
                let next = share(&force);
                for (k, mode) in self.modes.iter().enumerate() {
                    state[k] =
                        advance(state[k], mode.eigenvalue.sqrt(), self.ratios[k], dt, load[k], next[k]);
                }
                load = next;
            }
            displacement.fill(0.0);
            for (mode, [amplitude, _]) in self.modes.iter().zip(&state) {
                for (u, shape) in displacement.iter_mut().zip(&mode.shape) {
                    *u += amplitude * shape;
                }
            }
            if observe(t, &displacement).is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// x'' + 2ζω x' + ω² x = p(t) over one step, p a straight line from `p0` to `p1`.
fn advance([x, v]: [f64; 2], omega: f64, ratio: f64, h: f64, p0: f64, p1: f64) -> [f64; 2] {
    let (square, slope) = (omega * omega, (p1 - p0) / h);
    // The part that follows the load, and the free vibration of the rest.
    let follow = |p: f64| p / square - 2.0 * ratio * slope / (square * omega);
    let rate = slope / square;
    let damped = omega * (1.0 - ratio * ratio).sqrt();
    let (x0, v0) = (x - follow(p0), v - rate);
    let (sine, cosine) = (damped * h).sin_cos();
    let decay = (-ratio * omega * h).exp();
    let amplitude = (v0 + ratio * omega * x0) / damped;
    [
        decay * (x0 * cosine + amplitude * sine) + follow(p1),
        decay * (v0 * cosine - (square * x0 + ratio * omega * v0) / damped * sine) + rate,
    ]
}
