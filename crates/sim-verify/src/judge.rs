//! Everything a method or a force must show, study by study: the same list judges the registry, a user's own and the mutants.

use crate::claim::Claim;
use crate::closed_forms::{ClosedForm, closed_form};
use crate::studies::order::OrderReport;
use sim_core::{MethodInfo, ModelSystem, Stepper};

pub mod conservation;
pub mod constraint;
pub mod contract;
pub mod convergence;
pub mod element;
pub mod history;
pub mod inverse;
pub mod law;
pub mod linear;
pub mod links;
pub mod model;

/// A stepper of any model.
pub type AnyStepper = Box<dyn Stepper<dyn ModelSystem>>;

/// A method to be judged by what it claims.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// First part of the ids of its claims.
    pub id: &'a str,
    /// What it claims.
    pub method: &'static MethodInfo,
    /// Its step matrix on the oscillator, where one is known.
    pub closed_form: Option<ClosedForm>,
    /// Makes a fresh stepper.
    pub make: &'a dyn Fn() -> AnyStepper,
}

impl<'a> Subject<'a> {
    /// A method with the closed form of its id, where one is known.
    pub fn new(method: &'static MethodInfo, make: &'a dyn Fn() -> AnyStepper) -> Self {
        Self { id: method.id, method, closed_form: closed_form(method.id), make }
    }

    fn id(&self, study: &str, case: &str) -> String {
        if case.is_empty() { format!("{}/{study}", self.id) } else { format!("{}/{study}/{case}", self.id) }
    }
}

/// What the studies found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Verdicts.
    pub claims: Vec<Claim>,
    /// Errors against step size by problem, with the order claimed.
    pub orders: Vec<(&'static str, u32, OrderReport)>,
}

/// A study of a stepper.
#[derive(Clone, Copy)]
pub struct StepperStudy {
    /// Name: second part of the ids of its claims.
    pub name: &'static str,
    /// Carries it out.
    pub run: fn(&Subject<'_>, &mut Findings),
}

/// Every study of steppers, quick ones first.
pub static STEPPER_STUDIES: &[StepperStudy] = &[
    StepperStudy { name: "contract", run: contract::contract },
    StepperStudy { name: "work", run: contract::work },
    StepperStudy { name: "scaling", run: contract::scaling },
    StepperStudy { name: "amplification", run: linear::amplification },
    StepperStudy { name: "stability_limit", run: linear::limits },
    StepperStudy { name: "symplecticity", run: conservation::symplecticity },
    StepperStudy { name: "reversibility", run: conservation::reversibility },
    StepperStudy { name: "momentum", run: conservation::momentum },
    StepperStudy { name: "energy", run: conservation::energy },
    StepperStudy { name: "ledger", run: conservation::ledger },
    StepperStudy { name: "restart", run: contract::restart },
    StepperStudy { name: "failed_step", run: contract::failed_step },
    StepperStudy { name: "error_constant", run: linear::error_constants },
    StepperStudy { name: "order", run: convergence::orders },
];

/// Carries out every study on a stepper.
pub fn judge_stepper(subject: &Subject<'_>) -> Findings {
    let mut findings = Findings::default();
    for study in STEPPER_STUDIES {
        (study.run)(subject, &mut findings);
    }
    findings
}

/// Stops at the first claim that does not hold; returns the study and the claim.
pub fn first_failure(subject: &Subject<'_>) -> Option<(&'static str, Claim)> {
    STEPPER_STUDIES.iter().find_map(|study| {
        let mut findings = Findings::default();
        (study.run)(subject, &mut findings);
        findings.claims.into_iter().find(|claim| !claim.pass()).map(|claim| (study.name, claim))
    })
}
