//! What a running belt does, averaged over time.

use super::BeltModel;
use crate::xpbd::Xpbd;
use nalgebra::{Vector2, Vector3};
use serde::Serialize;
use sim_core::State;

/// One free span, from pulley i to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SpanReport {
    /// Mean tension in N.
    pub tension: f64,
    /// Mean belt speed in m/s.
    pub speed: f64,
    /// First transverse frequency in Hz of the moving span, (c² − v²)/(2 c L) with c² = tension / mass per length
    /// (Sack 1954).
    pub frequency: f64,
}

/// One pulley.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PulleyReport {
    /// Mean angle in rad over which the belt touches it.
    pub wrap: f64,
    /// Mean angle in rad over which the belt slips on it.
    pub slip_arc: f64,
    /// Mean angular velocity in rad/s.
    pub angular_velocity: f64,
    /// Mean torque in N·m of the belt on the pulley.
    pub belt_torque: f64,
    /// The belt slips on the whole arc: the drive cannot carry this load.
    pub slips: bool,
}

/// Averages over the samples taken so far.
///
/// # Limitations
/// Tensions of a span are those of its segments whose two ends touch no pulley; arcs are counted in whole particles and
/// become continuous only as an average over many samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BeltReport {
    /// Samples averaged.
    pub samples: u32,
    /// Spans, in the order of the pulleys.
    pub spans: Vec<SpanReport>,
    /// Pulleys.
    pub pulleys: Vec<PulleyReport>,
}

/// More than this part of the wrap in slip counts as slipping as a whole.
const GROSS_SLIP: f64 = 0.97;

impl BeltReport {
    /// Largest span tension in N.
    pub fn tight_tension(&self) -> f64 {
        self.spans.iter().map(|span| span.tension).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Least span tension in N.
    pub fn slack_tension(&self) -> f64 {
        self.spans.iter().map(|span| span.tension).fold(f64::INFINITY, f64::min)
    }

    /// Creep from pulley `driver` to `driven`: 1 − (rim speed of the driven) / (rim speed of the driver).
    pub fn creep(&self, model: &BeltModel, driver: usize, driven: usize) -> f64 {
        let rim = |i: usize| self.pulleys[i].angular_velocity * model.drive().pulleys[i].radius;
        1.0 - rim(driven) / rim(driver)
    }

    /// Adds the state after the last step to the averages.
    ///
    /// # Panics
    /// When the stepper has not made a step of this model.
    pub fn sample(&mut self, model: &BeltModel, xpbd: &Xpbd, state: &State) {
        let drive = model.drive();
        let (n, pulleys) = (drive.particles, drive.pulleys.len());
        self.spans.resize(pulleys, SpanReport::default());
        self.pulleys.resize(pulleys, PulleyReport::default());
        self.samples += 1;
        let share = 1.0 / f64::from(self.samples);
        let mean = |old: &mut f64, new: f64| *old += share * (new - *old);
        let mut touching: Vec<Option<(usize, bool)>> = vec![None; n];
        for contact in xpbd.contact_forces() {
            if let Some(collider) = contact.collider {
                touching[contact.particle as usize] = Some((collider, contact.sliding));
            }
        }
        let vector =
            |values: &[f64], i: usize| Vector3::new(values[3 * i], values[3 * i + 1], values[3 * i + 2]);
        let mut tension = vec![(0.0, 0.0, 0_u32); pulleys];
        let mut last = (0..n).rev().find_map(|i| touching[i]).map(|t| t.0);
        for i in 0..n {
            last = touching[i].map(|t| t.0).or(last);
            let next = (i + 1) % n;
            if let (None, None, Some(pulley)) = (touching[i], touching[next], last) {
                let along = (vector(&state.q, next) - vector(&state.q, i)).normalize();
                let sums = &mut tension[pulley];
                sums.0 += xpbd.constraint_force(model.system(), 0, i);
                sums.1 += 0.5 * (vector(&state.v, i) + vector(&state.v, next)).dot(&along);
                sums.2 += 1;
            }
        }
        for (span, (force, speed, count)) in self.spans.iter_mut().zip(tension) {
            if count > 0 {
                mean(&mut span.tension, force / f64::from(count));
                mean(&mut span.speed, speed / f64::from(count));
            }
        }
        for (i, span) in self.spans.iter_mut().enumerate() {
            // A stretched metre holds less mass.
            let mass = drive.mass_per_length / (1.0 + span.tension / drive.axial_stiffness);
            let c = (span.tension / mass).sqrt();
            span.frequency = (c * c - span.speed * span.speed) / (2.0 * c * model.path().spans()[i]);
        }
        for (i, pulley) in self.pulleys.iter_mut().enumerate() {
            let (mut wrap, mut slip) = (0.0, 0.0);
            for (k, touch) in touching.iter().enumerate() {
                if let Some((collider, sliding)) = *touch
                    && collider == i
                {
                    let turn = turning(state, (k + n - 1) % n, k, (k + 1) % n);
                    wrap += turn;
                    slip += if sliding { turn } else { 0.0 };
                }
            }
            mean(&mut pulley.wrap, wrap);
            mean(&mut pulley.slip_arc, slip);
            mean(&mut pulley.angular_velocity, model.angular_velocity(state, i));
            mean(&mut pulley.belt_torque, xpbd.contact_report().on_colliders[i].1);
            pulley.slips = pulley.wrap > 0.0 && pulley.slip_arc > GROSS_SLIP * pulley.wrap;
        }
    }
}

/// Turn of the belt's direction at particle b between its neighbours a and c, in rad.
fn turning(state: &State, a: usize, b: usize, c: usize) -> f64 {
    let at = |i: usize| Vector2::new(state.q[3 * i], state.q[3 * i + 1]);
    let (a, b) = (at(b) - at(a), at(c) - at(b));
    (a.x * b.y - a.y * b.x).atan2(a.dot(&b))
}
