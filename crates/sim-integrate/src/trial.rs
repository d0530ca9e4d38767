//! The state a step is working on: it replaces the caller's only when it is finite and complete.

use sim_core::{State, StateError, StepError, System};

/// Buffers of one step; no allocation after the first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trial {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub f: Vec<f64>,
}

impl Trial {
    /// Checks step size and array lengths, and sizes the buffers. Their content is left over from the last step.
    pub fn begin<S: System + ?Sized>(&mut self, system: &S, state: &State, dt: f64) -> Result<(), StepError> {
        if !(dt.is_finite() && dt > 0.0) {
            return Err(StepError::StepSize { dt });
        }
        if system.remembers() {
            let reason =
                "its forces remember: wrap the method in `Remembering`, or take it from the registry"
                    .to_owned();
            return Err(StepError::Unsupported { method: "a method alone", reason });
        }
        let expected = 3 * system.particle_count();
        for (field, values) in [("q", &state.q), ("v", &state.v)] {
            if values.len() != expected {
                return Err(StateError::Length { field, expected, found: values.len() }.into());
            }
        }
        for buffer in [&mut self.q, &mut self.v, &mut self.f] {
            buffer.resize(expected, 0.0);
        }
        Ok(())
    }

    /// Makes the trial the state at `t0 + dt`, or reports the first value that is not finite.
    pub fn commit(&mut self, state: &mut State, dt: f64) -> Result<(), StepError> {
        for (quantity, values) in [("position", &self.q), ("velocity", &self.v)] {
            if !all_finite(values) {
                let index = values.iter().position(|x| !x.is_finite()).unwrap_or(0);
                let (particle, value) = (index / 3, values[index]);
                return Err(StepError::Diverged { t: state.t, dt, quantity, particle, value });
            }
        }
        std::mem::swap(&mut self.q, &mut state.q);
        std::mem::swap(&mut self.v, &mut state.v);
        state.t += dt;
        Ok(())
    }
}

/// A sum of products with zero is zero exactly when every value is finite; it has no early exit and so runs in lanes.
fn all_finite(values: &[f64]) -> bool {
    const ZERO: f64 = 0.0;
    let mut lanes = [0.0_f64; 8];
    let chunks = values.chunks_exact(8);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane += x * ZERO;
        }
    }
    lanes.iter().sum::<f64>() + rest.iter().map(|x| x * ZERO).sum::<f64>() == 0.0
}

/// `v1 = v0 + dt w f`: particles that are not free keep `v0` whatever the force on them.
pub(crate) fn kick(inverse_mass: &[f64], dt: f64, f: &[f64], v0: &[f64], v1: &mut [f64]) {
    for (((v1, v0), f), &w) in
        v1.chunks_exact_mut(3).zip(v0.chunks_exact(3)).zip(f.chunks_exact(3)).zip(inverse_mass)
    {
        if w > 0.0 {
            let c = dt * w;
            for k in 0..3 {
                v1[k] = v0[k] + c * f[k];
            }
        } else {
            v1.copy_from_slice(v0);
        }
    }
}

/// [`kick`] in place.
pub(crate) fn kick_in_place(inverse_mass: &[f64], dt: f64, f: &[f64], v: &mut [f64]) {
    for ((v, f), &w) in v.chunks_exact_mut(3).zip(f.chunks_exact(3)).zip(inverse_mass) {
        if w > 0.0 {
            let c = dt * w;
            for k in 0..3 {
                v[k] += c * f[k];
            }
        }
    }
}

/// `q1 = q0 + dt v`: particles that are not free keep `q0` whatever their velocity.
pub(crate) fn drift(inverse_mass: &[f64], dt: f64, v: &[f64], q0: &[f64], q1: &mut [f64]) {
    for (((q1, q0), v), &w) in
        q1.chunks_exact_mut(3).zip(q0.chunks_exact(3)).zip(v.chunks_exact(3)).zip(inverse_mass)
    {
        if w > 0.0 {
            for k in 0..3 {
                q1[k] = q0[k] + dt * v[k];
            }
        } else {
            q1.copy_from_slice(q0);
        }
    }
}

/// [`drift`] in place.
pub(crate) fn drift_in_place(inverse_mass: &[f64], dt: f64, v: &[f64], q: &mut [f64]) {
    for ((q, v), &w) in q.chunks_exact_mut(3).zip(v.chunks_exact(3)).zip(inverse_mass) {
        if w > 0.0 {
            for k in 0..3 {
                q[k] += dt * v[k];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_values_that_are_not_finite_anywhere() {
        for n in [1, 7, 8, 9, 24, 31] {
            let mut values = vec![1e308; n];
            assert!(all_finite(&values));
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                for i in 0..n {
                    values[i] = bad;
                    assert!(!all_finite(&values), "{bad} at {i} of {n}");
                    values[i] = -1.0;
                }
            }
        }
    }
}
