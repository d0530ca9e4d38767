//! Springs of any material law.

use super::{
    Force, ForceError, ForceInfo, ForceKind, HistoryError, Kinematics, Units, not_negative, point, sample,
};
use crate::energy::{Energy, EnergyTerm, Work, WorkTerm};
use crate::material::{LAWS, LineMaterial, Past, Response};
use crate::particles::{ParticleSystem, ParticleSystemBuilder};
use crate::state::State;
use crate::stencils::check_particles;
use crate::system::{BlockSink, Definiteness, Dependence, MatrixRequest, StencilBound};
use nalgebra::{Matrix3, Vector3};

/// Registry entry.
pub const INFO: ForceInfo = ForceInfo {
    id: "law_spring",
    summary: "springs of any material law, with a dashpot along the spring",
    kind: ForceKind::Internal,
    sample: || scaled(Units::SI),
    scaled,
};

/// One spring of every law, joined to a ring.
fn scaled(units: Units) -> (ParticleSystem, State) {
    let unit = 30.0 * units.force();
    let materials: Vec<LineMaterial> = LAWS.iter().map(|info| (info.sample)(unit).into()).collect();
    let n = materials.len() as u32;
    let springs: Vec<LawSpring> = (0..n)
        .map(|i| LawSpring {
            ends: [i, (i + 1) % n],
            // From compressed to stretched; the last, which are rubber, not so far compressed that their force drowns the others.
            rest_length: (if i < 5 { 0.35 + 0.08 * f64::from(i) } else { 0.25 }) * units.length,
            scale: 1.0 + 0.2 * f64::from(i % 3),
            damping: 0.2 * f64::from(i % 4) * units.damping(),
            material: i as usize,
        })
        .collect();
    sample(n as usize, units, |b: ParticleSystemBuilder| b.force(LawSprings::new(materials, springs)))
}

/// Change of stretch, as a share of it, over which the stencil bounds of a spring hold.
const BOUND_REACH: f64 = 0.05;

/// One spring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LawSpring {
    /// The two particles.
    pub ends: [u32; 2],
    /// Unloaded length in m, positive.
    pub rest_length: f64,
    /// What makes tensions of the law N: the unloaded area in m² when its numbers are stresses, 1 when they are forces; positive.
    pub scale: f64,
    /// Dashpot along the spring in N·s/m, not negative.
    pub damping: f64,
    /// Index of its material.
    pub material: usize,
}

/// A family of springs.
///
/// The force on the ends is `scale · tension(λ)` along the spring, λ = length / rest length. Materials that creep, slip or break keep
/// their history in [`State::internal`]; see [`LineMaterial`] for how it advances.
///
/// At coincident end points a spring has no direction: its force is zero by symmetry, and its block is a third of the stiffness there.
///
/// # Limitations
/// Bounds on the stiffness hold while no stretch changes by more than a twentieth. Every spring is evaluated alone: for linear springs
/// [`super::springs::Springs`] is several times as fast.
#[derive(Clone, Debug, PartialEq)]
pub struct LawSprings {
    materials: Vec<LineMaterial>,
    springs: Vec<LawSpring>,
    /// Where the history of each spring begins, and the end of the last.
    history: Vec<usize>,
}

/// A spring at some state.
struct Stretched {
    /// From the first end to the second, m.
    d: Vector3<f64>,
    length: f64,
    response: Response,
}

impl LawSprings {
    /// Springs in the order given.
    pub fn new(
        materials: impl IntoIterator<Item = LineMaterial>,
        springs: impl IntoIterator<Item = LawSpring>,
    ) -> Self {
        let (materials, springs): (Vec<_>, Vec<_>) =
            (materials.into_iter().collect(), springs.into_iter().collect());
        let mut history = vec![0];
        for spring in &springs {
            let count = materials.get(spring.material).map_or(0, LineMaterial::history_count);
            history.push(history[history.len() - 1] + count);
        }
        Self { materials, springs, history }
    }

    /// The springs in order.
    pub fn springs(&self) -> &[LawSpring] {
        &self.springs
    }

