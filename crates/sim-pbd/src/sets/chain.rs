//! Distance constraints of a chain, a tree or a loop, solved together.
//!
//! A visit solves them by Newton's method to the end: masses, links, and what a tension resists turning with, in O(n) per step. With
//! the other constraints at rest a substep is one of implicit Euler, so that a rope with a heavy end hangs and swings at frame steps
//! without stretching. Directions of the start of the substep, plain PBD and nets with many loops get one step of
//! (J M⁻¹ Jᵀ + α/dt²) Δλ = −residual instead: links are eliminated from the leaves to the root, which leaves no fill in a tree and one
//! column in a loop.

mod newton;
mod small;
mod tree;

use super::{ConstraintSet, Measure, Softness};
use crate::constraint::{Bound, Constraint, ValueError, direction};
use crate::constraints::distance::Distance;
use crate::kernel::Sweep;
use crate::options::{Formulation, GradientPoint};
use nalgebra::Vector3;
use newton::Step;
use sim_core::EnergyTerm;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use tree::{Layout, MOST_LOOPS, Tree};

/// A pivot smaller than this times its diagonal means that the link is redundant (a straight rigid chain between two
/// pins): it then takes no correction, and the residual in the report shows it.
const SINGULAR: f64 = 1e-12;

/// Newton steps are halved down to this share while they make the residuals larger.
const SMALLEST_SHARE: f64 = 1.0 / 64.0;

/// A link that turned farther than this within the substep takes its current direction: the other would not pull it back.
const LEAST_COSINE: f64 = 0.5;

/// Newton steps of one solve end here, converged or not; the report tells. Five are usual, tens happen where a chain of thousands of links turns by a right angle
/// in a substep.
const MOST_STEPS: usize = 100;

/// Share of a link's length to which a solve brings residuals and imbalances.
const CONVERGED: f64 = 1e-10;

/// The links in elimination order, with the pattern of their matrix.
#[derive(Clone, Debug)]
pub(crate) struct ChainSet {
    links: Vec<Bound<Distance, 2>>,
    /// User's index by slot, and the reverse.
    index: Vec<u32>,
    slot: Vec<u32>,
    /// Off-diagonal entries of row i: `row[i]..row[i + 1]`, columns ascending.
    row: Vec<u32>,
    column: Vec<u32>,
    /// How an entry comes from geometry: shared particle and sign, or nothing for fill.
    coupling: Vec<Option<(u32, f64)>>,
    /// Where each product of two entries of a row is subtracted: a diagonal `j`, or an entry `n + k`.
    target: Vec<u32>,
    tree: Tree,
}

impl ChainSet {
    pub(crate) fn new(items: &[Bound<Distance, 2>]) -> Self {
        let (order, tree) = elimination_order(items);
        let links: Vec<_> = order.iter().map(|&i| items[i as usize]).collect();
        let mut slot = vec![0; links.len()];
        for (place, &user) in (0_u32..).zip(&order) {
            slot[user as usize] = place;
        }
        let mut set = Self {
            links,
            index: order,
            slot,
            row: vec![0],
            column: Vec::new(),
            coupling: Vec::new(),
            target: Vec::new(),
            tree,
        };
        set.find_pattern();
        set
    }

