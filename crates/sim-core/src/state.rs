//! The whole truth about a simulation at one instant.

use serde::{Deserialize, Serialize};

/// Time, positions, velocities and history variables of a system.
///
/// Serialising a `State` and restoring it restarts any method bit for bit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Time in s.
    pub t: f64,
    /// Positions in m (or displacements, where a model says so), flat `xyzxyz…`, length `3 * particle_count`.
    pub q: Vec<f64>,
    /// Velocities in m/s, same shape as `q`.
    pub v: Vec<f64>,
    /// History variables of materials and friction, laid out by the model that owns them
    /// ([`crate::System::internal_count`] values), then what a method carries from step to step (its documentation says what).
    #[serde(default)]
    pub internal: Vec<f64>,
}

/// A state that no simulation can start from.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Array lengths disagree with the particle count.
    #[error("state has {found} values in `{field}`, expected {expected} (3 per particle)")]
    Length {
        /// `q` or `v`.
        field: &'static str,
        /// Expected length.
        expected: usize,
        /// Length found.
        found: usize,
    },
    /// A value is NaN or infinite.
    #[error("`{field}` of particle {particle} is not finite: {value}")]
    NotFinite {
        /// `t`, `q`, `v` or `internal`.
        field: &'static str,
        /// Index of the particle (or of the history value).
        particle: usize,
        /// The offending value.
        value: f64,
    },
}

impl State {
    /// A state at rest at time zero.
    pub fn at_rest(q: Vec<f64>) -> Self {
        let v = vec![0.0; q.len()];
        Self { t: 0.0, q, v, internal: Vec::new() }
    }

    /// Number of particles, `q.len() / 3`.
    pub fn particle_count(&self) -> usize {
        self.q.len() / 3
    }

    /// Checks lengths against `particle_count` and that every number is finite.
    ///
    /// # Errors
    /// [`StateError`] naming the first offending array and particle.
    pub fn validate(&self, particle_count: usize) -> Result<(), StateError> {
        for (field, values) in [("q", &self.q), ("v", &self.v)] {
            if values.len() != 3 * particle_count {
                return Err(StateError::Length { field, expected: 3 * particle_count, found: values.len() });
            }
        }
        if !self.t.is_finite() {
            return Err(StateError::NotFinite { field: "t", particle: 0, value: self.t });
        }
        for (field, values, per) in [("q", &self.q, 3), ("v", &self.v, 3), ("internal", &self.internal, 1)] {
            if let Some(index) = values.iter().position(|x| !x.is_finite()) {
                return Err(StateError::NotFinite { field, particle: index / per, value: values[index] });
            }
        }
        Ok(())
    }

    /// A 64-bit FNV-1a hash over the bits of every number: equal states, and only practically those, hash equal.
    ///
    /// Used to compare runs across thread counts and restarts; not cryptographic.
    pub fn hash(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut eat = |x: f64| {
            for byte in x.to_bits().to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        };
        eat(self.t);
        for values in [&self.q, &self.v, &self.internal] {
            eat(values.len() as f64);
            values.iter().copied().for_each(&mut eat);
        }
        hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn validate_names_the_particle() {
        let mut state = State::at_rest(vec![0.0; 9]);
        assert!(state.validate(3).is_ok());
        state.v[4] = f64::NAN;
        assert!(matches!(state.validate(3), Err(StateError::NotFinite { field: "v", particle: 1, .. })));
        assert_eq!(
            State::at_rest(vec![0.0; 6]).validate(3),
            Err(StateError::Length { field: "q", expected: 9, found: 6 })
        );
    }

    #[test]
    fn serde_round_trip_keeps_every_bit() {
        let state = State {
            t: 0.1 + 0.2,
            q: vec![1.0 / 3.0, -0.0, 1e-310],
            v: vec![1e300, 2.5, -7.1],
            internal: vec![0.7],
        };
        let back: State = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
        assert_eq!(state.hash(), back.hash());
        let mut other = state.clone();
        other.q[1] = 0.0;
        assert_ne!(state.hash(), other.hash(), "the sign of zero is part of the state");
    }
}
