//! The two constraint lists of rods with orientations.

use super::{ConstraintSet, Measure, Softness, permuted, point};
use crate::constraint::ValueError;
use crate::constraints::rod_bend_twist::{self, RodBendTwist};
use crate::constraints::rod_stretch_shear::{self, RodStretchShear};
use crate::kernel::Sweep;
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use sim_core::EnergyTerm;
use std::ops::Range;

/// A rod segment: two particles, one orientation, compliance in m/N (shear, shear, stretch).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub particles: [u32; 2],
    pub orientation: u32,
    pub constraint: RodStretchShear,
    pub compliance: Vector3<f64>,
}

/// A joint between two segments: two orientations, compliance in rad/(N·m) (bending, bending, twist).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joint {
    pub orientations: [u32; 2],
    pub constraint: RodBendTwist,
    pub compliance: Vector3<f64>,
}

/// What the two lists do differently.
pub(crate) trait RodStencil: Copy + std::fmt::Debug + Send + Sync {
    const ID: &'static str;
    const TERM: EnergyTerm;
    fn compliance(&self) -> Vector3<f64>;
    fn scale(&self) -> f64;
    fn entities(&self, first_orientation: u32, visit: &mut dyn FnMut(u32));
    fn value(&self, x: &dyn Fn(u32) -> Vector3<f64>, q: &dyn Fn(u32) -> UnitQuaternion<f64>) -> Vector3<f64>;
    /// C, its mobility J M⁻¹ Jᵀ, and the correction for a multiplier step found by `solve`.
    fn project(&self, sweep: &Sweep<'_>, solve: &mut dyn FnMut(Vector3<f64>, Matrix3<f64>) -> Vector3<f64>);
    fn validate(&self) -> Result<(), ValueError>;
}

fn inverse_inertia(sweep: &Sweep<'_>, orientation: u32) -> Matrix3<f64> {
    Matrix3::from_diagonal(&sweep.inverse_inertia(orientation))
}

impl RodStencil for Segment {
    const ID: &'static str = rod_stretch_shear::INFO.id;
    const TERM: EnergyTerm = EnergyTerm::Elastic;

    fn compliance(&self) -> Vector3<f64> {
        self.compliance
    }

    fn scale(&self) -> f64 {
        self.constraint.rest_length
    }

    fn entities(&self, first_orientation: u32, visit: &mut dyn FnMut(u32)) {
        visit(self.particles[0]);
        visit(self.particles[1]);
        visit(first_orientation + self.orientation);
    }

    fn value(&self, x: &dyn Fn(u32) -> Vector3<f64>, q: &dyn Fn(u32) -> UnitQuaternion<f64>) -> Vector3<f64> {
        self.constraint.parts(self.particles.map(x), &q(self.orientation)).0
    }

    fn project(&self, sweep: &Sweep<'_>, solve: &mut dyn FnMut(Vector3<f64>, Matrix3<f64>) -> Vector3<f64>) {
        let x = self.particles.map(|p| sweep.position(p));
        let weights = self.particles.map(|p| sweep.inverse_mass(p));
        let turning = inverse_inertia(sweep, self.orientation);
        let (value, into, by_turn) = self.constraint.parts(x, &sweep.orientation(self.orientation));
        let mobility =
            Matrix3::from_diagonal_element(weights[0] + weights[1]) + by_turn * turning * by_turn.transpose();
        let step = solve(value, mobility);
        let push = into.transpose() * step;
        sweep.shift(self.particles[0], push * -weights[0]);
        sweep.shift(self.particles[1], push * weights[1]);
        sweep.turn(self.orientation, turning * by_turn.transpose() * step);
    }

    fn validate(&self) -> Result<(), ValueError> {
        self.constraint.validate()?;
        self.compliance.iter().try_for_each(|&c| ValueError::not_negative("stretch-shear compliance", c))
    }
}

impl RodStencil for Joint {
    const ID: &'static str = rod_bend_twist::INFO.id;
    const TERM: EnergyTerm = EnergyTerm::Bending;

    fn compliance(&self) -> Vector3<f64> {
        self.compliance
    }

    fn scale(&self) -> f64 {
        1.0
    }

    fn entities(&self, first_orientation: u32, visit: &mut dyn FnMut(u32)) {
        self.orientations.iter().for_each(|&q| visit(first_orientation + q));
    }

    fn value(
        &self,
        _x: &dyn Fn(u32) -> Vector3<f64>,
        q: &dyn Fn(u32) -> UnitQuaternion<f64>,
    ) -> Vector3<f64> {
        self.constraint.evaluate(&q(self.orientations[0]), &q(self.orientations[1])).0
    }

