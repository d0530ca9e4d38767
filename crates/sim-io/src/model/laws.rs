//! Springs of a material law: which of a model's springs they are, and what they do there.

use super::Layout;
use super::lay::Laid;
use crate::scene::law::{LawSpec, Measure};
use serde::{Deserialize, Serialize};
use sim_core::force::law_springs::{LawSpring, LawSprings};
use sim_core::force::springs::{Spring, Springs};
use sim_core::material::LineMaterial;
use sim_core::{ParticleSystem, ParticleSystemBuilder, State, System};

/// Laws of a part by itself.
#[derive(Clone, Debug, Default)]
pub(super) struct PartLaws {
    pub materials: Vec<LineMaterial>,
    /// Per spring of the part its material and what makes its tensions N; empty when no spring has a law.
    pub springs: Vec<Option<(usize, f64)>>,
}

impl PartLaws {
    /// One law for all of `count` springs.
    pub fn of_line(spec: &LawSpec, count: usize, area: Option<f64>) -> Self {
        let material = spec.material().expect("checked scenes have possible laws");
        Self { materials: vec![material], springs: vec![Some((0, scale(spec, area))); count] }
    }

    /// Adds the law of the next spring.
    pub fn push(&mut self, spec: Option<&LawSpec>) {
        self.springs.push(spec.map(|spec| {
            self.materials.push(spec.material().expect("checked scenes have possible laws"));
            (self.materials.len() - 1, scale(spec, None))
        }));
    }
}

fn scale(spec: &LawSpec, area: Option<f64>) -> f64 {
    match spec.measure {
        Measure::Force => 1.0,
        Measure::Stress => area.expect("checked scenes give a section with stresses"),
    }
}

/// Axial stiffness in N that stands for a law where only lines without one are asked for theirs.
pub(super) fn nominal_stiffness(spec: &LawSpec, area: Option<f64>) -> f64 {
    let material = spec.material().expect("checked scenes have possible laws");
    material.tangent_bound(1.0, 1.1) * scale(spec, area)
}

/// Which springs of a model have laws.
#[derive(Debug)]
pub struct LawLayout {
    /// The springs with laws, as the force has them.
    pub springs: LawSprings,
    /// Index among them of every spring of the model that has a law.
    of: Vec<Option<usize>>,
    /// Which spring of the model each of them is.
    back: Vec<usize>,
    /// Which spring of the model each of the others is.
    linear: Vec<usize>,
}

impl LawLayout {
    /// The laws of a model; none when no spring has one.
    pub(super) fn new(all: &[Spring], laid: &[Laid]) -> Option<Self> {
        let (mut materials, mut springs) = (Vec::new(), Vec::new());
        let (mut of, mut back, mut linear) = (Vec::new(), Vec::new(), Vec::new());
        for part in laid {
            let first = materials.len();
            materials.extend(part.laws.materials.iter().cloned());
            for local in 0..part.springs.len() {
                let index = of.len();
                let Some((material, scale)) = part.laws.springs.get(local).copied().flatten() else {
                    of.push(None);
                    linear.push(index);
                    continue;
                };
                let Spring { ends, rest_length, damping, .. } = all[index];
                of.push(Some(springs.len()));
                back.push(index);
                springs.push(LawSpring { ends, rest_length, scale, damping, material: first + material });
            }
        }
        (!springs.is_empty()).then(|| Self { springs: LawSprings::new(materials, springs), of, back, linear })
    }
}

impl Layout {
    /// Adds the springs to the system: those with laws first, so that their history stands at the front of the state.
    pub(super) fn add_springs(&self, mut builder: ParticleSystemBuilder) -> ParticleSystemBuilder {
        let Some(laws) = &self.laws else {
            return if self.springs.is_empty() { builder } else { builder.force(self.springs.clone()) };
        };
        builder = builder.force(laws.springs.clone());
        if !laws.linear.is_empty() {
            builder = builder.force(Springs::new(laws.linear.iter().map(|&index| self.springs.get(index))));
        }
        builder
    }