    fn find_pattern(&mut self) {
        let n = self.links.len();
        let mut at_particle: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (i, link) in (0_u32..).zip(&self.links) {
            link.particles.iter().for_each(|&p| at_particle.entry(p).or_default().push(i));
        }
        let mut later: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); n];
        for links in at_particle.values() {
            for (k, &i) in links.iter().enumerate() {
                later[i as usize].extend(&links[k + 1..]);
            }
        }
        for i in 0..n {
            // Eliminating row i joins its later neighbours to the first of them.
            let row = std::mem::take(&mut later[i]);
            if let Some(&first) = row.first() {
                later[first as usize].extend(row.iter().filter(|&&j| j > first));
            }
            for &j in &row {
                let (here, there) = (self.links[i].particles, self.links[j as usize].particles);
                let shared = here.iter().position(|p| there.contains(p)).map(|k| {
                    let other = usize::from(there[1] == here[k]);
                    // ∂C/∂x is -n at the first end and +n at the second.
                    (here[k], if k == other { 1.0 } else { -1.0 })
                });
                self.column.push(j);
                self.coupling.push(shared);
            }
            self.row.push(self.column.len() as u32);
        }
        for i in 0..n {
            let entries = self.row[i] as usize..self.row[i + 1] as usize;
            for a in entries.clone() {
                for b in a..entries.end {
                    let (j, k) = (self.column[a], self.column[b]);
                    self.target.push(if j == k { j } else { n as u32 + self.entry(j, k) });
                }
            }
        }
    }

    fn entry(&self, i: u32, j: u32) -> u32 {
        let start = self.row[i as usize];
        let columns = &self.column[start as usize..self.row[i as usize + 1] as usize];
        start + columns.binary_search(&j).expect("fill is part of the pattern") as u32
    }

    /// Work values: multipliers, start values, right-hand side, normals, matrix (diagonal, then entries).
    fn places(&self) -> [usize; 4] {
        let n = self.links.len();
        [n, 2 * n, 3 * n, 6 * n]
    }

    /// Where the values of Newton steps are.
    fn layout(&self) -> Layout {
        let [.., matrix] = self.places();
        Layout::new(matrix + self.links.len() + self.column.len(), &self.tree)
    }

    /// Whether a solve is Newton's method with everything in it. Otherwise it is one step along fixed directions: those of the start
    /// of the substep, which keep angular momentum; those of plain PBD, which has no multipliers; and in nets of many loops.
    fn is_newton(&self, sweep: &Sweep<'_>) -> bool {
        sweep.rule.formulation == Formulation::Xpbd
            && sweep.rule.gradient == GradientPoint::Current
            && self.links.len() - self.tree.hanging <= MOST_LOOPS
    }

    /// Everything that a Newton step needs at the current positions and multipliers. Returns the sum of squared residuals and
    /// imbalances in m², and the largest of them over the length of its link.
    fn linearize(&self, step: &Step<'_, '_>) -> (f64, f64) {
        let (sweep, at) = (step.sweep, step.at);
        let (mut squares, mut worst) = (0.0, 0.0_f64);
        let mut shortest = f64::INFINITY;
        for (slot, link) in self.links.iter().enumerate() {
            let [p, q] = step.ends(slot).map(|node| sweep.position(self.tree.particles[node]));
            let (length, along) = direction(p - q);
            let (damping, softness) = self.softness(slot, sweep);
            let residual = self.residual(slot, length - link.constraint.rest_length, sweep);
            let pull = (-sweep.work(slot)).max(0.0);
            step.set_vector(at.direction(slot), along);
            sweep.set_work(at.turning(slot), if length > 0.0 { pull / length } else { 0.0 });
            sweep.set_work(at.softness(slot), softness / damping);
            sweep.set_work(at.residual(slot), residual / damping);
            squares += residual * residual;
            worst = worst.max(residual.abs() / link.constraint.scale());
            shortest = shortest.min(link.constraint.scale());
        }
        step.unbalanced(|slot| sweep.work(slot));
        for node in 0..self.tree.particles.len() {
            let imbalance = step.imbalance(node).norm_squared();
            squares += imbalance;
            worst = worst.max(imbalance.sqrt() / shortest);
        }
        (squares, worst)
    }

    fn solve_by_newton(&self, sweep: &Sweep<'_>) {
        let step = Step { tree: &self.tree, at: self.layout(), sweep };
        let at = step.at;
        let advance = |share: f64| {
            for (node, &particle) in self.tree.particles.iter().enumerate() {
                let way = step.vector(at.step(node)) * share;
                step.set_vector(at.way(node), step.vector(at.way(node)) + way);
                sweep.shift(particle, way);
            }
            for slot in 0..self.links.len() {
                sweep.set_work(slot, sweep.work(slot) + share * sweep.work(at.multiplier_step(slot)));
            }
        };
        let (mut squares, mut worst) = self.linearize(&step);
        for _ in 0..MOST_STEPS {
            if worst <= CONVERGED {
                break;
            }
            step.solve();
            let mut share = 1.0;
            advance(share);
            let (mut next, mut farthest) = self.linearize(&step);
            while next > squares && share > SMALLEST_SHARE {
                share *= 0.5;
                advance(-share);
                (next, farthest) = self.linearize(&step);
            }
            (squares, worst) = (next, farthest);
        }
    }

    /// Factor 1 + γ of damping, and α/dt².
    fn softness(&self, slot: usize, sweep: &Sweep<'_>) -> (f64, f64) {
        let link = &self.links[slot];
        let dt = sweep.rule.dt;
        (1.0 + link.compliance * link.damping / dt, link.compliance / (dt * dt))
    }

    fn residual(&self, slot: usize, value: f64, sweep: &Sweep<'_>) -> f64 {
        let (damping, softness) = self.softness(slot, sweep);
        let start = sweep.work(self.places()[0] + slot);
        value + softness * sweep.work(slot) + (damping - 1.0) * (value - start)
    }

    fn solve(&self, sweep: &Sweep<'_>) {
        let n = self.links.len();
        let [_, rhs, normals, matrix] = self.places();
        let normal = |i: usize| {
            let at = normals + 3 * i;
            Vector3::new(sweep.work(at), sweep.work(at + 1), sweep.work(at + 2))
        };
        let mut squares = 0.0;
        for (i, link) in self.links.iter().enumerate() {
            let [a, b] = link.particles;
            let (pa, pb) = (sweep.point(a), sweep.point(b));
            let (length, mut along) = direction(Vector3::new(pb[0] - pa[0], pb[1] - pa[1], pb[2] - pa[2]));
            if sweep.rule.gradient == GradientPoint::StepStart {
                // On both sides of the matrix: a simplified Newton step that keeps it symmetric.
                let before = direction(sweep.start_position(b) - sweep.start_position(a)).1;
                if before.dot(&along) > LEAST_COSINE {
                    along = before;
                }
            }
            for k in 0..3 {
                sweep.set_work(normals + 3 * i + k, along[k]);
            }
            let value = length - link.constraint.rest_length;
            let (damping, softness) = self.softness(i, sweep);
            let residual = self.residual(i, value, sweep);
            squares += residual * residual;
            let right = match sweep.rule.formulation {
                Formulation::Xpbd => -sweep.rule.relaxation * residual / damping,
                Formulation::Pbd { fraction } => -fraction * value,
            };
            sweep.set_work(rhs + i, right);
            // Rows are divided by 1 + γ so that the matrix stays symmetric.
            sweep.set_work(matrix + i, pa[3] + pb[3] + softness / damping);
        }
        let mut e = 0;
        for i in 0..n {
            let here = normal(i);
            while e < self.row[i + 1] as usize {
                let value = self.coupling[e].map_or(0.0, |(particle, sign)| {
                    sign * sweep.inverse_mass(particle) * here.dot(&normal(self.column[e] as usize))
                });
                sweep.set_work(matrix + n + e, value);
                e += 1;
            }
        }
        self.eliminate(sweep);
        let advance = |share: f64| {
            for i in 0..n {
                let step = share * sweep.work(rhs + i);
                let [a, b] = self.links[i].particles;
                let along = normal(i);
                sweep.set_work(i, sweep.work(i) + step);
                sweep.shift(a, along * (-step * sweep.inverse_mass(a)));
                sweep.shift(b, along * (step * sweep.inverse_mass(b)));
            }
        };
        let mut share = 1.0;
        advance(share);
        // The step is a descent direction of the sum of squared residuals: halving it must help in the end.
        while self.squared_residuals(sweep) > squares && share > SMALLEST_SHARE {
            share *= 0.5;
            advance(-share);
        }
    }

    fn squared_residuals(&self, sweep: &Sweep<'_>) -> f64 {
        let mut squares = 0.0;
        for (i, link) in self.links.iter().enumerate() {
            let [a, b] = link.particles.map(|p| sweep.point(p));
            let d = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
            let length = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
            let residual = self.residual(i, length - link.constraint.rest_length, sweep);
            squares += residual * residual;
        }
        squares
    }

    /// `LDLᵀ` in place, forward and back substitution; the solution replaces the right-hand side.
    fn eliminate(&self, sweep: &Sweep<'_>) {
        let n = self.links.len();
        let [_, rhs, _, matrix] = self.places();
        let mut next = 0;
        for i in 0..n {
            let entries = self.row[i] as usize..self.row[i + 1] as usize;
            let pivot = sweep.work(matrix + i);
            let [a, b] = self.links[i].particles;
            let size = sweep.inverse_mass(a) + sweep.inverse_mass(b);
            let inverse = if pivot > SINGULAR * size { 1.0 / pivot } else { 0.0 };
            let right = sweep.work(rhs + i) * inverse;
            sweep.set_work(rhs + i, right);
            for x in entries.clone() {
                let value = sweep.work(matrix + n + x);
                let scaled = value * inverse;
                for y in x..entries.end {
                    let at = matrix + self.target[next] as usize;
                    next += 1;
                    sweep.set_work(at, sweep.work(at) - scaled * sweep.work(matrix + n + y));
                }
                let at = rhs + self.column[x] as usize;
                sweep.set_work(at, sweep.work(at) - value * right);
            }
            for x in entries {
                sweep.set_work(matrix + n + x, sweep.work(matrix + n + x) * inverse);
            }
        }
        for i in (0..n).rev() {
            let mut value = sweep.work(rhs + i);
            for x in self.row[i] as usize..self.row[i + 1] as usize {
                value -= sweep.work(matrix + n + x) * sweep.work(rhs + self.column[x] as usize);
            }
            sweep.set_work(rhs + i, value);
        }
    }
}