    fn project(&self, sweep: &Sweep<'_>, solve: &mut dyn FnMut(Vector3<f64>, Matrix3<f64>) -> Vector3<f64>) {
        let [a, b] = self.orientations;
        let (value, by_a, by_b) = self.constraint.evaluate(&sweep.orientation(a), &sweep.orientation(b));
        let (ia, ib) = (inverse_inertia(sweep, a), inverse_inertia(sweep, b));
        let step = solve(value, by_a * ia * by_a.transpose() + by_b * ib * by_b.transpose());
        sweep.turn(a, ia * by_a.transpose() * step);
        sweep.turn(b, ib * by_b.transpose() * step);
    }

    fn validate(&self) -> Result<(), ValueError> {
        self.compliance.iter().try_for_each(|&c| ValueError::not_negative("bend-twist compliance", c))
    }
}

/// A list of rod stencils; three multipliers each.
#[derive(Clone, Debug)]
pub(crate) struct RodSet<S> {
    items: Vec<S>,
    first_orientation: u32,
    index: Vec<u32>,
    slot: Vec<u32>,
}

impl<S: RodStencil> RodSet<S> {
    /// `first_orientation` is the entity number of orientation 0, the particle count.
    pub(crate) fn new(items: Vec<S>, first_orientation: u32) -> Self {
        let index: Vec<u32> = (0..items.len() as u32).collect();
        Self { items, first_orientation, slot: index.clone(), index }
    }
}

fn lambda(slot: usize, sweep: &Sweep<'_>) -> Vector3<f64> {
    Vector3::new(sweep.work(3 * slot), sweep.work(3 * slot + 1), sweep.work(3 * slot + 2))
}

impl<S: RodStencil> ConstraintSet for RodSet<S> {
    fn id(&self) -> &'static str {
        S::ID
    }

    fn units(&self) -> usize {
        self.items.len()
    }

    fn entities(&self, unit: usize, visit: &mut dyn FnMut(u32)) {
        self.items[unit].entities(self.first_orientation, visit);
    }

    fn reorder(&mut self, order: &[u32]) {
        self.items = order.iter().map(|&old| self.items[old as usize]).collect();
        (self.index, self.slot) = permuted(&self.index, order);
    }

    fn work_len(&self) -> usize {
        3 * self.items.len()
    }

    fn multiplier_len(&self) -> usize {
        3 * self.items.len()
    }

    fn begin(&self, _sweep: &Sweep<'_>) {}

    fn sweep(&self, units: Range<usize>, sweep: &Sweep<'_>) {
        let dt = sweep.rule.dt;
        for slot in units {
            let item = &self.items[slot];
            item.project(sweep, &mut |value, mobility| {
                let before = lambda(slot, sweep);
                let softness = item.compliance() / (dt * dt);
                let residual = value + softness.component_mul(&before);
                let matrix = mobility + Matrix3::from_diagonal(&softness);
                // A direction nobody can move in (both ends held, no compliance) takes no correction.
                let step = matrix.cholesky().map_or(Vector3::zeros(), |factor| factor.solve(&-residual));
                let step = step * sweep.rule.relaxation;
                for k in 0..3 {
                    sweep.set_work(3 * slot + k, before[k] + step[k]);
                }
                step
            });
        }
    }

    fn measure(&self, sweep: &Sweep<'_>, visit: &mut dyn FnMut(Measure)) {
        for (slot, item) in self.items.iter().enumerate() {
            let value = item.value(&|p| sweep.position(p), &|q| sweep.orientation(q));
            let softness = item.compliance() / (sweep.rule.dt * sweep.rule.dt);
            let residual = value + softness.component_mul(&lambda(slot, sweep));
            let index = self.index[slot] as usize;
            for k in 0..3 {
                visit(Measure {
                    index,
                    value: value[k],
                    residual: residual[k],
                    scale: item.scale(),
                    rigid: item.compliance()[k] == 0.0,
                });
            }
        }
    }

    fn multiplier(&self, index: usize, work: &[f64]) -> f64 {
        work[3 * self.slot[index] as usize + 2]
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn soft(&self) -> Option<Softness> {
        // Rods are always physical: plain PBD is refused for them.
        self.items.first().map(|item| Softness {
            index: 0,
            compliance: item.compliance().amax(),
            damping: 0.0,
        })
    }

    fn energy(&self, _t: f64, q: &[f64], orientations: &[f64]) -> (EnergyTerm, f64) {
        let orientation = |i: u32| {
            let i = 4 * i as usize;
            let [x, y, z, w] = [0, 1, 2, 3].map(|k| orientations[i + k]);
            UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z))
        };
        let sum = (self.items.iter())
            .map(|item| {
                let value = item.value(&|p| point(q, p), &orientation);
                let compliance = item.compliance();
                (0..3)
                    .filter(|&k| compliance[k] > 0.0)
                    .map(|k| 0.5 * value[k] * value[k] / compliance[k])
                    .sum::<f64>()
            })
            .sum();
        (S::TERM, sum)
    }

    fn validate(&self) -> Result<(), (usize, ValueError)> {
        (self.items.iter().enumerate()).try_for_each(|(i, item)| item.validate().map_err(|error| (i, error)))
    }
}