    /// Whether a spring follows a law.
    pub(crate) fn has_law(&self, spring: usize) -> bool {
        self.laws.as_ref().is_some_and(|laws| laws.of[spring].is_some())
    }

    /// Which spring of the model a stencil of a force is.
    pub(crate) fn spring_of_stencil(&self, force: &str, stencil: usize) -> Option<usize> {
        match (force, &self.laws) {
            ("spring", None) => Some(stencil),
            ("spring", Some(laws)) => laws.linear.get(stencil).copied(),
            ("law_spring", Some(laws)) => laws.back.get(stencil).copied(),
            _ => None,
        }
    }

    /// Tension in N of a spring, dashpot not included.
    pub(crate) fn tension(&self, spring: usize, state: &State) -> f64 {
        let law = self.laws.as_ref().and_then(|laws| Some((laws, laws.of[spring]?)));
        match law {
            Some((laws, index)) => {
                let history = &state.internal[..laws.springs.history_count().min(state.internal.len())];
                laws.springs.tension(index, &state.q, history)
            }
            None => self.springs.tension(spring, &state.q),
        }
    }

    /// Largest strain and tension, each with its spring of the part, and elastic energy of a part with laws at positions `q`.
    pub(super) fn law_stress(&self, part: usize, q: &[f64]) -> Option<LawStress> {
        let laws = self.laws.as_ref()?;
        let range = self.parts[part].springs.clone();
        let mut stress = LawStress::default();
        let mut any = false;
        for spring in range.clone() {
            let Some(index) = laws.of[spring] else { continue };
            any = true;
            let (stretch, tension) = (laws.springs.stretch(index, q), laws.springs.tension(index, q, &[]));
            let local = spring - range.start;
            if (stretch - 1.0).abs() > stress.strain.0 {
                stress.strain = ((stretch - 1.0).abs(), local);
            }
            if tension.abs() > stress.tension.0.abs() {
                stress.tension = (tension, local);
            }
            let own = &laws.springs.springs()[index];
            stress.energy +=
                own.scale * own.rest_length * laws.springs.material(index).respond(None, stretch).energy;
        }
        any.then_some(stress)
    }
}

/// Stress of a part at the start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LawStress {
    pub strain: (f64, usize),
    pub tension: (f64, usize),
    pub energy: f64,
}

/// Gives a state the history that its parts begin with.
pub(crate) fn begin_history(system: &ParticleSystem, state: &mut State) {
    state.internal.resize(system.internal_count(), 0.0);
    system.begin_history(&state.q, &mut state.internal);
}

/// What breaks during a run: who, when, at which strain.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Breakages {
    known: Vec<usize>,
    sentences: Vec<String>,
    more: usize,
}

/// Breakages told one by one; of further ones the number.
const TOLD: usize = 20;

impl Breakages {
    /// Looks for what has broken since the last call.
    pub fn look(&mut self, system: &ParticleSystem, layout: &Layout, state: &State) {
        if layout.laws.is_none() {
            return;
        }
        let Self { known, sentences, more } = self;
        system.broken(&state.internal[..system.internal_count()], &mut |force, stencil| {
            let Some(spring) = layout.spring_of_stencil(force, stencil) else { return };
            let Err(place) = known.binary_search(&spring) else { return };
            known.insert(place, spring);
            if sentences.len() == TOLD {
                *more += 1;
                return;
            }
            let owner = layout.spring_owner(spring);
            let name =
                owner.map_or_else(String::new, |(part, local)| format!("spring {local} of part {}", part.id));
            let rest = layout.springs.get(spring).rest_length;
            let strain = layout.springs.length(spring, &state.q) / rest - 1.0;
            sentences.push(format!("{name} broke at t = {:.6} s, at a strain of {strain:.4}", state.t));
        });
    }

    /// What to tell.
    pub fn sentences(mut self) -> Vec<String> {
        if self.more > 0 {
            self.sentences.push(format!("{} more springs broke", self.more));
        }
        self.sentences
    }
}
