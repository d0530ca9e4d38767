//! From the geometry to the start of the run: static settling, displacements, velocities.

use super::{Layout, Model};
use crate::scene::document::Scene;
use crate::scene::support::{Initial, InitialDisplacement, InitialVelocity, RelaxOptions, Shape};
use nalgebra::Vector3;
use serde::Serialize;
use sim_core::{ExplicitSystem, ParticleSystem, State, System};

/// Zeros of the Bessel function J₀ (Abramowitz & Stegun, table 9.5).
const J0_ZEROS: [f64; 5] =
    [2.404825557695773, 5.520078110286311, 8.653727912911013, 11.791534439014281, 14.930917708487787];

/// Fraction of the stability limit 4 of λ that the fictitious masses use.
const LAMBDA: f64 = 3.2;

/// A run that cannot start.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Settling did not reach its tolerance.
    #[error(
        "relax: not settled after {iterations} iterations: force {residual:.3e} of the largest, tolerance \
         {tolerance:.1e}, largest at particle {particle} ({owner})"
    )]
    NotSettled {
        /// Iterations made.
        iterations: u64,
        /// Largest force on a free particle, relative to the largest force on any.
        residual: f64,
        /// Tolerance asked for.
        tolerance: f64,
        /// Particle with the largest force.
        particle: usize,
        /// Its part.
        owner: String,
    },
    /// Nothing holds a loaded particle.
    #[error("relax: particle {particle} ({owner}) carries a force of {force:.3e} N and no spring")]
    Loose {
        /// Particle.
        particle: usize,
        /// Its part.
        owner: String,
        /// Size of the force in N.
        force: f64,
    },
    /// A force became NaN or infinite.
    #[error("relax: the force on particle {particle} ({owner}) is not finite after {iterations} iterations")]
    NotFinite {
        /// Particle.
        particle: usize,
        /// Its part.
        owner: String,
        /// Iterations made.
        iterations: u64,
    },
}

/// How the static settling went.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RelaxReport {
    /// Iterations (force evaluations).
    pub iterations: u64,
    /// Largest remaining force on a free particle, relative to the largest force on any.
    pub residual: f64,
}

impl Model {
    /// Settles the model if the scene says so, then applies its initial displacements and velocities.
    ///
    /// # Errors
    /// [`StartError`]; the state is then not to be used.
    pub fn start(&mut self, scene: &Scene) -> Result<Option<RelaxReport>, StartError> {
        let state = &mut self.state;
        self.system.prescribe(state.t, &mut state.q, &mut state.v);
        let report =
            scene.relax.map(|options| relax(&self.system, &self.layout, state, options)).transpose()?;
        for (initial, particles) in scene.initial.iter().zip(&self.moved) {
            match initial {
                Initial::Displacement(shape) => displace(shape, &self.system, &self.layout, state),
                Initial::Velocity(velocity) => set_in_motion(velocity, particles, &self.system, state),
            }
        }
        self.system.prescribe(state.t, &mut state.q, &mut state.v);
        if self.constrained.is_none() {
            super::begin_history(&self.system, state);
        }
        Ok(report)
    }
}

fn owner(layout: &Layout, particle: usize) -> String {
    layout.particle_owner(particle).map(|(part, i)| format!("{} of part {}", i, part.id)).unwrap_or_default()
}

