//! Elements of sim-fem: every entry of the registry through the studies of elements.

use super::area_d::CASES;
use super::catalogue::{Job, Outcome, Scope};
use nalgebra::{DMatrix, DVector};
use sim_fem::elements::{ELEMENTS, Element, ElementInfo, LocalMatrix, MassKind};
use sim_verify::Claim;
use sim_verify::judge::element::{ElementFacts, ElementLaw, judge_element};
use std::cell::Cell;

mod alike;
pub(super) mod mutants;

/// An element of the registry as the studies see it.
struct Judged<'a> {
    element: &'a dyn Element,
    facts: ElementFacts,
}

impl<'a> Judged<'a> {
    /// `element` in the place and state of the registry's sample.
    fn new(info: &ElementInfo, element: &'a dyn Element) -> Self {
        let sample = (info.sample)();
        let facts = ElementFacts {
            nodes: sample.x,
            rotations: element.has_rotations(),
            sample: sample.u,
            mass: sample.mass,
            linear: element.is_linear(),
            viscous: element.is_viscous(),
            weighs: info.carries_weight,
            planar: info.planar,
            grounded: info.grounded,
            finite_rotations: info.finite_rotations,
        };
        Self { element, facts }
    }

    fn vector(&self, fill: impl FnOnce(&mut [f64])) -> DVector<f64> {
        let mut values = DVector::from_element(self.facts.sample.len(), f64::NAN);
        fill(values.as_mut_slice());
        values
    }

    fn matrix(&self, fill: impl FnOnce(&mut LocalMatrix)) -> DMatrix<f64> {
        let mut matrix = LocalMatrix::zeros(self.facts.sample.len());
        fill(&mut matrix);
        DMatrix::from_fn(matrix.size(), matrix.size(), |i, j| matrix.get(i, j))
    }
}

impl ElementLaw for Judged<'_> {
    fn facts(&self) -> &ElementFacts {
        &self.facts
    }

    fn energy(&self, u: &[f64]) -> f64 {
        self.element.strain_energy(&self.facts.nodes, u)
    }

    fn force(&self, u: &[f64]) -> DVector<f64> {
        self.vector(|force| self.element.internal_force(&self.facts.nodes, u, force))
    }

    fn tangent(&self, u: &[f64]) -> DMatrix<f64> {
        self.matrix(|matrix| self.element.tangent(&self.facts.nodes, u, matrix))
    }

    fn geometric_stiffness(&self, u: &[f64]) -> DMatrix<f64> {
        self.matrix(|matrix| self.element.geometric_stiffness(&self.facts.nodes, u, matrix))
    }

    fn viscous_force(&self, u: &[f64], v: &[f64]) -> DVector<f64> {
        self.vector(|force| self.element.viscous_force(&self.facts.nodes, u, v, force))
    }

    fn damping(&self, u: &[f64], v: &[f64]) -> DMatrix<f64> {
        self.matrix(|matrix| self.element.damping_matrix(&self.facts.nodes, u, v, matrix))
    }

    fn mass_matrix(&self, lumped: bool) -> DMatrix<f64> {
        let kind = if lumped { MassKind::Lumped } else { MassKind::Consistent };
        self.matrix(|matrix| self.element.mass_matrix(&self.facts.nodes, kind, matrix))
    }

    fn total_mass(&self) -> f64 {
        self.element.total_mass(&self.facts.nodes)
    }

    fn axial_force(&self, u: &[f64]) -> f64 {
        self.element.member_result(&self.facts.nodes, u).axial_force
    }
}

pub(super) fn jobs(_: Scope) -> Vec<Job> {
    let mut jobs: Vec<Job> = ELEMENTS
        .iter()
        .map(|info| {
            Job::new(format!("element/{}", info.id), |_| {
                let sample = (info.sample)();
                judge_element(&format!("element/{}", info.id), &Judged::new(info, &*sample.element)).into()
            })
        })
        .collect();
    jobs.push(Job::new("element/alike", |_| {
        let failed =
            |error| Claim::no_complaint("element/alike", "it can be judged", vec![], "").because(error);
        alike::claims().unwrap_or_else(|error| vec![failed(error)]).into()
    }));
    jobs.push(Job::new("registry", |_| registry()));
    jobs
}

/// Every element has an id of its own, is what it is listed as, and carries a reference case.
fn registry() -> Outcome {
    let mut complaints = Vec::new();
    for info in ELEMENTS {
        let sample = (info.sample)();
        let (id, element) = (info.id, &sample.element);
        if ELEMENTS.iter().filter(|other| other.id == id).count() != 1 {
            complaints.push(format!("{id} is listed twice"));
        }
        if element.id() != id || info.summary.is_empty() {
            complaints.push(format!("{id} is listed as another or without a summary"));
        }
        let (nodes, dofs) = (element.node_count(), element.dof_count());
        if (sample.x.len(), sample.u.len()) != (nodes, dofs) || element.validate(&sample.x).is_err() {
            complaints.push(format!("{id} refuses its own sample"));
        }
        if nodes == 2 && element.validate(&[sample.x[0], sample.x[0]]).is_ok() {
            complaints.push(format!("{id} accepts a length of zero"));
        }
        // What the case measures is judged in its own rows.
        let used = Cell::new(false);
        let note = |element: Box<dyn Element>| {
            used.set(used.get() || element.id() == id);
            element
        };
        let first = mutants::cases_of(id).first().and_then(|id| CASES.iter().find(|(other, _)| other == id));
        if let Some((id, measure)) = first
            && let Ok(case) = sim_verify::reference::case(id)
        {
            drop(measure(case, &note));
        }
        if !used.get() {
            complaints.push(format!("{id} is part of no reference case"));
        }
    }
    let what = "ids are unique, samples fit, no length is zero, and a reference case rests on every element";
    vec![Claim::no_complaint("registry", what, complaints, "registry of elements")].into()
}
