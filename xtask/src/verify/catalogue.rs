//! What is verified: one file per crate or topic, one line each in [`SECTIONS`].

use super::charts::Chart;
use super::{
    area_a, area_b, area_c, area_d, area_e, area_f, certificate, constraints, elements, forces, limits,
    links, mutants, solvers, steppers, tunnelling,
};
use sim_verify::{Claim, OrderReport};

/// How much to do.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    /// The short run.
    pub quick: bool,
}

/// What a job found.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Verdicts.
    pub claims: Vec<Claim>,
    /// Charts.
    pub charts: Vec<Chart>,
    /// Errors by subject, problem and claimed order.
    pub orders: Vec<(String, &'static str, u32, OrderReport)>,
    /// Remarks for the document, in Markdown.
    pub notes: Vec<String>,
    /// Scene files: name and text.
    pub scenes: Vec<(String, String)>,
}

impl From<Vec<Claim>> for Outcome {
    fn from(claims: Vec<Claim>) -> Self {
        Self { claims, ..Self::default() }
    }
}

/// One piece of work.
pub struct Job {
    /// First parts of the ids of its claims.
    pub id: String,
    /// Carries it out.
    pub run: Box<dyn Fn(Scope) -> Outcome + Send + Sync>,
}

impl Job {
    /// A job from a closure.
    pub fn new(id: impl Into<String>, run: impl Fn(Scope) -> Outcome + Send + Sync + 'static) -> Self {
        Self { id: id.into(), run: Box::new(run) }
    }
}

/// The jobs of a crate.
pub struct Section {
    /// The crate whose claims they are.
    pub crate_name: &'static str,
    /// Lists its jobs.
    pub jobs: fn(Scope) -> Vec<Job>,
}

/// Every section. A new crate adds a file beside this one and a line here.
pub const SECTIONS: &[Section] = &[
    Section { crate_name: "sim-core", jobs: forces::jobs },
    Section { crate_name: "sim-core", jobs: area_b::jobs },
    Section { crate_name: "sim-core", jobs: area_b::materials::jobs },
    Section { crate_name: "sim-core", jobs: area_b::motions::jobs },
    Section { crate_name: "sim-integrate", jobs: steppers::jobs },
    Section { crate_name: "sim-integrate", jobs: area_a::jobs },
    Section { crate_name: "sim-integrate", jobs: certificate::jobs },
    Section { crate_name: "sim-integrate", jobs: limits::jobs },
    Section { crate_name: "sim-fem", jobs: elements::jobs },
    Section { crate_name: "sim-fem", jobs: area_d::jobs },
    Section { crate_name: "sim-linalg", jobs: solvers::jobs },
    Section { crate_name: "sim-linalg", jobs: area_e::jobs },
    Section { crate_name: "sim-pbd", jobs: constraints::jobs },
    Section { crate_name: "sim-pbd", jobs: links::jobs },
    Section { crate_name: "sim-pbd", jobs: area_f::jobs },
    Section { crate_name: "sim-pbd", jobs: area_c::jobs },
    Section { crate_name: "sim-pbd", jobs: tunnelling::jobs },
    Section { crate_name: "sim-verify", jobs: mutants::jobs },
    Section { crate_name: "sim-verify", jobs: constraints::mutants },
    Section { crate_name: "sim-verify", jobs: elements::mutants::jobs },
    Section { crate_name: "sim-verify", jobs: solvers::mutants::jobs },
];
