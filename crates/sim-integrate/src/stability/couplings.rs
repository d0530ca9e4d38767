//! Non-negative scalar bounds of `M^-½ K M^-½` and `M^-½ D M^-½`, particle by particle.
//!
//! With `y_i = |x_i|`, `xᵀ K x ≤ yᵀ N y` for the matrix `N` of block norms (or of stencil bounds), and for any positive vector `y`
//! the largest eigenvalue of a non-negative `N` is at most `max_i (N y)_i / y_i` (Collatz 1942). Power steps improve `y`; the bound is
//! guaranteed at every one.

use super::Condition;
use sim_core::{ExplicitSystem, StencilBound};

/// A model whose bounds make no sense.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CouplingsError {
    /// A bound is NaN, infinite or negative.
    #[error(
        "{force} {index}: stiffness bound {stiffness} N/m, damping bound {damping} N·s/m; both must be finite and not negative"
    )]
    Bound {
        /// Force id.
        force: &'static str,
        /// Stencil index.
        index: usize,
        /// Stiffness bound.
        stiffness: f64,
        /// Damping bound.
        damping: f64,
    },
    /// A block is NaN or infinite.
    #[error("the {matrix} matrix has a value that is not finite at particles {row}, {col}")]
    Matrix {
        /// `stiffness` or `damping`.
        matrix: &'static str,
        /// Block row.
        row: usize,
        /// Block column.
        col: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Stencil {
    force: &'static str,
    index: usize,
    stiffness: f64,
    damping: f64,
    /// Range in `members`.
    first: u32,
    count: u32,
}

/// One bound and what sets it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub dt: f64,
    pub particle: Option<usize>,
    pub stencil: Option<(&'static str, usize)>,
}

/// Number of power steps; ten bring the bound within a few per cent of the exact limit on irregular networks.
const POWER_STEPS: usize = 10;

/// Bounds of all stencils of a model, or of its assembled blocks. Buffers are reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Couplings {
    inverse_mass: Vec<f64>,
    stencils: Vec<Stencil>,
    /// Free particles of each stencil with their |weight|.
    members: Vec<(u32, f64)>,
    /// Diagonal of the bounds of K and D.
    diagonal: Vec<[f64; 2]>,
    /// Off-diagonal entries of the bounds of K and D, once per pair.
    pairs: Vec<(u32, u32, [f64; 2])>,
    y: Vec<f64>,
    ny: Vec<[f64; 2]>,
    /// Whether gathering found anything else than the last time.
    changed: bool,
}

impl Couplings {
    /// Couplings given entry by entry, mass-scaled; used for block norms.
    pub fn from_entries(
        inverse_mass: Vec<f64>,
        diagonal: Vec<[f64; 2]>,
        pairs: Vec<(u32, u32, [f64; 2])>,
    ) -> Self {
        Self { inverse_mass, diagonal, pairs, ..Self::default() }
    }

    /// Collects the bounds of all stencils near `q`; returns whether they differ from the last time.
    pub fn gather<S: ExplicitSystem + ?Sized>(
        &mut self,
        system: &S,
        q: &[f64],
    ) -> Result<bool, CouplingsError> {
        let w = system.inverse_mass();
        self.changed = self.inverse_mass != w;
        if self.changed {
            self.inverse_mass.clear();
            self.inverse_mass.extend_from_slice(w);
        }
        let mut at = 0;
        let mut members = 0;
        let mut error = None;
        system.stencil_bounds(q, &mut |bound| {
            let in_range = |x: f64| x.is_finite() && x >= 0.0;
            if !(in_range(bound.stiffness) && in_range(bound.damping)) {
                error.get_or_insert(CouplingsError::Bound {
                    force: bound.force,
                    index: bound.index,
                    stiffness: bound.stiffness,
                    damping: bound.damping,
                });
                return;
            }
            self.take(&bound, at, &mut members);
            at += 1;
        });
        if let Some(error) = error {
            self.stencils.clear();
            return Err(error);
        }
        if at != self.stencils.len() {
            self.changed = true;
            self.stencils.truncate(at);
        }
        self.members.truncate(members);
        if self.changed {
            self.build();
        }
        Ok(self.changed)
    }

    fn take(&mut self, bound: &StencilBound<'_>, at: usize, members: &mut usize) {
        let first = *members;
        for (&particle, &weight) in bound.particles.iter().zip(bound.weights) {
            if self.inverse_mass[particle] > 0.0 {
                let member = (particle as u32, weight.abs());
                if *members == self.members.len() {
                    self.members.push(member);
                    self.changed = true;
                } else if self.members[*members] != member {
                    self.members[*members] = member;
                    self.changed = true;
                }
                *members += 1;
            }
        }
        let stencil = Stencil {
            force: bound.force,
            index: bound.index,
            stiffness: bound.stiffness,
            damping: bound.damping,
            first: first as u32,
            count: (*members - first) as u32,
        };
        if at == self.stencils.len() {
            self.stencils.push(stencil);
            self.changed = true;
        } else if self.stencils[at] != stencil {
            self.stencils[at] = stencil;
            self.changed = true;
        }
    }

