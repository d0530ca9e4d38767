//! Random spring networks for property tests, which shrink to small ones and can be written as scene files.
//!
//! ```
//! use proptest::prelude::*;
//! use sim_core::System;
//! use sim_verify::strategies::{NetworkOptions, counterexample, networks};
//!
//! // A wrong claim: no network has more than four springs. The smallest one that has is found and written as a scene.
//! let found = counterexample(&networks(NetworkOptions::default()), 200, 7, |network| {
//!     if network.springs.len() > 4 { Err(format!("{} springs", network.springs.len())) } else { Ok(()) }
//! });
//! let found = found.unwrap();
//! assert_eq!(found.network.springs.len(), 5);
//! assert!(found.network.scene("leapfrog", 1e-3, 100).contains("kind = \"particles\""));
//! ```

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use sim_core::force::mass_damping::MassDamping;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ParticleError, ParticleSystem, ParticleSystemBuilder, State};
use std::fmt::Write as _;

/// One particle of a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkParticle {
    /// kg.
    pub mass: f64,
    /// m.
    pub position: [f64; 3],
    /// m/s.
    pub velocity: [f64; 3],
    /// Whether it is held in place.
    pub pinned: bool,
}

/// Particles and springs, as plain values.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// The particles.
    pub particles: Vec<NetworkParticle>,
    /// The springs; every particle is reached by some.
    pub springs: Vec<Spring>,
    /// Decay rate of all velocities in 1/s.
    pub mass_damping: f64,
}

/// How wild networks are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkOptions {
    /// Most particles, at least 2.
    pub particles: usize,
    /// Decades of stiffness in N/m, as powers of ten.
    pub stiffness: (f64, f64),
    /// Decades of mass in kg, as powers of ten.
    pub mass: (f64, f64),
    /// Range of the pre-stress (l - l0)/l; negative values are compressed springs, which can buckle.
    pub strain: (f64, f64),
    /// Largest damping ratio of a spring's dashpot on the reduced mass of its ends; 0 = undamped.
    pub damping_ratio: f64,
    /// Whether some particles are held.
    pub pinned: bool,
}

impl Default for NetworkOptions {
    /// Stiffness spread over 10⁶, mass over 10⁴, pre-stress up to 50 %, undamped.
    fn default() -> Self {
        Self {
            particles: 12,
            stiffness: (0.0, 6.0),
            mass: (-2.0, 2.0),
            strain: (0.0, 0.5),
            damping_ratio: 0.0,
            pinned: true,
        }
    }
}

/// Power of ten of the stiffness, pre-stress, damping ratio.
type SpringValues = (f64, f64, f64);

/// Networks of 2 to `options.particles` particles around the points of a lattice of 1 m, connected by a tree and up to twice as many
/// springs again.
///
/// # Panics
/// When fewer than two particles are asked for.
pub fn networks(options: NetworkOptions) -> impl Strategy<Value = Network> + Clone {
    assert!(options.particles >= 2, "a network needs 2 particles, got {}", options.particles);
    let range = |(low, high): (f64, f64)| low..=high;
    let spring = (range(options.stiffness), range(options.strain), 0.0..=options.damping_ratio);
    let jitter = || [-0.35..0.35, -0.35..0.35, -0.35..0.35];
    let velocity = [-0.1..0.1, -0.1..0.1, -0.1..0.1];
    let pinned = proptest::bool::weighted(if options.pinned { 0.15 } else { 0.0 });
    let particle = (range(options.mass), jitter(), velocity, pinned, any::<Index>(), spring.clone());
    let extra = (any::<Index>(), any::<Index>(), spring);
    (vec(particle, 2..=options.particles), vec(extra, 0..=2 * options.particles)).prop_map(
        move |(nodes, extras)| {
            let mut particles: Vec<NetworkParticle> = Vec::new();
            let mut ends: Vec<([u32; 2], SpringValues)> = Vec::new();
            for (i, (mass, jitter, velocity, pinned, parent, values)) in nodes.into_iter().enumerate() {
                let lattice = [i % 3, (i / 3) % 3, i / 9].map(|x| x as f64);
                // The last particle stays free, or nothing would move.
                let mut particle = NetworkParticle {
                    mass: 10.0_f64.powf(mass),
                    position: [0, 1, 2].map(|k| lattice[k] + jitter[k]),
                    velocity,
                    pinned,
                };
                if pinned {
                    particle.velocity = [0.0; 3];
                }
                particles.push(particle);
                if i > 0 {
                    ends.push(([parent.index(i) as u32, i as u32], values));
                }
            }
            if let Some(last) = particles.last_mut() {
                last.pinned = false;
            }
            for (a, b, values) in extras {
                let (a, b) = (a.index(particles.len()) as u32, b.index(particles.len()) as u32);
                if a != b {
                    ends.push(([a, b], values));
                }
            }
            let springs =
                ends.into_iter().map(|(ends, values)| spring_between(&particles, ends, values)).collect();
            Network { particles, springs, mass_damping: 0.0 }
        },
    )
}