    /// The material of spring `index`.
    ///
    /// # Panics
    /// When `index` is out of range.
    pub fn material(&self, index: usize) -> &LineMaterial {
        &self.materials[self.springs[index].material]
    }

    /// Number of history values of all springs.
    pub fn history_count(&self) -> usize {
        self.history[self.springs.len()]
    }

    /// Length over unloaded length of spring `index` at positions `q`.
    pub fn stretch(&self, index: usize, q: &[f64]) -> f64 {
        let LawSpring { ends: [a, b], rest_length, .. } = self.springs[index];
        (point(q, b) - point(q, a)).norm() / rest_length
    }

    /// Tension in N of spring `index`, dashpot not included, at positions `q`; `history` is that of the whole family, empty at the
    /// start of a run.
    pub fn tension(&self, index: usize, q: &[f64], history: &[f64]) -> f64 {
        let stretch = self.stretch(index, q);
        let past = (!history.is_empty()).then(|| Past {
            stretch,
            history: &history[self.history[index]..self.history[index + 1]],
            elapsed: 0.0,
        });
        self.springs[index].scale * self.material(index).respond(past, stretch).tension
    }

    /// Whether spring `index` is broken.
    pub fn is_broken(&self, index: usize, history: &[f64]) -> bool {
        !history.is_empty()
            && self.material(index).is_broken(&history[self.history[index]..self.history[index + 1]])
    }

    /// History of springs at `q` at the start of a run.
    pub fn initial_history(&self, q: &[f64]) -> Vec<f64> {
        let mut history = vec![0.0; self.history[self.springs.len()]];
        self.begin_history(q, &mut history);
        history
    }

    fn past<'a>(&self, index: usize, at: &Kinematics<'a>) -> Option<Past<'a>> {
        let start = at.start?;
        Some(Past {
            stretch: self.stretch(index, start.q),
            history: &start.internal[self.history[index]..self.history[index + 1]],
            elapsed: at.t - start.t,
        })
    }

    fn stretched(&self, index: usize, at: &Kinematics<'_>) -> Stretched {
        let spring = &self.springs[index];
        let [a, b] = spring.ends;
        let d = point(at.q, b) - point(at.q, a);
        let length = d.norm();
        let material = &self.materials[spring.material];
        let past = if material.history_count() > 0 { self.past(index, at) } else { None };
        let mut response = Response::default();
        if length > 0.0 {
            response = material.respond(past, length / spring.rest_length);
            for value in [&mut response.tension, &mut response.tangent, &mut response.energy] {
                *value *= spring.scale;
            }
        }
        Stretched { d, length, response }
    }

    /// The block `α I + β n nᵀ` of `request`, see [`super::springs::SpringPotential::block`].
    fn block(&self, index: usize, at: &Kinematics<'_>, request: MatrixRequest<'_>) -> Matrix3<f64> {
        let spring = &self.springs[index];
        let Stretched { d, length, response } = self.stretched(index, at);
        if length == 0.0 {
            let material = &self.materials[spring.material];
            let k = spring.scale * material.respond(None, 1.0).tangent / spring.rest_length;
            return Matrix3::from_diagonal_element(request.stiffness * k / 3.0);
        }
        let along = response.tangent / spring.rest_length;
        let mut tension = response.tension;
        if let Some(before) = request.before {
            let [a, b] = spring.ends;
            let d_before = point(before, b) - point(before, a);
            let l_before = d_before.norm();
            if l_before > 0.0 {
                let earlier = self.stretched(index, &Kinematics { q: before, ..*at }).response;
                let n = d_before / l_before;
                let w = point(at.v, b) - point(at.v, a);
                let turned = n.dot(&w) + (w.dot(&d) - n.dot(&w) * n.dot(&d)) / l_before;
                tension = earlier.tension
                    + earlier.tangent / spring.rest_length * (n.dot(&d) - l_before)
                    + spring.damping * turned;
            }
        }
        let across = tension / length;
        let (along, across) = match request.definiteness {
            Definiteness::Exact => (along, across),
            Definiteness::Projected | Definiteness::Reduced => (along.max(0.0), across.max(0.0)),
        };
        let n = d / length;
        let alpha = request.stiffness * across;
        let beta = request.stiffness * (along - across) + request.damping * spring.damping;
        n * n.transpose() * beta + Matrix3::from_diagonal_element(alpha)
    }
}

