//! Published reference values and the small models they speak of.

#![allow(dead_code)] // Each test binary uses its own part.

use serde_json::Value;
use sim_core::force::mass_damping::MassDamping;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ModelSystem, ParticleSystem, ParticleSystemBuilder, State, Stepper};

/// The case with this id, with `inputs` and `expected`.
pub fn case(id: &str) -> Value {
    let all: Vec<Value> = serde_json::from_str(include_str!("../reference/integrators.json")).unwrap();
    all.into_iter().find(|case| case["id"] == id).unwrap_or_else(|| panic!("no case {id}"))
}

pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap_or_else(|| panic!("{value} is not a list")).iter().map(number).collect()
}

/// `m x'' + c x' + k x = 0` in the x coordinate of particle 1, by a spring of rest length 0 to a pinned origin.
pub fn oscillator(m: f64, k: f64, c: f64) -> ParticleSystem {
    let spring = Spring { ends: [0, 1], rest_length: 0.0, stiffness: k, damping: 0.0 };
    let builder = ParticleSystemBuilder::new(vec![1.0, m]).pin([0]).force(Springs::new([spring]));
    let builder = if c > 0.0 { builder.force(MassDamping { rate: c / m }) } else { builder };
    builder.build().unwrap()
}

/// State of [`oscillator`].
pub fn oscillator_state(x: f64, v: f64) -> State {
    State {
        t: 0.0,
        q: vec![0.0, 0.0, 0.0, x, 0.0, 0.0],
        v: vec![0.0, 0.0, 0.0, v, 0.0, 0.0],
        internal: Vec::new(),
    }
}

/// Makes `steps` steps of `dt` and returns `(x, v)` of particle 1.
pub fn march(
    system: &(dyn ModelSystem + 'static),
    id: &str,
    options: &Value,
    state: &State,
    dt: f64,
    steps: usize,
) -> State {
    let mut stepper = sim_integrate::stepper(id, options).unwrap();
    march_with(system, &mut *stepper, state, dt, steps)
}

/// As [`march`] with a stepper.
pub fn march_with<S: ?Sized>(
    system: &S,
    stepper: &mut (impl Stepper<S> + ?Sized),
    state: &State,
    dt: f64,
    steps: usize,
) -> State {
    let mut state = state.clone();
    for step in 0..steps {
        stepper.step(system, &mut state, dt).unwrap_or_else(|error| panic!("step {step}: {error}"));
    }
    state
}
