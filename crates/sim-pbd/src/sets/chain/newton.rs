//! One Newton step of a chain or tree with everything in it: masses, links, and what a tension resists turning with.
//!
//! With the multipliers λ (negative when they pull), the way Δ that the links have moved the particles, C the distance of a
//! link's ends less its length, and d its direction,
//!
//! ```text
//! (M + Σ −λ ∇²C) dx − Jᵀ dλ = −(M Δ − Jᵀ λ)      ∇²C = (I − d dᵀ)/distance, for pulling links only
//!            J dx + s dλ   = −r
//! ```
//!
//! is eliminated from the leaves to the root, a particle and its link to the parent at a time: 3×3 matrices that stay positive
//! definite, in O(n). Links that close loops border the system.
//!
//! Source: geometric stiffness of constraints: Tournier, Nesme, Gilles, Faure: Stable Constrained Dynamics, ACM Trans. Graph. 34
//! (2015) 132; elimination on trees: Baraff, Linear-Time Dynamics using Lagrange Multipliers, SIGGRAPH 1996.

use super::small::{Symmetric, small_solve};
use super::tree::{Layout, MOST_LOOPS, Tree};
use crate::kernel::Sweep;
use nalgebra::Vector3;

/// A link whose pivot is smaller than this times the inverse mass at its end is redundant: it takes no correction.
const REDUNDANT: f64 = 1e-12;
/// A tree with its place among the work values of a sweep.
pub(super) struct Step<'a, 'b> {
    pub(super) tree: &'a Tree,
    pub(super) at: Layout,
    pub(super) sweep: &'a Sweep<'b>,
}

impl Step<'_, '_> {
    pub(super) fn vector(&self, at: usize) -> Vector3<f64> {
        Vector3::new(self.sweep.work(at), self.sweep.work(at + 1), self.sweep.work(at + 2))
    }

    pub(super) fn set_vector(&self, at: usize, v: Vector3<f64>) {
        (0..3).for_each(|c| self.sweep.set_work(at + c, v[c]));
    }

    fn add_vector(&self, at: usize, v: Vector3<f64>) {
        self.set_vector(at, self.vector(at) + v);
    }

    fn symmetric(&self, at: usize) -> Symmetric {
        let [xx, yy, zz, xy] = self.sweep.work4(at);
        Symmetric([xx, yy, zz, xy, self.sweep.work(at + 4), self.sweep.work(at + 5)])
    }

    fn set_symmetric(&self, at: usize, m: Symmetric) {
        self.sweep.set_work4(at, [m.0[0], m.0[1], m.0[2], m.0[3]]);
        self.sweep.set_work(at + 4, m.0[4]);
        self.sweep.set_work(at + 5, m.0[5]);
    }

    pub(super) fn inverse_mass(&self, node: usize) -> f64 {
        self.sweep.inverse_mass(self.tree.particles[node])
    }

    pub(super) fn ends(&self, slot: usize) -> [usize; 2] {
        self.tree.ends[slot].map(|node| node as usize)
    }

    /// M Δ − Jᵀ λ of every free node into the right-hand sides, with the other sign; `multiplier` gives λ by slot.
    pub(super) fn unbalanced(&self, multiplier: impl Fn(usize) -> f64) {
        for node in 0..self.tree.particles.len() {
            let w = self.inverse_mass(node);
            let way = if w > 0.0 { self.vector(self.at.way(node)) / -w } else { Vector3::zeros() };
            self.set_vector(self.at.right(node), way);
            self.sweep.set_work(self.at.asked(node), 0.0);
        }
        for slot in 0..self.tree.ends.len() {
            let [p, q] = self.ends(slot);
            let force = self.vector(self.at.direction(slot)) * multiplier(slot);
            self.add_vector(self.at.right(p), force);
            self.add_vector(self.at.right(q), -force);
            for node in [p, q] {
                let turning = self.sweep.work(self.at.asked(node)) + self.sweep.work(self.at.turning(slot));
                self.sweep.set_work(self.at.asked(node), turning);
            }
        }
    }

    /// Way in m that what is unbalanced at a node would make against its mass and what its links resist turning with. By the mass alone
    /// it would be millions of times the error of a light particle under tension.
    pub(super) fn imbalance(&self, node: usize) -> Vector3<f64> {
        let w = self.inverse_mass(node);
        self.vector(self.at.right(node)) * (w / (1.0 + w * self.sweep.work(self.at.asked(node))))
    }

    /// The steps of all nodes and multipliers.
    pub(super) fn solve(&self) {
        self.factor();
        let loops = self.tree.hanging..self.tree.ends.len();
        if loops.is_empty() {
            return self.substitute(true);
        }
        self.solve_bordered(loops);
    }