fn spring_between(particles: &[NetworkParticle], ends: [u32; 2], (k, strain, ratio): SpringValues) -> Spring {
    let [a, b] = ends.map(|end| &particles[end as usize]);
    let length = (0..3).map(|k| (a.position[k] - b.position[k]).powi(2)).sum::<f64>().sqrt();
    let stiffness = 10.0_f64.powf(k);
    let reduced = a.mass * b.mass / (a.mass + b.mass);
    Spring {
        ends,
        rest_length: length * (1.0 - strain),
        stiffness,
        damping: 2.0 * ratio * (stiffness * reduced).sqrt(),
    }
}

impl Network {
    /// The model and its state at time zero.
    ///
    /// # Errors
    /// [`ParticleError`] when values were edited to something impossible.
    pub fn build(&self) -> Result<(ParticleSystem, State), ParticleError> {
        let mass = self.particles.iter().map(|particle| particle.mass).collect();
        let pinned = (0..self.particles.len()).filter(|&i| self.particles[i].pinned);
        let mut builder =
            ParticleSystemBuilder::new(mass).pin(pinned).force(Springs::new(self.springs.iter().copied()));
        if self.mass_damping > 0.0 {
            builder = builder.force(MassDamping { rate: self.mass_damping });
        }
        let q = self.particles.iter().flat_map(|particle| particle.position).collect();
        let v = self.particles.iter().flat_map(|particle| particle.velocity).collect();
        Ok((builder.build()?, State { t: 0.0, q, v, internal: Vec::new() }))
    }

    /// A scene file (TOML) that runs this network with `method` for `steps` steps of `dt` s.
    pub fn scene(&self, method: &str, dt: f64, steps: u64) -> String {
        let list = |x: [f64; 3]| format!("[{:?}, {:?}, {:?}]", x[0], x[1], x[2]);
        let mut text = String::new();
        let frame = dt * steps as f64;
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "[scene]\nname = \"counterexample\"\n\n[time]\nduration = {frame:?}\nframe = {frame:?}\n\n\
             [method]\nid = \"{method}\"\nsubsteps = {steps}\n\n[[part]]\nkind = \"particles\"\nid = \"network\"\nparticles = [\n"
        );
        for particle in &self.particles {
            let (position, velocity) = (list(particle.position), list(particle.velocity));
            let _ = writeln!(
                text,
                "  {{ position = {position}, mass = {:?}, velocity = {velocity} }},",
                particle.mass
            );
        }
        text.push_str("]\nsprings = [\n");
        for spring in &self.springs {
            let _ = writeln!(
                text,
                "  {{ ends = [{}, {}], stiffness = {:?}, rest_length = {:?}, damping = {:?} }},",
                spring.ends[0], spring.ends[1], spring.stiffness, spring.rest_length, spring.damping
            );
        }
        text.push_str("]\n");
        let pinned: Vec<usize> = (0..self.particles.len()).filter(|&i| self.particles[i].pinned).collect();
        if !pinned.is_empty() {
            let _ = write!(text, "\n[[pin]]\npart = \"network\"\nat = {pinned:?}\n");
        }
        if self.mass_damping > 0.0 {
            let _ = write!(text, "\n[[force]]\nkind = \"mass_damping\"\nrate = {:?}\n", self.mass_damping);
        }
        text
    }
}

fn runner(cases: u32, seed: u64) -> TestRunner {
    let mut bytes = [0_u8; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// `count` networks that depend on nothing but `seed`.
///
/// # Panics
/// When the strategy rejects its own values; [`networks`] never does.
pub fn sample(strategy: &impl Strategy<Value = Network>, count: u32, seed: u64) -> Vec<Network> {
    let mut runner = runner(count, seed);
    (0..count)
        .map(|_| strategy.new_tree(&mut runner).expect("the strategy gives a value").current())
        .collect()
}

/// The smallest network found that breaks a property.
#[derive(Clone, Debug, PartialEq)]
pub struct Counterexample {
    /// The network.
    pub network: Network,
    /// What the property said.
    pub reason: String,
}

/// Tries `cases` networks, the same for the same `seed`, and shrinks the first that breaks `property`.
pub fn counterexample(
    strategy: &impl Strategy<Value = Network>,
    cases: u32,
    seed: u64,
    property: impl Fn(&Network) -> Result<(), String>,
) -> Option<Counterexample> {
    let result = runner(cases, seed).run(strategy, |network| property(&network).map_err(TestCaseError::fail));
    match result {
        Err(TestError::Fail(reason, network)) => Some(Counterexample { network, reason: reason.to_string() }),
        _ => None,
    }
}