/// Moves the free particles of `state` to static equilibrium at its time.
///
/// Dynamic relaxation with kinetic damping (Barnes, "Form finding and analysis of tension structures by dynamic relaxation",
/// 1999): fictitious masses from the row sums of the stencil bounds make the unit step stable, and all velocities are
/// set to zero whenever the kinetic energy has passed a peak. Real velocities stay as they are.
///
/// # Limitations
/// Finds a stable equilibrium near the start. Forces that depend on velocity act as if everything were at rest.
fn relax(
    system: &ParticleSystem,
    layout: &Layout,
    state: &mut State,
    options: RelaxOptions,
) -> Result<RelaxReport, StartError> {
    let n = system.particle_count();
    let rest = vec![0.0; 3 * n];
    let (mut v, mut f, mut mass) = (vec![0.0; 3 * n], vec![0.0; 3 * n], vec![0.0; n]);
    let free: Vec<bool> = system.inverse_mass().iter().map(|&w| w > 0.0).collect();
    let size = |f: &[f64], i: usize| f[3 * i].hypot(f[3 * i + 1]).hypot(f[3 * i + 2]);
    let (mut kinetic_before, mut first) = (0.0, true);
    let mut scale = 0.0_f64;
    for iterations in 0..=options.max_iterations {
        system.force(state.t, &state.q, &rest, &mut f);
        if let Some(index) = f.iter().position(|f| !f.is_finite()) {
            let particle = index / 3;
            return Err(StartError::NotFinite { particle, owner: owner(layout, particle), iterations });
        }
        let (mut largest, mut particle, mut any) = (0.0_f64, 0, 0.0_f64);
        for (i, &free) in free.iter().enumerate() {
            let size = size(&f, i);
            any = any.max(size);
            if free && size > largest {
                (largest, particle) = (size, i);
            }
        }
        if iterations == 0 {
            scale = any;
        }
        let residual = if largest == 0.0 { 0.0 } else { largest / scale.max(any) };
        if residual <= options.relative_tolerance {
            return Ok(RelaxReport { iterations, residual });
        }
        if iterations == options.max_iterations {
            let (tolerance, owner) = (options.relative_tolerance, owner(layout, particle));
            return Err(StartError::NotSettled { iterations, residual, tolerance, particle, owner });
        }
        if first {
            fictitious_masses(system, &state.q, &mut mass);
            let loose = (0..n).find(|&i| free[i] && mass[i] == 0.0 && size(&f, i) > 0.0);
            if let Some(particle) = loose {
                let (force, owner) = (size(&f, particle), owner(layout, particle));
                return Err(StartError::Loose { particle, owner, force });
            }
        }
        let mut kinetic = 0.0;
        // After a stop the velocities belong to half a step later: half a kick starts them.
        let kick = if first { 0.5 } else { 1.0 };
        for i in 0..n {
            if free[i] && mass[i] > 0.0 {
                for k in 3 * i..3 * i + 3 {
                    v[k] += kick * f[k] / mass[i];
                    kinetic += 0.5 * mass[i] * v[k] * v[k];
                }
            }
        }
        first = kinetic < kinetic_before;
        if first {
            v.fill(0.0);
            kinetic_before = 0.0;
        } else {
            kinetic_before = kinetic;
            state.q.iter_mut().zip(&v).for_each(|(q, v)| *q += v);
        }
    }
    unreachable!("the last iteration returns")
}

/// Masses for which no eigenvalue of M⁻¹K exceeds [`LAMBDA`], by row sums (Gershgorin).
fn fictitious_masses(system: &ParticleSystem, q: &[f64], mass: &mut [f64]) {
    mass.fill(0.0);
    system.stencil_bounds(q, &mut |bound| {
        let weights: f64 = bound.weights.iter().map(|w| w.abs()).sum();
        for (&particle, weight) in bound.particles.iter().zip(bound.weights) {
            mass[particle] += bound.stiffness * weight.abs() * weights / LAMBDA;
        }
    });
}

fn displace(shape: &InitialDisplacement, system: &ParticleSystem, layout: &Layout, state: &mut State) {
    let part = layout.part(&shape.part);
    let direction = Vector3::from(shape.direction).normalize() * shape.amplitude;
    // A loop has as many segments as particles, a line one fewer.
    let last = if part.kind == "belt" { part.particles.len() } else { part.particles.len().max(2) - 1 };
    let free = system.inverse_mass();
    for particle in part.particles.clone().filter(|&i| free[i] > 0.0) {
        let s = (particle - part.particles.start) as f64 / last as f64;
        let y = value(shape.shape, shape.mode, s);
        (0..3).for_each(|k| state.q[3 * particle + k] += y * direction[k]);
    }
}

fn value(shape: Shape, mode: u32, s: f64) -> f64 {
    let (n, pi) = (f64::from(mode), std::f64::consts::PI);
    match shape {
        Shape::Sine => (n * pi * s).sin(),
        Shape::QuarterSine => ((n - 0.5) * pi * s).sin(),
        Shape::Hanging => bessel_j0(J0_ZEROS[mode as usize - 1] * (1.0 - s).max(0.0).sqrt()),
        Shape::Triangle => 1.0 - (2.0 * s - 1.0).abs(),
        Shape::Uniform => 1.0,
    }
}

/// J₀ by its power series, good to 1e-10 up to its fifth zero.
fn bessel_j0(x: f64) -> f64 {
    let quarter = 0.25 * x * x;
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..60 {
        term *= -quarter / f64::from(k * k);
        sum += term;
    }
    sum
}

fn set_in_motion(
    velocity: &InitialVelocity,
    particles: &[usize],
    system: &ParticleSystem,
    state: &mut State,
) {
    let free = system.inverse_mass();
    for &particle in particles.iter().filter(|&&i| free[i] > 0.0) {
        let q = Vector3::new(state.q[3 * particle], state.q[3 * particle + 1], state.q[3 * particle + 2]);
        let spin = Vector3::from(velocity.angular_velocity).cross(&(q - Vector3::from(velocity.center)));
        (0..3).for_each(|k| state.v[3 * particle + k] += velocity.velocity[k] + spin[k]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bessel_has_its_zeros() {
        for zero in J0_ZEROS {
            assert!(bessel_j0(zero).abs() < 1e-10, "{zero}");
        }
        // Abramowitz & Stegun, table 9.1.
        assert!((bessel_j0(1.0) - 0.7651976865579665).abs() < 1e-15);
        assert!((bessel_j0(10.0) + 0.2459357644513483).abs() < 1e-12);
    }
}