    fn factor(&self) {
        let (at, sweep) = (self.at, self.sweep);
        for node in 0..self.tree.particles.len() {
            let w = self.inverse_mass(node);
            let mass = if w > 0.0 { 1.0 / w } else { 1.0 };
            self.set_symmetric(at.matrix(node), Symmetric([mass, mass, mass, 0.0, 0.0, 0.0]));
        }
        for slot in self.tree.hanging..self.tree.ends.len() {
            // Twice on either end bounds what couples them.
            let (d, turning) = (self.vector(at.direction(slot)), sweep.work(at.turning(slot)));
            for node in self.ends(slot) {
                let next = self.symmetric(at.matrix(node)).plus_across(2.0 * turning, d);
                self.set_symmetric(at.matrix(node), next);
            }
        }
        for slot in 0..self.tree.hanging {
            let [p, q] = self.ends(slot);
            let (d, turning) = (self.vector(at.direction(slot)), sweep.work(at.turning(slot)));
            // −λ ∇²C couples both ends.
            let above = self.symmetric(at.matrix(q)).plus_across(turning, d);
            if self.inverse_mass(p) == 0.0 {
                self.set_symmetric(at.matrix(q), above);
                continue;
            }
            self.set_symmetric(at.matrix(p), self.symmetric(at.matrix(p)).plus_across(turning, d));
            let inverse = self.invert(p);
            let along = inverse.times(d);
            let compliance = d.dot(&along);
            let pivot = self.pivot_or_none(sweep.work(at.softness(slot)) + compliance, p);
            let carried = d - (along - d * compliance) * turning;
            self.set_vector(at.inverse_times_direction(slot), along);
            self.set_vector(at.carried(slot), carried);
            sweep.set_work(at.pivot(slot), pivot);
            if self.inverse_mass(q) > 0.0 {
                // P H⁻¹ P with P = I − d dᵀ and H⁻¹ d at hand.
                let lean = along - d * (0.5 * compliance);
                let through = inverse.minus_both(lean, d);
                let next = above.plus(-turning * turning, through).plus_square(1.0 / pivot, carried);
                self.set_symmetric(at.matrix(q), next);
            }
        }
        for &root in &self.tree.roots {
            if self.inverse_mass(root as usize) > 0.0 {
                self.invert(root as usize);
            }
        }
    }

    /// A pivot, or infinity for a redundant link.
    fn pivot_or_none(&self, pivot: f64, node: usize) -> f64 {
        if pivot > REDUNDANT * self.inverse_mass(node) { pivot } else { f64::INFINITY }
    }

