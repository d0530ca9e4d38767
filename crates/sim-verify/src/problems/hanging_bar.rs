//! Axial modes of a bar that hangs from one end, as the chain of masses and springs that a mesh of it is.

use super::{ExactProblem, swing};
use sim_core::force::gravity::Gravity;
use sim_core::force::springs::{Spring, Springs};
use sim_core::{ModelSystem, ParticleSystemBuilder, State};
use std::f64::consts::PI;

/// A fixed-free bar of `segments` equal springs, half a mass at the free end, swinging along itself about its stretched rest under
/// gravity (along +x, so that every spring is in tension).
///
/// On the line the springs are exactly linear.
#[derive(Clone, Copy, Debug)]
pub struct HangingBar {
    /// Number of springs.
    pub segments: usize,
    /// Axial stiffness EA in N.
    pub axial_stiffness: f64,
    /// kg/m, unloaded.
    pub mass_per_length: f64,
    /// Unloaded length in m.
    pub length: f64,
    /// m/s².
    pub gravity: f64,
    /// `(mode number from 1, amplitude in m)`; cosine start for odd list places, sine start for even ones.
    pub modes: &'static [(usize, f64)],
}

/// Six springs of 30 N/m, highest frequency 15.4 rad/s; the weight stretches the bar by a tenth.
pub static STANDARD: HangingBar = HangingBar {
    segments: 6,
    axial_stiffness: 5.0,
    mass_per_length: 3.0,
    length: 1.0,
    gravity: 1.0 / 3.0,
    modes: &[(1, 0.02), (2, 0.01), (4, 0.004), (6, 0.002)],
};

impl HangingBar {
    fn stiffness(&self) -> f64 {
        self.axial_stiffness * self.segments as f64 / self.length
    }

    fn mass(&self) -> f64 {
        self.mass_per_length * self.length / self.segments as f64
    }

    /// Angular frequency in rad/s of mode `j` (from 1).
    pub fn frequency(&self, j: usize) -> f64 {
        let angle = (2 * j - 1) as f64 * PI / (4 * self.segments) as f64;
        2.0 * (self.stiffness() / self.mass()).sqrt() * angle.sin()
    }

    /// Where particle `i` hangs at rest, in m below the support.
    fn rest(&self, i: usize) -> f64 {
        let below = |spring: usize| (self.segments - spring) as f64 + 0.5;
        let stretch: f64 =
            (1..=i).map(|spring| below(spring) * self.mass() * self.gravity / self.stiffness()).sum();
        i as f64 * self.length / self.segments as f64 + stretch
    }
}

impl ExactProblem for HangingBar {
    fn id(&self) -> &'static str {
        "hanging_bar"
    }

    fn source(&self) -> &'static str {
        "ω_j = 2 sqrt(k/m) sin((2j-1)π/(4N)), shapes sin((2j-1)πi/(2N)), half a mass at the free end"
    }

    fn t_end(&self) -> f64 {
        1.7
    }

    fn build(&self) -> (Box<dyn ModelSystem>, State) {
        let n = self.segments;
        let springs = Springs::new((0..n as u32).map(|i| Spring {
            ends: [i, i + 1],
            rest_length: self.length / n as f64,
            stiffness: self.stiffness(),
            damping: 0.0,
        }));
        let mut mass = vec![self.mass(); n + 1];
        mass[n] *= 0.5;
        let system = ParticleSystemBuilder::new(mass)
            .pin([0])
            .force(springs)
            .force(Gravity::new([self.gravity, 0.0, 0.0]))
            .build()
            .expect("parameters are valid");
        (Box::new(system), self.exact(0.0))
    }

    fn exact(&self, t: f64) -> State {
        let count = self.segments + 1;
        let mut state = State { t, q: vec![0.0; 3 * count], v: vec![0.0; 3 * count], internal: Vec::new() };
        for i in 0..count {
            state.q[3 * i] = self.rest(i);
            for (place, &(j, amplitude)) in self.modes.iter().enumerate() {
                let omega = self.frequency(j);
                let shape =
                    amplitude * ((2 * j - 1) as f64 * PI * i as f64 / (2 * self.segments) as f64).sin();
                let (u, v) = swing(place, omega, t);
                state.q[3 * i] += shape * u;
                state.v[3 * i] += shape * v;
            }
        }
        state
    }

    fn max_frequency(&self) -> f64 {
        self.frequency(self.segments)
    }

    fn scales(&self) -> (f64, f64) {
        let sum: f64 = self.modes.iter().map(|mode| mode.1).sum();
        let rate: f64 = self.modes.iter().map(|mode| mode.1 * self.frequency(mode.0)).sum();
        (sum, rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many segments make the bar: `ω_1 = (π/2) sqrt(EA/m')/L`, and the end hangs `m' g L²/(2 EA)` lower (textbook, e.g. Rao, Mechanical
    /// Vibrations).
    #[test]
    fn many_segments_are_a_bar() {
        let bar = HangingBar { segments: 400, ..STANDARD };
        let exact = 0.5 * PI * (bar.axial_stiffness / bar.mass_per_length).sqrt() / bar.length;
        assert!((bar.frequency(1) / exact - 1.0).abs() < 1e-6);
        let sag = bar.mass_per_length * bar.gravity * bar.length * bar.length / (2.0 * bar.axial_stiffness);
        assert!((bar.rest(400) - bar.length - sag).abs() < 1e-12);
    }
}
