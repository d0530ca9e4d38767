//! Seeded random networks of springs.

#![allow(dead_code)] // Each test binary uses its own part.

use sim_core::force::mass_damping::MassDamping;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{
    Dependence, Energy, EnergyTerm, Force, Kinematics, ParticleSystem, ParticleSystemBuilder, State, System,
    Work, WorkTerm,
};

/// `SplitMix64` (Steele, Lea & Flood 2014).
pub struct Random(pub u64);

impl Random {
    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    /// Log-uniform.
    pub fn spread(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }
}

/// How wild a network is.
#[derive(Clone, Copy)]
pub struct Wildness {
    /// Largest number of particles.
    pub particles: usize,
    /// Range of (length - rest length) / length.
    pub strain: (f64, f64),
    /// Range of the stiffness in N/m.
    pub stiffness: (f64, f64),
    pub damped: bool,
    pub pinned: bool,
    /// Constant loads hold the network in equilibrium.
    pub balanced: bool,
    /// Largest velocity component in m/s.
    pub speed: f64,
}

/// A connected network with mass spread 1e4.
pub fn network(seed: u64, wildness: Wildness) -> (ParticleSystem, State) {
    let mut random = Random(seed);
    let n = 2 + random.below(wildness.particles - 1);
    let mass: Vec<f64> = (0..n).map(|_| random.spread(1e-2, 1e2)).collect();
    let q: Vec<f64> = (0..3 * n).map(|_| random.between(-1.0, 1.0)).collect();
    let mut ends: Vec<[u32; 2]> = (1..n).map(|i| [random.below(i) as u32, i as u32]).collect();
    for _ in 0..random.below(2 * n + 1) {
        let (a, b) = (random.below(n) as u32, random.below(n) as u32);
        if a != b {
            ends.push([a, b]);
        }
    }
    let ratio = random.spread(0.01, 1.0);
    let springs: Vec<Spring> = ends
        .into_iter()
        .map(|ends| {
            let [a, b] = ends.map(|i| i as usize);
            let length = (0..3).map(|k| (q[3 * a + k] - q[3 * b + k]).powi(2)).sum::<f64>().sqrt();
            let stiffness = random.spread(wildness.stiffness.0, wildness.stiffness.1);
            let reduced = mass[a] * mass[b] / (mass[a] + mass[b]);
            let damping = if wildness.damped { 2.0 * ratio * (stiffness * reduced).sqrt() } else { 0.0 };
            let strain = random.between(wildness.strain.0, wildness.strain.1);
            Spring { ends, rest_length: length * (1.0 - strain), stiffness, damping }
        })
        .collect();
    let v = (0..3 * n).map(|_| random.between(-wildness.speed, wildness.speed)).collect();
    let springs = Springs::new(springs);
    let mut builder = ParticleSystemBuilder::new(mass.clone()).force(springs.clone());
    if wildness.balanced {
        let mut f = vec![0.0; 3 * n];
        let free = ParticleSystemBuilder::new(mass).force(springs).build().unwrap();
        free.force(0.0, &q, &vec![0.0; 3 * n], &mut f);
        builder = builder.force(ConstantLoad(f.into_iter().map(|f| -f).collect()));
    }
    if wildness.damped && random.unit() < 0.3 {
        builder = builder.force(MassDamping { rate: random.spread(0.1, 100.0) });
    }
    let mut state = State { t: 0.0, q, v, internal: Vec::new() };
    if wildness.pinned && random.unit() < 0.5 {
        let pin = random.below(n);
        builder = builder.pin([pin]);
        state.v[3 * pin..3 * pin + 3].fill(0.0);
    }
    (builder.build().unwrap(), state)
}

/// A constant force on each coordinate.
#[derive(Debug)]
struct ConstantLoad(Vec<f64>);

impl Force for ConstantLoad {
    fn id(&self) -> &'static str {
        "constant_load"
    }
    fn dependence(&self) -> Dependence {
        Dependence::POSITION
    }
    fn add_force(&self, _at: Kinematics<'_>, f: &mut [f64]) {
        f.iter_mut().zip(&self.0).for_each(|(f, load)| *f += load);
    }
    fn add_energy(&self, at: Kinematics<'_>, energy: &mut Energy) {
        energy.add(EnergyTerm::Load, -at.q.iter().zip(&self.0).map(|(q, f)| q * f).sum::<f64>());
    }
    fn add_power(&self, _at: Kinematics<'_>, velocity: &[f64], power: &mut Work) {
        power.add_term(WorkTerm::Conservative, velocity.iter().zip(&self.0).map(|(u, f)| u * f).sum());
    }
    fn validate(&self, _particle_count: usize) -> Result<(), sim_core::force::ForceError> {
        Ok(())
    }
}