    fn pinned_children(&self, node: usize) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let below = self.tree.below(node).iter().map(|&slot| slot as usize);
        below.filter(|&slot| self.inverse_mass(self.ends(slot)[0]) == 0.0)
    }

    /// Replaces the matrix of a node by its inverse, links to pinned children included one by one (Sherman and Morrison).
    fn invert(&self, node: usize) -> Symmetric {
        let (at, sweep) = (self.at, self.sweep);
        let mut inverse = self.symmetric(at.matrix(node)).inverse();
        for slot in self.pinned_children(node) {
            // From the pinned child to here is against the direction of the link.
            let d = -self.vector(at.direction(slot));
            let along = inverse.times(d);
            let pivot = self.pivot_or_none(sweep.work(at.softness(slot)) + d.dot(&along), node);
            self.set_vector(at.inverse_times_direction(slot), along);
            sweep.set_work(at.pivot(slot), pivot);
            inverse = inverse.plus_square(-1.0 / pivot, along);
        }
        self.set_symmetric(at.matrix(node), inverse);
        inverse
    }

    /// Steps from the right-hand sides of the nodes and, if wanted, the residuals of the links.
    fn substitute(&self, with_residuals: bool) {
        let (at, sweep) = (self.at, self.sweep);
        let residual = |slot| if with_residuals { sweep.work(at.residual(slot)) } else { 0.0 };
        let ask = |node: usize| {
            let mut asked = Vector3::zeros();
            for slot in self.pinned_children(node) {
                let d = -self.vector(at.direction(slot));
                let along = self.vector(at.inverse_times_direction(slot));
                // What is missing after the links before; kept for the way back.
                let missing = -residual(slot) - d.dot(&asked);
                sweep.set_work(at.multiplier_step(slot), missing);
                asked += along * (missing / sweep.work(at.pivot(slot)));
            }
            self.set_vector(at.asked(node), asked);
            asked
        };
        for slot in 0..self.tree.hanging {
            let [p, q] = self.ends(slot);
            if self.inverse_mass(p) == 0.0 {
                continue;
            }
            let asked = ask(p);
            let (d, pivot) = (self.vector(at.direction(slot)), sweep.work(at.pivot(slot)));
            let right = self.vector(at.right(p));
            let along = self.vector(at.inverse_times_direction(slot));
            let open = (-residual(slot) - along.dot(&right) - d.dot(&asked)) / pivot;
            sweep.set_work(at.multiplier_step(slot), open);
            if self.inverse_mass(q) > 0.0 {
                let pulled = self.symmetric(at.matrix(p)).times(right) + asked;
                let turned = (pulled - d * d.dot(&pulled)) * sweep.work(at.turning(slot));
                self.add_vector(at.right(q), turned - self.vector(at.carried(slot)) * open);
            }
        }
        for &root in &self.tree.roots {
            let root = root as usize;
            if self.inverse_mass(root) > 0.0 {
                ask(root);
                self.settle(root, self.vector(at.right(root)));
            } else {
                self.set_vector(at.step(root), Vector3::zeros());
            }
        }
        for slot in (0..self.tree.hanging).rev() {
            let [p, q] = self.ends(slot);
            if self.inverse_mass(p) == 0.0 {
                if self.inverse_mass(q) == 0.0 {
                    sweep.set_work(at.multiplier_step(slot), 0.0);
                }
                self.set_vector(at.step(p), Vector3::zeros());
                continue;
            }
            let (d, pivot) = (self.vector(at.direction(slot)), sweep.work(at.pivot(slot)));
            let above = self.vector(at.step(q));
            let open = sweep.work(at.multiplier_step(slot));
            let multiplier = open + self.vector(at.carried(slot)).dot(&above) / pivot;
            sweep.set_work(at.multiplier_step(slot), multiplier);
            let turned = (above - d * d.dot(&above)) * sweep.work(at.turning(slot));
            self.settle(p, self.vector(at.right(p)) + d * multiplier + turned);
        }
    }

    /// The step of a node under a force, and the multipliers of its links to pinned children, last first.
    fn settle(&self, node: usize, force: Vector3<f64>) {
        let (at, sweep) = (self.at, self.sweep);
        let step = self.symmetric(at.matrix(node)).times(force) + self.vector(at.asked(node));
        self.set_vector(at.step(node), step);
        let mut force = force;
        for slot in self.pinned_children(node).rev() {
            let d = -self.vector(at.direction(slot));
            let along = self.vector(at.inverse_times_direction(slot));
            let missing = sweep.work(at.multiplier_step(slot)) - along.dot(&force);
            let multiplier = missing / sweep.work(at.pivot(slot));
            sweep.set_work(at.multiplier_step(slot), multiplier);
            force += d * multiplier;
        }
    }

    /// With links that close loops: their multipliers from a small system, one column per loop.
    fn solve_bordered(&self, loops: std::ops::Range<usize>) {
        let (at, sweep) = (self.at, self.sweep);
        self.substitute(true);
        let nodes = self.tree.particles.len();
        // The solution without loops is put aside where the right-hand sides were.
        let count = loops.len();
        let mut system = [[0.0; MOST_LOOPS + 1]; MOST_LOOPS];
        let stretch = |slot: usize| {
            let [a, b] = self.ends(slot);
            self.vector(at.direction(slot)).dot(&(self.vector(at.step(a)) - self.vector(at.step(b))))
        };
        for (row, slot) in loops.clone().enumerate() {
            system[row][count] = -sweep.work(at.residual(slot)) - stretch(slot);
        }
        let keep = |to: usize| {
            for node in 0..nodes {
                self.set_vector(to + 3 * node, self.vector(at.step(node)));
            }
            for slot in 0..self.tree.hanging {
                sweep.set_work(to + 3 * nodes + slot, sweep.work(at.multiplier_step(slot)));
            }
        };
        keep(at.border(count));
        for (column, slot) in loops.clone().enumerate() {
            for node in 0..nodes {
                self.set_vector(at.right(node), Vector3::zeros());
            }
            let [a, b] = self.ends(slot);
            let d = self.vector(at.direction(slot));
            self.add_vector(at.right(a), d);
            self.add_vector(at.right(b), -d);
            self.substitute(false);
            for (row, slot) in loops.clone().enumerate() {
                system[row][column] = stretch(slot);
            }
            system[column][column] += sweep.work(at.softness(slot));
            keep(at.border(column));
        }
        let multipliers = small_solve(&mut system, count);
        let whole = at.border(count);
        for node in 0..nodes {
            let sum = (0..count).fold(self.vector(whole + 3 * node), |sum, k| {
                sum + self.vector(at.border(k) + 3 * node) * multipliers[k]
            });
            self.set_vector(at.step(node), sum);
        }
        for slot in 0..self.tree.hanging {
            let place = 3 * nodes + slot;
            let sum = (0..count).fold(sweep.work(whole + place), |sum, k| {
                sum + sweep.work(at.border(k) + place) * multipliers[k]
            });
            sweep.set_work(at.multiplier_step(slot), sum);
        }
        for (k, slot) in loops.enumerate() {
            sweep.set_work(at.multiplier_step(slot), multipliers[k]);
        }
    }
}