/// Links from the leaves of a spanning forest to its roots, then those that close loops; and the forest.
fn elimination_order(links: &[Bound<Distance, 2>]) -> (Vec<u32>, Tree) {
    let mut at_particle: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (i, link) in (0_u32..).zip(links) {
        link.particles.iter().for_each(|&p| at_particle.entry(p).or_default().push(i));
    }
    let particles: Vec<u32> = at_particle.keys().copied().collect();
    let node = |p: u32| particles.binary_search(&p).map_or(0, |k| k as u32);
    let mut from: Vec<u32> = particles.clone();
    // From an end where there is one, so that a chain is eliminated along its length.
    from.sort_by_key(|p| (at_particle[p].len() != 1, *p));
    let (mut reached, mut used) = (BTreeSet::new(), vec![false; links.len()]);
    let (mut order, mut ends, mut roots) = (Vec::new(), Vec::new(), Vec::new());
    for root in from {
        if !reached.insert(root) {
            continue;
        }
        roots.push(node(root));
        let mut queue = VecDeque::from([root]);
        while let Some(p) = queue.pop_front() {
            for &i in &at_particle[&p] {
                let [a, b] = links[i as usize].particles;
                let other = if a == p { b } else { a };
                if !used[i as usize] && reached.insert(other) {
                    used[i as usize] = true;
                    order.push(i);
                    ends.push([node(other), node(p)]);
                    queue.push_back(other);
                }
            }
        }
    }
    order.reverse();
    ends.reverse();
    let tree = ends.len();
    for i in (0..links.len()).filter(|&i| !used[i]) {
        order.push(i as u32);
        ends.push(links[i].particles.map(node));
    }
    (order, Tree::new(particles, ends, tree, roots))
}