impl Force for LawSprings {
    fn id(&self) -> &'static str {
        INFO.id
    }

    fn dependence(&self) -> Dependence {
        Dependence { time: false, velocity: self.springs.iter().any(|spring| spring.damping > 0.0) }
    }

    fn add_force(&self, at: Kinematics<'_>, f: &mut [f64]) {
        for (index, spring) in self.springs.iter().enumerate() {
            let Stretched { d, length, response } = self.stretched(index, &at);
            if length == 0.0 {
                continue;
            }
            let [a, b] = spring.ends;
            let rate = (point(at.v, b) - point(at.v, a)).dot(&d) / length;
            let pull = d * ((response.tension + spring.damping * rate) / length);
            let [a, b] = spring.ends.map(|end| 3 * end as usize);
            for k in 0..3 {
                f[a + k] += pull[k];
                f[b + k] -= pull[k];
            }
        }
    }

    fn add_energy(&self, at: Kinematics<'_>, energy: &mut Energy) {
        let mut sum = 0.0;
        for (index, spring) in self.springs.iter().enumerate() {
            sum += spring.rest_length * self.stretched(index, &at).response.energy;
        }
        energy.add(EnergyTerm::Elastic, sum);
    }

    fn add_power(&self, at: Kinematics<'_>, velocity: &[f64], power: &mut Work) {
        let (mut elastic, mut dashpot) = (0.0, 0.0);
        for (index, spring) in self.springs.iter().enumerate() {
            let Stretched { d, length, response } = self.stretched(index, &at);
            if length == 0.0 {
                continue;
            }
            let [a, b] = spring.ends;
            let closing = -(point(velocity, b) - point(velocity, a)).dot(&d) / length;
            let rate = (point(at.v, b) - point(at.v, a)).dot(&d) / length;
            elastic += response.tension * closing;
            dashpot += spring.damping * rate * closing;
        }
        power.add_term(WorkTerm::Conservative, elastic);
        power.add_term(WorkTerm::Dashpot, dashpot);
    }

    fn stiffness_matrix(&self, at: Kinematics<'_>, definiteness: Definiteness, sink: &mut dyn BlockSink) {
        self.weighted_matrix(at, MatrixRequest::stiffness(definiteness), sink);
    }

    fn damping_matrix(&self, at: Kinematics<'_>, sink: &mut dyn BlockSink) {
        self.weighted_matrix(at, MatrixRequest::damping(), sink);
    }

    fn weighted_matrix(&self, at: Kinematics<'_>, request: MatrixRequest<'_>, sink: &mut dyn BlockSink) {
        for (index, spring) in self.springs.iter().enumerate() {
            let [a, b] = spring.ends.map(|end| end as usize);
            sink.add_pair(a, b, &self.block(index, &at, request));
        }
    }

    fn damping_stiffness(&self, at: Kinematics<'_>, emit: &mut dyn FnMut(usize, usize, &Matrix3<f64>)) {
        for spring in &self.springs {
            let [a, b] = spring.ends;
            let d = point(at.q, b) - point(at.q, a);
            let l = d.norm();
            let block = if l > 0.0 {
                let (n, w) = (d / l, point(at.v, b) - point(at.v, a));
                let across = Matrix3::identity() - n * n.transpose();
                (across * n.dot(&w) + n * (across * w).transpose()) * (spring.damping / l)
            } else {
                Matrix3::zeros()
            };
            let [a, b] = spring.ends.map(|end| end as usize);
            emit(a, a, &block);
            emit(b, b, &block);
            emit(a, b, &-block);
            emit(b, a, &-block);
        }
    }

    fn stencil_bounds(&self, q: &[f64], _mass: &[f64], emit: &mut dyn FnMut(StencilBound<'_>)) {
        for (index, spring) in self.springs.iter().enumerate() {
            let material = &self.materials[spring.material];
            // A spring at zero length is bounded where it is a hundredth of its own.
            let stretch = self.stretch(index, q).max(0.01);
            let reach = BOUND_REACH * stretch;
            let (low, high) = (stretch - reach, stretch + reach);
            let along = material.tangent_bound(low, high);
            // Branches may carry up to their moduli times the whole strain, slip elements their slip tension.
            let beside = material.branches.iter().map(|branch| branch.modulus).sum::<f64>()
                * (high - 1.0).abs().max((1.0 - low).abs())
                + material.slips.iter().map(|slip| slip.slip).sum::<f64>();
            let tension = material.elastic(stretch).tension.abs() + along * reach + beside;
            let stiffness = along.max(tension / low) * spring.scale / spring.rest_length;
            let particles = spring.ends.map(|end| end as usize);
            let weights = &[1.0, -1.0];
            emit(StencilBound {
                force: INFO.id,
                index,
                particles: &particles,
                weights,
                stiffness,
                damping: spring.damping,
            });
        }
    }

    fn internal_count(&self) -> usize {
        self.history[self.springs.len()]
    }

    fn remembers(&self) -> bool {
        self.springs.iter().any(|spring| self.materials[spring.material].remembers())
    }

    fn begin_history(&self, q: &[f64], internal: &mut [f64]) {
        for index in 0..self.springs.len() {
            let own = &mut internal[self.history[index]..self.history[index + 1]];
            self.material(index).initial_history(self.stretch(index, q), own);
        }
    }

    fn advance_internal(&self, at: Kinematics<'_>, internal: &mut [f64]) -> Result<(), HistoryError> {
        for (index, spring) in self.springs.iter().enumerate() {
            let material = &self.materials[spring.material];
            if !material.remembers() {
                continue;
            }
            let stretch = self.stretch(index, at.q);
            let (low, high) = material.law.axial().known_range();
            let past = self.past(index, &at);
            let broken = past.is_some_and(|past| material.is_broken(past.history));
            let known = stretch >= low && stretch <= high;
            if !broken && !known {
                return Err(HistoryError::OutOfRange {
                    force: INFO.id,
                    index,
                    strain: stretch - 1.0,
                    low: low - 1.0,
                    high: high - 1.0,
                });
            }
            if let Some(past) = past {
                material.advance(past, stretch, &mut internal[self.history[index]..self.history[index + 1]]);
            }
        }
        Ok(())
    }

    fn inelastic_loss(&self, at: Kinematics<'_>) -> f64 {
        let of = |(index, spring): (usize, &LawSpring)| {
            let material = &self.materials[spring.material];
            let past = if material.history_count() > 0 { self.past(index, &at) } else { None };
            past.map_or(0.0, |past| {
                spring.scale * spring.rest_length * material.loss(past, self.stretch(index, at.q))
            })
        };
        self.springs.iter().enumerate().map(of).sum()
    }

    fn broken(&self, internal: &[f64], report: &mut dyn FnMut(usize)) {
        for index in 0..self.springs.len() {
            if self.is_broken(index, internal) {
                report(index);
            }
        }
    }

    fn validate(&self, particle_count: usize) -> Result<(), ForceError> {
        let force = INFO.id;
        for (index, material) in self.materials.iter().enumerate() {
            material.validate().map_err(|source| ForceError::Material { force, index, source })?;
        }
        let positive = |index, field, value: f64| {
            if value.is_finite() && value > 0.0 {
                return Ok(());
            }
            Err(ForceError::Value { force, index, field, value, requirement: "positive and finite" })
        };
        for (index, spring) in self.springs.iter().enumerate() {
            check_particles(force, index, &spring.ends, particle_count)?;
            positive(index, "rest_length", spring.rest_length)?;
            positive(index, "scale", spring.scale)?;
            not_negative(force, index, "damping", spring.damping)?;
            if spring.material >= self.materials.len() {
                let (field, value) = ("material", spring.material as f64);
                return Err(ForceError::Value {
                    force,
                    index,
                    field,
                    value,
                    requirement: "an index of the materials",
                });
            }
        }
        Ok(())
    }
}