    fn build(&mut self) {
        self.diagonal.clear();
        self.diagonal.resize(self.inverse_mass.len(), [0.0; 2]);
        self.pairs.clear();
        for stencil in &self.stencils {
            let members = &self.members[stencil.first as usize..(stencil.first + stencil.count) as usize];
            for (k, &(i, wi)) in members.iter().enumerate() {
                let scale = wi * wi * self.inverse_mass[i as usize];
                self.diagonal[i as usize][0] += stencil.stiffness * scale;
                self.diagonal[i as usize][1] += stencil.damping * scale;
                for &(j, wj) in &members[k + 1..] {
                    let scale =
                        wi * wj * (self.inverse_mass[i as usize] * self.inverse_mass[j as usize]).sqrt();
                    self.pairs.push((i, j, [stencil.stiffness * scale, stencil.damping * scale]));
                }
            }
        }
    }

    /// Whether any damping is present.
    pub fn is_damped(&self) -> bool {
        self.diagonal.iter().any(|entry| entry[1] > 0.0)
    }

    /// Smallest step over single stencils, each with the share of its particles' masses that is proportional to its own part of
    /// `stiffness dt² K + damping dt D`. Any split that sums to the mass is safe (Irons & Treharne 1971).
    pub fn element_bound(&self, condition: &Condition) -> Bound {
        let mut bound = Bound { dt: f64::INFINITY, particle: None, stencil: None };
        for stencil in &self.stencils {
            // A stencil that does not enter this condition gets no mass and needs none.
            if condition.stiffness * stencil.stiffness + condition.damping * stencil.damping <= 0.0 {
                continue;
            }
            let members = &self.members[stencil.first as usize..(stencil.first + stencil.count) as usize];
            let (mut k, mut d) = (0.0, 0.0);
            for &(i, _) in members.iter().filter(|member| member.1 > 0.0) {
                k += self.diagonal[i as usize][0];
                d += self.diagonal[i as usize][1];
            }
            let dt = condition.largest_dt(k, d, 1.0);
            if dt < bound.dt {
                let softest = members.first().map(|member| member.0 as usize);
                bound = Bound { dt, particle: softest, stencil: Some((stencil.force, stencil.index)) };
            }
        }
        bound
    }

    /// Largest step over power steps of the smallest step over particles.
    pub fn power_bound(&mut self, condition: &Condition) -> Bound {
        let n = self.diagonal.len();
        self.y.clear();
        self.y.resize(n, 1.0);
        let mut best = Bound { dt: 0.0, particle: None, stencil: None };
        for _ in 0..=POWER_STEPS {
            self.apply();
            let mut dt = f64::INFINITY;
            let mut particle = None;
            for (i, (&y, &[k, d])) in self.y.iter().zip(&self.ny).enumerate() {
                let row = condition.largest_dt(k, d, y);
                if row < dt {
                    dt = row;
                    particle = Some(i);
                }
            }
            if dt > best.dt {
                best = Bound { dt, particle, stencil: None };
            }
            if !dt.is_finite() {
                break;
            }
            let mut largest = 0.0_f64;
            for (y, &[k, d]) in self.y.iter_mut().zip(&self.ny) {
                // A thousandth of the vector itself keeps rows without couplings positive.
                *y = condition.stiffness * dt * dt * k
                    + condition.damping * dt * d
                    + 1e-3 * condition.limit * *y;
                largest = largest.max(*y);
            }
            self.y.iter_mut().for_each(|y| *y /= largest);
        }
        best
    }

    fn apply(&mut self) {
        self.ny.clear();
        self.ny.extend(self.diagonal.iter().zip(&self.y).map(|(entry, y)| entry.map(|x| x * y)));
        for &(i, j, [k, d]) in &self.pairs {
            let (i, j) = (i as usize, j as usize);
            let (yi, yj) = (self.y[i], self.y[j]);
            self.ny[i][0] += k * yj;
            self.ny[i][1] += d * yj;
            self.ny[j][0] += k * yi;
            self.ny[j][1] += d * yi;
        }
    }

    /// The stencil at `particle` with the largest part in the condition at step `dt`.
    pub fn stiffest_stencil(
        &self,
        condition: &Condition,
        dt: f64,
        particle: usize,
    ) -> Option<(&'static str, usize)> {
        let mut best = (0.0, None);
        for stencil in &self.stencils {
            let members = &self.members[stencil.first as usize..(stencil.first + stencil.count) as usize];
            if let Some(&(_, weight)) = members.iter().find(|member| member.0 as usize == particle) {
                let part = (condition.stiffness * dt * dt * stencil.stiffness
                    + condition.damping * dt * stencil.damping)
                    * weight
                    * weight;
                if part > best.0 {
                    best = (part, Some((stencil.force, stencil.index)));
                }
            }
        }
        best.1
    }
}