impl ConstraintSet for ChainSet {
    fn id(&self) -> &'static str {
        "chain"
    }

    fn units(&self) -> usize {
        usize::from(!self.links.is_empty())
    }

    fn entities(&self, _unit: usize, visit: &mut dyn FnMut(u32)) {
        self.links.iter().flat_map(|link| link.particles).for_each(visit);
    }

    fn reorder(&mut self, _order: &[u32]) {}

    fn work_len(&self) -> usize {
        self.layout().end()
    }

    fn multiplier_len(&self) -> usize {
        self.links.len()
    }

    fn begin(&self, sweep: &Sweep<'_>) {
        for (i, link) in self.links.iter().enumerate() {
            let x = link.particles.map(|p| sweep.position(p));
            sweep.set_work(self.places()[0] + i, link.constraint.evaluate(0.0, &x).0);
        }
        let at = self.layout();
        (at.way(0)..at.way(self.tree.particles.len())).for_each(|place| sweep.set_work(place, 0.0));
    }

    fn sweep(&self, units: Range<usize>, sweep: &Sweep<'_>) {
        if units.is_empty() {
            return;
        }
        if self.is_newton(sweep) {
            self.solve_by_newton(sweep);
        } else {
            self.solve(sweep);
        }
    }

    fn measure(&self, sweep: &Sweep<'_>, visit: &mut dyn FnMut(Measure)) {
        let step = Step { tree: &self.tree, at: self.layout(), sweep };
        let balanced = !self.is_newton(sweep);
        if !balanced {
            self.linearize(&step);
        }
        for (slot, link) in self.links.iter().enumerate() {
            let x = link.particles.map(|p| sweep.position(p));
            let value = link.constraint.evaluate(0.0, &x).0;
            let residual = self.residual(slot, value, sweep);
            // What the nodes of a link are out of balance counts as well.
            let imbalance = if balanced {
                0.0
            } else {
                step.ends(slot).map(|node| step.imbalance(node).norm()).into_iter().fold(0.0, f64::max)
            };
            visit(Measure {
                index: self.index[slot] as usize,
                value,
                residual: if residual.abs() < imbalance { imbalance } else { residual },
                scale: link.constraint.scale(),
                rigid: link.compliance == 0.0,
            });
        }
    }

    fn multiplier(&self, index: usize, work: &[f64]) -> f64 {
        work[self.slot[index] as usize]
    }

    fn len(&self) -> usize {
        self.links.len()
    }

    fn soft(&self) -> Option<Softness> {
        let slot = self.links.iter().position(|link| link.compliance > 0.0 || link.damping > 0.0)?;
        let Bound { compliance, damping, .. } = self.links[slot];
        Some(Softness { index: self.index[slot] as usize, compliance, damping })
    }

    fn energy(&self, _t: f64, q: &[f64], _orientations: &[f64]) -> (EnergyTerm, f64) {
        let sum = (self.links.iter().filter(|link| link.compliance > 0.0))
            .map(|link| {
                let x = link.particles.map(|p| super::point(q, p));
                let value = link.constraint.evaluate(0.0, &x).0;
                0.5 * value * value / link.compliance
            })
            .sum();
        (EnergyTerm::Elastic, sum)
    }

    fn validate(&self) -> Result<(), (usize, ValueError)> {
        for (slot, link) in self.links.iter().enumerate() {
            (link.constraint.validate())
                .and_then(|()| ValueError::not_negative("compliance", link.compliance))
                .and_then(|()| ValueError::not_negative("damping", link.damping))
                .map_err(|error| (self.index[slot] as usize, error))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(pairs: &[[u32; 2]]) -> Vec<Bound<Distance, 2>> {
        pairs.iter().map(|&ends| Bound::rigid(ends, Distance { rest_length: 1.0 })).collect()
    }

    #[test]
    fn chains_and_trees_have_no_fill_and_a_loop_one_column() {
        let chain = ChainSet::new(&links(&[[0, 1], [1, 2], [2, 3], [3, 4]]));
        assert_eq!(chain.column.len(), 3);
        let star = ChainSet::new(&links(&[[0, 1], [0, 2], [0, 3], [3, 4], [3, 5]]));
        assert!(star.coupling.iter().all(Option::is_some), "a tree has no fill");
        let n = 40_u32;
        let ring: Vec<_> = (0..n).map(|i| [i, (i + 1) % n]).collect();
        let ring = ChainSet::new(&links(&ring));
        assert!(ring.column.len() < 2 * n as usize, "{} entries", ring.column.len());
    }
}
